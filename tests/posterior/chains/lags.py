#!/usr/bin/env python3
"""Latent chains that reach back several steps, against dense linear algebra: each statement is a row of a least-squares problem, whose
normal equations numpy solves. Chains of categories against the sum over all paths.

usage: lags.py LEHR
"""
import itertools
import sys

import numpy as np
from scipy.special import digamma, logsumexp
from scipy.stats import norm

sys.path.append(f"{sys.path[0]}/..")
from fitting import Folder, finish, fit, plain  # noqa: E402
from sampling import sample  # noqa: E402

CHECKS = {}
TIGHT = ["--search", "none", "--tol", "1e-13", "--max-iter", "5000"]


def check(f):
    CHECKS[f.__name__] = lambda: f(np.random.default_rng(7)) or f.__doc__.splitlines()[0]
    return f


def near(got, want, tolerance, what):
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance, err_msg=what)


class Rows:
    """Of n numbers: products of them with coefficients, each Normal with a mean and a precision."""

    def __init__(self, n):
        self.P, self.h, self.constant = np.zeros((n, n)), np.zeros(n), 0.5 * n * np.log(2 * np.pi)

    def add(self, coefficients, mean, precision):
        row = np.zeros(len(self.h))
        for k, c in coefficients.items():
            row[k] += c
        self.P += precision * np.outer(row, row)
        self.h += precision * mean * row
        self.constant += 0.5 * np.log(precision / (2 * np.pi)) - 0.5 * precision * mean**2

    def solve(self):
        S = np.linalg.inv(self.P)
        mean = S @ self.h
        return mean, S, S + np.outer(mean, mean), self.constant + 0.5 * self.h @ mean - 0.5 * np.linalg.slogdet(self.P)[1]


@check
def element_looked_up_beside_a_lagged_weight(rng):
    """A mean of two steps, one looked up in data, with a precision of the step before: the same as with the precisions moved by hand."""
    T, E = 5, 3
    data = {"from": [1, 2, 4], "y": rng.normal(size=T).round(3), "v": rng.normal(size=(E, T)).round(3), "u": [1.0, 2, 1.5, 3, 1]}
    text = """model m { plate t ordered; plate e;
      data from[e] : t;
      data u[t] : real;
      x[t] ~ Normal(mean = x[t-1], precision = 1) start Normal(mean = 0, precision = 1);
      observe y[t] ~ Normal(mean = x[t], precision = 1);
      observe v[e, t] ~ Normal(mean = x[t] + x[from[e]], precision = %s; }"""
    lagged = fit(text % "u[t-1]) start Normal(mean = x[t] + x[from[e]], precision = 7)", data, *TIGHT)
    moved = fit(text % "u[t])", {**data, "u": [7.0, *data["u"][:-1]]}, *TIGHT)
    rows = Rows(T)
    for t in range(T):
        rows.add({t: 1, t - 1: -1} if t else {t: 1}, 0, 1)
        rows.add({t: 1}, data["y"][t], 1)
        for e in range(E):
            coefficients = {t: 1.0}
            coefficients[data["from"][e]] = coefficients.get(data["from"][e], 0.0) + 1
            rows.add(coefficients, data["v"][e][t], 7.0 if t == 0 else data["u"][t - 1])
    mean = rows.solve()[0]
    for what, f in (("lagged", lagged), ("moved", moved)):
        near(f.posterior["x.mean"], mean, 1e-6, what)
    near(lagged.elbo, moved.elbo, 1e-10, "ELBO")


