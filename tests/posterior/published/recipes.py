#!/usr/bin/env python3
"""The models of docs/recipes against enumeration, quadrature and closed forms.

usage: recipes.py LEHR, from the root of the repository
"""
import os
import sys

import numpy as np
from scipy.optimize import linprog
from scipy.special import gammaln, logsumexp
from scipy.stats import gamma, multivariate_normal
from scipy.stats import t as student

sys.path.append(f"{sys.path[0]}/..")
from fitting import lehr, read_csv, read_json, temporary  # noqa: E402

HERE = "docs/recipes/"


def fit(folder, name, *data):
    out = os.path.join(folder, name)
    lehr("fit", HERE + name + ".lehr", *(data or ["--data", HERE + name + ".json"]), "--quiet", "--out", out)
    return read_json(os.path.join(out, "fit.json"))["elbo"], np.load(os.path.join(out, "posterior.npz"))


def quantile_regression(folder):
    """The points are the solution of the linear programme, up to the reach of the prior."""
    _, q = fit(folder, "quantile_regression", "--data", "x=models/data/mixtures/faithful.csv:eruptions", "--data",
               "y=models/data/mixtures/faithful.csv:waiting")
    table = read_csv("models/data/mixtures/faithful.csv")
    x, y = (np.array([float(r[name]) for r in table]) for name in ("eruptions", "waiting"))
    n, ones = len(y), np.ones(len(y))
    best = linprog(np.r_[0, 0, 0.9 * ones, 0.1 * ones], A_eq=np.hstack([ones[:, None], x[:, None], np.eye(n), -np.eye(n)]), b_eq=y,
                   bounds=[(None, None)] * 2 + [(0, None)] * (2 * n)).x
    loss = lambda a, b: np.sum(np.maximum(0.9 * (y - a - b * x), -0.1 * (y - a - b * x)))
    assert loss(q["a.value"], q["b.value"]) < loss(*best[:2]) * (1 + 1e-4), (q["a.value"], q["b.value"], best[:2])
    below = np.mean(y < q["a.value"] + q["b.value"] * x)
    assert abs(below - 0.9) < 0.01, below
    return f"{float(q['a.value']):.2f} + {float(q['b.value']):.2f} x, {below:.3f} below it"


def change_point(folder):
    elbo, q = fit(folder, "change_point")
    x = np.array([int(r["count"]) for r in read_csv("models/data/sequences/coal_counts.csv")])
    # Gamma(1, 0.1) and Poisson, integrated: the log evidence of a period.
    period = lambda v: gammaln(1 + v.sum()) - (1 + v.sum()) * np.log(0.1 + len(v)) + np.log(0.1) - gammaln(v + 1).sum()
    joint = np.array([period(x[:k]) + period(x[k:]) for k in range(1, len(x))])
    evidence = logsumexp(joint) - np.log(len(joint))
    exact, found = np.exp(joint - logsumexp(joint)), q["at.probs"]
    assert evidence - 0.2 < elbo < evidence, (elbo, evidence)
    assert exact.argmax() == found.argmax() and abs(exact - found).sum() / 2 < 0.05
    return f"log evidence {evidence:.3f}, ELBO {elbo:.3f}, {abs(exact - found).sum() / 2:.3f} from the exact distribution of years"


def zero_inflation(folder):
    elbo, q = fit(folder, "zero_inflation")
    x = np.array(read_json(HERE + "zero_inflation.json")["x"])
    share, rate = np.meshgrid(np.linspace(0.3, 0.9, 300), np.linspace(2.0, 4.5, 300))
    joint = gamma.logpdf(rate, 1, scale=10)
    poisson = lambda k, r: k * np.log(r) - r - gammaln(k + 1)
    for k, n in zip(*np.unique(x, return_counts=True)):
        joint = joint + n * np.logaddexp(np.log1p(-share) + poisson(k, 1e-9 * rate), np.log(share) + poisson(k, rate))
    evidence = logsumexp(joint) + np.log(share[0, 1] - share[0, 0]) + np.log(rate[1, 0] - rate[0, 0])
    p = np.exp(joint - logsumexp(joint))
    mean = (p * rate).sum()
    found = q["rate.shape"] / q["rate.rate"]
    assert evidence - 3 < elbo < evidence and abs(found / mean - 1) < 0.02, (elbo, evidence, found, mean)
    return f"rate {float(found):.3f}, by quadrature {mean:.3f}"


def censoring(folder):
    _, q = fit(folder, "censoring", "--data", HERE + "censoring.csv")
    data = read_csv(HERE + "censoring.csv")
    for k, name in enumerate(("6-MP", "placebo")):
        mine = [r for r in data if r["g"] == name]
        assert np.isclose(q["rate.shape"][k], 1 + sum(int(r["event"]) for r in mine), rtol=1e-12)
        assert np.isclose(q["rate.rate"][k], 1 + sum(float(r["time"]) for r in mine), rtol=1e-12)
    return "Gamma(1 + events, 1 + time at risk)"


def robust_regression(folder):
    path = HERE + "robust_regression.csv"
    elbo, q = fit(folder, "robust_regression", "--data", f"x={path}:one,year", "--data", f"y={path}:calls")
    data = read_csv(path)
    x, y = np.array([[1, float(r["year"])] for r in data]), np.array([float(r["calls"]) for r in data])
    # The posterior of w and tau on a grid, Student's t with two degrees of freedom and the mean field's neighbourhood.
    a, b, u = np.meshgrid(np.linspace(0, 5, 101), np.linspace(-1, 6, 101), np.linspace(-4, 7, 111), indexing="ij")
    joint = gamma.logpdf(np.exp(u), 1) + u + multivariate_normal(np.zeros(2), 100 * np.eye(2)).logpdf(np.stack([a, b], -1))
    for one, target in zip(x, y):
        joint += student.logpdf((target - a - b * one[1]) * np.exp(u / 2), 2) + u / 2
    p = np.exp(joint - joint.max())
    evidence = logsumexp(joint) + np.log(0.05) + np.log(0.07) + np.log(0.1)
    slope = (p * b).sum() / p.sum()
    squares = np.linalg.lstsq(x, y, rcond=None)[0][1]
    assert elbo < evidence and abs(q["w.mean"][1] - slope) < 0.3 < 3 < abs(squares - slope), (elbo, evidence, slope, q["w.mean"])
    return f"slope {q['w.mean'][1]:.2f}, by quadrature {slope:.2f}, by least squares {squares:.2f}"


with temporary() as folder:
    for check in (change_point, zero_inflation, censoring, robust_regression, quantile_regression):
        print(f"ok {check.__name__}: {check(folder)}", flush=True)
