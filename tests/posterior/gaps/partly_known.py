#!/usr/bin/env python3
"""Variables that are known in part, in models of many kinds: hierarchies, crossed effects, series, chains, mixtures, factors.
Against Normal posteriors, enumeration and fixed points that are written here.

usage: partly_known.py LEHR
"""
import itertools
import sys

import numpy as np
from scipy.special import digamma, gammaln, logsumexp, softmax
from scipy.stats import norm

sys.path.append(f"{sys.path[0]}/..")
from fitting import check, finish, fit, near  # noqa: E402
from linear_normal import LinearNormal  # noqa: E402

RNG = np.random.default_rng(21)
TIGHT = ["--tol", "1e-15", "--max-iter", "20000", "--local-tol", "1e-14", "--local-iters", "10000"]


def as_solved(got, s, *names, limit=1e-6):
    """Every factor of the named Normal variables, and every Gamma variable, of a LinearNormal."""
    worst = near(got.elbo, s.elbo, 1e-9)
    for name in names:
        mean, variance = s.of(name)
        mean, variance = mean.reshape(got.posterior[f"{name}.mean"].shape), variance.reshape(mean.shape)
        worst = max(worst, near(got.posterior[f"{name}.mean"], mean, limit))
        precision = got.posterior[f"{name}.precision"]
        if precision.shape == mean.shape:
            worst = max(worst, near(1 / precision, variance.reshape(mean.shape), limit))
    for name, (a, b) in s.precisions.items():
        worst = max(worst, near(got.posterior[f"{name}.shape"], a, limit), near(got.posterior[f"{name}.rate"], b, limit))
    return f"ELBO {got.elbo:.6f}, within {worst:.0e}"


def with_gaps(x, share=0.4):
    return np.where(RNG.uniform(size=np.shape(x)) < share, np.nan, x)


def ragged(values, lengths):
    out, at = [], 0
    for n in lengths:
        out.append(list(values[at:at + n]))
        at += n
    return out


def apart(*coordinates):
    return [[int(i)] for c in coordinates for i in np.ravel(c)]


@check
def effects_of_pupils_in_classes_in_schools():
    """Three nested plates, ragged: some schools, classes and pupils are known, and some results are missing."""
    model = """model m { plate school; plate class in school; plate pupil in class; mu ~ Normal(mean = 0, sd = 3);
      ts ~ Gamma(shape = 2, rate = 1); tc ~ Gamma(shape = 2, rate = 1); tp ~ Gamma(shape = 2, rate = 1); ty ~ Gamma(shape = 3, rate = 1);
      a[school] ~ Normal(mean = mu, precision = ts);
      b[school, class] ~ Normal(mean = a[school], precision = tc);
      c[school, class, pupil] ~ Normal(mean = b[school, class], precision = tp);
      observe y[school, class, pupil] ~ Normal(mean = c[school, class, pupil], precision = ty); }"""
    classes = [2, 1, 3, 2]
    pupils = [3, 2, 4, 1, 2, 2, 3, 2]
    school = np.repeat(np.arange(4), classes)
    group = np.repeat(np.arange(8), pupils)
    n = len(group)
    a, b = with_gaps(RNG.normal(size=4)), with_gaps(RNG.normal(size=8))
    c, y = with_gaps(RNG.normal(size=n), 0.7), with_gaps(RNG.normal(size=n), 0.2)
    a[0], b[3], c[5], a[1], b[0], c[0] = 0.3, -0.2, 1.1, np.nan, np.nan, np.nan
    y[np.isnan(c) & np.isnan(y)] = 0.4  # what no data depend on is no factor of the others: see barren.py
    s = LinearNormal(mu=1, a=4, b=8, c=n)
    for t, shape in (("ts", 2), ("tc", 2), ("tp", 2), ("ty", 3)):
        s.gamma(t, shape, 1)
    s.add(1 / 9, 0, (s.at["mu"][0], 1))
    for i in range(4):
        s.add("ts", 0, (s.at["a"][i], 1), (s.at["mu"][0], -1))
    for i in range(8):
        s.add("tc", 0, (s.at["b"][i], 1), (s.at["a"][school[i]], -1))
    for i in range(n):
        s.add("tp", 0, (s.at["c"][i], 1), (s.at["b"][group[i]], -1))
        if not np.isnan(y[i]):
            s.add("ty", -y[i], (s.at["c"][i], 1))
    for name, v in (("a", a), ("b", b), ("c", c)):
        s.fix(name, v)
    s.solve(apart(np.arange(s.n)))
    got = fit(model, {"class": classes, "pupil": pupils, "a": a, "b": b, "c": c, "y": y}, *TIGHT)
    return as_solved(got, s, "mu", "a", "b", "c")


