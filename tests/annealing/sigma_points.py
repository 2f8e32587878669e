#!/usr/bin/env python3
"""Sigma points in place of the items: the same optimum as sweeps over all items, wherever the items enter by the moments of
their data; and none where they do not.

usage: sigma_points.py LEHR
"""
import os
import sys

import numpy as np

sys.path.append(f"{sys.path[0]}/../posterior")
from fitting import finish, fit, temporary, write  # noqa: E402, F401

R = np.random.default_rng(8)
HEAD = "model m { const K = 2; plate n; plate d; plate k = K; tau ~ Gamma(shape = 1, rate = 1); "
Z = "z[n] ~ MvNormal(mean = 0, precision = 1) over k; "
W = "W[d] ~ MvNormal(mean = 0, precision = 1) over k; "
X = R.normal(size=(90, 2)) @ (R.normal(size=(2, 5)) * [[3], [1.5]]) + 0.5 * R.normal(size=(90, 5)) + 7
U = X[:, :2] @ R.normal(size=(2, 3)) + R.normal(size=(90, 3))
PCA = (HEAD + W + Z + "mu[d] ~ Normal(mean = 0, sd = 10); observe x[n, d] ~ Normal(mean = dot(W[d], z[n]) + mu[d], precision = tau); }")
BY_MOMENTS = {
    "principal components": (PCA, {"x": X}),
    "factor analysis": (PCA.replace("mu[d] ~", "psi[d] ~ Gamma(shape = 1, rate = 1); mu[d] ~").replace("= tau)", "= tau * psi[d])"), {"x": X}),
    "single numbers": (HEAD + "w[d, k] ~ Normal(mean = 0, sd = 1); z[n, k] ~ Normal(mean = 0, sd = 1); "
                       "observe x[n, d] ~ Normal(mean = sum(k) w[d, k] * z[n, k], precision = tau); }", {"x": X - X.mean(0)}),
    "two sets of data": (HEAD + W + Z + "plate e; V[e] ~ MvNormal(mean = 0, precision = 1) over k; s ~ Gamma(shape = 1, rate = 1); "
                         "observe u[n, e] ~ Normal(mean = dot(V[e], z[n]), precision = s); "
                         "observe x[n, d] ~ Normal(mean = dot(W[d], z[n]), precision = tau); }", {"x": X - 7, "u": U}),
    "inputs": (HEAD + "plate e; data u[n, e] : real; B[d, e] ~ Normal(mean = 0, sd = 1); " + W + Z +
               "observe x[n, d] ~ Normal(mean = dot(W[d], z[n]) + sum(e) B[d, e] * u[n, e], precision = tau); }", {"x": X, "u": U}),
    "a matrix of precisions": ("model m { plate n; plate d; L ~ Wishart(df = 7, scale = 1) over d; q ~ Gamma(shape = 1, rate = 1); "
                               "m ~ MvNormal(mean = 0, precision = 0.01) over d; z[n] ~ MvNormal(mean = m, precision = q) over d; "
                               "observe x[n] ~ MvNormal(mean = z[n], precision = L); }", {"x": X}),
    "growth": ("model m { plate n; plate t; data w[t] : real; tau ~ Gamma(shape = 1, rate = 1); q ~ Gamma(shape = 1, rate = 1); "
               "m ~ Normal(mean = 0, sd = 10); a[n] ~ Normal(mean = m, precision = q); b ~ Normal(mean = 0, sd = 10); "
               "observe y[n, t] ~ Normal(mean = a[n] + b * w[t], precision = tau); guide factorised; }", {"y": X, "w": np.arange(5.)}),
}
ITEM_BY_ITEM = {
    "missing values": (PCA, {"x": np.where(R.random(X.shape) < 0.1, np.nan, X)}),
    "tails": (PCA.replace("observe x[n, d] ~ Normal(mean = dot(W[d], z[n]) + mu[d], precision = tau)",
                          "observe x[n, d] ~ StudentT(df = 5, mean = dot(W[d], z[n]) + mu[d], precision = tau)"), {"x": X}),
    "precisions": (PCA.replace("precision = tau)", "precision = tau * s[n])").replace("plate d;", "plate d; data s[n] : real;"),
                   {"x": X, "s": R.gamma(5, size=90)}),
    "scales": (PCA.replace("dot(W[d], z[n])", "s[n] * dot(W[d], z[n])").replace("plate d;", "plate d; data s[n] : real;"),
               {"x": X, "s": R.normal(size=90)}),
    "groups": (PCA.replace("+ mu[d]", "+ mu[g[n], d]").replace("mu[d] ~", "mu[h, d] ~").replace("plate d;", "plate d; plate h = 2; data g[n] : h;"),
               {"x": X, "g": R.integers(0, 2, size=90)}),
    "bits": (HEAD + "w[d, k] ~ Normal(mean = 0, sd = 1); z[n, k] ~ Bernoulli(0.5); "
             "observe x[n, d] ~ Normal(mean = sum(k) w[d, k] * z[n, k], precision = tau); }", {"x": X}),
}


