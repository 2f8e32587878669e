#!/usr/bin/env python3
"""Annealing the factorial mixture of Mandt et al. (2016), section 4, simulated (N = 1000 or --items, variances 0.1 and
0.35).

Starts: `means` draws the features from their prior, `allocations` the bits from theirs followed by five updates of
the features; `lehr:means` and `lehr:allocations` are the starts of --init. For each: ELBO at temperature 1 and the
number of features recovered (relative squared error below 0.05 after matching), against plain ascent from the same
start. The plot is the paper's Fig. 4: the true features, and for every kind of start and method those of the run whose
ELBO is the median one, of the first data set.
"""
import os

import numpy as np
from scipy.optimize import linear_sum_assignment

from common import Problem, Table, arguments, boxes, gallery, p_win, plot
from problems import FACTORIAL_MIXTURE, factorial_mixture

METHODS = {"VI": [], "AVI 10/10": ["--anneal", "linear:from=10,over=10"],
           "AVI 10/100": ["--anneal", "linear:from=10,over=100"], "AVI 3/100": ["--anneal", "linear:from=3,over=100"],
           "entropy 10/100": ["--anneal", "entropy:from=10,over=100"],
           "VT": ["--temper", "global:max=10"], "stochastic": ["--anneal", "stochastic:rho=0.25,over=50,noise=start"],
           "auto": ["--anneal", "auto"]}


def start(kind, x, seed):
    """Initial values for --init: q(mu) with precision N / 0.1."""
    r = np.random.default_rng(1000 + seed)
    n, d = x.shape
    m, p, precision = r.normal(0, np.sqrt(0.35), (8, d)), np.full((n, 8), 0.3), np.full(8, n / 0.1)
    if kind == "allocations":
        p, m = (r.random((n, 8)) < 0.3).astype(float), np.zeros((8, d))
        for _ in range(5):
            for k in range(8):
                rest = x - p @ m + np.outer(p[:, k], m[k])
                precision[k] = 1 / 0.35 + p[:, k].sum() / 0.1
                m[k] = p[:, k] @ rest / 0.1 / precision[k]
    return {"mu.mean": m, "mu.precision": precision[:, None, None] * np.eye(d), "z.p": p}


def matched(m, truth):
    """The features in the order of the true ones, and their relative squared errors."""
    error = ((truth[:, None] - m[None]) ** 2).sum(2) / (truth ** 2).sum(1)[:, None]
    rows, columns = linear_sum_assignment(error)
    return m[columns], error[rows, columns]


def recovered(m, truth):
    return int((matched(m, truth)[1] < 0.05).sum())


def run(problem, x, truth, kind, method, seed):
    """(ELBO, features recovered, sweeps), and the features."""
    init = kind.removeprefix("lehr:") if kind.startswith("lehr:") else start(kind, x, seed)
    report, out = problem.fit("--seed", seed, *METHODS[method], init=init)
    with np.load(os.path.join(out, "posterior.npz")) as z:
        m = z["mu.mean"]
    return (report["elbo"], recovered(m, truth), report["iterations"]), matched(m, truth)[0]


def main():
    o = arguments(__doc__, items=1000, datasets=2, kinds=["means", "allocations", "lehr:means", "lehr:allocations"],
                  methods=list(METHODS))
    table = Table(o.out, "factorial_mixture", ["start", "method", "dataset", "truth", "median", "sd", "gain", "wins",
                                               "P(win)", "recovered", "more", "sweeps"])
    elbos, features = {}, {}
    for dataset in range(o.datasets):
        x, bits, truth = factorial_mixture(o.seed + dataset, o.items)
        problem = Problem(o.lehr, FACTORIAL_MIXTURE, {"x": x})
        at_truth = {"mu.mean": truth, "mu.precision": np.tile(np.eye(16) * 1e4, (8, 1, 1)), "z.p": bits}
        best = problem.fit(init=at_truth)[0]["elbo"]
        features.setdefault("truth", truth)
        for kind in o.kinds:
            plain = None
            for method in o.methods:
                runs, means = zip(*(run(problem, x, truth, kind, method, s + 1) for s in range(o.starts)))
                runs = np.array(runs)
                features.setdefault(f"{kind} {method}", means[np.argsort(runs[:, 0])[o.starts // 2]])
                plain = runs if plain is None else plain
                median, base = np.median(runs, 0), np.median(plain, 0)
                wins = int((runs[:, 0] > plain[:, 0] + 1e-6 * abs(plain[:, 0])).sum())
                found, before = runs[:, 1].mean(), plain[:, 1].mean()
                table.add(kind, method, dataset, best, float(median[0]), float(runs[:, 0].std()),
                          float(median[0] - base[0]), f"{wins}/{o.starts}", p_win(runs[:, 0], plain[:, 0]),
                          float(found), float(found - before), float(median[2]))
                elbos.setdefault((kind, method), []).extend(runs[:, 0] - best)
    plot(o.out, "factorial_mixture", lambda a: boxes(a, elbos, "ELBO above that from the truth"))
    gallery(o.out, "factorial_mixture_features", features, (4, 4))


if __name__ == "__main__":
    main()
