#!/usr/bin/env python3
"""`guide joint` in models of many kinds: hierarchies, items, chains, mixtures, logistic links, outliers. Against Normal
posteriors, enumeration and fixed points that are written here.

usage: joint_models.py LEHR
"""
import os
import sys

import numpy as np
from scipy.special import digamma, gammaln, logsumexp, softmax
from scipy.stats import multivariate_normal, norm

sys.path += [f"{sys.path[0]}/..", f"{sys.path[0]}/../gaps"]
from fitting import check, finish, fit, lehr, near, temporary, write  # noqa: E402
from linear_normal import LinearNormal  # noqa: E402
from partly_known import TIGHT, as_solved, ragged  # noqa: E402

RNG = np.random.default_rng(31)


@check
def effects_on_nested_plates():
    """Intercept and slope of each class in each school, ragged, whose means are those of the school: two joint factors."""
    model = """model m { plate school; plate class in school; plate n; data s[n] : school; data x[n] : real;
      ta ~ Gamma(shape = 2, rate = 1); tb ~ Gamma(shape = 2, rate = 1); ty ~ Gamma(shape = 2, rate = 1);
      u[school] ~ Normal(mean = 0, sd = 2); v[school] ~ Normal(mean = 1, sd = 2); data z[school, class] : real;
      a[school, class] ~ Normal(mean = u[school], precision = ta); b[school, class] ~ Normal(mean = v[school], precision = tb);
      observe y[school, class] ~ Normal(mean = a[school, class] + b[school, class] * z[school, class], precision = ty);
      observe w[n] ~ Normal(mean = u[s[n]] + x[n] * v[s[n]], precision = 2);
      guide joint(a, b); guide joint(u, v); }"""
    classes = [3, 1, 4, 2]
    of, z, y = np.repeat(np.arange(4), classes), RNG.normal(size=10) + 2, RNG.normal(size=10)
    s, x, w = RNG.integers(4, size=15), RNG.normal(size=15), RNG.normal(size=15)
    q = LinearNormal(u=4, v=4, a=10, b=10)
    for t in ("ta", "tb", "ty"):
        q.gamma(t, 2, 1)
    for i in range(4):
        q.add(0.25, 0, (q.at["u"][i], 1))
        q.add(0.25, -1, (q.at["v"][i], 1))
    for i in range(10):
        q.add("ta", 0, (q.at["a"][i], 1), (q.at["u"][of[i]], -1))
        q.add("tb", 0, (q.at["b"][i], 1), (q.at["v"][of[i]], -1))
        q.add("ty", -y[i], (q.at["a"][i], 1), (q.at["b"][i], z[i]))
    for i in range(15):
        q.add(2, -w[i], (q.at["u"][s[i]], 1), (q.at["v"][s[i]], x[i]))
    q.solve([[q.at["u"][i], q.at["v"][i]] for i in range(4)] + [[q.at["a"][i], q.at["b"][i]] for i in range(10)])
    got = fit(model, {"class": classes, "z": z, "y": y, "s": s, "x": x, "w": w}, *TIGHT)
    return as_solved(got, q, "u", "v", "a", "b")


@check
def scores_of_items():
    """Two factors of each item and an offset, all local, from several measurements with gaps."""
    model = """model m { plate n; plate d; plate k = 2; data W[d] : vector over k; data c[d] : real; tau ~ Gamma(shape = 3, rate = 1); m ~ Normal(mean = 0, sd = 1);
      h[n] ~ MvNormal(mean = 0, precision = 1) over k; o[n] ~ Normal(mean = m, precision = 2);
      observe x[n, d] ~ Normal(mean = dot(W[d], h[n]) + c[d] * o[n], precision = tau); guide joint(o, h); }"""
    n, d = 9, 5
    W, c, x = RNG.normal(size=(d, 2)), RNG.normal(size=d), RNG.normal(size=(n, d))
    x[RNG.uniform(size=x.shape) < 0.2] = np.nan
    q = LinearNormal(m=1, o=n, h=(n, 2))
    q.gamma("tau", 3, 1)
    q.add(1, 0, (q.at["m"][0], 1))
    for i in range(n):
        q.add(2, 0, (q.at["o"][i], 1), (q.at["m"][0], -1))
        for k in range(2):
            q.add(1, 0, (q.at["h"][i, k], 1))
        for j in range(d):
            if not np.isnan(x[i, j]):
                q.add("tau", -x[i, j], (q.at["h"][i, 0], W[j, 0]), (q.at["h"][i, 1], W[j, 1]), (q.at["o"][i], c[j]))
    q.solve([[0]] + [[q.at["o"][i], *q.at["h"][i]] for i in range(n)])
    got = fit(model, {"W": W, "c": c, "x": x}, *TIGHT)
    return as_solved(got, q, "m", "o", "h")


