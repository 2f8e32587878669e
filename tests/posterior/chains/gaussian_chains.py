#!/usr/bin/env python3
"""Gaussian chains against dense linear algebra: whole precision matrices, inverted by numpy, and numpy's coordinate ascent.

usage: gaussian_chains.py LEHR
"""
import itertools
import resource
import sys

import numpy as np
from scipy.special import digamma, gammaln, logsumexp
from scipy.stats import multivariate_normal

sys.path.append(f"{sys.path[0]}/..")
from fitting import finish, fit, relative  # noqa: E402

CHECKS = {}


def check(f):
    CHECKS[f.__name__] = lambda: f(np.random.default_rng(5))
    return f


def near(got, want, tolerance, what):
    error = relative(got, want)
    assert error <= tolerance, f"{what} off by {error:.1e}: {np.asarray(got).ravel()[:4]}, not {np.asarray(want).ravel()[:4]}"
    return error


class Dense:
    """The Gaussian with block-tridiagonal precision: diag[t], -pair[t] between t - 1 and t, and precision * mean."""

    def __init__(self, diag, pair, linear):
        T, D = len(diag), len(np.atleast_1d(linear[0]))
        diag, pair, linear = (np.asarray(diag, float).reshape(T, D, D), np.asarray(pair, float).reshape(T, D, D),
                              np.asarray(linear, float).reshape(T, D))
        P = np.zeros((T, D, T, D))
        for t in range(T):
            P[t, :, t] = diag[t]
            if t:
                P[t - 1, :, t] = -pair[t]
                P[t, :, t - 1] = -pair[t].T
        P = P.reshape(T * D, T * D)
        S = np.linalg.inv(P)
        self.mean = (S @ linear.ravel()).reshape(T, D)
        S = S.reshape(T, D, T, D)
        self.cov = np.array([S[t, :, t] for t in range(T)])
        self.second = self.cov + self.mean[:, :, None] * self.mean[:, None, :]
        self.pair = np.array([np.zeros((D, D))] + [S[t - 1, :, t] + np.outer(self.mean[t - 1], self.mean[t]) for t in range(1, T)])
        self.entropy = 0.5 * T * D * (1 + np.log(2 * np.pi)) - 0.5 * np.linalg.slogdet(P)[1]

    @property
    def precision(self):
        return np.linalg.inv(self.cov)


def one_sweep(model, data, init, *arguments):
    """Native, checked against the interpreter."""
    options = ["--max-iter", "1", "--local-iters", "1", *arguments]
    got, slow = fit(model, data, *options, init=init), fit(model, data, *options, "--interpret", init=init)
    for name, value in slow.posterior.items():
        near(got.posterior[name], value, 1e-10, f"{name}, native and interpreted,")
    return got


def random_walk(y, q, r, p0):
    """Potentials of a scalar random walk seen in noise; y may be missing."""
    seen = ~np.isnan(y)
    diag = np.where(seen, r, 0.0) + q * (np.arange(len(y)) > 0) + q * (np.arange(len(y)) < len(y) - 1)
    diag[0] += p0
    return diag, np.full(len(y), q), np.where(seen, r * np.nan_to_num(y), 0.0)


@check
def local_level(rng):
    T, q, r, p0 = 30, 1.7, 0.6, 0.2
    y = np.cumsum(rng.normal(size=T)) + rng.normal(size=T)
    y[[3, 4, 17, T - 1]] = np.nan
    got = fit("""model m { plate t ordered;
      x[t] ~ Normal(mean = x[t-1], precision = 1.7) start Normal(mean = 0, precision = 0.2);
      observe y[t] ~ Normal(mean = x[t], precision = 0.6); }""", {"y": y}, "--max-iter", "3")
    want = Dense(*random_walk(y, q, r, p0))
    seen = ~np.isnan(y)
    C = (1 / p0 + np.minimum.outer(np.arange(T), np.arange(T)) / q + np.eye(T) / r)[np.ix_(seen, seen)]
    near(got.elbo, multivariate_normal.logpdf(y[seen], np.zeros(seen.sum()), C), 1e-12, "log evidence")
    near(got.posterior["x.mean"], want.mean, 1e-10, "x.mean")
    return f"x.precision {near(got.posterior['x.precision'], want.precision, 1e-10, 'x.precision'):.0e}"