@check
def crossed_effects():
    """Users, items and an occasion, some of each known, on data that name them."""
    model = """model m { plate n; plate user; plate item; plate day = 3; data u[n] : user; data i[n] : item; data d[n] : day; data w[n] : real;
      tu ~ Gamma(shape = 2, rate = 1); ti ~ Gamma(shape = 2, rate = 1); ty ~ Gamma(shape = 2, rate = 1);
      a[user] ~ Normal(mean = 0, precision = tu); b[item, day] ~ Normal(mean = 0.5, precision = ti); slope ~ Normal(mean = 0, sd = 2);
      observe y[n] ~ Normal(mean = a[u[n]] - 2 * b[i[n], d[n]] + slope * w[n], precision = ty); }"""
    n, users, items = 70, 8, 5
    u, i, d, w, y = RNG.integers(users, size=n), RNG.integers(items, size=n), RNG.integers(3, size=n), RNG.normal(size=n), RNG.normal(size=n)
    u[:users], i[:items] = np.arange(users), np.arange(items)
    a, b = with_gaps(RNG.normal(size=users)), with_gaps(RNG.normal(size=(items, 3)))
    a[:2], b[0, :2] = [0.4, np.nan], [np.nan, 1]
    s = LinearNormal(a=users, b=(items, 3), slope=1)
    for t in ("tu", "ti", "ty"):
        s.gamma(t, 2, 1)
    for k in s.at["a"]:
        s.add("tu", 0, (k, 1))
    for k in s.at["b"].ravel():
        s.add("ti", -0.5, (k, 1))
    s.add(0.25, 0, (s.at["slope"][0], 1))
    for r in range(n):
        s.add("ty", -y[r], (s.at["a"][u[r]], 1), (s.at["b"][i[r], d[r]], -2), (s.at["slope"][0], w[r]))
    s.fix("a", a)
    s.fix("b", b)
    s.solve(apart(np.arange(s.n)))
    return as_solved(fit(model, {"u": u, "i": i, "d": d, "w": w, "y": y, "a": a, "b": b}, *TIGHT), s, "a", "b", "slope")


@check
def several_series_that_feed_themselves():
    """Autoregressions of several lengths with a covariate and gaps; every series one Normal vector."""
    model = """model m { plate s; plate t in s ordered; data x[s, t] : real; c ~ Normal(mean = 0, sd = 2); tau ~ Gamma(shape = 3, rate = 1);
      observe y[s, t] ~ Normal(mean = 0.6 * y[s, t-1] + c * x[s, t], precision = tau) start Normal(mean = c, precision = 0.5); }"""
    lengths = [7, 1, 5, 10]
    x, y = RNG.normal(size=23), with_gaps(RNG.normal(size=23))
    y[7], y[[8, 12]] = np.nan, np.nan
    s = LinearNormal(c=1, y=23)
    s.gamma("tau", 3, 1)
    s.add(0.25, 0, (s.at["c"][0], 1))
    at, groups = 0, [[0]]
    for n in lengths:
        s.add(0.5, 0, (s.at["y"][at], 1), (s.at["c"][0], -1))
        for t in range(at + 1, at + n):
            s.add("tau", 0, (s.at["y"][t], 1), (s.at["y"][t - 1], -0.6), (s.at["c"][0], -x[t]))
        groups.append(s.at["y"][at:at + n])
        at += n
    s.fix("y", y)
    s.solve(groups)
    got = fit(model, {"x": ragged(x, lengths), "y": ragged(y, lengths)}, *TIGHT)
    gaps = np.isnan(y)
    near(1 / got.posterior["y.precision"][gaps], s.of("y")[1][gaps], 1e-6)
    near(got.posterior["y.mean"], s.of("y")[0], 1e-6)
    return as_solved(got, s, "c")


