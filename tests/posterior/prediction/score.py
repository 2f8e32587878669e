#!/usr/bin/env python3
"""`lehr score` against numpy: the formulas are written here, for the split that the program reports.

usage: score.py LEHR
"""
import itertools
import math
import os
import sys

import numpy as np
from scipy.special import digamma, logsumexp
from scipy.stats import betabinom, multivariate_normal, norm, poisson, t as student

sys.path.append(f"{sys.path[0]}/..")
from fitting import Folder, arrays, check, finish, plain, read, read_json, temporary, write_json  # noqa: E402

RNG = np.random.default_rng(4)
# The formulas are those of one start: given_items.py has several.
TIGHT = ["--local-tol", "1e-14", "--local-iters", "100000", "--starts", "1"]


class Scored(Folder):
    def score(self, data, *arguments, code=0):
        """score.json, with the split under "split" if there is one."""
        out = super().score(data, "--save", *arguments, code=code)
        if not code and os.path.exists(self.at("fit/heldout.npz")):
            out["split"] = arrays(self.at("fit/heldout.npz"))
        return out


def same(score, total, observations, limit=1e-8):
    error = abs(score["total"] - total) / (1 + abs(total))
    assert score["observations"] == observations, (score["observations"], observations)
    assert abs(score["per_observation"] * observations - score["total"]) < 1e-9 * (1 + abs(total))
    assert error < limit, (score["total"], total)
    return f"{score['total']:.4f}, error {error:.0e}"


def rows(e):
    return e / e.sum(-1, keepdims=True)


def corpus(docs, terms, topics):
    beta = RNG.dirichlet(np.full(terms, 0.1), topics)
    counts = [RNG.multinomial(n, RNG.dirichlet(np.full(topics, 0.3)) @ beta) for n in RNG.integers(5, 60, docs)]
    return {"w": [np.nonzero(c)[0] for c in counts], "count": [c[c > 0] for c in counts]}


def lda_score(got, data, lam, alpha):
    """Document completion: E step of each document's observed part, then sum over topics of E theta E beta."""
    held, total, begin = got["split"]["w"], 0.0, 0
    log_beta, beta = digamma(lam) - digamma(lam.sum(1, keepdims=True)), rows(lam)
    for w, count in zip(data["w"], data["count"]):
        out = held[begin : begin + len(w)]
        begin += len(w)
        assert out.sum() == count.sum() // 2 and (out <= count).all()
        gamma = np.full(len(lam), alpha + 1.0)
        for _ in range(5000):
            log_phi = (digamma(gamma) - digamma(gamma.sum()))[:, None] + log_beta[:, w]
            gamma, before = alpha + np.exp(log_phi - logsumexp(log_phi, 0)) @ (count - out), gamma
            if np.abs(gamma - before).max() < 1e-13:
                break
        total += out @ np.log(rows(gamma) @ beta[:, w])
    return total, held.sum()


@check
def lda():
    k, terms = 4, 40
    options = ["--set", f"K={k}", "--sizes", f"term={terms}"]
    fit = Scored("models/topics/lda.lehr", corpus(120, terms, k), *options)
    data = corpus(30, terms, k)
    lines = []
    for seed in (1, 2):
        got = fit.score(data, "--seed", seed, *TIGHT)
        lines.append(same(got, *lda_score(got, data, fit.posterior["beta.concentration"], 1 / k)))
    part = fit.score(data, "--holdout", "0.2", *TIGHT)
    assert part["observations"] == sum(int(0.2 * c.sum() + 1e-9) for c in data["count"])
    return ", ".join(lines)


@check
def lda_without_multiplicities():
    """Every token an element of its own: what is held out is missing to the inference."""
    model = read("models/topics/lda.lehr").replace(" times count", "")
    k, terms = 3, 20
    spread = lambda c: {"w": [np.repeat(w, n) for w, n in zip(c["w"], c["count"])]}
    fit = Scored(model, spread(corpus(60, terms, k)), "--set", f"K={k}", "--sizes", f"term={terms}")
    data = spread(corpus(20, terms, k))
    got = fit.score(data, *TIGHT)
    data["count"] = [np.ones(len(w), int) for w in data["w"]]
    return same(got, *lda_score(got, data, fit.posterior["beta.concentration"], 1 / k))


