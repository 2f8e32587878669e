#!/usr/bin/env python3
"""Formulas and claims of Xie's tutorial, Mandt et al. (2016) and Gultekin et al. that take seconds to check: what `lehr fit` gives
beside the formula written out, a sum, or quadrature. Each function prints one line of JSON, whose numbers sources.json records.

usage: equations.py LEHR [--only NAME ...]
"""
import csv
import gzip
import itertools
import json
import os
import random
import subprocess
import tempfile

import numpy as np
from scipy.special import digamma, gammaln, logsumexp, xlogy
from scipy.stats import gamma as gamma_family

from common import ROOT, Problem
from mackay import posterior
from minibatch_steps import MODEL, data


def xie_sweeps(lehr):
    """Algorithm 1 of Xie with (40), (52) to (54), (67) and (100), and the ELBO of (101) to (120), against ten sweeps of Lehr."""
    x, K, prior, largest = data(0, 2), 3, 3.0, 0.0
    n, d = x.shape
    rng = np.random.default_rng(1)
    mean, precision, alpha = rng.normal(size=(K, d)), np.full(K, 100.0), np.full(K, 5.0)
    start = {"mu.mean": mean, "mu.precision": precision[:, None, None] * np.eye(d), "pi.concentration": alpha}
    problem = Problem(lehr, MODEL, {"x": x})
    _, out = problem.fit("--max-iter", 10, "--tol", 0, init=start)
    with open(os.path.join(out, "trace.csv")) as f:
        elbos = [float(row["elbo"]) for row in csv.DictReader(f)]
    for reported in elbos:
        squares = ((x[:, None] - mean) ** 2).sum(2) + d / precision
        log_r = digamma(alpha) - digamma(alpha.sum()) - squares / 2
        r = np.exp(log_r - logsumexp(log_r, axis=1, keepdims=True))
        precision = 1 / prior + r.sum(0)
        mean = r.T @ x / precision[:, None]
        alpha = 1 + r.sum(0)
        log_pi = digamma(alpha) - digamma(alpha.sum())
        squares = ((x[:, None] - mean) ** 2).sum(2) + d / precision
        elbo = gammaln(K) + (-d / 2 * np.log(2 * np.pi * prior) - ((mean**2).sum(1) + d / precision) / (2 * prior)).sum()
        elbo += (r * log_pi).sum() + (r * (-d / 2 * np.log(2 * np.pi) - squares / 2)).sum() - xlogy(r, r).sum()
        elbo += (d / 2 * np.log(2 * np.pi * np.e) - d / 2 * np.log(precision)).sum()
        elbo += gammaln(alpha).sum() - gammaln(alpha.sum()) - ((alpha - 1) * log_pi).sum()
        largest = max(largest, abs(reported - elbo) / abs(elbo))
    q = posterior(out)
    return {"ELBO": elbos[-1], "largest relative difference": largest, "means differ by": np.abs(q["mu.mean"] - mean).max(),
            "falls": int((np.diff(elbos) < -1e-9).sum())}


def noisy_gradient(lehr):
    """Xie, (121) and (122): a step of size 1 from one of four points, averaged over the points, is a sweep with all of them."""
    x = np.array([[-1.0], [0.2], [0.5], [3.0]])
    start = {"mu.mean": np.array([[-1.0], [0.0], [2.0]]), "mu.precision": np.ones((3, 1, 1)), "pi.concentration": np.ones(3)}
    problem = Problem(lehr, MODEL, {"x": x})
    sweep = posterior(problem.fit("--max-iter", 1, "--tol", 0, init=start)[1])
    natural = lambda q: np.concatenate([q["pi.concentration"], q["mu.precision"].ravel(), (q["mu.precision"][..., 0] * q["mu.mean"]).ravel()])
    steps = {}
    for seed in range(1, 40):
        q = posterior(problem.fit("--method", "svi", "--batch-size", 1, "--epochs", 0.25, "--rho", 1, "--seed", seed, init=start)[1])
        steps[tuple(np.round(natural(q), 9))] = natural(q)
        if len(steps) == 4:
            break
    return {"points": len(steps), "difference": np.abs(np.mean(list(steps.values()), axis=0) - natural(sweep)).max()}


