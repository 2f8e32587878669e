#!/usr/bin/env python3
"""Rows, groups and entries without data narrow no posterior: the fit is that without them, and where the posterior has a formula, that.

usage: barren.py LEHR
"""

import sys

import numpy as np
from scipy.stats import multivariate_normal

sys.path.append(f"{sys.path[0]}/..")
from fitting import Folder, arrays, close, finish, fit, holds, read_csv, read_json, temporary, write  # noqa: E402

RNG = np.random.default_rng(3)
TIGHT = ["--guide", "factorised", "--no-invariances", "--search", "none", "--tol", "1e-12", "--max-iter", "5000"]
EMPTY = 300


def same_without(text, data, rows, *names, init=None):
    """Whether the factors are those of the fit of the first rows alone."""
    a = fit(text, data, *TIGHT, init=init)
    b = fit(text, {k: v[:rows] if np.ndim(v) and len(v) > rows else v for k, v in data.items()}, *TIGHT, init=init)
    for name in names:
        if not close(a.posterior[name], b.posterior[name], 1e-6):
            return print(name, a.posterior[name], b.posterior[name])
    return close(a.elbo, b.elbo, 1e-8) or print(a.elbo, b.elbo)


def with_empty(x):
    return np.concatenate([x, np.full((EMPTY, *x.shape[1:]), np.nan)])


@holds
def rows_of_independent_entries():
    """Two full rows, a partial one and empty ones: each mean has the precision of its own numbers, and the ELBO is the evidence."""
    x = with_empty(np.array([[1, 2], [2, np.nan], [3, 1]]))
    for precision in ("precision = 1", "covariance = 1", "precision = diag(v)"):
        given = "data v : vector over d; " if "diag" in precision else ""
        text = f"""model m {{ plate n; plate d; {given}mu ~ MvNormal(mean = 0, precision = 0.01) over d;
          observe x[n] ~ MvNormal(mean = mu, {precision}) over d; }}"""
        f = fit(text, {"x": x, **({"v": [1.0, 1.0]} if given else {})}, *TIGHT)
        sd = np.sqrt(np.diag(np.linalg.inv(f.posterior["mu.precision"])))
        evidence = multivariate_normal.logpdf([1, 2, 3], np.zeros(3), np.eye(3) + 100)
        evidence += multivariate_normal.logpdf([2, 1], np.zeros(2), np.eye(2) + 100)
        if not (close(sd, [3.01**-0.5, 2.01**-0.5], 1e-8) and close(f.elbo, evidence, 1e-8)):
            return print(precision, sd, f.elbo, evidence)
    return True


@holds
def rows_of_a_full_precision():
    """Empty rows beside partial ones of a Wishart precision."""
    x = RNG.normal(size=(12, 2)) @ np.array([[1, 0.5], [0, 1]])
    x[3, 1] = np.nan
    text = """model m { plate n; plate d; mu ~ MvNormal(mean = 0, precision = 0.01) over d; L ~ Wishart(df = 4, scale = 1) over d;
      observe x[n] ~ MvNormal(mean = mu, precision = L) over d; }"""
    return same_without(text, {"x": with_empty(x)}, 12, "mu.mean", "mu.precision", "L.df", "L.scale")


@holds
def components_of_rows_without_data():
    """The weights of a mixture do not count rows of which nothing was observed, whether some rows are partial or not."""
    x = np.concatenate([RNG.normal(-3, 1, (15, 2)), RNG.normal(3, 1, (10, 2))])
    text = """model m { plate n; plate d; plate k = 2; pi ~ Dirichlet(concentration = 1) over k;
      mu[k] ~ MvNormal(mean = 0, precision = 0.01) over d; z[n] ~ Categorical(pi);
      observe x[n] ~ MvNormal(mean = mu[z[n]], precision = 1) over d; }"""
    for partial in (False, True):
        if partial:
            x[4, 0] = x[20, 1] = np.nan
        if not same_without(text, {"x": with_empty(x)}, 25, "pi.concentration", "mu.mean", "mu.precision",
                            init={"mu.mean": [[-3, -3], [3, 3]], "mu.precision": [np.eye(2)] * 2}):
            return False
    return True


