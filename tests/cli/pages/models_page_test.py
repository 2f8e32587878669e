#!/usr/bin/env python3
"""docs/models.md against models/: a row for every model, with the data of its head comment, and no other commands.

Usage: models_page_test.py, from the root of the repository.
"""
import pathlib
import re


def command(model):
    """The words of the `lehr fit` command in the head comment, continuation lines joined."""
    head = model.read_text().split("\nmodel ")[0].replace("\\\n//", " ")
    return next(line.lstrip("/ ").split() for line in head.splitlines() if "lehr fit" in line)


page = pathlib.Path("docs/models.md").read_text()
rows = {name: line for line in page.splitlines() for name in re.findall(r"^\| \[\w+\]\(\.\./models/\w+/(\w+)\.lehr\)", line)}
models = {path.stem: path for path in pathlib.Path("models").glob("*/*.lehr")}
assert rows.keys() == models.keys(), f"in one place only: {sorted(rows.keys() ^ models.keys())}"

for name, row in rows.items():
    assert row.startswith(f"| [{name}]("), f"{name}: the link goes elsewhere"
    words = command(models[name])
    files = [word.split(":")[0].split("/")[-1] for word in words if "models/data/" in word]
    data = [file for file in dict.fromkeys(files) if not file.endswith(".vocab.txt")]
    named = re.findall(r"`([\w.]+)`", row.split("|")[3])
    assert named == data, f"{name}: the page names {named}, the command {data}"

for line in re.findall(r"^lehr fit .*", page, re.MULTILINE):
    name = re.search(r"models/\w+/(\w+)\.lehr", line)[1]
    assert line.split() == command(models[name]), f"{name}: not the command of its head comment"
print(f"{len(rows)} models")
