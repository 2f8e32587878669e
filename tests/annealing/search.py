#!/usr/bin/env python3
"""The search of a plain `lehr fit`: it finds what other starts miss, tells what it did, and is the same for a seed.

usage: search.py LEHR
"""
import functools
import glob
import os
import signal
import sys

import numpy as np
from scipy.special import gammaln, logsumexp
from scipy.stats import gamma

sys.path.append(f"{sys.path[0]}/../helpers")
from lehr_tests import LEHR, lehr, read, read_csv, read_json, started, temporary, write, write_json  # noqa: E402

R = np.random.default_rng(3)


def fit(folder, name, model, data, *options, code=0):
    at = lambda f: os.path.join(folder, f)
    if "{" in model:
        write(at(name + ".lehr"), model)
        model = at(name + ".lehr")
    if isinstance(data, dict):
        write_json(at(name + ".json"), {k: np.asarray(v).tolist() for k, v in data.items()})
        data = ["--data", at(name + ".json")]
    done = lehr("fit", model, *data, "--out", at(name), *options, code=code)
    if code not in (0, 5):
        return done.stderr
    report = read_json(at(name + "/fit.json"))
    report["trace"] = read_csv(at(name + "/trace.csv"))
    report["said"] = done.stdout + done.stderr
    return report


ZERO_INFLATED = """model m { plate n; plate k = 2; data on[k] : real;
  lam ~ Gamma(shape = 1, rate = 0.1);
  c ~ Dirichlet(concentration = 1) over k;
  kind[n] ~ Categorical(c);
  observe y[n] ~ Poisson(on[kind[n]] * lam); }"""


def zero_inflation(folder):
    """The default start may end in a rate of hundreds. The evidence is a double integral."""
    lost = 0
    p, lam = np.meshgrid(np.linspace(0.3, 0.9, 300), np.linspace(2.0, 4.5, 300))
    poisson = lambda k, rate: k * np.log(rate) - rate - gammaln(k + 1)
    for k in range(4):
        y = R.poisson(3.1, 300) * (R.random(300) < 0.6)
        data = {"on": [1e-9, 1], "y": y}
        got = fit(folder, f"zero{k}", ZERO_INFLATED, data)
        log_joint = gamma.logpdf(lam, 1, scale=10)
        for k, n in zip(*np.unique(y, return_counts=True)):
            log_joint = log_joint + n * np.logaddexp(np.log1p(-p) + poisson(k, 1e-9 * lam), np.log(p) + poisson(k, lam))
        evidence = logsumexp(log_joint) + np.log(p[0, 1] - p[0, 0]) + np.log(lam[1, 0] - lam[0, 0])
        assert evidence - 3 < got["elbo"] < evidence, (got["elbo"], evidence)
        lost += fit(folder, "zero_plain", ZERO_INFLATED, data, "--search", "none")["elbo"] < evidence - 100
    assert lost > 0
    return f"ELBO {got['elbo']:.2f}, log evidence {evidence:.2f}; {lost} of 4 plain runs are lost"


FAITHFUL = ["--data", "x=models/data/mixtures/faithful.csv:eruptions,waiting", "--set", "K=4"]


