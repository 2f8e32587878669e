#!/usr/bin/env python3
"""CPU seconds of each pass of BayesPy (Debian's python3-bayespy), with its bound; one process a measurement: prints one JSON list.

usage: peers_bayespy.py mixture|principal_components|hidden_markov|state_space|factorisation DATA.npz K PASSES
"""
import json
import sys
import time
import warnings

import peers  # noqa: F401  names the core before numpy is loaded
import numpy as np

for name, kind in {"int": int, "float": float, "bool": bool, "object": object, "complex": complex}.items():
    setattr(np, name, kind)  # BayesPy 0.5.22 is older than numpy 1.24, which has lost these names
from bayespy.inference import VB
from bayespy.nodes import (Add, Categorical, CategoricalMarkovChain, Dirichlet, Gamma, Gaussian, GaussianARD,
                           GaussianMarkovChain, Mixture, SumMultiply, Wishart)


def mixture(data, k):
    x = data["x"]
    n, d = x.shape
    shares = Dirichlet(np.full(k, 0.1))
    z = Categorical(shares, plates=(n,))
    mean = Gaussian(np.zeros(d), 1e-2 * np.eye(d), plates=(k,))
    precision = Wishart(d + 2, np.eye(d), plates=(k,))
    y = Mixture(z, Gaussian, mean, precision)
    z.initialize_from_random()
    y.observe(x)
    return VB(y, mean, z, precision, shares)


def principal_components(data, k):
    x = data["x"]
    n, d = x.shape
    latent = GaussianARD(0, 1, shape=(k,), plates=(1, n))
    alpha = Gamma(1e-3, 1e-3, plates=(k,))
    w = GaussianARD(0, alpha, shape=(k,), plates=(d, 1))
    mean = GaussianARD(0, 1e-3, shape=(), plates=(d, 1))
    tau = Gamma(1e-3, 1e-3)
    y = GaussianARD(Add(SumMultiply("i,i", w, latent), mean), tau)
    w.initialize_from_random()
    y.observe(x.T)
    return VB(y, latent, alpha, w, mean, tau)


def hidden_markov(data, k):
    x = data["x"]
    start, moves = Dirichlet(np.ones(k)), Dirichlet(np.ones((k, k)))
    chain = CategoricalMarkovChain(start, moves, states=len(x))
    emission = Dirichlet(np.full((k, int(x.max()) + 1), 0.5))
    emission.initialize_from_random()
    y = Mixture(chain, Categorical, emission)
    y.observe(x)
    return VB(y, chain, start, moves, emission)


def state_space(data, k):
    y = data["y"]
    t, d = y.shape
    alpha = Gamma(1e-3, 1e-3, plates=(k,))
    moves = GaussianARD(0, 1, shape=(k,), plates=(k,))
    moves.initialize_from_value(np.eye(k))
    x = GaussianMarkovChain(np.zeros(k), np.eye(k), moves, np.ones(k), n=t)
    c = GaussianARD(0, alpha, shape=(k,), plates=(d, 1))
    c.initialize_from_random()
    noise = Gamma(1e-3, 1e-3, plates=(d, 1))
    seen = GaussianARD(SumMultiply("i,i", c, x), noise)
    seen.observe(y.T)
    return VB(seen, x, alpha, moves, c, noise)


def factorisation(data, k):
    users, items = int(data["user"].max()) + 1, int(data["item"].max()) + 1
    ratings, mask = np.zeros((users, items)), np.zeros((users, items), bool)
    ratings[data["user"], data["item"]], mask[data["user"], data["item"]] = data["y"], True
    alpha = Gamma(1e-2, 1e-2, plates=(k,))
    u = GaussianARD(0, 1, shape=(k,), plates=(users, 1))
    v = GaussianARD(0, alpha, shape=(k,), plates=(1, items))
    m, tau = GaussianARD(0, 1e-2, shape=()), Gamma(1e-2, 1e-2)
    y = GaussianARD(Add(SumMultiply("i,i", u, v), m), tau)
    v.initialize_from_random()
    y.observe(ratings, mask=mask)
    return VB(y, u, alpha, v, m, tau)


def main():
    warnings.simplefilter("ignore")
    name, path, k, passes = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    inference = globals()[name](np.load(path), k)
    marks = [time.process_time()]
    for _ in range(passes):
        inference.update(repeat=1, tol=0, verbose=False)
        marks.append(time.process_time())
    print(json.dumps(np.diff(marks).tolist()))


if __name__ == "__main__":
    main()
