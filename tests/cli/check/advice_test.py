#!/usr/bin/env python3
"""Every line of model text that a message proposes is put into the model, and the model then derives: over all goldens, models
that make the other messages, and data that make the rest. Patterns (text between backticks without a semicolon) stand in a
model here that derives. A place of compiler/ that proposes a line which nothing here makes it say is a failure.

Usage: advice_test.py LEHR, from the root of the repository.
"""
import glob
import json
import os
import re
import sys

import numpy

sys.path.append(f"{sys.path[0]}/../../helpers")
from lehr_tests import arrays, lehr, read, read_json, temporary, write  # noqa: E402

random = numpy.random.default_rng(3)
said_everywhere = []  # all notes, for the search of the places that say them


def run(*arguments, code=None):
    done = lehr(*arguments, code=code)
    said_everywhere.append(done.stderr)
    return done


def written(folder, text, name="model.lehr"):
    return write(f"{folder}/{name}", text.encode(errors="surrogateescape"))


def quoted(note):
    return re.findall(r"`([^`]*)`", note)


def declared(line):
    """The name that a declaration gives; None of a guide."""
    found = re.match(r"(?:observe|plate|data|const|let)?\s*(\w+)", line.strip())
    return None if re.match(r"guide\b|potential\b", line) else found.group(1)


def changed(text, note):
    """The model with the lines of a note, by names alone: an independent hand from that of the program."""
    bare = re.sub(r"//[^\n]*", "", text)
    for line in [q for q in quoted(note) if q.endswith(";")]:
        name = declared(line)
        old = re.compile(rf"(?<=[{{;])\s*(?:observe|plate|data|const|let)?\s*\b{name}\b\s*(?:\[[^\]~=:;]*\])?\s*(?:[~=:;]|in\b|ordered\b|times\b|from\b)[^;]*?;"
                         if not line.startswith("plate") else rf"(?<=[{{;])\s*plate\s+{name}\b[^;]*;") if name else None
        head, end = bare.rsplit("}", 1)
        fixed, n = old.subn("\n  " + line.replace("\\", "\\\\"), head, count=1) if old else (head, 0)
        bare = (fixed if n else head + "  " + line + "\n") + "}" + end
    if gone := re.search(r"in the place of '(\w+)'", note):
        bare = re.sub(rf"(?<=[{{;])\s*{gone.group(1)}\b\s*(?:\[[^\]]*\])?\s*~[^;]*;", "", bare, count=1)
    return bare


def messages(stderr):
    """Each message with its notes."""
    out = []
    for line in stderr.splitlines():
        if found := re.match(r".*?: (error|warning): (.*)", line):
            out.append((found.group(1), found.group(2), []))
        elif (found := re.match(r"(?:.*:\d+:\d+: |\s*)note: (.*)", line)) and out:
            out[-1][2].append(found.group(1))
    return out


def proposals_derive(path, folder):
    """The proposals for one model, each in it: the message is gone and no error is new. Their number."""
    text = read(path, "rb").decode(errors="surrogateescape")
    before = messages(run("check", path).stderr)
    tried = 0
    for kind, what, notes in before:
        for note in notes + [what]:
            if not any(q.endswith(";") for q in quoted(note)):
                continue
            tried += 1
            better = changed(text, note)
            after = messages(run("check", written(folder, better)).stderr)
            fresh = [m for m in after if m[0] == "error" and m[1] not in [b[1] for b in before]]
            assert not fresh and what not in [m[1] for m in after], f"{path}: {note}\n{better}\n{after}"
    return tried