@check
def second_order_walk(rng):
    """What is seen of a walk of second order, with gaps: evidence and marginals; interpreted and native."""
    T, q, r = 25, 3.0, 0.8
    y = np.cumsum(np.cumsum(rng.normal(size=T))) + rng.normal(size=T)
    y[[2, 7, 8, T - 1]] = np.nan
    rows = Rows(T)
    for t in range(T):
        rows.add({t: 1, t - 1: -2, t - 2: 1} if t > 1 else {t: 1}, 0, q if t > 1 else 0.1)
        if not np.isnan(y[t]):
            rows.add({t: 1}, y[t], r)
    mean, S, _, evidence = rows.solve()
    text = """model m { plate t ordered; x[t] ~ Normal(mean = 2 * x[t-1] - x[t-2], precision = 3) start Normal(mean = 0, precision = 0.1);
      observe y[t] ~ Normal(mean = x[t], precision = 0.8); }"""
    for way in [], ["--interpret"]:
        got = fit(text, {"y": y}, "--max-iter", "3", *way)
        assert "one element after another" not in got.said, got.said
        near(got.elbo, evidence, 1e-10, "log evidence")
        near(got.posterior["x.mean"], mean, 1e-8, "x.mean")
        near(1 / got.posterior["x.precision"], np.diag(S), 1e-8, "x.precision")


@check
def coefficients_and_noise(rng):
    """Coefficients of three lags and the precision of the noise read the pairs, one sweep from given factors; short rows among them."""
    lengths, q = [9, 1, 2, 3, 14], 1.5
    a, A = np.array([0.9, -0.4, 0.2]), np.diag([50.0, 80.0, 60.0])
    y = [rng.normal(size=n) for n in lengths]
    text = """model m { plate seq; plate t in seq ordered; q ~ Gamma(shape = 2, rate = 3);
      a ~ Normal(mean = 0, precision = 1); b ~ Normal(mean = 0, precision = 1); c ~ Normal(mean = 0, precision = 1);
      x[seq, t] ~ Normal(mean = a * x[seq, t-1] + b * x[seq, t-2] + c * x[seq, t-3], precision = q) start Normal(mean = 0, precision = 0.5);
      observe y[seq, t] ~ Normal(mean = x[seq, t], precision = 2); guide order(x, q, a, b, c); guide factorised; }"""
    init = {"q.shape": 3, "q.rate": 2, **{f"{v}.mean": m for v, m in zip("abc", a)},
            **{f"{v}.precision": p for v, p in zip("abc", np.diag(A))}}
    got, slow = (fit(text, {"y": [v.tolist() for v in y]}, "--max-iter", "1", "--local-iters", "1", *way, init=init)
                 for way in ([], ["--interpret"]))
    for name, value in slow.posterior.items():
        near(got.posterior[name], value, 1e-9, f"{name}, native and interpreted")
    mean, squares, products, G, steps = [], 0.0, np.zeros(3), np.zeros((3, 3)), 0
    for v in y:
        rows = Rows(len(v))
        for t in range(len(v)):
            before = {t - 1 - k: -a[k] for k in range(3)} if t > 2 else {}
            rows.add({t: 1, **before}, 0, q if t > 2 else 0.5)
            rows.add({t: 1}, v[t], 2)
            for k in range(3) if t > 2 else []:  # the variances of the coefficients
                rows.P[t - 1 - k, t - 1 - k] += q / A[k, k]
        m, _, second, _ = rows.solve()
        mean.append(m)
        for t in range(3, len(v)):
            at = [t - 1, t - 2, t - 3]
            squares, steps = squares + second[t, t], steps + 1
            products, G = products + second[t, at], G + second[np.ix_(at, at)]
    near(got.posterior["x.mean"], np.concatenate(mean), 1e-9, "x.mean")
    spread = np.outer(a, a) + np.linalg.inv(A)
    near(got.posterior["q.shape"], 2 + 0.5 * steps, 1e-12, "q.shape")
    near(got.posterior["q.rate"], 3 + 0.5 * (squares - 2 * a @ products + np.sum(spread * G)), 1e-9, "q.rate")
    q = float(got.posterior["q.shape"] / got.posterior["q.rate"])
    now = a.copy()
    for k, v in enumerate("abc"):  # one after another
        precision = 1 + q * G[k, k]
        now[k] = q * (products[k] - sum(G[k, j] * now[j] for j in range(3) if j != k)) / precision
        near(got.posterior[f"{v}.precision"], precision, 1e-9, f"{v}.precision")
        near(got.posterior[f"{v}.mean"], now[k], 1e-9, f"{v}.mean")


