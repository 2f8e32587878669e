#!/usr/bin/env python3
"""Gibbs sampling where bits, spins and categories choose what a link is of: they are drawn with the auxiliary variables of the link
integrated out, and change. States against enumeration by chi-square, means within five Monte Carlo standard errors of quadrature.

usage: integrated.py LEHR
"""
import itertools
import sys

import numpy as np
from scipy.special import expit, log_expit, logsumexp
from scipy.stats import norm

sys.path.append(f"{sys.path[0]}/..")
from sampling import check_states, sample, standard_error  # noqa: E402


def log_logistic(y, e):
    return log_expit(np.where(np.asarray(y) == 1, 1, -1) * e)


def log_probit(y, e):
    return norm.logcdf(np.where(np.asarray(y) == 1, 1, -1) * e)


def draws_of(model, data, draws=20000, thin=1):
    return sample(model, data, "--save-locals", draws=draws, thin=thin).draws


def is_mean(name, draws, exact):
    off = abs(draws.mean() - exact) / standard_error(draws)
    assert off < 5, f"{name}: {draws.mean()}, not {exact}: {off:.1f} standard errors"


def enumerated(name, model, data, latent, log_density, thin=3):
    """`latent`: names and numbers of bits; `log_density` of all of them."""
    columns = [f"{v}.{k + 1}" for v, n in latent for k in range(n)]
    weights = {s: float(log_density(np.array(s))) for s in itertools.product([0.0, 1.0], repeat=len(columns))}
    check_states(name, draws_of(model, data, thin=thin), columns, weights)


def never_seen():
    """Four visits that find nothing, each of which would have found it with probability 1/2."""
    enumerated("never seen", """model m { plate site; plate visit; z[site] ~ Bernoulli(0.5);
      observe y[site, visit] ~ Bernoulli(logistic(-30 * (1 - z[site]))); }""", {"y": [[0] * 4] * 2}, [("z", 2)],
               lambda z: log_logistic(0, -30 * (1 - z)).sum() * 4)


def occupancy():
    """How common, how visible, and where: ragged visits, one link or the other."""
    y = [[0, 0, 0], [1, 0, 1, 0], [0], [0, 1], []]
    a, p = np.linspace(-8, 8, 641)[:, None], np.linspace(1e-4, 1 - 1e-4, 500)[None, :]
    for link, log_link, absent in (("logistic", log_logistic, -25), ("probit", log_probit, -7)):
        draws = draws_of("""model m { plate site; plate visit in site; psi ~ Beta(2, 2); a ~ Normal(mean = 0, sd = 1.5);
          z[site] ~ Bernoulli(psi); observe y[site, visit] ~ Bernoulli(%s(a * z[site] + %d * (1 - z[site]))); }""" % (link, absent),
                         {"y": y})
        there = [sum((log_link(v, a) for v in row), 0 * a) + np.log(p) for row in y]
        either = [np.logaddexp(t, sum(log_link(v, absent) for v in row) + np.log1p(-p)) for t, row in zip(there, y)]
        joint = norm.logpdf(a, 0, 1.5) + np.log(p * (1 - p)) + sum(either)
        w = np.exp(joint - logsumexp(joint))
        for k in (0, 2, 4):
            is_mean(f"{link}: z[{k}]", draws[f"z.{k + 1}"], (w * np.exp(there[k] - either[k])).sum())
        is_mean(f"{link}: a", draws["a"], (w * a).sum())
        is_mean(f"{link}: psi", draws["psi"], (w * p).sum())


def three_intercepts():
    y, b = np.array([[0, 0, 0], [1, 1, 1], [0, 1, 0]]), [-20.0, 0.3, 18.0]
    draws = draws_of("""model m { plate n; plate v; plate k = 3; data b[k] : real; c[n] ~ Uniform() over k;
      observe y[n, v] ~ Bernoulli(logistic(b[c[n]])); }""", {"y": y, "b": b})
    for n in range(3):
        check_states("intercepts", draws, [f"c.{n + 1}"], {(float(k),): log_logistic(y[n], b[k]).sum() for k in range(3)})


def bits_of_two_plates():
    """Of an item and of the group that data name: one predictor has both, and a group many predictors."""
    y, of = np.array([0, 0, 0, 1, 0]), np.array([0, 1, 1, 0, 1])
    enumerated("two plates", """model m { plate n; plate g; data of[n] : g; u[n] ~ Bernoulli(0.4); t[g] ~ Bernoulli(0.3);
      observe y[n] ~ Bernoulli(logistic(-12 + 11 * u[n] + 13 * t[of[n]])); }""", {"y": y, "of": of}, [("u", 5), ("t", 2)],
               lambda s: log_logistic(y, -12 + 11 * s[:5] + 13 * s[5:][of]).sum() + s[:5].sum() * np.log(0.4 / 0.6) +
               s[5:].sum() * np.log(0.3 / 0.7))


