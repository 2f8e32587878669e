#!/usr/bin/env python3
"""Models that no one tuned for: is what coordinate ascent leaves really its fixed point?

Each case is a model, data and its log joint in numpy. The posterior is checked against that log joint (factors.py), the
native code against the interpreter after three sweeps, and the ELBO of every sweep against the one before.

usage: unseen.py LEHR [CASE ...]
"""
import sys

import numpy as np
from scipy.special import gammaln

sys.path.append(f"{sys.path[0]}/..")
from factors import (check_fixed_point, log_bernoulli, log_beta, log_categorical, log_dirichlet, log_gamma, log_mvnormal, log_normal,  # noqa: E402
                     log_poisson, log_wishart)
from fitting import finish, fit, relative  # noqa: E402

CHECKS = {}


def total(*terms):
    """The sum of terms over all axes but the draws."""
    return sum(t.reshape(len(t), -1).sum(1) for t in terms)


def case(f):
    def check():
        model, data, log_joint, *rest = f(np.random.default_rng(11))
        joint = rest[0] if rest else ()
        few = ["--max-iter", "3", "--local-iters", "3", "--local-tol", "0", "--seed", "3"]
        native, slow = fit(model, data, *few), fit(model, data, *few, "--interpret")
        for name, value in slow.posterior.items():
            if not relative(native.posterior[name], value) <= 1e-10:
                raise AssertionError(f"{name}: native and interpreted differ by {relative(native.posterior[name], value):.1e}")
        if not abs(native.elbo - slow.elbo) <= 1e-10 * (1 + abs(slow.elbo)):
            raise AssertionError(f"ELBO {native.elbo!r} natively, {slow.elbo!r} interpreted")
        last = fit(model, data, "--guide", "factorised", "--max-iter", "20000", "--tol", "1e-22", "--local-iters", "1000", "--local-tol", "1e-13",
                   "--seed", "3")
        return check_fixed_point(last.posterior, last.elbo, log_joint, joint)

    CHECKS[f.__name__] = check
    return f


def pick(table, *index):
    """table[s, index[s, ...], ...]: a parameter by a drawn index; table and indices have the draws first."""
    s = np.arange(len(table)).reshape((-1,) + (1,) * (max(np.ndim(i) for i in index) - 1))
    return table[(s,) + index]


@case
def two_indices(rng):
    x = rng.normal(0, 3, 14)

    def log_joint(v):
        return total(log_dirichlet(v["p"], 1.0), log_dirichlet(v["q"], 2.0), log_normal(v["mu"], 0, 0.1),
                     log_gamma(v["tau"], 2, 2), log_categorical(v["a"], v["p"][:, None]), log_categorical(v["b"], v["q"][:, None]),
                     log_normal(x, pick(v["mu"], v["a"], v["b"]), v["tau"][:, None]))

    return """model m { plate n; plate k = 2; plate l = 3;
      p ~ Dirichlet(concentration = 1) over k; q ~ Dirichlet(concentration = 2) over l;
      mu[k, l] ~ Normal(mean = 0, precision = 0.1); tau ~ Gamma(shape = 2, rate = 2);
      a[n] ~ Categorical(p); b[n] ~ Categorical(q);
      observe x[n] ~ Normal(mean = mu[a[n], b[n]], precision = tau); }""", {"x": x}, log_joint


@case
def student_mixture(rng):
    x = np.append(rng.standard_t(2, 12), 15.0)

    def log_joint(v):
        tau = v["tau"][:, None]
        return total(log_dirichlet(v["p"], 1.0), log_normal(v["mu"], 0, 0.1), log_gamma(v["tau"], 2, 2),
                     log_gamma(v["u"], 1.5, 1.5), log_categorical(v["z"], v["p"][:, None]),
                     log_normal(x, pick(v["mu"], v["z"]), v["u"] * tau))

    return """model m { plate n; plate k = 2; p ~ Dirichlet(concentration = 1) over k;
      mu[k] ~ Normal(mean = 0, precision = 0.1); tau ~ Gamma(shape = 2, rate = 2);
      u[n] ~ Gamma(shape = 1.5, rate = 1.5); z[n] ~ Categorical(p);
      observe x[n] ~ Normal(mean = mu[z[n]], precision = u[n] * tau); }""", {"x": x}, log_joint


