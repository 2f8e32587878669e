#!/usr/bin/env python3
"""CPU seconds to an equal held-out score: LDA by minibatches here, scikit-learn's online LDA, and tomotopy's collapsed Gibbs sampler.

A tenth of the documents, at most 760, is held out. All have priors 1/K. Ours and scikit-learn's take minibatches of 256, steps (10 + t)^-0.7, and at most
100 passes over a document until its topics' counts move by 1e-3 in the mean (scikit-learn's tolerance; ours is relative: that of a document of mean
length). At checkpoints the mean topics are scored by one function, below, the same for all: proportions of every held-out document from half of
its words (fixed point), nats a word of the other half. The seconds are those of fitting alone, on one thread: others stop their clock while topics are saved,
ours are the seconds of the steps in trace.csv times CPU over clock of the whole process. Between checkpoints the logarithm of the
seconds is interpolated. Scores are --levels, the highest that both sides reach, and that of every pass of scikit-learn's; medians of pairs of seeds.

usage: online_topics.py LEHR CORPUS.ldac[.gz] [--topics 100] [--passes 3] [--sweeps 400] [--seeds 3]
                        [--first SEED] [--levels X ...] [--peers sklearn tomotopy] [--precisions double float] [--local-tol X] [--init START]
"""
import argparse
import csv
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
from measure import PEERS, ROOT, cpu_of
import peers
from peers_topics import BATCH, KAPPA, TAU0
from scipy.special import psi


def split(corpus, folder):
    """Paths of training and test documents, drawn at random."""
    with (gzip.open if corpus.endswith(".gz") else open)(corpus, "rt") as f:
        lines = [line for line in f if len(line.split()) > 1]
    order = np.random.default_rng(0).permutation(len(lines))
    held = min(760, len(lines) // 10)
    paths = {}
    for name, chosen in {"test": order[:held], "train": order[held:]}.items():
        paths[name] = os.path.join(folder, name + ".ldac")
        with open(paths[name], "w") as f:
            f.writelines(lines[i] for i in chosen)
    return paths


def halves(test):
    """For every held-out document of four words and more: the words for its proportions, and those that are scored."""
    rng = np.random.default_rng(7)
    for begin, end in zip(test.indptr, test.indptr[1:]):
        words = rng.permutation(np.repeat(test.indices[begin:end], test.data[begin:end].astype(int)))
        if len(words) >= 4:
            yield words[::2], words[1::2]


def score(topics, documents):
    """Nats a word of the second halves; topics are rows that sum to 1."""
    k, total, count = len(topics), 0.0, 0
    for seen, scored in documents:
        terms, counts = np.unique(seen, return_counts=True)
        likely = topics[:, terms] + 1e-30
        gamma = np.full(k, 1 / k + len(seen) / k)
        for _ in range(100):
            e = np.exp(psi(gamma) - psi(gamma.sum()))
            new = 1 / k + e * (likely @ (counts / (e @ likely)))
            moved, gamma = np.abs(new - gamma).mean(), new
            if moved < 1e-4:
                break
        total += np.log(gamma / gamma.sum() @ topics[:, scored] + 1e-30).sum()
        count += len(scored)
    return total / count


def ours(o, paths, terms, documents, precision, seed, until, folder):
    """[(seconds, topics)] at the checkpoints `until`."""
    def fit(steps, out):
        epochs = (steps - 0.5) * BATCH / documents
        return [o.lehr, "fit", "models/topics/lda.lehr", "--data", "w=" + paths["train"], "--sizes", f"term={terms}", "--set", f"K={o.topics}", "--method",
                "svi", "--batch-size", str(BATCH), "--epochs", repr(epochs), "--tau0", str(TAU0), "--kappa", str(KAPPA), "--init", o.init,
                "--local-iters", "100", "--local-tol", repr(o.local_tol), "--threads", "1", "--seed", str(seed), "--precision", precision,
                "--quiet", "--out", out]

    out, found = os.path.join(folder, "ours"), []
    for steps in until:
        cpu_of(fit(steps, out))
        with np.load(os.path.join(out, "posterior.npz")) as f:
            found.append(f["beta.concentration"])
    begin = time.perf_counter()
    cpu = cpu_of(fit(until[-1] + 1, out))  # the last step has the bound of all documents in it
    share = min(1, cpu / (time.perf_counter() - begin))
    with open(os.path.join(out, "trace.csv")) as f:
        at = [float(row["seconds"]) for row in csv.DictReader(f)]
    before = at[0] - (at[until[-1] - 1] - at[0]) / (until[-1] - 1)  # the first step takes as long as those after it
    return [(share * (at[steps - 1] - before), t / t.sum(1, keepdims=True)) for steps, t in zip(until, found)]


def theirs(which, o, paths, terms, seed, until, folder):
    python = PEERS if which == "tomotopy" else "/usr/bin/python3"
    out = os.path.join(folder, which)
    command = [python, os.path.join(HERE, "../peers_topics.py"), which, paths["train"], terms, o.topics, seed, out, *until]
    done = subprocess.run(list(map(str, command)), check=True, stdout=subprocess.PIPE, text=True)
    return [(s, np.load(f"{out}.{n}.npy")) for s, n in zip(json.loads(done.stdout.splitlines()[-1]), until)]


def reached(curve, level):
    """Seconds at which a curve of (seconds, score) is at a level for the first time; None where it never is."""
    before = None
    for seconds, value in curve:
        if value >= level:
            if before is None:
                return seconds
            at = (level - before[1]) / (value - before[1])
            return float(np.exp(np.log(before[0]) * (1 - at) + np.log(seconds) * at))
        before = (seconds, value)
    return None


def compared(name, our, their, levels):
    """One line a level: seconds of theirs over ours, the median of the pairs."""
    for label, level in levels.items():
        ratios = [(reached(b, level(a, b)), reached(a, level(a, b))) for a, b in zip(our, their)]
        ratios = [t / o for t, o in ratios if t and o]
        text = "not reached" if not ratios else f"{statistics.median(ratios):.2f} ({', '.join(f'{r:.2f}' for r in ratios)})"
        print(f"{name}, {label}: {text}", flush=True)


def arguments():
    p = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].strip())
    p.add_argument("lehr", type=os.path.abspath)
    p.add_argument("corpus")
    p.add_argument("--topics", type=int, default=100)
    p.add_argument("--passes", type=int, default=3)
    p.add_argument("--sweeps", type=int, default=400)
    p.add_argument("--seeds", type=int, default=3)
    p.add_argument("--first", type=int, default=1)
    p.add_argument("--levels", type=float, nargs="*", default=[])
    p.add_argument("--peers", nargs="*", default=["sklearn", "tomotopy"])
    p.add_argument("--precisions", nargs="+", default=["double", "float"])
    p.add_argument("--local-tol", type=float)
    p.add_argument("--init", default="flat")
    return p.parse_args()