def scopes(lehr, starts=10):
    """Mandt et al., section 3.2: annealing of the local factors alone, of the global ones alone, and of both."""
    from problems import FACTORIAL_MIXTURE, factorial_mixture
    problem = Problem(lehr, FACTORIAL_MIXTURE, {"x": factorial_mixture(1, 300)[0]})
    plain = problem.elbos(starts, init="means")[0]
    gains = {s: problem.elbos(starts, "--anneal", "linear:from=3,over=100" + scope, init="means")[0] - plain
             for s, scope in (("both", ""), ("local", ",scope=local"), ("global", ",scope=global"))}
    return {f"{s}: {k}": f(g) for s, g in gains.items() for k, f in (("median gain", np.median), ("wins", lambda g: int((g > 0).sum())))}


def gamma_median(lehr):
    """Mandt et al., section 2.2: a Gamma of shape 0.05. Its density to the power 1/2 has shape 1 + (0.05 - 1) / 2."""
    median = [float(gamma_family.ppf(0.5, shape)) for shape in (0.05, 0.525, 0.025)]
    return {"median": median[0], "of the tempered density": median[1] * 2, "orders up": np.log10(median[1] * 2 / median[0]),
            "with half the parameters": median[2] * 2, "orders down": np.log10(median[0] / median[2] / 2)}


def factorial_normaliser(lehr):
    """Mandt et al., (22) to (24): log C(T) of one image, by a sum over its bits of Gaussian integrals, as printed, and with the
    constant of the Normal density."""
    D, K, s, p, T = 16, 8, 0.1, 0.3, 3.0
    bits = sum(np.exp(np.log(p) * sum(z) / T + np.log(1 - p) * (K - sum(z)) / T) for z in itertools.product((0, 1), repeat=K))
    # The integral of N(x; m, s)^(1/T) over a number, by quadrature.
    x = np.linspace(-40, 40, 400001) * np.sqrt(s * T)
    one = np.exp((-0.5 * np.log(2 * np.pi * s) - x**2 / (2 * s)) / T).sum() * (x[1] - x[0])
    exact = D * np.log(one) + np.log(bits)
    printed = D / 2 * np.log(T) + K * np.log(p ** (1 / T) + (1 - p) ** (1 / T))
    constant = D / 2 * (1 - 1 / T) * np.log(2 * np.pi * s)
    problem = Problem(lehr, """model m { plate n; plate k = 8; plate d; mu[k, d] ~ Normal(mean = 0, variance = 0.35); z[n, k] ~ Bernoulli(0.3);
      observe x[n, d] ~ Normal(mean = sum(k) z[n, k] * mu[k, d], variance = 0.1); }""", {"x": np.zeros((1, D))})
    report, _ = problem.fit("--temper", "global:max=9,levels=3", "--max-iter", 2)
    grid = report["tempering"]
    lehr_value = grid["log_normaliser"][list(np.round(grid["temperatures"], 6)).index(T)]
    return {"quadrature": exact, "Lehr": lehr_value, "printed": printed, "printed with the constant": printed + constant}


def jensen(lehr):
    """Mandt et al., B.1: the bounds of log C(T) of topics, N = 10 words, one document, V = 5, K = 2, T = 2."""
    rng = np.random.default_rng(1)
    beta, theta = rng.dirichlet(np.full(5, 0.5), (4000, 2)), rng.dirichlet(np.full(2, 0.5), 4000)
    g = np.sqrt(np.einsum("nk,nkv->nv", theta, beta)).sum(1)
    return {"log C": np.log(np.mean(g**10)), "printed lower": 10 * np.mean(np.log(g)), "printed upper": 10 * np.log(np.mean(g))}


def temperature_factor(lehr):
    """Mandt et al., (9): log r + log C is linear in 1/T; without C the factor is at the largest temperature; log C rises."""
    from problems import FACTORIAL_MIXTURE, factorial_mixture
    problem = Problem(lehr, FACTORIAL_MIXTURE, {"x": factorial_mixture(1, 300)[0]})
    report, out = problem.fit("--temper", "global:max=10", "--max-iter", 400)
    t = report["tempering"]
    with open(os.path.join(out, "trace.csv")) as f:
        trace = [float(row["temperature"]) for row in csv.DictReader(f)]
    T, C, r = (np.array(t[k]) for k in ("temperatures", "log_normaliser", "posterior"))
    some = r > 1e-12
    line = np.polyfit(1 / T[some], np.log(r[some]) + C[some], 1)
    residual = np.abs(np.polyval(line, 1 / T[some]) - np.log(r[some]) - C[some]).max()
    alone = np.exp(line[0] / T - (line[0] / T).max())
    return {"first T": trace[0], "last T before the end": t["temperature"], "residual": residual, "E log p": line[0],
            "mean T without C": (alone * T).sum() / alone.sum(), "log C rises": int((np.diff(C) > 0).all())}


