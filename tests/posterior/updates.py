#!/usr/bin/env python3
"""Ten batches through `lehr update` are one fit of all data, where one factor holds all that is unknown: posteriors to 1e-10, and the
ELBOs add up, because they are log evidences. With --forget, a batch counts for less.

usage: updates.py LEHR [NAME ...]
"""
import os
import signal
import subprocess
import sys
import tempfile
import time

import json
import numpy as np
from conjugate_models import JOINT, MODELS, NUMBERS, text_of

LEHR = os.path.abspath(sys.argv[1])
BATCHES = 10


def run(*command, code=0):
    done = subprocess.run([LEHR, *map(str, command)], capture_output=True, text=True)
    assert done.returncode == code, (command, done.returncode, done.stderr)
    return done.stderr


def result(out):
    with open(f"{out}/fit.json") as f:
        return dict(np.load(f"{out}/posterior.npz")), json.load(f)["elbo"]


def prepared(tmp, name):
    model = f"{tmp}/model.lehr"
    with open(model, "w") as f:
        f.write(text_of(name))
    return model, (MODELS | JOINT)[name][1]


def check(tmp, name):
    model, data = prepared(tmp, name)
    np.savez(f"{tmp}/all.npz", **data)
    run("fit", model, "--data", f"{tmp}/all.npz", "--quiet", "--out", f"{tmp}/all")
    elbos = 0.0
    for k in range(BATCHES):
        np.savez(f"{tmp}/batch.npz", **{key: np.array_split(x, BATCHES)[k] for key, x in data.items()})
        command = ["update", f"{tmp}/fit{k - 1}"] if k else ["fit", model]
        run(*command, "--data", f"{tmp}/batch.npz", "--quiet", "--out", f"{tmp}/fit{k}")
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
    run("fit", model, "--data", f"{tmp}/all.npz", "--quiet", "--out", f"{tmp}/was")
    run("update", f"{tmp}/was", "--data", f"{tmp}/all.npz", "--forget", "0.25", "--quiet", "--out", f"{tmp}/is")
    was, now, n, total = result(f"{tmp}/was")[0], result(f"{tmp}/is")[0], len(data["x"]), data["x"].sum()
    assert np.isclose(now["rate.shape"], 0.25 * (was["rate.shape"] - 1) + 1 + total, rtol=1e-12)
    assert np.isclose(now["rate.rate"], 0.25 * was["rate.rate"] + n, rtol=1e-12)
    assert "is not a number from 1e-06 to 1" in run("update", f"{tmp}/was", "--data", f"{tmp}/all.npz", "--forget", "0", "--out",
                                                    f"{tmp}/is", code=2)


def forgetting_together(tmp):
    """The factor of a regression and its precision to the power p, and an empty batch: Gamma shapes and matrices times p."""
    model, data = prepared(tmp, "regression and its precision")
    np.savez(f"{tmp}/all.npz", **data)
    np.savez(f"{tmp}/none.npz", **{key: x[:0] for key, x in data.items()})
    run("fit", model, "--data", f"{tmp}/all.npz", "--quiet", "--out", f"{tmp}/was")
    run("update", f"{tmp}/was", "--data", f"{tmp}/none.npz", "--forget", "0.25", "--quiet", "--out", f"{tmp}/is")
    run("update", f"{tmp}/was", "--data", f"{tmp}/none.npz", "--quiet", "--out", f"{tmp}/same")
    (was, _), (now, _), (same, elbo) = (result(f"{tmp}/{x}") for x in ("was", "is", "same"))
    name = "joint(a, w, tau)"
    assert all(np.allclose(same[key], x, rtol=1e-9) for key, x in was.items()) and abs(elbo) < 1e-8, elbo
    assert np.allclose(now[f"{name}.precision_scale"], 0.25 * was[f"{name}.precision_scale"], rtol=1e-10)
    assert np.allclose(now[f"{name}.mean"], was[f"{name}.mean"], rtol=1e-9)
    assert np.allclose(now[f"{name}.rate"], 0.25 * was[f"{name}.rate"], rtol=1e-9)
    assert np.isclose(now[f"{name}.shape"] - 1 + 2, 0.25 * (was[f"{name}.shape"] - 1 + 2), rtol=1e-10)  # four numbers