# Models whose messages no golden has: proposals, and those that are left out since they would not help. By what must be
# among the proposals (None: no line may be proposed).
MODELS = [
    ("""model exposed { plate n; plate d; data x[n] : vector over d; data e[n] : real; w ~ MvNormal(mean = 0, precision = 0.1) over d;
       s ~ Normal(mean = 1, sd = 1); observe y[n] ~ Poisson(e[n] * exp(s * dot(w, x[n]))); }""",
     "observe y[n] ~ NegativeBinomial(100, logistic(log(100) - (log(e[n]) + s * dot(w, x[n]))));"),
    ("""model divided { plate n; data days[n] : real; a ~ Normal(mean = 0, sd = 1); b ~ Normal(mean = 0, sd = 1);
       c ~ Normal(mean = 0, sd = 1); observe y[n] ~ Poisson(2 * exp(a * c) * exp(a * b) / days[n]); }""",
     "observe y[n] ~ NegativeBinomial(100, logistic(log(100) - (log(2) + a * c + a * b - (log(days[n])))));"),
    ("""model inflated { plate n; data e[n] : real; p ~ Beta(1, 1); a ~ Normal(mean = 0, sd = 1);
       b ~ Normal(mean = 0, sd = 1); observe y[n] ~ zero_inflated(p, Poisson(e[n] * exp(a * b))); }""",
     "observe y[n] ~ mixture(p, Zero(), NegativeBinomial(100, logistic(log(100) - (log(e[n]) + a * b))));"),
    ("""model censored_counts { plate n; data c[n] : real; a ~ Normal(mean = 0, sd = 1);
       observe y[n] ~ Poisson(exp(a)) censored above c[n]; }""", None),
    ("""model summed { plate n; a ~ Normal(mean = 0, sd = 1) above 0; r ~ Gamma(shape = 1, rate = 1);
       observe y[n] ~ Poisson(r + exp(a)); }""", "a ~ Gamma(shape = 1, rate = 1);"),
    ("""model times_gamma { plate n; a ~ Normal(mean = 0, sd = 1) above 0; r ~ Gamma(shape = 1, rate = 1);
       observe y[n] ~ Poisson(r * exp(a)); }""", "a ~ Gamma(shape = 1, rate = 1);"),
    ("""model log_precision { plate n; plate k; data g[n] : k; mu ~ Normal(mean = 0, sd = 1); s[k] ~ Normal(mean = 0, sd = 1) above 0;
       observe x[n] ~ Normal(mean = mu, precision = exp(s[g[n]])); }""",
     "s[k] ~ Gamma(shape = 1, rate = 1);"),
    ("""model log_precision_sum { plate n; data u[n] : real; s ~ Normal(mean = 0, sd = 1);
       observe x[n] ~ Normal(mean = 0, precision = exp(s * u[n])); }""", None),
    ("""model deviation { plate n; plate k; data g[n] : k; s[k] ~ Gamma(shape = 1, rate = 1);
       observe x[n] ~ Normal(mean = 0, sd = s[g[n]]); }""",
     "s[k] ~ RootInverseGamma(shape = 1, square_scale = 1);"),
    ("""model deviation_twice { plate n; s ~ Gamma(shape = 1, rate = 1); observe x[n] ~ Normal(mean = 0, sd = s);
       observe y[n] ~ Poisson(s); }""", None),
    ("""model deviation_typed { plate n; plate d; S ~ Wishart(df = 3, scale = 1) over d;
       observe x[n] ~ MvNormal(mean = 0, covariance = S) over d; }""",
     "S ~ InverseWishart(df = size(d) + 1, scale = 1) over d;"),
    ("""model lognormal_point { plate person; plate item; theta[person] ~ Normal(mean = 0, sd = 1);
       a[item] ~ LogNormal(mean = 0, sd = 0.5);
       observe y[person, item] ~ Bernoulli(logistic(a[item] * theta[person])); }""", None),
    ("""model quantile { plate n; plate d; data x[n] : vector over d; w ~ MvNormal(mean = 0, precision = 0.01) over d;
       tau ~ Gamma(shape = 1, rate = 0.1); v[n] ~ Exponential(tau);
       observe y[n] ~ Normal(mean = dot(w, x[n]) + 2 * v[n], variance = 3 * v[n] / tau); }""", None),
    ("""model one_variance_each { plate n; plate d; data x[n] : vector over d; w ~ MvNormal(mean = 0, precision = 0.01) over d;
       v[n] ~ Gamma(shape = 1, rate = 1); observe y[n] ~ Normal(mean = dot(w, x[n]), variance = v[n]); }""",
     "v[n] ~ InverseGamma(shape = 1, scale = 1);"),
    ("""model quantile_point { plate n; plate d; data x[n] : vector over d; w ~ MvNormal(mean = 0, precision = 0.01) over d;
       tau ~ Gamma(shape = 1, rate = 0.1); v[n] ~ Exponential(tau);
       observe y[n] ~ Normal(mean = dot(w, x[n]) + 2 * v[n], variance = 3 * v[n] / tau); guide point(v); }""",
     "v[n] ~ Gamma(shape = 2, rate = tau);"),
    ("""model one_sd_each { plate n; mu ~ Normal(mean = 0, sd = 10); s[n] ~ HalfNormal(scale = 1);
       observe y[n] ~ Normal(mean = mu, sd = s[n]); guide point(s); }""",
     "s[n] ~ RootInverseGamma(shape = 1, square_scale = 1);"),
    ("""model ordered_and_nested { plate seq; plate t in seq; x[seq, t] ~ Normal(mean = x[seq, t-1], sd = 1) start Normal(mean = 0, sd = 1);
       observe y[seq, t] ~ Normal(mean = x[seq, t], sd = 1); }""", None),
    ("""model simplex_concentration { plate k; plate n; a ~ Dirichlet(concentration = 1) over k;
       observe p[n] ~ Dirichlet(concentration = 5 * a) over k; }""", "guide point(a);"),
    ("""model shapes { plate n; plate g; data at[n] : g; a[g] ~ Gamma(shape = 1, rate = 1); b[g] ~ Gamma(shape = 1, rate = 1);
       observe p[n] ~ Beta(a[at[n]] + b[at[n]], 2); }""", None),
    ("""model two_counts { plate n; plate d; data x[n] : vector over d; w ~ MvNormal(mean = 0, precision = 1) over d;
       s ~ Normal(mean = 1, sd = 1); observe y[n] ~ Poisson(exp(s * dot(w, x[n]))); observe z[n] ~ Poisson(2 * exp(s * dot(w, x[n]))); }""",
     "observe z[n] ~ NegativeBinomial(100, logistic(log(100) - (log(2) + s * dot(w, x[n]))));"),
    ("""model volatility { plate t ordered; h[t] ~ Normal(mean = 0.9 * h[t-1], sd = 1) start Normal(mean = 0, sd = 1);
       observe y[t] ~ Normal(mean = 0, precision = exp(h[t] * h[t])); }""", "guide independent(h);"),
    ("""model log_deviation { plate n; data x[n] : real; a ~ Normal(mean = 0, sd = 3); b ~ Normal(mean = 0, sd = 3);
       observe y[n] ~ Normal(mean = 0, sd = exp(a + b * x[n])); }""", "observe y[n] ~ Normal(mean = 0, precision = exp(-2 * (a + b * x[n])));"),
    ("""model hierarchy { plate g; plate n; data of[n] : g; m ~ Normal(mean = 0, sd = 1); s[g] ~ Normal(mean = m, sd = 1);
       observe y[n] ~ Normal(mean = 0, precision = exp(s[of[n]])); }""", None),
    ("""model commented { plate n; // plate n ordered; and a brace }
       tau // ;
         ~ InverseGamma(shape = 1, scale = 1); observe x[n] ~ Normal(mean = 0, precision = tau); }
       // }""", "tau ~ Gamma(shape = 1, rate = 1);"),
    ("""model real_deviation { plate n; plate k; data g[n] : k; s[k] ~ Normal(mean = 1, sd = 1);
       observe x[n] ~ Normal(mean = 0, sd = s[g[n]]); }""", "observe x[n] ~ Normal(mean = 0, precision = s_precision[g[n]]);"),
    ("""model exact_number { plate n; plate k; data g[n] : k; s[k] ~ Normal(mean = 1, sd = 1);
       observe x[n] ~ Normal(mean = 1234567.8, sd = s[g[n]]); }""", "observe x[n] ~ Normal(mean = 1234567.8, precision = s_precision[g[n]]);"),
    ("""model shape_of_unit { plate n; p ~ Beta(1, 1); observe x[n] ~ Beta(p, 2); }""", "const p = 1;"),
    ("""model shapes_of_units { plate n; plate g; data at[n] : g; p[g] ~ Beta(1, 1); observe x[n] ~ Beta(p[at[n]], 2); }""", None),
    ("""model parts { plate n; plate kind = 3; w ~ Dirichlet(concentration = 1) over kind; a ~ Gamma(shape = 1, rate = 1); b ~ Gamma(shape = 1, rate = 1);
       observe y[n] ~ mixture(w, Poisson(a), Poisson(b)); }""", "plate kind = 2;"),
    ("""model chain { plate t ordered; x[t] ~ Normal(mean = x[t-1], sd = 1) start Normal(mean = 0, sd = 1);
       observe y[t] ~ Normal(mean = x[t], sd = 1); guide point(x); }""", "guide independent(x);"),
]