def fine_grids(lehr):
    """Mandt et al., section 2.4: a continuous p(T_i) as the limit of grids, 1/T_i uniform from 0.1 to 1; a mixture of two with an outlier.
    Temperature of all items by the number of levels."""
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.normal(-2, 1, 30), rng.normal(3, 1, 30), [12.0]])
    problem = Problem(lehr, """model m { plate n; plate k = 2; mu[k] ~ Normal(mean = 0, variance = 100); z[n] ~ Categorical(0.5) over k;
      observe x[n] ~ Normal(mean = mu[z[n]], variance = 1); }""", {"x": x})
    start = {"mu.mean": np.array([-2.0, 3.0]), "mu.precision": np.ones(2)}
    return {f"{n} levels": problem.fit("--temper", f"local:max=10,levels={n},spacing=inverse", "--tol", 1e-12, init=start)[0]["tempering"]["temperature"]
            for n in (25, 100, 400, 1600)}


def mixture_curves(lehr, starts=20):
    """Gultekin et al., fig. 5: mean ELBO after some sweeps of a mixture of six components for the digit 0 of scikit-learn."""
    from problems import GMM, digits
    problem, result = Problem(lehr, GMM, digits(0), settings=["K=6"]), {}
    for sweeps in (5, 20, 40, 60, 200):
        plain, noisy = (problem.elbos(starts, "--max-iter", sweeps, "--tol", 0, *how, init="means")[0]
                        for how in ([], ["--anneal", "stochastic:rho=0.25,over=50,noise=start"]))
        result[f"gain after {sweeps}"] = noisy.mean() - plain.mean()
    return result | {"wins": int((noisy > plain).sum())}


def decays(lehr, starts=20):
    """Gultekin et al., section 4: rho_t = d^t for d around 0.9; pen strokes of the digit 1, five states."""
    from problems import HMM, pen_strokes
    problem = Problem(lehr, HMM, {"x": [s.tolist() for s in pen_strokes(1)]}, settings=["K=5"])
    plain = problem.elbos(starts, "--max-iter", 300, init="means")[0]
    return {f"gain of {d}": (problem.elbos(starts, "--max-iter", 300, "--anneal", f"stochastic:decay={d},over=50,noise=start", init="means")[0] - plain).mean()
            for d in (0.8, 0.85, 0.9, 0.95)}


def split_posts(folder):
    """KOS, 300 posts of it held out, as train.ldac and test.ldac."""
    with gzip.open(f"{ROOT}/models/data/topics/kos.ldac.gz", "rt") as f:
        lines = [line for line in f if line.strip()]
    random.Random(0).shuffle(lines)
    for part, chosen in (("test", lines[:300]), ("train", lines[300:])):
        with open(os.path.join(folder, part + ".ldac"), "w") as f:
            f.writelines(chosen)


def held_out_words(lehr, folder, model, *options):
    """Nats a held-out word after a fit by minibatches, of 100 and with steps (64 + t)^-0.7 unless options say otherwise."""
    out = os.path.join(folder, "out")
    usual = [word for pair in (("--batch-size", 100), ("--tau0", 64)) if pair[0] not in options for word in pair]
    for command in (["fit", f"{ROOT}/models/topics/{model}.lehr", "--data", f"w={folder}/train.ldac", "--sizes", "term=6906", "--method", "svi",
                     "--init", "flat", "--out", out, *usual, *options],
                    ["score", out, "--data", f"w={folder}/test.ldac"]):
        subprocess.run([lehr, *map(str, command)], check=True, capture_output=True)
    with open(os.path.join(out, "score.json")) as f:
        return json.load(f)["per_observation"]


