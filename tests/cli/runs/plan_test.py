#!/usr/bin/env python3
"""The memory that `lehr plan` says a fit needs, against what fits have had: how both grow with the data.

usage: plan_test.py LEHR. What is added up among processes is compared in tests/cluster.
"""
import re
import sys

import numpy as np

sys.path.append(f"{sys.path[0]}/../../helpers")
from lehr_tests import LEHR, lehr, peak_memory, temporary, write  # noqa: E402

R = np.random.default_rng(3)


def planned(model, settings, sizes):
    text = lehr("plan", model, *settings, "--sizes", sizes).stdout
    return float(re.search(r"^  all +([0-9.e+]+)$", text, re.M)[1])


def peak(folder, model, settings, data):
    fit = ["fit", model, "--data", data, *settings, "--search", "none", "--max-iter", "2", "--quiet", "--out", f"{folder}/out"]
    return peak_memory(LEHR, *fit)[0]


def compare(folder, model, settings, *cases):
    """Sizes and data of a small fit and of a large one."""
    (less, little), (more, much) = cases
    peak(folder, model, settings, little)  # the code is compiled then
    expected = planned(model, settings, more) - planned(model, settings, less)
    had = peak(folder, model, settings, much) - peak(folder, model, settings, little)
    assert 0.8 < had / expected < 1.45, (model, had, expected)  # text is read into arrays that grow
    print(f"ok {model}: {expected / 1e6:.1f} MB planned, {had / 1e6:.1f} MB had", flush=True)


def points(folder, count):
    np.save(f"{folder}/{count}.npy", R.normal(size=(count, 4)))
    return f"n={count},d=4", f"x={folder}/{count}.npy"


def documents(folder, count):
    words = np.arange(100)
    line = "100 " + " ".join(f"{w}:{1 + w % 3}" for w in words) + "\n"
    return f"doc={count},token=100,term=100", "w=" + write(f"{folder}/{count}.ldac", line * count)


with temporary() as here:
    compare(here, "models/mixtures/gmm_diagonal.lehr", ["--set", "K=3"], points(here, 1000), points(here, 200_000))
    compare(here, "models/topics/lda.lehr", ["--set", "K=100"], documents(here, 10), documents(here, 8000))
