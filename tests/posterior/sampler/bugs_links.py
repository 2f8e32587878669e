#!/usr/bin/env python3
"""Examples of BUGS with a logistic link and a number above 0, and two with Wishart priors, by Gibbs sampling against the posteriors that the
documentation of Mamba.jl (B. J. Smith) prints with their Monte Carlo errors; and Bliss's beetles by maximum likelihood (Dobson, An
introduction to generalized linear models, 1990).

A published mean must be within four standard errors, theirs and ours together, standard deviations within 12 % (of 360 to 4000
independent draws there). usage: bugs_links.py LEHR
"""
import os
import sys

import numpy as np

sys.path.append(f"{sys.path[0]}/..")
from fitting import ROOT, finish, fit, read_json  # noqa: E402
from sampling import sample, standard_error  # noqa: E402

LSAT = """model lsat { plate student; plate item;
  theta[student] ~ Normal(mean = 0, sd = 1);
  alpha[item] ~ Normal(mean = 0, sd = 100);
  beta ~ Normal(mean = 0, sd = 1000) above 0;
  observe r[student, item] ~ Bernoulli(logistic(beta * theta[student] - alpha[item])); }"""
UP_TO = [3, 9, 11, 22, 23, 24, 27, 31, 32, 40, 40, 56, 56, 59, 61, 76, 86, 115, 129, 210, 213, 241, 256, 336, 352, 408, 429, 602, 613,
         674, 702, 1000]

JAWS = """model jaws { plate boy; plate age; plate c = 2; data X[age] : vector over c;
  beta ~ MvNormal(mean = 0, precision = 0.001) over c;
  Omega ~ Wishart(df = 4, scale = 1) over age;
  observe y[boy] ~ MvNormal(mean = X * beta, precision = Omega); }"""

BIRATS = """model birats { plate rat; plate week; plate c = 2; data X[week] : vector over c; data S0 : matrix over c, c;
  mu ~ MvNormal(mean = 0, precision = 1e-6) over c;
  R ~ Wishart(df = 2, scale = S0);
  tau ~ Gamma(shape = 0.001, rate = 0.001);
  beta[rat] ~ MvNormal(mean = mu, precision = R);
  observe y[rat, week] ~ Normal(mean = dot(beta[rat], X[week]), precision = tau); }"""

BEETLES = """model beetles { plate row times count; data x[row] : real;
  a ~ Flat(); b ~ Flat();
  observe dead[row] ~ Bernoulli(probit(a + b * (x[row] - 1.8))); guide point(a, b); }"""


def check_mean(name, x, mean, sd, error):
    allowed = 4 * np.hypot(standard_error(x), error)
    print(f"{name}: {x.mean():.4f} ({x.std():.4f}), published {mean} ({sd})")
    assert abs(x.mean() - mean) < allowed, f"{name} has mean {x.mean():.5g}, published {mean}, allowed {allowed:.2g}"
    assert sd is None or abs(x.std() / sd - 1) < 0.12, f"{name} has sd {x.std():.4g}, published {sd}"


def data(name):
    return read_json(os.path.join(ROOT, "tests/posterior/data", name))


def lsat():
    patterns = (np.arange(32)[:, None] >> np.arange(4, -1, -1)) & 1
    r = np.repeat(patterns, np.diff([0, *UP_TO]), axis=0)
    d = sample(LSAT, {"r": r}, draws=2500, warmup=500).draws
    alpha = np.stack([d[f"alpha.{k + 1}"] for k in range(5)])
    alpha = alpha - alpha.mean(axis=0)
    for k, row in enumerate([(-1.26311, 0.10508, 0.00222), (0.47818, 0.06902, 0.00127), (1.24018, 0.06794, 0.00155),
                             (0.17052, 0.07166, 0.00146), (-0.62576, 0.08583, 0.00157)]):
        check_mean(f"a[{k + 1}]", alpha[k], *row)
    check_mean("beta", d["beta"], 0.76483, None, 0.00277)  # its published spread is of 419 draws of slow chains
    return "five questions and the spread of the students"


def jaws():
    d = data("jaws.json")
    d = sample(JAWS, {"y": d["y"], "X": [[1, age] for age in d["age"]]}, draws=20000).draws
    check_mean("beta0", d["beta.1"], 33.64206, 1.91664, 0.06737)
    check_mean("beta1", d["beta.2"], 1.87509, 0.21643, 0.00776)
    return "growth of jaws with any covariance"


def birats():
    d = data("rats.json")
    x = {"y": d["y"], "X": [[1, day] for day in d["x"]], "S0": [[1 / 200, 0], [0, 5]]}
    d = sample(BIRATS, x, draws=20000, warmup=2000).draws
    check_mean("mu_beta[1]", d["mu.1"], 106.70462, 2.25825, 0.08134)
    check_mean("mu_beta[2]", d["mu.2"], 6.18046, 0.10405, 0.00410)
    check_mean("sigmaC", d["tau"]**-0.5, 6.14318, 0.46058, 0.02101)
    return "growth of rats with correlated lines"


def beetles():
    dose = [1.6907, 1.7242, 1.7552, 1.7842, 1.8113, 1.8369, 1.8610, 1.8839]
    n, dead = np.array([59, 60, 62, 56, 63, 59, 62, 60]), np.array([6, 13, 18, 28, 52, 53, 61, 60])
    rows = {"x": dose * 2, "dead": [1] * 8 + [0] * 8, "count": np.concatenate([dead, n - dead])}
    got = fit(BEETLES, rows, "--search", "none", "--tol", "1e-13", "--max-iter", "20000").posterior
    a, b = got["a.value"] - 1.8 * got["b.value"], got["b.value"]
    assert abs(a + 34.94) < 0.02 and abs(b - 19.73) < 0.01, (a, b)
    return f"{a:.3f} and {b:.3f} a unit of log dose, published -34.94 and 19.73"


finish({"LSAT": lsat, "Jaws": jaws, "Birats": birats, "Beetles": beetles})
