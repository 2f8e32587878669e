#!/usr/bin/env python3
"""What `lehr predict` has in closed form: standard deviations by the law of total variance, quantiles of Normal, Student,
negative binomial and other distributions and of their mixtures, against scipy and numpy.

usage: predictive.py LEHR
"""
import math
import sys

import numpy as np
from scipy import integrate, stats
from scipy.optimize import brentq

sys.path.append(f"{sys.path[0]}/..")
from fitting import check, finish, lehr  # noqa: E402
from predict import TIGHT, Predicted, near  # noqa: E402

RNG = np.random.default_rng(21)
LEVELS = [("q5", 0.05), ("q50", 0.5), ("q95", 0.95)]


def exactly(p, name, mean, sd, quantile=None, at=..., limit=1e-9):
    """Numbers of `name` at `at`, none of them drawn; `quantile` is a function of the level."""
    assert "without draws" in p["said"], p["said"]
    assert np.all(p[name + ".mcse"][at] == 0)
    near(p[name + ".mean"][at], mean, limit)
    said = near(p[name + ".sd"][at], sd, limit)
    for column, level in LEVELS if quantile else []:
        near(p[f"{name}.{column}"][at], quantile(level), limit)
    return said


def quantile_of(weights, parts):
    """Of a mixture of frozen continuous distributions."""
    def at(level):
        low, high = min(d.ppf(level) for d in parts), max(d.ppf(level) for d in parts)
        if high - low < 1e-12:
            return low
        margin = 1e-9 * (high - low)  # a weight of almost one: rounding may put the root outside
        return brentq(lambda x: sum(w * d.cdf(x) for w, d in zip(weights, parts)) - level, low - margin, high + margin, xtol=1e-14)
    return at


@check
def mixture_of_normals():
    """Weights, means and precisions are data: a point without a value is a mixture of three."""
    weights, means, sds = np.array([0.5, 0.2, 0.3]), np.array([-2.0, 1.0, 1000.0]), np.array([0.5, 2.0, 0.1])
    model = """model m { plate n; plate k = 3; data pi : simplex over k; data mu[k] : real; data s[k] : real;
      scale ~ Gamma(shape = 1, rate = 1); observe e ~ Normal(mean = 0, precision = scale);
      z[n] ~ Categorical(pi); observe x[n] ~ Normal(mean = mu[z[n]], sd = s[z[n]]); }"""
    known = {"pi": weights, "mu": means, "s": sds, "e": 0.3}
    f = Predicted(model, {**known, "x": RNG.normal(size=5)})
    p = f.predict({**known, "x": [0.1, math.nan]})
    mean = weights @ means
    sd = math.sqrt(weights @ (sds ** 2 + (means - mean) ** 2))
    return exactly(p, "x", mean, sd, quantile_of(weights, [stats.norm(m, s) for m, s in zip(means, sds)]), at=1)


@check
def mixture_of_students():
    """Normal-Wishart factors: multivariate t, of which each number is one."""
    x = np.concatenate([RNG.normal(size=(20, 2)) + [3, 0], RNG.normal(size=(15, 2)) * 0.5])
    f = Predicted("models/mixtures/gmm_normal_wishart.lehr", {"x": x}, "--set", "K=2")
    q = f.posterior
    gap = np.array([[1.0, 2.0], [math.nan, math.nan]])
    p = f.predict({"x": gap})
    concentration = q["pi.concentration"]
    weights = concentration / concentration.sum()
    df = q["Lambda.df"] - 2 + 1
    inverse = np.linalg.inv(q["Lambda.scale"])
    errors = []
    for j in range(2):
        scale = np.sqrt(inverse[:, j, j] * (1 + 1 / q["mu.precision_scale"]) / df)
        parts = [stats.t(df[k], q["mu.mean"][k, j], scale[k]) for k in range(2)]
        mean = weights @ q["mu.mean"][:, j]
        second = sum(w * (d.var() + (d.mean() - mean) ** 2) for w, d in zip(weights, parts))
        errors.append(exactly(p, "x", mean, math.sqrt(second), quantile_of(weights, parts), at=(1, j)))
    return errors[-1]


