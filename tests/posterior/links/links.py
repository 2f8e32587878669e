#!/usr/bin/env python3
"""Probit links, limits and censored values, softmax and mixtures: where the parameters are points, the ELBO is the log joint of the
model itself at its largest (by SciPy, which knows of no auxiliary variables); elsewhere draws follow the posterior by quadrature.

usage: links.py LEHR
"""
import os
import sys

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, gammaln, log_ndtr, logsumexp
from scipy.stats import beta, binom, dirichlet, expon, gamma, geom, nbinom, norm, poisson

sys.path.append(f"{sys.path[0]}/..")
from fitting import ROOT, close, finish, fit, holds, read, read_csv, read_json  # noqa: E402

RNG = np.random.default_rng(8)
TIGHT = ["--search", "none", "--tol", "1e-14", "--max-iter", "20000"]
DRAWS = ["--method", "gibbs", "--draws", "20000", "--warmup", "500"]


def table(name):
    return read_csv(os.path.join(ROOT, "models/data", name))


def largest(minus_log_joint, *starts):
    """The least of a smooth function, from one of these places."""
    runs = [minimize(minus_log_joint, s, method="BFGS", options={"gtol": 1e-9}) for s in starts]
    return min(runs, key=lambda r: r.fun)


def is_posterior(got, name, grid, log_posterior, at=()):
    """Draws of a number have the mean and the standard deviation of a density on a grid."""
    p = np.exp(log_posterior - logsumexp(log_posterior))
    mean = p @ grid
    sd = np.sqrt(p @ (grid - mean)**2)
    drawn_mean, drawn_sd = got.posterior[name + ".mean"][at], got.posterior[name + ".sd"][at]
    if abs(drawn_mean - mean) < 0.06 * sd and abs(drawn_sd / sd - 1) < 0.05:
        return True
    print(name, at, drawn_mean, mean, drawn_sd, sd)
    return False


@holds
def probit_regression_is_maximum_likelihood():
    """Points for all weights: the maximum of the probit likelihood with its prior, with gaps in the data and far-away rows."""
    model = """model m { plate n; plate d; data x[n] : vector over d; w ~ MvNormal(mean = 0, precision = 0.01) over d; b ~ Flat();
      observe y[n] ~ Bernoulli(probit(dot(w, x[n]) + b)); guide point(w, b); }"""
    x = RNG.normal(size=(80, 2))
    x[0] = [40, -30]
    y = (norm.cdf(x @ [1.2, -0.8] + 0.3) > RNG.uniform(size=80)).astype(float)
    y[5] = y[17] = np.nan
    got = fit(model, {"x": x, "y": y}, *TIGHT)
    here = ~np.isnan(y)
    side = 2 * y[here] - 1

    def minus_log_joint(p):
        return -(log_ndtr(side * (x[here] @ p[:2] + p[2])).sum() + norm.logpdf(p[:2], 0, 10).sum())

    best = largest(minus_log_joint, np.zeros(3))
    return close(got.elbo, -best.fun, 1e-9) and close(got.posterior["w.value"], best.x[:2], 1e-5)


@holds
def probit_posterior_by_draws():
    """One weight: draws against its posterior by quadrature; the ELBO of independent factors is below the evidence."""
    model = """model m { plate n; data x[n] : real; w ~ Normal(mean = 0.5, sd = 2);
      observe y[n] ~ Bernoulli(probit(w * x[n])); }"""
    x = RNG.normal(size=15)
    y = (norm.cdf(1.5 * x) > RNG.uniform(size=15)).astype(float)
    grid = np.linspace(-12, 14, 20001)
    log_joint = norm.logpdf(grid, 0.5, 2) + log_ndtr(np.outer(grid, (2 * y - 1) * x)).sum(axis=1)
    got = fit(model, {"x": x, "y": y}, *DRAWS, monotone=False)
    elbo = fit(model, {"x": x, "y": y}, *TIGHT).elbo
    evidence = logsumexp(log_joint) + np.log(grid[1] - grid[0])
    print(elbo, evidence)
    return is_posterior(got, "w", grid, log_joint) and evidence - 5 < elbo < evidence


