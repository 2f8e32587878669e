#!/usr/bin/env python3
"""Ten batches through `lehr update` are one fit of all data, where one factor holds all that is unknown: posteriors to 1e-10, and the
ELBOs add up, because they are log evidences. With --forget, a batch counts for less.

usage: updates.py LEHR [NAME ...]
"""
import signal
import sys

import numpy as np
sys.path.append(f"{sys.path[0]}/..")
from fitting import LEHR, arrays, lehr, read_json, started, temporary, write  # noqa: E402
from conjugate_models import JOINT, MODELS, NUMBERS, text_of  # noqa: E402

BATCHES = 10


def result(out):
    return arrays(f"{out}/posterior.npz"), read_json(f"{out}/fit.json")["elbo"]


def prepared(tmp, name):
    return write(f"{tmp}/model.lehr", text_of(name)), (MODELS | JOINT)[name][1]


def check(tmp, name):
    model, data = prepared(tmp, name)
    np.savez(f"{tmp}/all.npz", **data)
    lehr("fit", model, "--data", f"{tmp}/all.npz", "--quiet", "--out", f"{tmp}/all")
    elbos = 0.0
    for k in range(BATCHES):
        np.savez(f"{tmp}/batch.npz", **{key: np.array_split(x, BATCHES)[k] for key, x in data.items()})
        command = ["update", f"{tmp}/fit{k - 1}"] if k else ["fit", model]
        lehr(*command, "--data", f"{tmp}/batch.npz", "--quiet", "--out", f"{tmp}/fit{k}")
        elbos += result(f"{tmp}/fit{k}")[1]
    whole, elbo = result(f"{tmp}/all")
    found, _ = result(f"{tmp}/fit{BATCHES - 1}")
    assert found.keys() == whole.keys(), (name, found.keys(), whole.keys())
    for key, x in whole.items():
        worst = np.max(np.abs(found[key] - x) / (1e-300 + np.max(np.abs(x))))
        assert worst < 1e-10, (name, key, worst)
    if name != "flat":  # the first batch has no evidence there
        assert abs(elbos - elbo) < 1e-8 * (1 + abs(elbo)), (name, elbos, elbo)
    print("ok", name, flush=True)


def forgetting(tmp):
    """Gamma(a, b) to the power p is Gamma(p (a - 1) + 1, p b)."""
    model, data = prepared(tmp, "Poisson")
    np.savez(f"{tmp}/all.npz", **data)
    lehr("fit", model, "--data", f"{tmp}/all.npz", "--quiet", "--out", f"{tmp}/was")
    lehr("update", f"{tmp}/was", "--data", f"{tmp}/all.npz", "--forget", "0.25", "--quiet", "--out", f"{tmp}/is")
    was, now, n, total = result(f"{tmp}/was")[0], result(f"{tmp}/is")[0], len(data["x"]), data["x"].sum()
    assert np.isclose(now["rate.shape"], 0.25 * (was["rate.shape"] - 1) + 1 + total, rtol=1e-12)
    assert np.isclose(now["rate.rate"], 0.25 * was["rate.rate"] + n, rtol=1e-12)
    assert "is not a number from 1e-06 to 1" in lehr("update", f"{tmp}/was", "--data", f"{tmp}/all.npz", "--forget", "0", "--out",
                                                     f"{tmp}/is", code=2).stderr


def forgetting_together(tmp):
    """The factor of a regression and its precision to the power p, and an empty batch: Gamma shapes and matrices times p."""
    model, data = prepared(tmp, "regression and its precision")
    np.savez(f"{tmp}/all.npz", **data)
    np.savez(f"{tmp}/none.npz", **{key: x[:0] for key, x in data.items()})
    lehr("fit", model, "--data", f"{tmp}/all.npz", "--quiet", "--out", f"{tmp}/was")
    lehr("update", f"{tmp}/was", "--data", f"{tmp}/none.npz", "--forget", "0.25", "--quiet", "--out", f"{tmp}/is")
    lehr("update", f"{tmp}/was", "--data", f"{tmp}/none.npz", "--quiet", "--out", f"{tmp}/same")
    (was, _), (now, _), (same, elbo) = (result(f"{tmp}/{x}") for x in ("was", "is", "same"))
    name = "joint(a, w, tau)"
    assert all(np.allclose(same[key], x, rtol=1e-9) for key, x in was.items()) and abs(elbo) < 1e-8, elbo
    assert np.allclose(now[f"{name}.precision_scale"], 0.25 * was[f"{name}.precision_scale"], rtol=1e-10)
    assert np.allclose(now[f"{name}.mean"], was[f"{name}.mean"], rtol=1e-9)
    assert np.allclose(now[f"{name}.rate"], 0.25 * was[f"{name}.rate"], rtol=1e-9)
    assert np.isclose(now[f"{name}.shape"] - 1 + 2, 0.25 * (was[f"{name}.shape"] - 1 + 2), rtol=1e-10)  # four numbers


