#!/usr/bin/env python3
"""What the search of `lehr fit` finds, and what it costs: cells of models/ with their data, of simulated ones, and of automatic.py.

Of every cell four default runs, ten plain ones of each kind of start and eight annealed ones give the best ELBO that is known, together
with the searches. Score: (ELBO - median of the default runs) / (best known - that median), of a cell the median of its searches.
Cost: sweeps over those of the median default run, which makes plain sweeps. FOLDER/runs.jsonl keeps every job, and none is done twice.

usage: search.py LEHR [FOLDER] [CELL ...] [--full]
"""
import glob
import json
import os
import re
import subprocess
import sys

import numpy as np

import automatic
from common import ROOT

KINDS = ("seeds", "points", "allocations", "means", "flat")
SEEDS = range(51, 56)
# Sweeps of a plain run where a search takes minutes; such cells have three.
CAPS = {"lda": 100}


def of_models():
    """The command at the head of every model, without its own options of the method."""
    cells = {}
    for path in sorted(glob.glob(os.path.join(ROOT, "models/*/*.lehr"))):
        with open(path) as f:
            text = re.sub(r"\\\n//", " ", f.read())
        command = re.search(r"lehr fit (models/\S+ .*)", text)
        words = command.group(1).split()
        out = []
        while words:
            word = words.pop(0)
            if word in ("--out", "--restarts", "--init", "--anneal", "--temper", "--max-iter", "--seed", "--method", "--tol"):
                words.pop(0)
            elif word != "--save-locals":
                out.append(word)
        cells[os.path.basename(path)[:-5]] = out
    return cells


def of_automatic(lehr):
    """The cells of automatic.py, whose starts are not taken; those whose data are not there are left out."""
    cells, missing = {}, ""
    try:
        for name, make, _ in automatic.cells(lehr):
            if not name.endswith("allocations"):
                cells[name.replace(" means", "")] = make
    except SystemExit as reason:
        missing = str(reason)
    if missing:
        print(missing, file=sys.stderr)
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
    cell("gaussian_mixture", "models/mixtures/gmm.lehr", {"x": means[group] + r.normal(size=(400, 2))}, "--set", "K=6")
    p, group = r.beta(0.5, 0.5, size=(7, 25)), r.integers(7, size=400)
    cell("bernoulli_mixture", "models/mixtures/mixture_of_bernoullis.lehr", {"x": (r.random((400, 25)) < p[group]).astype(int)}, "--set", "K=7")
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
    cells["topics"] = ["models/topics/lda.lehr", "--data", "w=" + path, "--set", "K=8"]
    leaning, ties = r.dirichlet([0.2] * 4, 40), 0.05 + 0.8 * np.eye(4)
    a, b = np.nonzero(1 - np.eye(40))
    tie = [r.random() < ties[r.choice(4, p=leaning[i]), r.choice(4, p=leaning[j])] for i, j in zip(a, b)]
    cell("mixed_membership", """model m { plate member; plate pair; plate g = 4; plate h = g; data a[pair] : member; data b[pair] : member;
      pi[member] ~ Dirichlet(concentration = 0.3) over g; B[g, h] ~ Beta(1, 1);
      z_from[pair] ~ Categorical(pi[a[pair]]); z_to[pair] ~ Categorical(pi[b[pair]]);
      observe tie[pair] ~ Bernoulli(B[z_from[pair], z_to[pair]]); }""",
         {"a": a, "b": b, "tie": np.array(tie, int)})
    return cells


def jobs(name, searches):
    """Role and options of every process that measures a cell; no two have a start in common."""
    cap = ["--max-iter", CAPS[name]] if name in CAPS else []
    yield "default", ["--init", "seeds", "--leap-after", 0, "--restarts", 4, *cap]
    for search in searches:
        for seed in SEEDS[:3] if cap else SEEDS:
            yield search, ["--search", search, "--seed", seed]
    for seed, kind in enumerate(KINDS, 2):
        yield kind, ["--init", kind, "--restarts", 10, "--seed", seed, *cap]
    for seed, (kind, starts) in enumerate((("flat", 3), ("seeds", 3), ("points", 2)), 7):
        yield kind + " annealed", ["--init", kind, "--anneal", "auto", "--restarts", starts, "--seed", seed]


