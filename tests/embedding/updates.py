#!/usr/bin/env python3
"""NAME_update of built objects: batch after batch what a chain of `lehr update` gives; for conjugate models of one factor, what one fit of
all data gives. Before the first update, the object without it. Errors.

usage: updates.py LEHR LIBRARY [PART ...], from the root of the repository; LIBRARY: the search
"""
import ctypes
import os
import re
import sys

import numpy as np

ROOT = os.getcwd()
sys.path.insert(0, os.path.join(ROOT, "tests/posterior"))
from built import Built
from conjugate_models import MODELS, NUMBERS, VECTORS, text_of

from lehr_tests import lehr, read_json, run, temporary, write

LIBRARY = os.path.abspath(sys.argv[2])
NULL, STATE, DATA, ARGUMENT, NOT_STARTED, NOT_SWEPT, FIRST_OF_MODEL = 1, 5, 6, 8, 10, 11, 100
R = np.random.default_rng(5)


class Object(Built):
    """A state of a built model. Batches: arrays over the plate `items`."""

    def __init__(self, name, sizes, items="n"):
        super().__init__(name, sizes)
        self.items, self.rows = items, sizes
        self.parameters = re.findall(rf"{name}_get_(\w+)\(", self.header)
        for p in self.parameters:
            self("get_" + p).restype = ctypes.POINTER(ctypes.c_double)

    def data(self, batch):
        return self.structure("data", {**self.rows, self.items: len(next(iter(batch.values()))), **batch})

    def start(self, batch):
        assert self.init(self.data(batch)) == 0

    def update(self, batch, keep=1.0):
        return self("update")(self.memory, ctypes.byref(self.data(batch)), ctypes.c_double(keep))

    def step(self, times=1):
        for _ in range(times):
            assert self("step")(self.memory, None, ctypes.c_double(1)) == 0

    def get(self, parameter):
        count = ctypes.c_size_t()
        values = self("get_" + parameter)(self.memory, ctypes.byref(count))
        return np.array(values[:count.value])

    def all(self):
        return {p: self.get(p) for p in self.parameters}

    def saved(self):
        self("saved_bytes").restype = ctypes.c_size_t
        out = ctypes.create_string_buffer(self("saved_bytes")(self.memory))
        assert self("save")(self.memory, out, ctypes.c_size_t(len(out))) == 0
        return out


def member(name):
    return name.replace(".", "_")


def assert_near(found, wanted, what, bound=1e-10):
    found, wanted = np.ravel(found), np.ravel(wanted)
    worst = np.max(np.abs(found - wanted)) / (1e-300 + np.max(np.abs(wanted)))
    assert worst < bound, (what, worst)


def cut(data, parts):
    return [{key: np.array_split(x, parts)[k] for key, x in data.items()} for k in range(parts)]


def written(name, text):
    write(name + ".lehr", text)


def posterior(out):
    return dict(np.load(f"{out}/posterior.npz")), read_json(f"{out}/fit.json")["elbo"]


def build(name, text, *options):
    written(name, text)
    lehr("build", name + ".lehr", "-o", name, "--shared", "--updates", *options)


def conjugate(title):
    """Ten batches are one fit, and the bounds, which are log evidences, add up."""
    name = "c_" + title.replace(" ", "_")
    build(name, re.sub(r"model \w+", f"model {name}", text_of(title)))
    data = {k: np.asarray(x, float) for k, x in MODELS[title][1].items()}
    np.savez("all.npz", **data)
    lehr("fit", name + ".lehr", "--data", "all.npz", "--guide", "factorised", "--quiet", "--out", "all")
    whole, elbo = posterior("all")
    o = Object(name, {"n": 20, "throw_": 20}, "throw_" if title == "coin" else "n")
    elbos = 0.0
    for k, batch in enumerate(cut(data, 10)):
        if k == 0:
            o.start(batch)
        else:
            assert o.update(batch) == 0
        o.step()
        elbos += o.elbo()
    for key, x in whole.items():
        assert_near(o.get(member(key)), x, (title, key))
    if title != "flat":  # the first batch has no evidence there
        assert abs(elbos - elbo) < 1e-8 * (1 + abs(elbo)), (title, elbos, elbo)


