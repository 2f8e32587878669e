#!/usr/bin/env python3
"""Sums of products of factors under counts: sweeps and ELBOs by numpy, where most counts are above zero, so that items are worked
on together, and where they are not; for numbers of items and elements that fill no vectors, with missing counts, and with
exponentials that are too small to be multiplied. What annealing, tempering, steps and threads make of them is what they make
of counts one by one.

usage: full_rows.py LEHR
"""

import sys

import numpy as np
from scipy.special import digamma, gammaln, logsumexp

sys.path.append(f"{sys.path[0]}/..")
from fitting import check, finish, fit, within  # noqa: E402

RNG = np.random.default_rng(26)
MODEL = """model parts { const K; plate user; plate item; plate factor = K;
  taste[user, factor] ~ Gamma(shape = 0.7, rate = 1); quality[factor, item] ~ Gamma(shape = 0.4, rate = 0.3);
  observe Y[user, item] ~ Poisson(sum(factor) taste[user, factor] * quality[factor, item]); }"""
ACTIVE = """model active { const K; plate user; plate item; plate factor = K;
  activity[user] ~ Gamma(shape = 2, rate = 1); taste[user, factor] ~ Gamma(shape = 0.7, rate = activity[user]);
  popularity[item] ~ Gamma(shape = 2, rate = 1); quality[factor, item] ~ Gamma(shape = 0.4, rate = popularity[item]);
  observe Y[user, item] ~ Poisson(sum(factor) taste[user, factor] * quality[factor, item]); }"""


close = within(1e-9, atol=1e-9)


def log_mean(shape, rate):
    return digamma(shape) - np.log(rate)


def gamma_part(shape, rate, a, b):
    """E log Gamma(x | a, b) and the entropy of the factor."""
    own = shape - np.log(rate) + gammaln(shape) + (1 - shape) * digamma(shape)
    return np.sum(a * np.log(b) - gammaln(a) + (a - 1) * log_mean(shape, rate) - b * shape / rate + own)


def counts(users, items, factors, above=1.0, holes=0.0):
    y = RNG.poisson(3 * RNG.gamma(1, 1, (users, factors)) @ RNG.gamma(1, 1, (factors, items))) + 1.0
    y[RNG.random(y.shape) > above] = 0
    y[RNG.random(y.shape) < holes] = np.nan
    return y


def start(y, factors, apart=False):
    users, items = y.shape
    shape, other = RNG.uniform(0.5, 3, (users, factors)), RNG.uniform(0.5, 3, (factors, items))
    if apart:  # no factor has weight both for these users and these items
        shape[1::2, 1:], other[0, ::3] = 1e-3, 1e-3
    return {"taste.shape": shape, "taste.rate": RNG.uniform(0.5, 3, (users, factors)), "quality.shape": other,
            "quality.rate": RNG.uniform(0.5, 3, (factors, items))}


def by_numpy(y, init, sweeps, passes, tolerance):
    """The sweeps and their ELBOs; an item is left a pass after its parameters have settled: rates count relative to themselves."""
    here = ~np.isnan(y)
    n = np.where(here, y, 0)
    t, q = [np.array(init[f"taste.{k}"]) for k in ("shape", "rate")], [np.array(init[f"quality.{k}"]) for k in ("shape", "rate")]
    parts = lambda: (lambda odds: np.exp(odds - logsumexp(odds, 1, keepdims=True)))(log_mean(*t)[:, :, None] + log_mean(*q))
    trace = []
    for _ in range(sweeps):
        at_work = np.ones(len(y), bool)
        settled = np.zeros(len(y), bool)
        rate = 1 + np.einsum("ui,ki->uk", here, q[0] / q[1])
        for k in range(passes):
            new = [0.7 + np.einsum("ui,uki->uk", n, parts()), rate]
            moved = sum(np.abs((a - b) / unit).sum(1) for a, b, unit in zip(new, t, (1, t[1])))
            size = (np.abs(t[0]) + 1).sum(1)
            for a, b in zip(new, t):
                b[at_work] = a[at_work]
            at_work &= ~settled
            settled = moved <= tolerance * size
        q = [0.4 + np.einsum("ui,uki->ki", n, parts()), 0.3 + np.einsum("ui,uk->ki", here, t[0] / t[1])]
        both = log_mean(*t)[:, :, None] + log_mean(*q)
        trace.append(np.sum(n * logsumexp(both, 1)) - np.sum(gammaln(n + 1))
                     - np.einsum("ui,uk,ki->", here, t[0] / t[1], q[0] / q[1])
                     + gamma_part(*t, 0.7, 1) + gamma_part(*q, 0.4, 0.3))
    return trace, q


