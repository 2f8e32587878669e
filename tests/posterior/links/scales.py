#!/usr/bin/env python3
"""Families of scales and of heavy tails: half-Cauchy, half-t, half-normal, inverse Wishart, Laplace; uniform categories, and the
negative binomial by its mean. Against quadrature, SciPy's densities, and published estimates.

usage: scales.py LEHR
"""
import sys

import numpy as np
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import logsumexp
from scipy.stats import beta, gamma, halfcauchy, halfnorm, invgamma, invwishart, laplace, multivariate_normal, nbinom, norm, t as student

sys.path.append(f"{sys.path[0]}/..")
from fitting import close, finish, fit, holds, lehr, temporary  # noqa: E402
from sampling import sample, standard_error  # noqa: E402

RNG = np.random.default_rng(11)
TIGHT = ["--search", "none", "--tol", "1e-14", "--max-iter", "20000"]


def moments(log_density, low, high):
    """Mean and sd of a density by the trapezoidal rule."""
    grid = np.linspace(low, high, 200001)
    p = np.exp(log_density(grid) - log_density(grid).max())
    p /= p.sum()
    mean = p @ grid
    return mean, np.sqrt(p @ (grid - mean)**2)


@holds
def half_cauchy_by_its_factors():
    """The equations of the two factors, a bound of the evidence by quadrature, and draws against the posterior."""
    y = RNG.normal(0, 1.5, size=12)
    model = "model m { plate n; s ~ HalfCauchy(scale = 2); observe y[n] ~ Normal(mean = 0, sd = s); }"
    got = fit(model, {"y": y}, *TIGHT)
    weight = 1.0
    for _ in range(500):  # E[1/s^2], then E[weight]
        shape, scale = 0.5 + 6, weight + 0.5 * (y**2).sum()
        weight = (0.5 + 0.5) / (0.25 + shape / scale)
    assert close(got.posterior["s.shape"], shape) and close(got.posterior["s.square_scale"], scale)
    log_joint = lambda s: halfcauchy.logpdf(s, scale=2) + norm.logpdf(y[:, None], 0, s).sum(axis=0)
    evidence = np.log(quad(lambda s: np.exp(log_joint(np.array([s]))[0]), 1e-6, 60, limit=200, epsabs=1e-30)[0])
    assert evidence - 0.1 < got.elbo < evidence
    drawn = fit(model, {"y": y}, "--method", "gibbs", "--draws", "20000", "--warmup", "500", monotone=False)
    mean, sd = moments(log_joint, 0.3, 8)
    return abs(drawn.posterior["s.mean"] - mean) < 0.03 * sd and abs(drawn.posterior["s.sd"] / sd - 1) < 0.05


@holds
def schools():
    """Eight schools with a half-Cauchy prior of the deviation between them: draws against quadrature over it."""
    y, se = np.array([28.0, 8, -3, 7, -1, 1, 18, 12]), np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
    got = fit("models/hierarchical/half_cauchy_schools.lehr", ["models/data/hierarchical/eight_schools.json"], "--method", "gibbs", "--draws", "40000", "--warmup", "1000",
              monotone=False).posterior
    tau = np.exp(np.linspace(-9, 6, 4000))  # mu and theta integrated out, mu ~ Normal(0, 100)
    precision = 1 / (tau[:, None]**2 + se**2)
    v = 1 / (precision.sum(axis=1) + 1e-4)
    m = v * (precision @ y)
    log_p = (halfcauchy.logpdf(tau, scale=25) + np.log(tau) + 0.5 * np.log(precision).sum(axis=1) + 0.5 * np.log(v)
             - 0.5 * (precision * y**2).sum(axis=1) + 0.5 * m**2 / v)
    p = np.exp(log_p - log_p.max())
    p /= p.sum()
    shrunk = [(p @ ((y[k] / se[k]**2 + m / tau**2) / (1 / se[k]**2 + 1 / tau**2))) for k in range(8)]
    mean = p @ tau
    sd = np.sqrt(p @ (tau - mean)**2)
    return (abs(got["between.mean"] - mean) < 0.1 * sd and abs(got["mu.mean"] - p @ m) < 0.3
            and np.all(np.abs(got["theta.mean"] - shrunk) < 0.5))


