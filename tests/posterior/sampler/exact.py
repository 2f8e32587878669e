#!/usr/bin/env python3
"""Exact samples of models of spins and bits: frequencies of all states by chi-square against enumeration (the seed is fixed), and
the log joint density of every sample. That all starts had met is what tests/posterior/exact_test.cpp looks at: frequencies are
a weak witness of that.

usage: exact.py LEHR
"""
import itertools
import sys

import numpy as np
from scipy import stats

sys.path.append(f"{sys.path[0]}/..")
from sampling import check_states, run  # noqa: E402

SPIN, BIT = (-1.0, 1.0), (0.0, 1.0)
LATTICE = """plate e; plate i; data a[e] : i; data b[e] : i; data J[e] : real; data h[i] : real;
  s[i] ~ Spin(); potential[e] J[e] * s[a[e]] * s[b[e]]; potential[i] h[i] * s[i];"""
FIELD = [0.2, -0.3, 0.0, 0.1, 0.0, -0.1, 0.4, 0.0, 0.05]


def lattice(rows, columns, coupling, field):
    edges = [(r * columns + c, r * columns + c + 1) for r in range(rows) for c in range(columns - 1)]
    edges += [(r * columns + c, (r + 1) * columns + c) for r in range(rows - 1) for c in range(columns)]
    couplings = [coupling] * len(edges) if np.isscalar(coupling) else list(coupling)
    return {"a": [a for a, _ in edges], "b": [b for _, b in edges], "J": couplings, "h": field}


def energy(data):
    """Of spins s in the terms of LATTICE."""
    return lambda s: sum(J * s[a] * s[b] for a, b, J in zip(data["a"], data["b"], data["J"])) + float(np.dot(data["h"], s))


def check(name, coupling, model, data, columns, values, log_density, draws=8000):
    """`values`: those of each column; `log_density` of a state, every constant counted but for those of spins."""
    got = run("model m { " + model + " }", data, "--save-locals", method="exact", draws=draws)
    assert got.code == 0, (name, got.said)
    sampling = got.fit["sampling"]
    assert (sampling["draws"], sampling["coupling"]) == (draws, coupling), (name, sampling)
    weights = {s: log_density(s) for s in itertools.product(*values)}
    possible = {s: w for s, w in weights.items() if w > max(weights.values()) - 100}
    check_states(name, got.draws, columns, possible)
    spins = sum(v == SPIN for v in values)
    for k, row in enumerate(zip(*(got.draws[c] for c in columns))):
        want = possible[row] - spins * np.log(2)
        assert abs(got.draws["lp__"][k] - want) < 1e-9 * (1 + abs(want)), (name, row, got.draws["lp__"][k], want)
    print(f"{name}: {coupling}")


def check_lattice(name, coupling, data, draws):
    n = len(data["h"])
    check(name, coupling, LATTICE, data, [f"s.{k + 1}" for k in range(n)], [SPIN] * n, energy(data), draws)


def lattices():
    check_lattice("ferromagnet", "monotone", lattice(3, 3, 0.35, FIELD), 20000)
    check_lattice("antiferromagnet", "summary states", lattice(3, 3, -0.3, FIELD), 20000)
    glass = [0.4, -0.3, 0.5, -0.4, -0.2, 0.4, -0.5, 0.3, 0.4, -0.4, -0.3, 0.2]
    check_lattice("spin glass", "summary states", lattice(3, 3, glass, FIELD), 20000)
    # Every triangle has a pair that cannot be apart: right, down and diagonal neighbours on a torus.
    site = np.arange(9).reshape(3, 3)
    to = [np.roll(site, shift, axis).ravel() for shift, axis in ((-1, 1), (-1, 0))] + [np.roll(site, (-1, -1), (0, 1)).ravel()]
    triangles = {"a": np.tile(site.ravel(), 3).tolist(), "b": np.concatenate(to).tolist(), "J": [-0.2] * 27, "h": [0.0] * 9}
    check_lattice("frustrated triangles", "summary states", triangles, 20000)