@check
def poisson_factorisation():
    """Entries of each user's row are held out; the user's tastes are inferred from the others by coordinate ascent."""
    rate = RNG.gamma(1, 1, (60, 2)) @ RNG.gamma(1, 1, (2, 15))
    y = RNG.poisson(rate)
    fit = Scored("models/factors/poisson_factorisation.lehr", {"Y": y[:40]}, "--set", "K=2", "--max-iter", "300")
    got = fit.score({"Y": y[40:]}, *TIGHT)
    out = got["split"]["Y"].reshape(20, 15)
    assert (out.sum(1) == 7).all()
    shape, rate = fit.posterior["quality.shape"], fit.posterior["quality.rate"]
    mean, log = shape / rate, digamma(shape) - np.log(rate)
    total = 0.0
    for row, held in zip(y[40:], out):
        keep = held == 0
        a, b = np.full(2, 0.3), np.ones(2)  # one of several optima: that which is reached from the prior
        for _ in range(20000):
            log_phi = (digamma(a) - np.log(b))[:, None] + log[:, keep]
            b = 1 + mean[:, keep].sum(1)
            a, before = 0.3 + np.exp(log_phi - logsumexp(log_phi, 0)) @ row[keep], a
            if np.abs(a - before).max() < 1e-14:
                break
        total += poisson.logpmf(row[~keep], (a / b) @ mean[:, ~keep]).sum()
    return same(got, total, 140, 1e-7)


@check
def mixtures():
    x = np.concatenate([RNG.normal(0, 1, (80, 2)), RNG.normal(4, 1, (60, 2))])
    test = RNG.normal(2, 2, (25, 2))
    test[3] = np.nan  # not an observation
    seen = ~np.isnan(test[:, 0])
    fit = Scored("models/mixtures/gmm.lehr", {"x": x}, "--set", "K=3")
    p = fit.posterior
    precision = p["Lambda.df"][:, None, None] * p["Lambda.scale"]
    each = [multivariate_normal(m, np.linalg.inv(s)).logpdf(test[seen]) for m, s in zip(p["mu.mean"], precision)]
    full = same(fit.score({"x": test}), logsumexp(np.log(rows(p["pi.concentration"]))[:, None] + each, axis=0).sum(), 24)
    assert "nothing is held out" in fit.score({"x": test}, "--holdout", "0.5", code=2)
    # The numbers of one point share its component.
    fit = Scored("models/mixtures/gmm_diagonal.lehr", {"x": x}, "--set", "K=2")
    p = fit.posterior
    sd = 1 / np.sqrt(p["tau.shape"] / p["tau.rate"])
    test[5, 0] = np.nan
    each = np.nansum(norm.logpdf(test[:, None], p["mu.mean"], sd), -1)
    total = logsumexp(np.log(rows(p["pi.concentration"])) + each, axis=1).sum()
    return full + ", " + same(fit.score({"x": test}), total, 47)


@check
def regression():
    x, n = RNG.normal(0, 1, (60, 3)), 40
    y = x @ [1, -2, 0.5] + RNG.normal(0, 0.3, 60)
    model = """model m { plate n; plate d; data x[n] : vector over d; w ~ MvNormal(mean = 0, precision = 0.1) over d;
      tau ~ Gamma(shape = 2, rate = 1); observe y[n] ~ Normal(mean = dot(w, x[n]), precision = tau); }"""
    fit = Scored(model, {"x": x[:n], "y": y[:n]})
    p = fit.posterior
    total = norm.logpdf(y[n:], x[n:] @ p["w.mean"], 1 / np.sqrt(p["tau.shape"] / p["tau.rate"])).sum()
    return same(fit.score({"x": x[n:], "y": y[n:]}), total, 20)


