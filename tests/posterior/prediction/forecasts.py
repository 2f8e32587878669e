#!/usr/bin/env python3
"""`lehr predict` beyond what a fit has seen: forecasts of Kalman filters and hidden Markov models, new groups. The filters
are written here, in numpy.

usage: forecasts.py LEHR
"""
import itertools
import math
import sys

import numpy as np
from scipy import stats
from scipy.optimize import brentq

sys.path.append(f"{sys.path[0]}/..")
from fitting import check, finish  # noqa: E402
from predict import TIGHT, Predicted, near  # noqa: E402

RNG = np.random.default_rng(5)
CONVERGED = ["--tol", "1e-14", "--max-iter", "5000", "--search", "none"]
LEVELS = [("q5", 0.05), ("q50", 0.5), ("q95", 0.95)]


def kalman(y, A, Q, C, R, m, P, steps):
    """Means and covariances of states and observations after the last one of `y` (NaN: missing); m, P: the first state's."""
    for t, row in enumerate(y):
        if t > 0:
            m, P = A @ m, A @ P @ A.T + Q
        if not np.isnan(row).any():
            gain = P @ C.T @ np.linalg.inv(C @ P @ C.T + R)
            m, P = m + gain @ (row - C @ m), P - gain @ C @ P
    out = []
    for _ in range(steps):
        m, P = A @ m, A @ P @ A.T + Q
        out.append((m, P, C @ m, C @ P @ C.T + R))
    return [np.array(x) for x in zip(*out)]


STATES = """model m { plate t ordered; plate h = 2; plate d; data A : matrix over h, h; data Q : matrix over h, h;
  data C[d] : vector over h; data r[d] : real; data m0 : vector over h; data P0 : matrix over h, h;
  x[t] ~ MvNormal(mean = A * x[t-1], covariance = Q) start MvNormal(mean = m0, covariance = P0) over h;
  observe y[t, d] ~ Normal(mean = dot(C[d], x[t]), variance = r[d]); }"""
SYSTEM = {"A": np.array([[0.9, 0.2], [-0.3, 0.8]]), "Q": np.array([[0.3, 0.1], [0.1, 0.2]]), "C": np.array([[1.0, 0.5], [-0.7, 2.0], [0.1, 0.1]]),
          "r": np.array([0.5, 0.1, 2.0]), "m0": np.array([1.0, -1.0]), "P0": np.array([[2.0, 0.3], [0.3, 1.0]])}


def of_system(y, steps):
    s = SYSTEM
    return kalman(y, s["A"], s["Q"], s["C"], np.diag(s["r"]), s["m0"], s["P0"], steps)


def numbers(p, name, mean, sd, at):
    assert np.all(p[name + ".mcse"][at] == 0)
    near(p[name + ".mean"][at], mean)
    said = near(p[name + ".sd"][at], sd)
    for column, level in LEVELS:
        near(p[f"{name}.{column}"][at], stats.norm(mean, sd).ppf(level))
    return said


@check
def kalman_forecast():
    """A single series: the fit's own states, and twelve steps more than it has."""
    y = RNG.normal(size=(15, 3))
    f = Predicted(STATES, {**SYSTEM, "y": y})
    states, covariances, means, spreads = of_system(y, 12)
    # The series again, nothing at all, the series with rows that are missing.
    for data, sizes in [({"y": y}, ["--sizes", "t=+12"]), ({}, ["--sizes", "t=27"]),
                        ({"y": np.vstack([y, np.full((12, 3), math.nan)])}, [])]:
        p = f.predict({**SYSTEM, **data}, *sizes)
        assert "without draws" in p["said"], p["said"]
        at = slice(15, None)
        numbers(p, "x", states, np.sqrt(np.diagonal(covariances, axis1=1, axis2=2)), at)
        said = numbers(p, "y", means, np.sqrt(np.diagonal(spreads, axis1=1, axis2=2)), at)
        assert np.isnan(p["x.mean"][:15]).all()
    assert p["table"][-1]["t"] == "26"
    return said


SEASONS = """model m { plate t ordered;
  level[t] ~ Normal(mean = level[t-1], sd = 0.4) start Normal(mean = 0, sd = 10);
  s[t] ~ Normal(mean = 0 - s[t-1] - s[t-2] - s[t-3], sd = 0.25) start Normal(mean = 0, sd = 5);
  observe y[t] ~ Normal(mean = level[t] + s[t], sd = 0.6); }"""