@check
def student():
    """The mean k times a Normal-Gamma mean plus an offset: Student's t."""
    model = """model m { plate n; data k[n] : real; tau ~ Gamma(shape = 3, rate = 2);
      mu ~ Normal(mean = 1, precision = 0.1 * tau);
      observe x[n] ~ Normal(mean = k[n] * mu + 2, precision = 4 * tau); guide joint(mu, tau); }"""
    f = Predicted(model, {"x": RNG.normal(2, 3, size=12), "k": RNG.normal(size=12)})
    q = f.posterior
    shape, rate = q["tau.shape"], q["tau.rate"]
    new = np.array([-1.5, 0.0, 3.0])
    p = f.predict({"k": new})
    scale = np.sqrt(rate / shape * (0.25 + new ** 2 / q["mu.precision_scale"]))
    exact = stats.t(2 * shape, new * q["mu.mean"] + 2, scale)
    return exactly(p, "x", exact.mean(), exact.std(), exact.ppf)


@check
def regression():
    """Coefficients and noise are independent: the distribution is an integral over the noise."""
    n = 40
    x = RNG.normal(size=(n, 2))
    y = x @ [1.5, -2] + 0.5 + RNG.normal(size=n) * 0.4
    f = Predicted("models/regression/linear_regression.lehr", {"x": x, "y": y}, "--guide", "factorised")
    q = f.posterior
    new = RNG.normal(size=(3, 2)) * 3
    p = f.predict({"x": new})
    covariance = np.linalg.inv(q["w.precision"])
    apart = np.einsum("ni,ij,nj->n", new, covariance, new) + 1 / q["b.precision"]
    mean = new @ q["w.mean"] + q["b.mean"]
    said = exactly(p, "y", mean, np.sqrt(apart + q["tau.rate"] / (q["tau.shape"] - 1)))
    noise = stats.gamma(q["tau.shape"], scale=1 / q["tau.rate"])
    for column, level in LEVELS:
        for i in range(3):
            below = lambda t: noise.pdf(t) * stats.norm.cdf((p[f"y.{column}"][i] - mean[i]) / np.sqrt(apart[i] + 1 / t))
            mass, _ = integrate.quad(below, *noise.ppf([1e-15, 1 - 1e-15]), epsabs=1e-12, epsrel=1e-12, limit=500)
            assert abs(mass - level) < 1e-9, (mass, level)
    return said


@check
def heavy_noise():
    """A shape below 1: long tails of log tau in the integral, and no variance."""
    model = """model m { plate n; tau ~ Gamma(shape = 0.05, rate = 0.02); mu ~ Normal(mean = 0, precision = 1);
      observe x[n] ~ Normal(mean = mu, precision = tau); }"""
    f = Predicted(model, {"x": [0.3]})
    q = f.posterior
    shape, rate = q["tau.shape"], q["tau.rate"]
    assert shape < 1
    p = f.predict({}, "--sizes", "n=1")
    assert "without draws" in p["said"] and p["x.sd"][0] == math.inf
    within = lambda u, at: math.exp(shape * u - math.exp(u) * rate) * stats.norm.cdf(
        (at - q["mu.mean"]) / math.sqrt(1 / q["mu.precision"] + math.exp(-u)))
    for column, level in LEVELS:
        mass, _ = integrate.quad(within, -80, 12, args=(p["x." + column][0],), epsabs=0, epsrel=1e-12, limit=2000)
        assert abs(mass * rate ** shape / math.gamma(shape) - level) < 1e-9, (mass, level)
    return "sd infinite"


@check
def negative_binomial():
    """A Poisson rate that is exposure times a Gamma variable."""
    model = """model m { plate n; data exposure[n] : real; rate ~ Gamma(shape = 2, rate = 1);
      observe x[n] ~ Poisson(exposure[n] * rate); }"""
    f = Predicted(model, {"x": [3, 8, 1], "exposure": [1, 2.5, 0.3]})
    shape, rate = f.posterior["rate.shape"], f.posterior["rate.rate"]
    new = np.array([0.01, 1.0, 200.0])
    p = f.predict({"exposure": new})
    exact = stats.nbinom(shape, rate / (rate + new))
    return exactly(p, "x", exact.mean(), exact.std(), exact.ppf)


