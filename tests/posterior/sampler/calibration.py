#!/usr/bin/env python3
"""Simulation-based calibration of Gibbs sampling (Talts, Betancourt, Simpson, Vehtari & Gelman 2018), by `lehr calibrate`, of every
model that simulates its own data: ranks of true values are uniform. p-values are scipy's, of the ranks that were written; seeds
are fixed. That the ranks are those of `lehr simulate` and `lehr fit` is counted again from their files, and a posterior that
is too narrow must not pass.

usage: calibration.py LEHR [MODEL...]
"""
import concurrent.futures
import csv
import os
import pathlib
import sys

import numpy as np
from scipy import stats

sys.path.append(f"{sys.path[0]}/..")
import simulated  # noqa: E402

from fitting import columns, lehr, read, read_json, temporary  # noqa: E402

chosen = sys.argv[2:]
SIMULATIONS, DRAWS, BINS = 160, 31, 8
THIN = 20  # sweeps of a draw; of models that need more:
SLOW = {"dirichlet_process_mixture": 40, "linear_dynamical_system": 40, "ppca_ard": 40, "matrix_factorisation": 40, "states": 40,
        "factor_analysis": 40}


def ranks_of(name, text, arguments, data, *more, simulations=SIMULATIONS, draws=DRAWS, thin=None):
    """Names, and ranks [simulation, name]."""
    thin = thin or SLOW.get(name, THIN)
    chain = [] if "--method" in more else ["--thin", thin, "--warmup", 10 * thin]
    with temporary() as folder:
        path = pathlib.Path(folder)
        words = simulated.write(path, text, data)
        lehr("calibrate", *words, *arguments, "--simulations", simulations, "--draws", draws, *chain, "--seed", 20, "--out", path / "o", *more)
        number, *ranks = columns(path / "o/ranks.csv").items()
        table = {r[0]: r for r in csv.reader(read(path / "o/calibration.csv").splitlines()[1:])}
    assert (number[1] == np.arange(1, simulations + 1)).all() and set(table) == {name for name, _ in ranks}
    return [name for name, _ in ranks], np.stack([of for _, of in ranks], 1).astype(int), table