# Models in which a pattern stands: whitespace apart, the quoted text must be in one of them, or in a golden's model.
PATTERNS = [
    "model v { plate n; plate k; data a[k] : real; b[k] ~ Normal(mean = 0, sd = 1); c ~ MvNormal(mean = 0, precision = 1) over k;"
    " let e = diag(a) * b; u ~ Normal(mean = dot(a, b), sd = 1); observe y[n] ~ Categorical(softmax(e)); }",
    "model a { plate n; plate d; plate n2 = n; data x[n] : vector over d; l ~ Normal(mean = 0, sd = 1);"
    " observe y[n, n2] ~ Normal(mean = l, sd = 1); }",
    "model b { plate n; plate node; plate node2 = node; p ~ Beta(1, 1); observe e[node, node2] ~ Bernoulli(p); }",
    "model c { plate n; mu ~ Normal(mean = 0, precision = 0.1 * tau); tau ~ Gamma(shape = 1, rate = 1);"
    " observe x[n] ~ Normal(mean = mu, precision = tau); guide joint(mu, tau); }",
    "model d { plate t ordered; data time[t] : real; b ~ Normal(mean = 0, sd = 1); observe x[t] ~ Normal(mean = b * time[t], sd = 1); }",
    "model e { plate house; plate room in house; plate n; data row[n] : house; data at[n] : room;"
    " heat[house, room] ~ Normal(mean = 0, sd = 1); observe x[n] ~ Normal(mean = heat[row[n], at[n]], sd = 1); }",
    "model f { plate t ordered; plate k = 2; w ~ Dirichlet(concentration = 1) over k; a[k] ~ Normal(mean = 0, sd = 1);"
    " z[t] ~ Categorical(w); x[t] ~ Normal(mean = a[z[t]] * x[t-1], sd = 1) start Normal(mean = 0, sd = 1);"
    " observe y[t] ~ Normal(mean = x[t], sd = 1); }",
    "model g { plate n; plate grade; data low[grade] : real; data high[grade] : real; data y[n] : grade; tau ~ Gamma(shape = 1, rate = 1);"
    " e[n] ~ Normal(mean = 0, sd = 1);"
    " u[n] ~ Normal(mean = e[n], precision = tau) above low[y[n]] below high[y[n]]; }",
    "model h { plate n; plate cut; data c[cut] : real; data x[n] : real; b ~ Normal(mean = 0, sd = 1); let e[n] = b * x[n];"
    " observe y[n] ~ Categorical(ordered_logistic(e[n], c)); }",
    "model i { plate n; plate gap; data x[n] : real; b ~ Normal(mean = 0, sd = 1); a ~ Normal(mean = 0, sd = 1);"
    " d[gap] ~ Gamma(shape = 1, rate = 0.1); guide point(d);"
    " observe y[n] ~ Categorical(ordered_logistic(a + b * x[n], cumulative(d))); }",
    "model j { plate n; plate trial times count; data count[trial] : count; data x[trial] : real; b ~ Normal(mean = 0, sd = 1);"
    " observe y[trial] ~ Bernoulli(probit(b * x[trial])); }",
    "model k { plate item; plate answer; const a[item, answer]; p[item] ~ Dirichlet(concentration = a[item]) over answer; plate n;"
    " data of[n] : item; observe y[n] ~ Categorical(p[of[n]]); }",
    "model l { plate item; plate place; plate half = 2; data side[item, place] : half; rate[half] ~ Gamma(shape = 1, rate = 1);"
    " c ~ Uniform() over place; observe y[item] ~ Poisson(rate[side[item, c]]); }",
    "model n { plate n; plate b = 2; plate one; v[b] ~ Beta(1, 1); p[one] ~ Beta(1, 1); joint[n] ~ Categorical(stick_breaking(v));"
    " observe y[n] ~ Bernoulli(p[joint[n]]); }",
    "model m { plate n; p ~ Beta(1, 1); observe y[n] ~ StudentT(df = 1, mean = 0, sd = 1); observe x[n] ~ Bernoulli(p); }",
]


