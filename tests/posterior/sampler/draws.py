#!/usr/bin/env python3
"""draws.nc, its log likelihoods and replicated observations against scipy, and draws from the factors of a fit against their
distributions. NetCDF is read by Debian's netCDF4. Distributions are compared by chi-square, Kolmogorov-Smirnov or five
standard errors; the seeds are fixed."""
import os
import pathlib
import sys
import tempfile

import netCDF4
import numpy as np
from scipy import stats
from scipy.special import expit, gammaln, logsumexp

sys.path.append(f"{sys.path[0]}/..")
from fitting import ROOT, arrays, columns, finish, lehr, plain, read_csv, read_json, temporary, write, write_json  # noqa: E402

RNG = np.random.default_rng(11)


def groups(path):
    """Group -> variable -> array, and `dims`, `coordinates` by name."""
    out = {}
    with netCDF4.Dataset(path) as file:
        file.set_auto_mask(False)
        out["attributes"] = {name: file.getncattr(name) for name in file.ncattrs()}
        for name, group in file.groups.items():
            out[name] = {v: np.asarray(group[v][...]) for v in group.variables}
            out[name]["dims"] = {v: group[v].dimensions for v in group.variables}
            out[name]["types"] = {v: group[v].dtype for v in group.variables}
    return out


class Fitted:
    def __init__(self, folder, model, data, *options, method="gibbs"):
        self.path = pathlib.Path(folder)
        self.out = self.path / "out"
        sampling = ["--warmup", 200] if method == "gibbs" else []
        self.said = lehr("fit", write(self.path / "m.lehr", model), "--data", write_json(self.path / "d.json", plain(data)), "--method", method,
                         *sampling, "--seed", 3, *options, "--out", self.out).stderr
        self.draws = groups(self.out / "draws.nc") if method != "cavi" else None
        self.report = read_json(self.out / "fit.json")


def fitted(model, data, *options, **more):
    folder = tempfile.TemporaryDirectory()
    out = Fitted(folder.name, model, data, *options, **more)
    out.folder = folder
    return out


def close(got, want, tolerance=1e-9):
    got, want = np.asarray(got, dtype=float), np.asarray(want, dtype=float)
    assert got.shape == want.shape, (got.shape, want.shape)
    off = np.max(np.abs(got - want) / (1 + np.abs(want)))
    assert off < tolerance, f"off by {off:.1e}"
    return off


NORMAL = """model m { plate n; mu ~ Normal(mean = 0, sd = 3); tau ~ Gamma(shape = 2, rate = 1);
  observe x[n] ~ Normal(mean = mu, precision = tau); }"""


def normal():
    x = np.array([0.3, 1.9, 1.2, -0.4, 0.6, 2.5])
    f = fitted(NORMAL, {"x": x}, "--draws", 800, "--chains", 3)
    d = f.draws
    assert d["posterior"]["mu"].shape == (3, 800) and d["posterior"]["dims"]["mu"] == ("chain", "draw")
    assert d["log_likelihood"]["dims"]["x"] == ("chain", "draw", "n") and d["observed_data"]["dims"]["x"] == ("n",)
    assert (d["observed_data"]["x"] == x).all() and (d["posterior"]["draw"] == np.arange(800)).all()
    mu, sd = d["posterior"]["mu"][..., None], d["posterior"]["tau"][..., None] ** -0.5
    off = close(d["log_likelihood"]["x"], stats.norm.logpdf(x, mu, sd))
    p = stats.kstest(((d["posterior_predictive"]["x"] - mu) / sd).ravel(), "norm").pvalue
    assert p > 1e-3, f"replicates: p = {p}"
    lp = stats.norm.logpdf(mu[..., 0], 0, 3) + stats.gamma.logpdf(d["posterior"]["tau"], 2) + d["log_likelihood"]["x"].sum(-1)
    close(d["sample_stats"]["lp"], lp)
    for k in range(3):  # the same numbers as in the files of the chains
        drawn = columns(f.out / f"draws_{k + 1}.csv")
        for name, array in [("mu", d["posterior"]["mu"]), ("tau", d["posterior"]["tau"]), ("lp__", d["sample_stats"]["lp"])]:
            assert (drawn[name] == array[k]).all(), name
    return f"log densities off by {off:.0e}, replicates p = {p:.2f}"


