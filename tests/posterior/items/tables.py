#!/usr/bin/env python3
"""Data as people have them: weights of observations, tables with a line for each step, words for 0 and 1, numbers from 1, zeros in
transitions; and autoregressions that reach back further than one step.

usage: tables.py LEHR
"""
import csv
import itertools
import json
import sys

import numpy as np
from scipy.integrate import quad
from scipy.special import digamma, gammaln, logsumexp
from scipy.stats import binom, multivariate_normal, norm

sys.path.append(f"{sys.path[0]}/..")
from fitting import arrays, close, finish, fit, holds, lehr, read_csv, read_json, temporary, write  # noqa: E402

RNG = np.random.default_rng(23)
TIGHT = ["--search", "none", "--tol", "1e-14", "--max-iter", "20000"]


def run(text, files, *arguments, command="fit"):
    """A fit of files by name; the process, and the posterior if there is one."""
    with temporary({"m.lehr": text, **files}) as d:
        data = [a for name in files for a in ("--data", f"{d}/{name}")]
        done = lehr(command, f"{d}/m.lehr", *data, "--out", f"{d}/out", "--search", "none", *arguments, code=None)
        if done.returncode:
            return done, None
        return done, arrays(f"{d}/out/posterior.npz")


@holds
def weights():
    """Whole weights are repeated observations, 0 leaves one out, others are powers of the likelihood."""
    x, w = RNG.normal(1, 2, size=5), np.array([2, 0, 1, 3, 1])
    text = "model m { plate n%s; %s mu ~ Normal(mean = 0, sd = 3); tau ~ Gamma(shape = 2, rate = 1); observe x[n] ~ Normal(mean = mu, precision = tau); }"
    weighted = text % (" times w", "data w[n] : real;")
    a = fit(weighted, {"x": x, "w": w}, *TIGHT)
    b = fit(text % ("", ""), {"x": np.repeat(x, w)}, *TIGHT)
    assert close(a.elbo, b.elbo) and close(a.posterior["mu.mean"], b.posterior["mu.mean"])
    half = fit(weighted.replace("tau ~ Gamma(shape = 2, rate = 1);", "").replace("precision = tau", "sd = 2"), {"x": x, "w": np.array([0.5, 1.7, 0.1, 1, 0.9])}, *TIGHT)
    w = np.array([0.5, 1.7, 0.1, 1, 0.9])
    precision = 1 / 9 + w.sum() / 4
    return close(half.posterior["mu.precision"], precision) and close(half.posterior["mu.mean"], (w @ x / 4) / precision)


@holds
def shapes_without_weight():
    """A learned shape of which no data tell is where its prior has its mode, and tiny weights leave it there."""
    text = """model m { plate n times w; data w[n] : real; s ~ Gamma(shape = 2, rate = 0.5); r ~ Gamma(shape = 3, rate = 1);
      observe y[n] ~ Gamma(shape = s, rate = r); guide point(s, r); }"""
    for w in ([0.0, 0.0], [1e-200, 0.0], [1e-90, 1e-90]):
        got = fit(text, {"w": np.array(w), "y": np.array([1.5, 2.0])}, *TIGHT).posterior
        assert close(got["s.value"], 2) and close(got["r.value"], 2), (w, got)
    return True


@holds
def weighted_mixture():
    """Each item has a category of its own, whose entropy counts as often as the item."""
    x, w = np.concatenate([RNG.normal(-2, 1, 6), RNG.normal(2, 1, 6)]), np.arange(12) % 3
    text = """model m { plate n%s; plate k = 2; %s pi ~ Dirichlet(concentration = 1) over k; mu[k] ~ Normal(mean = 0, sd = 3);
      z[n] ~ Categorical(pi); observe x[n] ~ Normal(mean = mu[z[n]], sd = 1); }"""
    init = {"mu.mean": [-1.0, 1.0]}
    a = fit(text % (" times w", "data w[n] : real;"), {"x": x, "w": w}, *TIGHT, init=init)
    b = fit(text % ("", ""), {"x": np.repeat(x, w)}, *TIGHT, init=init)
    return close(a.elbo, b.elbo) and close(a.posterior["mu.mean"], b.posterior["mu.mean"])


@holds
def negative_weights():
    """An error that names the element."""
    done, _ = run("model m { plate n times w; data w[n] : real; mu ~ Normal(mean = 0, sd = 1); observe x[n] ~ Normal(mean = mu, sd = 1); }",
                  {"d.csv": "x,w\n1,1\n2,-0.5\n"})
    return done.returncode and "w[1] is -0.5, but it must be a weight, 0 or more" in done.stderr


@holds
def lines_of_steps():
    """A table id, t, y is the ragged array; gaps in t and torn rows are errors."""
    text = """model m { plate id; plate t in id ordered; r ~ Gamma(shape = 2, rate = 1);
      x[id, t] ~ Normal(mean = x[id, t-1], precision = r) start Normal(mean = 0, sd = 2); observe y[id, t] ~ Normal(mean = x[id, t], sd = 0.5); }"""
    rows = [[0.1, 0.5, 0.2], [1.0], [2.0, -1.0]]
    lines = ["id,t,y"] + [f"{name},{t + 3},{y}" for name, row in zip(["b", "a", "c"], rows) for t, y in enumerate(row)]
    done, long = run(text, {"d.csv": "\n".join(lines) + "\n"}, "--tol", "1e-12")
    assert done.returncode == 0, done.stderr
    _, ragged = run(text, {"d.json": {"y": rows}}, "--tol", "1e-12")
    gap, _ = run(text, {"d.csv": "id,t,y\na,1,2\na,3,2\n"})
    torn, _ = run(text, {"d.csv": "id,t,y\na,1,2\nb,1,2\na,2,2\n"})
    return (close(long["r.rate"], ragged["r.rate"]) and gap.returncode and "t goes from 1 to 3 within id a" in gap.stderr
            and torn.returncode and "do not stand together" in torn.stderr)


@holds
def ends_without_values():
    """The last steps of an observed chain without a value are latent, and a remark says what leaving them out does; gaps are not meant."""
    text = """model m { plate id; plate t in id ordered; a ~ Normal(mean = 0, sd = 1);
      observe x[id, t] ~ Normal(mean = a * x[id, t-1], sd = 1) start Normal(mean = 0, sd = 1); }"""
    ends, _ = run(text, {"d.json": {"x": [[1, 2, None, None], [0, None, 1], [0.5, None]]}})
    gaps, _ = run(text, {"d.json": {"x": [[1, None, 2], [0, None, 1]]}})
    series, _ = run("model m { plate t ordered; a ~ Normal(mean = 0, sd = 1); observe x[t] ~ Normal(mean = a * x[t-1], sd = 1) start Normal(mean = 0, sd = 1); }",
                    {"d.json": {"x": [1, 2, None]}})
    text = """model m { plate t ordered; plate d = 2; a ~ Normal(mean = 0, sd = 1);
      observe x[t] ~ MvNormal(mean = a * x[t-1], precision = 1) start MvNormal(mean = 0, precision = 1) over d; }"""
    half, _ = run(text, {"d.json": {"x": [[1, 2], [0.5, 1], [None, 2]]}})
    whole, _ = run(text, {"d.json": {"x": [[1, 2], [0.5, 1], [None, None]]}})
    if "without a value" in half.stderr or "1 step of 'x' at the end of its row" not in whole.stderr:
        return False
    return ("3 steps of 'x' at the end of 2 rows without a value" in ends.stderr and "`predict --sizes t=+N`" in ends.stderr
            and "is latent where it is missing" in gaps.stderr and "at the end" not in gaps.stderr and "1 step of 'x' at the end of its row" in series.stderr)


@holds
def said_on_every_line():
    """What belongs to the rows may stand on every line of a table, or on some, if the lines agree."""
    text = """model m { plate id; plate t in id ordered; plate arm; data of[id] : arm; data age[id] : real; m[arm] ~ Normal(mean = 0, sd = 1);
      observe y[id, t] ~ Normal(mean = m[of[id]] + age[id], sd = 0.5); }"""
    done, long = run(text, {"d.csv": "id,t,of,age,y\na,0,v,1,2\na,1,v,,3\nb,0,u,2,1\nc,0,v,0,1\nc,1,v,0,2\n"})
    assert done.returncode == 0, done.stderr
    of, rest = np.array([1, 1, 0, 1, 1]), np.array([1.0, 2, -1, 1, 2])
    precision = 1 + 4 * np.bincount(of)
    differs, _ = run(text, {"d.csv": "id,t,of,age,y\na,0,v,1,2\nb,0,u,2,1\nb,1,v,2,1\n"})
    return (close(long["m.mean"], 4 * np.bincount(of, rest) / precision) and differs.returncode
            and "of is not the same on all lines of id b" in differs.stderr)


