#!/usr/bin/env python3
"""`guide joint(w, tau)`: Normal variables in one factor with the precision that scales theirs. Where nothing else is unknown it
is the posterior, q(tau) q(w | tau) = Gamma(a, b) Normal(m, (tau P)^-1): Bayesian regression with a Normal-Gamma prior, written
here with dense matrices (Gelman et al., Bayesian Data Analysis, 2013, 14.8), and Student's t for what is read of w.

usage: joint_precision.py LEHR
"""
import sys

import numpy as np
from scipy import stats
from scipy.special import gammaln

sys.path += [f"{sys.path[0]}/..", f"{sys.path[0]}/../prediction"]
from fitting import CHECKS, Folder, check, finish, fit, relative  # noqa: E402
from predict import Predicted  # noqa: E402
from predictive import exactly  # noqa: E402

RNG = np.random.default_rng(11)


class Regression:
    """y ~ N(X w, (tau weights)^-1), w ~ N(m0, (tau P0)^-1), tau ~ Gamma(a0, b0)."""

    def __init__(self, X, y, P0, m0, a0, b0, weights=None):
        v = np.ones(len(y)) if weights is None else np.asarray(weights, float)
        X, y, P0, m0 = np.asarray(X, float), np.asarray(y, float), np.asarray(P0, float), np.asarray(m0, float)
        self.P = P0 + X.T @ (v[:, None] * X)
        self.m = np.linalg.solve(self.P, P0 @ m0 + X.T @ (v * y))
        self.a = a0 + len(y) / 2
        off, from_prior = y - X @ self.m, self.m - m0
        self.b = b0 + 0.5 * (off @ (v * off) + from_prior @ P0 @ from_prior)
        logdet = lambda A: np.linalg.slogdet(A)[1]
        self.evidence = (-0.5 * len(y) * np.log(2 * np.pi) + 0.5 * np.sum(np.log(v)) + 0.5 * (logdet(P0) - logdet(self.P))
                         + a0 * np.log(b0) - self.a * np.log(self.b) + gammaln(self.a) - gammaln(a0))
        self.cov = np.linalg.inv(self.P)  # in units of 1 / tau
        self.t = stats.t(2 * self.a, self.m, np.sqrt(self.b / self.a * np.diag(self.cov)))


def near(got, want, tolerance, what):
    off = relative(got, want)
    assert off <= tolerance, f"{what}: off by {off:.1e}: {got} and not {want}"


def held(got, exact, name, what=""):
    """The factor called `name` is the posterior, and the ELBO its evidence."""
    p = got.posterior
    near(p[f"{name}.precision_scale"], exact.P, 1e-9, f"{what} P")
    near(p[f"{name}.mean"], exact.m, 1e-9, f"{what} m")
    near(p[f"{name}.shape"], exact.a, 1e-12, f"{what} a")
    near(p[f"{name}.rate"], exact.b, 1e-9, f"{what} b")
    near(got.elbo, exact.evidence, 1e-10, f"{what} evidence")
    return f"log evidence {exact.evidence:.6f}"


ON_A_PLATE = """model nig { plate n; plate d; data x[n] : vector over d;
  tau ~ Gamma(shape = 2, rate = 1);
  w[d] ~ Normal(mean = 0, precision = 0.1 * tau);
  observe y[n] ~ Normal(mean = sum(d) w[d] * x[n, d], precision = tau);
  guide joint(w, tau); }"""


def columns(n=25, d=3):
    x = RNG.normal(size=(n, d))
    return {"x": x, "y": x @ RNG.normal(size=d) + RNG.normal(size=n) / 2}


@check
def numbers_on_a_plate():
    d = columns()
    exact = Regression(d["x"], d["y"], 0.1 * np.eye(3), np.zeros(3), 2, 1)
    for arguments in ([], ["--interpret"]):
        got = fit(ON_A_PLATE, d, *arguments)
        said = held(got, exact, "joint(w, tau)")
        assert got.report["iterations"] <= 3, got.report["iterations"]
        near(got.posterior["w.mean"], exact.m, 1e-9, "w")
        near(got.posterior["w.df"], np.full(3, 2 * exact.a), 1e-12, "freedom")
        near(got.posterior["w.precision"], exact.a / exact.b / np.diag(exact.cov), 1e-9, "squared scale")
        near(got.posterior["tau.shape"], exact.a, 1e-12, "shape")
        near(got.posterior["tau.rate"], exact.b, 1e-9, "rate")
    return said