def poisson_mixture():
    """Local categories are not in the posterior, but the observations were given them: each log likelihood is that of one of the
    components, in shares that are the posterior's own."""
    x = np.array([0, 1, 0, 2, 9, 11, 8, 12, 1, 10])
    model = """model m { plate n; plate k = 2; pi ~ Dirichlet(concentration = 2) over k; rate[k] ~ Gamma(shape = 2, rate = 0.5);
      z[n] ~ Categorical(pi); observe x[n] ~ Poisson(rate[z[n]]); }"""
    plain_fit = fitted(model, {"x": x}, "--draws", 600, "--chains", 2)
    assert "z" not in plain_fit.draws["posterior"]
    saved = fitted(model, {"x": x}, "--draws", 600, "--chains", 2, "--save-locals")
    d = saved.draws
    for name in ("rate", "pi"):
        assert (d["posterior"][name] == plain_fit.draws["posterior"][name]).all(), "what is kept must not change what is drawn"
    z = d["posterior"]["z"]
    assert z.dtype == np.int64 and d["posterior"]["dims"]["z"] == ("chain", "draw", "n")
    rate = np.take_along_axis(d["posterior"]["rate"], z, axis=2)
    off = close(d["log_likelihood"]["x"], stats.poisson.logpmf(x, rate))
    assert (d["log_likelihood"]["x"] == plain_fit.draws["log_likelihood"]["x"]).all()
    new = d["posterior_predictive"]["x"]
    assert new.dtype == np.int64
    # By the probability integral transform at random ties, replicates are uniform.
    below, at = stats.poisson.cdf(new - 1, rate), stats.poisson.pmf(new, rate)
    p = stats.kstest((below + RNG.random(new.shape) * at).ravel(), "uniform").pvalue
    assert p > 1e-3, f"replicates: p = {p}"
    return f"log densities off by {off:.0e}, replicates p = {p:.2f}"


def logistic():
    x, y = np.array([-2, -1.1, -0.3, 0.2, 0.9, 1.8, 2.5]), np.array([0, 0, 1, 0, 1, 1, 1])
    model = """model m { plate n; data x[n] : real; a ~ Normal(mean = 0, sd = 3); b ~ Normal(mean = 0, sd = 3);
      observe y[n] ~ Bernoulli(logistic(a + b * x[n])); }"""
    d = fitted(model, {"x": x, "y": y}, "--draws", 2000).draws
    eta = d["posterior"]["a"][..., None] + d["posterior"]["b"][..., None] * x
    off = close(d["log_likelihood"]["y"], stats.bernoulli.logpmf(y, 1 / (1 + np.exp(-eta))))
    p = 1 / (1 + np.exp(-eta))
    excess = (d["posterior_predictive"]["y"] - p).sum((0, 1)) / np.sqrt((p * (1 - p)).sum((0, 1)))
    assert np.abs(excess).max() < 4.5, f"replicates are {excess} standard errors off"
    assert set(d["posterior"]) - {"dims", "types"} == {"a", "b", "chain", "draw"}, "auxiliary variables are not of the model"
    return f"log densities off by {off:.0e}, replicates {np.abs(excess).max():.1f} standard errors"