def far(tmp):
    """Means of groups with their own, in one factor, of data near 1e8: batches are one fit of all data, by an exact solve too."""
    model = write(f"{tmp}/far.lehr", """model far { plate n; plate g = 5; data of[n] : g; m ~ Normal(mean = 100000000, sd = 10);
      a[g] ~ Normal(mean = m, sd = 1); observe y[n] ~ Normal(mean = a[of[n]], sd = 0.3); }""")
    r = np.random.default_rng(1)
    of = np.arange(60) % 5
    y = 1e8 + 3 + r.normal(size=5)[of] + 0.3 * r.normal(size=60)
    elbos = 0
    for k, part in enumerate([slice(0, 30), slice(30, 60), slice(0, 60)]):
        np.savez(f"{tmp}/far.npz", of=of[part], y=y[part])
        command = ["update", f"{tmp}/far0"] if k == 1 else ["fit", model]
        lehr(*command, "--data", f"{tmp}/far.npz", "--quiet", "--out", f"{tmp}/far{k}")
        elbos += result(f"{tmp}/far{k}")[1] * (-1 if k == 2 else 1)
    count, total = np.bincount(of), np.bincount(of, y - 1e8)
    precision = np.block([[np.full((1, 1), 0.01 + 5), -np.ones((1, 5))], [-np.ones((5, 1)), np.diag(1 + count / 0.09)]])
    covariance = np.linalg.inv(precision)
    mean, sd = covariance @ np.append(0, total / 0.09), np.sqrt(np.diag(covariance))
    for k in (1, 2):
        p = result(f"{tmp}/far{k}")[0]
        got = np.append(p["m.mean"], p["a.mean"]) - 1e8
        assert np.all(np.abs(got - mean) < 1e-4 * sd) and np.allclose(np.append(p["m.precision"], p["a.precision"]), sd**-2, rtol=1e-6), (k, got, mean)
    assert abs(elbos) < 1e-4, elbos


def constants(tmp):
    """Arrays of constants come from the fit; `diagnose` knows the prior."""
    write(f"{tmp}/model.lehr", "model m { plate n; plate d; const a[d]; p ~ Dirichlet(concentration = a) over d; observe x[n] ~ Categorical(p); }")
    np.savez(f"{tmp}/constants.npz", a=[1.0, 2.0, 3.0])
    np.savez(f"{tmp}/x.npz", x=np.arange(30) % 3)
    lehr("fit", f"{tmp}/model.lehr", "--data", f"{tmp}/x.npz", "--data", f"{tmp}/constants.npz", "--quiet", "--out", f"{tmp}/one")
    lehr("update", f"{tmp}/one", "--data", f"{tmp}/x.npz", "--quiet", "--out", f"{tmp}/two")
    lehr("update", f"{tmp}/two", "--data", f"{tmp}/x.npz", "--quiet", "--out", f"{tmp}/three")
    assert np.allclose(result(f"{tmp}/three")[0]["p.concentration"], [31, 32, 33], rtol=1e-12)
    lehr("score", f"{tmp}/three", "--data", f"{tmp}/x.npz")
    lehr("diagnose", f"{tmp}/three", "--data", f"{tmp}/x.npz", "--draws", "200", "--replicates", "20")
    assert read_json(f"{tmp}/three/diagnosis.json")["pareto"]["equal_ratios"], "the factors are the posterior"


def interrupted(tmp):
    """An update goes on where it was stopped, with the command that it says."""
    data = ["--data", "x=models/data/mixtures/faithful.csv:eruptions,waiting"]
    lehr("fit", "models/mixtures/gmm.lehr", *data, "--set", "K=3", "--search", "none", "--quiet", "--out", f"{tmp}/first")
    words = ["update", f"{tmp}/first", *data, "--tol", "0", "--max-iter", "3000", "--quiet"]
    lehr(*words, "--out", f"{tmp}/whole")
    now = started(LEHR, *words, "--out", f"{tmp}/broken", "--checkpoint-every", "1", path=f"{tmp}/broken/checkpoint.bin")
    now.send_signal(signal.SIGINT)
    said = now.communicate()[1]
    assert f"--resume {tmp}/broken`" in said, said
    lehr(*words, "--resume", f"{tmp}/broken", "--checkpoint-every", "1")
    whole, found = result(f"{tmp}/whole"), result(f"{tmp}/broken")
    assert whole[1] == found[1] and all(np.array_equal(x, found[0][key]) for key, x in whole[0].items())


def refusals(tmp):
    """What is no prior, by name and reason."""
    np.savez(f"{tmp}/x.npz", x=NUMBERS[:20])
    for text, why in {
        "b ~ Bernoulli(0.3); a ~ Normal(mean = 0, precision = 1);"
        "observe x[n] ~ Normal(mean = a * b, precision = 1); guide joint(a, b);": "a category and a number share its factor",
        "mu ~ Normal(mean = 0, precision = 1); observe x[n] ~ Normal(mean = mu, precision = 1); guide point(mu);": "it is a point",
        "mu ~ Normal(mean = 0, precision = 1) above -9; observe x[n] ~ Normal(mean = mu, precision = 1);": "it lies between limits",
        "mu[n] ~ Normal(mean = 0, precision = 1); observe x[n] ~ Normal(mean = mu[n], precision = 1);": "nothing is carried on",
    }.items():
        write(f"{tmp}/model.lehr", f"model m {{ plate n; {text} }}")
        lehr("fit", f"{tmp}/model.lehr", "--data", f"{tmp}/x.npz", "--quiet", "--out", f"{tmp}/fit")
        said = lehr("update", f"{tmp}/fit", "--data", f"{tmp}/x.npz", "--out", f"{tmp}/next", code=3).stderr
        assert why in said, (text, said)
    assert "take the place" in lehr("update", f"{tmp}/fit", "--data", f"{tmp}/x.npz", "--out", f"{tmp}/fit", code=2).stderr
    said = lehr("update", f"{tmp}/nowhere", "--data", f"{tmp}/x.npz", "--out", f"{tmp}/next", code=4).stderr
    assert "no such directory" in said, said


with temporary() as folder:
    for each in sys.argv[2:] or MODELS | JOINT:
        check(folder, each)
    far(folder)
    forgetting(folder)
    forgetting_together(folder)
    constants(folder)
    interrupted(folder)
    refusals(folder)