@case
def author_topics(rng):
    words = [[0, 1, 1, 3], [2, 2], [4, 0, 3, 3, 3], [1]]
    w, doc = np.concatenate(words).astype(int), np.repeat(np.arange(4), [len(r) for r in words])
    share = np.array([[1, 0, 0], [0.5, 0.5, 0], [0.2, 0.3, 0.5], [0, 0.5, 0.5]]) * 0.94 + 0.02

    def log_joint(v):
        return total(log_dirichlet(v["theta"], 0.5), log_dirichlet(v["beta"], 0.3),
                     log_categorical(v["x"], share[doc]), log_categorical(v["z"], pick(v["theta"], v["x"])),
                     log_categorical(w, pick(v["beta"], v["z"])))

    return """model m { plate doc; plate token in doc; plate author = 3; plate topic = 2; plate term = 5;
      data share[doc] : simplex over author;
      theta[author] ~ Dirichlet(concentration = 0.5) over topic;
      beta[topic] ~ Dirichlet(concentration = 0.3) over term;
      x[doc, token] ~ Categorical(share[doc]);
      z[doc, token] ~ Categorical(theta[x[doc, token]]);
      observe w[doc, token] ~ Categorical(beta[z[doc, token]]); }""", {"w": words, "share": share}, log_joint


@case
def block_model(rng):
    Y = rng.integers(0, 2, (6, 6))

    def log_joint(v):
        z = v["z"]
        B = pick(v["B"], z[:, :, None] + 0 * z[:, None], z[:, None] + 0 * z[:, :, None])
        return total(log_dirichlet(v["pi"], 1.0), log_beta(v["B"], 1, 1.5), log_categorical(z, v["pi"][:, None]),
                     log_bernoulli(Y, B))

    return """model m { plate i; plate j = i; plate g = 2; plate h = g;
      pi ~ Dirichlet(concentration = 1) over g; B[g, h] ~ Beta(1, 1.5);
      z[i] ~ Categorical(pi); observe Y[i, j] ~ Bernoulli(B[z[i], z[j]]); }""", {"Y": Y}, log_joint


@case
def block_model_with_missing_pairs(rng):
    Y = rng.poisson(2.0, (5, 5)).astype(float)
    np.fill_diagonal(Y, np.nan)
    seen = ~np.isnan(Y)

    def log_joint(v):
        z = v["z"]
        L = pick(v["L"], z[:, :, None] + 0 * z[:, None], z[:, None] + 0 * z[:, :, None])
        return total(log_gamma(v["L"], 2, 1), log_categorical(z, np.array([0.3, 0.3, 0.4])), log_poisson(Y[seen], L[:, seen]))

    return """model m { plate i; plate j = i; plate g = 3; plate h = g; data pi : simplex over g;
      L[g, h] ~ Gamma(shape = 2, rate = 1); z[i] ~ Categorical(pi);
      observe Y[i, j] ~ Poisson(L[z[i], z[j]]); }""", {"Y": Y, "pi": [0.3, 0.3, 0.4]}, log_joint


@case
def edge_list_blocks(rng):
    a, b = rng.integers(0, 5, 12), rng.integers(0, 5, 12)
    b = np.where(a == b, (b + 1) % 5, b)
    y = rng.integers(0, 2, 12)

    def log_joint(v):
        z = v["z"]
        return total(log_dirichlet(v["pi"], 1.0), log_beta(v["B"], 1, 1), log_categorical(z, v["pi"][:, None]),
                     log_bernoulli(y, pick(v["B"], z[:, a], z[:, b])))

    return """model m { plate edge; plate node = 5; plate g = 2; plate h = g;
      data a[edge] : node; data b[edge] : node;
      pi ~ Dirichlet(concentration = 1) over g; B[g, h] ~ Beta(1, 1);
      z[node] ~ Categorical(pi);
      observe y[edge] ~ Bernoulli(B[z[a[edge]], z[b[edge]]]); }""", {"a": a, "b": b, "y": y}, log_joint


@case
def deep_hierarchy(rng):
    rows = [rng.normal(i, 1, s) for i, s in enumerate((3, 1, 5))]
    x, g = np.concatenate(rows), np.repeat(np.arange(3), (3, 1, 5))

    def log_joint(v):
        return total(log_normal(v["mu"], 0, 0.1), log_gamma(v["tau"], 2, 1), log_gamma(v["b"], 1, 1),
                     log_normal(v["theta"], v["mu"][:, None], v["tau"][:, None]), log_gamma(v["lam"], 2.0, v["b"][:, None]),
                     log_normal(x, v["theta"][:, g], v["lam"][:, g]))

    return """model m { plate g; plate i in g;
      mu ~ Normal(mean = 0, precision = 0.1); tau ~ Gamma(shape = 2, rate = 1); b ~ Gamma(shape = 1, rate = 1);
      theta[g] ~ Normal(mean = mu, precision = tau); lam[g] ~ Gamma(shape = 2, rate = b);
      observe x[g, i] ~ Normal(mean = theta[g], precision = lam[g]); }""", {"x": [r.tolist() for r in rows]}, log_joint