@check
def vector_autoregression():
    """A series of vectors with entries missing, and whole vectors; the matrix is known, the offset is not."""
    model = """model m { plate t ordered; plate d = 3; data A : matrix over d, d; data Q : matrix over d, d;
      c ~ MvNormal(mean = 0, precision = 0.5) over d;
      observe x[t] ~ MvNormal(mean = A * x[t-1] + c, precision = Q) start MvNormal(mean = 1, precision = 1) over d; }"""
    n, d = 9, 3
    A, root = RNG.normal(size=(d, d)) * 0.4, RNG.normal(size=(d, d))
    Q = root @ root.T + np.eye(d)
    x = with_gaps(RNG.normal(size=(n, d)))
    x[4], x[6] = np.nan, [0.1, 0.2, 0.3]
    L = np.linalg.cholesky(Q).T  # Q = L' L: rows of L (x - ...) are independent with precision 1
    s = LinearNormal(c=d, x=(n, d))
    for i in range(d):
        s.add(0.5, 0, (s.at["c"][i], 1))
        s.add(1, -1, (s.at["x"][0, i], 1))
    for t in range(1, n):
        for r in range(d):
            parts = [(s.at["x"][t, k], L[r, k]) for k in range(d)]
            parts += [(s.at["x"][t - 1, k], -(L @ A)[r, k]) for k in range(d)] + [(s.at["c"][k], -L[r, k]) for k in range(d)]
            s.add(1, 0, *parts)
    s.fix("x", x)
    s.solve([s.at["c"], s.at["x"].ravel()])
    # log |L| of each step: the rows above have unit precisions.
    s.elbo += (n - 1) * np.linalg.slogdet(L)[1]
    got = fit(model, {"A": A, "Q": Q, "x": x}, *TIGHT)
    return as_solved(got, s, "c", "x")


