#!/usr/bin/env python3
"""Sums of rates: single summands and a sum over a plate, by coordinate ascent written out with numpy; counts that another
distribution gives, by the log joint at points and by quadrature."""
import sys

import numpy as np
from scipy.special import digamma, gammaln, logsumexp
from scipy.stats import dirichlet, gamma, poisson

sys.path.append(f"{sys.path[0]}/..")
from fitting import finish, fit, temporary  # noqa: E402

X = np.array([[0.5, 2.0, 1.0], [1.5, 0.1, 3.0], [2.5, 1.0, 0.4], [0.2, 0.6, 0.9], [1.0, 4.0, 2.0]])
Y = np.array([3, 0, 7, 1, 12])


def gamma_bound(prior, shape, rate):
    """E[log prior] + entropy."""
    log, mean = digamma(shape) - np.log(rate), shape / rate
    return np.sum(prior[0] * np.log(prior[1]) - gammaln(prior[0]) + (prior[0] - 1) * log - prior[1] * mean
                  + shape - np.log(rate) + gammaln(shape) + (1 - shape) * digamma(shape))


def rates(fixed):
    """`fixed` single summands before the sum over k."""
    names = ["u", "v"][:fixed]
    model = f"""model m {{ plate n; plate k = 3; data x[n, k] : real; a[k] ~ Gamma(shape = 2, rate = 1);
      {' '.join(f'{s} ~ Gamma(shape = 1.5, rate = 2);' for s in names)}
      observe y[n] ~ Poisson({''.join(f'{s} + ' for s in names)}sum(k) a[k] * x[n, k]); }}"""
    prior = [(1.5, 2.0)] * fixed + [(2.0, 1.0)] * 3
    weight = np.column_stack([np.ones((5, fixed)), X])
    shape, rate = np.full(fixed + 3, 2.0), np.full(fixed + 3, 1.5)
    for _ in range(3000):
        odds = digamma(shape) - np.log(rate) + np.log(weight)
        p = np.exp(odds - logsumexp(odds, axis=1, keepdims=True))
        shape, rate = np.array([s for s, _ in prior]) + Y @ p, np.array([r for _, r in prior]) + weight.sum(0)
    odds = digamma(shape) - np.log(rate) + np.log(weight)
    elbo = Y @ logsumexp(odds, axis=1) - np.sum(weight @ (shape / rate)) - np.sum(gammaln(Y + 1))
    elbo += sum(gamma_bound(b, s, r) for b, s, r in zip(prior, shape, rate))
    got = fit(model, {"x": X, "y": Y}, "--tol", "1e-15", "--max-iter", 5000)
    np.testing.assert_allclose(got.posterior["a.shape"], shape[fixed:], rtol=1e-6)
    np.testing.assert_allclose(got.posterior["a.rate"], rate[fixed:], rtol=1e-12)
    for s, want in zip(names, shape):
        np.testing.assert_allclose(got.posterior[f"{s}.shape"], want, rtol=1e-6)
    np.testing.assert_allclose(got.elbo, elbo, rtol=1e-11)
    return f"ELBO {elbo:.8f}"


