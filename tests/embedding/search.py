#!/usr/bin/env python3
"""lehr_search over built objects: what `lehr fit` finds for the same seed, in as many sweeps; its arguments and errors.

usage: search.py LEHR LIBRARY, from the root of the repository
"""
import ctypes
import os
import sys

import numpy as np
from built import Built

from lehr_tests import lehr, model_file, read_json, run, temporary, write_json

LIBRARY = os.path.abspath(sys.argv[2])
ROOT = os.getcwd()
ON_SWEEP = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64, ctypes.c_double, ctypes.c_double)
NULL, STATE, ARGUMENT, NO_DATA, NOT_STARTED, NOT_FINITE = 1, 5, 8, 9, 10, 16


class Options(ctypes.Structure):
    _fields_ = [("seed", ctypes.c_uint64), ("full", ctypes.c_int32), ("keep_start", ctypes.c_int32), ("max_iterations", ctypes.c_int64),
                ("tolerance", ctypes.c_double), ("threads", ctypes.c_int64), ("on_sweep", ON_SWEEP), ("context", ctypes.c_void_p)]


class Result(ctypes.Structure):
    _fields_ = [(n, ctypes.c_double if n == "elbo" else ctypes.c_int32 if n == "converged" else ctypes.c_int64)
                for n in ("elbo", "sweeps", "starts", "annealed", "moves", "converged")]


class Object(Built):
    """A model built, linked with the search, and a state with these data."""

    def __init__(self, name, model, sizes, data, *options):
        lehr("build", model, "-o", name, *options)
        run("c++", "-shared", "-o", name + ".so", name + ".o", "-Wl,--whole-archive", LIBRARY, "-Wl,--no-whole-archive", "-pthread", "-Wl,-z,defs", "-lm")
        super().__init__(name, sizes)
        self.data = self.structure("data", data)

    def search(self, data=True, memory=None, model=None, **options):
        result = Result()
        status = self.library.lehr_search(ctypes.c_void_p(self("model")() if model is None else model),
                                          self.memory if memory is None else memory,
                                          ctypes.byref(self.data) if data else None, ctypes.byref(Options(**options)), ctypes.byref(result))
        return status, result


def fit(name, model, data, *options):
    lehr("fit", model, *data, "--quiet", "--out", name + ".fit", *options)
    return read_json(name + ".fit/fit.json")


def as_json(name, data):
    write_json(name + ".json", {k: np.asarray(v).tolist() if not isinstance(v, list) else v for k, v in data.items()})
    return ["--data", name + ".json"]


def models():
    """name -> file, sizes and data of the object, those of the command line: items, topics, a graph, sequences."""
    r = np.random.default_rng(8)
    path = lambda n: os.path.join(ROOT, model_file(n))
    x = np.genfromtxt(os.path.join(ROOT, "models/data/mixtures/faithful.csv"), delimiter=",", skip_header=1)
    constants = ["--set", "K=4", "--sizes", "dim=2"]
    yield "gmm", path("gmm"), {"n": len(x)}, {"n": len(x), "x": x}, ["--data", "x=" + os.path.join(ROOT, "models/data/mixtures/faithful.csv:eruptions,waiting")], constants
    beta = r.dirichlet([0.1] * 40, 4)
    counts = [r.multinomial(50, r.dirichlet([0.2] * 4) @ beta) for _ in range(60)]
    with open("d.ldac", "w") as f:
        f.writelines(f"{(c > 0).sum()} " + " ".join(f"{i}:{n}" for i, n in enumerate(c) if n) + "\n" for c in counts)
    of = [np.flatnonzero(c) for c in counts]
    yield ("lda", path("lda"), {"doc": 60, "token": sum(map(len, of)), "term": 40},
           {"doc": 60, "token_offsets": np.cumsum([0, *map(len, of)]), "w": np.concatenate(of), "count": np.concatenate([c[i] for c, i in zip(counts, of)])},
           ["--data", "w=d.ldac", "--sizes", "term=40"], ["--set", "K=4"])
    ties = np.genfromtxt(os.path.join(ROOT, "models/data/networks/karate.csv"), delimiter=",", names=True)
    columns = {n: ties[n] for n in ("a", "b", "tie")}
    yield ("stochastic_block_model", path("stochastic_block_model"), {"pair": len(ties), "member": 34}, {"pair": len(ties), **columns},
           ["--data", os.path.join(ROOT, "models/data/networks/karate.csv")], [])
    frames = read_json(os.path.join(ROOT, "models/data/sequences/japanese_vowels.json"))
    x, lengths = np.array(frames["x"], float), frames["t"]
    yield ("hmm_gaussian", path("hmm_gaussian"), {"seq": len(lengths), "t": len(x), "channel": x.shape[1], "t_longest": max(lengths)},
           {"seq": len(lengths), "t_offsets": np.cumsum([0, *lengths]), "x": x}, ["--data", os.path.join(ROOT, "models/data/sequences/japanese_vowels.json")], [])


