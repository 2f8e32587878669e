#!/usr/bin/env python3
"""Distributions that are another one with a random parameter: Student's t, beta-binomial, gamma-Poisson, Dirichlet-multinomial; and
the log-normal. Where the parameter is integrated over exactly, the ELBO is the log joint of the distribution itself (by SciPy, which
knows nothing of the parts); elsewhere draws follow the posterior by quadrature.

usage: compounds.py LEHR
"""
import sys

import numpy as np
from scipy.optimize import minimize
from scipy.special import digamma, gammaln
from scipy.stats import betabinom, gamma, nbinom, norm, t as student

sys.path.append(f"{sys.path[0]}/..")
from fitting import close, finish, fit, holds, lehr, read_csv, temporary  # noqa: E402

RNG = np.random.default_rng(5)
TIGHT = ["--search", "none", "--tol", "1e-14", "--max-iter", "20000"]


@holds
def regression_with_heavy_tails():
    """Points for the weights and the precision: the largest log joint of the t model, at the weights where it is largest."""
    model = """model m { plate n; plate d; data x[n] : vector over d;
      w ~ MvNormal(mean = 0, precision = 0.04) over d; b ~ Normal(mean = 0, sd = 10); tau ~ Gamma(shape = 2, rate = 1);
      observe y[n] ~ StudentT(df = 4, mean = dot(w, x[n]) + b, precision = tau); guide point(w, b, tau); }"""
    x = RNG.normal(size=(60, 2))
    y = x @ [1.5, -2] + 0.7 + 0.5 * RNG.standard_t(2, size=60)
    got = fit(model, {"x": x, "y": y}, *TIGHT)

    def minus_log_joint(p):
        tau = np.exp(p[3])
        return -(norm.logpdf(p[:2], 0, 5).sum() + norm.logpdf(p[2], 0, 10) + gamma.logpdf(tau, 2, scale=1)
                 + student.logpdf(y, 4, x @ p[:2] + p[2], tau**-0.5).sum())

    best = minimize(minus_log_joint, [*got.posterior["w.value"], got.posterior["b.value"], np.log(got.posterior["tau.value"])],
                    method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 20000})
    weight = 5 / (4 + got.posterior["tau.value"] * (y - x @ got.posterior["w.value"] - got.posterior["b.value"])**2)
    return (close(got.elbo, -best.fun) and close(got.posterior["w.value"], best.x[:2], 1e-5)
            and close(got.posterior["y.weight.shape"] / got.posterior["y.weight.rate"], weight, 1e-5))


@holds
def every_spelling_and_over():
    """sd, variance and precision, of numbers along a plate and element by element, with gaps."""
    x = RNG.standard_t(3, size=(9, 2)) + [1, -1]
    x[3, 1] = np.nan
    elbos = []
    for spelled in ("sd = s", "variance = v", "precision = p"):
        model = """model m { plate n; plate d; const s = 0.5; const v = 0.25; const p[d]; mu ~ Normal(mean = 0, sd = 3) over d;
          observe x[n] ~ StudentT(df = 3, mean = mu, %s) over d; guide point(mu); }""" % spelled
        if "p" not in spelled.split():
            model = model.replace("const p[d];", "")
        got = fit(model, {"x": x, "p": np.full(2, 4.0)}, *TIGHT)
        mu = got.posterior["mu.value"]
        elbos.append(got.elbo)
        here = ~np.isnan(x)
        exact = norm.logpdf(mu, 0, 3).sum() + student.logpdf(x, 3, mu, 0.5)[here].sum()
        assert close(got.elbo, exact)
    return close(elbos, elbos[0])


@holds
def latent_with_heavy_tails():
    """Effects with a t prior, one an outlier: draws against the posterior of each effect by quadrature."""
    model = """model m { plate j; data s[j] : real; theta[j] ~ StudentT(df = 3, mean = 1, sd = 0.5);
      observe y[j] ~ Normal(mean = theta[j], sd = s[j]); }"""
    y, s = np.array([0.8, 6.0, -3.0, 1.1]), np.array([0.5, 1.0, 2.0, 0.3])
    got = fit(model, {"y": y, "s": s}, "--method", "gibbs", "--draws", "20000", "--warmup", "500", monotone=False)
    grid = np.linspace(-25, 30, 200001)
    for j in range(4):
        p = student.pdf(grid, 3, 1, 0.5) * norm.pdf(y[j], grid, s[j])
        p /= p.sum()
        mean = p @ grid
        sd = np.sqrt(p @ (grid - mean)**2)
        if abs(got.posterior["theta.mean"][j] - mean) > 0.05 * sd or abs(got.posterior["theta.sd"][j] / sd - 1) > 0.05:
            print(j, got.posterior["theta.mean"][j], mean, got.posterior["theta.sd"][j], sd)
            return False
    return True