@case
def matrix_factorisation(rng):
    x = rng.normal(0, 1, (5, 4))
    x[0, 1] = x[3, 3] = x[4, 0] = np.nan
    i, j = np.nonzero(~np.isnan(x))

    def log_joint(v):
        mean = np.sum(v["U"][:, i] * v["V"][:, j], axis=-1) + v["a"][:, i] + v["c"][:, None]
        return total(log_mvnormal(v["U"], 0, np.eye(2)), log_mvnormal(v["V"], 0, 0.5 * np.eye(2)), log_normal(v["a"], 0, 1),
                     log_normal(v["c"], 0, 0.1), log_gamma(v["tau"], 2, 1), log_normal(x[i, j], mean, v["tau"][:, None]))

    return """model m { plate i; plate j; plate f = 2;
      U[i] ~ MvNormal(mean = 0, precision = 1) over f; V[j] ~ MvNormal(mean = 0, precision = 0.5) over f;
      a[i] ~ Normal(mean = 0, precision = 1); c ~ Normal(mean = 0, precision = 0.1); tau ~ Gamma(shape = 2, rate = 1);
      observe x[i, j] ~ Normal(mean = dot(U[i], V[j]) + a[i] + c, precision = tau); }""", {"x": x}, log_joint


@case
def ratings_with_lookups(rng):
    u, i = rng.integers(0, 3, 15), rng.integers(0, 4, 15)
    y = rng.normal(3, 1, 15)

    def log_joint(v):
        return total(log_normal(v["a"], 0, 1), log_normal(v["b"], v["m"][:, None], v["s"][:, None]), log_normal(v["m"], 0, 1),
                     log_gamma(v["s"], 2, 1), log_gamma(v["tau"], 2, 1),
                     log_normal(y, v["a"][:, u] + v["b"][:, i] - 0.5, v["tau"][:, i]))

    return """model m { plate rating; plate user = 3; plate item = 4; data u[rating] : user; data i[rating] : item;
      a[user] ~ Normal(mean = 0, precision = 1);
      m ~ Normal(mean = 0, precision = 1); s ~ Gamma(shape = 2, rate = 1);
      b[item] ~ Normal(mean = m, precision = s); tau[item] ~ Gamma(shape = 2, rate = 1);
      observe y[rating] ~ Normal(mean = a[u[rating]] + b[i[rating]] - 0.5, precision = tau[i[rating]]); }""", {
        "u": u, "i": i, "y": y}, log_joint


@case
def spike_regression(rng):
    X = rng.normal(0, 1, (10, 3))
    y = 2 * X[:, 0] + rng.normal(0, 0.3, 10)

    def log_joint(v):
        mean = (v["s"] * v["w"]) @ X.T
        return total(log_beta(v["p"], 1, 2), log_bernoulli(v["s"], v["p"][:, None]), log_normal(v["w"], 0, 0.5),
                     log_gamma(v["tau"], 2, 1), log_normal(y, mean, v["tau"][:, None]))

    return """model m { plate n; plate d = 3; data X[n, d] : real;
      p ~ Beta(1, 2); s[d] ~ Bernoulli(p); w[d] ~ Normal(mean = 0, precision = 0.5); tau ~ Gamma(shape = 2, rate = 1);
      observe y[n] ~ Normal(mean = sum(d) s[d] * w[d] * X[n, d], precision = tau); }""", {"X": X, "y": y}, log_joint


@case
def binary_factors(rng):
    x = rng.normal(0, 2, (6, 3))

    def log_joint(v):
        mean = np.einsum("snf,sfd->snd", v["z"], v["mu"])
        return total(log_beta(v["p"], 2, 1), log_normal(v["mu"], 0, 0.2), log_gamma(v["tau"], 2, 1),
                     log_bernoulli(v["z"], v["p"][:, None]), log_normal(x, mean, v["tau"][:, None]))

    return """model m { plate n; plate d; plate f = 3;
      p[f] ~ Beta(2, 1); mu[f, d] ~ Normal(mean = 0, precision = 0.2); tau[d] ~ Gamma(shape = 2, rate = 1);
      z[n, f] ~ Bernoulli(p[f]);
      observe x[n, d] ~ Normal(mean = sum(f) z[n, f] * mu[f, d], precision = tau[d]); }""", {"x": x}, log_joint