def beside_a_chain():
    """Sequences with a chain of categories and with a sum of rates: the ELBO is that of both models."""
    head = "plate seq; plate t in seq ordered; plate state = 2; plate letter;"
    chain = """A[state] ~ Dirichlet(concentration = 1) over state; B[state] ~ Dirichlet(concentration = 0.5) over letter;
      s[seq, t] ~ Categorical(A[s[seq, t-1]]) start Categorical(A[0]); observe x[seq, t] ~ Categorical(B[s[seq, t]]);"""
    counts = "w[seq] ~ Gamma(shape = 1.5, rate = 2); q ~ Gamma(shape = 3, rate = 1); observe y[seq] ~ Poisson(q + w[seq]);"
    x, y = [[0, 0, 1, 2], [1, 2, 2, 0, 0], [0, 1, 0, 1, 2, 1], [2, 2, 0]], [3, 0, 7, 1]
    options = ["--tol", "1e-15", "--max-iter", 5000]
    of_chain = fit(f"model m {{ {head} {chain} }}", {"x": x}, *options, "--init", "points")
    of_counts = fit(f"model m {{ plate seq; {counts} }}", {"y": y}, *options)
    with temporary() as folder:
        np.savez(f"{folder}/start.npz", **of_chain.posterior)  # the chain has several optima
        both = fit(f"model m {{ {head} {chain} {counts} }}", {"x": x, "y": y}, *options, "--init", f"{folder}/start.npz")
    # On the way, too.
    chain_start = {k: v + 0.3 * np.arange(v.size).reshape(v.shape) for k, v in of_chain.posterior.items()}
    counts_start = {"q.shape": 5.0, "q.rate": 2.0}
    for sweeps in (1, 2, 3):
        few = ["--tol", 0, "--max-iter", sweeps, "--local-tol", 0, "--local-iters", 200]
        apart = (fit(f"model m {{ {head} {chain} }}", {"x": x}, *few, init=chain_start).elbo
                 + fit(f"model m {{ plate seq; {counts} }}", {"y": y}, *few, init=counts_start).elbo)
        together = fit(f"model m {{ {head} {chain} {counts} }}", {"x": x, "y": y}, *few, init=chain_start | counts_start).elbo
        np.testing.assert_allclose(together, apart, rtol=1e-11)
    np.testing.assert_allclose(both.elbo, of_chain.elbo + of_counts.elbo, rtol=1e-11)
    np.testing.assert_allclose(both.posterior["B.concentration"], of_chain.posterior["B.concentration"], rtol=1e-6)
    return f"ELBO {both.elbo:.8f}"


TIGHT = ["--tol", "1e-15", "--max-iter", 20000]
Z = np.array([10, 2, 1, 4, 2])
GRID = np.linspace(1e-4, 25, 800)


def evidence(log_likelihood):
    """log p(y) of rates a ~ Gamma(2, 1) and b ~ Gamma(1.5, 1), by a sum over a grid, and the posterior mean of a."""
    a, b = GRID[:, None], GRID[None, :] / 3
    joint = log_likelihood(a, b) + gamma.logpdf(a, 2) + gamma.logpdf(b, 1.5)
    step = GRID[1] - GRID[0]
    total = logsumexp(joint) + 2 * np.log(step) - np.log(3)
    return total, np.sum(np.exp(joint - logsumexp(joint)) * a)


def first_counts(start, of_start):
    """Counts whose `start` has no sum, or another one."""
    model = f"""model m {{ plate t ordered; a ~ Gamma(shape = 2, rate = 1); b ~ Gamma(shape = 1.5, rate = 1);
      observe y[t] ~ Poisson(a + b * y[t-1]) start {start}; "GUIDE" }}"""

    def likelihood(a, b):
        return poisson.logpmf(Z[0], of_start(a, b)) + sum(poisson.logpmf(v, a + b * u) for u, v in zip(Z, Z[1:]))

    at = fit(model.replace('"GUIDE"', "guide point(a, b);"), {"y": Z}, *TIGHT)
    a, b = at.posterior["a.value"], at.posterior["b.value"]
    # Given the rates, the sources are exact.
    np.testing.assert_allclose(at.elbo, likelihood(a, b) + gamma.logpdf(a, 2) + gamma.logpdf(b, 1.5), rtol=1e-10)
    exact, _ = evidence(likelihood)
    got = fit(model.replace('"GUIDE"', ""), {"y": Z}, *TIGHT).elbo
    assert exact - 1.5 < got < exact, (got, exact)
    return f"ELBO {got:.4f}, log evidence {exact:.4f}"


