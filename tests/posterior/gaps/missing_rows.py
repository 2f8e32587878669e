#!/usr/bin/env python3
"""A missing value of an observed variable is left out: the fit is that of the rows which have one, whatever the distribution. And what
is known of a censored one.

usage: missing_rows.py LEHR
"""
import re
import sys

import numpy as np

sys.path.append(f"{sys.path[0]}/..")
from fitting import close, finish, fit, holds  # noqa: E402

RNG = np.random.default_rng(5)
N, GONE = 41, [3, 17, 18, 40]
TIGHT = ["--search", "none", "--tol", "1e-12", "--max-iter", "3000"]
PRIORS = {
    "a": "a ~ Normal(mean = 0, sd = 2);", "b": "b ~ Normal(mean = 0, sd = 2);", "p": "p ~ Beta(2, 2);",
    "tau": "tau ~ Gamma(shape = 2, rate = 2);", "w": "w ~ Dirichlet(concentration = 1) over kind;",
}
x, e = RNG.normal(size=N), RNG.uniform(0.5, 2, size=N)
real, count, bit = RNG.normal(size=N), RNG.poisson(2, size=N), RNG.integers(0, 2, size=N)
CASES = {
    "known numbers beside a limit": ("Normal(mean = a + b * x[n], precision = tau) censored above e[n]", np.minimum(real, e)),
    "two limits": ("Normal(mean = a + b * x[n], precision = tau) censored below -0.3 above e[n]", np.clip(real, -0.3, e)),
    "heavy tails": ("StudentT(df = 4, mean = a + b * x[n], precision = tau) censored above e[n]", np.minimum(real, e)),
    "probit": ("Bernoulli(probit(a + b * x[n]))", bit),
    "two parts": ("mixture(p, Normal(mean = a, precision = tau), Normal(mean = b, sd = 5))", real),
    "weights of a regression": ("mixture(logistic(a + b * x[n]), Poisson(tau), Geometric(p))", count),
    "three parts": ("mixture(w, Poisson(tau), Geometric(p), Poisson(9))", count),
    "zeros": ("zero_inflated(p, Poisson(tau * e[n]))", count * bit),
    "limits of parts": ("mixture(p, Exponential(tau), Exponential(0.5)) censored above e[n]", np.minimum(np.exp(real), e)),
}


def model(distribution):
    used = {name for name in PRIORS if re.search(rf"\b{name}\b", distribution.split("(", 1)[1])}
    given = "".join(f"data {name}[n] : real; " for name in "xe" if f"{name}[n]" in distribution)
    plates = "plate n; " + ("plate kind = 3; " if "w" in used else "")
    return f"model m {{ {plates}{given}{' '.join(PRIORS[n] for n in PRIORS if n in used)} observe y[n] ~ {distribution}; }}"


def is_left_out(distribution, y):
    data = {"x": x, "e": e, "y": y.astype(float)}
    text = model(distribution)
    wanted = {k: v for k, v in data.items() if k == "y" or f"{k}[n]" in distribution}
    whole = dict(wanted, y=np.where(np.isin(np.arange(N), GONE), np.nan, data["y"]))
    rows = {k: np.delete(v, GONE) for k, v in wanted.items()}
    a, b = fit(text, whole, *TIGHT), fit(text, rows, *TIGHT)
    if not close(a.elbo, b.elbo, 1e-8):
        print(distribution, a.elbo, b.elbo)
        return False
    same = [k for k in b.posterior if b.posterior[k].shape == a.posterior[k].shape]
    return len(same) > 0 and all(close(a.posterior[k], b.posterior[k], 1e-4) for k in same)


for _name, (_distribution, _y) in CASES.items():
    def case(distribution=_distribution, y=_y):
        """Against the fit of the other rows."""
        return is_left_out(distribution, y)
    case.__name__ = _name.replace(" ", "_")
    holds(case)


@holds
def one_number():
    """A known number below its limit is a point, whatever the digits of both: against the fit without limits."""
    y = np.array([0.0156, 0.1 / 3, 1 / 7, 2.7182818])
    text = "model m { plate n; data c[n] : real; mu ~ Normal(mean = 0, sd = 10); observe y[n] ~ Normal(mean = mu, sd = 1)%s; }"
    for gap in ([], [np.nan]):
        values = np.concatenate([y, gap])
        data = {"y": values, "c": np.full(len(values), 3.0)}
        a = fit(text % " censored above c[n]", data, *TIGHT)
        b = fit((text % "").replace("data c[n] : real; ", ""), {"y": values}, *TIGHT)
        assert close(a.elbo, b.elbo, 1e-10) and close(a.posterior["mu.mean"], b.posterior["mu.mean"], 1e-9)
    return True


@holds
def used_elsewhere():
    """What depends on a censored variable would read its limit: refused; as a latent variable between limits it can be used, and the
    coefficient of what depends on it is that of the model."""
    v = RNG.normal(size=400)
    y, seen = 2 * v + 0.5 * RNG.normal(size=400), np.minimum(v, 0.5)
    text = "model m { plate n; b ~ Normal(mean = 0, sd = 10); observe v[n] ~ Normal(mean = 0, sd = 1) censored above 0.5; observe y[n] ~ Normal(mean = b * v[n], sd = 0.5); }"
    try:
        fit(text, {"v": seen, "y": y})
        return False
    except RuntimeError as e:
        assert "'v' is censored" in str(e) and "exit 3" in str(e)
    between = text.replace("b ~", "data low[n] : real; data high[n] : real; b ~").replace("observe v", "v").replace("censored above 0.5", "above low[n] below high[n]")
    got = fit(between, {"low": seen - 1e-6, "high": np.where(v > 0.5, 1e9, seen + 1e-6), "y": y}, *TIGHT)
    return abs(got.posterior["b.mean"] - 2) < 0.08


finish()