def same_as_numpy(y, factors, passes=1, tolerance=0.0, apart=False, sweeps=3):
    init = start(y, factors, apart)
    trace, quality = by_numpy(y, init, sweeps, passes, tolerance)
    for more in ([], ["--threads", 3, "--elbo-every", sweeps]):
        got = fit(MODEL, {"Y": y}, "--set", f"K={factors}", "--max-iter", sweeps, "--tol", 0, "--leap-after", 0,
                  "--local-iters", passes, "--local-tol", tolerance, *more, init=init, save_locals=False)
        what = f"{y.shape}, {factors} factors, {passes} passes, {more}"
        close(got.trace[-1:], trace[-1:], "ELBO: " + what)
        for k, name in enumerate(("shape", "rate")):
            close(got.posterior[f"quality.{name}"], quality[k], f"{name}: {what}")


@check
def numbers_of_items_and_elements():
    for users, items, factors in [(4, 16, 3), (1, 33, 5), (2, 17, 8), (3, 31, 2), (5, 32, 20), (9, 50, 6), (6, 15, 4), (7, 3, 3), (6, 2, 16), (9, 1, 6)]:
        same_as_numpy(counts(users, items, factors), factors)
    return "numpy"


@check
def few_and_missing_counts():
    for above, holes in [(0.5, 0), (0.3, 0), (0.05, 0), (1, 0.4), (0.6, 0.3), (0.4, 0.7)]:
        same_as_numpy(counts(10, 41, 4, above, holes), 4)
    y = counts(8, 40, 4)
    y[2], y[5] = 0, np.nan  # nobody but the others
    same_as_numpy(y, 4)
    return "numpy"


@check
def passes_that_end_at_other_times():
    same_as_numpy(counts(11, 35, 5), 5, passes=4)
    same_as_numpy(counts(11, 35, 5), 5, passes=30, tolerance=0.02)
    same_as_numpy(counts(6, 35, 5, above=0.2), 5, passes=30, tolerance=0.02)
    return "numpy"


@check
def products_too_small_for_a_number():
    same_as_numpy(counts(7, 37, 3), 3, apart=True)
    same_as_numpy(counts(7, 37, 3, holes=0.2), 3, passes=3, apart=True)
    return "numpy"


@check
def options_as_one_by_one():
    for model in (MODEL, ACTIVE, MODEL.replace("0.4", "1.4").replace("observe", "guide point(quality); observe")):
        y = counts(13, 29, 4, above=0.8, holes=0.05)
        ascent = ["--max-iter", 8, "--tol", 0, "--leap-after", 0]
        options = [["--method", "svi", "--batch-size", 5, "--epochs", 3],
                   *([*ascent, *more] for more in (["--anneal", "linear:from=4,over=5"], ["--anneal", "entropy:from=3,over=4"],
                                                   ["--restarts", 3], ["--local-iters", 1]))]
        for more in options:
            both = []
            for full in ("0.4", "2"):  # the share of counts above zero from which items are worked on together
                both.append(fit(model, {"Y": y}, "--set", "K=4", "--seed", 3, *more,
                                "--thresholds", f"lower_full_rows.full={full}", monotone=False))
            close(both[0].trace, both[1].trace, f"trace {more}")
            close(both[0].elbo, both[1].elbo, f"ELBO {more}")
            assert both[0].posterior.keys() == both[1].posterior.keys() and not any("source" in name for name in both[0].posterior)
            for name, values in both[0].posterior.items():
                within(1e-7, atol=1e-7)(values, both[1].posterior[name], f"{name} {more}")
    return f"{len(options)} options, three models"


@check
def single_precision():
    y = counts(13, 29, 4)
    both = [fit(MODEL, {"Y": y}, "--set", "K=4", "--max-iter", 20, "--tol", 0, "--leap-after", 0, "--precision", precision, save_locals=False)
            for precision in ("double", "float")]
    within(1e-5, atol=1e-5)(both[0].elbo, both[1].elbo, "ELBO")
    return f"ELBO {both[0].elbo:.4f} and {both[1].elbo:.4f}"


finish()
