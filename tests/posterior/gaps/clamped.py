#!/usr/bin/env python3
"""Latent variables with known elements, and observed ones with gaps: against enumeration, conditional Normal
distributions and coordinate ascent in numpy.

usage: clamped.py LEHR
"""
import itertools
import sys

import numpy as np
from scipy.special import digamma, gammaln, logsumexp, softmax
from scipy.stats import multivariate_normal, norm

sys.path.append(f"{sys.path[0]}/..")
from fitting import Folder, arrays, check, finish, fit, lehr, near, write  # noqa: E402

RNG = np.random.default_rng(3)
# Plain sweeps run to the last digits; after extrapolations the ELBO stands still while parameters move in the tenth digit.
TIGHT = ["--tol", "1e-15", "--max-iter", "20000", "--leap-after", "0", "--local-tol", "1e-14", "--local-iters", "10000"]
POINT = 1e200  # the precision of a factor that is all mass at a value

BAYES = """
model bayes {
  plate n;
  plate d;
  plate k = 3;
  pi ~ Dirichlet(concentration = 1) over k;
  p[k, d] ~ Beta(1, 1);
  %sz[n] ~ Categorical(pi);
  observe x[n, d] ~ Bernoulli(p[z[n], d]);
}
"""

SPLIT = """
model split {
  plate n;
  plate l;
  plate d;
  plate k = 3;
  pi ~ Dirichlet(concentration = 1) over k;
  p[k, d] ~ Beta(1, 1);
  z[n] ~ Categorical(pi);
  observe x[n, d] ~ Bernoulli(p[z[n], d]);
  observe y[l] ~ Categorical(pi);
  observe u[l, d] ~ Bernoulli(p[y[l], d]);
}
"""


def classes(items=60, features=8):
    p = RNG.uniform(0.1, 0.9, size=(3, features))
    z = RNG.integers(3, size=items)
    x = (RNG.uniform(size=(items, features)) < p[z]).astype(int)
    labels = np.where(RNG.uniform(size=items) < 0.4, z, np.nan).astype(float)
    start = {"pi.concentration": np.ones(3) * 20, "p.a": 1 + 5 * p, "p.b": 1 + 5 * (1 - p)}
    return x, labels, start


@check
def semi_supervised_classes():
    """The same as labelled items that are an observed plate of their own, by both spellings, annealed or not."""
    x, labels, start = classes()
    known = ~np.isnan(labels)
    worst = 0
    for more in ([], ["--anneal", "linear:from=3,over=10"], ["--interpret"]):
        split = fit(SPLIT, {"x": x[~known], "u": x[known], "y": labels[known].astype(int)}, *TIGHT, *more, init=start)
        for spelling in ("", "observe "):
            got = fit(BAYES % spelling, {"x": x, "z": labels}, *TIGHT, *more, init=start)
            worst = max(worst, near(got.elbo, split.elbo, 1e-10))
            for name in ("pi.concentration", "p.a", "p.b"):
                worst = max(worst, near(got.posterior[name], split.posterior[name], 1e-10))
            probs = got.posterior["z.probs"]
            assert np.array_equal(probs[known], np.eye(3)[labels[known].astype(int)])
            worst = max(worst, near(probs[~known], split.posterior["z.probs"], 1e-10))
    return f"ELBO and posterior within {worst:.0e}"


@check
def labels_of_some_tokens():
    """Known elements inside items, of a category that is formed where it is used: every value by itself."""
    model = """
model m {
  plate doc;
  plate token in doc;
  plate k = 2;
  plate term = 4;
  data theta[doc] : simplex over k;
  data beta[k] : simplex over term;
  z[doc, token] ~ Categorical(theta[doc]);
  observe w[doc, token] ~ Categorical(beta[z[doc, token]]);
}
"""
    theta, beta = RNG.dirichlet(np.ones(2), 3), RNG.dirichlet(np.ones(4), 2)
    w = [[0, 1, 2], [3, 3], [1]]
    z = [[None, 1, 0], [0, None], [None]]
    got = fit(model, {"theta": theta, "beta": beta, "w": w, "z": z})
    want, probs = 0, []
    for doc, (words, values) in enumerate(zip(w, z)):
        for word, value in zip(words, values):
            joint = theta[doc] * beta[:, word]
            if value is not None:
                joint = joint * (np.arange(2) == value)
            want += np.log(joint.sum())
            probs.append(joint / joint.sum())
    near(got.posterior["z.probs"], probs, 1e-12)
    return f"log probability within {near(got.elbo, want, 1e-12):.0e}"


