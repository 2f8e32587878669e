#!/usr/bin/env python3
"""Sequences of states in `lehr score` and `lehr predict`, by all of their paths: each is written out here, at the posterior
means of the fit.

usage: paths.py LEHR
"""
import functools
import itertools
import math
import sys

import numpy as np
from scipy.special import logsumexp
from scipy.stats import multivariate_normal, norm, poisson

sys.path.append(f"{sys.path[0]}/..")
from fitting import Folder, arrays, check, finish, read_json  # noqa: E402
from linear_normal import LinearNormal  # noqa: E402

RNG = np.random.default_rng(11)
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(60)


class Sequences(Folder):
    def __init__(self, model, data):
        super().__init__(model, data, "--search", "none", "--max-iter", 5)

    def predict(self, data, *arguments):
        self.said = self.run("predict", self.at("fit"), "--data", self.bind("new", data), "--out", self.at("out.npz"), *arguments)
        return arrays(self.at("out.npz"))

    def score(self, data, code=0):
        said = self.run("score", self.at("fit"), "--data", self.bind("test", data), code=code)
        if code:
            return said
        return read_json(self.at("fit/score.json"))


def rows(e):
    return e / e.sum(-1, keepdims=True)


def near(got, want):
    assert abs(got - want) < 1e-9 * (1 + abs(want)), (got, want)
    return f"{got:.6f}"


def log_densities(n, states, of_path):
    """Every path of a sequence, and its log density."""
    with np.errstate(divide="ignore"):
        return {path: of_path(path) for path in itertools.product(range(states), repeat=n)}


def walk(first, A, emission, path):
    """log p(path and observations); `emission` by [t, state]."""
    total = math.log(first[path[0]]) + emission[0][path[0]]
    for t in range(1, len(path)):
        total += math.log(A[path[t - 1], path[t]]) + emission[t][path[t]]
    return total


NORMAL = """model m { plate seq; plate t in seq ordered; plate k = 3; pi ~ Dirichlet(concentration = 2) over k;
  A[k] ~ Dirichlet(concentration = 2) over k; mu[k] ~ Normal(mean = 0, sd = 3); tau ~ Gamma(shape = 2, rate = 1); rate[k] ~ Gamma(shape = 2, rate = 1);
  z[seq, t] ~ Categorical(A[z[seq, t-1]]) start Categorical(pi);
  observe x[seq, t] ~ Normal(mean = mu[z[seq, t]], precision = tau);
  observe y[seq, t] ~ Poisson(rate[z[seq, t]]); }"""


def of_normal(q, x, y):
    sd = math.sqrt(q["tau.rate"] / q["tau.shape"])
    emission = np.where(np.isnan(x)[:, None], 0, norm.logpdf(np.nan_to_num(x)[:, None], q["mu.mean"], sd))
    emission += np.where(np.isnan(y)[:, None], 0, poisson.logpmf(np.nan_to_num(y)[:, None], q["rate.shape"] / q["rate.rate"]))
    first, A = rows(q["pi.concentration"]), rows(q["A.concentration"])
    return log_densities(len(x), 3, lambda path: walk(first, A, emission, path))


@functools.cache
def fitted_normal():
    return Sequences(NORMAL, {"t": [6, 4, 5], "x": RNG.normal(size=15) * 3, "y": RNG.poisson(2, 15).astype(float)})


@check
def known_states():
    """Some states are known: they are part of the density, and paths go through them."""
    f = fitted_normal()
    lengths = [5, 4]
    x, y = RNG.normal(size=9) * 2, RNG.poisson(2, 9).astype(float)
    z = np.array([math.nan, 2, math.nan, math.nan, 0, math.nan, math.nan, math.nan, math.nan])
    each, best = [], []
    for at in (slice(0, 5), slice(5, 9)):
        fits = {p: v for p, v in of_normal(f.posterior, x[at], y[at]).items() if all(math.isnan(k) or k == s for k, s in zip(z[at], p))}
        each.append(logsumexp(list(fits.values())))
        best += max(fits, key=fits.get)
    data = {"t": lengths, "x": x, "y": y, "z": z}
    got = f.score(data)
    assert got["observations"] == 9 + 9 + 2, got
    p = f.predict(data)
    unknown = np.isnan(z)
    assert np.array_equal(p["z.path"][unknown], np.array(best)[unknown]), (p["z.path"], best)
    assert set(p["z.path"][~unknown]) == {-1}
    assert np.allclose(got["sequences"], each, rtol=1e-10), (got, each)
    return near(got["total"], sum(each))