@check
def means_and_their_groups():
    """mu, a[g] and b[g, h] of a crossed hierarchy in one factor: the exact posterior where precisions are known."""
    model = """model m { plate n; plate g; plate h = 2; data i[n] : g; data j[n] : h; mu ~ Normal(mean = 0, sd = 3); a[g] ~ Normal(mean = mu, precision = 0.7);
      b[g, h] ~ Normal(mean = a[g], precision = 1.5); observe y[n] ~ Normal(mean = b[i[n], j[n]], precision = ty); ty ~ Gamma(shape = 2, rate = 1);
      guide joint(mu, a, b); }"""
    n, g = 25, 4
    i, j, y = RNG.integers(g, size=n), RNG.integers(2, size=n), RNG.normal(size=n) + 2
    i[:g] = np.arange(g)
    q = LinearNormal(mu=1, a=g, b=(g, 2))
    q.gamma("ty", 2, 1)
    q.add(1 / 9, 0, (0, 1))
    for k in range(g):
        q.add(0.7, 0, (q.at["a"][k], 1), (0, -1))
        for l in range(2):
            q.add(1.5, 0, (q.at["b"][k, l], 1), (q.at["a"][k], -1))
    for r in range(n):
        q.add("ty", -y[r], (q.at["b"][i[r], j[r]], 1))
    q.solve([np.arange(q.n)])
    got = fit(model, {"i": i, "j": j, "y": y}, *TIGHT)
    near(got.posterior["joint(mu, a, b).mean"], q.mean, 1e-8)
    near(np.linalg.inv(got.posterior["joint(mu, a, b).precision"]), q.cov, 1e-8)
    return as_solved(got, q, "mu", "a", "b")


@check
def rows_of_data():
    """mu, schools and their classes, ragged, in one factor of them all, in two orders; the last of them alone with the first."""
    model = """model m { plate school; plate class in school; plate n in class; mu ~ Normal(mean = 0, sd = 3); ts ~ Gamma(shape = 2, rate = 1); tc ~ Gamma(shape = 2, rate = 1);
      ty ~ Gamma(shape = 2, rate = 1); a[school] ~ Normal(mean = mu, precision = ts); b[school, class] ~ Normal(mean = a[school], precision = tc);
      observe y[school, class, n] ~ Normal(mean = b[school, class], precision = ty); guide joint(%s); }"""
    classes, ns, y = [2, 1, 3], [2, 3, 1, 2, 2, 1], RNG.normal(size=11)
    school, group, worst = np.repeat(np.arange(3), classes), np.repeat(np.arange(6), ns), 0
    for members in (["mu", "a", "b"], ["b", "mu", "a"], ["b", "mu"]):
        q = LinearNormal(**{v: {"mu": 1, "a": 3, "b": 6}[v] for v in members + sorted({"mu", "a", "b"} - set(members))})
        for t in ("ts", "tc", "ty"):
            q.gamma(t, 2, 1)
        q.add(1 / 9, 0, (q.at["mu"][0], 1))
        for i in range(3):
            q.add("ts", 0, (q.at["a"][i], 1), (q.at["mu"][0], -1))
        for i in range(6):
            q.add("tc", 0, (q.at["b"][i], 1), (q.at["a"][school[i]], -1))
        for i in range(11):
            q.add("ty", -y[i], (q.at["b"][group[i]], 1))
        whole = np.concatenate([q.at[v] for v in members])
        q.solve([whole] + [[i] for i in range(q.n) if i not in whole])
        got = fit(model % ", ".join(members), {"class": classes, "n": ns, "y": y}, *TIGHT)
        worst = max(worst, near(np.linalg.inv(got.posterior[f"joint({', '.join(members)}).precision"]), q.cov[np.ix_(whole, whole)], 1e-6))
        said = as_solved(got, q, "mu", "a", "b")
    return f"{said}, covariances within {worst:.0e}"