def hierarchical_topics(lehr):
    """Hoffman et al. (2013), section 4: held-out words of KOS with 30 topics, and with 30 at most."""
    with tempfile.TemporaryDirectory() as folder:
        split_posts(folder)
        return {name: held_out_words(lehr, folder, name, "--epochs", 5, "--set", setting)
                for name, setting in (("lda", "K=30"), ("hierarchical_dirichlet_process", f"eta={1 / 30}"))}


def lengths(lehr, seeds=3):
    """Mandt et al., section 4: annealing of KOS, K = 50, from T = 1.5 over 1, 0.1 and 0.01 of the first of two passes; mean gains."""
    with tempfile.TemporaryDirectory() as folder:
        split_posts(folder)
        scores = {over: [held_out_words(lehr, folder, "lda", "--epochs", 2, "--set", "K=50", "--seed", seed,
                                        *(["--anneal", f"linear:from=1.5,over={over}"] if over else [])) for seed in range(1, seeds + 1)]
                  for over in (0, 31, 3, 1)}
    gains = {f"gain over {over} steps": np.subtract(scores[over], scores[0]) for over in (31, 3, 1)}
    return {name: g.mean() for name, g in gains.items()} | {f"{name}, least": g.min() for name, g in gains.items()}


def text_steps(lehr):
    """Mandt et al., section 4, and Hoffman et al., section 4: held-out words of KOS, K = 50, two passes, by kappa, tau and batch."""
    with tempfile.TemporaryDirectory() as folder:
        split_posts(folder)
        best = lambda *how: held_out_words(lehr, folder, "lda", "--epochs", 2, "--set", "K=50", *how)
        steps = {f"tau {tau}, kappa {kappa}": best("--tau0", tau, "--kappa", kappa) for tau in (1, 64, 1024) for kappa in (0.6, 0.7, 0.9)}
        return steps | {f"batch {b}": best("--batch-size", b) for b in (10, 500)}


def text_priors(lehr, seeds=2):
    """Mandt et al., section 4: mean gain of AVI 1.5 on KOS, K = 50, by the concentrations of topics and words."""
    result = {}
    with tempfile.TemporaryDirectory() as folder:
        split_posts(folder)
        for alpha, eta in ((0.02, 0.02), (0.1, 0.1), (0.5, 0.02)):
            plain, hot = ([held_out_words(lehr, folder, "lda", "--epochs", 2, "--set", "K=50", f"alpha={alpha}", f"eta={eta}", "--seed", seed, *how)
                           for seed in range(1, seeds + 1)] for how in ([], ["--anneal", "linear:from=1.5,over=31"]))
            result |= {f"alpha {alpha}, eta {eta}: plain": np.mean(plain), f"alpha {alpha}, eta {eta}: gain": np.mean(hot) - np.mean(plain)}
    return result


def many_points(lehr, n=1_000_000):
    """Xie, section 7: the points that coordinate ascent and minibatches of 1000 have visited when they are near the best ELBO, one
    dimension, from the same start."""
    rng = np.random.default_rng(1)
    x = np.array([-5.0, 0, 5])[rng.choice(3, n, p=[0.3, 0.3, 0.4])][:, None] + rng.normal(size=(n, 1))
    problem = Problem(lehr, MODEL)
    np.save(problem.at("x.npy"), x)
    problem.arguments += ["--data", "x=" + problem.at("x.npy")]
    start = {"mu.mean": np.array([[-1.0], [0.5], [1.0]]), "mu.precision": np.ones((3, 1, 1)), "pi.concentration": np.ones(3)}
    _, out = problem.fit("--tol", 1e-12, init=start)
    with open(os.path.join(out, "trace.csv")) as f:
        elbos = np.array([float(row["elbo"]) for row in csv.DictReader(f)])
    result = {"best": elbos[-1], "sweeps": len(elbos)}
    result |= {f"gap after {k} sweeps": elbos[-1] - elbos[k - 1] for k in (1, 3, 5)}
    for passes in (0.05, 0.2, 1, 3):
        report, _ = problem.fit("--method", "svi", "--batch-size", 1000, "--epochs", passes, init=start)
        result[f"gap after {passes} passes"] = elbos[-1] - report["elbo"]
    return result


if __name__ == "__main__":
    from mackay import main
    main(__doc__, [xie_sweeps, noisy_gradient, scopes, gamma_median, factorial_normaliser, jensen, temperature_factor, fine_grids, mixture_curves,
                   decays, hierarchical_topics, lengths,
                   text_steps, text_priors, many_points])