@check
def vectors_on_a_plate(rng):
    """Vectors of two sequences of one length, lags one and three with matrices: their matrices stand apart from the means."""
    S, T, D = 2, 8, 2
    A, B = rng.normal(size=(D, D)) * 0.4, rng.normal(size=(D, D)) * 0.4
    y = rng.normal(size=(S, T, D))
    got = fit("""model m { plate s; plate t ordered; plate d = 2; data A[d] : vector over d; data B[d] : vector over d;
      x[s, t] ~ MvNormal(mean = A * x[s, t-1] + B * x[s, t-3], precision = 2) start MvNormal(mean = 0, precision = 1) over d;
      observe y[s, t] ~ MvNormal(mean = x[s, t], precision = 3) over d; }""", {"A": A, "B": B, "y": y}, *TIGHT)
    evidence = 0.0
    for s in range(S):
        rows = Rows(T * D)
        for t in range(T):
            for j in range(D):
                before = {}
                for k in range(D) if t > 2 else []:
                    before[(t - 1) * D + k] = -A[j, k]
                    before[(t - 3) * D + k] = -B[j, k]
                rows.add({t * D + j: 1, **before}, 0, 2 if t > 2 else 1)
                rows.add({t * D + j: 1}, y[s, t, j], 3)
        mean, C, _, log_z = rows.solve()
        evidence += log_z
        near(got.posterior["x.mean"][s].ravel(), mean, 1e-8, "x.mean")
        for t in range(T):
            block = C[t * D:(t + 1) * D, t * D:(t + 1) * D]
            near(np.linalg.inv(got.posterior["x.precision"][s, t]), block, 1e-8, "x.precision")
    near(got.elbo, evidence, 1e-10, "log evidence")


@check
def gaps_of_an_autoregression(rng):
    """What is observed in part and reaches back two steps: gaps are a chain given the known values around them."""
    T = 20
    x = rng.normal(size=T)
    gap = np.array([0, 4, 5, 6, 9, 11, 19])
    seen = np.setdiff1d(np.arange(T), gap)
    rows = Rows(T)
    for t in range(T):
        rows.add({t: 1, t - 1: -0.6, t - 2: 0.5} if t > 1 else {t: 1}, 0, 2.0 if t > 1 else 1.0)
    P, h = rows.P, rows.h
    want = np.linalg.solve(P[np.ix_(gap, gap)], h[gap] - P[np.ix_(gap, seen)] @ x[seen])
    marginal = np.linalg.inv(P)[np.ix_(seen, seen)]
    evidence = -0.5 * (len(seen) * np.log(2 * np.pi) + np.linalg.slogdet(marginal)[1] + x[seen] @ np.linalg.solve(marginal, x[seen]))
    y = x.copy()
    y[gap] = np.nan
    got = fit("""model m { plate t ordered; observe x[t] ~ Normal(mean = 0.6 * x[t-1] - 0.5 * x[t-2], precision = 2)
      start Normal(mean = 0, precision = 1); }""", {"x": y}, *TIGHT)
    near(got.posterior["x.mean"][gap], want, 1e-6, "the gaps")
    near(got.elbo, evidence, 1e-10, "log evidence")


def gibbs(text, data, names, draws=4000):
    """Draws of the numbers of one chain, by name."""
    got = sample(text, plain(data), "--chains", "1", "--save-locals", draws=draws, warmup=20, seed=1)
    return np.column_stack([got.draws[name] for name in names])


