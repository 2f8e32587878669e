#!/usr/bin/env python3
"""Reports: well-formed, whole in themselves, and with the numbers of fit.json and posterior.npz.

usage: report_test.py LEHR, from the root of the repository
"""
import glob
import json
import os
import re
import shutil
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

import numpy as np

from made import fit_json, make
from lehr_tests import lehr, read, read_json, temporary

sys.argv.pop(1)


def parse(path):
    text = read(path)
    return text, ElementTree.fromstring(text.removeprefix("<!DOCTYPE html>\n"))


def numbers(text):
    return [float(x) for x in text.split()]


def sections(tree):
    return {s.get("id"): s for s in tree.iter("section")}


class Reports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp()
        cls.paths = make(cls.directory)
        cls.trees = {name: parse(path) for name, path in cls.paths.items()}

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.directory)

    def posterior(self, name):
        return np.load(os.path.join(self.directory, name, "posterior.npz"))

    def variable(self, name, variable):
        return next(d for d in self.trees[name][1].iter("div") if d.get("data-variable") == variable)

    def test_whole_in_themselves(self):
        for name, (text, tree) in self.trees.items():
            with self.subTest(name):
                self.assertNotRegex(text, r"(?i)https?:|//www|<script|@import|url\(|\bsrc=")
                self.assertLess(len(text), 3_000_000)
                self.assertIn("prefers-color-scheme: dark", text)
                for link in tree.iter("a"):
                    self.assertIn(link.get("href")[1:], sections(tree))

    def test_how_it_went(self):
        for name, path in self.paths.items():
            with self.subTest(name):
                said, tree = fit_json(path), self.trees[name][1]
                self.assertIn(said["elbo"], [float(d.get("value")) for d in tree.find(".//header").iter("data")])
                self.assertEqual("".join(sections(tree)["repeat"].find("pre").itertext()), said["command"])
                facts = {d.find("dt").text: d.find("dd") for d in tree.findall(".//header/dl/div")}
                text_of = lambda name: "".join(facts[name].itertext())
                self.assertEqual((text_of("method"), text_of("seed"), text_of("Lehr")), (said["method"], str(said["seed"]), said["version"]))
                self.assertEqual(text_of("sizes"), ", ".join(f"{plate} {size}" for plate, size in said["sizes"].items()))
                self.assertEqual(float(facts["seconds"].find("data").get("value")), said["seconds"]["total"])
                for name, value in said["constants"].items():
                    self.assertIn(f"{name} = {value:.4g}", text_of("constants"))
                drawn = "draws" if said["method"] == "gibbs" else "sweeps"
                self.assertIn(f"after {said['iterations']} {drawn}", "".join(tree.find(".//header/p").itertext()))
                warned = ["".join(w.itertext()) for w in tree.iter("div") if w.get("class") == "warning"]
                for warning in said["warnings"]:
                    self.assertTrue(any(warning["text"].replace("`", "") in w for w in warned), warning)
                starts = said.get("search", {}).get("starts", [])
                rows = [float(r.get("data-mean")) for r in sections(tree)["fit"].iter("tr") if r.get("data-mean")]
                for start in starts:
                    if start["elbo"] is not None:
                        self.assertIn(start["elbo"], rows)

    def test_every_number_is_one_of_the_posterior(self):
        """Of variables that are shown as they are: sums over items and averages of neighbours are not numbers of the fit."""
        for name, path in self.paths.items():
            shown = json.loads(lehr("show", os.path.dirname(path), "--format", "json").stdout)
            for variable in {row["variable"] for row in shown}:
                known = {what: {row[what] for row in shown if row["variable"] == variable} for what in ("mean", "sd", "q5", "q95")}
                tree, found = self.trees[name][1], 0
                for part in tree.iter("div"):
                    if part.get("data-variable") != variable or "Expected number" in "".join(part.itertext()):
                        continue
                    for e in part.iter():
                        for attribute, what in (("data-mean", "mean"), ("data-sd", "sd"), ("data-low", "q5"), ("data-high", "q95")):
                            for x in numbers(e.get(attribute) or ""):
                                self.assertIn(x, known[what], f"{name}: {attribute} of {variable}")
                                found += 1
                        if e.tag == "data":
                            self.assertIn(float(e.get("value")), known["mean"])
                            found += 1
                    self.assertGreater(found, 0, f"{name}: {variable}")

    def test_single_numbers(self):
        row = next(r for r in self.trees["linear_regression"][1].iter("tr") if r.find("th") is not None and r.find("th").text == "b")
        self.assertEqual(float(row.get("data-mean")), self.posterior("linear_regression")["b.mean"])
        with np.load(os.path.join(self.directory, "linear_regression", "sds.npz")) as corrected:
            self.assertEqual(float(row.get("data-sd")), corrected["b.sd"])
        self.assertAlmostEqual(float(row.get("data-sd")), self.posterior("linear_regression")["b.precision"] ** -0.5, delta=1e-8)

    def test_topics(self):
        concentration = self.posterior("lda")["beta.concentration"]
        terms = read("models/data/topics/kos.vocab.txt").split("\n")
        order = np.argsort(-concentration.sum(axis=1), kind="stable")
        lists = [l for l in self.variable("lda", "beta").iter("ol")]
        self.assertEqual(len(lists), 3)
        for row, items in zip(order, lists):
            p = concentration[row] / concentration[row].sum()
            best = np.argsort(-p, kind="stable")[:12]
            self.assertEqual([i.find("span").text for i in items], [terms[k] for k in best])
            np.testing.assert_allclose([float(i.find("data").get("value")) for i in items], p[best], rtol=1e-14)

    def test_ellipses(self):
        fit = self.posterior("gmm")
        weights = fit["pi.concentration"] / fit["pi.concentration"].sum()
        drawn = [p for p in sections(self.trees["gmm"][1])["groups"].iter("path") if p.get("data-component")]
        self.assertEqual({int(p.get("data-component")) for p in drawn}, set(np.flatnonzero(weights >= 0.005)))
        for path in drawn:
            k = int(path.get("data-component"))
            np.testing.assert_array_equal(numbers(path.get("data-mean")), fit["mu.mean"][k])
            covariance = np.linalg.inv(fit["Lambda.df"][k] * fit["Lambda.scale"][k])
            np.testing.assert_allclose(numbers(path.get("data-covariance")), covariance.ravel(), rtol=1e-9, atol=1e-12)

    def test_components_along_a_plate(self):
        fit = self.posterior("hmm_gaussian")
        drawn = [p for p in sections(self.trees["hmm_gaussian"][1])["groups"].iter("path") if p.get("data-component")]
        self.assertEqual({p.get("data-component") for p in drawn}, {"0", "1"})
        for path in drawn:
            k = int(path.get("data-component"))
            np.testing.assert_array_equal(numbers(path.get("data-mean")), fit["mu.mean"][k])
            variances = np.diag(np.reshape(numbers(path.get("data-covariance")), (12, 12)))
            np.testing.assert_allclose(variances, fit["tau.rate"][k] / fit["tau.shape"][k], rtol=1e-14)

    def test_transitions_and_states(self):
        fit = self.posterior("hmm_gaussian")
        cells = [float(c.get("data-mean")) for c in self.variable("hmm_gaussian", "A").iter("td") if c.get("data-mean")]
        rows = fit["A.concentration"] / fit["A.concentration"].sum(axis=1, keepdims=True)
        np.testing.assert_allclose(cells, rows.ravel(), rtol=1e-14)
        ribbons = [numbers(p.get("data-mean")) for p in self.variable("hmm_gaussian", "s").iter("path") if p.get("data-mean")]
        lengths = read_json("models/data/sequences/japanese_vowels.json")["t"]
        self.assertEqual([len(r) for r in ribbons[::2]], lengths[:9])
        np.testing.assert_array_equal(np.concatenate(ribbons[::2]), fit["s.probs"][:sum(lengths[:9]), 0])

    def test_images(self):
        drawn = [numbers(s.get("data-mean")) for s in self.variable("factorial_mixture", "mu").iter("svg")]
        np.testing.assert_array_equal(drawn, self.posterior("factorial_mixture")["mu.mean"])
        (tiles,) = self.variable("ising", "s").iter("svg")
        self.assertEqual(tiles.get("viewBox"), "0 0 16 16")

    def test_chains_of_a_sampler(self):
        text = "".join(sections(self.trees["coin"][1])["trust"].itertext())
        self.assertIn("R-hat", text)

    def test_derivations(self):
        for path in sorted(glob.glob("models/*/*.lehr")):
            out = lehr("derive", path, "--format", "html").stdout
            tree = ElementTree.fromstring(out.removeprefix("<!DOCTYPE html>\n"))
            self.assertGreater(len(list(tree.iter("math"))), 3)
            self.assertFalse(re.search(r"\\[a-z]", "".join(t for m in tree.iter("math") for t in m.itertext())))

    def test_text_is_escaped(self):
        labels = ["<b>bold</b>", "a & b", "\"quoted\" 'too'", "\x1b[31m", "ok"]
        model = "model m { plate n; plate term; p ~ Dirichlet(concentration = 1) over term; observe x[n] ~ Categorical(p); }\n"
        table = "x\n" + "\n".join(str(k % 5) for k in range(40)) + "\n"
        with temporary({"labels": "\n".join(labels) + "\n", "x.csv": table, "m.lehr": model}) as d:
            lehr("fit", f"{d}/m.lehr", "--data", f"{d}/x.csv", "--labels", f"term={d}/labels", "--quiet", "--out", f"{d}/fit")
            lehr("report", f"{d}/fit", "-o", f"{d}/r.html")
            text, tree = parse(f"{d}/r.html")
            self.assertNotIn("\x1b", text)
            self.assertIsNone(tree.find(".//b"))
            self.assertTrue(set(labels[:3]) <= set("".join(t.itertext()) for t in tree.iter("th")))

    def test_what_is_gone_is_said(self):
        with temporary() as d:
            for file in ("models/distributions/coin.lehr", "models/data/distributions/coin.csv"):
                shutil.copy(file, d)
            lehr("fit", f"{d}/coin.lehr", "--data", f"{d}/coin.csv", "--quiet", "--out", f"{d}/fit")
            os.remove(f"{d}/coin.csv")
            self.assertIn("data are not shown", lehr("report", f"{d}/fit").stderr)
            self.assertIn("data are not shown", parse(f"{d}/fit/report.html")[0])
            lehr("report", f"{d}/fit", "--data", "models/data/distributions/coin.csv")
            self.assertNotIn("not shown", parse(f"{d}/fit/report.html")[0])
            os.remove(f"{d}/coin.lehr")
            self.assertNotIn("not shown", lehr("report", f"{d}/fit", "--data", "models/data/distributions/coin.csv").stderr)
            self.assertIn("derivation", sections(parse(f"{d}/fit/report.html")[1]))
            self.assertIn("model is not shown", lehr("report", f"{d}/fit", "--model", "models/mixtures/gmm.lehr").stderr)
            self.assertNotIn("derivation", sections(parse(f"{d}/fit/report.html")[1]))

    def test_data_without_what_is_missing(self):
        with temporary() as d:
            fit = ["fit", "models/regression/linear_regression.lehr", "--drop-missing", "--data", "x=models/data/distributions/penguins.csv:bill_length_mm,bill_depth_mm",
                   "--data", "y=models/data/distributions/penguins.csv:body_mass_g", "--search", "none", "--max-iter", "3", "--quiet", "--out", f"{d}/fit"]
            lehr(*fit)
            said = lehr("report", f"{d}/fit").stderr
            self.assertIn("2 of 344 elements of 'n' are left out", said)
            self.assertNotIn("not shown", said)
            self.assertIn("n 342", "".join(sections(parse(f"{d}/fit/report.html")[1])["data"].itertext()))
            table = read("models/data/distributions/penguins.csv")
            piped = [w.replace("models/data/distributions/penguins.csv", "-") for w in fit]
            lehr(*piped, input=table)
            self.assertIn("they came from the standard input", lehr("report", f"{d}/fit").stderr)

    def test_refusals(self):
        where = os.path.join(self.directory, "ising")
        for image, said in (("site", "not PLATE=ROWSxCOLUMNS"), ("site=0x4", "not PLATE=ROWSxCOLUMNS"), ("wrong=4x4", "not a plate"),
                            ("site=4x4", "not the size")):
            self.assertIn(said, lehr("report", where, "--image", image, code=2).stderr)
        lehr("report", "models", code=4)
        lehr("report", where, "-o", "/proc/none/report.html", code=2)


unittest.main()
