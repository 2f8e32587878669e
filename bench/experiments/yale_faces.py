#!/usr/bin/env python3
"""The factorial mixture on faces (Mandt et al. 2016, section 4): plain ascent, annealing and variational tempering from
the same starts; ELBO, features that nothing uses, and the features of each method's best run as images.

The faces are the Extended Yale Face Database B, cropped and scaled to 32 x 32 (Georghiades, Belhumeur & Kriegman 2001;
Lee, Ho & Kriegman 2005), free for research use and not part of the project; no picture of them is either. The grey
values are centred and scaled by those of all images together; noise variance 0.5, prior variance 1, activity 0.3.
Starts: `images`, each feature half of a random image; `allocations`, `means` and `seeds` of --init.
"""
import os

import numpy as np

from common import Problem, Table, arguments, gallery, p_win, shared

MODEL = """model faces { const K = 8; plate n; plate k = K; plate pixel;
  mu[k, pixel] ~ Normal(mean = 0, variance = 1);
  z[n, k] ~ Bernoulli(0.3);
  observe x[n, pixel] ~ Normal(mean = sum(k) z[n, k] * mu[k, pixel], variance = 0.5); }"""
METHODS = {"VI": [], "AVI 10/100": ["--anneal", "linear:from=10,over=100"],
           "AVI 3/100": ["--anneal", "linear:from=3,over=100"], "VT": ["--temper", "global:max=10"],
           "auto": ["--anneal", "auto"]}


def faces(step):
    """Every `step`-th image; their pixels are stored column by column."""
    x = np.load(shared("faces/yaleb_32x32.npy"))[::step].astype(float)
    x = x.reshape(-1, 32, 32).transpose(0, 2, 1).reshape(len(x), -1)
    return (x - x.mean()) / x.std()


def start(kind, x, features, seed):
    """Of --init, or initial values: q(mu) with the precision that 0.3 N images give it."""
    if kind != "images":
        return kind
    chosen = np.random.default_rng(seed).choice(len(x), features, replace=False)
    return {"mu.mean": x[chosen] / 2, "mu.precision": np.full((features, x.shape[1]), 0.3 * len(x) / 0.5)}


def main():
    o = arguments(__doc__, features=8, step=1, inits=["images", "allocations"], methods=list(METHODS))
    x = faces(o.step)
    table = Table(o.out, "yale_faces", ["images", "start", "method", "median", "sd", "best", "gain", "wins", "P(win)",
                                        "unused", "sweeps", "largest T"])
    problem = Problem(o.lehr, MODEL, settings=[f"K={o.features}"])
    np.save(problem.at("x.npy"), x)
    images = {"faces": x[np.linspace(0, len(x) - 1, o.features).astype(int)]}
    for init in o.inits:
        plain = None
        for method in o.methods:
            elbo, features, sweeps, hot = [], [], [], []
            for seed in range(o.seed, o.seed + o.starts):
                report, out = problem.fit("--data", "x=" + problem.at("x.npy"), "--seed", seed, *METHODS[method],
                                          init=start(init, x, o.features, seed))
                with np.load(os.path.join(out, "posterior.npz")) as q:
                    features.append(q["mu.mean"])
                elbo.append(report["elbo"])
                sweeps.append(report["iterations"])
                hot.append(report.get("tempering", {}).get("temperature", 1.0))
            elbo = np.array(elbo)
            plain = elbo if plain is None else plain
            unused = [(m ** 2).mean(1) < 0.01 for m in features]
            best = features[int(np.argmax(elbo))]
            images[f"{init} {method}"] = best[np.argsort(-(best ** 2).sum(1))]
            table.add(len(x), init, method, float(np.median(elbo)), float(elbo.std()), float(elbo.max()),
                      float(np.median(elbo) - np.median(plain)),
                      f"{int((elbo > plain + 1e-6 * abs(plain)).sum())}/{o.starts}", p_win(elbo, plain),
                      float(np.sum(unused, 1).mean()), float(np.median(sweeps)), float(max(hot)))
    gallery(o.out, "yale_faces", images, (32, 32))


if __name__ == "__main__":
    main()