@case
def many_views_of_one_class(rng):
    y, x, c = rng.poisson(3, 8), rng.normal(0, 2, (8, 2)), rng.multinomial(6, [0.3, 0.3, 0.4], 8)
    t, b = rng.exponential(1, 8), rng.integers(0, 4, 8)

    def log_joint(v):
        z = v["z"]
        mult = gammaln(c.sum(1) + 1) - gammaln(c + 1).sum(1)
        return total(log_dirichlet(v["pi"], 0.7), log_gamma(v["l"], 2, 1), log_mvnormal(v["mu"], 0, 0.1 * np.eye(2)),
                     log_wishart(v["L"], 3, np.eye(2)), log_dirichlet(v["q"], 1.0), log_gamma(v["e"], 1, 1),
                     log_dirichlet(v["r"], 0.5), log_categorical(z, v["pi"][:, None]), log_poisson(y, pick(v["l"], z)),
                     log_mvnormal(x, pick(v["mu"], z), v["L"][:, None]), np.sum(c * np.log(pick(v["q"], z)), -1) + mult,
                     log_gamma(t, 1.0, pick(v["e"], z)), log_categorical(b, pick(v["r"], z)))

    return """model m { plate n; plate k = 3; plate d = 2; plate j = 3; plate o = 4;
      pi ~ Dirichlet(concentration = 0.7) over k; l[k] ~ Gamma(shape = 2, rate = 1);
      mu[k] ~ MvNormal(mean = 0, precision = 0.1) over d; L ~ Wishart(df = 3, rate = 1) over d;
      q[k] ~ Dirichlet(concentration = 1) over j; e[k] ~ Gamma(shape = 1, rate = 1);
      r[k] ~ Dirichlet(concentration = 0.5) over o;
      z[n] ~ Categorical(pi);
      observe y[n] ~ Poisson(l[z[n]]); observe x[n] ~ MvNormal(mean = mu[z[n]], precision = L) over d;
      observe c[n] ~ Multinomial(q[z[n]]); observe t[n] ~ Exponential(e[z[n]]); observe b[n] ~ Categorical(r[z[n]]); }""", {
        "y": y, "x": x, "c": c, "t": t, "b": b}, log_joint


@case
def topics_of_document_classes(rng):
    words = [[0, 1, 1, 3], [2, 2], [4, 0, 3, 3, 3], [1], [2, 4, 4]]
    w, doc = np.concatenate(words).astype(int), np.repeat(np.arange(5), [len(r) for r in words])

    def log_joint(v):
        return total(log_dirichlet(v["pi"], 1.0), log_dirichlet(v["theta"], 0.5), log_dirichlet(v["beta"], 0.3),
                     log_categorical(v["c"], v["pi"][:, None]), log_categorical(v["z"], pick(v["theta"], v["c"][:, doc])),
                     log_categorical(w, pick(v["beta"], v["z"])))

    return """model m { plate doc; plate token in doc; plate class = 2; plate topic = 3; plate term = 5;
      pi ~ Dirichlet(concentration = 1) over class;
      theta[class] ~ Dirichlet(concentration = 0.5) over topic;
      beta[topic] ~ Dirichlet(concentration = 0.3) over term;
      c[doc] ~ Categorical(pi);
      z[doc, token] ~ Categorical(theta[c[doc]]);
      observe w[doc, token] ~ Categorical(beta[z[doc, token]]); }""", {"w": words}, log_joint


@case
def clusters_of_users(rng):
    u, i, y = rng.integers(0, 4, 16), rng.integers(0, 3, 16), rng.normal(0, 2, 16)

    def log_joint(v):
        c = v["c"][:, u]
        return total(log_dirichlet(v["pi"], 1.0), log_normal(v["m"], 0, 0.2), log_gamma(v["tau"], 2, 1),
                     log_categorical(v["c"], v["pi"][:, None]), log_normal(y, pick(v["m"], c, i + 0 * c), v["tau"][:, i]))

    return """model m { plate e; plate user = 4; plate item = 3; plate k = 2; data u[e] : user; data i[e] : item;
      pi ~ Dirichlet(concentration = 1) over k; m[k, item] ~ Normal(mean = 0, precision = 0.2);
      tau[item] ~ Gamma(shape = 2, rate = 1); c[user] ~ Categorical(pi);
      observe y[e] ~ Normal(mean = m[c[u[e]], i[e]], precision = tau[i[e]]); }""", {"u": u, "i": i, "y": y}, log_joint


@case
def two_way_clusters(rng):
    y = rng.poisson(3, (5, 4))

    def log_joint(v):
        r, c = v["r"][:, :, None], v["c"][:, None]
        return total(log_gamma(v["l"], 1.5, 0.5), log_dirichlet(v["p"], 1.0), log_dirichlet(v["q"], 1.0),
                     log_categorical(v["r"], v["p"][:, None]), log_categorical(v["c"], v["q"][:, None]),
                     log_poisson(y, pick(v["l"], r + 0 * c, c + 0 * r)))

    return """model m { plate i; plate j; plate g = 2; plate h = 3;
      p ~ Dirichlet(concentration = 1) over g; q ~ Dirichlet(concentration = 1) over h;
      l[g, h] ~ Gamma(shape = 1.5, rate = 0.5); r[i] ~ Categorical(p); c[j] ~ Categorical(q);
      observe y[i, j] ~ Poisson(l[r[i], c[j]]); }""", {"y": y}, log_joint