@holds
def limits_of_known_normals():
    """The ELBO of numbers with limits is the log probability of their intervals: near, far out, narrow and empty on one side."""
    m = np.array([0, 0, 3, -3, 50, -500, 2000, 0, 0, 0.3])
    s = np.array([1, 2, 1, 1, 1, 2.5, 1, 1, 1, 0.1])
    lower = np.array([-1, 0.5, 5, -1e9, 0, 10, -5, 8, 2, 0.2])
    upper = np.array([1, 1e9, 6, -4, 1e-3, 1e9, -4, 9, 2.0000001, 0.2 + 1e-9])
    model = """model m { plate n; data m[n] : real; data s[n] : real; data lower[n] : real; data upper[n] : real;
      u[n] ~ Normal(mean = m[n], sd = s[n]) above lower[n] below upper[n]; }"""
    got = fit(model, {"m": m, "s": s, "lower": lower, "upper": upper}, *TIGHT)
    # By the composite trapezoid rule about the likeliest point of each interval.
    total = 0
    for k in range(len(m)):
        mode = np.clip(m[k], lower[k], upper[k])
        scale = min(s[k], s[k]**2 / (abs(mode - m[k]) + 1e-300))
        a, b = max(lower[k], mode - 45 * scale), min(upper[k], mode + 45 * scale)
        grid = np.linspace(a, b, 400001)
        log_p = -0.5 * ((grid - m[k]) / s[k])**2
        w = np.exp(log_p - log_p.max())
        w[[0, -1]] /= 2
        mass = w.sum() * (grid[1] - grid[0])
        total += np.log(mass) + log_p.max() - np.log(s[k]) - 0.5 * np.log(2 * np.pi)
        mean = (w @ (grid - a)) / w.sum() + a
        sd = np.sqrt((w @ (grid - mean)**2) / w.sum())
        shown = truncated_mean(got, k)
        assert abs(shown - mean) <= 1e-6 * sd + 1e-9 * abs(mean), (k, shown, mean, sd)
    return close(got.elbo, total, 1e-9)


def truncated_mean(got, k):
    """The mean of a factor by its parameters, in extended precision where SciPy has none."""
    precision, mean, lower, upper = (got.posterior["u." + p][k] for p in ("precision", "mean", "lower", "upper"))
    sd = precision**-0.5
    mode = np.clip(mean, lower, upper)
    scale = min(sd, sd**2 / (abs(mode - mean) + 1e-300))
    grid = np.linspace(max(lower, mode - 45 * scale), min(upper, mode + 45 * scale), 400001)
    w = np.exp(-0.5 * (grid - mode) * (grid + mode - 2 * mean) * precision)
    w[[0, -1]] /= 2
    return (w @ (grid - grid[0])) / w.sum() + grid[0]


@holds
def intervals_are_ordered_probit():
    """Three ordered categories between known cuts: maximum likelihood by SciPy, points for the weights and the precision."""
    model = """model m { plate n; plate level; data x[n] : real; data low[level] : real; data high[level] : real; data y[n] : level;
      a ~ Flat(); b ~ Flat(); tau ~ Gamma(shape = 1, rate = 0);
      u[n] ~ Normal(mean = a + b * x[n], precision = tau) above low[y[n]] below high[y[n]]; guide point(a, b, tau); }"""
    x = RNG.normal(size=120)
    y = np.digitize(0.4 + 0.9 * x + 0.7 * RNG.normal(size=120), [0, 1])
    low, high = np.array([-1e6, 0, 1]), np.array([0, 1, 1e6])
    got = fit(model, {"x": x, "y": y, "low": low, "high": high}, *TIGHT)

    def minus_log_likelihood(p):
        mean, sd = p[0] + p[1] * x, np.exp(-0.5 * p[2])
        a, b = (low[y] - mean) / sd, (high[y] - mean) / sd
        mirror = a + b > 0
        a, b = np.where(mirror, -b, a), np.where(mirror, -a, b)
        return -(log_ndtr(b) + np.log1p(-np.exp(log_ndtr(a) - log_ndtr(b)))).sum()

    best = largest(minus_log_likelihood, np.zeros(3))
    values = [got.posterior["a.value"], got.posterior["b.value"], np.log(got.posterior["tau.value"])]
    return close(got.elbo, -best.fun, 1e-8) and close(values, best.x, 1e-4)


