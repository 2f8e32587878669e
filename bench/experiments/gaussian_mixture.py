#!/usr/bin/env python3
"""Annealing a Gaussian mixture (Gultekin, Zhang & Paisley, section 4.3) on scikit-learn's digits, each class by itself:
20 principal components, priors of the empirical moments, K = 3, 6, 12. Mean ELBO against plain ascent's."""
from common import Comparison, Problem, arguments
from problems import GMM, digits

METHODS = {"VI": [], "linear": ["--anneal", "stochastic:rho=0.25,over=50,noise=start"],
           "0.9^t": ["--anneal", "stochastic:decay=0.9,over=50,noise=start"],
           "dirichlet": ["--anneal", "stochastic:rho=0.25,over=50"], "AVI 5/50": ["--anneal", "linear:from=5,over=50"],
           "auto": ["--anneal", "auto"]}


def main():
    o = arguments(__doc__, digits=list(range(10)), components=[3, 6, 12],
                  inits=["seeds", "means", "allocations", "points"], methods=list(METHODS))
    comparison = Comparison(o.out, "gaussian_mixture", ["init", "digit", "K"])
    for init in o.inits:
        for digit in o.digits:
            for k in o.components:
                problem = Problem(o.lehr, GMM, digits(digit), settings=[f"K={k}"])
                comparison.add([init, digit, k], {m: problem.elbos(o.starts, *METHODS[m], init=init, seed=o.seed)
                                                  for m in o.methods})
    comparison.finish()


if __name__ == "__main__":
    main()