@case
def poisson_rank_one(rng):
    y = rng.poisson(4, (5, 3))

    def log_joint(v):
        return total(log_gamma(v["b"], 1, 1), log_gamma(v["l"], 2.0, v["b"][:, None]), log_gamma(v["m"], 1, 1),
                     log_poisson(y, v["l"][:, :, None] * v["m"][:, None]))

    return """model m { plate n; plate d; b ~ Gamma(shape = 1, rate = 1);
      l[n] ~ Gamma(shape = 2, rate = b); m[d] ~ Gamma(shape = 1, rate = 1);
      observe y[n, d] ~ Poisson(l[n] * m[d]); }""", {"y": y}, log_joint


@case
def mixture_of_regressions(rng):
    X, y = rng.normal(0, 1, (12, 2)), rng.normal(0, 2, 12)

    def log_joint(v):
        mean = np.einsum("nd,snd->sn", X, pick(v["w"], v["z"])) + v["b"][:, None]
        return total(log_mvnormal(v["w"], 0, 0.3 * np.eye(2)), log_normal(v["b"], 0, 0.1), log_gamma(v["tau"], 2, 1),
                     log_dirichlet(v["pi"], 1.0), log_categorical(v["z"], v["pi"][:, None]),
                     log_normal(y, mean, pick(v["tau"], v["z"])))

    return """model m { plate n; plate k = 2; plate d = 2; data X[n] : vector over d;
      w[k] ~ MvNormal(mean = 0, precision = 0.3) over d; b ~ Normal(mean = 0, precision = 0.1);
      tau[k] ~ Gamma(shape = 2, rate = 1); pi ~ Dirichlet(concentration = 1) over k; z[n] ~ Categorical(pi);
      observe y[n] ~ Normal(mean = dot(w[z[n]], X[n]) + b, precision = tau[z[n]]); }""", {"X": X, "y": y}, log_joint


@case
def multivariate_student(rng):
    x = np.vstack([rng.normal(0, 1, (9, 2)), [[8, -8]]])

    def log_joint(v):
        return total(log_mvnormal(v["mu"], 0, 0.1 * np.eye(2)), log_wishart(v["L"], 4, np.eye(2)), log_gamma(v["u"], 2, 2),
                     log_mvnormal(x, v["mu"][:, None], v["u"][..., None, None] * v["L"][:, None]))

    return """model m { plate n; plate d;
      mu ~ MvNormal(mean = 0, precision = 0.1) over d; L ~ Wishart(df = 4, rate = 1) over d;
      u[n] ~ Gamma(shape = 2, rate = 2);
      observe x[n] ~ MvNormal(mean = mu, precision = u[n] * L) over d; }""", {"x": x}, log_joint


@case
def hierarchy_of_vectors(rng):
    rows = [rng.normal(i, 1, (s, 2)) for i, s in enumerate((3, 4, 2))]
    x, g = np.concatenate(rows), np.repeat(np.arange(3), (3, 4, 2))

    def log_joint(v):
        return total(log_mvnormal(v["nu"], 0, 0.1 * np.eye(2)), log_wishart(v["P"], 3, np.eye(2)),
                     log_mvnormal(v["mu"], v["nu"][:, None], v["P"][:, None]), log_wishart(v["L"], 3, np.eye(2)),
                     log_mvnormal(x, v["mu"][:, g], v["L"][:, g]))

    return """model m { plate n; plate g = 3; plate d; data group[n] : g;
      nu ~ MvNormal(mean = 0, precision = 0.1) over d; P ~ Wishart(df = 3, rate = 1) over d;
      mu[g] ~ MvNormal(mean = nu, precision = P) over d; L[g] ~ Wishart(df = 3, rate = 1) over d;
      observe x[n] ~ MvNormal(mean = mu[group[n]], precision = L[group[n]]) over d; }""", {"x": x, "group": g}, log_joint


@case
def joint_factors_in_a_mixture(rng):
    x = rng.normal(0, 2, (9, 2))

    def log_joint(v):
        return total(log_dirichlet(v["pi"], 1.0), log_gamma(v["tau"], 2, 1), log_normal(v["mu"], 0.5, 0.2 * v["tau"]),
                     log_categorical(v["z"], v["pi"][:, None]), log_normal(x, pick(v["mu"], v["z"]), pick(v["tau"], v["z"])))

    return """model m { plate n; plate d; plate k = 2; pi ~ Dirichlet(concentration = 1) over k;
      tau[k, d] ~ Gamma(shape = 2, rate = 1); mu[k, d] ~ Normal(mean = 0.5, precision = 0.2 * tau[k, d]);
      z[n] ~ Categorical(pi);
      observe x[n, d] ~ Normal(mean = mu[z[n], d], precision = tau[z[n], d]); guide joint(mu, tau); }""", {
        "x": x}, log_joint, [("mu", "tau")]


