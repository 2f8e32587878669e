#!/usr/bin/env python3
"""Models of models/ on classic data, against SciPy, least squares and what was published."""
import os
import sys

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, gammaln
from scipy.stats import betabinom, gamma, nbinom

sys.path.append(f"{sys.path[0]}/..")
from fitting import ROOT, finish, fit, model_file, read_csv, read_json  # noqa: E402


def table(name):
    rows = read_csv(os.path.join(ROOT, "models/data", name + ".csv"))
    return {k: np.array([float(r[k]) for r in rows]) for k in rows[0]}


def fitted(name, *data, search="none", more=()):
    at = os.path.join(ROOT, "models/data")
    return fit(os.path.join(ROOT, model_file(name)), [d.replace("@", at) for d in data], "--search", search, "--tol", "1e-11",
               "--max-iter", "20000", *more, monotone=search == "none")


def rat_tumours():
    """The beta-binomial likelihood at its maximum; 2.4 and 14.3 with the hyperprior of Gelman et al., whose mode is beside it."""
    t = table("hierarchical/rat_tumours")
    best = minimize(lambda p: -betabinom.logpmf(t["tumours"], t["rats"], *np.exp(p)).sum(), [0, 2], method="Nelder-Mead",
                    options={"xatol": 1e-10, "fatol": 1e-12})
    got = fitted("rat_tumours", "@/hierarchical/rat_tumours.csv")
    values = [float(got.posterior[k + ".value"]) for k in "ab"]
    assert np.allclose(values, np.exp(best.x), rtol=1e-3), (values, np.exp(best.x))
    # The ELBO has the priors as well: a0 = 1 and b0 = 1e-6.
    assert abs(got.elbo - (-best.fun + 2 * np.log(1e-6))) < 1e-4, (got.elbo, best.fun)
    return f"a {values[0]:.3f}, b {values[1]:.3f}"


def lynx():
    """Tong, Non-linear time series (1990), section 7.2: 1.0576, 1.3842 and -0.7478; and least squares."""
    x = table("sequences/lynx")["log10"]
    got = fitted("lynx_autoregression", "x=@/sequences/lynx.csv:log10")
    means = [float(got.posterior[k + ".mean"]) for k in ("c", "b1", "b2")]
    squares = np.linalg.lstsq(np.column_stack([np.ones(112), x[1:-1], x[:-2]]), x[2:], rcond=None)[0]
    assert np.allclose(means, squares, atol=1e-4) and np.allclose(means, [1.0576, 1.3842, -0.7478], atol=2e-4), (means, squares)
    return f"{means[0]:.4f}, {means[1]:.4f}, {means[2]:.4f}"


def chests():
    """A weight counts as so many rows: mean, variance, and the ELBO of the table written out soldier by soldier."""
    t = table("distributions/chests")
    all_of_them = np.repeat(t["inches"], t["soldiers"].astype(int))
    got = fitted("chest_girths", "@/distributions/chests.csv")
    q = {k: float(got.posterior[k]) for k in ("mu.mean", "tau.shape", "tau.rate")}
    assert abs(q["mu.mean"] - all_of_them.mean()) < 1e-5 and abs(q["tau.shape"] - (0.01 + len(all_of_them) / 2)) < 1e-9, q
    assert abs(np.sqrt(q["tau.rate"] / q["tau.shape"]) - all_of_them.std()) < 1e-3, q
    text = """model m { plate n; mu ~ Normal(mean = 40, sd = 100); tau ~ Gamma(shape = 0.01, rate = 0.01);
      observe x[n] ~ Normal(mean = mu, precision = tau); }"""
    whole = fit(text, {"x": all_of_them}, "--search", "none", "--tol", "1e-11")
    assert abs(whole.elbo - got.elbo) < 1e-6, (whole.elbo, got.elbo)
    return f"mean {q['mu.mean']:.2f} of {len(all_of_them)}"


def stack_loss():
    """Days that Daniel & Wood (1971) and Andrews (1974) set aside, and their regression without these."""
    got = fitted("contaminated_regression", "x=@/regression/stackloss.csv:air,water,acid", "y=@/regression/stackloss.csv:loss", search="quick")
    t = table("regression/stackloss")
    far = [0, 2, 3, 20]
    part = got.posterior["y.part.p"]
    assert set(np.argsort(part)[:4]) == set(far) and part[far].max() < 0.1, part
    keep = np.setdiff1d(np.arange(21), far)
    x = np.column_stack([np.ones(21), t["air"], t["water"], t["acid"]])
    squares = np.linalg.lstsq(x[keep], t["loss"][keep], rcond=None)[0]
    means = np.concatenate([[float(got.posterior["b.mean"])], got.posterior["w.mean"]])
    sds = np.array([5, 0.07, 0.17, 0.065])
    assert (np.abs(means - squares) < sds).all(), (means, squares)
    return f"weights {np.round(means[1:], 2)}, without the four days {np.round(squares[1:], 2)}"