@check
def one_of_two_is_missing():
    """y is not there at all, x has gaps: paths are of what is left."""
    f = fitted_normal()
    x = RNG.normal(size=7) * 2
    x[3] = math.nan
    y = np.full(7, math.nan)
    p = f.predict({"t": [7], "x": x})
    fits = of_normal(f.posterior, x, y)
    best = max(fits, key=fits.get)
    assert np.array_equal(p["z.path"], best), (p["z.path"], best)
    assert "z.path" not in f.predict({"t": [3]}), "a path of nothing"
    return "".join(map(str, best))


@check
def mixtures_at_each_step():
    """A component of each observation beside the state: summed over for every state by itself."""
    model = """model m { plate seq; plate t in seq ordered; plate k = 2; plate c = 3; pi ~ Dirichlet(concentration = 2) over k;
      A[k] ~ Dirichlet(concentration = 2) over k; w[k] ~ Dirichlet(concentration = 2) over c; mu[c] ~ Normal(mean = 0, sd = 3);
      tau ~ Gamma(shape = 2, rate = 1); z[seq, t] ~ Categorical(A[z[seq, t-1]]) start Categorical(pi);
      u[seq, t] ~ Categorical(w[z[seq, t]]); observe x[seq, t] ~ Normal(mean = mu[u[seq, t]], precision = tau); }"""
    f = Sequences(model, {"t": [9, 8], "x": RNG.normal(size=17) * 3})
    q = f.posterior
    x = RNG.normal(size=11) * 3
    parts = norm.logpdf(x[:, None], q["mu.mean"], math.sqrt(q["tau.rate"] / q["tau.shape"]))
    emission = logsumexp(np.log(rows(q["w.concentration"]))[None] + parts[:, None], axis=2)
    first, A = rows(q["pi.concentration"]), rows(q["A.concentration"])
    total, best = 0, ()
    for at in (slice(0, 7), slice(7, 11)):
        fits = log_densities(at.stop - at.start, 2, lambda path: walk(first, A, emission[at], path))
        total += logsumexp(list(fits.values()))
        best += max(fits, key=fits.get)
    data = {"t": [7, 4], "x": x}
    assert np.array_equal(f.predict(data)["z.path"], best)
    return near(f.score(data)["total"], total)


@check
def mixture_of_chains():
    """A category of each sequence selects the transitions: it is summed over once for a sequence."""
    f = Sequences("models/sequences/mixture_of_hmms.lehr", {"t": [6, 5, 7], "B": np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]]),
                                                  "x": RNG.integers(0, 3, 18)})
    q = f.posterior
    B = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]])
    x = RNG.integers(0, 3, 8)
    first, A, rho = rows(q["pi.concentration"]), rows(q["A.concentration"]), rows(q["rho.concentration"])
    each = []
    for at in (slice(0, 5), slice(5, 5), slice(5, 8)):
        emission = np.log(B[:, x[at]]).T
        each.append(0 if at.start == at.stop else logsumexp([math.log(rho[c]) + logsumexp(list(log_densities(at.stop - at.start, 3, lambda path: walk(first, A[c], emission, path)).values()))
                            for c in range(3)]))
    data = {"t": [5, 0, 3], "B": B, "x": x}
    assert "s.path" not in f.predict(data), "paths depend on the category"
    got = f.score(data)
    assert np.allclose(got["sequences"], each, rtol=1e-10), (got, each)
    return near(got["total"], sum(each))


