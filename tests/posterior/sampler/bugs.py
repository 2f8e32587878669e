#!/usr/bin/env python3
"""Examples of BUGS (Spiegelhalter, Thomas, Best & Gilks 1996, volume 1) by Gibbs sampling, the priors as published, against the
published posteriors: those of the manuals of OpenBUGS 3.2 and MultiBUGS, whose Monte Carlo errors are printed beside them.
(Pump with its shape fixed at 1: B. Vidakovic's course notes, of 50,000 draws by OpenBUGS.)

A published mean must be within four standard errors, theirs and ours together, and half a unit of its last digit; of a
published quantile the share of our draws below it. Standard deviations within 5 %.
"""
import os
import sys

import numpy as np

sys.path.append(f"{sys.path[0]}/..")
from fitting import ROOT, finish, read_json  # noqa: E402
from sampling import effective_size, sample, standard_error  # noqa: E402

RATS = """model rats { plate rat; plate week; data x[week] : real;
  alpha_c ~ Normal(mean = 0, precision = 1e-6); beta_c ~ Normal(mean = 0, precision = 1e-6);
  tau_alpha ~ Gamma(shape = 0.001, rate = 0.001); tau_beta ~ Gamma(shape = 0.001, rate = 0.001);
  tau ~ Gamma(shape = 0.001, rate = 0.001);
  alpha[rat] ~ Normal(mean = alpha_c, precision = tau_alpha);
  beta[rat] ~ Normal(mean = beta_c, precision = tau_beta);
  observe y[rat, week] ~ Normal(mean = alpha[rat] + beta[rat] * (x[week] - 22), precision = tau); }"""

PUMP = """model pump { plate pump; data t[pump] : real;
  beta ~ Gamma(shape = 0.1, rate = 1);
  theta[pump] ~ Gamma(shape = 1, rate = beta);
  observe x[pump] ~ Poisson(theta[pump] * t[pump]); }"""
FAILURES = {"t": [94.3, 15.7, 62.9, 126, 5.24, 31.4, 1.05, 1.05, 2.1, 10.5], "x": [5, 1, 5, 14, 3, 19, 1, 1, 4, 22]}

DYES = """model dyes { plate batch; plate sample;
  theta ~ Normal(mean = 0, precision = 1e-10);
  tau_between ~ Gamma(shape = 0.001, rate = 0.001); tau_within ~ Gamma(shape = 0.001, rate = 0.001);
  mu[batch] ~ Normal(mean = theta, precision = tau_between);
  observe y[batch, sample] ~ Normal(mean = mu[batch], precision = tau_within); }"""
YIELDS = {"y": [[1545, 1440, 1440, 1520, 1580], [1540, 1555, 1490, 1560, 1495], [1595, 1550, 1605, 1510, 1560],
                [1445, 1440, 1595, 1465, 1545], [1595, 1630, 1515, 1635, 1625], [1520, 1455, 1450, 1480, 1445]]}

SURGICAL = """model surgical { plate hospital; data n[hospital] : count;
  mu ~ Normal(mean = 0, precision = 1e-6);
  tau ~ Gamma(shape = 0.001, rate = 0.001);
  b[hospital] ~ Normal(mean = mu, precision = tau);
  observe r[hospital] ~ Binomial(n[hospital], logistic(b[hospital])); }"""
DEATHS = {"n": [47, 148, 119, 810, 211, 196, 148, 215, 207, 97, 256, 360], "r": [0, 18, 8, 46, 8, 13, 9, 31, 14, 8, 29, 24]}


def check_mean(name, x, mean, sd, error):
    """Numbers as they are printed: the half of the last digit of the mean is its rounding."""
    digits = len(mean.split(".")[1]) if "." in mean else 0
    allowed = 4 * np.hypot(standard_error(x), error) + 0.5 * 10.0**-digits
    assert abs(x.mean() - float(mean)) < allowed, f"{name} has mean {x.mean():.5g}, published {mean}, allowed {allowed:.2g}"
    assert abs(x.std() / sd - 1) < 0.05, f"{name} has sd {x.std():.4g}, published {sd}"


