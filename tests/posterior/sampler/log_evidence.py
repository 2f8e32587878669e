#!/usr/bin/env python3
"""The log evidence of `fit --method gibbs --temper global`: thermodynamic integration over powers of the likelihood.

Exact ones come from oracles.json, and here from enumeration, quadrature and multivariate normal densities; each lies within
three standard errors. Where there is none, the ELBO of oracles.json lies below.

usage: log_evidence.py LEHR
"""
import itertools
import os
import sys

import numpy as np
from scipy.special import expit, gammaln, logsumexp
from scipy.stats import gamma, multivariate_normal, nbinom, norm, poisson
from scipy.stats import t as student_t

sys.path.append(f"{sys.path[0]}/..")
from fitting import ROOT, finish, fit, read_json  # noqa: E402

sys.path.insert(0, os.path.join(ROOT, "tests/oracles"))
from cases import CASES  # noqa: E402

RNG = np.random.default_rng(12)
CHECKS = {}


def sampled(model, data, *arguments):
    got = fit(model, data, "--method", "gibbs", "--temper", "global", "--warmup", "600", "--draws", "2000", *arguments, monotone=False)
    s = got.report["sampling"]
    return s["log_evidence"], s["log_evidence_error"]


def within(model, data, exact, *arguments, largest_error=0.15):
    value, error = sampled(model, data, *arguments)
    assert 0 < error < largest_error and abs(value - exact) <= 3 * error, f"log evidence {value} +- {error}, not {exact}"
    return f"{value:.4f} +- {error:.4f}, exact {exact:.4f}"


def oracles():
    for o in read_json(os.path.join(ROOT, "tests/oracles/oracles.json"))["cases"]:
        if o["name"] in CASES and "log_evidence" in o:
            yield o


def of_oracle(o):
    def check():
        case = CASES[o["name"]](o)
        if o["log_evidence"] is not None:
            return within(case["model"], case["data"], o["log_evidence"])
        value, error = sampled(case["model"], case["data"])
        assert value - 3 * error > o["elbo_converged"], f"log evidence {value} +- {error}, below the bound {o['elbo_converged']}"
        return f"{value:.4f} +- {error:.4f}, above {o['elbo_converged']:.4f}"

    return check


def named(f):
    CHECKS[f.__name__] = f
    return f


for o in oracles():
    CHECKS[o["name"]] = of_oracle(o)


@named
def logistic_link():
    """Polya-Gamma variables at powers below one."""
    x, y = np.array([-1.5, 0.3, 0.8, 2.0, -0.4, 1.1]), np.array([0, 1, 0, 1, 0, 1])
    w = np.linspace(-25, 25, 200001)
    log_joint = norm.logpdf(w, 0, 2) + sum(np.log(expit((2 * b - 1) * a * w)) for a, b in zip(x, y))
    return within("""model m { plate n; data x[n] : real;
      w ~ Normal(mean = 0, variance = 4);
      observe y[n] ~ Bernoulli(logistic(w * x[n])); }""", {"x": x, "y": y}, logsumexp(log_joint) + np.log(w[1] - w[0]))


@named
def summed_rates():
    """Counts behind a sum of rates, which have states of their own."""
    x = np.array([3, 0, 5, 2])
    a, b = np.meshgrid(np.linspace(1e-4, 30, 2500), np.linspace(1e-4, 30, 2500))
    log_joint = gamma.logpdf(a, 2, scale=1) + gamma.logpdf(b, 1.5, scale=2) + sum(poisson.logpmf(k, a + b) for k in x)
    return within("""model m { plate n;
      a ~ Gamma(shape = 2, rate = 1);
      b ~ Gamma(shape = 1.5, rate = 0.5);
      observe x[n] ~ Poisson(a + b); }""", {"x": x}, logsumexp(log_joint) + 2 * np.log(a[0, 1] - a[0, 0]))


@named
def spins():
    """A potential is likelihood: the mean of exp(-E) over all states."""
    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]
    J = np.array([0.9, -0.7, 1.2, 0.5, -0.8])
    states = itertools.product([-1, 1], repeat=4)
    energies = [sum(j * s[a] * s[b] for j, (a, b) in zip(J, edges)) for s in states]
    return within("""model m { plate site = 4; plate edge; data a[edge] : site; data b[edge] : site; data J[edge] : real;
      s[site] ~ Spin();
      potential[edge] J[edge] * s[a[edge]] * s[b[edge]]; }""",
                  {"a": [a for a, _ in edges], "b": [b for _, b in edges], "J": J}, logsumexp(energies) - np.log(16))


@named
def vague_prior():
    """The ladder reaches a prior that is a million times wider than the posterior."""
    x = RNG.normal(3, 1, 12)
    exact = multivariate_normal.logpdf(x, np.zeros(12), np.eye(12) + 1e8)
    return within("""model m { plate n;
      mu ~ Normal(mean = 0, variance = 1e8);
      observe x[n] ~ Normal(mean = mu, variance = 1); }""", {"x": x}, exact)


