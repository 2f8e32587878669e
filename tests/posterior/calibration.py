#!/usr/bin/env python3
"""Simulation-based calibration of Gibbs sampling (Talts, Betancourt, Simpson, Vehtari & Gelman 2018): over data that a model made
itself, the rank of the true value among draws from its posterior is uniform. `lehr simulate` is the other half, and shares no code
with the sampler but the parser and the random generator. Chi-square over all numbers of a model that are asked about, p > 1e-3
with fixed seeds.

usage: calibration.py LEHR [MODEL...]
"""
import concurrent.futures
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from scipy import stats

LEHR, chosen = sys.argv[1], sys.argv[2:]
REPLICATES, DRAWS, BINS = 96, 31, 8

# name: text, sizes, numbers whose ranks are taken, sweeps a draw
MODELS = {
    "hierarchy": ("""plate g; plate n in g; m ~ Normal(mean = 0, sd = 2); t ~ Gamma(shape = 3, rate = 2);
      h[g] ~ Normal(mean = m, precision = t); s ~ Gamma(shape = 3, rate = 1);
      observe x[g, n] ~ Normal(mean = h[g], precision = s);""", "g=4,n=3", ["m", "t", "s"], 12),
    "mixture": ("""plate n; plate k = 2; pi ~ Dirichlet(concentration = 2) over k; mu[k] ~ Normal(mean = 0, sd = 2);
      tau ~ Gamma(shape = 3, rate = 2); z[n] ~ Categorical(pi); observe x[n] ~ Normal(mean = mu[z[n]], precision = tau);""",
                "n=12", ["mu.1", "pi.1", "tau"], 60),
    "hidden Markov": ("""plate q; plate t ordered; plate k = 2; A[k] ~ Dirichlet(concentration = 1.5) over k;
      p ~ Dirichlet(concentration = 1) over k; lam[k] ~ Gamma(shape = 2, rate = 0.5);
      s[q, t] ~ Categorical(A[s[q, t-1]]) start Categorical(p); observe x[q, t] ~ Poisson(lam[s[q, t]]);""", "q=3,t=6",
                      ["A.1.1", "A.2.1", "lam.1", "p.1"], 60),
    "states": ("""plate t ordered; plate d = 2; a ~ Normal(mean = 0.5, sd = 0.3); q ~ Gamma(shape = 4, rate = 2);
      s[t] ~ MvNormal(mean = a * s[t-1], precision = q) start MvNormal(mean = 0, precision = 1) over d;
      r ~ Gamma(shape = 4, rate = 2); observe x[t] ~ MvNormal(mean = s[t], precision = r) over d;""", "t=8",
               ["a", "q", "r", "s.3.2"], 20),
    "logistic": ("""plate n; data x[n] : real; a ~ Normal(mean = 0, sd = 1.5); b ~ Normal(mean = 0, sd = 1.5);
      observe y[n] ~ Bernoulli(logistic(a + b * x[n]));""", {"x": np.linspace(-2, 2, 9)}, ["a", "b"], 20),
    "sources": ("""plate n; plate k = 2; w[n, k] ~ Gamma(shape = 2, rate = 1); b[k] ~ Gamma(shape = 2, rate = 1);
      observe x[n] ~ Poisson(sum(k) w[n, k] * b[k]);""", "n=5", ["b.1", "b.2", "w.2.1"], 40),
    "topics": ("""plate d; plate n in d; plate v = 4; plate k = 2; beta[k] ~ Dirichlet(concentration = 0.7) over v;
      theta[d] ~ Dirichlet(concentration = 0.8) over k; z[d, n] ~ Categorical(theta[d]);
      observe w[d, n] ~ Categorical(beta[z[d, n]]);""", "d=3,n=6", ["beta.1.1", "beta.2.3", "theta.2.1"], 60),
    "precision matrix": ("""plate n; plate d = 2; Lambda ~ Wishart(df = 4, scale = 0.5) over d;
      mu ~ MvNormal(mean = 0, precision = 0.5) over d; observe x[n] ~ MvNormal(mean = mu, precision = Lambda) over d;""", "n=5",
                         ["mu.1", "Lambda.1.1", "Lambda.1.2"], 8),
    "joint block": ("""plate n; mu ~ Normal(mean = 1, precision = 0.5 * tau); tau ~ Gamma(shape = 3, rate = 2);
      guide joint(mu, tau); observe x[n] ~ Normal(mean = mu, precision = tau);""", "n=4", ["mu", "tau"], 2),
    "features": ("""plate n; plate k = 2; plate d = 3; p[k] ~ Beta(2, 3); W[d, k] ~ Normal(mean = 0, sd = 1);
      z[n, k] ~ Bernoulli(p[k]); observe x[n, d] ~ Normal(mean = sum(k) z[n, k] * W[d, k], sd = 0.7);""", "n=6",
                 ["p.1", "W.1.1", "W.3.2"], 60),
    "scales": ("""plate n; v ~ InverseGamma(shape = 4, scale = 3); m ~ Normal(mean = 0, sd = 1);
      observe x[n] ~ Normal(mean = m, variance = v);""", "n=5", ["v", "m"], 6),
}


def number(arrays, name):
    first, *rest = name.split(".")
    return float(arrays[first][tuple(int(k) - 1 for k in rest)])


def replicate(case):
    name, seed = case
    text, sizes, wanted, thin = MODELS[name]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        (path / "m.lehr").write_text(f"model m {{ {text} }}")
        given = []
        if isinstance(sizes, dict):
            np.savez(path / "given.npz", **sizes)
            given = ["--data", path / "given.npz"]
            extra = ["--sizes", f"n={len(next(iter(sizes.values())))}"]
        else:
            extra = ["--sizes", sizes]
        run = lambda *words: subprocess.run([LEHR, *words], check=True, capture_output=True, text=True)
        run("simulate", path / "m.lehr", *given, *extra, "--seed", str(seed), "--out", path / "s.npz")
        with np.load(path / "s.npz") as z:
            truth = {k: z[k] for k in z.files}
        run("fit", path / "m.lehr", "--data", path / "s.npz", "--method", "gibbs", "--warmup", str(8 * thin), "--draws",
            str(DRAWS), "--thin", str(thin), "--seed", str(seed + 1), "--save-locals", "--quiet", "--out", path / "o")
        lines = [x for x in (path / "o/draws_1.csv").read_text().splitlines() if not x.startswith("#")]
        columns = dict(zip(lines[0].split(","), np.array([x.split(",") for x in lines[1:]], float).T))
        return [int((columns[w] < number(truth, w)).sum()) for w in wanted]


def main():
    failed = []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, (_, _, wanted, _) in MODELS.items():
            if chosen and name not in chosen:
                continue
            ranks = np.array(list(pool.map(replicate, [(name, 1000 + 10 * k) for k in range(REPLICATES)])))
            values = []
            for k, w in enumerate(wanted):
                counts = np.bincount(ranks[:, k] * BINS // (DRAWS + 1), minlength=BINS)
                values.append(stats.chisquare(counts).pvalue)
            print(f"{name}: " + ", ".join(f"{w} p = {p:.3f}" for w, p in zip(wanted, values)), flush=True)
            failed += [name] if min(values) < 1e-3 else []
    sys.exit(f"not calibrated: {failed}" if failed else 0)


main()
