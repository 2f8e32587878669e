#!/usr/bin/env python3
"""Mean field against exact samples of an Ising model, over temperatures: MacKay (2003), sections 32.3 and 33.3.

A square lattice on a torus, J = 1, no field: energy and |magnetisation| a spin, from coordinate ascent and from samples that are
coupled from the past; the energy of the finite lattice is known too (Kaufman 1949), which tells how far off each is.

usage: exact_ising.py LEHR --out DIR [--side 16] [--draws 100] [--temperatures ...]
"""
import os

import numpy as np

from common import Problem, Table, arguments

MODEL = """model ising { const T; plate edge; plate site; data a[edge] : site; data b[edge] : site;
  s[site] ~ Spin(); potential[edge] (1 / T) * s[a[edge]] * s[b[edge]]; }"""


def torus(side):
    site = np.arange(side * side).reshape(side, side)
    return {"a": np.tile(site.ravel(), 2), "b": np.concatenate([np.roll(site, -1, 1).ravel(), np.roll(site, -1, 0).ravel()])}


def kaufman(beta, side):
    """log Z of the torus: Kaufman, Crystal statistics II (1949), equation 49; `side` even."""
    k = np.pi * np.arange(2 * side) / side
    gamma = np.arccosh(np.cosh(2 * beta) / np.tanh(2 * beta) - np.cos(k))
    gamma[0] = 2 * beta + np.log(np.tanh(beta))
    half = side / 2 * gamma
    odd, even = half[1::2], half[0::2]

    def log_product(x, sign):
        """log |product of 2 cosh x| or of 2 sinh x, and its sign."""
        y = np.exp(np.abs(x)) + sign * np.exp(-np.abs(x))
        return np.log(y).sum(), 1 if sign > 0 else np.prod(np.sign(x))

    parts = [log_product(odd, 1), log_product(odd, -1), log_product(even, 1), log_product(even, -1)]
    top = max(p for p, _ in parts)
    inside = sum(s * np.exp(p - top) for p, s in parts)
    return side * side / 2 * np.log(2 * np.sinh(2 * beta)) - np.log(2) + top + np.log(inside)


def kaufman_energy(T, side):
    """A spin, by a central difference; at the critical point its terms cancel, but the sum is smooth."""
    h = 1e-5
    return -(kaufman(1 / T + h, side) - kaufman(1 / T - h, side)) / (2 * h * side * side)


def spins(out, draws):
    with open(os.path.join(out, "draws_1.csv")) as f:
        lines = [line for line in f if not line.startswith("#")]
    return np.array([line.split(",")[1:] for line in lines[1:]], dtype=float).reshape(draws, -1)


def ising(o):
    data, n = torus(o.side), o.side ** 2
    table = Table(o.out, "ising", ["T", "Kaufman", "energy", "s.e.", "mean field", "|m|", "s.e. m", "field |m|", "sweeps"], decimals=4)
    for T in o.temperatures:
        problem = Problem(o.lehr, MODEL, data, settings=[f"T={T}"])
        report, out = problem.fit("--method", "exact", "--draws", o.draws, "--seed", o.seed, "--save-locals")
        s = spins(out, o.draws)
        energy, m = -(s[:, data["a"]] * s[:, data["b"]]).sum(1) / n, np.abs(s.mean(1))
        _, out = problem.fit("--max-iter", 20000, "--tol", 1e-12, "--save-locals", init={"s.mean": np.full(n, 0.9)})
        q = np.load(os.path.join(out, "posterior.npz"))["s.mean"]
        table.add(T, float(kaufman_energy(T, o.side)), float(energy.mean()), float(energy.std() / np.sqrt(o.draws)),
                  float(-(q[data["a"]] * q[data["b"]]).sum() / n), float(m.mean()), float(m.std() / np.sqrt(o.draws)),
                  float(abs(q.mean())), report["iterations"] // (2 * o.draws))


if __name__ == "__main__":
    o = arguments("mean field against exact samples of an Ising model", side=16, draws=100,
                  temperatures=[1.8, 2.1, 2.27, 2.35, 2.5, 2.75, 3.0, 3.5, 4.0, 4.5, 5.0])
    ising(o)
