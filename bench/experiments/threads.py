#!/usr/bin/env python3
"""How much faster two threads are than one, by the clock: seconds a sweep of one over those of two, medians of interleaved rounds. For a
quiet machine with two processors or more; how much of them a machine gives is what two processes of one thread each do at the same time,
in sweeps of one process alone.

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

ROUNDS = 5


def seconds(*commands):
    """Until processes that begin together have all ended."""
    begin = time.perf_counter()
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT) for command in commands]
    if any(process.wait() for process in running):
        sys.exit(f"one of these failed: {commands}")
    return time.perf_counter() - begin


def of_a_sweep(command, sweeps, threads, outs):
    def fits(iterations):
        return [[*command, "--threads", str(threads), "--search", "none", "--tol", "0", "--quiet", "--out", out,
                 "--max-iter", str(iterations)] for out in outs]

    long, short = (min(seconds(*fits(n)) for _ in range(2)) for n in (1 + sweeps, 1))
    return (long - short) / sweeps


def spread(ratios):
    ordered = sorted(ratios)
    return f"{ordered[len(ordered) // 2]:.2f} ({ordered[0]:.2f} to {ordered[-1]:.2f})"


def main():
    lehr = os.path.abspath(sys.argv[1])
    corpus = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else os.path.join(ROOT, "models/data/topics/kos.ldac.gz")
    with tempfile.TemporaryDirectory() as folder:
        points, letters = os.path.join(folder, "points.npz"), os.path.join(folder, "letters.npz")
        np.savez(points, **data.mixture(100_000, 16, 32))
        np.savez(letters, t=np.full(20_000, 100), x=np.random.default_rng(0).integers(0, 500, size=2_000_000))
        topics = ["models/topics/lda.lehr", "--data", f"w={corpus}", "--local-iters", "20", "--local-tol", "0"]
        rows = {"LDA, 100 topics": ([*topics, "--set", "K=100"], 12), "LDA, 20 topics": ([*topics, "--set", "K=20"], 40),
                "Gaussian mixture, 100,000 x 16, K = 32": (["models/mixtures/gmm.lehr", "--data", points, "--set", "K=32", "--set", "nu0=18"], 80),
                "hidden Markov model, 20,000 x 100, 10 states, 500 letters":
                    (["bench/models/hmm_letters.lehr", "--data", letters, "--set", "K=10"], 40)}
        for name, (words, sweeps) in rows.items():
            threads, processes = [], []
            for _ in range(ROUNDS):
                one, two, both = (of_a_sweep([lehr, "fit", *words], sweeps, n, [f"{folder}/{out}" for out in outs])
                                  for n, outs in ((1, ["one"]), (2, ["two"]), (1, ["first", "second"])))
                threads.append(one / two), processes.append(2 * one / both)
            print(f"{name}: {spread(threads)}; two processes {spread(processes)}", flush=True)


main()