@check
def draws_of_numbers(rng):
    """Gibbs draws of a chain that reaches back two steps: means and covariances at distances 0, 1 and 2."""
    T, y = 6, rng.normal(size=6)
    rows = Rows(T)
    for t in range(T):
        rows.add({t: 1, t - 1: -0.8, t - 2: 0.5} if t > 1 else {t: 1}, 0, 2.0 if t > 1 else 0.5)
        rows.add({t: 1}, y[t], 1.0)
    mean, S, _, _ = rows.solve()
    x = gibbs("""model m { plate t ordered; x[t] ~ Normal(mean = 0.8 * x[t-1] - 0.5 * x[t-2], precision = 2)
      start Normal(mean = 0, precision = 0.5); observe y[t] ~ Normal(mean = x[t], precision = 1); }""", {"y": y}, [f"x.{t + 1}" for t in range(T)])
    assert np.all(np.abs(x.mean(axis=0) - mean) < 5 * np.sqrt(np.diag(S) / len(x))), (x.mean(axis=0), mean)
    spread = np.sqrt((np.outer(np.diag(S), np.diag(S)) + S**2) / len(x))
    assert np.all(np.abs(np.cov(x.T) - S) < 5 * spread), np.cov(x.T) - S


@check
def score(rng):
    """The density of new sequences by the Kalman filter over three steps: that of the rows; a chain of categories is refused."""
    text = """model m { plate seq; plate t in seq ordered; x[seq, t] ~ Normal(mean = 0.8 * x[seq, t-1] - 0.4 * x[seq, t-3], precision = 2)
      start Normal(mean = 1, precision = 0.5); observe y[seq, t] ~ Normal(mean = 2 * x[seq, t], precision = 3); }"""
    y = [rng.normal(size=n).tolist() for n in (6, 1, 9, 3)]
    want = []
    for v in y:
        rows = Rows(len(v))
        for t in range(len(v)):
            rows.add({t: 1, t - 1: -0.8, t - 3: 0.4} if t > 2 else {t: 1}, 0 if t > 2 else 1, 2.0 if t > 2 else 0.5)
            rows.add({t: 2}, v[t], 3)
        want.append(rows.solve()[3])
    f = Folder(text, {"y": y})
    found = f.score({"y": y})
    near(found["total"], sum(want), 1e-10, "score")
    near(found["sequences"], want, 1e-10, "sequences")
    text = "model m { %s data mu[k] : real; observe y[t] ~ Normal(mean = mu[z[t]], sd = 1); }" % (TRANSITIONS % TABLE)
    data = {"A": rng.dirichlet(np.ones(3), size=(3, 3)), "mu": [0, 1, 2], "y": rng.normal(size=6)}
    f = Folder(text, data)
    assert "more of the chain 'z' than an element and the one before it" in f.score(data, code=2)


class Paths:
    """All paths of a chain of categories, weighted by their density."""

    def __init__(self, steps, values, log_density):
        self.paths = np.array(list(itertools.product(range(values), repeat=steps)))
        weights = np.array([log_density(p) for p in self.paths])
        self.evidence = logsumexp(weights)
        self.probability = np.exp(weights - self.evidence)
        self.values = values

    def expected(self, *steps):
        out = np.zeros((self.values,) * len(steps))
        np.add.at(out, tuple(self.paths[:, t] for t in steps), self.probability)
        return out


TRANSITIONS = "plate t ordered; plate k = 3; plate j = k; plate i = k; %s z[t] ~ Categorical(A[z[t-2], z[t-1]]) start Uniform() over k;"
TABLE = "data A[i, j] : simplex over k; "


def log_prior(A, p):
    return 2 * np.log(1 / 3) + sum(np.log(A[p[t - 2], p[t - 1], p[t]]) for t in range(2, len(p)))


