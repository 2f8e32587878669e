#!/usr/bin/env python3
"""Models with an exact posterior: the ELBO equals the log evidence.

The evidence comes from textbook formulas written here with numpy and scipy, or from enumeration of the discrete
variables; nothing is taken from the compiler. Every model is fitted natively and by the interpreter.

usage: evidence.py LEHR
"""
import itertools
import sys

import numpy as np
from scipy.special import betaln, gammaln, logsumexp, multigammaln
from scipy.stats import binom, multivariate_normal, norm, poisson

sys.path.append(f"{sys.path[0]}/..")
from fitting import finish, fit, relative  # noqa: E402

RNG = np.random.default_rng(20)
CHECKS = {}


def exact(f):
    """`f` returns model, data, log evidence, and the posterior parameters that are known (by name, may be empty)."""

    def check():
        model, data, evidence, known = f()
        lines = []
        for arguments in ([], ["--interpret"]):
            got = fit(model, data, "--tol", "1e-12", "--local-tol", "1e-13", "--local-iters", "1000", *arguments)
            error = abs(got.elbo - evidence) / (1 + abs(evidence))
            assert error <= 1e-9, f"ELBO {got.elbo!r}, log evidence {evidence!r} {' '.join(arguments)}"
            for name, value in known.items():
                assert relative(got.posterior[name], value) <= 1e-9, f"{name} is {got.posterior[name]}, not {value} {' '.join(arguments)}"
            lines.append(f"{error:.0e}")
        return f"log evidence {evidence:.6f}, errors " + " ".join(lines)

    CHECKS[f.__name__] = check
    return f


def normal_gamma(x, m0, k0, a0, b0):
    """Log evidence and posterior (m, k, a, b) of a normal sample; Murphy (2007), section 3."""
    n, mean = len(x), np.mean(x) if len(x) else 0.0
    k, a = k0 + n, a0 + n / 2
    m = (k0 * m0 + n * mean) / k
    b = b0 + 0.5 * np.sum((x - mean) ** 2) + 0.5 * k0 * n * (mean - m0) ** 2 / k
    evidence = gammaln(a) - gammaln(a0) + a0 * np.log(b0) - a * np.log(b)
    return evidence + 0.5 * np.log(k0 / k) - n / 2 * np.log(2 * np.pi), (m, k, a, b)


def gamma_poisson(x, exposure, a, b):
    """Log evidence of counts with rate exposure * l, l ~ Gamma(a, b)."""
    x, exposure = np.asarray(x, float), np.broadcast_to(exposure, np.shape(x))
    A, B = a + x.sum(), b + exposure.sum()
    return a * np.log(b) - gammaln(a) + gammaln(A) - A * np.log(B) + np.sum(x * np.log(exposure) - gammaln(x + 1)), A, B


def dirichlet(counts, alpha):
    """Log evidence of a sequence of categories with these counts."""
    counts, alpha = np.asarray(counts, float), np.broadcast_to(alpha, np.shape(counts))
    return gammaln(alpha.sum()) - gammaln((alpha + counts).sum()) + np.sum(gammaln(alpha + counts) - gammaln(alpha))


@exact
def joint_normal_gamma():
    x = RNG.normal(2, 1.5, 20)
    evidence, (m, k, a, b) = normal_gamma(x, 0.5, 0.3, 2, 3)
    return """model m { plate n;
      tau ~ Gamma(shape = 2, rate = 3);
      mu ~ Normal(mean = 0.5, precision = 0.3 * tau);
      observe x[n] ~ Normal(mean = mu, precision = tau); guide joint(mu, tau); }""", {"x": x}, evidence, {
        "mu.mean": m, "mu.precision_scale": k, "tau.shape": a, "tau.rate": b}


@exact
def joint_normal_gamma_by_group():
    g, x = np.array([0, 2, 2, 1, 0, 2, 1, 0, 2]), RNG.normal(1, 2, 9)
    each = [normal_gamma(x[g == j], -1.0, 0.5, 1.5, 2) for j in range(4)]
    return """model m { plate n; plate g = 4; data group[n] : g; const k0 = 0.5;
      mu[g] ~ Normal(mean = -1, precision = k0 * tau[g]);
      tau[g] ~ Gamma(shape = 1.5, rate = 2);
      observe x[n] ~ Normal(mean = mu[group[n]], precision = tau[group[n]]); guide joint(mu, tau); }""", {"x": x, "group": g}, sum(e[0] for e in each), {
        "mu.mean": [e[1][0] for e in each], "tau.rate": [e[1][3] for e in each]}