@check
def steps_before_sequences():
    """The ordered plate is the first one: the elements of a sequence do not stand beside each other."""
    model = """model m { plate t ordered; plate n; plate k = 2; pi ~ Dirichlet(concentration = 2) over k; A[k] ~ Dirichlet(concentration = 2) over k;
      p[k] ~ Beta(1, 1); z[t, n] ~ Categorical(A[z[t-1, n]]) start Categorical(pi); observe x[t, n] ~ Bernoulli(p[z[t, n]]); guide independent(z); }"""
    f = Sequences(model, {"x": RNG.integers(0, 2, (5, 3))})
    q = f.posterior
    x = RNG.integers(0, 2, (5, 3))
    p = q["p.a"] / (q["p.a"] + q["p.b"])
    first, A = rows(q["pi.concentration"]), rows(q["A.concentration"])
    all_of = [log_densities(5, 2, lambda path: walk(first, A, np.log(np.where(x[:, [n]] == 1, p, 1 - p)), path)) for n in range(3)]
    best = np.array([max(fits, key=fits.get) for fits in all_of]).T
    got = f.predict({"x": x})
    assert np.array_equal(got["z.path"], best), (got["z.path"], best)
    got = f.score({"x": x})
    each = [logsumexp(list(fits.values())) for fits in all_of]
    assert np.allclose(got["sequences"], each, rtol=1e-10), (got, each)
    return near(got["total"], sum(each))


@check
def states_of_several_sequences():
    """Gaussian states with feedback and an offset, by the Normal of all observations of a sequence; one has none."""
    model = """model m { plate seq; plate t in seq ordered; phi ~ Normal(mean = 0, sd = 1); c ~ Normal(mean = 0, sd = 1); walk ~ Gamma(shape = 2, rate = 1);
      noise ~ Gamma(shape = 2, rate = 1); x[seq, t] ~ Normal(mean = phi * x[seq, t-1] + c, precision = walk) start Normal(mean = c, precision = walk);
      observe y[seq, t] ~ Normal(mean = 2 * x[seq, t] - 1, precision = noise); }"""
    f = Sequences(model, {"y": [[1.0, 2.0, 1.5, 0.2], [3.0, 2.0]]})
    q = f.posterior
    each = []
    series = [[1.0, None, 2.0, 0.5], [], [3.0], [None, None]]
    for y in series:
        y = np.array(y, dtype=float)
        there, n = ~np.isnan(y), len(y)
        path = np.linalg.inv(np.eye(n) - q["phi.mean"] * np.eye(n, k=-1)) if n else np.zeros((0, 0))
        mean = 2 * path @ np.full(n, q["c.mean"]) - 1
        covariance = 4 * path @ path.T * q["walk.rate"] / q["walk.shape"] + np.eye(n) * q["noise.rate"] / q["noise.shape"]
        each.append(multivariate_normal.logpdf(y[there], mean[there], covariance[np.ix_(there, there)]) if there.any() else 0)
    got = f.score({"y": series})
    assert np.allclose(got["sequences"], each, rtol=1e-10, atol=1e-12), (got, each)
    assert got["observations"] == 4
    return near(got["total"], sum(each))


@check
def covariates_that_are_zero():
    """An observation that its covariate takes off the state still belongs to its own sequence."""
    model = """model m { plate seq; plate t in seq ordered; data c[seq, t] : real; noise ~ Gamma(shape = 2, rate = 1);
      x[seq, t] ~ Normal(mean = x[seq, t-1], sd = 1) start Normal(mean = 0, sd = 1);
      observe y[seq, t] ~ Normal(mean = c[seq, t] * x[seq, t], precision = noise); }"""
    f = Sequences(model, {"y": [[1.0, 2.0, 1.5, 0.2], [3.0, 2.0]], "c": [[1, 1, 1, 1], [1, 1]]})
    variance = f.posterior["noise.rate"] / f.posterior["noise.shape"]
    each, y, c = [], [[0.3, -0.2], [1.0, 0.7, 2.5], [-0.4]], [[1, 0], [2, 0, 0], [0]]
    for values, scale in zip(y, c):
        steps = np.arange(len(values)) + 1.0
        covariance = np.outer(scale, scale) * np.minimum.outer(steps, steps) + variance * np.eye(len(values))
        each.append(multivariate_normal.logpdf(values, np.zeros(len(values)), covariance))
    got = f.score({"y": y, "c": c})
    assert np.allclose(got["sequences"], each, rtol=1e-10), (got, each)
    return near(got["total"], sum(each))


