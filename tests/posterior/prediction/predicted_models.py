#!/usr/bin/env python3
"""`lehr predict` and `lehr score` on models of many kinds: mixtures, factors, crossed effects, chains, counts, spikes. The
predictive distributions are written here, from the factors of the fit.

usage: predicted_models.py LEHR
"""
import itertools
import math
import sys

import numpy as np
from scipy import stats
from scipy.special import digamma, logsumexp, softmax

sys.path += [f"{sys.path[0]}/..", f"{sys.path[0]}/../gaps"]
from fitting import check, finish  # noqa: E402
from partly_known import apart  # noqa: E402
from linear_normal import LinearNormal  # noqa: E402
from predict import TIGHT, Predicted, near  # noqa: E402

RNG = np.random.default_rng(41)
NONE = ["--search", "none"]


def expected(q, name):
    return q[f"{name}.shape"] / q[f"{name}.rate"]


def inverse(q, name):
    return q[f"{name}.rate"] / (q[f"{name}.shape"] - 1)


def weights(c):
    return c / c.sum(-1, keepdims=True)


@check
def mixture_of_regressions():
    """Responses of new items: their weights do not know the response, their lines do."""
    model = """model m { plate n; plate k = 2; data x[n] : real; pi ~ Dirichlet(concentration = 1) over k; a[k] ~ Normal(mean = 0, sd = 5); b[k] ~ Normal(mean = 0, sd = 5);
      tau[k] ~ Gamma(shape = 3, rate = 1); z[n] ~ Categorical(pi); observe y[n] ~ Normal(mean = a[z[n]] + b[z[n]] * x[n], precision = tau[z[n]]);
      let line[n] = a[0] + b[0] * x[n]; guide joint(a, b); }"""
    n = 60
    x = RNG.uniform(1, 4, n)
    f = Predicted(model, {"x": x, "y": np.where(RNG.uniform(size=n) < 0.6, 1 + 2 * x, 6 - x) + RNG.normal(size=n) * 0.5})
    q = f.posterior
    new = np.array([0.5, 2.0, 5.0])
    F = np.stack([np.ones(3), new], 1)
    S, m, w = np.linalg.inv(q["joint(a, b).precision"]), q["joint(a, b).mean"], weights(q["pi.concentration"])
    means, spread = F @ m.T, np.einsum("ni,kij,nj->nk", F, S, F)
    p = f.predict({"x": new})
    mean = means @ w
    near(p["y.mean"], mean)
    near(p["y.sd"]**2, (means**2 + spread + inverse(q, "tau")) @ w - mean**2)
    near(p["z.probability"], np.tile(w, (3, 1)))
    near(p["line.mean"], means[:, 0])
    said = near(p["line.sd"], np.sqrt(spread[:, 0]))
    # With two responses there, components are inferred from expected statistics, the third is scored as nothing.
    y = np.array([2.0, 1.0, math.nan])
    p = f.predict({"x": new, "y": y})
    lt = digamma(q["tau.shape"]) - np.log(q["tau.rate"])
    log = digamma(q["pi.concentration"]) + 0.5 * lt - 0.5 * expected(q, "tau") * ((y[:, None] - means)**2 + spread)
    near(p["z.probability"][:2], softmax(log[:2], axis=1))
    s = f.score({"x": new, "y": y})
    want = logsumexp(np.log(w) + stats.norm.logpdf(y[:2, None], means[:2], expected(q, "tau")**-0.5), axis=1).sum()
    near(s["total"], want)
    return said