def casks():
    """A table with a line for each assay says the same as the array."""
    more = ["--guide", "factorised"]  # casks are items of the array, and no items of the table
    array = fitted("nested_random_effects", "@/hierarchical/pastes.json", more=more)
    lines = fitted("casks_of_a_table", *[f"{of}=@/hierarchical/pastes.csv:{column}" for of, column in
                                         (("batch_of", "batch"), ("cask_of", "cask"), ("strength", "strength"))], more=more)
    assert abs(array.elbo - lines.elbo) < 1e-6, (array.elbo, lines.elbo)
    assert np.allclose(array.posterior["c.mean"].ravel(), lines.posterior["c.mean"].ravel(), atol=1e-4)
    return f"ELBO {lines.elbo:.4f}"


def lasso():
    """The sampler of Park & Casella (2008), section 2, at the fitted standard deviation of the noise."""
    data = {k: np.array(v) for k, v in read_json(os.path.join(ROOT, "models/data/regression/sparse_regression.json")).items()}
    got = fitted("lasso", "@/regression/sparse_regression.json")
    sigma = float(got.posterior["sigma.value"])
    x, y, rate = data["X"], data["y"], 1 / 0.5
    rng, w, draws = np.random.default_rng(3), np.ones(x.shape[1]), []
    for k in range(6000):
        precision = rng.wald(rate / np.abs(w), rate * rate)  # of w[d], given its absolute value
        covariance = np.linalg.inv(x.T @ x / sigma**2 + np.diag(precision))
        w = rng.multivariate_normal(covariance @ x.T @ y / sigma**2, covariance)
        draws.append(w)
    mean, sd = np.mean(draws[1000:], axis=0), np.std(draws[1000:], axis=0)
    means = got.posterior["w.mean"].ravel()
    assert (np.abs(means - mean) < 0.25 * sd + 0.005).all(), (means, mean, sd)
    return f"within {np.max(np.abs(means - mean) / sd):.2f} standard deviations"


def penguins():
    """The fixed point of the factors of a Normal mean and precision of the logarithms; masses that are missing say nothing."""
    got = fitted("penguin_masses", "kind_of=@/distributions/penguins.csv:species", "mass=@/distributions/penguins.csv:body_mass_g")
    rows = [(r["species"], float(r["body_mass_g"])) for r in read_csv(f"{ROOT}/models/data/distributions/penguins.csv") if r["body_mass_g"] not in ("", "NA")]
    out = []
    for k, kind in enumerate(sorted({r[0] for r in rows})):
        x, tau = np.log([mass for of, mass in rows if of == kind]), 50.0
        for _ in range(200):
            precision = 0.25 + tau * len(x)
            mean = (0.25 * 8 + tau * x.sum()) / precision
            tau = (1 + len(x) / 2) / (0.01 + 0.5 * (((x - mean) ** 2).sum() + len(x) / precision))
        q = got.posterior
        assert abs(q["m.mean"][k] - mean) < 1e-6 and abs(q["tau.shape"][k] / q["tau.rate"][k] - tau) < 1e-3 * tau, (kind, mean, tau)
        out.append(f"{np.exp(mean):.0f}")
    return ", ".join(out)


def phage():
    """The likelihood of the Dirichlet-multinomial, with the priors of its concentrations, at its maximum."""
    x = np.loadtxt(os.path.join(ROOT, "models/data/mixtures/phage.csv"), delimiter=",", skiprows=1)

    def energy(t):
        a = np.exp(t)
        rows = gammaln(a.sum()) - gammaln(a.sum() + x.sum(1)) + (gammaln(a + x) - gammaln(a)).sum(1)
        return 1e-3 * a.sum() - rows.sum()

    best = minimize(energy, np.full(x.shape[1], 2.0), method="BFGS", options={"gtol": 1e-6})
    got = fitted("dirichlet_multinomial", "x=@/mixtures/phage.csv")
    values = got.posterior["alpha.value"].ravel()
    assert np.allclose(values, np.exp(best.x), rtol=1e-3), (values, np.exp(best.x))
    ways = (gammaln(x.sum(1) + 1) - gammaln(x + 1).sum(1)).sum()
    assert abs(got.elbo - (ways - best.fun + 16 * np.log(1e-3))) < 1e-2, (got.elbo, ways - best.fun)
    return f"sum {values.sum():.1f}"