@check
def spins_beside_known_ones():
    """Spins whose neighbours are known are independent: mean field is exact. Others: numpy's fixed point."""
    model = """
model m {
  plate site;
  plate edge;
  data a[edge] : site;
  data b[edge] : site;
  data h[site] : real;
  s[site] ~ Spin();
  potential[edge] 0.7 * s[a[edge]] * s[b[edge]];
  potential[site] h[site] * s[site];
}
"""
    a, b = np.array([0, 1, 2, 3, 4, 5]), np.array([1, 2, 3, 4, 5, 0])
    h = RNG.normal(size=6)
    worst = 0
    for s in ([1, None, -1, None, 1, None], [1, None, None, None, -1, None]):
        got = fit(model, {"a": a, "b": b, "h": h, "s": s}, *TIGHT)
        energies, states = [], []
        for state in itertools.product((-1, 1), repeat=6):
            if all(v is None or v == x for v, x in zip(s, state)):
                x = np.array(state)
                energies.append(0.7 * (x[a] * x[b]).sum() + (h * x).sum() - 6 * np.log(2))
                states.append(x)
        exact = logsumexp(energies)
        if s.count(None) == 3:
            worst = max(worst, near(got.elbo, exact, 1e-12),
                        near(got.posterior["s.mean"], np.exp(np.array(energies) - exact) @ np.array(states), 1e-12))
            continue
        m = got.posterior["s.mean"]
        field = h + 0.7 * (np.roll(m, 1) + np.roll(m, -1))
        free = np.array([v is None for v in s])
        worst = max(worst, near(m[free], np.tanh(field[free]), 1e-7), near(m[~free], [v for v in s if v], 1e-15))
        assert exact - 1 < got.elbo < exact
    return f"within {worst:.0e}"


HMM = """
model m {
  plate seq;
  plate t in seq ordered;
  plate k = 3;
  data A[k] : simplex over k;
  data pi : simplex over k;
  data mu[k] : real;
  s[seq, t] ~ Categorical(A[s[seq, t-1]]) start Categorical(pi);
  observe x[seq, t] ~ Normal(mean = mu[s[seq, t]], sd = 1);
}
"""


def enumerated_hmm(pi, A, mu, x, s):
    logs, states = [], []
    for path in itertools.product(range(3), repeat=len(x)):
        if any(v is not None and v != k for v, k in zip(s, path)):
            continue
        k = np.array(path)
        logs.append(np.log(pi[k[0]]) + np.log(A[k[:-1], k[1:]]).sum() + norm.logpdf(x, mu[k], 1).sum())
        states.append(np.eye(3)[k])
    total = logsumexp(logs)
    return total, np.tensordot(np.exp(np.array(logs) - total), np.array(states), 1)


@check
def states_of_a_chain():
    """Forward-backward with known states: every path by itself, and Gibbs beside it."""
    A, pi, mu = RNG.dirichlet(np.ones(3), 3), RNG.dirichlet(np.ones(3)), np.array([-1.0, 0, 1.5])
    x = [RNG.normal(size=5), RNG.normal(size=4), RNG.normal(size=3)]
    s = [[None, 2, None, None, 0], [None, None, None, 1], [None, None, None]]
    data = {"A": A, "pi": pi, "mu": mu, "x": x, "s": s}
    got = fit(HMM, data)
    exact = [enumerated_hmm(pi, A, mu, *pair) for pair in zip(x, s)]
    worst = max(near(got.elbo, sum(e[0] for e in exact), 1e-12),
                near(got.posterior["s.probs"], np.concatenate([e[1] for e in exact]), 1e-12))
    draws = fit(HMM, data, "--method", "gibbs", "--draws", "4000", "--warmup", "10", "--seed", "5", monotone=False)
    shares, want = draws.posterior["s.mean"], np.concatenate([e[1] for e in exact])
    for mean, v in zip(shares, [v for row in s for v in row]):
        assert v is None or abs(mean - v) < 1e-12, (mean, v)
    error = np.abs(shares - want @ np.arange(3)).max()
    assert error < 5 / np.sqrt(4000), error
    return f"within {worst:.0e}, draws within {error:.3f}"