def check_quantile(name, x, share, at, published_size):
    below = (x < at).astype(float)
    allowed = 4 * np.sqrt(share * (1 - share) * (1 / effective_size(below) + 1 / published_size))
    assert abs(below.mean() - share) < allowed, f"{name}: {below.mean():.4f} of the draws are below {at}, {share} published"


def logistic(x):
    return 1 / (1 + np.exp(-x))


def rats():
    d = sample(RATS, read_json(os.path.join(ROOT, "tests/posterior/data/rats.json")), draws=20000).draws
    check_mean("alpha0", d["alpha_c"] - 22 * d["beta_c"], "106.6", 3.66, 0.0304)
    check_mean("beta.c", d["beta_c"], "6.186", 0.1089, 9.952e-4)
    check_mean("sigma", d["tau"]**-0.5, "6.093", 0.4643, 0.005058)
    return "the weight at birth, the mean growth and the noise"


def pump():
    d = sample(PUMP, FAILURES, "--save-locals", draws=30000).draws
    check_mean("beta", d["beta"], "1.34", 0.486, 0.002973)
    rows = [("0.06261", 0.02552, 1.111e-4), ("0.118", 0.08349, 3.694e-4), ("0.09366", 0.03829, 1.706e-4),
            ("0.1178", 0.03048, 1.472e-4), ("0.6116", 0.3097, 0.001409), ("0.6104", 0.1366, 6.453e-4),
            ("0.8686", 0.6494, 0.003059), ("0.8692", 0.6481, 0.003354), ("1.478", 0.6897, 0.00351), ("1.944", 0.4133, 0.002022)]
    for k, row in enumerate(rows):
        check_mean(f"theta[{k + 1}]", d[f"theta.{k + 1}"], *row)
    return "ten rates of failure"


def dyes():
    """The variances have no second moments to speak of: quantiles."""
    d = sample(DYES, YIELDS, draws=200000, warmup=5000).draws
    check_mean("theta", d["theta"], "1527", 22.05, 0.1253)
    for share, at in ((0.5, 1375), (0.975, 10320)):
        check_quantile("sigma2.btw", 1 / d["tau_between"], share, at, 35975)
    for share, at in ((0.025, 1550), (0.5, 2766), (0.975, 5679)):
        check_quantile("sigma2.with", 1 / d["tau_within"], share, at, 5942)
    return "the mean, and the variances within and between batches by their quantiles"


def surgical():
    d = sample(SURGICAL, DEATHS, "--save-locals", draws=30000).draws
    check_mean("mu", d["mu"], "-2.556", 0.1519, 0.001469)
    check_mean("pop.mean", logistic(d["mu"]), "0.07265", 0.01007, 9.645e-5)
    check_mean("sigma", d["tau"]**-0.5, "0.4049", 0.1597, 0.00284)
    rows = [("0.05308", 0.01974, 2.53e-4), ("0.1031", 0.02183, 2.241e-4), ("0.07078", 0.01745, 1.333e-4),
            ("0.05926", 0.007913, 7.644e-5), ("0.05159", 0.0133, 1.73e-4), ("0.06916", 0.01478, 1.109e-4),
            ("0.06676", 0.01592, 1.244e-4), ("0.1234", 0.02267, 2.89e-4), ("0.06989", 0.01451, 1.136e-4),
            ("0.07834", 0.01982, 1.668e-4), ("0.1021", 0.01759, 1.768e-4), ("0.06847", 0.01172, 9.305e-5)]
    for k, row in enumerate(rows):
        check_mean(f"p[{k + 1}]", logistic(d[f"b.{k + 1}"]), *row)
    return "twelve rates of mortality and their population"


finish({"Rats": rats, "Pump": pump, "Dyes": dyes, "Surgical": surgical})
