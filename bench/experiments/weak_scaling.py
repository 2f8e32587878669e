#!/usr/bin/env python3
"""What each process of `lehr-mpi fit` sends and receives in a sweep, as the data grow with the processes, and how long a sweep of
the same data takes one process and two. Numbers: docs/scale.md.

usage: weak_scaling.py LEHR CORPUS.ldac[.gz] [--topics 10] [--ranks 1 2 3 4] [--turns 5]
"""
import argparse
import gzip
import json
import os
import resource
import subprocess
import tempfile
import time

RUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n"]


def fit(a, folder, corpus, ranks, sweeps):
    """What fit.json says of the processes; seconds of the clock and of all processors."""
    out = os.path.join(folder, "out")
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
    subprocess.run([*RUN, str(ranks), a.lehr + "-mpi", "fit", a.model, "--data", f"w={corpus}", "--set", f"K={a.topics}", "--search", "none",
                    "--max-iter", str(sweeps), "--tol", "0", "--threads", "1", "--local-iters", "2", "--quiet", "--out", out], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(os.path.join(out, "fit.json")) as f:
        processes = json.load(f)["processes"]
    return processes, time.time() - begin, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def sweeps_of(a, folder, corpus, ranks):
    """The same of --sweeps sweeps beyond the first two."""
    few, many = (fit(a, folder, corpus, ranks, sweeps) for sweeps in (2, 2 + a.sweeps))
    counts = [{k: (m[k] - f[k]) / a.sweeps for k in m} for f, m in zip(few[0], many[0])]
    return counts, (many[1] - few[1]) / a.sweeps, (many[2] - few[2]) / a.sweeps


def main():
    p = argparse.ArgumentParser()
    p.add_argument("lehr")
    p.add_argument("corpus")
    p.add_argument("--model", default="models/topics/lda.lehr")
    p.add_argument("--topics", type=int, default=10)
    p.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 3, 4])
    p.add_argument("--sweeps", type=int, default=10)
    p.add_argument("--turns", type=int, default=5, help="pairs of fits that are timed")
    a = p.parse_args()
    a.lehr = os.path.abspath(a.lehr)
    with (gzip.open if a.corpus.endswith(".gz") else open)(a.corpus, "rt") as f:
        lines = [line for line in f if line.strip()]
    with tempfile.TemporaryDirectory() as folder:
        corpus = os.path.join(folder, "corpus.ldac")
        for ranks in a.ranks:
            with open(corpus, "w") as f:
                f.writelines(lines * ranks)
            counts, _, _ = sweeps_of(a, folder, corpus, ranks)
            for rank, c in enumerate(counts):
                print(f"{ranks} processes, {ranks * len(lines)} items, process {rank}: a sweep sends {c['messages_sent']:.1f} messages, "
                      f"{c['bytes_sent'] / 1e6:.3f} MB; receives {c['messages_received']:.1f}, {c['bytes_received'] / 1e6:.3f} MB", flush=True)
        ratios = []
        for _ in range(a.turns):
            one, two = (sweeps_of(a, folder, corpus, ranks) for ranks in (1, 2))
            ratios.append(one[1] / two[1])
            print(f"the largest of these: one process {one[1]:.3f} s a sweep ({one[2]:.3f} of the processors), two {two[1]:.3f} s "
                  f"({two[2]:.3f}): {ratios[-1]:.2f} times as fast", flush=True)
        if ratios:
            print(f"median: {sorted(ratios)[len(ratios) // 2]:.2f} times as fast on two")


if __name__ == "__main__":
    main()