@holds
def motorettes():
    """Lives of motorettes, half of them censored: the published maximum of the likelihood (Schmee & Hahn 1979)."""
    rows = table("regression/motorettes.csv")
    got = fit(os.path.join(ROOT, "models/regression/censored_regression.lehr"), [os.path.join(ROOT, "models/data/regression/motorettes.csv")],
              "--search", "none")
    x = 1000 / (np.array([float(r["celsius"]) for r in rows]) + 273.2)
    y, end = 3 + np.array([[float(r["life"]), float(r["end"])] for r in rows]).T  # in hours, as they were published
    known = y < end

    def minus_log_likelihood(p):
        mean, sd = p[0] + p[1] * x, np.exp(p[2])
        return -(norm.logpdf(y, mean, sd)[known].sum() + log_ndtr((mean - end) / sd)[~known].sum())

    best = minimize(minus_log_likelihood, [-6, 4, -1.3], method="Nelder-Mead",
                    options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 20000})
    published = close([best.x[0], best.x[1], np.exp(best.x[2])], [-6.019, 4.311, 0.2592], 1e-3)
    means = [3 + got.posterior["a.mean"] - 2.2 * got.posterior["b.mean"], got.posterior["b.mean"]]
    # Means, of a model with a random precision, beside a maximum: within a tenth of its standard errors, 0.96 and 0.44.
    return published and abs(means[0] - best.x[0]) < 0.2 and abs(means[1] - best.x[1]) < 0.1


@holds
def values_that_are_known():
    """A value within its limits is one number in all digits, whatever the regression says of it: the ELBO never falls."""
    model = """model m { plate n; data x[n] : real; a ~ Normal(mean = 0, sd = 10); b ~ Normal(mean = 0, sd = 3); tau ~ Gamma(shape = 1, rate = 1);
      observe y[n] ~ mixture(0.9, Normal(mean = a + b * x[n], precision = tau), Normal(mean = 0, sd = 9)) censored above 1 below -3; }"""
    for _ in range(3):
        x = RNG.normal(size=40)
        y = np.clip(1 + 2 * x + RNG.normal(size=40), -3, 1)
        y[:2] = np.nan
        fit(model, {"x": x, "y": y}, *TIGHT)
        fit(model.replace("mixture(0.9, ", "").replace(", Normal(mean = 0, sd = 9))", ""), {"x": x, "y": y}, *TIGHT)
    return True


@holds
def censored_on_both_sides():
    """A mean and a precision as points, gaps, over a plate: the maximum of the censored likelihood."""
    model = """model m { plate n; plate d; mu ~ Normal(mean = 0, sd = 10) over d; tau ~ Gamma(shape = 2, rate = 1);
      observe x[n] ~ Normal(mean = mu, precision = tau) over d censored above 1.5 below -1; guide point(mu, tau); }"""
    x = np.clip(RNG.normal(size=(50, 2)) * 1.3 + [0.4, -0.2], -1, 1.5)
    x[3, 1] = np.nan
    got = fit(model, {"x": x}, *TIGHT)

    def minus_log_joint(p):
        z = lambda at: (at - p[:2]) * np.exp(0.5 * p[2])
        each = np.where(x >= 1.5, log_ndtr(-z(1.5)), np.where(x <= -1, log_ndtr(z(-1)), norm.logpdf(z(x)) + 0.5 * p[2]))
        return -(np.nansum(np.where(np.isnan(x), 0, each)) + norm.logpdf(p[:2], 0, 10).sum() + gamma.logpdf(np.exp(p[2]), 2))

    best = largest(minus_log_joint, np.zeros(3))
    return close(got.elbo, -best.fun, 1e-8) and close(got.posterior["mu.value"], best.x[:2], 1e-4)


@holds
def censored_draws():
    """One unknown mean: draws against its posterior by quadrature."""
    model = """model m { plate n; data end[n] : real; mu ~ Normal(mean = 0, sd = 3);
      observe x[n] ~ Normal(mean = mu, sd = 1.5) censored above end[n]; }"""
    end = RNG.uniform(0, 3, size=12)
    x = np.minimum(1.5 * RNG.normal(size=12) + 1.2, end)
    got = fit(model, {"x": x, "end": end}, *DRAWS, monotone=False)
    grid = np.linspace(-10, 12, 20001)
    log_joint = norm.logpdf(grid, 0, 3)
    for value, limit in zip(x, end):
        log_joint += log_ndtr((grid - limit) / 1.5) if value >= limit else norm.logpdf(value, grid, 1.5)
    return is_posterior(got, "mu", grid, log_joint)


