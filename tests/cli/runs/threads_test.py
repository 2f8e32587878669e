#!/usr/bin/env python3
"""Fits by every method on one, two, three and seven threads write the same numbers; data large enough for many shares.

usage: threads_test.py LEHR
"""
import os
import sys

import numpy as np

sys.path.append(f"{sys.path[0]}/../../helpers")
from lehr_tests import bits, lehr, read_csv, temporary  # noqa: E402

R = np.random.default_rng(4)
METHODS = {"ascent": ["--search", "none", "--max-iter", "4"],
           "search": ["--search", "quick", "--tol", "1e-3"],
           "svi": ["--method", "svi", "--epochs", "1", "--batch-size", "2000"],
           "annealed": ["--anneal", "exp:from=3,over=3", "--max-iter", "4"],
           "tempered": ["--temper", "global:max=3,levels=4", "--max-iter", "3"],
           "tempered items": ["--temper", "local:max=3,levels=4", "--max-iter", "3"],
           "gibbs": ["--method", "gibbs", "--warmup", "2", "--draws", "3"]}


def numbers(folder):
    """Everything that a fit writes but times: arrays of posterior.npz, or draws."""
    return bits(f"{folder}/posterior.npz") | {"trace": str([row["elbo"] for row in read_csv(f"{folder}/trace.csv")])}


with temporary() as folder:
    data = os.path.join(folder, "x.npz")
    np.savez(data, x=R.normal(size=(20000, 4)) + 4 * R.normal(size=(6, 4))[R.integers(6, size=20000)])
    for name, options in METHODS.items():
        seen = []
        for threads in (1, 2, 3, 7):
            out = os.path.join(folder, "out")
            done = lehr("fit", "models/mixtures/gmm_diagonal.lehr", "--data", f"x={data}:x", "--set", "K=8", "--out", out, "--quiet", "--threads",
                        str(threads), *options)
            seen.append(numbers(out))
        assert all(s == seen[0] for s in seen), (name, [k for s in seen for k in s if s[k] != seen[0][k]])
        print("ok", name, flush=True)