@holds
def steps_to_come():
    """More steps of tables with a line for each are those of ragged arrays."""
    text = """model m { plate id; plate t in id ordered; r ~ Gamma(shape = 2, rate = 1); plate arm; data of[id] : arm; m[arm] ~ Normal(mean = 0, sd = 1);
      x[id, t] ~ Normal(mean = x[id, t-1], sd = 0.5) start Normal(mean = m[of[id]], sd = 2); observe y[id, t] ~ Normal(mean = x[id, t], precision = r); }"""
    out = []
    with temporary({"m.lehr": text, "d.csv": "id,t,of,y\na,4,u,1\na,5,u,1.5\nb,0,v,2\n",
                    "d.json": {"y": [[1, 1.5], [2]], "of": [0, 1]}}) as d:
        lehr("fit", f"{d}/m.lehr", "--data", f"{d}/d.csv", "--out", f"{d}/out", "--quiet")
        for name in ["d.csv", "d.json"]:
            lehr("predict", f"{d}/out", "--data", f"{d}/{name}", "--sizes", "t=+2", "--draws", "50", "--out", f"{d}/p.npz")
            out.append(arrays(f"{d}/p.npz"))
    return out[0].keys() == out[1].keys() and len(out[0]["x.mean"]) == 7 and all(close(np.nan_to_num(out[0][k]), np.nan_to_num(out[1][k]), 1e-12) for k in ["x.mean", "y.mean"])


@holds
def rows_by_name():
    """Ids of a table and what other data call the same elements by: in whatever order rows stand, by text and by number, in new data too."""
    text = """model m { plate s%s; plate t in s ordered; plate n; m[s] ~ Normal(mean = 0, sd = 10); data of[n] : s;
      observe u[n] ~ Normal(mean = m[of[n]], sd = 1); observe y[s, t] ~ Normal(mean = m[s], sd = 1); }"""
    precise = lambda name: {"bob": (20 + 20 + 21) / 3.01, "amy": (10 + 9) / 2.01}[name]
    lines, others = "bob,1,20\nbob,2,20\namy,1,10\n", "bob,21\namy,9\n"
    numbers = lambda lines: lines.replace("bob", "2").replace("amy", "1")
    with temporary({"words.lehr": text % "", "ones.lehr": text % " from 1", "T.csv": "s,t,y\n" + lines, "U.csv": "of,u\n" + others, "names.txt": "amy\nbob\n",
                    "M.csv": "s,t,y\n" + numbers(lines), "N.csv": "of,u\n" + numbers(others), "J.json": {"of": ["2", "1"], "u": [21, 9]},
                    "Z.csv": "s,t,y\n1,1,20\n1,2,20\n0,1,10\n", "O.csv": "of,u\n1,21\n0,9\n",
                    "V.csv": "of,u\namy,\n", "S.csv": "s,t,y\namy,1,10\nbob,1,20\nbob,2,20\n", "more.csv": "s,t,y\ncat,1,\nbob,1,\nbob,2,\namy,1,\n"}) as d:
        call = lambda *words: lehr(*words, code=None, cwd=d)

        def shown(out):
            return {line.split()[0]: float(line.split()[1]) for line in call("show", out, "m").stdout.splitlines()[1:]}

        fits = [call("fit", "words.lehr", "--data", "T.csv", "--data", "U.csv", "--out", "a"),
                call("fit", "words.lehr", "--data", "T.csv", "--data", "U.csv", "--labels", "s=names.txt", "--out", "b"),
                call("fit", "ones.lehr", "--data", "M.csv", "--data", "N.csv", "--out", "c"),
                call("fit", "ones.lehr", "--data", "M.csv", "--data", "J.json", "--out", "d"),
                call("fit", "words.lehr", "--data", "Z.csv", "--data", "O.csv", "--out", "e"),
                call("fit", "words.lehr", "--data", "M.csv", "--data", "N.csv", "--out", "g")]
        assert not any(f.returncode for f in fits), [f.stderr for f in fits if f.returncode]
        tables = [shown(name) for name in "abcdeg"]
        score = [call("score", "a", "--data", f"{name}.csv", "--data", "U.csv").stdout.split()[:4] for name in "ST"]
        call("predict", "a", "--data", "more.csv", "--data", "V.csv", "--out", "p.csv")
        means = {row["s"]: float(row["mean"]) for row in read_csv(f"{d}/p.csv") if row["variable"] == "y"}
    called = [("bob", "amy"), ("bob", "amy"), ("2", "1"), ("2", "1"), ("1", "0"), ("2", "1")]
    return (all(close([table[bob], table[amy]], [precise("bob"), precise("amy")], 1e-3) for table, (bob, amy) in zip(tables, called))
            and score[0] == score[1] and close([means["bob"], means["amy"], means["cat"]], [precise("bob"), precise("amy"), 0]))


@holds
def lines_by_name():
    """A table with a line for each element, whose column says which: by text, by number, in whatever order; what has no line is missing."""
    text = """model m { plate person%s; plate n; data age[person] : real; data of[n] : person; b ~ Normal(mean = 0, sd = 1);
      observe v[person] ~ Normal(mean = b * age[person], sd = 1); observe y[n] ~ Normal(mean = b * age[of[n]], sd = 2); }"""
    age, v, y = {"bob": 2.0, "Åsa": -1.0, "li wei": 0.5}, {"bob": 1.0, "Åsa": 3.0, "li wei": 2.0}, [("li wei", 1.0), ("bob", 2.0), ("bob", -1.0)]
    precision = 1 + sum(a ** 2 for a in age.values()) + sum(age[p] ** 2 for p, _ in y) / 4
    wanted = (sum(v[p] * age[p] for p in age) + sum(age[p] * u for p, u in y) / 4) / precision

    def mean(calls, start, order, extra=(), gone=None):
        """`calls`: what each person is called. One whose v has no line of its own counts as missing."""
        lines = {"t.csv": "person,age,v\n" + "".join(f"{calls[p]},{age[p]},{'' if p == gone else v[p]}\n" for p in order),
                 "d.csv": "of,y\n" + "".join(f"{calls[p]},{u}\n" for p, u in y)}
        done, found = run(text % start, lines, *extra)
        return found["b.mean"] if found else done.stderr

    words, ones, positions = {p: p for p in age}, dict(zip(age, (3, 1, 2))), dict(zip(age, (2, 0, 1)))
    orders = list(itertools.permutations(age))
    for order in (orders[0], orders[3], orders[5]):
        assert close(mean(words, "", order), wanted) and close(mean(ones, " from 1", order), wanted) and close(mean(positions, "", order), wanted)
    # Names that are given have an order of their own; numbers of lines are no names.
    with temporary({"names.txt": "Åsa\nbob\nli wei\n"}) as folder:
        given = ["--labels", f"person={folder}/names.txt"]
        alone = """model m { plate person; data age[person] : real; b ~ Normal(mean = 0, sd = 1); observe v[person] ~ Normal(mean = b * age[person], sd = 1); }"""
        table = "person,age,v\n" + "".join(f"{p},{age[p]},{v[p]}\n" for p in age)
        other = {"t.csv": table.replace("age,v", "age,w"), "u.csv": "person,v\n" + "".join(f"{p},{v[p]}\n" for p in sorted(age))}
        numbered = {"t.csv": table.replace("bob", "4").replace("Åsa", "1").replace("li wei", "2")}
        _, one = run(alone, {"t.csv": table}, *given)
        _, two = run(alone, other, *given)
        wrong, _ = run(alone, numbered, *given)
        in_turn = [mean(words, "", order, given) for order in orders]
    of_alone = sum(age[p] * v[p] for p in age) / (1 + sum(a ** 2 for a in age.values()))
    if not (close(one["b.mean"], of_alone) and close(two["b.mean"], of_alone) and all(close(x, wanted) for x in in_turn)
            and "'4' is not among the labels" in wrong.stderr):
        return False
    # A year without a line, of a series that is observed.
    walk = """model m { plate year ordered from 1990; plate n; data of[n] : year; x[year] ~ Normal(mean = x[year-1], sd = 1) start Normal(mean = 0, sd = 1);
      observe v[year] ~ Normal(mean = x[year], sd = 1); observe y[n] ~ Normal(mean = x[of[n]], sd = 1); }"""
    _, found = run(walk, {"t.csv": "year,v\n1992,3\n1990,1\n", "d.csv": "of,y\n1993,2\n"})
    P = np.diag([1.0, 0, 1, 1]) + np.diag([2.0, 2, 2, 1]) - np.diag(np.ones(3), 1) - np.diag(np.ones(3), -1)
    table = "person,age,v\nbob,1,1\n%s,2,2\n"
    of = {"d.csv": "of,y\nbob,1\namy,2\n"}
    twice, _ = run(text % "", {"t.csv": table % "bob"} | of)
    without, _ = run(text % "", {"t.csv": table % "max"} | of)
    return (close(found["x.mean"], np.linalg.solve(P, [1.0, 0, 3, 2])) and "two lines are those of person bob" in twice.stderr
            and "no line is that of person amy, which has no age then" in without.stderr)