def lines_hold(folder):
    goldens = sorted(glob.glob("tests/golden/**/*.lehr", recursive=True) + glob.glob("tests/ast/errors/*.lehr") + ["docs/wrong.lehr"])
    tried = sum(proposals_derive(path, folder) for path in goldens)
    for text, wanted in MODELS:
        path = written(folder, text, "trial.lehr")
        lines = [q for _, _, notes in messages(run("check", path).stderr) for note in notes for q in quoted(note) if q.endswith(";")]
        assert (wanted in lines) if wanted else not lines, f"{text}\n{lines}"
        assert "volatility" not in text or not [q for q in lines if q.startswith("h[t] ~")], "the chain would be gone"
        tried += proposals_derive(path, folder)
    assert tried > 20, tried
    return tried


def patterns_stand_in_models(folder):
    """What is quoted without a semicolon and looks like a declaration."""
    for text in PATTERNS:
        done = run("check", written(folder, text), code=0)
        assert "error" not in done.stderr, f"{text}\n{done.stderr}"
    squeezed = [re.sub(r"\s+", "", text) for text in PATTERNS]
    seen = 0
    for path in sorted(glob.glob("tests/golden/**/*.lehr", recursive=True) + glob.glob("tests/ast/errors/*.lehr")):
        for _, what, notes in messages(run("check", path).stderr):
            for q in (q for note in notes for q in quoted(note)):
                if q.endswith(";") or "..." in q or not re.match(r"(guide|plate|data|const|observe) \w|\S+ ~ ", q):
                    continue
                seen += 1
                known = [s for s in squeezed if re.sub(r"\s+", "", q) in s]
                made = re.match(r"(plate \w+|data of\[\w+\]|const a\[|guide joint|name ~ distribution)", q)
                assert known or made, f"{path}: no model here has `{q}`"
    assert seen > 10, seen
    return seen


COUNTS = "model counts { plate n; r ~ Gamma(shape = 1, rate = 1); observe y[n] ~ Poisson(r); }"
# A model, its data, what must be proposed, and whether the first run ends well.
DATA = [
    ("""model states { plate t ordered; plate k; data z[t] : k; mu[k] ~ Normal(mean = 0, sd = 9);
       observe y[t] ~ Normal(mean = mu[z[t]], sd = 1); }""",
     {"z": [1, 2, 1, 2], "y": [1, 2, 1, 2.0]}, "plate k from 1;", True),
    ("""model fixed { plate t; plate k = 2; data z[t] : k; mu[k] ~ Normal(mean = 0, sd = 9);
       observe y[t] ~ Normal(mean = mu[z[t]], sd = 1); }""",
     {"z": [1, 2, 1, 2], "y": [1, 2, 1, 2.0]}, "plate k = 2 from 1;", False),
    ("""model years { plate n; plate year ordered; data at[n] : year; x[year] ~ Normal(mean = x[year-1], sd = 1) start Normal(mean = 0, sd = 1);
       observe y[n] ~ Normal(mean = x[at[n]], sd = 1); }""",
     {"at": [1, 2, 3, 3], "y": [1, 2, 1, 2.0]}, "plate year ordered from 1;", True),
    ("""model weighted { plate n times w; data w[n] : count; r ~ Gamma(shape = 1, rate = 1); observe y[n] ~ Poisson(r); }""",
     {"w": [0.5, 2], "y": [1, 2]}, "data w[n] : real;", False),
]