@check
def pairs_one_by_one(rng):
    """A coefficient for each step, with a fixed factor in the update of x, then reads E[x[t-1] x[t]] alone."""
    T, q, r = 12, 2.0, 0.7
    y, f = rng.normal(size=T), rng.normal(size=T)
    got = one_sweep("""model m { plate t ordered;
      f[t] ~ Normal(mean = 0, precision = 1);
      x[t] ~ Normal(mean = f[t] * x[t-1], precision = 2) start Normal(mean = 0, precision = 1);
      observe y[t] ~ Normal(mean = x[t], precision = 0.7); guide order(x, f); }""", {"y": y},
                    {"f.mean": f, "f.precision": np.full(T, 1e14)})
    after = np.append(f[1:], 0.0)
    diag = r + q * (after**2) + np.where(np.arange(T) > 0, q, 1.0)
    want = Dense(diag, q * f, r * y)
    near(got.posterior["x.mean"], want.mean, 1e-10, "x.mean")
    precision = 1 + q * np.append(0.0, want.second[:-1].ravel())
    near(got.posterior["f.precision"], precision, 1e-10, "f.precision")
    pair = got.posterior["f.mean"] * got.posterior["f.precision"] / q
    return f"E[x[t-1] x[t]] {near(pair, want.pair.ravel(), 1e-10, 'pairs'):.0e}"


@check
def ragged_sequences(rng):
    """Item by item, sequences of one element among them; the noises read squares and pairs."""
    lengths = [4, 1, 7, 2, 1]
    y = [rng.normal(size=n) for n in lengths]
    got = one_sweep("""model m { plate seq; plate t in seq ordered;
      q ~ Gamma(shape = 2, rate = 3); r ~ Gamma(shape = 1, rate = 1);
      x[seq, t] ~ Normal(mean = x[seq, t-1], precision = q) start Normal(mean = 0, precision = 0.5);
      observe y[seq, t] ~ Normal(mean = x[seq, t], precision = r); guide order(x, q, r); }""",
                    {"y": [v.tolist() for v in y]}, {"q.shape": 3, "q.rate": 2, "r.shape": 2, "r.rate": 5})
    want = [Dense(*random_walk(v, 1.5, 0.4, 0.5)) for v in y]
    near(got.posterior["x.mean"], np.concatenate([w.mean.ravel() for w in want]), 1e-10, "x.mean")
    near(got.posterior["x.precision"], np.concatenate([1 / w.cov.ravel() for w in want]), 1e-10, "x.precision")
    steps = sum(w.second[1:].sum() + w.second[:-1].sum() - 2 * w.pair[1:].sum() for w in want)
    near(got.posterior["q.shape"], 2 + 0.5 * sum(n - 1 for n in lengths), 1e-12, "q.shape")
    near(got.posterior["q.rate"], 3 + 0.5 * steps, 1e-10, "q.rate")
    rate = 1 + 0.5 * sum(np.sum(v**2 - 2 * v * w.mean.ravel() + w.second.ravel()) for v, w in zip(y, want))
    return f"r.rate {near(got.posterior['r.rate'], rate, 1e-10, 'r.rate'):.0e}"


@check
def further_axes(rng):
    """x[seq, k, t]: every (seq, k) is a chain of its own."""
    S, K, T = 3, 2, 5
    y = rng.normal(size=(S, K, T))
    evidence = 0.0
    walk = np.minimum.outer(np.arange(T), np.arange(T))
    for k, q in enumerate([0.5, 3.0]):
        C = 1.0 + walk / q + np.eye(T) / 2
        evidence += sum(multivariate_normal.logpdf(y[s, k], np.zeros(T), C) for s in range(S))
    error = 0.0
    for t in ("plate t ordered;", "plate t = 5 ordered;"):
        got = fit("model m { plate seq; plate k = 2; " + t + """ data q[k] : real;
          x[seq, k, t] ~ Normal(mean = x[seq, k, t-1], precision = q[k]) start Normal(mean = 0, precision = 1);
          observe y[seq, k, t] ~ Normal(mean = x[seq, k, t], precision = 2); }""", {"y": y, "q": [0.5, 3.0]})
        error = max(error, near(got.elbo, evidence, 1e-11, "log evidence"))
    return f"log evidence {error:.0e}"