@check
def compounds():
    """The variable of each observation is integrated out by the compound's density: regression, mixtures, hidden states, counts, and
    items that are completed."""
    x, n = RNG.normal(0, 1, (60, 3)), 40
    y = x @ [1, -2, 0.5] + RNG.standard_t(3, 60)
    fit = Scored("""model m { plate n; plate d; data x[n] : vector over d; w ~ MvNormal(mean = 0, precision = 0.1) over d;
      tau ~ Gamma(shape = 2, rate = 1); observe y[n] ~ StudentT(df = 3, mean = dot(w, x[n]), precision = tau); }""", {"x": x[:n], "y": y[:n]})
    q = fit.posterior
    total = student.logpdf(y[n:], 3, x[n:] @ q["w.mean"], 1 / np.sqrt(q["tau.shape"] / q["tau.rate"])).sum()
    said = [same(fit.score({"x": x[n:], "y": y[n:]}), total, 20)]

    y, new = np.concatenate([RNG.standard_t(3, 40), 9 + RNG.standard_t(3, 40)]), RNG.normal(4, 5, 12)
    states = """model m { plate t%s; plate k = 2; pi ~ Dirichlet(concentration = 1) over k; A[k] ~ Dirichlet(concentration = 1) over k;
      mu[k] ~ Normal(mean = 0, sd = 10); tau[k] ~ Gamma(shape = 1, rate = 1); z[t] ~ Categorical(%s;
      observe y[t] ~ StudentT(df = 3, mean = mu[z[t]], precision = tau[z[t]]); }"""
    fit = Scored(states % (" ordered", "A[z[t-1]]) start Categorical(pi)"), {"y": y})
    q = fit.posterior
    each = student.logpdf(new[:, None], 3, q["mu.mean"], 1 / np.sqrt(q["tau.shape"] / q["tau.rate"]))
    total = forward(np.log(rows(q["pi.concentration"])), np.log(rows(q["A.concentration"])), each)
    said += [same(fit.score({"y": new}), total, 12)]
    fit = Scored((states % ("", "pi)")).replace("A[k] ~ Dirichlet(concentration = 1) over k;", ""), {"y": y})
    q = fit.posterior
    each = student.logpdf(new[:, None], 3, q["mu.mean"], 1 / np.sqrt(q["tau.shape"] / q["tau.rate"]))
    said += [same(fit.score({"y": new}), logsumexp(np.log(rows(q["pi.concentration"])) + each, axis=1).sum(), 12)]

    fit = Scored("""model m { plate n; data trials[n] : count; data a[n] : real; observe y[n] ~ BetaBinomial(trials[n], a[n], 2.5);
      plate j; mu ~ Normal(mean = 0, sd = 1); observe x[j] ~ Normal(mean = mu, sd = 1); }""",
                 {"trials": [5, 9], "a": [0.7, 2.0], "y": [2, 9], "x": [0.5]})
    q = fit.posterior
    total = betabinom.logpmf([3, 0, 8], [4, 1, 20], [1.5, 1.0, 0.2], 2.5).sum() + norm.logpdf(2, q["mu.mean"], 1)
    said += [same(fit.score({"trials": [4, 1, 20], "a": [1.5, 1.0, 0.2], "y": [3, 0, 8], "x": [2.0]}), total, 4)]

    # Levels of groups are inferred from the others of the group, at the weights of those.
    y = RNG.normal(0, 3, (8, 1)) + RNG.standard_t(4, (8, 6))
    fit = Scored("""model m { plate g; plate n; tau ~ Gamma(shape = 2, rate = 1); u[g] ~ Normal(mean = 0, sd = 3);
      observe y[g, n] ~ StudentT(df = 4, mean = u[g], precision = tau); }""", {"y": y})
    tau = fit.posterior["tau.shape"] / fit.posterior["tau.rate"]
    score = fit.score({"y": y}, "--holdout", "0.5", *TIGHT)
    held = score["split"]["y"].reshape(y.shape) > 0
    total = 0
    for values, out in zip(y, held):
        mean, variance = 0, 9
        for _ in range(5000):
            weight = 5 / (4 + tau * ((values - mean) ** 2 + variance))[~out]
            variance = 1 / (1 / 9 + tau * weight.sum())
            mean = variance * tau * (weight @ values[~out])
        total += student.logpdf(values[out], 4, mean, tau**-0.5).sum()
    return "; ".join([*said, same(score, total, 24)])


@check
def tree_of_categories():
    """A class of each document, one of each sentence, copies of words with a switch of their own: by enumeration."""
    model = """model m { plate doc; plate s in doc; plate w in s times count; plate c = 2; plate k = 3; plate v = 4; plate b = 2;
      pi ~ Dirichlet(1) over c; A[c] ~ Dirichlet(1) over k; rho ~ Dirichlet(2) over b; beta[k, b] ~ Dirichlet(0.5) over v;
      class[doc] ~ Categorical(pi); topic[doc, s] ~ Categorical(A[class[doc]]); z[doc, s, w] ~ Categorical(rho);
      observe x[doc, s, w] ~ Categorical(beta[topic[doc, s], z[doc, s, w]]); }"""
    lengths, words = [2, 1, 3, 0], [2, 3, 1, 2, 2, 4]
    draw = lambda: {"x": RNG.integers(0, 4, 14), "count": RNG.integers(1, 4, 14), "s": lengths, "w": words}
    fit = Scored(model, draw())
    pi, a, rho, beta = (rows(fit.posterior[n + ".concentration"]) for n in ("pi", "A", "rho", "beta"))
    data, total = draw(), 0.0
    sentences = np.split(np.arange(14), np.cumsum(words)[:-1])
    word = data["count"] * np.log(np.einsum("b,kbv->kv", rho, beta))[:, data["x"]]
    of_sentence = np.array([word[:, s].sum(1) for s in sentences])
    begin = 0
    for n in lengths:
        given_class = [np.log(pi[c]) + logsumexp(np.log(a[c]) + of_sentence[begin : begin + n], axis=1).sum() for c in range(2)]
        total += logsumexp(given_class)
        begin += n
    return same(fit.score(data), total, data["count"].sum())