def data_lines_hold(folder):
    for text, data, wanted, well in DATA:
        path, values = written(folder, text), written(folder, json.dumps(data), "data.json")
        done = run("fit", path, "--data", values, "--quiet", "--out", f"{folder}/fit")
        assert (done.returncode == 0) == well and f"`{wanted}`" in done.stderr, f"{text}\n{done.stderr}"
        better = written(folder, changed(text, f"`{wanted}`"), "better.lehr")
        again = run("fit", better, "--data", values, "--quiet", "--out", f"{folder}/again", code=0)
        assert f"`{wanted}`" not in again.stderr, again.stderr
    return len(DATA)


def rows_are_numbered(folder):
    """A plate whose rows lines of a table name, and other data that have numbers of them."""
    text = """model rows { plate site; plate visit in site; plate n; data of[n] : site; mu[site] ~ Normal(mean = 0, sd = 9);
      observe y[site, visit] ~ Normal(mean = mu[site], sd = 1); observe v[n] ~ Normal(mean = mu[of[n]], sd = 1); }"""
    written(folder, "site,y\n1,0.5\n1,0.7\n2,1\n", "rows.csv")
    written(folder, json.dumps({"of": [1, 2, 2], "v": [1, 2, 3.0]}), "other.json")
    data = ["--data", f"{folder}/rows.csv", "--data", f"{folder}/other.json", "--quiet", "--out", f"{folder}/rows"]
    run("fit", written(folder, text), *data, code=0)  # names, unless the plate has a size
    data += ["--sizes", "site=2"]
    done = run("fit", written(folder, text), *data, code=4)
    lines = [q for q in quoted(done.stderr) if q.endswith(";")]
    assert lines == ["plate site from 1;"], done.stderr
    run("fit", written(folder, changed(text, f"`{lines[0]}`")), *data, code=0)


def guides_derive(folder):
    """A guide that a fit proposes for what is strongly coupled derives, and gives the standard deviations of the posterior."""
    n = 40
    x = random.normal(5, 1, n)
    y = 1 + 2 * x + random.normal(0, 1, n)
    text = """model line { plate n; data x[n] : real; a ~ Normal(mean = 0, sd = 10); b ~ Normal(mean = 0, sd = 10)LIMIT;
      observe y[n] ~ Normal(mean = a + b * x[n], sd = 1); }"""
    values = written(folder, json.dumps({"x": x.tolist(), "y": y.tolist()}), "data.json")
    chosen = run("derive", written(folder, text.replace("LIMIT", "")), code=0).stdout
    said_everywhere.append(chosen)
    assert "joint(a, b)" in chosen and "`guide factorised;` makes none" in chosen, chosen
    for limit in ["", " above 0"]:
        model = text.replace("LIMIT", limit)
        done = run("fit", written(folder, model), "--data", values, "--guide", "factorised", "--sds", "factors", "--quiet", "--out", f"{folder}/line")
        assert "strongly coupled" in done.stderr, done.stderr
        lines = [q for q in quoted(done.stderr) if q.endswith(";")]
        if limit:
            assert not lines and "one MvNormal" not in done.stderr, done.stderr
            continue
        assert lines == ["guide joint(a, b);"], done.stderr
        better = written(folder, changed(model, f"`{lines[0]}`"))
        run("fit", better, "--data", values, "--quiet", "--out", f"{folder}/joint", code=0)
        design = numpy.stack([numpy.ones(n), x], 1)
        sd = numpy.sqrt(numpy.diag(numpy.linalg.inv(design.T @ design + 0.01 * numpy.eye(2))))
        posterior = arrays(f"{folder}/joint/posterior.npz")
        got = [float(posterior[f"{v}.precision"]) ** -0.5 for v in "ab"]
        numpy.testing.assert_allclose(got, sd, rtol=1e-6)