@check
def differences_of_joint_states():
    """A gap in what is seen of two steps of a level that has one factor with its slope: by the Normal of all of them."""
    model = """model m { plate t ordered; a[t] ~ Normal(mean = a[t-1] + b[t-1], sd = 0.5) start Normal(mean = 0, sd = 1);
      b[t] ~ Normal(mean = 0.9 * b[t-1], sd = 0.5) start Normal(mean = 0, sd = 1); observe x[t] ~ Normal(mean = a[t], sd = 0.3);
      observe y[t] ~ Normal(mean = a[t] - a[t-1], sd = 0.1) start Normal(mean = a[t], sd = 0.1); guide joint(a, b); }"""
    n, x, y = 6, np.array([0.1, 0.5, 1.2, 1.8, 2.2, 2.1]), np.array([0.1, math.nan, 0.6, math.nan, 0.5, 0.1])
    precision, linear = np.zeros((2 * n, 2 * n)), np.zeros(2 * n)

    def see(value, sd, *weights):
        row = np.zeros(2 * n)
        for at, weight in weights:
            row[at] += weight
        precision[:] += np.outer(row, row) / sd**2
        linear[:] += row * value / sd**2

    for t in range(n):
        before = [(t - 1, -1.0)] if t else []
        see(0, 0.5 if t else 1, (t, 1), *before, *([(n + t - 1, -1)] if t else []))
        see(0, 0.5 if t else 1, (n + t, 1), *([(n + t - 1, -0.9)] if t else []))
        see(x[t], 0.3, (t, 1))
        if not math.isnan(y[t]):
            see(y[t], 0.1, (t, 1), *before)
    covariance = np.linalg.inv(precision)
    mean = covariance @ linear
    f = Sequences(model, {"x": x, "y": y})
    got = f.predict({"x": x, "y": y})
    for t in (1, 3):
        row = np.zeros(2 * n)
        row[t], row[t - 1] = 1, -1
        sd = math.sqrt(row @ covariance @ row + 0.01)
        near(got["y.mean"][t], row @ mean)
        near(got["y.sd"][t], sd)
    said = f.run("predict", f.at("fit"), "--data", f.bind("new", {"x": x, "y": y}), "--out", f.at("out.npz"))
    assert "without draws" in said, said
    return "two gaps"


class Normal:
    """The Normal density of n numbers that is a product of those of weighted sums: (value, precision, {number: weight})."""

    def __init__(self, n, terms):
        precision, linear = np.zeros((n, n)), np.zeros(n)
        for value, weight, of in terms:
            row = self.row(n, of)
            precision += weight * np.outer(row, row)
            linear += weight * value * row
        self.covariance = np.linalg.inv(precision)
        self.mean = self.covariance @ linear

    @staticmethod
    def row(n, of):
        out = np.zeros(n)
        for k, weight in of.items():
            out[k] += weight
        return out

    def of(self, weights, noise=0.0):
        row = self.row(len(self.mean), weights)
        return row @ self.mean, math.sqrt(row @ self.covariance @ row + noise)


WALK = """plate t ordered; w ~ Gamma(shape = 3, rate = 2); r ~ Gamma(shape = 3, rate = 2);
  a[t] ~ Normal(mean = 0.9 * a[t-1], precision = w) start Normal(mean = 0, sd = 2); observe y[t] ~ Normal(mean = a[t], precision = r);"""


def walk_of(q, y):
    w, r = q["w.shape"] / q["w.rate"], q["r.shape"] / q["r.rate"]
    return [(0, 0.25, {0: 1}), *((0, w, {t: 1, t - 1: -0.9}) for t in range(1, len(y))), *((x, r, {t: 1}) for t, x in enumerate(y) if not math.isnan(x))]


class Settled(Folder):
    def __init__(self, model, data):
        super().__init__(model, data, "--search", "none", "--max-iter", 20000, "--tol", "1e-16")

    predict = Sequences.predict


def close(got, want, tolerance=2e-6):
    assert np.allclose(got, want, rtol=tolerance, atol=tolerance), (got, want)


