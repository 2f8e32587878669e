#!/usr/bin/env python3
"""The mixed models in the examples of R's package lme4 (Debian's `r-cran-lme4`), by default fits of Lehr and by REML.

Data come from the package and stay in a temporary directory. A row has the fixed effects' largest distance from REML, in its standard errors;
the ratios of standard errors of the default fit, of the factors alone, and, with --gibbs, of the posterior; and the ratios of the standard
deviations of the random effects and of the noise, 1 / sqrt(mean precision). Priors are weak: fixed effects are Normal with a standard
deviation of 100 times the spread of the data or more, precisions Gamma(0.001, 0.001 times the unit's square); a precision matrix is Wishart
with the weight of two subjects whose effects have standard deviations of 25 and 6.

usage: lme4_examples.py LEHR [--gibbs] [--large] [NAME ...]
"""
import argparse
import csv
import json
import os
import subprocess
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
PRIOR = "Gamma(shape = 1e-3, rate = 1e-3)"
# name: data set, formula, model, fixed effects in the order of REML, precisions in the order of REML
EXAMPLES = {
    "Dyestuff": ("Dyestuff", "Yield ~ 1 + (1 | Batch)", """model m { plate n; plate batch; data of[n] : batch;
      mu ~ Normal(mean = 0, sd = 1e5); tb ~ Gamma(shape = 1e-3, rate = 1); tau ~ Gamma(shape = 1e-3, rate = 1);
      b[batch] ~ Normal(mean = mu, precision = tb); observe y[n] ~ Normal(mean = b[of[n]], precision = tau); }""",
                 {"of": "Batch", "y": "Yield"}, ["mu"], ["tb", "tau"]),
    "Penicillin": ("Penicillin", "diameter ~ 1 + (1 | plate) + (1 | sample)", f"""model m {{ plate n; plate dish; plate sample;
      data d[n] : dish; data s[n] : sample; mu ~ Normal(mean = 0, sd = 1e4); td ~ {PRIOR}; ts ~ {PRIOR}; tau ~ {PRIOR};
      u[dish] ~ Normal(mean = 0, precision = td); v[sample] ~ Normal(mean = mu, precision = ts);
      observe y[n] ~ Normal(mean = u[d[n]] + v[s[n]], precision = tau); }}""",
                   {"d": "plate", "s": "sample", "y": "diameter"}, ["mu"], ["td", "ts", "tau"]),
    "Pastes": ("Pastes", "strength ~ 1 + (1 | sample) + (1 | batch)", f"""model m {{ plate n; plate batch; plate sample;
      data s[n] : sample; data b[n] : batch; mu ~ Normal(mean = 0, sd = 1e4); ts ~ {PRIOR}; tb ~ {PRIOR}; tau ~ {PRIOR};
      u[sample] ~ Normal(mean = 0, precision = ts); v[batch] ~ Normal(mean = mu, precision = tb);
      observe y[n] ~ Normal(mean = u[s[n]] + v[b[n]], precision = tau); }}""",
               {"s": "sample", "b": "batch", "y": "strength"}, ["mu"], ["ts", "tb", "tau"]),
    "sleepstudy, independent": ("sleepstudy", "Reaction ~ Days + (Days || Subject)", """model m { plate n; plate subject;
      data x[n] : real; data of[n] : subject; a ~ Normal(mean = 0, sd = 1e5); b ~ Normal(mean = 0, sd = 1e4);
      ta ~ Gamma(shape = 1e-3, rate = 1); tb ~ Gamma(shape = 1e-3, rate = 1e-1); tau ~ Gamma(shape = 1e-3, rate = 1);
      u[subject] ~ Normal(mean = a, precision = ta); v[subject] ~ Normal(mean = b, precision = tb);
      observe y[n] ~ Normal(mean = u[of[n]] + v[of[n]] * x[n], precision = tau); }""",
                                {"x": "Days", "of": "Subject", "y": "Reaction"}, ["a", "b"], ["ta", "tb", "tau"]),
    "sleepstudy, correlated": ("sleepstudy", "Reaction ~ Days + (Days | Subject)", """model m { plate n; plate subject; plate term = 2;
      data x[n] : vector over term; data of[n] : subject; beta ~ MvNormal(mean = 0, precision = 1e-8) over term;
      const r[term]; Lambda ~ Wishart(df = 2, rate = diag(r)) over term; tau ~ Gamma(shape = 1e-3, rate = 1);
      u[subject] ~ MvNormal(mean = beta, precision = Lambda);
      observe y[n] ~ Normal(mean = dot(u[of[n]], x[n]), precision = tau); }""",
                               {"x": ("1", "Days"), "of": "Subject", "y": "Reaction", "r": [1250.0, 72.0]}, ["beta"], ["Lambda", "tau"]),
    "cake": ("cake", "angle ~ temp + recipe + (1 | recipe:replicate)", f"""model m {{ plate n; plate batch; plate d;
      data x[n] : vector over d; data of[n] : batch; w ~ MvNormal(mean = 0, precision = 1e-8) over d; tb ~ {PRIOR}; tau ~ {PRIOR};
      b[batch] ~ Normal(mean = 0, precision = tb); observe y[n] ~ Normal(mean = dot(w, x[n]) + b[of[n]], precision = tau); }}""",
             {"x": ("1", "temp", "recipe=B", "recipe=C"), "of": ("recipe", "replicate"), "y": "angle"}, ["w"], ["tb", "tau"]),
    "InstEval": ("InstEval", "y ~ service + (1 | s) + (1 | d)", f"""model m {{ plate n; plate student; plate teacher;
      data of[n] : student; data by[n] : teacher; data x[n] : real; a ~ Normal(mean = 0, sd = 100); b ~ Normal(mean = 0, sd = 100);
      ts ~ {PRIOR}; td ~ {PRIOR}; tau ~ {PRIOR};
      u[student] ~ Normal(mean = 0, precision = ts); v[teacher] ~ Normal(mean = 0, precision = td);
      observe y[n] ~ Normal(mean = a + b * x[n] + u[of[n]] + v[by[n]], precision = tau); }}""",
                 {"of": "s", "by": "d", "x": "service=1", "y": "y"}, ["a", "b"], ["ts", "td", "tau"]),
}
LARGE = {"InstEval"}


