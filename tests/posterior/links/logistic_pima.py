#!/usr/bin/env python3
"""Logistic regression of diabetes among Pima women (R MASS, Pima.tr and Pima.te): against scikit-learn's unpenalised fit.

With a point and a flat prior the quadratic bound of Jaakkola & Jordan (2000) is tight, so that its maximum is that of
the likelihood. The posterior under a flat prior has means that differ from it by the skewness of the likelihood alone.
"""

import sys

import numpy as np
from sklearn.linear_model import LogisticRegression

sys.path.append(f"{sys.path[0]}/..")
from external import require  # noqa: E402
from fitting import finish, fit, read_csv  # noqa: E402
from sampling import sample  # noqa: E402

MODEL = """model m { plate n; plate d; data x[n] : vector over d;
  w ~ MvNormal(mean = 0, precision = 0) over d;
  observe y[n] ~ Bernoulli(logistic(dot(w, x[n]))); GUIDE }"""


def data():
    rows = []
    for part in ("pima_train.csv", "pima_test.csv"):
        rows += read_csv(require(f"classic/{part}"))
    y = np.array([row["type"] == "Yes" for row in rows], dtype=int)
    x = np.array([[float(v) for k, v in row.items() if k != "type"] for row in rows])
    names = ["constant"] + [k for k in rows[0] if k != "type"]
    return np.column_stack([np.ones(len(y)), (x - x.mean(0)) / x.std(0)]), y, names


X, Y, NAMES = data()
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


def by_importance():
    """Means and sds of the posterior, by importance sampling: multivariate t of 6 degrees of freedom about the maximum."""
    rng = np.random.default_rng(4)
    p = 1 / (1 + np.exp(-X @ ML))
    root = np.linalg.cholesky(np.linalg.inv((X * (p * (1 - p))[:, None]).T @ X))
    d, df = len(ML), 6
    z = rng.normal(size=(200_000, d)) / np.sqrt(rng.chisquare(df, 200_000) / df)[:, None]
    w = ML + z @ root.T
    log_weights = 0.5 * (df + d) * np.log1p((z**2).sum(1) / df)
    for part in np.array_split(np.arange(len(w)), 40):
        eta = w[part] @ X.T
        log_weights[part] += (Y * eta - np.logaddexp(0, eta)).sum(1)
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    mean = weights @ w
    return mean, np.sqrt(weights @ (w - mean) ** 2)


def posterior_sds():
    """Polya-Gamma draws have the sds of the posterior; the quadratic bound is too narrow in every direction."""
    mean, sd = by_importance()
    draws = sample(MODEL.replace("GUIDE", ""), {"x": X, "y": Y}, draws=20000).draws
    drawn = np.array([draws[f"w.{k + 1}"] for k in range(len(ML))])
    q = fit(MODEL.replace("GUIDE", ""), {"x": X, "y": Y}, "--tol", "1e-12", "--max-iter", 100000).posterior
    bound = np.sqrt(np.diag(np.linalg.inv(q["w.precision"])))
    print(f"{'weight of':<10}{'posterior':>18}{'Polya-Gamma':>18}{'bound':>18}")
    for k, name in enumerate(NAMES):
        pairs = ((mean[k], sd[k]), (drawn[k].mean(), drawn[k].std()), (q["w.mean"][k], bound[k]))
        print(f"{name:<10}" + "".join(f"{m:>10.3f}{s:>8.3f}" for m, s in pairs))
    off = np.abs(drawn.mean(1) - mean) / sd
    if not off.max() < 0.06:
        raise AssertionError(f"Polya-Gamma means are off by {off} sds")
    if not largest(drawn.std(1) / sd - 1) < 0.04:
        raise AssertionError(f"Polya-Gamma sds {drawn.std(1)}, those of the posterior {sd}")
    if not np.all(bound < drawn.std(1)):
        raise AssertionError(f"sds of the bound {bound}, of the draws {drawn.std(1)}")
    return f"sds of the bound are {(bound / sd).min():.3f} to {(bound / sd).max():.3f} of those of the posterior"


if __name__ == "__main__":
    finish({"maximum likelihood": maximum_likelihood, "posterior means": posterior_means, "posterior sds": posterior_sds})
