#!/usr/bin/env python3
"""Claims of Mandt et al. (2016), Gultekin et al., Hoffman et al. (2013) and Xie's tutorial at larger settings, or with settings of
their own. Each function prints one line of JSON, which sources.json quotes; all take minutes. Three of them need data that are not
part of the project (LEHR_SHARED_DATA): `many_topics`, `face_scales` and `cooling`.

usage: claims.py LEHR [--only NAME ...]
"""
import csv
import os
import subprocess
import tempfile

import numpy as np

from common import ROOT, Problem
from equations import held_out_words, split_posts
from lda_minibatches import held_out
from minibatch_steps import MODEL


def trace(out):
    """The columns of trace.csv, by name."""
    with open(os.path.join(out, "trace.csv")) as f:
        rows = list(csv.DictReader(f))
    return {k: np.array([float(r[k] or "nan") for r in rows]) for k in rows[0]}


def hot_starts(lehr, seeds=2):
    """Mandt et al., section 2.2: KOS, K = 50, two passes by minibatches, cooled over the first of them from T = 2 to 10; mean gains."""
    with tempfile.TemporaryDirectory() as folder:
        split_posts(folder)
        run = lambda *how: np.array([held_out_words(lehr, folder, "lda", "--epochs", 2, "--set", "K=50", "--seed", seed, *how)
                                     for seed in range(1, seeds + 1)])
        plain = run()
        return {f"gain from {T}": float((run("--anneal", f"linear:from={T},over=31") - plain).mean()) for T in (1.5, 3, 5, 6, 8, 10)}


def many_topics(lehr, corpus="arxiv", documents=20000):
    """Mandt et al., section 4: K = 500, priors 1/K, batches of 100, steps (1024 + t)^-0.7; 20,000 arXiv abstracts, two passes; gains in
    held-out nats a word over SVI. VT has the grid of the paper, 100 temperatures up to 10."""
    import lda_minibatches as text
    methods = {"SVI": [], "AVI 1.5": ["--anneal", f"linear:from=1.5,over={documents // 100}"],
               "AVI 3.9": ["--anneal", f"linear:from=3.9,over={documents // 100}"], "VT 10": ["--temper", "global:max=10,every=10"]}
    with tempfile.TemporaryDirectory() as folder:
        train, test, terms, _ = text.split(corpus, documents, 500, folder)
        problem, result = Problem(lehr, text.MODEL, bindings=["w=" + train], settings=["K=500"]), {}
        for name, how in methods.items():
            report, out = problem.fit("--method", "svi", "--batch-size", 100, "--tau0", 1024, "--kappa", 0.7, "--local-iters", 60, "--local-tol",
                                      1e-3, "--epochs", 2, "--sizes", f"term={terms}", *how, init="flat")
            score = text.held_out(lehr, out, test)
            result |= {name: score} if name == "SVI" else {f"gain of {name}": score - result["SVI"]}
            if "tempering" in report:
                result[f"T of {name}"] = report["tempering"]["temperature"]
    return result


def face_scales(lehr):
    """Mandt et al., section 4: variances of noise and features for the faces; held-out nats an image, 1500 for the fit, 500 held out."""
    import yale_faces
    from pictures_tempering import held_out_faces
    x = yale_faces.faces(1)
    x = x[np.random.default_rng(0).permutation(len(x))[:2000]]
    train, test, result = x[500:], x[:500], {}
    for noise in (0.125, 0.25, 0.5, 1.0):
        for prior in (0.25, 0.5, 1.0):
            model = yale_faces.MODEL.replace("variance = 1)", f"variance = {prior})").replace("variance = 0.5);", f"variance = {noise});")
            problem = Problem(lehr, model)
            np.save(problem.at("x.npy"), train)
            _, out = problem.fit("--data", "x=" + problem.at("x.npy"), "--max-iter", 200, init=yale_faces.start("images", train, 8, 1))
            with np.load(os.path.join(out, "posterior.npz")) as q:
                result[f"noise {noise}, prior {prior}"] = held_out_faces(q, test, noise)
    return result


def cooling(lehr, starts=20):
    """Gultekin et al., section 4: T_t = 5 / (1 - 0.9^t) for 50 sweeps, then temperature 1; pen strokes of the digit 1, five states."""
    from problems import HMM, pen_strokes
    problem = Problem(lehr, HMM, {"x": [s.tolist() for s in pen_strokes(1)]}, settings=["K=5"])
    with open(problem.at("printed.txt"), "w") as f:
        f.writelines(f"{5 / (1 - 0.9**t)}\n" for t in range(1, 51))
    run = lambda *how: problem.elbos(starts, "--max-iter", 300, *how, init="means")[0]
    plain = run()
    gains = {"printed": run("--anneal", "file:" + problem.at("printed.txt")) - plain, "linear": run("--anneal", "linear:from=5,over=50") - plain}
    return {f"gain of {name}": float(g.mean()) for name, g in gains.items()} | {f"wins of {name}": int((g > 0).sum()) for name, g in gains.items()}


