#!/usr/bin/env python3
"""What `lehr fit` says when it stops early or takes apart what belongs together, and the table of `lehr compare`, against
regressions solved with numpy.

Usage: ends_test.py LEHR, from the root of the repository.
"""
import re
import sys

import numpy

sys.path.append(f"{sys.path[0]}/../../helpers")
from lehr_tests import each, lehr, read_json, write, write_json  # noqa: E402

LINE = """model line { plate n; data x[n] : real; a ~ Normal(mean = 0, precision = 0.01); b ~ Normal(mean = 0, precision = 0.01);
  observe y[n] ~ Normal(mean = a + b * x[n], precision = 4); }
"""
NOISE = """model noise { plate n; data x[n] : real; tau ~ Gamma(shape = 1, rate = 1);
  a ~ Normal(mean = 0, precision = 0.01); b ~ Normal(mean = 0, precision = 0.01);
  observe y[n] ~ Normal(mean = a + b * x[n], precision = tau); }
"""
PLATES = """model plates { plate n; plate d; data x[n, d] : real; data u[n] : real; beta[d] ~ Normal(mean = 0, precision = 0.01);
  c ~ Normal(mean = 0, precision = 1); e ~ Normal(mean = 0, precision = 1);
  observe y[n] ~ Normal(mean = c * u[n] + sum(d) x[n, d] * beta[d], precision = 4);
  observe v[n] ~ Normal(mean = e, precision = 1); }
"""
GROUPS = """model groups { plate g; plate n; mu[g] ~ Normal(mean = 0, precision = 0.01); nu[g] ~ Normal(mean = 0, precision = 0.01);
  data x[n, g] : real; observe y[n, g] ~ Normal(mean = mu[g] + nu[g] * x[n, g], precision = 1); }
"""
random = numpy.random.default_rng(5)


def fit(out, text, data, *more):
    write(f"{out}.lehr", text)
    write_json(f"{out}.json", {name: numpy.asarray(value).tolist() for name, value in data.items()})
    said = lehr("fit", f"{out}.lehr", "--data", f"{out}.json", "--quiet", "--guide", "factorised", "--sds", "factors", "--out", out, *more).stderr
    return read_json(f"{out}/fit.json"), dict(numpy.load(f"{out}/posterior.npz")), said


def coupled(said):
    pattern = r"warning: (\S+) and (\S+) are strongly coupled \((.*)\): their standard deviations are too small"
    return {(a, b): float(r) for a, b, r in re.findall(pattern, said)}


def correlations(h):
    d = numpy.sqrt(numpy.diag(h))
    return numpy.abs(h) / d / d[:, None]


