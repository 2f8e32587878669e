#!/usr/bin/env python3
"""Sweeps by hand: `lehr stats` of any number of shards and `lehr update-globals` give the bytes of `lehr fit`.

usage: shards_test.py LEHR
"""
import json
import os
import subprocess
import sys
import tempfile

LEHR = os.path.abspath(sys.argv[1])
ENV = {**os.environ, "PATH": os.path.dirname(LEHR) + ":" + os.environ["PATH"]}
TOPICS = ["models/lda.lehr", "--data", "w=models/data/kos.ldac.gz", "--set", "K=3"]
FAITHFUL = ["models/gmm.lehr", "--data", "x=models/data/faithful.csv:eruptions,waiting", "--set", "K=3"]
FLIGHTS = ["models/logistic_regression.lehr", "--data", "models/data/challenger.csv"]


def run(*command, code=0):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=ENV, timeout=300)
    assert done.returncode == code, (command, done.returncode, done.stderr)
    return done.stdout + done.stderr


def contents(path):
    with open(path, "rb") as f:
        return f.read()


def same(tmp, name, words, sweeps, shards):
    """Any number of shards, against a fit from the same start."""
    out = f"{tmp}/{name}"
    run("examples/sweeps/sweeps.sh", out, sweeps, shards, *words)
    run(LEHR, "fit", *words, "--init", f"{out}/fit0", "--max-iter", sweeps, "--quiet", "--out", f"{out}/whole")
    assert contents(f"{out}/fit/posterior.npz") == contents(f"{out}/whole/posterior.npz"), name
    elbo = [json.loads(contents(f"{out}/{d}/fit.json"))["elbo"] for d in ("fit", "whole")]
    assert elbo[0] == elbo[1], (name, elbo)
    run(LEHR, "show", f"{out}/fit")


def refusals(tmp):
    run(LEHR, "fit", *TOPICS, "--search", "none", "--max-iter", 0, "--quiet", "--out", f"{tmp}/start")
    stats = [LEHR, "stats", *TOPICS, "--globals", f"{tmp}/start"]
    run(*stats, "--shard", "1/2", "--out", f"{tmp}/a.npz")
    run(*stats, "--shard", "2/2", "--out", f"{tmp}/b.npz")
    update = [LEHR, "update-globals", *TOPICS, "--globals", f"{tmp}/start", "--out", f"{tmp}/next", "--stats"]
    assert "shares of the items are missing" in run(*update, f"{tmp}/a.npz", code=4)
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
    run(LEHR, "fit", "models/coin.lehr", "--data", "models/data/coin.csv", "--quiet", "--out", f"{tmp}/coin")
    assert "cannot be shared out" in run(LEHR, "stats", "models/coin.lehr", "--data", "models/data/coin.csv",
                                         "--globals", f"{tmp}/coin", "--out", f"{tmp}/c.npz", code=3)


with tempfile.TemporaryDirectory() as tmp:
    refusals(tmp)
    same(tmp, "topics", TOPICS, 3, 3)
    same(tmp, "mixture", FAITHFUL, 4, 2)
    same(tmp, "flights", FLIGHTS, 3, 2)