@check
def categories(rng):
    """Transitions from the two before: evidence and marginals, by products and where they underflow, interpreted and native."""
    T, mu = 7, np.array([-1.0, 0.5, 2.0])
    A, y = rng.dirichlet(np.ones(3), size=(3, 3)), rng.normal(size=T)
    for sd, far in (0.9, 0), (0.02, 4):
        values = y + far * rng.normal(size=T)
        want = Paths(T, 3, lambda p: log_prior(A, p) + norm.logpdf(values, mu[p], sd).sum())
        text = "model m { %s data mu[k] : real; observe y[t] ~ Normal(mean = mu[z[t]], sd = %g); }" % (TRANSITIONS % TABLE, sd)
        for way in [], ["--interpret"]:
            got = fit(text, {"A": A, "mu": mu, "y": values}, "--max-iter", "3", *way)
            near(got.elbo, want.evidence, 1e-10, "log evidence")
            near(got.posterior["z.probs"], [want.expected(t) for t in range(T)], 1e-9, "z.probs")


@check
def what_stands_together(rng):
    """Triples reach the transitions, and pairs two steps apart the levels: one sweep from given factors; one sequence is short."""
    lengths, alpha = [6, 2, 1, 7], rng.gamma(3.0, size=(3, 3, 3))
    y = [rng.normal(size=n) for n in lengths]
    mean = rng.normal(size=(3, 3))
    text = """model m { plate seq; plate t in seq ordered; plate k = 3; plate j = k; plate i = k; A[i, j] ~ Dirichlet(concentration = 1) over k;
      w[i, j] ~ Normal(mean = 0, precision = 1); z[seq, t] ~ Categorical(A[z[seq, t-2], z[seq, t-1]]) start Uniform() over k;
      observe y[seq, t] ~ Normal(mean = w[z[seq, t-2], z[seq, t]], precision = 2) start Normal(mean = 0, precision = 1);
      guide order(z, A, w); }"""
    init = {"A.concentration": alpha, "w.mean": mean, "w.precision": np.full((3, 3), 4.0)}
    got, slow = (fit(text, {"y": [v.tolist() for v in y]}, "--max-iter", "1", "--local-iters", "1", *way, init=init)
                 for way in ([], ["--interpret"]))
    for name, value in slow.posterior.items():
        near(got.posterior[name], value, 1e-9, f"{name}, native and interpreted")
    log_A = digamma(alpha) - digamma(alpha.sum(axis=2, keepdims=True))
    counts, both, weighted, probs = np.ones((3, 3, 3)), np.zeros((3, 3)), np.zeros((3, 3)), []
    for v in y:
        T = len(v)
        seen = lambda p: sum(-(v[t] ** 2 - 2 * v[t] * mean[p[t - 2], p[t]] + mean[p[t - 2], p[t]] ** 2 + 0.25) for t in range(2, T))
        all_paths = Paths(T, 3, lambda p: sum(log_A[p[t - 2], p[t - 1], p[t]] for t in range(2, T)) + seen(p))
        probs += [all_paths.expected(t) for t in range(T)]
        for t in range(2, T):
            counts += all_paths.expected(t - 2, t - 1, t)
            both, weighted = both + all_paths.expected(t - 2, t), weighted + v[t] * all_paths.expected(t - 2, t)
    near(got.posterior["z.probs"], probs, 1e-9, "z.probs")
    near(got.posterior["A.concentration"], counts, 1e-9, "A.concentration")
    near(got.posterior["w.precision"], 1 + 2 * both, 1e-9, "w.precision")
    near(got.posterior["w.mean"], 2 * weighted / (1 + 2 * both), 1e-9, "w.mean")


