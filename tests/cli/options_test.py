#!/usr/bin/env python3
"""Numbers of options: what is not finite, out of range or not a number is a usage error that says what the range is.

Usage: options_test.py LEHR, from the root of the repository.
"""
import functools
import sys

sys.path.append(f"{sys.path[0]}/../helpers")
from lehr_tests import each, lehr, memory_limit, read, write  # noqa: E402

lehr = functools.partial(lehr, code=None, timeout=300, preexec_fn=memory_limit(8))
FAITHFUL = "x=models/data/faithful.csv:eruptions,waiting"


def refused(done, *words):
    assert done.returncode == 2, f"{done.args}: exit {done.returncode}\n{done.stderr}"
    for word in words:
        assert word in done.stderr, f"{done.args}: no '{word}' in\n{done.stderr}"


def numbers(out):
    fit = ["fit", "models/gmm.lehr", "--data", FAITHFUL, "--set", "K=2", "--quiet", "--out", out]
    for option, values in {
        "--tol": ["nan", "inf", "-1", "2", "1,5", "0x1p-3"],
        "--rho": ["nan", "inf", "1.5"],
        "--kappa": ["nan", "inf", "-1"],
        "--tau0": ["nan", "inf", "-1"],
        "--epochs": ["nan", "inf", "0", "1e30"],
        "--local-tol": ["nan", "inf", "-1"],
        "--max-iter": ["nan", "-3", "1e30", "2.5"],
        "--local-iters": ["0", "nan"],
        "--batch-size": ["0", "-1"],
        "--elbo-every": ["-1", "nan"],
        "--restarts": ["0", "-2", "1e30"],
        "--seed": ["-1", "18446744073709551616", "nan", "1.5"],
    }.items():
        for value in values:
            refused(lehr(*fit, f"{option}={value}"), option, "from")
    for value in ["nan", "inf", "0", "1"]:
        refused(lehr("score", out, "--data", FAITHFUL, f"--holdout={value}"), "--holdout")
    refused(lehr("simulate", "models/coin.lehr", "--sizes", "throw=3", "--out", f"{out}.npz", "--seed=-1"), "--seed")
    refused(lehr("show", out, "--top", "0"), "--top")
    refused(lehr(*fit, "--set", "K=3"), "twice")
    # A leading zero is no octal, and powers of ten are whole numbers.
    for value in ["010", "1e1"]:
        lehr(*fit, "--max-iter", value, code=0)
        assert len(read(f"{out}/trace.csv").splitlines()) == 11
    lehr(*fit, "--max-iter", "1", "--seed", "18446744073709551615", code=0)
    assert "seed 18446744073709551615" in lehr("show", out).stdout


def schedules(out):
    fit = ["fit", "models/gmm.lehr", "--data", FAITHFUL, "--set", "K=2", "--quiet", "--max-iter", "2", "--out", out]
    for text, word in {
        "linear:from=10,over=1e30": "over is a whole number from 1 to 1000000000",
        "linear:from=inf,over=10": "from is a number from 1 to",
        "linear:from=1e300,over=10": "from is a number from 1 to",
        "exp:from=2,over=nan": "over is",
        "linear:from=2,over=2.5": "over is",
        "linear:from=2,from=3,over=4": "each name once",
        "stochastic:rho=nan,over=10": "rho is",
        "auto:sweeps=1e30": "sweeps is",
    }.items():
        refused(lehr(*fit, "--anneal", text), "--anneal", word)
    for text, word in {
        "global:max=10,levels=1e10": "levels is a whole number from 2 to 10000",
        "global:levels=1e9": "levels is",
        "global:max=inf": "max is",
        "global:draws=1e18": "draws is",
        "global:every=nan": "every is",
    }.items():
        refused(lehr(*fit, "--temper", text), "--temper", word)
    for text in ["2 inf 1", "2 nan", "2,5 1", "1e30"]:
        listed = write(f"{out}/list.txt", text)
        refused(lehr(*fit, "--anneal", f"file:{listed}"), "--anneal", "no temperature")


def updates(out):
    """An update is coordinate ascent from the posterior of a fit: options that cannot change it are refused, with a cure."""
    coin = ["--data", "models/data/coin.csv", "--quiet"]
    assert lehr("fit", "models/coin.lehr", *coin, "--out", out).returncode == 0
    update = ["update", out, *coin, "--out", f"{out}u"]
    for option in ["--batch-size", "--epochs", "--tau0", "--kappa", "--rho", "--warmup", "--draws", "--thin", "--parts", "--restarts", "--chains"]:
        refused(lehr(*update, option, "1"), "--restarts" if option == "--chains" else option, "leave it out")
    assert lehr(*update, "--max-iter", "50", "--tol", "1e-6", "--leap-after", "0", "--elbo-every", "1", "--seed", "2").returncode == 0


each(numbers, schedules, updates)
