#!/usr/bin/env python3
"""What it buys that items of a few numbers lie in lanes (pass `short`): CPU seconds a sweep without the pass over those with it, one
thread, with an ELBO in every sweep and without; medians of interleaved rounds.

usage: short_items.py LEHR [ROW ...]
"""
import os
import statistics
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import data
from measure import Lehr, model_file

ROUNDS, ITEMS = 3, 50_000


def regression(dimension, noise):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(ITEMS, dimension))
    return x, x @ rng.normal(size=dimension) + noise(rng)


def outliers(dimension):
    x, y = regression(dimension, lambda rng: rng.standard_t(4, ITEMS))
    return {"x": x, "y": y}


def classes(dimension, kinds):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(ITEMS, dimension))
    return {"x": x, "y": np.argmax(x @ rng.normal(size=(dimension, kinds)) + rng.gumbel(size=(ITEMS, kinds)), 1)}


def counts():
    rng = np.random.default_rng(0)
    return {"x": rng.poisson(np.exp(rng.integers(0, 4, ITEMS)))}


def velocities():
    rng = np.random.default_rng(0)
    return {"x": 20000 + 3000 * rng.integers(-2, 3, ITEMS) + 500 * rng.normal(size=ITEMS)}


def factors(dimension, components):
    rng = np.random.default_rng(0)
    return {"x": rng.normal(size=(ITEMS, components)) @ rng.normal(size=(components, dimension)) + rng.normal(size=(ITEMS, dimension))}


def gaps():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(ITEMS, 6))
    y = x.sum(1) + rng.normal(size=ITEMS)
    x[rng.random(x.shape) < 0.1] = np.nan
    return {"x": x, "y": y}


def mixed(components):
    return ["--set", f"K={components}"]


ROWS = {
    "regression with Student's t, 3 covariates": ("student_t_regression", [], lambda: outliers(3)),
    "regression with Student's t, 16 covariates": ("student_t_regression", [], lambda: outliers(16)),
    "softmax regression, 8 covariates, 5 classes": ("softmax_regression", [], lambda: classes(8, 5)),
    "covariates with gaps, 6 dimensions": ("missing_covariates", ["--set", "nu0=8"], gaps),
    "mixture of Poissons, 4": ("mixture_of_poissons", mixed(4), counts),
    "Dirichlet process mixture, 10": ("dirichlet_process_mixture", [], velocities),
    "Gaussian mixture, 3 in 4 dimensions": ("gmm_normal_wishart", [*mixed(3), "--set", "nu0=6"], lambda: data.mixture(ITEMS, 4, 3)),
    "Gaussian mixture, 8 in 8 dimensions": ("gmm_normal_wishart", [*mixed(8), "--set", "nu0=10"], lambda: data.mixture(ITEMS, 8, 8)),
    "Gaussian mixture, diagonal, 3 in 4 dimensions": ("gmm_diagonal", mixed(3), lambda: data.mixture(ITEMS, 4, 3)),
    "principal components, 6 of 32": ("ppca_ard", mixed(6), lambda: factors(32, 6)),
}


def main():
    names = sys.argv[2:] or ROWS
    for name in names:
        model, options, make = ROWS[name]
        with tempfile.TemporaryDirectory() as folder:
            arrays = make()
            with_it, without = (Lehr(os.path.abspath(sys.argv[1]), model_file(model), os.path.join(folder, which), arrays, [*options, *words])
                                for which, words in (("with", []), ("without", ["--no-opt", "vectorise-short-items"])))
            rounds = [(without.without_elbos() / with_it.without_elbos(), without.seconds() / with_it.seconds()) for _ in range(ROUNDS)]
            alone, elbos = (statistics.median(r[k] for r in rounds) for k in (0, 1))
            print(f"| {name} | {alone:.1f} | {elbos:.1f} |", flush=True)


main()
