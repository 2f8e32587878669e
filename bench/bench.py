#!/usr/bin/env python3
"""Speed, paired with other programs: CPU seconds per pass of LDA and of a Gaussian mixture, and compile times.

All sides run interleaved in one go, as processes with one thread; the medians of the rounds are compared, and CPU time
rather than wall time, so that a busy machine disturbs little. A pass of ours is the difference in CPU time between a
run with many sweeps and one with a single sweep, divided by the sweeps: start, reading and compiling cancel.

usage: bench.py LEHR [--corpus FILE.ldac] [--topics K] [--rounds N] [lda] [gmm] [compile]
"""
import argparse
import glob
import json
import os
import re
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
INNER = 20  # passes over the local variables of a document
POINTS, DIMENSION, COMPONENTS = 100_000, 16, 32


def cpu_of(command):
    """CPU seconds of a child, user and system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(command)}: exit {done.returncode}\n{done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def per_pass(fit, sweeps):
    """CPU seconds of one sweep, from `sweeps` and one; `fit` is a command without --max-iter."""
    one = cpu_of(fit + ["--max-iter", "1"])
    return (cpu_of(fit + ["--max-iter", str(1 + sweeps)]) - one) / sweeps


def peer(*arguments):
    """CPU seconds of a pass of a peer: the median of those of one process."""
    command = ["/usr/bin/python3", os.path.join(ROOT, "bench/peers.py"), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return None
    return statistics.median(json.loads(done.stdout.splitlines()[-1]))


def compare(title, sides, rounds):
    """Runs each of the named measurements in turn, `rounds` times, and prints medians and ratios to the first."""
    print(title, flush=True)
    seen = {name: [] for name in sides}
    for _ in range(rounds):
        for name, measure in sides.items():
            seen[name].append(measure())
    median = {name: statistics.median(v) for name, v in seen.items() if None not in v}
    ours = next(iter(median.values()))
    for name in sides:
        if name not in median:
            print(f"  {name:<28} does not run here")
            continue
        spread = ", ".join(f"{v:.4f}" for v in seen[name])
        print(f"  {name:<28} {median[name]:.4f} CPU s per pass ({spread}); {median[name] / ours:.2f} times ours")
    sys.stdout.flush()


def lda(options, directory):
    fit = [options.lehr, "fit", "models/lda.lehr", "--data", "w=" + options.corpus, "--set", f"K={options.topics}", "--local-iters",
           str(INNER), "--local-tol", "0", "--tol", "0", "--quiet", "--out", os.path.join(directory, "lda")]
    compare(f"LDA, {os.path.basename(options.corpus)}, K = {options.topics}, {INNER} passes over each document, double", {
        "lehr": lambda: per_pass(fit, 5),
        "scikit-learn": lambda: peer("lda-sklearn", options.corpus, options.topics, 2, INNER),
        "gensim": lambda: peer("lda-gensim", options.corpus, options.topics, 2, INNER)}, options.rounds)


def gmm(options, directory):
    rng = np.random.default_rng(0)
    centres = rng.normal(0, 3, (COMPONENTS, DIMENSION))
    roots = 0.35 * rng.normal(size=(COMPONENTS, DIMENSION, DIMENSION)) + np.eye(DIMENSION)
    z = rng.integers(0, COMPONENTS, POINTS)
    x = centres[z] + np.einsum("nij,nj->ni", roots[z], rng.normal(size=(POINTS, DIMENSION)))
    points = os.path.join(directory, "x.npy")
    np.save(points, x)
    fit = [options.lehr, "fit", "models/gmm_normal_wishart.lehr", "--data", "x=" + points, "--set", f"K={COMPONENTS}",
           f"nu0={DIMENSION}", "--local-iters", "1", "--tol", "0", "--quiet", "--out", os.path.join(directory, "gmm")]
    compare(f"Gaussian mixture, full covariances, {POINTS} x {DIMENSION}, K = {COMPONENTS}, double", {
        "lehr": lambda: per_pass(fit, 20),
        "scikit-learn": lambda: peer("gmm-sklearn", points, COMPONENTS, 4)}, options.rounds)


def compile_seconds(fit, rounds):
    """Median seconds that one fit spends compiling, by its own clock."""
    seen = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as out:
            cpu_of(fit + ["--max-iter", "1", "--quiet", "--out", out])
            with open(os.path.join(out, "fit.json")) as f:
                seen.append(json.load(f)["seconds"]["compile"])
    return statistics.median(seen)


def example(path):
    """The command in a model's head comment, without its --out and --restarts."""
    with open(path) as f:
        text = f.read()
    command = re.search(r"//   (lehr fit(?:.*\\\n//)*.*)", text).group(1)
    words = shlex.split(re.sub(r"\\\n//\s*", " ", command))[1:]
    for name in ("--out", "--restarts", "--max-iter"):
        if name in words:
            at = words.index(name)
            del words[at:at + 2]
    return words


def compile_times(options, directory):
    print("compile time of the example models, seconds (wall)")
    for path in sorted(glob.glob(os.path.join(ROOT, "models/*.lehr"))):
        print(f"  {os.path.basename(path)[:-5]:<28} {compile_seconds([options.lehr] + example(path), options.rounds):.3f}", flush=True)
    print("compile time by the number of observations, seconds (wall)")
    rng = np.random.default_rng(0)
    shapes = {"gmm_normal_wishart": lambda n: {"x": rng.normal(size=(n, 2))},
              "linear_regression": lambda n: {"x": rng.normal(size=(n, 3)), "y": rng.normal(size=n)},
              "mixture_of_poissons": lambda n: {"x": rng.poisson(3, n)}}
    for name, make in shapes.items():
        times = []
        for n in (1_000, 1_000_000):
            path = os.path.join(directory, f"{name}.npz")
            np.savez(path, **make(n))
            fit = [options.lehr, "fit", f"models/{name}.lehr", "--data", path]
            times.append(f"N = {n}: {compile_seconds(fit, options.rounds):.3f}")
        print(f"  {name:<28} " + ", ".join(times), flush=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].strip())
    parser.add_argument("lehr")
    parser.add_argument("what", nargs="*")
    parser.add_argument("--corpus")
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_intermixed_args()
    options.lehr = os.path.abspath(options.lehr)
    large = os.path.join(ROOT, "../shared/data/corpora/nyt.ldac")
    small = os.path.join(ROOT, "models/data/kos.ldac.gz")
    options.corpus = os.path.abspath(options.corpus or (large if os.path.exists(large) else small))
    with tempfile.TemporaryDirectory() as directory:
        for name, run in {"lda": lda, "gmm": gmm, "compile": compile_times}.items():
            if not options.what or name in options.what:
                run(options, directory)


if __name__ == "__main__":
    main()
