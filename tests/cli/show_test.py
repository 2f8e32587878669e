#!/usr/bin/env python3
"""`lehr fit` and `lehr show` from outside: what a fit writes however it ends, and that show can be read.

Usage: show_test.py LEHR, from the root of the repository.
"""
import csv
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time

LEHR = sys.argv[1]
DATA = "models/data/"
KOS = ["models/lda.lehr", "--data", f"w={DATA}kos.ldac.gz", "--labels", f"term={DATA}kos.vocab.txt"]


def lehr(*arguments, code=0):
    done = subprocess.run([LEHR, *arguments], capture_output=True, text=True)
    assert done.returncode == code, f"lehr {shlex.join(arguments)}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def summary(directory):
    with open(f"{directory}/fit.json") as file:
        return json.load(file)


def trace(directory):
    with open(f"{directory}/trace.csv") as file:
        return list(csv.DictReader(file))


def coin(out):
    done = lehr("fit", "models/coin.lehr", "--data", f"{DATA}coin.csv", "--out", out)
    fit = summary(out)
    assert shlex.split(fit["command"])[1:] == done.args[1:], fit["command"]
    assert fit["status"] == "converged" and len(fit["restarts"]) == 1
    assert [float(row["elbo"]) for row in trace(out)][-1] == fit["elbo"]
    text = lehr("show", out, "p").stdout
    assert text == "p: Beta, mean 0.681818, sd 0.09712\n", text


def topics(out):
    lehr("fit", *KOS, "--set", "K=5", "--max-iter", "3", "--quiet", "--out", out)
    assert summary(out)["status"] == "max_iter" and len(trace(out)) == 3
    text = lehr("show", out, "beta", "--top", "4").stdout.splitlines()
    assert text[0] == "beta[topic] over term: Dirichlet, the 4 most probable of 6906", text[0]
    assert len(text) == 6
    vocabulary = set(open(f"{DATA}kos.vocab.txt").read().split())
    for line in text[1:]:
        name, _, terms = line.strip().partition(": ")
        assert name.startswith("topic "), line
        pairs = [pair.rsplit(" ", 1) for pair in terms.split(", ")]
        assert len(pairs) == 4 and all(term in vocabulary for term, _ in pairs), line
        probabilities = [float(p) for _, p in pairs]
        assert probabilities == sorted(probabilities, reverse=True), line
    everything = lehr("show", out).stdout
    assert "stopped at --max-iter after 3 iterations" in everything and "ELBO, sweep by sweep" in everything
    assert "theta[doc] over topic: Dirichlet, local, not written" in everything, everything


def components(out):
    done = lehr("fit", "models/gmm.lehr", "--data", f"x={DATA}faithful.csv:eruptions,waiting", "--set", "K=3",
                "--restarts", "3", "--out", out)
    fit = summary(out)
    assert done.stderr.count("restart ") == 3, done.stderr
    assert [r["restart"] for r in fit["restarts"]] == [0, 1, 2]
    assert fit["elbo"] == max(r["elbo"] for r in fit["restarts"]) == fit["restarts"][fit["restart"]]["elbo"]
    assert len(trace(out)) == fit["iterations"] and float(trace(out)[-1]["elbo"]) == fit["elbo"]
    text = lehr("show", out).stdout
    for expected in ["pi over k: Dirichlet, probability (sd)", "mu[k] over dim: MvNormal, mean (sd)", "eruptions", "%)",
                     "Lambda[k] over dim, dim: Wishart, mean (sd)"]:
        assert expected in text, f"{expected}\n{text}"


def start_only(out):
    lehr("fit", "models/gmm.lehr", "--data", f"x={DATA}faithful.csv:eruptions,waiting", "--max-iter", "0", "--out", out)
    fit = summary(out)
    assert fit["status"] == "max_iter" and fit["iterations"] == 0 and fit["elbo"] < 0
    assert [row["iteration"] for row in trace(out)] == ["0"]


def interrupted(out, number):
    running = subprocess.Popen([LEHR, "fit", *KOS, "--set", "K=20", "--tol", "0", "--quiet", "--out", out],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for _ in range(6000):  # until a sweep is on disk
        if os.path.exists(f"{out}/trace.csv") and len(trace(out)) > 0:
            break
        time.sleep(0.02)
    running.send_signal(number)
    _, complaint = running.communicate(timeout=120)
    assert running.returncode == 0 and "interrupted" in complaint, complaint
    fit = summary(out)
    assert fit["status"] == "interrupted" and fit["iterations"] == len(trace(out)) > 0
    assert "interrupted after" in lehr("show", out).stdout


def mistakes(out):
    lehr("fit", "models/coin.lehr", "--data", f"{DATA}coin.csv", "--quiet", "--out", out)
    unknown = lehr("show", out, "mu", code=2)
    assert "variables: p" in unknown.stderr, unknown.stderr
    assert "fit.json" in lehr("show", DATA, code=4).stderr
    assert "no such directory" in lehr("show", out + "/nowhere", code=4).stderr
    below_a_file = lehr("fit", "models/coin.lehr", "--data", f"{DATA}coin.csv", "--out", f"{out}/fit.json/x", code=2)
    assert "cannot make the directory" in below_a_file.stderr, below_a_file.stderr
    with open(f"{out}/fit.json", "w") as file:
        file.write('{"model": 3}')
    lehr("show", out, code=4)


with tempfile.TemporaryDirectory() as tmp:
    coin(f"{tmp}/it's a coin")
    topics(f"{tmp}/lda")
    components(f"{tmp}/gmm")
    start_only(f"{tmp}/start")
    interrupted(f"{tmp}/int", signal.SIGINT)
    interrupted(f"{tmp}/term", signal.SIGTERM)
    mistakes(f"{tmp}/mistakes")
print("all well")
