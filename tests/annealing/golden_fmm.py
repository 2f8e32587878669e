#!/usr/bin/env python3
"""The factorial mixture of Mandt et al. (2016), section 4.1: the recorded ELBOs of an independent implementation.

golden_fmm.json holds the temperatures and the ELBO at temperature 1 after some of 60 sweeps, from means in
golden_fmm_init_m.csv; annealed ascent and entropy annealing (Katahira et al. 2008) from T = 10 over 10 sweeps, and
variational tempering with 100 temperatures up to 10, whose normaliser is exact here.
"""
import os
import sys

import numpy as np

sys.path.append(f"{sys.path[0]}/../posterior")
from fitting import finish, fit, read_json, relative  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
MODEL = """model fmm { plate n; plate k = 8; plate d;
  mu[k] ~ MvNormal(mean = 0, covariance = 0.35) over d;
  z[n, k] ~ Bernoulli(0.3);
  observe x[n] ~ MvNormal(mean = sum(k) z[n, k] * mu[k], covariance = 0.1); }"""
METHODS = {"VI": [], "AVI_T0=10_ta=10": ["--anneal", "linear:from=10,over=10"],
           "KAT_T0=10_ta=10": ["--anneal", "entropy:from=10,over=10"],
           "VT_M=100_Tmax=10": ["--temper", "global:max=10,levels=100"]}


def array(name):
    return np.loadtxt(os.path.join(HERE, name), delimiter=",")


def check(name):
    want = read_json(os.path.join(HERE, "golden_fmm.json"))[name]
    x, m = array("golden_fmm_X.csv"), array("golden_fmm_init_m.csv")
    n, d = x.shape
    start = {"mu.mean": m, "mu.precision": np.tile(np.eye(d) * n / 0.1, (len(m), 1, 1)), "z.p": np.full((n, len(m)), 0.3)}
    got = fit(MODEL, {"x": x}, "--guide", "factorised", "--max-iter", 60, "--tol", 0, "--leap-after", 0, *METHODS[name], init=start, monotone=False)
    assert got.report["elbo_decreases"] == 0, f"what was maximised fell {got.report['elbo_decreases']} times"
    sweeps = [int(i) for i in want["elbo_T1_after"]]
    error = relative([got.trace[i - 1] for i in sweeps], [want["elbo_T1_after"][str(i)] for i in sweeps])
    assert error <= 1e-9, f"{error:.1e}: {[got.trace[i - 1] for i in sweeps]}, not {want['elbo_T1_after']}"
    heat = relative([got.temperatures[i - 1] for i in sweeps], [want["T_used"][str(i)] for i in sweeps])
    assert heat <= 1e-8, f"temperatures {got.temperatures[:10]}"
    return f"{len(sweeps)} sweeps of 60 to {error:.1e}"


finish({name: lambda name=name: check(name) for name in METHODS})