@check
def eight_schools():
    """Mean and effects of the items of the data in one factor: the exact posterior, by draws and by annealing too; no minibatches."""
    model = """model m { plate school; data sigma[school] : real; mu ~ Normal(mean = 0, sd = 10); theta[school] ~ Normal(mean = mu, sd = 6);
      observe y[school] ~ Normal(mean = theta[school], sd = sigma[school]); guide joint(theta, mu); }"""
    y, sigma = np.array([28, 8, -3, 7, -1, 1, 18, 12]), np.array([15, 10, 16, 11, 9, 11, 10, 18])
    q = LinearNormal(theta=8, mu=1)
    q.add(0.01, 0, (8, 1))
    for i in range(8):
        q.add(1 / 36, 0, (i, 1), (8, -1))
        q.add(1 / sigma[i]**2, -y[i], (i, 1))
    q.solve([np.arange(9)])
    data = {"y": y, "sigma": sigma}
    for more in ([], ["--interpret"], ["--anneal", "auto", "--parts", "3"], ["--method", "svi", "--batch-size", "3"]):
        said = as_solved(fit(model, data, *more, monotone=not more), q, "mu", "theta")
    draws = fit(model, data, "--method", "gibbs", "--draws", "4000", "--warmup", "5", monotone=False)
    mean, variance = q.of("theta")
    off = np.max(np.abs(draws.posterior["theta.mean"] - mean) / np.sqrt(variance)) * np.sqrt(4000)
    assert off < 5, off
    return f"{said}, draws within {off:.1f} standard errors"


@check
def a_constant_of_a_series():
    """The drift of a series and its states, with a gap, in one factor."""
    model = """model m { plate t ordered; c ~ Normal(mean = 0, sd = 1); tw ~ Gamma(shape = 3, rate = 1);
      w[t] ~ Normal(mean = 0.9 * w[t-1] + c, precision = tw) start Normal(mean = 0, sd = 2); observe y[t] ~ Normal(mean = w[t], precision = 2); guide joint(c, w); }"""
    n, y = 12, RNG.normal(size=12) + 1
    y[4] = np.nan
    q = LinearNormal(c=1, w=n)
    q.gamma("tw", 3, 1)
    W = q.at["w"]
    q.add(1, 0, (0, 1))
    q.add(0.25, 0, (W[0], 1))
    for t in range(n):
        if t:
            q.add("tw", 0, (W[t], 1), (W[t - 1], -0.9), (0, -1))
        if t != 4:
            q.add(2, -y[t], (W[t], 1))
    q.solve([np.arange(n + 1)])
    return as_solved(fit(model, {"y": y}, *TIGHT), q, "c", "w")


