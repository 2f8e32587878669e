#!/usr/bin/env python3
"""Rates that are sums with a summand chosen by a latent category: the ELBO by enumeration of the discrete variables, and a
fixed point of the updates, written here from the factors that the fit reports. The shares that the summands have of a count are
not among these: they follow from the odds of the category, which depend on them.

usage: superposition.py LEHR
"""
import sys

import numpy as np
from scipy.special import digamma, entr, gammaln

sys.path.append(f"{sys.path[0]}/..")
from fitting import finish, fit, within  # noqa: E402

MODEL = """
model superposition {
  plate n;
  plate k;
  plate g;
  data f[k] : real;
  data i[n] : g;
  pi           ~ Dirichlet(concentration = 1) over k;
  z[n]         ~ Categorical(pi);
  lam          ~ Gamma(shape = 2, rate = 1);
  r[g]         ~ Gamma(shape = 1, rate = 1);
  observe y[n] ~ Poisson(f[z[n]] * lam + r[i[n]]);
}
"""


def gamma_terms(shape, rate, a, b):
    """E[log prior] plus entropy of Gamma factors."""
    log, mean = digamma(shape) - np.log(rate), shape / rate
    prior = a * np.log(b) - gammaln(a) + (a - 1) * log - b * mean
    return np.sum(prior + shape - np.log(rate) + gammaln(shape) + (1 - shape) * digamma(shape))


def check(options):
    f, i, y = np.array([0.5, 3.0, 8.0]), np.array([0, 1, 0, 1, 1, 0, 0]), np.array([1, 7, 0, 3, 9, 12, 30])
    fitted = fit(MODEL, {"f": f, "i": i, "y": y}, "--tol", "1e-13", "--max-iter", "5000", *options)
    q, elbo = fitted.posterior, fitted.elbo
    assert not [name for name in q if "source" in name], sorted(q)
    z, c = q["z.probs"], q["pi.concentration"]
    lam, r = (q["lam.shape"], q["lam.rate"]), (q["r.shape"], q["r.rate"])
    log_pi = digamma(c) - digamma(c.sum())
    log_lam, log_r = digamma(lam[0]) - np.log(lam[1]), digamma(r[0]) - np.log(r[1])
    mean_lam, mean_r = lam[0] / lam[1], r[0] / r[1]
    # log z[n, k] = log_pi[k] + y[n] * source[n, 0] * log f[k] - f[k] * mean_lam, but for what is the same for all k; a count of 0 has
    # no shares, and any that sum to 1 do.
    last = np.log(z[:, 2] / z[:, 0]) - (log_pi[2] - log_pi[0]) + (f[2] - f[0]) * mean_lam
    first = np.where(y > 0, last / (np.maximum(y, 1) * np.log(f[2] / f[0])), 1 / (1 + np.exp(log_r[i] - z @ np.log(f) - log_lam)))
    source = np.stack([first, 1 - first], 1)
    assert np.all((source > -1e-9) & (source < 1 + 1e-9)), source
    want = gamma_terms(*lam, 2, 1) + gamma_terms(*r, 1, 1)
    want += gammaln(3) + gammaln(c).sum() - gammaln(c.sum()) - ((c - 1) * log_pi).sum()
    for n in range(len(y)):
        want += entr(z[n]).sum() + y[n] * entr(source[n]).sum() - gammaln(y[n] + 1) - mean_r[i[n]]
        for k in range(len(f)):
            of = [np.log(f[k]) + log_lam, log_r[i[n]]]  # of a count from the first summand, and from the second
            want += z[n, k] * (log_pi[k] - f[k] * mean_lam + y[n] * sum(source[n, s] * of[s] for s in range(2)))
    assert abs(want - elbo) < 1e-8 * abs(elbo), (want, elbo)

    odds = log_pi + y[:, None] * np.log(f) * source[:, :1] - f * mean_lam
    same(z, odds)
    same(source, np.stack([z @ np.log(f) + log_lam, log_r[i]], 1))
    close(lam[0], 2 + (y * source[:, 0]).sum())
    close(lam[1], 1 + (z @ f).sum())
    close(r[0], 1 + np.bincount(i, y * source[:, 1]))
    close(c, 1 + z.sum(0))


close = within(rtol=1e-5, atol=1e-7)


def same(probs, odds):
    p = np.exp(odds - odds.max(1, keepdims=True))
    close(probs, p / p.sum(1, keepdims=True))


def plain():
    check([])


def other_start():
    check(["--seed", "7", "--init", "means"])


def interpreted():
    check(["--interpret"])


finish({f.__name__: f for f in (plain, other_start, interpreted)})