@exact
def joint_normal_wishart():
    n, d = 12, 3
    x = RNG.normal(0, 1, (n, d)) @ RNG.normal(0, 1, (d, d)) + [1, 0, -2]
    m0, k0, nu0, R0 = np.array([0.5, 0, -1]), 0.4, 5.0, np.diag([1.0, 2.0, 3.0]) + 0.3
    mean, k, nu = x.mean(0), k0 + n, nu0 + n
    R = R0 + (x - mean).T @ (x - mean) + k0 * n / k * np.outer(mean - m0, mean - m0)
    logdet = lambda M: np.linalg.slogdet(M)[1]
    evidence = (-n * d / 2 * np.log(np.pi) + multigammaln(nu / 2, d) - multigammaln(nu0 / 2, d) + nu0 / 2 * logdet(R0)
                - nu / 2 * logdet(R) + d / 2 * np.log(k0 / k))
    return """model m { plate n; plate d = 3; data m0 : vector over d; data R0 : matrix over d, d;
      Lambda ~ Wishart(df = 5, rate = R0) over d;
      mu ~ MvNormal(mean = m0, precision = 0.4 * Lambda) over d;
      observe x[n] ~ MvNormal(mean = mu, precision = Lambda) over d; guide joint(mu, Lambda); }""", {
        "x": x, "m0": m0, "R0": R0}, evidence, {
        "mu.mean": (k0 * m0 + n * mean) / k, "mu.precision_scale": k, "Lambda.df": nu, "Lambda.scale": np.linalg.inv(R)}


@exact
def poisson_gamma():
    x = RNG.poisson(4, 15)
    evidence, a, b = gamma_poisson(x, 1.0, 1.5, 0.5)
    return """model m { plate n; l ~ Gamma(shape = 1.5, scale = 2); observe x[n] ~ Poisson(l); }""", {
        "x": x}, evidence, {"l.shape": a, "l.rate": b}


@exact
def poisson_with_exposure():
    e, x = RNG.uniform(0.5, 3, 10), RNG.poisson(3, 10)
    evidence, a, b = gamma_poisson(x, e, 2, 1)
    return """model m { plate n; data e[n] : real; l ~ Gamma(shape = 2, rate = 1);
      let r[n] = e[n] * l; observe x[n] ~ Poisson(r[n]); }""", {"x": x, "e": e}, evidence, {"l.shape": a, "l.rate": b}


@exact
def geometric_beta():
    x = RNG.geometric(0.3, 14) - 1
    return """model m { plate n; p ~ Beta(2, 3.5); observe x[n] ~ Geometric(p); }""", {"x": x}, betaln(
        2 + 14, 3.5 + x.sum()) - betaln(2, 3.5), {"p.a": 16, "p.b": 3.5 + x.sum()}


@exact
def binomial_beta():
    n = RNG.integers(1, 12, 9)
    x = RNG.binomial(n, 0.6)
    evidence = np.sum(gammaln(n + 1) - gammaln(x + 1) - gammaln(n - x + 1)) + betaln(
        0.5 + x.sum(), 0.7 + (n - x).sum()) - betaln(0.5, 0.7)
    return """model m { plate i; data n[i] : count; p ~ Beta(0.5, 0.7); observe x[i] ~ Binomial(n[i], p); }""", {
        "x": x, "n": n}, evidence, {"p.a": 0.5 + x.sum()}


@exact
def exponential_gamma():
    x = RNG.exponential(2, 11)
    return """model m { plate n; l ~ Gamma(shape = 3, rate = 2); observe x[n] ~ Exponential(l); }""", {
        "x": x}, 3 * np.log(2) - gammaln(3) + gammaln(14) - 14 * np.log(2 + x.sum()), {"l.shape": 14}