@check
def three_back_and_known(rng):
    """Two values, three steps back; some states are known."""
    T, A = 8, rng.dirichlet(np.ones(2), size=(2, 2, 2))
    z = np.array([np.nan, 1, np.nan, np.nan, 0, np.nan, np.nan, 1])
    known = ~np.isnan(z)
    mu, y = np.array([0.0, 1.0]), rng.normal(size=T)

    def log_density(p):
        if np.any(p[known] != z[known]):
            return -np.inf
        return (3 * np.log(0.5) + sum(np.log(A[p[t - 3], p[t - 2], p[t - 1], p[t]]) for t in range(3, T)) + norm.logpdf(y, mu[p], 1.0).sum())

    want = Paths(T, 2, log_density)
    got = fit("""model m { plate t ordered; plate k = 2; plate j = k; plate i = k; plate h = k; data A[h, i, j] : simplex over k; data mu[k] : real;
      observe z[t] ~ Categorical(A[z[t-3], z[t-2], z[t-1]]) start Uniform() over k; observe y[t] ~ Normal(mean = mu[z[t]], sd = 1); }""",
              {"A": A, "mu": mu, "y": y, "z": z}, "--max-iter", "3")
    near(got.posterior["z.probs"], [want.expected(t) for t in range(T)], 1e-9, "z.probs")
    near(got.elbo, want.evidence, 1e-9, "log evidence")


@check
def draws_of_categories(rng):
    """Gibbs draws of whole sequences: how often three elements in a row have each value, also where products underflow."""
    T, mu = 6, np.array([-1.0, 0.5, 2.0])
    A, y = rng.dirichlet(np.ones(3), size=(3, 3)), rng.normal(size=T)
    text = "model m { %s data mu[k] : real; observe y[t] ~ Normal(mean = mu[z[t]], sd = 0.9); }" % (TRANSITIONS % TABLE)
    want = Paths(T, 3, lambda p: log_prior(A, p) + norm.logpdf(y, mu[p], 0.9).sum())
    z = gibbs(text, {"A": A, "mu": mu, "y": y}, [f"z.{t + 1}" for t in range(T)]).astype(int)
    for t in range(2, T):
        found = np.zeros((3, 3, 3))
        np.add.at(found, (z[:, t - 2], z[:, t - 1], z[:, t]), 1 / len(z))
        p = want.expected(t - 2, t - 1, t)
        assert np.all(np.abs(found - p) < 5 * np.sqrt(p * (1 - p) / len(z)) + 2 / len(z)), np.abs(found - p).max()


@check
def longer_than_a_factor(rng):
    """Beyond what one factor reaches, elements are updated one by one, and a warning says so."""
    got = fit("""model m { plate t ordered; x[t] ~ Normal(mean = 0.5 * x[t-13], sd = 1) start Normal(mean = 0, sd = 1);
      observe y[t] ~ Normal(mean = x[t], sd = 1); }""", {"y": rng.normal(size=30)}, *TIGHT)
    assert "12 steps" in got.said, got.said


@check
def without_noise(rng):
    """A level that has no noise is refused with the line to write; the walk of second order that it names is that trend, to 1e-6 of noise."""
    T, y = 15, np.cumsum(rng.normal(size=15))
    trend = """model m { plate t ordered; data w : real; level[t] ~ Normal(mean = level[t-1] + slope[t-1], sd = w) start Normal(mean = 0, sd = 1);
      slope[t] ~ Normal(mean = slope[t-1], sd = 0.7) start Normal(mean = 0, sd = 1); observe y[t] ~ Normal(mean = level[t], sd = 1);
      guide joint(level, slope); }"""
    try:
        fit(trend, {"y": y, "w": 0})
        raise AssertionError("not refused")
    except RuntimeError as e:
        assert "2 * level[t-1] - level[t-2]" in str(e) and "exit 4" in str(e), e
    rows = Rows(T)
    for t in range(T):  # the second level is the first and its slope
        rows.add({t: 1, t - 1: -2, t - 2: 1} if t > 1 else {t: 1, t - 1: -1} if t else {t: 1}, 0, 1 / 0.49 if t > 1 else 1)
        rows.add({t: 1}, y[t], 1)
    got = fit(trend, {"y": y, "w": 1e-3}, *TIGHT)
    near(got.elbo, rows.solve()[3], 1e-4, "log evidence")


finish(CHECKS)
