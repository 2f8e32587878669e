#!/usr/bin/env python3
"""Table 2 of Gultekin, Zhang & Paisley: digits of MNIST, 30 principal components, 1000 training and 100 test images a digit. A mixture
of Gaussians for each digit; a test image belongs to the digit whose mixture, at its posterior means, has the highest density. Mean
accuracy over starts, and the mean gain in ELBO over plain ascent from the same start (fig. 4)."""
import os

import numpy as np
from scipy.special import logsumexp

from common import Problem, Table, arguments, shared
from problems import GMM

METHODS = {"VI": [], "AVI 5/50": ["--anneal", "linear:from=5,over=50"], "linear": ["--anneal", "stochastic:rho=0.25,over=50,noise=start"]}


def images(part):
    return (np.load(shared(f"mnist/mnist_{part}_pca30.npy")).astype(float), np.load(shared(f"mnist/mnist_{part}_labels.npy")))


def log_density(out, x):
    """Of each row of `x`, with weights, means and precisions at their posterior means."""
    with np.load(os.path.join(out, "posterior.npz")) as q:
        weights = q["pi.concentration"] / q["pi.concentration"].sum()
        means, precision = q["mu.mean"], q["Lambda.df"][:, None, None] * q["Lambda.scale"]
    difference = x[:, None] - means
    squares = np.einsum("nkd,kde,nke->nk", difference, precision, difference)
    return logsumexp(np.log(weights) + np.linalg.slogdet(precision)[1] / 2 - squares / 2, axis=1) - x.shape[1] / 2 * np.log(2 * np.pi)


def main():
    o = arguments(__doc__, components=[3, 6, 9, 12, 15])
    (x, y), (test, labels) = images("train"), images("test")
    scale = x.std()
    x, test, problems = x / scale, test / scale, []
    for digit in range(10):
        mine = x[y == digit]
        precision = np.linalg.inv(np.cov(mine.T, bias=True))
        problems.append(Problem(o.lehr, GMM, {"x": mine, "m0": mine.mean(0), "L0": precision, "W0": precision / 30}))
    table = Table(o.out, "gaussian_classes", ["K", "method", "accuracy", "gain", "digits with a gain"])
    for k in o.components:
        plain = None
        for method, how in METHODS.items():
            elbo, accuracy = np.zeros((10, o.starts)), []
            for s in range(o.starts):
                scores = []
                for digit, problem in enumerate(problems):
                    report, out = problem.fit("--set", f"K={k}", "nu0=30", "--init", "means", "--seed", o.seed + s, "--max-iter", 500, *how)
                    elbo[digit, s] = report["elbo"]
                    scores.append(log_density(out, test))
                accuracy.append(np.mean(np.argmax(scores, 0) == labels))
            plain = elbo if plain is None else plain
            gain = (elbo - plain).mean(1)
            table.add(k, method, float(np.mean(accuracy)), float(gain.mean()), int((gain > 0).sum()))


if __name__ == "__main__":
    main()