@exact
def gamma_rate():
    x = RNG.gamma(2.5, 1 / 1.7, 8)
    evidence = (1.2 * np.log(0.8) - gammaln(1.2) + gammaln(1.2 + 20) - (1.2 + 20) * np.log(0.8 + x.sum())
                + np.sum(1.5 * np.log(x) - gammaln(2.5)))
    return """model m { plate n; b ~ Gamma(shape = 1.2, rate = 0.8);
      observe x[n] ~ Gamma(shape = 2.5, rate = b); }""", {"x": x}, evidence, {"b.rate": 0.8 + x.sum()}


@exact
def inverse_gamma_variance():
    x = RNG.normal(1, 2, 10)
    S = np.sum((x - 1) ** 2) / 2
    evidence = 2 * np.log(3) - gammaln(2) + gammaln(7) - 7 * np.log(3 + S) - 5 * np.log(2 * np.pi)
    return """model m { plate n; v ~ InverseGamma(shape = 2, scale = 3);
      observe x[n] ~ Normal(mean = 1, variance = v); }""", {"x": x}, evidence, {"v.shape": 7, "v.scale": 3 + S}


@exact
def multinomial_dirichlet():
    x = RNG.multinomial(20, [0.2, 0.5, 0.1, 0.2], 6)
    evidence = dirichlet(x.sum(0), 0.7) + np.sum(gammaln(x.sum(1) + 1) - gammaln(x + 1).sum(1))
    return """model m { plate n; plate k = 4; p ~ Dirichlet(concentration = 0.7) over k;
      observe x[n] ~ Multinomial(p); }""", {"x": x}, evidence, {"p.concentration": 0.7 + x.sum(0)}


@exact
def categorical_by_observed_index():
    g, z = RNG.integers(0, 3, 25), RNG.integers(0, 4, 25)
    counts = np.array([[np.sum((g == j) & (z == k)) for k in range(4)] for j in range(3)])
    return """model m { plate n; plate g = 3; plate k = 4; data group[n] : g;
      theta[g] ~ Dirichlet(concentration = 0.5) over k;
      observe z[n] ~ Categorical(theta[group[n]]); }""", {"group": g, "z": z}, sum(
        dirichlet(c, 0.5) for c in counts), {"theta.concentration": 0.5 + counts}


@exact
def observed_index_of_another_statement():
    # z is observed and selects the mean of x: two exact parts
    z, x = RNG.integers(0, 3, 12), RNG.normal(0, 2, 12)
    counts = np.bincount(z, minlength=3)
    evidence = dirichlet(counts, 1.3)
    for k in range(3):
        xs = x[z == k]
        evidence += multivariate_normal.logpdf(xs, np.full(len(xs), 0.5), np.eye(len(xs)) / 2 + 1 / 0.8)
    return """model m { plate n; plate k = 3;
      pi ~ Dirichlet(concentration = 1.3) over k;
      mu[k] ~ Normal(mean = 0.5, precision = 0.8);
      observe z[n] ~ Categorical(pi);
      observe x[n] ~ Normal(mean = mu[z[n]], precision = 2); }""", {"x": x, "z": z}, evidence, {
        "pi.concentration": 1.3 + counts}


@exact
def regression_known_noise():
    X, y = RNG.normal(0, 1, (15, 3)), RNG.normal(0, 1, 15)
    P0 = np.array([[2.0, 0.5, 0], [0.5, 1, 0.2], [0, 0.2, 1.5]])
    evidence = multivariate_normal.logpdf(y, X @ [0.1, 0.2, 0.3], X @ np.linalg.inv(P0) @ X.T + np.eye(15) * 0.25)
    return """model m { plate n; plate d = 3; data X[n] : vector over d; data P0 : matrix over d, d; data m0 : vector over d;
      w ~ MvNormal(mean = m0, precision = P0) over d;
      observe y[n] ~ Normal(mean = dot(w, X[n]), sd = 0.5); }""", {"X": X, "y": y, "P0": P0, "m0": [
        0.1, 0.2, 0.3]}, evidence, {"w.precision": P0 + 4 * X.T @ X}


@exact
def regression_with_offset_and_weights():
    X, y, o = RNG.normal(0, 1, (9, 2)), RNG.normal(0, 1, 9), RNG.normal(0, 1, 9)
    s = RNG.uniform(0.5, 2, 9)
    evidence = multivariate_normal.logpdf(y, o - 1, X @ X.T / 0.6 + np.diag(s**2))
    return """model m { plate n; plate d = 2; data X[n, d] : real; data o[n] : real; data s[n] : real;
      w ~ MvNormal(mean = 0, precision = 0.6) over d;
      observe y[n] ~ Normal(mean = (sum(d) w[d] * X[n, d]) + o[n] - 1, sd = s[n]); }""", {
        "X": X, "y": y, "o": o, "s": s}, evidence, {}