def chains_and_matrices():
    """A hidden Markov model with Gaussian vectors, labels, a matrix, and an observation that is missing."""
    x = RNG.normal(size=(8, 2))
    x[3] = np.nan
    model = """model m { plate t ordered; plate state = 2; plate dim;
      A[state] ~ Dirichlet(concentration = 1) over state; mu[state] ~ MvNormal(mean = 0, precision = 0.1) over dim;
      Lambda ~ Wishart(df = 4, scale = 0.5) over dim; data p : simplex over state;
      s[t] ~ Categorical(A[s[t-1]]) start Categorical(p);
      observe x[t] ~ MvNormal(mean = mu[s[t]], precision = Lambda) over dim; }"""
    with temporary({"dim.txt": "länge\nbreite\n"}) as folder:
        f = fitted(model, {"x": x, "p": [0.5, 0.5]}, "--draws", 300, "--save-locals", "--labels", f"dim={folder}/dim.txt")
    d = f.draws["posterior"]
    assert d["dims"]["Lambda"] == ("chain", "draw", "dim", "dim_2") and d["dims"]["A"] == ("chain", "draw", "state", "state_2")
    assert list(d["dim"]) == ["länge", "breite"] == list(d["dim_2"]) and list(d["state"]) == [0, 1] and d["dims"]["s"][2] == "t"
    want = np.array([[stats.multivariate_normal.logpdf(x[t], d["mu"][0, k, d["s"][0, k, t]], np.linalg.inv(d["Lambda"][0, k]))
                      if t != 3 else np.nan for t in range(8)] for k in range(300)])
    got = f.draws["log_likelihood"]["x"][0]
    assert np.isnan(got[:, 3]).all()
    off = close(np.delete(got, 3, 1), np.delete(want, 3, 1))
    new = f.draws["posterior_predictive"]["x"][0]
    e = new - np.take_along_axis(d["mu"][0], d["s"][0][..., None], axis=1)
    quadratic = np.einsum("dti,dij,dtj->dt", e, d["Lambda"][0], e)
    p = stats.kstest(quadratic.ravel(), "chi2", (2,)).pvalue
    assert p > 1e-3, f"replicates: p = {p}"
    assert f.draws["observed_data"]["x"].shape == (8, 2) and np.isnan(f.draws["observed_data"]["x"][3]).all()
    return f"log densities off by {off:.0e}, replicates (missing ones too) p = {p:.2f}"


def ragged():
    """A nested plate is one axis, with the row of each element beside it."""
    rows = [[0.5, 1.5], [2.0], [0.1, -0.4, 0.3]]
    model = """model m { plate school; plate pupil in school; theta[school] ~ Normal(mean = 0, sd = 2);
      observe y[school, pupil] ~ Normal(mean = theta[school], sd = 1); }"""
    d = fitted(model, {"y": rows}, "--draws", 50).draws
    y, row = np.concatenate(rows), np.repeat([0, 1, 2], [2, 1, 3])
    for group in ("log_likelihood", "posterior_predictive", "observed_data"):
        assert d[group]["dims"]["y"][-1] == "pupil" and list(d[group]["pupil_school"]) == list(row)
    close(d["log_likelihood"]["y"], stats.norm.logpdf(y, d["posterior"]["theta"][..., row], 1))
    return "six elements in three rows"


def odd_names():
    """Plates and variables may be called like the axes of draws."""
    model = """model m { plate chain; plate draw = 2; draw_2[draw] ~ Normal(mean = 0, sd = 1);
      observe x[chain] ~ Normal(mean = sum(draw) draw_2[draw], sd = 1); }"""
    d = fitted(model, {"x": [0.5, 0.2]}, "--draws", 5).draws
    assert d["posterior"]["dims"]["draw_2"] == ("chain", "draw", "draw_") and d["observed_data"]["dims"]["x"] == ("chain_",)
    return "chain_ and draw_"


def limits():
    """No more numbers than --predictive, and a reason where there are none."""
    x = RNG.normal(size=10)
    f = fitted(NORMAL, {"x": x}, "--draws", 100, "--chains", 2, "--predictive", 700)
    looked_at = f.draws["log_likelihood"]["draw"]
    assert list(looked_at) == list(range(0, 100, 3)) and "one draw in 3" in f.said, (looked_at, f.said)
    mu, sd = (f.draws["posterior"][v][:, looked_at, None] for v in ("mu", "tau"))
    close(f.draws["log_likelihood"]["x"], stats.norm.logpdf(x, mu, sd**-0.5))
    for options in (["--predictive", 0], ["--predictive", 19]):
        none = fitted(NORMAL, {"x": x}, "--draws", 100, "--chains", 2, *options).draws
        assert set(none) == {"attributes", "posterior", "sample_stats", "observed_data"}, set(none)
        assert (none["posterior"]["mu"] == f.draws["posterior"]["mu"]).all()
    spins = """model m { plate i; plate e; data a[e] : i; data b[e] : i; s[i] ~ Spin(); observe t[i] ~ Spin();
      potential[e] 0.3 * s[a[e]] * s[b[e]]; potential[i] 0.5 * s[i] * t[i]; }"""
    f = fitted(spins, {"a": [0, 1], "b": [1, 2], "t": [1, -1, 1]}, "--draws", 20)
    assert "log_likelihood" not in f.draws and "'t' is in a potential" in f.said, f.said
    copies = """model m { plate n times count; mu ~ Normal(mean = 0, sd = 2); observe x[n] ~ Normal(mean = mu, sd = 1); }"""
    f = fitted(copies, {"x": [0.5, 2.0], "count": [1, 3]}, "--draws", 20)
    assert "log_likelihood" not in f.draws and "elements of 'n' have copies" in f.said, f.said
    return "thinned, and left out with a reason"