def disasters():
    """The posterior of the two weights on a grid."""
    t = table("regression/coal_trend")
    got = fitted("falling_counts", "@/regression/coal_trend.csv")
    a, b = np.meshgrid(np.linspace(0, 1.3, 131), np.linspace(0.2, 1.7, 151), indexing="ij")
    log_joint = -0.5 * (a**2 + b**2) / 9
    for time, count in zip(t["half_centuries"], t["count"]):
        log_joint += nbinom.logpmf(count, 3, expit(a + b * time))
    p = np.exp(log_joint - log_joint.max())
    p /= p.sum()
    for name, at in (("a", a), ("b", b)):
        mean = (p * at).sum()
        sd = np.sqrt((p * at**2).sum() - mean**2)
        assert abs(float(got.posterior[name + ".mean"]) - mean) < 0.1 * sd, (name, mean, sd)
    # The ELBO is a bound of the evidence.
    evidence = log_joint.max() + np.log(np.exp(log_joint - log_joint.max()).sum() * 0.01 * 0.01 / (2 * np.pi * 9))
    assert evidence - 0.5 < got.elbo < evidence, (evidence, got.elbo)
    return f"b {float(got.posterior['b.mean']):.3f}, evidence {evidence:.3f}, bound {got.elbo:.3f}"


def girths():
    """Maximum likelihood of a logistic number that is known to an inch."""
    t = table("distributions/chests")
    edges = np.concatenate([[-np.inf], t["inches"][:-1] + 0.5, [np.inf]])
    best = minimize(lambda mu: -(t["soldiers"] * np.log(np.diff(expit(edges - mu)))).sum(), [38.0], method="Nelder-Mead")
    got = fitted("grouped_girths", "@/distributions/girths.json")
    assert abs(float(got.posterior["mu.mean"]) - best.x[0]) < 0.01, (got.posterior["mu.mean"], best.x)
    return f"mean {float(got.posterior['mu.mean']):.3f}, maximum {best.x[0]:.3f}"


def flows():
    """The likelihood of a Gamma distribution, with the priors of shape and rate, at its maximum."""
    x = table("sequences/nile")["flow"]
    best = minimize(lambda t: 1e-3 * np.exp(t).sum() - gamma.logpdf(x, np.exp(t[0]), scale=np.exp(-t[1])).sum(), [2, -3],
                    method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 10000})
    got = fitted("gamma_flows", "flow=@/sequences/nile.csv:flow")
    values = [float(got.posterior[k + ".value"]) for k in ("shape", "rate")]
    assert np.allclose(values, np.exp(best.x), rtol=1e-3), (values, np.exp(best.x))
    assert abs(got.elbo - (2 * np.log(1e-3) - best.fun)) < 1e-4, (got.elbo, best.fun)
    return f"shape {values[0]:.3f}, rate {values[1]:.5f}"


def eruptions():
    """Algorithm 22.1 of MacKay (2003), begun at two eruptions: the same centres, and the ELBO as minus the free energy."""
    t = table("mixtures/faithful")
    x = np.column_stack([t["eruptions"], t["waiting"]])
    mu = x[[1, 0]]
    for _ in range(500):
        log_r = -((x[:, None] - mu) ** 2).sum(2) / 50
        r = np.exp(log_r - np.logaddexp.reduce(log_r, axis=1, keepdims=True))
        mu = r.T @ x / r.sum(0)[:, None]
    at = os.path.join(ROOT, "models/data")
    got = fit(os.path.join(ROOT, "models/mixtures/equal_clusters.lehr"), [f"x={at}/mixtures/faithful.csv:eruptions,waiting"], "--set", "sd=5", "--set", "K=2",
              "--tol", "1e-12", monotone=False)
    centres = got.posterior["mu.value"]
    assert np.allclose(centres[np.argsort(centres[:, 0])], mu[np.argsort(mu[:, 0])], atol=1e-3), (centres, mu)
    log_r = -((x[:, None] - mu) ** 2).sum(2) / 50
    energy = (np.logaddexp.reduce(log_r, axis=1) - np.log(2) - np.log(2 * np.pi * 25)).sum()
    assert abs(got.elbo - energy) < 1e-3, (got.elbo, energy)
    return f"centres {np.round(np.sort(centres[:, 0]), 2)}"


finish({"rat tumours": rat_tumours, "lynx": lynx, "chest girths": chests, "stack loss": stack_loss, "casks": casks, "lasso": lasso,
        "penguins": penguins, "phage": phage, "disasters": disasters, "girths": girths, "flows": flows, "eruptions": eruptions})