@exact
def vector_mean_known_covariance():
    x, S = RNG.normal(0, 1, (7, 2)), np.array([[1.0, 0.4], [0.4, 0.7]])
    S0 = np.array([[2.0, -0.3], [-0.3, 1.0]])
    evidence = multivariate_normal.logpdf(x.ravel(), np.tile([1.0, -1.0], 7), np.kron(np.eye(7), S) + np.kron(np.ones((7, 7)), S0))
    return """model m { plate n; plate d = 2; data m0 : vector over d; data S0 : matrix over d, d; data S : matrix over d, d;
      mu ~ MvNormal(mean = m0, covariance = S0) over d;
      observe x[n] ~ MvNormal(mean = mu, covariance = S) over d; }""", {"x": x, "m0": [1, -1], "S0": S0, "S": S}, evidence, {}


@exact
def multivariate_regression():
    # vector observations of a matrix times a latent vector
    A, x = RNG.normal(0, 1, (3, 2)), RNG.normal(0, 1, (5, 3))
    big = np.kron(np.ones((5, 1)), A)
    evidence = multivariate_normal.logpdf(x.ravel(), np.zeros(15), big @ big.T / 0.5 + np.eye(15) / 2)
    return """model m { plate n; plate d = 3; plate k = 2; data A : matrix over d, k;
      h ~ MvNormal(mean = 0, precision = 0.5) over k;
      observe x[n] ~ MvNormal(mean = A * h, precision = 2) over d; }""", {"x": x, "A": A}, evidence, {}


@exact
def wishart_known_mean():
    n, d, nu0, R0 = 9, 2, 4.0, np.array([[1.5, 0.2], [0.2, 0.8]])
    x = RNG.normal(0, 1, (n, d))
    R, logdet = R0 + x.T @ x, lambda M: np.linalg.slogdet(M)[1]
    evidence = (-n * d / 2 * np.log(np.pi) + multigammaln((nu0 + n) / 2, d) - multigammaln(nu0 / 2, d)
                + nu0 / 2 * logdet(R0) - (nu0 + n) / 2 * logdet(R))
    return """model m { plate n; plate d = 2; data R0 : matrix over d, d;
      L ~ Wishart(df = 4, rate = R0) over d; observe x[n] ~ MvNormal(mean = 0, precision = L) over d; }""", {
        "x": x, "R0": R0}, evidence, {"L.scale": np.linalg.inv(R)}


@exact
def several_statements():
    x, y, w = RNG.poisson(3, 6), RNG.exponential(0.4, 5), RNG.gamma(2, 0.3, 4)
    a, b = 1.1 + x.sum() + 5 + 8, 0.9 + 6 + y.sum() + 2 * w.sum()
    evidence = (1.1 * np.log(0.9) - gammaln(1.1) + gammaln(a) - a * np.log(b) - gammaln(x + 1).sum()
                + np.sum(2 * np.log(2) + np.log(w)))
    return """model m { plate i; plate j; plate h; l ~ Gamma(shape = 1.1, rate = 0.9);
      observe x[i] ~ Poisson(l); observe y[j] ~ Exponential(l); observe w[h] ~ Gamma(shape = 2, rate = 2 * l); }""", {
        "x": x, "y": y, "w": w}, evidence, {"l.shape": a, "l.rate": b}


@exact
def missing_values():
    x = RNG.normal(1, 1, (6, 2))
    x[1, 0] = x[4, 1] = x[5, 0] = np.nan
    evidence, precisions = 0, []
    for d in range(2):
        xs = x[~np.isnan(x[:, d]), d]
        evidence += multivariate_normal.logpdf(xs, np.full(len(xs), 0.3), np.eye(len(xs)) / 1.5 + 1 / 0.4)
        precisions.append(0.4 + 1.5 * len(xs))
    return """model m { plate n; plate d; mu[d] ~ Normal(mean = 0.3, precision = 0.4);
      observe x[n, d] ~ Normal(mean = mu[d], precision = 1.5); }""", {"x": x}, evidence, {"mu.precision": precisions}


