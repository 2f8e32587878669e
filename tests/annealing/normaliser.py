#!/usr/bin/env python3
"""The tempered normaliser log C(T) = sum over items of log integral p(x_i, z_i | globals)^(1/T), and what follows from it.

The numbers are integrals by quadrature and by enumeration, made independently; the formulas printed in Mandt et al.
(2016) leave constants out, which moves the temperature.
"""
import sys

import numpy as np
from scipy import integrate, stats

sys.path.append(f"{sys.path[0]}/../posterior")
from fitting import finish, fit  # noqa: E402


def tempering(model, data, t, *more, **arguments):
    spec = ",".join([f"global:max={t}", "levels=2", *more])
    return fit(model, data, "--temper", spec, "--max-iter", 1, monotone=False, **arguments).report["tempering"]


def close(got, want, tolerance, what):
    assert abs(got - want) <= tolerance, f"{what}: {got!r}, not {want!r}"
    return f"{what} {got:.10f}"


def factorial():
    model = """model m { plate n; plate k = 2; mu[k] ~ Normal(mean = 0, variance = 1); z[n, k] ~ Bernoulli(0.3);
      observe x[n] ~ Normal(mean = sum(k) z[n, k] * mu[k], variance = 0.2); }"""
    got = tempering(model, {"x": [0.4]}, 2.7)
    assert got["normaliser"] == "exact", got["normaliser"]
    return close(got["log_normaliser"][1], 1.4013380390, 1e-9, "factorial mixture")


def improper():
    """A prior from which nothing can be drawn has no average of the normaliser."""
    model = """model m { plate n; tau ~ Jeffreys(); observe x[n] ~ Normal(mean = 0, precision = tau); }"""
    try:
        tempering(model, {"x": [0.1, 0.5, -0.3]}, 2.5, "normaliser=prior")
    except RuntimeError as e:
        assert "its normaliser under the prior is not a number" in str(e), e
        return "refused"
    raise AssertionError("a normaliser under an improper prior")


def gaussian():
    model = """model m { plate n; mu ~ Normal(mean = 0, variance = 2);
      observe x[n] ~ Normal(mean = mu, variance = 0.5); }"""
    got = tempering(model, {"x": [0.1, 0.5, -0.3]}, 2.5)
    return close(got["log_normaliser"][1], 2.4046929951, 1e-9, f"Gaussian ({got['normaliser']})")


def bernoulli():
    model = "model m { plate n; p ~ Beta(2, 3); observe x[n] ~ Bernoulli(p); }"
    got = tempering(model, {"x": [0, 1, 1, 0, 0, 1, 0, 0, 0, 1]}, 1.5, "normaliser=prior", "draws=20000")
    error = got["standard_error"][1]
    assert 0 < error < 0.01, f"standard error {error}"
    return close(got["log_normaliser"][1], 2.0869295523, 4 * error, f"Bernoulli under a prior (error {error:.4f})")


def chain():
    """Two observed steps of a two-state chain with Poisson emissions, by enumeration."""
    model = """model m { plate seq; plate t in seq ordered; plate k = 2;
      data A[k] : simplex over k; data rate[k] : real;
      c ~ Normal(mean = 0, sd = 1);
      s[seq, t] ~ Categorical(A[s[seq, t-1]]) start Categorical(0.5);
      observe x[seq, t] ~ Poisson(rate[s[seq, t]]);
      observe y[seq] ~ Normal(mean = c, sd = 1); }"""
    a, rate, t = np.array([[0.9, 0.1], [0.3, 0.7]]), [2.0, 9.0], 1.8
    emission = [np.sum(stats.poisson.pmf(np.arange(200), r) ** (1 / t)) for r in rate]
    total = sum((0.5 * a[i, j]) ** (1 / t) * emission[i] * emission[j] for i in range(2) for j in range(2))
    normal = np.log(integrate.quad(lambda x: stats.norm.pdf(x) ** (1 / t), -40, 40)[0])
    got = tempering(model, {"A": a, "rate": rate, "x": [[1, 4], [7, 2]], "y": [0.0, 1.0]}, t)
    return close(got["log_normaliser"][1], 2 * (np.log(total) + normal), 1e-8, "two chains")