def dirichlet_multinomial(counts, c):
    n = counts.sum(-1)
    return (gammaln(n + 1) - gammaln(counts + 1).sum(-1) + gammaln(c.sum()) - gammaln(n + c.sum())
            + (gammaln(counts + c) - gammaln(c)).sum(-1))


def mixed(w, *parts):
    return logsumexp([np.log(p) + x for p, x in zip(w, parts)], axis=0)


class ZeroOr:
    """A count that is 0 with probability theta, and of `law` otherwise."""

    def __init__(self, theta, law):
        self.theta, self.law = theta, law

    def logpmf(self, k):
        return np.log(self.theta * (k == 0) + (1 - self.theta) * self.law.pmf(k))

    def cdf(self, k):
        return (k >= 0) * (self.theta + (1 - self.theta) * self.law.cdf(k))

    def pmf(self, k):
        return np.exp(self.logpmf(k))


COUNTS = np.array([0, 1, 4, 0, 2, 9, 0, 3])
REALS = np.array([0.3, 1.9, 1.2, -0.4, 0.6, 12.5])
# The priors and the distribution of y[n] as in a model file; y; and that distribution at the draws by scipy, or its log density.
ADDED = {
    "StudentT": ("mu ~ Normal(mean = 0, sd = 3); tau ~ Gamma(shape = 2, rate = 1);", "StudentT(df = 4, mean = mu, precision = tau)", REALS,
                 lambda p: stats.t(4, p["mu"], p["tau"] ** -0.5)),
    "StudentT far from zero": ("mu ~ Normal(mean = 1e6, sd = 3); tau ~ Gamma(shape = 2, rate = 1);", "StudentT(df = 2.5, mean = mu, precision = tau)",
                               REALS + 1e6, lambda p: stats.t(2.5, p["mu"], p["tau"] ** -0.5)),
    "GammaPoisson": ("m ~ Gamma(shape = 2, rate = 1);", "GammaPoisson(mean = m, r = 2)", COUNTS, lambda p: stats.nbinom(2, 2 / (2 + p["m"]))),
    "NegativeBinomial": ("m ~ Gamma(shape = 2, rate = 1);", "NegativeBinomial(mean = m, r = 0.7)", COUNTS,
                         lambda p: stats.nbinom(0.7, 0.7 / (0.7 + p["m"]))),
    "BetaBinomial": ("m ~ Gamma(shape = 2, rate = 1); observe h ~ Poisson(m);", "BetaBinomial(12, 0.6, 2.5)", COUNTS,
                     lambda p: stats.betabinom(12, 0.6 + 0 * p["m"], 2.5)),
    "zero_inflated": ("theta ~ Beta(1, 1); m ~ Gamma(shape = 1, rate = 1);", "zero_inflated(theta, Poisson(m))", COUNTS,
                      lambda p: ZeroOr(p["theta"], stats.poisson(p["m"]))),
    "zero_inflated by a link": ("t ~ Normal(mean = 0, sd = 1); m ~ Gamma(shape = 1, rate = 1);", "zero_inflated(logistic(t), Poisson(m))", COUNTS,
                                lambda p: ZeroOr(expit(p["t"]), stats.poisson(p["m"]))),
    "product": ("a ~ Beta(2, 1); b ~ Beta(2, 3);", "Bernoulli(a * b)", np.array([0, 1, 0, 1, 1]), lambda p: stats.bernoulli(p["a"] * p["b"])),
    "mixture": ("plate k = 3; w ~ Dirichlet(concentration = 1) over k; mu ~ Normal(mean = 0, sd = 3); tau ~ Gamma(shape = 2, rate = 1);",
                "mixture(w, Normal(mean = mu, precision = tau), Normal(mean = 0, sd = 20), Normal(mean = mu, sd = 1))", REALS,
                lambda p: mixed([p["w"][..., k] for k in range(3)], stats.norm.logpdf(REALS, p["mu"], p["tau"] ** -0.5),
                                stats.norm.logpdf(REALS, 0, 20), stats.norm.logpdf(REALS, p["mu"], 1))),
    "mixture of zero-inflated counts": (
        "plate k = 3; w ~ Dirichlet(concentration = 1) over k; m ~ Gamma(shape = 1, rate = 1);", "mixture(w, Zero(), Poisson(m), Poisson(8))", COUNTS,
        lambda p: mixed([p["w"][..., k] for k in range(3)], np.where(COUNTS == 0, 0, -np.inf), stats.poisson.logpmf(COUNTS, p["m"]),
                        stats.poisson.logpmf(COUNTS, 8))),
    "censored StudentT": ("mu ~ Normal(mean = 0, sd = 3); tau ~ Gamma(shape = 2, rate = 1);",
                          "StudentT(df = 4, mean = mu, precision = tau) censored above 1.9", np.minimum(REALS, 1.9),
                          lambda p: np.where(REALS < 1.9, stats.t.logpdf(REALS, 4, p["mu"], p["tau"] ** -0.5),
                                             stats.t.logsf(1.9, 4, p["mu"], p["tau"] ** -0.5))),
    # A category of the model is given as drawn; what is added is not.
    "StudentT by a category": (
        "plate k = 2; w ~ Dirichlet(concentration = 2) over k; mu[k] ~ Normal(mean = 0, sd = 5); z[n] ~ Categorical(w);",
        "StudentT(df = 3, mean = mu[z[n]], sd = 1)", REALS, lambda p: stats.t(3, by_category(p, "mu"), 1)),
    "zero_inflated by a category": (
        "plate k = 2; theta[k] ~ Beta(1, 1); m[k] ~ Gamma(shape = 1, rate = 0.3); z[n] ~ Uniform() over k;",
        "zero_inflated(theta[z[n]], Poisson(m[z[n]]))", COUNTS, lambda p: ZeroOr(by_category(p, "theta"), stats.poisson(by_category(p, "m")))),
}


