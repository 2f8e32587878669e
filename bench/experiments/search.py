#!/usr/bin/env python3
"""What the search of `lehr fit` finds, and what it costs: cells of models/ with their data and of simulated ones.

Of every cell 20 plain runs (four seeds of each kind of start) and four annealed ones give the best ELBO that is known, together
with the searches. Score: (ELBO - median of the four default starts) / (best known - that median). Cost: sweeps over those of the
median default start.

usage: search.py LEHR [FOLDER] [CELL ...] [--full]
"""
import glob
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KINDS = ("seeds", "points", "allocations", "means", "flat")
SLOW = ("lda",)


def of_models():
    """The command at the head of every model, without its own options of the method."""
    cells = {}
    for path in sorted(glob.glob(os.path.join(ROOT, "models/*.lehr"))):
        with open(path) as f:
            text = re.sub(r"\\\n//", " ", f.read())
        command = re.search(r"lehr fit (models/\S+ .*)", text)
        words = command.group(1).split()
        out = []
        while words:
            word = words.pop(0)
            if word in ("--out", "--restarts", "--init", "--anneal", "--temper", "--max-iter", "--seed", "--method", "--tol"):
                words.pop(0)
            else:
                out.append(word)
        cells[os.path.basename(path)[:-5]] = out
    return cells


def simulated(folder):
    """Models that users write, whose starts deceive."""
    r = np.random.default_rng(5)
    cells = {}

    def cell(name, model, data, *arguments):
        os.makedirs(os.path.join(folder, name), exist_ok=True)
        with open(os.path.join(folder, name, "d.json"), "w") as f:
            json.dump({k: np.asarray(v).tolist() for k, v in data.items()}, f)
        if "{" in model:
            with open(os.path.join(folder, name, "m.lehr"), "w") as f:
                f.write(model)
            model = os.path.join(folder, name, "m.lehr")
        cells[name] = [model, "--data", os.path.join(folder, name, "d.json"), *arguments]

    s, z, w = r.random((150, 4)) < 0.4, r.normal(size=(150, 4)), 2 * r.normal(size=(4, 12))
    cell("spike_and_slab_factors", """model m { plate n; plate k = 6; plate d;
      tau ~ Gamma(shape = 1, rate = 1); pi[k] ~ Beta(1, 2); W[k, d] ~ Normal(mean = 0, precision = 0.25);
      s[n, k] ~ Bernoulli(pi[k]); z[n, k] ~ Normal(mean = 0, precision = 1);
      observe x[n, d] ~ Normal(mean = sum(k) s[n, k] * z[n, k] * W[k, d], precision = tau); }""",
         {"x": (s * z) @ w + 0.1 * r.normal(size=(150, 12))})
    cell("zero_inflation", """model m { plate n; plate k = 2; data on[k] : real; pi ~ Dirichlet(concentration = 1) over k;
      lam ~ Gamma(shape = 1, rate = 0.1); z[n] ~ Categorical(pi); observe y[n] ~ Poisson(on[z[n]] * lam); }""",
         {"on": [1e-9, 1], "y": r.poisson(3.1, 300) * (r.random(300) < 0.6)})
    skill, slope, hard = r.normal(size=200), r.gamma(4, 0.4, size=20), r.normal(size=20)
    cell("item_response", """model m { plate p; plate i; theta[p] ~ Normal(mean = 0, precision = 1);
      a[i] ~ Normal(mean = 1, precision = 1); b[i] ~ Normal(mean = 0, precision = 1);
      observe y[p, i] ~ Bernoulli(logistic(a[i] * (theta[p] - b[i]))); }""",
         {"y": (r.random((200, 20)) < 1 / (1 + np.exp(-slope * (skill[:, None] - hard)))).astype(int)})
    means, group = 4 * r.normal(size=(6, 2)), r.integers(6, size=400)
    cell("gaussian_mixture", "models/gmm.lehr", {"x": means[group] + r.normal(size=(400, 2))}, "--set", "K=6")
    p, group = r.beta(0.5, 0.5, size=(7, 25)), r.integers(7, size=400)
    cell("bernoulli_mixture", "models/mixture_of_bernoullis.lehr", {"x": (r.random((400, 25)) < p[group]).astype(int)}, "--set", "K=7")
    a, b = 2 * r.normal(size=(3, 10)), 2 * r.normal(size=(3, 10))
    cell("two_causes", """model m { plate n; plate k = 3; plate j = 3; plate d = 10;
      p ~ Dirichlet(concentration = 1) over k; q ~ Dirichlet(concentration = 1) over j;
      F[k, d] ~ Normal(mean = 0, precision = 0.2); G[j, d] ~ Normal(mean = 0, precision = 0.2); tau ~ Gamma(shape = 1, rate = 1);
      a[n] ~ Categorical(p); b[n] ~ Categorical(q);
      observe x[n, d] ~ Normal(mean = F[a[n], d] + G[b[n], d], precision = tau); }""",
         {"x": a[r.integers(3, size=200)] + b[r.integers(3, size=200)] + 0.7 * r.normal(size=(200, 10))})
    x = r.normal(size=(100, 12))
    cell("spike_and_slab", """model m { plate n; plate j = 12; data x[n, j] : real; p ~ Beta(1, 3); tau ~ Gamma(shape = 1, rate = 1);
      s[j] ~ Bernoulli(p); w[j] ~ Normal(mean = 0, precision = 0.1);
      observe y[n] ~ Normal(mean = sum(j) s[j] * w[j] * x[n, j], precision = tau); }""",
         {"x": x, "y": x[:, [0, 3, 7]] @ [2, -3, 1.5] + 0.5 * r.normal(size=100)})
    beta = r.dirichlet([0.1] * 60, 8)
    counts = [r.multinomial(80, r.dirichlet([0.2] * 8) @ beta) for _ in range(120)]
    path = os.path.join(folder, "topics.ldac")
    with open(path, "w") as f:
        for c in counts:
            f.write(" ".join([str(int((c > 0).sum()))] + [f"{i}:{n}" for i, n in enumerate(c) if n]) + "\n")
    cells["topics"] = ["models/lda.lehr", "--data", "w=" + path, "--set", "K=8"]
    return cells


