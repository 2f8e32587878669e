#!/usr/bin/env python3
"""Changes of scale between sweeps: theta * c and beta / c where the likelihood has their product. To the optimum that closed forms in numpy
give, in fewer sweeps than plain ones, which stand still there. What is printed and counted, and that bits do not depend on threads.

usage: scales.py LEHR
"""
import sys

import numpy as np

sys.path.append(f"{sys.path[0]}/../posterior")
from fitting import finish, fit, lehr, temporary, write  # noqa: E402

R = np.random.default_rng(8)
PLAIN = ["--leap-after", 0]  # neither extrapolations nor steps along invariances
ENDS = ["--tol", "1e-12", "--max-iter", 30000, "--search", "none"]
RATES = """model m { plate r; plate u; plate i; data p[r] : u; data q[r] : i;
  theta[u] ~ Gamma(shape = 0.5, rate = 0.01); beta[i] ~ Gamma(shape = 0.7, rate = 0.02);
  observe y[r] ~ Poisson(theta[p[r]] * beta[q[r]]); MORE }"""
FACTORS = """model m { plate r; plate u; plate i; plate k = 3; data p[r] : u; data q[r] : i;
  theta[u, k] ~ Gamma(shape = 2, rate = 0.1); beta[k, i] ~ Gamma(shape = 2, rate = 0.3);
  observe y[r] ~ Poisson(sum(k) theta[p[r], k] * beta[k, q[r]]); }"""


def sweeps(model, x, *options, most):
    """A fit with changes of scale and one without: equal optima, the first in at most `most` of the sweeps. Plain sweeps from its end do
    not move."""
    got, without = fit(model, x, *ENDS, *options), fit(model, x, *ENDS, *options, "--no-invariances")
    plain = fit(model, x, *ENDS, *options, *PLAIN)
    assert got.report["status"] == "converged" and got.report["shifts"]["accepted"] > 0, got.report
    assert "shifts" not in without.report and "shifts" not in plain.report
    assert got.elbo >= plain.elbo - 1e-7 * abs(plain.elbo), (got.elbo, plain.elbo)
    counts = [f.report["iterations"] for f in (got, without, plain)]
    assert counts[0] <= most * counts[2], counts
    again = fit(model, x, "--tol", 0, "--max-iter", 20, *PLAIN, *options, init=got.posterior)
    assert abs(again.elbo - got.elbo) < 1e-8 * abs(got.elbo), (again.elbo, got.elbo)
    for name, array in got.posterior.items():
        assert np.allclose(array, again.posterior[name], rtol=1e-4), name
    return got, "{} sweeps, {} extrapolated, {} plain ones".format(*counts)


def listed(y):
    """The entries of a matrix, one after another."""
    p, q = np.divmod(np.arange(y.size), y.shape[1])
    return {"p": p, "q": q, "y": y.ravel()}


def counts(users=40, items=25, k=3):
    return listed(R.poisson(R.gamma(0.7, 2, (users, k)) @ R.gamma(0.7, 2, (k, items))))


def rates():
    """One factor: the shapes are sums of counts, and the rates solve a quadratic equation."""
    y = R.poisson(R.gamma(2, 1, (20, 1)) * R.gamma(2, 1, 15))
    got, said = sweeps(RATES.replace("MORE", ""), listed(y), most=0.1)
    a, b = (0.5 + y.sum(1)), (0.7 + y.sum(0))
    # S and T, the sums of the means of theta and beta: S = A / (r + T), T = B / (s + S).
    A, B, r, s = a.sum(), b.sum(), 0.01, 0.02
    S = max(np.roots([r, r * s + B - A, -A * s]).real)
    q = got.posterior
    assert np.allclose(q["theta.shape"], a) and np.allclose(q["beta.shape"], b)
    # Of the scale the ELBO says little: steps end where they gain less than its rounding, 1e-11.
    assert np.allclose(q["beta.rate"], s + S, rtol=1e-4) and np.allclose(q["theta.rate"], r + B / (s + S), rtol=1e-4), (q["beta.rate"], s + S)
    return said


def factors():
    """A scale for each factor; the source of each count depends on products alone."""
    return sweeps(FACTORS, counts(), most=0.7)[1]


def hierarchy():
    """Rates of the prior are latent, one for each item, and stay as they are."""
    model = RATES.replace("MORE", "").replace("theta[u] ~", "s[i] ~ Gamma(shape = 2, rate = 1); theta[u] ~").replace("rate = 0.02", "rate = s[i]")
    return sweeps(model, listed(R.poisson(R.gamma(2, 1, (20, 1)) * R.gamma(2, 1, 15))), most=0.5)[1]


def unseen():
    """Persons without any counts are integrated out."""
    model = """model m { plate r; plate u; plate i; data p[r] : u; data q[r] : i; s ~ Gamma(shape = 1, rate = 1);
      theta[u] ~ Gamma(shape = 0.5, rate = s); beta[i] ~ Gamma(shape = 0.7, rate = 0.02);
      observe y[r] ~ Poisson(theta[p[r]] * beta[q[r]]); }"""
    x = {"p": R.integers(20, size=200), "q": R.integers(9, size=200)}
    x["y"] = R.poisson(R.gamma(2, 1, 20)[x["p"]] * R.gamma(2, 1, 9)[x["q"]])
    got, said = sweeps(model, x, "--sizes", "u=23", most=0.7)
    near = fit(model, x, *ENDS, "--sizes", "u=20")
    assert abs(got.elbo - near.elbo) < 1e-7 * abs(near.elbo), (got.elbo, near.elbo)
    return said


def bits():
    """Threads, and starts of a search."""
    y = counts()
    model = FACTORS
    for options in (["--max-iter", 40, "--search", "none"], ["--restarts", 3, "--max-iter", 40]):
        once, other = fit(model, y, *options, "--threads", 1), fit(model, y, *options, "--threads", 3)
        assert once.trace == other.trace and once.report["shifts"] == other.report["shifts"]
        for name, array in once.posterior.items():
            assert np.array_equal(array, other.posterior[name]), name
    return f"{len(once.trace)} equal ELBOs"


def derived():
    """What `lehr derive` prints, also of a model whose data tell the scales apart."""
    def said(model):
        with temporary() as folder:
            return lehr("derive", write(f"{folder}/m.lehr", model)).stdout
    assert "theta -> theta * c, beta -> beta / c over k" in said(FACTORS)
    assert "theta -> theta * c, beta -> beta / c\n" in said(RATES.replace("MORE", "")), said(RATES.replace("MORE", ""))[-300:]
    assert " * c" not in said(RATES.replace("MORE", "observe v[u] ~ Poisson(theta[u]);"))
    return "a scale for each factor, and none where data tell scales apart"


finish({f.__name__: f for f in (rates, factors, hierarchy, unseen, bits, derived)})