@check
def members_known_in_part():
    """Numbers and vectors of some groups are known, two groups whole: a factor of each group, and one of everything."""
    model = """model m { plate n; plate g; plate f = 2; data i[n] : g; data x[n] : real; data z[n] : vector over f; mu ~ Normal(mean = 0, sd = 3); ta ~ Gamma(shape = 2, rate = 1);
      ty ~ Gamma(shape = 2, rate = 1); a[g] ~ Normal(mean = mu, precision = ta); b[g] ~ Normal(mean = a[g], precision = 2); w[g] ~ MvNormal(mean = 0, precision = 1) over f;
      observe y[n] ~ Normal(mean = a[i[n]] + b[i[n]] * x[n] + dot(w[i[n]], z[n]), precision = ty); guide joint(%s); }"""
    n, g = 40, 5
    i, x, z, y = np.arange(n) % g, RNG.normal(size=n), RNG.normal(size=(n, 2)), RNG.normal(size=n) + 1
    known = {"a": np.array([0.5, np.nan, np.nan, 1.0, np.nan]), "b": np.array([np.nan, 0.3, np.nan, -0.2, np.nan]),
             "w": np.array([[np.nan, 1], [np.nan] * 2, [0.2, 0.3], [0.1, 0.2], [np.nan] * 2])}
    for members in (["b", "a", "w"], ["mu", "a", "b", "w"]):
        q = LinearNormal(mu=1, a=g, b=g, w=(g, 2))
        q.gamma("ta", 2, 1)
        q.gamma("ty", 2, 1)
        q.add(1 / 9, 0, (0, 1))
        A, B, W = q.at["a"], q.at["b"], q.at["w"]
        for k in range(g):
            q.add("ta", 0, (A[k], 1), (0, -1))
            q.add(2, 0, (B[k], 1), (A[k], -1))
            for c in W[k]:
                q.add(1, 0, (c, 1))
        for r in range(n):
            q.add("ty", -y[r], (A[i[r]], 1), (B[i[r]], x[r]), (W[i[r], 0], z[r, 0]), (W[i[r], 1], z[r, 1]))
        for name, values in known.items():
            q.fix(name, values)
        q.solve([np.arange(q.n)] if "mu" in members else [[0]] + [[A[k], B[k], *W[k]] for k in range(g)])
        for more in ([], ["--interpret"], ["--search", "full"]):
            got = fit(model % ", ".join(members), {"i": i, "x": x, "z": z, "y": y, **known}, *TIGHT, *more, monotone=not more)
            said = as_solved(got, q, "mu", "a", "b", "w")
        there = ~np.isnan(known["a"])
        assert np.array_equal(got.posterior["a.mean"][there], known["a"][there]) and np.all(got.posterior["a.precision"][there] > 1e199)
    model = (model % "mu, a, b, w").replace("ta ~ Gamma(shape = 2, rate = 1);", "const ta = 1;").replace("ty ~ Gamma(shape = 2, rate = 1);", "const ty = 2;")
    draws = fit(model, {"i": i, "x": x, "z": z, "y": y, **known}, "--method", "gibbs", "--draws", "4000", "--warmup", "5", monotone=False)
    q.rows = [({"ta": 1.0, "ty": 2.0}.get(p, p), c, f) for p, c, f in q.rows]
    q.priors, off = {}, 0
    q.solve([np.arange(q.n)])
    for name in known:
        (mean, variance), got = q.of(name), draws.posterior[f"{name}.mean"]
        free = variance > 0
        near(got[~free], mean[~free], 1e-12)
        off = max(off, np.max(np.abs(got - mean)[free] / np.sqrt(variance[free])) * np.sqrt(4000))
    assert off < 5, off
    return f"{said}, draws within {off:.1f} standard errors"


@check
def members_of_a_chain_known_in_part():
    """Levels and slopes of ragged series, some of them known: the smoother given these."""
    model = """model m { plate s; plate t in s ordered; tl ~ Gamma(shape = 3, rate = 1); level[s, t] ~ Normal(mean = level[s, t-1] + slope[s, t-1], precision = tl) start Normal(mean = 0, precision = 0.2);
      slope[s, t] ~ Normal(mean = 0.9 * slope[s, t-1], precision = 8) start Normal(mean = 0, precision = 1); observe y[s, t] ~ Normal(mean = level[s, t], precision = 2);
      guide joint(level, slope); }"""
    lengths, n = [6, 4], 10
    y, level, slope = RNG.normal(size=n), np.full(n, np.nan), np.full(n, np.nan)
    level[[3, 7]], slope[[1, 3, 6]] = [0.4, -0.2], [0.1, 0.3, 0.2]
    q = LinearNormal(level=n, slope=n)
    q.gamma("tl", 3, 1)
    L, S, at, groups = q.at["level"], q.at["slope"], 0, []
    for m in lengths:
        q.add(0.2, 0, (L[at], 1))
        q.add(1, 0, (S[at], 1))
        for t in range(at, at + m):
            q.add(2, -y[t], (L[t], 1))
            if t > at:
                q.add("tl", 0, (L[t], 1), (L[t - 1], -1), (S[t - 1], -1))
                q.add(8, 0, (S[t], 1), (S[t - 1], -0.9))
        groups.append([*L[at:at + m], *S[at:at + m]])
        at += m
    q.fix("level", level)
    q.fix("slope", slope)
    q.solve(groups)
    got = fit(model, {"y": ragged(y, lengths), "level": ragged(level, lengths), "slope": ragged(slope, lengths)}, *TIGHT)
    return as_solved(got, q, "level", "slope")