SERIES = """
model m {
  plate t ordered;
  const a = 0.8;
  const tau = 2;
  observe y[t] ~ Normal(mean = a * y[t-1] + 0.1, precision = tau) start Normal(mean = 0.5, precision = 1);
}
"""


def conditioned(mean, covariance, y):
    """log density of what is known of y, and mean and covariance of the others given that."""
    known = ~np.isnan(y)
    S, o, m = covariance, np.flatnonzero(known), np.flatnonzero(~known)
    gain = S[np.ix_(m, o)] @ np.linalg.inv(S[np.ix_(o, o)])
    log = multivariate_normal.logpdf(y[o], mean[o], S[np.ix_(o, o)]) if o.size else 0.0
    return log, mean[m] + gain @ (y[o] - mean[o]), S[np.ix_(m, m)] - gain @ S[np.ix_(o, m)]


def series_moments(n, a=0.8, tau=2.0):
    L, mean, noise = np.zeros((n, n)), np.zeros(n), np.full(n, 1 / tau)
    noise[0] = 1
    for t in range(n):
        mean[t] = 0.5 if t == 0 else a * mean[t - 1] + 0.1
        for r in range(t + 1):
            L[t, r] = a ** (t - r)
    return mean, L @ np.diag(noise) @ L.T


@check
def gaps_in_a_series():
    """An autoregression with gaps, at its ends too: conditional Normal distributions; and Gibbs beside them."""
    y = RNG.normal(size=12)
    y[[0, 3, 4, 5, 8, 11]] = np.nan
    log, mean, covariance = conditioned(*series_moments(12), y)
    gaps = np.isnan(y)
    got = fit(SERIES, {"y": y})
    worst = max(near(got.elbo, log, 1e-12), near(got.posterior["y.mean"][gaps], mean, 1e-12),
                near(1 / got.posterior["y.precision"][gaps], np.diag(covariance), 1e-12))
    assert np.array_equal(got.posterior["y.mean"][~gaps], y[~gaps])
    assert np.all(got.posterior["y.precision"][~gaps] == POINT)
    draws = fit(SERIES, {"y": y}, "--method", "gibbs", "--draws", "5000", "--warmup", "10", monotone=False)
    error = np.abs(draws.posterior["y.mean"][gaps] - mean) / np.sqrt(np.diag(covariance))
    assert error.max() < 5 / np.sqrt(5000), error
    near(draws.posterior["y.mean"][~gaps], y[~gaps], 1e-12)
    assert np.all(draws.posterior["y.sd"][~gaps] < 1e-12)
    return f"within {worst:.0e}, draws within {error.max():.3f} sd"


