#!/usr/bin/env python3
"""Predictions, scores and simulations of models with links, limits and mixtures, by formulas that are written here, from the
posterior that the fit wrote.

usage: links_used.py LEHR
"""
import os
import sys

import numpy as np
from scipy.special import digamma, expit, log_ndtr, log_softmax, logsumexp
from scipy.stats import binom, multivariate_normal, norm, poisson, truncnorm

sys.path.append(f"{sys.path[0]}/..")
from fitting import ROOT, Folder, arrays, check, finish, read_json  # noqa: E402

RNG = np.random.default_rng(2)
DRAWS = 4000


class Used(Folder):
    def score(self, data):
        return super().score(data, "--save")["total"]

    def elbo(self):
        return read_json(self.at("fit/fit.json"))["elbo"]

    def predict(self, data):
        self.run("predict", self.at("fit"), "--data", self.bind("new", data), "--draws", str(DRAWS), "--out", self.at("out.npz"))
        return arrays(self.at("out.npz"))

    def simulate(self, data):
        self.run("simulate", self.model, "--data", self.bind("given", data), "--out", self.at("drawn.npz"))
        return arrays(self.at("drawn.npz"))


def near(got, want, limit=1e-8):
    error = np.max(np.abs(np.asarray(got) - want))
    assert error < limit, (got, want)
    return f"error {error:.0e}"


def drawn(got, want, spread):
    """Means of draws, within four of their standard errors."""
    z = np.max(np.abs(np.asarray(got) - want) / (spread / np.sqrt(DRAWS)))
    assert z < 4, (got, want, z)
    return f"{z:.1f} standard errors"


@check
def censored():
    """Cut off at the limit; the score is of the value where it is known, else of its side."""
    model = """model m { plate n; data end[n] : real; data x[n] : real; a ~ Normal(mean = 0, sd = 10); b ~ Normal(mean = 0, sd = 3);
      observe y[n] ~ Normal(mean = a + b * x[n], sd = 1) censored above end[n]; }"""
    x, end = RNG.normal(size=40), np.full(40, 1.0)
    y = np.minimum(1 + 2 * x + RNG.normal(size=40), end)
    f = Used(model, {"x": x, "end": end, "y": y})
    a, b = f.posterior["a.mean"], f.posterior["b.mean"]
    eta = a + b * x
    each = np.where(y >= end, log_ndtr(eta - end), norm.logpdf(y, eta))
    new = np.array([-0.5, 0.0, 3.0])
    p = f.predict({"x": new, "end": np.array([1.0, 1e9, 1.0]), "y": [None, None, None]})
    mean, sd = a + b * new, np.sqrt(1 + 1 / f.posterior["a.precision"] + new**2 / f.posterior["b.precision"])
    over = norm.sf((1 - mean) / sd)
    cut = over + (1 - over) * truncnorm.mean(-np.inf, (1 - mean) / sd, mean, sd)
    cut[1] = mean[1]
    assert p["y.q50"][2] == 1 and p["y.q95"].max() > 1
    s = f.simulate({"x": x, "end": end, "a": 1.0, "b": 2.0})
    limit = (s["y"] == 1).mean()
    assert s["y"].max() == 1 and abs(limit - norm.sf((1 - 1 - 2 * x)).mean()) < 0.3
    return near(f.score({"x": x, "end": end, "y": y}), each.sum()) + "; " + drawn(p["y.mean"], cut, sd)


@check
def intervals():
    """A latent number lies within its limits, in predictions (averaged over its parents) and simulations; it has no score."""
    model = """model m { plate n; plate level; data x[n] : real; data y[n] : level; data low[level] : real; data high[level] : real;
      a ~ Normal(mean = 0, sd = 10); b ~ Normal(mean = 0, sd = 10);
      u[n] ~ Normal(mean = a + b * x[n], sd = 0.5) above low[y[n]] below high[y[n]]; }"""
    cuts = {"low": [-1e9, 0, 1], "high": [0, 1, 1e9]}
    x = RNG.normal(size=60)
    y = np.digitize(0.4 + 0.9 * x + 0.5 * RNG.normal(size=60), [0, 1])
    f = Used(model, {"x": x, "y": y, **cuts})
    new = {"x": np.array([0.0, 3.0, -2.0]), "y": np.array([1, 0, 2])}
    p = f.predict({**new, **cuts})
    rows = np.stack([np.ones(3), new["x"]], 1)
    mean = rows @ f.posterior["joint(a, b).mean"]
    sd = np.sqrt(np.einsum("ni,ij,nj->n", rows, np.linalg.inv(f.posterior["joint(a, b).precision"]), rows))
    low, high = np.array(cuts["low"])[new["y"]], np.array(cuts["high"])[new["y"]]
    points, weights = np.polynomial.hermite_e.hermegauss(40)
    at = mean + sd * points[:, None]
    want = weights @ truncnorm.mean((low - at) / 0.5, (high - at) / 0.5, at, 0.5) / weights.sum()
    said = f.run("score", f.at("fit"), "--data", f.bind("t", {"x": x, "y": y, **cuts}), code=2)
    assert "there is no score" in said, said
    s = f.simulate({"x": x, "y": y, **cuts, "a": 0.0, "b": -200.0})["u"]
    assert (s >= np.array(cuts["low"])[y]).all() and (s <= np.array(cuts["high"])[y]).all()
    return f"{near((p['u.mean'] - want) / p['u.mcse'], 0, 5)} standard errors"


