#!/usr/bin/env python3
"""Fits of many data sets: the bits of single fits on any number of threads, numbers against closed forms, and errors of
one data set, which leave the others as they are.

usage: many_test.py LEHR, from the root of the repository
"""
import sys
import unittest
import warnings

import numpy as np

import lehr

sys.argv.pop(1)
LINE = """model line {
  plate n;
  data x[n] : real;
  a            ~ Normal(mean = 0, sd = 10);
  b            ~ Normal(mean = 0, sd = 10);
  tau          ~ Gamma(shape = 1, rate = 1);
  observe y[n] ~ Normal(mean = a + b * x[n], precision = tau);
}"""
KNOWN = """model known {
  plate n;
  data x[n] : real;
  a            ~ Normal(mean = 0, sd = 10);
  b            ~ Normal(mean = 0, sd = 10);
  guide joint(a, b);
  observe y[n] ~ Normal(mean = a + b * x[n], sd = 0.5);
}"""
MIXTURE = """model mixture {
  plate n;
  plate k = 3;
  pi           ~ Dirichlet(concentration = 1) over k;
  mu[k]        ~ Normal(mean = 0, precision = 0.01);
  z[n]         ~ Categorical(pi);
  observe x[n] ~ Normal(mean = mu[z[n]], precision = 1);
}"""
EFFECTS = """model effects {
  plate n;
  plate kind;
  data of[n] : kind;
  m[kind]      ~ Normal(mean = 0, sd = 10);
  observe y[n] ~ Normal(mean = m[of[n]], sd = 1);
}"""
COUNTS = """model counts {
  plate n;
  plate k = 2;
  rate[k]      ~ Gamma(shape = 1, rate = 1);
  pi           ~ Dirichlet(concentration = 1) over k;
  z[n]         ~ Categorical(pi);
  observe y[n] ~ Poisson(rate[z[n]]);
}"""


def line_data(rng, n, gaps=0, at=0.0):
    x = rng.normal(size=n)
    y = at + 1 + 2 * x + 0.5 * rng.normal(size=n)
    y[:gaps] = np.nan
    return {"x": x, "y": y}


