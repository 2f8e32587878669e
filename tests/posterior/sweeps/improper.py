#!/usr/bin/env python3
"""Improper priors: exact posteriors where they exist, a refusal that names the variable where they do not.

With Flat() and Jeffreys() the evidence is the integral of the likelihood against 1 and 1 / x; Gelman et al. (2013),
sections 2.4 and 3.2, for the posteriors.

usage: improper.py LEHR
"""
import sys

import numpy as np
from scipy.special import gammaln

sys.path.append(f"{sys.path[0]}/..")
from fitting import finish, fit, relative  # noqa: E402

RNG = np.random.default_rng(7)
X = RNG.normal(2, 1.5, 9)
GROUP = np.array([0, 0, 1, 2, 2, 2, 1, 1, 0])
LOG_2PI = np.log(2 * np.pi)
MEAN = "mu ~ Flat(); observe x[n] ~ Normal(mean = mu, precision = 2);"
PRECISION = "tau ~ Jeffreys(); observe x[n] ~ Normal(mean = 1, precision = tau);"
BOTH = "mu ~ Flat(); tau ~ Jeffreys(); observe x[n] ~ Normal(mean = mu, precision = tau);"
RATE = "l ~ Jeffreys(); observe x[n] ~ Poisson(l);"
GROUPS = "plate g = 3; data group[n] : g; mu[g] ~ Flat(); observe x[n] ~ Normal(mean = mu[group[n]], precision = 2);"
SCALES = "plate g = 3; data group[n] : g; tau[g] ~ Jeffreys(); observe x[n] ~ Normal(mean = 1, precision = tau[group[n]]);"


def fit_body(body, data):
    return fit("model m { " + ("" if "plate t" in body else "plate n; ") + body + " }", data, "--tol", 0, "--max-iter", 2000)


def exact(body, data, evidence, known):
    got = fit_body(body, data)
    assert abs(got.elbo - evidence) <= 1e-10 * (1 + abs(evidence)), f"ELBO {got.elbo!r}, log evidence {evidence!r}"
    for name, value in known.items():
        assert relative(got.posterior[name], value) <= 1e-10, f"{name} is {got.posterior[name]}, not {value}"
    return f"log evidence {evidence:.6f}"


def flat_evidence(x, precision):
    n = len(x)
    return -(n - 1) / 2 * (LOG_2PI - np.log(precision)) - 0.5 * np.log(n) - precision / 2 * n * np.var(x)


def jeffreys_evidence(x, mean):
    n = len(x)
    return gammaln(n / 2) - n / 2 * np.log(np.sum((x - mean) ** 2) / 2) - n / 2 * LOG_2PI


def both_evidence():
    n = len(X)
    return gammaln((n - 1) / 2) - (n - 1) / 2 * (LOG_2PI + np.log(n * np.var(X) / 2)) - 0.5 * np.log(n)


def in_groups(f, *arguments):
    return sum(f(X[GROUP == g], *arguments) for g in range(3))


def rate():
    x = np.array([3, 0, 2, 5])
    return exact(RATE, {"x": x}, gammaln(10) - 10 * np.log(4) - gammaln(x + 1).sum(), {"l.shape": 10, "l.rate": 4})


def both_apart():
    """The factors' own fixed point: 1 / E[tau] is the unbiased variance, as E[tau] is exact; the ELBO is below."""
    got, n = fit_body(BOTH, {"x": X}), len(X)
    tau = float(got.posterior["tau.shape"] / got.posterior["tau.rate"])
    for name, value, want in (("E[tau]", tau, 1 / X.var(ddof=1)), ("E[mu]", got.posterior["mu.mean"], X.mean()),
                              ("shape", got.posterior["tau.shape"], n / 2), ("precision", got.posterior["mu.precision"], n * tau)):
        assert relative(value, want) <= 1e-9, f"{name} is {value}, not {want}"
    gap = both_evidence() - got.elbo
    assert 0 < gap < 0.1, f"ELBO {got.elbo}, log evidence {both_evidence()}"
    return f"1 / E[tau] = {1 / tau:.9f}, ELBO {gap:.3f} below the evidence"


