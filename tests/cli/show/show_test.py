#!/usr/bin/env python3
"""`lehr fit` and `lehr show` from outside: what a fit writes however it ends, and that show can be read.

Usage: show_test.py LEHR, from the root of the repository.
"""
import os
import shlex
import signal
import sys

import numpy

sys.path.append(f"{sys.path[0]}/../../helpers")
from lehr_tests import LEHR, lehr, read, read_csv, read_json, started, temporary, write, write_json  # noqa: E402

DATA = "models/data/"
KOS = ["models/topics/lda.lehr", "--data", f"w={DATA}topics/kos.ldac.gz", "--labels", f"term={DATA}topics/kos.vocab.txt"]


def summary(directory):
    return read_json(f"{directory}/fit.json")


def trace(directory):
    return read_csv(f"{directory}/trace.csv")


def coin(out):
    done = lehr("fit", "models/distributions/coin.lehr", "--data", f"{DATA}distributions/coin.csv", "--out", out)
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
    vocabulary = set(open(f"{DATA}topics/kos.vocab.txt").read().split())
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
    done = lehr("fit", "models/mixtures/gmm.lehr", "--data", f"x={DATA}mixtures/faithful.csv:eruptions,waiting", "--set", "K=3",
                "--restarts", "3", "--out", out)
    fit = summary(out)
    assert done.stderr.count("restart ") == 3, done.stderr
    assert [r["restart"] for r in fit["restarts"]] == [0, 1, 2]
    assert fit["elbo"] == max(r["elbo"] for r in fit["restarts"]) == fit["restarts"][fit["restart"]]["elbo"]
    assert len(trace(out)) == fit["iterations"] and float(trace(out)[-1]["elbo"]) == fit["elbo"]
    text = lehr("show", out).stdout
    for expected in ["pi over k: Dirichlet, probability (sd by linear response)", "mu[k] over dim: MvNormal, mean (sd by linear response)", "eruptions", "%)",
                     "Lambda[k] over dim, dim: Wishart, mean (sd by linear response)"]:
        assert expected in text, f"{expected}\n{text}"


def start_only(out):
    lehr("fit", "models/mixtures/gmm.lehr", "--data", f"x={DATA}mixtures/faithful.csv:eruptions,waiting", "--max-iter", "0", "--out", out)
    fit = summary(out)
    assert fit["status"] == "max_iter" and fit["iterations"] == 0 and fit["elbo"] < 0
    assert [row["iteration"] for row in trace(out)] == ["0"]


def interrupted(out, number):
    running = started(LEHR, "fit", *KOS, "--set", "K=20", "--tol", "0", "--quiet", "--out", out, path=f"{out}/trace.csv", lines=2)
    running.send_signal(number)
    _, complaint = running.communicate(timeout=120)
    assert running.returncode == 0 and "interrupted" in complaint, complaint
    fit = summary(out)
    assert fit["status"] == "interrupted" and fit["iterations"] == len(trace(out)) > 0
    assert "interrupted after" in lehr("show", out).stdout


def warned_once(out):
    os.makedirs(out)
    write(f"{out}/model.lehr", read("models/distributions/coin.lehr").replace("plate throw;", "plate throw; const unused = 1;"))
    done = lehr("fit", f"{out}/model.lehr", "--data", f"{DATA}distributions/coin.csv", "--quiet", "--out", out)
    assert done.stderr.count("warning") == 1, done.stderr
    unbound = lehr("fit", f"{out}/model.lehr", "--quiet", "--out", out, code=4)
    assert unbound.stderr.count("warning") == 1, unbound.stderr


def failure(out):
    """A posterior that is not proper: everything is written, and the message says what, when and the cure."""
    os.makedirs(out)
    write(f"{out}/model.lehr", "model m { plate n; mu ~ Flat(); tau ~ Jeffreys();\n"
          "observe x[n] ~ Normal(mean = mu, precision = tau); }\n")
    write_json(f"{out}/equal.json", {"x": [3, 3, 3, 3]})
    done = lehr("fit", f"{out}/model.lehr", "--data", f"{out}/equal.json", "--quiet", "--out", out, code=5)
    assert "in sweep" in done.stderr and "'tau'" in done.stderr and "--seed" in done.stderr, done.stderr
    assert summary(out)["status"] == "numerical_failure" and len(trace(out)) == summary(out)["iterations"]
    assert "numerical failure after" in lehr("show", out).stdout


def mistakes(out):
    lehr("fit", "models/distributions/coin.lehr", "--data", f"{DATA}distributions/coin.csv", "--quiet", "--out", out)
    unknown = lehr("show", out, "mu", code=2)
    assert "variables: p" in unknown.stderr, unknown.stderr
    assert "fit.json" in lehr("show", DATA, code=4).stderr
    assert "no such directory" in lehr("show", out + "/nowhere", code=4).stderr
    below_a_file = lehr("fit", "models/distributions/coin.lehr", "--data", f"{DATA}distributions/coin.csv", "--out", f"{out}/fit.json/x", code=2)
    assert "cannot make the directory" in below_a_file.stderr, below_a_file.stderr
    write(f"{out}/fit.json", '{"model": 3}')
    lehr("show", out, code=4)