@holds
def covariates_and_answers_both_missing():
    """A covariate that is missing where its answer is missing too says nothing of its own distribution."""
    m, y = RNG.normal(1, 1, 20), RNG.normal(2, 1, 20)
    m[5], y[9] = np.nan, np.nan
    text = """model g { plate n; a ~ Normal(mean = 0, sd = 10); b ~ Normal(mean = 0, sd = 10); t ~ Gamma(shape = 1, rate = 1);
      observe m[n] ~ Normal(mean = a, precision = t); observe y[n] ~ Normal(mean = b * m[n], sd = 1); }"""
    data = {"m": with_empty(m), "y": with_empty(y)}
    return same_without(text, data, 20, "a.mean", "a.precision", "b.mean", "b.precision", "t.shape", "t.rate")


@holds
def groups_without_members():
    """Groups that no datum names, on two levels: mean and precision of groups are those of the ones that have members."""
    y, of = RNG.normal(size=30), RNG.integers(0, 4, 30)
    text = """model h { plate n; plate g = %d; data of[n] : g; mu ~ Normal(mean = 0, sd = 10); t ~ Gamma(shape = 2, rate = 1);
      u[g] ~ Normal(mean = mu, precision = t); theta[g] ~ Normal(mean = u[g], sd = 1);
      observe y[n] ~ Normal(mean = theta[of[n]], sd = 0.5); }"""
    a, b = (fit(text % g, {"y": y, "of": of}, *TIGHT) for g in (60, 4))
    names = ["mu.mean", "mu.precision", "t.shape", "t.rate"]
    return close(a.elbo, b.elbo, 1e-8) and all(close(a.posterior[k], b.posterior[k], 1e-6) for k in names)


@holds
def latent_numbers_of_empty_rows():
    """Scores of items of which nothing was observed: those of factor analysis with a latent mean, and counts with a latent shape."""
    y = RNG.normal(size=(20, 3))
    y[2, 1] = np.nan
    scores = """model f { plate n; plate d; m ~ Normal(mean = 0, sd = 3); w[d] ~ Normal(mean = 1, sd = 1); tau ~ Gamma(shape = 2, rate = 2);
      z[n] ~ Normal(mean = m, precision = tau); observe y[n, d] ~ Normal(mean = w[d] * z[n], sd = 0.7); }"""
    start = {"w.mean": [1.0, 1.0, 1.0]}
    a, b = (fit(scores, {"y": x}, *TIGHT, init=start) for x in (with_empty(y), y))
    ok = all(close(a.posterior[k], b.posterior[k], 1e-4) for k in ("m.precision", "w.precision", "tau.shape", "tau.rate"))
    count = RNG.poisson(3, 15).astype(float)
    counts = """model c { plate n; r ~ Gamma(shape = 2, rate = 1); mu ~ Gamma(shape = 2, rate = 1);
      observe y[n] ~ GammaPoisson(mean = mu, r = r); guide point(r); }"""
    return ok and same_without(counts, {"y": with_empty(count)}, 15, "mu.shape", "mu.rate", "r.value")


@holds
def kinds_of_factors():
    """Bits, points, rates, latent classes and vectors of scores: against the fit of the rows with data."""
    y, count = RNG.normal(size=12), RNG.integers(0, 9, 12).astype(float)
    answers, scores = RNG.integers(0, 3, (10, 4)).astype(float), RNG.normal(size=(15, 2)) @ RNG.normal(size=(2, 4))
    scores[2, 1] = scores[5, 3] = np.nan
    levels = "m ~ Normal(mean = 0, sd = 3); t ~ Gamma(shape = 2, rate = 2); u[n] ~ Normal(mean = m, precision = t); "
    cases = [
        ("p ~ Beta(2, 3); s[n] ~ Bernoulli(p); observe y[n] ~ Normal(mean = 2 * s[n], sd = 1);", {"y": y}, ["p.a", "p.b"], None),
        (levels + "observe y[n] ~ Normal(mean = u[n], sd = 1); guide point(m, t);", {"y": y}, ["m.value", "t.value"], None),
        (levels + "observe y[n] ~ Normal(mean = u[n], sd = 1); guide point(u);", {"y": y}, ["m.mean", "t.shape", "t.rate"], None),
        ("a ~ Gamma(shape = 2, rate = 1); r[n] ~ Gamma(shape = 2, rate = a); observe y[n] ~ Poisson(r[n]);", {"y": count},
         ["a.shape", "a.rate"], None),
        ("a ~ Gamma(shape = 2, rate = 1); b ~ Gamma(shape = 2, rate = 1); observe y[n] ~ BetaBinomial(9, a, b); guide point(a, b);",
         {"y": count}, ["a.value", "b.value"], None),
        ("""plate q; plate v = 3; plate k = 2; pi ~ Dirichlet(concentration = 1) over k;
            th[k, q] ~ Dirichlet(concentration = 1) over v; z[n] ~ Categorical(pi); observe x[n, q] ~ Categorical(th[z[n], q]);""",
         {"x": answers}, ["pi.concentration", "th.concentration"],
         {"pi.concentration": [3, 2], "th.concentration": RNG.gamma(2, 1, (2, 4, 3)) + 1}),
        ("""plate d; plate k = 2; W[d] ~ MvNormal(mean = 0, precision = 1) over k; tau ~ Gamma(shape = 2, rate = 1);
            z[n] ~ MvNormal(mean = 0, precision = 1) over k; observe x[n] ~ MvNormal(mean = W * z[n], precision = tau) over d;""",
         {"x": scores}, ["W.precision", "tau.shape", "tau.rate"], {"W.mean": RNG.normal(size=(4, 2))}),
    ]
    for text, data, names, init in cases:
        rows = len(next(iter(data.values())))
        full = {k: with_empty(v) for k, v in data.items()}
        if not same_without(f"model m {{ plate n; {text} }}", full, rows, *names, init=init):
            return print(text)
    return True


