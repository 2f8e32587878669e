#!/usr/bin/env python3
"""How many models take which temperature, as docs/annealing.md says: each of models/ with the data of the command in its head.

Usage: temper_test.py LEHR, from the root of the repository.
"""
import concurrent.futures
import glob
import re
import sys

sys.path.append(f"{sys.path[0]}/../helpers")
from lehr_tests import lehr, read, temporary  # noqa: E402

KINDS = {"global": ["--temper", "global:max=3,levels=2,normaliser=posterior"], "local": ["--temper", "local"],
         "anneal": ["--anneal", "linear:from=4,over=1"]}


def command(path):
    """The data and settings of the `lehr fit` line in the head comment."""
    head = read(path).split("\nmodel ")[0].replace("\\\n//", " ")
    words = next(line.lstrip("/ ").split() for line in head.splitlines() if "lehr fit" in line)
    out, option = [], ""
    for word in words[3:]:
        option = word if word.startswith("--") else option
        if option in ("--data", "--set", "--sizes"):
            out.append(word)
    return out


def takes(job):
    path, kind = job
    with temporary() as folder:
        done = lehr("fit", path, *command(path), "--max-iter", "1", *KINDS[kind], "--quiet", "--out", folder, code=None)
    assert done.returncode in (0, 5) or "cannot be tempered" in done.stderr, f"{path}: {done.stderr}"
    return done.returncode != 3


def main():
    said = re.sub(r"\s+", " ", read("docs/annealing.md"))
    models = sorted(glob.glob("models/*/*.lehr"))
    jobs = [(path, kind) for kind in KINDS for path in models]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        took = dict(zip(jobs, pool.map(takes, jobs)))
    n = {kind: sum(took[path, kind] for path in models) for kind in KINDS}
    print(len(models), n)
    assert n["anneal"] == len(models)
    assert f"Of the {len(models)} models" in said and f"`--anneal` takes all {len(models)}" in said
    assert f"{n['global']} take a global temperature and {n['local']} one for each item" in said, n
    assert f"[{n['global']} of {len(models)}](docs/annealing.md#variational-tempering)" in read("README.md"), n


main()
