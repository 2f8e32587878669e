#!/usr/bin/env python3
"""lehr_predict and lehr_score over built objects: the numbers of `lehr predict` and `lehr score`, of the same factors; errors.

usage: predict.py LEHR LIBLEHR, from the root of the repository
"""
import ctypes
import json
import os
import re
import sys

import numpy as np
from built import Built

from lehr_tests import lehr, model_file, read, read_json, run, temporary, write, write_json

LIBLEHR = os.path.abspath(sys.argv[2])
LIBRARY = ctypes.CDLL(LIBLEHR)
ROOT = os.getcwd()
NULL, SIZE, STATE, DATA, ARGUMENT, NOT_STARTED, LIBRARY_SAYS = 1, 3, 5, 6, 8, 10, 18
NAN = float("nan")


class Array(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("values", ctypes.POINTER(ctypes.c_double)), ("rank", ctypes.c_int32), ("integer", ctypes.c_int32),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("axes", ctypes.c_void_p)]


LIBRARY.lehr_arrays_count.restype = ctypes.c_int64
LIBRARY.lehr_arrays_at.restype = Array


def called(function, built, data, options=None, memory=None, model=None):
    """Status, arrays by name, message."""
    arrays, message = ctypes.c_void_p(), ctypes.c_char_p()
    status = function(ctypes.c_void_p(built("model")() if model is None else model), built.memory if memory is None else memory,
                      data and ctypes.byref(data), options and json.dumps(options).encode(), ctypes.byref(arrays), ctypes.byref(message))
    out = {}
    for k in range(LIBRARY.lehr_arrays_count(arrays) if arrays else 0):
        a = LIBRARY.lehr_arrays_at(arrays, ctypes.c_int64(k))
        shape = a.shape[:a.rank]
        out[a.name.decode()] = np.array(a.values[:int(np.prod(shape))]).reshape(shape)
    LIBRARY.lehr_arrays_free(arrays)
    text = (message.value or b"").decode()
    LIBRARY.lehr_text_free(message)
    return status, out, text


def flat(x):
    return [y for row in x for y in flat(row)] if isinstance(x, (list, np.ndarray)) else [x]


def filled(data, rows):
    """JSON for the command line; members of the object's structure, with the offsets of `rows` (lengths by plate)."""
    plain = {k: np.asarray(v).tolist() if not isinstance(v, list) else v for k, v in data.items()}
    null = lambda x: [null(y) for y in x] if isinstance(x, list) else None if x != x else x
    members = {k: flat(v) for k, v in plain.items()}
    members.update({f"{plate}_offsets": np.cumsum([0, *lengths]) for plate, lengths in rows.items()})
    return {k: null(v) for k, v in plain.items()}, members