@check
def copies(rng):
    """A sequence that stands for several: its chain's entropy counts as often."""
    y, n = rng.normal(size=(2, 4)), np.array([3, 1])
    plates = "data n[seq] : count; plate seq times n; plate t = 4 ordered;"
    C = 1 + np.minimum.outer(np.arange(4), np.arange(4)) / 2 + np.eye(4)
    got = fit("model m { " + plates + """
      x[seq, t] ~ Normal(mean = x[seq, t-1], precision = 2) start Normal(mean = 0, precision = 1);
      observe y[seq, t] ~ Normal(mean = x[seq, t], precision = 1); }""", {"y": y, "n": n})
    near(got.elbo, n @ multivariate_normal.logpdf(y, np.zeros(4), C), 1e-12, "evidence of numbers")
    pi, B, mu = np.array([0.4, 0.6]), np.array([[0.8, 0.2], [0.3, 0.7]]), np.array([-1.0, 1.0])
    got = fit("model m { " + plates + """ plate k = 2;
      data pi : simplex over k; data B[k] : simplex over k; data mu[k] : real; c ~ Normal(mean = 0, precision = 1e12);
      s[seq, t] ~ Categorical(B[s[seq, t-1]]) start Categorical(pi);
      observe y[seq, t] ~ Normal(mean = mu[s[seq, t]] + c, precision = 1); }""", {"y": y, "n": n, "pi": pi, "B": B, "mu": mu})
    paths = list(itertools.product(range(2), repeat=4))
    each = [logsumexp([np.log(pi[p[0]]) + sum(np.log(B[p[t - 1], p[t]]) for t in range(1, 4))
                       + np.sum(-0.5 * np.log(2 * np.pi) - 0.5 * (v - mu[list(p)])**2) for p in paths]) for v in y]
    return f"evidence of categories {near(got.elbo, n @ each, 1e-10, 'evidence of categories'):.0e}"


class Gamma:
    def __init__(self, a, b):
        self.a0, self.b0, self.a, self.b = a, b, a, b

    mean = property(lambda self: self.a / self.b)
    log = property(lambda self: digamma(self.a) - np.log(self.b))

    def bound(self):
        """E[log prior] + entropy."""
        return np.sum(self.a0 * np.log(self.b0) - gammaln(self.a0) + (self.a0 - self.a) * digamma(self.a) + gammaln(self.a)
                      - self.a0 * np.log(self.b) + self.a - self.b0 * self.a / self.b)


class Rows:
    """Rows MvNormal(0, I) of a matrix."""

    def __init__(self, mean, cov):
        self.mean, self.cov = mean, cov

    @property
    def second(self):
        return self.cov + self.mean[:, :, None] * self.mean[:, None, :]

    def bound(self):
        n, d = self.mean.shape
        return -0.5 * np.trace(self.second, axis1=1, axis2=2).sum() + 0.5 * n * d + 0.5 * np.linalg.slogdet(self.cov)[1].sum()