@check
def students_t():
    """What `show` says of the numbers: standard deviations and quantiles of Student's t, and of the Gamma."""
    d = columns(4)
    exact = Regression(d["x"], d["y"], 0.1 * np.eye(3), np.zeros(3), 2, 1)
    folder = Folder(ON_A_PLATE, d)
    table = folder.run("show", folder.at("fit"), "w", "--format", "csv").splitlines()
    head = table[0].split(",")
    for k, row in enumerate(table[1:]):
        row = dict(zip(head, row.split(",")))
        want = {"mean": exact.m[k], "sd": exact.t.std()[k], **{f"q{q}": exact.t.ppf(q / 100)[k] for q in (5, 50, 95)}}
        for key, x in want.items():
            near(float(row[key]), x, 1e-5, f"w {key}")
    gamma = stats.gamma(exact.a, scale=1 / exact.b)
    numbers = folder.run("show", folder.at("fit"), "tau", "--format", "csv").splitlines()[1].split(",")[-5:]
    near([float(x) for x in numbers], [gamma.mean(), gamma.std(), *gamma.ppf([0.05, 0.5, 0.95])], 1e-5, "tau")
    return f"{2 * exact.a:g} degrees of freedom"


@check
def several_members():
    """A number, numbers on a plate in units of their own, and a vector with a matrix, about means that are not 0."""
    model = """model several { plate n; plate d = 2; plate e = 2; data x[n, d] : real; data z[n] : vector over e;
      data s[d] : real; data K : matrix over e, e; data m0 : vector over e; data v[n] : real;
      a ~ Normal(mean = 1.5, precision = 0.3 * tau);
      w[d] ~ Normal(mean = a - 1, precision = s[d] * tau);
      tau ~ Gamma(shape = 1.5, rate = 2);
      u ~ MvNormal(mean = m0, precision = tau * K) over e;
      observe y[n] ~ Normal(mean = a + sum(d) w[d] * x[n, d] + dot(u, z[n]), precision = v[n] * tau);
      guide joint(tau, a, u, w); }"""
    n, K, s = 9, np.array([[2, 0.5], [0.5, 1]]), np.array([0.7, 3.0])
    d = {"x": RNG.normal(size=(n, 2)), "z": RNG.normal(size=(n, 2)), "s": s, "K": K, "m0": np.array([1.0, -2.0]),
         "v": RNG.uniform(0.5, 2, n), "y": RNG.normal(size=n) * 3}
    # Coordinates: a, u, w. w - a + 1 has the precisions s.
    D = np.array([[-1, 0, 0, 1, 0], [-1, 0, 0, 0, 1]])
    P0 = np.zeros((5, 5))
    P0[0, 0], P0[1:3, 1:3] = 0.3, K
    P0 += D.T @ np.diag(s) @ D
    m0 = np.array([1.5, 1, -2, 0.5, 0.5])
    exact = Regression(np.column_stack([np.ones(n), d["z"], d["x"]]), d["y"], P0, m0, 1.5, 2, d["v"])
    got = fit(model, d)
    said = held(got, exact, "joint(a, u, w, tau)")
    scale = exact.b / exact.a * exact.cov
    near(got.posterior["u.precision"], np.linalg.inv(scale[1:3, 1:3]), 1e-9, "u")
    near(got.posterior["w.precision"], 1 / np.diag(scale)[3:], 1e-9, "w")
    near(fit(model, d, "--interpret").elbo, exact.evidence, 1e-10, "interpreted")
    return said


@check
def a_vector():
    model = """model vector { plate n; plate d; data x[n] : vector over d; data K : matrix over d, d;
      tau ~ Exponential(0.5);
      w ~ MvNormal(mean = 0, precision = tau * K) over d;
      observe y[n] ~ Normal(mean = dot(w, x[n]), precision = tau); guide joint(w, tau); }"""
    d = columns(12) | {"K": np.diag([1.0, 2, 3]) + 0.2}
    got = fit(model, d)
    exact = Regression(d["x"], d["y"], d["K"], np.zeros(3), 1, 0.5)
    near(got.posterior["w.precision"], np.linalg.inv(exact.b / exact.a * exact.cov), 1e-9, "w")
    return held(got, exact, "joint(w, tau)")