@check
def bits_of_items():
    """Four bits and a category of each item on which six numbers and two counts depend together, some missing: the sum over all 48 states."""
    model = """model m { plate n; plate k = 4; plate d; plate e = 2; plate g = 3; data u[n, d] : real;
      mu[k, d] ~ Normal(mean = 0, sd = 1); a[g] ~ Normal(mean = 0, sd = 2); r[e, g] ~ Gamma(shape = 2, rate = 1);
      z[n, k] ~ Bernoulli(0.3); c[n] ~ Categorical(1 / 3) over g;
      observe x[n, d] ~ Normal(mean = sum(k) z[n, k] * mu[k, d] - a[c[n]] * u[n, d] / 2, sd = 0.7);
      observe y[n, e] ~ Poisson(r[e, c[n]]); }"""
    n, d = 12, 6
    x, u, y = RNG.normal(size=(n, d)) * 1.5, RNG.normal(size=(n, d)), RNG.poisson(2, (n, 2))
    f = Scored(model, {"x": x, "u": u, "y": y}, "--search", "none", "--guide", "factorised")
    gaps = np.where(RNG.random((n, d)) < 0.2, np.nan, x)
    gaps[:, 0] = x[:, 0]
    mu, a, r = f.posterior["mu.mean"], f.posterior["a.mean"], f.posterior["r.shape"] / f.posterior["r.rate"]
    total = 0.0
    for i in range(n):
        terms = []
        for state in itertools.product(*[(0, 1)] * 4, range(3)):
            z, c = np.array(state[:4]), state[4]
            each = norm.logpdf(gaps[i], z @ mu - a[c] * u[i] / 2, 0.7)
            terms.append(np.nansum(each) + poisson.logpmf(y[i], r[:, c]).sum() + z.sum() * np.log(0.3) + (4 - z.sum()) * np.log(0.7) - np.log(3))
        total += logsumexp(terms)
    return same(f.score({"x": gaps, "u": u, "y": y}), total, int((~np.isnan(gaps)).sum()) + 2 * n, 1e-10)


@check
def global_categories():
    """Members of a network have groups by posterior probabilities, which each tie is summed over by itself."""
    a, b = np.array(list(itertools.permutations(range(12), 2))).T
    tie = RNG.binomial(1, np.where((a < 6) == (b < 6), 0.8, 0.1))
    train = np.arange(len(a)) % 4 != 0
    fit = Scored("models/networks/stochastic_block_model.lehr", {"a": a[train], "b": b[train], "tie": tie[train]}, "--set", "K=2",
                 "--sizes", "member=12", "--save-locals")
    z, p = fit.posterior["z.probs"], fit.posterior["B.a"] / (fit.posterior["B.a"] + fit.posterior["B.b"])
    one = np.einsum("ng,gh,nh->n", z[a[~train]], p, z[b[~train]])
    total = np.log(np.where(tie[~train] == 1, one, 1 - one)).sum()
    return same(fit.score({"a": a[~train], "b": b[~train], "tie": tie[~train]}), total, (~train).sum())


@check
def global_spins():
    """Of a spin that is 1 with probability (1 + its mean) / 2, and a bit, for each observation by itself."""
    spins = """model m { plate n; s ~ Spin(); b ~ Bernoulli(0.3); observe x[n] ~ Normal(mean = 0.4 * s + 0.7 * b, sd = 1); }"""
    fit, x = Scored(spins, {"x": [0.9, -0.2, 0.6]}), np.array([0.1, 1.4])
    p, q = (1 + float(fit.posterior["s.mean"])) / 2, float(fit.posterior["b.p"])
    assert 0.1 < p < 0.95 and 0.1 < q < 0.95, (p, q)
    law = sum(a * b * norm.pdf(x, 0.4 * s + 0.7 * t, 1) for s, a in ((1, p), (-1, 1 - p)) for t, b in ((1, q), (0, 1 - q)))
    return same(fit.score({"x": x}), np.sum(np.log(law)), 2)


@check
def truth_scores_best():
    """More of the right topics score better than fewer on documents of the same language."""
    data = {n: corpus_of(n) for n in ("train", "test")}
    scores = [Scored("models/topics/lda.lehr", data["train"], "--set", f"K={k}", "--sizes", "term=60", "--restarts", "3")
              .score(data["test"])["per_observation"] for k in (1, 5)]
    assert scores[1] > scores[0] + 0.1, scores
    return f"{scores[0]:.3f} with one topic, {scores[1]:.3f} with five"


BETA = np.random.default_rng(1).dirichlet(np.full(60, 0.05), 5)


def corpus_of(name):
    rng = np.random.default_rng(len(name))
    counts = [rng.multinomial(50, rng.dirichlet(np.full(5, 0.2)) @ BETA) for _ in range(200 if name == "train" else 50)]
    return {"w": [np.nonzero(c)[0] for c in counts], "count": [c[c > 0] for c in counts]}


