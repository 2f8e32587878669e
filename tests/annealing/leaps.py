#!/usr/bin/env python3
"""Runs that creep are moved ahead: to the fixed point that numpy finds, in far fewer sweeps, and never downwards.

usage: leaps.py LEHR
"""
import sys

import numpy as np

sys.path.append(f"{sys.path[0]}/../posterior")
from fitting import finish, fit  # noqa: E402

R = np.random.default_rng(11)


def trend():
    """Separate Normal factors of a level and a slope whose regressor is far from 0: the factors' means are the joint
    posterior's, their precisions the diagonal of its precision."""
    year = np.arange(1990, 2020.0)
    y = 3 + 0.05 * (year - 1990) + 0.1 * R.normal(size=30)
    model = """model m { plate n; data x[n] : real; a ~ Normal(mean = 0, sd = 1000); b ~ Normal(mean = 0, sd = 1000);
      observe y[n] ~ Normal(mean = a + b * x[n], sd = 0.1); }"""
    x = (year - 1900) / 10
    fitted = fit(model, {"x": x, "y": y})
    got, q, plain = fitted.report, fitted.posterior, fit(model, {"x": x, "y": y}, "--leap-after", "0").report
    design = np.stack([np.ones(30), x], 1)
    precision = 100 * design.T @ design + 1e-6 * np.eye(2)
    mean = np.linalg.solve(precision, 100 * design.T @ y)
    for k, name in enumerate("ab"):
        assert np.isclose(q[name + ".mean"], mean[k], rtol=1e-5) and np.isclose(q[name + ".precision"], precision[k, k], rtol=1e-12)
    assert got["status"] == "converged" and got["iterations"] <= 50 and got["leaps"]["taken"] > 0, got["iterations"]
    assert plain["iterations"] > 4 * got["iterations"] and "leaps" not in plain, (plain["iterations"], got["iterations"], plain.get("leaps"))
    return f"{got['iterations']} sweeps, {plain['iterations']} without leaps"


def variances():
    """Crossed effects with unknown variances: the fixed point by numpy, sweeps of its own until nothing moves."""
    i, j = np.divmod(np.arange(48), 6)
    y = R.normal(size=8)[i] * 2 + R.normal(size=6)[j] + 5 + 0.3 * R.normal(size=48)
    model = """model m { plate n; plate f; plate g; data i[n] : f; data j[n] : g; mu ~ Normal(mean = 0, sd = 100);
      s ~ Gamma(shape = 1, rate = 1); t ~ Gamma(shape = 1, rate = 1); tau ~ Gamma(shape = 1, rate = 1);
      a[f] ~ Normal(mean = 0, precision = s); b[g] ~ Normal(mean = 0, precision = t);
      observe y[n] ~ Normal(mean = mu + a[i[n]] + b[j[n]], precision = tau); }"""
    fitted = fit(model, {"i": i, "j": j, "y": y}, "--tol", "1e-12")
    got, q = fitted.report, fitted.posterior
    A, B = np.eye(8)[i], np.eye(6)[j]
    m, a, b, es, et, eu = 5.0, np.zeros(8), np.zeros(6), 1.0, 1.0, 1.0
    for _ in range(20000):
        pm = 1e-4 + 48 * eu
        m = eu * (y - A @ a - B @ b).sum() / pm
        pa = es + eu * A.sum(0)
        a = eu * A.T @ (y - m - B @ b) / pa
        pb = et + eu * B.sum(0)
        b = eu * B.T @ (y - m - A @ a) / pb
        es, et = (1 + 4) / (1 + ((a**2 + 1 / pa).sum()) / 2), (1 + 3) / (1 + ((b**2 + 1 / pb).sum()) / 2)
        eu = (1 + 24) / (1 + (((y - m - A @ a - B @ b)**2).sum() + 48 / pm + (A @ (1 / pa)).sum() + (B @ (1 / pb)).sum()) / 2)
    for name, mean in (("mu.mean", m), ("a.mean", a), ("b.mean", b), ("a.precision", pa), ("b.precision", pb)):
        assert np.allclose(q[name], mean, rtol=1e-5, atol=1e-5), (name, q[name], mean)
    for name, mean in (("s", es), ("t", et), ("tau", eu)):
        assert np.isclose(q[name + ".shape"] / q[name + ".rate"], mean, rtol=1e-5)
    assert got["status"] == "converged" and got["leaps"]["taken"] > 0
    return f"{got['iterations']} sweeps, {got['leaps']}"


def limited():
    """A limit of the sweeps is no more than that: the sweeps until then are those of a run without it."""
    n = 200
    i, j = R.integers(12, size=n), R.integers(9, size=n)
    y = R.normal(size=12)[i] + R.normal(size=9)[j] + R.normal(size=n)
    model = """model m { plate n; plate f; plate g; data i[n] : f; data j[n] : g; mu ~ Normal(mean = 0, sd = 100);
      a[f] ~ Normal(mean = 0, sd = 5); b[g] ~ Normal(mean = 0, sd = 5); observe y[n] ~ Normal(mean = mu + a[i[n]] + b[j[n]], sd = 1); }"""
    data = {"i": i, "j": j, "y": y}
    free, enough, given = (fit(model, data, *o) for o in ([], ["--max-iter", "900"], ["--max-iter", "900", "--leap-after", "20"]))
    assert free.report["leaps"]["taken"] > 0
    for f in (enough, given):
        assert f.trace == free.trace and f.report["leaps"] == free.report["leaps"], (f.report["iterations"], free.report["iterations"])
    short = fit(model, data, "--max-iter", "30")
    assert short.trace[:29] == free.trace[:29] and short.report["status"] == "max_iter"
    return f"{free.report['iterations']} sweeps with and without a limit"


finish({"a level and a slope": trend, "crossed effects": variances, "a limit": limited})