@check
def latent_transition(rng):
    """Vector states with latent transition and observation rows and noises: four sweeps of numpy's coordinate ascent."""
    T, D, E = 15, 2, 3
    y = rng.normal(size=(T, E)).cumsum(0) / 2
    A0, C0 = 0.9 * np.eye(D) + 0.1 * rng.normal(size=(D, D)), rng.normal(size=(E, D))
    model = """model m { plate t ordered; plate d = 2; plate e;
      A[d] ~ MvNormal(mean = 0, precision = 1) over d;
      C[e] ~ MvNormal(mean = 0, precision = 1) over d;
      tau[d] ~ Gamma(shape = 2, rate = 1); r[e] ~ Gamma(shape = 1, rate = 2);
      x[t] ~ MvNormal(mean = A * x[t-1], precision = diag(tau)) start MvNormal(mean = 0, precision = 1) over d;
      observe y[t, e] ~ Normal(mean = dot(C[e], x[t]), precision = r[e]); guide order(x, A, C, tau, r); }"""
    init = {"A.mean": A0, "A.precision": np.tile(10 * np.eye(D), (D, 1, 1)), "C.mean": C0,
            "C.precision": np.tile(4 * np.eye(D), (E, 1, 1)), "tau.shape": [3, 3], "tau.rate": [1, 2],
            "r.shape": [2] * E, "r.rate": [1] * E}
    options = ["--max-iter", "4", "--local-iters", "1", "--no-invariances"]
    got, slow = fit(model, {"y": y}, *options, init=init), fit(model, {"y": y}, *options, "--interpret", init=init)
    near(got.elbo, slow.elbo, 1e-12, "ELBO, native and interpreted,")

    A, C = Rows(A0, np.tile(np.eye(D) / 10, (D, 1, 1))), Rows(C0, np.tile(np.eye(D) / 4, (E, 1, 1)))
    tau, r = Gamma(np.full(D, 2.0), np.full(D, 1.0)), Gamma(np.full(E, 1.0), np.full(E, 2.0))
    tau.a, tau.b, r.a, r.b = np.full(D, 3.0), np.array([1.0, 2.0]), np.full(E, 2.0), np.full(E, 1.0)
    for _ in range(4):
        W = (tau.mean[:, None] * A.mean).T  # from t-1 to t
        back = np.einsum("i,ijk->jk", tau.mean, A.second)
        emit = np.einsum("e,ejk->jk", r.mean, C.second)
        diag = [emit + (np.diag(tau.mean) if t else np.eye(D)) + (back if t < T - 1 else 0) for t in range(T)]
        x = Dense(diag, [W] * T, (y * r.mean) @ C.mean)
        before, pair = x.second[:-1].sum(0), x.pair[1:].sum(0)
        A.cov = np.linalg.inv(np.eye(D) + tau.mean[:, None, None] * before)
        A.mean = np.einsum("ijk,ik->ij", A.cov, tau.mean[:, None] * pair.T)
        C.cov = np.linalg.inv(np.eye(D) + r.mean[:, None, None] * x.second.sum(0))
        C.mean = np.einsum("ejk,ek->ej", C.cov, r.mean[:, None] * (y.T @ x.mean))
        steps = (np.einsum("tii->i", x.second[1:]) - 2 * np.einsum("ij,ji->i", A.mean, pair)
                 + np.einsum("ijk,jk->i", A.second, before))
        tau.a, tau.b = tau.a0 + (T - 1) / 2, tau.b0 + steps / 2
        errors = (y**2).sum(0) - 2 * np.einsum("te,ej,tj->e", y, C.mean, x.mean) + np.einsum("ejk,tjk->e", C.second, x.second)
        r.a, r.b = r.a0 + T / 2, r.b0 + errors / 2
    elbo = (x.entropy - 0.5 * T * D * np.log(2 * np.pi) - 0.5 * np.trace(x.second[0]) + np.sum((T - 1) / 2 * tau.log - tau.mean * steps / 2)
            + np.sum(T / 2 * (r.log - np.log(2 * np.pi)) - r.mean * errors / 2) + A.bound() + C.bound() + tau.bound() + r.bound())
    for name, value in {"x.mean": x.mean, "x.precision": x.precision, "A.mean": A.mean, "A.precision": np.linalg.inv(A.cov),
                        "C.mean": C.mean, "tau.rate": tau.b, "r.rate": r.b}.items():
        near(got.posterior[name], value, 1e-9, name)
    return f"ELBO {near(got.elbo, elbo, 1e-11, 'ELBO'):.0e}"


def enumerated(first, pairs, unary):
    """Marginals, pairs and entropy of a chain of categories, by all its paths."""
    T, K = unary.shape
    paths = list(itertools.product(range(K), repeat=T))
    score = np.array([first[p[0]] + sum(unary[t, p[t]] for t in range(T)) + sum(pairs[p[t - 1], p[t]] for t in range(1, T)) for p in paths])
    prob = np.exp(score - logsumexp(score))
    one, two = np.zeros((T, K)), np.zeros((T, K, K))
    for w, p in zip(prob, paths):
        for t in range(T):
            one[t, p[t]] += w
            if t:
                two[t, p[t - 1], p[t]] += w
    return one, two, -np.sum(prob * np.log(prob))