class Case:
    """A model that was fitted by the command line to `train`, and an object whose state has its global factors."""

    def __init__(self, name, text, sizes, train, rows={}, fit=(), build=()):
        self.name = name
        write(name + ".lehr", text)
        of_file, members = filled(train, rows)
        write_json("train.json", of_file)
        lehr("fit", name + ".lehr", "--data", "train.json", "--quiet", "--guide", "factorised", "--search", "none", "--out", name, *fit)
        lehr("build", name + ".lehr", "-o", name, "--shared", *build)
        self.built = Built(name, sizes)
        data = self.built.structure("data", {**sizes, **members})
        assert self.built.init(data) == 0, name
        posterior = np.load(f"{name}/posterior.npz")
        for parameter in posterior.files:
            values = np.ascontiguousarray(posterior[parameter], float)
            setter = getattr(self.built.library, f"{name}_set_" + re.sub(r"[.(,]", "_", re.sub(r"[ )]", "", parameter)), None)
            if setter:
                assert setter(self.built.memory, values.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(values.size)) == 0, parameter

    def data(self, counts, new, rows={}):
        of_file, members = filled(new, rows)
        write_json("new.json", of_file)
        return self.built.structure("data", {**counts, **members})

    def same(self, counts, new, rows={}, sizes=(), options=None):
        """Every array of `lehr predict`, to the rounding of another order of products (contraction, sizes that are constants)."""
        data = self.data(counts, new, rows)
        lehr("predict", self.name, "--starts", "1", *(["--data", "new.json"] if new else []), *sizes, "--out", "want.npz")
        status, got, message = called(LIBRARY.lehr_predict, self.built, data, options)
        assert status == 0, (self.name, status, message)
        want = np.load("want.npz")
        assert set(got) == set(want.files), (self.name, set(got) ^ set(want.files))
        for k in want.files:
            assert got[k].shape == want[k].shape, (self.name, k, got[k].shape, want[k].shape)
            np.testing.assert_allclose(got[k], want[k], rtol=1e-11, atol=1e-11, err_msg=f"{self.name} {k}")
        return len(want.files)

    def same_score(self, counts, new, rows={}):
        data = self.data(counts, new, rows)
        lehr("score", self.name, "--starts", "1", "--data", "new.json")
        want = read_json(f"{self.name}/score.json")
        status, got, message = called(LIBRARY.lehr_score, self.built, data)
        assert status == 0, (self.name, status, message)
        assert abs(got["total"] - want["total"]) <= 1e-11 * abs(want["total"]), (self.name, got["total"], want["total"])
        assert got["observations"] == want["observations"]
        if "sequences" in want:
            np.testing.assert_allclose(got["sequences"], want["sequences"], rtol=1e-11)


def text_of(name):
    return read(os.path.join(ROOT, model_file(name)))


R = np.random.default_rng(3)


def regression():
    """Exact predictions of what is null, of some that are missing, and a score."""
    x = R.normal(size=(40, 3))
    y = x @ [1, -2, 0.5] + 0.3 * R.normal(size=40)
    case = Case("linear_regression", text_of("linear_regression"), {"n": 40, "d": 3}, {"x": x, "y": y})
    fresh = R.normal(size=(60, 3))  # more items than the state has room for
    case.same({"n": 60}, {"x": fresh})
    case.same({"n": 60}, {"x": fresh, "y": np.where(np.arange(60) % 2, NAN, fresh[:, 0])})
    case.same_score({"n": 60}, {"x": fresh, "y": fresh[:, 0]})


def numbered():
    """Elements that a model numbers from 1 are positions in an object, in what it is given and in what it predicts."""
    text = """model %s { plate n; plate g = 3%s; plate level = 3%s; data of[n] : g; p[g] ~ Dirichlet(concentration = 1) over level;
      observe y[n] ~ Categorical(p[of[n]]); }"""
    zero = Case("zero", text % ("zero", "", ""), {"n": 6}, {"of": [0, 0, 1, 2, 2, 0], "y": [0, 2, 2, 1, 1, 1]})
    zero.same({"n": 3}, {"of": [0, 1, 2]})
    write("one.lehr", text % ("one", " from 1", " from 1"))
    lehr("build", "one.lehr", "-o", "one", "--shared")
    one = Built("one", {"n": 6})
    assert one.init(one.structure("data", {"n": 6, "of": np.array([0, 0, 1, 2, 2, 0]), "y": np.array([0, 2, 2, 1, 1, 1])})) == 0
    values = np.ascontiguousarray(np.load("zero/posterior.npz")["p.concentration"])
    assert one.library.one_set_p_concentration(one.memory, values.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(values.size)) == 0
    want, got = (called(LIBRARY.lehr_predict, b, b.structure("data", {"n": 3, "of": np.array([0, 1, 2])})) for b in (zero.built, one))
    assert want[0] == got[0] == 0, (want, got)
    assert want[1].keys() == got[1].keys() and all((want[1][k] == got[1][k]).all() for k in want[1] if "mcse" not in k), (want, got)


