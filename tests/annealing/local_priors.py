#!/usr/bin/env python3
"""Which priors of local variables a temperature divides: those of coordinates of the data, not those that other tempered
densities depend on. One sweep at T = 2 against the formulas by hand."""
import sys

import numpy as np
from scipy.special import digamma, gammaln

sys.path.append(f"{sys.path[0]}/../posterior")
from fitting import finish, fit, temporary  # noqa: E402

T = 2.0


def hot(model, data, **arguments):
    with temporary({"schedule.txt": f"{T}\n" * 3}) as folder:
        return fit(model, data, "--anneal", f"file:{folder}/schedule.txt", "--max-iter", 1, "--local-iters", 1, "--save-locals",
                   monotone=False, **arguments)


def near(got, want, what):
    np.testing.assert_allclose(got, want, rtol=1e-10, err_msg=what)
    return what


def coordinates():
    """A latent mean of one point is integrated with the data: prior and likelihood over T."""
    model = """model m { plate n; h[n] ~ Normal(mean = 0, precision = 1);
      observe x[n] ~ Normal(mean = h[n], precision = 3); }"""
    x = np.array([1.0, -2.0, 0.5])
    got = hot(model, {"x": x})
    near(got.posterior["h.precision"], np.full(3, 4 / T), "precision")
    return near(got.posterior["h.mean"], 0.75 * x, "prior of a mean over T")


def scales():
    """The integral of a tempered Gaussian depends on its precision, whose prior stays."""
    model = """model m { plate n; tau[n] ~ Gamma(shape = 2, rate = 3);
      observe x[n] ~ Normal(mean = 0, precision = tau[n]); }"""
    x = np.array([1.0, -2.0, 0.5])
    got = hot(model, {"x": x})
    near(got.posterior["tau.shape"], np.full(3, 2 + 0.5 / T), "shape")
    return near(got.posterior["tau.rate"], 3 + 0.5 * x**2 / T, "prior of a precision as it is")


def proportions():
    """gamma = alpha + sum of phi / T, phi proportional to exp((E log theta + log beta) / T)."""
    model = """model m { plate doc; plate token in doc; plate topic = 2; plate term = 3;
      data beta[topic] : simplex over term;
      theta[doc] ~ Dirichlet(concentration = 0.4) over topic;
      z[doc, token] ~ Categorical(theta[doc]);
      observe w[doc, token] ~ Categorical(beta[z[doc, token]]); }"""
    beta = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
    gamma, words = np.array([[3.0, 1.0], [1.0, 4.0]]), [[0, 1, 2], [2, 2]]
    got = hot(model, {"beta": beta, "w": words}, init={"theta.concentration": gamma})
    want = []
    for g, w in zip(gamma, words):
        phi = np.exp((digamma(g) - digamma(g.sum()) + np.log(beta[:, w].T)) / T)
        want.append(0.4 + np.sum(phi / phi.sum(axis=1, keepdims=True), axis=0) / T)
    return near(got.posterior["theta.concentration"], want, "prior of proportions as it is")


def kinds_of_proportions():
    """The kind of a document chooses the prior of its proportions, which stays as it is: its energy is none of the data's. The
    ELBO of a hot sweep is that of the factors it leaves."""
    model = """model m { plate doc; plate token in doc; plate kind = 2; plate term = 3;
      data share : simplex over kind; data alpha[kind] : vector over term;
      c[doc] ~ Categorical(share);
      theta[doc] ~ Dirichlet(concentration = alpha[c[doc]]) over term;
      observe w[doc, token] ~ Categorical(theta[doc]); }"""
    share, alpha, words = np.array([0.3, 0.7]), np.array([[0.4, 2.0, 1.5], [3.0, 0.7, 0.9]]), [[0, 1, 2, 1], [2, 2]]
    got = hot(model, {"share": share, "alpha": alpha, "w": words}, init={"theta.concentration": np.array([[3.0, 1, 2], [1, 4, 2]])})
    p, g = got.posterior["c.probs"], got.posterior["theta.concentration"]
    counts = np.array([np.bincount(w, minlength=3) for w in words])
    near(g, p @ alpha + counts / T, "prior of proportions as it is")
    log = digamma(g) - digamma(g.sum(axis=1, keepdims=True))

    def expected(a, weight):  # weight times the expected log density of Dirichlet(a)
        return np.sum(weight * (gammaln(a.sum(-1)) - gammaln(a).sum(-1) + np.sum((a - 1) * log, axis=-1)))

    elbo = np.sum(p * np.log(share / p)) + sum(expected(alpha[k], p[:, k]) for k in range(2)) + np.sum(counts * log) - expected(g, 1)
    near(got.trace, [elbo], "ELBO")
    return f"ELBO {elbo:.6f}"


finish({"coordinates": coordinates, "scales": scales, "proportions": proportions, "kinds of proportions": kinds_of_proportions})
