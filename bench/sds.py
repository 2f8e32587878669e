#!/usr/bin/env python3
"""Standard deviations of default fits beside Gibbs sampling, for all of models/ and the models of sds_models.py, and Pareto k-hat.

Each model is fitted by the command in its comment, by the defaults, with the factors' own standard deviations, and with `--guide factorised`.
The chains begin at the default fit, and are as long as an effective size of LEAST needs, in `--budget` CPU seconds. Numbers without
half of it, or with an R-hat above 1.05, are not compared, but counted; impossible categories are left out. Of arrays, at most MOST
numbers count, evenly spaced. Writes a row for each variable. Fits that `--work` has from an earlier run are taken as they are, but
for the kinds of `--again`.

usage: sds.py LEHR [--out FILE.csv] [--work DIR] [--again KIND] [--budget S] [MODEL ...]
       sds.py --table FILE.csv     prints the table of the documentation
"""
import argparse
import csv
import glob
import json
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile

import numpy as np

import sds_models

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LEAST = 800    # effective draws of each number: the Monte Carlo error of its standard deviation is then some 3 %
MOST = 60      # numbers of a variable that count
NEAR = 0.1     # how far the ratio of a standard deviation may be from 1
KINDS = {"factorised": ["--guide", "factorised", "--sds", "factors"], "factors": ["--sds", "factors"], "default": []}
COLUMNS = ["model", "variable", "numbers", "unmixed", *(f"{kind}_{what}" for kind in KINDS for what in ("near", "low", "median", "high")), "k_hat",
           "k_hat_corrected", "k_hat_factorised", "why"]
# What cannot be compared, and why.
LEFT_OUT = {
    "soft_kmeans": "all global variables are points", "equal_clusters": "all global variables are points",
    "gamma_flows": "all global variables are points", "negative_binomial": "all global variables are points",
    "rat_tumours": "all global variables are points", "dirichlet_multinomial": "all global variables are points",
    "softmax_regression": "there are no draws of softmax", "ordered_logistic": "there are no draws of points of cuts",
    "dirichlet_process_mixture": "components change places: chains do not begin at a fit of guide joint(mu, tau)",
    "gmm_normal_wishart": "components change places: chains do not begin at a fit of guide joint(mu, Lambda)",
    "lda": "chains of a whole corpus do not mix in the budget",
    "hierarchical_dirichlet_process": "there are no draws of concentrations", "lda_learned_alpha": "there are no draws of concentrations",
}


class Failed(Exception):
    """A command that does not end well, with the first line that it wrote."""


def run(lehr, *words, limit=None):
    """Runs a command of Lehr in the root of the repository; returns what it printed."""
    try:
        done = subprocess.run([lehr, *map(str, words)], cwd=ROOT, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        raise Failed(f"`lehr {words[0]}` took more than {limit} s") from None
    if done.returncode != 0:
        raise Failed((done.stderr.strip().splitlines() or ["no message"])[0])
    return done.stdout


def documented(path):
    """The words of the `lehr fit` command in the comment of a model, without `--out`."""
    with open(os.path.join(ROOT, path)) as file:
        lines = [line[2:].strip() for line in file if line.startswith("//")]
    first = next(i for i, line in enumerate(lines) if line.startswith("lehr fit"))
    text = lines[first]
    while text.endswith("\\"):
        first += 1
        text = text[:-1] + lines[first]
    words = shlex.split(text)[2:]
    at = words.index("--out")
    return [w for w in words[:at] + words[at + 2:] if w != "--save-locals"]


def cases(work):
    """The words after `lehr fit` of each model by name."""
    out = {os.path.basename(path)[:-5]: documented(path) for path in sorted(glob.glob("models/*/*.lehr", root_dir=ROOT))}
    for k, (name, (text, make)) in enumerate(sds_models.MODELS.items()):
        folder = os.path.join(work, "own." + name)
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, name + ".lehr"), "w") as file:
            file.write(text + "\n")
        data = {key: np.asarray(values).tolist() for key, values in make(np.random.default_rng(100 + k)).items()}
        with open(os.path.join(folder, "data.json"), "w") as file:
            json.dump(data, file)
        out["own." + name] = [os.path.join(folder, name + ".lehr"), "--data", os.path.join(folder, "data.json")]
    return out


