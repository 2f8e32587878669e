#!/usr/bin/env python3
"""Numbers drawn element by element (`over`): the same fit as the model written out with one more index, and the exact
evidence of a conjugate one with missing entries.

usage: elementwise.py LEHR
"""
import sys

import numpy as np
from scipy.special import gammaln
from scipy.stats import multivariate_normal

sys.path.append(f"{sys.path[0]}/..")
from fitting import finish, fit, relative  # noqa: E402

RNG = np.random.default_rng(11)
N, D = 12, 4
NONE = float("nan")
REAL = RNG.normal(0, 1, (N, 2)) @ RNG.normal(0, 1, (2, D)) + RNG.normal(1, 0.3, (N, D))
HOLES = np.where(RNG.random((N, D)) < 0.2, NONE, REAL)
COUNTS = RNG.poisson(3, (N, D))
BITS = RNG.integers(0, 2, (N, D))
GROUP = RNG.integers(0, 3, N)
A0 = RNG.normal(0, 1, D)

# name: (short, written out, data)
PAIRS = {
    "factor analysis, missing entries": ("""
        plate k = 2; A[d] ~ MvNormal(mean = 0, precision = 1) over k; h[n] ~ MvNormal(mean = 0, precision = 1) over k;
        b ~ Normal(mean = 0, sd = 10) over d; tau ~ Gamma(shape = 1, rate = 1) over d;
        observe x[n] ~ Normal(mean = A * h[n] + b, precision = tau) over d;""", """
        plate k = 2; A[d] ~ MvNormal(mean = 0, precision = 1) over k; h[n] ~ MvNormal(mean = 0, precision = 1) over k;
        b[d] ~ Normal(mean = 0, sd = 10); tau[d] ~ Gamma(shape = 1, rate = 1);
        observe x[n, d] ~ Normal(mean = dot(A[d], h[n]) + b[d], precision = tau[d]);""", {"x": HOLES}),
    "scale, difference and a scalar parameter": ("""
        data a0 : vector over d; c ~ Normal(mean = 0, sd = 1); m ~ Normal(mean = a0, sd = 2) over d;
        observe x[n] ~ Normal(mean = c * a0 - m / 2, sd = 0.5) over d;""", """
        data a0[d] : real; c ~ Normal(mean = 0, sd = 1); m[d] ~ Normal(mean = a0[d], sd = 2);
        observe x[n, d] ~ Normal(mean = c * a0[d] - m[d] / 2, sd = 0.5);""", {"x": REAL, "a0": A0}),
    "mixture of Poissons": ("""
        plate k = 3; pi ~ Dirichlet(concentration = 1) over k; rate[k] ~ Gamma(shape = 1, rate = 0.2) over d;
        z[n] ~ Categorical(pi); observe x[n] ~ Poisson(rate[z[n]]) over d;""", """
        plate k = 3; pi ~ Dirichlet(concentration = 1) over k; rate[k, d] ~ Gamma(shape = 1, rate = 0.2);
        z[n] ~ Categorical(pi); observe x[n, d] ~ Poisson(rate[z[n], d]);""", {"x": COUNTS}),
    "Poisson factors": ("""
        plate k = 2; W[d] ~ Gamma(shape = 0.5, rate = 1) over k; s[n] ~ Gamma(shape = 0.5, rate = 1) over k;
        observe x[n] ~ Poisson(W * s[n]) over d;""", """
        plate k = 2; W[d, k] ~ Gamma(shape = 0.5, rate = 1); s[n, k] ~ Gamma(shape = 0.5, rate = 1);
        observe x[n, d] ~ Poisson(sum(k) W[d, k] * s[n, k]);""", {"x": COUNTS}),
    "Bernoulli profiles of groups": ("""
        plate g = 3; data group[n] : g; p[g] ~ Beta(1, 2) over d; observe x[n] ~ Bernoulli(p[group[n]]) over d;""", """
        plate g = 3; data group[n] : g; p[g, d] ~ Beta(1, 2); observe x[n, d] ~ Bernoulli(p[group[n], d]);""",
        {"x": BITS, "group": GROUP}),
    "logistic factors": ("""
        plate k = 2; A[d] ~ MvNormal(mean = 0, precision = 1) over k; h[n] ~ MvNormal(mean = 0, precision = 1) over k;
        observe x[n] ~ Bernoulli(logistic(A * h[n])) over d;""", """
        plate k = 2; A[d] ~ MvNormal(mean = 0, precision = 1) over k; h[n] ~ MvNormal(mean = 0, precision = 1) over k;
        observe x[n, d] ~ Bernoulli(logistic(dot(A[d], h[n])));""", {"x": BITS}),
    "vector of a missing axis, used whole": ("""
        data A[n] : vector over d; w ~ Normal(mean = 0, sd = 2) over d; observe x[n] ~ Normal(mean = dot(A[n], w), sd = 1);""", """
        data A[n, d] : real; w[d] ~ Normal(mean = 0, sd = 2); observe x[n] ~ Normal(mean = sum(d) A[n, d] * w[d], sd = 1);""",
        {"A": REAL, "x": REAL.sum(axis=1)}),
    "chain of element-wise states": ("""
        plate t ordered; s[t] ~ Normal(mean = 0.8 * s[t-1], sd = 1) over d start Normal(mean = 0, sd = 3);
        observe x[t] ~ Normal(mean = s[t], sd = 0.5) over d; guide independent(s);""", """
        plate t ordered; s[t, d] ~ Normal(mean = 0.8 * s[t-1, d], sd = 1) start Normal(mean = 0, sd = 3);
        observe x[t, d] ~ Normal(mean = s[t, d], sd = 0.5); guide independent(s);""", {"x": REAL}),
}


