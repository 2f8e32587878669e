#!/usr/bin/env python3
"""Chains of categories with known parameters, whose factor is the exact posterior: marginals and the log evidence by
enumeration in logarithms, where messages fit into products, nearly underflow, underflow, and underflow in some sequences only;
with the same transitions at every step, and with those of each step. Chains of letters with unknown tables, where these are
converged: marginals by enumeration from the expected logs, and the ELBO from their normalisers and the tables' divergences."""
import itertools
import sys

import numpy as np
from scipy.special import digamma, gammaln, logsumexp

sys.path.append(f"{sys.path[0]}/..")
from fitting import finish, fit  # noqa: E402

R = np.random.default_rng(8)
STEADY = """model m { plate s; plate t ordered; plate k = 3; plate j = k;
  data pi : simplex over k; data A[k] : simplex over j; data mu[k] : real; data tau : real;
  z[s, t] ~ Categorical(A[z[s, t-1]]) start Categorical(pi);
  observe x[s, t] ~ Normal(mean = mu[z[s, t]], precision = tau); }"""
MOVING = STEADY.replace("A[k] :", "A[t, k] :").replace("A[z[", "A[t, z[")


def exact(x, pi, A, mu, tau):
    """Marginals [s, t, k] and the log evidence; A[t] leads to step t."""
    marginals, evidence = [], 0.0
    with np.errstate(divide="ignore"):
        log_pi, log_A = np.log(pi), np.log(A)
    for row in x:
        paths = list(itertools.product(range(3), repeat=len(row)))
        u = 0.5 * np.log(tau / (2 * np.pi)) - 0.5 * tau * (row[:, None] - mu) ** 2
        logs = np.array([log_pi[p[0]] + sum(log_A[t, p[t - 1], p[t]] for t in range(1, len(row))) +
                         sum(u[t, k] for t, k in enumerate(p)) for p in paths])
        z = logsumexp(logs)
        w = np.exp(logs - z)
        evidence += z
        marginals.append([[w[[p[t] == k for p in paths]].sum() for k in range(3)] for t in range(len(row))])
    return np.array(marginals), evidence


def check(tau, rare, moving):
    pi, mu, steps = np.array([0.5, 0.3, 0.2]), np.array([-1.0, 0.0, 1.0]), 6
    A = np.array([[1 - 2 * rare, rare, rare], [rare, 1 - 2 * rare, rare], [0.25, 0.5, 0.25]])
    A = np.array([A if not moving or t % 2 else A[::-1, ::-1] for t in range(steps)])
    x = np.concatenate([R.normal(size=(4, steps)), [[-1, -1, 1, 1, 0, 0.0], [1, -1, 1, -1, 1, -1.0]]])
    got = fit(MOVING if moving else STEADY, {"x": x, "pi": pi, "A": A if moving else A[0], "mu": mu, "tau": tau}, "--max-iter", "3")
    marginals, evidence = exact(x, pi, A, mu, tau)
    probs = got.posterior["z.probs"]
    assert np.isclose(got.elbo, evidence, rtol=1e-12), (got.elbo, evidence)
    assert np.allclose(probs, marginals, rtol=0, atol=1e-11 * max(1, tau)), abs(probs - marginals).max()
    return f"evidence {evidence:.6g}, marginals to {abs(probs - marginals).max():.1e}"


LETTERS = """model m { const a = 1; const c = 1; plate s; plate t in s ordered; plate k = 3; plate letter = 5;
  pi ~ Dirichlet(concentration = a) over k; A[k] ~ Dirichlet(concentration = a) over k; B[k] ~ Dirichlet(concentration = c) over letter;
  z[s, t] ~ Categorical(A[z[s, t-1]]) start Categorical(pi);
  observe x[s, t] ~ Categorical(B[z[s, t]]); }"""


def divergence(q, p):
    """Of Dirichlet(q) from Dirichlet(p, p, ...), by rows."""
    total = q.sum(-1)
    logs = digamma(q) - digamma(total)[..., None]
    norm = lambda c: gammaln(c.sum(-1)) - gammaln(c).sum(-1)
    return (norm(q) - norm(np.full_like(q, p)) + ((q - p) * logs).sum(-1)).sum()


def check_letters(a, c):
    lengths = np.array([6, 1, 0, 5, 6, 2, 6, 3, 4, 6, 6])
    z = [np.minimum(np.arange(n) // 2, 2) for n in lengths]
    x = np.concatenate([np.where(R.random(len(row)) < 0.9, row, R.integers(0, 5, len(row))) for row in z])
    got = fit(LETTERS, {"x": x, "t": lengths}, "--set", f"a={a}", f"c={c}", "--max-iter", "2000", "--tol", "1e-14", "--search", "none",
              "--save-locals")
    p = got.posterior
    logs = {name: digamma(q) - digamma(q.sum(-1))[..., None] for name, q in
            ((n, p[n + ".concentration"]) for n in ("pi", "A", "B"))}
    bound, worst, first = -sum(divergence(p[n + ".concentration"], c if n == "B" else a) for n in ("pi", "A", "B")), 0.0, 0
    for n in lengths:
        letters, rows = x[first:first + n], p["z.probs"][first:first + n]
        first += n
        if n == 0:
            continue
        paths = np.array(list(itertools.product(range(3), repeat=n)))
        w = logs["pi"][paths[:, 0]] + logs["B"][paths, letters].sum(1) + logs["A"][paths[:, :-1], paths[:, 1:]].sum(1)
        bound += logsumexp(w)
        w = np.exp(w - logsumexp(w))
        worst = max(worst, *(abs(rows[t, k] - w[paths[:, t] == k].sum()) for t in range(n) for k in range(3)))
    assert worst < 1e-5 and np.isclose(got.elbo, bound, rtol=1e-9), (worst, got.elbo, bound)
    return f"ELBO {bound:.6g}, marginals to {worst:.1e}"


finish({f"letters, concentrations {a:g} and {c:g}": lambda c=(a, c): check_letters(*c)
        for a, c in ((1, 0.5), (0.1, 1e-2), (1e-3, 1e-3), (1e-5, 1e-5))} | {
        f"tau = {tau:g}, rare = {rare:g}{', moving' if moving else ''}": lambda c=(tau, rare, moving): check(*c)
        for moving in (False, True) for tau in (1, 100, 1000) for rare in (0.1, 1e-12, 1e-120, 1e-290, 0)})