@check
def steps_of_one_chain():
    """Sums, differences and products of steps that are near or far, and a forecast of the sum of all: by the Normal of all steps."""
    y = np.cumsum(RNG.normal(size=8))
    y[3:7] = math.nan  # what is not seen goes with its neighbours
    data = {"y": y, "i": [5, 2, 7, 4], "j": [4, 6, 1, 4]}
    f = Settled(f"""model m {{ {WALK} plate pair; data i[pair] : t; data j[pair] : t; let total = sum(t) a[t];
      let apart[pair] = a[i[pair]] - 2 * a[j[pair]]; let product[pair] = a[i[pair]] * a[j[pair]];
      let chance[pair] = logistic(4 * a[i[pair]] - 4 * a[j[pair]]); }}""", data)
    q = Normal(8, walk_of(f.posterior, y))
    got = f.predict(data, "--draws", "20000")
    close((got["total.mean"], got["total.sd"]), q.of({t: 1 for t in range(8)}))
    for k, (i, j) in enumerate(zip(data["i"], data["j"])):
        close((got["apart.mean"][k], got["apart.sd"][k]), q.of({i: 1, j: -2} if i != j else {i: -1}))
        close(got["product.mean"][k], q.mean[i] * q.mean[j] + q.covariance[i, j])
        mean, sd = q.of({i: 1, j: -1}) if i != j else (0, 0)
        chance = np.average(1 / (1 + np.exp(-4 * (mean + sd * NODES))), weights=WEIGHTS)
        assert abs(got["chance.mean"][k] - chance) < 5 * max(got["chance.mcse"][k], 1e-12), (got["chance.mean"][k], chance)
    # Two steps more: what they add to the sum is known but for their own noise.
    w = f.posterior["w.rate"] / (f.posterior["w.shape"] - 1)
    got = f.predict(data | {"y": [*y, math.nan, math.nan]})
    close((got["total.mean"], got["total.sd"]), q.of({t: 1 for t in range(7)} | {7: 1 + 0.9 + 0.81}, w * (1.9**2 + 1)))
    return "ten of them"


@check
def steps_of_vectors():
    A, c, n = np.array([[0.9, 0.2, 0], [-0.3, 0.8, 0.1], [0, 0.1, 0.7]]), np.array([1, -0.5, 0.3]), 7
    data = {"A": A, "c": c, "y": RNG.normal(size=n), "i": [3, 6, 0], "j": [2, 1, 5]}
    f = Settled("""model m { plate t ordered; plate k = 3; plate l = k; data A[k, l] : real; data c[k] : real; r ~ Gamma(shape = 3, rate = 2);
      x[t] ~ MvNormal(mean = A * x[t-1], precision = 2) start MvNormal(mean = 0, precision = 1) over k;
      observe y[t] ~ Normal(mean = dot(c, x[t]), precision = r); plate pair; data i[pair] : t; data j[pair] : t;
      let apart[pair] = dot(c, x[i[pair]]) - 2 * dot(c, x[j[pair]]); let product[pair] = dot(c, x[i[pair]]) * dot(c, x[j[pair]]); }""", data)
    at = lambda t, weights: {3 * t + k: weight for k, weight in enumerate(weights)}
    steps = [(0, 2, at(t, np.eye(3)[k]) | at(t - 1, -A[k])) for t in range(1, n) for k in range(3)]
    r = f.posterior["r.shape"] / f.posterior["r.rate"]
    q = Normal(3 * n, [*((0, 1, {k: 1}) for k in range(3)), *steps, *((y, r, at(t, c)) for t, y in enumerate(data["y"]))])
    got = f.predict(data)
    for k, (i, j) in enumerate(zip(data["i"], data["j"])):
        close((got["apart.mean"][k], got["apart.sd"][k]), q.of(at(i, c) | at(j, -2 * c)))
        one, other = Normal.row(3 * n, at(i, c)), Normal.row(3 * n, at(j, c))
        close(got["product.mean"][k], one @ q.mean * (other @ q.mean) + one @ q.covariance @ other)
    return "three pairs"


