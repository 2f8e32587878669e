#!/usr/bin/env python3
"""How much faster two threads are than one, by the clock: seconds a sweep of one over those of two, medians of interleaved rounds. For a
quiet machine with two processors or more.

usage: threads.py LEHR [CORPUS.ldac]
"""
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import data
from measure import ROOT

ROUNDS = 3


def seconds(command):
    begin = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
    return time.perf_counter() - begin


def of_a_sweep(command, sweeps, threads, out):
    fit = [*command, "--threads", str(threads), "--search", "none", "--tol", "0", "--quiet", "--out", out]
    long, short = (min(seconds([*fit, "--max-iter", str(n)]) for _ in range(2)) for n in (1 + sweeps, 1))
    return (long - short) / sweeps


def main():
    lehr = os.path.abspath(sys.argv[1])
    corpus = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else os.path.join(ROOT, "models/data/kos.ldac.gz")
    with tempfile.TemporaryDirectory() as folder:
        points, letters = os.path.join(folder, "points.npz"), os.path.join(folder, "letters.npz")
        np.savez(points, **data.mixture(100_000, 16, 32))
        np.savez(letters, t=np.full(20_000, 100), x=np.random.default_rng(0).integers(0, 500, size=2_000_000))
        topics = ["models/lda.lehr", "--data", f"w={corpus}", "--local-iters", "20", "--local-tol", "0"]
        rows = {"LDA, 100 topics": ([*topics, "--set", "K=100"], 12), "LDA, 20 topics": ([*topics, "--set", "K=20"], 40),
                "Gaussian mixture, 100,000 x 16, K = 32": (["models/gmm.lehr", "--data", points, "--set", "K=32", "--set", "nu0=18"], 80),
                "hidden Markov model, 20,000 x 100, 10 states, 500 letters":
                    (["bench/models/hmm_letters.lehr", "--data", letters, "--set", "K=10"], 40)}
        for name, (words, sweeps) in rows.items():
            ratios = sorted(of_a_sweep([lehr, "fit", *words], sweeps, 1, f"{folder}/one") /
                            of_a_sweep([lehr, "fit", *words], sweeps, 2, f"{folder}/two") for _ in range(ROUNDS))
            print(f"{name}: {ratios[ROUNDS // 2]:.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})", flush=True)


main()