def counts_mean_the_same(folder):
    """Counts with an exposure: the line that models them otherwise has the means of the Poisson posterior, by summing over a grid,
    and `lehr diagnose` its standard deviations; the Poisson counts themselves have both."""
    n = 60
    x, e = random.integers(0, 2, n), random.uniform(0.5, 3, n)
    y = random.poisson(e * numpy.exp(1 - 0.5 * x))
    text = MODELS[0][0]
    note = next(note for _, _, notes in messages(run("check", written(folder, text)).stderr) for note in notes
                if "NegativeBinomial" in note)
    assert "standard deviations too small" in note and "lehr diagnose" in note, note
    values = written(folder, json.dumps({"x": [[1.0, float(v)] for v in x], "e": e.tolist(), "y": y.tolist()}), "data.json")
    model = written(folder, changed(text, note).replace("s ~ Normal(mean = 1, sd = 1);", "").replace("s * dot", "dot"))
    poisson = written(folder, text.replace("s ~ Normal(mean = 1, sd = 1);", "").replace("s * dot", "dot"), "poisson.lehr")
    run("fit", model, "--data", values, "--quiet", "--out", f"{folder}/counts", code=0)
    run("diagnose", f"{folder}/counts", "--data", values, "--draws", "100", "--replicates", "10", code=0)
    got = read_json(f"{folder}/counts/diagnosis.json")["linear_response"]["w"]
    a, b = numpy.meshgrid(numpy.linspace(0.2, 1.8, 300), numpy.linspace(-1.6, 0.6, 300), indexing="ij")
    mean = e * numpy.exp(a[..., None] + b[..., None] * x)
    log_p = (y * numpy.log(mean) - mean).sum(-1) - 0.05 * (a * a + b * b)
    p = numpy.exp(log_p - log_p.max())
    p /= p.sum()
    centre = numpy.array([(p * v).sum() for v in (a, b)])
    sd = numpy.sqrt([(p * (v - m) ** 2).sum() for v, m in zip((a, b), centre)])
    assert numpy.all(numpy.abs(numpy.array(got["mean"]) - centre) < 0.2 * sd), (got, centre, sd)
    numpy.testing.assert_allclose(got["response_sd"], sd, rtol=0.06)
    run("fit", poisson, "--data", values, "--quiet", "--out", f"{folder}/poisson", code=0)
    exact = arrays(f"{folder}/poisson/posterior.npz")
    assert numpy.all(numpy.abs(exact["w.mean"] - centre) < 0.02 * sd), (exact["w.mean"], centre, sd)
    numpy.testing.assert_allclose(numpy.sqrt(numpy.diag(numpy.linalg.inv(exact["w.precision"]))), sd, rtol=0.02)


def inflated_counts_with_values_before(folder):
    """A mixture that depends on the value before has one error, whose proposal derives; its posterior is that of a grid."""
    chain = """model inflated { plate t ordered; p ~ Beta(2, 2); a ~ Gamma(shape = 2, rate = 1);
      observe y[t] ~ zero_inflated(p, Poisson(a * y[t-1])) START; }"""
    for start in ("", "start Poisson(3)"):
        found = messages(run("check", written(folder, chain.replace("START", start))).stderr)
        assert len(found) == 1 and "`data before[t] : real`" in found[0][2][-1] and "`before[t]`" in found[0][2][-1], found
    counts = [4, 3, 5, 0, 0, 2]
    better = chain.replace(" START", "").replace("y[t-1]", "before[t]").replace("plate t ordered;", "plate t; data before[t] : real;")
    y, before = counts[1:4], counts[:3]
    values = written(folder, json.dumps({"before": before, "y": y}), "data.json")
    run("fit", written(folder, better), "--data", values, "--method", "gibbs", "--draws", "20000", "--quiet", "--out", f"{folder}/counts", code=0)
    got = arrays(f"{folder}/counts/posterior.npz")
    a, p = numpy.meshgrid(numpy.linspace(0.01, 8, 400), numpy.linspace(0.002, 0.998, 250), indexing="ij")
    log_p = numpy.log(a) - a + numpy.log(p * (1 - p))
    for v, b in zip(y, before):
        poisson = numpy.exp(v * numpy.log(a * b) - a * b - numpy.log(float(numpy.prod(range(1, v + 1)))))
        log_p += numpy.log((1 - p) * poisson + p * (v == 0))
    weight = numpy.exp(log_p - log_p.max())
    weight /= weight.sum()
    numpy.testing.assert_allclose([got["a.mean"], got["p.mean"]], [(weight * a).sum(), (weight * p).sum()], rtol=0.04)