@check
def entries_of_factor_analysis():
    """Entries of a new item given the others, by its factor; loadings are latent."""
    model = """model m { plate n; plate d; plate k = 2; W[d] ~ MvNormal(mean = 0, precision = 1) over k; mu[d] ~ Normal(mean = 0, sd = 3); tau[d] ~ Gamma(shape = 3, rate = 1);
      h[n] ~ MvNormal(mean = 0, precision = 1) over k; observe x[n, d] ~ Normal(mean = dot(W[d], h[n]) + mu[d], precision = tau[d]); }"""
    W = RNG.normal(size=(5, 2))
    f = Predicted(model, {"x": RNG.normal(size=(50, 2)) @ W.T + RNG.normal(size=(50, 5)) * 0.3}, *NONE, "--guide", "factorised")
    q = f.posterior
    x = RNG.normal(size=(3, 5))
    x[0, 1], x[1, :4], x[2, :] = math.nan, math.nan, math.nan
    p = f.predict({"x": x}, *TIGHT)
    C, t = np.linalg.inv(q["W.precision"]), expected(q, "tau")
    for i in range(3):
        there = ~np.isnan(x[i])
        P, h = np.eye(2), np.zeros(2)
        for j in np.flatnonzero(there):
            P = P + t[j] * (C[j] + np.outer(q["W.mean"][j], q["W.mean"][j]))
            h = h + t[j] * q["W.mean"][j] * (x[i, j] - q["mu.mean"][j])
        S = np.linalg.inv(P)
        m = S @ h
        near(p["h.mean"][i], m, 1e-8)
        near(p["h.sd"][i], np.sqrt(np.diag(S)), 1e-8)
        for j in np.flatnonzero(~there):
            w, cw = q["W.mean"][j], C[j]
            near(p["x.mean"][i, j], w @ m + q["mu.mean"][j], 1e-8)
            variance = w @ S @ w + m @ cw @ m + np.trace(cw @ S) + 1 / q["mu.precision"][j] + q["tau.rate"][j] / (q["tau.shape"][j] - 1)
            said = near(p["x.sd"][i, j], np.sqrt(variance), 1e-8)
    return said


@check
def new_users_and_known_items():
    """A user that the fit has not seen rates an item that it has, and the other way round; factors of vectors and biases."""
    model = """model m { plate n; plate user; plate item; plate k = 2; data u[n] : user; data i[n] : item; tu ~ Gamma(shape = 3, rate = 1); tau ~ Gamma(shape = 3, rate = 1);
      U[user] ~ MvNormal(mean = 0, precision = 1) over k; V[item] ~ MvNormal(mean = 0, precision = 1) over k; b[user] ~ Normal(mean = 1, precision = tu);
      observe y[n] ~ Normal(mean = dot(U[u[n]], V[i[n]]) + b[u[n]], precision = tau); guide joint(U, b); }"""
    u, i = np.repeat(np.arange(6), 4), np.tile(np.arange(4), 6)
    f = Predicted(model, {"u": u, "i": i, "y": RNG.normal(size=24)}, *NONE)
    q = f.posterior
    p = f.predict({"u": [6, 2, 7, 3], "i": [1, 4, 4, 0]}, "--sizes", "user=+2", "--sizes", "item=+1")
    CV, CU = np.linalg.inv(q["V.precision"]), np.linalg.inv(q["joint(U, b).precision"])
    mU, mV = q["joint(U, b).mean"], q["V.mean"]
    noise, bias = inverse(q, "tau"), inverse(q, "tu")
    near(p["y.mean"], [1, mU[2, 2], 1, mU[3, :2] @ mV[0] + mU[3, 2]])
    fact = lambda a, A, b, B: a @ B @ a + b @ A @ b + np.trace(A @ B)
    variances = [fact(np.zeros(2), np.eye(2), mV[1], CV[1]) + bias, fact(mU[2, :2], CU[2, :2, :2], np.zeros(2), np.eye(2)) + CU[2, 2, 2],
                 2 + bias, fact(mU[3, :2], CU[3, :2, :2], mV[0], CV[0]) + CU[3, 2, 2] + 2 * CU[3, :2, 2] @ mV[0]]
    return near(p["y.sd"], np.sqrt(np.array(variances) + noise))


def trend(y):
    """Level and slope of the models below, at what is known of y."""
    q = LinearNormal(level=len(y), slope=len(y))
    level, slope = q.at["level"], q.at["slope"]
    q.add(0.2, 0, (level[0], 1))
    q.add(1, 0, (slope[0], 1))
    for t, known in enumerate(y):
        if t:
            q.add(3.0, 0, (level[t], 1), (level[t - 1], -1), (slope[t - 1], -1))
            q.add(8, 0, (slope[t], 1), (slope[t - 1], -0.9))
        if known is not None:
            q.add(2, -known, (level[t], 1))
    q.solve([np.arange(q.n)])
    return q


