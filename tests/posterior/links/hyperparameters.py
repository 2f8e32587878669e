#!/usr/bin/env python3
"""Concentrations, shapes and sizes as points: the maximum of the same objective by SciPy, and published estimates.

usage: hyperparameters.py LEHR
"""
import gzip
import os
import re
import sys

import numpy as np
from scipy.optimize import minimize
from scipy.special import digamma, gammaln, polygamma
from scipy.stats import beta, dirichlet, gamma, nbinom

sys.path.append(f"{sys.path[0]}/..")
from fitting import ROOT, close, finish, fit, holds, lehr, read, read_json, temporary, write  # noqa: E402

RNG = np.random.default_rng(17)
SEARCH = ["--search", "quick", "--max-iter", "2000", "--tol", "1e-6"]
TIGHT = ["--search", "none", "--tol", "1e-14", "--max-iter", "20000"]


def largest(log_joint, start):
    """The largest value over positive numbers, and where it is."""
    best = minimize(lambda t: -log_joint(np.exp(t)), np.log(start), method="Nelder-Mead",
                    options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 40000, "maxfev": 40000})
    return -best.fun, np.exp(best.x)


def agrees(got, names, log_joint, start, tolerance=1e-5):
    value, at = largest(log_joint, start)
    found = np.concatenate([np.atleast_1d(got.posterior[n + ".value"]) for n in names])
    if close(got.elbo, value, 1e-7) and close(found, at, tolerance):
        return True
    print(got.elbo, value, found, at)
    return False


@holds
def concentration_of_a_dirichlet():
    """A number for each entry, and one number for all."""
    theta = RNG.dirichlet([0.4, 2.0, 1.1, 5.0], size=60)
    text = "model m { plate n; plate k; a%s ~ Gamma(shape = 1, rate = 0.1); observe theta[n] ~ Dirichlet(concentration = a) over k; guide point(a); }"
    prior = lambda a: gamma.logpdf(a, 1, scale=10).sum()
    data = lambda a: sum(dirichlet.logpdf(t / t.sum(), a) for t in theta)
    return (agrees(fit(text % "[k]", {"theta": theta}, *TIGHT), ["a"], lambda a: prior(a) + data(a), [1.0] * 4)
            and agrees(fit(text % "", {"theta": theta}, *TIGHT), ["a"], lambda a: prior(a) + data(np.full(4, a[0])), [1.0]))


@holds
def parameters_of_a_beta():
    x = RNG.beta(0.7, 3, size=80)
    got = fit("model m { plate n; a ~ Gamma(shape = 2, rate = 1); b ~ Exponential(0.2); observe x[n] ~ Beta(a, b); guide point(a, b); }",
              {"x": x}, *TIGHT)
    return agrees(got, ["a", "b"], lambda p: gamma.logpdf(p[0], 2) + gamma.logpdf(p[1], 1, scale=5) + beta.logpdf(x, *p).sum(), [1.0, 1.0])


@holds
def shapes_of_gammas():
    """Shape and rate as points; a shape with a rate that has a distribution; a shape for each component of a mixture."""
    x = RNG.gamma(2.5, 0.5, size=70)
    text = "model m { plate n; a ~ Gamma(shape = 1, rate = 0.01); b ~ Gamma(shape = 2, rate = 1); observe x[n] ~ Gamma(shape = a, rate = b); guide point(%s); }"
    joint = lambda p: gamma.logpdf(p[0], 1, scale=100) + gamma.logpdf(p[1], 2) + gamma.logpdf(x, p[0], scale=1 / p[1]).sum()
    assert agrees(fit(text % "a, b", {"x": x}, *TIGHT), ["a", "b"], joint, [1.0, 1.0])

    def averaged(p):  # b integrated out
        a, rest = p[0], 2 + 70 * p[0]
        return (gamma.logpdf(a, 1, scale=100) + (a - 1) * np.log(x).sum() - 70 * gammaln(a) + gammaln(rest) - rest * np.log(1 + x.sum()))

    got = fit(text % "a", {"x": x}, *TIGHT)
    assert agrees(got, ["a"], averaged, [1.0])
    mixed = """model m { plate n; plate k = 2; a[k] ~ Gamma(shape = 2, rate = 0.1); b[k] ~ Gamma(shape = 2, rate = 1); pi ~ Dirichlet(concentration = 1) over k;
      z[n] ~ Categorical(pi); observe x[n] ~ Gamma(shape = a[z[n]], rate = b[z[n]]); guide point(a); }"""
    two = np.concatenate([RNG.gamma(2, 0.5, size=60), RNG.gamma(40, 0.2, size=60)])
    return np.sort(fit(mixed, {"x": two}, *TIGHT).posterior["a.value"])[1] > 10