@holds
def censored_exponentials():
    """Conjugate: the posterior counts the ends and the whole time, and the ELBO is the log evidence."""
    model = """model m { plate n; data end[n] : real; rate ~ Gamma(shape = 2, rate = 3);
      observe x[n] ~ Exponential(rate) censored above end[n]; }"""
    end = RNG.uniform(0.2, 2, size=20)
    x = np.minimum(expon.rvs(size=20, random_state=RNG), end)
    got = fit(model, {"x": x, "end": end}, *TIGHT)
    ends, time = (x < end).sum(), x.sum()
    a, b = 2 + ends, 3 + time
    evidence = 2 * np.log(3) - gammaln(2) + gammaln(a) - a * np.log(b)
    return close([got.posterior["rate.shape"], got.posterior["rate.rate"], got.elbo], [a, b, evidence])


@holds
def censored_counts():
    """Geometric counts beyond their limits: conjugate, the ELBO is the log of a sum over a grid, whose tails are summed term by term."""
    model = """model m { plate n; data end[n] : count; p ~ Beta(2, 3);
      observe x[n] ~ Geometric(p) censored above end[n]; }"""
    end = RNG.integers(1, 8, size=15)
    x = np.minimum(RNG.geometric(0.2, size=15) - 1, end)
    got = fit(model, {"x": x, "end": end}, *TIGHT)
    grid = (np.arange(20000) + 0.5) / 20000
    tail = lambda c: 1 - sum(geom.pmf(k + 1, grid) for k in range(c))
    each = [tail(c) if v >= c else geom.pmf(v + 1, grid) for v, c in zip(x, end)]
    return close(got.elbo, np.log((np.prod(each, axis=0) * beta.pdf(grid, 2, 3)).mean()), 1e-6)


def minus_log_sequential(p, x, y, cuts):
    """Minus the log likelihood of ordered categories: past each cut with a chance of its own, until the first that is not passed."""
    e = x @ p[cuts:]
    chance = 1 / (1 + np.exp(p[:cuts] - e[:, None]))
    stay = np.concatenate([1 - chance, np.ones((len(y), 1))], axis=1)
    probability = np.cumprod(np.concatenate([np.ones((len(y), 1)), chance], axis=1), axis=1) * stay
    assert np.allclose(probability.sum(axis=1), 1)
    return -np.log(probability[np.arange(len(y)), y]).sum()


@holds
def sequential_logistic_is_maximum_likelihood():
    """Four ordered categories by the cuts that each item comes to, the others missing: the maximum of the likelihood of the categories."""
    model = """model m { plate n; plate cut; plate d; data x[n] : vector over d; w[d] ~ Flat(); c[cut] ~ Flat();
      observe past[n, cut] ~ Bernoulli(logistic((sum(d) w[d] * x[n][d]) - c[cut])); guide point(w, c); }"""
    x = RNG.normal(size=(150, 2))
    past = (RNG.logistic(size=(150, 3)) < x @ [[1.2], [-0.7]] - [-0.5, 0.2, 0.6]).astype(float)
    y = np.where(past.all(axis=1), 3, past.argmin(axis=1))
    past[np.arange(3) > y[:, None]] = np.nan
    got = fit(model.replace("x[n][d]", "x[n, d]"), {"x": x, "past": past}, *TIGHT)
    best = largest(lambda p: minus_log_sequential(p, x, y, 3), np.zeros(5))
    values = np.concatenate([got.posterior["c.value"], got.posterior["w.value"]])
    return close(got.elbo, -best.fun, 1e-9) and close(values, best.x, 1e-4)


def standard_errors(minus_log_likelihood, best):
    """From the curvature at the best point, by differences: what a minimiser keeps of it is where it came from."""
    steps = 1e-4 * np.maximum(1, np.abs(best)) * np.eye(len(best))
    f = minus_log_likelihood
    curvature = [[(f(best + a + b) - f(best + a - b) - f(best - a + b) + f(best - a - b)) / (4 * a.sum() * b.sum())
                  for b in steps] for a in steps]
    return np.sqrt(np.diag(np.linalg.inv(curvature)))


@holds
def miners():
    """The same by counts: means within a fifth of the standard errors of maximum likelihood, which the head of the model has."""
    got = fit(os.path.join(ROOT, "models/regression/sequential_logistic.lehr"), [os.path.join(ROOT, "models/data/regression/pneumoconiosis.json")])
    data = {k: np.array(v) for k, v in read_json(os.path.join(ROOT, "models/data/regression/pneumoconiosis.json")).items()}
    y = [np.repeat(k, n) for r, b in zip(data["reached"], data["beyond"])
         for k, n in enumerate([r[0] - b[0], r[1] - b[1], b[1]])]
    x = np.repeat(np.log(data["years"]), data["reached"][:, 0])[:, None]
    best = minimize(minus_log_sequential, [8.0, 8.0, 2.0], args=(x, np.concatenate(y), 2), options={"gtol": 1e-6})
    assert close(best.x, [8.73, 8.05, 2.32], 1e-2), best.x
    errors = standard_errors(lambda p: minus_log_sequential(p, x, np.concatenate(y), 2), best.x)
    means = np.append(got.posterior["c.mean"], got.posterior["b.mean"])
    return bool(np.all(np.abs(means - best.x) < 0.2 * errors))


