#!/usr/bin/env python3
"""Annealing latent Dirichlet allocation (Gultekin, Zhang & Paisley, section 4.1) on 400 documents of the New York
Times, priors 1/K and 100/V. Starts: `paper`, topics of counts c Dir(1) with c the tokens of a topic; `means`, `seeds`
and `flat` (Gamma(100, 100)) of --init. ELBO against plain ascent from the same start."""
import tempfile

import numpy as np

from common import Comparison, Problem, arguments
from problems import LDA, documents

METHODS = {"VI": [], "AVI 3/50": ["--anneal", "linear:from=3,over=50"],
           "entropy 2/50": ["--anneal", "entropy:from=2,over=50"],
           "linear": ["--anneal", "stochastic:rho=0.25,over=50,noise=start"], "0.9^t": ["--anneal", "stochastic:decay=0.9,over=50,noise=start"],
           "linear, random topics": ["--anneal", "stochastic:rho=0.25,over=50,noise=means"],
           "auto": ["--anneal", "auto"]}


def paper(rows, k, seed):
    terms, tokens = 1 + max(t for row in rows for t, _ in row), sum(c for row in rows for _, c in row)
    return {"beta.concentration": 100 / terms + tokens / k * np.random.default_rng(seed).dirichlet(np.ones(terms), k)}


def elbos(problem, o, init, how, rows, k):
    if init != "paper":
        return problem.elbos(o.starts, *how, init=init, seed=o.seed)
    runs = [problem.elbos(1, *how, init=paper(rows, k, s), seed=s) for s in range(o.seed, o.seed + o.starts)]
    return np.concatenate([r[0] for r in runs]), np.concatenate([r[1] for r in runs])


def main():
    o = arguments(__doc__, topics=[5, 10], documents=400, inits=["paper", "means", "seeds", "flat"],
                  methods=list(METHODS), sweeps=150, local_iters=100)
    comparison = Comparison(o.out, "lda_annealing", ["init", "K"])
    with tempfile.TemporaryDirectory() as folder:
        path, rows = documents("nyt.ldac", 0, o.documents, folder)
        for init in o.inits:
            for k in o.topics:
                problem = Problem(o.lehr, LDA, bindings=["w=" + path], settings=[f"K={k}"])
                runs = {}
                for method in o.methods:
                    how = ["--max-iter", o.sweeps if method != "auto" else 1000, "--local-iters", o.local_iters,
                           *METHODS[method]]
                    runs[method] = elbos(problem, o, init, how, rows, k)
                comparison.add([init, k], runs)
    comparison.finish()


if __name__ == "__main__":
    main()
