#!/usr/bin/env python3
"""What share of a processor's peak the generated code reaches, step by step: operations of the loops (`--interpret --profile`) over seconds of
native code for the same sweeps (`--profile`), in parts of what one thread can do with fused multiplications and additions on
registers (bench/native/peak.cpp). Functions (exp, log, digamma) are not among the operations; each is some twenty.

usage: roofline.py LEHR [ROW ...]
"""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import data
from measure import ROOT, compiled, model_file
from rows.plain import MODELS

SWEEPS, ROUNDS, LEAST = 2, 5, 0.02  # steps with less than this share of the time are left out


def letters():
    arrays = data.sequences(1000, 10, 100, 100, letters=500)
    return {"x": arrays["x"], "t": np.diff(arrays["begin"])}


def vectors():
    arrays = data.sequences(100, 10, 100, 100, dimension=8)
    return {"x": arrays["x"], "t": np.diff(arrays["begin"])}


KOS = ["--data", "w=models/data/topics/kos.ldac.gz", "--local-iters", "5", "--local-tol", "0"]
ROWS = {
    "LDA, 20 topics": ("models/topics/lda.lehr", [*KOS, "--set", "K=20"], None),
    "LDA, 100 topics": ("models/topics/lda.lehr", [*KOS, "--set", "K=100"], None),
    "Gaussian mixture, full, 16 dimensions, K = 32": ("models/mixtures/gmm_normal_wishart.lehr", ["--set", "K=32", "--set", "nu0=18"], lambda: data.mixture(5_000, 16, 32)),
    "Gaussian mixture, diagonal": ("models/mixtures/gmm_diagonal.lehr", ["--set", "K=32"], lambda: data.mixture(20_000, 16, 32)),
    "hidden Markov models, letters": ("bench/models/hmm_letters.lehr", ["--set", "K=10"], letters),
    "hidden Markov models, vectors": ("bench/models/hmm_vectors.lehr", ["--set", "K=10"], vectors),
    **{model.replace("_", " "): (model_file(model), [word for c in constants for word in ("--set", c)], make)
       for model, (_, constants, make) in MODELS.items()},
}


def profile(command, out):
    subprocess.run([*command, "--out", out], check=True, capture_output=True, cwd=ROOT)
    with open(os.path.join(out, "fit.json")) as f:
        return json.load(f)["profile"]


def steps(lehr, model, options, arrays, folder):
    """Of each step its share of the time, operations, functions and bytes a second."""
    if arrays:
        path = os.path.join(folder, "data.npz")
        np.savez(path, **arrays())
        options = ["--data", path, *options]
    fit = [lehr, "fit", model, *options, "--search", "none", "--tol", "0", "--max-iter", str(SWEEPS), "--leap-after", "0", "--parts", "1",
           "--quiet", "--threads", "1", "--profile"]
    times = [profile(fit, f"{folder}/out") for _ in range(ROUNDS)]
    work = profile([*fit, "--interpret"], f"{folder}/out")
    seconds = [min(t[k]["seconds"] for t in times) for k in range(len(work))]
    total = sum(s for s, w in zip(seconds, work) if w["step"] != "starts and data")
    for s, w in zip(seconds, work):
        if s > LEAST * total and w["step"] != "starts and data":
            yield w["step"], s / total, *(w[what] / s for what in ("operations", "functions", "bytes"))


def main():
    lehr = os.path.abspath(sys.argv[1])
    peak = json.loads(subprocess.run([compiled("native/peak.cpp")], check=True, capture_output=True).stdout)
    print("one thread: {double:.3g} operations a second (floats {float:.3g}), {near:.3g} bytes a second from 16 KB, "
          "{middle:.3g} from 512 KB, {memory:.3g} from memory".format(**peak))
    print("| row | step | of the time | 10^9 operations/s | of the peak | 10^9 functions/s | GB/s, all loads and stores |\n|---|---|---|---|---|---|---|")
    for name in sys.argv[2:] or ROWS:
        with tempfile.TemporaryDirectory() as folder:
            for step, share, operations, functions, size in steps(lehr, *ROWS[name], folder):
                print(f"| {name} | {step} | {100 * share:.0f} % | {operations / 1e9:.1f} | {100 * operations / peak['double']:.0f} % | "
                      f"{functions / 1e9:.2f} | {size / 1e9:.0f} |", flush=True)


main()
