#!/usr/bin/env python3
"""Several chains that meet in one emission, each with a factor of its own for the whole sequence (Ghahramani & Jordan 1997): a plate of
chains against chains with names of their own, the sum over all paths, and the posterior of Gaussian states.

usage: factorial_chains.py LEHR
"""
import itertools
import sys

import numpy as np
from scipy.special import logsumexp
from scipy.stats import multivariate_normal, norm

sys.path.append(f"{sys.path[0]}/..")
from fitting import close, finish, fit, holds  # noqa: E402

RNG = np.random.default_rng(31)
TIGHT = ["--search", "none", "--tol", "1e-14", "--max-iter", "20000"]
STEPS, STATES = 30, 3
A = RNG.dirichlet(np.full(STATES, 1.0), size=(2, STATES)) * 0.4 + 0.6 * np.eye(STATES)
START = RNG.dirichlet(np.full(STATES, 2.0), size=2)
MU = np.array([[-2.0, 0.3, 2.5], [0.0, 1.0, 5.0]])
DATA = "plate t ordered; plate k; data A[c, k] : simplex over k; data p[c] : simplex over k; data mu[c, k] : real;"
PLATE = """model m { plate c; %s %s z[c, t] ~ Categorical(A[c, z[c, t-1]]) start Categorical(p[c]);
  observe y[t] ~ Normal(mean = sum(c) mu[c, z[c, t]], sd = 0.7); }"""
NAMED = """model m { plate c; %s
  z[t] ~ Categorical(A[0, z[t-1]]) start Categorical(p[0]); w[t] ~ Categorical(A[1, w[t-1]]) start Categorical(p[1]);
  observe y[t] ~ Normal(mean = mu[0, z[t]] + mu[1, w[t]], sd = 0.7); }""" % DATA


def simulated():
    paths = []
    for c in range(2):
        z = [RNG.choice(STATES, p=START[c])]
        while len(z) < STEPS:
            z.append(RNG.choice(STATES, p=A[c, z[-1]]))
        paths.append(z)
    return {"A": A, "p": START, "mu": MU, "y": MU[0, paths[0]] + MU[1, paths[1]] + RNG.normal(0, 0.7, STEPS)}


VALUES = simulated()


def exact(sd=0.7):
    """Evidence and marginals, of the chain whose states are pairs."""
    pairs = list(itertools.product(range(STATES), repeat=2))
    likelihood = norm.logpdf(VALUES["y"][:, None], [MU[0, i] + MU[1, j] for i, j in pairs], sd)
    step = np.log([[A[0, i, k] * A[1, j, l] for k, l in pairs] for i, j in pairs])
    forward = [np.log([START[0, i] * START[1, j] for i, j in pairs]) + likelihood[0]]
    for row in likelihood[1:]:
        forward.append(logsumexp(forward[-1][:, None] + step, axis=0) + row)
    back = [np.zeros(len(pairs))]
    for row in likelihood[:0:-1]:
        back.append(logsumexp(step + row + back[-1], axis=1))
    evidence = logsumexp(forward[-1])
    joint = np.exp(np.array(forward) + np.array(back[::-1]) - evidence).reshape(STEPS, STATES, STATES)
    return evidence, np.stack([joint.sum(axis=2), joint.sum(axis=1)])


@holds
def plate_of_chains():
    """From the same start as the model with a name for each chain; a better bound than elements by themselves, and one of the evidence."""
    text = PLATE % (DATA, "")
    loose = fit(text.replace("}", "guide independent(z); }"), VALUES, *TIGHT)
    z, w = loose.posterior["z.probs"]
    plate = fit(text, VALUES, *TIGHT, init={"z.probs": [z, w]})
    named = fit(NAMED, VALUES, *TIGHT, init={"z.probs": z, "w.probs": w})
    both = np.stack([named.posterior["z.probs"], named.posterior["w.probs"]])
    few = ["--search", "none", "--max-iter", "3"]
    native, slow = fit(text, VALUES, *few), fit(text, VALUES, *few, "--interpret")
    evidence, _ = exact()
    return (close(plate.elbo, named.elbo, 1e-10) and close(plate.posterior["z.probs"], both) and loose.elbo < plate.elbo < evidence
            and close(native.elbo, slow.elbo, 1e-11) and close(native.posterior["z.probs"], slow.posterior["z.probs"], 1e-10))


@holds
def draws_of_paths():
    """Whole paths, one chain after another, against the marginals; with noise in which the paths are not stuck."""
    got = fit((PLATE % (DATA, "")).replace("sd = 0.7", "sd = 3"), VALUES, "--method", "gibbs", "--draws", "20000", "--warmup", "500", monotone=False)
    _, marginals = exact(3.0)
    return np.abs(got.posterior["z.mean"] - marginals @ np.arange(STATES)).max() < 0.05


@holds
def learned():
    """Levels and transitions of both; of sequences of different lengths, each with its own pair of chains."""
    text = """model m { plate seq; plate c = 2; plate k = 2; plate t in seq ordered; A[c, k] ~ Dirichlet(concentration = 2) over k;
      mu[c, k] ~ Normal(mean = 0, sd = 3); tau ~ Gamma(shape = 1, rate = 1);
      z[c, seq, t] ~ Categorical(A[c, z[c, seq, t-1]]) start Categorical(0.5);
      observe y[seq, t] ~ Normal(mean = sum(c) mu[c, z[c, seq, t]], precision = tau); }"""
    y = [VALUES["y"][:12], VALUES["y"][12:19], VALUES["y"][19:]]
    few = ["--search", "none", "--max-iter", "4", "--seed", "2"]
    data = {"y": [v.tolist() for v in y]}
    native, slow = fit(text, data, *few), fit(text, data, *few, "--interpret")
    fit(text, data, *TIGHT)  # monotone
    return all(close(native.posterior[k], slow.posterior[k], 1e-9) for k in native.posterior)


@holds
def gaussian_states():
    """The means of independent Gaussian factors are those of the posterior."""
    y = np.cumsum(RNG.normal(size=25)) + RNG.normal(size=25)
    rho, q = np.array([0.98, -0.4]), np.array([0.5, 1.2])
    got = fit("""model m { plate c; plate t ordered; data rho[c] : real; data q[c] : real;
      x[c, t] ~ Normal(mean = rho[c] * x[c, t-1], sd = q[c]) start Normal(mean = 0, sd = 2);
      observe y[t] ~ Normal(mean = sum(c) x[c, t], sd = 0.8); }""", {"rho": rho, "q": q, "y": y}, *TIGHT)
    cov = []
    for r, s in zip(rho, q):
        L = np.array([[r**(i - j) * (2 if j == 0 else s) if j <= i else 0 for j in range(25)] for i in range(25)])
        cov.append(L @ L.T)
    total = cov[0] + cov[1] + 0.64 * np.eye(25)
    means = [c @ np.linalg.solve(total, y) for c in cov]
    return close(got.posterior["x.mean"], means, 1e-5) and got.elbo < multivariate_normal.logpdf(y, np.zeros(25), total)


finish()
