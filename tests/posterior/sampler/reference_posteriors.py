#!/usr/bin/env python3
"""Gibbs sampling against reference posteriors of posteriordb (10,000 draws of Stan each, nearly independent): means within
four standard errors, theirs and ours together, and standard deviations within 5 %. Where a prior of the reference has no
conjugate form, ours is the nearest that has one, and a draw counts by the ratio of the two priors."""
import os
import sys

import numpy as np

sys.path.append(f"{sys.path[0]}/..")
from fitting import ROOT, finish, read_csv, read_json  # noqa: E402
from sampling import effective_size, sample  # noqa: E402

HMM = """model hmm { plate t ordered; plate k = 2; data m[k] : real; data p : simplex over k;
  A[k] ~ Dirichlet(concentration = 1) over k;
  mu[k] ~ Normal(mean = m[k], sd = 1);
  s[t] ~ Categorical(A[s[t-1]]) start Categorical(p);
  observe y[t] ~ Normal(mean = mu[s[t]], sd = 1); }"""

MIXTURE = """model mixture { plate n; plate k = 2;
  pi ~ Dirichlet(concentration = 5) over k;
  mu[k] ~ Normal(mean = 0, sd = 2);
  tau[k] ~ Gamma(shape = 0.5, rate = 0.5);
  z[n] ~ Categorical(pi);
  observe y[n] ~ Normal(mean = mu[z[n]], precision = tau[z[n]]); }"""

# A half-Cauchy standard deviation is a Gamma precision whose rate is Gamma (Wand, Ormerod, Padoan & Fruehwirth 2011).
KIDIQ = """model kidiq { plate child; data mom_iq[child] : real;
  a ~ Flat(); b ~ Flat(); guide order(a, b);
  w ~ Gamma(shape = 0.5, rate = 0.16);
  tau ~ Gamma(shape = 0.5, rate = w);
  observe kid_score[child] ~ Normal(mean = a + b * (mom_iq[child] - 100), precision = tau); }"""

REGRESSION = """model regression { plate n; plate d; data X[n] : vector over d;
  beta ~ MvNormal(mean = 0, precision = 0.01) over d;
  tau ~ Gamma(shape = 0.5, rate = 0.5);
  observe y[n] ~ Normal(mean = dot(beta, X[n]), precision = tau); }"""


def data(name):
    return read_json(os.path.join(ROOT, f"tests/posterior/data/{name}.json"))


def reference(posterior):
    rows = read_csv(os.path.join(ROOT, "tests/posterior/data/reference_posteriors.csv"))
    return {row["parameter"]: (float(row["mean"]), float(row["sd"]), int(row["n_draws"])) for row in rows if row["posterior"] == posterior}


def check(posterior, draws, log_weights=0.0):
    """`draws` by the names of the reference, all of which must be there."""
    rows = reference(posterior)
    assert rows.keys() == draws.keys(), (rows.keys(), draws.keys())
    worst, widest = 0.0, 0.0
    for name, (mean, sd, size) in rows.items():
        x = draws[name]
        w = np.exp(log_weights - np.max(log_weights)) * np.ones(len(x))
        w /= w.mean()
        ours = np.mean(w * x)
        ours_sd = np.sqrt(np.mean(w * (x - ours)**2))
        influence = w * (x - ours)
        error = np.hypot(np.std(influence) / np.sqrt(effective_size(influence)), sd / np.sqrt(size))
        off, ratio = abs(ours - mean) / error, ours_sd / sd
        assert off < 4, f"{posterior}: {name} has mean {ours:.6g}, not {mean}: {off:.1f} standard errors"
        assert abs(ratio - 1) < 0.05, f"{posterior}: {name} has sd {ours_sd:.4g}, not {sd}"
        worst, widest = max(worst, off), max(widest, abs(ratio - 1))
    return f"{len(rows)} means within {worst:.1f} standard errors, sds within {100 * widest:.1f} %"


def half_normal_for_gamma(tau, sd):
    """log of the ratio of the priors of 1 / sqrt(tau): Normal(0, sd) folded at 0, to Gamma(0.5, rate 0.5) of tau. The Jacobian
    of tau is 2 sigma^-3."""
    return -0.5 / (tau * sd**2) - 1.5 * np.log(tau) - (-0.5 * np.log(tau) - 0.5 * tau)


def hidden_markov():
    d = data("hmm_example")
    got = sample(HMM, {"y": d["y"], "m": [3.0, 10.0], "p": [0.5, 0.5]}, draws=20000).draws
    return check("hmm_example-hmm_example", {f"theta{i}[{j}]": got[f"A.{i}.{j}"] for i in (1, 2) for j in (1, 2)}
                 | {f"mu[{i}]": got[f"mu.{i}"] for i in (1, 2)})


def mixture():
    """The means of the reference are in order; ours are put so."""
    d = sample(MIXTURE, {"y": data("low_dim_gauss_mix")["y"]}, draws=20000).draws
    mu, tau, pi = (np.stack([d[f"{v}.1"], d[f"{v}.2"]]) for v in ("mu", "tau", "pi"))
    first = np.argsort(mu, axis=0)
    mu, tau, pi = (np.take_along_axis(v, first, 0) for v in (mu, tau, pi))
    names = {f"mu[{k + 1}]": mu[k] for k in (0, 1)} | {f"sigma[{k + 1}]": tau[k]**-0.5 for k in (0, 1)} | {"theta": pi[0]}
    return check("low_dim_gauss_mix-low_dim_gauss_mix", names, half_normal_for_gamma(tau, 2).sum(0))


def children():
    d = data("kidiq")
    got = sample(KIDIQ, {name: d[name] for name in ("kid_score", "mom_iq")}, draws=20000).draws
    return check("kidiq-kidscore_momiq", {"beta[1]": got["a"] - 100 * got["b"], "beta[2]": got["b"], "sigma": got["tau"]**-0.5})


def regression():
    d = data("sblri")
    got = sample(REGRESSION, {"X": d["X"], "y": d["y"]}, draws=20000).draws
    return check("sblri-blr", {f"beta[{k}]": got[f"beta.{k}"] for k in range(1, 6)} | {"sigma": got["tau"]**-0.5},
                 half_normal_for_gamma(got["tau"], 10))


finish({"hmm_example": hidden_markov, "low_dim_gauss_mix": mixture, "kidiq": children, "sblri": regression})
