#!/usr/bin/env python3
"""Chains whose states data tell apart: the states come one after another and their number is not known (Chib 1998). The search ends
no lower than the segments that made the data, from every seed, and the states of a chain that data order otherwise are kept.

usage: segments.py LEHR
"""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "posterior"))
from fitting import finish, fit, holds

RNG = np.random.default_rng(12)
STATES = 10
MODEL = """model segments { plate t ordered; plate seg = 10; plate next = seg; const c[seg, next]; const first[seg];
  A[seg] ~ Dirichlet(concentration = c[seg]) over seg; %s
  s[t] ~ Categorical(A[s[t-1]]) start Categorical(first); observe x[t] ~ %s; }"""
QUICK = ["--search", "quick"]


def steps():
    """Concentrations: stay, or go to the next state; the last one stays."""
    c = 20 * np.eye(STATES) + np.eye(STATES, k=1)
    return {"c": c, "first": np.eye(STATES)[0]}


def reaches(parameters, data, line, x, init, seeds=(1, 2, 3)):
    bind = {**steps(), "x": x}
    truth = fit(MODEL % (parameters, line), bind, "--tol", "1e-10", init=init)
    found = [fit(MODEL % (parameters, line), bind, *QUICK, "--seed", seed, monotone=False) for seed in seeds]
    print(data, truth.elbo, [(f.elbo, f.report["search"].get("moves")) for f in found])
    return all(f.elbo > truth.elbo - 0.02 for f in found)


def counts_of(lengths):
    """Concentrations after these segments."""
    out = np.maximum(steps()["c"], 1e-3)
    for k, n in enumerate(lengths):
        out[k, k] += n - 1
        if k + 1 < len(lengths):
            out[k, k + 1] += 1
    return out


@holds
def means_of_segments():
    """Four segments among ten states, levels of Normal numbers."""
    lengths, levels = [70, 50, 40, 60], np.array([0, 2.5, -1, 1.2])
    x = np.repeat(levels, lengths) + 0.7 * RNG.normal(size=sum(lengths))
    mean, precision = np.zeros(STATES), np.full(STATES, 0.04)
    mean[:4], precision[:4] = levels, 40
    init = {"A.concentration": counts_of(lengths), "mu.mean": mean, "mu.precision": precision, "tau.shape": 111, "tau.rate": 54}
    return reaches("mu[seg] ~ Normal(mean = 0, sd = 5); tau ~ Gamma(shape = 1, rate = 1);", "levels", "Normal(mean = mu[s[t]], precision = tau)",
                   x, init)


@holds
def rates_of_segments():
    """Three segments among ten states, counts of accidents."""
    lengths, rates = [60, 45, 70], [3.0, 1.0, 6.0]
    x = RNG.poisson(np.repeat(rates, lengths)).astype(float)
    shape, rate = np.full(STATES, 2.0), np.full(STATES, 1.0)
    shape[:3] = [r * n for r, n in zip(rates, lengths)]
    rate[:3] = lengths
    init = {"A.concentration": counts_of(lengths), "lam.shape": shape, "lam.rate": rate}
    return reaches("lam[seg] ~ Gamma(shape = 2, rate = 1);", "rates", "Poisson(lam[s[t]])", x, init)


finish()