@check
def trend_and_season_forecast():
    """Level, slope (one joint chain of several series): forecasts of each series by the filter."""
    model = """model m { plate s; plate t in s ordered; data tl : real;
      level[s, t] ~ Normal(mean = level[s, t-1] + slope[s, t-1], precision = tl) start Normal(mean = 0, precision = 0.2);
      slope[s, t] ~ Normal(mean = 0.9 * slope[s, t-1], precision = 8) start Normal(mean = 0, precision = 1);
      observe y[s, t] ~ Normal(mean = level[s, t], precision = 2); guide joint(level, slope); }"""
    f = Predicted(model, {"tl": 3.0, "y": [[1.0, 2.0, 2.5], [0.0, 1.0]]}, *NONE)
    y = [[1.0, None, 2.5, 3.0, None, None], [0.3, None]]
    p = f.predict({"tl": 3.0, "y": y}, *TIGHT)
    at = 0
    for row in y:
        n, q = len(row), trend(row)
        (ml, vl), (ms, vs) = q.of("level"), q.of("slope")
        there = slice(at, at + n)
        near(p["level.mean"][there], ml)
        near(p["slope.mean"][there], ms)
        near(p["slope.sd"][there], np.sqrt(vs))
        gap = [t for t in range(n) if row[t] is None]
        near(p["y.mean"][at:at + n][gap], ml[gap])
        said = near(p["y.sd"][at:at + n][gap], np.sqrt(vl[gap] + 0.5))
        at += n
    return said


@check
def trend_of_one_series():
    """The same of one series whose chain is a factor of the fit: five steps on."""
    model = """model m { plate t ordered; level[t] ~ Normal(mean = level[t-1] + slope[t-1], precision = 3) start Normal(mean = 0, precision = 0.2);
      slope[t] ~ Normal(mean = 0.9 * slope[t-1], precision = 8) start Normal(mean = 0, precision = 1);
      observe y[t] ~ Normal(mean = level[t], precision = 2); guide joint(level, slope); }"""
    y = np.cumsum(RNG.normal(0.5, 0.5, 12))
    f = Predicted(model, {"y": y}, *NONE)
    p = f.predict({"y": y}, "--sizes", "t=+5")
    q = trend([*y, *[None] * 5])
    (ml, vl), (_, vs) = q.of("level"), q.of("slope")
    near(p["level.mean"][12:], ml[12:])
    near(p["slope.sd"][12:], np.sqrt(vs[12:]))
    near(p["y.mean"][12:], ml[12:])
    return near(p["y.sd"][12:], np.sqrt(vl[12:] + 0.5))


@check
def autoregression_goes_on():
    """A series that feeds itself: forecasts of it from its last value, with a latent coefficient."""
    model = """model m { plate t ordered; a ~ Normal(mean = 0, sd = 1); c ~ Normal(mean = 0, sd = 1); tau ~ Gamma(shape = 3, rate = 1);
      observe y[t] ~ Normal(mean = a * y[t-1] + c, precision = tau) start Normal(mean = 0, sd = 3); }"""
    y = [0.5]
    for _ in range(40):
        y.append(0.6 * y[-1] + 0.5 + RNG.normal() * 0.5)
    f = Predicted(model, {"y": y}, *NONE, "--guide", "factorised")
    q = f.posterior
    p = f.predict({"y": y}, "--sizes", "t=+2", "--draws", 20000)
    m1 = q["a.mean"] * y[-1] + q["c.mean"]
    near(p["y.mean"][41], m1)
    v1 = y[-1]**2 / q["a.precision"] + 1 / q["c.precision"] + inverse(q, "tau")
    near(p["y.sd"][41], math.sqrt(v1))
    # The next one is a (a y + c + noise) + c.
    said = near(p["y.mean"][42], (q["a.mean"]**2 + 1 / q["a.precision"]) * y[-1] + q["a.mean"] * q["c.mean"] + q["c.mean"])
    near(f.predict({"y": y + [None, None]}, "--draws", 50)["y.mean"][41], m1)
    assert "items are not independent" in f.predict({"y": y[:9] + [None] + y[10:]}, code=4)
    return said