@check
def covariates_of_groups_and_their_labels():
    """x[n] of an unknown class, y[n] on x[n]: classes, covariates and responses all have gaps; the fixed point of q(z) q(x), and
    of q(z) alone where neither covariate nor response is there."""
    model = """model m { plate n; plate k = 3; data mu[k] : real; data s[k] : real; data p : simplex over k; data b : real;
      z[n] ~ Categorical(p); observe x[n] ~ Normal(mean = mu[z[n]], precision = s[z[n]]);
      observe y[n] ~ Normal(mean = b * x[n] + mu[z[n]], precision = 2); }"""
    n, mu, sp, p, b = 40, np.array([-1.0, 0.5, 2.0]), np.array([1.0, 3.0, 0.5]), np.array([0.5, 0.3, 0.2]), 0.7
    truth = RNG.choice(3, size=n, p=p)
    x = mu[truth] + RNG.normal(size=n) / np.sqrt(sp[truth])
    y = with_gaps(b * x + mu[truth] + RNG.normal(size=n) / np.sqrt(2), 0.3)
    z, x = with_gaps(truth.astype(float), 0.6), with_gaps(x)
    z[0] = x[0] = np.nan
    got = fit(model, {"mu": mu, "s": sp, "p": p, "b": b, "z": z, "x": x, "y": y}, *TIGHT)
    elbo, probs, means = 0, [], []
    for zi, xi, yi in zip(z, x, y):
        r, m, v = p if np.isnan(zi) else np.eye(3)[int(zi)], 0.0 if np.isnan(xi) else xi, 0.0
        seen = 0.0 if np.isnan(yi) else 2.0
        Y = np.nan_to_num(yi)
        barren = np.isnan(xi) and np.isnan(yi)
        for _ in range(400):
            before = r
            if np.isnan(xi):
                v = 1 / (r @ sp + seen * b * b)
                m = v * (r @ (sp * mu) + seen * b * (Y - r @ mu))
            log = np.log(p) + (not barren) * (0.5 * np.log(sp / (2 * np.pi)) - 0.5 * sp * ((m - mu)**2 + v))
            log += 0.5 * np.log(max(seen, 1e-300) / (2 * np.pi)) * (seen > 0) - 0.5 * seen * ((Y - b * m - mu)**2 + b * b * v)
            if np.isnan(zi):
                r = softmax(log)
            if np.max(np.abs(r - before)) < 1e-14:
                break
        elbo += r @ log - np.sum(r[r > 0] * np.log(r[r > 0])) + (0.5 * np.log(2 * np.pi * np.e * v) if v and not barren else 0)
        probs.append(r)
        means.append(m)
    worst = max(near(got.elbo, elbo, 1e-9), near(got.posterior["z.probs"], probs, 1e-6), near(got.posterior["x.mean"], means, 1e-6))
    return f"ELBO {elbo:.6f}, within {worst:.0e}"


@check
def an_observed_markov_chain():
    """States are data with gaps, nothing else is: transitions of a Dirichlet by hand, paths by enumeration."""
    model = """model m { plate seq; plate t in seq ordered; plate k = 3; pi ~ Dirichlet(concentration = 1) over k;
      A[k] ~ Dirichlet(concentration = 0.7) over k; observe s[seq, t] ~ Categorical(A[s[seq, t-1]]) start Categorical(pi); }"""
    lengths = [7, 5, 1, 6]
    s = with_gaps(RNG.integers(3, size=19).astype(float))
    s[0], s[7], s[12] = np.nan, 2, np.nan
    rows = ragged(s, lengths)
    got = fit(model, {"s": rows}, *TIGHT)
    cA, cp = np.full((3, 3), 0.7), np.ones(3)
    for _ in range(80):
        lA, lp = digamma(cA) - digamma(cA.sum(1, keepdims=True)), digamma(cp) - digamma(cp.sum())
        pairs, first, marginals, logz = np.zeros((3, 3)), np.zeros(3), [], 0
        for row in rows:
            logs, walks = [], []
            for path in itertools.product(range(3), repeat=len(row)):
                if any(not np.isnan(v) and v != q for v, q in zip(row, path)):
                    continue
                walks.append(path)
                logs.append(lp[path[0]] + sum(lA[i, j] for i, j in zip(path, path[1:])))
            weights = np.exp(np.array(logs) - logsumexp(logs))
            logz += logsumexp(logs)
            at = np.zeros((len(row), 3))
            for w, path in zip(weights, walks):
                at[np.arange(len(row)), path] += w
                for i, j in zip(path, path[1:]):
                    pairs[i, j] += w
            first += at[0]
            marginals.append(at)
        # ELBO with q(s) at its optimum for these factors of A and pi.
        elbo = logz
        for c, prior in [(cp, 1.0)] + [(row, 0.7) for row in cA]:
            log = digamma(c) - digamma(c.sum())
            elbo += gammaln(3 * prior) - 3 * gammaln(prior) + (prior - 1) * log.sum()
            elbo -= gammaln(c.sum()) - gammaln(c).sum() + ((c - 1) * log).sum()
        cA, cp = 0.7 + pairs, 1 + first
    worst = max(near(got.elbo, elbo, 1e-9), near(got.posterior["A.concentration"], cA, 1e-6),
                near(got.posterior["s.probs"], np.concatenate(marginals), 1e-6))
    return f"ELBO {elbo:.6f}, within {worst:.0e}"


