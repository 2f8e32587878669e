#!/usr/bin/env python3
"""Stochastic annealing of a discrete hidden Markov model (Gultekin, Zhang & Paisley, section 4.2) against plain ascent:
pen trajectories of single digits, 60 symbols, priors 1/K, 1/K, 10/60. For every start of --init: mean ELBO, and the chance
that one annealed run beats one plain run. The noise is that of the same kind of start."""
import numpy as np

from common import Problem, Table, arguments, p_win, plot
from problems import HMM, pen_strokes

METHODS = {"VI": [], "linear": ["--anneal", "stochastic:rho=0.25,over=50"], "0.9^t": ["--anneal", "stochastic:decay=0.9,over=50"],
           "T = 1/(1-rho)": ["--anneal", "file"], "auto": ["--anneal", "auto"]}


def main():
    o = arguments(__doc__, digits=[1, 3, 5, 7], states=[5, 10], inits=["means", "seeds", "allocations", "flat"], methods=list(METHODS))
    table = Table(o.out, "hidden_markov", ["init", "digit", "K", "method", "mean", "sd", "best", "gain", "P(win)", "wins", "sweeps"])
    summary, gains = [], {}
    for init in o.inits:
        for digit in o.digits:
            for k in o.states:
                problem = Problem(o.lehr, HMM, {"x": [s.tolist() for s in pen_strokes(digit)]}, settings=[f"K={k}"])
                with open(problem.at("temperatures.txt"), "w") as f:
                    f.writelines(f"{1 / (1 - 0.9**t)}\n" for t in range(1, 51))
                plain = None
                for method in o.methods:
                    how = ["--anneal", f"file:{problem.at('temperatures.txt')},scope=local"] if "file" in METHODS[method] else METHODS[method]
                    elbo, sweeps = problem.elbos(o.starts, "--max-iter", 1000 if method == "auto" else 300, *how, init=init, seed=o.seed)
                    plain = elbo if plain is None else plain
                    gain, p = float(elbo.mean() - plain.mean()), p_win(elbo, plain)
                    table.add(init, digit, k, method, float(elbo.mean()), float(elbo.std()), float(elbo.max()), gain, p,
                              f"{int((elbo > plain).sum())}/{o.starts}", float(np.median(sweeps)))
                    if method != "VI":
                        gains.setdefault((init, method), []).append((gain, p))
    overall = Table(o.out, "hidden_markov_summary", ["init", "method", "better", "cells", "mean gain", "mean P"])
    for (init, method), cells in gains.items():
        gain, p = np.array(cells).T
        overall.add(init, method, int((gain > 0).sum()), len(cells), float(gain.mean()), float(p.mean()))
    plot(o.out, "hidden_markov", lambda a: (a.boxplot([[g for g, _ in c] for c in gains.values()], labels=[" ".join(k) for k in gains], vert=False),
                                            a.set_xlabel("gain in mean ELBO over plain ascent")))


if __name__ == "__main__":
    main()
