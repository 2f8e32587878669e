#!/usr/bin/env python3
"""Saddle points at the end of runs: from their symmetric points spins, a Hopfield network, items of coupled spins, mixtures
and hidden Markov models go on to higher ELBOs; the eigenvalue of a sweep equals that of numpy; a run that ends on a
maximum keeps its bits."""
import sys

import numpy as np

sys.path.append(f"{sys.path[0]}/../posterior")
from fitting import arrays, finish, fit, lehr, read_json, temporary, within  # noqa: E402

SPINS = """model m { plate site; plate edge; data a[edge] : site; data b[edge] : site; data J[edge] : real;
  s[site] ~ Spin(); potential[edge] J[edge] * s[a[edge]] * s[b[edge]]; }"""
MIXTURE = """model m { plate n; plate k; data w : simplex over k; mu[k] ~ Normal(mean = 0, sd = 9); z[n] ~ Categorical(w);
  observe x[n] ~ Normal(mean = mu[z[n]], sd = 1); }"""
HMM = """model m { plate series; plate step in series ordered; plate state = 2; plate symbol;
  pi ~ Dirichlet(concentration = 1) over state; A[state] ~ Dirichlet(concentration = 1) over state;
  B[state] ~ Dirichlet(concentration = 1) over symbol;
  z[series, step] ~ Categorical(A[z[series, step - 1]]) start Categorical(pi);
  observe x[series, step] ~ Categorical(B[z[series, step]]); }"""
ITEMS = """model m { plate item; mu ~ Normal(mean = 0, sd = 1); u[item] ~ Spin(); v[item] ~ Spin();
  potential[item] 1.4 * u[item] * v[item]; observe x[item] ~ Normal(mean = mu, sd = 1); }"""


same = within(rtol=1e-9)


def left(got, plain, least):
    """The run left a saddle point: both ELBOs, the warning, and nothing of the kind without the test."""
    met = got.report["saddle_points"]
    assert all(s["left"] for s in met) and "saddle point" in got.said, f"{met}: {got.said}"
    assert "saddle_points" not in plain.report and "saddle" not in plain.said, plain.said
    same(met[0]["elbo"], plain.elbo, "ELBO of the saddle point")
    assert got.elbo > plain.elbo + least, f"ELBO {got.elbo}, {plain.elbo} of the saddle point"
    return f"eigenvalue {met[0]['eigenvalue']:.4f}, ELBO {plain.elbo:.4f} to {got.elbo:.4f}"


def both(model, data, *arguments, least, init=None):
    runs = [fit(model, data, *arguments, *more, init=init, monotone=False) for more in ([], ["--no-saddle-test"])]
    return *runs, left(*runs, least)


def sweep_of(n, a, b, J):
    """The matrix of a sweep about means of 0: every spin in turn is the sum of the others by their couplings."""
    c = np.zeros((n, n))
    np.add.at(c, (a, b), J)
    c = c + c.T
    m = np.eye(n)
    for i in range(n):
        m[i] = c[i] @ m
    return m


def glass():
    data = {k: np.array(v) for k, v in read_json("models/data/networks/spin_glass.json").items()}
    got, _, said = both("models/networks/spin_system.lehr", ["models/data/networks/spin_glass.json"], "--anneal", "linear:from=5,over=60", least=1.2)
    same(got.elbo, 1.245, "ELBO", 5e-4)
    radius = max(abs(np.linalg.eigvals(sweep_of(16, data["a"], data["b"], 0.5 * data["J"]))))
    same(got.report["saddle_points"][0]["eigenvalue"], radius, "eigenvalue", 0.02)
    return said


def hopfield():
    """Three patterns in thirty spins; both temperatures below the transition and above it, where 0 is the maximum."""
    r = np.random.default_rng(3)
    patterns = r.choice([-1, 1], (3, 30))
    a, b = np.triu_indices(30, 1)
    hebb = (patterns[:, a] * patterns[:, b]).sum(0) / 30
    data, start = {"a": a, "b": b, "J": 2 * hebb}, {"s.mean": np.zeros(30)}
    got, _, said = both(SPINS, data, init=start, least=1)
    overlaps = np.abs(patterns @ np.sign(got.posterior["s.mean"])) / 30
    assert overlaps.max() > 0.9, overlaps
    hot = fit(SPINS, {**data, "J": 0.5 * hebb}, init=start)
    assert "saddle_points" not in hot.report and not np.any(hot.posterior["s.mean"]), hot.report.get("saddle_points")
    return f"{said}, overlap {overlaps.max():.2f}"


def items():
    """Two spins of each item: the saddle point is that of their factors, which go on from sweep to sweep."""
    data = {"x": np.linspace(-1, 1, 5)}
    return both(ITEMS, data, init={"u.mean": np.zeros(5), "v.mean": np.zeros(5), "mu.mean": 0.0, "mu.precision": 6.0}, least=0.8)[2]


def mixture():
    """Equal components of three clusters; their means part."""
    x = np.concatenate([c + np.linspace(-1, 1, 20) for c in (-6.0, 0.0, 7.0)])
    start = {"mu.mean": [0.3] * 3, "mu.precision": [20.0] * 3}
    got, _, said = both(MIXTURE, {"x": x, "w": np.full(3, 1 / 3)}, init=start, least=100)
    np.testing.assert_allclose(np.sort(got.posterior["mu.mean"]), [-6, 0, 7], atol=0.3)
    return said