@holds
def tables_of_the_same_elements():
    """Several tables with ids of the same elements: with a line for each of them, with a line for each step; no other name may come twice."""
    text = """model m { plate id%s; plate t in id ordered; data dose[id] : real; b ~ Normal(mean = 0, sd = 1); observe v[id] ~ Normal(mean = b, sd = 1);
      observe y[id, t] ~ Normal(mean = b * dose[id], sd = 1); }"""
    dose, v, y = {"p": 2.0, "q": -1.0, "r": 0.5}, {"p": 1.0, "q": 2.0, "r": -1.0}, {"p": [3.0, 1.0], "q": [1.0], "r": []}
    precision = 1 + 3 + sum(len(y[p]) * dose[p] ** 2 for p in y)
    wanted = (sum(v.values()) + sum(dose[p] * sum(y[p]) for p in y)) / precision
    flat = """model m { plate id; data dose[id] : real; b ~ Normal(mean = 0, sd = 1); observe v[id] ~ Normal(mean = b * dose[id], sd = 1); }"""
    of_flat = sum(dose[p] * v[p] for p in dose) / (1 + sum(d ** 2 for d in dose.values()))
    table = lambda name, of, calls, order: f"id,{name}\n" + "".join(f"{calls[p]},{of[p]}\n" for p in order)
    for calls, start in (({p: f"x{p}" for p in dose}, ""), (dict(zip("pqr", (7, 3, 5))), ""), (dict(zip("pqr", (2, 1, 3))), " from 1")):
        steps = "id,t,y\n" + "".join(f"{calls[p]},{k},{u}\n" for p in "qpr" for k, u in enumerate(y[p]))
        for first, then in itertools.product(itertools.permutations("pqr"), ("pqr", "rpq")):
            tables = {"a.csv": table("dose", dose, calls, first), "b.csv": table("v", v, calls, then)}
            done, found = run(flat, tables)
            assert found and close(found["b.mean"], of_flat), done.stderr
            for files in ({"s.csv": steps} | tables, tables | {"s.csv": steps}):
                done, found = run(text % start, files)
                assert found and close(found["b.mean"], wanted), done.stderr
    with temporary({"m.lehr": text % start, **files}) as d:
        bindings = [[w for name in order for w in ("--data", f"{name}.csv")] for order in ("abs", "sab")]
        call = lambda *words: lehr(*words, cwd=d)
        call("fit", "m.lehr", *bindings[0], "--out", "o")
        forecasts = []
        for words in bindings:
            call("predict", "o", *words, "--sizes", "t=+1", "--out", "p.csv")
            forecasts.append([float(r["mean"]) for r in read_csv(f"{d}/p.csv") if r["variable"] == "y"])
    assert forecasts[0] == forecasts[1] and close(sorted(forecasts[0]), sorted(wanted * dose[p] for p in "pq")), forecasts
    twice, _ = run(flat, {"a.csv": "id,dose\n1,2\n", "b.csv": "id,dose,v\n1,2,3\n"})
    return twice.returncode == 4 and "'dose' is given twice" in twice.stderr and "then by" in twice.stderr


@holds
def lines_of_new_elements():
    """New data name elements that the fit had not, in a table of their own."""
    text = """model m { plate g; plate n; data age[g] : real; data of[n] : g; b ~ Normal(mean = 0, sd = 10); u[g] ~ Normal(mean = b * age[g], sd = 1);
      observe y[n] ~ Normal(mean = u[of[n]], sd = 1); guide joint(b, u); }"""
    with temporary({"m.lehr": text, "t.csv": "g,age\nzoe,1\nann,2\n", "d.csv": "of,y\nann,4\nzoe,1\nann,5\n",
                    "u.csv": "g,age\nmax,3\nann,2\nzoe,1\n", "e.csv": "of,y\nmax,\nzoe,\n"}) as d:
        for words in (["fit", "m.lehr", "--data", "t.csv", "--data", "d.csv", "--out", "o"], ["predict", "o", "--data", "u.csv", "--data", "e.csv", "--out", "p.csv"]):
            lehr(*words, cwd=d)
        rows = read_csv(f"{d}/p.csv")
    P, h = np.diag([0.01, 3.0, 2.0]), np.array([0, 9.0, 1.0])  # b, ann, zoe
    for k, age in ((1, 2.0), (2, 1.0)):
        P[0, 0] += age ** 2
        P[0, k] = P[k, 0] = -age
    S, m = np.linalg.inv(P), np.linalg.solve(P, h)
    said = {(r["variable"], r["g"] or r["n"]): (float(r["mean"]), float(r["sd"])) for r in rows}
    return (close(said["u", "max"], (3 * m[0], np.sqrt(9 * S[0, 0] + 1))) and close(said["y", "0"], (3 * m[0], np.sqrt(9 * S[0, 0] + 2)))
            and close(said["y", "1"], (m[2], np.sqrt(S[2, 2] + 1))))


@holds
def elements_beyond():
    """A `let` that reads an element which is not there is left out, with a note; in a statement it is an error that has the number of the text."""
    text = "model m { plate n; plate k%s; mu[k] ~ Normal(mean = 0, sd = 10); data of[n] : k; observe x[n] ~ Normal(mean = mu[of[n]], sd = 1); %s }"
    data = {"d.csv": "of,x\n1,2\n2,3\n"}
    with temporary({"m.lehr": text % (" from 1", "let far = mu[7]; let last = mu[2];"), **data}) as d:
        lehr("fit", f"{d}/m.lehr", "--data", f"{d}/d.csv", "--out", f"{d}/o", code=None)
        predicted = lehr("predict", f"{d}/o", "--data", f"{d}/d.csv", "--out", f"{d}/p.csv", code=None)
        lets = {row["variable"]: float(row["mean"]) for row in read_csv(f"{d}/p.csv")}
    far, _ = run(text % (" from 1", "observe z ~ Normal(mean = mu[7], sd = 1);"), data | {"z.json": '{"z": 1}'})
    return ("far" not in lets and close(lets["last"], 3 / 1.01) and "'far' is not predicted: it reads mu[7]" in predicted.stderr
            and far.returncode and "mu is indexed by 7, but plate 'k' has 2 elements" in far.stderr)


@holds
def bags_from_one():
    """Terms that a bag of words numbers from 1 are no columns of a matrix, which have no numbers."""
    counts = "model m { plate doc; plate term from 1; p ~ Dirichlet(concentration = 1) over term; observe x[doc] ~ Multinomial(p) over term; }"
    words = """model m { plate doc; plate token in doc times count; plate term from 1; p ~ Dirichlet(concentration = 1) over term;
      observe w[doc, token] ~ Categorical(p); }"""
    svm = "0 1:2 3:1\n0 2:4\n"
    with temporary({"x.ldac": "2 1:2 3:1\n1 2:4\n", "x.svm": svm, "c.lehr": counts, "w.lehr": words}) as d:
        got = []
        for model, name in [("c", "x"), ("w", "w")]:
            for kind in ("ldac", "svm"):
                done = lehr("fit", f"{d}/{model}.lehr", "--data", f"{name}={d}/x.{kind}", "--out", f"{d}/{model}{kind}", code=None)
                assert done.returncode == 0, done.stderr
                got.append(arrays(f"{d}/{model}{kind}/posterior.npz")["p.concentration"])
    return all(close(p, [3, 5, 2]) for p in got)


@holds
def shown_by_row():
    """Elements of nested plates are shown by their row and their number in it; a column that is called as a plate, but not asked for, is passed over."""
    text = """model m { plate id; plate t in id ordered; plate arm; data of[id] : arm; m[arm] ~ Normal(mean = 0, sd = 1);
      x[id, t] ~ Normal(mean = x[id, t-1], sd = 1) start Normal(mean = m[of[id]], sd = 2); observe y[id, t] ~ Normal(mean = x[id, t], sd = 0.5); }"""
    with temporary({"m.lehr": text, "d.csv": "id,t,of,arm,y\nb,0,1,7,2\nb,1,1,7,3\na,0,0,7,1\n"}) as d:
        lehr("fit", f"{d}/m.lehr", "--data", f"{d}/d.csv", "--save-locals", "--out", f"{d}/out", "--quiet")
        show = lambda *options: lehr("show", f"{d}/out", "x", *options).stdout
        rows = list(csv.DictReader(show("--format", "csv").splitlines()))
        x = np.load(f"{d}/out/posterior.npz")["x.mean"]
        entries = json.loads(show("--format", "json"))
        said = [line.split()[:3] for line in show().splitlines()[1:]]
    return ([(r["id"], r["t"]) for r in rows] == [("b", "0"), ("b", "1"), ("a", "0")] and close([float(r["mean"]) for r in rows], x)
            and [e["index"] for e in entries] == [{"id": "b", "t": 0}, {"id": "b", "t": 1}, {"id": "a", "t": 0}]
            and said == [["b,", "t", "0"], ["b,", "t", "1"], ["a,", "t", "0"]])