@exact
def missing_counts_and_categories():
    x, z = [3.0, np.nan, 1.0, 0.0, 7.0], [0.0, 2.0, np.nan, 1.0, 2.0]
    a, b = 2 + 11, 1 + 4
    evidence = 2 * np.log(1) - gammaln(2) + gammaln(a) - a * np.log(b) - gammaln(np.array([4, 2, 1, 8])).sum()
    return """model m { plate n; plate k = 3; l ~ Gamma(shape = 2, rate = 1); p ~ Dirichlet(concentration = 1) over k;
      observe x[n] ~ Poisson(l); observe z[n] ~ Categorical(p); }""", {"x": x, "z": z}, evidence + dirichlet(
        [1, 1, 2], 1.0), {"l.shape": a, "l.rate": b, "p.concentration": [2, 2, 3]}


@exact
def ragged_groups():
    rows = [RNG.poisson(2 + 2 * i, s).tolist() for i, s in enumerate((4, 1, 0, 6))]
    each = [gamma_poisson(r, 1.0, 2, 1) if r else (0.0, 2, 1) for r in rows]
    return """model m { plate g; plate i in g; l[g] ~ Gamma(shape = 2, rate = 1);
      observe x[g, i] ~ Poisson(l[g]); }""", {"x": rows}, sum(e[0] for e in each), {
        "l.shape": [e[1] for e in each], "l.rate": [e[2] for e in each]}


@exact
def multiplicities():
    # an element with multiplicity c is c equal observations
    w, c = [[0, 2], [1], [2, 1, 0]], [[3, 1], [4], [2, 1, 1]]
    counts = np.zeros(3)
    for a, b in zip(sum(w, []), sum(c, [])):
        counts[a] += b
    return """model m { plate doc; plate token in doc times count; plate term = 3;
      p ~ Dirichlet(concentration = 0.4) over term;
      observe w[doc, token] ~ Categorical(p); }""", {"w": w, "count": c}, dirichlet(counts, 0.4), {
        "p.concentration": 0.4 + counts}


@exact
def given_mixture():
    # only the assignments are latent: the mixture density is the evidence
    x, w, m = RNG.normal(0, 2, 8), np.array([0.2, 0.3, 0.5]), np.array([-2.0, 0, 2.5])
    parts = np.log(w) + norm.logpdf(x[:, None], m, 0.8)
    return """model m { plate n; plate k = 3; data w : simplex over k; data m[k] : real;
      z[n] ~ Categorical(w); observe x[n] ~ Normal(mean = m[z[n]], sd = 0.8); }""", {"x": x, "w": w, "m": m}, np.sum(
        logsumexp(parts, axis=1)), {"z.probs": np.exp(parts - logsumexp(parts, axis=1, keepdims=True))}


@exact
def latent_switch():
    # a 0/1 variable inside a mean
    x = RNG.normal(0, 2, 8)
    parts = np.stack([np.log(0.7) + norm.logpdf(x, -0.5, 1), np.log(0.3) + norm.logpdf(x, 1.5, 1)])
    return """model m { plate n; c[n] ~ Bernoulli(0.3); observe x[n] ~ Normal(mean = 2 * c[n] - 0.5, sd = 1); }""", {
        "x": x}, np.sum(logsumexp(parts, axis=0)), {"c.p": np.exp(parts[1] - logsumexp(parts, axis=0))}


@exact
def latent_spin():
    x = RNG.normal(0, 2, 8)
    parts = np.stack([np.log(0.5) + norm.logpdf(x, -1.5, 1), np.log(0.5) + norm.logpdf(x, 1.5, 1)])
    p = np.exp(parts[1] - logsumexp(parts, axis=0))
    return """model m { plate n; s[n] ~ Spin(); observe x[n] ~ Normal(mean = 1.5 * s[n], sd = 1); }""", {
        "x": x}, np.sum(logsumexp(parts, axis=0)), {"s.mean": 2 * p - 1}


