#!/usr/bin/env python3
"""The package by itself: data in and numbers out without copies, names, errors, interrupts, pickles, files, the magic.

usage: model_test.py LEHR, from the root of the repository
"""
import gc
import os
import pathlib
import pickle
import signal
import sys
import tempfile
import threading
import time
import unittest
import warnings

import numpy as np

import lehr
from lehr import magic

sys.path.append(f"{sys.path[0]}/../helpers")
from lehr_tests import read_json, write_json  # noqa: E402

sys.argv.pop(1)
MIXTURE = """model mixture {
  const K = 2;
  plate n times weight;
  plate k = K;
  pi           ~ Dirichlet(concentration = 1) over k;
  mu[k]        ~ Normal(mean = 0, precision = 0.01);
  z[n]         ~ Categorical(pi);
  observe x[n] ~ Normal(mean = mu[z[n]], precision = 1);
}"""
COIN = "model coin { plate throw; p ~ Beta(1, 1); observe x[throw] ~ Bernoulli(p); }"
X = np.concatenate([np.linspace(-6, -4, 30), np.linspace(4, 6, 60)])


def mixture(x=X, **options):
    return lehr.Model(MIXTURE).fit({"x": x, "weight": np.ones(len(x))}, **options)


class Frame:
    """A data frame with as much of pandas and Polars as the package uses."""

    def __init__(self, **columns):
        self.values, self.columns = columns, list(columns)

    def __getitem__(self, which):
        return self.values[which] if isinstance(which, str) else Frame(**{name: self.values[name] for name in which})

    def __array__(self, dtype=None, copy=None):
        return np.array(list(self.values.values()), dtype).T


