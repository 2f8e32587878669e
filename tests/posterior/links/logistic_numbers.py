#!/usr/bin/env python3
"""Logistic links by value: of data alone, and sweeps with the bound of Jaakkola & Jordan (2000) written out with numpy, its
lambda(xi) = tanh(xi / 2) / (4 xi) near 0 included."""
import json
import sys
from pathlib import Path

import numpy as np
from scipy.special import expit, gammaln

sys.path.append(f"{sys.path[0]}/..")
from fitting import Folder, finish, fit, within  # noqa: E402

close = within(rtol=1e-11)


def curvature(xi):
    xi = np.asarray(xi, np.longdouble)
    return (np.tanh(xi / 2) / (4 * xi)).astype(float)


C = np.array([-3.0, -0.4, 0.0, 1.3, 2.2, 0.7, -1.1])


def of_data(law, values, log_p):
    """No latent variable below the link: the evidence has the probability of every outcome."""
    model = f"""model m {{ plate n; plate e; data c[n] : real; data trials[n] : count; mu ~ Normal(mean = 0, sd = 2);
      observe x[e] ~ Normal(mean = mu, sd = 1); observe y[n] ~ {law}; }}"""
    x, trials = np.array([0.4, 1.1]), np.array([4, 9, 3, 6, 12, 1, 5])
    precision = 0.25 + 2
    normal = -np.log(2 * np.pi) + 0.5 * np.log(0.25 / precision) - 0.5 * (x @ x - x.sum() ** 2 / precision)
    for y in values:
        got = fit(model, {"c": C, "trials": trials, "x": x, "y": y})
        close(got.elbo, normal + np.sum(log_p(np.array(y), trials)), f"evidence of {y}")
    return law


def near_zero():
    """Two opposite outcomes at x = 1: the precision of w is its prior's and 4 lambda."""
    model = """model m { plate n; data x[n] : real; w ~ Normal(mean = 0, precision = 0.001);
      observe y[n] ~ Bernoulli(logistic(w * x[n])); }"""
    points = [1e-12, 1e-7, 1e-4, 1e-3, 0.003, 0.0099, 0.0101, 0.02, 0.1, 1.0, 10.0, 40.0]
    for xi in points:
        got = fit(model, {"x": [1.0, 1.0], "y": [0, 1]}, "--max-iter", 1, init={"y.bound.value": [xi, xi]})
        close(got.posterior["w.precision"] - 0.001, 4 * curvature(xi), f"4 lambda({xi})", 1e-12)
    # At x = 0 the bound touches at 0, and the outcome has probability 1/2.
    for more in ([], ["--precision", "float"]):
        two = fit(model, {"x": [1.0, -0.5], "y": [0, 1]}, "--max-iter", 3, *more)
        three = fit(model, {"x": [1.0, -0.5, 0.0], "y": [0, 1, 1]}, "--max-iter", 3, *more)
        close(three.elbo, two.elbo - np.log(2), "ELBO with x = 0", 1e-6 if more else 1e-12)
    return f"{len(points)} points, and 0"