@check
def gaps_under_unknown_coefficients():
    """y[t] ~ Normal(a y[t-1], tau) with a and tau latent: the fixed point of numpy's updates."""
    model = """
model m {
  plate t ordered;
  a ~ Normal(mean = 0, precision = 1);
  tau ~ Gamma(shape = 2, rate = 1);
  observe y[t] ~ Normal(mean = a * y[t-1], precision = tau) start Normal(mean = 0, precision = 1);
}
"""
    n, y = 40, np.zeros(40)
    for t in range(1, n):
        y[t] = 0.7 * y[t - 1] + RNG.normal() * 0.5
    y[RNG.uniform(size=n) < 0.3] = np.nan
    gaps = np.isnan(y)
    got = fit(model, {"y": y}, *TIGHT)
    a_mean, a_var, shape, rate = 0.0, 1.0, 2.0, 1.0
    for _ in range(3000):
        e_tau, e_a, e_aa = shape / rate, a_mean, a_var + a_mean ** 2
        P, h = np.zeros((n, n)), np.zeros(n)
        P[0, 0] += 1
        for t in range(1, n):
            P[t, t] += e_tau
            P[t - 1, t - 1] += e_tau * e_aa
            P[t, t - 1] -= e_tau * e_a
            P[t - 1, t] -= e_tau * e_a
        S = np.zeros((n, n))
        S[np.ix_(gaps, gaps)] = np.linalg.inv(P[np.ix_(gaps, gaps)])
        m = np.where(gaps, 0, y)
        m[gaps] = S[np.ix_(gaps, gaps)] @ (-P[np.ix_(gaps, ~gaps)] @ y[~gaps])
        second = S + np.outer(m, m)
        now, cross, before = np.diag(second)[1:].sum(), np.diag(second, 1).sum(), np.diag(second)[:-1].sum()
        a_var = 1 / (1 + e_tau * before)
        a_mean = a_var * e_tau * cross
        shape = 2 + (n - 1) / 2
        rate = 1 + 0.5 * (now - 2 * a_mean * cross + (a_var + a_mean ** 2) * before)
    e_tau, e_log = shape / rate, digamma(shape) - np.log(rate)
    square = now - 2 * a_mean * cross + (a_var + a_mean ** 2) * before
    elbo = (-0.5 * np.log(2 * np.pi) * (n + 1) - 0.5 * second[0, 0] + 0.5 * (n - 1) * e_log - 0.5 * e_tau * square
            - 0.5 * (a_var + a_mean ** 2) + 2 * np.log(1) - gammaln(2) + e_log - e_tau
            + 0.5 * (1 + np.log(2 * np.pi) + np.log(a_var))
            + shape - np.log(rate) + gammaln(shape) + (1 - shape) * digamma(shape)
            + 0.5 * (gaps.sum() * (1 + np.log(2 * np.pi)) + np.linalg.slogdet(S[np.ix_(gaps, gaps)])[1]))
    worst = max(near(got.elbo, elbo, 1e-9), near(got.posterior["a.mean"], a_mean, 1e-6),
                near(got.posterior["tau.rate"], rate, 1e-6), near(got.posterior["y.mean"], m, 1e-6))
    return f"within {worst:.0e}"


VECTORS = """
model m {
  plate n;
  plate d;
  data m0 : vector over d;
  data P0 : matrix over d, d;
  observe x[n] ~ MvNormal(mean = m0, precision = P0) over d;
}
"""


def holes(x, share=0.35):
    """Some entries missing; the first vector whole, the second missing as a whole."""
    x = np.where(RNG.uniform(size=x.shape) < share, np.nan, x)
    x[0], x[1] = np.nan_to_num(x[0]), np.nan
    return x


@check
def entries_of_vectors():
    """Known mean and precision: each vector is conditioned exactly, and its entropy is that of the condition."""
    d, root = 4, RNG.normal(size=(4, 4))
    m0, P0 = RNG.normal(size=d), root @ root.T + np.eye(d)
    x = holes(RNG.normal(size=(9, d)))
    logs = [conditioned(m0, np.linalg.inv(P0), row) for row in x]
    worst = 0
    for more in ([], ["--interpret"]):
        got = fit(VECTORS, {"m0": m0, "P0": P0, "x": x}, *more)
        worst = max(worst, near(got.elbo, sum(log for log, _, _ in logs), 1e-12))
        for e, row in enumerate(x):
            gaps = np.isnan(row)
            mean, precision = got.posterior["x.mean"][e], got.posterior["x.precision"][e]
            assert np.array_equal(mean[~gaps], row[~gaps])
            assert np.all(np.diag(precision)[~gaps] == POINT) and not precision[np.ix_(gaps, ~gaps)].any()
            if gaps.any():
                worst = max(worst, near(mean[gaps], logs[e][1], 1e-12),
                            near(precision[np.ix_(gaps, gaps)], np.linalg.inv(logs[e][2]), 1e-10))
    draws = fit(VECTORS, {"m0": m0, "P0": P0, "x": x}, "--method", "gibbs", "--draws", "4000", "--warmup",
                "5", monotone=False)
    gaps = np.isnan(x)
    near(draws.posterior["x.mean"][~gaps], x[~gaps], 1e-12)
    want = np.concatenate([mean for _, mean, _ in logs])
    sd = np.concatenate([np.sqrt(np.diag(c)) for _, _, c in logs])
    error = np.abs(draws.posterior["x.mean"][gaps] - want) / sd
    assert error.max() < 5 / np.sqrt(4000), error
    assert np.abs(draws.posterior["x.sd"][gaps] / sd - 1).max() < 5 / np.sqrt(8000)
    return f"within {worst:.0e}, draws within {error.max():.3f} sd"