@check
def vectors_and_states_that_feed_themselves():
    """A vector autoregression with known parameters goes on as a filter has it, and an observed chain by its transitions."""
    model = """model m { plate t ordered; plate d = 2; data A : matrix over d, d; data Q : matrix over d, d; c ~ MvNormal(mean = 0, precision = 1) over d;
      observe x[t] ~ MvNormal(mean = A * x[t-1], covariance = Q) start MvNormal(mean = c, precision = 1) over d; }"""
    A, Q, x = np.array([[0.8, 0.3], [-0.2, 0.7]]), np.array([[0.5, 0.1], [0.1, 0.3]]), RNG.normal(size=(8, 2))
    f = Predicted(model, {"A": A, "Q": Q, "x": x}, *NONE)
    p = f.predict({"A": A, "Q": Q, "x": x}, "--sizes", "t=+4")
    m, S = x[-1], np.zeros((2, 2))
    for t in range(8, 12):
        m, S = A @ m, A @ S @ A.T + Q
        near(p["x.mean"][t], m)
        if t == 8:
            near(p["x.sd"][t], np.sqrt(np.diag(S)))
        assert np.all(np.abs(p["x.sd"][t] / np.sqrt(np.diag(S)) - 1) < 0.1), (p["x.sd"][t], np.sqrt(np.diag(S)))
    model = """model m { plate t ordered; plate k = 3; pi ~ Dirichlet(concentration = 1) over k; A[k] ~ Dirichlet(concentration = 1) over k;
      observe s[t] ~ Categorical(A[s[t-1]]) start Categorical(pi); }"""
    s = RNG.integers(3, size=30)
    f = Predicted(model, {"s": s}, *NONE)
    p = f.predict({"s": s}, "--sizes", "t=+2")
    return near(p["s.probability"][30], weights(f.posterior["A.concentration"])[s[-1]])


@check
def effects_of_the_items_of_the_data():
    """A mean and effects in one factor: a new item has the mean and its own effect, an old one without its result its effect."""
    model = """model m { plate school; data sigma[school] : real; mu ~ Normal(mean = 0, sd = 10); tau ~ Gamma(shape = 3, rate = 2); theta[school] ~ Normal(mean = mu, precision = tau);
      observe y[school] ~ Normal(mean = theta[school], sd = sigma[school]); let gap[school] = theta[school] - mu; guide joint(mu, theta); }"""
    y, sigma = [2.0, 1.0, -1.0, 0.5], [1.0, 2.0, 1.0, 0.5]
    f = Predicted(model, {"y": y, "sigma": sigma}, *NONE)
    q = f.posterior
    m, S = q["joint(mu, theta).mean"], np.linalg.inv(q["joint(mu, theta).precision"])
    p = f.predict({"y": y[:3] + [None, None], "sigma": sigma + [3.0]})
    near(p["y.mean"][3:], [m[4], m[0]])
    near(p["y.sd"][3:], np.sqrt([S[4, 4] + 0.25, S[0, 0] + inverse(q, "tau") + 9]))
    near(p["gap.mean"][:4], m[1:] - m[0])
    return near(p["gap.sd"][:4], np.sqrt(np.diag(S)[1:] + S[0, 0] - 2 * S[0, 1:]))


@check
def lines_beside_compounds():
    """What is named by `let` has a distribution, whatever variables the compiler adds to the model for compounds and mixtures."""
    x, y = RNG.normal(size=12), RNG.normal(size=12)
    for noise in ("StudentT(df = 4, mean = line[n], precision = tau)", "mixture(p, Normal(mean = line[n], precision = tau), Normal(mean = 0, sd = 9))"):
        model = f"""model m {{ plate n; data x[n] : real; a ~ Normal(mean = 0, sd = 10); b ~ Normal(mean = 0, sd = 10); tau ~ Gamma(shape = 1, rate = 1); p ~ Beta(9, 1);
          s ~ HalfCauchy(scale = 1); u[n] ~ Normal(mean = 0, sd = s); let line[n] = a + b * x[n]; let twice = 2 * a; let high[n] = line[n] + u[n];
          observe y[n] ~ {noise}; observe v[n] ~ Normal(mean = u[n], sd = 1); guide joint(a, b); }}"""
        f = Predicted(model, {"x": x, "y": y, "v": y}, *NONE)
        q = f.posterior
        p = f.predict({"x": [0.5, 2.0], "y": [None, None], "v": [1.0, None]})
        S, m, X = np.linalg.inv(q["joint(a, b).precision"]), q["joint(a, b).mean"], np.array([[1, 0.5], [1, 2.0]])
        near(p["line.mean"], X @ m)
        near(p["line.sd"], np.sqrt(np.einsum("ni,ij,nj->n", X, S, X)))
        near([p["twice.mean"], p["twice.sd"]], [2 * m[0], 2 * np.sqrt(S[0, 0])])
        near(p["high.mean"][1] - p["line.mean"][1], 0)
        assert p["high.mean"][0] > p["line.mean"][0]
    return "as without"


