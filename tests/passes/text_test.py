#!/usr/bin/env python3
"""Tests of passes and of the verifier that are texts in Loops (docs/loops.md).

usage: text_test.py LEHR [WORD], from the root of the repository; WORD chooses files whose names contain it

A file of tests/passes/text has, in comments: `RUN:` options of lehr opt, `CHECK:` lines for LLVM's FileCheck of its output, and
`CALL:` what --run is given, which compares the program before the passes with the one after them. A file of tests/loops/wrong has
`ERROR:` a part of the message with which lehr opt refuses it. No file has more than 60 lines.
"""
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

LEHR = os.path.abspath(sys.argv[1])
FILECHECK = shutil.which("FileCheck-19") or "/usr/lib/llvm-19/bin/FileCheck"
LONGEST = 60


def marked(text, word):
    return re.findall(rf"^// {word}: (.*)$", text, re.M)


def opt(path, *options):
    return subprocess.run([LEHR, "opt", path, *options], capture_output=True, text=True)


def problem_of_wrong(path, text):
    done = opt(path)
    wanted = marked(text, "ERROR")
    if done.returncode != 3 or len(wanted) != 1 or wanted[0] not in done.stderr:
        return f"exit {done.returncode}, {done.stderr.strip()!r} instead of {wanted}"
    return None


def problem_of_pass(path, text, folder):
    options = shlex.split(" ".join(marked(text, "RUN")))
    printed = opt(path, "--verify-each", *options)
    if printed.returncode != 0:
        return printed.stderr
    checked = subprocess.run([FILECHECK, path], input=printed.stdout, capture_output=True, text=True)
    if checked.returncode != 0:
        return checked.stderr + printed.stdout
    for k, call in enumerate(marked(text, "CALL")):
        file = os.path.join(folder, f"call_{k}.json")
        with open(file, "w", encoding="utf-8") as f:
            f.write(call)
        ran = opt(path, *options, "--run", file)
        if ran.returncode != 0:
            return f"{call}: {ran.stderr}"
    return None


def main():
    word = sys.argv[2] if len(sys.argv) > 2 else ""
    wrong = sorted(glob.glob("tests/loops/wrong/*.loops"))
    passes = sorted(glob.glob("tests/passes/text/*.loops"))
    assert wrong and passes
    failed = total = 0
    with tempfile.TemporaryDirectory() as folder:
        for path in (p for p in wrong + passes if word in p):
            with open(path, encoding="utf-8") as f:
                text = f.read()
            problem = problem_of_wrong(path, text) if path in wrong else problem_of_pass(path, text, folder)
            if len(text.splitlines()) > LONGEST:
                problem = f"has more than {LONGEST} lines"
            total += 1
            if problem:
                failed += 1
                print(f"FAILED {path}: {problem}")
    print(f"{total - failed} of {total} texts")
    sys.exit(1 if failed or not total else 0)


main()
