#!/usr/bin/env python3
"""`guide joint(s, w)` of a bit or category and the Normal that it switches: q(s) q(w | s), a Normal for each value of s.

One such pair alone has the exact posterior, by hand. Regressions are held to coordinate ascent over the pairs written with
numpy, draws to the enumeration of all subsets of coefficients."""
import itertools
import os
import sys

import numpy as np

sys.path.append(f"{sys.path[0]}/..")
from fitting import Folder, finish, fit, near  # noqa: E402

RNG = np.random.default_rng(9)
PRIOR, SLAB = 0.2, 4.0  # of s = 1; variance of w

REGRESSION = """model regression { plate n; plate f; data x[n, f] : real;
  s[f] ~ Bernoulli(0.2); w[f] ~ Normal(mean = 0, sd = 2); TAU
  observe y[n] ~ Normal(mean = sum(f) x[n, f] * s[f] * w[f], precision = tau);
  guide joint(s, w); }"""
KNOWN, UNKNOWN = "const tau = 2;", "tau ~ Gamma(shape = 1, rate = 1);"


def log_marginal(y, F, tau, variance):
    """log N(y | 0, 1 / tau + F variance F'), by the covariance itself."""
    C = np.eye(len(y)) / tau + variance * F @ F.T
    return -0.5 * (np.linalg.slogdet(2 * np.pi * C)[1] + y @ np.linalg.solve(C, y))


def one_pair():
    """Evidence, probability and both Normals."""
    x, tau = RNG.normal(size=9), 2.0
    y = 0.6 * x + RNG.normal(size=9)
    got = fit(REGRESSION.replace("TAU", KNOWN), {"x": x[:, None], "y": y})
    on = np.log(PRIOR) + log_marginal(y, x[:, None], tau, SLAB)
    off = np.log1p(-PRIOR) + log_marginal(y, x[:, None], tau, 0.0)
    p = 1 / (1 + np.exp(off - on))
    precision = 1 / SLAB + tau * x @ x
    q = got.posterior
    near(got.elbo, np.logaddexp(on, off), 1e-9, "ELBO")
    near(q["s.p"], p, 1e-9, "probability")
    near(q["joint(s, w).precision"].ravel(), [1 / SLAB, precision], 1e-9, "precisions")
    near(q["joint(s, w).mean"].ravel(), [0, tau * x @ y / precision], 1e-9, "means")
    mean = p * tau * x @ y / precision
    second = (1 - p) * SLAB + p * (1 / precision + (tau * x @ y / precision)**2)
    near(q["w.mean"], mean, 1e-9, "mean of the mixture")
    near(1 / q["w.precision"], second - mean**2, 1e-9, "variance of the mixture")
    return f"probability {p:.4f}, log evidence {np.logaddexp(on, off):.6f}"


def three_values():
    """A category of three values scales what the number does: q is the posterior."""
    model = """model scales { plate n; plate k = 3; data x[n] : real; data scale[k] : real; data m[k] : real;
      s ~ Categorical(p); w ~ Normal(mean = 1, sd = 2); data p : simplex over k;
      observe y[n] ~ Normal(mean = scale[s] * w * x[n] + m[s], precision = 2); guide joint(w, s); }"""
    x, scale, m, prior = RNG.normal(size=7), np.array([0.0, 1.0, -2.0]), np.array([0.3, 0.0, 0.1]), np.array([0.5, 0.3, 0.2])
    y = x + RNG.normal(size=7) * 0.7
    logs, means, precisions = [], [], []
    for k in range(3):
        r = y - m[k] - scale[k] * x  # w is 1 and what it is off
        logs.append(np.log(prior[k]) + log_marginal(r, scale[k] * x[:, None], 2.0, 4.0))
        precisions.append(0.25 + 2 * scale[k]**2 * x @ x)
        means.append((0.25 + 2 * scale[k] * x @ (y - m[k])) / precisions[-1])
    evidence = np.logaddexp.reduce(logs)
    got = fit(model, {"x": x, "y": y, "scale": scale, "m": m, "p": prior})
    q = got.posterior
    near(got.elbo, evidence, 1e-9, "ELBO")
    near(q["s.probs"], np.exp(logs - evidence), 1e-9, "probabilities")
    near(q["joint(w, s).mean"] if "joint(w, s).mean" in q else q["joint(s, w).mean"], means, 1e-9, "means")
    return f"probabilities {np.round(np.exp(logs - evidence), 4)}"


