#!/usr/bin/env python3
"""Every `lehr` command in the shell blocks of README.md and docs/, and the programs that they build, in order, in a copy of
what they name.

Fits are cut to two sweeps unless they say how many; what is tested is that commands are right, not what they find.

usage: docs_test.py LEHR, from the root of the repository
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile

LEHR = os.path.abspath(sys.argv[1])
ROOT = os.getcwd()


def commands(path):
    with open(path) as f:
        text = f.read()
    for block in re.findall(r"```sh\n(.*?)```", text, re.S):
        for line in block.replace("\\\n", " ").splitlines():
            line = re.sub(r"^\$ ", "", line.strip())
            if line.startswith(("lehr ", "cc ", "c++ ", "./", "python3 ")):
                yield shlex.split(line, comments=True)


def run(arguments, directory):
    if arguments[1] == "fit" and "--max-iter" not in arguments:
        arguments = arguments + ["--max-iter", "2", "--quiet"]
        if "svi" in arguments:
            arguments[arguments.index("--epochs") + 1] = "0.05"
    program = {"lehr": LEHR, "python3": "/usr/bin/python3"}.get(arguments[0], arguments[0])
    done = subprocess.run([program] + arguments[1:], cwd=directory, capture_output=True, text=True)
    return None if done.returncode == 0 else f"exit {done.returncode}: {done.stderr.strip()[:400]}"


def main():
    pages = ["README.md"] + sorted(os.path.join("docs", p) for p in os.listdir("docs") if p.endswith(".md"))
    failed = total = 0
    with tempfile.TemporaryDirectory() as directory:
        for name in ("models", "docs", "examples", "runtime", "compiler"):
            os.symlink(os.path.join(ROOT, name), os.path.join(directory, name))
        os.symlink(os.path.dirname(LEHR), os.path.join(directory, "build"))
        for page in pages:
            for c in commands(page):
                if "wrong.lehr" in c or "<" in " ".join(c):
                    continue
                total += 1
                problem = run(c, directory)
                if problem:
                    failed += 1
                    print(f"FAILED {page}: {' '.join(c)}\n    {problem}", flush=True)
    print(f"{total - failed} of {total} commands run")
    sys.exit(1 if failed or total < 10 else 0)


if __name__ == "__main__":
    main()