@holds
def carriage():
    """The model of a table with a line for each visit, by the sum over the 32 paths of each child."""
    lines = read_csv("models/data/sequences/bacteria.csv")
    got = fit("models/sequences/carriage.lehr", ["models/data/sequences/bacteria.csv"], *TIGHT, "--restarts", "3")
    q, arms = got.posterior, ["active", "placebo"]
    from_beta = lambda a, b: (digamma(a) - digamma(a + b), digamma(b) - digamma(a + b))
    pi, A = (digamma(q[n]) - digamma(q[n].sum(-1, keepdims=True)) for n in ("pi.concentration", "A.concentration"))
    yes, no = from_beta(q["p.a"], q["p.b"])
    new = {"pi": np.ones(2), "A": np.ones((2, 2, 2)), "p": np.ones((2, 2))}  # of p: n, y
    elbo = 0
    for child in dict.fromkeys(line["child"] for line in lines):
        visits = [line for line in lines if line["child"] == child]
        arm = arms.index(visits[0]["treated"])
        paths = list(itertools.product(range(2), repeat=len(visits)))
        logs = [pi[s[0]] + sum(A[arm, i, j] for i, j in zip(s, s[1:]))
                + sum({"y": yes, "n": no, "": np.zeros(2)}[v["bacteria"]][i] for i, v in zip(s, visits)) for s in paths]
        elbo += logsumexp(logs)
        for s, weight in zip(paths, np.exp(logs - logsumexp(logs))):
            new["pi"][s[0]] += weight
            for i, j in zip(s, s[1:]):
                new["A"][arm, i, j] += weight
            for i, v in zip(s, visits):
                if v["bacteria"]:
                    new["p"][i, "ny".index(v["bacteria"])] += weight
    for a in [q["pi.concentration"], *q["A.concentration"].reshape(4, 2), *np.column_stack([q["p.a"], q["p.b"]])]:  # minus KL from all ones
        elbo += gammaln(a).sum() - gammaln(a.sum()) - (a - 1) @ (digamma(a) - digamma(a.sum()))
    return (close(got.elbo, elbo, 1e-8) and close(q["pi.concentration"], new["pi"], 1e-5) and close(q["A.concentration"], new["A"], 1e-5)
            and close(np.column_stack([q["p.b"], q["p.a"]]), new["p"], 1e-5))


@holds
def power_prior():
    """Groups that count as a tenth: the evidence by quadrature, and no past at all with a weight of 0."""
    weight, y, n = np.loadtxt("models/data/hierarchical/rat_tumours.csv", delimiter=",", skiprows=1)[:, [2, 0, 1]].T
    got = fit("models/hierarchical/power_prior.lehr", ["models/data/hierarchical/rat_tumours.csv"])
    evidence = quad(lambda p: np.exp(weight @ binom.logpmf(y, n, p) + 20), 0, 1, epsabs=0, epsrel=1e-11, points=[0.17])[0]
    alone = fit("models/hierarchical/power_prior.lehr", {"weight": (weight == 1) * 1.0, "tumours": y, "rats": n})
    return close(got.elbo, np.log(evidence) - 20, 1e-8) and close(alone.posterior["p.a"], 5) and close(alone.posterior["p.b"], 11)


@holds
def words_and_numbers():
    """Two words as Bernoulli; elements that are numbered from 1."""
    text = "model m { plate n; p ~ Beta(1, 1); observe y[n] ~ Bernoulli(p); }"
    done, words = run(text, {"d.csv": "y\nyes\nno\nyes\n\nyes\n"})
    done2, truth = run(text, {"d.json": {"y": [True, False, True, None, True]}})
    assert not done.returncode and not done2.returncode, (done.stderr, done2.stderr)
    assert close(words["p.a"], 4) and close(words["p.b"], 2) and close(truth["p.a"], 4) and "'no' is 0 and 'yes' is 1" in done.stderr
    users = "model m { plate r; plate u%s; data of[r] : u; m[u] ~ Normal(mean = 0, sd = 1); observe y[r] ~ Normal(mean = m[of[r]], sd = 1); }"
    table = {"d.csv": "of,y\n1,2\n2,3\n3,1\n"}
    silent, _ = run(users % "", table)
    outside, _ = run(users % " = 3", table)
    return ("element 0 of plate 'u' does not occur" in silent.stderr and not silent.returncode
            and outside.returncode and "of begins at 1: declare it, `plate u = 3 from 1;`" in outside.stderr)


@holds
def dawid_skene():
    """Elements that are numbered from 1: the equations of the fixed point and its bound, written out."""
    got = fit("models/mixtures/dawid_skene.lehr", ["models/data/mixtures/anaesthetists.csv", "models/data/mixtures/honest_graders.json"], *TIGHT, "--restarts", "5")
    patient, observer, grade = np.loadtxt("models/data/mixtures/anaesthetists.csv", delimiter=",", skiprows=1, dtype=int).T - 1
    q, expected = got.posterior, np.full((4, 4), 1.06666667) + np.eye(4) * (4.8 - 1.06666667)
    log_of = lambda a: digamma(a) - digamma(a.sum(-1, keepdims=True))
    says, pi = log_of(q["says.concentration"]), log_of(q["pi.concentration"])
    logs = np.tile(pi, (45, 1))
    for p, o, g in zip(patient, observer, grade):
        logs[p] += says[o, :, g]
    truth = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
    counts = np.tile(expected, (5, 1, 1))
    for p, o, g in zip(patient, observer, grade):
        counts[o, :, g] += truth[p]
    elbo = logsumexp(logs, axis=1).sum()
    for a, prior in [(q["pi.concentration"], np.full(4, 3.0)), *zip(q["says.concentration"].reshape(-1, 4), np.tile(expected, (5, 1)))]:
        elbo += gammaln(a).sum() - gammaln(a.sum()) - gammaln(prior).sum() + gammaln(prior.sum()) - (a - prior) @ log_of(a)
    return (q["truth.probs"].shape == (45, 4) and close(q["truth.probs"], truth, 1e-5) and close(q["says.concentration"], counts, 1e-5)
            and close(q["pi.concentration"], 3 + truth.sum(0), 1e-5) and close(got.elbo, elbo, 1e-8))


@holds
def numbered_from():
    """Years from 1851: in the data, in the text, in what is shown, simulated and predicted."""
    text = """model m { plate n; plate year%s; data at[n] : year; m[year] ~ Normal(mean = 0, sd = 2); observe y[n] ~ Normal(mean = m[at[n]], sd = 1);
      observe first ~ Normal(mean = m[%d], sd = 0.5); }"""
    table = lambda years: "at,y\n" + "".join(f"{years + k},{y}\n" for k, y in [(0, 1.5), (2, -1), (1, 0.25), (2, 3)])
    with temporary({"m.lehr": text % (" from 1851", 1852), "o.lehr": text % ("", 1), "d.csv": table(1851), "o.csv": table(0), "f.json": '{"first": 0.75}',
                    "new.csv": "at,y\n1853,\n1851,\n", "early.csv": table(1850), "late.csv": "at,y\n1854,1\n", "less.lehr": text % (" from 1851", 1850)}) as d:
        call = lambda *words: lehr(*words, code=None, cwd=d)
        one = call("fit", "m.lehr", "--data", "d.csv", "--data", "f.json", "--out", "one")
        other = call("fit", "o.lehr", "--data", "o.csv", "--data", "f.json", "--out", "other")
        early = call("fit", "m.lehr", "--data", "early.csv", "--data", "f.json", "--out", "early")
        less = call("check", "less.lehr")
        derived = call("derive", "m.lehr").stdout
        shown = [line.split() for line in call("show", "one", "m").stdout.splitlines()]
        late = call("predict", "one", "--data", "late.csv", "--out", "late.csv")
        predicted = call("predict", "one", "--data", "new.csv", "--out", "p.csv")
        means = [float(row["mean"]) for row in read_csv(f"{d}/p.csv") if row["variable"] == "y"]
        simulated = call("simulate", "m.lehr", "--data", "at=d.csv:at", "--out", "s.json")
        again = read_json(f"{d}/s.json")
        a, b = (arrays(f"{d}/{name}/posterior.npz") for name in ("one", "other"))
        same, mean = all(close(a[k], b[k]) for k in ("m.mean", "m.precision")), a["m.mean"]
    if one.returncode or other.returncode or predicted.returncode or simulated.returncode:
        print(one.stderr, other.stderr, predicted.stderr, simulated.stderr)
        return False
    rows = {line[0]: float(line[1]) for line in shown if line and line[0].startswith("18")}
    return (same and close([rows["1851"], rows["1852"], rows["1853"]], mean, 1e-3) and close(means, [mean[2], mean[0]])
            and "E[m[1852]]" in derived and "[year = 1852]" in derived and again["at"] == [1851, 1853, 1852, 1853] and "at[0] is 1850, but it must be the number of an element of plate 'year' (1851, 1852, ...)" in early.stderr
            and "whole numbers from 1851" in less.stderr and late.returncode and "has not seen" in late.stderr)


