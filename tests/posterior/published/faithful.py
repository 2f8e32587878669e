#!/usr/bin/env python3
"""Old Faithful, six components: how many remain. Bishop (2006), figure 10.6.

A symmetric Dirichlet prior with concentration 1e-3 empties all components but two; with 10 all six are used. The best
ELBO of several starts is taken, and scikit-learn's BayesianGaussianMixture with the same priors must agree.

usage: faithful.py LEHR
"""
import os
import sys
import warnings

import numpy as np
from sklearn.mixture import BayesianGaussianMixture

sys.path.append(f"{sys.path[0]}/..")
from fitting import ROOT, finish, fit, read_csv  # noqa: E402

MODEL = os.path.join(ROOT, "models/mixtures/gmm_normal_wishart.lehr")
NU0, W0, BETA0 = 4.0, 1.0, 1.0


def eruptions():
    x = np.array([[float(r["eruptions"]), float(r["waiting"])] for r in read_csv(os.path.join(ROOT, "models/data/mixtures/faithful.csv"))])
    return (x - x.mean(0)) / x.std(0)


def used(concentration, prior):
    """Components with more than one expected point."""
    return int(np.sum(np.asarray(concentration) - prior > 1))


def components(alpha0, want):
    x = eruptions()
    ours = fit(MODEL, {"x": x}, "--set", "K=6", f"alpha0={alpha0}", f"nu0={NU0}", f"w0={W0}", f"beta0={BETA0}",
               "--restarts", 20, "--max-iter", 5000, "--tol", "1e-10")
    theirs = BayesianGaussianMixture(
        n_components=6, weight_concentration_prior_type="dirichlet_distribution", weight_concentration_prior=alpha0, mean_prior=[0, 0],
        mean_precision_prior=BETA0, degrees_of_freedom_prior=NU0, covariance_prior=np.eye(2) / W0, n_init=20, max_iter=5000,
        tol=1e-9, init_params="random", random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs.fit(x)
    counts = used(ours.posterior["pi.concentration"], alpha0), used(theirs.weight_concentration_, alpha0)
    if counts != (want, want):
        raise AssertionError(f"{counts[0]} components, {counts[1]} in scikit-learn, not {want}: "
                             f"{np.round(ours.posterior['pi.concentration'], 2)}, {np.round(theirs.weight_concentration_, 2)}")
    return f"{want} components, ELBO {ours.elbo:.3f}, counts {np.round(np.sort(ours.posterior['pi.concentration'])[::-1], 1)}"


finish({"concentration 0.001": lambda: components(1e-3, 2), "concentration 10": lambda: components(10.0, 6)})