@check
def a_tree_of_categories():
    """A network of observed categories and a bit with gaps: items with one gap exactly, those with more by their fixed point."""
    model = """model m { plate n; plate a = 2; plate b = 3; data pa : simplex over a; data B[a] : simplex over b; data q[a, b] : real;
      observe x[n] ~ Categorical(pa); observe y[n] ~ Categorical(B[x[n]]); observe w[n] ~ Bernoulli(q[x[n], y[n]]);
      observe v[n] ~ Normal(mean = 1.5 * w[n], sd = 1); }"""
    pa, B, q = RNG.dirichlet(np.ones(2)), RNG.dirichlet(np.ones(3), 2), RNG.uniform(0.1, 0.9, (2, 3))
    x, y, w = [0, None, 1, 1, None, 0], [2, 1, None, 0, None, None], [1, 0, 1, None, None, None]
    v = RNG.normal(size=6)
    v[2] = np.nan
    got = fit(model, {"pa": pa, "B": B, "q": q, "x": x, "y": y, "w": w, "v": v}, *TIGHT)
    like = np.array([[0 if np.isnan(u) else norm.logpdf(u, 1.5 * bit, 1) for bit in (0, 1)] for u in v])
    table = (np.log(pa)[:, None, None] + np.log(B)[:, :, None] + np.log(np.stack([1 - q, q], -1)))[None] + like[:, None, None, :]
    total, worst = 0, 0
    for n in range(6):
        f = [np.full(2, 0.5) if x[n] is None else np.eye(2)[x[n]], np.full(3, 1 / 3) if y[n] is None else np.eye(3)[y[n]],
             np.full(2, 0.5) if w[n] is None else np.eye(2)[w[n]]]
        # From the fit's own point: the fixed point nearest to it.
        p = [got.posterior["x.probs"][n], got.posterior["y.probs"][n], np.array([1 - got.posterior["w.p"][n], got.posterior["w.p"][n]])]
        for name, (known, at) in enumerate(zip((x[n], y[n], w[n]), p)):
            if known is not None:
                near(at, f[name], 1e-12)
        for _ in range(200):
            before = [u.copy() for u in p]
            if x[n] is None:
                p[0] = softmax(np.einsum("abc,b,c->a", table[n], p[1], p[2]))
            if y[n] is None:
                p[1] = softmax(np.einsum("abc,a,c->b", table[n], p[0], p[2]))
            if w[n] is None:
                p[2] = softmax(np.einsum("abc,a,b->c", table[n], p[0], p[1]))
            worst = max(worst, max(near(u, o, 1e-6) for u, o in zip(p, before)))
        total += np.einsum("abc,a,b,c->", table[n], *p) - sum(np.sum(u[u > 0] * np.log(u[u > 0])) for u in p)
        if [x[n], y[n], w[n]].count(None) == 1:
            exact = table[n]
            for axis, known in reversed(list(enumerate((x[n], y[n], w[n])))):
                exact = exact if known is None else exact.take(known, axis)
            mine = np.einsum("abc,a,b,c->", table[n], *p) - sum(np.sum(u[u > 0] * np.log(u[u > 0])) for u in p)
            near(mine, logsumexp(exact), 1e-9)
    near(got.elbo, total, 1e-9)
    return f"ELBO {total:.6f}, within {worst:.0e}"


