#!/usr/bin/env python3
"""Parameters of items' factors that no sweep reads are written where somebody asks for them: fits that save them and fits that do not
go the same way.

usage: rows.py LEHR, from the root of the repository
"""
import sys

import numpy as np

sys.path.append(f"{sys.path[0]}/..")
from fitting import arrays, close, finish, fit, lehr, model_file, read, read_json, temporary  # noqa: E402

MODELS = {
    "ppca_ard": ["x=models/data/factors/three_directions.csv"],
    "factor_analysis": ["x=models/data/regression/iris.csv"],
    "hmm_discrete": ["models/data/sequences/alice.csv"],
    "hmm_gaussian": ["models/data/sequences/japanese_vowels.json"],
    "hmm_poisson": ["x=models/data/sequences/coal_counts.csv:count"],
    "mixture_of_hmms": ["models/data/sequences/dials.json"],
    "carriage": ["models/data/sequences/bacteria.csv"],
}


def fits(name, *arguments):
    """Traces and posteriors without the factors of items, and with them."""
    out = []
    for locals_too in [[], ["--save-locals"]]:
        with temporary() as d:
            data = [a for b in MODELS[name] for a in ("--data", b)]
            lehr("fit", model_file(name), *data, "--out", d, *locals_too, *arguments)
            trace = [line.split(",")[2] for line in read(f"{d}/trace.csv").splitlines()[1:]] + [read_json(f"{d}/fit.json")["elbo"]]
            out.append((trace, arrays(f"{d}/posterior.npz")))
    return out


def same_way(name):
    """To the bit, with annealing, too."""
    for arguments in [[], ["--anneal", "linear:from=3,over=10"], ["--precision", "float"]]:
        (trace, few), (other, all_) = fits(name, "--search", "none", "--max-iter", "40", *arguments)
        assert trace == other and all(np.array_equal(few[k], all_[k]) for k in few), f"{arguments}: {trace[-1]}, {other[-1]}"
    return f"{len(all_) - len(few)} arrays of items"


def same_end(name):
    """With searches and moves, which read what items are."""
    (trace, few), (other, all_) = fits(name)
    assert close(float(trace[-1]), float(other[-1]), 1e-7), f"{trace[-1]}, {other[-1]}"
    return trace[-1]


def precisions():
    """Of the points of ppca_ard, from the other factors of the sweep before."""
    data, ends = MODELS["ppca_ard"], []
    for sweeps in ["6", "7"]:
        ends.append(fit("models/factors/ppca_ard.lehr", data, "--leap-after", "0", "--max-iter", sweeps).posterior)
    q, K = ends[0], 9
    W = q["W.mean"].T @ q["W.mean"] + np.linalg.inv(q["W.precision"]).sum(0)
    expected = np.eye(K) + q["tau.shape"] / q["tau.rate"] * W
    assert close(ends[1]["z.precision"], np.broadcast_to(expected, (100, K, K)), 1e-8), ends[1]["z.precision"][0] - expected
    return "1 + E[tau] E[W'W]"


checks = {f"{name}, to the bit": lambda n=name: same_way(n) for name in MODELS}
checks |= {f"{name}, with moves": lambda n=name: same_end(n) for name in MODELS}
finish({**checks, "precisions of points": precisions})