@check
def states_with_vectors():
    """A hidden Markov model with vectors of several sequences: paths by enumeration, forecasts of the vectors, the score."""
    model = """model m { plate seq; plate t in seq ordered; plate k = 3; plate d; data A[k] : simplex over k; data first : simplex over k; data mu[k] : vector over d; data L[k] : matrix over d, d;
      z[seq, t] ~ Categorical(A[z[seq, t-1]]) start Categorical(first); observe x[seq, t] ~ MvNormal(mean = mu[z[seq, t]], precision = L[z[seq, t]]) over d; }"""
    A, first, mu = RNG.dirichlet(np.ones(3), 3), RNG.dirichlet(np.ones(3)), RNG.normal(size=(3, 2)) * 1.5
    roots = RNG.normal(size=(3, 2, 2)) * 0.3 + np.eye(2)
    known = {"A": A, "first": first, "mu": mu, "L": np.einsum("kij,klj->kil", roots, roots)}
    f = Predicted(model, {**known, "t": [4, 5], "x": RNG.normal(size=(9, 2))}, *NONE)
    x = RNG.normal(size=(8, 2)) * 2
    x[[2, 4, 7]] = math.nan
    p, s = f.predict({**known, "t": [5, 3], "x": x}, *TIGHT), f.score({**known, "t": [5, 3], "x": x})
    cov, total = np.linalg.inv(known["L"]), 0
    for begin, n in ((0, 5), (5, 3)):
        logs = {}
        for path in itertools.product(range(3), repeat=n):
            log = math.log(first[path[0]]) + sum(math.log(A[i, j]) for i, j in zip(path, path[1:]))
            for t, k in enumerate(path):
                if not np.isnan(x[begin + t, 0]):
                    log += stats.multivariate_normal.logpdf(x[begin + t], mu[k], cov[k])
            logs[path] = log
        evidence = logsumexp(list(logs.values()))
        total += evidence
        at = np.zeros((n, 3))
        for path, log in logs.items():
            at[np.arange(n), path] += math.exp(log - evidence)
        near(p["z.probability"][begin:begin + n], at)
        assert tuple(p["z.path"][begin:begin + n]) == max(logs, key=logs.get)
        for t in range(n):
            if np.isnan(x[begin + t, 0]):
                near(p["x.mean"][begin + t], at[t] @ mu)
                second = at[t] @ (np.diagonal(cov, axis1=1, axis2=2) + mu**2)
                said = near(p["x.sd"][begin + t], np.sqrt(second - (at[t] @ mu)**2))
    near(s["total"], total)
    return said


@check
def classes_in_known_schools():
    """New classes of old schools and of a new one; results of pupils there, and of pupils in classes with results."""
    model = """model m { plate school; plate class in school; plate pupil in class; mu ~ Normal(mean = 0, sd = 3); ts ~ Gamma(shape = 3, rate = 1); tc ~ Gamma(shape = 3, rate = 1); ty ~ Gamma(shape = 3, rate = 1);
      a[school] ~ Normal(mean = mu, precision = ts); b[school, class] ~ Normal(mean = a[school], precision = tc);
      observe y[school, class, pupil] ~ Normal(mean = b[school, class], precision = ty); }"""
    f = Predicted(model, {"class": [2, 3, 1], "pupil": [3, 2, 2, 4, 1, 2], "y": RNG.normal(size=14)}, *NONE)
    q = f.posterior
    ts, tc, ty = (expected(q, v) for v in ("ts", "tc", "ty"))
    y = np.array([1.0, 2.0, math.nan, 0.5, math.nan, math.nan])
    p = f.predict({"class": [2, 1], "pupil": [3, 1, 2], "y": y}, *TIGHT)
    s = LinearNormal(a=2, b=3)
    for i in range(2):
        s.add(ts, -q["mu.mean"], (s.at["a"][i], 1))
    for j, i in enumerate((0, 0, 1)):
        s.add(tc, 0, (s.at["b"][j], 1), (s.at["a"][i], -1))
    for j, value in ((0, 1.0), (0, 2.0), (1, 0.5)):
        s.add(ty, -value, (s.at["b"][j], 1))
    s.solve(apart(np.arange(5)))
    near(p["a.mean"][0], s.mean[0], 1e-8)
    near(p["b.mean"][:2], s.mean[2:4], 1e-8)
    near(p["y.mean"][[2]], s.mean[[2]], 1e-8)
    near(p["y.sd"][2], math.sqrt(s.cov[2, 2] + inverse(q, "ty")), 1e-8)
    near(p["y.mean"][4:], np.full(2, q["mu.mean"]))
    return near(p["y.sd"][4:], np.full(2, math.sqrt(1 / q["mu.precision"] + inverse(q, "ts") + inverse(q, "tc") + inverse(q, "ty"))))