@holds
def heavy_tails_in_a_chain():
    """Steps of a random walk with a t distribution, each weight with a factor of its own: by the equations of the factors."""
    model = """model m { plate t ordered; x[t] ~ StudentT(df = 5, mean = x[t-1], precision = 4) start Normal(mean = 0, sd = 2);
      observe y[t] ~ Normal(mean = x[t], sd = 0.5); }"""
    y = np.cumsum(0.5 * RNG.standard_t(2, size=12))
    got = fit(model, {"y": y}, *TIGHT)
    weight = np.ones(11)
    for _ in range(3000):
        precision = np.diag(np.full(12, 4.0))
        precision[0, 0] += 0.25
        for i, w in enumerate(weight):
            precision[i:i + 2, i:i + 2] += 4 * w * np.array([[1, -1], [-1, 1]])
        covariance = np.linalg.inv(precision)
        mean = covariance @ (4 * y)
        step = np.diff(mean)**2 + np.diag(covariance)[1:] + np.diag(covariance)[:-1] - 2 * np.diag(covariance, 1)
        weight = 3 / (2.5 + 2 * step)
    return close(got.posterior["x.mean"], mean, 1e-5) and close(
        (got.posterior["x.weight.shape"] / got.posterior["x.weight.rate"])[1:], weight, 1e-5)


@holds
def more_spread_than_binomial():
    """Known a and b: the ELBO is the log probability."""
    model = """model m { plate n; data trials[n] : count; const a[n]; observe y[n] ~ BetaBinomial(trials[n], a[n], 2.5); }"""
    trials, a = np.array([5, 9, 1, 30]), np.array([0.7, 2.0, 1.0, 4.0])
    y = np.array([2, 9, 0, 21])
    got = fit(model, {"trials": trials, "a": a, "y": y}, *TIGHT)
    return close(got.elbo, betabinom.logpmf(y, trials, a, 2.5).sum()) and close(got.posterior["y.p.a"], a + y)


@holds
def more_spread_than_poisson():
    """A point for the mean, and a mean that is a sum of two."""
    y = RNG.negative_binomial(1.5, 0.2, size=40)
    model = """model m { plate n; mu ~ Gamma(shape = 2, rate = 0.1);
      observe y[n] ~ GammaPoisson(mean = mu, r = 1.5); guide point(mu); }"""
    got = fit(model, {"y": y}, *TIGHT)
    mu = float(got.posterior["mu.value"])

    def log_joint(m):
        return gamma.logpdf(m, 2, scale=10) + nbinom.logpmf(y, 1.5, 1.5 / (1.5 + m)).sum()

    steps = [log_joint(mu * f) for f in (0.999, 1, 1.001)]
    assert close(got.elbo, steps[1]) and steps[1] > max(steps[0], steps[2])
    sums = """model m { plate n; plate g; data of[n] : g; base ~ Gamma(shape = 2, rate = 0.5); rate[g] ~ Gamma(shape = 2, rate = 0.5);
      observe y[n] ~ GammaPoisson(mean = base + rate[of[n]], r = 2); }"""
    of = np.arange(40) % 3
    got = fit(sums, {"y": y, "of": of}, *TIGHT)
    q, log_mean = got.posterior, lambda name: digamma(got.posterior[f"{name}.shape"]) - np.log(got.posterior[f"{name}.rate"])
    from_base = 1 / (1 + np.exp(log_mean("rate")[of] - log_mean("base")))  # the share of a count
    return (got.report["status"] == "converged" and "y.source.probs" not in q
            and close(q["base.shape"], 2 + (y * from_base).sum(), 1e-5)
            and close(q["rate.shape"], 2 + np.bincount(of, y * (1 - from_base)), 1e-5))


@holds
def more_spread_than_multinomial():
    model = """model m { plate doc; plate term; const c[term]; observe x[doc] ~ DirichletMultinomial(c) over term; }"""
    x, c = RNG.poisson(3, size=(6, 4)), np.array([0.3, 1.0, 2.0, 0.7])
    got = fit(model, {"x": x, "c": c}, *TIGHT)
    n = x.sum(axis=1)
    exact = (gammaln(n + 1) + gammaln(c.sum()) - gammaln(n + c.sum())
             + (gammaln(x + c) - gammaln(c) - gammaln(x + 1)).sum(axis=1)).sum()
    return close(got.elbo, exact) and close(got.posterior["x.p.concentration"], x + c)