def main():
    o = arguments()
    with tempfile.TemporaryDirectory() as folder:
        paths = split(o.corpus, folder)
        train, test = peers.read_ldac(paths["train"]), peers.read_ldac(paths["test"])
        terms, documents = 1 + max(int(train.indices.max()), int(test.indices.max())), train.shape[0]
        if o.local_tol is None:
            o.local_tol = 1e-3 * o.topics / (1 + train.sum() / documents)
        held = list(halves(test))
        a_pass = -(-documents // BATCH)
        steps = sorted({max(2, round(a_pass * x)) for x in (0.125, 0.25, 0.5, 0.75, *np.arange(1, o.passes + 0.1, 0.5))})
        sweeps = [n for n in (5, 10, 15, 20, 30, 40, 50, 70, 100, 150, 200, 300, 400, 600, 800, 1200) if n <= o.sweeps]
        runs = {name: [] for name in [*o.precisions, *o.peers]}
        print(f"{documents} documents, {len(held)} held out, {terms} terms, {o.topics} topics, tolerance {o.local_tol:.2e}", flush=True)
        for seed in range(o.first, o.first + o.seeds):
            for name in runs:
                found = ours(o, paths, terms, documents, name, seed, steps, folder) if name in o.precisions else \
                    theirs(name, o, paths, terms, seed, sweeps if name == "tomotopy" else steps, folder)
                runs[name].append([(seconds, score(topics, held)) for seconds, topics in found])
                print(f"{name}, seed {seed}: " + ", ".join(f"{s:.2f} s {v:.4f}" for s, v in runs[name][-1]), flush=True)
        best = {**{f"{x}": lambda a, b, x=x: x for x in o.levels}, "highest of both": lambda a, b: min(max(v for _, v in a), max(v for _, v in b))}
        for precision in o.precisions:
            for name in o.peers:
                at = [steps.index(a_pass * n) for n in range(1, o.passes + 1)] if name == "sklearn" else []
                passes = {f"score of pass {n + 1}": lambda a, b, i=i: b[i][1] for n, i in enumerate(at)}
                compared(f"{name} / {precision}", runs[precision], runs[name], {**best, **passes})


if __name__ == "__main__":
    main()
