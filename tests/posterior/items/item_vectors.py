#!/usr/bin/env python3
"""Shares of items whose exponentials come from their parameters: small concentrations, items without elements, elements that
no component is likely for, several kinds of elements, temperatures. A fixed point and its ELBO, by numpy from the factors.

usage: item_vectors.py LEHR
"""
import sys

import numpy as np
from scipy.special import digamma, entr, gammaln

sys.path.append(f"{sys.path[0]}/..")
from fitting import fit, finish  # noqa: E402

R = np.random.default_rng(5)
K, V = 5, 12

DOCUMENTS = """
model documents {
  const alpha = 0.001;
  const eta = 0.001;
  plate doc; plate token in doc; plate topic = 5; plate term = 12;
  beta[topic] ~ Dirichlet(concentration = eta) over term;
  theta[doc] ~ Dirichlet(concentration = alpha) over topic;
  z[doc, token] ~ Categorical(theta[doc]);
  observe w[doc, token] ~ Categorical(beta[z[doc, token]]);
"""
TAGS = """
  plate tag in doc; plate kind = 4;
  delta[topic] ~ Dirichlet(concentration = 0.5) over kind;
  u[doc, tag] ~ Categorical(theta[doc]);
  observe t[doc, tag] ~ Categorical(delta[u[doc, tag]]);
"""
MARKS = """
  mu[topic] ~ Normal(mean = 0, variance = 100);
  c[doc] ~ Categorical(theta[doc]);
  observe y[doc] ~ Normal(mean = mu[c[doc]], variance = 1);
"""
# Of one step each, so that they are categories.
CHAINS = """
  plate step in doc ordered;
  mu[topic] ~ Normal(mean = 0, variance = 100);
  A[topic] ~ Dirichlet(concentration = 1) over topic;
  c[doc, step] ~ Categorical(A[c[doc, step-1]]) start Categorical(theta[doc]);
  observe y[doc, step] ~ Normal(mean = mu[c[doc, step]], variance = 1);
"""


def logs(concentration):
    return digamma(concentration) - digamma(concentration.sum(-1, keepdims=True))


def dirichlet(concentration, prior):
    """E[log prior] plus entropy."""
    log, n = logs(concentration), concentration.shape[-1]
    own = gammaln(concentration.sum(-1)) - gammaln(concentration).sum(-1) + ((concentration - 1) * log).sum(-1)
    return np.sum(gammaln(n * prior) - n * gammaln(prior) + (prior - 1) * log.sum(-1) - own)