@check
def groups():
    """A factor for each group, in other orders of the plates, and one without data."""
    model = """model groups { plate n; plate g = 3; plate h = 2; plate d = 2; data i[n] : g; data j[n] : h; data x[n, d] : real;
      w[d, h, g] ~ Normal(mean = 0.5, precision = 0.2 * tau[g, h]);
      tau[g, h] ~ Gamma(shape = 2, rate = 1);
      observe y[n] ~ Normal(mean = sum(d) w[d, j[n], i[n]] * x[n, d], precision = tau[i[n], j[n]]);
      guide joint(w, tau); }"""
    n = 40
    d = {"i": RNG.integers(0, 3, n), "j": RNG.integers(0, 2, n), "x": RNG.normal(size=(n, 2)), "y": RNG.normal(size=n)}
    d["i"][d["j"] == 1] %= 2  # nothing in (2, 1)
    got = fit(model, d)
    total = 0
    for g in range(3):
        for h in range(2):
            at = (d["i"] == g) & (d["j"] == h)
            exact = Regression(d["x"][at], d["y"][at], 0.2 * np.eye(2), np.full(2, 0.5), 2, 1)
            total += exact.evidence
            near(got.posterior["w.mean"][:, h, g], exact.m, 1e-9, "w")
            near(got.posterior["w.precision"][:, h, g], exact.a / exact.b / np.diag(exact.cov), 1e-9, "w")
            near(got.posterior["tau.rate"][g, h], exact.b, 1e-9, "rate")
    near(got.elbo, total, 1e-10, "evidence")
    return f"log evidence {total:.6f}"


@check
def hierarchy():
    """A mean and its groups, all in units of the noise."""
    model = """model hierarchy { plate n; plate g = 4; data i[n] : g;
      tau ~ Gamma(shape = 2, rate = 3); mu ~ Normal(mean = 0, precision = 0.01 * tau);
      a[g] ~ Normal(mean = mu, precision = 0.5 * tau); observe y[n] ~ Normal(mean = a[i[n]], precision = tau);
      guide joint(mu, a, tau); }"""
    i = RNG.integers(0, 3, 15)  # none in the last one
    y = RNG.normal(size=15) + i
    D = np.column_stack([-np.ones(4), np.eye(4)])
    P0 = 0.5 * D.T @ D
    P0[0, 0] += 0.01
    return held(fit(model, {"i": i, "y": y}), Regression(np.eye(5)[i + 1], y, P0, np.zeros(5), 2, 3), "joint(mu, a, tau)")


@check
def random_walk():
    """Steps in units of the noise: a plate of the data numbers the coordinates."""
    model = """model walk { plate t ordered; tau ~ Gamma(shape = 1, rate = 1);
      level[t] ~ Normal(mean = level[t-1], precision = 4 * tau) start Normal(mean = 0, precision = 0.1 * tau);
      observe y[t] ~ Normal(mean = level[t], precision = tau); guide joint(level, tau); }"""
    y = np.cumsum(RNG.normal(size=12))
    D = np.eye(12)[1:] - np.eye(12)[:-1]
    P0 = 4 * D.T @ D
    P0[0, 0] += 0.1
    return held(fit(model, {"y": y}), Regression(np.eye(12), y, P0, np.zeros(12), 1, 1), "joint(level, tau)")


@check
def predictions():
    """New observations are Student's t: noise and coefficients are in units of one precision."""
    d, new = columns(6), columns(5)["x"]
    exact = Regression(d["x"], d["y"], 0.1 * np.eye(3), np.zeros(3), 2, 1)
    p = Predicted(ON_A_PLATE, d).predict({"x": new})
    scale = np.sqrt(exact.b / exact.a * (1 + np.einsum("nd,de,ne->n", new, exact.cov, new)))
    t = stats.t(2 * exact.a, new @ exact.m, scale)
    return exactly(p, "y", t.mean(), t.std(), t.ppf)


