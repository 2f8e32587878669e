#!/usr/bin/env python3
"""Figures and exercises of MacKay (2003), chapters 32 and 33, that take seconds: what `lehr fit` gives beside the formulas of the
book, enumeration, or a transfer matrix. Each function prints one line of JSON, whose numbers sources.json records.

usage: mackay.py LEHR [--only NAME ...]
"""
import argparse
import itertools
import json
import os
import subprocess
import tempfile

import numpy as np
from scipy.optimize import brentq, minimize, minimize_scalar
from scipy.special import logsumexp, xlogy

from common import ROOT, Problem

SPINS = """model spins { plate site; plate edge; data a[edge] : site; data b[edge] : site; data J[edge] : real; data h[site] : real;
  s[site] ~ Spin(); potential[edge] J[edge] * s[a[edge]] * s[b[edge]]; potential[site] h[site] * s[site]; }"""


def torus(side):
    site = np.arange(side * side).reshape(side, side)
    return np.tile(site.ravel(), 2), np.concatenate([np.roll(site, -1, 1).ravel(), np.roll(site, -1, 0).ravel()])


def posterior(out):
    with np.load(os.path.join(out, "posterior.npz")) as q:
        return dict(q)


def command_line(lehr, *words):
    """The temporary folder of a fit, from the root of the repository."""
    out = tempfile.TemporaryDirectory()
    subprocess.run([lehr, *words, "--quiet", "--out", out.name], check=True, capture_output=True, cwd=ROOT)
    return out


def drawn(out):
    """Draws of all spins, a row each."""
    with open(os.path.join(out, "draws_1.csv")) as f:
        lines = [line for line in f if not line.startswith("#")]
    return np.array([line.split(",")[1:] for line in lines[1:]], dtype=float)


def entropy(q):
    return -xlogy(q, q) - xlogy(1 - q, 1 - q)


def magnetisations(lehr, temperatures, field, start, edges=torus(4)):
    """Mean field on tori of side 4, one for each temperature, in one fit: every spin has four neighbours, as in the book."""
    a, b = edges
    n, count = 1 + max(a), len(temperatures)
    shift = n * np.arange(count)[:, None]
    data = {"a": (a + shift).ravel(), "b": (b + shift).ravel(), "J": np.repeat(1 / np.array(temperatures), len(a)),
            "h": np.repeat(field / np.array(temperatures), n)}
    problem = Problem(lehr, SPINS, data)
    _, out = problem.fit("--max-iter", 5000, "--tol", 1e-15, "--save-locals", init={"s.mean": np.full(n * count, start)})
    return posterior(out)["s.mean"].reshape(count, n).mean(1)


def two_spins(lehr):
    """Fig. 33.1: the free energy of two spins at beta = 1.44, its minima, and the fit from an asymmetric start."""
    beta, q = 1.44, np.linspace(0.0005, 0.9995, 1000)
    F = -beta * np.outer(2 * q - 1, 2 * q - 1) - entropy(q)[:, None] - entropy(q)
    convex = np.diff(F, 2, axis=0).min() > 0 and np.diff(F, 2, axis=1).min() > 0
    low = minimize_scalar(lambda p: -beta * (2 * p - 1) ** 2 - 2 * entropy(p), bounds=(0.5001, 0.9999), method="bounded", options={"xatol": 1e-12})
    problem = Problem(lehr, SPINS, {"a": [0], "b": [1], "J": [beta], "h": [0, 0]})
    report, out = problem.fit("--tol", 1e-15, "--save-locals", init={"s.mean": np.array([0.3, 0.2])})
    m = posterior(out)["s.mean"]
    return {"minimum": low.fun, "at q": low.x, "fit": -report["elbo"] - 2 * np.log(2), "fit q": (1 + m[0]) / 2, "at q = 1/2": -2 * np.log(2),
            "exact": -np.log(2 * np.exp(beta) + 2 * np.exp(-beta)), "convex": int(convex)}


