#!/usr/bin/env python3
"""Annealing and variational tempering of stochastic variational inference for topics (Mandt et al. 2016, section 4): New
York Times (K = 50, as the others), KOS and arXiv abstracts; priors 1/K, batches of 100, steps (64 + t)^-0.7, two passes
from nearly equal topics. Held-out: half of the words of 500 documents that no fit has seen, nats a word at temperature
1; every method is compared with plain SVI of the same seed. The schedules cool over the first pass.
`literal` is the published normaliser, Monte Carlo over the prior.
"""
import gzip
import json
import os
import subprocess
import tempfile

import numpy as np

from common import Problem, Table, arguments, boxes, plot, shared

MODEL = """model lda { const K = 50; plate doc; plate token in doc times count; plate topic = K; plate term;
  beta[topic] ~ Dirichlet(concentration = 1 / K) over term;
  theta[doc] ~ Dirichlet(concentration = 1 / K) over topic;
  z[doc, token] ~ Categorical(theta[doc]);
  observe w[doc, token] ~ Categorical(beta[z[doc, token]]); }"""
CORPORA = {"nyt": "nyt.ldac", "kos": "kos.ldac", "arxiv": "arxiv60k.ldac.gz", "ap": "ap.ldac",
           "reuters": "reuters21578.ldac.gz"}
METHODS = {"SVI": [], "AVI 1.5": ["--anneal", "linear:from=1.5,over={pass}"],
           "AVI 3.9": ["--anneal", "linear:from=3.9,over={pass}"], "VT": ["--temper", "global:max=1.5,every=10"],
           "LVT": ["--temper", "local:max=1.5,levels=25"],
           "literal": ["--temper", "global:max=10,every=10,normaliser=prior"]}
SVI = ["--method", "svi", "--batch-size", 100, "--tau0", 64, "--kappa", 0.7, "--local-iters", 60, "--local-tol", 1e-3]


def split(corpus, documents, held_out, folder):
    """Paths of training and test documents, drawn at random, and the numbers of terms and of training documents."""
    name = shared("corpora/" + CORPORA[corpus])
    with (gzip.open(name, "rt") if name.endswith(".gz") else open(name)) as f:
        lines = [line for line in f if line.strip()]
    terms = 1 + max(int(pair.split(":")[0]) for line in lines for pair in line.split()[1:])
    lines = [lines[i] for i in np.random.default_rng(0).permutation(len(lines))[:documents + held_out]]
    parts = {"test": lines[:held_out], "train": lines[held_out:]}
    for part, rows in parts.items():
        with open(os.path.join(folder, part + ".ldac"), "w") as f:
            f.writelines(rows)
    return *(os.path.join(folder, part + ".ldac") for part in ("train", "test")), terms, len(parts["train"])


def held_out(lehr, out, test):
    subprocess.run([lehr, "score", out, "--data", "w=" + test, "--holdout", "0.5", "--seed", "1"], check=True,
                   capture_output=True)
    with open(os.path.join(out, "score.json")) as f:
        return json.load(f)["per_observation"]


def temperature(report):
    return report.get("tempering", {}).get("temperature", 1.0)


def main():
    o = arguments(__doc__, corpora=["nyt", "kos", "arxiv"], topics=50, documents=7900, held_out=500, epochs=2.0,
                  methods=list(METHODS))
    table = Table(o.out, "lda_minibatches", ["corpus", "documents", "method", "held-out", "sd", "gain", "sd of gain",
                                             "smallest", "largest", "positive", "T at end"], decimals=4)
    single = Table(o.out, "lda_minibatches_runs", ["corpus", "method", "seed", "held-out", "T at end"],
                   quiet=True, decimals=6)
    gains = {}
    for corpus in o.corpora:
        with tempfile.TemporaryDirectory() as folder:
            train, test, terms, documents = split(corpus, o.documents, o.held_out, folder)
            problem = Problem(o.lehr, MODEL, bindings=["w=" + train], settings=[f"K={o.topics}"])
            plain = None
            for method in o.methods:
                how = [a.replace("{pass}", str(documents // 100)) for a in METHODS[method]]
                score, hot = [], []
                for seed in range(o.seed, o.seed + o.starts):
                    report, out = problem.fit(*SVI, "--epochs", o.epochs, "--sizes", f"term={terms}", "--seed", seed,
                                              *how, init="flat")
                    score.append(held_out(o.lehr, out, test))
                    hot.append(temperature(report))
                    single.add(corpus, method, seed, score[-1], hot[-1])
                score = np.array(score)
                plain = score if plain is None else plain
                gain = score - plain
                table.add(corpus, documents, method, float(score.mean()), float(score.std(ddof=1)),
                          float(gain.mean()), float(gain.std(ddof=1)), float(gain.min()), float(gain.max()),
                          f"{int((gain > 0).sum())}/{len(gain)}", float(max(hot)))
                gains[corpus, method] = list(gain)
    plot(o.out, "lda_minibatches", lambda a: boxes(a, gains, "held-out nats a word above SVI"))


if __name__ == "__main__":
    main()