@check
def topics_of_some_tokens():
    """A topic model whose tokens stand for copies; the topics of some tokens are known."""
    model = """model m { plate doc; plate token in doc times count; plate topic = 2; plate term = 4; beta[topic] ~ Dirichlet(concentration = 0.5) over term;
      theta[doc] ~ Dirichlet(concentration = 0.7) over topic; z[doc, token] ~ Categorical(theta[doc]); observe w[doc, token] ~ Categorical(beta[z[doc, token]]); }"""
    w, count, z = [[0, 1, 2], [3, 1], [2, 3, 0, 1]], [[3, 1, 2], [2, 5], [1, 1, 4, 2]], [[0, None, None], [1, None], [None, None, 1, None]]
    got = fit(model, {"w": w, "count": count, "z": z}, *TIGHT)
    beta, theta = got.posterior["beta.concentration"], got.posterior["theta.concentration"]  # a fixed point of one sweep in numpy
    lb = digamma(beta) - digamma(beta.sum(1, keepdims=True))
    new_beta, new_theta, elbo = np.full((2, 4), 0.5), np.full((3, 2), 0.7), 0
    for d in range(3):
        lt = digamma(theta[d]) - digamma(theta[d].sum())
        for v, c, k in zip(w[d], count[d], z[d]):
            log = lt + lb[:, v]
            r = softmax(log) if k is None else np.eye(2)[k]
            elbo += c * (logsumexp(log) if k is None else log[k])
            new_beta[:, v] += c * r
            new_theta[d] += c * r
    for c, prior in [(row, 0.5) for row in beta] + [(row, 0.7) for row in theta]:
        log = digamma(c) - digamma(c.sum())
        elbo += gammaln(len(c) * prior) - len(c) * gammaln(prior) + (prior - 1) * log.sum()
        elbo -= gammaln(c.sum()) - gammaln(c).sum() + ((c - 1) * log).sum()
    worst = max(near(beta, new_beta, 1e-6), near(theta, new_theta, 1e-6), near(got.elbo, elbo, 1e-9))
    return f"ELBO {elbo:.6f}, within {worst:.0e}"


@check
def factors_and_measurements():
    """Factor analysis: scores of some people are known in part, and so are their measurements."""
    model = """model m { plate n; plate k = 2; plate d; data W[d] : vector over k; mu[d] ~ Normal(mean = 0, sd = 3); tau[d] ~ Gamma(shape = 3, rate = 2);
      h[n] ~ MvNormal(mean = 0, precision = 1) over k; observe x[n] ~ Normal(mean = W * h[n] + mu, precision = tau) over d; }"""
    n, d = 12, 4
    W, h, x = RNG.normal(size=(d, 2)), with_gaps(RNG.normal(size=(n, 2)), 0.6), with_gaps(RNG.normal(size=(n, d)), 0.3)
    h[0], h[1] = [0.5, np.nan], [0.1, -0.4]
    s = LinearNormal(h=(n, 2), mu=d)
    for j in range(d):
        s.gamma(f"tau{j}", 3, 2)
        s.add(1 / 9, 0, (s.at["mu"][j], 1))
    for i in range(n):
        for k in range(2):
            s.add(1, 0, (s.at["h"][i, k], 1))
        for j in range(d):
            if not np.isnan(x[i, j]):
                s.add(f"tau{j}", -x[i, j], (s.at["h"][i, 0], W[j, 0]), (s.at["h"][i, 1], W[j, 1]), (s.at["mu"][j], 1))
    s.fix("h", h)
    s.solve(list(s.at["h"]) + apart(s.at["mu"]))
    taus = [s.precisions.pop(f"tau{j}") for j in range(d)]
    got = fit(model, {"W": W, "h": h, "x": x}, *TIGHT)
    near(got.posterior["tau.rate"], [b for _, b in taus], 1e-6)
    return as_solved(got, s, "h", "mu")