LABELS = R.integers(0, 2, 120)
# By name: a model, its data over the plate n, sweeps a batch, and options.
OTHERS = {
    "mixture": ("plate n; plate k = 2; plate d = 3; pi ~ Dirichlet(concentration = 1) over k; mu[k] ~ MvNormal(mean = 0, precision = 0.1) over d;"
                "L[k] ~ Wishart(df = 5, scale = 0.5) over d; z[n] ~ Categorical(pi);"
                "observe x[n] ~ MvNormal(mean = mu[z[n]], precision = L[z[n]]) over d;", {"x": VECTORS[:120] + 6 * LABELS[:, None]}, 30),
    "hierarchy": ("plate n; plate g = 4; data of[n] : g; m ~ Normal(mean = 0, sd = 5); tau ~ Gamma(shape = 1, rate = 1);"
                  "mu[g] ~ Normal(mean = m, precision = tau); s ~ Gamma(shape = 1, rate = 1); observe x[n] ~ Normal(mean = mu[of[n]], precision = s);",
                  {"x": NUMBERS[:120], "of": R.integers(0, 4, 120)}, 60),
    "logistic": ("plate n; plate d = 3; data x[n] : vector over d; w ~ MvNormal(mean = 0, precision = 1) over d;"
                 "observe y[n] ~ Bernoulli(logistic(dot(w, x[n])));", {"x": VECTORS[:120], "y": LABELS}, 60),
    "factors": ("plate n; plate d; plate f = 2; W[d] ~ MvNormal(mean = 0, precision = 1) over f; psi[d] ~ Gamma(shape = 1, rate = 1);"
                "h[n] ~ MvNormal(mean = 0, precision = 1) over f; observe x[n, d] ~ Normal(mean = dot(W[d], h[n]), precision = psi[d]);",
                {"x": VECTORS[:120]}, 800),
    "sticks": ("plate n; plate k = 5; v[k] ~ Beta(1, 2); r[k] ~ Gamma(shape = 1, rate = 0.1); z[n] ~ Categorical(stick_breaking(v));"
               "observe x[n] ~ Poisson(r[z[n]]);", {"x": R.poisson(3 + 20 * LABELS)}, 300),
}


def chain(name, keep):
    """What `lehr update` gives batch after batch, each until nothing moves."""
    text, data, sweeps = OTHERS[name]
    built = f"{name}_{keep}".replace(".", "_")
    build(built, f"model {built} {{ {text} }}")
    o = Object(built, {"n": 60, "d": 3})
    sizes = (50, 10, 60)  # of the batches
    for k, end in enumerate(np.cumsum(sizes)):
        batch = {key: np.asarray(x, float)[end - sizes[k]:end] for key, x in data.items()}
        np.savez("batch.npz", **batch)
        command = ["update", f"fit{k - 1}", "--forget", str(keep)] if k else ["fit", built + ".lehr", "--guide", "factorised", "--search", "none"]
        lehr(*command, "--data", "batch.npz", "--seed", "1", "--max-iter", str(sweeps), "--tol", "0", "--leap-after", "0", "--quiet", "--out", f"fit{k}")
        if k == 0:
            o.start(batch)
        else:
            assert o.update(batch, keep) == 0
        o.step(sweeps)
        wanted, elbo = posterior(f"fit{k}")
        for key, x in wanted.items():
            assert_near(o.get(member(key)), x, (name, keep, k, key))
        assert abs(o.elbo() - elbo) < 1e-10 * abs(elbo), (name, keep, k, o.elbo(), elbo)


def before_updates(name):
    """Until then the state is that of an object without it."""
    text, data, _ = OTHERS[name]
    plain = f"{name}_plain"
    written(plain, f"model {plain} {{ {text} }}")
    lehr("build", plain + ".lehr", "-o", plain, "--shared")
    build(name, f"model {name} {{ {text} }}")
    pair = [Object(each, {"n": 120, "d": 3}) for each in (plain, name)]
    for o in pair:
        o.start({k: np.asarray(x, float) for k, x in data.items()})
        o.step(5)
    for p, x in pair[0].all().items():
        assert_near(pair[1].get(p), x, (name, p), 1e-12)
    assert abs(pair[0].elbo() - pair[1].elbo()) < 1e-12 * abs(pair[0].elbo())
    assert not hasattr(pair[0].library, f"{plain}_update")


def saved_and_loaded():
    """A state that was loaded goes on with the same bits, and so does the prior."""
    text, data, _ = OTHERS["mixture"]
    build("saved", f"model saved {{ {text} }}")
    o, other = (Object("saved", {"n": room, "d": 3}) for room in (50, 200))
    first, batch = cut({"x": VECTORS[:80]}, 2)
    o.start(first)
    o.step(5)
    saved = o.saved()
    assert other("load")(other.memory, saved, ctypes.c_size_t(len(saved))) == 0
    for each in (o, other):
        assert each.update(batch, 0.7) == 0
        each.step(5)
    again = o.saved()
    assert other("load")(other.memory, again, ctypes.c_size_t(len(again))) == 0
    for each in (o, other):
        assert each("step")(each.memory, ctypes.byref(each.data(batch)), ctypes.c_double(1)) == 0
    assert o.elbo() == other.elbo()
    assert all(np.array_equal(x, other.get(p)) for p, x in o.all().items() if len(x) == len(other.get(p)))