def constants(tmp):
    """Arrays of constants come from the fit; `diagnose` knows the prior."""
    with open(f"{tmp}/model.lehr", "w") as f:
        f.write("model m { plate n; plate d; const a[d]; p ~ Dirichlet(concentration = a) over d; observe x[n] ~ Categorical(p); }")
    np.savez(f"{tmp}/constants.npz", a=[1.0, 2.0, 3.0])
    np.savez(f"{tmp}/x.npz", x=np.arange(30) % 3)
    run("fit", f"{tmp}/model.lehr", "--data", f"{tmp}/x.npz", "--data", f"{tmp}/constants.npz", "--quiet", "--out", f"{tmp}/one")
    run("update", f"{tmp}/one", "--data", f"{tmp}/x.npz", "--quiet", "--out", f"{tmp}/two")
    run("update", f"{tmp}/two", "--data", f"{tmp}/x.npz", "--quiet", "--out", f"{tmp}/three")
    assert np.allclose(result(f"{tmp}/three")[0]["p.concentration"], [31, 32, 33], rtol=1e-12)
    run("score", f"{tmp}/three", "--data", f"{tmp}/x.npz")
    run("diagnose", f"{tmp}/three", "--data", f"{tmp}/x.npz", "--draws", "200", "--replicates", "20")
    with open(f"{tmp}/three/diagnosis.json") as f:
        assert json.load(f)["pareto"]["equal_ratios"], "the factors are the posterior"


def interrupted(tmp):
    """An update goes on where it was stopped, with the command that it says."""
    data = ["--data", "x=models/data/faithful.csv:eruptions,waiting"]
    run("fit", "models/gmm.lehr", *data, "--set", "K=3", "--search", "none", "--quiet", "--out", f"{tmp}/first")
    words = ["update", f"{tmp}/first", *data, "--tol", "0", "--max-iter", "3000", "--quiet"]
    run(*words, "--out", f"{tmp}/whole")
    now = subprocess.Popen([LEHR, *words, "--out", f"{tmp}/broken", "--checkpoint-every", "1"], stderr=subprocess.PIPE, text=True)
    while not os.path.exists(f"{tmp}/broken/checkpoint.bin"):
        time.sleep(0.01)
    now.send_signal(signal.SIGINT)
    said = now.communicate()[1]
    assert f"--resume {tmp}/broken`" in said, said
    run(*words, "--resume", f"{tmp}/broken", "--checkpoint-every", "1")
    whole, found = result(f"{tmp}/whole"), result(f"{tmp}/broken")
    assert whole[1] == found[1] and all(np.array_equal(x, found[0][key]) for key, x in whole[0].items())


def refusals(tmp):
    """What is no prior, by name and reason."""
    np.savez(f"{tmp}/x.npz", x=NUMBERS[:20])
    for text, why in {
        "b ~ Bernoulli(0.3); a ~ Normal(mean = 0, precision = 1);"
        "observe x[n] ~ Normal(mean = a * b, precision = 1); guide joint(a, b);": "a category and a number share its factor",
        "mu ~ Normal(mean = 0, precision = 1); observe x[n] ~ Normal(mean = mu, precision = 1); guide point(mu);": "it is a point",
        "mu[n] ~ Normal(mean = 0, precision = 1); observe x[n] ~ Normal(mean = mu[n], precision = 1);": "nothing is carried on",
    }.items():
        with open(f"{tmp}/model.lehr", "w") as f:
            f.write(f"model m {{ plate n; {text} }}")
        run("fit", f"{tmp}/model.lehr", "--data", f"{tmp}/x.npz", "--quiet", "--out", f"{tmp}/fit")
        said = run("update", f"{tmp}/fit", "--data", f"{tmp}/x.npz", "--out", f"{tmp}/next", code=3)
        assert why in said, (text, said)
    assert "take the place" in run("update", f"{tmp}/fit", "--data", f"{tmp}/x.npz", "--out", f"{tmp}/fit", code=2)
    said = run("update", f"{tmp}/nowhere", "--data", f"{tmp}/x.npz", "--out", f"{tmp}/next", code=4)
    assert "no such directory" in said, said


with tempfile.TemporaryDirectory() as folder:
    for each in sys.argv[2:] or MODELS | JOINT:
        check(folder, each)
    forgetting(folder)
    forgetting_together(folder)
    constants(folder)
    interrupted(folder)
    refusals(folder)