@named
def copies():
    """A document's words with counts, its topics shares of them: as the tokens written out."""
    counts = np.array([2, 1, 2])
    log_beta = np.log(np.array([[0.6, 0.3, 0.1], [0.2, 0.2, 0.6]]))
    tokens = np.repeat(np.arange(3), counts)
    terms = []
    for z in itertools.product([0, 1], repeat=len(tokens)):
        n = np.bincount(z, minlength=2)
        prior = gammaln(2.0) - gammaln(2.0 + len(z)) + np.sum(gammaln(1.0 + n))
        terms.append(prior + sum(log_beta[k, w] for k, w in zip(z, tokens)))
    return within("""model m { plate topic = 2; plate vocabulary = 3; plate word times count;
      data count[word] : count;
      data beta[topic] : simplex over vocabulary;
      theta ~ Dirichlet(concentration = 1) over topic;
      z[word] ~ Categorical(theta);
      observe w[word] ~ Categorical(beta[z[word]]); }""", {"count": counts, "w": [0, 1, 2], "beta": np.exp(log_beta)},
                  logsumexp(terms))


@named
def chains_agree():
    """Several chains are averaged, and the error knows of it."""
    o = next(o for o in oracles() if o["name"] == "gmm_known_variance")
    case = CASES[o["name"]](o)
    return within(case["model"], case["data"], o["log_evidence"], "--chains", "3", largest_error=0.03)


@named
def heavy_tails():
    """Scales of data (Student's t) and of a prior (Laplace), which have states at every power. By quadrature."""
    y = np.array([1.0, 2.1, -0.5, 0.7, 3.2])
    a, p = np.linspace(-7, 7, 1401)[:, None], (np.arange(2000)[None] + 0.5) / 120
    cell = np.log(a[1, 0] - a[0, 0]) + np.log(p[0, 1] - p[0, 0])
    of_t = norm.logpdf(a) - p + sum(student_t.logpdf(v, 4, a, p**-0.5) for v in y)
    of_prior = -p + np.log(p / 2) - p * abs(a) + sum(norm.logpdf(v, a, 1) for v in y)
    head = "model m { plate n; p ~ Gamma(shape = 1, rate = 1); a ~ "
    said = within(head + "Normal(mean = 0, sd = 1); observe y[n] ~ StudentT(df = 4, mean = a, precision = p); }", {"y": y},
                  logsumexp(of_t) + cell)
    return said + "; " + within(head + "Laplace(mean = 0, rate = p); observe y[n] ~ Normal(mean = a, sd = 1); }", {"y": y},
                                logsumexp(of_prior) + cell)


@named
def negative_binomial_link():
    """Polya-Gamma variables of as many trials as the count and the size. By quadrature."""
    y, x = np.array([1, 0, 3, 5, 2]), np.array([-1, 0.5, 0, 2, 1])
    a, c = np.linspace(-7, 7, 1401)[:, None], np.linspace(-7, 7, 700)[None]
    log_joint = norm.logpdf(a) + norm.logpdf(c) + sum(nbinom.logpmf(k, 3, expit(a + c * v)) for k, v in zip(y, x))
    return within("""model m { plate n; data x[n] : real; a ~ Normal(mean = 0, sd = 1); c ~ Normal(mean = 0, sd = 1);
      observe y[n] ~ NegativeBinomial(3, logistic(a + c * x[n])); }""", {"x": x, "y": y},
                  logsumexp(log_joint) + np.log(a[1, 0] - a[0, 0]) + np.log(c[0, 1] - c[0, 0]))


@named
def forced_values_are_told():
    """Evidence that leaves out forced values has a warning, and no other has."""
    two = "a ~ Beta(1, 1); b ~ Beta(1, 1); "
    forced = [two + "observe y[n] ~ Bernoulli(a * b);", two + "z[n] ~ Bernoulli(a); observe y[n] ~ Bernoulli(z[n] * b);",
              two + "observe y[n] ~ zero_inflated(a, Binomial(3, b));", two + "observe y[n] ~ mixture(a, Binomial(2, b), Binomial(3, b));"]
    free = ["plate k = 2; p[k] ~ Beta(1, 1); z[n] ~ Uniform() over k; observe y[n] ~ Bernoulli(p[z[n]]);",
            two + "observe y[n] ~ mixture(a, Bernoulli(b), Bernoulli(0.3));",
            "data v[n] : real; b ~ Normal(mean = 0, sd = 2); observe y[n] ~ Bernoulli(logistic(b * v[n]));"]
    for text in forced + free:
        got = fit(f"model m {{ plate n; {text} }}", {"y": [1, 0, 1], "v": [1, -2, 0.5]}, "--method", "gibbs", "--temper", "global", "--warmup", "20",
                  "--draws", "20", monotone=False)
        assert ("leaves out the prior probability of latent values" in got.said) == (text in forced), text
    return f"{len(forced)} of {len(forced + free)}"


@named
def refusals():
    """What has no evidence, and what a ladder does not take."""
    improper = "model m { plate n; mu ~ Normal(mean = 0, precision = 0); observe x[n] ~ Normal(mean = mu, variance = 1); }"
    proper = improper.replace("precision = 0", "precision = 1")
    laplace = proper.replace("x[n] ~ Normal(mean = mu, variance = 1)", "x[n] ~ Laplace(mean = mu, rate = 1)")
    refused = [(improper, "global", 3, "the prior of 'mu' is improper"), (laplace, "global", 3, "'x' is Laplace"), (proper, "local", 2, "with method gibbs: global"),
               (proper, "global:max=3", 2, "'max' is unknown with method gibbs"), (proper, "global:levels=2", 2, "levels")]
    for model, ladder, code, text in refused:
        try:
            fit(model, {"x": [1.0, 2.0]}, "--method", "gibbs", "--temper", ladder)
        except RuntimeError as e:
            if f"exit {code}" in str(e) and text in str(e):
                continue
            raise AssertionError(f"{ladder}: {e}")
        raise AssertionError(f"{ladder} was taken")
    return f"{len(refused)} refused"


finish(CHECKS)