@exact
def naive_bayes_with_given_tables():
    # one class, two features of different kinds, one of them ragged
    B = RNG.dirichlet(np.ones(4), 3)
    l = np.array([1.0, 4.0, 9.0])
    words, y = [[0, 1, 1], [3], [2, 2, 0, 1]], [2, 5, 11]
    evidence, probs = 0, []
    for w, count in zip(words, y):
        part = np.log(1 / 3) + poisson.logpmf(count, l) + sum(np.log(B[:, v]) for v in w)
        evidence += logsumexp(part)
        probs.append(np.exp(part - logsumexp(part)))
    return """model m { plate doc; plate token in doc; plate class = 3; plate term = 4;
      data B[class] : simplex over term; data l[class] : real;
      c[doc] ~ Categorical(1 / 3) over class;
      observe w[doc, token] ~ Categorical(B[c[doc]]);
      observe y[doc] ~ Poisson(l[c[doc]]); }""", {"w": words, "y": y, "B": B, "l": l}, evidence, {"c.probs": probs}


@exact
def one_hidden_class_of_a_table():
    # a latent index on a global plate, seen through all rows
    x = RNG.binomial(1, 0.8, 7)
    p = np.array([0.1, 0.5, 0.9])
    parts = np.log([0.5, 0.25, 0.25]) + np.sum(binom.logpmf(x[:, None], 1, p), axis=0)
    return """model m { plate n; plate k = 3; data p[k] : real; data w : simplex over k;
      z ~ Categorical(w); observe x[n] ~ Bernoulli(p[z]); }""", {"x": x, "p": p, "w": [
        0.5, 0.25, 0.25]}, logsumexp(parts), {"z.probs": np.exp(parts - logsumexp(parts))}


@exact
def lookup_pairs():
    # each rating belongs to one user: conjugate by user, with a given item effect
    user, item = RNG.integers(0, 3, 10), RNG.integers(0, 4, 10)
    e, y = RNG.normal(0, 1, 4), RNG.normal(0, 1, 10)
    evidence = 0
    for u in range(3):
        r = (y - e[item])[user == u]
        evidence += multivariate_normal.logpdf(r, np.zeros(len(r)), np.eye(len(r)) + 1 / 0.3) if len(r) else 0
    return """model m { plate rating; plate user = 3; plate item = 4;
      data u[rating] : user; data i[rating] : item; data e[item] : real;
      a[user] ~ Normal(mean = 0, precision = 0.3);
      observe y[rating] ~ Normal(mean = a[u[rating]] + e[i[rating]], precision = 1); }""", {
        "u": user, "i": item, "e": e, "y": y}, evidence, {"a.precision": 0.3 + np.bincount(user, minlength=3)}


@exact
def network_with_given_blocks():
    # observed classes of the nodes, an alias for the second index
    z = np.array([0, 1, 1, 0, 2])
    Y = RNG.integers(0, 2, (5, 5))
    ones, total = np.zeros((3, 3)), np.zeros((3, 3))
    for i, j in itertools.product(range(5), range(5)):
        ones[z[i], z[j]] += Y[i, j]
        total[z[i], z[j]] += 1
    evidence = np.sum(betaln(1 + ones, 2 + total - ones) - betaln(1, 2))
    return """model m { plate i; plate j = i; plate g = 3; plate h = g; data z[i] : g;
      B[g, h] ~ Beta(1, 2); observe Y[i, j] ~ Bernoulli(B[z[i], z[j]]); }""", {"Y": Y, "z": z}, evidence, {
        "B.a": 1 + ones, "B.b": 2 + total - ones}


@exact
def flat_and_jeffreys():
    # improper priors: the integral of prior times likelihood exists
    x, y = RNG.normal(3, 2, 6), RNG.normal(0, 2, 7)
    mean, s = x.mean(), np.sum((x - x.mean()) ** 2)
    evidence = -3 * np.log(2 * np.pi) + 3 * np.log(0.5) - 0.25 * s + 0.5 * np.log(2 * np.pi / (6 * 0.5))
    evidence += gammaln(3.5) - 3.5 * np.log(np.sum(y**2) / 2) - 3.5 * np.log(2 * np.pi)
    return """model m { plate n; plate k; mu ~ Flat(); tau ~ Jeffreys();
      observe x[n] ~ Normal(mean = mu, precision = 0.5);
      observe y[k] ~ Normal(mean = 0, precision = tau); }""", {"x": x, "y": y}, evidence, {
        "mu.mean": mean, "tau.shape": 3.5}


finish(CHECKS)