@check
def scores_of_items_known_in_part():
    """Two numbers of each item in one factor, one of which may be known: what is missing of the item, by their covariance."""
    model = """model m { plate n; plate d; data W[d] : real; data c[d] : real; tau ~ Gamma(shape = 3, rate = 1); o[n] ~ Normal(mean = 0.5, precision = 2); h[n] ~ Normal(mean = 0, sd = 1);
      observe x[n, d] ~ Normal(mean = W[d] * h[n] + c[d] * o[n], precision = tau); guide joint(o, h); }"""
    W, c = RNG.normal(size=4), RNG.normal(size=4)
    f = Predicted(model, {"W": W, "c": c, "x": RNG.normal(size=(20, 4))}, *NONE)
    q = f.posterior
    x, o = RNG.normal(size=(3, 4)), [None, 0.7, None]
    x[:, 3] = math.nan
    p = f.predict({"W": W, "c": c, "x": x, "o": o}, *TIGHT)
    t = expected(q, "tau")
    for i in range(3):
        s = LinearNormal(o=1, h=1)
        s.add(2, -0.5, (0, 1))
        s.add(1, 0, (1, 1))
        for j in range(3):
            s.add(t, -x[i, j], (0, c[j]), (1, W[j]))
        s.fix("o", [np.nan if o[i] is None else o[i]])
        s.solve([[0, 1]])
        near(p["h.mean"][i], s.mean[1], 1e-8)
        near(p["h.sd"][i], math.sqrt(s.cov[1, 1]), 1e-8)
        g = np.array([c[3], W[3]])
        near(p["x.mean"][i, 3], g @ s.mean, 1e-8)
        said = near(p["x.sd"][i, 3], math.sqrt(g @ s.cov @ g + inverse(q, "tau")), 1e-8)
    assert np.isnan(p["o.mean"][1])
    return said


@check
def spikes():
    """Coefficients that may be out: means and variances of new responses by the mixture of every pair."""
    model = """model m { plate n; plate f; data x[n, f] : real; tau ~ Gamma(shape = 3, rate = 1); s[f] ~ Bernoulli(0.3); w[f] ~ Normal(mean = 0, sd = 2);
      observe y[n] ~ Normal(mean = sum(f) x[n, f] * s[f] * w[f], precision = tau); guide joint(s, w); }"""
    x = RNG.normal(size=(40, 4))
    f = Predicted(model, {"x": x, "y": x @ [1.0, 0, -0.3, 0.1] + RNG.normal(size=40)}, *NONE)
    q = f.posterior
    new = RNG.normal(size=(3, 4))
    p = f.predict({"x": new}, "--draws", 40000)
    on, m, v = q["s.p"], q["joint(s, w).mean"][:, 1], 1 / q["joint(s, w).precision"][:, 1]
    mean, second = on * m, on * (v + m**2)
    z = np.abs(p["y.mean"] - new @ mean) / np.maximum(p["y.mcse"], 1e-9)
    assert np.all(z < 4.5), (p["y.mean"], new @ mean, p["y.mcse"])
    sd = np.sqrt(new**2 @ (second - mean**2) + inverse(q, "tau"))
    assert np.all(np.abs(p["y.sd"] / sd - 1) < 0.03), (p["y.sd"], sd)
    return f"{z.max():.1f} standard errors"