@holds
def numbered_within_rows():
    """Casks from 1 within batches from 1: what is shown, and what is refused, has the numbers of the data."""
    text = """model m { plate batch from 1; plate cask in batch from 1; plate n; data batch_of[n] : batch; data cask_of[n] : cask;
      b[batch, cask] ~ Normal(mean = 0, sd = 2); observe y[n] ~ Normal(mean = b[batch_of[n], cask_of[n]], sd = 1); }"""
    with temporary({"m.lehr": text, "d.csv": "batch_of,cask_of,y\n1,1,1\n1,2,2\n2,1,3\n", "e.csv": "batch_of,cask_of,y\n1,3,1\n"}) as d:
        call = lambda *words: lehr(*words, code=None, cwd=d)
        done = call("fit", "m.lehr", "--data", "d.csv", "--out", "o")
        shown, rows = call("show", "o", "b").stdout, call("show", "o", "b", "--format", "csv").stdout
        beyond = call("score", "o", "--data", "e.csv").stderr
    return (done.returncode == 0 and ["1,", "cask", "2", "1.6"] in [line.split()[:4] for line in shown.splitlines()] and "b,2,1,2.4" in rows
            and "cask_of[0] is 3, but batch 1 has 2 elements" in beyond)


@holds
def calibrated_from_one():
    """Categories whose values are numbered from 1 are the same when they are simulated, drawn and counted."""
    text = """model m { plate n; plate k = 2%s; pi ~ Dirichlet(concentration = 1) over k; mu[k] ~ Normal(mean = 0, sd = 10);
      z[n] ~ Categorical(pi); observe x[n] ~ Normal(mean = mu[z[n]], sd = 1); }"""
    with temporary() as d:
        said = []
        for name, clause in [("zero", ""), ("one", " from 1")]:
            write(f"{d}/{name}.lehr", text % clause)
            for more in ([], ["--geweke"]):
                done = lehr("calibrate", f"{name}.lehr", "--sizes", "n=6", "--simulations", "20", *more, code=None, cwd=d)
                said.append((done.returncode, done.stdout.replace(name, "")))
    return said[0] == said[2] and said[1] == said[3] and said[0][0] == 0


@holds
def words_of_a_fit():
    """New data have the words of the fit, also where they have one of them alone; another word is an error."""
    with temporary({"m.lehr": "model m { plate n; p ~ Beta(1, 1); observe y[n] ~ Bernoulli(p); }", "d.csv": "y\nyes\nno\nyes\nyes\n",
                    "one.csv": "y\nyes\nyes\n", "other.csv": "y\nmaybe\nno\n"}) as d:
        lehr("fit", f"{d}/m.lehr", "--data", f"{d}/d.csv", "--out", f"{d}/out")
        score = lambda file: lehr("score", f"{d}/out", "--data", f"{d}/{file}", code=None)
        one, other = score("one.csv"), score("other.csv")
        write(f"{d}/n.csv", "y\n1\n0\n1\n")
        lehr("fit", f"{d}/m.lehr", "--data", f"{d}/n.csv", "--out", f"{d}/numbers")
        words = lehr("score", f"{d}/numbers", "--data", f"{d}/other.csv", code=None)
        lehr("update", f"{d}/out", "--data", f"{d}/one.csv", "--out", f"{d}/more")
        a = np.load(f"{d}/more/posterior.npz")["p.a"]
    return (f"{2 * np.log(4 / 6):.6f} of 2" in one.stdout and other.returncode and "is neither '0' nor '1'" in words.stderr
            and "'maybe' is neither 'no' nor 'yes', the words that y had in the fit" in other.stderr and close(a, 6))


def refused(text, table, *parts):
    """The message has all of the parts."""
    done, _ = run(text, {"d.csv": table})
    return done.returncode in (3, 4) and all(part in done.stderr for part in parts)


@holds
def lines_that_say_too_little():
    """Steps without rows are no lengths; dates and fractions are no steps; names of too many digits; more values than there are names."""
    walk = """model m { plate id; plate t in id ordered;
      x[id, t] ~ Normal(mean = x[id, t-1], sd = 0.5) start Normal(mean = 1, sd = 2); observe y[id, t] ~ Normal(mean = x[id, t], sd = 0.7); }"""
    people = """model m { plate n; plate person; plate arm; data of[n] : person; data arm_of[person] : arm; m[arm] ~ Normal(mean = 0, sd = 1);
      observe y[n] ~ Normal(mean = m[arm_of[of[n]]], sd = 1); }"""
    of = "of,y\nzoe,1\nbob,2\nzoe,3\n"
    done, _ = run(people, {"d.csv": of, "e.csv": "arm_of\nT\nC\n"})
    return (refused(walk, "subject,t,y\na,0,1\na,1,2\na,2,3\nb,0,1\nb,1,2\nb,2,3\n", "nothing says which id each line belongs to", "FILE:COLUMN")
            and refused(walk, "id,t,y\na,2021-01-01,1\na,2021-01-05,2\n", "steps of each id are whole numbers")
            and refused(walk, "id,t,y\na,0.5,1\na,1.5,2\n", "steps of each id are whole numbers")
            and refused(walk, "id,y\n12345678901234567,1\n12345678901234568,2\n", "not told apart")
            and refused(people, "of,arm_of,y\nzoe,T,1\nbob,C,2\nzoe,T,3\n", "arm_of has 3 values, but the data name 2 elements of plate 'person'")
            and not done.returncode and "arm_of are taken in the order of the names of plate 'person': 'bob'" in done.stderr)


@holds
def places_without_order():
    """The second column of a plate that is not ordered is no number of a step; columns of vectors are matched by their names."""
    text = "model m { plate id; plate t in id; plate q; p[q] ~ Beta(1, 1); observe y[id, t] ~ Bernoulli(p) over q; }"
    with temporary({"m.lehr": text, "d.csv": "id,t,a,b\nx,jan,0,1\nx,feb,0,1\ny,jan,0,1\n", "e.csv": "id,t,b,a\nz,jan,1,0\n"}) as d:
        table = lambda file, columns: ["--data", f"y={d}/{file}:{columns}", "--data", f"id={d}/{file}:id", "--data", f"t={d}/{file}:t"]
        lehr("fit", f"{d}/m.lehr", *table("d.csv", "a,b"), "--out", f"{d}/out", "--quiet")
        said = [lehr("score", f"{d}/out", *table("e.csv", columns)).stdout for columns in ["a,b", "b,a"]]
        p = np.load(f"{d}/out/posterior.npz")
    return close(p["p.a"], [1, 4]) and said[0] == said[1] and f"{2 * np.log(4 / 5):.6f}" in said[0]


@holds
def copies_of_steps():
    """Steps of a latent chain that count as several are refused, of an observed one they are powers; so are fractions of draws."""
    chain = """model m { plate g; plate t in g ordered times w; data w[g, t] : real; a ~ Normal(mean = 0, sd = 1);
      %s[g, t] ~ Normal(mean = a * %s[g, t-1], sd = 0.5) start Normal(mean = 0, sd = 2); %s }"""
    table = "g,t,w,y\na,0,0.5,1\na,1,2,1.5\nb,0,1,2\n"
    latent = chain % ("x", "x", "observe y[g, t] ~ Normal(mean = x[g, t], sd = 0.7);")
    done, seen = run(chain % ("observe y", "y", ""), {"d.csv": table}, "--tol", "1e-12")
    mixture = """model m { plate n times w; data w[n] : real; plate k = 2; pi ~ Dirichlet(concentration = 1) over k; mu[k] ~ Normal(mean = 0, sd = 1);
      z[n] ~ Categorical(pi); observe y[n] ~ Normal(mean = mu[z[n]], sd = 1); }"""
    with temporary({"m.lehr": mixture, "d.csv": "w,y\n0.5,1\n1,2\n"}) as d:
        draws = lehr("fit", f"{d}/m.lehr", "--data", f"{d}/d.csv", "--out", f"{d}/out", "--method", "gibbs", code=None)
    return (refused(latent, table, "'x' is a chain over 't'", "`times` on their plate, 'g'") and not done.returncode
            and close(seen["a.precision"], 1 + 4 * 2 * 1) and close(seen["a.mean"], 4 * 2 * 1.5 / 9)
            and draws.returncode == 4 and "'w' has weights that are no whole numbers, and 'z' is drawn" in draws.stderr)