@check
def entries_beside_a_category():
    """Entries of a mixture's vectors have a factor beside the category's, which a fit says; sampling draws both together, and
    without a latent category there is nothing to say."""
    model = """model m { plate n; plate d; plate k = 2; data w : simplex over k; data mu[k] : vector over d; z[n] ~ Categorical(w);
      observe x[n] ~ MvNormal(mean = mu[z[n]], precision = 1) over d; }"""
    x = np.random.default_rng(4).normal(size=(6, 2)) + np.array([[-1.0, 0], [1, 2]])[np.arange(6) % 2]
    x[0, 0] = np.nan
    data = {"w": [0.5, 0.5], "mu": [[-1.0, 0], [1, 2]], "x": x}
    words = "missing entries of 'x' and 'z' have separate factors"
    assert words in fit(model, data).said
    assert words not in fit(model, data, "--method", "gibbs", "--draws", "50", monotone=False).said
    assert words not in fit(model.replace("z[n] ~", "observe z[n] ~"), {**data, "z": np.arange(6) % 2}).said
    assert words not in fit(model, {**data, "x": np.nan_to_num(x)}).said
    return "said where it is so"


@check
def vectors_under_unknown_parameters():
    """Mean and precision latent: numpy's coordinate ascent over the rows that have data, by its fixed point."""
    model = """
model m {
  plate n;
  plate d;
  mu ~ MvNormal(mean = 0, precision = 0.1) over d;
  L ~ Wishart(df = 5, scale = 0.5) over d;
  observe x[n] ~ MvNormal(mean = mu, precision = L) over d;
}
"""
    d, n = 3, 30
    root = RNG.normal(size=(d, d))
    x = holes(RNG.normal(size=(n, d)) @ root.T + [1, 2, 3], 0.25)
    x[7] = np.nan
    got = fit(model, {"x": x}, *TIGHT)
    n = np.sum(~np.isnan(x).all(axis=1))
    df, scale, mean, P = 5.0 + n, 0.1 * np.eye(d), np.zeros(d), np.eye(d)
    for _ in range(4000):
        EL = df * scale
        S1, S2 = np.zeros(d), np.zeros((d, d))
        means = []
        for row in x:
            g = np.isnan(row)
            m, C = np.where(g, 0, row), np.zeros((d, d))
            if g.any():
                C[np.ix_(g, g)] = np.linalg.inv(EL[np.ix_(g, g)])
                m[g] = mean[g] - C[np.ix_(g, g)] @ EL[np.ix_(g, ~g)] @ (row[~g] - mean[~g])
            means.append(m)
            if g.all():
                continue
            S1 += m
            S2 += C + np.outer(m, m)
        P = 0.1 * np.eye(d) + n * EL
        mean = np.linalg.solve(P, EL @ S1)
        M = S2 - np.outer(S1, mean) - np.outer(mean, S1) + n * (np.linalg.inv(P) + np.outer(mean, mean))
        scale = np.linalg.inv(2 * np.eye(d) + M)
    worst = max(near(got.posterior["mu.mean"], mean, 1e-6), near(got.posterior["mu.precision"], P, 1e-6),
                near(got.posterior["L.scale"], scale, 1e-6), near(got.posterior["x.mean"], np.array(means), 1e-6))
    return f"within {worst:.0e}"