@holds
def what_is_left_out_is_there_to_read():
    """The factor of an empty row is its distribution given the means of its parents."""
    x = with_empty(np.array([[1, 2], [2, np.nan], [3, 1]]))
    text = """model m { plate n; plate d; mu ~ MvNormal(mean = 0, precision = 0.01) over d;
      observe x[n] ~ MvNormal(mean = mu, precision = 1) over d; }"""
    f = fit(text, {"x": x}, *TIGHT)
    return close(f.posterior["x.mean"][5], f.posterior["mu.mean"], 1e-6) and close(f.posterior["x.precision"][5], np.eye(2), 1e-9)


@holds
def checks_of_the_fit():
    """What is said of a fit is said of it without its empty rows: k-hat and the standard deviations of linear response."""
    x = RNG.normal(1, 2, size=(12, 2))
    x[3, 1] = np.nan
    text = """model m { plate n; plate d; mu ~ MvNormal(mean = 0, precision = 0.01) over d; t ~ Gamma(shape = 2, rate = 2);
      observe x[n] ~ MvNormal(mean = mu, precision = t) over d; }"""
    said = []
    for data in (with_empty(x), x):
        f = Folder(text, {"x": data}, *TIGHT)
        said.append(f.run("diagnose", f.at("fit"), "--data", f.at("train.json")))
    few, all_rows = ([line for line in s.splitlines() if "k-hat" in line or line.strip().startswith(("mu", "t "))] for s in said)
    return len(few) > 0 and few == all_rows or print(few, all_rows)


def responses(text, data):
    """Standard deviations of all variables by linear response, and the posterior."""
    f = Folder(text, data, *TIGHT, "--sds", "linear-response")
    return {k.removesuffix(".sd"): v for k, v in arrays(f.at("fit/sds.npz")).items() if k.endswith(".sd")}, f.posterior


@holds
def standard_deviations_of_groups():
    """Linear response with groups that no datum names and groups whose data are all missing: that of the other groups alone. Of the
    empty ones, it is that of their distribution given the parents, whose variance is passed on to them."""
    y, of = np.sort(np.random.default_rng(11).normal(size=40)) * np.repeat([0.3, 1, 3, 0.6], 10), np.repeat(np.arange(4), 10)
    empty = {"y": np.append(y, np.nan), "of": np.append(of, 5)}
    for kind, of_normal in (("Gamma(shape = 2, rate = b)", "precision"), ("InverseGamma(shape = 3, scale = b)", "variance"), ("Exponential(b)", "precision")):
        text = f"""model h {{ plate n; plate g = %d; data of[n] : g; b ~ Gamma(shape = 1, rate = 1); tau[g] ~ {kind};
          observe y[n] ~ Normal(mean = 0, {of_normal} = tau[of[n]]); }}"""
        got, q = responses(text % 7, empty)
        want, _ = responses(text % 4, {"y": y, "of": of})
        if not (close(got["b"], want["b"], 1e-6) and close(got["tau"][:4], want["tau"], 1e-6)):
            return print(kind, got, want)
        b = q["b.shape"] / q["b.rate"]
        mean, own = {"G": (2 / b, 2**0.5 / b), "I": (b / 2, b / 2), "E": (1 / b, 1 / b)}[kind[0]]
        if not close(got["tau"][4:], np.full(3, np.hypot(own, mean / b * want["b"])), 1e-4):
            return print(kind, got["tau"], own, mean)
    # Two levels of Normal numbers, whose posterior is Normal.
    text = """model h { plate n; plate g = 6; data of[n] : g; mu ~ Normal(mean = 0, sd = 10); u[g] ~ Normal(mean = mu, sd = 1);
      theta[g] ~ Normal(mean = u[g], sd = 1); observe y[n] ~ Normal(mean = theta[of[n]], sd = 0.5); }"""
    got, _ = responses(text, empty)
    variance = 1 / (0.01 + 4 / (2 + 0.25 / 10))
    if not close(got["mu"], variance**0.5, 1e-6):
        return print(got, variance**0.5)
    return close(got["u"][4:], (variance + 1) ** 0.5, 1e-6) and close(got["theta"][4:], (variance + 2) ** 0.5, 1e-6) or print(got)


