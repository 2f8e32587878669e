#!/usr/bin/env python3
"""Categories of two sides of a relation, one sweep from given factors, by numpy: ties of a network with some to oneself, counts
between groups, rows and columns of a table with gaps, cells of one.

usage: relations.py LEHR
"""
import sys

import numpy as np
from scipy.special import digamma

sys.path.append(f"{sys.path[0]}/..")
from fitting import finish, fit, within  # noqa: E402

R = np.random.default_rng(8)
PAIRS = "plate member; plate pair; data a[pair] : member; data b[pair] : member;"


def softmax(odds):
    e = np.exp(odds - odds.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def logs(concentration):
    return digamma(concentration) - digamma(concentration.sum(-1, keepdims=True))


close = within(rtol=1e-10, atol=1e-12)


def ends(members, pairs):
    """Of pairs: some end where they begin, some are there twice."""
    a, b = R.integers(0, members, (2, pairs))
    a[:3], b[:3] = b[:3], b[:3]
    a[3], b[3] = a[4], b[4]
    return a, b


def of_members(z, pi, a, b, table):
    """Member after member; `table[pair]`: expected log density of a pair by the groups of both."""
    for m in range(len(z)):
        odds = logs(pi) + sum(table[p] @ z[b[p]] for p in np.flatnonzero((a == m) & (b != m)))
        odds = odds + sum(z[a[p]] @ table[p] for p in np.flatnonzero((b == m) & (a != m)))
        z[m] = softmax(odds + sum(np.diag(table[p]) for p in np.flatnonzero((a == m) & (b == m))))
    joint = np.array([np.diag(z[m]) if m == n else np.outer(z[m], z[n]) for m, n in zip(a, b)])
    return z, joint


def ties(groups):
    members, pairs = 9, 40
    a, b = ends(members, pairs)
    tie = R.integers(0, 2, pairs)
    start = {"z.probs": R.dirichlet(np.ones(groups), members), "pi.concentration": R.gamma(2, 1, groups) + 1,
             "B.a": R.gamma(2, 1, (groups, groups)) + 1, "B.b": R.gamma(2, 1, (groups, groups)) + 1}
    text = f"""model ties {{ {PAIRS} plate g = {groups}; plate h = g;
      pi ~ Dirichlet(concentration = 1.5) over g; B[g, h] ~ Beta(0.7, 0.9); z[member] ~ Categorical(pi);
      observe tie[pair] ~ Bernoulli(B[z[a[pair]], z[b[pair]]]); }}"""
    got = fit(text, {"a": a, "b": b, "tie": tie}, "--max-iter", 1, init=start, monotone=False).posterior
    hit, miss = (digamma(start[f"B.{x}"]) - digamma(start["B.a"] + start["B.b"]) for x in "ab")
    z, joint = of_members(start["z.probs"].copy(), start["pi.concentration"], a, b, [hit if t else miss for t in tie])
    close(got["z.probs"], z, "z")
    close(got["pi.concentration"], 1.5 + z.sum(0), "pi")
    close(got["B.a"], 0.7 + joint[tie == 1].sum(0), "B.a")
    close(got["B.b"], 0.9 + joint[tie == 0].sum(0), "B.b")
    return f"{groups} groups"


def counts():
    members, pairs, groups = 7, 30, 3
    a, b = ends(members, pairs)
    x, exposure = R.poisson(3, pairs), R.uniform(0.5, 2, pairs)
    start = {"z.probs": R.dirichlet(np.ones(groups), members), "pi.concentration": R.gamma(2, 1, groups) + 1,
             "rate.shape": R.gamma(3, 1, (groups, groups)) + 1, "rate.rate": R.gamma(3, 1, (groups, groups)) + 1}
    text = f"""model counts {{ {PAIRS} plate g = {groups}; plate h = g; data exposure[pair] : real;
      pi ~ Dirichlet(concentration = 1.5) over g; rate[g, h] ~ Gamma(shape = 2, rate = 0.5); z[member] ~ Categorical(pi);
      observe x[pair] ~ Poisson(exposure[pair] * rate[z[a[pair]], z[b[pair]]]); }}"""
    got = fit(text, {"a": a, "b": b, "x": x, "exposure": exposure}, "--max-iter", 1, init=start, monotone=False).posterior
    log = digamma(start["rate.shape"]) - np.log(start["rate.rate"])
    mean = start["rate.shape"] / start["rate.rate"]
    z, joint = of_members(start["z.probs"].copy(), start["pi.concentration"], a, b,
                          [n * log - e * mean for n, e in zip(x, exposure)])
    close(got["z.probs"], z, "z")
    close(got["rate.shape"], 2 + np.tensordot(x, joint, 1), "shape")
    close(got["rate.rate"], 0.5 + np.tensordot(exposure, joint, 1), "rate")
    return f"{pairs} pairs"


def table(gaps):
    """Groups of rows and of columns, which are visited after them."""
    rows, columns, k, l = 8, 11, 3, 4
    x = np.round(R.normal(0, 2, (rows, columns)), 3)
    if gaps:
        x[R.random(x.shape) < 0.3] = np.nan
    start = {"r.probs": R.dirichlet(np.ones(k), rows), "c.probs": R.dirichlet(np.ones(l), columns), "mu.mean": R.normal(0, 2, (k, l)),
             "mu.precision": R.gamma(3, 1, (k, l)) + 1, "pi.concentration": R.gamma(2, 1, k) + 1, "rho.concentration": R.gamma(2, 1, l) + 1}
    text = """model table { plate row; plate column; plate k = 3; plate l = 4;
      mu[k, l] ~ Normal(mean = 0.5, precision = 0.2); r[row] ~ Categorical(pi);
      pi ~ Dirichlet(concentration = 2) over k; rho ~ Dirichlet(concentration = 3) over l; c[column] ~ Categorical(rho);
      observe x[row, column] ~ Normal(mean = mu[r[row], c[column]], precision = 1.5); }"""
    got = fit(text, {"x": x}, "--max-iter", 1, "--local-iters", 1, init=start, monotone=False).posterior
    there, y = ~np.isnan(x), np.nan_to_num(x)
    mean, square = start["mu.mean"], start["mu.mean"] ** 2 + 1 / start["mu.precision"]
    r, c = got["r.probs"], got["c.probs"]

    def of_rows(c):
        return softmax(logs(start["pi.concentration"]) + 1.5 * (y @ c @ mean.T - 0.5 * there @ c @ square.T))

    def of_columns(r):
        return softmax(logs(start["rho.concentration"]) + 1.5 * (y.T @ r @ mean - 0.5 * there.T @ r @ square))

    rows_first = np.allclose(r, of_rows(start["c.probs"]), rtol=1e-10)  # either order is one sweep
    close(r, of_rows(start["c.probs"] if rows_first else c), "r")
    close(c, of_columns(r if rows_first else start["r.probs"]), "c")
    close(got["pi.concentration"], 2 + r.sum(0), "pi")
    close(got["rho.concentration"], 3 + c.sum(0), "rho")
    precision = 0.2 + 1.5 * r.T @ there @ c
    close(got["mu.precision"], precision, "precision")
    close(got["mu.mean"], (0.1 + 1.5 * r.T @ y @ c) / precision, "mean")
    return "rows first" if rows_first else "columns first"


def cells():
    """Ties between cells of a table, each named by two numbers."""
    rows, columns, groups, pairs = 3, 4, 3, 40
    a, b = ends(rows * columns, pairs)
    tie = R.integers(0, 2, pairs)
    start = {"z.probs": R.dirichlet(np.ones(groups), (rows, columns)), "pi.concentration": R.gamma(2, 1, groups) + 1,
             "B.a": R.gamma(2, 1, (groups, groups)) + 1, "B.b": R.gamma(2, 1, (groups, groups)) + 1}
    text = """model cells { plate pair; plate row; plate column; plate g = 3; plate h = g;
      data i[pair] : row; data j[pair] : column; data k[pair] : row; data l[pair] : column;
      pi ~ Dirichlet(concentration = 1.5) over g; B[g, h] ~ Beta(0.7, 0.9); z[row, column] ~ Categorical(pi);
      observe tie[pair] ~ Bernoulli(B[z[i[pair], j[pair]], z[k[pair], l[pair]]]); }"""
    got = fit(text, {"i": a // columns, "j": a % columns, "k": b // columns, "l": b % columns, "tie": tie}, "--max-iter", 1,
              init=start, monotone=False).posterior
    hit, miss = (digamma(start[f"B.{x}"]) - digamma(start["B.a"] + start["B.b"]) for x in "ab")
    z, joint = of_members(start["z.probs"].reshape(-1, groups).copy(), start["pi.concentration"], a, b, [hit if t else miss for t in tie])
    close(got["z.probs"], z.reshape(rows, columns, groups), "z")
    close(got["B.a"], 0.7 + joint[tie == 1].sum(0), "B.a")
    return f"{pairs} pairs"


finish({
    "ties between cells": cells,
    "ties, some to oneself": lambda: ties(3),
    "ties between two groups": lambda: ties(2),
    "ties between nine groups": lambda: ties(9),
    "counts with exposures": counts,
    "a table": lambda: table(False),
    "a table with gaps": lambda: table(True),
})