def numbers(lehr, folder):
    """Mean and standard deviation of every number of a fit: by variable, then by the labels of its axes."""
    out = {}
    for row in csv.reader(run(lehr, "show", folder, "--format", "csv").splitlines()):
        if row[0] == "variable":
            header, at = row, row.index("sd")
        elif row[at]:
            out.setdefault(row[0], {})[tuple(w for w in row[1:at - 1] if w)] = (float(row[at - 1]), float(row[at]))
    return out


def cpu():
    """CPU seconds of all commands so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def sampled(lehr, words, start, folder, budget):
    """Draws, from a fit, with enough effective ones; returns the diagnostics of each number, in the order of posterior.npz."""
    draws, thin, chains = 2000, 1, 2
    words = drop(words, "--restarts", "--max-iter", "--method")
    while True:
        began = cpu()
        run(lehr, "fit", *words, "--method", "gibbs", "--init", start, "--chains", chains, "--warmup", draws * thin // 4, "--draws", draws, "--thin",
            thin, "--predictive", 0, "--out", folder, "--quiet", limit=60 * budget)
        took = cpu() - began
        with np.load(os.path.join(folder, "posterior.npz")) as file:
            size = np.concatenate([file[name].ravel() for name in file.files if name.endswith(".ess_bulk")])
        least = np.nanmin(size) if np.isfinite(size).any() else LEAST
        more = min(LEAST * 1.3 / max(least, 1), budget / took)
        if least >= LEAST or more < 1.3:
            return
        factor = min(more, 1000)
        kept = min(factor, 4)
        draws, thin = int(draws * kept), max(1, int(round(thin * factor / kept)))


def drop(words, *options):
    """Words without some options and their values."""
    out, skip = [], False
    for word in words:
        if not skip and word not in options:
            out.append(word)
        skip = not skip and word in options
    return out


def mixed(folder):
    """Whether each number of a sampler's fit may be compared, by variable, in the order of `show`."""
    out = {}
    with np.load(os.path.join(folder, "posterior.npz")) as file:
        for name in file.files:
            variable, _, what = name.rpartition(".")
            if what == "ess_bulk":
                out[variable] = (file[name].ravel() >= LEAST / 2) & (file[variable + ".r_hat"].ravel() < 1.05)
    return out


def khats(lehr, words, folder, again, corrected):
    """Pareto k-hat of a fit, and of factors with the corrected standard deviations; 0 where q is the posterior, NaN where there is none."""
    data = [w for i, w in enumerate(words) if w == "--data" or words[i - 1] == "--data"]
    try:
        if again or not os.path.exists(os.path.join(folder, "diagnosis.json")):
            run(lehr, "diagnose", folder, *data, *([] if corrected else ["--most", 0]), "--replicates", 2, limit=400)
    except Failed:
        return float("nan"), float("nan")
    with open(os.path.join(folder, "diagnosis.json")) as file:
        pareto = json.load(file)["pareto"]
    if "why_not" in pareto:
        return float("nan"), float("nan")
    k = 0.0 if pareto["equal_ratios"] else pareto["k_hat"] or float("inf")
    return k, pareto["linear_response"]["k_hat"] or float("inf") if "linear_response" in pareto else k


