#!/usr/bin/env python3
"""`lehr fit --sds linear-response`: exact for Normal posteriors, near Gibbs sampling elsewhere, shown by the commands.

usage: standard_deviations.py LEHR
"""
import math
import os
import sys

import numpy as np
from scipy import stats

sys.path.append(f"{sys.path[0]}/..")
from fitting import Folder, arrays, check, finish, lehr, plain, read, read_csv, read_json, relative, temporary, write, write_json  # noqa: E402

RNG = np.random.default_rng(12)
CORRECTED = ["--guide", "factorised", "--search", "none", "--max-iter", "20000", "--sds", "linear-response"]
FACTORS = [*CORRECTED[:4], "--sds", "factors"]
LINE = """model line { plate n; data x[n] : real; a ~ Normal(mean = 0, sd = 10); b ~ Normal(mean = 0, sd = 10);
  observe y[n] ~ Normal(mean = a + b * x[n], sd = 1); }"""

GROUPS = """model groups { plate n; plate g; data of[n] : g; t ~ Gamma(shape = 1, rate = 1); tau ~ Gamma(shape = 1, rate = 1);
  b[g] ~ Normal(mean = 0, precision = t); observe y[n] ~ Normal(mean = b[of[n]], precision = tau); guide factorised; }"""


def line(n=40, at=3.0):
    x = at + RNG.normal(0, 1, n)
    return {"x": x, "y": 1 + 2 * x + RNG.normal(0, 1, n)}


class Corrected(Folder):
    """A fit with its arrays of sds.npz, and standard deviations of Gibbs sampling of the same model."""

    def __init__(self, model, data, *arguments):
        super().__init__(model, data, *CORRECTED, *arguments)
        self.sds = arrays(self.at("fit/sds.npz"))

    def q(self, name):
        """Standard deviations of the Normal or Gamma factor."""
        p = {k.rpartition(".")[2]: v for k, v in self.posterior.items() if k.rpartition(".")[0] == name}
        return np.sqrt(p["shape"]) / p["rate"] if "rate" in p else p["precision"] ** -0.5

    def gibbs(self, *names):
        self.run("fit", self.model, "--data", self.at("train.json"), "--out", self.at("gibbs"), "--quiet", "--method", "gibbs",
                 "--draws", 10000, "--chains", 2)
        drawn = arrays(self.at("gibbs/posterior.npz"))
        return [drawn[f"{name}.sd"] for name in names]


def normal_sds(precision):
    return np.sqrt(np.diag(np.linalg.inv(precision)))


@check
def lines():
    """A line whose intercept and slope are factors of their own: the covariance is the inverse of X'X + 1/100."""
    d = line()
    design = np.stack([np.ones(40), d["x"]], 1)
    want = normal_sds(design.T @ design + np.eye(2) / 100)
    f = Corrected(LINE, d)
    off = relative([f.sds["a.sd"], f.sds["b.sd"]], want)
    assert off < 1e-8, off
    assert np.all(f.q("a") < 0.4 * want[0])
    assert read_json(f.at("fit/fit.json"))["sds"] == "linear-response"
    return f"to {off:.0e}"


@check
def elements():
    """Coefficients that are elements of a plate, which a sweep updates one after another, in two blocks that share terms."""
    n, j = 60, 5
    x = RNG.normal(0, 1, (n, j)) + RNG.normal(0, 1, (n, 1))
    u = x[:, :2] @ RNG.normal(0, 1, (2, 1)) + RNG.normal(0, 0.5, (n, 1))
    y = RNG.normal(0, 1, n)
    f = Corrected("""model m { plate n; plate j; data x[n, j] : real; data u[n] : real; b[j] ~ Normal(mean = 0, sd = 3);
      c ~ Normal(mean = 0, sd = 3); observe y[n] ~ Normal(mean = c * u[n] + sum(j) b[j] * x[n, j], sd = 0.7); }""",
                  {"x": x, "u": u[:, 0], "y": y})
    design = np.concatenate([x, u], 1)
    want = normal_sds(design.T @ design / 0.49 + np.eye(j + 1) / 9)
    off = relative(np.append(f.sds["b.sd"], f.sds["c.sd"]), want)
    assert off < 1e-8, off
    assert np.min(f.q("b") / want[:j]) < 0.8
    return f"to {off:.0e}"