@case
def joint_wishart_in_a_mixture(rng):
    x = rng.normal(0, 2, (9, 2))

    def log_joint(v):
        return total(log_dirichlet(v["pi"], 1.0), log_wishart(v["L"], 4, np.eye(2) / 0.5), log_mvnormal(v["mu"], 0, 0.2 * v["L"]),
                     log_categorical(v["z"], v["pi"][:, None]), log_mvnormal(x, pick(v["mu"], v["z"]), pick(v["L"], v["z"])))

    return """model m { plate n; plate d; plate k = 2; pi ~ Dirichlet(concentration = 1) over k;
      L[k] ~ Wishart(df = 4, scale = 0.5) over d; mu[k] ~ MvNormal(mean = 0, precision = 0.2 * L[k]) over d;
      z[n] ~ Categorical(pi);
      observe x[n] ~ MvNormal(mean = mu[z[n]], precision = L[z[n]]) over d; guide joint(mu, L); }""", {
        "x": x}, log_joint, [("mu", "L")]


@case
def spin_loading(rng):
    x = rng.normal(0, 2, (5, 3))

    def log_joint(v):
        s, w = v["s"], v["w"]
        return total(np.full(s.shape, -np.log(2)), log_normal(w, 0, 0.3), log_gamma(v["tau"], 2, 1),
                     log_normal(x, s[:, :, None] * w[:, None], v["tau"][:, None, None]))

    return """model m { plate n; plate d; s[n] ~ Spin(); w[d] ~ Normal(mean = 0, precision = 0.3);
      tau ~ Gamma(shape = 2, rate = 1);
      observe x[n, d] ~ Normal(mean = s[n] * w[d], precision = tau); }""", {"x": x}, log_joint


@case
def relevance(rng):
    x = rng.normal(0, 1, (7, 3))

    def log_joint(v):
        alpha = v["alpha"][:, None, :, None] * np.eye(2)
        mean = np.einsum("sdk,snk->snd", v["W"], v["Z"]) + v["m"][:, None]
        return total(log_gamma(v["alpha"], 1, 1), log_mvnormal(v["W"], 0, alpha), log_mvnormal(v["Z"], 0, np.eye(2)),
                     log_normal(v["m"], 0, 0.1), log_gamma(v["tau"], 2, 1), log_normal(x, mean, v["tau"][:, None]))

    return """model m { plate n; plate d = 3; plate k = 2;
      alpha[k] ~ Gamma(shape = 1, rate = 1); W[d] ~ MvNormal(mean = 0, precision = diag(alpha)) over k;
      Z[n] ~ MvNormal(mean = 0, precision = 1) over k; m[d] ~ Normal(mean = 0, precision = 0.1);
      tau[d] ~ Gamma(shape = 2, rate = 1);
      observe x[n, d] ~ Normal(mean = dot(W[d], Z[n]) + m[d], precision = tau[d]); }""", {"x": x}, log_joint


@case
def two_level_classes(rng):
    # a class of groups, a class of members given that of their group
    rows = [[0.1, 3.0, 2.5], [-1.0], [0.3, 0.2, -4.0, 2.0]]
    x, g = np.concatenate(rows), np.repeat(np.arange(3), [3, 1, 4])

    def log_joint(v):
        return total(log_dirichlet(v["p"], 1.0), log_dirichlet(v["A"], 0.8), log_normal(v["mu"], 0, 0.1),
                     log_categorical(v["c"], v["p"][:, None]), log_categorical(v["z"], pick(v["A"], v["c"][:, g])),
                     log_normal(x, pick(v["mu"], v["z"]) + v["e"][:, g], 1.5), log_normal(v["e"], 0, 2.0))

    return """model m { plate g; plate i in g; plate h = 2; plate k = 3;
      p ~ Dirichlet(concentration = 1) over h; A[h] ~ Dirichlet(concentration = 0.8) over k;
      mu[k] ~ Normal(mean = 0, precision = 0.1);
      c[g] ~ Categorical(p); z[g, i] ~ Categorical(A[c[g]]); e[g] ~ Normal(mean = 0, precision = 2);
      observe x[g, i] ~ Normal(mean = mu[z[g, i]] + e[g], precision = 1.5); }""", {"x": rows}, log_joint