def both(model, data, *options):
    """A fit on sigma points where they are possible, and one on all items."""
    out = []
    for least in ("0", "1e300"):
        os.environ["LEHR_THRESHOLDS"] = f"sigma_points.least_sweep={least},sigma_points.least_items=1"
        out.append(fit(model, data, *options, monotone="--search" not in options))
    del os.environ["LEHR_THRESHOLDS"]
    return out


def same(name, search):
    """The ELBO, and what the changes of basis leave alone."""
    model, data = BY_MOMENTS[name]
    points, items = both(model, data, "--tol", 1e-11, "--max-iter", 20000, *["--search", "quick"] * search)
    width = sum(np.size(x) // 90 for x in data.values() if len(x) == 90)
    assert points.report["sigma_points"] == width + 1 and "sigma_points" not in items.report, points.report.get("sigma_points")
    assert points.report["status"] == items.report["status"] == "converged"
    assert abs(points.elbo - items.elbo) < 1e-8 * abs(items.elbo), (points.elbo, items.elbo)
    for array in ("tau.shape", "tau.rate", "q.rate", "mu.mean", "L.df"):
        if array in items.posterior and not (array == "mu.mean" and search):
            assert np.allclose(points.posterior[array], items.posterior[array], rtol=1e-3, atol=1e-3), array
    # What the points converge to is the optimum of all items, whose sweeps begin with the same ELBO.
    moved = np.abs(np.diff(points.trace))
    still = next(k for k in range(len(moved)) if np.max(moved[k:k + 4]) < 1e-8 * abs(points.elbo))
    assert search or np.max(moved[still:]) < 1e-6 * abs(points.elbo), points.trace[still:]
    # All items have their optimal factors: a sweep over them moves nothing.
    again = fit(model, data, "--tol", 0, "--max-iter", 2, "--leap-after", 0, init=points.posterior)
    assert abs(again.elbo - points.elbo) < 1e-8 * abs(points.elbo), (again.elbo, points.elbo)
    return f"{name}: ELBO {points.elbo:.4f}, {points.report['iterations']} sweeps for {items.report['iterations']}"


def none():
    """Where other things than moments count, thresholds change no bit."""
    for name, (model, data) in ITEM_BY_ITEM.items():
        points, items = both(model, data, "--max-iter", 30)
        assert "sigma_points" not in points.report, name
        assert points.trace == items.trace, name
    return f"{len(ITEM_BY_ITEM)} models"


def bits():
    """Threads change nothing."""
    os.environ["LEHR_THRESHOLDS"] = "sigma_points.least_sweep=0,sigma_points.least_items=1"
    model, data = BY_MOMENTS["principal components"]
    once, other = (fit(model, data, "--search", "quick", "--threads", n, monotone=False) for n in (1, 3))
    del os.environ["LEHR_THRESHOLDS"]
    assert once.trace == other.trace and once.report["sigma_points"] == 6
    return f"{len(once.trace)} equal ELBOs"


finish({f"{name}{', search' * search}": lambda name=name, search=search: same(name, search)
        for name in BY_MOMENTS for search in (False, True)} | {f.__name__: f for f in (none, bits)})