def clusters():
    """Couplings so strong that runs of single spins do not meet soon: bonds of random clusters do. Fields of one sign, and signs
    of couplings that some choice of signs of the spins makes positive."""
    field = [0.05, 0.1, 0.0, 0.02, 0.0, 0.1, 0.03, 0.0, 0.05]
    check_lattice("strong ferromagnet", "random clusters", lattice(3, 3, 1.4, field), 8000)
    checkered = [h * (-1) ** k for k, h in enumerate(field)]
    check_lattice("strong antiferromagnet", "random clusters", lattice(3, 3, -2.5, checkered), 8000)
    check_lattice("two groups", "random clusters", {"a": [0, 0, 1, 2, 0, 0], "b": [1, 2, 3, 3, 3, 1], "J": [2.9, -2.8, -2.7, 3.0, -0.3, 0.2], "h": [0.0] * 4}, 8000)
    check("strong bits", "random clusters",
          "plate e; plate i = 4; data a[e] : i; data b[e] : i; z[i] ~ Bernoulli(0.00013); potential[e] 9 * z[a[e]] * z[b[e]];",
          {"a": [0, 1, 2, 3], "b": [1, 2, 3, 0]}, [f"z.{k + 1}" for k in range(4)], [BIT] * 4,
          lambda s: sum(np.log(0.00013 if z else 0.99987) for z in s) + 9 * sum(s[k] * s[(k + 1) % 4] for k in range(4)), 8000)


def odd():
    check("one spin", "monotone", "plate i = 1; s[i] ~ Spin(); potential[i] 0.4 * s[i];", {}, ["s.1"], [SPIN], lambda s: 0.4 * s[0])
    check("no coupling", "monotone", "plate i = 3; s[i] ~ Spin(); plate j = 2; z[j] ~ Bernoulli(0.2); potential[j] 0.7 * z[j];", {},
          ["s.1", "s.2", "s.3", "z.1", "z.2"], [SPIN] * 3 + [BIT] * 2,
          lambda s: sum(0.7 * z + np.log(0.2 if z else 0.8) for z in s[3:]))
    check("a field that settles it", "summary states", LATTICE, lattice(1, 3, -0.5, [1e6, 0.0, -1e6]), ["s.1", "s.2", "s.3"],
          [SPIN] * 3, lambda s: 1e6 * (s[0] - s[2]) - 0.5 * s[1] * (s[0] + s[2]))
    edges = [(0, 1), (1, 2), (2, 3), (3, 0)]
    check("no two neighbours are 1", "summary states",
          "plate e; plate i = 4; data a[e] : i; data b[e] : i; z[i] ~ Bernoulli(0.3); potential[e] -1000 * z[a[e]] * z[b[e]];",
          {"a": [a for a, _ in edges], "b": [b for _, b in edges]}, [f"z.{k + 1}" for k in range(4)], [BIT] * 4,
          lambda s: -np.inf if any(s[a] * s[b] for a, b in edges) else sum(np.log(0.3 if z else 0.7) for z in s))
    check("loops and the same edge twice", "summary states", LATTICE,
          {"a": [0, 0, 1, 1], "b": [1, 1, 1, 2], "J": [0.5, -0.3, 0.7, 0.2], "h": [0.1, 0.0, -0.2]}, ["s.1", "s.2", "s.3"],
          [SPIN] * 3, lambda s: 0.2 * s[0] * s[1] + 0.7 + 0.2 * s[1] * s[2] + 0.1 * s[0] - 0.2 * s[2])
    check("several plates", "summary states",
          """plate r = 2; plate c = 2; s[r, c] ~ Spin(); t[c] ~ Spin(); z[r] ~ Bernoulli(0.6);
             potential[r, c] 0.5 * s[r, c] * t[c]; potential[r, c] -0.8 * s[r, c] * z[r];""", {},
          ["s.1.1", "s.1.2", "s.2.1", "s.2.2", "t.1", "t.2", "z.1", "z.2"], [SPIN] * 6 + [BIT] * 2,
          lambda s: sum(0.5 * s[2 * r + c] * s[4 + c] - 0.8 * s[2 * r + c] * s[6 + r] for r in range(2) for c in range(2))
          + sum(np.log(0.6 if z else 0.4) for z in s[6:]), 20000)
    check("three spins in a term", "summary states", "s ~ Spin(); t ~ Spin(); u ~ Spin(); potential 0.6 * s * t * u; potential 0.3 * s;",
          {}, ["s", "t", "u"], [SPIN] * 3, lambda s: 0.6 * s[0] * s[1] * s[2] + 0.3 * s[0])
    rows = [[0.5, -0.3, 0.4], [0.2]]
    check("rows of different length", "summary states",
          "plate g; plate m in g; data w[g, m] : real; s[g, m] ~ Spin(); t[g] ~ Spin(); potential[g, m] w[g, m] * s[g, m] * t[g];",
          {"w": rows}, ["s.1", "s.2", "s.3", "s.4", "t.1", "t.2"], [SPIN] * 6,
          lambda s: s[4] * float(np.dot(rows[0], s[:3])) + s[5] * rows[1][0] * s[3], 20000)