@check
def built_objects_have_constant_coordinates():
    """A plate of unknown size has no coordinates in a built object, nor has one of which each data set has its own number."""
    model = """model m { plate n; plate g; data i[n] : g; mu ~ Normal(mean = 0, sd = 1); a[g] ~ Normal(mean = mu, sd = 1);
      observe y[n] ~ Normal(mean = a[i[n]], sd = 1); %sguide joint(mu, a); }"""
    said = []
    with temporary() as folder:
        for extra, sizes, code in (("", [], 2), ("", ["--sizes", "g=3"], 0), ("observe u[g] ~ Normal(mean = a[g], sd = 1); ", ["--sizes", "g=3"], 3)):
            said.append(lehr("build", write(f"{folder}/m.lehr", model % extra), *sizes, "--out", os.path.join(folder, "m"), code=code).stderr)
    assert "--sizes g=..." in said[0] and "its own number" in said[2], said
    return "refused"


@check
def levels_slopes_and_seasons_of_series():
    """Three states of each of several series, ragged, one of them a vector: the smoother of all of them together."""
    model = """model m { plate s; plate t in s ordered; plate d = 2; data x[s, t] : real; data R : matrix over d, d; ty ~ Gamma(shape = 3, rate = 1); tl ~ Gamma(shape = 3, rate = 1);
      level[s, t] ~ Normal(mean = level[s, t-1] + slope[s, t-1], precision = tl) start Normal(mean = 0, precision = 0.2);
      slope[s, t] ~ Normal(mean = slope[s, t-1], precision = 8) start Normal(mean = 0, precision = 1);
      turn[s, t] ~ MvNormal(mean = R * turn[s, t-1], precision = 5) start MvNormal(mean = 0, precision = 1) over d;
      observe y[s, t] ~ Normal(mean = level[s, t] + turn[s, t, 0] * x[s, t], precision = ty); guide joint(level, slope, turn); }"""
    lengths = [6, 1, 9]
    n, R = 16, np.array([[0.6, 0.7], [-0.7, 0.6]])
    x, y = RNG.normal(size=n), RNG.normal(size=n) * 2
    y[[3, 8, 9]] = np.nan
    q = LinearNormal(level=n, slope=n, turn=(n, 2))
    q.gamma("ty", 3, 1)
    q.gamma("tl", 3, 1)
    L, S, T = q.at["level"], q.at["slope"], q.at["turn"]
    at, groups = 0, []
    for m in lengths:
        q.add(0.2, 0, (L[at], 1))
        q.add(1, 0, (S[at], 1))
        for k in range(2):
            q.add(1, 0, (T[at, k], 1))
        for t in range(at + 1, at + m):
            q.add("tl", 0, (L[t], 1), (L[t - 1], -1), (S[t - 1], -1))
            q.add(8, 0, (S[t], 1), (S[t - 1], -1))
            for k in range(2):
                q.add(5, 0, (T[t, k], 1), (T[t - 1, 0], -R[k, 0]), (T[t - 1, 1], -R[k, 1]))
        groups.append([c for t in range(at, at + m) for c in (L[t], S[t], *T[t])])
        at += m
    for t in range(n):
        if not np.isnan(y[t]):
            q.add("ty", -y[t], (L[t], 1), (T[t, 0], x[t]))
    q.solve(groups)
    return as_solved(fit(model, {"x": ragged(x, lengths), "y": ragged(y, lengths), "R": R}, *TIGHT), q, "level", "slope", "turn")