@holds
def methods():
    """Stochastic steps and draws know of no empty rows either."""
    x = with_empty(np.array([[1, 2], [2, np.nan], [3, 1]]))
    text = """model m { plate n; plate d; mu ~ MvNormal(mean = 0, precision = 0.01) over d;
      observe x[n] ~ MvNormal(mean = mu, precision = 1) over d; }"""
    sd = [3.01**-0.5, 2.01**-0.5]
    f = fit(text, {"x": x}, "--method", "svi", "--batch-size", "50", monotone=False)
    svi = np.sqrt(np.diag(np.linalg.inv(f.posterior["mu.precision"])))
    few = np.concatenate([x[:3], x[-3:]])
    g = fit(text, {"x": few}, "--method", "gibbs", "--draws", "20000", monotone=False)
    return close(svi, sd, 0.05) and close(g.posterior["mu.sd"], sd, 0.05)


def predicted(f, data, *options):
    """What `lehr predict` has of each number, by variable and indices."""
    f.run("predict", f.at("fit"), "--data", data, *options, "--out", f.at("p.csv"))
    return {(r["variable"], r["n"], r["value"] or r.get("k", "")): r for r in read_csv(f.at("p.csv"))}


@holds
def predictions_of_numbers():
    """What an item is like is told by its data alone, of the fit's own items and of new ones, by formulas."""
    b = 2 + RNG.normal(size=40)
    x = b + RNG.normal(0, 2**0.5, size=40)
    x[::2] = np.nan
    data = {"y": b + RNG.normal(size=40), "x": x}
    f = Folder("""model m { plate n; mu ~ Normal(mean = 0, sd = 10); b[n] ~ Normal(mean = mu, sd = 1); c[n] ~ Normal(mean = b[n], sd = 1);
      observe y[n] ~ Normal(mean = b[n], sd = 1); observe x[n] ~ Normal(mean = c[n], sd = 1); }""", data, *TIGHT)
    mu = float(f.posterior["mu.mean"])
    new = f.bind("new", {"y": [1.0, 3.0, 2.0], "x": [np.nan, 1.0, np.nan]})
    for y, got in ((data["y"], predicted(f, f.at("train.json"))), ([1.0, 3.0, 2.0], predicted(f, new))):
        for n in (0, 2):
            mean = (mu + y[n]) / 2
            for name, variance in (("b", 0.5), ("c", 1.5), ("x", 2.5)):
                r = got[name, str(n), ""]
                if not (close(float(r["mean"]), mean, 1e-5) and close(float(r["sd"]), variance**0.5, 1e-7)):
                    return print(name, n, r, mean, variance**0.5)
    return True


@holds
def predictions_of_kinds():
    """A kind of which nothing is observed is no count of its weights: those are a Dirichlet of the others, by its formulas."""
    k = RNG.integers(0, 3, size=60)
    x = np.array([-6.0, 0, 6])[k] + RNG.normal(size=60)
    u = [[int(v) for v in RNG.integers(0, 3, size=4)] for _ in k]
    text = """model m { plate n; plate t in n; plate k = 3; mu[k] ~ Normal(mean = 0, sd = 10); theta[n] ~ Dirichlet(concentration = 1) over k;
      z[n] ~ Categorical(theta[n]); observe u[n, t] ~ Categorical(theta[n]); observe x[n] ~ Normal(mean = mu[z[n]], sd = 1); }"""
    f = Folder(text, {"x": np.where(np.arange(60) % 3 == 0, np.nan, x), "u": u}, *TIGHT)
    new = {"x": [np.nan, 0.1, np.nan], "u": [[0, 0, 1], [2], [1]]}
    for words, path in ((u, f.at("train.json")), (new["u"], f.bind("new", new))):
        got = predicted(f, path)
        for n in (0, 3) if words is u else (0, 2):
            a = 1 + np.bincount(words[n], minlength=3)
            mean = a / a.sum()
            sd = np.sqrt(mean * (1 - mean) / (a.sum() + 1))
            found = np.array([[float(got["theta", str(n), str(j)][what]) for what in ("mean", "sd")] for j in range(3)])
            if not (close(found[:, 0], mean, 1e-6) and close(found[:, 1], sd, 1e-6)):
                return print(n, found, mean, sd)
            p = np.array([float(got["z", str(n), str(j)]["probability"]) for j in range(3)])
            if not close(p, mean, 1e-6):
                return print("z", n, p, mean)
    return True


