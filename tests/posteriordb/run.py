#!/usr/bin/env python3
"""Lehr against the reference posteriors of posteriordb (Magnusson et al. 2024).

    LEHR_SHARED_DATA=FOLDER /usr/bin/python3 tests/posteriordb/run.py build/lehr [PATTERN ...]

FOLDER/posteriordb has references.json (mean and sd of each parameter) and data/NAME.json. Every posterior of posteriordb.csv that has a
model, a reference and data there is sampled (`--method gibbs`) and fitted (the default method). A table on the standard output has the
largest difference of means, in sds of the reference, and the largest difference of sds, in percent. The exit code is 1 where a sampler
misses a bar. Patterns (`nes*`) choose posteriors.

Columns of posteriordb.csv:
  data     arrays that the program makes of the data, as its `transformed data` does: `y = log(earn); X = 1, height` (columns of a matrix);
           `*` are the data themselves
  mapping  parameters of the reference by columns of the draws: `beta[#] = beta.#`, `#` any number, `{#+1}` the one after it
  support  what parameters of the program obey and the model does not say (`0 < mu.1; ascending mu`): other draws are left out
"""
import fnmatch
import os
import re
import sys

import numpy as np

sys.path.append(f"{sys.path[0]}/../helpers")
from lehr_tests import columns, lehr, read_csv, read_json, temporary  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(os.environ.get("LEHR_SHARED_DATA", "nowhere"), "posteriordb")  # it takes an hour: only where it is asked for
SKIPPED = 77
MEAN_BAR = 0.3   # sds of the reference
SD_BAR = 10.0    # percent
CHAINS, WARMUP, DRAWS, THIN = 4, 2000, 5000, 4

def before(y):
    """Each row shifted by one, from 0."""
    return np.concatenate([np.zeros_like(y[:, :1]), y[:, :-1]], axis=1)


def expand(rows, ends):
    """Row 0 up to column ends[0], row 1 up to ends[1], ...: a column for each of ends[-1]."""
    return np.repeat(rows, np.diff(ends, prepend=0).astype(int), axis=0).T


FUNCTIONS = {"log": np.log, "log10": np.log10, "mean": np.mean, "sd": lambda x: np.std(x, ddof=1), "rows": lambda y: np.sum(y, axis=1),
             "totals": lambda y: np.cumsum(y, axis=1), "before": before, "expand": expand, "upto": lambda n: np.arange(1, int(n) + 1),
             "known": lambda y: np.where(y < 0, np.nan, y)}
ARITHMETIC = {"log": np.log, "sqrt": np.sqrt, "logistic": lambda x: 1 / (1 + np.exp(-x))}


def made_of(recipe, data):
    """What the model is given: the data, and the arrays that `recipe` makes of them."""
    made = {}
    for statement in filter(None, (s.strip() for s in recipe.split(";"))):
        if statement == "*":
            made.update(data)
            continue
        name, expression = (part.strip() for part in statement.split("=", 1))
        names = {key: np.array(value, float) for key, value in data.items()}
        value = eval(expression, {"__builtins__": {}} | FUNCTIONS, names)
        if isinstance(value, tuple) and any(np.ndim(v) for v in value):
            value = np.stack(np.broadcast_arrays(*value), axis=-1) * 1.0
        value = np.asarray(value, float)
        made[name] = np.where(np.isnan(value), None, value).tolist()
    return made


def stack(tables):
    return {name: np.concatenate([t[name] for t in tables]) for name in tables[0]}


def evaluated(expression, draws):
    """`expression` of columns of the draws (`sigma_a * a.3`)."""
    names = {}

    def column(match):
        if match[0] in draws:
            names[name := "c" + str(len(names))] = draws[match[0]]
            return name
        return match[0]

    return eval(re.sub(r"[A-Za-z_]\w*(\.\d+)*", column, expression), {"__builtins__": {}} | ARITHMETIC, names)


def supported(draws, support):
    """The draws that obey `support` (`0 < mu.1 < 5; ascending mu`), and the share of those that do not."""
    keep = np.ones(len(next(iter(draws.values()))), bool)
    for condition in filter(None, (s.strip() for s in support.split(";"))):
        if condition.startswith("ascending "):
            name = condition.split()[1]
            size = sum(re.fullmatch(re.escape(name) + r"\.\d+", key) is not None for key in draws)
            sides = [draws[f"{name}.{k + 1}"] for k in range(size)]
        else:
            sides = [evaluated(side, draws) for side in condition.split("<")]
        for low, high in zip(sides, sides[1:]):
            keep &= low < high
    return {name: x[keep] for name, x in draws.items()}, 1 - keep.mean()


