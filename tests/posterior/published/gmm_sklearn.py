#!/usr/bin/env python3
"""Gaussian mixture against scikit-learn's BayesianGaussianMixture, ten sweeps from the same parameters.

scikit-learn's covariance_prior is the rate (inverse scale) of our Wishart prior, its precision matrices are df * scale
of the posterior factor. reg_covar is zero.

usage: gmm_sklearn.py LEHR
"""
import sys

import numpy as np
from sklearn.mixture import BayesianGaussianMixture

sys.path.append(f"{sys.path[0]}/..")
from fitting import finish, fit, relative  # noqa: E402

MODEL = """model m {
  const K;
  const alpha0 = 0.3;
  const beta0 = 0.7;
  const nu0;

  plate n;
  plate k = K;
  plate d;
  data m0 : vector over d;
  data R0 : matrix over d, d;

  pi ~ Dirichlet(concentration = alpha0) over k;
  Lambda[k] ~ Wishart(df = nu0, rate = R0) over d;
  mu[k] ~ MvNormal(mean = m0, precision = beta0 * Lambda[k]) over d;
  z[n] ~ Categorical(pi);
  observe x[n] ~ MvNormal(mean = mu[z[n]], precision = Lambda[z[n]]) over d;
  guide joint(mu, Lambda);
}"""


def parameters(peer):
    scale = np.linalg.inv(peer.covariances_ * peer.degrees_of_freedom_[:, None, None])
    return {"pi.concentration": peer.weight_concentration_, "mu.mean": peer.means_, "mu.precision_scale": peer.mean_precision_,
            "Lambda.df": peer.degrees_of_freedom_, "Lambda.scale": scale}


def mixture(n, d, k, seed):
    rng = np.random.default_rng(seed)
    centres = rng.normal(0, 2, (k, d))
    x = centres[rng.integers(0, k, n)] + rng.normal(0, 1, (n, d)) @ (np.eye(d) + 0.3 * rng.normal(0, 1, (d, d)))
    m0, root = x.mean(0) + 0.1, rng.normal(0, 1, (d, d))
    R0 = root @ root.T + d * np.eye(d)
    peer = BayesianGaussianMixture(
        n_components=k, covariance_type="full", reg_covar=0.0, weight_concentration_prior_type="dirichlet_distribution",
        weight_concentration_prior=0.3, mean_precision_prior=0.7, mean_prior=m0, degrees_of_freedom_prior=d + 1.5,
        covariance_prior=R0)
    peer._check_parameters(x)
    peer._m_step(x, np.log(rng.dirichlet(np.ones(k), n)))
    start = parameters(peer)
    for _ in range(10):
        _, responsibilities = peer._e_step(x)
        peer._m_step(x, responsibilities)
    want = parameters(peer)
    got = fit(MODEL, {"x": x, "m0": m0, "R0": R0}, "--set", f"K={k}", f"nu0={d + 1.5}", "--max-iter", 10, "--tol", 0, "--leap-after", 0, init=start)
    p = got.posterior
    worst = {
        "weights": relative(p["pi.concentration"], want["pi.concentration"]),
        "means": relative(p["mu.mean"], want["mu.mean"]),
        "precisions": relative(p["Lambda.df"][:, None, None] * p["Lambda.scale"], np.linalg.inv(peer.covariances_))}
    if got.report["iterations"] != 10 or not max(worst.values()) <= 1e-6:
        raise AssertionError(f"{got.report['iterations']} sweeps, " + ", ".join(f"{k} differ by {v:.1e}" for k, v in worst.items()))
    return ", ".join(f"{k} differ by {v:.0e}" for k, v in worst.items())


finish({f"N={n} D={d} K={k}": (lambda n=n, d=d, k=k: mixture(n, d, k, n + d + k))
        for n, d, k in [(200, 2, 3), (1000, 1, 5), (2000, 5, 4), (3000, 16, 9)]})