TREND = """model m { plate t ordered;
  x[t] ~ Normal(mean = 2 * x[t-1] - x[t-2], sd = 0.05) start Normal(mean = 0, sd = 10);
  observe y[t] ~ Normal(mean = x[t], sd = 1); }"""


def normal_chain(y, rows):
    """Means and covariance of all numbers, in a Normal joint density: `rows` has (weights, sd) of each term; the last are
    those of y, of which NaN is missing."""
    size = len(rows[0][0])
    precision, linear = np.zeros((size, size)), np.zeros(size)
    for k, (w, sd) in enumerate(rows):
        value = y[k - len(rows) + len(y)] if k >= len(rows) - len(y) else 0.0
        if np.isnan(value):
            continue
        precision += np.outer(w, w) / sd**2
        linear += value * w / sd**2
    covariance = np.linalg.inv(precision)
    return covariance @ linear, covariance


def seasons_of(y, steps):
    n = len(y) + steps
    e = np.eye(2 * n)
    level, s = e[:n], e[n:]
    rows = [(level[t] - level[t - 1], 0.4) if t else (level[0], 10) for t in range(n)]
    rows += [(s[t - 3:t + 1].sum(0), 0.25) if t > 2 else (s[t], 5) for t in range(n)]
    y = np.concatenate([y, np.full(steps, np.nan)])
    return *normal_chain(y, rows + [(level[t] + s[t], 0.6) for t in range(n)]), level, s


@check
def several_lags():
    """A season that reaches back three steps beside a level, with gaps, and a smooth trend that reaches back two: forecasts
    and what is missing have the variances of the joint Normal distribution."""
    rng = np.random.default_rng(11)
    y = np.tile([-3.0, 1, 0, 2], 10) + np.cumsum(rng.normal(size=40)) * 0.4 + rng.normal(size=40)
    for series in (y, np.where(np.arange(40) % 7 == 5, np.nan, y)):
        f = Predicted(SEASONS, {"y": series})
        p = f.predict({}, "--sizes", "t=+9")
        mean, covariance, level, s = seasons_of(series, 9)
        of = lambda w: (w @ mean, np.sqrt((w @ covariance * w).sum(1)))
        at = slice(40, None)
        for name, w in ("level", level), ("s", s), ("y", level + s):
            near(p[name + ".mean"][at], of(w)[0][at])
            said = near(p[name + ".sd"][at], np.sqrt(of(w)[1][at] ** 2 + (0.36 if name == "y" else 0)), 1e-6)
    y = np.cumsum(np.cumsum(rng.normal(size=60))) * 0.05 + rng.normal(size=60)
    p = Predicted(TREND, {"y": y}).predict({}, "--sizes", "t=+5")
    x = np.eye(65)
    rows = [(x[t] - 2 * x[t - 1] + x[t - 2], 0.05) if t > 1 else (x[t], 10) for t in range(65)]
    mean, covariance = normal_chain(np.append(y, np.full(5, np.nan)), rows + [(x[t], 1) for t in range(65)])
    near(p["x.mean"][60:], mean[60:], 1e-6)
    return said + near(p["x.sd"][60:], np.sqrt(np.diag(covariance))[60:], 1e-5)


@check
def kalman_forecast_of_new_series():
    """Series of different lengths, whose states are inferred anew; the last observations are missing, or asked for."""
    model = STATES.replace("plate t ordered", "plate s; plate t in s ordered").replace("x[t]", "x[s, t]").replace("x[t-1]", "x[s, t-1]").replace(
        "y[t, d]", "y[s, t, d]")
    f = Predicted(model, {**SYSTEM, "t": [4, 5], "y": RNG.normal(size=(9, 3))})
    y = RNG.normal(size=(7, 3))
    gap = np.full((3, 3), math.nan)
    p = f.predict({**SYSTEM, "t": [10, 2], "y": np.vstack([y, gap, y[:2]])}, *TIGHT)
    states, covariances, means, spreads = of_system(y, 3)
    at = slice(7, 10)
    numbers(p, "x", states, np.sqrt(np.diagonal(covariances, axis1=1, axis2=2)), at)
    return numbers(p, "y", means, np.sqrt(np.diagonal(spreads, axis1=1, axis2=2)), at)