def words_a_document(lehr, starts=5):
    """Gultekin et al., section 4.1: gains in ELBO by the words of a document; 200 documents of ten topics, 100 terms."""
    from problems import LDA
    result = {}
    for words in (20, 60, 200):
        rng = np.random.default_rng(words)
        beta, theta = rng.dirichlet(np.full(100, 0.1), 10), rng.dirichlet(np.full(10, 0.3), 200)
        w = [np.array([rng.choice(100, p=beta[k]) for k in rng.choice(10, words, p=t)]) for t in theta]
        problem = Problem(lehr, LDA.replace(" times count", ""), {"w": [d.tolist() for d in w]}, settings=["K=10"])
        run = lambda *how: problem.elbos(starts, "--max-iter", 300, *how, init="means")[0]
        plain = run()
        for name, how in (("stochastic", "stochastic:rho=0.25,over=50,noise=means"), ("deterministic", "linear:from=3,over=50")):
            result[f"{words} words: gain of {name}, percent"] = float(100 * ((run("--anneal", how) - plain) / np.abs(plain)).mean())
    return result


def times_to_score(lehr):
    """Hoffman et al., section 4: seconds of CPU, compilation included, until a fit of KOS, K = 50, predicts held-out words with -7.6 nats, and
    what the longest fits predict."""
    result = {}
    with tempfile.TemporaryDirectory() as folder:
        split_posts(folder)
        for name, how, lengths in (("minibatches", ["--method", "svi", "--batch-size", 100, "--tau0", 64, "--epochs"], (0.5, 1, 2, 4)),
                                   ("sweeps", ["--search", "none", "--max-iter"], (5, 10, 20, 40))):
            for length in lengths:
                out, before = f"{folder}/out", os.times()
                command = [lehr, "fit", f"{ROOT}/models/topics/lda.lehr", "--data", f"w={folder}/train.ldac", "--sizes", "term=6906", "--set", "K=50",
                           "--init", "flat", "--threads", 1, "--out", out, *how, length]
                subprocess.run([*map(str, command)], check=True, capture_output=True, env={**os.environ, "LEHR_CACHE": "off"})
                after = os.times()
                result[f"{name}: seconds of {length}"] = after.children_user + after.children_system - before.children_user - before.children_system
                result[f"{name}: score of {length}"] = held_out(lehr, out, f"{folder}/test.ldac")
    return result


def times_to_elbo(lehr, most=10_000_000):
    """Xie, section 7: seconds until the ELBO is within 1e-4 nats a point of the best, N up to 1e7 points that are read from disk at each
    sweep or step."""
    result, n = {}, 100_000
    while n <= most:
        rng = np.random.default_rng(1)
        problem = Problem(lehr, MODEL)
        np.save(problem.at("x.npy"), np.array([-5.0, 0, 5])[rng.choice(3, n, p=[0.3, 0.3, 0.4])][:, None] + rng.normal(size=(n, 1)))
        problem.arguments += ["--data", "x=" + problem.at("x.npy"), "--stream"]
        start = {"mu.mean": np.array([[-1.0], [0.5], [1.0]]), "mu.precision": np.ones((3, 1, 1)), "pi.concentration": np.ones(3)}
        runs = {"sweeps": trace(problem.fit("--tol", 1e-12, "--max-iter", 20, init=start)[1])}
        best = runs["sweeps"]["elbo"][-1]
        for name, how in (("sweeps", None), ("minibatches", ["--method", "svi", "--batch-size", 1000])):
            if how is None:
                t = runs[name]
                result[f"{n}: seconds of sweeps"] = float(t["seconds"][np.argmax(t["elbo"] >= best - 1e-4 * n)])
                continue
            for steps in (50, 100, 200, 400, 800):
                t = trace(problem.fit(*how, "--epochs", steps * 1000 / n, "--tau0", 1, "--kappa", 0.7, init=start)[1])
                if t["elbo"][-1] >= best - 1e-4 * n:
                    result |= {f"{n}: steps": steps, f"{n}: seconds of steps": float(t["seconds"][-2])}
                    break
        n *= 10
    return result


if __name__ == "__main__":
    from mackay import main
    main(__doc__, [hot_starts, many_topics, face_scales, cooling, words_a_document, times_to_score, times_to_elbo])
