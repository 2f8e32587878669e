#!/usr/bin/env python3
"""Shifts of constants between sweeps: to the optimum of plain sweeps, in fewer of them, and plain sweeps stand still there.
Against numpy, for random effects. What is printed and counted, and that bits depend on neither threads nor pauses.

usage: shifts.py LEHR
"""
import sys

import numpy as np

sys.path.append(f"{sys.path[0]}/../posterior")
from fitting import finish, fit, lehr, temporary, write  # noqa: E402

R = np.random.default_rng(3)
PLAIN = ["--leap-after", 0]  # neither extrapolations nor steps along invariances
ENDS = ["--tol", "1e-11", "--max-iter", 30000]
FACTORS = """model m { plate n; plate d; plate k = 2;
  W[d] ~ MvNormal(mean = 0, precision = 1) over k; mu[d] ~ Normal(mean = 0, precision = 0.001);
  psi[d] ~ Gamma(shape = 1e-2, rate = 1e-2); z[n] ~ MvNormal(mean = 0, precision = 1) over k;
  observe x[n, d] ~ Normal(mean = dot(W[d], z[n]) + mu[d], precision = psi[d]); }"""
RATINGS = """model m { plate r; plate p; plate f; plate k = 2; data i[r] : p; data j[r] : f;
  tau ~ Gamma(shape = 1, rate = 1);
  U[p] ~ MvNormal(mean = 0, precision = 1) over k; V[f] ~ MvNormal(mean = 0, precision = 1) over k;
  b[p] ~ Normal(mean = 0, precision = 1); c[f] ~ Normal(mean = 0, precision = 1); m ~ Normal(mean = 0, precision = 0.01);
  observe y[r] ~ Normal(mean = dot(U[i[r]], V[j[r]]) + b[i[r]] + c[j[r]] + m, precision = tau); GUIDE }"""
EFFECTS = """model m { plate r; plate g; data at[r] : g;
  b ~ Normal(mean = 0, precision = 0.01); a[g] ~ Normal(mean = 0.5, precision = 2);
  observe y[r] ~ Normal(mean = a[at[r]] + b, precision = 4); }"""


def compare(model, x, *options, most):
    """A fit with shifts and one of plain sweeps: the optimum is no lower, in at most `most` of the sweeps, and plain sweeps from
    there do not move."""
    got, without = fit(model, x, *ENDS, *options), fit(model, x, *ENDS, *PLAIN, *options)
    assert got.report["status"] == without.report["status"] == "converged"
    assert "shifts" not in without.report and got.report["shifts"]["accepted"] > 0, got.report
    assert got.elbo >= without.elbo - 1e-7 * abs(without.elbo), (got.elbo, without.elbo)
    assert got.report["iterations"] <= most * without.report["iterations"], (got.report["iterations"], without.report["iterations"])
    again = fit(model, x, "--tol", 0, "--max-iter", 20, *PLAIN, *options, init=got.posterior)
    assert abs(again.elbo - got.elbo) < 1e-7 * abs(got.elbo), (again.elbo, got.elbo)
    return f"{got.report['iterations']} sweeps, {without.report['iterations']} plain ones"


def factors(n=300, d=6):
    return R.normal(size=(n, 2)) @ (R.normal(size=(2, d)) * [[4], [2]]) + 0.4 * R.normal(size=(n, d)) + 5 * R.normal(size=d)


def ratings(most=0.7):
    i, j = np.divmod(np.arange(600), 20)
    y = 3 + (R.normal(size=(30, 2))[i] * R.normal(size=(20, 2))[j]).sum(1) + R.normal(size=30)[i] + R.normal(size=20)[j] + 0.3 * R.normal(size=600)
    some = R.random(600) < most
    return {"i": i[some], "j": j[some], "y": y[some]}


def means():
    return compare(FACTORS, {"x": factors()}, most=0.5)


def missing_entries():
    x = factors()
    x[R.random(x.shape) < 0.2] = np.nan
    return compare(FACTORS, {"x": x}, most=0.5)


def biases():
    """Of users and items, with factors of their own; the constants of U go to c by way of V, those of b to m."""
    return compare(RATINGS.replace("GUIDE", ""), ratings(), "--guide", "factorised", most=0.5)


def joint_biases():
    """Of users and items, in one factor: the constants of U go to entries of a joint vector."""
    return compare(RATINGS.replace("GUIDE", "guide joint(b, c, m);"), ratings(), most=0.9)


def effects():
    """The best factors solve linear equations, and one shift solves those of the sum of all effects."""
    at = np.arange(200) % 8
    y = R.normal(size=8)[at] + 3 + 0.5 * R.normal(size=200)
    got = fit(EFFECTS, {"at": at, "y": y}, *ENDS, "--guide", "factorised")
    n = np.bincount(at)
    normal = np.diag(np.append(2 + 4.0 * n, 0.01 + 800))
    normal[-1, :-1] = normal[:-1, -1] = 4 * n
    best = np.linalg.solve(normal, np.append(1 + 4 * np.bincount(at, y), 4 * y.sum()))
    assert np.allclose(np.append(got.posterior["a.mean"], got.posterior["b.mean"]), best, rtol=1e-5, atol=1e-5), (got.posterior, best)
    plain = fit(EFFECTS, {"at": at, "y": y}, *ENDS, *PLAIN, "--guide", "factorised")
    assert got.report["shifts"]["accepted"] > 0 and got.report["iterations"] < 0.5 * plain.report["iterations"]
    return f"{got.report['iterations']} sweeps, {plain.report['iterations']} plain ones"


def bits():
    """Threads, and starts of a search."""
    x = {"x": factors()}
    for options in (["--max-iter", 30], ["--restarts", 3, "--max-iter", 30]):
        once, other = fit(FACTORS, x, *options, "--threads", 1), fit(FACTORS, x, *options, "--threads", 3)
        assert once.trace == other.trace and once.report["shifts"] == other.report["shifts"]
        for name, array in once.posterior.items():
            assert np.array_equal(array, other.posterior[name]), name
    return f"{len(once.trace)} equal ELBOs"


def derived():
    """What `lehr derive` prints, also of models whose data tell the constants apart."""
    def said(model):
        with temporary() as folder:
            return lehr("derive", write(f"{folder}/m.lehr", model)).stdout
    assert "z -> z - c, mu -> mu + W c over k" in said(FACTORS), said(FACTORS)[-300:]
    assert "U -> U - c, c -> c + V c over k" in said(RATINGS.replace("GUIDE", "guide joint(b, c, m);"))
    for more in ("data u : vector over k; observe v[n] ~ Normal(mean = dot(u, z[n]), precision = 1);",
                 "observe v[d] ~ Normal(mean = mu[d], precision = 1);"):
        assert " - c" not in said(FACTORS.replace("observe x", more + " observe x")), more
    return "shifts, and none where data tell constants apart"


finish({f.__name__: f for f in (means, missing_entries, biases, joint_biases, effects, bits, derived)})
