#!/usr/bin/env python3
"""`lehr fit --each`: a fit for each group of lines of a table has the bytes of a fit of these lines alone, on any number
of threads; numbers against a closed form; errors of groups; what is refused.

usage: each_test.py LEHR, from the root of the repository
"""
import csv
import os
import sys
import tempfile
import unittest

import numpy as np

sys.path.append(f"{sys.path[0]}/../../helpers")
from lehr_tests import lehr, read, read_json, write  # noqa: E402

sys.argv.pop(1)
MODEL = """model line {
  plate n;
  data x[n] : real;
  a            ~ Normal(mean = 0, sd = 10);
  b            ~ Normal(mean = 0, sd = 10);
  guide joint(a, b);
  observe y[n] ~ Normal(mean = a + b * x[n], sd = 0.5);
}"""
NAMES = ["north", "a/b", "..", "Ost, West", "=1", "7"]


class EachTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.model = write(f"{self.folder}/line.lehr", MODEL)
        rng = np.random.default_rng(1)
        self.lines = []
        for k in rng.permutation(np.repeat(np.arange(len(NAMES)), [5, 30, 2, 40, 9, 30])):
            x = rng.normal()
            self.lines.append((NAMES[k], repr(x), repr(1 + 2 * x + 0.5 * rng.normal())))
        self.table = self.write_table("table.csv", self.lines)

    def write_table(self, name, lines, separator=","):
        path = f"{self.folder}/{name}"
        with open(path, "w", newline="", encoding="utf-8") as file:
            csv.writer(file, delimiter=separator).writerows([("site", "x", "y"), *lines])
        return path

    def each(self, *words, out="out", code=0, data=None):
        done = lehr("fit", self.model, "--data", data or self.table, "--each", "site", "--out", f"{self.folder}/{out}", *words,
                    code=code)
        return done

    def rows(self, out="out"):
        with open(f"{self.folder}/{out}/groups.csv", newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def test_a_group_has_the_bytes_of_its_lines_alone(self):
        self.each("--save-each", "--threads", "2")
        rows = self.rows()
        order = list(dict.fromkeys(name for name, _, _ in self.lines))
        self.assertEqual([row["group"].lstrip("'") for row in rows], order)
        folders = {"north": "north", "a/b": "a%2Fb", "..": "%2E.", "Ost, West": "Ost%2C%20West", "=1": "%3D1", "7": "7"}
        self.assertEqual(sorted(os.listdir(f"{self.folder}/out/groups")), sorted(folders.values()))
        for row, name in zip(rows, order):
            alone = self.write_table("alone.csv", [line for line in self.lines if line[0] == name])
            lehr("fit", self.model, "--data", alone, "--out", f"{self.folder}/alone")
            own = f"{self.folder}/out/groups/{folders[name]}"
            self.assertEqual(read(f"{own}/posterior.npz", "rb"), read(f"{self.folder}/alone/posterior.npz", "rb"))
            fit, mine = read_json(f"{self.folder}/alone/fit.json"), read_json(f"{own}/fit.json")
            self.assertEqual([fit[key] for key in ("elbo", "iterations", "status", "sizes", "warnings")],
                             [mine[key] for key in ("elbo", "iterations", "status", "sizes", "warnings")])
            self.assertEqual((float(row["elbo"]), int(row["sweeps"]), row["status"]),
                             (fit["elbo"], fit["iterations"], fit["status"]))
            shown = lehr("show", own, "--format", "csv").stdout.splitlines()
            for line in csv.DictReader(shown):
                self.assertEqual((row[f"{line['variable']}.mean"], row[f"{line['variable']}.sd"]), (line["mean"], line["sd"]))

    def test_threads_make_no_difference(self):
        tables = []
        for threads in ("1", "2", "7"):
            self.each("--threads", threads)
            tables.append(read(f"{self.folder}/out/groups.csv", "rb"))
        self.assertEqual(tables, tables[:1] * 3)
        self.assertFalse(os.path.exists(f"{self.folder}/out/groups"))

    def test_closed_form(self):
        self.each()
        for row in self.rows():
            x, y = np.array([line[1:] for line in self.lines if line[0] == row["group"].lstrip("'")], float).T
            design = np.stack([np.ones(len(x)), x], axis=1)
            covariance = np.linalg.inv(design.T @ design / 0.25 + np.eye(2) / 100)
            mean, sd = covariance @ design.T @ y / 0.25, np.sqrt(np.diag(covariance))
            np.testing.assert_allclose([float(row["a.mean"]), float(row["b.mean"])], mean, rtol=1e-8)
            np.testing.assert_allclose([float(row["a.sd"]), float(row["b.sd"])], sd, rtol=1e-8)

    def test_numbers_are_those_of_show(self):
        """Deviations by linear response, and the names of elements of nested plates, whose rows differ between the groups."""
        slope = write(f"{self.folder}/slope.lehr", MODEL.replace("sd = 0.5", "precision = tau").replace("guide joint(a, b);", "tau ~ Gamma(shape = 1, rate = 1);"))
        nested = write(f"{self.folder}/nested.lehr", """model nested { plate batch; plate cask in batch; plate kind = 2; plate n; data b_of[n] : batch; data c_of[n] : cask;
          mu ~ Normal(mean = 0, sd = 10); b[batch] ~ Normal(mean = mu, sd = 2); c[batch, cask] ~ Normal(mean = b[batch], sd = 1);
          d[kind, batch, cask] ~ Normal(mean = c[batch, cask], sd = 1);
          observe y[n] ~ Normal(mean = c[b_of[n], c_of[n]], sd = 0.5); }""")
        rows = "site,b,c,y\nA,a,0,3\nA,a,1,10\nA,b,0,20\nB,a,0,5\nB,b,0,6\nB,b,1,7\n"
        table = write(f"{self.folder}/nested.csv", rows)
        bound = [word for name, column in (("b_of", "b"), ("c_of", "c"), ("y", "y")) for word in ("--data", f"{name}={table}:{column}")]
        corrected = 0
        for model, data in ((slope, ["--data", self.table]), (nested, bound)):
            lehr("fit", model, *data, "--each", "site", "--save-each", "--out", f"{self.folder}/shown")
            for row in self.rows("shown"):
                if row["group"] not in ("north", "7", "A", "B"):
                    continue
                own = f"{self.folder}/shown/groups/{row['group']}"
                corrected += os.path.exists(f"{own}/sds.npz")
                wanted = {}
                for line in csv.DictReader(lehr("show", own, "--format", "csv").stdout.splitlines()):
                    index = [line[k] for k in ("kind", "batch", "cask") if line.get(k)]
                    wanted[line["variable"] + (f"[{','.join(index)}]" if index else "")] = line["mean"], line["sd"]
                names = [key[:-len(".mean")] for key in row if key.endswith(".mean") and row[key]]
                self.assertEqual({name: (row[f"{name}.mean"], row[f"{name}.sd"]) for name in names}, wanted)
        self.assertEqual(corrected, 2)
        pair = lehr("compare", f"{self.folder}/shown/groups/A", f"{self.folder}/shown/groups/B").stdout
        self.assertIn("c[a, 0] ", pair)
        self.assertNotIn("c[a, 1]", pair)  # only one group has it
        self.assertIn("d[1, b, 0] ", pair)

    def test_forms_of_tables(self):
        self.each()
        usual = [(row["group"], row["a.mean"]) for row in self.rows()]
        tabs = self.write_table("table.tsv", self.lines, "\t")
        commas = [(name, x.replace(".", ","), y.replace(".", ",")) for name, x, y in self.lines]
        for data in (["--data", tabs], ["--data", self.write_table("semicolons.csv", commas, ";")],
                     ["--data", f"x={self.table}:x", "--data", f"y={self.table}:y"]):
            lehr("fit", self.model, *data, "--each", "site", "--out", f"{self.folder}/form")
            self.assertEqual([(row["group"], row["a.mean"]) for row in self.rows("form")], usual)

    def test_errors_of_groups_leave_the_others(self):
        lines = [*self.lines, ("bad", "1", "2"), ("north", "0", "1"), ("bad", "2", "many")]
        done = self.each(data=self.write_table("bad.csv", lines), code=4)
        self.assertIn("group 'bad'", done.stderr)
        self.assertIn(f"bad.csv:{len(lines) + 1}:", done.stderr)  # the line of the whole table
        rows = {row["group"].lstrip("'"): row for row in self.rows()}
        self.assertEqual({row["status"] for name, row in rows.items() if name != "bad"}, {"converged"})
        self.assertEqual((rows["bad"]["status"], rows["bad"]["elbo"], rows["bad"]["a.mean"]), ("error", "", ""))
        self.assertIn("many", rows["bad"]["message"])
        self.assertIn("1 error", done.stdout)

    def test_what_is_refused(self):
        for words in (["--stream"], ["--test", self.table], ["--checkpoint-every", "3"], ["--profile"], ["--interpret"]):
            done = self.each(*words, code=2)
            self.assertIn(words[0], done.stderr)
            self.assertIn("leave out one", done.stderr)
        self.assertIn("--save-each", self.each("--save-each", "--method", "gibbs", code=2).stderr)
        lehr("fit", self.model, "--data", self.table, "--save-each", "--out", f"{self.folder}/out", code=2)
        done = lehr("fit", self.model, "--data", self.table, "--each", "sites", "--out", f"{self.folder}/out", code=4)
        self.assertIn("did you mean 'site'", done.stderr)
        done = self.each(data=self.write_table("gap.csv", [*self.lines, ("", "1", "2")]), code=4)
        self.assertIn(f"gap.csv:{len(self.lines) + 2}:1", done.stderr)

    def test_samplers_have_a_table(self):
        self.each("--method", "gibbs", "--draws", "400", "--warmup", "50", "--quiet")
        drawn = {row["group"]: row for row in self.rows()}
        self.each()
        for row in self.rows():
            sd = float(row["b.sd"])
            self.assertLess(abs(float(drawn[row["group"]]["b.mean"]) - float(row["b.mean"])), 0.4 * sd)


if __name__ == "__main__":
    unittest.main()