def formulas(out):
    """Standard deviations of a made-up posterior, against numpy."""
    os.makedirs(out)
    random = numpy.random.default_rng(1)
    square = random.normal(size=(2, 3, 3))
    positive = square @ square.transpose(0, 2, 1) + numpy.eye(3)
    large = numpy.arange(1.0, 31.0)
    arrays = {
        "m.mean": random.normal(size=(2, 3)), "m.precision": positive,
        "nw.mean": random.normal(size=(2, 3)), "nw.precision_scale": numpy.array([2.0, 5.0]),
        "L.df": numpy.array([7.0, 4.0]), "L.scale": positive,
        "ng.mean": numpy.array(1.5), "ng.precision_scale": numpy.array(4.0),
        "t.shape": numpy.array(3.0), "t.rate": numpy.array(6.0),
        "v.shape": numpy.array(4.0), "v.scale": numpy.array(6.0),
        "s.concentration": large, "odd.thing": numpy.zeros((2, 2)), "r.mean": numpy.zeros((2, 3)), "r.precision": numpy.ones(3),
        "g.p": numpy.array(0.2), "c.value": numpy.array([0.25, 0.75])}
    numpy.savez(f"{out}/posterior.npz", **arrays)
    axes = {"m": (["k"], ["d"]), "nw": (["k"], ["d"]), "L": (["k"], ["d", "d"]), "s": ([], ["w"])}
    variables = {name: {"axes": a, "event": e} for name, (a, e) in axes.items()}
    variables["nw"]["joint"] = "L"
    families = {"m": "MvNormal", "nw": "NormalWishart", "L": "NormalWishart", "ng": "NormalGamma", "t": "NormalGamma",
                "v": "InverseGamma", "s": "Dirichlet", "odd": "Normal", "r": "Normal", "g": "Geometric", "c": "Dirichlet"}
    for name, family in families.items():
        variables.setdefault(name, {})["family"] = family
    variables["ng"]["joint"] = "t"
    write_json(f"{out}/fit.json", {"model": "made_up", "status": "converged", "variables": variables, "elbo": None})

    def rows(name):
        return [line for line in lehr("show", out, name).stdout.splitlines()[1:]]

    def cells(line):
        return [float(word.strip("()")) for word in line.split()[2:]]

    def same(line, mean, sd):
        numpy.testing.assert_allclose(cells(line), numpy.stack([mean, sd], 1).ravel(), rtol=0.06)

    for k in range(2):
        same(rows("m")[1 + k], arrays["m.mean"][k], numpy.sqrt(numpy.diag(numpy.linalg.inv(positive[k]))))
    variance = numpy.diag(numpy.linalg.inv(positive[0])) / (2.0 * (7 - 3 - 1))
    same(rows("nw")[1], arrays["nw.mean"][0], numpy.sqrt(variance))
    assert rows("nw")[2].count("(inf)") == 3  # four degrees of freedom in three dimensions: no variance
    v = positive[0]
    same(rows("L")[2], 7 * v[1], numpy.sqrt(7 * (v[1] ** 2 + v[1, 1] * numpy.diag(v))))
    assert lehr("show", out, "ng").stdout == "ng: NormalGamma, mean 1.5, sd 0.866\n"  # sqrt(6 / (2 * 4))
    assert lehr("show", out, "t").stdout == "t: NormalGamma, mean 0.5, sd 0.2887\n"
    assert lehr("show", out, "v").stdout == "v: InverseGamma, mean 2, sd 1.414\n"
    assert lehr("show", out, "g").stdout == "g: Geometric, mean 4, sd 4.472\n"  # (1 - p) / p, sqrt(1 - p) / p
    assert [line.split() for line in rows("c")] == [["0", "0.2500"], ["1", "0.7500"]]  # a point: nothing in brackets
    assert rows("s") == ["  " + ", ".join(f"w {w} {(w + 1) / large.sum():.2g}" for w in range(29, 19, -1))], rows("s")
    for name in ["odd", "r"]:
        assert "stand in posterior.npz" in lehr("show", out, name).stdout
    lehr("show", out)


with temporary() as tmp:
    formulas(f"{tmp}/formulas")
    coin(f"{tmp}/it's a coin")
    topics(f"{tmp}/lda")
    components(f"{tmp}/gmm")
    start_only(f"{tmp}/start")
    interrupted(f"{tmp}/int", signal.SIGINT)
    interrupted(f"{tmp}/term", signal.SIGTERM)
    warned_once(f"{tmp}/warned")
    failure(f"{tmp}/failure")
    mistakes(f"{tmp}/mistakes")
print("all well")
