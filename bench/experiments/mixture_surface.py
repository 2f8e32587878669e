#!/usr/bin/env python3
"""The mixture of Fig. 1 of Mandt et al. (2016): the annealed ELBO over the two means at four temperatures, its local
optima, and the share of 441 starts from which each method reaches the best one. Nothing is random: the data are 30 and
70 quantiles of N(-2, 1) and N(2, 1), the weights 0.3 and 0.7 are known, mu ~ N(0, 10).

A point of the surface has the variances of q(mu) and the allocations q(z) that are best for its means. The program
does not hold means fixed, so the surface is computed from the formula; `check` compares the formula with what the
program reports at temperature T on its way, and the optima with where its ascents at temperature T end.
"""
import csv
import os

import numpy as np
from scipy.special import xlogy
from scipy.stats import norm

from common import Problem, Table, arguments, plot, write

MODEL = """model mixture { plate n; plate k = 2; data w : simplex over k;
  mu[k] ~ Normal(mean = 0, variance = 10);
  z[n] ~ Categorical(w);
  observe x[n] ~ Normal(mean = mu[z[n]], variance = 1); }"""
X = np.concatenate([-2 + norm.ppf((np.arange(30) + 0.5) / 30), 2 + norm.ppf((np.arange(70) + 0.5) / 70)])
W, PRIOR = np.array([0.3, 0.7]), 10.0
METHODS = {"VI": [], "AVI 10/100": ["--anneal", "linear:from=10,over=100"],
           "AVI 5/100": ["--anneal", "linear:from=5,over=100"], "VT": ["--temper", "global:max=10"]}


def allocations(m, v, t):
    """q(z) at temperature `t`; `m` and `v` are [..., 2]."""
    logs = (np.log(W) - ((X[:, None] - m[..., None, :]) ** 2 + v[..., None, :]) / 2) / t
    p = np.exp(logs - logs.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True)


def annealed_elbo(m, v, p, t):
    """E[log p(mu)] - E[log q(mu)] + E[log p(x, z | mu)] / T + H[q(z)]; `p` is q(z)."""
    data = np.log(W) - np.log(2 * np.pi) / 2 - ((X[:, None] - m[..., None, :]) ** 2 + v[..., None, :]) / 2
    prior = (1 + np.log(v / PRIOR) - (m ** 2 + v) / PRIOR).sum(-1) / 2
    return prior + (p * data).sum((-1, -2)) / t - xlogy(p, p).sum((-1, -2))


def surface(ticks, t):
    """[m1, m2], the variances at their fixed point."""
    m = np.stack(np.meshgrid(ticks, ticks, indexing="ij"), -1)
    v = np.full(m.shape, 0.1)
    for _ in range(200):
        before, v = v, 1 / (1 / PRIOR + allocations(m, v, t).sum(-2) / t)
        if np.abs(v - before).max() < 1e-10:
            break
    return annealed_elbo(m, v, allocations(m, v, t), t)


def peaks(values):
    """Indices of what is higher than its eight neighbours."""
    padded = np.pad(values, 1, constant_values=-np.inf)
    n, k = values.shape
    around = [padded[1 + i:1 + i + n, 1 + j:1 + j + k] for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j]
    return np.argwhere(values > np.max(around, 0))


def start(means):
    return {"mu.mean": list(means), "mu.precision": [100.0, 100.0]}


def grid(side):
    ticks = np.linspace(-5, 5, side)
    return [(a, b) for a in ticks for b in ticks]


def ascend(problem, temperature, means, sweeps):
    """Means, variances and annealed ELBO after `sweeps` at one temperature."""
    path = problem.at("temperatures.txt")
    with open(path, "w") as f:
        f.writelines(f"{temperature}\n" for _ in range(sweeps))
    _, out = problem.fit("--anneal", "file:" + path, "--max-iter", sweeps, "--tol", 0, init=start(means))
    with np.load(os.path.join(out, "posterior.npz")) as q, open(os.path.join(out, "trace.csv")) as trace:
        last = list(csv.DictReader(trace))[-1]
        return q["mu.mean"], 1 / q["mu.precision"], float(last.get("objective") or last["elbo"])


