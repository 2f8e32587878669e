#!/usr/bin/env python3
"""Figures of Xie's tutorial that this program can repeat: the mixture of Gaussians fitted to data of one and two
dimensions, the ELBO of coordinate ascent over sweeps from several starts, and that of SVI with batches of 1, 20, 50 and
1000 over steps, rho_t = 1 / (t + 100). Its Gibbs sampler is `--method gibbs`, which tests/posterior/sampler/xie_gibbs.py
compares with coordinate ascent on such data."""
import csv
import os

import numpy as np

from common import Problem, Table, arguments, plot, write
from minibatch_steps import MODEL, data

BATCHES = [1, 20, 50, 1000]


def trace(out, every=1):
    """Sweeps or steps, and ELBOs; those of minibatches are exact at the steps that `every` divides."""
    with open(os.path.join(out, "trace.csv")) as f:
        rows = [(int(r["iteration"]), float(r["elbo"])) for r in csv.DictReader(f)]
    return np.array([r for r in rows if r[0] % every == 0]).T


def coordinate_ascent(problem, o):
    """A curve for every start, and the folder of the best fit."""
    fits = [problem.fit("--seed", o.seed + s, "--max-iter", 300, "--tol", 1e-10) for s in range(o.starts)]
    return [trace(out) for _, out in fits], max(fits, key=lambda f: f[0]["elbo"])[1]


def minibatches(problem, o, batch):
    """The curve from the first start."""
    _, out = problem.fit("--seed", o.seed, "--method", "svi", "--batch-size", batch, "--epochs",
                         o.steps * batch / 1000, "--tau0", 100, "--kappa", 1, "--elbo-every", o.every)
    return trace(out, o.every)


def ellipse(mean, radius):
    angle = np.linspace(0, 2 * np.pi, 100)
    return mean[0] + radius * np.cos(angle), mean[1] + radius * np.sin(angle)


def draw_fit(axes, x, q):
    """The data, and the components at their posterior means: densities, or circles of two standard deviations."""
    weights = q["pi.concentration"] / q["pi.concentration"].sum()
    if x.shape[1] == 1:
        at = np.linspace(x.min(), x.max(), 400)
        axes.hist(x[:, 0], bins=60, density=True, color="0.8")
        for w, m in zip(weights, q["mu.mean"][:, 0]):
            axes.plot(at, w * np.exp(-(at - m) ** 2 / 2) / np.sqrt(2 * np.pi))
    else:
        axes.plot(*x.T, ".", color="0.7", markersize=2)
        for m in q["mu.mean"]:
            axes.plot(*ellipse(m, 2))
        axes.set_aspect("equal")
    axes.set_title(f"d = {x.shape[1]}")


def main():
    o = arguments(__doc__, steps=500, every=5, dataset=0)
    means = Table(o.out, "xie_components", ["d", "component", "weight", "mean", "sd of the mean", "sample mean"])
    curves, fits, rows = {}, {}, []
    for d in (1, 2):
        x = data(o.dataset, d)
        problem = Problem(o.lehr, MODEL, {"x": x})
        plain, best = coordinate_ascent(problem, o)
        curves[d] = {f"start {s + 1}": c for s, c in enumerate(plain)}, {
            f"batch {b}": minibatches(problem, o, b) for b in BATCHES}
        with np.load(os.path.join(best, "posterior.npz")) as q:
            fits[d] = x, dict(q)
        nearest = np.argmin(((x[:, None] - fits[d][1]["mu.mean"]) ** 2).sum(2), 1)
        for k, m in enumerate(fits[d][1]["mu.mean"]):
            sd = np.sqrt(np.diag(np.linalg.inv(fits[d][1]["mu.precision"][k])))
            w = fits[d][1]["pi.concentration"]
            means.add(d, k, float(w[k] / w.sum()), *(" ".join(f"{v:.3f}" for v in a)
                                                     for a in (m, sd, x[nearest == k].mean(0))))
        rows += [(d, name, int(t), elbo) for part in curves[d] for name, c in part.items() for t, elbo in c.T]
    write(o.out, "xie_curves", ["d", "curve", "iteration", "elbo"], rows)

    def draw(axes):
        for line, d in zip(axes, (1, 2)):
            draw_fit(line[0], *fits[d])
            top = max(c[1].max() for part in curves[d] for c in part.values())
            for a, part, xlabel in zip(line[1:], curves[d], ("sweep", "step")):
                for name, (t, elbo) in part.items():
                    a.plot(t, elbo, label=name)
                a.set(xlabel=xlabel, ylabel="ELBO", xscale="log" if xlabel == "sweep" else "linear",
                      ylim=(top - 0.1 * abs(top), top + 0.005 * abs(top)))
                a.legend()
            line[2].axhline(curves[d][0]["start 1"][1][-1], color="k", linestyle=":")
    plot(o.out, "xie", draw, 2, 3, (14, 8))


if __name__ == "__main__":
    main()