def logistic():
    """Draws with a seed."""
    t = R.normal(70, 8, size=30)
    case = Case("logistic_regression", text_of("logistic_regression"), {"flight": 30}, {"temperature": t, "damaged": (t < 66).astype(float)})
    case.same({"flight": 3}, {"temperature": [31.0, 60.0, 80.0]})


def mixture():
    """Classes of points, and points with gaps."""
    x = np.concatenate([R.normal(0, 1, (40, 2)), R.normal(5, 1, (40, 2))])
    case = Case("gmm_diagonal", text_of("gmm_diagonal"), {"n": 80, "d": 2}, {"x": x}, fit=["--set", "K=2"], build=["--set", "K=2"])
    points = {"x": [[0.1, 0.2], [4.0, 5.5], [2.5, 2.5]]}
    case.same({"n": 3}, points)
    # By the code of the object: the bits of its own inference.
    predicted = called(LIBRARY.lehr_predict, case.built, case.data({"n": 3}, points))[1]["z.probability"]
    assert case.built("infer")(case.built.memory, ctypes.byref(case.data({"n": 3}, points))) == 0
    case.built("get_z_probs").restype = ctypes.POINTER(ctypes.c_double)
    assert (np.array(case.built("get_z_probs")(case.built.memory, None)[:6]) == predicted.ravel()).all()
    case.same({"n": 3}, {"x": [[0.1, NAN], [NAN, NAN], [2.5, 2.5]]})
    case.same({"n": 2}, {}, sizes=["--sizes", "n=2"])
    case.same_score({"n": 3}, points)


def topics():
    """Topics of documents, a word that is not known, a score by completion."""
    beta = R.dirichlet([0.2] * 12, 2)
    docs = lambda n: [[int(w) for w in R.choice(12, R.integers(4, 15), p=R.dirichlet([0.5, 0.5]) @ beta)] for _ in range(n)]
    train, new = docs(30), docs(5)
    total = sum(map(len, train))
    ones = lambda d: [[1] * len(x) for x in d]
    case = Case("lda", text_of("lda"), {"doc": 30, "token": total, "term": 12}, {"w": train, "count": ones(train)}, {"token": [len(x) for x in train]},
                fit=["--set", "K=2", "--sizes", "term=12"], build=["--set", "K=2", "--sizes", "term=12"])
    rows = {"token": [len(x) for x in new]}
    case.same({"doc": 5}, {"w": new, "count": ones(new)}, rows)
    case.same_score({"doc": 5}, {"w": new, "count": ones(new)}, rows)
    gaps = [[NAN if i == 1 else w for i, w in enumerate(d)] for d in new]
    case.same({"doc": 5}, {"w": gaps, "count": ones(new)}, rows)


def components():
    """Entries of vectors that a factorisation fills in."""
    x = R.normal(size=(40, 2)) @ R.normal(size=(2, 5)) + 0.1 * R.normal(size=(40, 5))
    case = Case("ppca_ard", text_of("ppca_ard"), {"n": 40, "d": 5}, {"x": x}, fit=["--set", "K=3"], build=["--set", "K=3"])
    case.same({"n": 6}, {"x": x[:6] + 0.01})
    gaps = x[:6].copy()
    gaps[0, 0] = gaps[3, 2] = gaps[3, 4] = NAN
    case.same({"n": 6}, {"x": gaps})
    case.same_score({"n": 6}, {"x": x[:6] + 0.01})


def ratings():
    """Pairs of a factorisation by index."""
    user, item = np.divmod(np.arange(48), 6)
    y = np.outer(R.normal(size=8), R.normal(size=6))[user, item] + 0.1 * R.normal(size=48)
    sizes = {"rating": 48, "person": 8, "film": 6}
    case = Case("matrix_factorisation", text_of("matrix_factorisation"), sizes, {"user": user, "item": item, "y": y},
                fit=["--sizes", "person=8,film=6", "--max-iter", "20"])
    case.same({"rating": 3}, {"user": [0, 3, 7], "item": [5, 0, 2]})