@holds
def updates_after_locals():
    """The items of new data are others than those whose factors were saved."""
    text = """model m { plate n; plate k = 2; pi ~ Dirichlet(concentration = 1) over k; mu[k] ~ Normal(mean = 0, sd = 3); z[n] ~ Categorical(pi);
      e[n] ~ Normal(mean = mu[z[n]], sd = 1); observe y[n] ~ Normal(mean = e[n], sd = 0.5); }"""
    with temporary({"m.lehr": text, "d.csv": "y\n-2\n-1.8\n2.2\n2\n1.9\n", "e.csv": "y\n-2.1\n2.4\n"}) as d:
        ends = []
        for locals_too in [[], ["--save-locals"]]:
            lehr("fit", f"{d}/m.lehr", "--data", f"{d}/d.csv", "--out", f"{d}/out", *locals_too)
            lehr("update", f"{d}/out", "--data", f"{d}/e.csv", "--out", f"{d}/more")
            ends.append(np.load(f"{d}/more/posterior.npz")["mu.mean"])
    return close(ends[0], ends[1], 1e-6)


@holds
def columns_of_words():
    """Columns of text, as one array, share their words: as answers with names, and as 0 and 1; numbers beside them are an error."""
    with temporary({"a.lehr": "model a { plate n; plate item; plate answer; p[item] ~ Dirichlet(concentration = 1) over answer; observe x[n, item] ~ Categorical(p[item]); }",
                    "b.lehr": "model b { plate n; plate item; p[item] ~ Beta(1, 1); observe x[n, item] ~ Bernoulli(p[item]); }",
                    "d.csv": "first,second,age\nno,maybe,3\nyes,no,4\nno,,5\n", "b.csv": "first,second\nno,no\nno,yes\nno,yes\n"}) as d:
        fits = lambda model, data: lehr("fit", f"{d}/{model}.lehr", "--data", f"x={d}/{data}", "--out", f"{d}/{model}", code=None)
        assert not fits("a", "d.csv:first,second").returncode and not fits("b", "b.csv:first,second").returncode
        a, b = np.load(f"{d}/a/posterior.npz")["p.concentration"], np.load(f"{d}/b/posterior.npz")
        labels = read_json(f"{d}/a/fit.json")["labels"]
        mixed = fits("a", "d.csv:first,age")
    return (close(a, [[1, 3, 2], [2, 2, 1]]) and labels == {"answer": ["maybe", "no", "yes"], "item": ["first", "second"]}
            and close(b["p.a"], [1, 3]) and close(b["p.b"], [4, 2]) and mixed.returncode and "columns of text are bound without columns of numbers" in mixed.stderr)


@holds
def zeros_in_transitions():
    """States that cannot follow each other, as data: the sum over the paths that there are."""
    A, mu = np.array([[0.7, 0.3, 0], [0, 0.6, 0.4], [0.5, 0, 0.5]]), np.array([-2.0, 0.0, 2.0])
    y = RNG.normal(size=12) + np.repeat(mu, 4)
    got = fit("""model m { plate t ordered; plate k; plate j = k; data A[k] : simplex over k; data p0 : simplex over k; data mu[k] : real;
      s[t] ~ Categorical(A[s[t-1]]) start Categorical(p0); observe y[t] ~ Normal(mean = mu[s[t]], sd = 1); }""".replace("plate j = k; ", ""),
              {"A": A, "p0": [1.0, 0.0, 0.0], "mu": mu, "y": y}, *TIGHT)
    with np.errstate(divide="ignore"):
        a = np.log([1.0, 0, 0]) + norm.logpdf(y[0], mu, 1)
        for v in y[1:]:
            a = logsumexp(a[:, None] + np.log(A), axis=0) + norm.logpdf(v, mu, 1)
    return close(got.elbo, logsumexp(a), 1e-8) and np.all(np.isfinite(got.posterior["s.probs"])) and got.posterior["s.probs"][0, 1] == 0


@holds
def zeros_in_concentrations():
    """Transitions that are learned, of which a concentration of 0 forbids some: they never have mass, also in forecasts; a row of three
    of which one is 0 is a row of two."""
    c = [[1.0, 1, 0], [0, 1, 1], [0, 0, 1]]
    y = RNG.normal(size=(3, 12)) + np.repeat([-2.0, 0.0, 2.0], 4)
    got = fit("""model m { plate s; plate t ordered; plate k; data c[k] : vector over k; data p0 : simplex over k; data mu[k] : real;
      A[k] ~ Dirichlet(concentration = c[k]) over k; z[s, t] ~ Categorical(A[z[s, t-1]]) start Categorical(p0);
      observe y[s, t] ~ Normal(mean = mu[z[s, t]], sd = 1); }""", {"c": c, "p0": [1.0, 0, 0], "mu": [-2.0, 0, 2], "y": y}, *TIGHT)
    z, A = got.posterior["z.probs"], got.posterior["A.concentration"]
    known = np.array([0, 0, 0, 1, 2, 1, 1])
    text = "model m { plate n; plate k; data c : vector over k; p ~ Dirichlet(concentration = c) over k; observe x[n] ~ Categorical(p); }"
    three = fit(text, {"c": [1.0, 0, 2, 3], "x": np.array([0, 0, 0, 2, 3, 2, 2])}, *TIGHT)
    two = fit(text, {"c": [1.0, 2, 3], "x": known}, *TIGHT)
    return (np.all(A[np.array(c) == 0] < 1e-3) and np.all(z[:, 0, 1:] == 0) and np.all(z[:, 1, 2] == 0)
            and close(A.sum(), np.sum(c) + 3 * 11, 1e-3) and close(three.elbo, two.elbo, 1e-4))


@holds
def zeros_of_two_distributions():
    """Two distributions with the same array of concentrations forbid the same transitions as with an array each."""
    c = [[1.0, 1, 0], [0, 1, 1], [0, 0, 1]]
    data = {"c": c, "d": c, "p0": [1.0, 0, 0], "mu": [-2.0, 0, 2], "y": RNG.normal(size=12) + np.repeat([-2.0, 0.0, 2.0], 4), "w": RNG.normal(size=12)}
    text = """model m { plate t ordered; plate k; data c[k] : vector over k; data d[k] : vector over k; data p0 : simplex over k; data mu[k] : real;
      A[k] ~ Dirichlet(concentration = c[k]) over k; B[k] ~ Dirichlet(concentration = %s[k]) over k;
      z[t] ~ Categorical(A[z[t-1]]) start Categorical(p0); observe y[t] ~ Normal(mean = mu[z[t]], sd = 1);
      v[t] ~ Categorical(B[v[t-1]]) start Categorical(p0); observe w[t] ~ Normal(mean = mu[v[t]], sd = 1); }"""
    own, shared = fit(text % "d", data, *TIGHT), fit(text % "c", data, *TIGHT)
    return close(shared.elbo, own.elbo, 1e-9) and np.all(shared.posterior["B.concentration"][np.array(c) == 0] < 1e-3)


@holds
def zeros_against_data():
    """Data that go back where a concentration of 0 forbids it: no start and no draw gives the transition mass, and every way back is
    paid for in the ELBO. Coordinate ascent by hand: forward and backward over expected logarithms, counts into the one row that has
    two entries."""
    y, m, sd = np.tile(np.repeat([0.0, 1.0], 10), 2) + RNG.normal(scale=0.1, size=40), np.array([0.0, 1.0]), 0.5
    text = """model absorbing { plate t ordered; plate k = 2; plate to = k; const a[k, to]; const first[k]; const m[k];
      A[k] ~ Dirichlet(concentration = a[k]) over to; s[t] ~ Categorical(A[s[t-1]]) start Categorical(first);
      observe y[t] ~ Normal(mean = m[s[t]], sd = 0.5); }"""
    data = {"a": [[1, 1], [0, 1]], "first": [1, 0], "m": m, "y": y}
    e, row = norm.logpdf(y[:, None], m, sd), np.ones(2)
    for _ in range(200):
        log_A = np.array([digamma(row) - digamma(row.sum()), [-1e4, 0]])
        f = [np.array([e[0, 0], -np.inf])]
        for v in e[1:]:
            f.append(logsumexp(f[-1][:, None] + log_A, axis=0) + v)
        b, counts = np.zeros(2), np.zeros((2, 2))
        for t in range(len(y) - 1, 0, -1):
            pair = f[t - 1][:, None] + log_A + (e[t] + b)[None]
            counts += np.exp(pair - logsumexp(pair))
            b = logsumexp(log_A + (e[t] + b)[None], axis=1)
        bound = logsumexp(f[-1]) - (gammaln(row.sum()) - gammaln(row).sum() + (row - 1) @ log_A[0])
        row = 1 + counts[0]
    for how in ([], ["--seed", "2"], ["--search", "quick"]):
        got = fit(text, data, "--tol", "1e-13", *how, monotone="--search" not in how)
        if not (close(got.posterior["A.concentration"], [row, [0, 1 + counts[1, 1]]], 1e-3) and abs(got.elbo - bound) < 1e-3):
            print(got.posterior["A.concentration"], row, got.elbo, bound)
            return False
    drawn = fit(text, data, "--method", "gibbs", monotone=False)
    return drawn.posterior["A.mean"][1, 0] < 1e-3


