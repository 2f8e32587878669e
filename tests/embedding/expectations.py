#!/usr/bin/env python3
"""Built objects of models with expectations of links: every sweep has the bits of `lehr fit`, also where sweeps are shortened; with data
passed again, after a saved state, in ranges, at a temperature, and from start values.

usage: expectations.py LEHR, from the root of the repository
"""
import csv
import ctypes
import os
import sys

import numpy as np
from built import Built

from lehr_tests import arrays, lehr, temporary, write, write_json

RNG = np.random.default_rng(5)
ONE = ctypes.c_double(1)
os.environ["LEHR_THRESHOLDS"] = "outline_parallel_loops.operations=1000000000,outline_parallel_loops.outside=1000000000"  # one chunk of items
SWEEPS = 12
EFFECTS = """model NAME { plate group; plate obs; data g[obs] : group; data x[obs] : real;
  b0 ~ Normal(mean = 0, sd = 5); b1 ~ Normal(mean = 0, sd = 5); tau ~ Gamma(shape = 1, rate = 0.5);
  u[group] ~ Normal(mean = 0, precision = tau); observe y[obs] ~ LINK(b0 + b1 * x[obs] + u[g[obs]])); }"""
LINE = """model NAME { plate obs; data x[obs] : real; a ~ Normal(mean = 0, sd = 10); b ~ Normal(mean = 0, sd = 10); LOCAL
  observe y[obs] ~ RATE; }"""
MIXTURE = """model NAME { plate obs; plate k = 2; data x[obs] : real; p ~ Dirichlet(concentration = 1) over k; z[obs] ~ Categorical(p);
  a[k] ~ Normal(mean = 0, sd = 3); b ~ Normal(mean = 0, sd = 5); observe y[obs] ~ Poisson(exp(a[z[obs]] + b * x[obs])); }"""


