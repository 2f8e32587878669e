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


def svg(path, x, exact, field, label, critical):
    """Exact means as dots with bars of two standard errors, mean field as a line."""
    width, height, left, bottom = 420, 300, 60, 45
    values = np.concatenate([exact[0] - 2 * exact[1], exact[0] + 2 * exact[1], field])
    low, high = values.min(), values.max()
    pad = 0.05 * (high - low)

    def at(u, v):
        return (left + (u - min(x)) / (max(x) - min(x)) * (width - left - 15),
                height - bottom - (v - low + pad) / (high - low + 2 * pad) * (height - bottom - 15))

    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
             f'<rect width="{width}" height="{height}" fill="white"/>',
             f'<path d="M{left} 15V{height - bottom}H{width - 15}" fill="none" stroke="black"/>']
    for t in np.arange(np.ceil(min(x)), max(x) + 0.01):
        u, _ = at(t, low)
        lines.append(f'<text x="{u:.0f}" y="{height - bottom + 16}" text-anchor="middle">{t:.0f}</text>')
    for v in np.linspace(low, high, 5):
        _, y = at(min(x), v)
        lines.append(f'<text x="{left - 5}" y="{y + 4:.0f}" text-anchor="end">{v:.2f}</text>')
    u, _ = at(critical, low)
    lines.append(f'<path d="M{u:.1f} 15V{height - bottom}" stroke="grey" stroke-dasharray="3 3"/>')
    lines.append('<polyline fill="none" stroke="firebrick" points="' + " ".join("{:.1f},{:.1f}".format(*at(*p)) for p in zip(x, field)) + '"/>')
    for u, v, e in zip(x, *exact):
        (px, py), (_, top), (_, base) = at(u, v), at(u, v + 2 * e), at(u, v - 2 * e)
        lines.append(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3"/><path d="M{px:.1f} {top:.1f}V{base:.1f}" stroke="black"/>')
    lines.append(f'<text x="{(left + width) / 2}" y="{height - 8}" text-anchor="middle">temperature</text>')
    lines.append(f'<text x="{width - 15}" y="28" text-anchor="end">{label}: exact samples (dots), mean field (line)</text></svg>')
    with open(path, "w") as f:
        f.write("\n".join(lines) + "\n")


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
    T, _, e, se, fe, m, sm, fm, _ = np.array(table.rows).T
    critical = 2 / np.log(1 + np.sqrt(2))
    svg(os.path.join(o.out, "ising_energy.svg"), T, (e, se), fe, "energy a spin", critical)
    svg(os.path.join(o.out, "ising_magnetisation.svg"), T, (m, sm), fm, "|magnetisation|", critical)


if __name__ == "__main__":
    o = arguments("mean field against exact samples of an Ising model", side=16, draws=100,
                  temperatures=[2.27, 2.35, 2.5, 2.75, 3.0, 3.5, 4.0, 4.5, 5.0])
    ising(o)