@check
def mixture_of_counts():
    """Poisson rates of a mixture; the categories have Dirichlet weights."""
    f = Predicted("models/mixtures/mixture_of_poissons.lehr", {"x": [0, 1, 0, 2, 30, 28, 33, 1]}, "--set", "K=2")
    q = f.posterior
    p = f.predict({"x": [3, None]})
    weights = q["pi.concentration"] / q["pi.concentration"].sum()
    name = next(k.split(".")[0] for k in q if k.endswith(".shape"))
    parts = [stats.nbinom(a, b / (b + 1)) for a, b in zip(q[name + ".shape"], q[name + ".rate"])]
    mean = sum(w * d.mean() for w, d in zip(weights, parts))
    sd = math.sqrt(sum(w * (d.var() + (d.mean() - mean) ** 2) for w, d in zip(weights, parts)))
    def least(level):
        return next(x for x in range(1000) if sum(w * d.cdf(x) for w, d in zip(weights, parts)) >= level)
    return exactly(p, "x", mean, sd, least, at=1)


@check
def beta_binomial():
    model = """model m { plate n; data trials[n] : count; p ~ Beta(2, 3); observe x[n] ~ Binomial(trials[n], p); }"""
    f = Predicted(model, {"x": [3, 8, 1], "trials": [5, 11, 4]})
    new = np.array([1, 7, 300])
    p = f.predict({"trials": new})
    exact = stats.betabinom(new, f.posterior["p.a"], f.posterior["p.b"])
    return exactly(p, "x", exact.mean(), exact.std(), exact.ppf)


@check
def waiting_times():
    """Exponential and Gamma with Gamma rates, Geometric with a Beta probability: Lomax, beta prime, beta-geometric."""
    model = """model m { plate n; r ~ Gamma(shape = 4, rate = 2); s ~ Gamma(shape = 5, rate = 2); p ~ Beta(4, 3);
      observe x[n] ~ Exponential(r); observe y[n] ~ Gamma(shape = 2.5, rate = s); observe k[n] ~ Geometric(p); }"""
    f = Predicted(model, {"x": [0.3, 0.8, 1], "y": [1.5, 2.5, 0.7], "k": [2, 0, 1]})
    q = f.posterior
    p = f.predict({}, "--sizes", "n=2")
    lomax = stats.lomax(q["r.shape"], scale=q["r.rate"])
    prime = stats.betaprime(2.5, q["s.shape"], scale=q["s.rate"])
    exactly(p, "x", lomax.mean(), lomax.std(), lomax.ppf)
    exactly(p, "y", prime.mean(), prime.std(), prime.ppf)
    a, b = q["p.a"], q["p.b"]
    mean = b / (a - 1)
    second = (a + b - 1) * (a + b - 2) / ((a - 1) * (a - 2)) * 2 - 3 * (a + b - 1) / (a - 1) + 1
    from scipy.special import betaln
    def least(level):
        return next(x for x in range(10000) if 1 - math.exp(betaln(a, b + x + 1) - betaln(a, b)) >= level)
    return exactly(p, "k", mean, math.sqrt(second - mean ** 2), least)


@check
def known_parameters():
    """Distributions whose parameters are data have their own quantiles."""
    model = """model m { plate n; data u[n] : real; mu ~ Normal(mean = 0, precision = 1);
      observe e[n] ~ Normal(mean = mu, precision = 1);
      observe a[n] ~ Gamma(shape = u[n], rate = 2); observe b[n] ~ Beta(u[n], 2); observe c[n] ~ Poisson(u[n]);
      observe d[n] ~ Binomial(20, u[n] / 10); observe g[n] ~ NegativeBinomial(3, u[n] / 10);
      observe h[n] ~ Exponential(u[n]); observe i[n] ~ InverseGamma(shape = u[n] + 4, scale = 3); }"""
    names = "abcdghi"
    f = Predicted(model, {"u": [1.0, 2.0], "e": [0, 1], "a": [1, 2], "b": [0.1, 0.2], "c": [1, 2], "d": [1, 2], "g": [1, 2], "h": [1, 2],
                          "i": [1, 2]})
    u = np.array([0.7, 3.3, 9.0])
    p = f.predict({"u": u, "e": [0, 0, 0]})
    assert "without draws" in p["said"]
    exact = {"a": stats.gamma(u, scale=0.5), "b": stats.beta(u, 2), "c": stats.poisson(u), "d": stats.binom(20, u / 10),
             "g": stats.nbinom(3, u / 10), "h": stats.expon(scale=1 / u), "i": stats.invgamma(u + 4, scale=3)}
    for name in names:
        near(p[name + ".mean"], exact[name].mean())
        near(p[name + ".sd"], exact[name].std())
        for column, level in LEVELS:
            near(p[f"{name}.{column}"], exact[name].ppf(level))
    return f"{len(names)} families"