@check
def local_level():
    """Latent precisions: E[1 / walk] for every step, beside E[1 / noise]."""
    y = 1000 + np.cumsum(RNG.normal(size=30)) * 10 + RNG.normal(size=30) * 5
    f = Predicted("models/sequences/local_level.lehr", {"y": y}, "--search", "none")
    q = f.posterior
    p = f.predict({}, "--sizes", "year=+4", "--draws", 20000)
    steps = np.arange(1, 5)
    of = lambda v: q[v + ".rate"] / (q[v + ".shape"] - 1)
    variance = 1 / q["level.precision"][-1] + steps * of("walk")
    near(p["level.mean"][30:], q["level.mean"][-1])
    near(p["y.mean"][30:], q["level.mean"][-1])
    near(p["level.sd"][30:], np.sqrt(variance))
    assert np.all(p["y.mcse"][30:] == 0)
    # Two precisions at once have no closed form; the draws are within their error.
    noise = stats.gamma(q["noise.shape"], scale=1 / q["noise.rate"]).rvs(200000, random_state=1)
    walk = stats.gamma(q["walk.shape"], scale=1 / q["walk.rate"]).rvs(200000, random_state=2)
    sd = np.sqrt(1 / q["level.precision"][-1] + 1 / walk + 1 / noise)
    upper = brentq(lambda x: stats.norm.cdf(x / sd).mean() - 0.95, 0, 1000)
    got = p["y.q95"][30] - q["level.mean"][-1]
    assert abs(got / upper - 1) < 0.06, (got, upper)
    return near(p["y.sd"][30:], np.sqrt(variance + of("noise")))


HMM = """model m { plate t ordered; plate k = 3; data A[k] : simplex over k; data first : simplex over k; data mu[k] : real;
  data s[k] : real; z[t] ~ Categorical(A[z[t-1]]) start Categorical(first);
  observe x[t] ~ Normal(mean = mu[z[t]], sd = s[z[t]]); }"""
CHAIN = {"A": np.array([[0.8, 0.1, 0.1], [0.2, 0.5, 0.3], [0.05, 0.05, 0.9]]), "first": np.array([0.5, 0.3, 0.2]), "mu": np.array([-2.0, 0.5, 4.0]),
         "s": np.array([1.0, 0.3, 2.0])}


def filtered(x):
    alpha = None
    for value in x:
        alpha = CHAIN["first"] if alpha is None else alpha @ CHAIN["A"]
        alpha = alpha * stats.norm(CHAIN["mu"], CHAIN["s"]).pdf(value)
        alpha = alpha / alpha.sum()
    return alpha


def of_states(p, alpha, steps, begin):
    """Every step of a forecast: probabilities, and the mixture of Normals that they weight."""
    for k in range(steps):
        alpha = alpha @ CHAIN["A"]
        near(p["z.probability"][begin + k], alpha)
        mean = alpha @ CHAIN["mu"]
        sd = math.sqrt(alpha @ (CHAIN["s"] ** 2 + (CHAIN["mu"] - mean) ** 2))
        near(p["x.mean"][begin + k], mean)
        near(p["x.sd"][begin + k], sd)
        for column, level in LEVELS:
            cdf = lambda at: alpha @ stats.norm(CHAIN["mu"], CHAIN["s"]).cdf(at)
            near(p[f"x.{column}"][begin + k], brentq(lambda at: cdf(at) - level, -30, 30, xtol=1e-14))
    return f"{steps} steps"


@check
def hmm_forecast():
    x = RNG.normal(size=20) * 3
    f = Predicted(HMM, {**CHAIN, "x": x})
    p = f.predict({**CHAIN, "x": x}, "--sizes", "t=+40")
    assert "without draws" in p["said"], p["said"]
    return of_states(p, filtered(x), 40, 20)


@check
def hmm_forecast_of_new_sequences():
    model = HMM.replace("plate t ordered", "plate s_; plate t in s_ ordered").replace("z[t]", "z[s_, t]").replace("z[t-1]", "z[s_, t-1]").replace("x[t]", "x[s_, t]")
    f = Predicted(model, {**CHAIN, "x": [[0.1, 0.2], [3, 2, 1]]})
    x = (RNG.normal(size=9) * 3).tolist()
    p = f.predict({**CHAIN, "x": [[1.0], x]}, "--sizes", "t=+5", *TIGHT)
    of_states(p, filtered([1.0]), 5, 1)
    return of_states(p, filtered(x), 5, 6 + 9)


def best_path(x):
    """Every path of a short sequence."""
    n = len(x)
    with np.errstate(divide="ignore"):
        first, A = np.log(CHAIN["first"]), np.log(CHAIN["A"])
    emission = np.array([np.zeros(3) if np.isnan(v) else stats.norm(CHAIN["mu"], CHAIN["s"]).logpdf(v) for v in x])
    def log_density(path):
        return first[path[0]] + sum(A[i, j] for i, j in zip(path, path[1:])) + sum(emission[t, k] for t, k in enumerate(path))
    return max(itertools.product(range(3), repeat=n), key=log_density)