@check
def probit():
    """The score at the means, and the average of both."""
    model = """model m { plate n; data x[n] : real; w ~ Normal(mean = 0, sd = 2); b ~ Normal(mean = 0, sd = 2);
      observe y[n] ~ Bernoulli(probit(w * x[n] + b)); }"""
    x = RNG.normal(size=80)
    y = (norm.cdf(1.5 * x - 0.3) > RNG.uniform(size=80)).astype(float)
    f = Used(model, {"x": x, "y": y})
    eta = f.posterior["w.mean"] * x + f.posterior["b.mean"]
    p = f.predict({"x": np.array([-1.0, 0.5, 4.0])})
    new = np.array([-1.0, 0.5, 4.0])
    spread = np.sqrt(1 + new**2 / f.posterior["w.precision"] + 1 / f.posterior["b.precision"])
    want = norm.cdf((f.posterior["w.mean"] * new + f.posterior["b.mean"]) / spread)
    s = f.simulate({"x": np.full(4000, 0.5), "w": 1.0, "b": 0.2})["y"]
    assert abs(s.mean() - norm.cdf(0.7)) < 0.03
    return near(f.score({"x": x, "y": y}), log_ndtr((2 * y - 1) * eta).sum()) + "; " + drawn(p["y.mean"], want, 0.3)


@check
def softmax():
    """The score at the means; probabilities sum to one and follow the scores."""
    model = """model m { plate n; plate k = 3; data x[n] : real; a[k] ~ Normal(mean = 0, sd = 2); w[k] ~ Normal(mean = 0, sd = 2);
      observe y[n] ~ Categorical(softmax(a + w * x[n])); }"""
    x = RNG.normal(size=90)
    scores = np.outer(x, [0, 2, -1]) + [0, 0.5, 0]
    y = np.array([RNG.choice(3, p=np.exp(s)) for s in log_softmax(scores, axis=1)])
    f = Used(model, {"x": x, "y": y})
    mine = log_softmax(f.posterior["a.mean"] + np.outer(x, f.posterior["w.mean"]), axis=1)
    p = f.predict({"x": np.array([-3.0, 3.0])})["y.probability"]
    assert np.allclose(p.sum(axis=1), 1) and p.argmax(axis=1).tolist() == [2, 1]
    s = f.simulate({"x": np.full(6000, 1.0), "a": [0, 0.5, 0], "w": [0, 1, -1]})["y"]
    share = np.bincount(s.astype(int), minlength=3) / 6000
    near(share, np.exp(log_softmax([0, 1.5, -1.0])), 0.03)
    return near(f.score({"x": x, "y": y}), mine[np.arange(90), y].sum())


@check
def mixtures():
    """Which part each new count is of, by the expectations of both; the score sums over the parts."""
    model = """model m { plate n; p ~ Beta(2, 3); r ~ Gamma(shape = 2, rate = 1); observe x[n] ~ zero_inflated(p, Poisson(r)); }"""
    x = np.where(RNG.uniform(size=80) < 0.4, 0, RNG.poisson(2.5, size=80))
    f = Used(model, {"x": x})
    q = f.posterior
    new = np.array([0, 1, 5])
    part = f.predict({"x": new})["x.part.mean"]
    odds = digamma(q["p.a"]) - digamma(q["p.b"]) + q["r.shape"] / q["r.rate"]
    p, r = q["p.a"] / (q["p.a"] + q["p.b"]), q["r.shape"] / q["r.rate"]
    parts = np.stack([np.where(new == 0, np.log(p), -np.inf), np.log1p(-p) + poisson.logpmf(new, r)])
    s = f.simulate({"p": 0.5, "r": 2.0, "x": np.zeros(5000)})["x"]
    assert abs((s == 0).mean() - (0.5 + 0.5 * np.exp(-2))) < 0.03
    return near(part, [expit(odds), 0, 0], 1e-6) + "; " + near(f.score({"x": new}), logsumexp(parts, axis=0).sum())