def topics():
    """Given topics, moments of the factors of the proportions: tokens by enumeration, documents of two lengths. The
    prior of the proportions, on which the normaliser of the tokens depends, is not tempered."""
    model = """model m { plate doc; plate token in doc; plate topic = 2; plate term = 3;
      data beta[topic] : simplex over term;
      theta[doc] ~ Dirichlet(concentration = 2) over topic;
      z[doc, token] ~ Categorical(theta[doc]);
      observe w[doc, token] ~ Categorical(beta[z[doc, token]]); }"""
    beta, t = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]), 1.7
    init = {"theta.concentration": [[3.0, 1.0], [1.0, 4.0]]}
    data = {"beta": beta, "w": [[0, 1, 2], [2, 2]]}
    got = tempering(model, data, t, "normaliser=posterior", init=init)
    topic, want = np.sum(beta ** (1 / t), axis=1), 0.0
    for (a, b), tokens in ((init["theta.concentration"][0], 3), (init["theta.concentration"][1], 2)):
        token = lambda x: x ** (1 / t) * topic[0] + (1 - x) ** (1 / t) * topic[1]  # noqa: E731
        want += tokens * np.log(integrate.quad(lambda x: stats.beta.pdf(x, a, b) * token(x), 0, 1)[0])
    return close(got["log_normaliser"][1], want, 1e-7, "documents")