def data():
    """Bits of a mixture of two known means, and a potential that wants neighbours alike."""
    def normal(v, mean, sd=1.0):
        return stats.norm.logpdf(v, mean, sd)

    x = [0.2, 0.9, -0.3, 1.1]
    check("bits of a mixture", "monotone",
          """plate e; plate i; data a[e] : i; data b[e] : i; z[i] ~ Bernoulli(0.4); potential[e] 0.8 * z[a[e]] * z[b[e]];
             observe x[i] ~ Normal(mean = z[i], sd = 1);""", {"a": [0, 1, 2], "b": [1, 2, 3], "x": x},
          [f"z.{k + 1}" for k in range(4)], [BIT] * 4,
          lambda s: sum(np.log(0.4 if k else 0.6) + normal(v, k) for v, k in zip(x, s)) + 0.8 * sum(p * q for p, q in zip(s, s[1:])))
    items = """plate n; z[n] ~ Bernoulli(0.4); t ~ Spin(); observe x[n] ~ Normal(mean = 0.8 * z[n] - 0.6 * t, sd = 1.2);"""
    check("a spin for all items", "monotone", items, {"x": [0.3, None, 1.4]}, ["t", "z.1", "z.2", "z.3"], [SPIN] + [BIT] * 3,
          lambda s: sum(np.log(0.4 if z else 0.6) + (0 if v is None else normal(v, 0.8 * z - 0.6 * s[0], 1.2))
                        for v, z in zip([0.3, None, 1.4], s[1:])))
    check("weighted bits", "summary states",
          "plate n; plate k = 4; data w[n, k] : real; z[k] ~ Bernoulli(0.5); observe x[n] ~ Normal(mean = sum(k) w[n, k] * z[k], sd = 2);",
          {"x": [0.3, 1.1, -0.4], "w": [[0.5, -0.7, 0.9, 1.0], [1.0, 0.2, -0.5, 0.3], [0.0, 0.4, 0.8, -1.0]]},
          [f"z.{k + 1}" for k in range(4)], [BIT] * 4,
          lambda s: -4 * np.log(2) + sum(normal(v, float(np.dot(w, s)), 2.0) for v, w in zip(
              [0.3, 1.1, -0.4], [[0.5, -0.7, 0.9, 1.0], [1.0, 0.2, -0.5, 0.3], [0.0, 0.4, 0.8, -1.0]])))
    check("observed spins", "summary states",
          "plate i; s[i] ~ Spin(); observe y[i] ~ Spin(); plate e; data a[e] : i; data b[e] : i; potential[i] 0.6 * s[i] * y[i]; "
          "potential[e] -0.4 * s[a[e]] * s[b[e]];", {"y": [1, -1, 1], "a": [0, 1, 2], "b": [1, 2, 0]}, ["s.1", "s.2", "s.3"], [SPIN] * 3,
          lambda s: 0.6 * (s[0] - s[1] + s[2]) - 0.4 * (s[0] * s[1] + s[1] * s[2] + s[2] * s[0]) - 3 * np.log(2))


def refused():
    got = run("model m { plate n; mu ~ Normal(mean = 0, sd = 1); observe x[n] ~ Normal(mean = mu, sd = 1); }", {"x": [1.0]},
                   method="exact")
    assert got.code == 3 and "not spins and bits alone: 'mu'" in got.said, got.said
    got = run("model m { beta ~ Gamma(shape = 2, rate = 1); plate i = 3; s[i] ~ Spin(); t ~ Spin(); potential[i] beta * s[i] * t; }",
                   {}, method="exact")
    assert got.code == 3 and "'beta' has a factor of family Gamma" in got.said, got.said
    got = run("model m { plate i times w; s[i] ~ Spin(); t ~ Spin(); potential[i] 0.2 * s[i] * t; }", {"w": [2, 3]}, method="exact")
    assert got.code == 3 and "copies" in got.said, got.said
    # No random number decides a spin whose neighbours are undecided: given up, never a sample that is none.
    triangle = {"a": [0, 1, 2], "b": [1, 2, 0], "J": [-30.0] * 3, "h": [0.0] * 3}
    got = run("model m { " + LATTICE + " }", triangle, method="exact")
    assert got.code == 5 and "3 elements are not decided after 1048576 sweeps" in got.said, got.said
    assert "method gibbs" in got.said, got.said
    print("refused: what is not to be had")


for case in (lattices, clusters, odd, data, refused):
    case()