@check
def vectors():
    """Covariance matrices: a vector beside a number, and the members of a joint factor beside another one."""
    n = 50
    x = RNG.normal(0, 1, (n, 3)) + 1
    v = x.sum(1) + RNG.normal(0, 1, n)
    y = RNG.normal(0, 1, n)
    design = np.concatenate([x, np.ones((n, 1)), v[:, None]], 1)
    want = np.linalg.inv(design.T @ design + np.eye(5) / 4)
    model = """model m {{ plate n; plate d; data x[n] : vector over d; data v[n] : real; w ~ MvNormal(mean = 0, precision = 0.25) over d;
      a ~ Normal(mean = 0, sd = 2); c ~ Normal(mean = 0, sd = 2); observe y[n] ~ Normal(mean = a + dot(w, x[n]) + c * v[n], sd = 1); {} }}"""
    off = 0
    for guide in ("", "guide joint(w, a);"):
        f = Corrected(model.format(guide), {"x": x, "v": v, "y": y})
        off = max(off, relative(f.sds["w.covariance"], want[:3, :3]),
                  relative([*f.sds["w.sd"], f.sds["a.sd"], f.sds["c.sd"]], np.sqrt(np.diag(want))))
    assert off < 1e-8, off
    return f"to {off:.0e}"


@check
def probits():
    """A default fit of a probit regression, whose auxiliary variables narrow the factors: the curvature at the mode has its covariance."""
    n, d = 5000, 12
    x, w, b = RNG.normal(0, 1, (n, d)), RNG.normal(0, 0.4, d), 0.3
    y = (x @ w + b + RNG.normal(0, 1, n) > 0).astype(int)
    f = Folder("""model m { plate n; plate d; data x[n] : vector over d; w ~ MvNormal(mean = 0, precision = 0.04) over d;
      b ~ Normal(mean = 0, precision = 0.04); observe y[n] ~ Bernoulli(probit(dot(w, x[n]) + b)); guide joint(w, b); }""", {"x": x, "y": y})
    design, prior = np.concatenate([x, np.ones((n, 1))], 1) * (2 * y - 1)[:, None], 0.04 * np.eye(d + 1)
    at = np.zeros(d + 1)
    for _ in range(50):
        score = design @ at
        mills = np.exp(stats.norm.logpdf(score) - stats.norm.logcdf(score))
        curvature = (design.T * (mills * (mills + score))) @ design + prior
        at += np.linalg.solve(curvature, design.T @ mills - prior @ at)
    want, sds = normal_sds(curvature), arrays(f.at("fit/sds.npz"))
    off = relative(np.append(sds["w.sd"], sds["b.sd"]), want)
    narrow = normal_sds(f.posterior["w.precision"]) / want[:d]
    assert off < 1e-6 and np.all(narrow < 0.9), (off, narrow)
    return f"to {off:.0e}"


@check
def groups():
    """Group means about a common mean, all variances known: a Normal posterior of nine numbers, and local variables too."""
    g, n = 8, 4
    x = RNG.normal(0, 1, (g, 1)) + RNG.normal(0, 2, (g, n))
    data = {"x": x.ravel(), "of": np.repeat(np.arange(g), n)}
    f = Corrected("""model m { plate n; plate g; data of[n] : g; mu ~ Normal(mean = 0, sd = 10); theta[g] ~ Normal(mean = mu, sd = 1);
      observe x[n] ~ Normal(mean = theta[of[n]], sd = 2); }""", data)
    precision = np.zeros((g + 1, g + 1))
    precision[0, 0] = g + 0.01
    precision[0, 1:] = precision[1:, 0] = -1
    precision[1:, 1:] = np.eye(g) * (1 + n / 4)
    want = normal_sds(precision)
    off = relative(np.append(f.sds["mu.sd"], f.sds["theta.sd"]), want)
    # The same numbers as variables of the items: only the common mean has a corrected standard deviation.
    local = Corrected("""model m { plate g; plate n = 4; mu ~ Normal(mean = 0, sd = 10); theta[g] ~ Normal(mean = mu, sd = 1);
      observe x[g, n] ~ Normal(mean = theta[g], sd = 2); }""", {"x": x})
    off = max(off, relative(local.sds["mu.sd"], want[0]))
    assert off < 1e-8 and set(local.sds) == {"mu.sd"}, (off, set(local.sds))
    return f"to {off:.0e}"


