#!/usr/bin/env python3
"""Every `lehr` command in the shell blocks of README.md and docs/, and the programs that they build, in order, in a copy of
what they name. Fits are cut to two sweeps unless they say how many; what is tested is that commands are right, not what they
find. Blocks of `console` are sessions: they run as they stand, and print what they show. Blocks that are scripts (`#!`), and
what tests/docs/blocks_test.py names, run elsewhere.

usage: docs_test.py LEHR, from the root of the repository
"""
import glob
import os
import re
import shlex
import shutil
import sys

sys.path.append(f"{sys.path[0]}/../../helpers")
from lehr_tests import LEHR, ROOT, read, run, temporary  # noqa: E402

HERE = {**os.environ, "PATH": f"{os.path.dirname(LEHR)}:{os.environ['PATH']}", "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
PROGRAMS = ("lehr ", "cc ", "c++ ", "./", "python3 ", "PATH=", "cmp ")
if shutil.which("mpirun") and os.path.exists(LEHR + "-mpi"):
    PROGRAMS += ("mpirun ",)


def blocks(path):
    return re.findall(r"```(sh|python|console)\n(.*?)```", read(path), re.S)


def commands(path, language, block):
    """The commands of a block, split into words."""
    if language == "python" and path == "docs/output.md":
        yield ["python3", "-c", block]
    if language == "python" or block.startswith("#!"):
        return
    for line in block.replace("\\\n", " ").splitlines():
        line = re.sub(r"^\$ ", "", line.strip())
        if line.startswith("PATH="):
            yield ["sh", "-c", line]
        elif line.startswith(PROGRAMS) and not re.search("<|import pandas", line):
            yield shlex.split(line, comments=True)


def failure(arguments, directory):
    """What went wrong, or None."""
    if "fit" in arguments and "--max-iter" not in arguments:
        limited = not {"svi", "gibbs", "exact"} & set(arguments)
        arguments = arguments + ["--quiet"] + ["--max-iter", "2"] * limited
        if "svi" in arguments:
            arguments[arguments.index("--epochs") + 1] = "0.05"
    program = {"lehr": LEHR, "python3": "/usr/bin/python3"}.get(arguments[0], arguments[0])
    if program.startswith("./") and not os.path.exists(os.path.join(directory, program)):
        return "no such program: an earlier command of this page did not make it"
    done = run(program, *arguments[1:], code=None, cwd=directory, env=HERE)
    return None if done.returncode == 0 else f"exit {done.returncode}: {done.stderr.strip()[:400]}"


def sessions(block):
    """The commands of a block of `console`, and the lines that each shows."""
    for part in re.split(r"^\$ ", block.replace("\\\n", " "), flags=re.M)[1:]:
        command, *lines = part.splitlines()
        yield command, lines


def alike(shown, printed):
    """Words are the same, numbers but for 2 %: their last digits are those of the machine."""
    words, others = shown.split(), printed.split()
    number = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")
    for a, b in zip(words, others):
        if number.sub("0", a) != number.sub("0", b):
            return False
        values = zip(number.finditer(a), number.finditer(b))
        if any(abs(float(x[0]) - float(y[0])) > 0.02 * abs(float(x[0])) for x, y in values):
            return False
    return len(words) == len(others)


def replay(command, lines, directory):
    """What is not as it is shown, or None; `...` stands for any lines. Of a command that fails its errors are shown."""
    done = run("sh", "-c", command, code=None, cwd=directory, timeout=300, env=HERE)
    printed = (done.stderr if "error:" in "".join(lines) else done.stdout).splitlines()
    if (done.returncode != 0) != ("error:" in "".join(lines)) or not is_shown(lines, printed):
        return f"exit {done.returncode}\n{done.stdout}{done.stderr}"
    return None


def is_shown(lines, printed):
    if not lines:
        return not printed
    if lines[0] == "...":
        return lines == ["..."] or any(is_shown(lines[1:], printed[k:]) for k in range(len(printed) + 1))
    return bool(printed) and alike(lines[0], printed[0]) and is_shown(lines[1:], printed[1:])


def main():
    pages = ["README.md"] + sorted(glob.glob("docs/**/*.md", recursive=True))
    failed = total = 0
    with temporary() as directory:
        for name in ("models", "docs", "examples", "runtime", "compiler"):
            os.symlink(os.path.join(ROOT, name), os.path.join(directory, name))
        os.symlink(os.path.dirname(LEHR), os.path.join(directory, "build"))
        for page, language, block in ((page, *block) for page in pages for block in blocks(page)):
            if language == "console":
                done = [(command, replay(command, lines, directory)) for command, lines in sessions(block)]
            else:
                done = [(" ".join(words), failure(words, directory)) for words in commands(page, language, block)]
            total += len(done)
            for command, problem in done:
                if problem:
                    failed += 1
                    print(f"FAILED {page}: {command}\n    {problem}", flush=True)
    print(f"{total - failed} of {total} commands run")
    sys.exit(1 if failed or total < 10 else 0)


if __name__ == "__main__":
    main()