@check
def steps_of_a_longer_reach():
    """The covariances of a chain that reaches back two steps are not to be had: nothing is said to be exact."""
    f = Settled("""model m { plate t ordered; a[t] ~ Normal(mean = 1.5 * a[t-1] - 0.7 * a[t-2], sd = 1) start Normal(mean = 0, sd = 1);
      observe y[t] ~ Normal(mean = a[t], sd = 1); observe d[t] ~ Normal(mean = a[t] - a[t-1], sd = 1) start Normal(mean = 0, sd = 1); }""",
                {"y": RNG.normal(size=6), "d": [None] * 6})
    f.predict({"y": [0.0] * 6, "d": [None] * 6})
    assert "draws" in f.said, f.said
    return f.said.split(": ")[1].split(" in ")[0]


@check
def steps_of_new_sequences():
    """Gaps of new sequences, and one difference that is seen: it ties steps, too."""
    model = """model m { plate seq; plate t in seq ordered; w ~ Gamma(shape = 3, rate = 2); r ~ Gamma(shape = 3, rate = 2);
      a[seq, t] ~ Normal(mean = 0.8 * a[seq, t-1], precision = w) start Normal(mean = 0, sd = 2);
      observe y[seq, t] ~ Normal(mean = a[seq, t], precision = r);
      observe d[seq, t] ~ Normal(mean = a[seq, t] - a[seq, t-1], sd = 0.1) start Normal(mean = a[seq, t], sd = 0.1); }"""
    y = [np.cumsum(RNG.normal(size=k)).tolist() for k in (5, 6, 4)]
    f = Settled(model, {"y": y, "d": [[None] * len(x) for x in y]})
    w, r = (f.posterior[f"{v}.shape"] / f.posterior[f"{v}.rate"] for v in "wr")
    y, d = [np.cumsum(RNG.normal(size=6)).tolist(), [0.1, 0.5, -0.2]], [[None] * 4 + [0.7, None], [None] * 3]
    y[0][2] = None
    got = f.predict({"y": y, "d": d})
    at = iter(range(9))
    for x, seen in zip(y, d):
        n = len(x)
        q = Normal(n, [(0, 0.25, {0: 1}), *((0, w, {t: 1, t - 1: -0.8}) for t in range(1, n)),
                       *((x[t], r, {t: 1}) for t in range(n) if x[t] is not None),
                       *((seen[t], 100, {t: 1, t - 1: -1}) for t in range(1, n) if seen[t] is not None)])
        for t, k in zip(range(n), at):
            if t and seen[t] is None:
                close((got["d.mean"].ravel()[k], got["d.sd"].ravel()[k]), q.of({t: 1, t - 1: -1}, 0.01))
    return "six gaps"


@check
def vague_states():
    """A level that nothing is known of before: its variance is 1e14 times that of the noise."""
    model = """model m { plate t ordered; walk ~ Gamma(shape = 3, rate = 2); noise ~ Gamma(shape = 3, rate = 2);
      x[t] ~ Normal(mean = x[t-1], precision = walk) start Normal(mean = 0, variance = 1e14); observe y[t] ~ Normal(mean = x[t], precision = noise); }"""
    f = Sequences(model, {"y": np.cumsum(RNG.normal(size=12))})
    q = f.posterior
    y = np.cumsum(RNG.normal(size=8)) + 100
    w, r = q["walk.rate"] / q["walk.shape"], q["noise.rate"] / q["noise.shape"]
    # The first value and the steps after it: only the variance of the first one has the large number.
    steps = np.diff(y)
    covariance = np.diag(np.full(7, w + 2 * r)) - r * (np.eye(7, k=1) + np.eye(7, k=-1))
    across = np.array([-r] + [0] * 6)
    weights = np.linalg.solve(covariance, across)
    total = multivariate_normal.logpdf(steps, np.zeros(7), covariance)
    total += norm.logpdf(y[0], weights @ steps, math.sqrt(1e14 + r - weights @ across))
    return near(f.score({"y": y})["total"], total)


