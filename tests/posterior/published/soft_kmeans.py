#!/usr/bin/env python3
"""Soft K-means is EM, and both are a fit with point factors. MacKay (2003), section 33.7, with chapter 22's versions.

With Q(theta) a delta function, whose infinite entropy is left out, and a uniform prior on theta, the variational free
energy is F = sum r log r - sum r log p(x, k | theta): F = -ELBO under Flat() means. Precisions have Gamma(1, rate r), whose
log density log r - r tau is added back. Right after an assignment step F is -log p(x | theta).

usage: soft_kmeans.py LEHR
"""
import sys
from math import lgamma

import numpy as np
from scipy.special import logsumexp
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture

sys.path.append(f"{sys.path[0]}/..")
from fitting import finish, fit, relative  # noqa: E402

K, FLAT = 3, 1e-12
ONE = """model m {
  const sd;
  plate n;
  plate d;
  plate k = 3;
  mu[k, d] ~ Flat();
  z[n] ~ Categorical(1 / 3) over k;
  observe x[n, d] ~ Normal(mean = mu[z[n], d], sd = sd);
  guide point(mu);
}"""
TWO = """model m {
  const r;
  plate n;
  plate d;
  plate k = 3;
  mu[k, d] ~ Flat();
  tau[k] ~ Gamma(shape = 1, rate = r);
  pi ~ Dirichlet(concentration = 1) over k;
  z[n] ~ Categorical(pi);
  observe x[n, d] ~ Normal(mean = mu[z[n], d], precision = tau[z[n]]);
  guide point(mu, tau, pi);
}"""


def clusters(apart=2.0):
    rng = np.random.default_rng(4)
    centres = apart * np.array([[0, 0], [1.5, 0.5], [0.3, 1.4]])
    return np.concatenate([c + s * rng.normal(size=(m, 2)) for c, s, m in zip(centres, (0.5, 0.8, 0.3), (25, 40, 15))])


X = clusters()
START = np.array([[0.5, 1.0], [1.0, 0.0], [2.0, 2.0]])


def assign(mu, tau, pi):
    """Responsibilities and the free energy right after them."""
    log_joint = np.log(pi) + np.log(tau / (2 * np.pi)) - 0.5 * tau * np.sum((X[:, None] - mu) ** 2, axis=2)
    total = logsumexp(log_joint, axis=1)
    return np.exp(log_joint - total[:, None]), -total.sum()


def update(r, learn):
    size = r.sum(0)
    mu = r.T @ X / size[:, None]
    if not learn:
        return mu, None, None
    return mu, 2 * size / np.sum(r * np.sum((X[:, None] - mu) ** 2, axis=2), axis=0), size / len(X)


def free_energy(r, mu, tau, pi):
    log_joint = np.log(pi) + np.log(tau / (2 * np.pi)) - 0.5 * tau * np.sum((X[:, None] - mu) ** 2, axis=2)
    return np.sum(r * (np.log(np.maximum(r, 1e-300)) - log_joint))


def run(version, *arguments, sd=0.7):
    """The fit, its parameters, and F of each sweep: after the assignment and the update."""
    if version == 1:
        got = fit(ONE, {"x": X}, "--set", f"sd={sd!r}", *arguments, init={"mu.value": START})
        return got, (got.posterior["mu.value"], np.full(K, sd**-2), np.full(K, 1 / K)), -np.array(got.trace), -got.elbo
    got = fit(TWO, {"x": X}, "--set", f"r={FLAT}", *arguments, init={"mu.value": START, "tau.value": np.full(K, 2.0), "pi.value": np.full(K, 1 / K)})
    prior = K * np.log(FLAT) + lgamma(K)
    return got, tuple(got.posterior[f"{name}.value"] for name in ("mu", "tau", "pi")), prior - np.array(got.trace), prior - got.elbo


def algorithm(version):
    """F of the start and of 12 sweeps, and their parameters, beside the two steps in numpy."""
    theta = [START, np.full(K, 0.7**-2 if version == 1 else 2.0), np.full(K, 1 / K)]
    _, first = assign(*theta)
    start = run(version, "--max-iter", 0)[3]
    want = []
    for _ in range(12):
        r, _ = assign(*theta)
        theta = [new if new is not None else old for new, old in zip(update(r, version == 2), theta)]
        want.append(free_energy(r, *theta))
    _, parameters, trace, _ = run(version, "--max-iter", 12, "--tol", 0, "--leap-after", 0)
    errors = {"F of the start": relative(start, first), "F of the sweeps": relative(trace, want),
              "parameters": max(relative(a, b) for a, b in zip(parameters, theta))}
    assert max(errors.values()) <= 1e-10, ", ".join(f"{k} differ by {v:.1e}" for k, v in errors.items())
    return f"F {first:.9f} after the first assignment, {want[-1]:.9f} after 12 sweeps"


def converged():
    """scikit-learn's EM from the same start ends at the same maximum of the likelihood."""
    got, (mu, tau, pi), _, F = run(2, "--tol", "1e-15", "--max-iter", 5000)
    peer = GaussianMixture(K, covariance_type="spherical", tol=1e-15, reg_covar=0, max_iter=5000, weights_init=np.full(K, 1 / K),
                           means_init=START, precisions_init=np.full(K, 2.0)).fit(X)
    error = max(relative(mu, peer.means_), relative(tau, peer.precisions_), relative(pi, peer.weights_))
    if got.report["status"] != "converged" or not error <= 1e-5 or not relative(F, -peer.score(X) * len(X)) <= 1e-8:
        raise AssertionError(f"{got.report['status']}, F {F!r}, scikit-learn {-peer.score(X) * len(X)!r}, parameters differ by {error:.1e}")
    return f"F {F:.9f}, parameters differ by {error:.0e}"


def hard():
    """With a small width the assignments are those of K-means."""
    _, (mu, _, _), _, _ = run(1, "--tol", "1e-14", "--max-iter", 500, sd=0.01)
    peer = KMeans(K, init=START, n_init=1, tol=0, algorithm="lloyd").fit(X)
    assert relative(mu, peer.cluster_centers_) <= 1e-10, f"{mu}, K-means {peer.cluster_centers_}"
    return f"centres {np.round(mu, 3).tolist()}"


finish({"version 1": lambda: algorithm(1), "version 2": lambda: algorithm(2), "maximum likelihood": converged, "K-means": hard})
