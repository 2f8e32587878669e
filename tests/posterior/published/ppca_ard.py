#!/usr/bin/env python3
"""Bayesian PCA with automatic relevance determination: as many factors remain as there are. Bishop (1999).

Data from exactly 5 factors with noise of sd 0.5, 16 allowed, started at the 16 leading principal components. From a random
start, columns that share a factor part slowly, in some 10,000 sweeps; on smaller data it must end at the same optimum. (There
a chance factor may remain: of 150 points from 2 factors, one data set keeps a weak third from every start.) A factor
remains if the squared norm of its column is above 1e-3 of the largest; the others fall to about 0.

usage: ppca_ard.py LEHR
"""
import sys

import numpy as np
from scipy.linalg import subspace_angles
from sklearn.decomposition import PCA

sys.path.append(f"{sys.path[0]}/..")
from external import external  # noqa: E402
from fitting import finish, fit  # noqa: E402

MODEL = """model ppca_ard {
  const K;
  plate n;
  plate d;
  plate k = K;
  alpha[k] ~ Gamma(shape = 0.001, rate = 0.001);
  W[d] ~ MvNormal(mean = 0, precision = diag(alpha)) over k;
  mu[d] ~ Normal(mean = 0, precision = 0.001);
  tau ~ Gamma(shape = 0.001, rate = 0.001);
  z[n] ~ MvNormal(mean = 0, precision = 1) over k;
  observe x[n, d] ~ Normal(mean = dot(W[d], z[n]) + mu[d], precision = tau);
}"""
NOISE = 0.5


def simulate(seed, n, d, factors):
    rng = np.random.default_rng(seed)
    loadings = rng.normal(size=(d, factors))
    return rng.normal(size=(n, factors)) @ loadings.T + NOISE * rng.normal(size=(n, d)) + rng.normal(size=d), loadings


def principal(x, K):
    """All K columns of W at the scale of their component, noise included."""
    n, d = x.shape
    _, s, v = np.linalg.svd(x - x.mean(0), full_matrices=False)
    return {"W.mean": v[:K].T * s[:K] / np.sqrt(n), "W.precision": np.tile(1e3 * np.eye(K), (d, 1, 1)), "mu.mean": x.mean(0),
            "mu.precision": np.full(d, 1e3), "tau.shape": 1, "tau.rate": np.mean(s[K:] ** 2) / n, "alpha.shape": np.ones(K), "alpha.rate": np.ones(K)}


def retained(got):
    """Which columns, and the largest of the other columns relative to the largest."""
    size = np.sum(got.posterior["W.mean"] ** 2, axis=0)
    keep = size > 1e-3 * size.max()
    return keep, np.max(size[~keep], initial=0) / size.max()


def remain(seed, n, d, factors, K, *arguments):
    x, loadings = simulate(seed, n, d, factors)
    got = fit(MODEL, {"x": x}, "--set", f"K={K}", *arguments, init=principal(x, K))
    keep, rest = retained(got)
    angle = np.max(subspace_angles(got.posterior["W.mean"][:, keep], loadings))
    sd = float(np.sqrt(got.posterior["tau.rate"] / got.posterior["tau.shape"]))
    if got.report["status"] != "converged" or keep.sum() != factors or not rest < 1e-6:
        raise AssertionError(f"{got.report['status']}, {keep.sum()} factors of {factors}, the next has {rest:.1e} of the largest")
    # a direction is known to about NOISE / sqrt(n) radians, times sqrt(d) for all of its entries
    if not angle < 3 * NOISE * np.sqrt(d / n) or not abs(sd / NOISE - 1) < 3 / np.sqrt(n * (d - factors)):
        raise AssertionError(f"subspace {angle:.3f} from the true one, noise sd {sd:.4f}")
    return f"{factors} of {K} remain after {got.report['iterations']} sweeps, the next has {rest:.0e}, angle {angle:.3f}, noise sd {sd:.4f}"


def random_start(seed):
    """A random start ends no lower than the principal components, where plain sweeps stay: optima may keep 2 factors or 3."""
    x, _ = simulate(seed, 150, 10, 2)
    options = ["--set", "K=6", "--tol", "1e-12", "--max-iter", 30000, "--seed", seed + 1]
    ends = [fit(MODEL, {"x": x}, *options, init=init) for init in (principal(x, 6), None)]
    ends.append(fit(MODEL, {"x": x}, *options, "--leap-after", 0, init=ends[1].posterior))
    (kept, _), (same, _), (still, _) = map(retained, ends)
    for end in ends:
        if end.report["status"] != "converged":
            raise AssertionError(f"{end.report['status']} after {end.report['iterations']} sweeps")
    given, found, stayed = (end.elbo for end in ends)
    least = 1e-6 * abs(given)
    if not found >= given - least or not abs(stayed - found) <= least or same.sum() != still.sum():
        raise AssertionError(f"{kept.sum()} factors at ELBO {given}, {same.sum()} at {found} from a random start, {still.sum()} at {stayed}")
    return f"{same.sum()} of 6 remain after {ends[1].report['iterations']} sweeps, not {ends[0].report['iterations']}; {found - given:.0e} nats higher"


def digits():
    """MNIST: more factors than images can tell apart, so that some must go. PCA has the least error of that rank."""
    path, K = external("mnist/mnist_train_u8.npy"), 50
    if path is None:
        return "skipped: no mnist/mnist_train_u8.npy; LEHR_SHARED_DATA names the folder"
    x = np.load(path)[::50].reshape(-1, 14, 2, 14, 2).mean((2, 4)).reshape(-1, 196) / 255
    x = x[:, x.std(0) > 0.02]
    got = fit(MODEL, {"x": x}, "--set", f"K={K}", "--max-iter", 1000, init=principal(x, K))
    q = got.posterior
    keep, rest = retained(got)
    ours = np.mean((x - q["mu.mean"] - q["z.mean"] @ q["W.mean"].T) ** 2)
    peer = PCA(int(keep.sum())).fit(x)
    theirs = np.mean((x - peer.inverse_transform(peer.transform(x))) ** 2)
    if got.report["status"] != "converged" or not 0 < keep.sum() < K or not rest < 1e-6:
        raise AssertionError(f"{got.report['status']}, {keep.sum()} factors of {K}, the next has {rest:.1e} of the largest")
    if not theirs <= ours <= 1.5 * theirs:  # shrunk scores reconstruct less closely
        raise AssertionError(f"{keep.sum()} factors: squared error {ours:.5f}, PCA {theirs:.5f}")
    return f"{keep.sum()} of {K} factors for {len(x)} images, squared error {ours:.5f}, PCA {theirs:.5f}, pixels' variance {x.var(0).mean():.5f}"


if __name__ == "__main__":
    checks = {f"5 factors, data {s}": lambda s=s: remain(s, 500, 20, 5, 16, "--tol", "1e-10", "--max-iter", 5000) for s in range(5)}
    for s in (0, 2):
        checks[f"random start, data {s}"] = lambda s=s: random_start(s)
    finish({**checks, "digits": digits})
