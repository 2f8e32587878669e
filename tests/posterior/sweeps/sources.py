#!/usr/bin/env python3
"""Sums of rates: single summands and a sum over a plate, by coordinate ascent written out with numpy."""
import sys

import numpy as np
from scipy.special import digamma, gammaln, logsumexp

sys.path.append(f"{sys.path[0]}/..")
from fitting import finish, fit, temporary  # noqa: E402

X = np.array([[0.5, 2.0, 1.0], [1.5, 0.1, 3.0], [2.5, 1.0, 0.4], [0.2, 0.6, 0.9], [1.0, 4.0, 2.0]])
Y = np.array([3, 0, 7, 1, 12])


def gamma_bound(prior, shape, rate):
    """E[log prior] + entropy."""
    log, mean = digamma(shape) - np.log(rate), shape / rate
    return np.sum(prior[0] * np.log(prior[1]) - gammaln(prior[0]) + (prior[0] - 1) * log - prior[1] * mean
                  + shape - np.log(rate) + gammaln(shape) + (1 - shape) * digamma(shape))


def rates(fixed):
    """`fixed` single summands before the sum over k."""
    names = ["u", "v"][:fixed]
    model = f"""model m {{ plate n; plate k = 3; data x[n, k] : real; a[k] ~ Gamma(shape = 2, rate = 1);
      {' '.join(f'{s} ~ Gamma(shape = 1.5, rate = 2);' for s in names)}
      observe y[n] ~ Poisson({''.join(f'{s} + ' for s in names)}sum(k) a[k] * x[n, k]); }}"""
    prior = [(1.5, 2.0)] * fixed + [(2.0, 1.0)] * 3
    weight = np.column_stack([np.ones((5, fixed)), X])
    shape, rate = np.full(fixed + 3, 2.0), np.full(fixed + 3, 1.5)
    for _ in range(3000):
        odds = digamma(shape) - np.log(rate) + np.log(weight)
        p = np.exp(odds - logsumexp(odds, axis=1, keepdims=True))
        shape, rate = np.array([s for s, _ in prior]) + Y @ p, np.array([r for _, r in prior]) + weight.sum(0)
    odds = digamma(shape) - np.log(rate) + np.log(weight)
    elbo = Y @ logsumexp(odds, axis=1) - np.sum(weight @ (shape / rate)) - np.sum(gammaln(Y + 1))
    elbo += sum(gamma_bound(b, s, r) for b, s, r in zip(prior, shape, rate))
    got = fit(model, {"x": X, "y": Y}, "--tol", "1e-15", "--max-iter", 5000)
    np.testing.assert_allclose(got.posterior["a.shape"], shape[fixed:], rtol=1e-6)
    np.testing.assert_allclose(got.posterior["a.rate"], rate[fixed:], rtol=1e-12)
    for s, want in zip(names, shape):
        np.testing.assert_allclose(got.posterior[f"{s}.shape"], want, rtol=1e-6)
    np.testing.assert_allclose(got.elbo, elbo, rtol=1e-11)
    return f"ELBO {elbo:.8f}"


def beside_a_chain():
    """Sequences with a chain of categories and with a sum of rates: the ELBO is that of both models."""
    head = "plate seq; plate t in seq ordered; plate state = 2; plate letter;"
    chain = """A[state] ~ Dirichlet(concentration = 1) over state; B[state] ~ Dirichlet(concentration = 0.5) over letter;
      s[seq, t] ~ Categorical(A[s[seq, t-1]]) start Categorical(A[0]); observe x[seq, t] ~ Categorical(B[s[seq, t]]);"""
    counts = "w[seq] ~ Gamma(shape = 1.5, rate = 2); q ~ Gamma(shape = 3, rate = 1); observe y[seq] ~ Poisson(q + w[seq]);"
    x, y = [[0, 0, 1, 2], [1, 2, 2, 0, 0], [0, 1, 0, 1, 2, 1], [2, 2, 0]], [3, 0, 7, 1]
    options = ["--tol", "1e-15", "--max-iter", 5000]
    of_chain = fit(f"model m {{ {head} {chain} }}", {"x": x}, *options, "--init", "points")
    of_counts = fit(f"model m {{ plate seq; {counts} }}", {"y": y}, *options)
    with temporary() as folder:
        np.savez(f"{folder}/start.npz", **of_chain.posterior)  # the chain has several optima
        both = fit(f"model m {{ {head} {chain} {counts} }}", {"x": x, "y": y}, *options, "--init", f"{folder}/start.npz")
    # On the way, too.
    chain_start = {k: v + 0.3 * np.arange(v.size).reshape(v.shape) for k, v in of_chain.posterior.items()}
    counts_start = {"q.shape": 5.0, "q.rate": 2.0}
    for sweeps in (1, 2, 3):
        few = ["--tol", 0, "--max-iter", sweeps, "--local-tol", 0, "--local-iters", 200]
        apart = (fit(f"model m {{ {head} {chain} }}", {"x": x}, *few, init=chain_start).elbo
                 + fit(f"model m {{ plate seq; {counts} }}", {"y": y}, *few, init=counts_start).elbo)
        together = fit(f"model m {{ {head} {chain} {counts} }}", {"x": x, "y": y}, *few, init=chain_start | counts_start).elbo
        np.testing.assert_allclose(together, apart, rtol=1e-11)
    np.testing.assert_allclose(both.elbo, of_chain.elbo + of_counts.elbo, rtol=1e-11)
    np.testing.assert_allclose(both.posterior["B.concentration"], of_chain.posterior["B.concentration"], rtol=1e-6)
    return f"ELBO {both.elbo:.8f}"


finish({"beside a chain": beside_a_chain} | {f"{n} summands and a sum": lambda n=n: rates(n) for n in (0, 1, 2)})