def compare(lehr, name, words, work, budget, again):
    """The rows of one model."""
    at = lambda kind: os.path.join(work, name, kind)
    fits = {}
    is_new = lambda kind: kind in again or not os.path.exists(os.path.join(at(kind), "fit.json"))
    for kind, options in KINDS.items():
        if is_new(kind):
            run(lehr, "fit", *words, *options, "--out", at(kind), "--quiet", limit=1200)
        fits[kind] = numbers(lehr, at(kind))
    if is_new("gibbs"):
        sampled(lehr, words, at("factors"), at("gibbs"), budget)
    truth, good = numbers(lehr, at("gibbs")), mixed(at("gibbs"))
    k_hats = dict(zip(("k_hat", "k_hat_corrected"), khats(lehr, words, at("factors"), "k_hat" in again, True)))
    k_hats["k_hat_factorised"] = khats(lehr, words, at("factorised"), "k_hat_factorised" in again, False)[0]
    rows = []
    for variable, values in truth.items():
        if variable not in fits["default"]:
            continue
        keys = [key for i, key in enumerate(values) if key in fits["default"][variable]]
        keep = dict(zip(values, good[variable])) if variable in good else dict.fromkeys(values, True)
        keys = [keys[i] for i in np.unique(np.linspace(0, len(keys) - 1, MOST).astype(int))] if keys else []
        if is_simplex([mean for mean, _ in values.values()]):
            keys = [key for key in keys if max(values[key][0], fits["default"][variable][key][0]) > 1e-4]
        used = [key for key in keys if keep[key] and values[key][1] > 0]
        row = {"model": name, "variable": variable, "numbers": len(used), "unmixed": len(keys) - len(used), **k_hats}
        for kind in KINDS:
            of = fits[kind].get(variable, {})
            ratio = np.array([of[key][1] / values[key][1] for key in used if key in of])
            if len(ratio):
                row |= {f"{kind}_near": int((abs(ratio - 1) <= NEAR).sum()), f"{kind}_low": ratio.min(), f"{kind}_median": np.median(ratio),
                        f"{kind}_high": ratio.max()}
        rows.append(row)
    if not rows:
        rows.append({"model": name, "numbers": 0, "why": "no number has a standard deviation", **k_hats})
    return rows


def is_simplex(means):
    """True for probabilities in rows that sum to 1. Some may be of impossible categories, with a concentration of 0."""
    total = sum(means)
    return min(means) >= 0 and total > 0.5 and abs(total - round(total)) < 1e-6


def written(value):
    return f"{value:.3f}" if isinstance(value, float) else value


def table(path):
    """Prints the shares: of all numbers, and the mean over models of the share of each."""
    with open(path) as file:
        rows = list(csv.DictReader(file))
    models = {}
    for row in rows:
        models.setdefault(row["model"], []).append(row)
    print("| standard deviations | numbers within 10 % | mean of models | models with all |\n|---|---|---|---|")
    for kind in KINDS:
        total, near, shares = 0, 0, []
        for of in models.values():
            n = sum(int(r["numbers"] or 0) for r in of)
            k = sum(int(r[f"{kind}_near"] or 0) for r in of)
            total, near = total + n, near + k
            if n:
                shares.append(k / n)
        print(f"| {kind} | {near} of {total}: {near / max(total, 1):.0%} | {np.mean(shares):.0%} of {len(shares)} | {sum(s == 1 for s in shares)} |")
    for column in ("k_hat", "k_hat_corrected", "k_hat_factorised"):
        known = [float(of[0][column]) for of in models.values() if re.match(r"^-?\d", of[0][column])]
        print(f"\n{column}: {sum(k < 0.7 for k in known)} of {len(known)} models below 0.7")
    for name, of in models.items():
        if of[0]["why"]:
            print(f"{name}: {of[0]['why']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lehr", nargs="?")
    parser.add_argument("models", nargs="*")
    parser.add_argument("--out")
    parser.add_argument("--work", help="directory for the fits; a temporary one by default")
    parser.add_argument("--again", action="append", default=[], help="kinds of fits to make anew")
    parser.add_argument("--budget", type=float, default=60)
    parser.add_argument("--table")
    o = parser.parse_intermixed_args()
    if o.table:
        return table(o.table)
    with tempfile.TemporaryDirectory() as temporary:
        work = os.path.abspath(o.work or temporary)
        lehr = os.path.abspath(o.lehr)
        rows = []
        for name, words in cases(work).items():
            if o.models and name not in o.models:
                continue
            try:
                if name in LEFT_OUT:
                    raise Failed(LEFT_OUT[name])
                got = compare(lehr, name, words, work, o.budget, o.again)
            except Failed as why:
                got = [{"model": name, "numbers": 0, "why": str(why)}]
            rows += got
            for row in got:
                print(", ".join(f"{key} {written(value)}" for key, value in row.items()), file=sys.stderr, flush=True)
            if o.out:
                with open(o.out, "w", newline="") as file:
                    writer = csv.DictWriter(file, COLUMNS)
                    writer.writeheader()
                    writer.writerows({key: written(value) for key, value in row.items()} for row in rows)


main()