@check
def products():
    """sum_r U[i, r] V[j, r]: the variance of a product of independent Normal numbers."""
    i, j = np.divmod(np.arange(12), 3)
    f = Predicted("models/factors/matrix_factorisation.lehr",
                  {"user": i, "item": j, "y": RNG.normal(size=12) + 3}, "--set", "K=2", "--max-iter", "50")
    q = f.posterior
    p = f.predict({"user": [0, 3], "item": [2, 1]}, "--draws", 2000)
    mean, sd = [], []
    for a, b in [(0, 2), (3, 1)]:
        u, v = q["U.mean"][a], q["V.mean"][b]
        of_u, of_v = np.linalg.inv(q["U.precision"][a]), np.linalg.inv(q["V.precision"][b])
        mean.append(u @ v + q["m.mean"])
        sd.append(math.sqrt(u @ of_v @ u + v @ of_u @ v + np.trace(of_u @ of_v) + 1 / q["m.precision"] +
                            q["tau.rate"] / (q["tau.shape"] - 1)))
    near(p["y.mean"], mean)
    assert np.all(p["y.mcse"] == 0) and np.all(p["y.q5"] < p["y.q50"])
    return near(p["y.sd"], sd)


@check
def unseen_effects():
    """An effect without an observation, and what would be observed of it: parents integrated out."""
    f = Predicted("models/hierarchical/hierarchical_normal.lehr", {"y": [28, 8, -3, 7, -1, 1, 18, 12], "sigma": [15, 10, 16, 11, 9, 11, 10, 18]})
    q = f.posterior
    p = f.predict({"y": [20, math.nan], "sigma": [5, 3]}, *TIGHT)
    tau = stats.gamma(q["tau.shape"], scale=1 / q["tau.rate"])
    between = 1 / q["mu.precision"] + (q["tau.rate"] / (q["tau.shape"] - 1) if q["tau.shape"] > 1 else math.inf)
    said = exactly(p, "theta", q["mu.mean"], math.sqrt(between), at=1)
    exactly(p, "y", q["mu.mean"], math.sqrt(between + 9), at=1)
    for name, more in [("theta", 0), ("y", 9)]:
        for column, level in LEVELS:
            below = lambda t: tau.pdf(t) * stats.norm.cdf((p[f"{name}.{column}"][1] - q["mu.mean"]) /
                                                          np.sqrt(1 / q["mu.precision"] + more + 1 / t))
            mass = sum(integrate.quad(below, *tau.ppf(e), epsabs=1e-13, limit=500)[0]
                       for e in [(1e-16, 1e-4), (1e-4, 0.5), (0.5, 1 - 1e-14)])
            assert abs(mass - level) < 1e-8, (name, mass, level)
    normal = stats.norm(p["theta.mean"][0], p["theta.sd"][0])
    for column, level in LEVELS:
        near(p["theta." + column][0], normal.ppf(level))
    return said


@check
def points():
    """Point factors are known numbers."""
    model = """model m { plate n; tau ~ Gamma(shape = 3, rate = 2); mu ~ Normal(mean = 1, precision = 1);
      observe x[n] ~ Normal(mean = mu, precision = tau); guide point(tau, mu); }"""
    f = Predicted(model, {"x": RNG.normal(2, 3, size=12)})
    exact = stats.norm(f.posterior["mu.value"], f.posterior["tau.value"] ** -0.5)
    return exactly(f.predict({}, "--sizes", "n=1"), "x", exact.mean(), exact.std(), exact.ppf)


