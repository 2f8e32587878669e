#!/usr/bin/env python3
"""Models of models/ on classic data, against SciPy, least squares and what was published."""
import csv
import os

import numpy as np
from fitting import ROOT, finish, fit
from scipy.optimize import minimize
from scipy.stats import betabinom


def table(name):
    with open(os.path.join(ROOT, "models/data", name + ".csv")) as f:
        rows = list(csv.DictReader(f))
    return {k: np.array([float(r[k]) for r in rows]) for k in rows[0]}


def fitted(name, *data, search="none"):
    at = os.path.join(ROOT, "models/data")
    return fit(os.path.join(ROOT, "models", name + ".lehr"), [d.replace("@", at) for d in data], "--search", search, "--tol", "1e-11",
               "--max-iter", "20000", monotone=search == "none")


def rat_tumours():
    """The beta-binomial likelihood at its maximum; 2.4 and 14.3 with the hyperprior of Gelman et al., whose mode is beside it."""
    t = table("rat_tumours")
    best = minimize(lambda p: -betabinom.logpmf(t["tumours"], t["rats"], *np.exp(p)).sum(), [0, 2], method="Nelder-Mead",
                    options={"xatol": 1e-10, "fatol": 1e-12})
    got = fitted("rat_tumours", "@/rat_tumours.csv")
    values = [float(got.posterior[k + ".value"]) for k in "ab"]
    assert np.allclose(values, np.exp(best.x), rtol=1e-3), (values, np.exp(best.x))
    # The ELBO has the priors as well: a0 = 1 and b0 = 1e-6.
    assert abs(got.elbo - (-best.fun + 2 * np.log(1e-6))) < 1e-4, (got.elbo, best.fun)
    return f"a {values[0]:.3f}, b {values[1]:.3f}"


def lynx():
    """Tong, Non-linear time series (1990), section 7.2: 1.0576, 1.3842 and -0.7478; and least squares."""
    x = table("lynx")["log10"]
    got = fitted("lynx_autoregression", "x=@/lynx.csv:log10")
    means = [float(got.posterior[k + ".mean"]) for k in ("c", "b1", "b2")]
    squares = np.linalg.lstsq(np.column_stack([np.ones(112), x[1:-1], x[:-2]]), x[2:], rcond=None)[0]
    assert np.allclose(means, squares, atol=1e-4) and np.allclose(means, [1.0576, 1.3842, -0.7478], atol=2e-4), (means, squares)
    return f"{means[0]:.4f}, {means[1]:.4f}, {means[2]:.4f}"


def chests():
    """A weight counts as so many rows: mean, variance, and the ELBO of the table written out soldier by soldier."""
    t = table("chests")
    all_of_them = np.repeat(t["inches"], t["soldiers"].astype(int))
    got = fitted("chest_girths", "@/chests.csv")
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
    got = fitted("contaminated_regression", "x=@/stackloss.csv:air,water,acid", "y=@/stackloss.csv:loss", search="quick")
    t = table("stackloss")
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


if __name__ == "__main__":
    finish({"rat tumours": rat_tumours, "lynx": lynx, "chest girths": chests, "stack loss": stack_loss})