TWO = """model m { plate seq; plate t in seq ordered; plate k = 2; plate l = 3; pi ~ Dirichlet(concentration = 2) over k; A[k] ~ Dirichlet(concentration = 2) over k;
  rho ~ Dirichlet(concentration = 2) over l; B[l] ~ Dirichlet(concentration = 2) over l; mu[k] ~ Normal(mean = 0, sd = 3); nu[l] ~ Normal(mean = 0, sd = 3); tau ~ Gamma(shape = 2, rate = 1);
  z[seq, t] ~ Categorical(A[z[seq, t-1]]) start Categorical(pi); v[seq, t] ~ Categorical(B[v[seq, t-1]]) start Categorical(rho);
  observe x[seq, t] ~ Normal(mean = mu[z[seq, t]] + nu[v[seq, t]], precision = tau); observe y[seq, t] ~ Normal(mean = nu[v[seq, t]], precision = 2); }"""


def pairs_of_paths(model, v_given_z, values=3):
    """Every pair of paths, some observations missing and a state known; the fit is of a step or two."""
    f = Sequences(model, {"t": [6, 5], "x": RNG.normal(size=11), "y": RNG.normal(size=11)})
    q = f.posterior
    pi, A, rho, B = (rows(q[f"{name}.concentration"]) for name in ("pi", "A", "rho", "B"))
    x, y, z = RNG.normal(size=7) * 2, RNG.normal(size=7) * 2, np.full(7, math.nan)
    x[2], y[2], y[5], z[4] = math.nan, math.nan, math.nan, 1
    of_x = lambda t, a, b: 0 if math.isnan(x[t]) else norm.logpdf(x[t], q["mu.mean"][a] + q["nu.mean"][b], math.sqrt(q["tau.rate"] / q["tau.shape"]))
    of_y = lambda t, b: 0 if math.isnan(y[t]) else norm.logpdf(y[t], q["nu.mean"][b], math.sqrt(0.5))
    each, best_z, best_v = [], (), ()
    for begin, n in ((0, 4), (4, 3)):
        fits = {}
        for a in itertools.product(range(2), repeat=n):
            if any(z[begin + t] != a[t] and not math.isnan(z[begin + t]) for t in range(n)):
                continue
            for b in itertools.product(range(values), repeat=n):
                log = math.log(pi[a[0]]) + math.log(rho[b[0]])
                log += sum(math.log(A[a[t - 1], a[t]]) + math.log((B[a[t]] if v_given_z else B)[b[t - 1], b[t]]) for t in range(1, n))
                fits[a, b] = log + sum(of_x(begin + t, a[t], b[t]) + of_y(begin + t, b[t]) for t in range(n))
        each.append(logsumexp(list(fits.values())))
        a, b = max(fits, key=fits.get)
        best_z, best_v = best_z + a, best_v + b
    data = {"t": [4, 3], "x": x, "y": y, "z": z}
    got, p = f.score(data), f.predict(data)
    assert np.allclose(got["sequences"], each, rtol=1e-10), (got, each)
    there = np.isnan(z)
    assert np.array_equal(p["z.path"][there], np.array(best_z)[there]) and np.array_equal(p["v.path"], best_v), (p["z.path"], p["v.path"], best_z, best_v)
    return near(got["total"], sum(each))


@check
def two_chains():
    """Both say something of one observation (factorial), and one says something of another alone."""
    return pairs_of_paths(TWO, False)


@check
def two_chains_alike():
    """As many states in each."""
    return pairs_of_paths(TWO.replace("plate l = 3", "plate l = 2"), False, 2)


@check
def a_chain_of_another():
    """The transitions of one depend on the state of the other."""
    return pairs_of_paths(TWO.replace("B[l] ~", "B[k, l] ~").replace("B[v[seq, t-1]]", "B[z[seq, t], v[seq, t-1]]"), True)