def branches(lehr):
    """Fig. 33.2 and exercise 33.1: magnetisation by temperature; where the second minimum against a field ends."""
    T = [1.0, 2.0, 3.0, 3.9, 4.1, 5.0]
    up, down = magnetisations(lehr, T, 0.0, 0.9), magnetisations(lehr, T, 0.0, -0.9)
    want = [brentq(lambda m: np.tanh(4 * m / t) - m, 1e-3, 1) if t < 4 else 0.0 for t in T]
    result = {"T=2": up[1], "T=3": up[2], "T=3.9": up[3], "T=4.1": up[4], "error": np.abs(up - want).max(), "asymmetry": np.abs(up + down).max()}
    result["ring at T=1.5"] = magnetisations(lehr, [1.5], 0.0, 0.9, (np.arange(16), np.roll(np.arange(16), -1)))[0]
    for h in (0.4, 0.8):
        # The second minimum ends where a = (4 m + h) / T has a double root: T = 4 (1 - m^2), m below 0.
        m = brentq(lambda x: np.arctanh(x) * 4 * (1 - x * x) - 4 * x - h, -0.9999, -1e-6 - np.sqrt(h) / 10)
        end = 4 * (1 - m * m)
        against = magnetisations(lehr, [end - 0.02, end + 0.02], h, -0.99)
        result |= {f"h={h} ends at T": end, f"h={h} below": against[0], f"h={h} above": against[1]}
    return result


def exact_lattice(beta, side=8):
    """log Z, its first and its second derivative in beta, of the torus, by a transfer matrix of 2^side states."""
    s = 1 - 2 * ((np.arange(2**side)[:, None] >> np.arange(side)) & 1)
    within, between = (s * np.roll(s, 1, 1)).sum(1), s @ s.T

    def log_z(b):
        w = np.linalg.eigvalsh(np.exp(b * (between + within[:, None] / 2 + within / 2) - 2 * b * side))
        return np.log((w**side).sum()) + 2 * b * side * side

    h = 1e-3
    low, middle, high = log_z(beta - h), log_z(beta), log_z(beta + h)
    return middle, (high - low) / (2 * h), (high - 2 * middle + low) / h**2


def fragment(lehr):
    """Fig. 33.3: free energy, energy, entropy and heat capacity of the 8 x 8 torus, a spin, exact and in mean field."""
    T = np.array([1.5, 2.0, 2.27, 2.5, 3.0, 3.5, 4.5, 6.0])
    m = magnetisations(lehr, T, 0.0, 0.9)
    energy, S = -2 * m**2, entropy((1 + m) / 2)
    exact = np.array([exact_lattice(1 / t) for t in T]) / 64
    free, true = energy / T - S, -exact[:, 0]
    # The variance of the energy: under Q from the bonds, which share spins; of the lattice, the second derivative of log Z.
    bonds = 2 * (1 - m**4) + 12 * (m**2 - m**4)
    grid = np.linspace(2, 3, 21)
    peak = grid[np.argmax([exact_lattice(1 / t)[2] / t**2 for t in grid])]
    return {"above exact": int((free > true).all()), "F T=2.27": free[2], "exact F T=2.27": true[2], "F T=4.5": free[6], "exact F T=4.5": true[6],
            "E T=2.5": energy[3], "exact E T=2.5": -exact[3, 1], "S T=2.5": S[3], "exact S T=2.5": exact[3, 0] - exact[3, 1] / T[3],
            "var E T=2.5": bonds[3], "exact var E T=2.5": exact[3, 2], "heat capacity peak T": peak}


def gaussian(lehr):
    """Fig. 33.4 and section 33.5: five points with mean 1 and S = 1, from a poor start."""
    x = 1 + np.array([0.1, -0.4, 0.4, -0.1, 0.0]) / np.sqrt(0.34)
    problem = Problem(lehr, """model m { plate n; mu ~ Flat(); beta ~ Jeffreys(); observe x[n] ~ Normal(mean = mu, precision = beta);
      guide order(mu, beta); }""", {"x": x})
    _, out = problem.fit("--tol", 0, "--max-iter", 15, init={"beta.shape": 2.5, "beta.rate": 0.05})
    q = posterior(out)
    shape, rate = float(q["beta.shape"]), float(q["beta.rate"])
    sd = 1 / np.sqrt(q["mu.precision"]) if "mu.precision" in q else np.sqrt(q["mu.variance"])
    return {"1/E[beta]": rate / shape, "peak of Q": np.sqrt(rate / shape), "peak of P": np.sqrt(1 / 5), "shape": shape, "true shape": 2.0,
            "rate": rate, "true rate": 0.5, "sd of mu": float(sd)}


