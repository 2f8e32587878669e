#!/usr/bin/env python3
"""The local level model of the Nile's annual flow at Aswan, 1871-1970: expectation maximisation and the full posterior.

With flat improper priors and points for both precisions the fit is EM, and its maximum the maximum-likelihood variances
that Durbin & Koopman (2012), section 2.10, and R's StructTS publish for a diffuse start: 15099 and 1469.1.
"""
import math
import sys

import numpy as np

sys.path.append(f"{sys.path[0]}/..")
from fitting import ROOT, finish, fit, read_csv  # noqa: E402

MODEL = """model m { plate t ordered;
  level    ~ Gamma(SHAPE);
  noise    ~ Gamma(SHAPE);
  mu[t]    ~ Normal(mean = mu[t-1], precision = level) start Flat();
  observe y[t] ~ Normal(mean = mu[t], precision = noise); GUIDE }"""

Y = np.array([float(row["flow"]) for row in read_csv(ROOT + "/models/data/sequences/nile.csv")])
PUBLISHED = {"noise": 15099.0, "level": 1469.1}


def diffuse_likelihood(noise, level):
    """The density of y given a flat start, by the innovations of the Kalman filter from the second year on."""
    mean, variance, total = Y[0], noise, 0.0
    for y in Y[1:]:
        variance = variance + level
        total = total - 0.5 * (np.log(2 * np.pi * (variance + noise)) + (y - mean) ** 2 / (variance + noise))
        gain = variance / (variance + noise)
        mean, variance = mean + gain * (y - mean), variance * (1 - gain)
    return total


def expectation_maximisation():
    got = fit(MODEL.replace("SHAPE", "shape = 1, rate = 0").replace("GUIDE", "guide point(level, noise);"), {"y": Y},
              "--max-iter", 20000, "--tol", "1e-13",
              init={"level.value": 1 / 5000, "noise.value": 1 / 5000})
    variances = {k: 1 / float(got.posterior[f"{k}.value"]) for k in PUBLISHED}
    for k, want in PUBLISHED.items():
        assert abs(variances[k] / want - 1) <= 0.01, f"{variances}, published {PUBLISHED}"
    exact = diffuse_likelihood(variances["noise"], variances["level"])
    assert abs(got.elbo - exact) <= 1e-8 * abs(exact), f"ELBO {got.elbo}, log likelihood {exact}"
    return f"variances {variances['noise']:.1f} and {variances['level']:.1f}, log likelihood {exact:.6f}"


def log_evidence(shape, rate):
    """Quadrature over the logarithms of both precisions."""
    grid = np.linspace(-14, 2, 400)
    prior = shape * np.log(rate) - math.lgamma(shape) + shape * grid - rate * np.exp(grid)  # with the Jacobian
    joint = diffuse_likelihood(np.exp(-grid)[:, None], np.exp(-grid)) + prior[:, None] + prior
    top = joint.max()
    return top + np.log(np.sum(np.exp(joint - top))) + 2 * np.log(grid[1] - grid[0])


def full_posterior():
    got = fit(MODEL.replace("SHAPE", "shape = 1, rate = 1").replace("GUIDE", ""), {"y": Y}, "--max-iter", 20000, "--tol",
              "1e-13", init={k: v for n in PUBLISHED for k, v in ((n + ".shape", 1.0), (n + ".rate", 5000.0))})
    means = {k: float(got.posterior[f"{k}.rate"] / (got.posterior[f"{k}.shape"] - 1)) for k in PUBLISHED}
    evidence = log_evidence(1, 1)
    assert 0 <= evidence - got.elbo <= 2, f"ELBO {got.elbo}, log evidence {evidence}"
    return (f"means of the variances {means['noise']:.0f} and {means['level']:.0f} (maximum likelihood 15099 and 1469), "
            f"ELBO {got.elbo:.3f}, log evidence {evidence:.3f}")


finish({"expectation maximisation": expectation_maximisation, "full posterior": full_posterior})