@case
def gamma_scales_everywhere(rng):
    # products of several precisions, one of them looked up, with given weights
    x, s, g = rng.normal(0, 2, (6, 3)), rng.uniform(0.5, 2, (6, 3)), np.array([0, 1, 1, 0, 2, 1])

    def log_joint(v):
        precision = s * v["a"][:, g][:, :, None] * v["b"][:, None] * v["c"][:, None, None]
        return total(log_gamma(v["a"], 2, 1), log_gamma(v["b"], 2, 2), log_gamma(v["c"], 1, 1), log_normal(v["m"], 0, 0.2),
                     log_normal(x, v["m"][:, None], precision))

    return """model m { plate n; plate d; plate g = 3; data s[n, d] : real; data group[n] : g;
      a[g] ~ Gamma(shape = 2, rate = 1); b[d] ~ Gamma(shape = 2, rate = 2); c ~ Gamma(shape = 1, rate = 1);
      m[d] ~ Normal(mean = 0, precision = 0.2);
      observe x[n, d] ~ Normal(mean = m[d], precision = s[n, d] * a[group[n]] * b[d] * c); }""", {
        "x": x, "s": s, "group": g}, log_joint


@case
def random_effects_tree(rng):
    x = rng.normal(0, 1, (3, 2, 4))

    def log_joint(v):
        return total(log_normal(v["a"], 0, 0.1), log_normal(v["b"], v["a"][:, None], v["s"][:, 0, None]),
                     log_normal(v["c"], v["b"][:, :, None], v["s"][:, 1, None, None]), log_gamma(v["s"], 2, 1),
                     log_normal(x, v["c"][..., None], v["s"][:, 2, None, None, None]))

    return """model m { plate i; plate j; plate r; plate level = 3;
      s[level] ~ Gamma(shape = 2, rate = 1); a ~ Normal(mean = 0, precision = 0.1);
      b[i] ~ Normal(mean = a, precision = s[0]); c[i, j] ~ Normal(mean = b[i], precision = s[1]);
      observe x[i, j, r] ~ Normal(mean = c[i, j], precision = s[2]); }""", {"x": x}, log_joint


@case
def competing_means(rng):
    # a mean that is a difference of two latent vectors, and a switch that multiplies one of them
    x, X = rng.normal(0, 1, 10), rng.normal(0, 1, (10, 2))

    def log_joint(v):
        mean = (v["w"] - v["u"]) @ X.T + v["c"] * v["m"][:, None]
        return total(log_mvnormal(v["w"], 0, np.eye(2)), log_mvnormal(v["u"], 1, 2 * np.eye(2)), log_normal(v["m"], 3, 1),
                     log_bernoulli(v["c"], v["p"][:, None]), log_beta(v["p"], 1, 1), log_normal(x, mean, 2.0))

    return """model m { plate n; plate d; data X[n] : vector over d;
      w ~ MvNormal(mean = 0, precision = 1) over d; u ~ MvNormal(mean = 1, precision = 2) over d;
      m ~ Normal(mean = 3, precision = 1); p ~ Beta(1, 1); c[n] ~ Bernoulli(p);
      observe x[n] ~ Normal(mean = dot(w - u, X[n]) + c[n] * m, precision = 2); }""", {"x": x, "X": X}, log_joint


@case
def crossed_categories(rng):
    # observed pair of categories given a latent class and a given group; joint table by group
    g, y = rng.integers(0, 2, 12), rng.integers(0, 3, 12)

    def log_joint(v):
        z = v["z"]
        return total(log_dirichlet(v["pi"], 1.0), log_dirichlet(v["T"], 0.5), log_categorical(z, v["pi"][:, g]),
                     log_categorical(y, pick(v["T"], g + 0 * z, z)))

    return """model m { plate n; plate g = 2; plate k = 2; plate o = 3; data group[n] : g;
      pi[g] ~ Dirichlet(concentration = 1) over k; T[g, k] ~ Dirichlet(concentration = 0.5) over o;
      z[n] ~ Categorical(pi[group[n]]); observe y[n] ~ Categorical(T[group[n], z[n]]); }""", {"group": g, "y": y}, log_joint


@case
def latent_categories_as_data_of_another(rng):
    # a latent index that is generated through another latent index, both seen through noise
    x, y = rng.normal(0, 2, 9), rng.poisson(3, 9)

    def log_joint(v):
        return total(log_dirichlet(v["p"], 1.0), log_dirichlet(v["A"], 1.0), log_normal(v["mu"], 0, 0.1), log_gamma(v["l"], 2, 1),
                     log_categorical(v["a"], v["p"][:, None]), log_categorical(v["b"], pick(v["A"], v["a"])),
                     log_normal(x, pick(v["mu"], v["a"]), 1.0), log_poisson(y, pick(v["l"], v["b"])))

    return """model m { plate n; plate k = 2; plate l_ = 3; p ~ Dirichlet(concentration = 1) over k;
      A[k] ~ Dirichlet(concentration = 1) over l_; mu[k] ~ Normal(mean = 0, precision = 0.1); l[l_] ~ Gamma(shape = 2, rate = 1);
      a[n] ~ Categorical(p); b[n] ~ Categorical(A[a[n]]);
      observe x[n] ~ Normal(mean = mu[a[n]], precision = 1); observe y[n] ~ Poisson(l[b[n]]); }""", {"x": x, "y": y}, log_joint