@check
def pinned():
    """Effects of items, one of which a precision of 1e8 holds at 0 (a corner constraint): a Normal posterior."""
    g, n = 5, 6
    x = RNG.normal(1, 1, n)
    h = np.stack([RNG.normal(1, 1, n), np.ones(n), x], 1)
    y = RNG.normal(0, 1, (g, 1)) + x * RNG.normal(1, 1, (g, 1)) + RNG.normal(0, 1, (g, n))
    held = np.array([1e8, 0.5, 0.5])
    f = Corrected("""model m { plate g; plate n; plate k; data h[n, k] : real; data x[n] : real; data p[k] : real; a ~ Normal(mean = 0, sd = 3);
      b ~ Normal(mean = 0, sd = 3); u[g, k] ~ Normal(mean = 0, precision = p[k]);
      observe y[g, n] ~ Normal(mean = a + b * x[n] + sum(k) u[g, k] * h[n, k], sd = 1); }""", {"x": x, "h": h, "y": y, "p": held}, "--tol", "1e-12")
    design = np.concatenate([np.tile(h[:, 1:], (g, 1)), np.kron(np.eye(g), h)], 1)
    want = normal_sds(design.T @ design + np.diag([1 / 9, 1 / 9, *np.tile(held, g)]))[:2]
    off = relative([f.sds["a.sd"], f.sds["b.sd"]], want)
    assert off < 1e-6, (off, want, f.q("a"), f.q("b"))
    return f"to {off:.0e}"


@check
def followers():
    """A chain of Normal numbers beside a number of its own factor: the chain's standard deviations have what the number adds."""
    n = 12
    y = np.cumsum(RNG.normal(0, 1, n)) + 1
    f = Corrected("""model m { plate t ordered; a ~ Normal(mean = 0, sd = 2); x[t] ~ Normal(mean = x[t-1], sd = 1) start Normal(mean = 0, sd = 1.5);
      observe y[t] ~ Normal(mean = x[t] + a, sd = 0.5); }""", {"y": y})
    precision = np.zeros((n + 1, n + 1))
    precision[0, 0] = 1 / 4 + 4 * n
    precision[0, 1:] = precision[1:, 0] = 4
    walk = np.diff(np.eye(n), axis=0)
    precision[1:, 1:] = 4 * np.eye(n) + walk.T @ walk
    precision[1, 1] += 1 / 1.5**2
    want = normal_sds(precision)
    off = relative(np.append(f.sds["a.sd"], f.sds["x.sd"]), want)
    assert off < 1e-6, off
    narrow = float(np.min(f.q("x") / want[1:]))
    assert narrow < 0.9, narrow
    return f"to {off:.0e}; the factor has {narrow:.2f}"


@check
def joint_factors():
    """A joint factor of numbers beside a number of its own factor, below, at and above the size from which it follows the others; and a
    sparse one, which always does."""
    off = 0
    for groups in 46, 47, 48, 70, 400:
        n = 3 * groups
        of, v = np.repeat(np.arange(groups), 3), RNG.normal(1, 1, n)
        design = np.column_stack([np.ones(n), v, np.eye(groups)[of]])
        want = normal_sds(design.T @ design + np.diag([1 / 4, 1 / 4, *np.ones(groups)]))
        f = Corrected("""model m { plate n; plate g; data of[n] : g; data v[n] : real; mu ~ Normal(mean = 0, sd = 2); c ~ Normal(mean = 0, sd = 2);
          b[g] ~ Normal(mean = 0, sd = 1); observe y[n] ~ Normal(mean = mu + b[of[n]] + c * v[n], sd = 1); guide joint(mu, b); }""",
                      {"of": of, "v": v, "y": RNG.normal(0, 1, n)})
        assert np.min(f.q("c")) < 0.9 * want[1]
        off = max(off, relative([f.sds["mu.sd"], f.sds["c.sd"], *f.sds["b.sd"]], want))
    assert off < 1e-6, off
    n = 2400
    data = {"of": RNG.integers(0, 300, n), "at": RNG.integers(0, 300, n), "v": RNG.normal(0, 1, (n, 2)), "y": RNG.normal(0, 1, n)}
    f = Folder("""model m { plate n; plate g; plate h; plate d; data of[n] : g; data at[n] : h; data v[n] : vector over d;
      c ~ Gamma(shape = 2, rate = 2); B[g] ~ MvNormal(mean = 0, precision = 1) over d; e[h] ~ Normal(mean = 0, precision = c);
      observe y[n] ~ Normal(mean = dot(B[of[n]], v[n]) + e[at[n]], sd = 1); }""", data, "--search", "none")
    sds = sorted(arrays(f.at("fit/sds.npz")))
    assert sds == ["c.sd", "e.sd"], sds
    f.run("diagnose", f.at("fit"), "--data", f.at("train.json"), "--draws", 100, "--replicates", 2)
    left_out = read_json(f.at("fit/diagnosis.json"))["not_pulled"]
    assert left_out == ["'B': its factor has too many numbers"], left_out
    return f"to {off:.0e}; vectors in sparse factors are reported as left out"


