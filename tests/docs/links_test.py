#!/usr/bin/env python3
"""No broken link: every link of a Markdown file leads to a file, and its anchor to a heading; and every path that docs/ and
CONTRIBUTING.md name in the sources is there.

usage: links_test.py, from the root of the repository
"""
import glob
import os
import re
import sys

sys.path.append(f"{sys.path[0]}/../helpers")
from lehr_tests import read, run  # noqa: E402


def slug(heading):
    """As GitHub makes anchors."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def prose(path):
    """A file without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", read(path), flags=re.S | re.M)


def anchors(path):
    found = {}
    for heading in re.findall(r"^#+ (.*)$", prose(path), re.M):
        found[slug(heading)] = found.get(slug(heading), 0) + 1
    return {name if k == 0 else f"{name}-{k}" for name, count in found.items() for k in range(count)}


def problems(path):
    for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", prose(path))):
        if re.match(r"[a-z]+:", link):
            continue
        to, _, anchor = link.partition("#")
        file = os.path.normpath(os.path.join(os.path.dirname(path), to)) if to else path
        if not os.path.exists(file):
            yield f"{path}: there is no {link}"
        elif anchor and not (file.endswith(".md") and anchor in anchors(file)):
            yield f"{path}: {link}: {file} has no heading of that name"


def missing_paths(path):
    """Paths of the repository in code spans, such as `compiler/native/jit.cpp` or `compiler/math/families/*.cpp`."""
    for name in re.findall(r"`((?:bench|compiler|docs|examples|grammar|models|python|runtime|scripts|tests)/[\w./*-]*)`", prose(path)):
        if not glob.glob(name):
            yield f"{path}: there is no {name}"


def pages():
    listed = run("git", "ls-files", "*.md", code=None)
    if listed.returncode == 0 and listed.stdout:
        return listed.stdout.split()
    return ["README.md"] + [os.path.join("docs", name) for name in os.listdir("docs") if name.endswith(".md")]


found = [p for path in pages() for p in problems(path)]
found += [p for path in pages() if path.startswith(("docs/", "CONTRIBUTING")) for p in missing_paths(path)]
print("\n".join(found) or f"{len(pages())} files, no broken link")
sys.exit(1 if found or len(pages()) < 20 else 0)