def bounds(lehr):
    """Fig. 33.5: both bounds of the logistic function on a grid, and the lower one as the ELBO of one observation whose predictor
    has next to no variance: the best nu is |a|, where the bound touches."""
    a, nu, mu = np.linspace(-6, 6, 1201), -2.015, 0.505
    g = lambda v: 1 / (1 + np.exp(-v))
    lower = g(nu) * np.exp((a - nu) / 2 - (g(nu) - 0.5) / (2 * nu) * (a**2 - nu**2))
    upper = np.exp(mu * a - entropy(np.array(mu)))
    problem = Problem(lehr, """model m { plate n; w ~ Normal(mean = -2.015, precision = 1e8); observe y[n] ~ Bernoulli(logistic(w)); }""", {"y": [1]})
    report, _ = problem.fit()
    return {"holds": int((lower <= g(a) + 1e-12).all() and (g(a) <= upper + 1e-12).all()), "touches lower": float(a[np.argmin(g(a) - lower)]),
            "touches upper": float(a[np.argmin(upper - g(a))]), "ELBO": report["elbo"], "log g": float(np.log(g(nu)))}


def compact(lehr):
    """Exercise 33.5: a Normal pair with sds 10 and 1 along the diagonals, and its best separable approximation."""
    big, small = 1 / 100, 1.0
    same, cross = (big + small) / 2, (big - small) / 2
    problem = Problem(lehr, f"""model m {{ mu ~ Normal(mean = 0, precision = {same}); y ~ Normal(mean = 0, precision = {same});
      potential {-cross} * mu * y; }}""")
    _, out = problem.fit("--tol", 1e-14, "--max-iter", 5000)
    q = posterior(out)
    return {"variance": 1 / float(q["mu.precision"]), "other": 1 / float(q["y.precision"]), "book": 2 / (big + small), "marginal": (100 + 1) / 2}


def four_cells(lehr):
    """Exercise 33.7: the three minima of F for the table of the margin, in bits. Cells without probability have -1000 for its log."""
    P = np.zeros((4, 4))
    P[:2, :2], P[2, 2], P[3, 3] = 1 / 8, 1 / 4, 1 / 4
    problem = Problem(lehr, """model m { plate v = 4; plate w = 4; data L : matrix over v, w; x ~ Uniform() over v; y ~ Uniform() over w;
      potential L[x, y]; }""", {"L": np.where(P > 0, np.log(np.maximum(P, 1e-99)), -1000)})
    found = {}
    for start in range(4):
        one = np.full(4, 0.01)
        one[start] = 0.97
        report, _ = problem.fit("--tol", 1e-14, "--max-iter", 500, init={"x.probs": one, "y.probs": one})
        found[f"from {start + 1}"] = -(report["elbo"] + 2 * np.log(4)) / np.log(2)
    return found


def walks(rng, bits, back, shared):
    """Ends of twenty-one Metropolis walks on 0, ..., 20 from `back` steps before 0; bits[k] are those of step -k-1."""
    x = np.arange(21)
    for k in reversed(range(back)):
        step = bits[k] if shared else bits[k][x]
        x = np.clip(x + 2 * step - 1, 0, 20)
    return x