def log_between_cuts(e, cuts, y):
    """Of a number with a logistic distribution about e: the log probability of its interval."""
    c = np.concatenate([[-np.inf], cuts, [np.inf]])
    return np.log(expit(c[y + 1] - e) - expit(c[y] - e))


@holds
def proportional_odds():
    """What is published of R's polr(Sat ~ Infl + Type + Cont, weights = Freq, data = housing): flat priors, points."""
    text = read(os.path.join(ROOT, "models/regression/ordered_logistic.lehr"))
    data = os.path.join(ROOT, "models/data/regression/housing.csv")
    columns = ["medium", "high", "apartment", "atrium", "terrace", "contact"]
    bound = [data, f"x={data}:{','.join(columns)}"]
    flat = text.replace("precision = 0.01", "precision = 0").replace("Normal(mean = 0, sd = 10)", "Flat()")
    flat = flat.replace("rate = 0.1", "rate = 0").replace("guide joint(w, b);", "").replace("point(far)", "point(w, b, far)")
    got = fit(flat, bound, *TIGHT)
    q = got.posterior
    first = -q["b.value"]
    values = np.concatenate([q["w.value"], [first, first + q["far.value"][0]]])
    published = [0.5664, 1.2888, -0.5724, -0.3662, -1.0910, 0.3603, -0.4961, 0.6907]
    means = fit(text, bound).posterior
    print(values, -2 * got.elbo, means["w.mean"], means["far.value"])
    return (np.abs(values - published).max() < 6e-5 and abs(-2 * got.elbo - 3479.149) < 6e-4
            and np.abs(means["w.mean"] - published[:6]).max() < 0.01 and abs(means["far.value"][0] - 1.1868) < 0.01)


@holds
def ordered_logistic_is_maximum_likelihood():
    """Five categories, gaps, one that nobody chose, counts of each, far-away rows: the maximum of the posterior by SciPy."""
    model = """model m { plate n; plate d; plate gap = 3; plate level; data x[n] : vector over d; w ~ MvNormal(mean = 0, precision = 0.01) over d;
      b ~ Flat(); far[gap] ~ Gamma(shape = 2, rate = 0.5); observe y[n] ~ %s(ordered_logistic(dot(w, x[n]) + b, cumulative(far))) over level;
      guide point(w, b, far); }"""
    x = RNG.normal(size=(150, 2))
    x[0] = [9, -30]
    cuts = np.array([0, 0.4, 2.0, 2.6])
    y = np.digitize(x @ [1.2, -0.7] + 0.5 + RNG.logistic(size=150), cuts)
    y[y == 1] = 0
    gaps = np.where(np.arange(150) % 20 == 7, np.nan, y)
    counts = np.array([RNG.multinomial(4, np.exp([log_between_cuts(e, cuts, k) for k in range(5)])) for e in x[:40] @ [1.2, -0.7]])
    for family, data, at in (("Categorical", {"x": x, "y": gaps}, x[gaps == y]), ("Multinomial", {"x": x[:40], "y": counts}, x[:40])):
        got = fit(model % family, data, *TIGHT)

        def minus_log_joint(p):
            c = np.concatenate([[0], np.cumsum(np.exp(p[3:]))])
            each = np.stack([log_between_cuts(at @ p[:2] + p[2], c, np.full(len(at), k)) for k in range(5)], axis=1)
            many = np.eye(5)[y[gaps == y]] if family == "Categorical" else counts
            shape = gammaln(many.sum(axis=1) + 1).sum() - gammaln(many + 1).sum()
            return -(np.where(many > 0, many * each, 0).sum() + shape + norm.logpdf(p[:2], 0, 10).sum()
                     + gamma.logpdf(np.exp(p[3:]), 2, scale=2).sum())

        best = minimize(minus_log_joint, np.zeros(6), method="Nelder-Mead",
                        options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 40000, "maxfev": 40000, "adaptive": True})
        values = np.concatenate([got.posterior["w.value"], [got.posterior["b.value"]], got.posterior["far.value"]])
        if not (close(got.elbo, -best.fun, 1e-8) and close(values, np.concatenate([best.x[:3], np.exp(best.x[3:])]), 1e-3)):
            print(family, got.elbo, -best.fun, values, best.x[:3], np.exp(best.x[3:]))
            return False
    return True