@check
def ordered_logistic():
    """The score at the means, probabilities of new items between known cuts and between points, shares of draws."""
    x = RNG.normal(size=90)
    y = np.digitize(1.5 * x + RNG.logistic(size=90), [0.0, 1.5])
    out = []
    for cuts, guide in (("c", ""), ("cumulative(far)", "guide point(far);")):
        model = """model m { plate n; plate gap = 1; data x[n] : real; %s w ~ Normal(mean = 0, sd = 2);
          observe y[n] ~ Categorical(ordered_logistic(w * x[n], %s)); %s }""" % (
            "plate cut; const c[cut];" if cuts == "c" else "far[gap] ~ Gamma(shape = 1, rate = 0.1);", cuts, guide)
        given = {"c": [0.0, 1.5]} if cuts == "c" else {}
        f = Used(model, {"x": x, "y": y, **given})
        c = np.array([-np.inf, 0, 1.5 if given else f.posterior["far.value"][0], np.inf])
        e, sd = f.posterior["w.mean"] * x, f.posterior["w.precision"]**-0.5
        new = np.array([-1.0, 2.0])
        nodes, weights = np.polynomial.hermite_e.hermegauss(40)
        at = np.outer(new, f.posterior["w.mean"] + sd * nodes)
        want = np.stack([(expit(c[k + 1] - at) - expit(c[k] - at)) @ weights / weights.sum() for k in range(3)], axis=1)
        p = f.predict({"x": new, **given})["y.probability"]
        assert np.allclose(p.sum(axis=1), 1)
        s = f.simulate({"x": np.full(6000, 1.0), "w": 1.0, **(given or {"far": [1.5]})})["y"]
        near(np.bincount(s.astype(int), minlength=3) / 6000, np.diff(expit(np.array([-np.inf, 0, 1.5, np.inf]) - 1.0)), 0.03)
        out.append(near(f.score({"x": x, "y": y, **given}), np.log(expit(c[y + 1] - e) - expit(c[y] - e)).sum()))
        out.append(drawn(p, want, 0.5))
    return "; ".join(out)


@check
def certain_parts():
    """A part that gives one value alone, with its impossible others, in 32 bits as in 64: by the log density of the sum."""
    text = "model m { plate n; q ~ Beta(3, 2); observe y[n] ~ mixture(0.2, Bernoulli(1), Bernoulli(q)); }"
    y = [0, 1, 1, 0, 1]
    fits = [Used(text, {"y": y}, "--search", "none", "--tol", "1e-10", "--precision", p) for p in ("double", "float")]
    elbos = [f.elbo() for f in fits]
    grid = (np.arange(200000) + 0.5) / 200000
    p1 = 0.2 + 0.8 * grid
    evidence = np.log(np.mean(12 * grid**2 * (1 - grid) * p1**3 * (1 - p1)**2))
    assert evidence - 0.3 < elbos[0] < evidence, (elbos, evidence)
    return near(elbos[1], elbos[0], 1e-5)


@check
def nearly_certain_bits():
    """Bits and spins beside a chain whose odds 32 bits can tell from certain, and their probabilities cannot."""
    out = []
    for other, up in (("Bernoulli(0.5)", 1), ("Spin()", 2)):
        text = """model m { plate k = 3; plate s; plate t in s ordered; const h; z[s, t] ~ Categorical(A[z[s, t-1]]) start Uniform() over k;
          b[s, t] ~ %s; A[k] ~ Dirichlet(concentration = 1) over k; observe x[s, t] ~ Normal(mean = h + b[s, t], precision = 60); }""" % other
        x = up * np.array([[1, 0.8, 0.95, 1.02], [0, 0.2, 0.1, 0.45]])
        fits = [Used(text, {"x": x, "h": up - 1}, "--search", "none", "--precision", p) for p in ("double", "float")]
        out.append(near(fits[1].elbo(), fits[0].elbo(), 1e-3))
    return "; ".join(map(str, out))


@check
def known_chances():
    """Counts of trials whose chances are data say what they do."""
    text = """model m { plate n; data t[n] : count; data q[n] : real; mu ~ Normal(mean = 0, sd = 1); observe y[n] ~ Binomial(t[n], q[n]);
      observe z[n] ~ Normal(mean = mu, sd = 1); }"""
    t, q, y, z = np.array([5, 7, 3]), np.array([0.2, 0.5, 0.9]), np.array([2, 3, 1]), np.array([0.5, -1, 2])
    evidence = binom.logpmf(y, t, q).sum() + multivariate_normal.logpdf(z, np.zeros(3), np.eye(3) + 1)
    return near(Used(text, {"t": t, "q": q, "y": y, "z": z}, "--search", "none").elbo(), evidence)


@check
def chains_with_censored_observations():
    """No Kalman filter goes over them: there is no score, and it says so."""
    model = """model m { plate t ordered; s[t] ~ Normal(mean = s[t-1], sd = 0.5) start Normal(mean = 0, sd = 3);
      observe y[t] ~ Normal(mean = s[t], sd = 0.5) censored below 0; }"""
    y = np.maximum(np.cumsum(RNG.normal(size=30)), 0)
    f = Used(model, {"y": y})
    said = f.run("score", f.at("fit"), "--data", f.bind("test", {"y": y}), code=2)
    assert "has no score" in said, said
    return "no score"


os.chdir(ROOT)
finish()