def coalescence(lehr):
    """Figs. 32.1 to 32.3: walkers on 0, ..., 20 with bits of their own and with shared ones; forward, and from the past. In numpy:
    a walker on a line is no spin."""
    rng, result = np.random.default_rng(1), {}
    for name, shared in (("own bits", False), ("shared bits", True)):
        times, walls = [], 0
        for _ in range(100):
            x, t = np.arange(21), 0
            while x.min() < x.max():
                bits, t = rng.integers(0, 2) if shared else rng.integers(0, 2, 21)[x], t + 1
                x = np.clip(x + 2 * bits - 1, 0, 20)
            times.append(t)
            walls += x[0] in (0, 20)
        low, middle, high = np.quantile(times, [0.05, 0.5, 0.95])
        result |= {f"{name} median": middle, f"{name} 5%": low, f"{name} 95%": high, f"{name} at a wall": walls / 100}
    ends, starts = [], []
    for _ in range(420):  # from the past, the two ends alone, T0 doubled from 50
        bits, back = [], 50
        while True:
            bits += list(rng.integers(0, 2, back - len(bits)))
            x = np.array([0, 20])
            for k in reversed(range(back)):
                x = np.clip(x + 2 * bits[k] - 1, 0, 20)
            if x[0] == x[1]:
                break
            back *= 2
        ends.append(x[0])
        starts.append(back)
    counts = np.bincount(ends, minlength=21)
    return result | {"from the past: mean": np.mean(ends), "chi2 of 20": ((counts - 20) ** 2).sum() / 20, "median T0": np.median(starts)}


def exact_glass(lehr):
    """Section 32.3: summary states on the spin glass of models/data, against the sum over its 65,536 states."""
    with open(f"{ROOT}/models/data/networks/spin_glass.json") as f:
        data = json.load(f)
    a, b, J = (np.array(data[k]) for k in "abJ")
    s = 1 - 2 * ((np.arange(2**16)[:, None] >> np.arange(16)) & 1)
    bonds = (s[:, a] * s[:, b]) @ J
    weight = np.exp(0.5 * bonds - logsumexp(0.5 * bonds))
    out = command_line(lehr, "fit", "models/networks/spin_system.lehr", "--data", "models/data/networks/spin_glass.json", "--method", "exact",
                       "--draws", "500", "--save-locals")
    with open(os.path.join(out.name, "fit.json")) as f:
        coupling = json.load(f)["sampling"]["coupling"]
    values = (drawn(out.name)[:, a] * drawn(out.name)[:, b]) @ J
    exact = float(weight @ bonds)
    return {"coupling": coupling, "exact": exact, "drawn": values.mean(), "errors": (values.mean() - exact) / (values.std() / np.sqrt(500))}


def antiferromagnet(lehr, side=4, J=-0.15):
    """Section 32.3: exact samples of the triangular antiferromagnet, a torus, against the sum over its states."""
    a, b = torus(side)
    site = np.arange(side * side).reshape(side, side)
    a, b = np.concatenate([a, site.ravel()]), np.concatenate([b, np.roll(site, (-1, -1), (0, 1)).ravel()])
    s = 1 - 2 * ((np.arange(2**16)[:, None] >> np.arange(16)) & 1)
    bonds = (s[:, a] * s[:, b]).sum(1)
    exact = float(np.exp(J * bonds - logsumexp(J * bonds)) @ bonds)
    problem = Problem(lehr, SPINS, {"a": a, "b": b, "J": np.full(len(a), J), "h": np.zeros(16)})
    report, out = problem.fit("--method", "exact", "--draws", 2000, "--save-locals")
    values = (drawn(out)[:, a] * drawn(out)[:, b]).sum(1)
    return {"coupling": report["sampling"]["coupling"], "exact": exact, "drawn": values.mean(), "error": values.std() / np.sqrt(2000)}


def coins(lehr):
    """Exercises 32.1 and 32.5, in numpy: a chain that is coupled in two ways, and a ranking of three by coins."""
    rng = np.random.default_rng(2)
    u = rng.integers(0, 21)
    first, second = len(set(np.full(21, u))), len(set((np.arange(21) + u) % 21))
    orders = {p: 0 for p in itertools.permutations(range(3))}
    for _ in range(6000):
        bits, back = [], 2
        while True:
            bits += list(rng.integers(0, 2, back - len(bits)))
            ends = set()
            for p in orders:
                p = list(p)
                for k in reversed(range(back)):  # the step k steps before the present switches the pair k mod 2
                    i = k % 2
                    if bits[k]:  # the coin says which of the two is first, whoever they are
                        p[i:i + 2] = sorted(p[i:i + 2])
                    else:
                        p[i:i + 2] = sorted(p[i:i + 2], reverse=True)
                ends.add(tuple(p))
            if len(ends) == 1:
                break
            back *= 2
        orders[ends.pop()] += 1
    counts = np.array(list(orders.values()))
    return {"states after one step, equal": first, "states after one step, shifted": second, "chi2 of 5": ((counts - 1000) ** 2 / 1000).sum()}


