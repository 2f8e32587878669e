#!/usr/bin/env python3
"""Kinds of starts: what each does to every kind of factor, by numbers where there is nothing random and by the spread of
thousands of displacements where there is."""
import sys

import numpy as np

sys.path.append(f"{sys.path[0]}/..")
from fitting import finish, fit  # noqa: E402

MIXTURE = """model m { plate n; plate k = 4; plate d; pi ~ Dirichlet(concentration = 0.5) over k;
  mu[k, d] ~ Normal(mean = 2, sd = 10); z[n] ~ Categorical(pi); observe x[n, d] ~ Normal(mean = mu[z[n], d], sd = 1); }"""


def start(model, data, kind, *more, seed=1):
    return fit(model, data, "--max-iter", 0, "--init", kind, "--seed", seed, *more).posterior


def near(got, want, tolerance, what):
    assert abs(got - want) <= tolerance, f"{what}: {got}, not {want}"


def seeds():
    """Three points for each value: counts of three, and means of three points."""
    x = np.random.default_rng(1).normal(size=(40, 2)) * 5
    got = start(MIXTURE, {"x": x}, "seeds")
    np.testing.assert_allclose(got["pi.concentration"], 3.5, rtol=1e-12)
    np.testing.assert_allclose(got["mu.precision"], 3.01, rtol=1e-12)
    threes = (got["mu.mean"] * 3.01 - 0.02) / 3
    triples = [(a, b, c) for a in range(40) for b in range(a) for c in range(b)]
    means = x[np.array(triples)].mean(1)
    used = [triples[int(np.argmin(np.abs(means - m).sum(1)))] for m in threes]
    for m, t in zip(threes, used):
        np.testing.assert_allclose(m, x[list(t)].mean(0), rtol=1e-9)
    assert len({i for t in used for i in t}) == 12, f"points {used} were taken twice"
    return f"points {used}"


def allocations():
    """Every point has one value: whole counts, about as many of each."""
    got = start(MIXTURE, {"x": np.random.default_rng(2).normal(size=(4000, 1))}, "allocations")
    counts = got["pi.concentration"] - 0.5
    np.testing.assert_allclose(counts, np.round(counts), atol=1e-9)
    assert counts.sum() == 4000 and not np.any(np.abs(counts - 1000) > 150), f"counts {counts}"
    return f"counts {counts}"


def between():
    """What stands between a category and the data is formed from the data of the seeds: two groups of quantities that are measured with
    errors, and two of beta-binomial counts, whose points move by small steps. At their priors they would be alike in all items."""
    rng = np.random.default_rng(3)
    z = np.arange(200) % 2
    theta, sd = rng.normal(10 * z - 5, 1), rng.uniform(0.3, 1.5, 200)
    measured = """model m { plate n; plate k = 2; data s[n] : real; pi ~ Dirichlet(concentration = 1) over k; mu[k] ~ Normal(mean = 0, sd = 10);
      tau[k] ~ Gamma(shape = 1, rate = 1); z[n] ~ Categorical(pi); theta[n] ~ Normal(mean = mu[z[n]], precision = tau[z[n]]);
      observe y[n] ~ Normal(mean = theta[n], sd = s[n]); }"""
    counts = """model m { plate n; plate k = 2; share ~ Dirichlet(concentration = 1) over k; a[k] ~ Gamma(shape = 2, rate = 0.1);
      b[k] ~ Gamma(shape = 2, rate = 0.1); z[n] ~ Categorical(share); observe y[n] ~ BetaBinomial(20, a[z[n]], b[z[n]]); guide point(a, b); }"""
    chances = np.where(z == 1, rng.beta(8, 30, 200), rng.beta(30, 10, 200))
    said = []
    for seed in (1, 2, 3):
        q = fit(measured, {"s": sd, "y": theta + sd * rng.normal(size=200)}, "--search", "none", "--seed", seed).posterior
        np.testing.assert_allclose(np.sort(q["mu.mean"]), [-5, 5], atol=0.4)
        q = fit(counts, {"y": rng.binomial(20, chances)}, "--seed", seed, "--search", "quick", "--max-iter", 300, monotone=False).posterior
        means = np.sort(q["a.value"] / (q["a.value"] + q["b.value"]))
        np.testing.assert_allclose(means, [8 / 38, 30 / 40], atol=0.05)
        # A start moves them more than one step from their prior, where a + b is 40: the counts of both groups together have some 3.
        q = fit(counts, {"y": rng.binomial(20, chances)}, "--seed", seed, "--init", "allocations", "--search", "none", "--max-iter", 0).posterior
        assert np.mean(q["a.value"] + q["b.value"]) < 14, q["a.value"] + q["b.value"]
        said.append(f"{means[0]:.2f}, {means[1]:.2f}")
    return "; ".join(said)


