#!/usr/bin/env python3
"""The package and the command line are the same: posterior.npz byte for byte, predictions, scores, quantiles and draws
number for number. That the library for C++ agrees with the command line is tested in tests/library.

usage: same_bytes_test.py LEHR, from the root of the repository
"""
import json
import os
import sys
import tempfile
import unittest

import numpy as np

import lehr

sys.path.append(f"{sys.path[0]}/../helpers")
from lehr_tests import arrays, columns as table_of, model_file, read, read_json, run, write, write_json  # noqa: E402

LEHR = os.path.abspath(sys.argv.pop(1))
DATA = "models/data"


def columns(name, *of):
    table = np.genfromtxt(f"{DATA}/{name}", delimiter=",", names=True, deletechars="")
    arrays = [table[column] for column in of]
    return arrays[0] if len(arrays) == 1 else np.stack(arrays, axis=1)


def members(name):
    return read_json(f"{DATA}/{name}")


def vowels():
    data = members("sequences/japanese_vowels.json")
    return {name: np.array(value) for name, value in data.items()}


FAITHFUL = ("--data", f"x={DATA}/mixtures/faithful.csv:eruptions,waiting")
CASES = [
    ("coin", {}, {"x": columns("distributions/coin.csv", "x")}, {}, ("--data", f"{DATA}/distributions/coin.csv")),
    ("gmm", {"K": 4}, columns("mixtures/faithful.csv", "eruptions", "waiting"), {}, (*FAITHFUL, "--set", "K=4")),
    ("gmm_diagonal", {"K": 3}, columns("mixtures/faithful.csv", "eruptions", "waiting"),
     {"restarts": 3, "seed": 5, "max_iter": 40, "save_locals": True},
     (*FAITHFUL, "--set", "K=3", "--restarts", "3", "--seed", "5", "--max-iter", "40", "--save-locals")),
    ("gmm_diagonal", {"K": 3}, columns("mixtures/faithful.csv", "eruptions", "waiting"),
     {"method": "svi", "batch_size": 50, "epochs": 3, "anneal": "exp:from=4,over=10"},
     (*FAITHFUL, "--set", "K=3", "--method", "svi", "--batch-size", "50", "--epochs", "3", "--anneal",
      "exp:from=4,over=10")),
    ("hmm_poisson", {}, columns("sequences/coal_counts.csv", "count"), {"restarts": 2, "max_iter": 1000},
     ("--data", f"x={DATA}/sequences/coal_counts.csv:count", "--restarts", "2", "--max-iter", "1000")),
    ("hmm_gaussian", {}, vowels(), {"search": "none"}, ("--data", f"{DATA}/sequences/japanese_vowels.json", "--search", "none")),
    ("local_level", {}, columns("sequences/nile.csv", "flow"), {}, ("--data", f"y={DATA}/sequences/nile.csv:flow")),
]