@holds
def shapes_that_are_large():
    """Numbers that hardly differ: Newton's method from afar."""
    x = RNG.gamma(3e4, 1e-4, size=50)
    got = fit("model m { plate n; a ~ Gamma(shape = 1, rate = 1e-6); observe x[n] ~ Gamma(shape = a, rate = 1e4); guide point(a); }", {"x": x}, *TIGHT)
    score = lambda a: 50 * np.log(1e4) - 50 * digamma(a) + np.log(x).sum() - 1e-6
    a = float(got.posterior["a.value"])
    return score(a * (1 - 1e-9)) > 0 > score(a * (1 + 1e-9))


@holds
def size_of_a_negative_binomial():
    """Mites on 150 apple leaves: size 1.02459 and mean 1.14667, Bliss & Fisher (1953); by its marginal and by its parts."""
    y = np.repeat(np.arange(8), [70, 38, 17, 10, 9, 3, 2, 1])
    flat = "r ~ Gamma(shape = 1, rate = 1e-9);"
    got = fit("model m { plate n; %s p ~ Beta(1, 1); observe y[n] ~ NegativeBinomial(r, p); guide point(r, p); }" % flat, {"y": y}, *TIGHT)
    parts = fit("model m { plate n; %s mu ~ Gamma(shape = 1, rate = 1e-9); observe y[n] ~ NegativeBinomial(mean = mu, r = r); guide point(r, mu); }" % flat,
                {"y": y}, *TIGHT)
    r, p = float(got.posterior["r.value"]), float(got.posterior["p.value"])
    return (close(r, 1.02459, 2e-5) and close(r * (1 - p) / p, 1.14667, 1e-5) and close(parts.posterior["r.value"], 1.02459, 2e-5)
            and close(parts.posterior["mu.value"], 1.14667, 1e-5) and close(got.elbo, nbinom.logpmf(y, r, p).sum() + np.log(1e-9), 1e-6))


@holds
def documents():
    """Topic models with learned concentrations: each is where the same objective is largest given the factors of the documents."""
    topics = RNG.dirichlet([0.3] * 8, size=3)
    docs = [RNG.choice(8, size=25, p=RNG.dirichlet([0.3, 0.6, 0.2]) @ topics) for _ in range(12)]
    text = """model m { plate doc; plate token in doc; plate topic = 3; plate term;
      alpha%s ~ Gamma(shape = 1.5, rate = 2); beta[topic] ~ Dirichlet(concentration = 0.5) over term;
      theta[doc] ~ Dirichlet(concentration = alpha) over topic; z[doc, token] ~ Categorical(theta[doc]);
      observe w[doc, token] ~ Categorical(beta[z[doc, token]]); guide point(alpha); }"""
    for axes in ("", "[topic]"):
        got = fit(text % axes, {"w": [d.tolist() for d in docs]}, *TIGHT)
        c = got.posterior["theta.concentration"]
        logs = (digamma(c) - digamma(c.sum(axis=1, keepdims=True))).sum(axis=0)
        alpha = np.atleast_1d(got.posterior["alpha.value"])

        def objective(a):
            a3 = np.broadcast_to(a, 3)
            return gamma.logpdf(a, 1.5, scale=0.5).sum() + 12 * (gammaln(a3.sum()) - gammaln(a3).sum()) + (a3 - 1) @ logs

        _, at = largest(objective, [0.5] * alpha.size)
        assert close(alpha, at, 1e-4), (alpha, at)
    return True


def gensim_alpha(logphat, documents, topics):
    """`update_dir_prior` of gensim.models.LdaModel(alpha='auto'), Huang's Newton step for Dirichlets, until it moves no more."""
    alpha = np.full(topics, 1 / topics)
    for _ in range(200):
        gradient = documents * (digamma(alpha.sum()) - digamma(alpha) + logphat)
        c, q = documents * polygamma(1, alpha.sum()), -documents * polygamma(1, alpha)
        b = np.sum(gradient / q) / (1 / c + np.sum(1 / q))
        step = -(gradient - b) / q
        while np.any(alpha + step <= 0):
            step /= 2
        alpha = alpha + step
    return alpha