@check
def levels_slopes_and_turns():
    """Three chains of numbers and vectors, in one factor and in three: the filter has all of them together. A covariate is 0."""
    model = """model m { plate s; plate t in s ordered; plate d = 2; data x[s, t] : real; data R : matrix over d, d; tl ~ Gamma(shape = 3, rate = 1); ty ~ Gamma(shape = 3, rate = 1);
      level[s, t] ~ Normal(mean = level[s, t-1] + slope[s, t], precision = tl) start Normal(mean = slope[s, t], precision = 0.2);
      slope[s, t] ~ Normal(mean = slope[s, t-1], precision = 8) start Normal(mean = 0, precision = 1);
      turn[s, t] ~ MvNormal(mean = R * turn[s, t-1], precision = 5) start MvNormal(mean = 0, precision = 1) over d;
      observe y[s, t] ~ Normal(mean = level[s, t] + turn[s, t, 0] * x[s, t], precision = ty); observe u[s, t] ~ Normal(mean = slope[s, t] - turn[s, t, 1], precision = 2);
      observe w[s, t] ~ Normal(mean = turn[s, t, 0] * x[s, t], precision = 1); %s }"""
    R = np.array([[0.6, 0.7], [-0.7, 0.6]])
    for guide in ("guide joint(level, slope, turn);", ""):
        f = Sequences(model % guide, {"R": R, "t": [5, 4], **{v: RNG.normal(size=9) for v in "xyuw"}})
        tl, ty = (f.posterior[f"{v}.shape"] / f.posterior[f"{v}.rate"] for v in ("tl", "ty"))
        lengths, new, each, at = [5, 0, 3], {v: RNG.normal(size=8) for v in "xyuw"}, [], 0
        new["y"][3], new["u"][6], new["x"][1] = math.nan, math.nan, 0
        for n in lengths:
            if n == 0:
                each.append(0)
                continue
            q = LinearNormal(level=n, slope=n, turn=(n, 2))
            L, S, T = q.at["level"], q.at["slope"], q.at["turn"]
            q.add(0.2, 0, (L[0], 1), (S[0], -1))
            for c in (S[0], *T[0]):
                q.add(1, 0, (c, 1))
            for i in range(n):
                if i:
                    q.add(8, 0, (S[i], 1), (S[i - 1], -1))
                    q.add(tl, 0, (L[i], 1), (L[i - 1], -1), (S[i], -1))
                    for k in range(2):
                        q.add(5, 0, (T[i, k], 1), (T[i - 1, 0], -R[k, 0]), (T[i - 1, 1], -R[k, 1]))
                x, y, u, w = (new[v][at + i] for v in "xyuw")
                q.add(1, -w, (T[i, 0], x))
                if not math.isnan(y):
                    q.add(ty, -y, (L[i], 1), (T[i, 0], x))
                if not math.isnan(u):
                    q.add(2, -u, (S[i], 1), (T[i, 1], -1))
            each.append(q.solve([np.arange(q.n)]).elbo)
            at += n
        got = f.score({"R": R, "t": lengths, **new})
        assert np.allclose(got["sequences"], each, rtol=1e-9), (got, each)
    return near(got["total"], sum(each))


@check
def refusals():
    """What belongs to two elements that do not follow each other has no sum over paths."""
    data = {"t": [6, 5], "x": RNG.normal(size=11)}
    shared = NORMAL.replace("observe y[seq, t] ~ Poisson(rate[z[seq, t]]);", "g[seq, t] ~ Categorical(pi);").replace(
        "Categorical(A[z[seq, t-1]])", "Categorical(B[g[seq, t], z[seq, t-1]])").replace("mean = mu[z[seq, t]]", "mean = mu[z[seq, t]] + nu[g[seq, t]]").replace(
        "rate[k] ~ Gamma(shape = 2, rate = 1);", "B[k, k] ~ Dirichlet(concentration = 2) over k; nu[k] ~ Normal(mean = 0, sd = 1);")
    shared = shared.replace("B[k, k]", "B[l, k]").replace("plate k = 3;", "plate k = 3; plate l = k;")
    f = Sequences(shared, data)
    assert "another observation or transition" in f.score(data, code=2)
    assert "z.path" not in f.predict(data)
    copies = NORMAL.replace("in seq ordered", "in seq ordered times count").replace("observe y[seq, t] ~ Poisson(rate[z[seq, t]]);", "").replace("rate[k] ~ Gamma(shape = 2, rate = 1);", "")
    try:
        Sequences(copies, {**data, "count": np.full(11, 2)})
    except AssertionError as refused:
        assert "'z' is a chain over 't', whose elements stand for several (`times count`)" in str(refused)
        return "two of them"
    raise AssertionError("steps of a latent chain have copies")


finish()