class SameBytes(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.out = directory.name

    def test_fits(self):
        for name, constants, data, options, arguments in CASES:
            with self.subTest(name, **options):
                path = model_file(name)
                run(LEHR, "fit", path, *arguments, "--out", f"{self.out}/a", "--quiet")
                m = lehr.Model(path, **constants).fit(data, **options)
                m.save(f"{self.out}/b")
                self.assertEqual(read(f"{self.out}/a/posterior.npz", "rb"), read(f"{self.out}/b/posterior.npz", "rb"))
                said, written = (read_json(f"{self.out}/{k}/fit.json") for k in "ab")
                for key in ("elbo", "iterations", "status", "sizes", "constants", "variables", "restarts", "method",
                            "restart", "seed"):
                    self.assertEqual(said[key], written[key], key)
                self.assertEqual(m.elbo_, said["elbo"])
                shown = json.loads(run(LEHR, "show", f"{self.out}/b", "--format", "json").stdout)
                for what in ("mean", "sd", "q5", "q50", "q95"):
                    ours = np.concatenate([getattr(v, what).ravel() for v in m.posterior_.values()])
                    theirs = np.array([np.nan if row[what] is None else row[what] for row in shown])
                    np.testing.assert_array_equal(np.where(np.isfinite(ours), ours, np.nan), theirs, what)

    def test_topics_from_a_sparse_matrix(self):
        write(f"{self.out}/w.ldac", "2 0:3 2:1\n1 1:4\n3 0:1 1:1 3:2\n")
        run(LEHR, "fit", "models/topics/lda.lehr", "--set", "K=2", "--data", f"w={self.out}/w.ldac", "--out", f"{self.out}/a",
            "--quiet")
        counts = np.array([[3, 0, 1, 0], [0, 4, 0, 0], [1, 1, 0, 2]])
        rows = [np.nonzero(row)[0] for row in counts]
        m = lehr.Model("models/topics/lda.lehr", K=2).fit({"w": rows, "count": [row[row > 0] for row in counts]})
        m.save(f"{self.out}/b")
        self.assertEqual(read(f"{self.out}/a/posterior.npz", "rb"), read(f"{self.out}/b/posterior.npz", "rb"))
        try:
            from scipy import sparse
        except ImportError:
            self.skipTest("scipy is not installed")
        m = lehr.Model("models/topics/lda.lehr", K=2).fit(sparse.csr_matrix(counts))
        m.save(f"{self.out}/c")
        self.assertEqual(read(f"{self.out}/a/posterior.npz", "rb"), read(f"{self.out}/c/posterior.npz", "rb"))

    def as_with_a_file(self, model, data, names, path, *more):
        """The fit of arrays has the bytes and the labels of that of a file, and is returned."""
        write(f"{self.out}/m.lehr", model)
        run(LEHR, "fit", f"{self.out}/m.lehr", "--data", path, *more, "--out", f"{self.out}/a", "--quiet")
        m = lehr.Model(f"{self.out}/m.lehr").fit(data)
        m.save(f"{self.out}/b")
        self.assertEqual(read(f"{self.out}/a/posterior.npz", "rb"), read(f"{self.out}/b/posterior.npz", "rb"))
        said = read_json(f"{self.out}/a/fit.json")
        for key in ("labels", "words"):
            self.assertEqual(said[key], m.summary_[key], key)
        self.assertEqual(said["labels"], names)
        return m

    def test_text_as_in_a_table(self):
        """Strings of every kind number the elements as a column of text does, and name them."""
        model = """model stars { plate n; plate user; data who[n] : user; mu ~ Normal(mean = 3, sd = 1);
          b[user] ~ Normal(mean = 0, sd = 1); observe y[n] ~ Normal(mean = mu + b[who[n]], sd = 1); }"""
        who, y = ["zoe", "Ann", "bé", "zoe", "Ann", "zoe"], np.array([1.0, 4, 3, 2, 5, 1.5])
        write(f"{self.out}/d.csv", "who,y\n" + "".join(f"{w},{v}\n" for w, v in zip(who, y)))
        names = {"user": ["Ann", "bé", "zoe"]}
        masked = np.ma.masked_array(np.array(who), mask=[0, 0, 0, 0, 0, 0])
        for text in (who, tuple(who), np.array(who), np.array(who, object), np.char.encode(np.array(who), "utf-8"),
                     np.array([who, who]).T[:, 0], masked):
            m = self.as_with_a_file(model, {"who": text, "y": y}, names, f"{self.out}/d.csv")
            self.assertEqual(m.posterior_["b"].coords, names)
        write(f"{self.out}/new.csv", "who,y\nbé,1\nAnn,2\n")
        run(LEHR, "score", f"{self.out}/a", "--data", f"{self.out}/new.csv")
        self.assertEqual(m.score({"who": ["bé", "Ann"], "y": [1.0, 2]}), read_json(f"{self.out}/a/score.json")["per_observation"])
        mean = m.posterior_["b"].mean
        np.testing.assert_allclose(m.predictive({"who": ["zoe", "bé"]})["y.mean"],
                                   m.posterior_["mu"].mean + mean[[2, 1]], rtol=1e-12)
        run(LEHR, "update", f"{self.out}/a", "--data", f"{self.out}/new.csv", "--out", f"{self.out}/c", "--quiet")
        m.partial_fit({"who": np.array(["bé", "Ann"]), "y": [1.0, 2]}).save(f"{self.out}/d")
        self.assertEqual(read(f"{self.out}/c/posterior.npz", "rb"), read(f"{self.out}/d/posterior.npz", "rb"))

    def test_text_that_is_observed(self):
        """Two words are 0 and 1, more are categories; a missing value is None, NaN, empty or NA; rows may be ragged."""
        write(f"{self.out}/d.csv", "x\nyes\nno\nyes\n\nyes\n")
        coin = "model coin { plate n; p ~ Beta(1, 1); observe x[n] ~ Bernoulli(p); }"
        for text in (["yes", "no", "yes", None, "yes"], np.array(["yes", "no", "yes", np.nan, "yes"], object),
                     ["yes", "no", "yes", "", "yes"], np.array(["yes", "no", "yes", "NA", "yes"]),
                     np.ma.masked_array(["yes", "no", "yes", "odd", "yes"], mask=[0, 0, 0, 1, 0])):
            m = self.as_with_a_file(coin, {"x": text}, {}, f"{self.out}/d.csv")
            self.assertEqual((m.parameters_["p.a"], m.parameters_["p.b"]), (4, 2))
            self.assertAlmostEqual(m.score(["no"]), np.log(2 / 6), places=12)
        words = """model words { plate doc; plate token in doc; plate term; p[doc] ~ Dirichlet(concentration = 1) over term;
          observe w[doc, token] ~ Categorical(p[doc]); }"""
        rows = [["of", "the"], [], ["the", "a", "the"]]
        write_json(f"{self.out}/d.json", {"w": rows})
        for text in (rows, [np.array(row, "U3") for row in rows], lehr.Ragged(sum(rows, []), [0, 2, 2, 5])):
            self.as_with_a_file(words, {"w": text}, {"term": ["a", "of", "the"]}, f"{self.out}/d.json")

    def test_what_is_asked_of_a_fit(self):
        x = columns("mixtures/faithful.csv", "eruptions", "waiting")
        a = f"{self.out}/a"
        run(LEHR, "fit", "models/mixtures/gmm_diagonal.lehr", *FAITHFUL, "--set", "K=2", "--out", a, "--quiet")
        run(LEHR, "predict", a, *FAITHFUL, "--out", f"{self.out}/p.npz")
        run(LEHR, "score", a, *FAITHFUL)
        run(LEHR, "draws", a, "-n", "5", "--seed", "3", "--out", f"{self.out}/draws.csv")
        fitted = lehr.Model("models/mixtures/gmm_diagonal.lehr", K=2).fit(x)
        loaded = lehr.load(a)
        for m in (fitted, loaded):
            predicted = m.predictive(x)
            expected = arrays(f"{self.out}/p.npz")
            self.assertEqual(set(expected), set(predicted))
            for name in expected:
                np.testing.assert_array_equal(expected[name], predicted[name])
                self.assertEqual(expected[name].dtype.kind, predicted[name].dtype.kind)
            self.assertEqual(read_json(f"{a}/score.json")["per_observation"], m.score(x))
            drawn = table_of(f"{self.out}/draws.csv")
            np.testing.assert_array_equal(drawn["mu.1.1"], m.draws(5, seed=3)["mu"][0, :, 0, 0])

    def test_draws_of_a_sampler(self):
        m = lehr.Model("models/distributions/coin.lehr").fit({"x": columns("distributions/coin.csv", "x")}, method="gibbs", draws=50, restarts=2)
        run(LEHR, "fit", "models/distributions/coin.lehr", "--data", f"{DATA}/distributions/coin.csv", "--method", "gibbs", "--draws", "50", "--chains",
            "2", "--out", f"{self.out}/a", "--quiet")
        drawn = table_of(f"{self.out}/a/draws_2.csv")
        np.testing.assert_array_equal(drawn["p"], m.draws()["p"][1])
        np.testing.assert_array_equal(arrays(f"{self.out}/a/posterior.npz")["p.mean"], m.posterior_["p"].mean)
        with self.assertRaisesRegex(lehr.UsageError, "sampling"):
            m.save(f"{self.out}/b")
        with self.assertRaisesRegex(lehr.DataError, "draws.nc"):
            lehr.load(f"{self.out}/a")


unittest.main()