class ModelTest(unittest.TestCase):
    def test_columns_of_data_frames(self):
        """Columns are matched by name, later and in every data set; least squares is the reference."""
        rng = np.random.default_rng(5)
        a, b = rng.normal(3, 1, 40), rng.normal(50, 5, 40)
        y = 2 * a - b
        model = lehr.Model("""model line { plate n; plate d; data x[n] : vector over d; w ~ MvNormal(mean = 0, precision = 1e-6) over d;
          observe y[n] ~ Normal(mean = dot(w, x[n]), sd = 1); }""")
        model.fit({"x": Frame(a=a, b=b), "y": y})
        self.assertEqual(model.posterior_["w"].coords, {"d": ["a", "b"]})
        np.testing.assert_allclose(model.posterior_["w"].mean, [2, -1], atol=1e-3)
        for again in (model, pickle.loads(pickle.dumps(model))):
            np.testing.assert_allclose(again.predictive({"x": Frame(b=b, a=a)})["y.mean"], y, atol=1e-2)
        for wrong, words in ((Frame(a=a, c=b), "'c' is no element"), (Frame(a=a), "no column 'b'"), (Frame(a=a, b=b, c=b), "'c' is no element")):
            with self.assertRaisesRegex(lehr.DataError, words):
                model.predictive({"x": wrong})
        fits = model.fit_many([{"x": Frame(a=a, b=b), "y": y}, {"x": Frame(b=b, a=a), "y": y}, {"x": Frame(a=a, c=b), "y": y}])
        np.testing.assert_array_equal(fits[0].posterior_["w"].mean, fits[1].posterior_["w"].mean)
        self.assertRegex(str(fits.errors[2]), "'c' is no element")
        model.fit({"x": Frame(c=a, d=b), "y": y})  # a new fit has the names of its own data
        self.assertEqual(model.posterior_["w"].coords, {"d": ["c", "d"]})
        given = lehr.Model(model._made_of[0], labels={"d": ["b", "a"]}).fit({"x": Frame(a=a, b=b), "y": y})
        np.testing.assert_allclose(given.posterior_["w"].mean, [-1, 2], atol=1e-3)

    def test_data_of_latent_variables(self):
        """All values of a latent variable are ignored with a warning, some of them are used, as on the command line."""
        text = """model k { plate n; plate k = 2; mu[k] ~ Normal(mean = 0, sd = 3); z[n] ~ Uniform() over k;
          observe x[n] ~ Normal(mean = mu[z[n]], sd = 1); }"""
        for z, warns in (([0, 0, 1, 1], True), ([0, 0, 1, np.nan], False)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                m = lehr.Model(text).fit({"x": [1.0, 2, 3, 9], "z": z})
            self.assertEqual(any("the data for 'z' are not used" in w for w in m.warnings_), warns)
        with self.assertWarnsRegex(lehr.FitWarning, "the data for 'z' are not used"):
            m.predictive({"x": [1.0, 9], "z": [0, 1]})

    def test_unseen_names(self):
        """A prediction of an element that the fit has not seen is one from its prior, with a warning."""
        m = lehr.Model("""model g { plate n; plate g; data of[n] : g; m[g] ~ Normal(mean = 0, sd = 1); observe y[n] ~ Normal(mean = m[of[n]], sd = 1); }""")
        m.fit({"of": ["a", "b", "a"], "y": [1.0, 2, 3]})
        with self.assertWarnsRegex(lehr.FitWarning, r"'g' has 1 element that the fit has not seen \('A'\)"):
            np.testing.assert_allclose(m.predictive({"of": ["A", "a"]})["y.mean"], [0, 4 / 3])

    def test_rows_of_nested_plates(self):
        """Predictions find the elements of rows of other lengths; the joint Normal distribution is the reference."""
        model = lehr.Model("""model nest { plate n; plate school; plate class in school; data s[n] : school; data c[n] : class;
          mu ~ Normal(mean = 0, sd = 10); a[school] ~ Normal(mean = mu, sd = 2); b[school, class] ~ Normal(mean = a[school], sd = 1);
          observe y[n] ~ Normal(mean = b[s[n], c[n]], sd = 0.5); }""")
        s, c, y = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 1, 1, 0, 2, 0]), np.array([1, 2, 2.5, 5, 7, -3])
        school = np.array([0, 0, 1, 1, 1, 2])  # of each class
        row = np.array([0, 2, 5])[s] + c
        prior = 100 + 4 * (school[:, None] == school) + np.eye(6)
        expected = prior[:, row] @ np.linalg.solve(prior[np.ix_(row, row)] + 0.25 * np.eye(6), y)
        fitted = model.fit({"s": s, "c": c, "y": y})
        with tempfile.TemporaryDirectory() as folder:
            fitted.save(folder)
            for m in (fitted, lehr.load(folder)):
                for at in ([0, 1, 3], [1, 3, 4], [4, 3], list(range(6))):
                    new = {"s": school[at], "c": np.array([0, 1, 0, 1, 2, 0])[at]}
                    np.testing.assert_allclose(m.predictive(new)["y.mean"], expected[at], atol=1e-3)
                for new, sizes in (({"s": [0], "c": [2]}, {}), ({"s": [0, 0], "c": [2, 1]}, {"class": 3}), ({"s": [3], "c": [0]}, {"school": "+1", "class": 3})):
                    with self.assertRaises(lehr.DataError):
                        m.predictive(new, sizes=sizes)
        self.assertEqual(fitted.sample(2, data={"s": [0, 1], "c": [0, 2]})["y"].shape, (2,))

    def test_tables(self):
        """A data frame with a column for each array is what the dictionary of its columns is."""
        model = lehr.Model("""model groups { plate n; plate g; data of[n] : g; mu[g] ~ Normal(mean = 0, sd = 10);
          observe y[n] ~ Normal(mean = mu[of[n]], sd = 1); }""")
        columns = {"of": np.array(["p", "q", "p"], object), "other": np.array(["", "", "t"]), "y": np.array([1.0, 5.0, 2.0])}
        model.fit(Frame(**columns))
        np.testing.assert_allclose(model.posterior_["mu"].mean, [3 / 2.01, 5 / 1.01])
        self.assertEqual(model.score(Frame(**columns)), model.score({name: columns[name] for name in ("of", "y")}))
        missing = model.fit({"of": columns["of"], "y": np.array([1, None, 2], object)})
        np.testing.assert_allclose(missing.posterior_["mu"].mean, [3 / 2.01, 0], atol=1e-12)

    def test_tables_that_name_their_lines(self):
        """Columns of data frames name the elements of the lines, as in a dictionary; Normal algebra is the reference."""
        walk = lehr.Model("""model walk { plate year from 1851 ordered; x[year] ~ Normal(mean = x[year - 1], sd = 1) start Normal(mean = 0, sd = 5);
          observe y[year] ~ Normal(mean = x[year], sd = 1); }""")
        for years in ([1851, 1852, 1854], [1854, 1851, 1852], [1853, 1851, 1852]):
            at, y = np.array(years) - 1851, np.array([1.0, 2, 4])
            every = np.arange(max(at) + 1)
            prior = 25 + np.minimum(every[:, None], every)
            expected = prior[:, at] @ np.linalg.solve(prior[np.ix_(at, at)] + np.eye(3), y)
            np.testing.assert_allclose(walk.fit(Frame(year=np.array(years), y=y)).posterior_["x"].mean, expected, rtol=1e-6)
            gone_on = walk.predictive(Frame(year=np.array([*years, 1855]), y=np.array([*y, np.nan])))["y.mean"]
            np.testing.assert_allclose(gone_on[-1], expected[-1], rtol=1e-6)
        arms = lehr.Model("model ab { plate arm; data n[arm] : count; p[arm] ~ Beta(1, 1); observe y[arm] ~ Binomial(n[arm], p[arm]); }",
                          labels={"arm": ["red", "blue"]})
        arms.fit(Frame(arm=np.array(["blue", "red"], object), n=np.array([1000, 1000]), y=np.array([120, 100])))
        np.testing.assert_allclose(arms.posterior_["p"].mean, [101 / 1002, 121 / 1002])
        swapped = {"arm": ["blue", "red"], "n": [1000, 1000], "y": [120, 100]}
        np.testing.assert_allclose(arms.predictive(swapped)["p.mean"], arms.posterior_["p"].mean)
        for data, names in ((swapped, ["red", "blue"]), ({"arm": ["blue"], "n": [1000], "y": [120]}, ["blue"])):
            inferred = arms.infer(data)["p"]
            self.assertEqual(inferred.coords, {"arm": names})
            np.testing.assert_allclose(inferred.mean[-1], 121 / 1002)
        long = lehr.Model("""model level { plate g; plate t in g; mu[g] ~ Normal(mean = 0, sd = 10);
          observe y[g, t] ~ Normal(mean = mu[g], sd = 1); }""")
        table = {"g": np.array(["a", "a", "b"], object), "y": np.array([1.0, 2.0, 5.0])}
        for given in (table, Frame(**table)):
            np.testing.assert_allclose(long.fit(given).posterior_["mu"].mean, [3 / 2.01, 5 / 1.01])
        text = "model k { plate n; plate k = 2; mu[k] ~ Normal(mean = 0, sd = 3); z[n] ~ Uniform() over k; observe x[n] ~ Normal(mean = mu[z[n]], sd = 1); }"
        some = {"x": np.array([1.0, 2, 3, 9]), "z": np.array([0, 0, 1, np.nan])}
        self.assertEqual(lehr.Model(text).fit(Frame(**some)).elbo_, lehr.Model(text).fit(some).elbo_)

    def test_numbers_have_names(self):
        m = lehr.Model(MIXTURE, labels={"k": ["low", "high"]}).fit(X, sample_weight=np.ones(len(X)),
                                                                              search="none")
        mu = m.posterior_["mu"]
        self.assertEqual((mu.dims, mu.coords), (("k",), {"k": ["low", "high"]}))
        np.testing.assert_allclose(np.sort(mu.mean), [-5, 5], atol=0.1)
        self.assertTrue(np.all((mu.q5 < mu.mean) & (mu.mean < mu.q95) & (mu.sd > 0)))
        self.assertEqual(set(mu.parameters), {"mean", "precision"})
        self.assertTrue(m.converged_ and m.n_iter_ == m.trace_["iteration"][-1] and m.elbo_ == m.trace_["elbo"][-1])

    def test_corrected_standard_deviations(self):
        x = np.linspace(2, 4, 30)
        design = np.stack([np.ones(30), x], 1)
        covariance = np.linalg.inv(design.T @ design + np.eye(2) / 100)
        text = """model line { plate n; plate d; data u[n] : vector over d; data x[n] : real; w ~ MvNormal(mean = 0, precision = 0.01) over d;
          b ~ Normal(mean = 0, sd = 10); observe y[n] ~ Normal(mean = dot(w, u[n]) + b * x[n], sd = 1); }"""
        data = {"u": np.ones((30, 1)), "x": x, "y": 1 + x}
        model = lehr.Model(text).fit(data, guide="factorised", sds="linear-response", search="none", max_iter=50000)
        w, b = model.posterior_["w"], model.posterior_["b"]
        np.testing.assert_allclose([w.sd[0], b.sd], np.sqrt(np.diag(covariance)), rtol=1e-8)
        np.testing.assert_allclose(w.covariance, covariance[:1, :1], rtol=1e-8)
        self.assertLess(b.parameters["precision"] ** -0.5, 0.5 * b.sd)
        self.assertIsNone(b.covariance)
        np.testing.assert_allclose(b.q95 - b.mean, 1.6448536 * b.sd, rtol=1e-6)
        with tempfile.TemporaryDirectory() as folder:
            model.save(folder)
            again = lehr.Model(text).load(folder)
            np.testing.assert_array_equal(again.posterior_["b"].sd, b.sd)
        with self.assertRaisesRegex(lehr.LehrError, "cavi"):
            lehr.Model(text).fit(data, sds="linear-response", method="svi")

    def test_expectations_of_links(self):
        text = """model effects { plate group = 6; plate n; data g[n] : group; a ~ Normal(mean = 0, sd = 3); tau ~ Gamma(shape = 1, rate = 1);
          u[group] ~ Normal(mean = 0, precision = tau); observe y[n] ~ Bernoulli(logistic(a + u[g[n]])); }"""
        data = {"g": np.repeat(np.arange(6), 3), "y": np.tile([0, 1, 1, 0, 1, 0, 0, 0, 0], 2)}
        bound, gaussian = (lehr.Model(text).fit(data, links=links, search="none") for links in ("bound", "gaussian"))
        self.assertGreater(gaussian.elbo_, bound.elbo_)
        self.assertGreater(gaussian.posterior_["u"].sd[0], bound.posterior_["u"].sd[0])
        with tempfile.TemporaryDirectory() as folder:
            gaussian.save(folder)
            again = lehr.Model(text).load(folder)
            np.testing.assert_array_equal(again.posterior_["u"].sd, gaussian.posterior_["u"].sd)

    def test_numbers_are_shown_where_they_are(self):
        mean = mixture().parameters_["mu.mean"]
        gc.collect()  # what owns them lives as long as they are shown
        np.testing.assert_allclose(np.sort(mean), [-5, 5], atol=0.1)
        self.assertFalse(mean.flags.owndata or mean.flags.writeable)

    def test_arrays_of_every_kind(self):
        expected = mixture().parameters_["mu.mean"]
        strided = np.stack([X, X], axis=1)[:, 0]
        for x in (strided, X.tolist(), np.ma.masked_array(X), X.astype(">f8"), X[::-1].copy()[::-1]):
            np.testing.assert_array_equal(mixture(x).parameters_["mu.mean"], expected)
        throws = [1, 0, 1, 1]
        for kind in (bool, np.uint8, np.int32, np.int64, np.float32):
            p = lehr.Model("models/distributions/coin.lehr").fit(np.array(throws, kind)).parameters_
            self.assertEqual((p["p.a"], p["p.b"]), (4, 2))
        p = lehr.Model("models/distributions/coin.lehr").fit([1, np.nan, 1]).parameters_
        self.assertEqual((p["p.a"], p["p.b"]), (3, 1))

    def test_weights(self):
        weighted = lehr.Model(MIXTURE).fit(X, sample_weight=np.full(len(X), 2))
        np.testing.assert_allclose(weighted.elbo_, mixture(np.repeat(X, 2)).elbo_, rtol=1e-9)
        with self.assertRaisesRegex(lehr.UsageError, "plate throw times weight"):
            lehr.Model("models/distributions/coin.lehr").fit([1, 0], sample_weight=[1, 2])

    def test_what_a_fit_says(self):
        m = mixture()
        known = {"x": X, "weight": np.ones(len(X))}
        z = m.predict(known)
        self.assertEqual((z.dtype, sorted(np.bincount(z))), (np.int64, [30, 60]))
        np.testing.assert_array_equal(m.predict_proba(known).argmax(1), z)
        np.testing.assert_array_equal(m.transform(known), m.predict_proba(known))
        np.testing.assert_allclose(m.infer(known)["z"].mean, m.predict_proba(known), atol=1e-6)
        self.assertLess(m.score({"x": X + 20, "weight": np.ones(len(X))}), m.score(known))
        each = m.score_samples(known)
        self.assertEqual(each.shape, (len(X),))
        np.testing.assert_allclose(each.mean(), m.score(known), rtol=1e-12)
        self.assertEqual(m.draws(7)["mu"].shape, (1, 7, 2))
        new = m.sample(500, seed=4)
        self.assertEqual(new["x"].shape, (500,))
        np.testing.assert_allclose(np.sort(np.abs(new["x"])), 5, atol=5)
        np.testing.assert_array_equal(new["x"], m.sample(500, seed=4)["x"])
        with self.assertRaisesRegex(lehr.UsageError, "not fitted"):
            lehr.Model(MIXTURE).predict(known)

    def test_errors(self):
        with self.assertRaisesRegex(lehr.ModelError, r"^model:1:23: error: 'q' is not declared\n.*\n +\^$"):
            lehr.Model("model m { p ~ Beta(1, q); }")
        with self.assertRaisesRegex(lehr.DataError, "x"):
            lehr.Model("models/distributions/coin.lehr").fit([0, 1, 2])
        with self.assertRaisesRegex(lehr.UsageError, "max_iter: error: '-3' is not a whole number from 0"):
            mixture(max_iter=-3)
        with self.assertRaisesRegex(lehr.UsageError, "speed: error: there is no such option\n  note: options: method, "):
            mixture(speed=3)
        with self.assertRaisesRegex(lehr.UsageError, "method: error: 'nuts' is none of cavi, svi, "):
            mixture(method="nuts")
        for values, offsets in (([1, 2], [0, 5]), ([1, 2], [0, 2, 1, 2]), ([1, 2], []), ([1, 2], [1, 2]), (np.eye(2), [0, 2])):
            with self.assertRaisesRegex(lehr.DataError, "ragged"):
                lehr.Ragged(values, offsets)
        with self.assertRaises(FileNotFoundError):
            lehr.Model("no/such.lehr")
        with self.assertRaises(lehr.DataError):
            lehr.load("no/such")
        self.assertTrue(issubclass(lehr.DataError, ValueError) and issubclass(lehr.DataError, lehr.LehrError))

    def test_what_is_no_data_and_no_option(self):
        model = lehr.Model(COIN)
        for value, words in ((np.array(["a", "b", "c"]), "'x' is text here"), (np.array(["2020-01-01"], "M8[D]"), "timedelta64"),
                             (np.array([1j]), "imaginary"), ([None, "a"], "'x' is text here"), ([object()], "not an array of numbers"),
                             (np.array(["a", 1], object), "value 1 is 1, and others are text"),
                             (np.array(["a", "b\0c"], object), "NUL in value 1"), (np.array([b"a", b"\xff"]), "value 1 is not UTF-8"),
                             (np.array(["a", "\ud800"], object), "value 1 is not Unicode")):
            with self.assertRaisesRegex(lehr.DataError, words):
                model.fit(value)
        with self.assertRaisesRegex(lehr.DataError, "NUL"):
            model.fit({"x\0y": [1, 0]})
        with self.assertRaisesRegex(lehr.ModelError, "^model:2: error: there is a NUL"):
            lehr.Model("model m {\n\0}")
        for nothing in ("", tempfile.gettempdir()):
            with self.assertRaisesRegex(lehr.UsageError, "neither the text of a model nor a file"):
                lehr.Model(nothing)
        with self.assertRaisesRegex(lehr.UsageError, "K: error: nan is no value"):
            lehr.Model(MIXTURE, K=float("nan"))
        with self.assertRaisesRegex(lehr.UsageError, "tol: error: nan is no value"):
            model.fit([1, 0], tol=float("nan"))
        with self.assertRaisesRegex(lehr.UsageError, "seed: error: '18446744073709551616'"):
            model.fit([1, 0], seed=2**64)
        with self.assertRaisesRegex(lehr.DataError, "nothing is observed"):
            model.fit([1, 0]).score([np.nan, np.nan])

    def test_nothing_is_passed_over(self):
        m = mixture(search="none", max_iter=3)
        known = {"x": X, "weight": np.ones(len(X))}
        for start in ({"mu.mean": np.zeros(2)}, pathlib.Path("nowhere"), m.posterior_, np.zeros(3), 42, ["seeds"], (), False):
            with self.assertRaisesRegex(lehr.UsageError, "init: error: .* is no start\n  note: a start is a fitted"):
                lehr.Model(MIXTURE).fit(known, init=start)
        with self.assertRaisesRegex(lehr.UsageError, "not fitted"):
            lehr.Model(MIXTURE).fit(known, init=lehr.Model(MIXTURE))
        for call in (lehr.Model(COIN).fit, lehr.Model(COIN).partial_fit, lehr.Model(COIN).fit([1, 0]).score):
            with self.assertRaisesRegex(lehr.UsageError, "y: error: there is no second array"):
                call([1, 0], [0, 1])

    def test_ragged_rows_are_looked_at_again(self):
        def lda(change):
            values, offsets = np.array([0, 1, 2, 3]), np.array([0, 2, 4])
            words, counts = lehr.Ragged(values, offsets), lehr.Ragged(np.ones(4), np.array([0, 2, 4]))
            change(words, values, offsets)
            return lehr.Model("models/topics/lda.lehr", K=2).fit({"w": words, "count": counts}, max_iter=2, search="none")

        def larger(words, values, offsets):
            offsets[2] = 10**8

        def falling(words, values, offsets):
            offsets[1] = 5

        def negative(words, values, offsets):
            offsets[0] = -1

        def others(words, values, offsets):
            words.offsets = np.array([0, 2, 4, 10**6])

        def fewer(words, values, offsets):
            words.values = values[:3]

        def nested(words, values, offsets):
            words.values = values.reshape(2, 2)

        def parts(words, values, offsets):
            words.offsets = np.array([0, 1.5, 4])

        lda(lambda *_: None)
        for change in (larger, falling, negative, others, fewer, nested, parts):
            with self.assertRaisesRegex(lehr.DataError, "ragged: error"):
                lda(change)

    def test_warnings_of_simulations(self):
        """Those of `lehr simulate` and `lehr predict`."""
        m = lehr.Model("model limits { plate n; m ~ Normal(mean = 0, sd = 2); u[n] ~ Normal(mean = m, sd = 1) above 0;"
                       " observe y[n] ~ Normal(mean = u[n], sd = 1); }")
        with self.assertWarnsRegex(lehr.FitWarning, "'u' is drawn within its limits given 'm'") as caught:
            m.simulate({"n": 5})
        self.assertEqual(caught.filename, __file__)
        rate = lehr.Model("model rate { plate n; data x[n] : real; a ~ Normal(mean = 0, sd = 1);"
                          " observe y[n] ~ Poisson(exp(a * x[n])); }")
        with self.assertWarnsRegex(lehr.FitWarning, "its value is the mean of the limit"):
            rate.simulate(data={"x": [1.0, -1e6, 1e6]})
        fitted = rate.fit({"x": [-1.0, 0.0, 1.0, 2.0], "y": [0, 1, 3, 9]})
        with self.assertWarnsRegex(lehr.FitWarning, "is it far outside the data of the fit"):
            fitted.predictive({"x": [1e6], "y": [np.nan]})

    def test_noise_of_samples(self):
        """The noise of items is independent of the draw of the global variables, and another seed is another draw."""
        model = lehr.Model("""model u { plate n; mu ~ Normal(mean = 0, sd = 10); tau ~ Gamma(shape = 2, rate = 2);
          observe x[n] ~ Normal(mean = mu, precision = tau); }""")
        for options in ({}, {"method": "gibbs", "chains": 2, "draws": 400}):
            m = model.fit([1.0, 2, 3, 2, 1, 4, 0, 2], **options)
            drawn = [m.sample(1, seed=seed) for seed in range(800)]
            mu, tau, x = (np.array([np.ravel(d[name])[0] for d in drawn]) for name in ("mu", "tau", "x"))
            self.assertGreater(len(set(mu)), 400)
            noise = (x - mu) * np.sqrt(tau)
            for other in (mu, tau):
                self.assertLess(abs(np.corrcoef(noise, other)[0, 1]), 4 / np.sqrt(800))
            np.testing.assert_allclose([mu.mean(), mu.std()], [m.posterior_["mu"].mean, m.posterior_["mu"].sd], atol=0.1)
            np.testing.assert_allclose([noise.mean(), noise.std()], [0, 1], atol=0.15)

    def test_sample_of_a_joint_factor(self):
        text = """model effects {
          plate n; plate g = 3; data group[n] : g;
          mu ~ Normal(mean = 0, sd = 10);
          theta[g] ~ Normal(mean = 0, sd = 0.1);
          observe y[n] ~ Normal(mean = mu + theta[group[n]], sd = 1);
          guide joint(mu, theta);
        }"""
        group = np.arange(300) % 3
        m = lehr.Model(text).fit({"group": group, "y": 5 + np.random.default_rng(1).normal(size=300)})
        self.assertEqual(set(m.summary_["sizes"]), {"n", "g"})
        new = m.sample(600, data={"group": np.arange(600) % 3})
        self.assertEqual(new["y"].shape, (600,))
        np.testing.assert_allclose(new["y"].mean(), 5, atol=0.4)
        np.testing.assert_allclose(new["y"].std(), 1, atol=0.15)

    def test_a_batch_without_items(self):
        m, none = lehr.Model("models/mixtures/gmm.lehr", K=2).fit(np.random.default_rng(1).normal(size=(40, 2))), np.zeros((0, 2))
        before = {name: values.copy() for name, values in m.parameters_.items()}
        self.assertTrue(np.isnan(m.score(none)))
        self.assertEqual((m.predict(none).shape, m.predict_proba(none).shape, m.infer(none)["z"].mean.shape), ((0,), (0, 2), (0, 2)))
        for name, values in m.partial_fit(none).parameters_.items():
            np.testing.assert_allclose(values, before[name], rtol=1e-12, err_msg=name)
        with self.assertRaisesRegex(lehr.DataError, "nothing to fit: plate 'n' has no elements"):
            lehr.Model("models/mixtures/gmm.lehr", K=2).fit(none)

    def test_sizes_that_are_further(self):
        grown = lehr.Model("model m { plate t ordered; z[t] ~ Normal(mean = z[t-1], sd = 1) start Normal(mean = 0, sd = 1);"
                           " observe x[t] ~ Normal(mean = z[t], sd = 1); }").fit([0.5, 1.0]).predictive(sizes={"t": "+2"})
        self.assertEqual(grown["x.mean"].shape, (4,))
        with self.assertRaisesRegex(lehr.UsageError, "is not a size"):
            lehr.Model(COIN).fit([1, 0]).predictive(sizes={"throw": "+x"})

    def test_a_fit_that_is_stopped_keeps_what_it_has(self):
        m = lehr.Model(MIXTURE)
        known = {"x": X, "weight": np.ones(len(X))}
        m.fit(known, search="none", on_sweep=lambda restart, iteration, elbo, temperature: np.bool_(iteration < 2))
        self.assertEqual((m.status_, m.n_iter_, m.converged_), ("interrupted", 2, False))
        further = lehr.Model(MIXTURE).fit(known, init=m, search="none")
        self.assertTrue(further.converged_)

        def fails(*_):
            raise RuntimeError("of the caller")

        with self.assertRaisesRegex(RuntimeError, "of the caller"):
            m.fit(known, on_sweep=fails)
        # One refusal is enough, also in the starts of a search.
        calls = []
        m.fit(known, on_sweep=lambda *_: calls.append(1) or len(calls) != 3)
        self.assertEqual((m.status_, len(calls)), ("interrupted", 3))

    def test_batches_one_after_another(self):
        rng = np.random.default_rng(3)
        throws = rng.integers(0, 2, 60)
        m = lehr.Model(COIN)
        for part in np.array_split(throws, 6):
            m.partial_fit(part, seed=2)
        whole = lehr.Model(COIN).fit(throws)
        for name in ("p.a", "p.b"):
            np.testing.assert_allclose(m.parameters_[name], whole.parameters_[name], rtol=1e-12)
        faded = lehr.Model(COIN).partial_fit([1, 1, 1]).partial_fit([0], forget=0.5)
        np.testing.assert_allclose([faded.parameters_["p.a"], faded.parameters_["p.b"]], [2.5, 2])
        order = rng.permutation(len(X))
        halves = [{"x": X[order[part]], "weight": np.ones(45)} for part in (slice(0, 45), slice(45, 90))]
        grown = lehr.Model(MIXTURE).partial_fit(halves[0]).partial_fit(halves[1], on_sweep=lambda *_: True)
        np.testing.assert_allclose(np.sort(grown.posterior_["mu"].mean), [-5, 5], atol=0.1)
        np.testing.assert_allclose(grown.parameters_["pi.concentration"].sum(), 92)
        self.assertEqual(sorted(np.bincount(grown.predict(halves[0]))), sorted(np.bincount(X[order[:45]] > 0)))
        with tempfile.TemporaryDirectory() as folder:
            grown.save(folder)
            again = lehr.load(folder, MIXTURE).partial_fit(halves[0])
        np.testing.assert_allclose(again.parameters_["pi.concentration"].sum(), 137)
        with self.assertRaisesRegex(lehr.UsageError, "forget"):
            grown.partial_fit(halves[0], forget=1.5)
        states = lehr.Model("models/sequences/hmm_poisson.lehr").fit([1, 2, 9, 8, 9, 1], search="none")
        with self.assertRaises(lehr.LehrError):
            states.partial_fit([1, 2, 3])

    def test_the_objective_of_temperatures_is_kept(self):
        m = mixture(anneal="linear:from=3,over=5")
        objective = m.trace_["objective"]
        self.assertFalse(np.array_equal(objective, m.trace_["elbo"]))
        with tempfile.TemporaryDirectory() as folder:
            m.save(folder)
            for source in None, MIXTURE:
                np.testing.assert_array_equal(lehr.load(folder, source).trace_["objective"], objective)
            summary = read_json(f"{folder}/fit.json")
            del summary["model_text"]
            write_json(f"{folder}/fit.json", summary)
            with self.assertRaisesRegex(lehr.DataError, "takes the model"):
                lehr.load(folder)

    def test_interrupts(self):
        x = np.random.default_rng(1).normal(size=20000)
        m = lehr.Model(MIXTURE, K=20)
        begun = threading.Event()

        def interrupt():
            begun.wait()
            os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=interrupt)
        thread.start()
        with self.assertRaises(KeyboardInterrupt):
            m.fit({"x": x, "weight": np.ones(len(x))}, tol=0, leap_after=0, max_iter=1000000,
                  on_sweep=lambda *_: begun.set() or time.sleep(0.01))
        thread.join()
        self.assertEqual(m.status_, "interrupted")
        self.assertTrue(np.all(np.isfinite(m.posterior_["mu"].mean)))
        for delay in (0.3, 0.35, 0.4):  # at any moment, be it on the way into a callback
            timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            with self.assertRaises(KeyboardInterrupt):
                m.fit({"x": x, "weight": np.ones(len(x))}, tol=0, leap_after=0, max_iter=1000000)
            timer.join()
            self.assertEqual(m.status_, "interrupted")
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)

    def test_pickles_and_files(self):
        m = mixture()
        known = {"x": X, "weight": np.ones(len(X))}
        again = pickle.loads(pickle.dumps(m))
        self.assertEqual((again.elbo_, again.score(known)), (m.elbo_, m.score(known)))
        self.assertRegex(repr(pickle.loads(pickle.dumps(lehr.Model(MIXTURE)))), "mixture")
        with tempfile.TemporaryDirectory() as directory:
            try:
                import netCDF4
            except ImportError:
                self.skipTest("netCDF4 is not installed")
            m = lehr.Model(MIXTURE, labels={"k": ["low", "high"]}).fit(known)
            m.to_netcdf(f"{directory}/posterior.nc")
            with netCDF4.Dataset(f"{directory}/posterior.nc") as file:
                np.testing.assert_array_equal(file["mu"][:], m.posterior_["mu"].mean)
                np.testing.assert_array_equal(file["mu.q95"][:], m.posterior_["mu"].q95)
                self.assertEqual((file["mu"].dimensions, list(file["k"][:])), (("k",), ["low", "high"]))

    def test_xarray(self):
        try:
            import xarray  # noqa: F401
        except ImportError:
            self.skipTest("xarray is not installed")
        data = mixture().to_xarray()
        self.assertEqual(data["mu"].dims, ("k",))

    def test_fits_with_other_sparse_factors(self):
        """Data that couple other effects have another pattern of the precision: each fit predicts with its own."""
        text = """model crossed { plate n; plate g = 180; plate h = 90; data a[n] : g; data b[n] : h; m ~ Normal(mean = 0, sd = 5);
          u[g] ~ Normal(mean = 0, sd = 1); v[h] ~ Normal(mean = 0, sd = 1);
          observe y[n] ~ Normal(mean = m + u[a[n]] + v[b[n]], sd = 1); }"""
        r = np.random.default_rng(2)
        data = [{"a": r.integers(0, 180, 500), "b": r.integers(0, 90, 500), "y": r.normal(size=500)} for _ in range(3)]
        new = {"a": np.arange(20), "b": np.arange(20) * 4, "y": np.full(20, np.nan)}

        def predicted(m, x):
            y = m.fit(x, search="none").predictive(new)
            return y["y.mean"], y["y.sd"]

        shared = lehr.Model(text)
        for k in (0, 1, 2, 1, 0):
            for got, expected in zip(predicted(shared, data[k]), predicted(lehr.Model(text), data[k])):
                np.testing.assert_array_equal(got, expected)

    def test_the_magic(self):
        class Shell:
            def __init__(self):
                self.user_ns, self.magics = {}, {}

            def register_magic_function(self, function, magic_kind, magic_name):
                self.magics[magic_kind, magic_name] = function

        shell = Shell()
        lehr.load_ipython_extension(shell)
        shell.magics["cell", "lehr"]("mixed K=3", MIXTURE)
        m = shell.user_ns["mixed"].fit({"x": X, "weight": np.ones(len(X))})
        self.assertEqual(m.posterior_["mu"].mean.shape, (3,))
        for line in ("", "two words", "3 K=3", "m K", "m K=three"):
            with self.assertRaises(lehr.UsageError):
                magic.compile_cell(line, MIXTURE)


warnings.simplefilter("ignore", lehr.FitWarning)
unittest.main()