@check
def coefficients_that_walk():
    """A regression on two covariates whose coefficients are random walks, in one chain."""
    model = """model m { plate t ordered; data x[t] : real; data u[t] : real; tau ~ Gamma(shape = 2, rate = 1);
      a[t] ~ Normal(mean = 0.9 * a[t-1], precision = 4) start Normal(mean = 0, sd = 2);
      b[t] ~ Normal(mean = b[t-1] - 0.1 * a[t-1], precision = 6) start Normal(mean = 1, sd = 2);
      observe y[t] ~ Normal(mean = a[t] * x[t] + b[t] * u[t], precision = tau); guide joint(a, b); }"""
    n = 18
    x, u, y = RNG.normal(size=n), RNG.normal(size=n), RNG.normal(size=n)
    q = LinearNormal(a=n, b=n)
    q.gamma("tau", 2, 1)
    A, B = q.at["a"], q.at["b"]
    q.add(0.25, 0, (A[0], 1))
    q.add(0.25, -1, (B[0], 1))
    for t in range(n):
        q.add("tau", -y[t], (A[t], x[t]), (B[t], u[t]))
        if t:
            q.add(4, 0, (A[t], 1), (A[t - 1], -0.9))
            q.add(6, 0, (B[t], 1), (B[t - 1], -1), (A[t - 1], 0.1))
    q.solve([np.arange(q.n)])
    return as_solved(fit(model, {"x": x, "u": u, "y": y}, *TIGHT), q, "a", "b")


@check
def mixture_of_regressions():
    """A line for each component in one factor; one sweep of numpy leaves the fit where it is."""
    model = """model m { plate n; plate k = 2; data x[n] : real; pi ~ Dirichlet(concentration = 1) over k; a[k] ~ Normal(mean = 0, sd = 5); b[k] ~ Normal(mean = 0, sd = 5);
      tau[k] ~ Gamma(shape = 2, rate = 1); z[n] ~ Categorical(pi); observe y[n] ~ Normal(mean = a[z[n]] + b[z[n]] * x[n], precision = tau[z[n]]); guide joint(a, b); }"""
    n = 60
    x = RNG.uniform(1, 4, n)
    y = np.where(RNG.uniform(size=n) < 0.6, 1 + 2 * x, 6 - x) + RNG.normal(size=n) * 0.5
    got = fit(model, {"x": x, "y": y}, *TIGHT)
    q = got.posterior
    F = np.stack([np.ones(n), x], 1)
    m, S = q["joint(a, b).mean"], np.linalg.inv(q["joint(a, b).precision"])
    t, lt = q["tau.shape"] / q["tau.rate"], digamma(q["tau.shape"]) - np.log(q["tau.rate"])
    square = (y[:, None] - F @ m.T)**2 + np.einsum("ni,kij,nj->nk", F, S, F)
    log = digamma(q["pi.concentration"]) - digamma(q["pi.concentration"].sum()) + 0.5 * (lt - np.log(2 * np.pi)) - 0.5 * t * square
    r = softmax(log, axis=1)
    worst = near(q["z.probs"], r, 1e-6)
    for k in range(2):
        P = np.eye(2) / 25 + t[k] * (F * r[:, [k]]).T @ F
        worst = max(worst, near(q["joint(a, b).precision"][k], P, 1e-6), near(m[k], np.linalg.solve(P, t[k] * F.T @ (r[:, k] * y)), 1e-6),
                    near(q["tau.rate"][k], 1 + 0.5 * r[:, k] @ square[:, k], 1e-6), near(q["tau.shape"][k], 2 + 0.5 * r[:, k].sum(), 1e-6))
    elbo = logsumexp(log, axis=1).sum()
    for k in range(2):
        P0, a, b = np.eye(2) / 25, q["tau.shape"][k], q["tau.rate"][k]
        elbo -= 0.5 * (np.trace(P0 @ S[k]) + m[k] @ P0 @ m[k] - 2 - np.linalg.slogdet(P0)[1] - np.linalg.slogdet(S[k])[1])
        elbo += -gammaln(2) + lt[k] - t[k] + a - np.log(b) + gammaln(a) + (1 - a) * digamma(a)
    c = q["pi.concentration"]
    elbo -= gammaln(c.sum()) - gammaln(c).sum() + ((c - 1) * (digamma(c) - digamma(c.sum()))).sum()
    return f"ELBO {near(got.elbo, elbo, 1e-9):.0e}, fixed point {worst:.0e}"