def sampled():
    """5000 items with precisions of their own: log C(T) is the sum over 2000 of them, scaled up, with the standard error that it says.
    How far that moves the temperature is said where it matters: the spread of the data is that of a higher temperature."""
    r = np.random.default_rng(7)
    n, temperatures = 5000, np.geomspace(1, 3, 60)
    w = r.lognormal(0, 5, n)
    x = r.normal(0, 1 / np.sqrt(w)) * np.sqrt(1.4)
    model = """model m { plate n; data w[n] : real; mu ~ Normal(mean = 0, variance = 1); observe x[n] ~ Normal(mean = mu, precision = w[n]); }"""
    got = fit(model, {"x": x, "w": w}, "--temper", "global:max=3,levels=60", monotone=False)
    t = got.report["tempering"]
    each = 0.5 * (1 - 1 / temperatures) * np.log(2 * np.pi / w[:, None]) + 0.5 * np.log(temperatures)
    used = each[np.arange(2000) * n // 2000]
    np.testing.assert_allclose(t["log_normaliser"], n * used.mean(0), rtol=1e-10, atol=1e-9)
    error = n * used.std(0, ddof=1) / np.sqrt(2000) * np.sqrt(1 - 2000 / n)
    np.testing.assert_allclose(t["standard_error"], error, rtol=1e-6, atol=1e-6 * error.max())  # interpolated squares
    assert (np.abs(each.sum(0) - t["log_normaliser"]) <= 4 * error + 1e-9).all(), "far from the sum over all items"
    moved = []
    for sign in (1, -1):
        log_r = np.log(np.maximum(t["posterior"], 1e-300)) - sign * error
        weights = np.exp(log_r - log_r.max())
        moved.append(weights.sum() / (weights / temperatures).sum())
    want = abs(moved[0] - moved[1]) / 2
    assert abs(t["temperature_error"] - want) < 1e-3, f"{t['temperature_error']}, not {want}"
    assert want > 0.05 and "the temperature is uncertain by" in got.said, f"{want}: {got.said}"
    return f"temperature {t['temperature']:.3f}, standard error {want:.3f}"


def cools():
    """Noise of variance 0.5: with a constant left out the temperature stays at 2.56."""
    r = np.random.default_rng(1)
    mu, z = r.normal(0, 0.6, (4, 16)), r.random((400, 4)) < 0.3
    x = z @ mu + r.normal(0, np.sqrt(0.5), (400, 16))
    model = """model m { plate n; plate k = 4; plate d; mu[k] ~ MvNormal(mean = 0, covariance = 0.36) over d;
      z[n, k] ~ Bernoulli(0.3); observe x[n] ~ MvNormal(mean = sum(k) z[n, k] * mu[k], covariance = 0.5); }"""
    got = fit(model, {"x": x}, "--temper", "global", "--init", "allocations", monotone=False).report["tempering"]
    assert 1 <= got["temperature"] < 1.1, f"temperature {got['temperature']}"
    return f"temperature {got['temperature']:.4f} before the finishing phase"


def constants():
    """In other units every log density of an item has another constant, and the temperatures are the same."""
    r = np.random.default_rng(2)
    mu, z = r.normal(0, 0.6, (3, 8)), r.random((150, 3)) < 0.3
    x, start = z @ mu + r.normal(0, 0.5, (150, 8)), r.normal(0, 0.6, (3, 8))
    paths = []
    for unit in (1.0, 20.0):
        model = f"""model m {{ plate n; plate k = 3; plate d;
          mu[k] ~ MvNormal(mean = 0, covariance = {0.36 * unit**2}) over d; z[n, k] ~ Bernoulli(0.3);
          observe x[n] ~ MvNormal(mean = sum(k) z[n, k] * mu[k], covariance = {0.25 * unit**2}); }}"""
        init = {"mu.mean": unit * start, "mu.precision": np.array([np.eye(8) / (0.1 * unit) ** 2] * 3)}
        got = fit(model, {"x": unit * x}, "--temper", "global", "--max-iter", 40, init=init, monotone=False)
        paths.append(got.temperatures)
    assert max(paths[0]) > 1.5, "nothing was warm"
    np.testing.assert_allclose(paths[1], paths[0], rtol=1e-8)
    return f"{len(paths[0])} temperatures, from {max(paths[0]):.3f} to {min(paths[0]):.3f}, are the same in other units"


def foreseen():
    """Under the prior nine of ten draws are alike: the temperature cannot come down to 1 where half of them are, and can
    where they are as expected. Only the first is said, before the run."""
    model = "model m { plate n; p ~ Beta(90, 10); observe x[n] ~ Bernoulli(p); }"
    said = {}
    for ones in (50, 95):
        x = np.repeat([1, 0], [ones, 100 - ones])
        got = fit(model, {"x": x}, "--temper", "global:max=10,normaliser=prior,draws=2000", monotone=False)
        said[ones] = "keeps the temperature above 1" in got.said
        hot = got.report["tempering"]["temperature"] > 1.05
        assert said[ones] == hot, f"{ones} of 100: foreseen {said[ones]}, and it ended at {got.report['tempering']['temperature']}"
    assert said == {50: True, 95: False}, f"{said}"
    return "said before the run, where it holds"


def too_many_states():
    """Sums over more states than there is memory for are refused: those that one term looks up together, and those that summing
    out one of 22 variables that all meet each other would need."""
    looked_up = """model m { const K = 110; plate n; plate a = K; plate b = K; plate c = K; r[a, b, c] ~ Gamma(shape = 1, rate = 1);
      za[n] ~ Categorical(1 / K) over a; zb[n] ~ Categorical(1 / K) over b; zc[n] ~ Categorical(1 / K) over c;
      observe y[n] ~ Poisson(r[za[n], zb[n], zc[n]]); }"""
    all_meet = """model m { plate n; plate i = 22; plate e; plate g = 2; plate h = g; data u[e] : i; data v[e] : i;
      r[g, h] ~ Gamma(shape = 1, rate = 1); z[n, i] ~ Categorical(0.5) over g; observe y[n, e] ~ Poisson(r[z[n, u[e]], z[n, v[e]]]); }"""
    u, v = np.triu_indices(22, 1)
    for model, data, of in ((looked_up, {"y": [1, 2]}, "y"), (all_meet, {"u": u, "v": v, "y": np.ones((1, len(u)), int)}, "z")):
        for kind in ("global", "local"):
            try:
                fit(model, data, "--temper", f"{kind}:max=3", "--search", "none", "--max-iter", 1)
                raise AssertionError("fitted")
            except RuntimeError as refused:
                if not f"more than 1048576 states of discrete variables together, for '{of}'" in str(refused):
                    raise
                if "exit 3" not in str(refused):
                    raise
    return "refused"


finish({"factorial": factorial, "gaussian": gaussian, "prior": bernoulli, "chain": chain, "topics": topics, "sampled": sampled,
        "cools": cools, "constants": constants, "foreseen": foreseen,
        "too many states": too_many_states, "improper": improper})
