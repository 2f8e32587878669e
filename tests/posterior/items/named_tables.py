#!/usr/bin/env python3
"""Factors that the data name, two and three to an item: sweeps and ELBOs by numpy, item by item, where the data are summed in a
table of what they name (no more cells than items) and where they are not, and draws by the exact posterior.

usage: named_tables.py LEHR
"""
import sys

import numpy as np
from scipy.special import digamma, gammaln

sys.path.append(f"{sys.path[0]}/..")
from fitting import Folder, columns, finish, fit, within  # noqa: E402

RNG = np.random.default_rng(14)
ROWS, COLUMNS, LAYERS = 7, 9, 4
PLATES = f"plate n COPIES; plate a = {ROWS}; plate b = {COLUMNS}; plate l = {LAYERS}; data i[n] : a; data j[n] : b; "
EFFECTS = "model effects { " + PLATES + """A[a] ~ Normal(mean = 0, sd = 1); B[b] ~ Normal(mean = 1, sd = 2);
  tau ~ Gamma(shape = 2, rate = 1); observe y[n] ~ Normal(mean = A[i[n]] + B[j[n]], precision = tau); guide factorised; }"""
RATES = "model rates { " + PLATES + """data k[n] : l; A[a] ~ Gamma(shape = 2, rate = 1); B[b] ~ Gamma(shape = 1, rate = 0.5);
  C[l] ~ Gamma(shape = 3, rate = 2); observe y[n] ~ Poisson(A[i[n]] * B[j[n]] * C[k[n]]); }"""


def named(items):
    return {"i": RNG.integers(0, ROWS, items), "j": RNG.integers(0, COLUMNS, items), "k": RNG.integers(0, LAYERS, items)}


close = within(1e-9, atol=1e-9)


def gamma_part(shape, rate, a, b):
    """E log Gamma(x | a, b) and the entropy of the factor."""
    log = digamma(shape) - np.log(rate)
    own = shape - np.log(rate) + gammaln(shape) + (1 - shape) * digamma(shape)
    return np.sum(a * np.log(b) - gammaln(a) + (a - 1) * log - b * shape / rate + own)


def normal_part(mean, precision, m, p):
    return np.sum(0.5 * np.log(p) - 0.5 * p * ((mean - m)**2 + 1 / precision) + 0.5 - 0.5 * np.log(precision))


def effects(items, holes=False, copies=False, pairs=False):
    """`pairs`: the second effect is one of two things that are named."""
    at = named(items)
    i, j, columns, shape = at["i"], at["j"], COLUMNS, (COLUMNS,)
    given = {"i": i, "j": j}
    if pairs:
        given["k"], j, columns, shape = at["k"], j * LAYERS + at["k"], COLUMNS * LAYERS, (COLUMNS, LAYERS)
    y = RNG.normal(0, 1, ROWS)[i] + RNG.normal(1, 2, columns)[j] + 0.4 * RNG.normal(size=items)
    given["y"] = y
    if holes:
        given["y"] = np.where(RNG.random(items) < 0.3, np.nan, y)
    w = np.ones(items)
    if copies:
        given["w"] = RNG.integers(0, 4, items)
        w = given["w"].astype(float)
    w = np.where(np.isnan(given["y"]), 0, w)
    a, b = (RNG.normal(size=ROWS), RNG.uniform(1, 9, ROWS)), (RNG.normal(size=columns), RNG.uniform(1, 9, columns))
    tau_shape, rate, trace = 3.0, 2.0, []
    init = {"A.mean": a[0], "A.precision": a[1], "B.mean": b[0].reshape(shape), "B.precision": b[1].reshape(shape),
            "tau.shape": tau_shape, "tau.rate": rate}
    for _ in range(3):
        tau = tau_shape / rate
        precision = 1 + tau * np.bincount(i, w, ROWS)
        a = (tau * np.bincount(i, w * (y - b[0][j]), ROWS) / precision, precision)
        precision = 0.25 + tau * np.bincount(j, w, columns)
        b = ((0.25 + tau * np.bincount(j, w * (y - a[0][i]), columns)) / precision, precision)
        error = w @ ((y - a[0][i] - b[0][j])**2 + 1 / a[1][i] + 1 / b[1][j])
        tau_shape, rate = 2 + w.sum() / 2, 1 + error / 2
        log = digamma(tau_shape) - np.log(rate)
        trace.append(0.5 * w.sum() * (log - np.log(2 * np.pi)) - 0.5 * tau_shape / rate * error + normal_part(*a, 0, 1)
                     + normal_part(*b, 1, 0.25) + gamma_part(tau_shape, rate, 2, 1))
    model = EFFECTS.replace("COPIES; ", "times w; data w[n] : count; " if copies else "; ")
    if pairs:
        model = model.replace("A[a] ~", "data k[n] : l; A[a] ~").replace("B[b]", "B[b, l]").replace("B[j[n]]", "B[j[n], k[n]]")
    for more in ([], ["--threads", 3]):
        got = fit(model, given, "--max-iter", 3, "--no-invariances", *more, init=init)
        close(got.trace, trace, "ELBO")
        for name, want in {"A.mean": a[0], "A.precision": a[1], "B.mean": b[0], "B.precision": b[1], "tau.rate": rate}.items():
            close(np.ravel(got.posterior[name]), np.ravel(want), name)
    return f"{items} items, ELBO {trace[-1]:.6f}"