def later_elements_are_told(folder):
    """Steps behind the end of a chain go on from those before it; new groups have their prior. A year behind the end is asked
    for by an option, which the message names."""
    text = """model level { plate n; plate year ordered; data at[n] : year; walk ~ Gamma(shape = 2, rate = 2);
      x[year] ~ Normal(mean = x[year-1], precision = walk) start Normal(mean = 0, sd = 3); observe y[n] ~ Normal(mean = x[at[n]], sd = 1); }"""
    values = written(folder, json.dumps({"at": [0, 1, 2, 3, 3], "y": [1, 2, 2, 3, 2.0]}), "data.json")
    out = f"{folder}/level"
    run("fit", written(folder, text), "--data", values, "--quiet", "--out", out, code=0)
    known = ["--data", written(folder, json.dumps({"at": [3]}), "known.json")]
    done = run("predict", out, *known, "--sizes", "year=+2", "--out", f"{folder}/later.csv", code=0)
    assert "prior" not in done.stderr and "predicted from the elements before" in done.stderr, done.stderr
    later = written(folder, json.dumps({"at": [4]}), "later.json")
    done = run("predict", out, "--data", later, "--out", f"{folder}/later.csv", code=4)
    assert "--sizes year=+1" in done.stderr, done.stderr
    run("predict", out, "--data", later, "--sizes", "year=+1", "--out", f"{folder}/later.csv", code=0)
    groups = text.replace("plate year ordered", "plate year").replace("x[year-1]", "0").replace(" start Normal(mean = 0, sd = 3)", "")
    run("fit", written(folder, groups), "--data", values, "--quiet", "--out", out, code=0)
    done = run("predict", out, *known, "--sizes", "year=+2", "--out", f"{folder}/later.csv", code=0)
    assert "predicted from their prior" in done.stderr, done.stderr


def wrong_new_data_is_named(folder):
    """What is wrong in the data of a prediction has its place and its name: of groups that cannot grow, of observations of new
    groups and columns, and of a table of which nothing is read."""
    groups = """model groups { plate n; plate g SIZE; data of[n] : g; mu[g] ~ Normal(mean = 0, sd = 9);
      observe y[n] ~ Normal(mean = mu[of[n]], sd = 1); }"""
    table = """model wide { plate n; plate d; mu[d] ~ Normal(mean = 0, sd = 9); observe x[n, d] ~ Normal(mean = mu[d], sd = 1); }"""
    rows, wide = written(folder, "of,y\na,1\nb,2\nc,3\n", "rows.csv"), written(folder, "p,q\n1,2\n3,4\n", "wide.csv")
    cases = [(groups.replace("SIZE", "= 3"), [rows], "of\na\nd\n", "", ["column 'of'", "of[1] is 'd'", "a, b, c", "without a size"]),
             (groups.replace(" SIZE", ""), [rows], "of,y\na,1\nd,1\n", "", ["mu['d']", "misspelt"]),
             (table, [f"x={wide}:p,q"], "p,qq\n1,2\n", "x=NEW:p,qq", ["mu['qq']", "misspelt"]),
             (table, [f"x={wide}:p,q"], "p,qq\n1,2\n", "", ["does not read: p, qq"])]
    for text, data, new, binding, words in cases:
        out, path = f"{folder}/new", written(folder, new, "new.csv")
        run("fit", written(folder, text), *[w for d in data for w in ("--data", d)], "--quiet", "--out", out, code=0)
        said = run("predict", out, "--data", binding.replace("NEW", path) or path, "--out", f"{folder}/new_numbers.csv", code=4).stderr
        assert all(w in said for w in words), (words, said)


def sparse_factors_are_told(folder):
    """Data that couple other numbers than those of the fit, and a large factor as a prior: refused, and `guide factorised;` takes both."""
    text = """model crossed { plate n; plate g; plate h; data of[n] : g; data by[n] : h; m ~ Normal(mean = 0, sd = 10);
      u[g] ~ Normal(mean = 0, sd = 1); v[h] ~ Normal(mean = 0, sd = 1); observe y[n] ~ Normal(mean = m + u[of[n]] + v[by[n]], sd = 1); GUIDE }"""
    def table(rows, name):
        return written(folder, "of,by,y\n" + "".join(f"{a},{b},{a + b}\n" for a, b in rows), name)
    first, second = table([(0, 0), (1, 0), (1, 1), (2, 1), (2, 2)], "first.csv"), table([(0, 2), (2, 0), (1, 2)], "second.csv")
    os.environ["LEHR_THRESHOLDS"] = "joint_choice.max_coordinates=0"
    for guide in ("", "guide factorised;"):
        model, out = written(folder, text.replace("GUIDE", guide)), f"{folder}/crossed"
        run("fit", model, "--data", first, "--quiet", "--out", out, code=0)
        for words in (["update", out, "--data", second, "--quiet", "--out", f"{folder}/next"],
                      ["fit", model, "--data", second, "--init", out, "--search", "none", "--quiet", "--out", f"{folder}/next"]):
            done = run(*words)
            assert done.returncode == 0 if guide else (words[0] == "fit" or "`guide factorised;`" in done.stderr), (words, done.stderr)
    del os.environ["LEHR_THRESHOLDS"]