@check
def shapes_as_points():
    """New groups without any observation, of which the parameters of a Beta or Dirichlet are points: their distribution."""
    n, y = np.array([20, 30, 25, 40]), np.array([2, 9, 3, 14])
    model = """model m { plate g; data n[g] : count; a ~ Gamma(shape = 2, rate = 0.1); b ~ Gamma(shape = 2, rate = 0.1);
      p[g] ~ Beta(a, b); observe y[g] ~ Binomial(n[g], p[g]); guide point(a, b); }"""
    f = Predicted(model, {"n": n, "y": y})
    new = f.predict({"n": [10, 5]}, "--draws", 20000, *TIGHT)
    exact = stats.beta(f.posterior["a.value"], f.posterior["b.value"])
    near(new["p.mean"], [exact.mean()] * 2)
    near(new["p.sd"], [exact.std()] * 2, 5e-3)  # drawn
    assert np.all(np.abs(new["y.mean"] - [10 * exact.mean(), 5 * exact.mean()]) < 4.5 * new["y.mcse"]), new["y.mean"]
    direct = """model m { plate g; data n[g] : count; a ~ Gamma(shape = 2, rate = 0.1); b ~ Gamma(shape = 2, rate = 0.1);
      observe y[g] ~ BetaBinomial(n[g], a, b); guide point(a, b); }"""
    f = Predicted(direct, {"n": n, "y": y})
    mean = 10 * f.posterior["a.value"] / (f.posterior["a.value"] + f.posterior["b.value"])
    drawn = f.predict({"n": [10]})
    assert np.all(np.abs(drawn["y.mean"] - mean) < 4.5 * drawn["y.mcse"] + 1e-6), (drawn["y.mean"], mean)
    topics = """model m { plate d; plate t in d; plate k = 3; alpha[k] ~ Gamma(shape = 4, rate = 2);
      theta[d] ~ Dirichlet(concentration = alpha) over k; observe w[d, t] ~ Categorical(theta[d]); guide point(alpha); }"""
    f = Predicted(topics, {"w": [[0, 0, 1, 0], [1, 2, 1], [2, 2, 0, 0, 2]]})
    alpha = f.posterior["alpha.value"]
    near(f.predict({"w": [[None, None]]}, *TIGHT)["theta.mean"][0], alpha / alpha.sum())
    return f"{np.round(exact.mean(), 4)}"


@check
def quantiles_of_factors():
    """Local numbers have the quantiles of their factors: Gamma here."""
    model = """model m { plate group; plate n in group; rate[group] ~ Gamma(shape = 2, rate = 1);
      b ~ Gamma(shape = 1, rate = 1); observe e ~ Exponential(b);
      observe x[group, n] ~ Poisson(rate[group]); }"""
    f = Predicted(model, {"x": [[1, 2], [5, 6, 7]], "e": 1.0})
    p = f.predict({"x": [[3, 4], [0, 0, 1], [None]], "e": 1.0})
    exact = stats.gamma([2 + 7, 2 + 1, 2], scale=1 / np.array([1 + 2, 1 + 3, 1]))
    exactly(p, "rate", exact.mean(), exact.std(), exact.ppf)
    last = stats.nbinom(2, 1 / 2)
    return exactly(p, "x", last.mean(), last.std(), last.ppf, at=5)


@check
def lets():
    """Names for expressions: linear ones are Normal, others are averages or draws."""
    model = """model m { plate n; plate k = 2; data x[n] : real; a ~ Normal(mean = 0, sd = 5); b[k] ~ Normal(mean = 0, sd = 5);
      tau ~ Gamma(shape = 2, rate = 1); z[n] ~ Categorical(pi); pi ~ Dirichlet(concentration = 1) over k;
      let f[n] = a + b[z[n]] * x[n]; let rate = 3 * tau; let sigma = 1 / sqrt(tau); let both[k] = a * b[k]; let known = 2 + 3; let rest[n] = y[n] - a;
      observe y[n] ~ Normal(mean = f[n], precision = tau); }"""
    x = RNG.normal(size=9)
    f = Predicted(model, {"x": x, "y": 1 + 2 * x + RNG.normal(size=9) * 0.1}, "--search", "none", "--guide", "factorised")
    q = f.posterior
    new = np.array([0.5, -2.0, 1.0])
    p = f.predict({"x": new, "y": [2.0, None, 3.0]}, "--draws", 20000, *TIGHT)
    parts = lambda i: [stats.norm(q["a.mean"] + q["b.mean"][k] * new[i],
                                  math.sqrt(1 / q["a.precision"] + new[i] ** 2 / q["b.precision"][k])) for k in range(2)]
    weights = p["z.probability"]
    for i in range(3):
        mean = sum(w * d.mean() for w, d in zip(weights[i], parts(i)))
        second = sum(w * (d.var() + (d.mean() - mean) ** 2) for w, d in zip(weights[i], parts(i)))
        near(p["f.mean"][i], mean)
        near(p["f.sd"][i], math.sqrt(second))
        for column, level in LEVELS:
            near(p[f"f.{column}"][i], quantile_of(weights[i], parts(i))(level))
    tau = stats.gamma(q["tau.shape"], scale=1 / q["tau.rate"])
    near(p["rate.mean"], 3 * tau.mean())
    near(p["rate.sd"], 3 * tau.std())
    near(p["both.mean"], q["a.mean"] * q["b.mean"])
    v, w = 1 / q["a.precision"], 1 / q["b.precision"]
    near(p["both.sd"], np.sqrt(v * w + v * q["b.mean"] ** 2 + w * q["a.mean"] ** 2))
    exact = tau.expect(lambda t: t ** -0.5)
    assert p["sigma.mcse"] > 0 and abs(p["sigma.mean"] - exact) < 4 * p["sigma.mcse"], (p["sigma.mean"], exact)
    # What has no latent variable is no prediction; of what is missing nothing is told apart from what is there.
    assert {r["variable"] for r in p["table"]} == {"z", "y", "f", "rate", "sigma", "both"}, {r["variable"] for r in p["table"]}
    p = f.predict({"x": new, "y": [2.0, 1.0, 3.0]}, *TIGHT)
    near(p["rest.mean"], np.array([2.0, 1.0, 3.0]) - q["a.mean"])
    near(p["rest.sd"], np.full(3, 1 / math.sqrt(q["a.precision"])))
    return "six names"