@holds
def known_cuts():
    """One weight between known cuts: the bound is below the evidence by quadrature, and a point at the mode."""
    model = """model m { plate n; plate cut; const c[cut]; data x[n] : real; w ~ Normal(mean = 0.5, sd = 2);
      observe y[n] ~ Categorical(ordered_logistic(w * x[n], c)); %s }"""
    x, c = RNG.normal(size=25), np.array([-1.0, 0.2, 1.5])
    y = np.digitize(1.5 * x + RNG.logistic(size=25), c)
    data = {"x": x, "y": np.where(np.arange(25) == 3, np.nan, y), "c": c}
    grid = np.linspace(-6, 10, 20001)
    log_joint = norm.logpdf(grid, 0.5, 2)
    for k in np.flatnonzero(np.arange(25) != 3):
        log_joint = log_joint + log_between_cuts(grid * x[k], c, y[k])
    elbo = fit(model % "", data, *TIGHT).elbo
    evidence = logsumexp(log_joint) + np.log(grid[1] - grid[0])
    point = fit(model % "guide point(w);", data, *TIGHT)
    print(elbo, evidence)
    return (evidence - 5 < elbo < evidence and close(point.elbo, log_joint.max(), 1e-6)
            and close(point.posterior["w.value"], grid[log_joint.argmax()], 1e-3))


@holds
def latent_ordered_categories():
    """Classes in an order that nobody saw: the ELBO of points is the log of a sum over the classes."""
    model = """model m { plate n; plate gap = 1; plate k = 3; data x[n] : real; b ~ Normal(mean = 0, sd = 2); far[gap] ~ Gamma(shape = 3, rate = 1);
      mu[k] ~ Normal(mean = 0, sd = 5); z[n] ~ Categorical(ordered_logistic(b + x[n], cumulative(far)));
      observe y[n] ~ Normal(mean = mu[z[n]], sd = 1); guide point(b, far, mu); }"""
    x = 2 * RNG.normal(size=60)
    y = np.array([-4.0, 0.0, 4.0])[np.digitize(x + RNG.logistic(size=60), [0, 2])] + RNG.normal(size=60)
    got = fit(model, {"x": x, "y": y}, "--restarts", "3", "--tol", "1e-13", "--max-iter", "100000")
    b, far, mu = (got.posterior[name + ".value"] for name in ("b", "far", "mu"))
    classes = np.stack([log_between_cuts(b + x, [0, far[0]], np.full(60, k)) for k in range(3)], axis=1)
    log_joint = (logsumexp(classes + norm.logpdf(y[:, None], mu, 1), axis=1).sum() + norm.logpdf(b, 0, 2)
                 + gamma.logpdf(far, 3).sum() + norm.logpdf(mu, 0, 5).sum())
    print(got.elbo, log_joint)
    return close(got.elbo, log_joint, 1e-6)


@holds
def softmax_regression():
    """Three flowers by their sizes: the maximum of the posterior that scikit-learn finds, in its likelihood and its accuracy."""
    rows = table("regression/iris.csv")
    x = np.array([[float(r[c]) for c in list(r)[:4]] for r in rows])
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    return is_multinomial(x, np.unique([r["Species"] for r in rows], return_inverse=True)[1])


@holds
def softmax_of_wines():
    """Three vineyards by 13 measurements, likewise."""
    from sklearn.datasets import load_wine
    wine = load_wine()
    return is_multinomial((wine.data - wine.data.mean(axis=0)) / wine.data.std(axis=0), wine.target)