def as_fit():
    """The ELBO and the sweeps of `lehr fit --search quick`, whatever the number of threads; the state has that ELBO, and a sweep keeps it."""
    for name, model, sizes, data, arguments, constants in models():
        built = Object(name, model, sizes, data, *constants)
        for seed in (1, 2):
            want = fit(name, model, [*arguments, *constants], "--seed", str(seed))
            for threads in (1, 3):
                status, found = built.search(seed=seed, threads=threads)
                assert status == 0, (name, status)
                assert abs(found.elbo - want["elbo"]) <= 1e-9 * abs(want["elbo"]), (name, seed, found.elbo, want["elbo"])
                assert found.sweeps == want["search"]["sweeps"], (name, found.sweeps, want["search"]["sweeps"])
                assert (found.starts, found.annealed, bool(found.converged)) == (
                    len(want["search"]["starts"]), len(want["annealing"]["arms"]), want["status"] == "converged"), name
                kinds = want["search"].get("moves", {})
                assert found.moves == sum(kinds[k]["accepted"] for k in ("merges", "removals", "splits", "orders") if k in kinds), name
            assert abs(built.elbo() - found.elbo) <= 1e-12 * abs(found.elbo)
            assert built("step")(built.memory, None, ctypes.c_double(1)) == 0 and built.elbo() >= found.elbo - 1e-9 * abs(found.elbo)
        yield f"{name} {found.elbo:.4f} after {found.sweeps}"


def expectations():
    """Expectations of links: the ELBO of `lehr fit`, which ends the search of these models early, and the next sweep keeps it."""
    given = os.path.join(ROOT, "models/data/regression/coal_trend.csv")
    columns = np.genfromtxt(given, delimiter=",", names=True)
    for name, options in (("falling_counts", ["--links", "gaussian"]), ("poisson_regression", [])):
        model = os.path.join(ROOT, model_file(name))
        want = fit(name, model, ["--data", given, "--guide", "factorised", "--tol", "1e-11", *options])
        built = Object(name, model, {"year": len(columns)}, {"year": len(columns), **{n: columns[n] for n in columns.dtype.names}}, *options)
        status, found = built.search(seed=1, tolerance=1e-11)
        assert status == 0 and found.converged and abs(found.elbo - want["elbo"]) <= 1e-8 * abs(want["elbo"]), (name, status, found.elbo, want["elbo"])
        assert abs(built.elbo() - found.elbo) <= 1e-12 * abs(found.elbo)
        assert built("step")(built.memory, None, ctypes.c_double(1)) == 0 and built.elbo() >= found.elbo - 1e-12 * abs(found.elbo)
        yield f"{name} {found.elbo:.6f}"


def arguments():
    """A start that is kept, an end that the caller asks for, and what is refused."""
    name, model, sizes, data, given, constants = next(models())
    built = Object(name, model, sizes, data, *constants)
    assert built.search(data=False)[0] == NO_DATA and built.search(keep_start=1)[0] == NOT_STARTED
    status, best = built.search(seed=1, full=1)
    assert status == 0 and best.starts == 20
    seen = []

    def stop(_, sweep, elbo, temperature):
        seen.append((sweep, elbo, temperature))
        return int(len(seen) == 9)

    status, found = built.search(data=False, seed=5, keep_start=1, on_sweep=ON_SWEEP(stop))
    assert status == 0 and not found.converged and len(seen) == 9 and seen[0][2] == 1, seen
    # The first sweeps go on from the best.
    assert abs(seen[0][1] - best.elbo) <= 1e-9 * abs(best.elbo), (seen[0], best.elbo)
    assert abs(built.elbo() - found.elbo) <= 1e-12 * abs(found.elbo)
    for wrong in ({"threads": -1}, {"max_iterations": -1}, {"tolerance": -1.0}, {"tolerance": float("nan")}):
        assert built.search(**wrong)[0] == ARGUMENT, wrong
    assert built.library.lehr_search(None, built.memory, None, None, None) == NULL
    assert built.search(memory=ctypes.create_string_buffer(built.bytes))[0] == STATE
    far = Object(name, model, sizes, {**data, "x": data["x"] * 1e200}, *constants)
    assert far.search()[0] != 0
    yield f"stopped at {found.elbo:.4f} of {best.elbo:.4f}"


with temporary() as folder:
    os.chdir(folder)
    for check in (as_fit, expectations, arguments):
        for line in check():
            print(f"ok {check.__name__}: {line}", flush=True)