@check
def switching(rng):
    """Two chains, of categories and of numbers, which read each other's elements and pairs."""
    T, K = 7, 2
    y, pi, B = rng.normal(size=T).cumsum(), np.array([0.4, 0.6]), np.array([[0.8, 0.2], [0.3, 0.7]])
    got = fit("""model m { plate t ordered; plate k = 2; data pi : simplex over k; data B[k] : simplex over k;
      f[k] ~ Normal(mean = 0, precision = 1); q[k] ~ Gamma(shape = 2, rate = 1);
      s[t] ~ Categorical(B[s[t-1]]) start Categorical(pi);
      x[t] ~ Normal(mean = f[s[t]] * x[t-1], precision = q[s[t]]) start Normal(mean = 0, precision = 1);
      observe y[t] ~ Normal(mean = x[t], precision = 3); guide order(x, s, f, q); }""", {"y": y, "pi": pi, "B": B},
              "--max-iter", "4", "--local-iters", "1",
              init={"f.mean": [1.0, -0.5], "f.precision": [4, 5], "q.shape": [2, 3], "q.rate": [1, 2], "s.probs": [[0.3, 0.7]] * T})
    fm, fp, q = np.array([1.0, -0.5]), np.array([4.0, 5.0]), Gamma(np.array([2.0, 2.0]), np.array([1.0, 1.0]))
    q.a, q.b = np.array([2.0, 3.0]), np.array([1.0, 2.0])
    one = np.tile([0.3, 0.7], (T, 1))
    for _ in range(4):
        f2 = fm**2 + 1 / fp
        diag = 3 + np.append(1.0, one[1:] @ q.mean) + np.append(one[1:] @ (q.mean * f2), 0.0)
        x = Dense(diag, one @ (q.mean * fm), 3 * y)
        x2, xx = x.second.ravel(), x.pair.ravel()
        step = lambda: x2[1:, None] - 2 * fm * xx[1:, None] + f2 * x2[:-1, None]
        unary = np.zeros((T, K))
        unary[1:] = 0.5 * (q.log - np.log(2 * np.pi)) - 0.5 * q.mean * step()
        one, two, entropy = enumerated(np.log(pi), np.log(B), unary)
        fp = 1 + q.mean * (one[1:].T @ x2[:-1])
        fm = q.mean * (one[1:].T @ xx[1:]) / fp
        f2 = fm**2 + 1 / fp
        q.a, q.b = q.a0 + one[1:].sum(0) / 2, q.b0 + 0.5 * np.sum(one[1:] * step(), 0)
    elbo = (x.entropy + entropy + one[0] @ np.log(pi) + np.sum(two[1:].sum(0) * np.log(B))
            + np.sum(one[1:] * (0.5 * (q.log - np.log(2 * np.pi)) - 0.5 * q.mean * step()))
            - 0.5 * np.log(2 * np.pi) - 0.5 * x2[0] + np.sum(0.5 * np.log(3 / (2 * np.pi)) - 1.5 * (y**2 - 2 * y * x.mean.ravel() + x2))
            + np.sum(-0.5 * f2 + 0.5 - 0.5 * np.log(fp)) + q.bound())
    for name, value in {"s.probs": one, "x.mean": x.mean, "f.mean": fm, "f.precision": fp, "q.rate": q.b}.items():
        near(got.posterior[name], value, 1e-9, name)
    return f"ELBO {near(got.elbo, elbo, 1e-11, 'ELBO'):.0e}"


