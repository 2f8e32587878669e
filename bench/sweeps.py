#!/usr/bin/env python3
"""Sweeps to convergence of two programs: one plain run (`--search none`) of every model of models/ with the data of its head
comment, and of a few models with simulated data on which plain sweeps converge slowly.

usage: bench/sweeps.py OLD NEW [--seeds N] [--jobs N] [--cases FILE] [--only WORD,...] [--write FILE]

OLD and NEW are builds of lehr, or files that an earlier call wrote with --write (which has the runs of NEW). A row is one run
of a model and a seed: the sweeps of both, whether they converged, the final ELBO of OLD, and how much higher that of NEW is. A
run that ends lower by more than 1e-6 of the ELBO is marked: it did not converge as far, or to another optimum. The last lines
add the logarithms of the sweeps of all runs, and of those for which OLD needs more than 20. --cases names a JSON file of more
cases: names, each with the words of a command after `lehr fit`. Run it from the root of the repository.
"""
import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import subprocess
import tempfile

import numpy as np

LIMIT = 5000   # sweeps at most
SLOW = 20      # a run of more sweeps counts as slow


def words_of(model):
    """The data and settings of the `lehr fit` line in the head comment."""
    head = model.read_text().split("\nmodel ")[0].replace("\\\n//", " ")
    words = next(line.lstrip("/ ").split() for line in head.splitlines() if "lehr fit" in line)
    out, option = [str(model)], ""
    for word in words[3:]:
        option = word if word.startswith("--") else option
        if option in ("--data", "--set", "--sizes"):
            out.append(word)
    return out


def simulated(folder):
    """Models with data that make sweeps converge slowly: names, with the words after `lehr fit`."""
    r = np.random.default_rng(7)

    def save(name, **arrays):
        np.savez(f"{folder}/{name}.npz", **arrays)
        return ["--data", f"{folder}/{name}.npz"]

    x = r.normal(size=(300, 6))
    y = (x @ r.normal(size=(6, 5)) + r.gumbel(size=(300, 5))).argmax(1)
    yield "softmax 300x6", ["models/regression/softmax_regression.lehr", *save("softmax", x=x, y=y)]
    x = r.normal(size=(400, 3)) @ (np.array([[2.], [1.2], [.7]]) * r.normal(size=(3, 12))) + .7 * r.normal(size=(400, 12))
    yield "ppca 400x12", ["models/factors/ppca_ard.lehr", *save("ppca", x=x + r.normal(size=12)), "--set", "K=6"]
    yield "factor analysis 400x12", ["models/factors/factor_analysis.lehr", *save("factors", x=x * r.uniform(.3, 3, 12)), "--set", "K=3"]
    user, item = np.nonzero(r.random((80, 60)) < .3)
    u, v = r.normal(size=(80, 3)), r.normal(size=(60, 3))
    y = 3 + (u[user] * v[item]).sum(1) + .5 * r.normal(size=len(user))
    yield "matrix 80x60", ["models/factors/matrix_factorisation.lehr", *save("matrix", user=user, item=item, y=y)]
    count = r.poisson(r.gamma(.5, 1, (60, 4)) @ r.gamma(.5, 1, (4, 40)))
    yield "counts 60x40", ["models/factors/poisson_factorisation.lehr", *save("counts", Y=count)]
    slope = .1 * r.normal(size=150).cumsum()
    y = (slope + .3 * r.normal(size=150)).cumsum() + 2 * r.normal(size=150)
    yield "trend 150", ["models/sequences/smooth_trend.lehr", *save("trend", y=y)]
    z = r.integers(4, size=500)
    x = r.normal(size=(4, 2))[z] * 1.2 + r.normal(size=(500, 2))
    yield "overlapping mixture 500", ["models/mixtures/gmm.lehr", *save("mixture", x=x), "--set", "K=6"]


def run(program, words, seed):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([program, "fit", *words, "--search", "none", "--seed", str(seed), "--max-iter", str(LIMIT), "--quiet",
                               "--threads", "1", "--out", folder], capture_output=True, text=True, env={**os.environ, "LEHR_CACHE": "off"})
        path = pathlib.Path(folder, "fit.json")
        if not path.exists():
            return {"status": (done.stderr.strip().splitlines() or ["failed"])[-1][:70], "iterations": LIMIT, "elbo": -math.inf, "leaps": None}
        fit = json.loads(path.read_text())
        return {**{name: fit[name] for name in ("status", "iterations", "elbo")}, "leaps": fit.get("leaps"), "seconds": fit["seconds"]["total"]}


def pairs(old, new, cases, jobs):
    """The names of the cases with the runs of both programs, as they end; of a file, only the cases that are in it."""
    files = {p: json.loads(pathlib.Path(p).read_text()) for p in (old, new) if p.endswith(".json")}
    cases = {name: c for name, c in cases.items() if all(name in f for f in files.values())}

    def both(name):
        return name, *(files[p][name] if p in files else run(p, *cases[name]) for p in (old, new))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(both, cases)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("old")
    p.add_argument("new")
    p.add_argument("--seeds", type=int, default=2)
    p.add_argument("--jobs", type=int, default=1)
    p.add_argument("--cases")
    p.add_argument("--only", default="")
    p.add_argument("--write")
    o = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cases = {m.stem: words_of(m) for m in sorted(pathlib.Path("models").glob("*/*.lehr"))} | dict(simulated(folder))
        if o.cases:
            cases |= json.loads(pathlib.Path(o.cases).read_text())
        chosen = [w for w in o.only.split(",") if w]
        named = {f"{name} {seed}": (words, seed) for name, words in cases.items() for seed in range(1, o.seeds + 1)
                 if not chosen or any(w in name for w in chosen)}
        compare(pairs(o.old, o.new, named, o.jobs), o.write)


def compare(found, write):
    """Prints a row for each case, then the sums."""
    print(f"{'model, seed':36} {'old':>6} {'new':>6} {'ratio':>6} {'ELBO of old':>18} {'higher':>10}  extrapolations")
    logs, written = {"all": [], f"more than {SLOW}": []}, {}
    for name, a, b in found:
        written[name] = b
        ratio = math.log(b["iterations"] / a["iterations"])
        for row, counts in (("all", True), (f"more than {SLOW}", a["iterations"] > SLOW)):
            logs[row] += [(math.log(a["iterations"]), math.log(b["iterations"]))] * counts
        higher = b["elbo"] - a["elbo"]
        marks = ["LOWER"] * (not higher >= -1e-6 * (1 + abs(a["elbo"]))) + ["MORE SWEEPS"] * (ratio > math.log(1.1))
        marks += [f"{who}: {r['status']}" for who, r in (("old", a), ("new", b)) if r["status"] != "converged"]
        leaps = " / ".join(f"{r['leaps']['taken']}+{r['leaps']['refused']}" if r["leaps"] else "-" for r in (a, b))
        print(f"{name:36} {a['iterations']:6} {b['iterations']:6} {math.exp(ratio):6.2f} {a['elbo']:18.8g} {higher:10.2g}  {leaps}  {', '.join(marks)}",
              flush=True)
    for row, sums in logs.items():
        before, after = (sum(x) for x in zip(*sums)) if sums else (0, 0)
        print(f"{row}: {len(sums)} runs, sum of log sweeps {before:.2f} -> {after:.2f}, mean ratio {math.exp((after - before) / max(1, len(sums))):.3f}")
    if write:
        pathlib.Path(write).write_text(json.dumps(written))


main()