def states():
    """Chains of states: one series with gaps and a forecast, sequences of vectors, joint scores."""
    count = R.poisson(np.repeat([1, 6, 1], 20))
    case = Case("hmm_poisson", text_of("hmm_poisson"), {"year": 60}, {"x": count})
    gaps = count.astype(float)
    gaps[[3, 30]] = NAN
    case.same({"year": 60}, {"x": gaps})
    case.same({"year": 60}, {"x": count}, sizes=["--sizes", "year=+4"], options={"sizes": {"year": "+4"}})
    case.same_score({"year": 60}, {"x": count})
    frames = lambda lengths: [R.normal(np.arange(n)[:, None] // 3 * 4, 1, (n, 2)).tolist() for n in lengths]
    lengths = [6, 5, 6]
    sizes = {"seq": 3, "t": 17, "channel": 2, "t_longest": 6}
    case = Case("hmm_gaussian", text_of("hmm_gaussian"), sizes, {"x": np.concatenate(frames(lengths)), "t": lengths}, {"t": lengths})
    new = {"x": np.concatenate(frames([4, 9])), "t": [4, 9]}
    case.same({"seq": 2}, new, {"t": [4, 9]})
    new["x"][2] = NAN
    case.same({"seq": 2}, new, {"t": [4, 9]})


def series():
    """A level and its forecast."""
    y = 1000 + np.cumsum(R.normal(0, 20, 40)) + R.normal(0, 50, 40)
    case = Case("local_level", text_of("local_level"), {"year": 40}, {"y": y})
    case.same({"year": 40}, {"y": y}, sizes=["--sizes", "year=+5"], options={"sizes": {"year": "+5"}})


JOINT = """
model kept {
  const S = 2;
  plate school;
  plate pupil in school;
  plate answer in pupil;
  data x[school, pupil, answer] : real;
  a ~ Normal(mean = 0, sd = 10);
  b ~ Normal(mean = 0, sd = 10);
  tau ~ Gamma(shape = 1, rate = 1);
  let p[school, pupil, answer] = a + S * b * x[school, pupil, answer];
  u[school] ~ Normal(mean = 0, sd = 1);
  observe y[school, pupil, answer] ~ Normal(mean = p[school, pupil, answer] + u[school], precision = tau);
  guide joint(a, b);
}
"""


def coupled():
    """A joint factor, rows in rows, a constant that was set, and a `let`."""
    pupils, answers = [2, 1, 3], [2, 3, 1, 2, 2, 4]
    n = sum(answers)
    x = R.normal(size=n)
    given = {"x": x, "y": 2 + 3 * x + 0.1 * R.normal(size=n)}
    sizes = {"school": 3, "pupil": 6, "answer": n}
    rows = {"pupil": pupils, "answer": answers}
    case = Case("kept", JOINT, sizes, {**given, **rows}, rows, fit=["--set", "S=3"], build=["--set", "S=3"])
    case.same({"school": 3}, {"x": x, "pupil": pupils, "answer": answers}, rows)
    half = given["y"].copy()
    half[::2] = NAN
    case.same({"school": 3}, {"x": x, "y": half, "pupil": pupils, "answer": answers}, rows)


def rows():
    """Global parameters in rows of other lengths, which the data of an object have."""
    text = """model rows { plate n; plate school; plate room in school; data s[n] : school; data c[n] : room; mu ~ Normal(mean = 0, sd = 10);
      b[school, room] ~ Normal(mean = mu, sd = 1); observe y[n] ~ Normal(mean = b[s[n], c[n]], sd = 0.5); }"""
    lengths = {"room": [2, 3, 1]}
    case = Case("rows", text, {"n": 6, "school": 3, "room": 6}, {"s": [0, 0, 1, 1, 1, 2], "c": [0, 1, 0, 1, 2, 0], "y": R.normal(size=6)}, lengths)
    case.same({"n": 3}, {"s": [1, 0, 2], "c": [2, 1, 0]}, lengths)
    case.same_score({"n": 3}, {"s": [1, 0, 2], "c": [2, 1, 0], "y": [1.0, 0.5, -2]}, lengths)


def example():
    """The C program, with the numbers of the command line from the same data."""
    faithful = os.path.join(ROOT, "models/data/mixtures/faithful.csv")
    write("linear_regression.lehr", text_of("linear_regression"))
    lehr("build", "linear_regression.lehr", "-o", "linear_regression", "--sizes", "d=1")
    run("cc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1", "-I.", "-I" + os.path.join(ROOT, "compiler/library"),
        os.path.join(ROOT, "examples/predict/waiting.c"), "linear_regression.o", LIBLEHR, f"-Wl,-rpath,{os.path.dirname(LIBLEHR)}", "-lm", "-o", "waiting")
    printed = run("./waiting", faithful, "1.5", "3", "4.5").stdout
    minutes, waiting = np.genfromtxt(faithful, delimiter=",", skip_header=1).T
    write_json("all.json", {"x": minutes[:, None].tolist(), "y": waiting.tolist()})
    lehr("fit", "linear_regression.lehr", "--data", "all.json", "--guide", "factorised", "--tol", "1e-12", "--out", "f")
    write_json("next.json", {"x": [[1.5], [3], [4.5]]})
    lehr("predict", "f", "--data", "next.json", "--out", "f.npz")
    want = np.load("f.npz")
    found = [[float(x) for x in row] for row in re.findall(r"minutes: ([\d.]+), .* from ([\d.]+) to ([\d.]+)", printed)]
    assert np.abs(np.array(found) - np.stack([want["y.mean"], want["y.q5"], want["y.q95"]], 1)).max() < 0.051, (printed, want["y.mean"])
    score = re.search(r"(-[\d.]+) each", lehr("score", "f", "--data", "all.json").stdout)[1]
    assert abs(float(re.search(r"(-[\d.]+) nats", printed)[1]) - float(score)) < 1e-4, (printed, score)


def errors():
    """What is refused, and the sentences for it."""
    x = R.normal(size=(20, 2))
    case = Case("linear_regression", text_of("linear_regression"), {"n": 20, "d": 2}, {"x": x, "y": x[:, 0]})
    built, data = case.built, case.data({"n": 2}, {"x": x[:2]})
    refused = lambda *a, **k: called(LIBRARY.lehr_predict, built, *a, **k)
    assert refused(None)[0] == NULL and refused(data, model=0)[0] == NULL
    assert refused(data, memory=ctypes.create_string_buffer(built.bytes))[0] == STATE
    status, _, message = refused(data, {"draw": 3})
    assert status == ARGUMENT and "draw" in message, message
    assert refused(data, {"draws": 0})[0] == ARGUMENT
    status, _, message = refused(case.data({"n": 2}, {"x": x[:2], "y": [1.0, 2.0]}))
    assert status == DATA and "nothing" in message, message
    assert refused(case.data({"n": 0}, {}))[0] == SIZE and refused(case.data({"n": 2**44}, {}))[0] == ARGUMENT
    status, _, message = refused(case.data({"n": 2}, {"x": [[1, NAN], [1, 1]]}))
    assert status == DATA and "x" in message, message
    assert called(LIBRARY.lehr_predict, Built(case.name, {"n": 2, "d": 2}), data)[0] == NOT_STARTED
    status, _, message = called(LIBRARY.lehr_score, built, case.data({"n": 2}, {"x": x[:2], "y": [1.0, 2.0]}), {"holdout": 0.5})
    assert status == ARGUMENT and "held out" in message, message
    assert b"library" in built("error")(LIBRARY_SAYS)


if __name__ == "__main__":
    with temporary() as folder:
        os.chdir(folder)
        for check in (regression, numbered, logistic, mixture, topics, components, ratings, states, series, coupled, rows, example, errors):
            check()
            print(f"ok {check.__name__}", flush=True)