def run(lehr, folder, arguments, options):
    """ELBO and sweeps of every start of a process, of a search all its sweeps; whether it searched; or how it failed."""
    out = os.path.join(folder, "fit")
    command = [lehr, "fit", *arguments, "--quiet", "--threads", 1, "--out", out, *options]
    done = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        return {"failed": done.stderr[-300:]}
    with open(os.path.join(out, "fit.json")) as f:
        j = json.load(f)
    starts = j["restarts"] if "--restarts" in options else [j]
    return {"runs": [(s["elbo"], s["iterations"]) for s in starts], "searched": "search" in j}


def measure(lehr, folder, name, arguments, searches, known):
    """The runs of a cell by role, but for those that `known` has; None where the default start fails, {} where nothing is searched."""
    found, problem = {}, None
    for role, options in jobs(name, searches):
        key = " ".join([name, *map(str, options)])
        if key not in known:
            if callable(arguments):
                problem = arguments()
                arguments = [problem.model, *problem.arguments]
            known[key] = run(lehr, folder, arguments, options)
            with open(os.path.join(folder, "runs.jsonl"), "a") as f:
                f.write(json.dumps({"key": key, **known[key]}) + "\n")
        if role == "default" and "failed" in known[key]:
            return None
        if role in searches and not known[key].get("searched", True):
            return {}
        found.setdefault(role, []).extend((e, n) for e, n in known[key].get("runs", []) if e is not None)
    return found


def score(elbo, usual, best):
    """Where nothing better than the default is known, whether that is reached."""
    near = 1e-6 * (1 + abs(best))
    return (elbo - usual) / (best - usual) if best - usual > near else float(elbo >= usual - near)


def row_of(found, searches):
    """The first columns of the table; and of every search a row each seed: the score, that among the mixed runs alone, the cost, the
    cost in default runs that leap, and whether it ends below the default."""
    usual, length = np.median(found["default"], 0)
    mixed = {role: max(e for e, _ in runs) for role, runs in found.items() if role not in searches}
    best = max(e for runs in found.values() for e, _ in runs)
    of = next((role for role, e in mixed.items() if e >= best - 1e-6 * (1 + abs(best))), "search")
    leaping = np.median([n for _, n in found["seeds"]])
    low = usual - 1e-6 * (1 + abs(usual))
    rows = {s: np.array([(score(e, usual, best), score(e, usual, max(mixed.values())), n / length, n / leaping, e < low)
                         for e, n in found[s]]) for s in searches if found.get(s)}
    return usual, best, of, length, rows


def main():
    words = [w for w in sys.argv[1:] if w != "--full"]
    lehr, folder = os.path.abspath(words[0]), os.path.abspath(words[1] if len(words) > 1 else "/tmp/search")
    os.makedirs(folder, exist_ok=True)
    searches = ("quick", "full") if "--full" in sys.argv else ("quick",)
    cells = {**simulated(folder), **of_models(), **of_automatic(lehr)}
    known = {}
    if os.path.exists(os.path.join(folder, "runs.jsonl")):
        with open(os.path.join(folder, "runs.jsonl")) as f:
            known = {j["key"]: j for j in map(json.loads, f)}
    total = {s: [] for s in searches}
    print(f"{'cell':28} {'default':>14} {'best known':>14} {'by':>15} {'sweeps':>7}  scores and median cost by search")
    for name in words[2:] or sorted(cells, key=lambda c: c in CAPS):
        try:
            found = measure(lehr, folder, name, cells[name], searches, known)
        except SystemExit as missing:
            print(f"{name:28} {missing}")
            continue
        if not found:
            print(f"{name:28} " + ("the default start fails" if found is None else "is not searched"))
            continue
        usual, best, of, length, rows = row_of(found, searches)
        for s, row in rows.items():
            total[s].append((*np.median(row, 0), sum(row[:, 4])))
        text = [f"{s}: " + " ".join(f"{r[0]:.2f}" for r in row) + f" ({np.median(row, 0)[2]:.1f}x)" for s, row in rows.items()]
        print(f"{name:28} {usual:14.2f} {best:14.2f} {of:>15} {length:7.0f}  " + "; ".join(text), flush=True)
    for s, cell in total.items():
        high, mixed, cost, leaping, below, each = np.array(cell).T
        print(f"{s}: {np.sum(high >= 0.9)} of {len(cell)} cells at 0.9 or more ({np.mean(high >= 0.9):.3f}; "
              f"{np.sum(mixed >= 0.9)} with the best of the mixed runs alone), median cost {np.median(cost):.1f} "
              f"({np.median(leaping):.1f} of runs that leap), below the default {np.sum(below > 0.5)} cells, {np.sum(each):.0f} searches")


if __name__ == "__main__":
    main()