@case
def two_languages(rng):
    # the tokens of both languages are drawn from the same topics of the document
    x, y = [[0, 1, 1], [2], [0, 0, 2, 1]], [[0, 1], [3, 2, 2], [1]]
    dx, dy = np.repeat(np.arange(3), [3, 1, 4]), np.repeat(np.arange(3), [2, 3, 1])
    X, Y = np.concatenate(x), np.concatenate(y)

    def log_joint(v):
        return total(log_dirichlet(v["theta"], 0.5), log_dirichlet(v["a"], 0.4), log_dirichlet(v["b"], 0.3),
                     log_categorical(v["z"], v["theta"][:, dx]), log_categorical(v["s"], v["theta"][:, dy]),
                     log_categorical(X, pick(v["a"], v["z"])), log_categorical(Y, pick(v["b"], v["s"])))

    return """model m { plate doc; plate t in doc; plate u in doc; plate k = 2; plate v; plate w;
      theta[doc] ~ Dirichlet(concentration = 0.5) over k;
      a[k] ~ Dirichlet(concentration = 0.4) over v; b[k] ~ Dirichlet(concentration = 0.3) over w;
      z[doc, t] ~ Categorical(theta[doc]); s[doc, u] ~ Categorical(theta[doc]);
      observe x[doc, t] ~ Categorical(a[z[doc, t]]); observe y[doc, u] ~ Categorical(b[s[doc, u]]); }""", {
        "x": x, "y": y}, log_joint


@case
def members_of_looked_up_groups(rng):
    # a global by group, a local by member: only the groups' sizes join some of the terms
    rows, group = [[1, 2], [], [0, 1, 2]], np.array([0, 2, 1, 0])
    y, g, x = np.concatenate(rows), np.repeat(np.arange(3), [2, 0, 3]), np.array([1, 2, 3, 4])

    def log_joint(v):
        return total(log_gamma(v["a"], 1, 1), log_gamma(v["u"], 1.6, v["a"][:, g]), log_poisson(y, v["u"]),
                     log_poisson(x, v["a"][:, group]))

    return """model m { plate g; plate i in g; plate n; data group[n] : g;
      a[g] ~ Gamma(shape = 1, rate = 1); u[g, i] ~ Gamma(shape = 1.6, rate = a[g]);
      observe y[g, i] ~ Poisson(u[g, i]); observe x[n] ~ Poisson(a[group[n]]); }""", {
        "y": rows, "x": x, "group": group}, log_joint


def merged_tokens():
    """A token that stands for c copies is c tokens: same posterior, same ELBO."""
    rng = np.random.default_rng(4)
    model = """model m { plate doc; plate token in doc TIMES; plate topic = 3; plate term = 6; plate author = 2;
      data share[doc] : simplex over author;
      beta[topic] ~ Dirichlet(concentration = 0.3) over term; theta[author] ~ Dirichlet(concentration = 0.5) over topic;
      x[doc, token] ~ Categorical(share[doc]); z[doc, token] ~ Categorical(theta[x[doc, token]]);
      observe w[doc, token] ~ Categorical(beta[z[doc, token]]); }"""
    words = [rng.permutation(6)[:s].tolist() for s in (4, 1, 6, 0, 3)]
    counts = [rng.integers(1, 9, len(w)).tolist() for w in words]
    share = [[0.5, 0.5], [0.9, 0.1], [0.3, 0.7], [0.5, 0.5], [0.1, 0.9]]
    start = {"beta.concentration": rng.gamma(1, 1, (3, 6)), "theta.concentration": rng.gamma(1, 1, (2, 3))}
    few = ["--max-iter", 5, "--tol", 0, "--local-iters", 200, "--local-tol", "1e-14"]
    one = fit(model.replace("TIMES", "times count"), {"w": words, "count": counts, "share": share}, *few, init=start)
    each = [np.repeat(w, c).astype(int).tolist() for w, c in zip(words, counts)]
    two = fit(model.replace("TIMES", ""), {"w": each, "share": share}, *few, init=start)
    errors = [relative(one.posterior[name], two.posterior[name]) for name in start] + [abs(one.elbo - two.elbo) / abs(two.elbo)]
    if not max(errors) <= 1e-10:
        raise AssertionError(f"merged tokens change the posterior by {max(errors):.1e}")
    return f"ELBO {one.elbo:.4f}, differences up to {max(errors):.0e}"


CHECKS["merged_tokens"] = merged_tokens

if __name__ == "__main__":
    names = sys.argv[2:] or list(CHECKS)
    finish({name: CHECKS[name] for name in names})