@check
def most_probable_paths():
    """Viterbi, for a series with a gap and a forecast, and for several sequences; it is not the path of the largest marginals."""
    differ = 0
    series = []
    for _ in range(6):
        x = RNG.normal(size=6) * 2 + 0.5
        x[2] = math.nan
        series.append(x)
        f = Predicted(HMM, {**CHAIN, "x": np.nan_to_num(x)}, "--search", "none")
        p = f.predict({**CHAIN, "x": x}, "--sizes", "t=+2")
        want = best_path(np.concatenate([x, [math.nan] * 2]))
        assert np.array_equal(p["z.path"], want), (p["z.path"], want)
        differ += not np.array_equal(p["z.path"], p["z.most_probable"])
        rows = [r for r in p["table"] if r["variable"] == "z" and r["path"] == "1"]
        assert [int(r["value"]) for r in rows] == list(want)
    assert differ > 0
    model = HMM.replace("plate t ordered", "plate s_; plate t in s_ ordered").replace("z[t]", "z[s_, t]").replace("z[t-1]", "z[s_, t-1]").replace("x[t]", "x[s_, t]")
    f = Predicted(model, {**CHAIN, "x": [[0.1, 0.2], [3, 2, 1]]})
    p = f.predict({**CHAIN, "x": [x.tolist() for x in series] + [[0.4]]}, *TIGHT)
    want = [k for x in series + [np.array([0.4])] for k in best_path(x)]
    assert np.array_equal(p["z.path"], want), (p["z.path"], want)
    return f"{differ} of 6 differ from the largest marginals"


@check
def hmm_with_latent_transitions():
    """One step is E[A] from the last state; two need second moments of a Dirichlet row."""
    model = """model m { plate t ordered; plate k = 2; data first : simplex over k; data e[k] : simplex over w; plate w;
      A[k] ~ Dirichlet(concentration = 1) over k; z[t] ~ Categorical(A[z[t-1]]) start Categorical(first);
      observe x[t] ~ Categorical(e[z[t]]); }"""
    known = {"first": [0.5, 0.5], "e": [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]}
    f = Predicted(model, {**known, "x": RNG.integers(0, 3, 25)}, "--search", "none")
    q = f.posterior
    p = f.predict(known, "--sizes", "t=+3", "--draws", 40000)
    concentration = q["A.concentration"]
    total = concentration.sum(1)
    mean = concentration / total[:, None]
    last = q["z.probs"][-1]
    near(p["z.probability"][25], last @ mean)
    near(p["x.probability"][25], last @ mean @ known["e"])
    second = np.zeros(2)
    for i in range(2):
        for j in range(2):
            for k in range(2):
                both = mean[i, j] * mean[j, k]
                if i == j:
                    covariance = mean[i, j] * ((j == k) - mean[i, k]) / (total[i] + 1)
                    both += covariance
                second[k] += last[i] * both
    said = near(p["z.probability"][26], second)
    # Third moments are left to the draws.
    A = np.stack([RNG.dirichlet(c, size=200000) for c in concentration], axis=1)
    third = np.einsum("i,nij,njk,nkl->l", last, A, A, A) / len(A)
    error = np.maximum(p["z.mcse"][27], 1e-3)
    assert np.all(np.abs(p["z.probability"][27] - third) < 5 * error), (p["z.probability"][27], third, p["z.mcse"][27])
    return said


GROUPS = """model m { plate county; plate house; data where[house] : county; data floor[house] : real;
  mu ~ Normal(mean = 0, sd = 10); between ~ Gamma(shape = 2, rate = 1); noise ~ Gamma(shape = 2, rate = 1);
  b ~ Normal(mean = 0, sd = 1); a[county] ~ Normal(mean = mu, precision = between);
  observe y[house] ~ Normal(mean = a[where[house]] + b * floor[house], precision = noise); }"""