def two_ends():
    """Both ends of a pair are elements of one variable, and some pairs have one element twice."""
    a, b, y = np.array([0, 0, 1, 2, 1, 3, 2]), np.array([1, 2, 2, 3, 1, 0, 2]), np.array([1, 0, 0, 0, 0, 1, 0])
    enumerated("two ends", """model m { plate e; plate i; data a[e] : i; data b[e] : i; z[i] ~ Bernoulli(0.5);
      observe y[e] ~ Bernoulli(logistic(-9 + 5 * z[a[e]] + 5.5 * z[b[e]])); }""", {"a": a, "b": b, "y": y}, [("z", 4)],
               lambda z: log_logistic(y, -9 + 5 * z[a] + 5.5 * z[b]).sum())


def features():
    """All bits in every predictor."""
    x = np.array([[1.5, -2.0, 0.3], [-4.0, 2.0, 3.0], [0.2, 1.0, -1.0], [3.0, 0.5, 2.5]])
    y, w = np.array([0, 1, 0, 1]), np.array([4.0, -3.0, 2.0])
    for link, log_link in (("logistic", log_logistic), ("probit", log_probit)):
        enumerated("features", """model m { plate n; plate k; data x[n, k] : real; data w[k] : real; z[k] ~ Bernoulli(0.5);
          observe y[n] ~ Bernoulli(%s(sum(k) x[n, k] * w[k] * z[k])); }""" % link, {"x": x, "y": y, "w": w}, [("z", 3)],
                   lambda z: log_link(y, x @ (w * z)).sum())


def a_reader_between():
    """A number of the site reads the auxiliary variables, in whatever order the guide wants."""
    y, x = np.array([[0, 0], [1, 0], [1, 1]]), np.linspace(-14, 14, 2801)
    for link, log_link in (("logistic", log_logistic), ("probit", log_probit)):
        for guide in ("", "guide order(z, x);", "guide order(x, z);"):
            draws = draws_of("""model m { plate site; plate visit; x[site] ~ Normal(mean = 0, sd = 2); z[site] ~ Bernoulli(0.5);
              observe y[site, visit] ~ Bernoulli(%s(1.5 * x[site] * z[site] + (0.5 * x[site] - 3) * (1 - z[site]))); %s }""" %
                             (link, guide), {"y": y})
            for k in range(3):
                one, other = (norm.logpdf(x, 0, 2) + sum(log_link(v, e) for v in y[k]) for e in (1.5 * x, 0.5 * x - 3))
                w = np.exp([one, other] - logsumexp([one, other]))
                is_mean(f"reader: {link} {guide} z[{k}]", draws[f"z.{k + 1}"], w[0].sum())
                is_mean(f"reader: {link} {guide} x[{k}]", draws[f"x.{k + 1}"], (w * x).sum())


def states_of_a_chain():
    """Hidden states choose the predictor, or the mean of a Laplace."""
    a, t = np.array([[0.8, 0.2], [0.3, 0.7]]), range(5)
    for likelihood, b, y, log_density in (
            ("Bernoulli(logistic(b[s[t]]))", [-20.0, 1.0], [0, 0, 1, 0, 0], log_logistic),
            ("Laplace(mean = b[s[t]], rate = 1)", [-6.0, 1.0], [-5.0, 3.0, -2.2, 0.4, -2.9], lambda y, e: -abs(y - e))):
        enumerated("chain", """model m { plate t ordered; plate k = 2; data A[k] : simplex over k; data b[k] : real;
          data p : simplex over k; s[t] ~ Categorical(A[s[t-1]]) start Categorical(p); observe y[t] ~ %s; }""" % likelihood,
                   {"A": a, "b": b, "p": [0.5, 0.5], "y": y}, [("s", 5)],
                   lambda s: sum(np.log(a[int(i), int(j)]) for i, j in zip(s, s[1:])) +
                   sum(log_density(y[k], b[int(s[k])]) for k in t), thin=1)


def spins_and_trials():
    y, n = np.array([0, 0, 3]), np.array([4, 1, 5])
    log_weight = lambda e: y * log_expit(e) + (n - y) * log_expit(-e)
    draws = draws_of("""model m { plate s; data n[s] : count; z[s] ~ Spin(); observe y[s] ~ Binomial(n[s], logistic(-12 + 12 * z[s])); }""",
                     {"n": n, "y": y})
    for k, exact in enumerate(expit(log_weight(np.zeros(3)) - log_weight(np.full(3, -24.0)))[:2]):
        is_mean(f"spin {k}", (draws[f"z.{k + 1}"] + 1) / 2, exact)
    assert (draws["z.3"] == 1).all()