@check
def exact_factors():
    """A factor that is the posterior, of a mean or coefficients with their precision, has nothing to correct."""
    x = RNG.normal(1, 1, (15, 2))
    y = 1 + 0.1 * x[:, 0] + RNG.normal(0, 1, 15)
    models = ["""model m { plate n; plate d; data x[n] : vector over d; tau ~ Gamma(shape = 2, rate = 2);
        w ~ MvNormal(mean = 0, precision = 0.1 * tau) over d; observe y[n] ~ Normal(mean = dot(w, x[n]), precision = tau); guide joint(w, tau); }""",
              """model m { plate n; data x[n] : real; tau ~ Gamma(shape = 2, rate = 3); mu ~ Normal(mean = 0, precision = 0.1 * tau);
        observe y[n] ~ Normal(mean = mu, precision = tau); guide joint(mu, tau); }"""]
    off = 0
    for model, covariate in zip(models, (x, x[:, 0])):
        f, own = Corrected(model, {"x": covariate, "y": y}), Folder(model, {"x": covariate, "y": y}, *FACTORS)
        rows = [read_csv(write(g.at("all.csv"), g.run("show", g.at("fit"), "--format", "csv"))) for g in (f, own)]
        corrected, factors = ([float(row["sd"]) for row in r] for r in rows)
        assert len(f.sds) >= 2 and len(corrected) == len(factors)
        off = max(off, relative(corrected, factors))
    assert off < 1e-6, off
    return f"to {off:.0e}"


@check
def sampled():
    """Probit and logistic links, Student's t, products of Poisson rates and groups of few data against Gibbs sampling."""
    n = 60
    x = RNG.normal(0, 1, n)
    y = (RNG.normal(0, 1, n) < 0.3 + 0.8 * x).astype(int)
    link = """model m {{ plate n; data x[n] : real; a ~ Normal(mean = 0, sd = 2); b ~ Normal(mean = 0, sd = 2);
      observe y[n] ~ Bernoulli({}(a + b * x[n])); }}"""
    rates = np.outer(RNG.gamma(3, 1, 5), RNG.gamma(3, 1, 6))
    few = RNG.normal(0, 1, (6, 1)) + RNG.normal(0, 1, (6, 3))
    models = {
        "probit": (link.format("probit"), {"x": x, "y": y}, ["a", "b"], 0.1),
        "logistic": (link.format("logistic"), {"x": x, "y": y}, ["a", "b"], 0.2),
        "student": ("""model m { plate n; data x[n] : real; a ~ Normal(mean = 0, sd = 5); b ~ Normal(mean = 0, sd = 5);
           observe y[n] ~ StudentT(df = 4, mean = a + b * x[n], precision = 1); }""",
                    {"x": x + 1, "y": 1 + x + RNG.standard_t(4, n)}, ["a", "b"], 0.1),
        "poisson": ("""model m { plate i; plate j; a[i] ~ Gamma(shape = 2, rate = 1); b[j] ~ Gamma(shape = 2, rate = 1);
           observe y[i, j] ~ Poisson(a[i] * b[j]); }""", {"y": RNG.poisson(rates)}, ["b"], 0.1),
        "groups": ("""model m { plate i; plate j; data of[i] : j; tau ~ Gamma(shape = 3, rate = 3); mu ~ Normal(mean = 0, sd = 5);
           t[j] ~ Normal(mean = mu, precision = tau); observe y[i] ~ Normal(mean = t[of[i]], sd = 1); }""",
                   {"y": few.ravel(), "of": np.repeat(np.arange(6), 3)}, ["mu", "t"], 0.12)}
    said = []
    for name, (model, data, variables, limit) in models.items():
        f = Corrected(model, data)
        want = np.concatenate([np.ravel(v) for v in f.gibbs(*variables)])
        before = np.concatenate([np.ravel(f.q(v)) for v in variables]) / want
        after = np.concatenate([np.ravel(f.sds[f"{v}.sd"]) for v in variables]) / want
        assert np.all(np.abs(after - 1) < limit), (name, before, after)
        assert np.mean(np.abs(after - 1)) < 0.6 * np.mean(np.abs(before - 1)), (name, before, after)
        said.append(f"{name} {before.min():.2f} to {after.min():.2f}..{after.max():.2f}")
    return "; ".join(said)