def what_it_tells(folder):
    """Starts of all kinds, sweeps that add up, one line on the terminal; never below the start of a plain run."""
    got = fit(folder, "tells", "models/mixtures/gmm.lehr", FAITHFUL)
    plain = fit(folder, "plain", "models/mixtures/gmm.lehr", FAITHFUL, "--search", "none")
    assert "search" not in plain and got["elbo"] >= plain["elbo"] - 1e-6 * abs(plain["elbo"])
    starts = got["search"]["starts"]
    assert {s["kind"] for s in starts} == {"seeds", "points", "allocations", "means", "flat"} and len(starts) % 5 == 0
    assert starts[0]["kind"] == "seeds" and starts[0]["leader"] and sum(s["leader"] for s in starts) >= 2 and any(s["converged"] for s in starts)
    at = [int(row["iteration"]) for row in got["trace"]]
    # One sweep, at a temperature without end, only measures the largest entropy.
    assert at == sorted(set(at)) and got["iterations"] == got["search"]["sweeps"] == at[-1] == len(at) + 1
    assert got["iterations"] >= sum(s["sweeps"] for s in starts)
    assert got["status"] == "converged" and f"searched {len(starts)} starts" in got["said"], got["said"]
    first = [float(row["elbo"]) for row in plain["trace"]][:5]
    assert np.allclose([float(row["elbo"]) for row in got["trace"]][:5], first, rtol=1e-12)
    return f"{got['elbo']:.3f}, plain {plain['elbo']:.3f}, {got['iterations']} sweeps for {plain['iterations']}"


def same_for_a_seed(folder):
    a, b = (fit(folder, name, "models/mixtures/gmm.lehr", FAITHFUL, "--seed", "4") for name in ("a", "b"))
    posteriors = [read(os.path.join(folder, name, "posterior.npz"), "rb") for name in ("a", "b")]
    assert posteriors[0] == posteriors[1] and a["search"] == b["search"]
    return "the same bytes"


def narrowed(folder):
    """What is said of starts, temperatures and sweeps leaves one start; a search takes no temperature."""
    for k, options in enumerate((["--init", "points"], ["--restarts", "2"], ["--max-iter", "7"], ["--anneal", "linear:from=3,over=5"],
                                 ["--tol", "1e-4"], ["--method", "svi"])):
        assert "search" not in fit(folder, f"narrow{k}", "models/mixtures/gmm.lehr", FAITHFUL, *options), options
    full = fit(folder, "full", "models/mixtures/gmm.lehr", FAITHFUL, "--search", "full", "--max-iter", "60")
    assert len(full["search"]["starts"]) == 20 and sum(s["leader"] for s in full["search"]["starts"]) >= 4
    for options in (["--method", "svi"], ["--anneal", "auto"], ["--temper", "global"]):
        assert "--search" in fit(folder, "refused", "models/mixtures/gmm.lehr", FAITHFUL, "--search", "quick", *options, code=2)
    return "one start where it was said"


TOPICS = """model m { plate doc; plate token; plate topic = 6; plate term = 80;
  beta[topic] ~ Dirichlet(concentration = 0.1) over term; theta[doc] ~ Dirichlet(concentration = 0.2) over topic;
  z[doc, token] ~ Categorical(theta[doc]); observe w[doc, token] ~ Categorical(beta[z[doc, token]]); }"""


def topics(folder):
    """Above the optimum that the true topics lead to, which neither a plain run nor temperatures of the data find."""
    gains = []
    for seed in (0, 1):
        r = np.random.default_rng(seed)
        beta = r.dirichlet([0.1] * 80, 6)
        z = np.array([r.choice(6, size=60, p=t) for t in r.dirichlet([0.2] * 6, 120)])
        w = np.array([[r.choice(80, p=beta[k]) for k in row] for row in z])
        terms, shares = np.full((6, 80), 0.1), np.full((120, 6), 0.2)
        np.add.at(terms, (z, w), 1)
        np.add.at(shares, (np.arange(120)[:, None], z), 1)
        np.savez(os.path.join(folder, "true.npz"), **{"beta.concentration": terms, "theta.concentration": shares})
        of = lambda name, *options: fit(folder, name, TOPICS, {"w": w}, *options)
        true, got = of("true", "--init", os.path.join(folder, "true.npz")), of("searched")
        assert got["annealing"]["temperatures_of"] == "entropies" and "best from flat, then annealed" in got["said"]
        assert got["elbo"] > true["elbo"], (got["elbo"], true["elbo"])
        for other in ([], ["--anneal", "linear:from=3,over=60"]):
            assert of("other", "--search", "none", *other)["elbo"] < true["elbo"] - 20
        gains.append(got["elbo"] - true["elbo"])
    return "above by " + ", ".join(f"{g:.1f}" for g in gains)