def models():
    """name -> text of the model, sizes of the state beside those of the data, data."""
    n, groups = 24, 6
    g, x = np.repeat(np.arange(groups), n // groups), RNG.normal(size=n)
    e = -0.5 + 0.8 * x + RNG.normal(size=groups)[g]
    bits, counts = (RNG.logistic(size=n) < e).astype(int), RNG.poisson(np.exp(e))
    for name, link, y in (("logistic_effects", "Bernoulli(logistic", bits), ("probit_effects", "Bernoulli(probit", bits), ("count_effects", "Poisson(exp", counts)):
        yield name, EFFECTS.replace("LINK", link), {"group": groups, "obs": n}, {"g": g, "x": x, "y": y}
    years = np.arange(1985.0, 1985 + n)
    for name, local, rate, x, y in (("large_counts", "", "Poisson(exp(a + b * x[obs]))", x, RNG.poisson(np.exp(9 + 0.3 * x))),
                                    ("no_counts", "", "Poisson(exp(a + b * x[obs]))", x, 0 * bits),
                                    ("years", "", "Poisson(exp(a + b * x[obs]))", years, RNG.poisson(np.exp(0.1 * (years - 2000)))),
                                    ("separable", "", "Bernoulli(logistic(a + b * x[obs]))", x, (x > 0).astype(int)),
                                    ("overdispersed", "v[obs] ~ Gamma(shape = 2, rate = 2);", "Poisson(v[obs] * exp(a + b * x[obs]))", x, counts)):
        yield name, LINE.replace("LOCAL", local).replace("RATE", rate), {"obs": n}, {"x": x, "y": y}
    yield "count_mixture", MIXTURE, {"obs": n}, {"x": x, "y": counts}


class Object(Built):
    """A model built with expectations, and a state with these data."""

    def __init__(self, name, sizes, data):
        super().__init__(name, sizes)
        self.data = self.structure("data", {"obs": sizes["obs"], **data})

    def step(self, data=False, beta=1):
        assert self("step")(self.memory, ctypes.byref(self.data) if data else None, ctypes.c_double(beta)) == 0

    def step_in_a_range(self):
        items = ctypes.c_int64()
        assert self("step_begin")(self.memory, None, ONE) == 0
        self("range_bytes").restype = ctypes.c_size_t
        while self("step_next")(self.memory, ctypes.byref(items)) == 0 and items.value > 0:
            memory = ctypes.create_string_buffer(self("range_bytes")(self.memory))
            assert self("step_items")(self.memory, memory, ctypes.c_size_t(len(memory)), ctypes.c_int64(0), items) == 0
            assert self("step_add")(self.memory, memory) == 0

    def get(self, name):
        function, count = self("get_" + name.replace(".", "_")), ctypes.c_size_t()
        function.restype = ctypes.POINTER(ctypes.c_double)
        values = function(self.memory, ctypes.byref(count))
        return np.array(values[:count.value])

    def saved(self):
        self("saved_bytes").restype = ctypes.c_size_t
        out = ctypes.create_string_buffer(self("saved_bytes")(self.memory))
        assert self("save")(self.memory, out, ctypes.c_size_t(len(out))) == 0
        return out


def fit(name, *options, sweeps=SWEEPS):
    """The ELBO of each sweep, and the posterior after the last one."""
    lehr("fit", name + ".lehr", "--data", name + ".json", "--links", "gaussian", "--guide", "factorised", "--search", "none", "--leap-after", "0",
         "--no-invariances", "--tol", "0", "--seed", "1", "--threads", "1", "--save-locals", "--sds", "factors", "--max-iter", str(sweeps), "--quiet", "--out",
         name + ".fit", *options)
    with open(name + ".fit/trace.csv") as f:
        return [float(row["elbo"]) for row in csv.DictReader(f)], arrays(name + ".fit/posterior.npz")


def same_posterior(built, posterior):
    for name, values in posterior.items():
        assert built.get(name).tobytes() == np.ascontiguousarray(values, float).tobytes(), name
    return True


def check(name, sizes, data):
    """Sweeps that differ in how data are passed and items are visited."""
    elbos, posterior = fit(name)
    assert len(elbos) == SWEEPS and all(b >= a - 1e-9 * abs(a) for a, b in zip(elbos, elbos[1:])), elbos
    one, again, ranges, first, second = (Object(name, sizes, data) for _ in range(5))
    for built in (one, again, ranges, first):
        assert built.init(built.data) == 0
    for sweep in range(SWEEPS):
        one.step()
        assert one.elbo() == elbos[sweep], (name, sweep, one.elbo(), elbos[sweep])
        again.step(data=sweep % 3 == 1)
        ranges.step_in_a_range()
        if sweep == SWEEPS // 2:
            saved = first.saved()
            assert second("load")(second.memory, saved, ctypes.c_size_t(len(saved))) == 0
        (first if sweep < SWEEPS // 2 else second).step(data=sweep == SWEEPS // 2)
    for built in (one, again, ranges):
        same_posterior(built, posterior)
    # A loaded state sums its statistics anew. The ELBO of large counts, some 1e6 nats, resolves factors no further than its
    # rounding decides which sweeps are shortened.
    rtol = 1e-5 if name == "large_counts" else 1e-8
    for array, values in posterior.items():
        assert np.allclose(second.get(array), np.ravel(values), rtol=rtol, atol=1e-10), array


def at_temperatures(name, sizes, data):
    """Three sweeps while the temperature of the data, or of the entropies, falls to 1: the numbers of an annealed fit."""
    for kind, function in (("linear", "step"), ("entropy", "entropy_step")):
        elbos, posterior = fit(name, "--anneal", f"{kind}:from=4,over=4")
        built = Object(name, sizes, data)
        assert built.init(built.data) == 0
        for sweep in range(SWEEPS):
            t = 4 + (1 - 4) * sweep / 4 if sweep < 4 else 1
            assert built(function)(built.memory, None, ctypes.c_double(1 / t)) == 0
            assert built.elbo() == elbos[sweep], (name, kind, sweep, built.elbo(), elbos[sweep])
        same_posterior(built, posterior)


def other_data(name, sizes, data):
    """Other data at the same address: the sweep is judged by their ELBO, and sweeps then go up to where a fit of them ends."""
    built = Object(name, sizes, data)
    assert built.init(built.data) == 0
    for _ in range(SWEEPS):
        built.step()
    y = built.kept[-1]
    y[:] = y[::-1].copy()
    values = []
    for sweep in range(200):
        built.step(data=sweep == 0)
        values.append(built.elbo())
    assert all(b >= a - 1e-9 * abs(a) for a, b in zip(values, values[1:])), values
    write_json(name + ".json", {k: np.asarray(v).tolist() for k, v in {**data, "y": data["y"][::-1]}.items()})
    elbos, _ = fit(name, sweeps=500)
    assert abs(values[-1] - elbos[-1]) < 1e-5 * abs(elbos[-1]), (name, values[-1], elbos[-1])


with temporary() as folder:
    os.chdir(folder)
    for name, text, sizes, data in models():
        write(name + ".lehr", text.replace("NAME", name))
        write_json(name + ".json", {k: np.asarray(v).tolist() for k, v in data.items()})
        lehr("build", name + ".lehr", "-o", name, "--shared", "--links", "gaussian", *(["--sizes", f"group={sizes['group']}"] if "group" in sizes else []))
        check(name, sizes, data)
        if name in ("logistic_effects", "large_counts"):
            at_temperatures(name, sizes, data)
        if name == "count_effects":
            other_data(name, sizes, data)
        print("ok", name, flush=True)