@holds
def half_t_and_its_square():
    """df and scale as data, and precision = 1 / s^2 written out: by draws of the posterior."""
    y = RNG.normal(0, 0.4, size=8)
    elbos = []
    for spelled in ("sd = s", "precision = 1 / (s * s)", "variance = s * s"):
        model = "model m { plate n; const nu; s ~ HalfStudentT(df = nu, scale = 0.5); observe y[n] ~ Normal(mean = 0, %s); }" % spelled
        elbos.append(fit(model, {"y": y, "nu": 3}, *TIGHT).elbo)
    drawn = fit(model, {"y": y, "nu": 3}, "--method", "gibbs", "--draws", "20000", "--warmup", "500", monotone=False)
    mean, sd = moments(lambda s: student.logpdf(s / 0.5, 3) + norm.logpdf(y[:, None], 0, s).sum(axis=0), 0.05, 4)
    return close(elbos, elbos[0]) and abs(drawn.posterior["s.mean"] - mean) < 0.04 * sd


@holds
def half_normal_data():
    """A conjugate scale: the posterior and the log evidence by Bayes' rule."""
    x = np.abs(RNG.normal(0, 2, size=20))
    model = "model m { plate n; s ~ RootInverseGamma(shape = 2, square_scale = 3); observe x[n] ~ HalfNormal(s); }"
    got = fit(model, {"x": x}, *TIGHT)
    shape, scale = 2 + 10, 3 + 0.5 * (x**2).sum()
    log_root = lambda s, a, b: invgamma.logpdf(s**2, a, scale=b) + np.log(2 * s)
    evidence = log_root(1.7, 2, 3) + halfnorm.logpdf(x, scale=1.7).sum() - log_root(1.7, shape, scale)
    return close(got.posterior["s.shape"], shape) and close(got.posterior["s.square_scale"], scale) and close(got.elbo, evidence)


@holds
def points_of_scales():
    """A half-normal prior of an sd, a Gamma prior of a variance: the largest log joint."""
    y = RNG.normal(0, 2, size=9)
    cases = [("s ~ HalfNormal(0.7)", "sd = s", lambda s: halfnorm.logpdf(s, scale=0.7) + norm.logpdf(y, 0, s).sum()),
             ("s ~ Gamma(shape = 3, rate = 4)", "variance = s", lambda s: gamma.logpdf(s, 3, scale=0.25) + norm.logpdf(y, 0, s**0.5).sum()),
             ("s ~ HalfCauchy(1.5)", "sd = s", lambda s: halfcauchy.logpdf(s, scale=1.5) + norm.logpdf(y, 0, s).sum())]
    for prior, spelled, log_joint in cases:
        got = fit("model m { plate n; %s; observe y[n] ~ Normal(mean = 0, %s); guide point(s); }" % (prior, spelled), {"y": y}, *TIGHT)
        best = minimize(lambda t: -log_joint(np.exp(t[0])), [0.0], method="Nelder-Mead", options={"xatol": 1e-12, "fatol": 1e-13})
        if not (close(got.elbo, -best.fun) and close(got.posterior["s.value"], np.exp(best.x[0]), 1e-5)):
            print(prior, got.elbo, -best.fun, got.posterior["s.value"], np.exp(best.x))
            return False
    return True


@holds
def covariances():
    """An inverse Wishart covariance of a known mean: exact, and the same as the Wishart precision; draws of it."""
    x = RNG.multivariate_normal([0, 0, 0], [[2, 1, 0], [1, 1, 0.2], [0, 0.2, 0.5]], size=15)
    psi = np.array([[3, 0.5, 0], [0.5, 2, 0], [0, 0, 1]])
    model = """model m { plate n; plate d; data psi : matrix over d, d; S ~ InverseWishart(df = 6, scale = psi) over d;
      observe x[n] ~ MvNormal(mean = 0, covariance = S) over d; }"""
    got = fit(model, {"x": x, "psi": psi}, *TIGHT)
    numbers = fit(model.replace("data psi : matrix over d, d;", "plate e = d; const psi[d, e];"), {"x": x, "psi": psi}, *TIGHT)
    assert close(numbers.elbo, got.elbo) and close(numbers.posterior["S.scale"], got.posterior["S.scale"])
    posterior = psi + x.T @ x
    at = np.eye(3)
    evidence = (invwishart.logpdf(at, 6, psi) + multivariate_normal.logpdf(x, np.zeros(3), at).sum()
                - invwishart.logpdf(at, 21, posterior))
    precise = fit("""model m { plate n; plate d; data psi : matrix over d, d; L ~ Wishart(df = 6, rate = psi) over d;
      observe x[n] ~ MvNormal(mean = 0, precision = L) over d; }""", {"x": x, "psi": psi}, *TIGHT)
    if not (close(got.elbo, evidence) and close(precise.elbo, evidence) and close(got.posterior["S.df"], 21)
            and close(got.posterior["S.scale"], posterior)):
        return False
    drawn = fit(model, {"x": x, "psi": psi}, "--method", "gibbs", "--draws", "20000", monotone=False)
    sd = drawn.posterior["S.sd"]
    assert not np.any(np.abs(drawn.posterior["S.mean"] - posterior / (21 - 4)) > 0.05 * sd)
    point = fit(model.rstrip(" }") + " guide point(S); }", {"x": x, "psi": psi}, *TIGHT)
    return close(point.posterior["S.value"], posterior / (21 + 4))