FEATURES = """model m { plate n; plate k = 9; plate d; tau ~ Gamma(shape = 1, rate = 1); pi[k] ~ Beta(1, 1);
  W[k, d] ~ Normal(mean = 0, precision = 0.1); s[n, k] ~ Bernoulli(pi[k]);
  observe x[n, d] ~ Normal(mean = sum(k) s[n, k] * W[k, d], precision = tau); }"""


def annealed_while_it_gains(folder):
    """Arms follow until three in a row have gained nothing, and one more for three that did; those from the best are hotter after one that came back to it."""
    r = np.random.default_rng(7)
    s, w = r.random((150, 9)) < 0.4, 2 * r.normal(size=(9, 16))
    x = s @ w + 0.7 * r.normal(size=(150, 16))
    got = fit(folder, "features", FEATURES, {"x": x}, "--guide", "factorised")
    arms, melting = got["annealing"]["arms"], got["annealing"]["melting_temperature"]
    assert [a["from"] / melting for a in arms[:2]] == [1, 0.7] and len(arms) > 6
    kept = [k for k, a in enumerate(arms) if a["kept"]]
    assert len(kept) >= 3 and len(arms) - 1 - kept[-1] <= 3 + len(kept) // 3, arms
    assert all(b - a <= 3 + n // 3 for n, (a, b) in enumerate(zip(kept, kept[1:]), 1)), arms
    share, hot = 1, 0.7 if arms[1]["kept"] else 1
    best = max(a["elbo"] for a in arms[:2])
    for k, a in enumerate(arms[2:]):
        assert np.isclose(a["from"], max(1.05, hot * melting * (share if k % 3 else 1))), (k, a)
        if k % 3 and not a["kept"]:
            share *= 1.2 if abs(a["elbo"] - best) <= 1e-5 * abs(best) else 0.8
        best = max(best, a["elbo"]) if a["kept"] else best
    plain = fit(folder, "features_plain", FEATURES, {"x": x}, "--guide", "factorised", "--search", "none", "--anneal", "auto")
    assert got["elbo"] > plain["elbo"] + 100
    return f"{len(arms)} arms, {got['elbo']:.1f}; --anneal auto {plain['elbo']:.1f}"


def posterior(folder, name):
    with np.load(os.path.join(folder, name, "posterior.npz")) as f:
        return {k: f[k] for k in f.files}


LINEAR = "model m { plate n; plate d; data x[n, d] : real; %s observe y[n] ~ %s; }"
W = "w[d] ~ Normal(mean = 0, precision = 0.5);"
DOT = "sum(d) w[d] * x[n, d]"
RATES = "model m { plate n; plate i; plate j; data a[n] : i; data b[n] : j; u[i] ~ Gamma(shape = 0.5, rate = 1); v[j] ~ Gamma(shape = 0.5, rate = 1); observe y[n] ~ %s; }"
PROVED = {
    "logistic": (LINEAR % (W, f"Bernoulli(logistic({DOT}))"), "in the latent variables"),
    "probit": (LINEAR % (W, f"Bernoulli(probit({DOT}))"), "in the latent variables"),
    "least_squares": (LINEAR % (W + " c ~ Normal(mean = 0, precision = 1);", f"Normal(mean = c + {DOT}, precision = 2)"), "in the latent variables"),
    "levels": ("model m { plate n; plate i; data a[n] : i; c ~ Normal(mean = 0, precision = 1); u[i] ~ Normal(mean = c, precision = 2); "
               "observe y[n] ~ Bernoulli(logistic(u[a[n]])); }", "in the latent variables"),
    "rates": (RATES % "Poisson(u[a[n]] * v[b[n]])", "in the logarithms"),
    "rate_of_rates": ("model m { plate n; r ~ Gamma(shape = 2, rate = 1); u[n] ~ Gamma(shape = 0.5, rate = r); observe y[n] ~ Poisson(u[n]); }", "in the logarithms"),
    "separate": ("model m { plate n; plate i; data a[n] : i; p[i] ~ Beta(1, 1); q ~ Beta(1, 1); observe y[n] ~ Bernoulli(p[a[n]]); observe z[n] ~ Bernoulli(q); }",
              "no factor depends"),
}
UNPROVED = {
    "unknown_precision": LINEAR % (W + " t ~ Gamma(shape = 1, rate = 1);", f"Normal(mean = {DOT}, precision = t)"),
    "product": "model m { plate n; p ~ Normal(mean = 0, precision = 1); q ~ Normal(mean = 0, precision = 1); observe y[n] ~ Normal(mean = p * q, precision = 1); }",
    "response": "model m { plate n; plate i; plate j; data a[n] : i; data b[n] : j; p[i] ~ Normal(mean = 0, precision = 1); q[j] ~ Normal(mean = 1, precision = 1); "
                "observe y[n] ~ Bernoulli(logistic(p[a[n]] * q[b[n]])); }",
    "sum_of_rates": RATES % "Poisson(u[a[n]] + v[b[n]])",
    "pairs": "model m { plate n; p ~ Normal(mean = 0, precision = 1); q ~ Normal(mean = 0, precision = 1); potential -3 * p * q; observe y[n] ~ Normal(mean = p, precision = 1); }",
    "hidden": "model m { plate n; plate k = 2; c ~ Dirichlet(concentration = 1) over k; z[n] ~ Categorical(c); p[k] ~ Normal(mean = 0, precision = 0.1); observe y[n] ~ Normal(mean = p[z[n]], precision = 1); }",
}


def one_optimum(folder):
    """Where one optimum is proved, a plain run is all there is, and other starts end at its ELBO and means; nowhere else is that said."""
    r = np.random.default_rng(2)
    n, x = 60, r.normal(size=(60, 3))
    columns = {"x": x, "a": r.integers(5, size=n), "b": r.integers(4, size=n), "z": (r.random(n) < 0.3).astype(int)}
    values = {"counts": r.poisson(2, n), "bits": (r.random(n) < 1 / (1 + np.exp(-x @ [2, -1, 0]))).astype(int), "numbers": x @ [1, 0, -1] + 1.5 + 0.5 * r.normal(size=n)}

    def data(model):
        kind = "counts" if "Poisson(" in model else "bits" if "y[n] ~ Bernoulli" in model else "numbers"
        declared = {"x": "data x[", "a": "data a[", "b": "data b[", "z": "observe z["}
        return {"y": values[kind], **{k: v for k, v in columns.items() if declared[k] in model}}

    for name, (model, why) in PROVED.items():
        got = fit(folder, name, model, data(model), "--guide", "factorised")
        plain = fit(folder, name + "_plain", model, data(model), "--guide", "factorised", "--search", "none")
        assert why in got["one_optimum"] and "search" not in got and f"one optimum: {got['one_optimum']}" in got["said"], (name, got["said"])
        assert got["iterations"] == plain["iterations"] and got["elbo"] == plain["elbo"], (name, got["iterations"], plain["iterations"])
        for kind, seed in (("means", 2), ("means", 3), ("flat", 4)):
            other = fit(folder, "other", model, data(model), "--guide", "factorised", "--init", kind, "--seed", str(seed), "--tol", "1e-12", "--max-iter", "20000")
            assert other["elbo"] >= got["elbo"] - 1e-9 * abs(got["elbo"]) and np.isclose(other["elbo"], got["elbo"], rtol=1e-6, atol=0), (name, kind, seed)
            here, there = posterior(folder, name), posterior(folder, "other")
            assert all(np.allclose(here[k], there[k], rtol=1e-2, atol=1e-2) for k in here), (name, kind, seed)
    for name, model in UNPROVED.items():
        assert "one_optimum" not in fit(folder, name, model, data(model), "--guide", "factorised"), name
    coin = fit(folder, "coin", "models/distributions/coin.lehr", ["--data", "models/data/distributions/coin.csv"])
    assert coin["iterations"] == 2 and "no factor depends" in coin["one_optimum"]
    return f"{len(PROVED)} proved, {len(UNPROVED)} not"


def starts_that_agree(folder):
    """Where starts agree, the search costs little more than the plain run, whose posterior it has; no start is made twice."""
    cost = []
    for name, words in (("linear_regression", ["--data", "x=models/data/regression/iris.csv:Sepal.Length,Sepal.Width,Petal.Length", "--data", "y=models/data/regression/iris.csv:Petal.Width"]),
                        ("half_cauchy_schools", ["--data", "models/data/hierarchical/eight_schools.json"]),
                        ("local_level", ["--data", "y=models/data/sequences/nile.csv:flow"])):
        model = glob.glob(f"models/*/{name}.lehr")[0]
        got, plain = fit(folder, name, model, words), fit(folder, name + "_plain", model, words, "--search", "none")
        starts = got["search"]["starts"]
        assert got["search"]["agree"] and "which agree" in got["said"] and 2 <= len(starts) <= 3, (name, got["said"])
        assert got["elbo"] == plain["elbo"] and got["iterations"] == sum(s["sweeps"] for s in starts) == len(got["trace"])
        assert starts[0]["sweeps"] == plain["iterations"] and got["iterations"] <= 2 * plain["iterations"], (name, starts)
        a, b = posterior(folder, name), posterior(folder, name + "_plain")
        assert all(np.array_equal(a[k], b[k]) for k in a), name
        cost.append(got["iterations"] / plain["iterations"])
    assert np.median(cost) <= 1.8, cost
    # Rotations of factors have the same ELBO and other parameters, so these starts do not agree.
    rotated = fit(folder, "rotated", "models/factors/factor_analysis.lehr", ["--data", "x=models/data/factors/wine.csv"])
    starts = [(s["kind"], s["seed"]) for s in rotated["search"]["starts"]]
    assert not rotated["search"]["agree"] and sum(s["leader"] for s in rotated["search"]["starts"]) >= 2
    assert len(set(starts)) == len(starts) and {k for k, _ in starts[1:]} == {"means", "flat"}, starts
    return "costs " + ", ".join(f"{c:.2f}" for c in cost)


SIGNS = """model m { plate n; p ~ Normal(mean = 1, precision = 1); q ~ Normal(mean = 0.5, precision = 1); t ~ Gamma(shape = 2, rate = 2);
  observe y[n] ~ Normal(mean = p * q, precision = t); }"""


def starts_that_differ(folder):
    """A product has two optima, which the priors make unequal: the search ends in the better one, also where the first start does not."""
    y = {"y": 4 + 0.7 * np.random.default_rng(7).normal(size=30)}
    searched = [fit(folder, "signs", SIGNS, y, "--seed", str(seed)) for seed in range(1, 9)]
    plain = [fit(folder, "signs_plain", SIGNS, y, "--seed", str(seed), "--search", "none")["elbo"] for seed in range(1, 9)]
    best = max(plain)
    assert min(plain) < best - 1 and all(g["elbo"] > best - 1e-6 * abs(best) for g in searched), (plain, [g["elbo"] for g in searched])
    assert "one_optimum" not in searched[0]
    return f"{sum(e < best - 1 for e in plain)} of {len(plain)} plain runs end in the worse one, {best - min(plain):.2f} lower"


def failing(folder):
    """Every start fails: the failure is that of a plain run."""
    model = "model m { plate n; a ~ Gamma(shape = 1, rate = 1); mu ~ Normal(mean = 0, precision = 1); observe x[n] ~ Normal(mean = mu, precision = a); }"
    data = {"x": [1e200, -1e200]}
    got, plain = fit(folder, "failing", model, data, code=5), fit(folder, "plain_failing", model, data, "--search", "none", code=5)
    assert got["status"] == "numerical_failure" and got["iterations"] == plain["iterations"]
    assert got["said"] == plain["said"].replace("plain_failing", "failing")
    return "exit code 5"


COUNTS = """model m { plate n; plate k = 2; pi ~ Dirichlet(concentration = 1) over k; z[n] ~ Categorical(pi);
  m[k] ~ Gamma(shape = 1, rate = 0.1); r ~ Gamma(shape = 2, rate = 0.5);
  observe x[n] ~ GammaPoisson(mean = m[z[n]], r = r); guide point(r); }"""


def passed_over(folder):
    """Starts from seeds leave `r` without a mode: others take their place, and a run that is not a search says so."""
    r = np.random.default_rng(3)
    x = r.poisson(np.where(r.random(200) < 0.5, 3, 20) * r.gamma(2, 0.5, 200))
    of = lambda name, *options: fit(folder, name, COUNTS, {"x": x}, *options)
    means, got = of("means", "--init", "means"), of("passed")
    assert got["status"] == "converged" and got["elbo"] >= means["elbo"] - 1e-6 * abs(means["elbo"])
    assert "no start from seeds" not in got["said"] and got["search"]["starts"][0]["kind"] == "means"
    for k, options in enumerate((["--search", "none"], ["--anneal", "auto"], ["--restarts", "2"], ["--method", "svi", "--epochs", "3"])):
        other = of(f"other{k}", *options)
        assert "no start from seeds: 'r' has no mode" in other["said"], other["said"]
        assert other["status"] in ("converged", "max_iter") and len(other["warnings"]) > 0
    assert of("other0", "--search", "none")["elbo"] == means["elbo"]
    return f"{got['elbo']:.2f}, from the means {means['elbo']:.2f}"


LETTERS = """model m { plate s; plate t in s ordered; plate k = 4; plate l = 12; pi ~ Dirichlet(concentration = 1) over k;
  A[k] ~ Dirichlet(concentration = 1) over k; B[k] ~ Dirichlet(concentration = 0.5) over l;
  z[s, t] ~ Categorical(A[z[s, t-1]]) start Categorical(pi); observe x[s, t] ~ Categorical(B[z[s, t]]); }"""


def holds_the_plain_run(folder):
    """The first start goes the way of a plain run, leaps and all, to its end: the search is not below it."""
    r = np.random.default_rng(5)
    a, b = r.dirichlet(np.full(4, 0.5), 4) * 0.3 + 0.7 * np.eye(4), r.dirichlet(np.full(12, 0.3), 4)
    x = np.empty((40, 30), int)
    for row in x:
        z = r.integers(4)
        for t in range(30):
            row[t] = r.choice(12, p=b[z])
            z = r.choice(4, p=a[z])
    leaps = 0
    for seed in "1234":
        for model, data in ((LETTERS, {"x": x}), ("models/mixtures/gmm.lehr", FAITHFUL)):
            got, plain = fit(folder, "held", model, data, "--seed", seed), fit(folder, "held_plain", model, data, "--seed", seed, "--search", "none")
            first = got["search"]["starts"][0]
            assert first["elbo"] == plain["elbo"] and first["sweeps"] == plain["iterations"], (seed, first, plain["elbo"], plain["iterations"])
            assert got["elbo"] >= plain["elbo"], (got["elbo"], plain["elbo"])
            leaps += plain.get("leaps", {}).get("taken", 0)
    assert leaps > 0
    return f"the same bits; {leaps} leaps on the way"


def clusters(n):
    """Twelve groups in four dimensions, close enough that plain runs mostly end in another optimum."""
    r = np.random.default_rng(11)
    centres, z = 2.5 * r.normal(size=(12, 4)), r.integers(12, size=n)
    return centres[z] + r.normal(size=(n, 4)), z


LARGE = "models/mixtures/gmm_normal_wishart.lehr"


def on_a_sample(check):
    """Runs a check with sweeps of mixtures long from 2 million operations on."""

    @functools.wraps(check)
    def with_less(folder):
        os.environ["LEHR_THRESHOLDS"] = "search.long_sweep_of_moves=2000000"
        try:
            return check(folder)
        finally:
            del os.environ["LEHR_THRESHOLDS"]

    return with_less


def large(folder, name, n):
    x, z = clusters(n)
    np.save(os.path.join(folder, name + ".npy"), x)
    return x, z, ["--data", f"x={folder}/{name}.npy", "--set", "K=12", "alpha0=1", "m0=0", "beta0=1e-2", "nu0=4", "w0=1"]


@on_a_sample
def many_items(folder):
    """Where sweeps are much work the search begins on a sample: it ends at the true groups, above plain runs, in few sweeps over all items."""
    x, z, data = large(folder, "large", 6000)
    # The factors of the globals, given the true groups.
    n, sums = np.bincount(z), np.array([x[z == k].sum(0) for k in range(12)])
    mean = sums / (n + 0.01)[:, None]
    scatter = [np.eye(4) + x[z == k].T @ x[z == k] - (n[k] + 0.01) * np.outer(mean[k], mean[k]) for k in range(12)]
    np.savez(os.path.join(folder, "groups.npz"), **{"pi.concentration": 1 + n, "mu.mean": mean, "mu.precision_scale": n + 0.01, "Lambda.df": 4 + n,
                                                    "Lambda.scale": np.array([np.linalg.inv(s) for s in scatter])})
    true = fit(folder, "large_true", LARGE, data, "--init", os.path.join(folder, "groups.npz"))["elbo"]
    lost, found, cost = 0, 0, []
    for seed in "1234":
        got, plain = (fit(folder, name, LARGE, data, "--seed", seed, *o) for name, o in (("large", []), ("large_plain", ["--search", "none"])))
        starts, sample = got["search"]["starts"], got["search"]["sample"]
        assert len(starts) == 2 and 600 <= sample["items"] <= 1800 and sample["sweeps"] > 0, (starts, sample)
        # The plain run goes its way until it cannot become the best.
        first = [float(row["elbo"]) for row in plain["trace"]]
        assert starts[0]["elbo"] == first[starts[0]["sweeps"] - 1] == got["annealing"]["plain_elbo"], (starts[0], first)
        assert got["elbo"] >= plain["elbo"] - 1e-6 * abs(plain["elbo"]), (got["elbo"], plain["elbo"])
        at = [int(row["iteration"]) for row in got["trace"]]
        assert at == list(range(1, got["iterations"] + 1)) and got["iterations"] == got["search"]["sweeps"]
        lost, found = lost + (plain["elbo"] < true - 100), found + (got["elbo"] > true - 1)
        cost.append((got["iterations"] + sample["sweeps"] * sample["items"] / 6000) / plain["iterations"])
    assert lost > 0 and found >= 3, (lost, found)
    again = fit(folder, "large_again", LARGE, data, "--seed", "4", "--threads", "3")
    assert again["search"] == got["search"] and again["annealing"] == got["annealing"]
    assert read(os.path.join(folder, "large_again/posterior.npz"), "rb") == read(os.path.join(folder, "large/posterior.npz"), "rb")
    return f"found {found} of 4 times, plain runs lost {lost}; work relative to a plain run " + ", ".join(f"{c:.1f}" for c in cost)


@on_a_sample
def resumed(folder):
    """A search with a sample goes on after an interrupt, with the bits of one that was not interrupted."""
    words = ["fit", LARGE, *large(folder, "resumed", 60000)[2], "--quiet"]
    whole, part = os.path.join(folder, "whole"), os.path.join(folder, "part")
    lehr(*words, "--out", whole)
    process = started(LEHR, *words, "--out", part, path=os.path.join(part, "trace.csv"), lines=12)
    process.send_signal(signal.SIGINT)
    process.wait(timeout=300)
    assert read_json(os.path.join(part, "fit.json"))["status"] == "interrupted"
    lehr(*words, "--out", part, "--resume", part)
    assert read(os.path.join(part, "posterior.npz"), "rb") == read(os.path.join(whole, "posterior.npz"), "rb")
    return "the same bytes"


BINARY_FACTORS = """model m { plate n; plate d; plate k = 4; p[k] ~ Beta(1, 1); W[k, d] ~ Normal(mean = 0, sd = 2); tau ~ Gamma(shape = 1, rate = 1);
  z[n, k] ~ Bernoulli(p[k]); observe y[n, d] ~ Normal(mean = sum(k) z[n, k] * W[k, d], precision = tau); }"""
NOISY = """model m { plate n; plate k = 2; pi ~ Dirichlet(concentration = 3) over k; rho ~ Beta(10, 2); mu[k] ~ Normal(mean = 0, sd = 6);
  tau ~ Gamma(shape = 4, rate = 2); z[n] ~ Categorical(pi);
  observe x[n] ~ mixture(rho, Normal(mean = mu[z[n]], precision = tau), Normal(mean = 0, sd = 20)); }"""


def several_choices(folder):
    """Items with some bits, or with a category and a part: the search ends no lower than a run from the truth."""
    def compare(name, model, data, truth):
        np.savez(os.path.join(folder, "truth.npz"), **truth)
        found = fit(folder, name, model, data, "--quiet")["elbo"]
        wanted = fit(folder, name + "_truth", model, data, "--quiet", "--search", "none", "--init", os.path.join(folder, "truth.npz"))["elbo"]
        assert found >= wanted - 1e-4, (name, found, wanted)

    for seed in (4, 5, 6):
        r = np.random.default_rng(seed)
        z, w = (r.random((200, 4)) < 0.3) * 1.0, r.normal(0, 2, (4, 12))
        compare(f"bits{seed}", BINARY_FACTORS, {"y": z @ w + 0.5 * r.normal(size=(200, 12))}, {
            "z.p": np.clip(z, 0.01, 0.99), "W.mean": w, "W.precision": np.full((4, 12), 100.0), "tau.shape": np.array(1200.0),
            "tau.rate": np.array(300.0), "p.a": np.full(4, 60.0), "p.b": np.full(4, 140.0)})
    r = np.random.default_rng(1)
    x = np.concatenate([r.normal(0, 0.8, 170), r.normal(8.5, 0.8, 80), r.normal(0, 20, 50)])
    compare("noise", NOISY, {"x": x}, {"mu.mean": np.array([0, 8.5]), "mu.precision": np.array([200.0, 100.0]), "tau.shape": np.array(130.0),
                                       "tau.rate": np.array(80.0), "rho.a": np.array(260.0), "rho.b": np.array(50.0),
                                       "pi.concentration": np.array([170.0, 80.0])})
    return "three sets of bits, and clusters beside noise"


def interrupted(folder):
    out = os.path.join(folder, "stopped")
    words = ["fit", "models/topics/lda.lehr", "--data", "w=models/data/topics/kos.ldac.gz", "--set", "K=5", "--quiet", "--out", out]
    process = started(LEHR, *words, path=os.path.join(out, "trace.csv"), lines=9)
    process.send_signal(signal.SIGINT)
    process.wait(timeout=120)
    report = read_json(os.path.join(out, "fit.json"))
    assert report["status"] == "interrupted" and np.isfinite(report["elbo"]), report
    return f"after {report['iterations']} sweeps"


with temporary() as folder:
    for check in (zero_inflation, what_it_tells, same_for_a_seed, narrowed, topics, annealed_while_it_gains, one_optimum, starts_that_agree, starts_that_differ, failing, passed_over, holds_the_plain_run,
                  many_items, several_choices, resumed, interrupted):
        print(f"ok {check.__name__}: {check(folder)}", flush=True)