@holds
def zeros_that_data_force():
    """Observations that no path explains which does not go back: it is paid for once, and nothing is learned of it."""
    text = """model m { plate t ordered; plate k = 2; plate to = k; const a[k, to]; const first[k]; const m[k];
      A[k] ~ Dirichlet(concentration = a[k]) over to; s[t] ~ Categorical(A[s[t-1]]) start Categorical(first);
      observe y[t] ~ Normal(mean = m[s[t]], sd = 0.5); }"""
    y = np.array([0, 0, 200, 200, 0, 0, 200, 200])
    got = fit(text, {"a": [[1, 1], [0, 1]], "first": [1, 0], "m": [0, 200], "y": y}, *TIGHT)
    paths = gammaln(3) + gammaln(3) - gammaln(6)  # two steps each way from the first state, under a flat prior
    return (abs(got.elbo - (paths + 8 * norm.logpdf(0, 0, 0.5) - 1e4)) < 1e-3
            and close(got.posterior["A.concentration"], [[3, 3], [0, 3]], 1e-3))


@holds
def different_numbers_of_values():
    """Rows of concentrations of different lengths: the evidence of each item by itself, of categories that an index picks and of counts;
    values that there are not are errors, steps of a series too."""
    def evidence(a, n):
        a, n = np.array(a, float), np.array(n[:len(a)])
        return gammaln(a.sum()) - gammaln((a + n).sum()) + (gammaln(a + n) - gammaln(a)).sum()

    a = [[1.0, 2], [0.5, 0.5, 1, 2], [3.0], [1, 1, 1]]
    of = RNG.integers(0, 4, size=60)
    y = np.array([RNG.integers(0, len(a[i])) for i in of])
    counts = np.array([[np.sum((of == i) & (y == k)) for k in range(4)] for i in range(4)])
    wanted = sum(evidence(a[i], counts[i]) for i in range(4))
    text = """model m { plate n; plate item; plate answer; data of[n] : item; const a[item, answer];
      p[item] ~ Dirichlet(concentration = a[item]) over answer; observe y[n] ~ Categorical(p[of[n]]); }"""
    one = fit(text, {"a": a, "of": of, "y": y}, *TIGHT)
    rows = fit("""model m { plate item; plate answer; const a[item, answer];
      p[item] ~ Dirichlet(concentration = a[item]) over answer; observe y[item] ~ Multinomial(p[item]) over answer; }""",
               {"a": a, "y": counts}, *TIGHT)
    multiplicities = sum(gammaln(c.sum() + 1) - gammaln(c + 1).sum() for c in counts)
    counts[0, 3] = 1
    steps = """model m { plate s; plate t in s ordered; plate k; plate next = k; const a[k, next]; A[k] ~ Dirichlet(concentration = a[k]) over next;
      observe x[s, t] ~ Categorical(A[x[s, t-1]]) start Uniform() over k; }"""
    fit(steps, {"a": [[1, 1], [0, 1, 1], [1]], "x": [[0, 1, 2, 0], [2, 0, 0], [1, 1, 2]]}, *TIGHT)
    torn = run(steps, {"d.json": {"a": [[1, 1], [0, 1, 1], [1]], "x": [[0, 1, 2, 0], [0, 2, 0]]}})[0]
    assert "x[1, 1] is 2" in torn.stderr
    refused = [run(text, {"d.json": {"a": a, "of": of.tolist(), "y": np.where(of == 2, 1, y).tolist()}})[0],
               run("model m { plate item; plate answer; const a[item, answer]; p[item] ~ Dirichlet(concentration = a[item]) over answer;"
                   "observe y[item] ~ Multinomial(p[item]) over answer; }", {"d.json": {"a": a, "y": counts.tolist()}})[0]]
    return (close([one.elbo, rows.elbo], [wanted, wanted + multiplicities], 1e-4)
            and all(p.returncode == 4 and "never has mass" in p.stderr for p in refused) and "y[0, 3] is 1" in refused[1].stderr)


@holds
def elements_of_nested_plates():
    """Rooms are numbered within their houses, whose sizes follow from a table: each has the posterior of a Normal mean. A house names the
    room that its meter is in."""
    text = """model m { plate house; plate room in house; plate n; data of[n] : house; data at[n] : room; data metered[house] : room;
      heat[house, room] ~ Normal(mean = 1, sd = 2); observe y[n] ~ Normal(mean = heat[of[n], at[n]], sd = 0.5);
      observe meter[house] ~ Normal(mean = heat[house, metered[house]], sd = 0.25); }"""
    sizes = [2, 1, 3]
    rooms = [(h, r) for h, size in enumerate(sizes) for r in range(size)]
    lines = [(h, r, RNG.normal(h + r)) for h, r in rooms for _ in range(RNG.integers(1, 4))]
    RNG.shuffle(lines)
    table = "of,at,y\n" + "".join(f"{int(h)},{int(r)},{float(y)!r}\n" for h, r, y in lines)
    metered, meter = [1, 0, 1], [0.5, -1.0, 3.0]
    houses = {"houses.json": {"metered": metered, "meter": meter}}
    done, q = run(text, {"rooms.csv": table, **houses}, *TIGHT[2:])
    assert done.returncode == 0
    precision, total = np.full(6, 1 / 4), np.full(6, 1 / 4)
    for h, r, y in lines:
        k = rooms.index((h, r))
        precision[k], total[k] = precision[k] + 4, total[k] + 4 * y
    for h in range(3):
        k = rooms.index((h, metered[h]))
        precision[k], total[k] = precision[k] + 16, total[k] + 16 * meter[h]
    assert close(q["heat.precision"].ravel(), precision) and close(q["heat.mean"].ravel(), total / precision)
    beyond, _ = run(text, {"rooms.csv": table, "houses.json": {"metered": [2, 0, 1], "meter": meter}})
    words, _ = run(text, {"rooms.csv": "of,at,y\na,hall,1\nb,hall,2\n", "houses.json": {"metered": [0, 0], "meter": [1, 2]}})
    return (beyond.returncode == 4 and "metered[0] is 2, but house 0 has 2 elements of plate 'room'" in beyond.stderr
            and words.returncode == 4 and "at is text" in words.stderr)


@holds
def named_in_rows_of_unequal_length():
    """Members of nets, named by pairs of which some nets have more than others."""
    text = """model m { plate net; plate member in net; plate pair in net; data a[net, pair] : member; data w[net, member] : real;
      u[net, member] ~ Normal(mean = w[net, member], precision = 0.25);
      observe y[net, pair] ~ Normal(mean = u[net, a[net, pair]], precision = 1); }"""
    w, y = [[0.0, 0.5], [1.0, 2.0, 3.0], [4.0]], [[1.0], [2.0, 3.0, 4.0], [5.0, 6.0]]
    run_with = lambda a, y: run(text, {"d.json": {"a": a, "w": w, "y": y}}, *TIGHT[2:])
    done, q = run_with([[1], [2, 0, 1], [0, 0]], y)
    beyond, _ = run_with([[0, 1, 2], [0], [0, 0]], [[1.0, 2.0, 3.0], [4.0], [5.0, 6.0]])
    late, _ = run_with([[1], [2, 0, 1], [0, 1]], y)
    return (done.returncode == 0 and close(q["u.precision"].ravel(), [0.25, 1.25, 1.25, 1.25, 1.25, 2.25])
            and close(q["u.mean"].ravel(), [0, 1.125 / 1.25, 3.25 / 1.25, 4.5 / 1.25, 2.75 / 1.25, 12 / 2.25])
            and beyond.returncode == 4 and "a[0, 2] is 2, but net 0 has 2 elements of plate 'member'" in beyond.stderr
            and late.returncode == 4 and "a[2, 1] is 1, but net 2 has 1 element of plate 'member'" in late.stderr)