def hidden_markov():
    """Equal states; the symbols 0 and 1 of a series alternate with 2 and 3 in long runs."""
    r = np.random.default_rng(4)
    series = [[int(2 * (t // 12 % 2) + r.integers(2)) for t in range(60)] for _ in range(6)]
    start = {"pi.concentration": [4.0, 4.0], "A.concentration": np.full((2, 2), 90.0), "B.concentration": np.full((2, 4), 46.0)}
    return both(HMM, {"x": series}, "--sizes", "symbol=4", init=start, least=50)[2]


def exchange():
    """Annealing of the entropies of topics from far too hot melts all topics into one, as the documentation says."""
    r = np.random.default_rng(5)
    words = [[int(3 * (d % 3) + r.integers(3)) for _ in range(40)] for d in range(30)]
    return both("models/topics/lda.lehr", {"w": words, "count": np.ones((30, 40))}, "--sizes", "term=9", "--set", "K=3", "--init", "flat", "--anneal", "entropy:from=20,over=30", least=50)[2]


def kept():
    """Runs that end on a maximum: every file with the bits of a run without the test."""
    cases = [["models/mixtures/gmm.lehr", "x=models/data/mixtures/faithful.csv:eruptions,waiting", "--set", "K=2", "--anneal", "linear:from=3,over=20"],
             ["models/mixtures/gmm.lehr", "x=models/data/mixtures/faithful.csv:eruptions,waiting", "--set", "K=2", "--anneal", "auto"],
             ["models/factors/factorial_mixture.lehr", "x=models/data/factors/bars.csv", "--temper", "global:max=4,levels=20", "--max-iter", "3000"],
             ["models/networks/spin_system.lehr", "models/data/networks/spin_glass.json", "--anneal", "linear:from=5,over=60", "--set", "beta=0.2"],
             ["models/sequences/hmm_poisson.lehr", "x=models/data/sequences/coal_counts.csv:count", "--anneal", "exp:from=3,over=20"],
             ["models/mixtures/mixture_of_poissons.lehr", "x=models/data/sequences/coal_counts.csv:count", "--anneal", "linear:from=2,over=10"]]
    for model, data, *arguments in cases:
        with temporary({}) as folder:
            for name, more in ("with", []), ("without", ["--no-saddle-test"]):
                lehr("fit", model, "--data", data, *arguments, *more, "--save-locals", "--quiet", "--out", f"{folder}/{name}")
            a, b = (read_json(f"{folder}/{name}/fit.json") for name in ("with", "without"))
            p, q = (arrays(f"{folder}/{name}/posterior.npz") for name in ("with", "without"))
        assert "saddle_points" not in a and a["status"] == "converged", f"{model}: {a.get('saddle_points')}, {a['status']}"
        assert a["elbo"] == b["elbo"] and a["iterations"] == b["iterations"], f"{model}: {a['elbo']!r} and {b['elbo']!r}"
        assert all(p[k].tobytes() == q[k].tobytes() for k in p), model
    return f"{len(cases)} runs"


FACTORS = """model m { plate n; plate d; plate c = 2; plate k = 1; pi ~ Dirichlet(concentration = 1) over c;
  W[c, d] ~ MvNormal(mean = 0, precision = 1) over k; mu[c, d] ~ Normal(mean = 0, sd = 5); psi[d] ~ Gamma(shape = 2, rate = 1);
  z[n] ~ Categorical(pi); h[n] ~ MvNormal(mean = 0, precision = 1) over k;
  observe x[n, d] ~ Normal(mean = dot(W[z[n], d], h[n]) + mu[z[n], d], precision = psi[d]); }"""


def products():
    """Factor analysers: where all loadings are 0 no sweep finds them. A search and single runs, from any seed, leave that
    point, and loadings come near those of the data."""
    r = np.random.default_rng(2)
    z, h = r.integers(2, size=80), r.normal(size=80)
    W, mu = np.array([[2.0, -1.5, 1, 0.5], [0.5, 2, -1, 1.5]]), np.array([[-4.0, 0, 3, 1], [4, 1, -2, 0]])
    data = {"x": mu[z] + W[z] * h[:, None] + 0.5 * r.normal(size=(80, 4))}
    searched = [fit(FACTORS, data, "--search", "quick", "--seed", seed, monotone=False) for seed in range(1, 7)]
    alone = [fit(FACTORS, data, "--seed", seed, monotone=False) for seed in range(1, 7)]
    best = max(f.elbo for f in searched)
    for f in searched:
        same(f.elbo, best, "ELBO of a search", 1e-6)
        outer = lambda W: np.sort(np.abs(np.einsum("cd,ce->cde", W, W)).sum((1, 2)))
        assert np.all(np.abs(outer(f.posterior["W.mean"][..., 0]) / outer(W) - 1) < 0.5), f.posterior["W.mean"]
    for f in alone:
        assert np.abs(f.posterior["W.mean"]).max() > 0.5, f.posterior["W.mean"]
    at_zero = [fit(FACTORS, data, *search, "--seed", seed, "--no-saddle-test", monotone=False).posterior["W.mean"] for seed in range(1, 7)
               for search in ([], ["--search", "quick"])]
    return f"ELBO {best:.4f}; {sum(np.abs(W).max() < 0.1 for W in at_zero)} of 12 runs without the test end at 0"


CHECKS = {"products": products, "spin glass": glass, "Hopfield network": hopfield, "spins of items": items, "mixture": mixture, "hidden Markov model": hidden_markov,
          "topics": exchange, "maxima": kept}

if __name__ == "__main__":
    finish(CHECKS)