@check
def during_a_fit():
    """`lehr fit --test` measures what `lehr score` does."""
    model = """model m { plate n; plate k = 2; mu[k] ~ Normal(mean = 0, variance = 10); pi ~ Dirichlet(concentration = 1) over k;
      z[n] ~ Categorical(pi); observe x[n] ~ Normal(mean = mu[z[n]], variance = 1); }"""
    x = np.concatenate([RNG.normal(-2, 1, 40), RNG.normal(3, 1, 60)])
    with temporary() as folder:
        test = os.path.join(folder, "test.json")
        write_json(test, {"x": plain(RNG.normal(3, 1, 30))})
        fits = [Scored(model, {"x": x}, "--max-iter", n, "--test", test, "--test-every", 2) for n in (4, 5)]
        scores = []
        for e in fits:
            e.run("score", e.at("fit"), "--data", test)
            scores.append(read_json(e.at("fit/score.json"))["per_observation"])
            assert abs(read_json(e.at("fit/fit.json"))["held_out"]["per_observation"] - scores[-1]) < 1e-12
        traced = [row.split(",")[-1] for row in read(fits[1].at("fit/trace.csv")).splitlines()]
        assert traced[0] == "held_out" and [t == "" for t in traced[1:]] == [True, False, True, False, True], traced
        assert abs(float(traced[4]) - scores[0]) < 1e-12
    return f"{scores[0]:.6f} after four sweeps, in the trace and by `lehr score`"


def forward(log_first, log_A, log_emission):
    """log of the density of a sequence, all paths summed over; the transition of each step may be its own."""
    here = log_first + log_emission[0]
    for t in range(1, len(log_emission)):
        here = logsumexp(here[:, None] + log_A, axis=0) + log_emission[t]
    return logsumexp(here)


@check
def sequences():
    """Chains of categories: new sequences of other lengths, one with a gap, at the posterior means."""
    f = Scored("models/sequences/hmm_gaussian.lehr", {"t": [12, 9], "x": np.vstack([RNG.normal(size=(12, 2)), RNG.normal(3, 2, size=(9, 2))])}, "--search", "none")
    q = f.posterior
    new = [RNG.normal(1, 2, size=(n, 2)) for n in (5, 1, 8)]
    new[2][3] = np.nan
    sd = np.sqrt(q["tau.rate"] / q["tau.shape"])
    total = 0
    for x in new:
        emission = np.nan_to_num(norm.logpdf(x[:, None], q["mu.mean"], sd)).sum(2)
        total += forward(np.log(rows(q["pi.concentration"])), np.log(rows(q["A.concentration"])), emission)
    said = same(f.score({"t": [5, 1, 8], "x": np.vstack(new)}), total, 2 * (5 + 1 + 7))
    assert "holdout" in f.score({"t": [5, 1, 8], "x": np.vstack(new)}, "--holdout", 0.5, code=2)
    f = Scored("models/sequences/hmm_poisson.lehr", {"x": RNG.poisson(3, 30)}, "--search", "none")
    q = f.posterior
    x = RNG.poisson(3, 10)
    rate = next(k[:-6] for k in q if k.endswith(".shape"))
    emission = poisson.logpmf(x[:, None], q[rate + ".shape"] / q[rate + ".rate"])
    first = next(k for k in q if k.endswith(".concentration") and q[k].ndim == 1)
    A = next(k for k in q if k.endswith(".concentration") and q[k].ndim == 2)
    return said + "; one series: " + same(f.score({"x": x}), forward(np.log(rows(q[first])), np.log(rows(q[A])), emission), 10)


@check
def observed_sequences():
    """Chains of categories that are observed, but for some steps: the sum over what is missing, at the posterior means."""
    text = """model m { plate seq; plate t in seq ordered; plate k = 3; A[k] ~ Dirichlet(concentration = 1) over k; pi ~ Dirichlet(concentration = 1) over k;
      observe s[seq, t] ~ Categorical(A[s[seq, t-1]]) start Categorical(pi); }"""
    f = Scored(text, {"s": [RNG.integers(0, 3, n).tolist() for n in (6, 9, 4)]})
    new = [[0, None, 2, 1], [None, 1], [2, 2, None, None, 0, None]]
    A, pi = (np.log(rows(f.posterior[name])) for name in ("A.concentration", "pi.concentration"))
    known = lambda s: np.zeros(3) if s is None else np.where(np.arange(3) == s, 0, -np.inf)
    total = sum(forward(pi, A, np.array([known(s) for s in row])) for row in new)
    return same(f.score({"s": new}), total, 7)


