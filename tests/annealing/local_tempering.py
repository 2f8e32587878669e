#!/usr/bin/env python3
"""A latent temperature for each item, against the updates written out with numpy."""
import sys

import numpy as np
from scipy.special import digamma, gammaln, logsumexp

sys.path.append(f"{sys.path[0]}/../posterior")
from fitting import finish, fit, within  # noqa: E402

SWEEPS, HOTTEST, LEVELS = 7, 3.0, 12
T = HOTTEST ** (np.arange(LEVELS) / (LEVELS - 1))
B = 1 / T
X = np.array([-2.1, -1.4, -2.9, 0.3, 1.8, 2.2, 2.6, 9.0])


def local(model, init, *more, **data):
    sweeps = () if "--method" in more else ("--max-iter", SWEEPS)
    return fit(model, {"x": X, **data}, "--temper", f"local:max={HOTTEST},levels={LEVELS}", *sweeps, *more, init=init, monotone=False)


def temperatures(energy, log_c):
    """q of the levels by item, E[1/T], and what they add to the ELBO."""
    odds = np.outer(energy, B) - log_c
    log_r = odds - logsumexp(odds, axis=1, keepdims=True)
    r = np.exp(log_r)
    return r @ B, np.sum(r * (-log_r - np.log(LEVELS) - log_c))


same = within(rtol=1e-9)


def mixture():
    model = """model m { plate n; plate k = 2; data w : simplex over k; mu[k] ~ Normal(mean = 0, variance = 10);
      z[n] ~ Categorical(w); observe x[n] ~ Normal(mean = mu[z[n]], variance = 1); }"""
    w, m, v, b = np.array([0.3, 0.7]), np.array([-1.0, 0.5]), np.array([0.1, 0.1]), np.full(len(X), B.mean())
    log_c = np.array([np.log(np.sum(w**c)) + 0.5 * np.log(1 / c) + 0.5 * (1 - c) * np.log(2 * np.pi) for c in B])
    got = local(model, {"mu.mean": m, "mu.precision": 1 / v}, w=w)
    trace = []
    for _ in range(SWEEPS):
        log_joint = np.log(w) - 0.5 * np.log(2 * np.pi) - 0.5 * ((X[:, None] - m) ** 2 + v)
        phi = np.exp(b[:, None] * log_joint - logsumexp(b[:, None] * log_joint, axis=1, keepdims=True))
        b, added = temperatures(np.sum(phi * log_joint, axis=1), log_c)
        phi = np.exp(b[:, None] * log_joint - logsumexp(b[:, None] * log_joint, axis=1, keepdims=True))
        v = 1 / (0.1 + b @ phi)
        m = v * ((b * X) @ phi)
        log_joint = np.log(w) - 0.5 * np.log(2 * np.pi) - 0.5 * ((X[:, None] - m) ** 2 + v)
        prior = np.sum(-0.5 * np.log(2 * np.pi * 10) - (m**2 + v) / 20 + 0.5 * np.log(2 * np.pi * np.e * v))
        trace.append(prior + b @ np.sum(phi * log_joint, axis=1) - np.sum(phi * np.log(phi)) + added)
    same(got.posterior["mu.mean"], m, "means")
    same(got.trace, trace, "tempered ELBO")
    same(got.temperatures[-1], 1 / b.mean(), "temperature")
    assert min(np.diff(trace)) >= -1e-9 * abs(trace[-1]), f"the tempered ELBO falls: {trace}"
    assert b.argmin() == 7, "the outlier is not the warmest"
    return f"mixture: 1/T from {b.min():.3f} (the outlier) to {b.max():.3f}"