@check
def entries_of_a_chain_of_vectors():
    """Kalman smoothing with known entries: one Normal vector for the whole sequence."""
    model = """
model m {
  plate t ordered;
  plate d = 2;
  data A : matrix over d, d;
  data Q : matrix over d, d;
  data w : vector over d;
  x[t] ~ MvNormal(mean = A * x[t-1], precision = Q) start MvNormal(mean = 0, precision = 1) over d;
  observe y[t] ~ Normal(mean = dot(w, x[t]), precision = 3);
}
"""
    n, A, w = 7, np.array([[0.7, 0.3], [-0.2, 0.9]]), np.array([1.0, -0.5])
    Q = np.array([[2.0, 0.4], [0.4, 1.0]])
    x = np.where(RNG.uniform(size=(n, 2)) < 0.6, np.nan, RNG.normal(size=(n, 2)))
    x[2] = [0.3, -0.1]
    y = RNG.normal(size=n)
    y[4] = np.nan
    N = 2 * n
    L, noise = np.zeros((N, N)), np.zeros((N, N))
    for t in range(n):
        noise[2 * t:2 * t + 2, 2 * t:2 * t + 2] = np.eye(2) if t == 0 else np.linalg.inv(Q)
        for r in range(t + 1):
            L[2 * t:2 * t + 2, 2 * r:2 * r + 2] = np.linalg.matrix_power(A, t - r)
    S = L @ noise @ L.T
    W = np.kron(np.eye(n), w)
    joint = np.block([[S, S @ W.T], [W @ S, W @ S @ W.T + np.eye(n) / 3]])
    both = np.concatenate([x.ravel(), y])
    log, mean, covariance = conditioned(np.zeros(N + n), joint, both)
    gaps = np.isnan(x.ravel())
    got = fit(model, {"A": A, "Q": Q, "w": w, "x": x, "y": y})
    worst = max(near(got.elbo, log, 1e-11), near(got.posterior["x.mean"].ravel()[gaps], mean[:gaps.sum()], 1e-11))
    sd = np.sqrt(np.diag(covariance))[:gaps.sum()]
    variances = np.concatenate([np.diag(np.linalg.inv(P)) for P in got.posterior["x.precision"]])
    worst = max(worst, near(variances[gaps], sd ** 2, 1e-11))
    draws = fit(model, {"A": A, "Q": Q, "w": w, "x": x, "y": y}, "--method", "gibbs", "--draws", "4000", "--warmup", "5",
                monotone=False)
    error = np.abs(draws.posterior["x.mean"].ravel()[gaps] - mean[:gaps.sum()]) / sd
    assert error.max() < 5 / np.sqrt(4000), error
    near(draws.posterior["x.mean"].ravel()[~gaps], x.ravel()[~gaps], 1e-12)
    return f"within {worst:.0e}, draws within {error.max():.3f} sd"


@check
def missing_covariates():
    """x ~ Normal(m, s) in a regression with unknown slope, intercept and noise: numpy's coordinate ascent."""
    model = """
model m {
  plate n;
  m ~ Normal(mean = 0, precision = 0.1);
  s ~ Gamma(shape = 1, rate = 1);
  a ~ Normal(mean = 0, precision = 0.1);
  b ~ Normal(mean = 0, precision = 0.1);
  tau ~ Gamma(shape = 1, rate = 1);
  observe x[n] ~ Normal(mean = m, precision = s);
  observe y[n] ~ Normal(mean = a * x[n] + b, precision = tau);
  guide factorised;
}
"""
    n = 50
    x = RNG.normal(size=n) + 1
    y = 2 * x - 1 + 0.5 * RNG.normal(size=n)
    x[RNG.uniform(size=n) < 0.3] = np.nan
    y[5] = np.nan
    got = fit(model, {"x": x, "y": y}, *TIGHT)
    gaps, there = np.isnan(x), ~np.isnan(y)
    Y, N = np.where(there, y, 0), there.sum()
    q = dict(m=(0, 10.0), a=(1.0, 0.1), b=(0, 0.1), s=(1.0, 1.0), tau=(1.0, 1.0))
    for _ in range(20000):
        (m, vm), (a, va), (b, vb) = q["m"], q["a"], q["b"]
        s, tau = q["s"][0] / q["s"][1], q["tau"][0] / q["tau"][1]
        precision = s + tau * (a * a + va) * there
        X = np.where(gaps, (s * m + tau * a * (Y - b) * there) / precision, np.nan_to_num(x))
        V = np.where(gaps, 1 / precision, 0)
        XX = X * X + V
        q["m"] = m, vm = (s * X.sum() / (0.1 + n * s), 1 / (0.1 + n * s))
        q["s"] = (1 + n / 2, 1 + 0.5 * (XX.sum() - 2 * m * X.sum() + n * (m * m + vm)))
        va = 1 / (0.1 + tau * XX[there].sum())
        q["a"] = a, va = (va * tau * (X * (Y - b))[there].sum(), va)
        vb = 1 / (0.1 + tau * N)
        q["b"] = b, vb = (vb * tau * (Y - a * X)[there].sum(), vb)
        square = (Y ** 2 + (a * a + va) * XX + b * b + vb - 2 * Y * (a * X + b) + 2 * a * X * b)[there].sum()
        q["tau"] = (1 + N / 2, 1 + 0.5 * square)
    worst = max(near(got.posterior["x.mean"], X, 1e-6), near(got.posterior["a.mean"], a, 1e-6),
                near(got.posterior["b.precision"], 1 / vb, 1e-6), near(got.posterior["tau.rate"], q["tau"][1], 1e-6),
                near(1 / got.posterior["x.precision"][gaps], V[gaps], 1e-6))
    return f"within {worst:.0e}"


