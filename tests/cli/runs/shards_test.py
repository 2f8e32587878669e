#!/usr/bin/env python3
"""Sweeps by hand: `lehr stats` of any number of shards and `lehr update-globals` give the bytes of `lehr fit`.

usage: shards_test.py LEHR
"""
import os
import re
import shlex
import subprocess
import sys

sys.path.append(f"{sys.path[0]}/../../helpers")
import lehr_tests  # noqa: E402
from lehr_tests import LEHR, read, read_json, temporary, write  # noqa: E402

ENV = {**os.environ, "PATH": os.path.dirname(LEHR) + ":" + os.environ["PATH"]}
TOPICS = ["models/topics/lda.lehr", "--data", "w=models/data/topics/kos.ldac.gz", "--set", "K=3"]
FAITHFUL = ["models/mixtures/gmm.lehr", "--data", "x=models/data/mixtures/faithful.csv:eruptions,waiting", "--set", "K=3"]
FLIGHTS = ["models/regression/logistic_regression.lehr", "--data", "models/data/regression/challenger.csv"]


def run(*command, code=0):
    done = lehr_tests.run(*command, code=code, env=ENV, timeout=300)
    return done.stdout + done.stderr


def same(tmp, name, words, sweeps, shards):
    """Any number of shards, against a fit from the same start."""
    out = f"{tmp}/{name}"
    run("examples/sweeps/sweeps.sh", out, sweeps, shards, *words)
    run(LEHR, "fit", *words, "--init", f"{out}/fit0", "--max-iter", sweeps, "--quiet", "--out", f"{out}/whole")
    assert read(f"{out}/fit/posterior.npz", "rb") == read(f"{out}/whole/posterior.npz", "rb"), name
    elbo = [read_json(f"{out}/{d}/fit.json")["elbo"] for d in ("fit", "whole")]
    assert elbo[0] == elbo[1], (name, elbo)
    run(LEHR, "show", f"{out}/fit")


SBATCH = """#!/usr/bin/python3
import os, subprocess, sys
first, last = map(int, next(w for w in sys.argv if w.startswith("--array="))[8:].split("-"))
command = sys.argv[sys.argv.index("--wrap") + 1]
tasks = [{**os.environ, "SLURM_ARRAY_TASK_ID": str(k)} for k in range(first, last + 1)]
sys.exit(max(subprocess.run(["sh", "-c", command], env=task).returncode for task in tasks))
"""


class Spark:
    """What the page asks of a SparkContext; `pipe` starts a command for each partition as PySpark does."""

    def parallelize(self, values, partitions):
        assert len(values) == partitions
        self.lines = [f"{v}\n" for v in values]
        return self

    def pipe(self, command, env, checkCode):
        for line in self.lines:
            subprocess.run(shlex.split(command), env=env, input=line, text=True, check=checkCode, stdout=subprocess.PIPE)
        return self

    def collect(self):
        return []


def engines(tmp):
    """The sweeps by Slurm and by Spark of docs/scale.md, with four tasks and documents of the project."""
    text = read("docs/scale.md")
    data, wanted = "w=corpus.ldac --set K=1000", f"{TOPICS[2]} --set K=3"
    assert text.count(data) == 2
    text = text.replace(data, wanted).replace("1-100", "1-4").replace("/100", "/4").replace("range(1, 101), 100", "range(1, 5), 4")
    slurm, spark = re.search(r"```sh\n(#!/bin/sh.*?)```", text, re.S)[1], re.search(r"```python\n(.*?)```", text, re.S)[1]
    run(LEHR, "fit", *TOPICS, "--search", "none", "--max-iter", 0, "--quiet", "--out", f"{tmp}/fit0")
    for name, program in ("sbatch", SBATCH), ("sweep.sh", slurm):
        write(f"{tmp}/{name}", program)
        os.chmod(f"{tmp}/{name}", 0o755)
    path = {"PATH": f"{tmp}:{ENV['PATH']}"}
    subprocess.run([f"{tmp}/sweep.sh", f"{tmp}/fit0", f"{tmp}/fit1"], env={**ENV, **path}, check=True, stdout=subprocess.PIPE)
    os.environ.update(path)
    exec(spark, {"sc": Spark(), "FIT": f"{tmp}/fit1", "NEXT": f"{tmp}/fit2", "shlex": shlex, "os": os, "subprocess": subprocess})
    before = f"{tmp}/fit0"
    for k in 1, 2:
        run(LEHR, "stats", *TOPICS, "--globals", before, "--shard", "1/1", "--out", f"{tmp}/whole.npz")
        run(LEHR, "update-globals", *TOPICS, "--globals", before, "--stats", f"{tmp}/whole.npz", "--out", before := f"{tmp}/whole{k}")
    assert read(f"{tmp}/fit2/posterior.npz", "rb") == read(f"{before}/posterior.npz", "rb")


def refusals(tmp):
    run(LEHR, "fit", *TOPICS, "--search", "none", "--max-iter", 0, "--quiet", "--out", f"{tmp}/start")
    stats = [LEHR, "stats", *TOPICS, "--globals", f"{tmp}/start"]
    run(*stats, "--shard", "1/2", "--out", f"{tmp}/a.npz")
    run(*stats, "--shard", "2/2", "--out", f"{tmp}/b.npz")
    update = [LEHR, "update-globals", *TOPICS, "--globals", f"{tmp}/start", "--out", f"{tmp}/next", "--stats"]
    assert "chunks of the items are missing" in run(*update, f"{tmp}/a.npz", code=4)
    assert "is of the same shard" in run(*update, f"{tmp}/a.npz", f"{tmp}/a.npz", code=4)
    run(*stats, "--shard", "1/1", "--out", f"{tmp}/all.npz")
    assert "has the same items" in run(*update, f"{tmp}/a.npz", f"{tmp}/all.npz", code=4)
    assert "not what `lehr stats` writes" in run(*update, f"{tmp}/start/posterior.npz", code=4)
    assert "is empty" in run(*stats, "--shard", "1/5000", "--out", f"{tmp}/empty.npz")
    assert "is of the same shard" in run(*update, f"{tmp}/all.npz", f"{tmp}/empty.npz", f"{tmp}/empty.npz", code=4)
    run(*update, f"{tmp}/b.npz", f"{tmp}/a.npz")
    update[update.index(f"{tmp}/start")] = f"{tmp}/next"
    assert "of another sweep" in run(*update, f"{tmp}/a.npz", f"{tmp}/b.npz", code=4)
    stats[-1] = f"{tmp}/next"
    assert "not what `lehr stats` made of this shard" in run(
        *stats, "--shard", "1/2", "--after", f"{tmp}/b.npz", "--out", f"{tmp}/c.npz", code=4)
    assert "is not K/N" in run(*stats, "--shard", "3/2", "--out", f"{tmp}/c.npz", code=2)
    assert "shard 33/64 is empty" not in run(*stats, "--shard", "32/32", "--out", f"{tmp}/c.npz")
    run(LEHR, "fit", "models/distributions/coin.lehr", "--data", "models/data/distributions/coin.csv", "--quiet", "--out", f"{tmp}/coin")
    assert "cannot be distributed" in run(LEHR, "stats", "models/distributions/coin.lehr", "--data", "models/data/distributions/coin.csv",
                                         "--globals", f"{tmp}/coin", "--out", f"{tmp}/c.npz", code=3)


with temporary() as tmp:
    refusals(tmp)
    engines(tmp)
    same(tmp, "topics", TOPICS, 3, 3)
    same(tmp, "mixture", FAITHFUL, 4, 2)
    same(tmp, "flights", FLIGHTS, 3, 2)
