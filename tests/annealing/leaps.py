#!/usr/bin/env python3
"""Slow runs are extrapolated: to the fixed point that numpy finds, in far fewer sweeps, and never downwards.

usage: leaps.py LEHR
"""
import sys

import numpy as np

sys.path.append(f"{sys.path[0]}/../posterior")
from fitting import finish, fit  # noqa: E402


def slow(model, data, *options, **how):
    """A fit of independent factors, which converges slowly without steps along invariances."""
    return fit(model, data, "--guide", "factorised", "--no-invariances", *options, **how)


R = np.random.default_rng(11)


def trend():
    """Separate Normal factors of a level and a slope whose regressor is far from 0: the factors' means are the joint
    posterior's, their precisions the diagonal of its precision."""
    year = np.arange(1990, 2020.0)
    y = 3 + 0.05 * (year - 1990) + 0.1 * R.normal(size=30)
    model = """model m { plate n; data x[n] : real; a ~ Normal(mean = 0, sd = 1000); b ~ Normal(mean = 0, sd = 1000);
      observe y[n] ~ Normal(mean = a + b * x[n], sd = 0.1); }"""
    x = (year - 1900) / 10
    fitted = slow(model, {"x": x, "y": y})
    got, q, plain = fitted.report, fitted.posterior, slow(model, {"x": x, "y": y}, "--leap-after", "0").report
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
    fitted = slow(model, {"i": i, "j": j, "y": y}, "--tol", "1e-12")
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
    free, enough, given = (slow(model, data, *o) for o in ([], ["--max-iter", "900"], ["--max-iter", "900", "--leap-after", "6"]))
    assert free.report["leaps"]["taken"] > 0
    for f in (enough, given):
        assert f.trace == free.trace and f.report["leaps"] == free.report["leaps"], (f.report["iterations"], free.report["iterations"])
    short = slow(model, data, "--max-iter", "10")
    assert short.trace[:9] == free.trace[:9] and short.report["status"] == "max_iter"
    return f"{free.report['iterations']} sweeps with and without a limit"


def stays(model, data, got, *options, rtol=1e-3):
    """Where a run has ended, plain sweeps have little to move, and all of them together gain next to nothing."""
    on = slow(model, data, *options, "--leap-after", "0", "--max-iter", 3000, "--tol", 1e-11)
    assert -1e-6 <= (on.elbo - got.elbo) / (1 + abs(on.elbo)) <= 1e-6, (got.elbo, on.elbo)
    for name, x in on.posterior.items():
        # What the data hardly determine, such as the mean of all b in a softmax, may be off by a small part of its deviation.
        precision = on.posterior.get(name.replace(".mean", ".precision"), np.zeros(()))
        scale = np.abs(x).mean() if precision.shape != x.shape or name.endswith(".precision") else 5 * precision.mean() ** -0.5
        assert np.abs(got.posterior[name] - x).mean() <= rtol * scale + 1e-8, (name, got.posterior[name], x)
    return on.report["iterations"]


def tangent():
    """The point of a bound that all items share is extrapolated with the others: a concave maximum, found by plain sweeps too."""
    tumours = {"rats": R.integers(10, 40, 30)}
    tumours["tumours"] = R.binomial(tumours["rats"], R.beta(3, 15, 30))
    model = "models/hierarchical/rat_tumours.lehr"
    got = slow(model, tumours)
    sweeps = stays(model, tumours, got)
    assert got.report["status"] == "converged" and got.report["iterations"] < 60 < 10 * got.report["iterations"] < sweeps, (got.report["iterations"], sweeps)
    return f"{got.report['iterations']} sweeps, {sweeps} without extrapolation"


def before_items():
    """Sweeps that begin with blocks outside the items read statistics of the sweep before, which are extrapolated too."""
    x = R.normal(size=(150, 3))
    data = {"x": x, "y": (x @ R.normal(size=(3, 3)) + R.gumbel(size=(150, 3))).argmax(1)}
    model = "models/regression/softmax_regression.lehr"
    got = slow(model, data)
    sweeps = stays(model, data, got)
    assert got.report["status"] == "converged" and 4 * got.report["iterations"] < sweeps, (got.report["iterations"], sweeps)
    return f"{got.report['iterations']} sweeps, {sweeps} without extrapolation"


def from_a_saddle():
    """Near equal components sweeps move away from a fixed point that is no maximum, ever faster: the run does not go back to it."""
    x = np.where(R.random(400) < 0.5, -0.7, 0.7) + R.normal(size=400)
    model = """model m { plate n; plate k = 2; mu[k] ~ Normal(mean = 0, sd = 10); pi ~ Dirichlet(concentration = 1) over k; z[n] ~ Categorical(pi);
      observe x[n] ~ Normal(mean = mu[z[n]], sd = 1); }"""
    begin = {"mu.mean": np.full(2, x.mean()) + [-1e-6, 1e-6], "mu.precision": np.full(2, 200.0), "pi.concentration": np.full(2, 201.0)}
    got, plain = (slow(model, {"x": x}, *o, "--tol", 1e-10, init=begin) for o in (["--leap-after", "6"], ["--leap-after", "0"]))
    assert abs(got.elbo - plain.elbo) < 1e-5 * abs(plain.elbo), (got.elbo, plain.elbo)
    assert got.posterior["mu.mean"].ptp() > 1 and got.report["iterations"] < plain.report["iterations"], (got.posterior["mu.mean"], got.report["iterations"], plain.report["iterations"], got.report.get("leaps"))
    return f"{got.report['iterations']} sweeps, {plain.report['iterations']} without extrapolation"


def undone():
    """An extrapolation that lowers the ELBO is undone: the sweep after it has the ELBO before it, to the last bit."""
    x = np.concatenate([R.normal(c, 1, (60, 2)) for c in ([0, 0], [1.5, 0], [0, 2])])
    got = fit("models/mixtures/gmm.lehr", {"x": x}, "--set", "K=6", "--leap-after", "2")
    again = sum(a == b for a, b in zip(got.trace, got.trace[1:]))
    assert again >= got.report["leaps"]["refused"] > 0, (again, got.report["leaps"])
    return f"{got.report['leaps']}"


finish({"a level and a slope": trend, "crossed effects": variances, "a limit": limited, "a tangent point": tangent, "statistics": before_items,
        "a saddle": from_a_saddle, "undone": undone})