def mapped(mapping, name, draws):
    """The draws of the parameter `name` of the reference; None where the mapping has no such name."""
    for pair in (p.strip() for p in mapping.split(";")):
        left, right = (side.strip() for side in pair.split("=", 1))
        match = re.fullmatch(re.escape(left).replace(r"\#", r"(\d+)"), name)
        if match:
            for number in match.groups():
                right = re.sub(r"\{#\+1\}|#", lambda m: str(int(number) + (m[0] != "#")), right, count=1)
            return evaluated(right, draws)
    return None


def compare(draws, reference, mapping):
    """The largest |difference of means| in sds of the reference, the largest |ratio of sds - 1| in percent, and where."""
    means, sds = {}, {}
    for name, (mean, sd) in reference.items():
        x = mapped(mapping, name, draws)
        if x is None:
            raise RuntimeError(f"the mapping has no {name}")
        means[name] = (x.mean() - mean) / sd
        sds[name] = 100 * (x.std(ddof=1) / sd - 1)
    worst = lambda d: max(d.items(), key=lambda item: abs(item[1]))
    return *worst(means), *worst(sds)


def main():
    patterns = sys.argv[2:] or ["*"]
    if not os.path.exists(os.path.join(FOLDER, "references.json")):
        print(f"skipped: no {FOLDER}/references.json; LEHR_SHARED_DATA names the folder")
        sys.exit(SKIPPED)
    references = read_json(os.path.join(FOLDER, "references.json"))
    data_of = {row["posterior"]: row["data"] for row in read_csv(os.path.join(FOLDER, "index.csv"))}
    rows = read_csv(os.path.join(HERE, "posteriordb.csv"))
    rows = [row for row in rows if row["expressible"] == "yes" and row["posterior"] in references]

    print("| posterior | parameters | Gibbs: mean, sds | sd, % | default: mean, sds | sd, % |")
    print("|---|---|---|---|---|---|")
    missed, done = [], 0
    for row in rows:
        posterior = row["posterior"]
        path = os.path.join(FOLDER, "data", data_of[posterior] + ".json")
        if not any(fnmatch.fnmatch(posterior, p) for p in patterns):
            continue
        if not os.path.exists(path):
            print(f"{posterior}: no {path}", file=sys.stderr)
            continue
        data = made_of(row["data"], read_json(path))
        reference, mapping, support = references[posterior], row["mapping"], row["support"]
        with temporary({"data.json": data}) as directory:
            at = lambda name: os.path.join(directory, name)
            model = [os.path.join(HERE, row["model"]), "--data", at("data.json"), "--seed", "1", "--save-locals"]
            lehr("fit", *model, "--out", at("gibbs"), "--method", "gibbs", "--chains", CHAINS, "--warmup", WARMUP,
                 "--draws", DRAWS, "--thin", THIN, "--predictive", "0")
            lehr("fit", *model, "--out", at("fit"))
            lehr("draws", at("fit"), "-n", CHAINS * DRAWS, "--seed", "1", "--out", at("fit.csv"))
            sampled, out = supported(stack([columns(at(f"gibbs/draws_{c}.csv")) for c in range(1, CHAINS + 1)]), support)
            fitted, _ = supported(columns(at("fit.csv")), support)
        done += 1
        name, mean, sd_name, sd = compare(sampled, reference, mapping)
        vi_name, vi_mean, vi_sd_name, vi_sd = compare(fitted, reference, mapping)
        print(f"| {posterior} | {len(reference)} | {abs(mean):.3f} ({name}) | {sd:+.1f} ({sd_name}) "
              f"| {abs(vi_mean):.3f} ({vi_name}) | {vi_sd:+.1f} ({vi_sd_name}) |", flush=True)
        if out > 0:
            print(f"{posterior}: {100 * out:.2g} % of the draws are outside of {support}", file=sys.stderr)
        if not (abs(mean) <= MEAN_BAR and abs(sd) <= SD_BAR):
            missed.append(posterior)
    print(f"{done} posteriors, {done - len(missed)} with means within {MEAN_BAR} sds and sds within {SD_BAR:g} %", file=sys.stderr)
    for posterior in missed:
        print(f"missed: {posterior}", file=sys.stderr)
    sys.exit(1 if missed else 0)


main()