def rates(items):
    at = named(items)
    y = RNG.poisson(3, items)
    size, prior = {"A": ROWS, "B": COLUMNS, "C": LAYERS}, {"A": (2, 1), "B": (1, 0.5), "C": (3, 2)}
    of = {"A": at["i"], "B": at["j"], "C": at["k"]}
    q = {v: (RNG.uniform(1, 5, n), RNG.uniform(1, 5, n)) for v, n in size.items()}
    init = {f"{v}.{p}": q[v][k] for v in q for k, p in enumerate(("shape", "rate"))}
    trace = []
    for _ in range(3):
        for v in "ABC":
            others = np.prod([q[u][0][of[u]] / q[u][1][of[u]] for u in "ABC" if u != v], axis=0)
            q[v] = (prior[v][0] + np.bincount(of[v], y, size[v]), prior[v][1] + np.bincount(of[v], others, size[v]))
        log = sum((digamma(q[v][0]) - np.log(q[v][1]))[of[v]] for v in "ABC")
        mean = np.prod([(q[v][0] / q[v][1])[of[v]] for v in "ABC"], axis=0)
        trace.append(np.sum(y * log - mean - gammaln(y + 1)) + sum(gamma_part(*q[v], *prior[v]) for v in "ABC"))
    got = fit(RATES.replace(" COPIES", ""), {**at, "y": y}, "--max-iter", 3, "--no-invariances", init=init)
    close(got.trace, trace, "ELBO")
    for v in "ABC":
        close(got.posterior[f"{v}.shape"], q[v][0], v)
        close(got.posterior[f"{v}.rate"], q[v][1], v)
    return f"{items} items, ELBO {trace[-1]:.6f}"


def draws():
    """All effects at a known precision are one Gaussian."""
    at = named(200)
    y = RNG.normal(0, 1, ROWS)[at["i"]] + RNG.normal(1, 2, COLUMNS)[at["j"]] + RNG.normal(size=200)
    model = EFFECTS.replace(" COPIES", "").replace("tau ~ Gamma(shape = 2, rate = 1)", "const tau = 1")
    F = np.zeros((200, ROWS + COLUMNS))
    F[np.arange(200), at["i"]] = F[np.arange(200), ROWS + at["j"]] = 1
    P = np.diag(np.repeat([1, 0.25], [ROWS, COLUMNS])) + F.T @ F
    mean = np.linalg.solve(P, F.T @ y + np.repeat([0, 0.25], [ROWS, COLUMNS]))
    f = Folder(model, {"i": at["i"], "j": at["j"], "y": y}, "--method", "gibbs", "--draws", 20000, "--warmup", 500, "--chains", 1, "--seed", 3)
    drawn = f.drawn(20000)
    names = [f"A.{k + 1}" for k in range(ROWS)] + [f"B.{k + 1}" for k in range(COLUMNS)]
    x = np.stack([drawn[name] for name in names], 1)
    off = np.max(np.abs(x.mean(0) - mean) * np.sqrt(np.diag(P)))
    spread = np.max(np.abs(x.std(0) / np.sqrt(np.diag(np.linalg.inv(P))) - 1))
    assert off <= 0.4 and spread <= 0.1, f"means off by {off:.2f}, standard deviations by {spread:.2f}"
    return f"means within {off:.2f}, standard deviations within {spread:.2f}"


finish({"effects in a table": lambda: effects(400), "effects item by item": lambda: effects(40),
        "missing values": lambda: effects(300, holes=True), "copies": lambda: effects(250, copies=True),
        "pairs in a table": lambda: effects(600, pairs=True), "pairs item by item": lambda: effects(200, pairs=True),
        "copies item by item": lambda: effects(30, copies=True), "rates in a table": lambda: rates(600),
        "rates item by item": lambda: rates(60), "draws": draws})
