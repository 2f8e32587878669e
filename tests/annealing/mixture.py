#!/usr/bin/env python3
"""The mixture of Fig. 1 of Mandt et al. (2016) without any randomness: which schedules leave the local optimum.

Two unit-variance components with known weights; 100 quantiles of the true mixture as data; the start has the means the
wrong way round. An independent implementation gave the numbers.
"""
import sys

import numpy as np
from scipy.stats import norm

sys.path.append(f"{sys.path[0]}/../posterior")
from fitting import finish, fit  # noqa: E402

MODEL = """model m { plate n; plate k = 2; data w : simplex over k;
  mu[k] ~ Normal(mean = 0, variance = 10);
  z[n] ~ Categorical(w);
  observe x[n] ~ Normal(mean = mu[z[n]], sd = 1); }"""
X = np.concatenate([-2 + norm.ppf((np.arange(30) + 0.5) / 30), 2 + norm.ppf((np.arange(70) + 0.5) / 70)])
LOCAL, GLOBAL = -233.45066102, -203.64812966
EXPECTED = {"": LOCAL, "linear:from=10,over=100": GLOBAL, "linear:from=20,over=100": GLOBAL,
            "linear:from=5,over=100": LOCAL, "auto:full": GLOBAL}


def run(anneal, means, *arguments):
    init = {"mu.mean": means, "mu.precision": [100.0, 100.0]}
    arguments = [*arguments, "--tol", "1e-13"] + (["--anneal", anneal] if anneal else [])
    return fit(MODEL, {"x": X, "w": [0.3, 0.7]}, *arguments, init=init, monotone=False)


def ends_at(anneal):
    got = run(anneal, [2.0, -2.0])
    assert abs(got.elbo - EXPECTED[anneal]) <= 1e-7, f"ELBO {got.elbo}, not {EXPECTED[anneal]}"
    return f"ELBO {got.elbo:.8f}"


def grid():
    """From 7 x 7 starts: plain ascent finds the global optimum from about half, annealing from all."""
    counts = {"": 0, "linear:from=10,over=100": 0}
    starts = [(a, b) for a in np.linspace(-5, 5, 7) for b in np.linspace(-5, 5, 7)]
    for anneal in counts:
        counts[anneal] = sum(abs(run(anneal, list(s)).elbo - GLOBAL) < 1e-5 for s in starts)
    plain, annealed = counts.values()
    assert annealed == len(starts) and 0.3 * len(starts) <= plain <= 0.7 * len(starts), f"of {len(starts)} starts: plain {plain}, annealed {annealed}"
    return f"of {len(starts)} starts plain ascent reaches it from {plain}, annealing from all"


def melting():
    got = run("auto:full", [2.0, -2.0]).report["annealing"]
    assert abs(got["melting_temperature"] - 1.07**18) <= 1e-9, f"melting temperature {got['melting_temperature']}, not 1.07^18"
    assert not got["arms"][0]["kept"] and not got["arms"][1]["kept"] and got["arms"][2]["kept"], f"arms {got['arms']}"
    return f"T = 1.07^18 = {got['melting_temperature']:.4f}, the melt arm wins"


def at_one_temperature():
    """At a fixed temperature what is maximised never falls, whatever is annealed."""
    for anneal in ("linear:from=3,over=1000000000", "entropy:from=3,over=1000000000"):
        got = run(anneal, [2.0, -2.0], "--max-iter", 200)
        assert got.report["elbo_decreases"] == 0, f"{anneal}: fell {got.report['elbo_decreases']} times"
    return "200 sweeps at T = 3"


finish({**{f"from the wrong start, {a or 'plain'}": lambda a=a: ends_at(a) for a in EXPECTED},
        "melting temperature": melting, "objective": at_one_temperature, "grid of starts": grid})