def first_categories():
    """Categories that follow from the one before or from none, of which the first is uniform."""
    x = [0, 1, 1, 0, 1, 2, 2, 0]
    got = fit("""model m { plate t ordered; plate k = 3; plate l = 2; plate before = k; w ~ Dirichlet(concentration = 2) over l;
      A[before] ~ Dirichlet(concentration = 3) over k; b ~ Dirichlet(concentration = 2) over k;
      observe x[t] ~ Categorical(w[0] * A[x[t-1]] + w[1] * b) start Uniform() over k; guide point(w, A, b); }""", {"x": x}, *TIGHT)
    w, A, b = (got.posterior[f"{name}.value"] for name in "wAb")
    want = dirichlet.logpdf(w, [2, 2]) + dirichlet.logpdf(b, [2, 2, 2]) + sum(dirichlet.logpdf(row, [3, 3, 3]) for row in A)
    want += -np.log(3) + sum(np.log(w[0] * A[i, j] + w[1] * b[j]) for i, j in zip(x, x[1:]))
    np.testing.assert_allclose(got.elbo, want, rtol=1e-10)
    return f"ELBO {want:.8f}"


def one_part_of_a_mixture():
    """A sum in one part of a mixture: the ELBO is below the evidence, and draws follow the posterior."""
    u, v, y = np.array([1.0, 2.0, 0.5]), np.array([1.0, 0.5, 3.0]), np.array([3, 4, 9])
    model = """model m { plate n; data u[n] : real; data v[n] : real; a ~ Gamma(shape = 2, rate = 1); b ~ Gamma(shape = 1.5, rate = 1);
      observe y[n] ~ mixture(0.4, Poisson(a * u[n] + b * v[n]), Poisson(2)); }"""

    def likelihood(a, b):
        return sum(np.logaddexp(np.log(0.4) + poisson.logpmf(k, a * p + b * q), np.log(0.6) + poisson.logpmf(k, 2)) for p, q, k in zip(u, v, y))

    exact, mean = evidence(likelihood)
    got = fit(model, {"u": u, "v": v, "y": y}, *TIGHT).elbo
    assert exact - 4 < got < exact, (got, exact)
    drawn = fit(model, {"u": u, "v": v, "y": y}, "--method", "gibbs", "--draws", 40000, "--warmup", 1000, monotone=False)
    assert abs(drawn.posterior["a.mean"] - mean) < 5 * drawn.posterior["a.mcse"] + 1e-3, (drawn.posterior["a.mean"], mean)
    return f"ELBO {got:.4f}, log evidence {exact:.4f}; mean {drawn.posterior['a.mean']:.4f}, {mean:.4f}"


def without_a_value():
    """Elements without a value add nothing."""
    model = """model m { plate n; plate k = 2; plate l = 2; w ~ Dirichlet(concentration = 1) over l;
      A ~ Dirichlet(concentration = 1) over k; b ~ Dirichlet(concentration = 1) over k; observe x[n] ~ Categorical(w[0] * A + w[1] * b); }"""
    # Without a value of its own, the item counts for no parameter.
    all_known, gap = fit(model, {"x": [0, 1, 1, 0]}, *TIGHT).elbo, fit(model, {"x": [0, 1, 1, 0, None]}, *TIGHT).elbo
    np.testing.assert_allclose(gap, all_known, rtol=1e-9)
    return f"ELBO {gap:.8f}"


finish({"beside a chain": beside_a_chain} | {f"{n} summands and a sum": lambda n=n: rates(n) for n in (0, 1, 2)}
       | {"a known rate of the first count": lambda: first_counts("Poisson(5)", lambda a, b: 5 + 0 * a * b),
          "a rate of the first count": lambda: first_counts("Poisson(a)", lambda a, b: a + 0 * b),
          "another sum for the first count": lambda: first_counts("Poisson(a + b + 1)", lambda a, b: a + b + 1),
          "first categories": first_categories, "one part of a mixture": one_part_of_a_mixture, "gaps": without_a_value})