@check
def lets_of_a_chain():
    """A state by itself is Normal, and so are several together, also one that the fit has not seen."""
    model = """model m { plate t ordered; tau ~ Gamma(shape = 2, rate = 1); s[t] ~ Normal(mean = s[t-1], sd = 1) start Normal(mean = 0, sd = 1);
      let twice[t] = s[t] + s[t]; let square[t] = s[t] * s[t]; let change = s[2] - s[0]; let pair = s[1] * s[2]; let total = sum(t) s[t];
      observe y[t] ~ Normal(mean = s[t], precision = tau); }"""
    f = Predicted(model, {"y": RNG.normal(size=5)}, "--search", "none", "--tol", "1e-15", "--max-iter", 1000)
    q = f.posterior
    p = f.predict({}, "--sizes", "t=+1", "--draws", 20000)
    mean, variance = np.append(q["s.mean"], q["s.mean"][-1]), np.append(1 / q["s.precision"], 1 / q["s.precision"][-1] + 1)
    near(p["twice.mean"], 2 * mean)
    near(p["twice.sd"], 2 * np.sqrt(variance))
    near(p["square.mean"], mean ** 2 + variance)
    near(p["square.sd"], np.sqrt(2 * variance ** 2 + 4 * variance * mean ** 2), 0.05)
    steps = np.eye(5) - np.eye(5, k=-1)
    covariance = np.linalg.inv(steps.T @ steps + q["tau.shape"] / q["tau.rate"] * np.eye(5))
    change, total = np.array([-1, 0, 1, 0, 0]), np.array([1, 1, 1, 1, 2])
    near(p["change.mean"], change @ q["s.mean"])
    near(p["change.sd"], np.sqrt(change @ covariance @ change), 1e-5)
    near(p["pair.mean"], q["s.mean"][1] * q["s.mean"][2] + covariance[1, 2], 1e-5)
    near(p["total.mean"], total @ q["s.mean"])
    near(p["total.sd"], np.sqrt(total @ covariance @ total + 1), 1e-5)
    # Two steps back: a state depends on a later one by itself and by the one before it.
    text = """model m { plate t ordered; tau ~ Gamma(shape = 2, rate = 1);
      s[t] ~ Normal(mean = 0.6 * s[t-1] + 0.3 * s[t-2], sd = 1) start Normal(mean = 0, sd = 1);
      let pair = s[2] * s[3]; let three = s[1] + s[2] + s[4]; observe y[t] ~ Normal(mean = s[t], precision = tau); }"""
    f = Predicted(text, {"y": 3 + RNG.normal(size=5)}, "--search", "none", "--tol", "1e-15", "--max-iter", 1000)
    q, p = f.posterior, f.predict({}, "--sizes", "t=5", "--draws", 20000)
    steps = np.eye(5) - 0.6 * np.eye(5, k=-1) - 0.3 * np.eye(5, k=-2)
    steps[1, 0] = 0  # the first two have the start's distribution
    covariance = np.linalg.inv(steps.T @ steps + q["tau.shape"] / q["tau.rate"] * np.eye(5))
    near(q["s.precision"], 1 / np.diag(covariance), 1e-5)
    near(p["pair.mean"], q["s.mean"][2] * q["s.mean"][3] + covariance[2, 3], 1e-5)
    three = np.array([0, 1, 1, 0, 1])
    near(p["three.sd"], np.sqrt(three @ covariance @ three), 1e-5)
    return "seven"