@holds
def documents_of_a_corpus():
    """KOS: under a flat prior each concentration is where gensim's alpha='auto' has its optimum given the same documents; other documents
    are not less probable than with 1 / K for each."""
    with gzip.open(os.path.join(ROOT, "models/data/topics/kos.ldac.gz"), "rt") as f:
        lines = [next(f) for _ in range(550)]
    text = read(os.path.join(ROOT, "models/topics/lda_learned_alpha.lehr"))
    flat = text.replace("Gamma(shape = 1, rate = 1)", "Gamma(shape = 1, rate = 1e-9)")
    assert flat != text
    scores = []
    with temporary({"train.ldac": "".join(lines[:400]), "test.ldac": "".join(lines[400:]), "flat.lehr": flat}) as d:
        vocabulary = os.path.join(ROOT, "models/data/topics/kos.vocab.txt")
        for model, *settings in ((f"{d}/flat.lehr",), (os.path.join(ROOT, "models/topics/lda.lehr"), "--set", "alpha=0.125")):
            lehr("fit", model, "--data", f"w={d}/train.ldac", "--labels", f"term={vocabulary}", "--set", "K=8", *settings, "--search", "none",
                 "--max-iter", "250", "--save-locals", "--quiet", "--out", f"{d}/{len(scores)}")
            lehr("score", f"{d}/{len(scores)}", "--data", f"w={d}/test.ldac")
            scores.append(read_json(f"{d}/{len(scores)}/score.json")["per_observation"])
        with np.load(f"{d}/0/posterior.npz") as z:
            alpha, c = z["alpha.value"], z["theta.concentration"]
    want = gensim_alpha((digamma(c) - digamma(c.sum(axis=1, keepdims=True))).mean(axis=0), 400, 8)
    print("alpha", alpha, "nats a word", scores)
    return close(alpha, want, 1e-3) and scores[0] >= scores[1]


@holds
def hierarchical_dirichlet_process():
    """Six planted topics of thirty: six are in use and are those, and the concentration that every topic has alike uses more."""
    # 150 documents of 80 tokens over 5 x 5 terms: rows and columns 0, 2, 4 are topics, with the concentrations `planted`.
    data = [f"w={os.path.join(ROOT, 'models/data/topics/planted_topics.ldac')}"]
    text = read(os.path.join(ROOT, "models/topics/hierarchical_dirichlet_process.lehr"))
    got = fit(text, data, *SEARCH, monotone=False)
    alike = fit(re.sub(r"a\[topic\] *~ Exponential\(rate = 1\);", "const a = 1 / K;", text).replace("guide point(a);", ""), data,
                *SEARCH, monotone=False)

    def in_use(shares):
        return np.flatnonzero(shares.sum(axis=0) > 0.01 * shares.sum())

    a = got.posterior["a.value"]
    used = in_use(got.posterior["theta.concentration"] - a)
    bars = np.zeros((6, 5, 5))
    for k in range(3):
        bars[k, :, 2 * k] = bars[k + 3, 2 * k, :] = 0.2
    phi = got.posterior["phi.concentration"][used]
    apart = np.abs(bars.reshape(6, 1, 25) - phi / phi.sum(axis=1, keepdims=True)).sum(axis=2)
    planted = np.array([0.6, 0.5, 0.4, 0.24, 0.16, 0.1])
    others = np.delete(a, used)
    return (len(used) == 6 and others.max() < 0.01 and np.all(apart.min(axis=1) < 0.15) and len(set(apart.argmin(axis=1))) == 6
            and np.all(np.abs(np.log(a[used][apart.argmin(axis=1)] / planted)) < 0.6)
            and len(in_use(alike.posterior["theta.concentration"] - 1 / 30)) > 10)


@holds
def a_prior_without_a_maximum():
    """Counts that are all 0, and a density that is infinite where they lead: said of the element, and not where there is a maximum."""
    text = """model m {{ plate n; plate g = 2; data of[n] : g; a[g] ~ Gamma(shape = {}, rate = 1); observe x[n] ~ NegativeBinomial(r = a[of[n]], p = 0.5);
      guide point(a); }}"""
    with temporary({"x.json": {"of": [0, 0, 1, 1], "x": [3, 1, 0, 0]}}) as d:
        said = []
        for shape in (0.2, 1.2):
            write(f"{d}/m.lehr", text.format(shape))
            said.append(lehr("fit", f"{d}/m.lehr", "--data", f"{d}/x.json", "--out", f"{d}/out", code=None).stderr)
    return "'a[1]' has left for 0" in said[0] and "(Gamma) is infinite" in said[0] and "has left" not in said[1]


def refused(text, *expected):
    with temporary({"m.lehr": text}) as d:
        done = lehr("check", f"{d}/m.lehr", code=None)
        if done.returncode and all(e in done.stderr for e in expected):
            return True
        print(done.stderr)
        return False


@holds
def what_is_refused():
    """Concentrations that are no points, with the line to write; multiples of a point."""
    one = "model m {{ plate n; plate k = 3; a ~ Gamma(shape = 1, rate = 1); theta[n] ~ Dirichlet(concentration = {}) over k; observe x[n] ~ Categorical(theta[n]); {} }}"
    return (refused(one.format("a", ""), "guide point(a);")
            and refused(one.format("2 * a", "guide point(a);"), "of its own"))


finish()
