#!/usr/bin/env python3
"""Tests of passes and of the verifier that are texts in Loops (docs/loops.md).

usage: text_test.py LEHR [WORD | N], from the root of the repository; WORD chooses files whose names contain it, a number N
every N-th file, beginning at another one each day

A file of tests/loops/wrong has, in comments, `ERROR:` a part of the message with which lehr opt refuses it, one for each problem. One of
tests/loops/right is accepted. A file of tests/passes/text, or of a folder there, has

  RUN: options of lehr opt
  CHECK: a line for LLVM's FileCheck of the program after the passes; the program before them must fail it
  UNCHANGED  in place of checks: the program after the passes has the text of the one before
  CALL: what --run is given, to compare both programs. Beyond docs/loops.md, an array may be a formula of the number `e` of an element. Several
      values of a size or parameter, and several pairs [begin, end] in "ranges", are a run each. "status" is what the run ends with, "differ"
      names all arrays that differ after the passes, and "tolerance" is that of lehr opt
  OUT: a line for FileCheck of what all runs print
  SIZE: NAME = 3, 8   values of a size: the file is tested with each, as the literal for which the name stands in functions

No file has more than 60 lines.
"""
import functools
import glob
import itertools
import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from datetime import date

LEHR = os.path.abspath(sys.argv[1])
FILECHECK = shutil.which("FileCheck-19") or "/usr/lib/llvm-19/bin/FileCheck"
LONGEST = 60
DIFFERS = re.compile(r"^\s*note: (\S+) differs$", re.M)


def marked(text, word):
    return re.findall(rf"^// {word}: (.*)$", text, re.M)


def opt(path, *options):
    return subprocess.run([LEHR, "opt", path, *options], capture_output=True, text=True)


def written(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def filecheck(path, prefix, text):
    """Returns what is wrong with a text by the lines `prefix:` of a file, or None."""
    done = subprocess.run([FILECHECK, path, f"--check-prefix={prefix}"], input=text, capture_output=True, text=True)
    return done.stderr + text if done.returncode else None


def count_of(text, name, sizes):
    """Returns the number of elements of an array of a program with these sizes at run time."""
    values = {size: int(value) for size, value in re.findall(r"^  (\S+) = (\d+)$", text, re.M)} | sizes
    axes = re.search(rf"^  {re.escape(name)}\[(.*?)\] : ", text, re.M).group(1)
    return math.prod(values[axis] for axis in re.findall("[^, ]+", axes))


@functools.lru_cache
def numbers(formula, count):
    """Returns the values of a formula for the first elements of an array."""
    code = compile(formula, formula, "eval")
    return [eval(code, {"e": e}) for e in range(count)]


def calls(text, line):
    """Returns the runs that a line CALL stands for."""
    call = json.loads(line)
    ranges = [{"begin": a, "end": b} for a, b in call.pop("ranges", [])] or [{}]
    several = [[(key, name, v) for v in (value if isinstance(value, list) else [value])]
               for key in ("sizes", "parameters") for name, value in call.get(key, {}).items()]
    for where, *chosen in itertools.product(ranges, *several):
        one = {**call, "sizes": {}, "parameters": dict(where), "arrays": dict(call.get("arrays", {}))}
        for key, name, value in chosen:
            one[key][name] = value
        for name, formula in one["arrays"].items():
            if isinstance(formula, str):
                one["arrays"][name] = numbers(formula, count_of(text, name, one["sizes"]))
        yield one


def problem_of_wrong(path, text, _):
    done = opt(path)
    wanted, problems = marked(text, "ERROR"), re.findall("^.*(?:error|note): (.*)$", done.stderr, re.M)
    if done.returncode != 3 or not wanted or len(wanted) != len(problems) or not all(w in p for w, p in zip(wanted, problems)):
        return f"exit {done.returncode}, {done.stderr.strip()!r} instead of {wanted}"
    return None


def problem_of_right(path, *_):
    done = opt(path, "--stop-after", "0")
    return done.stderr if done.returncode else None


def problem_of_text(path, text, printed, plain):
    """Returns what is wrong with the program after the passes, or None."""
    if re.search("^// UNCHANGED$", text, re.M):
        return None if printed == plain else "is not unchanged:\n" + printed
    return filecheck(path, "CHECK", printed) or (None if filecheck(path, "CHECK", plain) else "the program before the passes passes the checks")


def problem_of_pass(path, text, folder):
    options = shlex.split(" ".join(marked(text, "RUN")))
    file = written(folder, "program.loops", text)
    printed, plain = opt(file, "--verify-each", *options), opt(file, "--stop-after", "0")
    if printed.returncode != 0:
        return printed.stderr
    again = opt(written(folder, "printed.loops", printed.stdout), "--stop-after", "0")
    if again.stdout != printed.stdout:
        return f"the text after the passes is not read as it is written: {again.stderr}{printed.stdout}"
    if problem := problem_of_text(path, text, printed.stdout, plain.stdout):
        return problem
    out = ""
    for call in (one for line in marked(text, "CALL") for one in calls(text, line)):
        status, differ = call.pop("status", 0), call.pop("differ", [])
        tolerance = ["--tolerance", str(call.pop("tolerance"))] if "tolerance" in call else []
        ran = opt(file, *options, *tolerance, "--run", written(folder, "call.json", json.dumps(call)))
        if (ran.returncode != 0) != bool(differ) or DIFFERS.findall(ran.stderr) != differ or not ran.stdout.startswith(f"status {status}\n"):
            return f"{json.dumps(call)}: {ran.stdout}{ran.stderr}"
        out += ran.stdout
    return filecheck(path, "OUT", out) if marked(text, "OUT") else None


def variants(text):
    """Returns the texts with each value of the line SIZE, which is a literal in the functions."""
    lines = marked(text, "SIZE")
    if not lines:
        return [text]
    name, values = lines[0].split(" = ")
    head, functions = text.split("\nfunction ", 1)
    return [re.sub(rf"^  {name} = .*$", f"  {name} = {value}", head, flags=re.M) + "\nfunction " + re.sub(rf"\b{name}\b", value, functions)
            for value in values.split(", ")]


def main():
    word = sys.argv[2] if len(sys.argv) > 2 and not sys.argv[2].isdigit() else ""
    step = int(sys.argv[2]) if len(sys.argv) > 2 and not word else 1
    folders = {"tests/loops/wrong": problem_of_wrong, "tests/loops/right": problem_of_right, "tests/passes/text": problem_of_pass}
    files = [(path, check) for f, check in folders.items() for path in sorted(glob.glob(f"{f}/**/*.loops", recursive=True))]
    assert {check for _, check in files} == set(folders.values())
    failed = total = 0
    with tempfile.TemporaryDirectory() as folder:
        for path, check in [f for f in files if word in f[0]][date.today().toordinal() % step::step]:
            with open(path, encoding="utf-8") as f:
                text = f.read()
            problems = [check(path, t, folder) for t in variants(text)]
            if len(text.splitlines()) > LONGEST:
                problems.append(f"has more than {LONGEST} lines")
            total += 1
            if any(problems):
                failed += 1
                print(f"FAILED {path}: {next(filter(None, problems))}")
    print(f"{total - failed} of {total} texts")
    sys.exit(1 if failed or not total else 0)


main()