@check
def logistic_regression():
    """Weights and intercepts of each group under the quadratic bound of Jaakkola and Jordan."""
    model = """model m { plate n; plate g; plate f = 2; data i[n] : g; data x[n] : vector over f; o[g] ~ Normal(mean = 0, sd = 2); w[g] ~ MvNormal(mean = 0, precision = 0.5) over f;
      observe y[n] ~ Bernoulli(logistic(o[i[n]] + dot(w[i[n]], x[n]))); guide joint(o, w); }"""
    n, g = 80, 3
    i, x = RNG.integers(g, size=n), RNG.normal(size=(n, 2)) + 1
    y = (RNG.uniform(size=n) < 1 / (1 + np.exp(-(x @ [1, -1] + 0.5)))).astype(int)
    got = fit(model, {"i": i, "x": x, "y": y}, *TIGHT)
    worst, elbo = 0, 0
    P0 = np.diag([0.25, 0.5, 0.5])
    for k in range(g):
        F, Y = np.hstack([np.ones((n, 1)), x])[i == k], y[i == k]
        xi = np.ones(len(Y))
        for _ in range(3000):
            lam = np.tanh(xi / 2) / (4 * xi)
            P = P0 + 2 * F.T @ (lam[:, None] * F)
            S = np.linalg.inv(P)
            m = S @ F.T @ (Y - 0.5)
            xi = np.sqrt(np.einsum("ni,ij,nj->n", F, S + np.outer(m, m), F))
        worst = max(worst, near(got.posterior["joint(o, w).mean"][k], m, 1e-6), near(got.posterior["joint(o, w).precision"][k], P, 1e-6))
        lam = np.tanh(xi / 2) / (4 * xi)
        elbo += np.sum(-np.log1p(np.exp(-xi)) - xi / 2 + lam * xi**2) + 0.5 * m @ P @ m - 0.5 * np.linalg.slogdet(P)[1] + 0.5 * np.linalg.slogdet(P0)[1]
    return f"ELBO {near(got.elbo, elbo, 1e-8):.0e}, weights {worst:.0e}"


@check
def wishart_of_coefficients():
    """Means of the coefficients and their precision matrix are latent; an offset shares the factor of each group."""
    model = """model m { plate n; plate g; plate f = 2; data i[n] : g; data x[n] : vector over f; mu ~ MvNormal(mean = 0, precision = 0.1) over f; L ~ Wishart(df = 4, scale = 0.5) over f;
      o[g] ~ Normal(mean = 0, precision = to); to ~ Gamma(shape = 2, rate = 1); w[g] ~ MvNormal(mean = mu, precision = L) over f;
      observe y[n] ~ Normal(mean = o[i[n]] + dot(w[i[n]], x[n]), precision = 3); guide joint(o, w); }"""
    n, g = 60, 5
    i, x = np.arange(n) % g, RNG.normal(size=(n, 2)) + 1
    y = np.einsum("nf,nf->n", RNG.normal(size=(g, 2))[i], x) + RNG.normal(size=n) * 0.6
    got = fit(model, {"i": i, "x": x, "y": y}, *TIGHT)
    mu, df, scale, to = np.zeros(2), 4.0 + g, np.eye(2) * 0.1, 2.0
    for _ in range(5000):
        EL, S1, S2, so, ms = df * scale, np.zeros(2), np.zeros((2, 2)), 0, []
        for k in range(g):
            F = np.hstack([np.ones((n, 1)), x])[i == k]
            P = 3 * F.T @ F
            P[0, 0] += to
            P[1:, 1:] += EL
            h = 3 * F.T @ y[i == k]
            h[1:] += EL @ mu
            C, m = np.linalg.inv(P), np.linalg.solve(P, h)
            ms.append(m)
            S1 += m[1:]
            S2 += C[1:, 1:] + np.outer(m[1:], m[1:])
            so += C[0, 0] + m[0]**2
        Pm = 0.1 * np.eye(2) + g * EL
        mu = np.linalg.solve(Pm, EL @ S1)
        scale = np.linalg.inv(2 * np.eye(2) + S2 - np.outer(S1, mu) - np.outer(mu, S1) + g * (np.outer(mu, mu) + np.linalg.inv(Pm)))
        to = (2 + g / 2) / (1 + so / 2)
    q = got.posterior
    return f"within {max(near(q['joint(o, w).mean'], ms, 1e-6), near(q['L.scale'], scale, 1e-6), near(q['to.shape'] / q['to.rate'], to, 1e-6), near(q['mu.mean'], mu, 1e-6)):.0e}"