@holds
def mixture_of_covariances():
    """A latent mean, a factor 2 * S, and a covariance for each component: as with precisions."""
    x = np.vstack([RNG.normal(0, 1, size=(20, 2)), RNG.normal(4, 0.5, size=(20, 2))])
    model = """model m { plate n; plate k = 2; plate d; pi ~ Dirichlet(concentration = 1) over k; mu[k] ~ MvNormal(mean = 0, precision = 0.01) over d;
      %s; z[n] ~ Categorical(pi); observe x[n] ~ MvNormal(mean = mu[z[n]], %s) over d; }"""
    init = {"mu.mean": [[0.0, 0.0], [4.0, 4.0]]}
    a = fit(model % ("S[k] ~ InverseWishart(df = 4, scale = 1) over d", "covariance = 2 * S[z[n]]"), {"x": x}, *TIGHT, init=init)
    b = fit(model % ("L[k] ~ Wishart(df = 4, rate = 1) over d", "precision = L[z[n]] / 2"), {"x": x}, *TIGHT, init=init)
    return close(a.elbo, b.elbo, 1e-6) and close(np.sort(a.posterior["S.df"]), np.sort(b.posterior["L.df"]), 1e-4)


@holds
def least_absolute_deviations():
    """Points under flat priors: Brownlee's stack loss by the median, as quantreg has it (-39.690, 0.832, 0.574, -0.061)."""
    table = np.loadtxt("models/data/regression/stackloss.csv", delimiter=",", skiprows=1)
    columns, y = table[:, :3], table[:, 3]
    centre, spread = columns.mean(axis=0), columns.std(axis=0)  # residuals go to 0, and are divided by: their digits count
    x = np.column_stack([np.ones(21), (columns - centre) / spread])
    done = fit('''model m { plate n; plate d; data x[n] : vector over d; w ~ MvNormal(mean = 0, precision = 0) over d;
      observe y[n] ~ Laplace(mean = dot(w, x[n]), scale = 1); guide point(w); }''', {"x": x, "y": y - y.mean()}, "--tol", "1e-8", "--max-iter", "20000")
    slopes = done.posterior["w.value"][1:] / spread
    intercept = done.posterior["w.value"][0] + y.mean() - slopes @ centre
    near = fit("models/regression/least_absolute_deviations.lehr", ["x=models/data/regression/stackloss.csv:air,water,acid", "y=models/data/regression/stackloss.csv:loss"])
    return (close([intercept, *slopes], [-39.68986, 0.83188, 0.57391, -0.06087], 2e-4)
            and np.all(np.abs(near.posterior["w.mean"] - [0.83188, 0.57391, -0.06087]) < 0.15))


@holds
def laplace_noise():
    """Bound of the log evidence by quadrature; draws against the posterior, of a mean and of a coefficient with that prior."""
    y = RNG.laplace(1, 0.7, size=7)
    model = "model m { plate n; mu ~ Normal(mean = 0, sd = 3); observe y[n] ~ Laplace(mean = mu, scale = 0.7); }"
    log_joint = lambda m: norm.logpdf(m, 0, 3) + laplace.logpdf(y[:, None], m, 0.7).sum(axis=0)
    grid = np.linspace(-4, 6, 100001)
    evidence = logsumexp(log_joint(grid)) + np.log(grid[1] - grid[0])
    got = fit(model, {"y": y}, *TIGHT)
    assert evidence - 0.7 < got.elbo < evidence and "bound of the ELBO" in got.said + str(got.report), (got.elbo, evidence, got.said)
    for text, density in ((model, log_joint),
                          ("model m { plate n; mu ~ Laplace(mean = 0, scale = 0.4); observe y[n] ~ Normal(mean = mu, sd = 2); }",
                           lambda m: laplace.logpdf(m, 0, 0.4) + norm.logpdf(y[:, None], m, 2).sum(axis=0))):
        drawn = fit(text, {"y": y}, "--method", "gibbs", "--draws", "30000", "--warmup", "500", monotone=False)
        mean, sd = moments(density, -6, 8)
        if abs(drawn.posterior["mu.mean"] - mean) > 0.04 * sd or abs(drawn.posterior["mu.sd"] / sd - 1) > 0.05:
            print(drawn.posterior["mu.mean"], mean, drawn.posterior["mu.sd"], sd)
            return False
    return True