def optima(problem, o):
    """The surfaces; for each peak the ascents of the program at that temperature that end next to it, and where."""
    ticks, surfaces = np.linspace(-5, 5, o.resolution), {}
    table = Table(o.out, "mixture_optima", ["T", "optima", "peak", "ascents", "of", "m1", "m2", "annealed ELBO"])
    for t in o.temperatures:
        surfaces[t] = surface(ticks, t)
        found = ticks[peaks(surfaces[t])]
        ends = [ascend(problem, t, s, 1000) for s in grid(o.ascents)]
        distance = np.array([np.abs(found - m).max(1) for m, _, _ in ends])
        near = distance <= ticks[1] - ticks[0]
        for k, peak in enumerate(found):
            here = [e for e, n in zip(ends, near[:, k]) if n]
            m, _, elbo = max(here, key=lambda e: e[2]) if here else (np.full(2, np.nan), None, np.nan)
            table.add(t, len(found), "({:.1f} {:.1f})".format(*peak), len(here), len(ends), *map(float, [*m, elbo]))
        if not near.any(1).all():
            print(f"T = {t}: {int((~near.any(1)).sum())} ascents end elsewhere, such as at",
                  ends[int(np.argmin(near.any(1)))][0])
    write(o.out, "mixture_surface", ["m1", "m2", *(f"T={t:g}" for t in surfaces)],
          [[a, b, *(s[i, j] for s in surfaces.values())] for i, a in enumerate(ticks) for j, b in enumerate(ticks)])

    def draw(axes):
        for a, (t, s) in zip(np.ravel(axes), surfaces.items()):
            a.contour(ticks, ticks, s.T, levels=s.max() - np.geomspace(1e-4, 1, 30)[::-1] * (s.max() - s.min()))
            a.plot(*ticks[peaks(s)].T, "k*")
            a.set(title=f"T = {t:g}", xlabel="m1", ylabel="m2", aspect="equal")
    plot(o.out, "mixture_surface", draw, 2, -(-len(surfaces) // 2), (9, 8))


def check(problem, o):
    """The program reports a sweep with the allocations that it began with."""
    worst = 0.0
    for t in o.temperatures:
        for sweeps in (2, 5, 20):
            (m0, v0, _), (m, v, reported) = (ascend(problem, t, (2.0, -2.0), n) for n in (sweeps - 1, sweeps))
            worst = max(worst, abs(reported - float(annealed_elbo(m, v, allocations(m0, v0, t), t))))
    print(f"formula against program: largest difference {worst:.2e}")


def methods(problem, o):
    starts = grid(o.side)
    runs = {}
    for method, how in METHODS.items():
        runs[method] = [problem.fit(*how, "--tol", 1e-12, "--max-iter", 5000, init=start(s))[0] for s in starts]
    best = max(r["elbo"] for rs in runs.values() for r in rs)
    table = Table(o.out, "mixture_starts", ["method", "best ELBO", "reached", "of", "share", "from (2, -2)", "sweeps"])
    for method, how in METHODS.items():
        reached = sum(r["elbo"] > best - 1e-5 for r in runs[method])
        wrong = problem.fit(*how, "--tol", 1e-12, "--max-iter", 5000, init=start((2, -2)))[0]
        table.add(method, f"{best:.8f}", reached, len(starts), reached / len(starts), f"{wrong['elbo']:.8f}",
                  float(np.median([r["iterations"] for r in runs[method]])))
    write(o.out, "mixture_starts_all", ["m1", "m2", *runs],
          [[*s, *(runs[m][i]["elbo"] for m in runs)] for i, s in enumerate(starts)])


def main():
    o = arguments(__doc__, temperatures=[10.0, 5.0, 4.0, 1.0], side=21, resolution=101, ascents=7)
    problem = Problem(o.lehr, MODEL, {"x": X, "w": W})
    check(problem, o)
    optima(problem, o)
    methods(problem, o)


if __name__ == "__main__":
    main()
