#!/usr/bin/env python3
"""Stochastic annealing of a Gaussian mixture (Gultekin, Zhang & Paisley, section 4.3) on scikit-learn's digits, each class by
itself: 20 principal components, priors of the empirical moments, K = 3, 6, 12. Mean ELBO against plain ascent."""
import numpy as np

from common import Problem, Table, arguments, p_win, plot
from problems import GMM, digits

METHODS = {"VI": [], "linear": ["--anneal", "stochastic:rho=0.25,over=50"], "0.9^t": ["--anneal", "stochastic:decay=0.9,over=50"],
           "AVI 5/50": ["--anneal", "linear:from=5,over=50"], "auto": ["--anneal", "auto"]}


def main():
    o = arguments(__doc__, digits=list(range(10)), components=[3, 6, 12], inits=["seeds", "means", "allocations", "points"], methods=list(METHODS))
    table = Table(o.out, "gaussian_mixture", ["init", "digit", "K", "method", "mean", "sd", "best", "gain", "P(win)", "wins", "sweeps"])
    gains = {}
    for init in o.inits:
        for digit in o.digits:
            problem_data = {k: v for k, v in digits(digit).items()}
            for k in o.components:
                problem = Problem(o.lehr, GMM, problem_data, settings=[f"K={k}"])
                plain = None
                for method in o.methods:
                    elbo, sweeps = problem.elbos(o.starts, *METHODS[method], init=init, seed=o.seed)
                    plain = elbo if plain is None else plain
                    gain, p = float(elbo.mean() - plain.mean()), p_win(elbo, plain)
                    table.add(init, digit, k, method, float(elbo.mean()), float(elbo.std()), float(elbo.max()), gain, p,
                              f"{int((elbo > plain).sum())}/{o.starts}", float(np.median(sweeps)))
                    if method != "VI":
                        gains.setdefault((init, method), []).append((gain, p))
    overall = Table(o.out, "gaussian_mixture_summary", ["init", "method", "better", "cells", "mean gain", "mean P"])
    for (init, method), cells in gains.items():
        gain, p = np.array(cells).T
        overall.add(init, method, int((gain > 0).sum()), len(cells), float(gain.mean()), float(p.mean()))
    plot(o.out, "gaussian_mixture", lambda a: (a.boxplot([[g for g, _ in c] for c in gains.values()], labels=[" ".join(k) for k in gains], vert=False),
                                               a.set_xlabel("gain in mean ELBO over plain ascent")))


if __name__ == "__main__":
    main()