def softmax(odds):
    e = np.exp(odds - odds.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def close(got, want, tolerance):
    assert np.allclose(got, want, rtol=tolerance, atol=tolerance), np.abs(got - want).max()


def compare(text, data, *options, tolerance=1e-6, init=None, sweeps=3000):
    """A fixed point; after one sweep, of the items alone, beside what is outside of them as it was."""
    fitted = fit(text + "}", data, "--tol", 1e-13, "--local-tol", 0, "--local-iters", 200, "--max-iter", sweeps, *options,
                 init=init, monotone=False)
    q = fitted.posterior
    before = q if sweeps > 1 else init
    theta = q["theta.concentration"]
    want = dirichlet(theta, 0.001)
    of_items = np.full(theta.shape, 0.001)
    kinds = [("w", "z", "beta", 0.001)] + [("t", "u", "delta", 0.5)] * ("t" in data)
    for observed, latent, table, prior in kinds:
        rows, probs, beta = data[observed], q[f"{latent}.probs"], q[f"{table}.concentration"]
        item = np.repeat(np.arange(len(rows)), [len(r) for r in rows])
        symbol = np.array([x for r in rows for x in r])
        odds = logs(theta)[item] + logs(beta)[:, symbol].T
        close(probs, softmax(logs(theta)[item] + logs(before[f"{table}.concentration"])[:, symbol].T), tolerance)
        np.add.at(of_items, item, probs)
        sums = np.zeros(beta.T.shape)
        np.add.at(sums, symbol, probs)
        close(beta, prior + sums.T, tolerance)
        want += dirichlet(beta, prior) + (probs * odds).sum() + entr(probs).sum()
    if "y" in data:
        mean, precision, probs, y = q["mu.mean"], q["mu.precision"], q["c.probs"], np.ravel(data["y"])
        fits = lambda m, p: -0.5 * np.log(2 * np.pi) - 0.5 * ((y[:, None] - m) ** 2 + 1 / p)
        odds = logs(theta) + fits(mean, precision)
        close(probs, softmax(logs(theta) + fits(before["mu.mean"], before["mu.precision"])), tolerance)
        of_items += probs
        close(precision, 0.01 + probs.sum(0), tolerance)
        close(mean, (probs * y[:, None]).sum(0) / precision, tolerance)
        want += (probs * odds).sum() + entr(probs).sum()
        want += np.sum(-0.5 * np.log(100 * precision) - 0.005 * (mean ** 2 + 1 / precision) + 0.5)
    close(theta, of_items, tolerance)
    assert abs(want - fitted.elbo) < 0.1 * tolerance * abs(want), (want, fitted.elbo)
    return f"ELBO {want:.6f}"


def documents():
    """A topic has two terms of its own; some documents have a term of another topic, some have one token, or none."""
    rows = []
    for d in range(40):
        own = d % K
        words = [2 * own + int(x) for x in R.integers(0, 2, R.integers(0, 9))]
        rows.append(words + [int(x) for x in R.integers(0, V, 1)] * (d % 3 == 0))
    rows[3], rows[4] = [], [6]
    return rows


def start():
    concentration = np.full((K, V), 0.001)
    for topic in range(K):
        concentration[topic, 2 * topic:2 * topic + 2] += 5
    concentration[0, 10:] += 1
    return {"beta.concentration": concentration, "delta.concentration": R.gamma(1, 1, (K, 4)),
            "mu.mean": 3.0 * np.arange(K), "mu.precision": np.full(K, 4.0)}


def underflow():
    """Documents begin in a topic that has none of their terms, so that products of exponentials are 0 in pass after pass."""
    theta = np.full((len(rows), K), 0.001)
    theta[np.arange(len(rows)), R.integers(0, K, len(rows))] += 10 ** R.uniform(-1, 3, len(rows))
    beta = 0.001 * (1 + R.uniform(-0.02, 0.02, (K, V)))
    beta[np.arange(V) % K, np.arange(V)] += 5
    return compare(DOCUMENTS, plain, init={"beta.concentration": beta, "theta.concentration": theta}, sweeps=1)


def at_start(text, data, *options):
    names = ["beta.concentration"] + ["delta.concentration"] * ("t" in data) + ["mu.mean", "mu.precision"] * ("y" in data)
    return compare(text, data, *options, init={k: start()[k] for k in names}, sweeps=1)


rows = documents()
tags = [[int(x) for x in R.integers(0, 4, R.integers(0, 4))] for _ in rows]
marks = [float(3 * (d % K) + R.normal()) for d in range(len(rows))]
plain, topics = {"w": rows}, {"beta.concentration": start()["beta.concentration"]}
both = {"w": rows, "t": tags, "y": marks}
finish({
    "own start": lambda: compare(DOCUMENTS, plain),
    "topics with terms of their own": lambda: compare(DOCUMENTS, plain, init=topics),
    "element by element": lambda: compare(DOCUMENTS, plain, "--no-opt", "jam-data-loops", init=topics),
    "temperatures that fall": lambda: compare(DOCUMENTS, plain, "--anneal", "linear:from=3,over=5"),
    "32 bits": lambda: compare(DOCUMENTS, plain, "--precision", "float", tolerance=1e-3, init=topics),
    "two kinds of elements": lambda: compare(DOCUMENTS + TAGS, {"w": rows, "t": tags}),
    "a category of the item": lambda: compare(DOCUMENTS + MARKS, {"w": rows, "y": marks}),
    "all together": lambda: compare(DOCUMENTS + TAGS + MARKS, both),
    "one sweep": lambda: at_start(DOCUMENTS, plain),
    "one sweep, element by element": lambda: at_start(DOCUMENTS, plain, "--no-opt", "jam-data-loops"),
    "one sweep, products that underflow": underflow,
    "one sweep, two kinds": lambda: at_start(DOCUMENTS + TAGS, {"w": rows, "t": tags}),
    "one sweep, a category of the item": lambda: at_start(DOCUMENTS + MARKS, {"w": rows, "y": marks}),
    "one sweep, a chain from the item's shares": lambda: at_start(DOCUMENTS + CHAINS, {"w": rows, "y": [[y] for y in marks]}),
})