def model(body):
    return "model m { plate d; " + ("" if "plate t" in body else "plate n; ") + body + " }"


def same(short, long, data):
    got, want = (fit(model(body), data, "--tol", 0, "--max-iter", 60, "--seed", 3) for body in (short, long))
    assert got.posterior.keys() == want.posterior.keys(), f"{sorted(got.posterior)}, not {sorted(want.posterior)}"
    worst = max(relative(got.posterior[k], want.posterior[k]) for k in want.posterior)
    if not (worst <= 1e-9 and abs(got.elbo - want.elbo) <= 1e-11 * abs(want.elbo)):
        raise AssertionError(f"posterior differs by {worst:.1e}, ELBO {got.elbo!r}, not {want.elbo!r}")
    return f"ELBO {want.elbo:.6f}, posterior within {worst:.0e}"


def evidence(body, data, exact):
    got = fit(model(body), data, "--tol", 0, "--max-iter", 20).elbo
    assert abs(got - exact) <= 1e-10 * abs(exact), f"ELBO {got!r}, log evidence {exact!r}"
    return f"log evidence {exact:.6f}"


def normal_with_holes():
    exact = 0.0
    for column in HOLES.T:
        x = column[~np.isnan(column)]
        exact += multivariate_normal(np.full(len(x), 1.0), 4 * np.ones((len(x), len(x))) + 0.25 * np.eye(len(x))).logpdf(x)
    return evidence("mu ~ Normal(mean = 1, sd = 2) over d; observe x[n] ~ Normal(mean = mu, precision = 4) over d;",
                    {"x": HOLES}, exact)


def poisson():
    total = COUNTS.sum(axis=0)
    exact = np.sum(np.log(3.0) * 2 - gammaln(2) + gammaln(2 + total) - (2 + total) * np.log(3 + N)) - gammaln(COUNTS + 1).sum()
    return evidence("r ~ Gamma(shape = 2, rate = 3) over d; observe x[n] ~ Poisson(r) over d;", {"x": COUNTS}, exact)


def states():
    """With means and covariances of one column as a Gaussian vector: the mean-field factors have the exact means."""
    got = fit(model(PAIRS["chain of element-wise states"][0]), {"x": REAL}, "--tol", 0, "--max-iter", 3000)
    precision = np.diag([1 / 9 + 0.64 + 4] + [1 + 0.64 + 4] * (N - 2) + [1 + 4.0])
    precision -= 0.8 * (np.eye(N, k=1) + np.eye(N, k=-1))
    assert relative(got.posterior["s.mean"], np.linalg.solve(precision, 4 * REAL)) <= 1e-8, "means differ from those of the Gaussian vector"
    return "means of the Gaussian vector"


finish({**{name: (lambda case=case: same(*case)) for name, case in PAIRS.items()},
        "evidence, normal with missing entries": normal_with_holes, "evidence, Poisson": poisson,
        "means of a chain": states})