def least_squares():
    design = np.column_stack([np.ones(9), RNG.normal(0, 1, (9, 2))])
    got = fit_body("plate d; data A[n, d] : real; w[d] ~ Flat(); observe x[n] ~ Normal(mean = sum(d) w[d] * A[n, d], precision = 2);",
                   {"x": X, "A": design})
    want = np.linalg.lstsq(design, X, rcond=None)[0]
    assert relative(got.posterior["w.mean"], want) <= 1e-6, f"{got.posterior['w.mean']}, least squares {want}"
    return f"coefficients {np.round(want, 4)}"


def refused(variable, body, data, why="is not a proper"):
    try:
        got = fit_body(body, data)
    except RuntimeError as e:
        assert str(e).startswith("exit 5:") and any(f"posterior of '{v}' {why}" in str(e) for v in variable.split(" or ")), f"the message is: {e}"
        return f"exit 5, names '{variable}'"
    raise AssertionError(f"{got.report['status']}, {got.posterior}")


HELD = {
    "flat mean": lambda: exact(MEAN, {"x": X}, flat_evidence(X, 2), {"mu.mean": X.mean(), "mu.precision": 18}),
    "flat means of groups": lambda: exact(GROUPS, {"x": X, "group": GROUP}, in_groups(flat_evidence, 2), {
        "mu.mean": [X[GROUP == g].mean() for g in range(3)], "mu.precision": [6, 6, 6]}),
    "precision": lambda: exact(PRECISION, {"x": X}, jeffreys_evidence(X, 1), {"tau.shape": 4.5, "tau.rate": np.sum((X - 1) ** 2) / 2}),
    "precisions of groups": lambda: exact(SCALES, {"x": X, "group": GROUP}, in_groups(jeffreys_evidence, 1), {"tau.shape": [1.5] * 3}),
    "rate": rate,
    "mean and precision, joint": lambda: exact(BOTH + " guide joint(mu, tau);", {"x": X}, both_evidence(), {
        "mu.mean": X.mean(), "mu.precision_scale": 9, "tau.shape": 4, "tau.rate": 9 * X.var() / 2}),
    "mean and precision, apart": both_apart,
    "least squares": least_squares,
    "log rates of groups": lambda: f"""ELBO {fit_body(LOG_RATES, {'y': [1, 3, 1, 0, 4, 5], 'g': [0, 0, 1, 1, 2, 2]}).elbo:.4f}""",
    "line of counts": lambda: f"ELBO {fit_body(COUNTS, {'z': [-2, -1, 0, 1, 1], 'y': [0, 1, 0, 2, 4]}).elbo:.4f}",
    "line of large counts": lambda: f"ELBO {fit_body(COUNTS, {'z': [0, 0, 1, 1, 1], 'y': [0, 1, 300, 200, 400]}).elbo:.4f}",
    "mean of groups of counts": lambda: f"ELBO {fit_body(MEANS, {'y': [0, 0, 0, 1, 0, 0], 'g': [0, 0, 1, 1, 2, 2]}).elbo:.4f}",
    "line of counts, factorised": lambda: f"ELBO {fit_body(COUNTS + ' guide factorised;', {'z': [-2, -1, 0, 1, 1], 'y': [0, 1, 0, 2, 4]}).elbo:.4f}",
    "line of counts far from 0, factorised": lambda: f"ELBO {fit_body(COUNTS + ' guide factorised;', {'z': [8, 9, 10, 11, 11], 'y': [0, 1, 0, 2, 4]}).elbo:.4f}",
    "chain of counts": lambda: f"ELBO {fit_body(WALK, {'z': [-2, -1, 0, 1, 1], 'y': [0, 1, 0, 2, 4]}).elbo:.4f}",
    "level of counts": lambda: f"ELBO {fit_body(LEVEL, {'z': [-2, -1, 0, 1, 1], 'y': [0, 1, 0, 2, 4]}).elbo:.4f}",
    "line of mixed data": lambda: f"ELBO {fit_body(LINE.replace('LINK', 'logistic'), {'z': Z, 'y': MIXED}).elbo:.4f}",
}
NONE = float("nan")
Z = np.linspace(-2, 2, 12)
LINE = "data z[n] : real; c ~ Flat(); b ~ Flat(); observe y[n] ~ Bernoulli(LINK(c + b * z[n]));"
DUMMY = "plate d; data z[n] : vector over d; b ~ MvNormal(mean = 0, precision = 0) over d; observe y[n] ~ Bernoulli(logistic(dot(b, z[n])));"
LOG_RATES = "plate k = 3; data g[n] : k; b[k] ~ Flat(); observe y[n] ~ Poisson(exp(b[g[n]]));"
COUNTS = "data z[n] : real; c ~ Flat(); b ~ Flat(); observe y[n] ~ Poisson(exp(c + b * z[n]));"
MEANS = "plate k = 3; data g[n] : k; mu ~ Flat(); b[k] ~ Normal(mean = mu, sd = 1); observe y[n] ~ Poisson(exp(b[g[n]]));"
WALK = "data z[n] : real; c ~ Flat(); b ~ Flat(); u[t] ~ Normal(mean = u[t-1], sd = 0.3) start Normal(mean = 0, sd = 0.3); observe y[t] ~ Poisson(exp(c + b * z[t] + u[t]));"
LEVEL = "data z[n] : real; b ~ Flat(); u[t] ~ Normal(mean = u[t-1], sd = 0.3) start Flat(); observe y[t] ~ Poisson(exp(b * z[t] + u[t]));"
WALK, LEVEL = ("plate t ordered; " + x.replace("[n]", "[t]") for x in (WALK, LEVEL))
APART, MIXED = (Z > 0.1).astype(int), (np.sin(5 * Z) > 0).astype(int)
ONE_SIDE = {"z": np.stack([np.ones(12), Z, Z > 1.5], 1), "y": np.where(Z > 1.5, 1, MIXED)}
REFUSED = {
    "mean without data": ("mu", MEAN, {"x": [NONE, NONE]}),
    "mean of an empty group": ("mu", GROUPS, {"x": [1, 2, 4], "group": [0, 2, 2]}),
    "precision of an empty group": ("tau", SCALES, {"x": [0, 2, 4], "group": [0, 2, 2]}),
    "precision of data at the mean": ("tau", PRECISION, {"x": [1, 1]}),
    "rate of zeros": ("l", RATE, {"x": [0, 0, 0]}),
    "mean and precision of one datum": ("tau", BOTH + " guide joint(mu, tau);", {"x": [1.5]}),
    "mean and precision of equal data": ("tau", BOTH, {"x": [1, 1]}),
    # A line separates 0 from 1: the ELBO has no maximum, and the last sweeps change it less and less.
    "slope of a separable line": ("b or c", LINE.replace("LINK", "logistic"), {"z": Z, "y": APART}, "is improper"),
    "probit of a separable line": ("b or c", LINE.replace("LINK", "probit"), {"z": Z, "y": APART}, "is improper"),
    "points of a separable line": ("b or c", LINE.replace("LINK", "logistic") + " guide point(b, c);", {"z": Z, "y": APART}, "is improper"),
    "coefficient of a group of ones": ("b[2]", DUMMY, ONE_SIDE, "is improper"),
    # A rate may be as small as it likes where all counts are 0.
    "group of zeros": ("b[1]", LOG_RATES, {"y": [1, 3, 0, 0, 4, 5], "g": [0, 0, 1, 1, 2, 2]}, "is improper"),
    # Intercept and slope leave together: their sum is known where counts are above 0.
    "counts at one value": ("b or c", COUNTS, {"z": [0, 0, 1, 1, 1], "y": [0, 0, 3, 2, 4]}, "is improper"),
    "counts at one value, factorised": ("b or c", COUNTS + " guide factorised;", {"z": [0, 0, 1, 1, 1], "y": [0, 0, 3, 2, 4]}, "is improper"),
    "counts at one value, chain": ("b or c", WALK, {"z": [0, 0, 0, 1, 1, 1], "y": [0, 0, 0, 3, 2, 4]}, "is improper"),
    "counts at the largest value": ("b or c", COUNTS, {"z": [-2, -1, 0, 1, 1], "y": [0, 0, 0, 20, 40]}, "is improper"),
    "counts at the smallest value, exposures": ("b or c", COUNTS.replace("exp", "2 * exp"), {"z": [2, 1, 0, -1, -1], "y": [0, 0, 0, 2, 4]}, "is improper"),
    "mean of groups of zeros": ("mu", MEANS, {"y": [0] * 6, "g": [0, 0, 1, 1, 2, 2]}, "is improper"),
    "intercept of zeros": ("b", "b ~ Flat(); observe y[n] ~ Poisson(exp(b));", {"y": [0, 0, 0]}, "is improper"),
}

finish({**HELD, **{name: (lambda case=case: refused(*case)) for name, case in REFUSED.items()}})