def run(lehr, folder, cell, arguments, seed, *options):
    out = os.path.join(folder, "fit", re.sub(r"\W", "_", "_".join([cell, str(seed), *options])))
    done = subprocess.run([lehr, "fit", *arguments, "--quiet", "--seed", str(seed), "--out", out, *options], cwd=ROOT,
                          capture_output=True, text=True)
    if done.returncode != 0:
        return np.nan, 0
    with open(os.path.join(out, "fit.json")) as f:
        j = json.load(f)
    return j["elbo"], j["iterations"]


def measure(lehr, folder, name, arguments, searches):
    jobs = [(seed, "--init", kind) for kind in KINDS for seed in (1, 2, 3, 4)]
    jobs += [(seed, "--init", kind, "--anneal", "auto") for kind in ("flat", "seeds") for seed in (1, 2)]
    jobs += [(seed, "--search", s) for s in searches for seed in (11, 12, 13)]
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda j: run(lehr, folder, name, arguments, *j), jobs))
    if np.isnan(found[0][0]):
        return None
    usual, length = np.nanmedian([e for e, _ in found[:4]]), np.median([n for _, n in found[:4]])
    best = np.nanmax([e for e, _ in found])
    room = best - usual if best - usual > 1e-6 * (1 + abs(best)) else None
    rows = []
    for (elbo, sweeps), job in zip(found, jobs):
        if job[1] == "--search":
            rows.append((job[2], 1.0 if room is None else (elbo - usual) / room, sweeps / length))
    return usual, best, length, rows


def main():
    words = [w for w in sys.argv[1:] if w != "--full"]
    lehr, folder = os.path.abspath(words[0]), os.path.abspath(words[1] if len(words) > 1 else "/tmp/search")
    os.makedirs(folder, exist_ok=True)
    searches = ("quick", "full") if "--full" in sys.argv else ("quick",)
    cells = {**simulated(folder), **of_models()}
    print(f"{'cell':28} {'default':>14} {'best known':>14} {'sweeps':>7}  score and cost by search, three seeds")
    for name in words[2:] or [c for c in cells if c not in SLOW]:
        got = measure(lehr, folder, name, cells[name], searches)
        if got is None:
            print(f"{name:28} the default start fails")
            continue
        usual, best, length, rows = got
        parts = [f"{s}: " + " ".join(f"{score:.2f} ({cost:.1f}x)" for kind, score, cost in rows if kind == s) for s in searches]
        print(f"{name:28} {usual:14.2f} {best:14.2f} {length:7.0f}  " + "; ".join(parts), flush=True)


if __name__ == "__main__":
    main()