def points():
    """Four clusters in three columns far from 0 and one of noise; columns weigh the same wherever they are. Clusters of
    equal points are all found, as no seed is drawn where another one is."""
    r = np.random.default_rng(3)
    label = np.repeat(np.arange(4), [10, 20, 30, 40])
    for seed in range(1, 9):
        centres = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], float)[label]
        x = np.column_stack([centres, centres, np.zeros(100)]) + 1000
        got = start(MIXTURE, {"x": x}, "points", seed=seed)
        counts = sorted(np.round(got["pi.concentration"] - 0.5, 9))
        assert counts == [10, 20, 30, 40], f"clusters of {counts}"
    x = np.column_stack([*[label % 2 + 1000.0] * 4, r.normal(size=100)])
    two = MIXTURE.replace("k = 4", "k = 2")
    for seed in range(1, 5):
        counts = sorted(np.round(start(two, {"x": x}, "points", seed=seed)["pi.concentration"] - 0.5, 9))
        assert counts == [40, 60], f"clusters of {counts} under noise"
    x = np.column_stack([*[label % 2 * 30 + 1000] * 4, r.poisson(3, size=100)])
    rates = """model m { plate n; plate k = 2; plate d; pi ~ Dirichlet(concentration = 0.5) over k;
      rate[k, d] ~ Gamma(shape = 1, rate = 0.01); z[n] ~ Categorical(pi); observe x[n, d] ~ Poisson(rate[z[n], d]); }"""
    for seed in range(1, 5):
        counts = sorted(np.round(start(rates, {"x": x}, "points", seed=seed)["pi.concentration"] - 0.5, 9))
        assert counts == [40, 60], f"clusters of {counts} in counts"
    return "eight seeds"


def displaced(kind, size):
    """Factors that nothing is known about: each by its prior and a displacement no larger than 1."""
    model = """model m { plate n = 3000; narrow[n] ~ Normal(mean = 4, sd = 0.01); wide[n] ~ Normal(mean = -1, sd = 50);
      g[n] ~ Gamma(shape = 3, rate = 2); p[n] ~ Beta(2, 5); m0 ~ Normal(mean = 0, sd = 1);
      observe x ~ Normal(mean = m0, sd = 1); }"""
    got = start(model, {"x": 0.0}, kind)
    np.testing.assert_allclose(got["narrow.precision"], 1e6, rtol=1e-9)
    np.testing.assert_allclose(got["wide.precision"], 0.04, rtol=1e-9)
    near(np.std(got["narrow.mean"]), 0.01 * size, 0.0006 * size, "spread of narrow means")
    near(np.mean(got["narrow.mean"]), 4, 0.002 * size, "narrow means")
    near(np.std(got["wide.mean"]), size, 0.06 * size, "spread of wide means")
    near(np.mean(got["wide.mean"]), -1, 0.1 * size, "wide means")
    near(np.std(np.log(got["g.rate"] / 2)), 0.3 * size, 0.02 * size, "spread of log rates")
    np.testing.assert_allclose(got["g.shape"], 3, rtol=1e-12)
    for name, prior in (("p.a", 2), ("p.b", 5)):
        if kind == "flat":
            near(np.mean(got[name]), 1, 0.01, f"{name}: Gamma(100) over 100")
            near(np.std(got[name]), 0.1, 0.006, f"spread of {name}")
        else:
            near(np.mean(got[name]) - prior, 1, 0.08, f"{name}: an exponential above the prior's")
            near(np.std(got[name]), 1, 0.1, f"spread of {name}")
    return f"displacements of {size}"


finish({"seeds": seeds, "allocations": allocations, "between": between, "points": points, "means": lambda: displaced("means", 1.0),
        "flat": lambda: displaced("flat", 0.1)})