def by_category(p, name):
    return np.take_along_axis(p[name][:, :, 0], p["z"], axis=2)


def added():
    """What the compiler adds to an observation (the weight of a Student's t, the part of a mixture) is integrated out of its log
    likelihood, and drawn anew for replicates: those of an outlier are spread as all others."""
    worst, least = 0, 1
    for name, (priors, law, y, want) in ADDED.items():
        d = fitted(f"model m {{ plate n; {priors} observe y[n] ~ {law}; }}", {"y": y, **({"h": 1} if "observe h" in priors else {})},
                   "--draws", 300, "--chains", 2, "--save-locals").draws
        p = {v: x if v == "z" else x[:, :, None] for v, x in d["posterior"].items() if np.ndim(x) > 1}
        at = want(p)
        densities = at if isinstance(at, np.ndarray) else at.logpdf(y) if hasattr(at, "dist") and hasattr(at.dist, "pdf") else at.logpmf(y)
        try:
            worst = max(worst, close(d["log_likelihood"]["y"], densities, 1e-10 if y[0] < 1e5 else 1e-8))
        except AssertionError as e:
            raise AssertionError(f"{name}: {e}") from None
        if isinstance(at, np.ndarray):
            continue
        new = d["posterior_predictive"]["y"]
        # By the probability integral transform, at random ties of counts, replicates are uniform: of all, and of the largest value.
        u = at.cdf(new) if y.dtype == float else at.cdf(new - 1) + RNG.random(new.shape) * at.pmf(new)
        for which in (u, u[..., np.argmax(y)]):
            p_value = stats.kstest(which.ravel(), "uniform").pvalue
            assert p_value > 1e-4, f"{name}: replicates: p = {p_value}"
            least = min(least, p_value)
    return f"log densities off by {worst:.0e}, replicates p >= {least:.3f}"