def reml(*arguments):
    done = subprocess.run(["Rscript", os.path.join(HERE, "lme4_examples.R"), *arguments], capture_output=True, text=True, check=True)
    return done.stdout


def column(rows, name):
    """A column of the data: of numbers, of ones, whether a factor has a level, or labels, of two factors together."""
    if name == "1":
        return [1.0] * len(rows)
    if isinstance(name, tuple):
        return ["".join(row[part] for part in name) for row in rows]
    if "=" in name:
        of, level = name.split("=")
        return [float(row[of] == "." + level) for row in rows]
    values = [row[name] for row in rows]
    return values if values[0].startswith(".") else [float(v) for v in values]


def bound(rows, columns):
    """The data of a model: factors become numbers from 0, in the order of their levels; a tuple of numbers is a vector."""
    out = {}
    for name, of in columns.items():
        if isinstance(of, list):
            out[name] = of
            continue
        if isinstance(of, tuple) and of[0] == "1":
            out[name] = np.column_stack([column(rows, part) for part in of]).tolist()
            continue
        values = column(rows, of)
        out[name] = values if isinstance(values[0], float) else np.unique(values, return_inverse=True)[1].tolist()
    return out


def shown(lehr, folder):
    """Means and standard deviations of all numbers, by variable."""
    out = {}
    text = subprocess.run([lehr, "show", folder, "--format", "csv"], capture_output=True, text=True, check=True).stdout
    for row in csv.DictReader(text.splitlines()):
        if row["sd"]:
            out.setdefault(row["variable"], []).append((float(row["mean"]), float(row["sd"])))
    return {name: np.array(values).T for name, values in out.items()}


def spreads(fit, names):
    """Standard deviations of random effects and noise: of a precision matrix, those of the covariance at its mean."""
    out = []
    for name in names:
        mean = fit[name][0]
        side = int(len(mean) ** 0.5)
        out += list(np.sqrt(np.diag(np.linalg.inv(mean.reshape(side, side)))) if side > 1 else mean ** -0.5)
    return np.array(out)


def compare(lehr, name, gibbs):
    data, formula, model, columns, effects, precisions = EXAMPLES[name]
    want = {key: np.array(value) for key, value in json.loads(reml("fit", data, formula)).items()}
    with tempfile.TemporaryDirectory() as folder:
        at = lambda file: os.path.join(folder, file)
        reml("write", data, at("data.csv"))
        with open(at("data.csv")) as file:
            rows = list(csv.DictReader(file))
        with open(at("m.lehr"), "w") as file:
            file.write(model)
        with open(at("data.json"), "w") as file:
            json.dump(bound(rows, columns), file)
        fits = {}
        kinds = {"default": [], "factors": ["--sds", "factors"]}
        if gibbs:
            kinds["gibbs"] = ["--method", "gibbs", "--chains", "2", "--draws", "20000", "--warmup", "5000", "--predictive", "0"]
        for kind, options in kinds.items():
            subprocess.run([lehr, "fit", at("m.lehr"), "--data", at("data.json"), "--out", at(kind), "--quiet", *options], check=True)
            fits[kind] = shown(lehr, at(kind))
    of = lambda kind, k: np.concatenate([fits[kind][v][k] for v in effects])
    text = lambda values: ", ".join(f"{v:.3f}" for v in values)
    off = np.max(np.abs(of("default", 0) - want["effects"]) / want["errors"])
    ratios = [text(of(kind, 1) / want["errors"]) for kind in kinds]
    print("|", " | ".join([name, f"`{formula}`", f"{off:.4f}", *ratios, text(spreads(fits["default"], precisions) / want["sds"])]), "|", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lehr")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--gibbs", action="store_true", help="draws of the posterior too")
    parser.add_argument("--large", action="store_true", help="InstEval too")
    o = parser.parse_intermixed_args()
    heads = ["example", "formula", "effects off by (s.e.)", "s.e. / REML's: default", "factors", *["Gibbs"] * o.gibbs, "sds / REML's"]
    print("|", " | ".join(heads), "|\n" + "|---" * len(heads) + "|")
    for name in o.names or [n for n in EXAMPLES if o.large or n not in LARGE]:
        compare(o.lehr, name, o.gibbs)


main()