def stopped(d):
    """The ELBO of a Gaussian posterior is a parabola in the means, and its top is where numpy solves for it."""
    x = random.normal(3, 1, size=40)
    y = 1 + 2 * x + random.normal(0, 0.5, size=40)
    design = numpy.stack([numpy.ones(40), x], 1)
    h = 4 * design.T @ design + 0.01 * numpy.eye(2)
    top = numpy.linalg.solve(h, 4 * design.T @ y)
    tolerance = 1e-8
    for sweeps in [8, 20]:
        report, posterior, said = fit(f"{d}/stopped{sweeps}", LINE, {"x": x, "y": y}, "--leap-after", "0", "--max-iter", str(sweeps))
        off = numpy.array([posterior["a.mean"], posterior["b.mean"]]).ravel() - top
        left = 0.5 * off @ h @ off
        assert report["status"] == "max_iter" and left > 1e-6
        numpy.testing.assert_allclose(report["left_to_gain"], left, rtol=1e-3)
        ratio = correlations(h)[0, 1] ** 4  # each sweep multiplies the error of b by the square of the correlation
        wanted = numpy.log(tolerance * (1 + abs(report["elbo"])) / left) / numpy.log(ratio)
        assert abs(report["left_sweeps"] - max(0, wanted)) <= 1, (report["left_sweeps"], wanted)
        assert f"stopped at --max-iter {sweeps} before it converged: about {left:.2g} nats" in said, said
    for sweeps in range(20, 60, 2):
        report, _, said = fit(f"{d}/late", LINE, {"x": x, "y": y}, "--leap-after", "0", "--max-iter", str(sweeps), "--tol", "1e-2")
        assert "about 0 more" not in said and "about 1 more sweeps" not in said, said
        if report.get("left_sweeps") == 0:
            assert "parameters have not" in said, said
            break
    else:
        raise AssertionError("no number of sweeps left nothing to gain")
    report, _, said = fit(f"{d}/whole", LINE, {"x": x, "y": y})
    assert report["status"] == "converged" and "left_to_gain" not in report and "--max-iter" not in said
    report, _, said = fit(f"{d}/short", LINE, {"x": x, "y": y}, "--max-iter", "2")
    assert "left_to_gain" not in report and "cannot be estimated" in said, said
    shown = lambda *more: lehr("fit", f"{d}/whole.lehr", "--data", f"{d}/whole.json", "--out", f"{d}/shown", "--guide", "factorised", *more).stdout
    assert "line: stopped at --max-iter 2 after 2 iterations" in shown("--max-iter", "2")
    assert "line: --epochs 3 done after 3 iterations" in shown("--method", "svi", "--epochs", "3")
    report, _, said = fit(f"{d}/drawn", LINE, {"x": x, "y": y}, "--method", "gibbs", "--draws", "20", "--warmup", "5")
    assert report["status"] == "max_iter" and "left_to_gain" not in report and "before it converged" not in said
    assert "before it converged" not in fit(f"{d}/none", LINE, {"x": x, "y": y}, "--max-iter", "0")[2]


def pairs(d):
    x = random.normal(6, 1, size=50)
    y = 1 + 2 * x + random.normal(size=50)
    for name, covariate, strong in [("far", x, True), ("centred", x - x.mean(), False)]:
        report, q, said = fit(f"{d}/{name}", NOISE, {"x": covariate, "y": y}, "--max-iter", "20000")
        assert report["status"] == "converged", report["status"]
        tau = float(q["tau.shape"] / q["tau.rate"])
        design = numpy.stack([numpy.ones(50), covariate], 1)
        r = correlations(tau * design.T @ design + 0.01 * numpy.eye(2))[0, 1]
        assert (r > 0.9) == strong
        found = coupled(said)
        assert set(found) == ({("a", "b")} if strong else set()), said
        assert not strong or abs(found["a", "b"] - r) < 0.0051, (found, r)
        assert said.count("`guide joint(a, b);` makes them one factor") == strong


def elements(d):
    """Along a plate the strongest pair of elements; what shares no term is not named."""
    base = random.normal(size=60)
    x = numpy.stack([random.normal(size=60), base + random.normal(0, 0.2, 60), base + random.normal(0, 0.3, 60)], 1)
    u = base + random.normal(0, 0.25, 60)
    y = x @ [1, 2, 3] + u + random.normal(0, 0.5, 60)
    report, _, said = fit(f"{d}/plates", PLATES, {"x": x, "u": u, "y": y, "v": random.normal(size=60)}, "--max-iter", "20000")
    assert report["status"] == "converged", report["status"]
    h = 4 * numpy.c_[x, u].T @ numpy.c_[x, u] + numpy.diag([0.01, 0.01, 0.01, 1])
    r = correlations(h)
    best = max(range(3), key=lambda k: r[k, 3])
    found = coupled(said)
    numbers = {frozenset(pair): value for pair, value in found.items()}
    wanted = {frozenset(["beta[1]", "beta[2]"]): r[1, 2], frozenset([f"beta[{best}]", "c"]): r[best, 3]}
    assert min(wanted.values()) > 0.9 and set(numbers) == set(wanted), (found, wanted)
    assert all(abs(numbers[pair] - wanted[pair]) < 0.0051 for pair in wanted), (numbers, wanted)

    x = random.normal(size=(30, 40)) + numpy.linspace(0, 4, 40)  # 1600 pairs, of which 40 stand in terms
    report, _, said = fit(f"{d}/groups", GROUPS, {"x": x, "y": random.normal(size=(30, 40))}, "--max-iter", "20000")
    r = x.sum(0) / numpy.sqrt((30 + 0.01) * ((x ** 2).sum(0) + 0.01))
    k = int(numpy.argmax(r))
    found = coupled(said)
    assert set(found) == {(f"mu[{k}]", f"nu[{k}]")} and abs(found[f"mu[{k}]", f"nu[{k}]"] - r[k]) < 0.0051, (found, r[k])