def added_vectors():
    """Mixtures of vectors, and counts with Dirichlet probabilities."""
    x = np.array([[0.4, 1.0], [2.0, -1.0], [0.3, 0.1]])
    model = """model m { plate n; plate d; plate kind; c ~ Beta(2, 1); mu ~ MvNormal(mean = 0, precision = 0.1) over d;
      data P : matrix over d, d; data Q : matrix over d, d;
      observe y[n] ~ mixture(c, MvNormal(mean = mu, precision = P), MvNormal(mean = 0, precision = Q)) over d;
      observe k[n] ~ DirichletMultinomial(concentration = 1.5) over kind; }"""
    P, Q, k = np.array([[2, 0.5], [0.5, 1]]), np.diag([0.1, 0.2]), RNG.integers(5, size=(3, 4))
    d = fitted(model, {"y": x, "k": k, "P": P, "Q": Q}, "--draws", 200).draws
    mu, c = d["posterior"]["mu"][0], d["posterior"]["c"][0]
    first = np.array([stats.multivariate_normal.logpdf(x - m, np.zeros(2), np.linalg.inv(P)) for m in mu])
    second = stats.multivariate_normal.logpdf(x, np.zeros(2), np.linalg.inv(Q))
    off = close(d["log_likelihood"]["y"][0], np.logaddexp(np.log(c)[:, None] + first, np.log1p(-c)[:, None] + second), 1e-10)
    want = dirichlet_multinomial(k, np.full(4, 1.5))
    off = max(off, close(d["log_likelihood"]["k"][0], np.tile(want, (200, 1)), 1e-10))
    new = d["posterior_predictive"]["k"][0]
    assert (new.sum(-1) == k.sum(-1)).all()
    # A count of a category is BetaBinomial.
    n, share = k.sum(-1), 1.5 / 6
    sd = np.sqrt(n * share * (1 - share) * (n + 6) / 7)
    z = (new.std(0) / sd[:, None] - 1) * np.sqrt(2 * 200)
    assert np.abs(z).max() < 5, z
    return f"log densities off by {off:.0e}"


def exact():
    model = """model m { plate e; plate i; data a[e] : i; data b[e] : i; s[i] ~ Spin(); potential[e] 0.4 * s[a[e]] * s[b[e]];
      observe y[i] ~ Normal(mean = s[i], sd = 0.8); }"""
    y = np.array([0.3, 1.2, -0.7])
    d = fitted(model, {"a": [0, 1], "b": [1, 2], "y": y}, "--draws", 200, method="exact").draws
    assert set(np.unique(d["posterior"]["s"])) == {-1, 1} and d["posterior"]["s"].dtype == np.int64
    return f"spins, log densities off by {close(d['log_likelihood']['y'], stats.norm.logpdf(y, d['posterior']['s'], 0.8)):.0e}"


def diagnostics():
    """fit.json has the worst of summary.csv, posterior.npz and `show` all of it."""
    f = fitted(NORMAL, {"x": RNG.normal(size=10)}, "--draws", 200, "--chains", 4)
    rows = {row["name"]: row for row in read_csv(f.out / "summary.csv")}
    worst = {"r_hat": max, "ess_bulk": min, "ess_tail": min}
    for key, of in worst.items():
        want = of(float(row[key]) for row in rows.values())
        assert abs(f.report["sampling"][key] / want - 1) < 1e-5, key
        for name in ("mu", "tau"):
            assert abs(f.report["variables"][name][key] / float(rows[name][key]) - 1) < 1e-5, (name, key)
    posterior = np.load(f.out / "posterior.npz")
    lines = {line.split()[0]: line.split()[1:] for line in lehr("show", f.out).stdout.splitlines() if line.startswith("  ")}
    assert lines["mean"] == ["sd", "mcse", "ess_bulk", "ess_tail", "r_hat"], lines
    for name in ("mu", "tau"):
        for k, key in enumerate(("mean", "sd", "mcse", "ess_bulk", "ess_tail", "r_hat")):
            assert abs(posterior[f"{name}.{key}"] / float(rows[name][key]) - 1) < 1e-5
            shown = float(lines[name][k])
            assert abs(shown - float(rows[name][key])) < max(6e-3 * abs(shown), 0.51 * (key[:3] == "ess")), (name, key, lines)
    return "in four places"