@holds
def logarithms():
    """As a Normal of the logarithms, less the logarithms."""
    model = """model m { plate n; mu ~ Normal(mean = 0, sd = 2); tau ~ Gamma(shape = 2, rate = 1);
      observe y[n] ~ %s(mean = mu, precision = tau); }"""
    y = np.exp(RNG.normal(1, 0.5, size=30))
    a, b = fit(model % "LogNormal", {"y": y}, *TIGHT), fit(model % "Normal", {"y": np.log(y)}, *TIGHT)
    return close(a.elbo, b.elbo - np.log(y).sum()) and close(a.posterior["mu.mean"], b.posterior["mu.mean"])


@holds
def annealed_tempered_and_stochastic():
    """The t model by every method ends where plain sweeps do."""
    model = """model m { plate n; mu ~ Normal(mean = 0, sd = 10); tau ~ Gamma(shape = 1, rate = 1);
      observe y[n] ~ StudentT(df = 4, mean = mu, precision = tau); }"""
    y = RNG.standard_t(3, size=50) + 2
    plain = fit(model, {"y": y}, *TIGHT)
    for options in (["--anneal", "linear:from=5,over=20"], ["--temper", "global:max=5,levels=10"], ["--interpret"]):
        other = fit(model, {"y": y}, *TIGHT, *options, monotone=False)
        assert close(plain.elbo, other.elbo, 1e-6), (options, plain.elbo, other.elbo)
    steps = fit(model, {"y": y}, "--method", "svi", "--batch-size", "50", "--epochs", "3000", monotone=False)
    return abs(steps.elbo - plain.elbo) < 0.05


def refused(model, data, *expected):
    with temporary({"m.lehr": model, "y.csv": data}) as d:
        done = lehr("fit", f"{d}/m.lehr", "--data", f"{d}/y.csv", "--out", f"{d}/out", code=None)
        if done.returncode and all(e in done.stderr for e in expected):
            return True
        print(done.stderr)
        return False


@holds
def messages():
    """In the words of the model, not of the parts."""
    one = "model m {{ plate n; mu ~ Normal(mean = 0, sd = 1); observe y[n] ~ {}; }}"
    return (refused(one.format("StudentT(df = 4, mean = mu, sd = -1)"), "y\n1\n2\n", "the sd of StudentT is -1, but it must be positive")
            and refused(one.format("StudentT(df = 0, mean = mu, sd = 1)"), "y\n1\n2\n", "the df of StudentT")
            and refused(one.format("StudentT(mean = mu, sd = 1)"), "y\n1\n2\n", "StudentT", "'df'")
            and refused(one.format("StudentT(df = mu, mean = 0, sd = 1)"), "y\n1\n2\n", "mu")
            and refused(one.format("LogNormal(mean = mu, sd = 1)"), "y\n1\n-2\n", "LogNormal"))


@holds
def simulated_predicted_shown():
    """What is simulated has the variance of the distribution; gaps of y are predicted; the weights are shown by name."""
    model = """model m { plate n; mu ~ Normal(mean = 3, sd = 0.001); observe y[n] ~ StudentT(df = 5, mean = mu, sd = 2); }"""
    with temporary({"m.lehr": model}) as d:
        run = lambda *a: lehr(*a, cwd=d).stdout
        run("simulate", "m.lehr", "--sizes", "n=200000", "--seed", "3", "--out", "y.npz")
        y = np.load(f"{d}/y.npz")["y"]
        assert abs(y.mean() - 3) <= 0.03 and abs(y.std() - 2 * np.sqrt(5 / 3)) <= 0.05
        np.save(f"{d}/few.npy", y[:50])
        run("fit", "m.lehr", "--data", "y=few.npy", "--out", "out", "--save-locals")
        run("predict", "out", "--sizes", "n=1", "--out", "p.csv")
        y = next(row for row in read_csv(f"{d}/p.csv") if row["variable"] == "y")
        low, high = student.ppf([0.05, 0.95], 5, 3, 2)
        return "y.weight" in run("show", "out") and abs(float(y["q5"]) - low) < 1e-4 and abs(float(y["q95"]) - high) < 1e-4


finish()