COMPONENTS = """model m { plate n; plate d; plate k = 2; alpha[k] ~ Gamma(shape = 1, rate = 1);
  W[d] ~ MvNormal(mean = 0, precision = diag(alpha)) over k; mu[d] ~ Normal(mean = 0, sd = 10); tau ~ Gamma(shape = 1, rate = 1);
  z[n] ~ MvNormal(mean = 0, precision = 1) over k; observe x[n, d] ~ Normal(mean = dot(W[d], z[n]) + mu[d], precision = tau); }"""


def sampled_components(x, sweeps, r):
    """Gibbs sampling of COMPONENTS; draws of the squared lengths of the rows of W, which rotations leave alone, and of mu."""
    (n, d), seen, lengths, means = x.shape, ~np.isnan(x), [], []
    y, W, mu, tau, alpha = np.where(seen, x, 0), r.normal(size=(d, 2)), np.nanmean(x, 0), 1.0, np.ones(2)

    def normals(precision, linear):
        root = np.linalg.inv(np.linalg.cholesky(precision))
        return np.einsum("nji,njk,nk->ni", root, root, linear) + np.einsum("nji,nj->ni", root, r.normal(size=linear.shape))

    for sweep in range(sweeps):
        z = normals(np.eye(2) + tau * np.einsum("nd,di,dj->nij", seen, W, W), tau * np.where(seen, y - mu, 0) @ W)
        W = normals(np.diag(alpha) + tau * np.einsum("nd,ni,nj->dij", seen, z, z), tau * np.where(seen, y - mu, 0).T @ z)
        precision = 0.01 + tau * seen.sum(0)
        mu = tau * np.where(seen, y - z @ W.T, 0).sum(0) / precision + r.normal(size=d) / precision**0.5
        alpha = r.gamma(1 + d / 2, 1 / (1 + 0.5 * (W**2).sum(0)))
        tau = r.gamma(1 + seen.sum() / 2, 1 / (1 + 0.5 * (np.where(seen, y - mu - z @ W.T, 0) ** 2).sum()))
        if sweep >= sweeps // 5:
            lengths.append((W**2).sum(1))
            means.append(mu)
    return np.std(lengths, 0), np.std(means, 0)


@check
def rotated():
    """Principal components of data with gaps, whose priors next to leave rotations alone: what rotations leave alone has the
    standard deviations of Gibbs sampling, and the fit says what it leaves out."""
    r = np.random.default_rng(5)
    W = np.array([[-1.2, -2.3], [0.2, 0.3], [2.7, -1.9], [-0.5, -0.8], [0.9, 2.2], [1.7, -0.2]])
    x = r.normal(size=(60, 2)) @ W.T + r.normal(size=6) * 5 + r.normal(size=(60, 6)) * 0.9
    x[r.uniform(size=x.shape) < 0.13] = np.nan
    lengths, means = sampled_components(x, 4000, r)
    for model in COMPONENTS, COMPONENTS.replace("diag(alpha)", "0.5").replace("alpha[k] ~ Gamma(shape = 1, rate = 1);", ""):
        f = Corrected(model, {"x": x}, "--tol", "1e-12")
        mean, spread = f.posterior["W.mean"], f.sds["W.covariance"]
        ratios = np.append(2 * np.sqrt(np.einsum("di,dij,dj->d", mean, spread, mean)) / lengths, f.sds["mu.sd"] / means)
        assert np.all((ratios > 0.75) & (ratios < 1.25)), ratios
        assert np.all(f.sds["W.sd"] < 1), f.sds["W.sd"]
    said = lehr("fit", f.model, "--data", f.at("train.json"), "--out", f.at("again"), *CORRECTED).stderr
    assert "next to flat along changes of W" in said, said
    return f"{ratios.min():.2f} to {ratios.max():.2f} of Gibbs sampling"


