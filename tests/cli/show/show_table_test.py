#!/usr/bin/env python3
"""`lehr show --format csv|json`: quantiles of factors against scipy, those of samplers against the stored draws.

Usage: show_table_test.py LEHR, from the root of the repository.
"""
import csv
import io
import json
import sys

import numpy
from scipy import stats

sys.path.append(f"{sys.path[0]}/../../helpers")
from lehr_tests import columns, each, lehr, write, write_json  # noqa: E402

QUANTILES = {"q5": 0.05, "q50": 0.5, "q95": 0.95}


def number(text):
    return float(text) if text != "" else None


def rows(out, *more):
    """The rows of the CSV, by variable; the JSON must say the same."""
    table = list(csv.DictReader(lehr("show", out, *more, "--format", "csv").stdout.splitlines()))
    same = json.loads(lehr("show", out, *more, "--format", "json").stdout)
    assert len(table) == len(same)
    by_variable = {}
    for row, object in zip(table, same):
        assert row["variable"] == object["variable"]
        assert {k: str(v) for k, v in object["index"].items()}.items() <= row.items(), (row, object)
        for name in ["mean", "sd", *QUANTILES]:
            value = number(row[name])
            assert object[name] == (value if value is not None and numpy.isfinite(value) else None), (row, object)
        by_variable.setdefault(row["variable"], []).append(row)
    return by_variable


def column(table, name):
    return numpy.array([numpy.nan if row[name] == "" else float(row[name]) for row in table])


def check(table, distribution):
    """All rows of a variable against one distribution of scipy, or one of many numbers."""
    for name, probability in QUANTILES.items():
        wanted = numpy.ravel(distribution.ppf(probability))
        numpy.testing.assert_allclose(column(table, name), wanted, rtol=1e-6, atol=1e-250, err_msg=f"{table[0]} {name}")
    numpy.testing.assert_allclose(column(table, "mean"), numpy.ravel(distribution.mean()), rtol=1e-9)
    numpy.testing.assert_allclose(column(table, "sd"), numpy.ravel(distribution.std()), rtol=1e-9)


def write_fit(out, arrays, variables, labels):
    numpy.savez(f"{out}/posterior.npz", **arrays)
    write_json(f"{out}/fit.json", {"model": "made_up", "status": "converged", "variables": variables, "elbo": None, "labels": labels})


def factors(out):
    random = numpy.random.default_rng(1)
    square = random.normal(size=(2, 3, 3))
    positive = square @ square.transpose(0, 2, 1) + numpy.eye(3)
    shapes, rates = numpy.array([0.02, 0.4, 1, 7.5, 3000]), numpy.array([2.0, 0.1, 5, 3, 40])
    pairs = numpy.array([[0.05, 300], [0.5, 0.5], [1, 1], [3, 40], [5000, 3]])
    counts = numpy.array([[0.05, 0.05, 0.4, 12], [3, 1, 1000, 0.3]])
    arrays = {
        "a.mean": random.normal(size=5), "a.precision": numpy.array([1e-6, 0.3, 1, 40, 1e8]),
        "g.shape": shapes, "g.rate": rates, "i.shape": shapes + 2.5, "i.scale": rates,
        "b.a": pairs[:, 0], "b.b": pairs[:, 1], "d.concentration": counts,
        "m.mean": random.normal(size=(2, 3)), "m.precision": positive,
        "w.df": numpy.array([7.0, 5.0]), "w.scale": positive,
        "mu.mean": numpy.array(1.5), "mu.precision_scale": numpy.array(4.0),
        "tau.shape": numpy.array(3.0), "tau.rate": numpy.array(6.0),
        "nu.mean": random.normal(size=(2, 3)), "nu.precision_scale": numpy.array([2.0, 5.0]),
        "L.df": numpy.array([7.0, 9.0]), "L.scale": positive, "c.p": numpy.array([0.2, 0.9]),
        "z.probs": numpy.array([[0.2, 0.8], [0.5, 0.5]]), "p.value": numpy.array(0.25)}
    families = {"a": "Normal", "g": "Gamma", "i": "InverseGamma", "b": "Beta", "d": "Dirichlet", "m": "MvNormal",
                "w": "Wishart", "mu": "NormalGamma", "tau": "NormalGamma", "nu": "NormalWishart", "L": "NormalWishart",
                "c": "Geometric", "z": "Categorical", "p": "Beta"}
    axes = {"a": "n", "g": "n", "i": "n", "b": "n", "d": "k", "m": "k", "w": "k", "nu": "k", "L": "k", "c": "k", "z": "k"}
    events = {"d": ["word"], "m": ["dim"], "w": ["dim", "dim"], "nu": ["dim"], "L": ["dim", "dim"], "z": ["mean"]}
    joint = {"mu": "tau", "nu": "L"}
    variables = {v: {"family": f, "axes": [axes[v]] if v in axes else [], "event": events.get(v, []),
                     "joint": joint.get(v, "")} for v, f in families.items()}
    labels = {"word": ['say "no"', "a,b", "two\nlines", "\x1b[2J"]}
    write_fit(out, arrays, variables, labels)
    table = rows_of_made_up(out)
    check(table["a"], stats.norm(arrays["a.mean"], arrays["a.precision"] ** -0.5))
    check(table["g"], stats.gamma(shapes, scale=1 / rates))
    check(table["i"], stats.invgamma(shapes + 2.5, scale=rates))
    check(table["b"], stats.beta(*pairs.T))
    check(table["d"], stats.beta(counts, counts.sum(1, keepdims=True) - counts))
    inverse = numpy.linalg.inv(positive)
    check(table["m"], stats.norm(arrays["m.mean"], numpy.diagonal(inverse, axis1=1, axis2=2) ** 0.5))
    check(table["mu"], stats.t(2 * 3, 1.5, (6 / (3 * 4)) ** 0.5))
    check(table["tau"], stats.gamma(3, scale=1 / 6))
    freedom = arrays["L.df"] - 3 + 1
    scale = numpy.diagonal(inverse, axis1=1, axis2=2) / (freedom * arrays["nu.precision_scale"])[:, None]
    check(table["nu"], stats.t(freedom[:, None], arrays["nu.mean"], scale ** 0.5))
    check(table["c"], stats.geom(arrays["c.p"], -1))
    for name, by in {"w": "w", "L": "L"}.items():
        assert len(table[name]) == 18 and numpy.isnan([column(table[name], q) for q in QUANTILES]).all()
        v = arrays[f"{by}.scale"]
        numpy.testing.assert_allclose(column(table[name], "mean"), (arrays[f"{by}.df"][:, None, None] * v).ravel())
        assert [row["dim"] + row["dim_2"] for row in table[name]][:4] == ["00", "01", "02", "10"]
    numpy.testing.assert_allclose(column(table["z"], "mean"), [0.2, 0.8, 0.5, 0.5])
    assert [row["mean_2"] for row in table["z"]] == ["0", "1", "0", "1"]  # a plate called like a column
    assert table["p"][0]["mean"] == "0.25" and table["p"][0]["sd"] == table["p"][0]["q50"] == ""
    assert lehr("show", out, "a", "--format", "csv").stdout.startswith("variable,n,mean,sd,q5,q50,q95\n")