@holds
def named_by_what_is_named():
    """The best room of the house of a line: the row is the first index of the data that name the element."""
    text = """model m { plate house; plate room in house; plate n; data of[n] : house; data best[house] : room; data w[house, room] : real;
      heat[house, room] ~ Normal(mean = w[house, best[house]], sd = 1); observe y[n] ~ Normal(mean = heat[of[n], best[of[n]]], sd = 1); }"""
    w, best, of = [[1.0, 2.0], [3.0], [0.5, 1.5, 2.5]], [1, 0, 2], RNG.integers(0, 3, 12)
    y, evidence = RNG.normal(size=12), 0.0
    for house in range(3):
        seen = y[of == house]
        if len(seen):
            evidence += multivariate_normal.logpdf(seen, np.full(len(seen), w[house][best[house]]), np.eye(len(seen)) + 1)
    return close(fit(text, {"of": of, "best": best, "w": w, "y": y}, *TIGHT).elbo, evidence)


@holds
def scores_name_the_same():
    """New lines name rooms of the fit, not others."""
    text = """model m { plate house; plate room in house; plate n; data of[n] : house; data at[n] : room;
      heat[house, room] ~ Normal(mean = 0, sd = 2); observe y[n] ~ Normal(mean = heat[of[n], at[n]], sd = 1); }"""
    with temporary({"m.lehr": text, "fit.csv": "of,at,y\n0,0,1\n0,1,2\n1,0,3\n", "new.csv": "of,at,y\n0,1,2.5\n",
                    "other.csv": "of,at,y\n1,1,2.5\n"}) as d:
        call = lambda *a: lehr(*a, code=None)
        assert not call("fit", f"{d}/m.lehr", "--data", f"{d}/fit.csv", "--out", f"{d}/out").returncode
        new, other = (call("score", f"{d}/out", "--data", f"{d}/{name}.csv") for name in ("new", "other"))
    exact = norm.logpdf(2.5, 2 * 0.8, 1)  # at the posterior mean
    return (abs(float(new.stdout.split("log predictive")[1].split()[0]) - exact) < 1e-5 and other.returncode == 4
            and "house 1 has 1 element of plate" in other.stderr)


@holds
def durations():
    """Phases that count down are segments: the evidence by the recursion over segments, durations known."""
    steps, most = 40, 5
    of, left = np.repeat([0, 1], most), np.tile(np.arange(most), 2)
    lasts = RNG.dirichlet(np.full(most, 2.0), size=2)  # of 1, 2, ... steps
    A = np.zeros((2 * most, 2 * most))
    for s in range(2 * most):
        for r in range(2 * most):
            if left[s]:
                A[s, r] = of[r] == of[s] and left[r] == left[s] - 1
            elif of[r] != of[s]:
                A[s, r] = lasts[of[r], left[r]]
    start = np.concatenate([0.3 * lasts[0], 0.7 * lasts[1]])
    y, mu = RNG.normal(size=steps), np.array([-1.0, 1.0])
    got = fit("""model m { plate t ordered; plate k; plate phase; data of[phase] : k; data A[phase] : simplex over phase; data p : simplex over phase;
      data mu[k] : real; z[t] ~ Categorical(A[z[t-1]]) start Categorical(p); observe y[t] ~ Normal(mean = mu[of[z[t]]], sd = 1); }""",
              {"of": of, "A": A, "p": start, "mu": mu, "y": y}, *TIGHT)
    likelihood = norm.logpdf(y[:, None], mu, 1)
    ends = {(0, k): np.log(p) for k, p in ((1, 0.3), (0, 0.7))}  # of the other state, before the first segment
    total = []
    for t in range(1, steps + 1):
        for k in range(2):
            parts = [ends[t - d, 1 - k] + np.log(lasts[k, d - 1]) + likelihood[t - d:t, k].sum() for d in range(1, min(t, most) + 1)]
            ends[t, k] = logsumexp(parts)
    for k in range(2):  # the last segment may go on
        for d in range(1, most + 1):
            total.append(ends[steps - d, 1 - k] + np.log(lasts[k, d - 1:].sum()) + likelihood[steps - d:, k].sum())
    return close(got.elbo, logsumexp(total), 1e-8)


@holds
def durations_learned():
    """Two states that last about 5 and about 2 steps: what counts down only counts down."""
    got = fit("models/sequences/explicit_durations.lehr", ["models/data/sequences/shifts.json"], "--tol", "1e-10", "--max-iter", "3000", "--search", "quick",
              monotone=False).posterior
    c = np.array(read_json("models/data/sequences/shifts.json")["c"])
    A = got["A.concentration"]
    row = A / A.sum(axis=1, keepdims=True)
    high = int(np.argmax(got["mu.mean"]))
    lasts = [row[6 * (1 - k), 6 * k:6 * k + 6] @ np.arange(1, 7) for k in (high, 1 - high)]
    return np.all(A[c == 0] < 1e-3) and lasts[0] - lasts[1] > 1


@holds
def two_steps_back():
    """An autoregression of order two with known noise: the posterior and the evidence of the regression, row by row."""
    rows = [np.cumsum(RNG.normal(size=20)) * 0.3, np.cumsum(RNG.normal(size=9)) * 0.3]
    got = fit("""model m { plate s; plate t in s ordered; a ~ Normal(mean = 0, sd = 1); b ~ Normal(mean = 0, sd = 1); guide joint(a, b);
      observe x[s, t] ~ Normal(mean = a * x[s, t-1] + b * x[s, t-2], sd = 0.3) start Normal(mean = 0, sd = 2); }""",
              {"x": [r.tolist() for r in rows]}, *TIGHT)
    X = np.vstack([np.column_stack([r[1:-1], r[:-2]]) for r in rows])
    y = np.concatenate([r[2:] for r in rows])
    evidence = multivariate_normal.logpdf(y, np.zeros(y.size), X @ X.T + 0.09 * np.eye(y.size)) + sum(norm.logpdf(r[:2], 0, 2).sum() for r in rows)
    mean = np.linalg.solve(X.T @ X / 0.09 + np.eye(2), X.T @ y / 0.09)
    return close(got.elbo, evidence) and close([got.posterior["a.mean"], got.posterior["b.mean"]], mean)


@holds
def two_steps_back_simulated():
    """What is simulated has the autocorrelations of the process."""
    text = "model m { plate t ordered; observe x[t] ~ Normal(mean = 0.5 * x[t-1] + 0.3 * x[t-2], sd = 1) start Normal(mean = 0, sd = 1); }"
    with temporary({"m.lehr": text}) as d:
        lehr("simulate", f"{d}/m.lehr", "--sizes", "t=100000", "--out", f"{d}/x.npz")
        x = np.load(f"{d}/x.npz")["x"]
    first = np.corrcoef(x[1:], x[:-1])[0, 1]
    return abs(first - 0.5 / 0.7) < 0.02 and abs(np.corrcoef(x[2:], x[:-2])[0, 1] - (0.5 * first + 0.3)) < 0.02


@holds
def vector_autoregression():
    """Hares and lynxes: the equations of the two factors by Kronecker products; the period of the eigenvalues."""
    x = np.loadtxt("models/data/sequences/lynx_hare.csv", delimiter=",", skiprows=1)[:, 1:]
    got = fit("models/sequences/vector_autoregression.lehr", ["x=models/data/sequences/lynx_hare.csv:hare,lynx"], *TIGHT)
    y, z = x[1:], np.column_stack([x[:-1], np.ones(len(x) - 1)])
    df, rate, L = 3 + len(y), None, np.eye(2)
    for _ in range(2000):  # B = [A c], row by row
        S = np.linalg.inv(np.kron(L, z.T @ z) + 0.1 * np.eye(6))
        B = (S @ (L @ y.T @ z).ravel()).reshape(2, 3)
        residual = y - z @ B.T
        spread = np.array([[np.trace(z.T @ z @ S[3 * i:3 * i + 3, 3 * j:3 * j + 3]) for j in range(2)] for i in range(2)])
        rate = 0.1 * np.eye(2) + residual.T @ residual + spread
        L = df * np.linalg.inv(rate)
    w = np.linalg.eigvals(got.posterior["A.mean"])
    return (close(got.posterior["A.mean"], B[:, :2], 1e-6) and close(got.posterior["c.mean"], B[:, 2], 1e-6) and close(got.posterior["Lambda.df"], df)
            and close(np.linalg.inv(got.posterior["Lambda.scale"]), rate, 1e-5) and close(2 * np.pi / np.abs(np.angle(w[0])), 9.69, 1e-3))


finish()
