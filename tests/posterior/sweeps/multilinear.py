#!/usr/bin/env python3
"""A product of unknowns in one mean: the slowest of the small models.

y = 45 ~ Normal(mean = a b + b c + a c, precision = 1) with normal priors, started at the priors. A sweep leaves 0.998 of
the error, so that after 1000 sweeps a is still off by 6 per cent; the published means 1.012, 3.167, 9.992 are those of
sweep 1000. The fixed point is that of the exact updates here, run until nothing moves.

usage: multilinear.py LEHR
"""
import sys

import numpy as np

sys.path.append(f"{sys.path[0]}/..")
from fitting import finish, fit, relative  # noqa: E402

MODEL = """model multilinear {
  a ~ Normal(mean = -1, precision = 0.1);
  b ~ Normal(mean = 2, precision = 0.1);
  c ~ Normal(mean = 10, precision = 1);
  observe y ~ Normal(mean = a * b + b * c + a * c, precision = 1);
}"""
Y, NAMES = 45.0, "abc"
MEAN, PRECISION = np.array([-1.0, 2, 10]), np.array([0.1, 0.1, 1])
START = {**{f"{n}.mean": m for n, m in zip(NAMES, MEAN)}, **{f"{n}.precision": p for n, p in zip(NAMES, PRECISION)}}
FIXED_POINT = [0.956875, 3.231845, 9.995600]
SWEEP_1000 = [1.012, 3.167, 9.992]


def ascent(sweeps, tolerance=0.0):
    """The mean is v (u + w) + u w in each v: a normal factor with precision p + E[(u + w)^2]."""
    m, p = MEAN.copy(), PRECISION.copy()
    for sweep in range(1, sweeps + 1):
        before = m.copy()
        for v in range(3):
            u, w = [i for i in range(3) if i != v]
            u2, w2 = m[u] ** 2 + 1 / p[u], m[w] ** 2 + 1 / p[w]
            p[v] = PRECISION[v] + u2 + w2 + 2 * m[u] * m[w]
            m[v] = (PRECISION[v] * MEAN[v] + Y * (m[u] + m[w]) - u2 * m[w] - w2 * m[u]) / p[v]
        if np.max(np.abs(m - before)) < tolerance:
            break
    return m, p, sweep


def run(*arguments):
    got = fit(MODEL, {"y": Y}, *arguments, init=START)
    return (np.array([float(got.posterior[f"{n}.mean"]) for n in NAMES]),
            np.array([float(got.posterior[f"{n}.precision"]) for n in NAMES]), got.report)


def fixed_point():
    want, precisions, sweeps = ascent(100000, 1e-13)
    assert np.max(np.abs(want - FIXED_POINT)) <= 1e-6, f"the exact updates end at {want}, not {FIXED_POINT}"
    m, p, report = run("--max-iter", 100000, "--tol", "1e-16")
    assert report["status"] == "converged", f"{report['status']} after {report['iterations']} sweeps"
    assert np.max(np.abs(m - want)) <= 1e-5 and relative(p, precisions) <= 1e-5, f"means {m}, not {want}; precisions {p}, not {precisions}"
    return f"means {np.round(m, 6)} after {report['iterations']} sweeps, of {sweeps} to 1e-13"


def not_yet_settled():
    want, precisions, _ = ascent(1000)
    m, p, report = run("--max-iter", 1000, "--leap-after", 0)
    assert (report["status"], report["iterations"]) == ("max_iter", 1000), f"{report['status']} after {report['iterations']} sweeps at {m}"
    assert relative(m, want) <= 1e-11 and relative(p, precisions) <= 1e-11, f"sweep 1000: {m}, not {want}"
    assert np.max(np.abs(m - SWEEP_1000)) <= 5e-4, f"sweep 1000: {m}, not {SWEEP_1000}"
    return f"max_iter after 1000 sweeps at {np.round(m, 3)}"


def converged_means_settled(tolerance):
    """--tol promises parameters to its root: a fit that says `converged` must be that near, not only move that little."""
    want, _, _ = ascent(100000, 1e-13)
    m, _, report = run("--max-iter", 100000, "--tol", tolerance)
    error, allowed = relative(m, want), 2 * tolerance**0.5
    if report["status"] != "converged" or not error <= allowed:
        raise AssertionError(f"{report['status']} after {report['iterations']} sweeps, {error:.1e} from the fixed point, not {allowed:.1e}")
    return f"converged after {report['iterations']} sweeps, {error:.1e} from the fixed point"


finish({"fixed point": fixed_point, "after 1000 sweeps": not_yet_settled, **{
    f"settled at {tol}": lambda tol=tol: converged_means_settled(tol) for tol in (1e-6, 1e-8, 1e-10, 1e-12)}})