def links_are_named(folder):
    """Which standard deviations a link makes too small, with the option that corrects them; not of points, nor without one."""
    text = """model link { plate n; data x[n] : real; a ~ Normal(mean = 0, sd = 2); b ~ Normal(mean = 0, sd = 2); c ~ Normal(mean = 0, sd = 2);
      observe y[n] ~ LINK; observe v[n] ~ Normal(mean = c, sd = 1); GUIDE }"""
    x = random.normal(0, 1, 30)
    data = {"x": x.tolist(), "y": (random.uniform(size=30) < 0.5).astype(int).tolist(), "v": x.tolist()}
    values = written(folder, json.dumps(data), "data.json")
    def said(link, guide="", *options):
        path = written(folder, text.replace("LINK", link).replace("GUIDE", guide))
        done = run("fit", path, "--data", values, "--out", f"{folder}/link", "--sds", "factors", *options, code=0)
        found = re.search(r"the standard deviations of ([\w, ]+) are too small, because of links\n\s*note: --sds linear-response corrects them", done.stderr)
        return found and found.group(1)
    assert said("Bernoulli(logistic(a + b * x[n]))") == "a, b"
    assert said("Bernoulli(probit(a + b * x[n]))", "guide joint(a, b);") == "a, b"
    assert said("Bernoulli(logistic(a + b * x[n]))", "guide point(a, b);") is None
    assert said("Normal(mean = a + b * x[n], sd = 1)") is None
    # The option corrects neither numbers of 32 bits nor a fit that has not converged.
    for options in ["--precision", "float"], ["--max-iter", "2"]:
        assert said("Bernoulli(probit(a + b * x[n]))", "", *options) is None, options
    # Latent numbers of items between limits are such links, too.
    cut = text.replace("observe y[n] ~ LINK;", "data low[n] : real; data high[n] : real; u[n] ~ Normal(mean = a + b * x[n], sd = 1) above low[n] below high[n];")
    data.update(low=[0 if v else -1e9 for v in data["y"]], high=[1e9 if v else 0 for v in data.pop("y")])
    values, text = written(folder, json.dumps(data), "cut.json"), cut
    assert said("") == "a, b"


def effects_are_named(folder):
    """Effects whose precision a bound makes too large, with the option that mends it; not of other predictors, nor with the option."""
    text = """model effects { plate n; plate g; data x[n] : real; data of[n] : g; b ~ Normal(mean = 0, sd = 2); c ~ Normal(mean = 0, sd = 2);
      tau ~ Gamma(shape = 2, rate = 2); u[g] ~ Normal(mean = 0, precision = tau); v[g] ~ Normal(mean = 0, sd = 1);
      observe y[n] ~ LINK; }"""
    x = random.normal(0, 1, 40)
    data = {"x": x.tolist(), "y": (random.uniform(size=40) < 0.5).astype(int).tolist(), "of": (numpy.arange(40) % 10).tolist()}
    values = written(folder, json.dumps(data), "data.json")

    def said(link, *options):
        path = written(folder, text.replace("LINK", link))
        done = run("fit", path, "--data", values, "--out", f"{folder}/effects", *options, code=0)
        found = re.search(r"with few observations for each ([\w, ]+), the precision is too large\n\s*note: --links gaussian", done.stderr)
        product = re.search(r"the product of (\w+) and (\w+) in the link is too small", done.stderr)
        return found.group(1) if found else product and product.group(1, 2)
    for link in ("logistic", "probit"):
        assert said(f"Bernoulli({link}(b * x[n] + u[of[n]]))") == "u"
        assert said(f"Bernoulli({link}(b * x[n] + u[of[n]]))", "--links", "gaussian") is None
    assert said("Bernoulli(logistic(b * c * x[n] + u[of[n]]))") is None
    assert said("Bernoulli(logistic(b * x[n]))") is None
    # A factor in place of the precision.
    for link in ("logistic", "probit"):
        assert said(f"Bernoulli({link}(c + b * v[of[n]]))") == ("b", "v")
    assert said("Bernoulli(logistic(c * x[n] + v[of[n]]))") is None
    assert said("Bernoulli(logistic(b * x[n] + u[of[n]]))", "--method", "gibbs", "--draws", "20") is None


def places_are_covered():
    """Every string of compiler/ with a proposal has been said by a run above."""
    said, missing = "\n".join(said_everywhere), []
    for path in sorted(glob.glob("compiler/**/*.cpp", recursive=True) + glob.glob("compiler/**/*.h", recursive=True)):
        source = re.sub(r"^\s*//.*$", "", read(path), flags=re.M)
        source = re.sub(r'"\s*\n\s*"', "", source)
        for text in re.findall(r'"((?:[^"\\\n]|\\.)*)"', source):
            if not any(q.endswith(";") for q in quoted(text)):
                continue
            words = max(re.split(r"\{[^}]*\}", text), key=len)
            if words not in said:
                missing.append(f"{path}: {text}")
    assert not missing, "\n".join(missing)


def main():
    with temporary() as folder:
        print(f"{lines_hold(folder)} proposals derive")
        print(f"{patterns_stand_in_models(folder)} patterns stand in models")
        print(f"{data_lines_hold(folder)} proposals for data hold")
        rows_are_numbered(folder)
        guides_derive(folder)
        counts_mean_the_same(folder)
        inflated_counts_with_values_before(folder)
        later_elements_are_told(folder)
        links_are_named(folder)
        effects_are_named(folder)
        sparse_factors_are_told(folder)
        wrong_new_data_is_named(folder)
        places_are_covered()


if __name__ == "__main__":
    main()