def is_multinomial(x, y):
    from sklearn.linear_model import LogisticRegression
    model = """model m { plate n; plate d; plate class; data x[n] : vector over d;
      W[class] ~ MvNormal(mean = 0, precision = 1) over d; b[class] ~ Flat();
      observe y[n] ~ Categorical(softmax(W * x[n] + b)); %s }"""
    got = fit(model % "guide point(W, b);", {"x": x, "y": y}, "--search", "none", "--tol", "1e-13", "--max-iter", "100000")
    peer = LogisticRegression(C=1, tol=1e-12, max_iter=100000).fit(x, y)
    scores = x @ peer.coef_.T + peer.intercept_
    log_joint = (scores[np.arange(len(y)), y] - logsumexp(scores, axis=1)).sum() + norm.logpdf(peer.coef_).sum()
    mine = x @ got.posterior["W.value"].T + got.posterior["b.value"]
    full = fit(model % "", {"x": x, "y": y}, "--search", "none")
    by_means = x @ full.posterior["W.mean"].T + full.posterior["b.mean"]
    accuracy = [(s.argmax(axis=1) == y).mean() for s in (scores, mine, by_means)]
    print(got.elbo, log_joint, accuracy)
    return (close(got.elbo, log_joint, 1e-6) and close(got.posterior["W.value"], peer.coef_, 1e-3)
            and min(accuracy[1:]) >= accuracy[0] - 1e-12)


@holds
def softmax_of_counts_and_latent_classes():
    """Rows of counts, by SciPy; a gating network, whose ELBO is a bound of the sum over the classes."""
    model = """model m { plate n; plate class; data x[n] : real; a[class] ~ Normal(mean = 0, sd = 2); w[class] ~ Normal(mean = 0, sd = 2);
      observe y[n] ~ Multinomial(softmax(a + w * x[n])) over class; guide point(a, w); }"""
    x = RNG.normal(size=12)
    y = np.array([RNG.multinomial(7, p / p.sum()) for p in np.exp(np.outer(x, [0, 1, -0.5]) + [0, 0.3, 0])])
    got = fit(model, {"x": x, "y": y}, "--search", "none", "--tol", "1e-14", "--max-iter", "100000")

    def minus_log_joint(p):
        scores = p[:3] + np.outer(x, p[3:])
        return -((y * (scores - logsumexp(scores, axis=1)[:, None])).sum() + norm.logpdf(p, 0, 2).sum()
                 + (gammaln(8) - gammaln(y + 1).sum(axis=1)).sum())

    best = largest(minus_log_joint, np.zeros(6))
    assert close(got.elbo, -best.fun, 1e-7)
    gated = """model m { plate n; plate k = 2; data x[n] : real; v[k] ~ Normal(mean = 0, sd = 1); mu[k] ~ Normal(mean = 0, sd = 5);
      z[n] ~ Categorical(softmax(v * x[n])); observe y[n] ~ Normal(mean = mu[z[n]], sd = 1); guide point(v, mu); }"""
    t = np.where(RNG.uniform(size=60) < 1 / (1 + np.exp(-2 * RNG.normal(size=60))), 2.0, -2.0) + RNG.normal(size=60)
    at = RNG.normal(size=60)
    got = fit(gated, {"x": at, "y": t}, "--restarts", "3", "--tol", "1e-13", "--max-iter", "100000")
    v, mu = got.posterior["v.value"], got.posterior["mu.value"]
    scores = np.outer(at, v)
    log_joint = (logsumexp(scores - logsumexp(scores, axis=1)[:, None] + norm.logpdf(t[:, None], mu, 1), axis=1).sum()
                 + norm.logpdf(v).sum() + norm.logpdf(mu, 0, 5).sum())
    return close(got.elbo, log_joint, 1e-6)


@holds
def zeros_and_more_zeros():
    """Poisson counts with too many zeros: the log likelihood of the mixture, of points; draws by quadrature of the rate."""
    model = """model m { plate n; p ~ Beta(2, 3); r ~ Gamma(shape = 2, rate = 1); observe x[n] ~ zero_inflated(p, Poisson(r)); %s }"""
    x = np.where(RNG.uniform(size=60) < 0.4, 0, RNG.poisson(2.5, size=60))
    got = fit(model % "guide point(p, r);", {"x": x}, *TIGHT)

    def log_joint(p, r):
        each = np.where(x[:, None] == 0, np.logaddexp(np.log(p), np.log1p(-p) - r), np.log1p(-p) + poisson.logpmf(x[:, None], r))
        return each.sum(axis=0) + beta.logpdf(p, 2, 3) + gamma.logpdf(r, 2)

    p, r = got.posterior["p.value"], got.posterior["r.value"]
    assert close(got.elbo, log_joint(p, np.atleast_1d(r))[0], 1e-8)
    drawn = fit(model % "", {"x": x}, *DRAWS, monotone=False)
    grid = np.linspace(0.02, 8, 400)
    shares = np.linspace(0.002, 0.998, 250)
    marginal = logsumexp(np.stack([log_joint(s, grid) for s in shares]), axis=0)
    return is_posterior(drawn, "r", grid, marginal)