@check
def known_global_elements():
    """Coefficients that are known beside those that are not: the evidence of a linear regression."""
    model = """
model m {
  plate n;
  plate d;
  data X[n] : vector over d;
  w ~ MvNormal(mean = 0, precision = 0.5) over d;
  mu[d] ~ Normal(mean = w[d], precision = 1);
  observe y[n] ~ Normal(mean = dot(w, X[n]), precision = 4);
}
"""
    n, d = 12, 3
    X, y = RNG.normal(size=(n, d)), RNG.normal(size=n)
    w, mu = np.array([np.nan, 0.7, np.nan]), np.array([0.2, np.nan, 0.4])
    S = 2 * np.eye(d)
    joint = np.block([[S, S, S @ X.T], [S, S + np.eye(d), S @ X.T], [X @ S, X @ S, X @ S @ X.T + np.eye(n) / 4]])
    # The known elements leave mu[1] apart from everything but w[1], which is known: factors are exact.
    log, mean, covariance = conditioned(np.zeros(2 * d + n), joint, np.concatenate([w, mu, y]))
    got = fit(model, {"X": X, "y": y, "w": w, "mu": mu}, *TIGHT)
    worst = max(near(got.elbo, log, 1e-11), near(got.posterior["w.mean"], [mean[0], 0.7, mean[1]], 1e-10),
                near(got.posterior["mu.mean"], [0.2, mean[2], 0.4], 1e-10))
    near(np.linalg.inv(got.posterior["w.precision"][np.ix_([0, 2], [0, 2])]), covariance[:2, :2], 1e-10)
    steps = fit(model, {"X": X, "y": y, "w": w, "mu": mu}, "--method", "svi", "--batch-size", n, monotone=False)
    near(steps.elbo, log, 1e-4)
    assert steps.posterior["w.mean"][1] == 0.7 and steps.posterior["mu.mean"][0] == 0.2
    point = fit(model.replace("observe y", "guide point(w);\n  observe y"), {"X": X, "y": y, "w": w, "mu": mu}, *TIGHT)
    near(point.posterior["w.value"], [mean[0], 0.7, mean[1]], 1e-8)
    return f"within {worst:.0e}, minibatches too"