def from_factors():
    """Draws from q, by the marginals of its factors; joint ones jointly."""
    x = RNG.normal(size=(30, 2)) @ np.array([[1, 0.6], [0, 0.8]]) + [1, -1]
    model = """model m { plate n; plate d; plate k = 3; data c[n] : k;
      Lambda ~ Wishart(df = 5, scale = 0.5) over d; mu ~ MvNormal(mean = 0, precision = 0.5 * Lambda) over d;
      guide joint(mu, Lambda); pi ~ Dirichlet(concentration = 1) over k; g ~ Gamma(shape = 2, rate = 1); p ~ Beta(1, 2);
      a[k] ~ Normal(mean = 0, sd = 1); s ~ Spin(); potential[] 0.4 * s; m ~ Normal(mean = 0, sd = 1); guide point(m);
      observe x[n] ~ MvNormal(mean = mu, precision = Lambda) over d; observe y[n] ~ Categorical(pi);
      observe u[n] ~ Poisson(g); observe v[n] ~ Bernoulli(p); observe w[n] ~ Normal(mean = a[c[n]] + m, sd = 1); }"""
    model = model.replace("potential[] 0.4 * s; ", "observe h ~ Normal(mean = 0.4 * s, sd = 1); ")
    data = {"x": x, "c": RNG.integers(3, size=30), "y": RNG.integers(3, size=30), "u": RNG.poisson(2, size=30),
            "v": RNG.integers(2, size=30), "w": RNG.normal(size=30), "h": 0.9}
    f = fitted(model, data, method="cavi")
    q = arrays(f.out / "posterior.npz")
    n = 4000
    lehr("draws", f.out, "-n", n, "--seed", 6)
    d = groups(f.out / "drawn.nc")["posterior"]
    assert d["dims"]["Lambda"] == ("chain", "draw", "d", "d_2") and d["mu"].shape == (1, n, 2)
    least = 1.0
    def uniform(name, values, law):
        nonlocal least
        p = stats.kstest(values, law.cdf).pvalue
        least = min(least, p)
        assert p > 1e-3, f"{name}: p = {p}"
    uniform("g", d["g"][0], stats.gamma(q["g.shape"], scale=1 / q["g.rate"]))
    uniform("p", d["p"][0], stats.beta(q["p.a"], q["p.b"]))
    for k in range(3):
        uniform(f"a[{k}]", d["a"][0, :, k], stats.norm(q["a.mean"][k], q["a.precision"][k] ** -0.5))
        c = q["pi.concentration"]
        uniform(f"pi[{k}]", d["pi"][0, :, k], stats.beta(c[k], c.sum() - c[k]))
    close(d["pi"].sum(-1), np.ones((1, n)))
    assert (d["m"] == q["m.value"]).all(), "a point is where it is"
    share = (d["s"][0] == 1).mean()
    assert set(np.unique(d["s"])) == {-1, 1} and abs(share - (1 + q["s.mean"]) / 2) < 4.5 * 0.5 / np.sqrt(n), share
    freedom = q["Lambda.df"]
    for i in range(2):  # a diagonal entry is a scaled chi-square; of the mean given the precision a squared distance
        uniform("Lambda", d["Lambda"][0, :, i, i] / q["Lambda.scale"][i, i], stats.chi2(freedom))
    e = d["mu"][0] - q["mu.mean"]
    uniform("mu given Lambda", q["mu.precision_scale"] * np.einsum("di,dij,dj->d", e, d["Lambda"][0], e), stats.chi2(2))
    assert abs(stats.spearmanr(np.abs(e[:, 0]), d["Lambda"][0, :, 0, 0])[0]) > 0.05, "the pair is drawn together"
    again = lehr("draws", f.out, "-n", n, "--seed", 6, "--out", f.path / "again.csv")
    assert f"{n} draws from the factors" in again.stdout
    assert list(columns(f.path / "again.csv")["Lambda.1.2"]) == list(d["Lambda"][0, :, 0, 1])
    return f"least p = {least:.3f}"


