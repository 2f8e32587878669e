#!/usr/bin/env python3
"""Logistic regression of diabetes among Pima women (R MASS, Pima.tr and Pima.te): against scikit-learn's unpenalised fit.

With a point and a flat prior the quadratic bound of Jaakkola & Jordan (2000) is tight, so that its maximum is that of
the likelihood. The posterior under a flat prior has means that differ from it by the skewness of the likelihood alone.
"""
import csv

import numpy as np
from sklearn.linear_model import LogisticRegression

from external import require
from fitting import finish, fit

MODEL = """model m { plate n; plate d; data x[n] : vector over d;
  w ~ MvNormal(mean = 0, precision = 0) over d;
  observe y[n] ~ Bernoulli(logistic(dot(w, x[n]))); GUIDE }"""


def data():
    rows = []
    for part in ("pima_train.csv", "pima_test.csv"):
        with open(require(f"classic/{part}")) as f:
            rows += csv.DictReader(f)
    y = np.array([row["type"] == "Yes" for row in rows], dtype=int)
    x = np.array([[float(v) for k, v in row.items() if k != "type"] for row in rows])
    return np.column_stack([np.ones(len(y)), (x - x.mean(0)) / x.std(0)]), y


X, Y = data()
ML = LogisticRegression(C=1e12, fit_intercept=False, tol=1e-12, max_iter=100000).fit(X, Y).coef_[0]


def largest(difference):
    return float(np.max(np.abs(difference)))


def maximum_likelihood():
    got = fit(MODEL.replace("GUIDE", "guide point(w);"), {"x": X, "y": Y}, "--tol", "1e-14", "--max-iter", 100000)
    error = largest(got.posterior["w.value"] - ML)
    if not error <= 1e-4:
        raise AssertionError(f"w = {got.posterior['w.value']}, scikit-learn {ML}")
    eta = X @ ML
    likelihood = float(np.sum(Y * eta - np.logaddexp(0, eta)))
    if not abs(got.elbo - likelihood) <= 1e-6:
        raise AssertionError(f"ELBO {got.elbo}, log likelihood {likelihood}: the bound is not tight")
    return f"w within {error:.1e} of scikit-learn's, the bound is the log likelihood {likelihood:.6f}"


def posterior_means():
    got = fit(MODEL.replace("GUIDE", ""), {"x": X, "y": Y}, "--tol", "1e-12", "--max-iter", 100000)
    error = largest((got.posterior["w.mean"] - ML) / np.abs(ML))
    if not error <= 0.1:
        raise AssertionError(f"means {got.posterior['w.mean']}, maximum likelihood {ML}")
    return f"each mean within {100 * error:.1f} % of maximum likelihood"


if __name__ == "__main__":
    finish({"maximum likelihood": maximum_likelihood, "posterior means": posterior_means})