WISHART = ("plate n; plate d = 3; L ~ Wishart(df = 5, scale = 0.3) over d; observe x[n] ~ MvNormal(mean = 1, precision = L) over d;")


def errors():
    build("errors", f"model errors {{ {WISHART} }}")
    first, second = cut({"x": VECTORS[:40]}, 2)
    o = Object("errors", {"n": 20})
    assert o.update(first) == NOT_STARTED
    o.start(first)
    o.step()
    before = o.saved()
    for keep in (0.0, -1.0, 1.5, float("nan"), float("inf")):
        assert o.update(second, keep) == ARGUMENT, keep
    assert o("update")(o.memory, None, ctypes.c_double(1)) == NULL
    assert o("update")(ctypes.create_string_buffer(o.bytes), ctypes.byref(o.data(second)), ctypes.c_double(1)) == STATE
    assert o.update({"x": second["x"] * np.nan}) == DATA
    assert o.saved().raw == before.raw
    status = o.update(second, 1e-310)  # the inverse of its scale is 0
    assert status >= FIRST_OF_MODEL and b"'L'" in o("error")(status), status
    assert o.update(second, 0.5) == 0
    assert o("elbo")(o.memory, ctypes.byref(ctypes.c_double())) == NOT_SWEPT
    o.step()
    other = Object("errors", {"n": 20})
    other.start(first)
    other.step()
    assert other.update(second, 0.5) == 0
    other.step()
    assert all(np.array_equal(x, other.get(p)) for p, x in o.all().items())


def refusals():
    """The words of `lehr update`."""
    for text, why in {
        "a ~ Normal(mean = 0, precision = 1); b ~ Normal(mean = 0, precision = 1);"
        "observe x[n] ~ Normal(mean = a + b, precision = 1); guide joint(a, b);": "several variables share its factor",
        "mu ~ Normal(mean = 0, precision = 1); observe x[n] ~ Normal(mean = mu, precision = 1); guide point(mu);": "it is a point",
        "mu[n] ~ Normal(mean = 0, precision = 1); observe x[n] ~ Normal(mean = mu[n], precision = 1);": "nothing is carried on",
        "mu ~ Normal(mean = 0, precision = 1); observe x[n] ~ Normal(mean = mu, precision = 1); potential -mu * mu;": "potentials are of no variable",
    }.items():
        written("refused", f"model refused {{ plate n; {text} }}")
        done = lehr("build", "refused.lehr", "-o", "refused", "--updates", code=3)
        assert why in done.stderr and "refused.lehr" in done.stderr, (text, done)
        assert not os.path.exists("refused.o")


def in_cpp():
    build("walk", f"model walk {{ {WISHART} }}")
    write("use.cpp", '''#include <cstdio>
#include "walk.hpp"
int main() {
  const double x[] = {1, 2, 3, 2, 0, 1}, y[] = {4, 0, 1};
  walk::State state({.abi = WALK_ABI, .n = 2}, {.n = 2, .x = x}, 1);
  state.step();
  state.update({.n = 1, .x = y});
  state.step();
  state.update({.n = 2, .x = x}, 0.5);
  state.step();
  try {
    state.update({.n = 2, .x = x}, 2);
  } catch (const walk::Error& e) {
    std::printf("%g %d\\n", state.L_df()[0], int(e.status()));
  }
}
''')
    run("c++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-I.", "use.cpp", os.path.abspath("walk.so"), "-o", "use")
    assert run("./use").stdout == "8 8\n", run("./use")  # df to the power p: (5 + 3 - 4) p + 4, then 2


def every_part():
    for each in MODELS:
        yield each, lambda: conjugate(each)
    for each in OTHERS:
        yield f"{each}, chain", lambda: chain(each, 1)
    for each in ("mixture", "hierarchy"):
        yield f"{each}, forgetting", lambda: chain(each, 0.8)
        yield f"{each}, before", lambda: before_updates(each)
    yield "saved", saved_and_loaded
    yield "errors", errors
    yield "refusals", refusals
    yield "C++", in_cpp


with temporary() as folder:
    os.chdir(folder)
    for title, part in every_part():
        if not sys.argv[3:] or title in sys.argv[3:]:
            part()
            print("ok", title, flush=True)