@check
def mixture_of_chains(rng):
    """The class of a sequence reads the pairs of its chain before they are updated: those of the last sweep."""
    S, T, K = 6, 5, 2
    y = rng.normal(size=(S, T)).cumsum(1)
    got = fit("""model m { plate seq; plate t ordered; plate k = 2;
      f[k] ~ Normal(mean = 0, precision = 1); pi ~ Dirichlet(concentration = 1) over k;
      c[seq] ~ Categorical(pi);
      x[seq, t] ~ Normal(mean = f[c[seq]] * x[seq, t-1], precision = 2) start Normal(mean = 0, precision = 1);
      observe y[seq, t] ~ Normal(mean = x[seq, t], precision = 3); guide order(c, x, f, pi); }""", {"y": y},
              "--max-iter", "5", init={"f.mean": [1.0, -0.5], "f.precision": [4, 5], "pi.concentration": [2, 3],
                                       "x.mean": y, "x.precision": np.full((S, T), 4.0), "c.probs": [[0.5, 0.5]] * S})
    fm, fp, a = np.array([1.0, -0.5]), np.array([4.0, 5.0]), np.array([2.0, 3.0])
    x2, xx = y**2 + 0.25, np.append(np.zeros((S, 1)), y[:, :-1] * y[:, 1:], 1)
    for _ in range(5):
        f2, lp = fm**2 + 1 / fp, digamma(a) - digamma(a.sum())
        before, pair = x2[:, :-1].sum(1)[:, None], xx[:, 1:].sum(1)[:, None]
        c = lp + 2 * fm * pair - f2 * before
        c = np.exp(c - logsumexp(c, axis=1, keepdims=True))
        x = [Dense(3 + np.append(1, np.full(T - 1, 2)) + np.append(np.full(T - 1, 2 * (c[s] @ f2)), 0), np.full(T, 2 * (c[s] @ fm)), 3 * y[s])
             for s in range(S)]
        x2, xx = np.array([v.second.ravel() for v in x]), np.array([v.pair.ravel() for v in x])
        before, pair = x2[:, :-1].sum(1)[:, None], xx[:, 1:].sum(1)[:, None]
        fp = 1 + 2 * np.sum(c * before, 0)
        fm = 2 * np.sum(c * pair, 0) / fp
        a = 1 + c.sum(0)
    for name, value in {"c.probs": c, "x.mean": [v.mean.ravel() for v in x], "f.mean": fm, "f.precision": fp, "pi.concentration": a}.items():
        error = near(got.posterior[name], value, 1e-9, name)
    return f"pi {error:.0e}"


@check
def broken_chain(rng):
    """`guide independent` still gives one factor an element: the mean-field precision is the diagonal."""
    y = rng.normal(size=8)
    got = fit("""model m { plate t ordered;
      x[t] ~ Normal(mean = x[t-1], precision = 1.7) start Normal(mean = 0, precision = 0.2);
      observe y[t] ~ Normal(mean = x[t], precision = 0.6); guide independent(x); }""", {"y": y}, "--tol", "1e-16", "--max-iter", "5000")
    diag, pair, linear = random_walk(y, 1.7, 0.6, 0.2)
    near(got.posterior["x.precision"], diag, 1e-12, "x.precision")
    return f"x.mean {near(got.posterior['x.mean'], Dense(diag, pair, linear).mean, 1e-5, 'x.mean'):.0e}"


def filtered(y, A, C, Q, R):
    """Log evidence by the Kalman filter in covariance form, from x_0 ~ N(0, I)."""
    m, P, out = np.zeros(len(A)), np.eye(len(A)), 0.0
    for t, v in enumerate(y):
        if t:
            m, P = A @ m, A @ P @ A.T + Q
        S = C @ P @ C.T + R
        e, K = v - C @ m, P @ C.T @ np.linalg.inv(S)
        out -= 0.5 * (len(v) * np.log(2 * np.pi) + np.linalg.slogdet(S)[1] + e @ np.linalg.solve(S, e))
        m, P = m + K @ e, P - K @ C @ P
    return out


@check
def long_chain(rng):
    """10,000 elements: the evidence of the filter, and memory that grows by little for each element."""
    A, C = np.array([[0.9, 0.3], [-0.3, 0.9]]), np.array([[1.0, 0.5]])
    model = """model m { plate t ordered; plate d = 2; plate e; data A[d] : vector over d; data C[e] : vector over d;
      x[t] ~ MvNormal(mean = A * x[t-1], precision = 4) start MvNormal(mean = 0, precision = 1) over d;
      observe y[t, e] ~ Normal(mean = dot(C[e], x[t]), precision = 2); }"""
    peak = {}
    for T in (10_000, 100_000):
        y = rng.normal(size=(T, 1))
        got = fit(model, {"y": y, "A": A, "C": C}, "--max-iter", "2")
        peak[T] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        error = near(got.elbo, filtered(y, A, C, np.eye(2) / 4, np.eye(1) / 2), 1e-10, "log evidence")
    each = (peak[100_000] - peak[10_000]) / 90_000
    assert each <= 4096, f"{each:.0f} bytes an element"
    return f"log evidence {error:.0e}, {each:.0f} bytes an element"


finish(CHECKS)