@holds
def predictions_in_parts():
    """Items that are read some at a time have the bits that they have in memory, whichever of them have elements without data."""
    b = RNG.normal(size=4000)
    x = b + RNG.normal(size=4000)
    x[3000:] = np.nan
    f = Folder("""model m { plate n; mu ~ Normal(mean = 0, sd = 10); b[n] ~ Normal(mean = mu, sd = 1); c[n] ~ Normal(mean = b[n], sd = 1);
      observe y[n] ~ Normal(mean = b[n], sd = 1); observe x[n] ~ Normal(mean = c[n], sd = 1); }""", {"y": b, "x": x}, "--guide", "factorised")
    write(f.at("d.csv"), "y,x\n" + "".join(f"{one},{'' if np.isnan(other) else other}\n" for one, other in zip(b.tolist(), x.tolist())))
    whole, parts = predicted(f, f.at("d.csv")), predicted(f, f.at("d.csv"), "--stream")
    return len(whole) == 9000 and whole == parts


@holds
def scores():
    """Held-out words of items whose kind has no data, under the exact posterior mean of their weights."""
    x = [[float(v) for v in RNG.normal(6 * (n % 3) - 6, 1, size=2)] if n % 2 else [] for n in range(30)]
    u = [[int(v) for v in RNG.choice(3, p=[0.7, 0.2, 0.1], size=6)] for _ in x]
    f = Folder("""model m { plate n; plate t in n; plate j in n; plate k = 3; mu[k] ~ Normal(mean = 0, sd = 10);
      theta[n] ~ Dirichlet(concentration = 1) over k; z[n] ~ Categorical(theta[n]); observe u[n, t] ~ Categorical(theta[n]);
      observe x[n, j] ~ Normal(mean = mu[z[n]], sd = 1); }""", {"x": x, "u": u}, *TIGHT)
    some = f.bind("some", {"x": [[]] * 15, "u": u[::2]})
    f.run("score", f.at("fit"), "--data", some, "--save")
    out, got = arrays(f.at("fit/heldout.npz"))["u"].reshape(15, 6), read_json(f.at("fit/score.json"))
    want = 0
    for words, apart in zip(np.array(u[::2]), out):
        a = 1 + np.bincount(words[apart == 0], minlength=3)
        want += np.log(a / a.sum())[words[apart > 0]].sum()
    return got["observations"] == out.sum() > 0 and close(got["total"], want, 1e-6) or print(got["total"], want)


@holds
def groups_that_no_item_names():
    """Of items that are read some at a time too: the fit is that of items in memory, whatever part shows the last group."""
    who = np.sort(RNG.choice([0, 1, 2, 3, 30], size=3000))
    y, c = (3 + RNG.normal(size=31))[who] + RNG.normal(size=3000), RNG.poisson(2, size=3000)
    for size in ("", " = 40"):
        text = f"""model m {{ plate n; plate k = 2; plate user{size}; data who[n] : user; mu ~ Normal(mean = 0, sd = 10);
          tau ~ Gamma(shape = 1, rate = 1); p ~ Dirichlet(concentration = 1) over k; lam[k] ~ Gamma(shape = 1, rate = 1);
          z[n] ~ Categorical(p); observe c[n] ~ Poisson(lam[z[n]]); b[user] ~ Normal(mean = mu, precision = tau);
          observe y[n] ~ Normal(mean = b[who[n]], sd = 1); }}"""
        with temporary({"t.csv": "who,y,c\n" + "".join(f"{a},{b},{k}\n" for a, b, k in zip(who, y.tolist(), c))}) as folder:
            whole, parts = (fit(text, [f"{folder}/t.csv"], "--search", "none", "--max-iter", "60", "--tol", "0", *more, save_locals=False)
                            for more in ([], ["--stream"]))
        for name, values in whole.posterior.items():
            if name[0] in "mtb" and not close(values, parts.posterior[name], 1e-6):
                return print(size, name, values, parts.posterior[name])
    return float(whole.posterior["mu.precision"]) < 5 * 2


finish()