@check
def outliers():
    """A bit and a shift for each item of ragged groups: q is the posterior of every item."""
    model = """model m { plate g; plate n in g; data mu[g] : real; s[g, n] ~ Bernoulli(0.2); e[g, n] ~ Normal(mean = 0, sd = 5);
      observe y[g, n] ~ Normal(mean = mu[g] + s[g, n] * e[g, n], precision = 4); guide joint(s, e); }"""
    lengths, mu = [4, 1, 3], np.array([0.0, 5.0, -2.0])
    of = np.repeat(np.arange(3), lengths)
    y = mu[of] + RNG.normal(size=8) * 0.5
    y[[1, 5]] += [4, -7]
    on, off = np.log(0.2) + norm.logpdf(y, mu[of], np.sqrt(25.25)), np.log(0.8) + norm.logpdf(y, mu[of], 0.5)
    total = np.logaddexp(on, off)
    p, precision = np.exp(on - total), 1 / 25 + 4
    mean = 4 * (y - mu[of]) / precision
    got = fit(model, {"mu": mu, "y": ragged(y, lengths)}, *TIGHT)
    q = got.posterior
    first = p * mean
    variance = p * (1 / precision + mean**2) + (1 - p) * 25 - first**2
    return f"within {max(near(got.elbo, total.sum(), 1e-11), near(q['s.p'], p, 1e-10), near(q['e.mean'], first, 1e-10), near(1 / q['e.precision'], variance, 1e-10)):.0e}"


@check
def experts():
    """A category of three ways in which a number of each task and covariate acts; tasks know nothing of each other."""
    model = """model m { plate n; plate task = 3; plate k = 3; data i[n] : task; data x[n] : real; data c[k] : real; data o[k] : real; data m[k] : real; p ~ Dirichlet(concentration = 2) over k;
      s[task] ~ Categorical(p); w[task] ~ Normal(mean = m[s[task]], precision = 0.5); observe y[n] ~ Normal(mean = c[s[i[n]]] * w[i[n]] * x[n] + o[s[i[n]]], precision = 3); guide joint(s, w); }"""
    n, c, o, m0 = 24, np.array([0.0, 1.0, -1.0]), np.array([0.5, 0.0, 0.3]), np.array([0.2, 1.0, -0.5])
    i, x = np.arange(n) % 3, RNG.normal(size=n)
    y = np.where(i == 0, 0.5, x) + RNG.normal(size=n) * 0.7
    got = fit(model, {"i": i, "x": x, "y": y, "c": c, "o": o, "m": m0}, *TIGHT)
    conc, worst = np.full(3, 3.0), 0
    like = np.zeros((3, 3))
    for t in range(3):
        X, Y = x[i == t], y[i == t]
        for k in range(3):
            C = np.eye(len(X)) / 3 + 2 * c[k]**2 * np.outer(X, X)
            like[t, k] = multivariate_normal.logpdf(Y, o[k] + c[k] * m0[k] * X, C)
    for _ in range(2000):
        log = digamma(conc) - digamma(conc.sum()) + like
        conc = 2 + softmax(log, axis=1).sum(0)
    l = digamma(conc) - digamma(conc.sum())
    elbo = logsumexp(log, axis=1).sum() + gammaln(6) - 3 * gammaln(2) + l.sum() - gammaln(conc.sum()) + gammaln(conc).sum() - ((conc - 1) * l).sum()
    worst = max(near(got.posterior["s.probs"], softmax(log, axis=1), 1e-7), near(got.posterior["p.concentration"], conc, 1e-7), near(got.elbo, elbo, 1e-9))
    for t in range(3):
        X, Y = x[i == t], y[i == t]
        P = 0.5 + 3 * c**2 * (X @ X)
        worst = max(worst, near(got.posterior["joint(s, w).mean"][t], (0.5 * m0 + 3 * c * ((Y[:, None] - o) * X[:, None]).sum(0)) / P, 1e-8))
    return f"within {worst:.0e}"


finish()
