#!/usr/bin/env python3
"""Annealing a discrete hidden Markov model (Gultekin, Zhang & Paisley, section 4.2) against plain ascent: pen
trajectories of single digits, 60 symbols, priors 1/K, 1/K, 10/60. For every start of --init the mean ELBO, and the
chance that one annealed run beats one plain run. The noise of stochastic annealing comes from the same kind of start.
"""
from common import Comparison, Problem, arguments
from problems import HMM, pen_strokes

METHODS = {"VI": [], "linear": ["--anneal", "stochastic:rho=0.25,over=50,noise=start"],
           "0.9^t": ["--anneal", "stochastic:decay=0.9,over=50,noise=start"],
           "dirichlet": ["--anneal", "stochastic:rho=0.25,over=50"], "T = 1/(1-rho)": ["--anneal", "file"],
           "auto": ["--anneal", "auto"]}


def main():
    o = arguments(__doc__, digits=[1, 3, 5, 7], states=[5, 10], inits=["means", "seeds", "allocations", "flat"],
                  methods=list(METHODS))
    comparison = Comparison(o.out, "hidden_markov", ["init", "digit", "K"])
    for init in o.inits:
        for digit in o.digits:
            for k in o.states:
                data = {"x": [s.tolist() for s in pen_strokes(digit)]}
                problem = Problem(o.lehr, HMM, data, settings=[f"K={k}"])
                temperatures = problem.at("temperatures.txt")
                with open(temperatures, "w") as f:
                    f.writelines(f"{1 / (1 - 0.9**t)}\n" for t in range(1, 51))
                runs = {}
                for method in o.methods:
                    how = ["--max-iter", 1000 if method == "auto" else 300, *METHODS[method]]
                    how = [f"file:{temperatures},scope=local" if a == "file" else a for a in how]
                    runs[method] = problem.elbos(o.starts, *how, init=init, seed=o.seed)
                comparison.add([init, digit, k], runs)
    comparison.finish()


if __name__ == "__main__":
    main()