@check
def lets_of_all_pairs():
    """A million of them are no table."""
    model = """model m { plate n; plate g = 1001; plate h = 1000; data a[n] : g; data b[n] : h; u[g] ~ Normal(mean = 0, sd = 1);
      v[h] ~ Normal(mean = 0, sd = 1); let pair[g, h] = u[g] + v[h]; let each[n] = u[a[n]] + v[b[n]]; observe y[n] ~ Normal(mean = each[n], sd = 1); }"""
    f = Predicted(model, {"a": [0, 5, 1000], "b": [3, 3, 999], "y": [1.0, 2.0, 3.0]}, "--search", "none")
    p = f.predict({"a": [5], "b": [999]})
    assert "pair.mean" not in p
    said = lehr("predict", f.at("fit"), "--data", f.at("new.json"), "--out", f.at("out.npz"), code=None).stderr
    assert "note: 'pair' has 1001000 elements" in said, said
    return near(p["each.mean"], f.posterior["u.mean"][5] + f.posterior["v.mean"][999])


@check
def joint_factors():
    """Numbers that share a Normal factor: linear functions of them are Normal with its covariance."""
    model = """model m { plate n; plate g = 2; plate d; data x[n] : vector over d; data where[n] : g; a ~ Normal(mean = 1, sd = 3);
      w ~ MvNormal(mean = 0, precision = 0.1) over d; u[g] ~ Normal(mean = 0, sd = 2); tau ~ Gamma(shape = 2, rate = 1);
      guide joint(a, w, u); let f[n] = a + dot(w, x[n]) + u[where[n]]; let product = a * w[1]; let pair = u[0] * u[1]; let gap = u[0] - u[1];
      observe y[n] ~ Normal(mean = f[n], precision = tau); }"""
    x, where = RNG.normal(size=(8, 2)), RNG.integers(0, 2, 8)
    f = Predicted(model, {"x": x, "where": where, "y": 2 + x @ [1, -1] + where + RNG.normal(size=8)}, "--search", "none")
    q = f.posterior
    mean, covariance = q["joint(a, w, u).mean"], np.linalg.inv(q["joint(a, w, u).precision"])
    near(mean, np.concatenate([[q["a.mean"]], q["w.mean"], q["u.mean"]]))
    new, at = np.array([[0.5, 2.0], [-1.0, 0.3]]), [1, 0]
    p = f.predict({"x": new, "where": at})
    rows = np.array([[1, *new[i], at[i] == 0, at[i] == 1] for i in range(2)])
    variance = np.einsum("ni,ij,nj->n", rows, covariance, rows)
    for i in range(2):
        near(p["f.mean"][i], rows[i] @ mean)
        near(p["f.sd"][i], math.sqrt(variance[i]))
        for column, level in LEVELS:
            near(p[f"f.{column}"][i], stats.norm(rows[i] @ mean, math.sqrt(variance[i])).ppf(level))
    near(p["y.mean"], rows @ mean)
    near(p["y.sd"], np.sqrt(variance + q["tau.rate"] / (q["tau.shape"] - 1)))
    gap = np.array([0, 0, 0, 1, -1])
    near(p["gap.sd"], math.sqrt(gap @ covariance @ gap))
    near(p["product.mean"], mean[0] * mean[2] + covariance[0, 2])
    near(p["pair.mean"], mean[3] * mean[4] + covariance[3, 4])
    return f"correlation {covariance[0, 3] / math.sqrt(covariance[0, 0] * covariance[3, 3]):.2f}"