def rows_of_made_up(out):
    """Labels with a quote, a comma, a line end and an escape stand in both forms; a terminal sees no escape."""
    text = lehr("show", out, "--format", "csv").stdout
    table = list(csv.DictReader(io.StringIO(text)))
    assert "\x1b" not in text
    words = [row["word"] for row in table if row["variable"] == "d"][:3]
    assert words[:2] == ['say "no"', "a,b"], words
    objects = json.loads(lehr("show", out, "--format", "json").stdout)
    assert [o["index"]["word"] for o in objects if o["variable"] == "d"][2:4] == ["two\nlines", "\x1b[2J"]
    by_variable = {}
    for row in table:
        by_variable.setdefault(row["variable"], []).append(row)
    assert len(objects) == len(table)
    return by_variable


def draws(out):
    """Two chains: quantiles over both together, and the shares of a category."""
    write(f"{out}/model.lehr", "model m { plate n; plate k = 3; plate dim = 2; pi ~ Dirichlet(concentration = 1) over k;\n"
          "mu[k, dim] ~ Normal(mean = 0, sd = 5); z[n] ~ Categorical(pi);\n"
          "observe x[n, dim] ~ Normal(mean = mu[z[n], dim], sd = 1); }\n")
    x = numpy.random.default_rng(2).normal(size=(12, 2)) + numpy.repeat([[0], [3], [6]], 4, axis=0)
    write_json(f"{out}/x.json", {"x": x.tolist()})
    lehr("fit", f"{out}/model.lehr", "--data", f"{out}/x.json", "--method", "gibbs", "--restarts", "2", "--draws", "300",
         "--warmup", "50", "--save-locals", "--quiet", "--out", f"{out}/fit")
    chains = [columns(f"{out}/fit/draws_{k}.csv") for k in [1, 2]]
    stored = lambda name: numpy.concatenate([chain[name] for chain in chains])
    assert len(stored("lp__")) == 600
    table = rows(f"{out}/fit")
    for k in range(3):
        for dim in range(2):
            row = [r for r in table["mu"] if r["k"] == str(k) and r["dim"] == str(dim)][0]
            values = stored(f"mu.{k + 1}.{dim + 1}")
            for name, probability in QUANTILES.items():
                numpy.testing.assert_allclose(float(row[name]), numpy.quantile(values, probability), rtol=1e-5)
            numpy.testing.assert_allclose(float(row["mean"]), values.mean(), rtol=1e-4, atol=1e-6)
    z = [r for r in table["z"] if r["n"] == "4"]
    values = stored("z.5")
    numpy.testing.assert_allclose([float(r["mean"]) for r in z], [(values == k).mean() for k in range(3)])


def not_written(out):
    lehr("fit", "models/mixtures/gmm.lehr", "--data", "x=models/data/mixtures/faithful.csv:eruptions,waiting", "--max-iter", "3", "--quiet",
         "--out", f"{out}/gmm")
    table = rows(f"{out}/gmm")
    assert "z" not in table and len(table["mu"]) % 2 == 0
    assert {row["dim"] for row in table["mu"]} == {"eruptions", "waiting"}
    done = lehr("show", f"{out}/gmm", "z", "--format", "csv")
    assert done.stdout == "variable,mean,sd,q5,q50,q95\n" and "no numbers of 'z'" in done.stderr, done
    lehr("show", f"{out}/gmm", "--format", "xml", code=2)
    lehr("show", f"{out}/gmm", "nothing", "--format", "csv", code=2)


def numbers_of_elements(out):
    """Elements without names are numbered as the model numbers them, in both forms."""
    write(f"{out}/model.lehr", "model m { plate year from 2001; mu[year] ~ Normal(mean = 0, sd = 5); observe x[year] ~ Normal(mean = mu[year], sd = 1); }\n")
    write_json(f"{out}/x.json", {"x": [1.0, 2.0, 4.0]})
    lehr("fit", f"{out}/model.lehr", "--data", f"{out}/x.json", "--guide", "factorised", "--save-locals", "--quiet", "--out", f"{out}/fit")
    assert [row["year"] for row in rows(f"{out}/fit")["mu"]] == ["2001", "2002", "2003"]


each(factors, draws, not_written, numbers_of_elements)
