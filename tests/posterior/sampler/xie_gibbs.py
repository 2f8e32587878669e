#!/usr/bin/env python3
"""The mixture of Xie's tutorial (N = 1000, K = 3, unit covariance, mu ~ N(0, 3 I), alpha = 1) in one and two dimensions, by
coordinate ascent and by Gibbs sampling: for clusters well apart the means agree to 0.01, and the factors of coordinate
ascent are narrower than the posterior. Both are held to the clusters that the data were made of."""
import sys

import numpy as np

sys.path.append(f"{sys.path[0]}/..")
from fitting import finish, fit  # noqa: E402
from sampling import sample  # noqa: E402

MODEL = """model mixture { plate n; plate k = 3; plate d;
  pi ~ Dirichlet(concentration = 1) over k;
  mu[k] ~ MvNormal(mean = 0, covariance = 3) over d;
  z[n] ~ Categorical(pi);
  observe x[n] ~ MvNormal(mean = mu[z[n]], covariance = 1) over d; }"""
TRUE = {1: np.array([[-5.0], [0.0], [5.0]]), 2: np.array([[-3.0, -2.0], [0.0, 3.0], [3.0, -1.0]])}
WEIGHTS = [0.5, 0.2, 0.3]


def compared(d):
    rng = np.random.default_rng(d)
    z = rng.choice(3, 1000, p=WEIGHTS)
    x = TRUE[d][z] + rng.normal(size=(1000, d))
    q = fit(MODEL, {"x": x}, "--seed", "2", "--restarts", "5", "--tol", "1e-10", "--max-iter", 2000).posterior
    by_first = np.argsort(q["mu.mean"][:, 0])
    mean = q["mu.mean"][by_first]
    sd = np.sqrt(np.array([np.diag(np.linalg.inv(p)) for p in q["mu.precision"][by_first]]))
    draws = sample(MODEL, {"x": x}, "--init", "points", draws=10000).draws
    mu = np.array([[draws[f"mu.{k + 1}.{j + 1}"] for j in range(d)] for k in range(3)])
    mu = mu[np.argsort(mu.mean(2)[:, 0])]
    assert np.all(np.diff(mu[:, 0], axis=0) > 0), "components changed places"
    gap = np.abs(mu.mean(2) - mean).max()
    assert gap < 0.01, f"means {mean}, Gibbs {mu.mean(2)}"
    ratio = sd / mu.std(2)
    assert np.all(ratio < 1), f"sds of coordinate ascent over those of Gibbs: {ratio}"
    off = np.abs(mu.mean(2) - TRUE[d]) / mu.std(2)
    assert off.max() < 4, f"means {mu.mean(2)}, the data are of {TRUE[d]}"
    # The sd can be no smaller than if every point told its cluster.
    known = np.array([1 / np.sqrt(1 / 3 + (z == k).sum()) for k in range(3)])[:, None]
    assert np.all(mu.std(2) > 0.97 * known), f"sds {mu.std(2)}, with known clusters {known}"
    return f"means within {gap:.4f}, sds {ratio.min():.3f} to {ratio.max():.3f} of those of Gibbs"


finish({"one dimension": lambda: compared(1), "two dimensions": lambda: compared(2)})