def parts_of_a_laplace():
    """The mean has a latent index."""
    x, grid = np.array([0.1, -0.3, 2, 0.7, -1.2]), np.linspace(-14, 14, 1121)
    draws = draws_of("""model m { plate n; plate k = 2; mu[k] ~ Normal(mean = 0, sd = 3); z[n] ~ Uniform() over k;
      observe x[n] ~ Laplace(mean = mu[z[n]], rate = 1); }""", {"x": x})
    each = [-abs(v - grid) for v in x]
    joint = norm.logpdf(grid, 0, 3)[:, None] + norm.logpdf(grid, 0, 3) + sum(np.logaddexp(l[:, None], l) for l in each)
    w = np.exp(joint - logsumexp(joint))
    alike = each[0] + each[2]
    same = np.exp(np.logaddexp(alike[:, None], alike) - sum(np.logaddexp(each[k][:, None], each[k]) for k in (0, 2)))
    is_mean("parts together", (draws["z.1"] == draws["z.3"]).astype(float), (w * same).sum())
    is_mean("squared mean of a part", draws["mu.1"]**2, (w * grid[:, None]**2).sum())
    is_mean("distance of the parts", abs(draws["mu.1"] - draws["mu.2"]), (w * abs(grid[:, None] - grid)).sum())


def rates_of_parts():
    """Mean and rate of a Laplace have the index."""
    x, mu, r = np.array([0.1, -0.3, 6, 0.7, -5]), [0.0, 1.5], np.linspace(1e-3, 15, 1200)
    draws = draws_of("""model m { plate n; plate k = 2; data mu[k] : real; r[k] ~ Gamma(shape = 2, rate = 1); z[n] ~ Uniform() over k;
      observe x[n] ~ Laplace(mean = mu[z[n]], rate = r[z[n]]); }""", {"x": x, "mu": mu})
    parts = [((np.log(r) - r * abs(v - mu[0]))[:, None], (np.log(r) - r * abs(v - mu[1]))[None]) for v in x]
    joint = (np.log(r) - r)[:, None] + np.log(r) - r + sum(np.logaddexp(*p) for p in parts)
    w = np.exp(joint - logsumexp(joint))
    for k, p in enumerate(parts):
        is_mean(f"part of x[{k}]", draws[f"z.{k + 1}"], (w * np.exp(p[1] - np.logaddexp(*p))).sum())
    is_mean("rate of a part", draws["r.2"], (w * r).sum())


def censored_values():
    """A bit moves the mean of numbers of which some are known to be above a limit alone."""
    y = np.array([0.0, 0.0, -0.4, -1.2])
    draws = draws_of("""model m { plate n; z[n] ~ Bernoulli(0.5);
      observe y[n] ~ Normal(mean = -1 + 4 * z[n], sd = 1) censored above 0; }""", {"y": y})
    density = lambda mean: np.where(y == 0, norm.logsf(0, mean, 1), norm.logpdf(y, mean, 1))
    for k, exact in enumerate(expit(density(3) - density(-1))):
        is_mean(f"censored: z[{k}]", draws[f"z.{k + 1}"], exact)


def a_joint_factor():
    """A category that chooses the mean of a Laplace is drawn together with the number beside it."""
    mu, y, grid = [0.0, 3.0], [0.1, 2.0], np.linspace(-8, 8, 3201)
    draws = draws_of("""model m { plate n; plate k = 2; data mu[k] : real; z[n] ~ Uniform() over k; w[n] ~ Normal(mean = 0, sd = 1);
      observe y[n] ~ Laplace(mean = mu[z[n]] + w[n], rate = 1); guide joint(z, w); }""", {"mu": mu, "y": y})
    for k, v in enumerate(y):
        weights = [np.exp(norm.logpdf(grid) - abs(v - m - grid)) for m in mu]
        both = sum(w.sum() for w in weights)
        is_mean(f"z[{k}] beside w", draws[f"z.{k + 1}"], weights[1].sum() / both)
        is_mean(f"w[{k}]", draws[f"w.{k + 1}"], sum((grid * w).sum() for w in weights) / both)


for case in (never_seen, occupancy, three_intercepts, bits_of_two_plates, two_ends, features, a_reader_between, states_of_a_chain,
             spins_and_trials, parts_of_a_laplace, rates_of_parts, censored_values, a_joint_factor):
    case()
    print(f"{case.__name__}: exact")
