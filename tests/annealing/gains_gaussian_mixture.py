#!/usr/bin/env python3
"""Stochastic annealing of a Gaussian mixture on scikit-learn's digits, each class by itself (Gultekin, Zhang & Paisley, section
4.3): from the random factors of `--init means` the mean ELBO is above plain ascent's for most digits. What it gains
depends on the start and the priors."""
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../posterior"), os.path.join(HERE, "../../bench/experiments")]
from external import SKIPPED  # noqa: E402
from fitting import LEHR, finish  # noqa: E402

try:
    import sklearn  # noqa: F401
except ImportError:
    print("skipped: no scikit-learn, which has the data")
    sys.exit(SKIPPED)
from common import Problem  # noqa: E402
from problems import GMM, digits  # noqa: E402

STARTS = 8


def better(init, least):
    gains = []
    for digit in range(10):
        cell = Problem(LEHR, GMM, digits(digit), settings=["K=3"])
        plain, annealed = (cell.elbos(STARTS, *a, init=init)[0]
                           for a in ([], ["--anneal", "stochastic:rho=0.25,over=50,noise=start"]))
        gains.append(annealed.mean() - plain.mean())
    won = sum(g > 0 for g in gains)
    said = f"better in {won} of {len(gains)}, mean gain {np.mean(gains):+.1f}"
    assert won >= least, said
    return said


finish({"from means": lambda: better("means", 8)})