def uniform_p(ranks):
    counts = [np.bincount(column * BINS // (DRAWS + 1), minlength=BINS) for column in ranks.T]
    return np.array([stats.chisquare(c).pvalue for c in counts])


def calibrated(case):
    name, model = case
    names, ranks, _ = ranks_of(name, *model)
    return name, dict(zip(names, uniform_p(ranks)))


def same_as_fits():
    """The ranks of the first simulations, from the files of the other commands."""
    text, arguments, data = simulated.all_models()["hierarchical_normal"]
    names, ranks, table = ranks_of("", text, arguments, data, thin=2)
    with temporary() as folder:
        path = pathlib.Path(folder)
        words = simulated.write(path, text, data)
        for k in range(1, 4):
            lehr("simulate", *words, *arguments, "--seed", 20 + k, "--out", path / "s.json")
            truth = read_json(path / "s.json")
            lehr("fit", path / "m.lehr", *arguments, "--data", path / "s.json", "--method", "gibbs", "--chains", k, "--warmup", 20,
                 "--draws", DRAWS, "--thin", 2, "--seed", 20, "--save-locals", "--quiet", "--out", path / "f")
            draws = columns(path / f"f/draws_{k}.csv")
            for name in ("mu", "tau", "theta.2"):
                first, *rest = name.split(".")
                value = truth[first][int(rest[0]) - 1] if rest else truth[first]
                below = int((draws[name] < value).sum())
                assert below == ranks[k - 1, names.index(name)], f"simulation {k}: {name} has rank {below}"
    # The p-values of the command, which has bins of its own.
    for name, column in zip(names, ranks.T):
        bins = min(20, SIMULATIONS // 10, DRAWS + 1)
        of = np.arange(DRAWS + 1) * bins // (DRAWS + 1)
        expected = np.bincount(of) * SIMULATIONS / (DRAWS + 1)
        p = stats.chisquare(np.bincount(of[column], minlength=bins), expected).pvalue
        assert abs(p - float(table[name][1])) < 1e-5 * max(p, 1), f"{name}: chi-square p {table[name][1]}, scipy's is {p}"
        ks = stats.kstest((column + 0.5) / (DRAWS + 1), "uniform").pvalue
        assert abs(ks - float(table[name][2])) < 0.03, f"{name}: KS p {table[name][2]}, scipy's is {ks}"
    return "ranks are those of simulate and fit"


def too_narrow():
    """Mean field with a mean and a weight that depend on each other: sds are too small, and ranks pile up at both ends; of one
    number alone the factor is the posterior."""
    text = """model m { plate n; data x[n] : real; a ~ Normal(mean = 0, sd = 2); b ~ Normal(mean = 0, sd = 2);
      observe y[n] ~ Normal(mean = a + b * x[n], sd = 1); }"""
    names, ranks, _ = ranks_of("", text, [], {"x": [1.0, 1.1, 0.9, 1.2, 0.8, 1.0]}, "--method", "cavi", "--guide", "factorised")
    joint, ranks_of_joint, _ = ranks_of("", text, [], {"x": [1.0, 1.1, 0.9, 1.2, 0.8, 1.0]}, "--method", "cavi")
    assert joint == names and uniform_p(ranks_of_joint[:, :2]).min() > 1e-3, uniform_p(ranks_of_joint[:, :2])
    ends = ((ranks < 4) | (ranks >= DRAWS - 3)).mean(axis=0)
    assert names[:2] == ["a", "b"] and (uniform_p(ranks[:, :2]) < 1e-6).all() and (ends[:2] > 0.4).all(), f"{names}: {ends} at the ends"
    for text, sizes in (("model m { plate n; p ~ Beta(2, 1); observe x[n] ~ Bernoulli(p); }", "n=6"),
                        ("""model m { plate n; mu ~ Normal(mean = 1, precision = 0.5 * tau); tau ~ Gamma(shape = 3, rate = 2);
                         guide joint(mu, tau); observe x[n] ~ Normal(mean = mu, precision = tau); }""", "n=4"),
                        ("""model m { plate n; plate d = 2; L ~ Wishart(df = 4, scale = 0.5) over d;
                         observe x[n] ~ MvNormal(mean = 0, precision = L) over d; }""", "n=4")):
        names, ranks, _ = ranks_of("", text, ["--sizes", sizes], {}, "--method", "cavi")
        assert names and (uniform_p(ranks) > 1e-3 / len(names)).all(), f"{names}: {uniform_p(ranks)}"
    return "factors that are too narrow are seen, exact ones pass"


def within_limits():
    """A number within limits and what the compiler adds to it are drawn together: the weight of a t, the part of a mixture."""
    for drawn in ("StudentT(df = 3, mean = 0, sd = 1) below c[n]", "mixture(0.6, Normal(mean = 0, sd = 1), Normal(mean = -4, sd = 2)) below c[n]"):
        text = f"model m {{ plate n; data c[n] : real; u[n] ~ {drawn}; observe y[n] ~ Normal(mean = u[n], sd = 0.5); }}"
        names, ranks, _ = ranks_of("", text, [], {"c": [-1, -1, -2, 0.5]})
        assert "u.1" in names and (uniform_p(ranks) > 1e-3 / len(names)).all(), f"{drawn}: {names} {uniform_p(ranks)}"
    return "numbers within limits pass"


def main():
    models = {k: v for k, v in simulated.all_models().items() if not chosen or k in chosen}
    values = {}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for check in [] if chosen else [pool.submit(same_as_fits), pool.submit(too_narrow), pool.submit(within_limits)]:
            print(check.result(), flush=True)
        for name, found in pool.map(calibrated, models.items()):
            print(f"{name}: " + ", ".join(f"{w} {p:.3f}" for w, p in found.items()), flush=True)
            assert found, f"{name}: nothing was asked about"
            values.update({(name, w): p for w, p in found.items()})
            worst = min(found.values())
            if os.environ.get("LEHR_STOP_AT_FIRST") and worst < 1e-6:
                sys.exit(f"not calibrated: {name}")
    wrong = [k for k, p in values.items() if not p > 1e-3 / len(values)]
    print(f"{len(values)} numbers of {len(models)} models; the smallest p is {min(values.values()):.2g}")
    sys.exit(f"not calibrated: {wrong}" if wrong else 0)


main()