def regression(law, y, trials):
    """Three sweeps: w, then where the bound touches; the ELBO has log logistic(xi) - xi / 2 of every throw."""
    model = f"""model m {{ plate n; data x[n] : real; data trials[n] : count; w ~ Normal(mean = 0.3, precision = 0.5);
      observe y[n] ~ {law}; }}"""
    x = np.array([0.5, -1.2, 2.0, 0.1, -0.7])
    y, trials = np.array(y), np.array(trials)
    throws = {"Bernoulli": np.ones(5), "Binomial": trials, "Geometric": y + 1}[law.split("(")[0]]
    ones = np.ones(5) if law.startswith("Geometric") else y
    xi = np.array([1.0, 0.3, 2.0, 0.005, 4.0])
    start, trace = xi.copy(), []
    for _ in range(3):
        precision = 0.5 + 2 * np.sum(throws * curvature(xi) * x**2)
        mean = (0.15 + np.sum((ones - 0.5 * throws) * x)) / precision
        xi = np.abs(x) * np.sqrt(mean**2 + 1 / precision)
        link = np.sum((ones - 0.5 * throws) * x * mean + throws * (np.log(expit(xi)) - 0.5 * xi))
        base = np.sum(gammaln(trials + 1) - gammaln(y + 1) - gammaln(trials - y + 1)) if law.startswith("Binomial") else 0.0
        prior = 0.5 * np.log(0.5) - 0.25 * ((mean - 0.3) ** 2 + 1 / precision) + 0.5 - 0.5 * np.log(precision)
        trace.append(link + base + prior)
    got = fit(model, {"x": x, "trials": trials, "y": y}, "--max-iter", 3, init={"y.bound.value": start})
    close(got.posterior["w.precision"], precision, "precision")
    close(got.posterior["w.mean"], mean, "mean")
    close(got.posterior["y.bound.value"], xi, "bound")
    close(got.trace, trace, "ELBO")
    return f"{law}: ELBO {trace[-1]:.8f}"


def point_in_single():
    """A point has no variance beside it: in 32 bits E[e^2] of an item whose terms cancel is rounding of any sign. The bound is
    exact at a point, so that the best one is the mode."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1000, 12))
    y = (rng.random(1000) < expit(x @ rng.normal(size=12))).astype(int)
    w = np.zeros(12)
    for _ in range(50):  # Newton's steps
        p = expit(x @ w)
        w += np.linalg.solve(np.eye(12) / 4 + (x.T * (p * (1 - p))) @ x, x.T @ (y - p) - w / 4)
    best = np.sum(np.log(expit(np.where(y == 1, 1, -1) * (x @ w)))) - np.sum(w**2) / 8 - 6 * np.log(8 * np.pi)
    model = """model m { plate n; plate f; data x[n, f] : real; w[f] ~ Normal(mean = 0, sd = 2);
      observe y[n] ~ Bernoulli(logistic(sum(f) x[n, f] * w[f])); guide point(w); }"""
    for seed in (1, 2, 3):
        got = Folder(model, {"x": x, "y": y}, "--precision", "float", "--seed", seed)
        close(json.loads(Path(got.at("fit/fit.json")).read_text())["elbo"], best, "log joint", 1e-6)
        np.testing.assert_allclose(got.posterior["w.value"], w, rtol=0, atol=1e-3)
    return f"log joint {best:.6f}"


TRIALS = [4, 9, 3, 6, 12]
CHECKS = {
    "a point in 32 bits": point_in_single,
    "Bernoulli of data": lambda: of_data("Bernoulli(logistic(c[n]))", [[0] * 7, [1] * 7, [0, 1, 1, 0, 1, 0, 1]],
                                         lambda y, n: np.log(expit(np.where(y == 1, C, -C)))),
    "Binomial of data": lambda: of_data(
        "Binomial(trials[n], logistic(c[n]))", [[0, 9, 1, 3, 7, 1, 2]],
        lambda y, n: gammaln(n + 1) - gammaln(y + 1) - gammaln(n - y + 1) + y * np.log(expit(C)) + (n - y) * np.log(expit(-C))),
    "Geometric of data": lambda: of_data("Geometric(logistic(c[n]))", [[0, 3, 1, 2, 0, 5, 4]],
                                         lambda y, n: y * np.log(expit(-C)) + np.log(expit(C))),
    "lambda near 0": near_zero,
    "Bernoulli": lambda: regression("Bernoulli(logistic(w * x[n]))", [0, 1, 1, 0, 0], TRIALS),
    "Binomial": lambda: regression("Binomial(trials[n], logistic(w * x[n]))", [0, 7, 1, 6, 5], TRIALS),
    "Geometric": lambda: regression("Geometric(logistic(w * x[n]))", [0, 3, 1, 2, 7], TRIALS)}

finish(CHECKS)
