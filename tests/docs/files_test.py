#!/usr/bin/env python3
"""The files in the directory of a fit: docs/output.md has a row for each row of runtime/output/fit_files.def, which begins with
its description. Texts of the sources have no such name of their own.

usage: files_test.py, from the root of the repository
"""
import glob
import os
import re
import sys

sys.path.append(f"{sys.path[0]}/../helpers")
from lehr_tests import read  # noqa: E402

TABLE = "runtime/output/fit_files.def"
TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|(?P<text>"(?:\\.|[^"\\\n])*")', re.S)


def registered():
    """The description of each file, by its name in the documentation: the first of several has the number 1."""
    rows = re.findall(r'^FIT_FILE(?:_ALONE)?\(k\w+, "([^"]+)",[^"]*"([^"]+)"\)$', read(TABLE), re.M)
    assert len(rows) == len(re.findall(r"^FIT_FILE", read(TABLE), re.M)), f"{TABLE}: a row is not on one line"
    return {name.replace("{}", "1"): description for name, description in rows}


def documented():
    """The contents of each file, without links, by its name."""
    rows = re.findall(r"^\| `DIR/([^`]+)`[^|]* \| (.*) \|$", read("docs/output.md"), re.M)
    return {name: re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", contents) for name, contents in rows}


def problems(files, pages):
    for name in files.keys() - pages.keys():
        yield f"docs/output.md: no row begins with: | `DIR/{name}` | {files[name]}"
    for name in pages.keys() - files.keys():
        yield f"docs/output.md: {TABLE} has no {name}"
    for name in files.keys() & pages.keys():
        if not pages[name].startswith(files[name]):
            yield f"docs/output.md: the row of {name} does not begin with: {files[name]}"


def spelled(files):
    """Texts in quotes that name a file; a part of a longer name is none."""
    names = re.compile(r"(?<![\w.-])(?:" + "|".join(map(re.escape, files)) + r")(?!\w)")
    for path in sorted(glob.glob("compiler/**/*", recursive=True) + glob.glob("runtime/**/*", recursive=True)):
        if os.path.splitext(path)[1] not in (".cpp", ".h"):
            continue
        for found in TEXT.finditer(read(path)):
            if found["text"] and names.search(found["text"]):
                yield f"{path}: {found['text']}: the constants of {TABLE} have this name"


def main():
    files = registered()
    assert len(files) >= 15 and "fit.json" in files, files
    found = [*problems(files, documented()), *spelled(files)]
    print("\n".join(found) or f"{len(files)} files")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