def ascent(x, y, sweeps=5000):
    """q(s_f, w_f) one after another, then q(tau); from the empty model."""
    n, d = x.shape
    p, m, v, t = np.zeros(d), np.zeros(d), np.full(d, SLAB), 1.0
    for _ in range(sweeps):
        before = np.concatenate([p, m, [t]])
        for f in range(d):
            rest = y - x @ (p * m) + x[:, f] * p[f] * m[f]
            precision = 1 / SLAB + t * x[:, f] @ x[:, f]
            m[f], v[f] = t * x[:, f] @ rest / precision, 1 / precision
            odds = np.log(PRIOR / (1 - PRIOR)) + 0.5 * precision * m[f]**2 - 0.5 * np.log(precision * SLAB)
            p[f] = 1 / (1 + np.exp(-odds))
        mean = p * m
        loss = np.sum((y - x @ mean)**2) + np.sum((p * (m**2 + v) - mean**2) * np.sum(x**2, 0))
        t = (1 + n / 2) / (1 + loss / 2)
        if np.max(np.abs(np.concatenate([p, m, [t]]) - before)) < 1e-13:
            break
    return p, m, t


def design(n=100, d=12):
    b = np.zeros(d)
    b[:3] = 2, -3, 1.5
    x = RNG.normal(size=(n, d))
    return x, x @ b + RNG.normal(size=n)


def regression():
    """The fixed point from every one of 20 starts, where the three coefficients that are there stay."""
    x, y = design()
    p, m, t = ascent(x, y)
    worst = 0.0
    for seed in range(1, 21):
        got = fit(REGRESSION.replace("TAU", UNKNOWN), {"x": x, "y": y}, "--seed", seed, "--tol", "1e-12")
        q = got.posterior
        assert np.all(q["s.p"][:3] > 0.99) and np.all(q["s.p"][3:] < 0.5), f"seed {seed}: {np.round(q['s.p'], 3)}"
        worst = max(worst, near(q["s.p"], p, 1e-4, "probabilities"), near(q["joint(s, w).mean"][:, 1], m, 1e-4, "means"),
                    near(q["tau.shape"] / q["tau.rate"], t, 1e-4, "tau"))
    return f"20 seeds at one point to {worst:.1e}: {np.round(m[:3], 3)}"


def draws():
    """Inclusion probabilities of 5 correlated coefficients by all 32 subsets."""
    n, d = 25, 5
    x = RNG.normal(size=(n, d)) + 0.5 * RNG.normal(size=(n, 1))
    y = x @ [0.7, 0, 0.3, 0, -0.2] + RNG.normal(size=n) * 0.7
    subsets = np.array(list(itertools.product([0, 1], repeat=d)))
    logs = np.array([np.sum(s * np.log(PRIOR) + (1 - s) * np.log1p(-PRIOR)) + log_marginal(y, x * s, 2.0, SLAB) for s in subsets])
    weights = np.exp(logs - np.logaddexp.reduce(logs))
    want = weights @ subsets
    means = np.zeros(d)
    for s, weight in zip(subsets, weights):
        P = np.eye(d) / SLAB + 2 * (x * s).T @ (x * s)
        means += weight * np.linalg.solve(P, 2 * (x * s).T @ y)
    f = Folder(REGRESSION.replace("TAU", KNOWN), {"x": x, "y": y}, "--method", "gibbs", "--draws", 20000, "--warmup", 200,
               "--chains", 1, "--seed", 2)
    drawn = f.drawn(20000)
    got = {v: np.stack([drawn[f"{v}.{k + 1}"] for k in range(d)], 1) for v in ("s", "w")}
    off = np.max(np.abs(got["s"].mean(0) - want))
    mean = np.max(np.abs(got["w"].mean(0) - means))
    assert off <= 0.02 and mean <= 0.06, f"probabilities {got['s'].mean(0)} and not {want}; means {got['w'].mean(0)} and not {means}"
    return f"probabilities within {off:.3f} of {np.round(want, 3)}, means within {mean:.3f}"


def draws_begin_with_choices():
    """A choice that is drawn begins at one of its values: how many there are of each is a natural parameter of a flat prior."""
    x, y = design(d=20)
    flat = REGRESSION.replace("TAU", UNKNOWN).replace("s[f] ~ Bernoulli(0.2)", "p ~ Beta(a = 1, b = 1); s[f] ~ Bernoulli(p)")
    for seed in range(1, 9):
        Folder(flat, {"x": x, "y": y}, "--method", "gibbs", "--chains", 1, "--warmup", 1, "--draws", 2, "--seed", seed)
    return "8 seeds"


def whatever_memory_held():
    """The start is a function of the seed, and not of what is beside the factors in memory."""
    x, y = design()
    elbos = set()
    for filling in ("0", "85", "170"):
        os.environ["MALLOC_PERTURB_"] = filling
        elbos.add(fit(REGRESSION.replace("TAU", UNKNOWN), {"x": x, "y": y}, "--search", "none", "--max-iter", "0").elbo)
    del os.environ["MALLOC_PERTURB_"]
    assert len(elbos) == 1, f"ELBOs of one start: {elbos}"
    return f"ELBO {elbos.pop():.6f}"


finish({"whatever memory held": whatever_memory_held, "one pair": one_pair, "three values": three_values, "20 seeds": regression, "gibbs": draws,
        "choices": draws_begin_with_choices})