def vectors(d):
    """A vector and its intercept; the components of the vector have one factor, and are no pair."""
    x = random.normal(size=(80, 2)) + [8, 7]
    y = x @ [1, 2] + random.normal(size=80)
    report, q, said = fit(f"{d}/vectors", open("models/regression/linear_regression.lehr").read(), {"x": x, "y": y}, "--max-iter", "20000")
    assert report["status"] == "converged"
    tau = float(q["tau.shape"] / q["tau.rate"])
    r = correlations(tau * numpy.c_[x, numpy.ones(80)].T @ numpy.c_[x, numpy.ones(80)] + 0.01 * numpy.eye(3))
    assert r[:2, 2].max() > r[0, 1] > 0.9
    k = int(numpy.argmax(r[:2, 2]))
    found = coupled(said)
    assert set(found) == {(f"w[{k}]", "b")} and abs(found[f"w[{k}]", "b"] - r[k, 2]) < 0.0051, (found, r)


PANEL = """model panel { plate u; plate t in u ordered; data x[u, t] : real; phi ~ Normal(mean = 0, sd = 1); beta ~ Normal(mean = 0, sd = 5);
  mu ~ Normal(mean = 0, sd = 5); ta ~ Gamma(shape = 1, rate = 1); tau ~ Gamma(shape = 1, rate = 1); a[u] ~ Normal(mean = mu, precision = ta);
  observe y[u, t] ~ Normal(mean = a[u] + phi * y[u, t-1] + beta * x[u, t], precision = tau) start Normal(mean = 0, sd = 10); }"""
CLUSTERS = """model clusters { plate n; plate k = 3; plate d; pi ~ Dirichlet(concentration = 1) over k; mu[k] ~ MvNormal(mean = 0, precision = 0.01) over d;
  L[k] ~ Wishart(df = 4, scale = 1) over d; z[n] ~ Categorical(pi); observe x[n] ~ MvNormal(mean = mu[z[n]], precision = L[z[n]]); }"""
EMPTY = "model empty { plate n; plate g = 3; data of[n] : g; m[g] ~ Flat(); observe y[n] ~ Normal(mean = m[of[n]], sd = 1); }"


def single(d):
    """From a solution, sweeps in single precision end: what is left to change is rounding."""
    x, y = random.normal(size=(40, 12)), numpy.zeros((40, 12))
    effect = random.normal(size=40)
    for t in range(12):
        y[:, t] = effect + 0.5 * (y[:, t - 1] if t else 0) + 2 * x[:, t] + 0.7 * random.normal(size=40)
    first, _, _ = fit(f"{d}/double", PANEL, {"x": x, "y": y})
    again, _, _ = fit(f"{d}/single", PANEL, {"x": x, "y": y}, "--precision", "float", "--init", f"{d}/double", "--search", "none", "--tol", "1e-10")
    assert again["status"] == "converged" and again["iterations"] <= 6, (again["status"], again["iterations"])
    assert abs(again["elbo"] - first["elbo"]) < 1e-5 * abs(first["elbo"]), (again["elbo"], first["elbo"])


def named(d):
    """A numerical failure names the element that has failed, and a value that is far from all others."""
    def failure(name, text, data):
        write(f"{d}/{name}.lehr", text)
        write_json(f"{d}/{name}.json", {k: numpy.asarray(v).tolist() for k, v in data.items()})
        return lehr("fit", f"{d}/{name}.lehr", "--data", f"{d}/{name}.json", "--quiet", "--search", "none", "--out", f"{d}/{name}", code=5).stderr

    said = failure("empty", EMPTY, {"of": [0, 2, 2], "y": [1.0, 2.0, 3.0]})
    assert "posterior of 'm' is not a proper Normal" in said and ": m[1]" in said, said
    x = random.normal(size=(31, 3))
    x[30] = 1e7
    said = failure("clusters", CLUSTERS, {"x": x})
    assert re.search(r"; x\[30, \d\] lies \de\+0\d times as far from the median", said) and "correct this value" in said, said