@check
def shown():
    """show, its formats and the report have the corrected numbers and say so; posterior.npz and what starts from it do not."""
    d = line()
    f, plain_fit = Corrected(LINE, d), Folder(LINE, d, *FACTORS)
    sd = float(f.sds["b.sd"])
    mean = float(f.posterior["b.mean"])
    for name in f.posterior:
        np.testing.assert_array_equal(f.posterior[name], plain_fit.posterior[name])
    assert f"sd {sd:.4g} by linear response" in f.run("show", f.at("fit"), "b")
    assert "linear response" not in plain_fit.run("show", plain_fit.at("fit"), "b")
    row = read_csv(write(f.at("b.csv"), f.run("show", f.at("fit"), "b", "--format", "csv")))[0]
    assert math.isclose(float(row["sd"]), sd) and math.isclose(float(row["q95"]), stats.norm.ppf(0.95, mean, sd))
    f.run("report", f.at("fit"))
    assert "by linear response" in read(f.at("fit/report.html"))
    # Another fit in the same directory takes the numbers away.
    f.run("fit", f.model, "--data", f.at("train.json"), "--out", f.at("fit"), "--quiet", "--sds", "factors")
    assert "linear response" not in f.run("show", f.at("fit"), "b")
    # Of Gamma factors, quantiles are those of the Gamma distribution with these moments.
    g = Corrected("""model m { plate n; mu ~ Normal(mean = 0, sd = 10); tau ~ Gamma(shape = 1, rate = 1);
      observe x[n] ~ Normal(mean = mu, precision = tau); }""", {"x": RNG.normal(0, 1, 5)})
    row = read_csv(write(g.at("tau.csv"), g.run("show", g.at("fit"), "tau", "--format", "csv")))[0]
    mean, sd = float(row["mean"]), float(g.sds["tau.sd"])
    assert math.isclose(float(row["q5"]), stats.gamma.ppf(0.05, (mean / sd) ** 2, scale=sd**2 / mean), rel_tol=1e-6)
    return "as in sds.npz"


@check
def repeated():
    """The numbers do not depend on threads, and with several starts they are those of the best."""
    d = {"x": np.concatenate([RNG.normal(-1, 1, 3000), RNG.normal(2, 1, 3000)])}
    model = """model m { plate n; plate k = 2; mu[k] ~ Normal(mean = 0, sd = 5); z[n] ~ Categorical(uniform); observe x[n] ~ Normal(mean = mu[z[n]], sd = 1); }"""
    model = model.replace("Categorical(uniform)", "Categorical(pi)").replace("z[n] ~", "pi ~ Dirichlet(concentration = 1) over k; z[n] ~")
    one, two = (Corrected(model, d, "--threads", t) for t in (1, 2))
    assert set(one.sds) == {"mu.sd", "pi.sd"}
    for name in one.sds:
        np.testing.assert_array_equal(one.sds[name], two.sds[name])
    several = Corrected(model, d, "--restarts", 3)
    best = read_json(several.at("fit/fit.json"))["restart"]
    order, other = (np.argsort(np.ravel(f.posterior["mu.mean"])) for f in (one, several))
    np.testing.assert_allclose(several.sds["mu.sd"][other], one.sds["mu.sd"][order], rtol=1e-3)
    return f"restart {best}"


@check
def with_items_or_without():
    """Whether a fit writes the factors of items moves no bit of them, also where a sweep begins with what all items share."""
    model = """model m { plate k = 3; pi ~ Dirichlet(concentration = 1) over k; mu[k] ~ Normal(mean = 0, sd = 20); plate s; plate t in s ordered;
      A[k] ~ Dirichlet(concentration = 1) over k; c[s,t] ~ Categorical(A[c[s,t-1]]) start Categorical(pi); guide order(mu, c, pi, A);
      observe u[s,t] ~ Normal(mean = mu[c[s,t]], sd = 1); }"""
    data = {"u": RNG.normal(0, 4, (9, 7))}
    without, with_items = (Folder(model, data, "--sds", "linear-response", *more) for more in ([], ["--save-locals"]))
    one, two = (arrays(f.at("fit/sds.npz")) for f in (without, with_items))
    for name in one:
        np.testing.assert_array_equal(one[name], two[name])
    return ", ".join(one)