def fresh_bits(lehr, runs=20000):
    """Exercise 32.2, in numpy: a walk on 0, 1, 2 that stays where a step would leave; bits that are used again, and fresh ones."""
    rng, result = np.random.default_rng(1), {}
    for name in ("used again", "fresh"):
        counts = np.zeros(3)
        for _ in range(runs):
            bits, back, ends = [], 1, {0, 2}
            while len(ends) > 1:
                bits = list(rng.integers(0, 2, back)) if name == "fresh" else bits + list(rng.integers(0, 2, back - len(bits)))
                ends = {0, 1, 2}
                for bit in reversed(bits):  # bits[k]: that of step -k-1
                    ends = {min(x + 1, 2) if bit else max(x - 1, 0) for x in ends}
                back *= 2
            counts[ends.pop()] += 1
        result |= {f"{name}: {k}": counts[k] / runs for k in range(3)}
    return result


def parameters(lehr):
    """Section 33.5: the approximation does not depend on the parameters, here a precision or a variance."""
    x = 1 + np.array([0.1, -0.4, 0.4, -0.1, 0.0]) / np.sqrt(0.34)
    models = [f"model m {{ plate n; mu ~ Normal(mean = 0, sd = 10); {text}); }}" for text in
              ("t ~ Gamma(shape = 2, rate = 1); observe x[n] ~ Normal(mean = mu, precision = t",
               "v ~ InverseGamma(shape = 2, scale = 1); observe x[n] ~ Normal(mean = mu, variance = v")]
    elbos = [Problem(lehr, model, {"x": x}).fit("--tol", 1e-13)[0]["elbo"] for model in models]
    return {"precision": elbos[0], "variance": elbos[1], "difference": elbos[1] - elbos[0]}


def kaboom(lehr):
    """Exercise 33.4: two components with a precision each, one of them started on a single point. Points and a flat prior, and
    distributions."""
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.normal(0, 1, 30), [4.0]])
    text = """model m {{ plate n; plate k = 2; mu[k] ~ Normal(mean = 0, sd = 100); tau[k] ~ Gamma(shape = {0}, rate = {1});
      pi ~ Dirichlet(concentration = 1) over k; z[n] ~ Categorical(pi); observe x[n] ~ Normal(mean = mu[z[n]], precision = tau[z[n]]); {2} }}"""
    result = {}
    for name, model, init in (
            ("points", text.format(1, 1e-12, "guide point(mu, tau, pi);"),
             {"mu.value": [0, 4], "tau.value": [1, 1e4], "pi.value": [0.9, 0.1]}),
            ("distributions", text.format(0.1, 0.1, ""),
             {"mu.mean": [0, 4], "mu.precision": [10, 1e4], "tau.shape": [10, 1], "tau.rate": [10, 1e-4]})):
        try:
            problem = Problem(lehr, model, {"x": x})
            _, out = problem.fit("--max-iter", 200, init={k: np.array(v, dtype=float) for k, v in init.items()})
            q = posterior(out)
            result[name] = float(np.max(q["tau.value"] if "tau.value" in q else q["tau.shape"] / q["tau.rate"]))
        except RuntimeError as error:
            result[name] = str(error).splitlines()[-1]
    return result


def surnames(lehr, people=50, runs=400):
    """Exercise 32.4, in numpy: everyone of a generation has the surname of someone of the last one, at random."""
    rng, times = np.random.default_rng(4), []
    for _ in range(runs):
        names, time = np.arange(people), 0
        while (names != names[0]).any():
            names, time = names[rng.integers(0, people, people)], time + 1
        times.append(time)
    return {"generations": np.mean(times), "error": np.std(times) / np.sqrt(runs), "2 (N - 1)": 2 * (people - 1)}


