#!/usr/bin/env python3
"""Mean-field spin systems and the unknown Gaussian. MacKay (2003), sections 33.2, 33.3 and 33.5.

A spin model is P(s) = exp(-beta E(s)) / Z. Spin() is uniform, so the model's log joint is -beta E(s) - N log 2, and with
the variational free energy beta F = <beta E> - H, the ELBO is -beta F - N log 2. The free energies per spin are those of
an independent calculation; the exact ones are checked by enumeration here.

usage: mackay_spins.py LEHR
"""
import itertools
import sys

import numpy as np
from scipy.special import logsumexp

sys.path.append(f"{sys.path[0]}/..")
from fitting import finish, fit, relative  # noqa: E402

MODEL = """model m {
  const T = 1;
  plate site;
  plate edge;
  data a[edge] : site;
  data b[edge] : site;
  data J[edge] : real;
  s[site] ~ Spin();
  potential[edge] J[edge] * s[a[edge]] * s[b[edge]] * (1 / T);
}"""
SIDE = 4
MEAN_FIELD = {2: -1.019671, 2.5: -0.846663, 3: -0.752127, 4: -0.693147, 5: -0.693147}
EXACT = {2: -1.069085, 2.5: -0.910068, 3: -0.830065, 4: -0.762579, 5: -0.735717}


def torus(side):
    """Each site with its right and its lower neighbour."""
    site = np.arange(side * side).reshape(side, side)
    a = np.concatenate([site.ravel(), site.ravel()])
    return {"a": a, "b": np.concatenate([np.roll(site, -1, 1).ravel(), np.roll(site, -1, 0).ravel()]), "J": np.ones(len(a))}


def spins(data, sites, T, start, *arguments):
    got = fit(MODEL, data, "--sizes", f"site={sites}", "--set", f"T={T!r}", *arguments, init={"s.mean": start})
    return got, -got.elbo - sites * np.log(2)


def exact_free_energies(temperatures):
    """-log Z / N by enumeration of the 65536 states."""
    states = 1 - 2 * ((np.arange(2**16)[:, None] >> np.arange(16)) & 1)
    data = torus(SIDE)
    bonds = np.sum(states[:, data["a"]] * states[:, data["b"]], axis=1)
    return {T: -logsumexp(bonds / T) / 16 for T in temperatures}


def free_energies():
    exact, worst = exact_free_energies(MEAN_FIELD), 0.0
    for T, want in MEAN_FIELD.items():
        # at T = 4 the magnetisation falls as 1 / sqrt(sweeps) and beta F as its fourth power
        _, bound = spins(torus(SIDE), 16, T, np.full(16, 0.3), "--tol", "1e-15", "--max-iter", 3000)
        bound /= 16
        assert abs(exact[T] - EXACT[T]) <= 1e-6, f"T = {T}: enumeration gives {exact[T]:.7f}, not {EXACT[T]}"
        assert bound > exact[T], f"T = {T}: {bound!r} is not above the exact free energy {exact[T]!r}"
        assert abs(bound - want) <= 1e-6, f"T = {T}: beta F / N is {bound!r}, not {want}"
        worst = max(worst, abs(bound - want))
    return f"five temperatures, errors at most {worst:.1e}"


def grows(T):
    """Whether a tiny magnetisation grows. The updates are monotone, so from equal spins every sweep moves it in one
    direction: the sign of tanh(4 m / T) - m. Near T = 4 it moves slowly, but the sign shows after any number of sweeps."""
    start = 1e-3
    got, _ = spins(torus(SIDE), 16, T, np.full(16, start), "--tol", 0, "--max-iter", 50)
    return np.mean(got.posterior["s.mean"]) > start


def critical_temperature():
    low, high = 2.0, 7.0
    assert grows(low) and not grows(high), f"no transition between {low} and {high}"
    while high - low > 2e-4:
        middle = (low + high) / 2
        low, high = (middle, high) if grows(middle) else (low, middle)
    T = (low + high) / 2
    assert abs(T - 4) < 1e-3, f"T_c = {T}, not 4"
    return f"T_c = {T:.5f}"


def never_lowers(data, sites, T, start, want=None):
    got, bound = spins(data, sites, T, start, "--tol", "1e-14", "--max-iter", 5000)
    worst = max(a - b for a, b in zip(got.trace, got.trace[1:]))
    assert worst <= 1e-13 * (1 + abs(got.elbo)), f"the ELBO falls by {worst:.1e}"
    assert want is None or abs(bound - want) <= 5e-5, f"beta F is {bound}, not {want}"
    m, field = got.posterior["s.mean"], np.zeros(sites)
    for a, b, J in zip(data["a"], data["b"], data["J"]):
        field[a] += J * m[b] / T
        field[b] += J * m[a] / T
    error = np.max(np.abs(m - np.tanh(field)))
    assert error <= 1e-5, f"not a fixed point: {error:.1e}"
    return f"{len(got.trace)} sweeps, largest fall {max(worst, 0):.0e}, beta F {bound:.4f}"


def antiferromagnet():
    """From this start, updating all spins at once ends in a cycle at beta F = 3.2558."""
    data = {"a": [0, 0, 1, 2], "b": [1, 2, 3, 3], "J": [-1, -1, -1, -1]}
    return never_lowers(data, 4, 1.0, np.tanh([0.3, 0.2, 0.1, 0.25]), -4.0787)


def spin_glass(seed):
    rng = np.random.default_rng(seed)
    pairs = np.array(list(itertools.combinations(range(30), 2)))
    J = rng.normal(0, 1 / np.sqrt(30), len(pairs))
    return never_lowers({"a": pairs[:, 0], "b": pairs[:, 1], "J": J}, 30, 0.3, rng.uniform(-0.5, 0.5, 30))


def unknown_gaussian():
    """1 / E[beta] is the unbiased variance, and its error falls to 1 / N in a sweep."""
    x = np.array([1.1, 0.6, 1.4, 0.9, 1.0])
    want = x.var(ddof=1)
    model = """model m { plate n; mu ~ Flat(); beta ~ Jeffreys(); observe x[n] ~ Normal(mean = mu, precision = beta);
      guide order(mu, beta); }"""
    variance = []
    for sweeps in (5, 6, 60):
        q = fit(model, {"x": x}, "--tol", 0, "--max-iter", sweeps, init={"beta.shape": 2.5, "beta.rate": 2.5 / 3}).posterior
        variance.append(float(q["beta.rate"] / q["beta.shape"]))
    assert relative(variance[2], want) <= 1e-10, f"1 / E[beta] is {variance[2]!r}, not {want!r}"
    assert relative((variance[1] - want) / (variance[0] - want), 1 / len(x)) <= 1e-8, f"the error does not contract by 1 / {len(x)}: {variance}"
    return f"1 / E[beta] = {variance[2]:.12f}"


finish({"free energies": free_energies, "critical temperature": critical_temperature, "antiferromagnet": antiferromagnet,
        "spin glass 1": lambda: spin_glass(1), "spin glass 2": lambda: spin_glass(2), "unknown Gaussian": unknown_gaussian})