@holds
def laplace_of_unknown_scale():
    """A rate with a Gamma prior and a scale with an inverse gamma prior: the same fit, by the equations of the bound."""
    y = RNG.laplace(1, 0.7, size=30)
    text = "model m { plate n; mu ~ Normal(mean = 0, sd = 3); %s; observe y[n] ~ Laplace(mean = mu, %s); }"
    a = fit(text % ("r ~ Gamma(shape = 2, rate = 1)", "rate = r"), {"y": y}, *TIGHT)
    b = fit(text % ("s ~ InverseGamma(shape = 2, scale = 1)", "scale = s"), {"y": y}, *TIGHT)
    mean, var, rate = 0.0, 1.0, 1.0
    for _ in range(20000):
        xi = np.sqrt((y - mean)**2 + var)
        rate = (2 + 30) / (1 + xi.sum())
        var = 1 / (1 / 9 + rate * (1 / xi).sum())
        mean = var * rate * (y / xi).sum()
    return (close(a.elbo, b.elbo) and close(a.posterior["mu.mean"], mean, 1e-5) and close(a.posterior["r.rate"], 1 + xi.sum(), 1e-5)
            and close(b.posterior["s.scale"], 1 + xi.sum(), 1e-5) and close(a.posterior["y.bound.value"], xi, 1e-5))


@holds
def draws_of_unknown_scale():
    """A rate, and a scale for each of two components, by a grid."""
    y = RNG.laplace(1, 0.7, size=9)
    mu, r = np.meshgrid(np.linspace(-3, 5, 801), np.linspace(0.005, 9, 900), indexing="ij")
    log_density = norm.logpdf(mu, 0, 3) + gamma.logpdf(r, 2) + sum(laplace.logpdf(v, mu, 1 / r) for v in y)
    p = np.exp(log_density - log_density.max())
    p /= p.sum()
    for text, name, x in (("r ~ Gamma(shape = 2, rate = 1); observe y[n] ~ Laplace(mean = mu, rate = r)", "r", r),
                          ("s ~ InverseGamma(shape = 2, scale = 1); observe y[n] ~ Laplace(mean = mu, scale = s)", "s", 1 / r)):
        got = fit("model m { plate n; mu ~ Normal(mean = 0, sd = 3); %s; }" % text, {"y": y}, "--method", "gibbs", "--draws", "30000",
                  "--warmup", "500", monotone=False).posterior
        for variable, value in (("mu", mu), (name, x)):
            mean = (p * value).sum()
            sd = np.sqrt((p * (value - mean)**2).sum())
            if abs(got[variable + ".mean"] - mean) > 0.04 * sd or abs(got[variable + ".sd"] / sd - 1) > 0.05:
                print(variable, got[variable + ".mean"], mean, got[variable + ".sd"], sd)
                return False
    z = np.arange(9) % 2
    text = """model m { plate n; plate k = 2; mu ~ Normal(mean = 0, sd = 3); r[k] ~ Gamma(shape = 2, rate = 1); %s;
      observe y[n] ~ Laplace(mean = mu, rate = r[z[n]]); }"""
    draws = ["--method", "gibbs", "--draws", "30000", "--warmup", "500"]
    given = fit(text % "data z[n] : k", {"y": y, "z": z}, *draws, monotone=False).posterior
    drawn = fit(text % "data p[n] : simplex over k; z[n] ~ Categorical(p[n])", {"y": y, "p": np.eye(2)[z]}, *draws, monotone=False).posterior
    return close(given["r.mean"], drawn["r.mean"], 0.03)


STACKS = """model stacks { plate day; plate d; data z[day] : vector over d;
  beta0 ~ Normal(mean = 0, sd = 1000);
  beta ~ MvNormal(mean = 0, precision = 1e-6) over d;
  s ~ InverseGamma(shape = 0.001, scale = 0.001);
  observe y[day] ~ Laplace(mean = beta0 + dot(beta, z[day]), scale = s); }"""


