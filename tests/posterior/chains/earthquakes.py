#!/usr/bin/env python3
"""Major earthquakes per year, 1900-2006, by Poisson hidden Markov models with 2, 3 and 4 states.

Zucchini and MacDonald (2009) have the maximum of the likelihood for a chain that starts in its stationary distribution
(chapter 3), and for 2 and 3 states the steps of EM with a free initial distribution (tables 4.1 and 4.2), which a point
guide under flat priors must take. The likelihood and a step of EM are also computed here with numpy.

usage: earthquakes.py LEHR
"""
import sys
from math import lgamma

import numpy as np
from scipy.stats import poisson

sys.path.append(f"{sys.path[0]}/..")
from external import require  # noqa: E402
from fitting import finish, fit, read_csv  # noqa: E402

MODEL = """model m {
  const K;
  const r;
  plate t ordered;
  plate state = K;
  pi ~ Dirichlet(concentration = 1) over state;
  A[state] ~ Dirichlet(concentration = 1) over state;
  l[state] ~ Gamma(shape = 1, rate = r);
  s[t] ~ Categorical(A[s[t-1]]) start Categorical(pi);
  observe x[t] ~ Poisson(l[s[t]]);
"""
FLAT = 1e-6
STATIONARY = {2: [15.472, 26.125], 3: [13.146, 19.721, 29.714], 4: [11.283, 13.853, 19.695, 29.700]}
FOUR = [[0.805, 0.102, 0.093, 0], [0, 0.976, 0, 0.024], [0.050, 0, 0.902, 0.048], [0, 0, 0.188, 0.812]]  # its transitions
FREE = {2: ([15.421, 26.018], -341.87870), 3: ([13.134, 19.713, 29.710], -328.52748)}
STEPS = {2: {1: [13.742, 24.169], 2: [14.090, 24.061], 30: [15.419, 26.014]},
         3: {1: [11.699, 19.030, 29.741], 2: [12.265, 19.078, 29.581], 30: [13.134, 19.713, 29.710]}}


def counts():
    return np.array([int(row["count"]) for row in read_csv(require("sequences/earthquakes.csv"))])


X = counts()


def em_step(pi, A, l):
    """Log likelihood, and the parameters after one step of EM, by scaled forward and backward passes."""
    b = poisson.pmf(X[:, None], l)
    forward, backward, scale = np.zeros_like(b), np.ones_like(b), np.zeros(len(X))
    for t in range(len(X)):
        forward[t] = (pi if t == 0 else forward[t - 1] @ A) * b[t]
        scale[t] = forward[t].sum()
        forward[t] /= scale[t]
    for t in range(len(X) - 2, -1, -1):
        backward[t] = A @ (b[t + 1] * backward[t + 1]) / scale[t + 1]
    g = forward * backward
    pairs = sum(np.outer(forward[t - 1], b[t] * backward[t]) * A / scale[t] for t in range(1, len(X)))
    return np.log(scale).sum(), (g[0], pairs / pairs.sum(1, keepdims=True), g.T @ X / g.sum(0))


def point_fit(K, *arguments, init=None):
    return fit(MODEL + "guide point(pi, A, l); }", {"x": X}, "--set", f"K={K}", f"r={FLAT}", *arguments, init=init)


def maximum(K, *arguments, init=None):
    """Rates in order and the log likelihood of a point fit, which must be a fixed point of EM."""
    got = point_fit(K, "--max-iter", 20000, "--tol", "1e-13", *arguments, init=init)
    point = [got.posterior[f"{name}.value"] for name in ("pi", "A", "l")]
    log_likelihood, step = em_step(*point)
    log_prior = (K + 1) * lgamma(K) + np.sum(np.log(FLAT) - FLAT * point[2])
    assert abs(got.elbo - log_prior - log_likelihood) <= 1e-8, f"log likelihood {got.elbo - log_prior!r}, by numpy {log_likelihood!r}"
    moved = max(np.max(np.abs(after - before)) for after, before in zip(step, point))
    assert got.report["status"] == "converged" and moved <= 1e-4, f"{got.report['status']}, one step of EM moves a parameter by {moved:.1e}"
    return np.sort(point[2]), log_likelihood


def differs(rates, want, tolerance):
    error = np.max(np.abs(rates - want))
    assert error <= tolerance, f"rates {rates}, not {want}"
    return error


def steps(K):
    """From the published start, the published rates after 1, 2 and 30 steps."""
    A, rates = np.full((K, K), 0.1) + (1 - 0.1 * K) * np.eye(K), np.linspace(10, 30, K)
    start = {"pi.value": np.full(K, 1 / K), "A.value": A, "l.value": rates}
    for n, want in STEPS[K].items():
        got = point_fit(K, "--max-iter", n, "--tol", 0, "--leap-after", 0, init=start)
        differs(got.posterior["l.value"], want, 6e-4)
    return f"rates of steps {', '.join(map(str, STEPS[K]))}"


def likelihood(K):
    rates, value = maximum(K, "--restarts", 30)
    want, best = FREE[K]
    differs(rates, want, 6e-4)
    assert abs(value - best) <= 1e-5, f"log likelihood {value:.6f}, not {best}"
    apart = differs(rates, STATIONARY[K], 0.11)  # the first year alone tells the two models apart
    return f"rates {np.round(rates, 3)}, log likelihood {value:.5f}, {apart:.3f} from the stationary chain's"


def four_states():
    """There are many maxima: the one near the published estimate, and restarts do as well."""
    start = {"pi.value": np.full(4, 0.25), "A.value": 0.99 * np.array(FOUR) + 0.0025, "l.value": STATIONARY[4]}
    near, value = maximum(4, init=start)
    best_rates, best = maximum(4, "--restarts", 100)
    apart = differs(near, STATIONARY[4], 0.05)
    if not best >= value - 1e-6 or not value > -327.8316:  # the best that is stationary
        raise AssertionError(f"log likelihoods {value} near the published rates, {best} by restarts; published -327.8316")
    return f"rates {np.round(near, 3)}, {apart:.3f} away, log likelihood {value:.4f}; best {np.round(best_rates, 3)}, {best:.4f}"


def posterior_means():
    """Weak priors (rates of mean 20) move the means by less than a third of a posterior sd. The evidence prefers three."""
    evidence, lines = {}, []
    for K in (2, 3, 4):
        got = fit(MODEL + "}", {"x": X}, "--set", f"K={K}", "r=0.05", "--restarts", 30, "--max-iter", 20000, "--tol", "1e-12")
        shape, rate = got.posterior["l.shape"], got.posterior["l.rate"]
        order = np.argsort(shape / rate)
        evidence[K] = got.elbo + lgamma(K + 1)  # the labels of the states may be exchanged
        if K == 4:  # empties one of its states
            continue
        mean, sd = (shape / rate)[order], (np.sqrt(shape) / rate)[order]
        away = np.abs(mean - STATIONARY[K])
        assert np.all(away <= sd / 3), f"means {mean}, sds {sd}, not {STATIONARY[K]}"
        lines.append(f"{np.round(mean, 3)} differ by {np.round(away, 3)} of sds {np.round(sd, 2)}")
    assert max(evidence, key=evidence.get) == 3, f"log evidences {evidence}"
    return "; ".join(lines) + "; ELBO " + ", ".join(f"{v:.2f}" for v in evidence.values())


finish({"2 states, steps": lambda: steps(2), "3 states, steps": lambda: steps(3),
        "2 states": lambda: likelihood(2), "3 states": lambda: likelihood(3),
        "4 states": four_states, "posterior means": posterior_means})