def local_factors():
    """Categories of items are drawn where they were saved, and are said to be missing where they were not."""
    x = np.array([-2.0, -1.5, 0.1, 1.8, 2.2])
    model = """model m { plate n; plate k = 2; pi ~ Dirichlet(concentration = 2) over k; mu[k] ~ Normal(mean = 0, sd = 3);
      z[n] ~ Categorical(pi); observe x[n] ~ Normal(mean = mu[z[n]], sd = 1); }"""
    f = fitted(model, {"x": x}, "--save-locals", method="cavi")
    lehr("draws", f.out, "-n", 5000, "--out", f.path / "z.nc")
    z = groups(f.path / "z.nc")["posterior"]["z"]
    p = np.load(f.out / "posterior.npz")["z.probs"][:, 1]
    off = (z[0].mean(0) - p) / np.sqrt(p * (1 - p) / 5000 + 1e-6)
    assert z.dtype == np.int64 and np.abs(off).max() < 4.5, off
    f = fitted(model, {"x": x}, method="cavi")
    assert "the factors of z were not written" in lehr("draws", f.out).stderr
    return f"{np.abs(off).max():.1f} standard errors"


def gaps():
    """Data with a gap on which others depend are a latent variable: the file says so."""
    text = """model ar { plate t ordered; a ~ Normal(mean = 0, sd = 1);
      observe x[t] ~ Normal(mean = a * x[t-1], sd = 1) start Normal(mean = 0, sd = 3); }"""
    for x, why in (([1.0, 0.5, None, 0.2], "with missing values 'x' is a latent variable"), ([1.0, 0.5, 0.4, 0.2], "every draw")):
        said = fitted(text, {"x": x}, "--draws", 20).draws["attributes"]["log_likelihood_and_posterior_predictive"]
        assert why in said, said
    return why


def stored():
    """Of a sampler, the stored draws, evenly spaced, from every chain."""
    f = fitted(NORMAL, {"x": RNG.normal(size=10)}, "--draws", 90, "--chains", 3, "--predictive", 900)
    all_draws = f.draws
    assert list(all_draws["log_likelihood"]["draw"]) == list(range(0, 90, 3))
    for n, kept in ((30, 10), (31, 10), (2, 1), (180, 60), (100000, 90)):
        lehr("draws", f.out, "-n", n, "--out", f.path / "t.nc")
        d = groups(f.path / "t.nc")
        chosen = d["posterior"]["draw"].astype(int)
        gaps = np.diff(chosen)
        assert len(chosen) == kept and (gaps > 0).all() and (kept == 1 or np.ptp(gaps) <= 3), chosen
        for name in ("mu", "tau"):
            assert (d["posterior"][name] == all_draws["posterior"][name][:, chosen]).all()
        assert (d["sample_stats"]["lp"] == all_draws["sample_stats"]["lp"][:, chosen]).all()
        of = list(all_draws["log_likelihood"]["draw"])
        both = [c for c in chosen if c in of]
        assert list(d["log_likelihood"]["draw"]) == both and (kept > 30 or len(both) == kept), (kept, both)
        assert (d["log_likelihood"]["x"] == all_draws["log_likelihood"]["x"][:, [of.index(c) for c in both]]).all()
        assert (d["observed_data"]["x"] == all_draws["observed_data"]["x"]).all()
    with open(f.out / "draws.nc", "ab") as file:
        file.write(b"x")
    assert "not the draws of this fit" in lehr("draws", f.out, code=4).stderr
    assert "does not end in" in lehr("draws", f.out, "--out", f.path / "t.txt", code=2).stderr
    return "thinned"


os.chdir(ROOT)
finish({check.__name__: check for check in (normal, poisson_mixture, logistic, chains_and_matrices, ragged, odd_names, limits,
                                            exact, diagnostics, from_factors, local_factors, gaps, stored, added, added_vectors)})