@check
def new_groups():
    """A house in a county that the fit does not have."""
    where = ["Aitkin", "Anoka", "Becker", "Aitkin", "Anoka", "Becker"]
    f = Predicted(GROUPS, {"where": where, "floor": [0, 1, 0, 1, 1, 0], "y": [1.2, 0.3, 2.2, 0.8, 0.1, 2.5]}, "--search", "none", "--guide", "factorised")
    q = f.posterior
    new = {"where": ["Becker", "Zumbrota", "Anoka", "Zumbrota"], "floor": [1, 0, 0, 1], "y": [None] * 4}
    p = f.predict(new, "--draws", 2000)
    floor = np.array(new["floor"])
    inverse = lambda v: q[v + ".rate"] / (q[v + ".shape"] - 1)
    mean = {"Becker": q["a.mean"][2], "Anoka": q["a.mean"][1], "Zumbrota": q["mu.mean"]}
    variance = {"Becker": 1 / q["a.precision"][2], "Anoka": 1 / q["a.precision"][1], "Zumbrota": 1 / q["mu.precision"] + inverse("between")}
    near(p["y.mean"], np.array([mean[w] for w in new["where"]]) + q["b.mean"] * floor)
    said = near(p["y.sd"], np.sqrt(np.array([variance[w] for w in new["where"]]) + floor ** 2 / q["b.precision"] + inverse("noise")))
    assert np.all(p["y.mcse"] == 0)
    near(p["a.mean"][3], q["mu.mean"])
    near(p["a.sd"][3], math.sqrt(variance["Zumbrota"]))
    assert np.isnan(p["a.mean"][:3]).all()
    assert [r["county"] for r in p["table"] if r["variable"] == "a"] == ["Zumbrota"]
    # What an observation says of it would be lost.
    assert "has not seen" in f.predict({**new, "y": [None, 1.0, None, None]}, code=4)
    return said


@check
def new_groups_with_limits():
    """A number of a new group is drawn within its limits given its parents, as that of a new item is: quadrature over the
    factor of the mean. An observation of it is refused."""
    model = """model m { plate n; plate g; data of[n] : g; mu ~ Normal(mean = 0, sd = 3); u[g] ~ Normal(mean = mu, sd = 1) above 0;
      observe y[n] ~ Normal(mean = u[of[n]], sd = 1); }"""
    heavy = model.replace("Normal(mean = mu, sd = 1)", "StudentT(df = 4, mean = mu, sd = 1)")
    worst = 0
    for text, family in ((model, stats.norm), (heavy, stats.t(df=4))):
        f = Predicted(text, {"of": [0, 0, 1, 1], "y": [1.0, 2.0, 0.5, 0.1]}, "--search", "none")
        p = f.predict({"of": [0, 1, 2], "y": [None, None, None]}, "--sizes", "g=+1", "--draws", 20000)
        x, w = np.polynomial.hermite_e.hermegauss(60)
        mu = float(f.posterior["mu.mean"]) + x / math.sqrt(float(f.posterior["mu.precision"]))
        grid = np.linspace(0, 400, 400001)
        density = np.array([family.pdf(grid - m) for m in mu])
        moments = [np.trapz(density * grid ** k, grid, axis=1) for k in range(3)]
        mean, square = (w @ (moments[k] / moments[0]) / w.sum() for k in (1, 2))
        for got, want, error in ((p["u.mean"][2], mean, p["u.mcse"][2]), (p["y.mean"][2], mean, p["y.mcse"][2])):
            worst = max(worst, abs(got - want) / error)
        assert abs(p["u.sd"][2] / math.sqrt(square - mean ** 2) - 1) < 0.1, (p["u.sd"][2], square - mean ** 2)
        assert np.isnan(p["u.mean"][:2]).all() and worst < 4, (p["u.mean"], mean, p["u.mcse"], worst)
        said = f.predict({"of": [0, 2], "y": [None, 1.0]}, "--sizes", "g=+1", code=4)
        assert "an observation depends on u[2], which the fit has not seen" in said, said
    return f"within {worst:.1f} standard errors"


@check
def new_groups_by_size():
    f = Predicted(GROUPS, {"where": [0, 1, 2, 0], "floor": [0, 1, 0, 1], "y": [1.2, 0.3, 2.2, 0.8]}, "--search", "none")
    q = f.posterior
    p = f.predict({"where": [4, 0], "floor": [0, 0]}, "--sizes", "county=5", "--draws", 200)
    near(p["a.mean"][3:], q["mu.mean"])
    near(p["y.mean"], [q["mu.mean"], q["a.mean"][0]])
    assert "3 elements" in f.predict({"where": [0], "floor": [0]}, "--sizes", "county=2", code=4)
    assert "no plate" in f.predict({"where": [0], "floor": [0]}, "--sizes", "country=+2", code=2)
    f = Predicted("models/mixtures/gmm_diagonal.lehr", {"x": RNG.normal(size=(9, 2))}, "--set", "K=2")
    assert "no place for more" in f.predict({"x": [[0.1, None]]}, "--sizes", "k=+1", code=4)
    return "sizes and refusals"


finish()