@check
def limits_of_items():
    """Censored Student's t: items with two unknowns, one of them without an upper limit, which have to be inferred until they no
    longer move. The response of the mean and precision of q(mu) is that of numpy, by the hazard of the Normal distribution."""
    model = """model st { plate n; data hi[n] : real; mu ~ Normal(mean = 0, sd = 10);
      observe y[n] ~ StudentT(df = 4, mean = mu, sd = 2) censored above hi[n]; }"""
    hi = np.array([2.79, 2.72, 4.99, 5.01, 4.27, 5.68, 2.82, 5.4, 2.68, 5.86, 4.49])
    y = np.array([2.79, 1.81, 4.99, 5.01, 4.27, 5.25, 2.82, 0.67, 2.68, 5.64, 4.04])
    f = Corrected(model, {"hi": hi, "y": y}, "--tol", "1e-14", "--local-tol", "1e-13", "--local-iters", "1000")

    def updated(naturals):
        m, variance, weight = -naturals[0] / (2 * naturals[1]), -1 / (2 * naturals[1]), np.ones(11)
        for _ in range(500):
            sd = 2 / np.sqrt(weight)
            z = (hi - m) / sd
            hazard = np.exp(stats.norm.logpdf(z) - stats.norm.logsf(z))
            mean = np.where(y < hi, y, m + sd * hazard)
            weight = 2.5 / (2 + ((mean - m) ** 2 + np.where(y < hi, 0, sd**2 * (1 + z * hazard - hazard**2)) + variance) / 8)
        return np.array([weight @ mean / 4, -0.005 - weight.sum() / 8])

    eta = np.array([15.0, -1.5])
    for _ in range(200):
        eta = updated(eta)
    m, v = -eta[0] / (2 * eta[1]), -1 / (2 * eta[1])
    step = 1e-5 * np.diag(np.abs(eta))
    J = np.column_stack([(updated(eta + e) - updated(eta - e)) / (2 * e.sum()) for e in step])
    V = np.array([[v, 2 * m * v], [2 * m * v, 4 * m * m * v + 2 * v * v]])
    want = np.sqrt((V @ np.linalg.inv(np.eye(2) - J))[0, 0])
    assert relative([f.posterior["mu.mean"], f.q("mu")], [m, np.sqrt(v)]) < 1e-6
    off = relative([f.sds["mu.sd"]], [want])
    assert off < 1e-4 and want > 1.2 * f.q("mu"), (f.sds["mu.sd"], want)
    return f"{float(want):.4f}, the factor has {float(f.q('mu')):.4f}"


@check
def by_default():
    """A small fit has these standard deviations by default, beside that of the factor; fits of much work do not."""
    d = line()
    f, small = Corrected(LINE, d), Folder(LINE, d, *CORRECTED[:6])
    sds = arrays(small.at("fit/sds.npz"))
    for name in f.sds:
        np.testing.assert_array_equal(sds[name], f.sds[name])
    own = float(f.q("b"))
    assert f"sd {float(sds['b.sd']):.4g} by linear response, {own:.4g} of the factor" in small.run("show", small.at("fit"), "b")
    large = Folder("""model m { plate n; plate d = 1000; data of[n] : d; tau ~ Gamma(shape = 1, rate = 1);
      w[d] ~ Normal(mean = 0, sd = 2); observe y[n] ~ Normal(mean = w[of[n]], precision = tau); }""",
                   {"of": np.arange(1000), "y": RNG.normal(0, 1, 1000)})
    assert not os.path.exists(large.at("fit/sds.npz"))
    return f"{own / float(sds['b.sd']):.2f} of it"


