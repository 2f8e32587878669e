#!/usr/bin/env python3
"""Models as one writes them at once in NumPy who knows it well: products of matrices, no loop over items where none is needed.

Each function takes arrays by name, sweeps in place, and gives what it found by the names of Lehr's posterior. Called as the C++
is: `plain_numpy.py MODEL DIRECTORY SWEEPS` prints a JSON list of CPU seconds.
"""
import json
import os
import sys
import time

import peers  # noqa: F401  names the core before numpy is loaded
import numpy as np
from scipy.special import digamma, expit


def factorial_mixture(q):
    x, z = q["x"].reshape(-1, q["mu.mean"].size // q["p.a"].size), q["z.p"].reshape(-1, q["p.a"].size)
    mean, precision = (q[f"mu.{name}"].reshape(z.shape[1], -1) for name in ("mean", "precision"))
    a, b, tau, square = q["p.a"], q["p.b"], q["tau.shape"][0] / q["tau.rate"][0], (x**2).sum()

    def sweep():
        nonlocal tau
        gram = mean @ mean.T
        np.fill_diagonal(gram, 0)
        odds = tau * (x @ mean.T) + digamma(a) - digamma(b) - 0.5 * tau * (mean**2 + 1 / precision).sum(1)
        for f in range(z.shape[1]):
            z[:, f] = expit(odds[:, f] - tau * (z @ gram[f]))
        s, zz, zx = z.sum(0), z.T @ z, z.T @ x
        np.fill_diagonal(zz, 0)
        a[:], b[:] = 1 + s, 1 + len(x) - s
        relevance = (1 + 0.5 * mean.size) / (0.01 + 0.5 * (mean**2 + 1 / precision).sum())
        precision[:] = relevance + tau * s[:, None]
        for f in range(z.shape[1]):
            mean[f] = tau * (zx[f] - zz[f] @ mean) / precision[f]
        error = square - 2 * (zx * mean).sum() + (zz * (mean @ mean.T)).sum() + (s[:, None] * (mean**2 + 1 / precision)).sum()
        q["tau.rate"][0] = 1 + 0.5 * error
        tau = (1 + 0.5 * x.size) / q["tau.rate"][0]

    return sweep, ["mu.mean", "p.a", "tau.rate"]


def ppca_ard(q):
    mu, k = q["mu.mean"], q["alpha.rate"].size
    x, w = q["x"].reshape(-1, mu.size), q["W.mean"].reshape(-1, k)
    n, d = x.shape
    covariance, tau = np.linalg.inv(q["W.precision"].reshape(-1, k, k)).sum(0), q["tau.shape"][0] / q["tau.rate"][0]
    square, total = (x**2).sum(), x.sum(0)

    def sweep():
        nonlocal covariance, tau
        ww = covariance + w.T @ w
        v = np.linalg.inv(np.eye(k) + tau * ww)
        z = tau * (x @ w - mu @ w) @ v
        xz, zz, s = x.T @ z, z.T @ z + n * v, z.sum(0)
        alpha = (1e-3 + 0.5 * d) / (1e-3 + 0.5 * np.diag(ww))
        c = np.linalg.inv(np.diag(alpha) + tau * zz)
        w[:] = tau * (xz - np.outer(mu, s)) @ c
        covariance = d * c
        precision = 1e-3 + n * tau
        mu[:] = tau * (total - w @ s) / precision
        error = (square - 2 * (xz * w).sum() - 2 * mu @ total + 2 * mu @ (w @ s) + ((covariance + w.T @ w) * zz).sum()
                 + n * (mu @ mu + d / precision))
        q["tau.rate"][0] = 1e-3 + 0.5 * error
        tau = (1e-3 + 0.5 * n * d) / q["tau.rate"][0]

    return sweep, ["W.mean", "mu.mean", "tau.rate"]


def poisson_factorisation(q):
    entries, users, items = (q[name].size for name in ("Y", "taste.shape", "quality.shape"))
    factors = round((users * items / entries)**0.5)
    y = q["Y"].reshape(users // factors, -1)
    shape, rate = (q[f"taste.{name}"].reshape(-1, factors) for name in ("shape", "rate"))
    quality_shape, quality_rate = (q[f"quality.{name}"].reshape(factors, -1) for name in ("shape", "rate"))

    def sweep():
        weight = np.exp(digamma(quality_shape)) / quality_rate
        taste = np.exp(digamma(shape)) / rate
        shape[:] = 0.3 + taste * ((y / (taste @ weight)) @ weight.T)
        rate[:] = 1 + (quality_shape / quality_rate).sum(1)
        taste = np.exp(digamma(shape)) / rate
        quality_shape[:] = 0.3 + weight * (taste.T @ (y / (taste @ weight)))
        quality_rate[:] = 0.3 + (shape / rate).sum(0)[:, None]

    return sweep, ["quality.shape", "quality.rate"]


def stochastic_block_model(q):
    k = q["pi.concentration"].size
    z, a, b, pi = q["z.probs"].reshape(-1, k), q["B.a"].reshape(k, k), q["B.b"].reshape(k, k), q["pi.concentration"]
    start, end, tie = q["a"], q["b"], q["tie"].astype(bool)

    def lists(at, other):
        order = np.argsort(at, kind="stable")
        cuts = np.searchsorted(at[order], np.arange(1, len(z)))
        return [(o[t], o[~t]) for o, t in zip(np.split(other[order], cuts), np.split(tie[order], cuts))]

    out, into = lists(start, end), lists(end, start)

    def sweep():
        hit, miss = digamma(a) - digamma(a + b), digamma(b) - digamma(a + b)
        log_pi = digamma(pi) - digamma(pi.sum())
        for m, ((out_hit, out_miss), (in_hit, in_miss)) in enumerate(zip(out, into)):
            odds = (log_pi + hit @ z[out_hit].sum(0) + miss @ z[out_miss].sum(0)
                    + z[in_hit].sum(0) @ hit + z[in_miss].sum(0) @ miss)
            odds = np.exp(odds - odds.max())
            z[m] = odds / odds.sum()
        pi[:] = 1 + z.sum(0)
        a[:] = 1 + z[start[tie]].T @ z[end[tie]]
        b[:] = 1 + z[start[~tie]].T @ z[end[~tie]]

    return sweep, ["B.a", "B.b", "pi.concentration"]


def logistic_regression(q):
    t, y, bound = q["temperature"] - 70, q["damaged"] - 0.5, q["damaged.bound.value"]
    y0, y1, square = y.sum(), y @ t, t**2

    def sweep():
        weight = np.tanh(0.5 * bound) / (4 * bound)
        l0, l1, l2 = weight.sum(), weight @ t, weight @ square
        pa = 0.04 + 2 * l0
        q["a.mean"][0] = a = (y0 - 2 * l1 * q["b.mean"][0]) / pa
        q["b.precision"][0] = pb = 0.04 + 2 * l2
        q["b.mean"][0] = b = (y1 - 2 * l1 * a) / pb
        np.sqrt(a * a + 1 / pa + 2 * a * b * t + (b * b + 1 / pb) * square, out=bound)

    return sweep, ["a.mean", "b.mean", "b.precision"]


def crossed_random_effects(q):
    y, dish, sample, d, s = (q[name] for name in ("diameter", "dish", "sample", "d.mean", "s.mean"))
    dp, sp = q["d.precision"], q["s.precision"]
    dish_count, sample_count = np.bincount(dish, minlength=d.size), np.bincount(sample, minlength=s.size)

    def sweep():
        weight = (0.01 + 0.5 * s.size) / q["tau_sample.rate"][0]
        precision = 1e-4 + s.size * weight
        mu = weight * s.sum() / precision
        q["tau_dish.rate"][0] = 0.01 + 0.5 * (d**2 + 1 / dp).sum()
        q["tau_sample.rate"][0] = 0.01 + 0.5 * ((s - mu)**2 + 1 / sp + 1 / precision).sum()
        error = y - d[dish] - s[sample]
        q["tau.rate"][0] = 0.01 + 0.5 * (error @ error + (dish_count / dp).sum() + (sample_count / sp).sum())
        tau, weight = (0.01 + 0.5 * y.size) / q["tau.rate"][0], (0.01 + 0.5 * s.size) / q["tau_sample.rate"][0]
        dp[:] = (0.01 + 0.5 * d.size) / q["tau_dish.rate"][0] + tau * dish_count
        d[:] = tau * np.bincount(dish, y - s[sample], d.size) / dp
        sp[:] = weight + tau * sample_count
        s[:] = (weight * mu + tau * np.bincount(sample, y - d[dish], s.size)) / sp

    return sweep, ["d.mean", "s.mean", "tau.rate", "tau_dish.rate"]


class Arrays(dict):
    """The files of a directory, read when they are asked for."""

    def __init__(self, directory):
        self.directory = directory

    def __missing__(self, name):
        self[name] = np.fromfile(os.path.join(self.directory, name), "<i8" if name in INTEGERS else "<f8")
        return self[name]


INTEGERS = {"a", "b", "tie", "damaged", "dish", "sample"}


def main():
    model, directory, sweeps = sys.argv[1:]
    q = Arrays(directory)
    sweep, names = globals()[model](q)
    marks = [time.process_time()]
    for _ in range(int(sweeps)):
        sweep()
        marks.append(time.process_time())
    for name in names:
        q[name].tofile(os.path.join(directory, "result." + name))
    print(json.dumps(np.diff(marks).tolist()))


if __name__ == "__main__":
    main()