@holds
def stacks_of_bugs():
    """Its robust regression: means within four errors of those that the documentation of Mamba.jl (B. J. Smith) prints, theirs and ours."""
    table = np.genfromtxt("models/data/regression/stackloss.csv", delimiter=",", names=True)
    x = np.column_stack([table[k] for k in ("air", "water", "acid")])
    sd = x.std(axis=0, ddof=1)
    d = sample(STACKS, {"y": table["loss"], "z": (x - x.mean(axis=0)) / sd}, draws=20000, warmup=1000).draws
    b = [d[f"beta.{k + 1}"] / sd[k] for k in range(3)]
    found = [*b, d["beta0"] - sum(b[k] * x[:, k].mean() for k in range(3)), np.sqrt(2) * d["s"]]
    published = [(0.83686, 0.13085, 0.00276), (0.74445, 0.33480, 0.00658), (-0.11665, 0.12214, 0.00151), (-38.77656, 8.81860, 0.09790),
                 (3.48764, 0.87611, 0.02790)]
    for v, (mean, spread, error) in zip(found, published):
        print(f"  {v.mean():.4f} ({v.std():.4f}), published {mean} ({spread})")
        assert abs(v.mean() - mean) <= 4 * np.hypot(standard_error(v), error) and abs(v.std() / spread - 1) <= 0.1
    return True


@holds
def lasso():
    """Points of coefficients with that prior: the conditions of the optimum, zeros included."""
    x = RNG.normal(size=(40, 6))
    y = x @ [2, -1, 0, 0, 0, 0.0] + RNG.normal(0, 0.5, size=40)
    got = fit("""model m { plate n; plate d; data x[n, d] : real; w[d] ~ Laplace(mean = 0, rate = 60);
      observe y[n] ~ Normal(mean = sum(d) x[n, d] * w[d], sd = 0.5); guide point(w); }""", {"x": x, "y": y}, *TIGHT)
    w = got.posterior["w.value"]
    slope = x.T @ (y - x @ w) / 0.25
    used = np.abs(w) > 1e-6
    return used.sum() < 6 and close(slope[used], 60 * np.sign(w[used]), 1e-4) and np.all(np.abs(slope[~used]) <= 60)


@holds
def gaps():
    """Missing numbers are left out, also of Laplace data."""
    y = np.array([0.3, np.nan, 1.2, -0.4, np.nan])
    text = "model m { plate n; mu ~ Normal(mean = 0, sd = 3); observe y[n] ~ Laplace(mean = mu, scale = 0.7); }"
    a, b = fit(text, {"y": y}, *TIGHT), fit(text, {"y": y[~np.isnan(y)]}, *TIGHT)
    return close(a.elbo, b.elbo) and close(a.posterior["mu.mean"], b.posterior["mu.mean"])


@holds
def uniform_categories():
    """Components of equal weight: the sum over the categories."""
    x, mu = RNG.normal(size=9), np.array([-1.0, 0.5, 2.0])
    got = fit("model m { plate n; plate k; const mu[k]; z[n] ~ Uniform() over k; observe x[n] ~ Normal(mean = mu[z[n]], sd = 0.8); }",
              {"x": x, "mu": mu}, *TIGHT)
    p = norm.logpdf(x[:, None], mu, 0.8)
    return close(got.elbo, (logsumexp(p, axis=1) - np.log(3)).sum()) and close(got.posterior["z.probs"], np.exp(p - logsumexp(p, axis=1)[:, None]))


@holds
def negative_binomial_spellings():
    """By mean and size, by p and size."""
    y = RNG.negative_binomial(2, 0.3, size=30)
    mean = fit("model m { plate n; mu ~ Gamma(shape = 2, rate = 0.5); observe y[n] ~ NegativeBinomial(mean = mu, r = 2); guide point(mu); }",
               {"y": y}, *TIGHT)
    mu = float(mean.posterior["mu.value"])
    p = fit("model m { plate n; p ~ Beta(2, 3); observe y[n] ~ NegativeBinomial(r = 2, p = p); }", {"y": y}, *TIGHT)
    a, b = 2 + 2 * 30, 3 + y.sum()
    evidence = beta.logpdf(0.4, 2, 3) + nbinom.logpmf(y, 2, 0.4).sum() - beta.logpdf(0.4, a, b)
    return close(mean.elbo, gamma.logpdf(mu, 2, scale=2) + nbinom.logpmf(y, 2, 2 / (2 + mu)).sum()) and close(p.elbo, evidence)


def run(text, y, *arguments):
    with temporary({"m.lehr": text, "y.csv": "y\n" + "\n".join(str(v) for v in y) + "\n"}) as d:
        return lehr("fit", f"{d}/m.lehr", "--data", f"{d}/y.csv", "--out", f"{d}/out", *arguments, code=None)


@holds
def what_is_refused():
    """With the line that works: a half-normal sd that is no point."""
    y = RNG.normal(size=5)
    half = run("model m { plate n; s ~ HalfNormal(1); observe y[n] ~ Normal(mean = 0, sd = s); }", y)
    return half.returncode and "guide point(s)" in half.stderr


finish()