@check
def gibbs():
    d = columns(8)
    exact = Regression(d["x"], d["y"], 0.1 * np.eye(3), np.zeros(3), 2, 1)
    got = fit(ON_A_PLATE, d, "--method", "gibbs", "--draws", 20000, "--seed", 3, monotone=False)
    near(got.posterior["w.mean"], exact.m, 0.05, "mean")
    near(got.posterior["w.sd"], exact.t.std(), 0.05, "sd")
    near(got.posterior["tau.mean"], exact.a / exact.b, 0.03, "tau")
    near(got.posterior["tau.sd"], np.sqrt(exact.a) / exact.b, 0.05, "tau")
    return "20000 draws"


@check
def with_other_factors():
    """A mixture of regressions: the factors are those of coordinate ascent written here."""
    model = """model mixture { plate n; plate k = 2; plate d = 2; data x[n] : vector over d;
      pi ~ Dirichlet(concentration = 1) over k; tau[k] ~ Gamma(shape = 2, rate = 1);
      w[k, d] ~ Normal(mean = 0, precision = 0.1 * tau[k]); z[n] ~ Categorical(pi);
      observe y[n] ~ Normal(mean = sum(d) w[z[n], d] * x[n, d], precision = tau[z[n]]);
      guide joint(w, tau); }"""
    from scipy.special import digamma
    n = 40
    x = np.column_stack([np.ones(n), RNG.normal(size=n)])
    y = np.where(RNG.random(n) < 0.4, x @ [3, 1], x @ [-2, 0.5]) + RNG.normal(size=n) / 3
    got = fit(model, {"x": x, "y": y}, "--tol", "1e-13")
    r = got.posterior["z.probs"]
    odds = np.zeros((n, 2))
    for k in range(2):
        exact = Regression(x, y, 0.1 * np.eye(2), np.zeros(2), 2, 1, np.maximum(r[:, k], 1e-300))
        a = 2 + r[:, k].sum() / 2  # a share of an observation
        near(got.posterior["joint(w, tau).shape"][k], a, 1e-6, "shape")
        near(got.posterior["joint(w, tau).rate"][k], exact.b, 1e-6, "rate")
        near(got.posterior["joint(w, tau).mean"][k], exact.m, 1e-6, "mean")
        off = y - x @ exact.m
        odds[:, k] = (digamma(1 + r[:, k].sum()) + 0.5 * (digamma(a) - np.log(exact.b)) - 0.5 * a / exact.b * off**2
                      - 0.5 * np.einsum("nd,de,ne->n", x, exact.cov, x))
    want = np.exp(odds - odds.max(1, keepdims=True))
    near(r, want / want.sum(1, keepdims=True), 1e-5, "responsibilities")
    return f"ELBO {got.elbo:.4f}"


def refusal(statements, *words):
    try:
        fit("model m { plate n; plate d = 2; data x[n, d] : real; tau ~ Gamma(shape = 2, rate = 1);" + statements + "}",
            {"x": np.ones((3, 2)), "y": np.zeros(3)})
    except RuntimeError as e:
        missing = [word for word in words if word not in str(e)]
        assert str(e).startswith("exit 3") and not missing, f"{missing} not in: {e}"
        return
    raise AssertionError(f"not refused: {statements}")


@check
def refusals():
    """What is no multiple of the precision, and what to do."""
    y = "observe y[n] ~ Normal(mean = sum(d) w[d] * x[n, d], precision = tau);"
    refusal("w[d] ~ Normal(mean = 0, precision = 0.1);" + y + "guide joint(w, tau);", "'tau' times", "precision = c * tau",
            "take it out of the guide")
    refusal("a ~ Normal(mean = 0, precision = tau); w[d] ~ Normal(mean = a, sd = 2);" + y + "guide joint(a, w, tau);",
            "precision = c * tau", "`guide joint(a, w)`")
    refusal("w[d] ~ Normal(mean = 0, precision = tau * tau);" + y + "guide joint(w, tau);", "'tau' times")
    refusal("w[d] ~ Normal(mean = 0, precision = s[d]); s[d] ~ Gamma(shape = 1, rate = 1);"
            "observe y[n] ~ Normal(mean = sum(d) w[d] * x[n, d], precision = tau); guide joint(w, s, tau);", "neither")
    return "four"


finish(CHECKS)