@check
def states():
    """Chains of Gaussian states, by the multivariate Normal that all observations have together."""
    f = Scored("models/sequences/local_level.lehr", {"y": 1000 + RNG.normal(size=20) * 30}, "--search", "none")
    q = f.posterior
    y = 1000 + RNG.normal(size=7) * 30
    y[3] = np.nan
    there = ~np.isnan(y)
    steps = np.minimum.outer(np.arange(7), np.arange(7))
    covariance = 1000.0 ** 2 + steps * q["walk.rate"] / q["walk.shape"] + np.eye(7) * q["noise.rate"] / q["noise.shape"]
    total = multivariate_normal.logpdf(y[there], np.full(6, 1000), covariance[np.ix_(there, there)])
    said = same(f.score({"y": y}), total, 6)
    f = Scored("models/sequences/linear_dynamical_system.lehr", {"y": RNG.normal(size=(15, 2))}, "--search", "none", "--max-iter", 30)
    q = f.posterior
    n, A, C = 5, q["A.mean"], q["C.mean"]
    y = RNG.normal(size=(n, 2))
    states = np.zeros((n, 3, n, 3))
    for t in range(n):
        states[t, :, t] = np.eye(3) if t == 0 else A @ states[t - 1, :, t - 1] @ A.T + np.eye(3)
        for u in range(t):
            states[t, :, u] = A @ states[t - 1, :, u]
            states[u, :, t] = states[t, :, u].T
    covariance = np.einsum("dh,thus,es->tdue", C, states, C).reshape(2 * n, 2 * n)
    covariance += np.kron(np.eye(n), np.diag(q["noise.rate"] / q["noise.shape"]))
    return said + "; " + same(f.score({"y": y}), multivariate_normal.logpdf(y.ravel(), np.zeros(2 * n), covariance), 2 * n)


@check
def regimes():
    """Observations that depend on those before them."""
    f = Scored("models/sequences/markov_switching.lehr", {"growth": RNG.normal(size=25)}, "--search", "none")
    q = f.posterior
    y = RNG.normal(size=25)
    sd = math.sqrt(q["tau.rate"] / q["tau.shape"])
    before = np.concatenate([[0], y[:-1]]) * q["phi.mean"]
    emission = norm.logpdf(y[:, None], q["level.mean"] + before[:, None], sd)
    return same(f.score({"growth": y}), forward(np.log(rows(q["pi.concentration"])), np.log(rows(q["A.concentration"])), emission), 25)


@check
def tails():
    """Censored values have the probability of what is beyond the limit, of a heavy tail too; probabilities of links are taken by their
    logarithms, far beyond where they round to 0 and 1; real weights count as what they are."""
    y = [0.3, 1.0, -0.2, 1.0, 0.5]
    f = Scored("model m { plate n; mu ~ Normal(mean = 0, sd = 10); observe y[n] ~ StudentT(df = 4, mean = mu, sd = 2) censored above 1 below -0.2; }", {"y": y})
    mu = f.posterior["mu.mean"]
    beyond = [student.logsf((1 - mu) / 2, 4) if v == 1 else student.logcdf((-0.2 - mu) / 2, 4) if v == -0.2
              else student.logpdf(v, 4, mu, 2) for v in y]
    x, bits = np.array([-39.0, 45.0, 800.0, -800.0]), np.array([1, 0, 1, 1])
    side = np.where(bits == 1, x, -x)
    far = [(link, Scored("model m { plate n; data x[n] : real; a ~ Normal(mean = 0, sd = 1e-3); observe y[n] ~ Bernoulli(%s(x[n] + 0 * a)); }" % link,
                         {"x": x, "y": bits}).score({"x": x, "y": bits})["total"]) for link in ("probit", "logistic")]
    w = np.array([0.5, 0.9, 1.5, 2.5])
    light = Scored("model m { plate n times w; data w[n] : real; mu ~ Normal(mean = 0, sd = 3); observe y[n] ~ Normal(mean = mu, sd = 1); }",
                   {"w": w, "y": w})
    weighted = light.score({"w": w, "y": w})
    assert math.isclose(weighted["observations"], 5.4) and math.isclose(weighted["total"], w @ norm.logpdf(w, light.posterior["mu.mean"], 1), rel_tol=1e-9)
    assert math.isclose(far[0][1], norm.logcdf(side).sum(), rel_tol=1e-9) and math.isclose(far[1][1], -np.logaddexp(0, -side).sum(), rel_tol=1e-9)
    return same(f.score({"y": y}), sum(beyond), 5)