def table(d):
    x = random.normal(size=20)
    y = x + random.normal(size=20)
    write_json(f"{d}/held.json", {"x": (x + 1).tolist(), "y": y.tolist()})
    reports = [fit(f"{d}/t{k}", LINE, {"x": x[:n], "y": y[:n]}, *more)[0] for k, (n, more) in
               enumerate([(20, []), (12, ["--max-iter", "3"]), (20, ["--test", f"{d}/held.json"])])]
    lines = lehr("compare", *[f"{d}/t{k}" for k in range(3)]).stdout.splitlines()
    head = re.split(r"\s{2,}", lines[0].strip())
    assert head == ["method", "status", "bound", "held out", "iterations", "seconds", "sizes"], lines
    for k, (line, report) in enumerate(zip(lines[1:], reports)):
        cells = line.split()
        assert cells[0] == f"{d}/t{k}" and cells[1:3] == ["cavi", report["status"]], line
        assert cells[3] == f"{report['elbo']:.6f}" and cells[4] == "ELBO", line
        assert cells[-4] == str(report["iterations"]) and cells[-2:] == ["n", str(report["sizes"]["n"])], line
        assert cells[-3] == f"{report['seconds']['total']:.3g}", line
        assert (len(cells) == 10) == (k == 2), line
    assert f"{reports[2]['held_out']['per_observation']:.6f}" in lines[3]
    lehr("score", f"{d}/t0", "--data", f"{d}/held.json")
    score = read_json(f"{d}/t0/score.json")["per_observation"]
    again = lehr("compare", *[f"{d}/t{k}" for k in range(3)]).stdout.splitlines()
    assert f"{score:.6f}" in again[1], again
    two = lehr("compare", f"{d}/t0", f"{d}/t2").stdout
    assert two.startswith(f"{d}/t0: cavi, {reports[0]['elbo']:.6f}\n{d}/t2: cavi, {reports[2]['elbo']:.6f}\n2 numbers;"), two
    for k, order in enumerate(("ab", "ba")):
        write(f"{d}/labels{k}.csv", "g,y\n" + "".join(f"{g},{1 if g == 'a' else 5}\n" for g in order * 4))
        write(f"{d}/groups.lehr", "model groups { plate n; plate group; data g[n] : group; m[group] ~ Normal(mean = 0, sd = 9);"
              "observe y[n] ~ Normal(mean = m[g[n]], sd = 1); }")
        lehr("fit", f"{d}/groups.lehr", "--data", f"{d}/labels{k}.csv", "--quiet", "--out", f"{d}/groups{k}")
    rows = [line.split() for line in lehr("compare", f"{d}/groups0", f"{d}/groups1").stdout.splitlines()[-2:]]
    assert {r[0] for r in rows} == {"m[a]", "m[b]"} and all(r[1] == r[3] and r[5] == "0" for r in rows), rows
    write(f"{d}/far.csv", "g,y\n" + "".join(f"{g},{20000 + y}\n" for g, y in zip("aab", (1, 2, 5))))
    lehr("fit", f"{d}/groups.lehr", "--data", f"{d}/far.csv", "--quiet", "--out", f"{d}/far")
    shown = lehr("show", f"{d}/far", "m").stdout  # as many digits as the deviations deserve: y 81 n / (81 n + 1)
    assert "a  19878.8 (0.7)" in shown and "b   19761 (0.99)" in shown, shown
    lehr("compare", f"{d}/t0", code=2)
    lehr("compare", f"{d}/t0", f"{d}/t1", f"{d}/nothing", code=4)


each(stopped, pairs, elements, vectors, single, named, table)