@holds
def mixtures_of_two_families():
    """A narrow and a wide part, and three kinds of counts with weights: the likelihood of the mixture, of points."""
    model = """model m { plate n; p ~ Beta(2, 2); mu ~ Normal(mean = 0, sd = 5);
      observe x[n] ~ mixture(p, Normal(mean = mu, sd = 0.5), Normal(mean = 0, sd = 10)); guide point(p, mu); }"""
    x = np.concatenate([RNG.normal(2, 0.5, size=30), RNG.normal(0, 10, size=15)])
    got = fit(model, {"x": x}, *TIGHT)
    p, mu = got.posterior["p.value"], got.posterior["mu.value"]
    exact = (np.logaddexp(np.log(p) + norm.logpdf(x, mu, 0.5), np.log1p(-p) + norm.logpdf(x, 0, 10)).sum()
             + beta.logpdf(p, 2, 2) + norm.logpdf(mu, 0, 5))
    assert close(got.elbo, exact, 1e-8)
    model = """model m { plate n; plate kind = 3; w ~ Dirichlet(concentration = 2) over kind; r ~ Gamma(shape = 2, rate = 0.2);
      observe x[n] ~ mixture(w, Poisson(r), Geometric(0.3), Binomial(20, 0.9)); guide point(w, r); }"""
    x = np.concatenate([RNG.poisson(9, size=30), RNG.geometric(0.3, size=20) - 1, RNG.binomial(20, 0.9, size=20)])
    got = fit(model, {"x": x}, *TIGHT)
    w, r = got.posterior["w.value"], got.posterior["r.value"]
    parts = np.stack([poisson.logpmf(x, r), geom.logpmf(x + 1, 0.3), binom.logpmf(x, 20, 0.9)])
    exact = logsumexp(parts + np.log(w)[:, None], axis=0).sum() + dirichlet.logpdf(w, [2, 2, 2]) + gamma.logpdf(r, 2, scale=5)
    return close(got.elbo, exact, 1e-8)


@holds
def counts_with_a_logit():
    """Binomial and negative binomial regressions: points are the maximum of the posterior by SciPy."""
    x = RNG.normal(size=40)
    trials = RNG.integers(1, 12, size=40)
    y = RNG.binomial(trials, 1 / (1 + np.exp(0.5 - x)))
    for likelihood, logpmf, data in (
            ("Binomial(trials[n], logistic(a + b * x[n]))", lambda e: binom.logpmf(y, trials, 1 / (1 + np.exp(-e))), y),
            ("NegativeBinomial(2.5, logistic(a + b * x[n]))", lambda e: nbinom.logpmf(y, 2.5, 1 / (1 + np.exp(-e))), y)):
        model = """model m { plate n; data x[n] : real; data trials[n] : count; a ~ Normal(mean = 0, sd = 3);
          b ~ Normal(mean = 0, sd = 3); observe y[n] ~ %s; guide point(a, b); }""" % likelihood
        got = fit(model, {"x": x, "trials": trials, "y": data}, *TIGHT)
        best = largest(lambda p: -(logpmf(p[0] + p[1] * x).sum() + norm.logpdf(p, 0, 3).sum()), np.zeros(2))
        assert close(got.elbo, -best.fun, 1e-8) and close([got.posterior["a.value"], got.posterior["b.value"]], best.x, 1e-4)
    return True


@holds
def no_draws():
    """Gibbs sampling of what has no conjugate variables is refused by name: a softmax, trials that a part of a mixture decides."""
    x = {"x": [0.5, 1.0, -1.0], "y": [0, 1, 2]}
    softmax = "plate k = 3; w[k] ~ Normal(mean = 0, sd = 1); observe y[n] ~ Categorical(softmax(w * x[n]));"
    trials = "w ~ Normal(mean = 0, sd = 1); observe y[n] ~ zero_inflated(0.3, Binomial(3, logistic(w * x[n])));"
    for body, why in ((softmax, "the softmax of 'y' has a bound"), (trials, "have a logistic link depends on 'y.part'")):
        try:
            fit("model m { plate n; data x[n] : real; %s }" % body, x, "--method", "gibbs", monotone=False)
        except RuntimeError as refused:
            if why not in str(refused):
                raise
        else:
            return False
    return True


finish()