@check
def far_below():
    """Probabilities and rates below the smallest number, of a softmax, ordered categories, counts, sticks, parts of a mixture and
    log links: their logarithms have all digits, from -1 to -2000."""
    far = np.array([0.0, -1.0, -300.0, -700.0, -744.5, -750.0, -2000.0])
    u = np.stack([far, np.zeros(7), np.full(7, -0.5)], 1)
    log_p = u - logsumexp(u, axis=1, keepdims=True)
    first = np.zeros(7, int)
    known = "model m { plate n; plate k = 3; data u[n, k] : real; "
    softmax = Scored(known + "observe o[n] ~ Categorical(softmax(u[n])) over k; }", {"u": u, "o": first})
    said = same(softmax.score({"u": u, "o": first}), log_p[:, 0].sum(), 7, 1e-12)
    counts = np.tile([2, 1, 3], (7, 1))
    rows_of_counts = Scored(known + "observe o[n] ~ Multinomial(softmax(u[n])) over k; }", {"u": u, "o": counts})
    same(rows_of_counts.score({"u": u, "o": counts}), (log_p @ [2, 1, 3] + math.log(60)).sum(), 7, 1e-12)
    gate = Scored(known + "const mu[k]; z[n] ~ Categorical(softmax(u[n])); observe o[n] ~ Normal(mean = mu[z[n]], sd = 1); }",
                  {"u": u, "o": np.zeros(7), "mu": [0, 2000, 3000]})
    parts = logsumexp(log_p + norm.logpdf(0, [0, 2000, 3000], 1), axis=1).sum()
    same(gate.score({"u": u, "o": np.zeros(7)}), parts, 7, 1e-12)
    cuts, at = np.array([-0.5, 1.5]), np.concatenate([far, -far])
    log_logistic = lambda x: -np.logaddexp(0, -x)
    ordered = Scored("model m { plate n; plate k = 3; plate g = 2; data c[g] : real; data t[n] : real; observe o[n] ~ Categorical(ordered_logistic(t[n], c)) over k; }",
                     {"c": cuts, "t": at, "o": np.zeros(14, int)})
    middle = log_logistic(at - cuts[0]) + log_logistic(cuts[1] - at) + math.log(-math.expm1(cuts[0] - cuts[1]))
    for k, want in enumerate([log_logistic(cuts[0] - at), middle, log_logistic(at - cuts[1])]):
        same(ordered.score({"c": cuts, "t": at, "o": np.full(14, k)}), want.sum(), 14, 1e-12)
    rates = "model m { plate n; data t[n] : real; a ~ Normal(mean = 0, sd = 1); observe o[n] ~ %s; }"
    x = np.array([0.0, 1, 3, 2, 1, 5, 7])
    counts = Scored(rates % "Poisson(2 * exp(t[n] + a))", {"t": np.zeros(7), "o": x})
    log_rate = far + counts.posterior["a.mean"] + math.log(2)
    same(counts.score({"t": far, "o": x}), (x * log_rate - np.exp(log_rate)).sum() - sum(math.lgamma(v + 1) for v in x), 7, 1e-12)
    times = Scored(rates % "Gamma(shape = 2, rate = exp(t[n] + a))", {"t": np.zeros(7), "o": x + 1})
    log_rate = far + times.posterior["a.mean"]
    same(times.score({"t": far, "o": x + 1}), (2 * log_rate + np.log(x + 1) - np.exp(log_rate) * (x + 1)).sum(), 7, 1e-12)
    return said


@check
def refusals():
    schools = {"y": [1, 5, 3], "sigma": [1, 1, 2]}
    assert "'theta' has an element for each" in Scored("models/hierarchical/hierarchical_normal.lehr", schools).score(schools, code=2)
    chains = """model m { plate t ordered; plate k = 2; data A[k] : simplex over k; data p : simplex over k; tau ~ Gamma(shape = 1, rate = 1); mu[k] ~ Normal(mean = 0, sd = 1);
      a[t] ~ Normal(mean = a[t-1], sd = 1) start Normal(mean = 0, sd = 1); OTHER observe y[t] ~ Normal(mean = a[t] + MEAN, precision = tau); }"""
    known = {"A": [[0.8, 0.2], [0.3, 0.7]], "p": [0.5, 0.5], "y": RNG.normal(size=9)}
    states = chains.replace("OTHER", "z[t] ~ Categorical(A[z[t-1]]) start Categorical(p);").replace("MEAN", "mu[z[t]]")
    assert "categories and numbers of chains" in Scored(states, known, "--search", "none").score(known, code=2)
    two = chains.replace("OTHER", "b[n, t] ~ Normal(mean = b[n, t-1], sd = 1) start Normal(mean = 0, sd = 1);").replace("MEAN", "b[0, t]").replace("plate k = 2;", "plate k = 2; plate n = 3;")
    assert "on different plates" in Scored(two, known, "--search", "none").score(known, code=2)
    fit = Scored("models/topics/lda.lehr", corpus(20, 10, 2), "--set", "K=2", "--sizes", "term=10")
    beyond = {"w": [[3, 11]], "count": [[4, 4]]}
    assert "outside plate 'term'" in fit.score(beyond, code=4)
    return "each with its reason"


