"""How long models take to compile: by the program's own clock, or beside another build by CPU time."""
import glob
import json
import os
import re
import shlex
import statistics
import tempfile

import numpy as np

from measure import ROOT, cpu_of, model_file


def compile_seconds(fit, rounds):
    """Median seconds that one fit spends compiling, by its own clock."""
    seen = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as out:
            cpu_of(fit + ["--max-iter", "1", "--quiet", "--no-cache", "--out", out])
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


def compile_beside(options):
    """CPU seconds of fits that compile and make one sweep, with two builds in turn: medians, and their sums over models that
    both accept. Reading and writing are little of these."""
    found = {}
    print("compiling the example models, CPU seconds of a fit of one sweep: ours, other build")
    for path in sorted(glob.glob(os.path.join(ROOT, "models/*/*.lehr"))):
        name = os.path.basename(path)[:-5]
        with tempfile.TemporaryDirectory() as out:
            fits = [[program, *example(path), "--max-iter", "1", "--threads", "1", "--quiet", "--no-cache", "--out", out]
                    for program in (options.lehr, options.beside)]
            try:
                rounds = [[cpu_of(fit) for fit in fits] for _ in range(options.rounds)]
            except SystemExit as failure:
                print(f"  {name:<28} left out: {str(failure).splitlines()[-1]}", flush=True)
                continue
        found[name] = [statistics.median(side) for side in zip(*rounds)]
        print(f"  {name:<28} {found[name][0]:.3f} {found[name][1]:.3f}", flush=True)
    ours, others = map(sum, zip(*found.values()))
    print(f"sums over {len(found)} models: {ours:.2f} and {others:.2f}, ours {ours / others:.3f} times the other", flush=True)
    return {"title": "CPU seconds to compile, ours and other build", "compile": found}


def compile_times(options, directory):
    """seconds to compile the example models, and by the number of observations"""
    if options.beside:
        return compile_beside(options)
    found = {}
    print("compile time of the example models, seconds (wall)")
    for path in sorted(glob.glob(os.path.join(ROOT, "models/*/*.lehr"))):
        name = os.path.basename(path)[:-5]
        found[name] = compile_seconds([options.lehr] + example(path), options.rounds)
        print(f"  {name:<28} {found[name]:.3f}", flush=True)
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
            fit = [options.lehr, "fit", model_file(name), "--data", path]
            times.append(f"N = {n}: {compile_seconds(fit, options.rounds):.3f}")
        print(f"  {name:<28} " + ", ".join(times), flush=True)
    return {"title": "seconds to compile", "compile": found}


ROWS = {"compile": compile_times}