class ManyTest(unittest.TestCase):
    def same(self, text, datasets, **options):
        """Fits of many have the bits of single ones, for several numbers of threads."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            single = [lehr.Model(text).fit(data, **options) for data in datasets]
            for threads in (1, 2, 5):
                many = lehr.Model(text).fit_many(datasets, threads=threads, **options)
                self.assertEqual(len(many), len(single))
                for k, one in enumerate(single):
                    other = many[k]
                    self.assertEqual(list(other.parameters_), list(one.parameters_))
                    for name, values in one.parameters_.items():
                        self.assertEqual(values.tobytes(), other.parameters_[name].tobytes(), (threads, k, name))
                    self.assertEqual(one.trace_["elbo"].tobytes(), other.trace_["elbo"].tobytes())
                    self.assertEqual((one.status_, one.warnings_), (other.status_, other.warnings_))
                    self.assertEqual((one.status_, one.n_iter_, one.elbo_),
                                     (many.table["status"][k], many.table["sweeps"][k], many.table["elbo"][k]))
        return many

    def test_lines_of_all_sizes_have_the_bits_of_single_fits(self):
        rng = np.random.default_rng(1)
        self.same(LINE, [line_data(rng, n) for n in (100, 100, 7, 1, 100, 3000)])

    def test_missing_values_have_programs_of_their_own(self):
        rng = np.random.default_rng(2)
        self.same(LINE, [line_data(rng, n, gaps) for n, gaps in ((50, 0), (50, 3), (60, 0), (60, 4), (20, 3))])

    def test_data_far_from_zero_are_centred_each_by_itself(self):
        rng = np.random.default_rng(3)
        self.same(LINE, [line_data(rng, 40, at=at) for at in (0, 1e7, 2e7, -1e7, 0)])

    def test_categories_searches_and_samplers(self):
        rng = np.random.default_rng(4)
        data = [{"x": np.concatenate([rng.normal(m, 1, 20 + k) for m in (-6, 0, 6)])} for k in range(4)]
        self.same(MIXTURE, data)
        self.same(MIXTURE, data, save_locals=True, restarts=2, seed=3)
        self.same(MIXTURE, data, method="gibbs", draws=30, warmup=10)
        self.same(MIXTURE, data, method="svi", batch_size=10, epochs=2)

    def test_sizes_and_labels_that_differ(self):
        rng = np.random.default_rng(5)
        data = [{"of": np.array(names)[rng.integers(len(names), size=30)], "y": rng.normal(size=30)}
                for names in (["a", "b"], ["a", "b", "c"], ["d", "e"], ["a", "b"])]
        many = self.same(EFFECTS, data)
        self.assertIn("m[c].mean", many.table)
        np.testing.assert_array_equal(np.isnan(many.table["m[c].mean"]), [True, False, True, True])
        for k in (0, 3):
            mean = many[k].posterior_["m"].mean
            np.testing.assert_array_equal([many.table["m[a].mean"][k], many.table["m[b].mean"][k]], mean)

    def test_counts(self):
        rng = np.random.default_rng(6)
        self.same(COUNTS, [{"y": rng.poisson(rate, 30)} for rate in (0.2, 5, 0.2, 20)])

    def test_closed_form(self):
        rng = np.random.default_rng(7)
        datasets = [line_data(rng, n) for n in rng.integers(3, 120, size=40)]
        table = lehr.Model(KNOWN).fit_many(datasets).table
        self.assertTrue(np.all(table["status"] == "converged"))
        for k, data in enumerate(datasets):
            design = np.stack([np.ones(len(data["x"])), data["x"]], axis=1)
            covariance = np.linalg.inv(design.T @ design / 0.25 + np.eye(2) / 100)
            mean = covariance @ design.T @ data["y"] / 0.25
            np.testing.assert_allclose([table["a.mean"][k], table["b.mean"][k]], mean, rtol=1e-8)
            np.testing.assert_allclose([table["a.sd"][k], table["b.sd"][k]], np.sqrt(np.diag(covariance)), rtol=1e-8)

    def test_an_error_leaves_the_others(self):
        rng = np.random.default_rng(8)
        good = [line_data(rng, 30) for _ in range(3)]
        bad = [{"x": np.ones(3), "y": np.ones(4)}, {"x": np.ones(3)}, {"x": np.ones(2), "y": np.array([1j, 2])}]
        with self.assertWarnsRegex(lehr.FitWarning, "3 of 6 data sets have no fit"):
            many = lehr.Model(LINE).fit_many([good[0], bad[0], good[1], bad[1], good[2], bad[2]])
        self.assertEqual(list(many.table["status"]), ["converged", "error", "converged", "error", "converged", "error"])
        self.assertEqual(sorted(many.errors), [1, 3, 5])
        self.assertIn("data set 5: y: error: an array of complex128", str(many.errors[5]))
        with self.assertRaisesRegex(lehr.DataError, "data set 1: (.|\n)*'n'"):
            many[1]
        self.assertTrue(np.isnan(many.table["elbo"][3]) and np.isnan(many.table["a.mean"][1]))
        self.assertEqual(many[4].elbo_, lehr.Model(LINE).fit(good[2]).elbo_)
        with self.assertRaises(IndexError):
            many[6]

    def test_options_are_those_of_fit(self):
        data = [line_data(np.random.default_rng(9), 20)] * 2
        m = lehr.Model(LINE)
        with self.assertRaisesRegex(lehr.UsageError, "max_iters"):
            m.fit_many(data, max_iters=3)
        self.assertEqual(list(m.fit_many(data, max_iter=2).table["status"]), ["max_iter"] * 2)
        start = lehr.Model(LINE).fit(data[0])
        self.assertEqual(list(m.fit_many(data, init=start, search="none").table["sweeps"]),
                         [lehr.Model(LINE).fit(data[0], init=start, search="none").n_iter_] * 2)
        self.assertEqual(len(m.fit_many([])), 0)


if __name__ == "__main__":
    unittest.main()