@check
def switched_numbers():
    """A number and the category that switches it share a factor: what depends on both is drawn from it together."""
    model = """model m { plate n; plate f; data x[n, f] : real; s[f] ~ Bernoulli(0.3); w[f] ~ Normal(mean = 0, sd = 2);
      guide joint(s, w); let part[f] = s[f] * w[f]; observe y[n] ~ Normal(mean = sum(f) x[n, f] * s[f] * w[f], precision = 2); }"""
    x = RNG.normal(size=(9, 3))
    f = Predicted(model, {"x": x, "y": x @ [0.4, 0, 1.5] + RNG.normal(size=9)}, "--search", "none")
    q = f.posterior
    on, mean, variance = q["s.p"], q["joint(s, w).mean"][:, 1], 1 / q["joint(s, w).precision"][:, 1]
    new = np.array([[1.0, -0.5, 2.0]])
    p = f.predict({"x": new}, "--draws", 40000)
    part, square = on * mean, on * (mean ** 2 + variance)
    assert np.all(abs(p["part.mean"] - part) < 4.5 * p["part.mcse"]) and np.all(p["part.mcse"] < 0.02), (p["part.mean"], part)
    assert abs(p["y.mean"][0] - new[0] @ part) < 4.5 * p["y.mcse"][0], (p["y.mean"], new @ part)
    sd = math.sqrt(new[0] ** 2 @ (square - part ** 2) + 0.5)
    assert abs(p["y.sd"][0] / sd - 1) < 0.03, (p["y.sd"], sd)
    return f"probabilities {np.round(on, 2)}"


@check
def within_limits():
    """A new item whose number has limits: averaged over the factor of its mean by quadrature, and as without them where they say
    nothing. The t is the truncated one, with the weight given it; a mixture has the share of its parts within the limits."""
    model = """model m { plate n; data c[n] : real; m ~ Normal(mean = 0, sd = 3);
      u[n] ~ DRAWN above c[n]; observe y[n] ~ Normal(mean = u[n], sd = 0.5); }"""
    low = np.array([-1e9, -5, 0, 1.5])

    def of(drawn, cdf, pdf):
        """Draws against moments of u at each m, averaged over q(m)."""
        f = Predicted(model.replace("DRAWN", drawn), {"c": [-1e9], "y": [0.7]})
        q = f.posterior
        p = f.predict({"c": low}, "--draws", 40000)
        m, sd = q["m.mean"], 1 / math.sqrt(q["m.precision"])
        for k, c in enumerate(low):
            def moment(at):
                given = lambda mean: integrate.quad(lambda u: at(u) * pdf(u, mean), max(c, mean - 60), mean + 60, points=[max(c, mean)], limit=200)[0] / (1 - cdf(c, mean))
                return integrate.fixed_quad(np.vectorize(lambda z: stats.norm.pdf(z) * given(m + sd * z)), -7, 7, n=60)[0]
            mean = moment(lambda u: u)
            spread = math.sqrt(moment(lambda u: (u - mean) ** 2))
            assert abs(p["u.mean"][k] - mean) < 4.5 * spread / 200 and abs(p["u.sd"][k] / spread - 1) < 0.04, (drawn, c, p["u.mean"][k], mean, p["u.sd"][k], spread)
            assert abs(p["y.mean"][k] - mean) < 4.5 * spread / 200 and abs(p["y.sd"][k] ** 2 / (spread ** 2 + 0.25) - 1) < 0.08, (drawn, c, p["y.sd"][k])
        return p

    of("Normal(mean = m, sd = 1)", lambda u, m: stats.norm.cdf(u, m), lambda u, m: stats.norm.pdf(u, m))
    of("StudentT(df = 9, mean = m, sd = 1)", lambda u, m: stats.t.cdf(u, 9, m), lambda u, m: stats.t.pdf(u, 9, m))
    p = of("mixture(0.3, Normal(mean = m, sd = 1), Normal(mean = m + 2, sd = 0.5))",
           lambda u, m: 0.3 * stats.norm.cdf(u, m) + 0.7 * stats.norm.cdf(u, m + 2, 0.5),
           lambda u, m: 0.3 * stats.norm.pdf(u, m) + 0.7 * stats.norm.pdf(u, m + 2, 0.5))
    assert abs(p["u.part.mean"][0] - 0.3) < 0.01, p["u.part.mean"]
    seen = Predicted(model.replace("DRAWN", "Normal(mean = m, sd = 1)"), {"c": [0.0, -1], "y": [0.7, 0.2]})
    data = {"c": [0.0, -1], "y": [0.7, 0.2]}
    assert np.all(seen.predict(data)["u.mcse"] == 0)  # an observation depends on u: its factor
    return f"sds {np.round(p['u.sd'], 3)}"


if __name__ == "__main__":
    finish()