def scale():
    """No local variables, sums of data alone that the temperatures weigh, and a normaliser that depends on a global."""
    model = """model m { plate n; mu ~ Normal(mean = 0, variance = 10); tau ~ Gamma(shape = 2, rate = 2);
      observe x[n] ~ Normal(mean = mu, precision = tau); }"""
    m, v, shape, rate = 0.5, 0.2, 3.0, 2.0
    init = {"mu.mean": m, "mu.precision": 1 / v, "tau.shape": shape, "tau.rate": rate}
    got = local(model, init)
    trace = []
    energy = lambda: 0.5 * (digamma(shape) - np.log(rate)) - 0.5 * np.log(2 * np.pi) - 0.5 * shape / rate * (  # noqa: E731
        (X - m) ** 2 + v)
    for _ in range(SWEEPS):
        log_c = 0.5 * np.log(T) + 0.5 * (1 - B) * (np.log(2 * np.pi) - np.log(shape / rate))
        b, added = temperatures(energy(), log_c)
        v = 1 / (0.1 + shape / rate * b.sum())
        m = v * shape / rate * (b @ X)
        shape, rate = 2 + 0.5 * b.sum(), 2 + 0.5 * (b @ ((X - m) ** 2 + v))
        log_tau = digamma(shape) - np.log(rate)
        prior = -0.5 * np.log(20 * np.pi) - (m**2 + v) / 20 + 0.5 * np.log(2 * np.pi * np.e * v)
        prior += 2 * np.log(2) + log_tau - 2 * shape / rate
        prior += shape - np.log(rate) + gammaln(shape) + (1 - shape) * digamma(shape)
        trace.append(prior + b @ energy() + added)
    same(got.posterior["tau.rate"], rate, "rate")
    same(got.trace, trace, "tempered ELBO")
    return f"unknown scale: 1/T from {b.min():.3f} to {b.max():.3f}"


def minibatch():
    """A step of all items with rho = 1 is a sweep; the end is at temperature 1."""
    model = """model m { plate n; plate k = 2; data w : simplex over k; mu[k] ~ Normal(mean = 0, variance = 10);
      z[n] ~ Categorical(w); observe x[n] ~ Normal(mean = mu[z[n]], variance = 1); }"""
    init = {"mu.mean": [-1.0, 0.5], "mu.precision": [10.0, 10.0]}
    w = np.array([0.3, 0.7])
    a = local(model, init, w=w)
    b = local(model, init, "--method", "svi", "--rho", 1, "--batch-size", len(X), "--epochs", SWEEPS, w=w)
    same(b.posterior["mu.mean"], a.posterior["mu.mean"], "means")
    plain = fit(model, {"x": X, "w": w}, "--max-iter", 0, init=b.posterior)
    same(b.elbo, plain.elbo, "ELBO at temperature 1")
    return "minibatches"


def prior_of_a_kind():
    """Two kinds of items whose priors are equal say nothing of the temperatures: the prior of proportions is not tempered, whether
    a kind chooses it or not."""
    plain = """model m { plate doc; plate token in doc; plate term = 3; %s
      theta[doc] ~ Dirichlet(concentration = alpha%s) over term; observe w[doc, token] ~ Categorical(theta[doc]); }"""
    kind = "plate kind = 2; data alpha[kind] : vector over term; data share : simplex over kind; c[doc] ~ Categorical(share);"
    alpha, words = [0.5, 2.0, 1.5], [[0, 1, 2, 1], [2, 2], [0, 0, 0, 1, 2]]
    init = {"theta.concentration": np.array([[3.0, 1, 2], [1, 4, 2], [6, 1, 1]])}
    how = ("--temper", f"local:max={HOTTEST},levels={LEVELS}", "--max-iter", SWEEPS)
    one = fit(plain % ("data alpha : vector over term;", ""), {"alpha": alpha, "w": words}, *how, init=init, monotone=False)
    two = fit(plain % (kind, "[c[doc]]"), {"alpha": [alpha, alpha], "share": [0.5, 0.5], "w": words}, *how, init=init, monotone=False)
    same(two.temperatures, one.temperatures, "temperatures")
    same(two.posterior["theta.concentration"], one.posterior["theta.concentration"], "proportions")
    return f"kinds: temperature {two.temperatures[-1]:.4f}"


finish({"mixture": mixture, "scale": scale, "minibatch": minibatch, "prior of a kind": prior_of_a_kind})