@check
def items():
    """The density of each item: rows of a mixture, vectors with gaps, documents, sequences; weights, and items without data."""
    r = np.random.default_rng(12)

    def of_items(fit, data, want, observations, *arguments):
        score = fit.score(data, "--per", "item", *arguments)
        table = [line.split(",") for line in read(fit.at("fit/score_items.csv")).splitlines()[1:]]
        got = np.array([float(row[1]) for row in table])
        assert np.abs(got - want).max() < 1e-8 * (1 + np.abs(want).max()), (got, want)
        assert [float(row[2]) for row in table] == list(observations), table
        assert abs(got.sum() - score["total"]) < 1e-9 * (1 + abs(score["total"])), (got.sum(), score["total"])
        return len(got)

    x = np.concatenate([r.normal(m, 1, (40, 3)) for m in (-4, 0, 5)])
    fit = Scored("models/mixtures/gmm.lehr", {"x": x}, "--set", "K=3")
    q, test = fit.posterior, r.normal(0, 4, (9, 3))
    test[1, 0] = test[2, 1] = test[2, 2] = test[7, 2] = np.nan
    test[4] = np.nan
    covariances = np.linalg.inv(q["Lambda.df"][:, None, None] * q["Lambda.scale"])
    there = ~np.isnan(test)
    each = [[multivariate_normal(m[s], c[np.ix_(s, s)]).logpdf(v[s]) if s.any() else 0.0 for m, c in zip(q["mu.mean"], covariances)]
            for v, s in zip(test, there)]
    n = of_items(fit, {"x": test}, logsumexp(np.log(rows(q["pi.concentration"])) + each, axis=1), there.any(1))

    fit = Scored("models/mixtures/gmm_diagonal.lehr", {"x": x}, "--set", "K=2")
    q = fit.posterior
    each = np.nansum(norm.logpdf(test[:, None], q["mu.mean"], 1 / np.sqrt(q["tau.shape"] / q["tau.rate"])), -1)
    n += of_items(fit, {"x": test}, logsumexp(np.log(rows(q["pi.concentration"])) + each, axis=1), there.sum(1))

    fit = Scored("model m { plate n times count; mu ~ Normal(mean = 0, sd = 5); observe x[n] ~ Normal(mean = mu, sd = 2); }",
                 {"x": x[:, 0], "count": np.ones(120)})
    count = np.array([2, 1, 3])
    n += of_items(fit, {"x": x[:3, 0], "count": count}, count * norm.logpdf(x[:3, 0], fit.posterior["mu.mean"], 2), count)

    data = corpus(30, 12, 3)
    fit = Scored("models/topics/lda.lehr", data, "--set", "K=3", "--sizes", "term=12")
    few = {k: v[:5] for k, v in data.items()}
    got = fit.score(few, *TIGHT)
    held, beta, at, totals, numbers = got["split"]["w"], fit.posterior["beta.concentration"], 0, [], []
    for k in range(5):
        one = {name: [rows_of[k]] for name, rows_of in few.items()}
        one["split"] = {"w": held[at:at + len(few["w"][k])]}
        at += len(few["w"][k])
        total, number = lda_score(one, one, beta, 1 / 3)
        totals.append(total)
        numbers.append(number)
    n += of_items(fit, few, np.array(totals), numbers, *TIGHT)

    return f"{n} items"


@check
def learned_temperatures():
    """At the temperatures of a tempered fit: each point's density to the power 1/T, its component summed out, normalised by
    quadrature, and mixed over T."""
    r = np.random.default_rng(13)
    x = np.concatenate([r.normal(-3, 1, 30), r.normal(3, 1, 30), [15.0, -14.0]])
    model = """model m { plate n; plate k = 2; data w : simplex over k; mu[k] ~ Normal(mean = 0, sd = 9); z[n] ~ Categorical(w);
      observe x[n] ~ Normal(mean = mu[z[n]], sd = 1); }"""
    fit = Scored(model, {"x": x, "w": [0.4, 0.6]}, "--temper", "global:max=4,levels=8", "--max-iter", 400)
    tempering = read_json(fit.at("fit/fit.json"))["tempering"]
    fresh, mean = np.array([-2.5, 0.3, 9.0]), fit.posterior["mu.mean"]
    grid = np.linspace(-80, 80, 200001)
    log_joint = lambda v: np.log([0.4, 0.6]) + norm.logpdf(np.asarray(v)[:, None], mean, 1)  # noqa: E731
    by_temperature = []
    for t in tempering["temperatures"]:
        log_c = np.log(np.exp(log_joint(grid) / t).sum() * (grid[1] - grid[0]))
        by_temperature.append(logsumexp(log_joint(fresh) / t, axis=1) - log_c)
    want = logsumexp(np.log(tempering["posterior"])[:, None] + by_temperature, axis=0).sum()
    got = fit.score({"x": fresh, "w": [0.4, 0.6]}, "--tempered")
    plain_score = fit.score({"x": fresh, "w": [0.4, 0.6]})
    assert abs(plain_score["total"] - logsumexp(log_joint(fresh), axis=1).sum()) < 1e-8
    said = same(got, want, 3, 1e-7)
    cold = Scored(model, {"x": x, "w": [0.4, 0.6]}, "--search", "none")
    assert "learned no temperatures" in cold.score({"x": fresh, "w": [0.4, 0.6]}, "--tempered", code=2)
    return f"{said}, at temperature 1 {plain_score['total']:.4f}"


finish()