@check
def nodes_of_a_graph():
    """A block model: groups of some nodes are known, and the others each have known neighbours alone (enumeration)."""
    model = """model m { plate node; plate edge; plate g = 3; plate h = g; data from[edge] : node; data to[edge] : node; data p : simplex over g; data B[g, h] : real;
      z[node] ~ Categorical(p); observe y[edge] ~ Bernoulli(B[z[from[edge]], z[to[edge]]]); }"""
    p, B = RNG.dirichlet(np.ones(3)), RNG.uniform(0.1, 0.9, (3, 3))
    z = np.array([0, 1, 2, np.nan, np.nan, np.nan, 1])
    a, b = [], []
    for i in range(7):
        for j in range(7):
            if i != j and not (np.isnan(z[i]) and np.isnan(z[j])):
                a.append(i)
                b.append(j)
    y = RNG.integers(2, size=len(a))
    got = fit(model, {"from": a, "to": b, "p": p, "B": B, "y": y, "z": z}, *TIGHT)
    logs, states = [], []
    for values in itertools.product(range(3), repeat=3):
        full = z.copy()
        full[3:6] = values
        full = full.astype(int)
        rate = B[full[a], full[b]]
        logs.append(np.log(p[full]).sum() + np.log(np.where(y, rate, 1 - rate)).sum())
        states.append(np.eye(3)[full])
    total = logsumexp(logs)
    return f"within {max(near(got.elbo, total, 1e-11), near(got.posterior['z.probs'], np.tensordot(np.exp(logs - total), np.array(states), 1), 1e-10)):.0e}"


@check
def switched_coefficients():
    """Bits of a regression with known and unknown members: coordinate ascent at its fixed point."""
    model = """model m { plate n; plate f; data x[n, f] : real; s[f] ~ Bernoulli(0.3); w[f] ~ Normal(mean = 0, sd = 2);
      observe y[n] ~ Normal(mean = sum(f) x[n, f] * s[f] * w[f], precision = 2); }"""
    n, F = 30, 5
    x = RNG.normal(size=(n, F))
    y = x @ [1.0, 0, -1.5, 0.3, 0] + RNG.normal(size=n) * 0.7
    s, w = np.array([1, 0, np.nan, np.nan, np.nan]), np.array([np.nan, 0.4, np.nan, 0.2, np.nan])
    got = fit(model, {"x": x, "y": y, "s": s, "w": w}, *TIGHT)
    p, m, v = got.posterior["s.p"].copy(), got.posterior["w.mean"].copy(), 1 / got.posterior["w.precision"]
    v[~np.isnan(w)] = 0
    P, M, V = p.copy(), m.copy(), v.copy()
    for f in range(F):
        rest = y - x @ (p * m) + x[:, f] * p[f] * m[f]
        xx = x[:, f] @ x[:, f]
        if np.isnan(w[f]):
            V[f] = 1 / (0.25 + 2 * p[f] * xx)
            M[f] = V[f] * 2 * p[f] * x[:, f] @ rest
        if np.isnan(s[f]):
            odds = np.log(0.3 / 0.7) + 2 * m[f] * x[:, f] @ rest - (m[f]**2 + v[f]) * xx
            P[f] = 1 / (1 + np.exp(-odds))
    known = ~np.isnan(s)
    near(p[known], s[known], 1e-14)
    loss = np.sum((y - x @ (p * m))**2) + np.sum((p * (m**2 + v) - (p * m)**2) * np.sum(x**2, 0))
    elbo = 0.5 * n * np.log(2 / (2 * np.pi)) - loss + np.sum(p * np.log(0.3) + (1 - p) * np.log(0.7))
    elbo += np.sum(-0.5 * np.log(8 * np.pi) - (m**2 + v) / 8) + np.sum(0.5 * np.log(2 * np.pi * np.e * v[v > 0]))
    inner = (p > 1e-300) & (p < 1)
    elbo -= np.sum(p[inner] * np.log(p[inner]) + (1 - p[inner]) * np.log1p(-p[inner]))
    return f"within {max(near(p, P, 1e-6), near(m, M, 1e-6), near(v, V, 1e-6), near(got.elbo, elbo, 1e-9)):.0e}"


if __name__ == "__main__":
    finish()
