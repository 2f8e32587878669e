#!/usr/bin/env python3
"""Every limit of docs/limits.md is met with the message and the exit code that stand there.

usage: limits_test.py LEHR, from the root of the repository
"""
import os
import sys

sys.path.append(f"{sys.path[0]}/../../helpers")
from lehr_tests import lehr, read, temporary, write  # noqa: E402

PAGE = read("docs/limits.md")
NORMAL = "plate n; mu ~ Normal(mean = 0, sd = 1); observe y[n] ~ Normal(mean = {}, sd = 1);"
LAGS = "plate t ordered; x[t] ~ Normal(mean = x[t-{}], sd = 1) start Normal(mean = 0, sd = 1); observe y[t] ~ Normal(mean = x[t], sd = 1);"
STATES = ("plate t ordered; plate k = 2; mu[k] ~ Normal(mean = 0, sd = 1); A[k] ~ Dirichlet(concentration = 1) over k; "
          "z[t] ~ Categorical(A[z[t-{}]]) start Uniform() over k; observe y[t] ~ Normal(mean = mu[z[t]], sd = 1);")
LATENT = "plate n; mu[n] ~ Normal(mean = 0, sd = 1); observe y ~ Normal(mean = mu[0], sd = 1);"
INDEX = "plate n; plate k; mu[k] ~ Normal(mean = 0, sd = 1); data z[n] : k; observe y[n] ~ Normal(mean = mu[z[n]], sd = 1);"
VALUES = "plate n; plate k; p ~ Dirichlet(concentration = 1) over k; observe z[n] ~ Categorical(p);"
RATE = "plate n; r ~ Gamma(shape = 1, rate = 1); observe y[n] ~ Poisson(r);"
RAGGED = "plate g; plate i in g; plate d = 2; mu ~ MvNormal(mean = 0, precision = 1) over d; observe y[g, i] ~ MvNormal(mean = mu, precision = 1) over d;"
WORDS = "plate doc; plate token in doc times count; plate v; p ~ Dirichlet(concentration = 1) over v; observe w[doc, token] ~ Categorical(p);"


def said(command, model, *words, code, data=None):
    write("model.lehr", f"model m {{ {model} }}")
    more = []
    if data:
        name = "data.ldac" if data[0] != "{" else "data.json"
        write(name, data)
        more = ["--data", name if name.endswith("json") else f"w={name}"]
    if command == "fit":
        more += ["--search", "none", "--max-iter", "1", "--quiet", "--out", "out"]
    return lehr(command, "model.lehr", *more, *words, code=code, timeout=100).stderr


def meets(text, *where, **how):
    assert text in PAGE, text
    found = said(*where, **how)
    assert text in found, (text, found[:800])


def models():
    meets("expressions are nested more than 200 deep", "check", NORMAL.format("(" * 201 + "mu" + ")" * 201), code=3)
    assert not said("check", NORMAL.format("(" * 150 + "mu" + ")" * 150), code=0)
    long = "this expression has more than 400 operations inside each other"
    meets(long, "check", NORMAL.format("mu" + " + 1" * 402), code=3)
    assert not said("check", NORMAL.format("mu" + " + 1" * 390), code=0)
    half = "1" + " + 1" * 300
    assert not said("check", NORMAL.format(f"mu + ({half}) + ({half})"), code=0)
    doubled = " ".join(f"let a{k} = a{k - 1} + a{k - 1};" for k in range(1, 25))
    meets("this expression has more than 200000 operations", "check",
          NORMAL.format("a24").replace("observe", f"let a0 = mu + 1; {doubled} observe"), code=3)
    many = " ".join(f"x{k} ~ Normal(mean = 0, sd = 1);" for k in range(330))
    meets("expands to more than 50000 terms", "check", many + NORMAL.format(" + ".join(f"x{k}" for k in range(330))), code=3)
    meets("are numbered from a whole number: 0 or more", "check", NORMAL.format("mu").replace("plate n;", "plate n from 2000000000000;"), code=3)
    for model, most in ((LAGS, 12), (STATES, 4)):
        meets(f"one factor of all elements reaches back {most} steps at most", "check", model.format(most + 1), code=0)
        assert not said("check", model.format(most), code=0)


def sizes():
    meets("has 1000000000000 elements at most", "fit", LATENT, "--sizes", "n=1000000000001", data='{"y": 1}', code=2)
    meets("these sizes need", "fit", LATENT, "--sizes", "n=1000000000000", data='{"y": 1}', code=4)
    meets("would give plate", "fit", VALUES, data='{"z": [20000000]}', code=4)
    said("fit", VALUES, data='{"z": [19999]}', code=0)
    said("fit", INDEX, data='{"y": [1], "z": [20000000]}', code=0)  # a name
    meets("numbers from 2^53 = 9007199254740992 on are not told apart from their neighbours", "fit", RATE,
          data='{"y": [9007199254740992]}', code=4)
    said("fit", RATE, data='{"y": [1000000]}', code=0)
    meets("more than 8 axes", "fit", RATE, data='{"y": ' + "[" * 9 + "1" + "]" * 9 + "}", code=4)
    meets("rows of different lengths are read at two levels of nesting only", "fit", RAGGED, data='{"y": [[[1, 2]], []]}', code=4)
    meets("an integer from 0 to 2147483647", "fit", WORDS, data="1 2147483648:1\n", code=4)
    meets("is not a whole number from 1 to 1000000", "fit", RATE, "--restarts", "1000001", data='{"y": [1]}', code=2)
    meets("is not a whole number from 0 to 1024", "fit", RATE, "--threads", "1025", data='{"y": [1]}', code=2)


def scores():
    chain = STATES.format(1).replace("k = 2", "k = 257")
    said("fit", chain, data='{"y": [1, 2, 3]}', code=0)
    found = lehr("score", "out", "--data", "data.json", code=None, timeout=100)
    assert found.returncode in (0, 2), found.stderr  # one chain may have any number
    two = (STATES.format(1).replace("k = 2", "k = 17").replace("mu[k] ~ Normal(mean = 0, sd = 1);",
           "mu[k] ~ Normal(mean = 0, sd = 1); B[k] ~ Dirichlet(concentration = 1) over k; "
           "u[t] ~ Categorical(B[u[t-1]]) start Uniform() over k;").replace("mean = mu[z[t]]", "mean = mu[z[t]] + mu[u[t]]"))
    said("fit", two, data='{"y": [1, 2, 3]}', code=0)
    found = lehr("score", "out", "--data", "data.json", code=2, timeout=100)
    assert "have more than 256 values together" in found.stderr and "have more than 256 values together" in PAGE, found.stderr


with temporary() as folder:
    os.chdir(folder)
    models()
    sizes()
    scores()
print("ok")