@check
def many_numbers():
    """A factor of ninety Normal numbers: standard deviations of all, from few responses."""
    g = 90
    of, x = np.repeat(np.arange(g), 3), RNG.normal(0, 1, 3 * g)
    y = RNG.normal(0, 1, g)[of] + x + RNG.normal(0, 1, 3 * g)
    f = Folder("""model m { plate n; plate g; data of[n] : g; data x[n] : real; mu ~ Normal(mean = 0, sd = 10); b ~ Normal(mean = 0, sd = 10);
      t ~ Gamma(shape = 1, rate = 1); tau ~ Gamma(shape = 1, rate = 1); a[g] ~ Normal(mean = mu, precision = t);
      observe y[n] ~ Normal(mean = a[of[n]] + b * x[n], precision = tau); }""", {"of": of, "x": x, "y": y}, "--sds", "linear-response")
    sds = arrays(f.at("fit/sds.npz"))
    f.run("fit", f.model, "--data", f.at("train.json"), "--out", f.at("gibbs"), "--quiet", "--method", "gibbs", "--draws", 5000, "--chains", 2)
    drawn = arrays(f.at("gibbs/posterior.npz"))
    off = {v: float(np.max(np.abs(sds[v + ".sd"] / drawn[v + ".sd"] - 1))) for v in ("mu", "b", "a", "t", "tau")}
    assert max(off.values()) < 0.12, off
    return f"{g + 4} numbers to {max(off.values()):.2f}"


@check
def refused():
    """What has no linear response says so, with a cure; a fit that has not converged says that."""
    data = line()
    with temporary() as folder:
        at = lambda name: os.path.join(folder, name)
        model, bound = write(at("m.lehr"), LINE), write_json(at("d.json"), plain(data))

        def fails(*arguments, code=2, text=model):
            return lehr("fit", text, "--data", bound, "--out", at("out"), "--sds", "linear-response", "--guide", "factorised", *arguments, code=code).stderr

        assert "cavi" in fails("--method", "gibbs") and "cavi" in fails("--method", "svi")
        assert "leave out --temper" in fails("--temper", "global", "--search", "none")
        assert "leave out --precision" in fails("--precision", "float")
        assert "not in {auto,factors,linear-response}" in lehr("fit", model, "--data", bound, "--out", at("out"), "--sds", "no", code=2).stderr
        points = write(at("p.lehr"), LINE[:-1] + "guide point(a, b); }")
        assert "gibbs" in fails(text=points)
        many = write(at("v.lehr"), "model m { plate n; plate d = 2001; w[d] ~ Normal(mean = 0, precision = 1); "
                     "observe y[n] ~ Normal(mean = w[0], sd = 1); }")
        assert "2001 numbers" in fails(text=many)
        early = lehr("fit", model, "--data", bound, "--out", at("out"), "--sds", "linear-response", "--guide", "factorised", "--max-iter", "3", code=0).stderr
        assert "converged fit" in early and not os.path.exists(at("out/sds.npz"))
    return "each with its reason"


@check
def warned():
    """A small fit of factors alone says that its standard deviations are too small, by how much, and what corrects them."""
    d = line()
    with temporary() as folder:
        at = lambda name: os.path.join(folder, name)
        done = lehr("fit", write(at("m.lehr"), LINE), "--data", write_json(at("d.json"), plain(d)), "--out", at("out"), "--search", "none",
                    "--sds", "factors", "--guide", "factorised", "--max-iter", 20000, code=0)
        said = " ".join(done.stderr.split())
        f = Corrected(LINE, d)
        ratio = min(float(f.q(v) / f.sds[f"{v}.sd"]) for v in "ab")
        assert f"{ratio:.2f} of that by linear response" in said and "--sds linear-response" in said, said
        centred = dict(d, x=d["x"] - d["x"].mean())
        quiet = lehr("fit", at("m.lehr"), "--data", write_json(at("e.json"), plain(centred)), "--out", at("out"), "--search", "none", "--sds", "factors", code=0)
        assert "linear" not in quiet.stderr, quiet.stderr
        # Where it takes too much work for all, some numbers are tried.
        for rows, sure in (2, False), (400, True):
            of = np.repeat(np.arange(1000), rows)
            many = {"of": of, "y": RNG.normal(0, 1, 1000)[of] + RNG.normal(0, 1, len(of))}
            done = lehr("fit", write(at("g.lehr"), GROUPS), "--data", write_json(at("g.json"), plain(many)), "--out", at("out"), "--search", "none",
                        "--max-iter", 20000, code=0)
            said = " ".join(done.stderr.split())
            assert ("too small" in said and "--sds linear-response" in said) != sure, (rows, said)
            assert not os.path.exists(at("out/sds.npz"))
    return f"{ratio:.2f}"


finish()