@check
def scores_and_predictions():
    """Held-out items with and without labels, under the posterior means that the fit wrote."""
    x, labels, _ = classes()
    for spelling in ("", "observe "):
        f = Folder(BAYES % spelling, {"x": x, "z": labels}, "--seed", "2")
        pi = f.posterior["pi.concentration"] / f.posterior["pi.concentration"].sum()
        p = f.posterior["p.a"] / (f.posterior["p.a"] + f.posterior["p.b"])
        new, known = x[:6], np.array([np.nan, 2, 0, np.nan, 1, np.nan])
        logs = np.log(pi) + (new[:, None] * np.log(p) + (1 - new[:, None]) * np.log1p(-p)).sum(-1)
        there = ~np.isnan(known)
        want = logsumexp(logs[~there], axis=1).sum() + logs[there, known[there].astype(int)].sum()
        score = f.score({"x": new, "z": known})
        worst = near(score["total"], want, 1e-10)
        assert score["observations"] == new.size + there.sum(), score
        f.run("predict", f.at("fit"), "--data", f.at("test.json"), "--out", f.at("out.npz"))
        probability = arrays(f.at("out.npz"))["z.probability"]
        q = f.posterior
        means = [digamma(q["p.a"]) - digamma(q["p.a"] + q["p.b"]), digamma(q["p.b"]) - digamma(q["p.a"] + q["p.b"])]
        odds = digamma(q["pi.concentration"]) + (new[:, None] * means[0] + (1 - new[:, None]) * means[1]).sum(-1)
        worst = max(worst, near(probability[~there], softmax(odds[~there], axis=1), 1e-10))
        assert np.isnan(probability[there]).all()
    return f"within {worst:.0e}"


@check
def predicted_covariates():
    """Gaps in the covariates of new items, and the response of an item: one Normal vector given the rest."""
    model = """
model m {
  plate n;
  data c : real;
  tau ~ Gamma(shape = 1e6, rate = 1e6);
  observe x[n] ~ Normal(mean = 1, precision = 2);
  observe y[n] ~ Normal(mean = c * x[n], precision = tau);
}
"""
    f = Folder(model, {"c": 0.5, "x": [1.0, 2.0], "y": [0.4, 1.1]}, *TIGHT)
    tau = f.posterior["tau.shape"] / f.posterior["tau.rate"]
    f.run("predict", f.at("fit"), "--data", f.bind("new", {"c": 0.5, "x": [None, 0.3, None], "y": [0.8, None, None]}),
          "--out", f.at("out.npz"), "--local-tol", "1e-14")
    z = arrays(f.at("out.npz"))
    mean, sd, response = z["x.mean"], z["x.sd"], z["y.mean"]
    precision = np.array([2 + tau * 0.25, 2])
    want = np.array([(2 + tau * 0.5 * 0.8) / precision[0], 1])
    worst = max(near(mean[[0, 2]], want, 1e-10), near(sd[0], precision[0] ** -0.5, 1e-10),
                near(response[1:], [0.15, 0.5], 1e-10))
    assert np.isnan(mean[1]) and np.isnan(response[0])
    return f"within {worst:.0e}"


@check
def refusals():
    """What cannot be known in part, and why."""
    f = Folder(BAYES % "", {"x": [[1, 0], [0, 1]]})
    wrong = [({"x": [[1, 0], [0, 1]], "z": [3, None]}, 4, "z[0] is element 3"),
             ({"x": [[1, 0], [0, 1]], "z": [1, None, 0]}, 4, "plate 'n'"),
             ({"x": [[1, 0], [0, 1]], "pi": [0.2, None, 0.3]}, 0, "'pi' is a")]
    for data, code, part in wrong:
        done = lehr("fit", f.model, "--data", f.bind("bad", data), "--out", f.at("bad"), code=code)
        assert part in done.stderr, done.stderr
    np.save(f.at("z.npy"), np.array([0, 1]))
    said = f.run("fit", f.model, "--data", f.bind("x", {"x": [[1, 0], [0, 1]]}), "--data", "z=" + f.at("z.npy"), "--out",
                 f.at("bad"), code=4)
    assert "all values of 'z'" in said and "observe z" in said, said
    write(f.at("exp.lehr"), "model m {\n  plate n;\n  observe x[n] ~ Normal(mean = 0, sd = 1);\n"
          "  observe y[n] ~ Normal(mean = exp(x[n]), sd = 1);\n}\n")
    data = f.bind("gap", {"x": [0.1, None], "y": [1, 2]})
    said = f.run("fit", f.at("exp.lehr"), "--data", data, "--out", f.at("bad"), code=3)
    assert "'x' is latent where the data miss its values" in said, said
    return f"{len(wrong) + 2} of them say why"


finish()