def other_divergence(lehr):
    """Exercise 33.7, in numpy: G = sum P log2(P / Q) of the table, least over separable Q, and at the product of the margins."""
    P = np.zeros((4, 4))
    P[:2, :2], P[2, 2], P[3, 3] = 1 / 8, 1 / 4, 1 / 4
    share = lambda v: np.exp(v - logsumexp(v))
    G = lambda v: -(P[P > 0] * np.log2(np.outer(share(v[:4]), share(v[4:]))[P > 0] / P[P > 0])).sum()
    ends = [minimize(G, np.random.default_rng(k).normal(size=8), tol=1e-12) for k in range(10)]
    margins = np.abs([share(v) - 1 / 4 for e in ends for v in (e.x[:4], e.x[4:])]).max()
    return {"least": min(e.fun for e in ends), "largest of ten": max(e.fun for e in ends), "at the margins": G(np.zeros(8)), "from the margins": margins}


def evidence_bounds(lehr):
    """(33.52), (33.53): both bounds of the logistic function, adjusted for the tightest fit, bound an evidence: ELBO, quadrature, and
    the upper bound with the best mu of each observation. Eight observations, one weight with a Normal prior of variance 4."""
    x = np.array([-2, -1.5, -1, -0.3, 0.4, 0.9, 1.6, 2.2])
    y = np.array([0, 0, 1, 0, 1, 0, 1, 1])
    signed = (2 * y - 1) * x
    problem = Problem(lehr, """model m { plate n; data x[n] : real; w ~ Normal(mean = 0, variance = 4); observe y[n] ~ Bernoulli(logistic(w * x[n])); }""",
                      {"x": x, "y": y})
    report, _ = problem.fit("--tol", 1e-13)
    w = np.linspace(-30, 30, 200001)
    log_p = -np.log1p(np.exp(-signed[:, None] * w)).sum(0) - w**2 / 8 - np.log(8 * np.pi) / 2
    # Each g(s x w) is at most exp(mu s x w - H(mu)), whose product has a Gaussian integral over w.
    upper = lambda mu: (mu @ signed) ** 2 * 4 / 2 - entropy(mu).sum()
    best = minimize(lambda v: upper(1 / (1 + np.exp(-v))), np.zeros(8), tol=1e-12).fun
    return {"ELBO": report["elbo"], "evidence": logsumexp(log_p) + np.log(w[1] - w[0]), "upper": best}


def belief_network(lehr):
    """Exact samples of a belief network of two layers: six causes, bits, and four effects, the sum of their causes in noise. The
    probability of each cause against the sum over all 64."""
    rng = np.random.default_rng(8)
    p, W = np.full(6, 0.3), (rng.random((4, 6)) < 0.5) * 1.0
    x = np.array([0.8, 1.7, 0.2, 1.1])
    z = np.array(list(itertools.product((0, 1), repeat=6)))
    logs = (np.log(p) * z + np.log(1 - p) * (1 - z)).sum(1) - ((x - z @ W.T) ** 2).sum(1) / 2
    exact = np.exp(logs - logsumexp(logs)) @ z
    problem = Problem(lehr, """model m { plate effect; plate cause; data W[effect, cause] : real; z[cause] ~ Bernoulli(0.3);
      observe x[effect] ~ Normal(mean = sum(cause) W[effect, cause] * z[cause], variance = 1); }""", {"W": W, "x": x})
    report, out = problem.fit("--method", "exact", "--draws", 4000, "--save-locals")
    means = drawn(out).mean(0)
    return {"coupling": report["sampling"]["coupling"], "largest difference": np.abs(means - exact).max(), "error": 0.5 / np.sqrt(4000)}


def main(description, functions):
    p = argparse.ArgumentParser(description=description)
    p.add_argument("lehr")
    p.add_argument("--only", nargs="+", default=[f.__name__ for f in functions], choices=[f.__name__ for f in functions])
    o = p.parse_args()
    for f in functions:
        if f.__name__ in o.only:
            values = f(os.path.abspath(o.lehr))
            print(json.dumps({f.__name__: {k: v if isinstance(v, str) else float(f"{v:.6g}") for k, v in values.items()}}), flush=True)


if __name__ == "__main__":
    main(__doc__, [two_spins, branches, fragment, gaussian, bounds, compact, four_cells, coalescence, exact_glass, antiferromagnet, coins,
                   fresh_bits, parameters, kaboom, surnames, other_divergence, evidence_bounds, belief_network])