@check
def counts_in_groups():
    """Rates of groups with exposure: seen groups are Gamma-Poisson by their factor, new ones integrate theirs out."""
    model = """model m { plate g; plate n; data i[n] : g; data e[n] : real; rate[g] ~ Gamma(shape = 2, rate = beta); beta ~ Gamma(shape = 2, rate = 1);
      observe x[n] ~ Poisson(e[n] * rate[i[n]]); let twice[g] = 2 * rate[g]; }"""
    i, e = np.arange(20) % 4, RNG.uniform(0.5, 2, 20)
    f = Predicted(model, {"i": i, "e": e, "x": RNG.poisson(2, 20)}, *NONE)
    q = f.posterior
    p = f.predict({"i": [1, 3, 4], "e": [1.0, 2.5, 1.0]}, "--sizes", "g=+1", "--draws", 4000)
    a, b = q["rate.shape"], q["rate.rate"]
    for r, (g, x) in enumerate([(1, 1.0), (3, 2.5)]):
        exact = stats.nbinom(a[g], b[g] / (b[g] + x))
        near(p["x.mean"][r], exact.mean())
        near(p["x.sd"][r], exact.std())
        assert p["x.q95"][r] == exact.ppf(0.95)
    near(p["x.mean"][2], 2 * q["beta.rate"] / (q["beta.shape"] - 1))
    near(p["twice.mean"][:4], 2 * a / b)
    return near(p["twice.sd"][:4], 2 * np.sqrt(a) / b)


@check
def documents_with_classes():
    """A class of each document over words: predicted classes, missing words given the others, the score."""
    model = """model m { plate doc; plate token in doc; plate k = 3; plate term = 5; pi ~ Dirichlet(concentration = 1) over k; beta[k] ~ Dirichlet(concentration = 0.5) over term;
      c[doc] ~ Categorical(pi); observe w[doc, token] ~ Categorical(beta[c[doc]]); }"""
    f = Predicted(model, {"w": [RNG.integers(0, 5, RNG.integers(3, 8)).tolist() for _ in range(20)], "c": [0, 1, 2] + [None] * 17}, *NONE)
    q = f.posterior
    w = [[0, 1, None, 4], [2], [None, 3, 3]]
    p, s = f.predict({"w": w}), f.score({"w": w})
    pi, beta = weights(q["pi.concentration"]), weights(q["beta.concentration"])
    lb = digamma(q["beta.concentration"]) - digamma(q["beta.concentration"].sum(1, keepdims=True))
    total, at = 0, 0
    for d, words in enumerate(w):
        there = [v for v in words if v is not None]
        r = softmax(digamma(q["pi.concentration"]) + lb[:, there].sum(1))
        near(p["c.probability"][d], r)
        total += logsumexp(np.log(pi) + np.log(beta)[:, there].sum(1))
        for v in words:
            if v is None:
                said = near(p["w.probability"][at], r @ beta)
            at += 1
    near(s["total"], total)
    return said


@check
def links_and_other_counts():
    """Lets of a logistic curve and an exponential, successes and trials of binomial kinds: draws within their errors."""
    model = """model m { plate n; data x[n] : real; data k[n] : count; a ~ Normal(mean = 0, sd = 2); b ~ Normal(mean = 0, sd = 2); let risk[n] = logistic(a + b * x[n]); let odds[n] = exp(a + b * x[n]);
      observe y[n] ~ Binomial(k[n], logistic(a + b * x[n])); }"""
    x, k = RNG.normal(size=30), RNG.integers(1, 9, 30)
    f = Predicted(model, {"x": x, "k": k, "y": RNG.binomial(k, 1 / (1 + np.exp(-0.5 - x)))}, *NONE)
    q = f.posterior
    new, trials = np.array([-1.0, 0.3]), np.array([5, 3])
    p = f.predict({"x": new, "k": trials}, "--draws", 20000)
    nodes, w = np.polynomial.hermite_e.hermegauss(80)
    at = (q["a.mean"] + q["b.mean"] * new)[:, None] + np.sqrt(1 / q["a.precision"] + new**2 / q["b.precision"])[:, None] * nodes
    w = w / w.sum()
    risk = 1 / (1 + np.exp(-at))
    for name, want in (("risk", risk @ w), ("odds", np.exp(at) @ w), ("y", trials * (risk @ w))):
        z = np.abs(p[f"{name}.mean"] - want) / np.maximum(p[f"{name}.mcse"], 1e-12)
        assert np.all(z < 4.5), (name, p[f"{name}.mean"], want, p[f"{name}.mcse"])
    return "within 4.5 standard errors"


finish()
