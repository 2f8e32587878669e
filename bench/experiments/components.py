#!/usr/bin/env python3
"""How often the search finds the number of groups: data of five groups, models with twenty components, every family of models/.

Found: as many components hold at least one element in a hundred as there are groups. `scikit_learn` has the same model and priors
(Normal-Wishart, Dirichlet weights) in BayesianGaussianMixture with ten starts; its posterior is handed to lehr, whose ELBO counts
every constant.

usage: components.py LEHR [FOLDER] [--sets N] [--full] [CELL ... | scikit_learn]
"""
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GROUPS, COMPONENTS, ITEMS = 5, 20, 500


def spread(r, n, dim, gap):
    """Centres at least `gap` from each other."""
    while True:
        c = r.normal(size=(n, dim)) * gap
        d = np.linalg.norm(c[:, None] - c[None], axis=2) + 1e9 * np.eye(n)
        if d.min() >= gap:
            return c


def groups_of(r, n=ITEMS):
    return r.choice(GROUPS, size=n, p=[0.3, 0.25, 0.2, 0.15, 0.1])


def walk(r, length):
    """A chain of states that stays with probability 0.9."""
    s = [int(r.integers(GROUPS))]
    for _ in range(length - 1):
        s.append(s[-1] if r.random() < 0.9 else int(r.integers(GROUPS)))
    return np.array(s)


K = ["--set", f"K={COMPONENTS}"]
SPARSE = ["--set", "alpha0=0.05"]
DP = """model m { plate n; plate stick = 19; plate k;
  alpha ~ Gamma(shape = 1, rate = 1); v[stick] ~ Beta(1, alpha);
  tau[k] ~ Gamma(shape = 1, rate = 1); mu[k] ~ Normal(mean = 0, precision = 0.01 * tau[k]);
  z[n] ~ Categorical(stick_breaking(v)); observe x[n] ~ Normal(mean = mu[z[n]], precision = tau[z[n]]); guide joint(mu, tau); }"""
DP_WISHART = """model m { plate n; plate stick = 19; plate k; plate dim;
  alpha ~ Gamma(shape = 1, rate = 1); v[stick] ~ Beta(1, alpha);
  Lambda[k] ~ Wishart(df = 4, scale = 0.1) over dim; mu[k] ~ MvNormal(mean = 0, precision = 0.01 * Lambda[k]) over dim;
  z[n] ~ Categorical(stick_breaking(v)); observe x[n] ~ MvNormal(mean = mu[z[n]], precision = Lambda[z[n]]) over dim;
  guide joint(mu, Lambda); }"""
REGRESSIONS = """model m { const K = 20; plate n; plate k = K; plate d = 2; data a[n, d] : real;
  pi ~ Dirichlet(concentration = 0.05) over k; w[k, d] ~ Normal(mean = 0, precision = 0.01); tau[k] ~ Gamma(shape = 1, rate = 0.1);
  z[n] ~ Categorical(pi); observe y[n] ~ Normal(mean = sum(d) w[z[n], d] * a[n, d], precision = tau[z[n]]); }"""
CATEGORIES = """model m { const K = 20; plate n; plate k = K; plate question; plate answer;
  pi ~ Dirichlet(concentration = 0.05) over k; p[k, question] ~ Dirichlet(concentration = 1) over answer;
  z[n] ~ Categorical(pi); observe x[n, question] ~ Categorical(p[z[n], question]); }"""
STATES = """model m { const K = 20; plate t ordered; plate state = K;
  pi ~ Dirichlet(concentration = 0.05) over state; A[state] ~ Dirichlet(concentration = 0.05) over state;
  mu[state] ~ Normal(mean = 0, precision = 0.01); tau[state] ~ Gamma(shape = 1, rate = 1);
  s[t] ~ Categorical(A[s[t-1]]) start Categorical(pi); observe x[t] ~ Normal(mean = mu[s[t]], precision = tau[s[t]]); }"""
COUNTED_STATES = STATES.replace("mu[state] ~ Normal(mean = 0, precision = 0.01); tau[state] ~ Gamma(shape = 1, rate = 1);",
                                "rate[state] ~ Gamma(shape = 1, rate = 0.1);").replace(
                                    "Normal(mean = mu[s[t]], precision = tau[s[t]])", "Poisson(rate[s[t]])")
SEQUENCES = STATES.replace("plate t ordered", "plate seq; plate t in seq ordered").replace("s[t] ~", "s[seq, t] ~").replace(
    "s[t-1]", "s[seq, t-1]").replace("x[t]", "x[seq, t]").replace("s[t]]", "s[seq, t]]")
BLOCKS = """model m { plate pair; plate member; plate g = 20; plate h = g; data a[pair] : member; data b[pair] : member;
  pi ~ Dirichlet(concentration = 0.05) over g; B[g, h] ~ Beta(1, 1); z[member] ~ Categorical(pi);
  observe tie[pair] ~ Bernoulli(B[z[a[pair]], z[b[pair]]]); }"""


def cells():
    """name -> (model, data and their groups of one seed, options)"""
    def gaussian(dim, gap):
        def make(r):
            z = groups_of(r)
            return {"x": spread(r, GROUPS, dim, gap)[z] + r.normal(size=(ITEMS, dim))}, z
        return make

    def line(r):
        z = groups_of(r)
        return {"x": (np.arange(GROUPS) * 6.0 + r.normal(size=GROUPS))[z] + r.normal(size=ITEMS)}, z

    def counts(r):
        z = groups_of(r)
        return {"x": r.poisson(np.array([1.0, 10, 30, 70, 130])[z])}, z

    def bits(r):
        z = groups_of(r)
        return {"x": (r.random((ITEMS, 25)) < r.beta(0.5, 0.5, size=(GROUPS, 25))[z]).astype(int)}, z

    def rows(r):
        z = groups_of(r)
        p = r.dirichlet(np.full(15, 0.5), GROUPS)
        return {"x": np.array([r.multinomial(40, p[k]) for k in z])}, z

    def answers(r):
        z = groups_of(r)
        p = r.dirichlet(np.full(4, 0.4), (GROUPS, 12))
        return {"x": np.array([[r.choice(4, p=q) for q in p[k]] for k in z])}, z

    def lines(r):
        z = groups_of(r)
        a = np.column_stack([np.ones(ITEMS), r.uniform(-3, 3, ITEMS)])
        w = np.array([[0, 3], [5, -3], [-8, 0], [10, 2], [-4, -6.0]])[z] + 0.3 * r.normal(size=(GROUPS, 2))[z]
        return {"a": a, "y": (w * a).sum(axis=1) + 0.5 * r.normal(size=ITEMS)}, z

    def states(r):
        s = walk(r, ITEMS)
        return {"x": (np.arange(GROUPS) * 5.0)[s] + r.normal(size=ITEMS)}, s

    def counted(r):
        s = walk(r, ITEMS)
        return {"x": r.poisson(np.array([1.0, 10, 30, 70, 130])[s])}, s

    def sequences(r):
        s = [walk(r, 25) for _ in range(ITEMS // 25)]
        return {"x": [((np.arange(GROUPS) * 5.0)[q] + r.normal(size=25)).tolist() for q in s]}, np.concatenate(s)

    def ties(r):
        z = np.sort(groups_of(r, 60))
        p = r.uniform(0.02, 0.2, size=(GROUPS, GROUPS)) + np.diag(np.full(GROUPS, 0.6))
        a, b = (x.ravel() for x in np.meshgrid(np.arange(60), np.arange(60), indexing="ij"))
        a, b = a[a != b], b[a != b]
        return {"a": a, "b": b, "tie": (r.random(a.size) < p[z[a], z[b]]).astype(int)}, z

    return {
        "gmm_diagonal": ("models/mixtures/gmm_diagonal.lehr", gaussian(4, 4), K + SPARSE),
        "gmm": ("models/mixtures/gmm.lehr", gaussian(3, 5), K + SPARSE),
        "gmm_normal_wishart": ("models/mixtures/gmm_normal_wishart.lehr", gaussian(3, 5), K + SPARSE),
        "mixture_of_poissons": ("models/mixtures/mixture_of_poissons.lehr", counts, K + SPARSE + ["--set", "b0=0.02"]),
        "mixture_of_bernoullis": ("models/mixtures/mixture_of_bernoullis.lehr", bits, K + SPARSE),
        "mixture_of_multinomials": ("models/mixtures/mixture_of_multinomials.lehr", rows, K + SPARSE),
        "answers": (CATEGORIES, answers, []),
        "regressions": (REGRESSIONS, lines, []),
        "dirichlet_process": (DP, line, []),
        "dirichlet_process_wishart": (DP_WISHART, gaussian(3, 5), []),
        "hidden_states": (STATES, states, []),
        "hidden_counts": (COUNTED_STATES, counted, []),
        "hidden_sequences": (SEQUENCES, sequences, []),
        "blocks": (BLOCKS, ties, []),
    }


def fit(lehr, folder, name, model, arguments, *options):
    out = os.path.join(folder, name)
    done = subprocess.run([lehr, "fit", model, *arguments, "--quiet", "--save-locals", "--out", out, *options], cwd=ROOT,
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{name}: {done.stderr}")
    with open(os.path.join(out, "fit.json")) as f:
        report = json.load(f)
    return report, np.load(os.path.join(out, "posterior.npz"))


def shares(posterior):
    """Expected elements of each component, from the probabilities of the category."""
    p = next(posterior[k] for k in posterior.files if k in ("z.probs", "s.probs"))
    return p.reshape(-1, p.shape[-1])


def one(lehr, folder, cell, seed, search):
    model, make, options = cells()[cell]
    data, groups = make(np.random.default_rng(100 + seed))
    folder = os.path.join(folder, cell, str(seed))
    os.makedirs(folder, exist_ok=True)
    if "{" in model:
        with open(os.path.join(folder, "m.lehr"), "w") as f:
            f.write(model)
        model = os.path.join(folder, "m.lehr")
    with open(os.path.join(folder, "d.json"), "w") as f:
        json.dump({k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in data.items()}, f)
    arguments = ["--data", os.path.join(folder, "d.json"), *options]
    report, posterior = fit(lehr, folder, "searched", model, arguments, "--search", search, "--seed", str(seed))
    mass = shares(posterior).sum(axis=0)
    moves = report.get("search", {}).get("moves", {})
    return {"elbo": report["elbo"], "components": int((mass >= 0.01 * len(groups)).sum()), "groups": len(set(groups)),
            "sweeps": report["iterations"], "moves": moves, "before": moves.get("elbo_before", report["elbo"]),
            "rand": adjusted_rand(groups, shares(posterior).argmax(axis=1))}


PEER = """model m { const K = 20; plate n; plate k = K; plate d; data m0 : vector over d; data R0 : matrix over d, d;
  pi ~ Dirichlet(concentration = 0.05) over k; Lambda[k] ~ Wishart(df = 4, rate = R0) over d;
  mu[k] ~ MvNormal(mean = m0, precision = 0.01 * Lambda[k]) over d;
  z[n] ~ Categorical(pi); observe x[n] ~ MvNormal(mean = mu[z[n]], precision = Lambda[z[n]]) over d; guide joint(mu, Lambda); }"""


def over_peer(lehr, folder, seed):
    """The ELBO of a plain fit, above that of scikit-learn's best of ten starts."""
    from sklearn.mixture import BayesianGaussianMixture
    r = np.random.default_rng(seed)
    x = (2.5 * r.normal(size=(6, 3)))[r.integers(6, size=300)] + r.normal(size=(300, 3))
    peer = BayesianGaussianMixture(
        n_components=COMPONENTS, n_init=10, max_iter=2000, tol=1e-7, random_state=seed, reg_covar=0, mean_prior=np.zeros(3),
        mean_precision_prior=0.01, degrees_of_freedom_prior=4, covariance_prior=np.eye(3),
        weight_concentration_prior_type="dirichlet_distribution", weight_concentration_prior=0.05).fit(x)
    scale = np.linalg.inv(peer.covariances_ * peer.degrees_of_freedom_[:, None, None])
    start, model, data = (os.path.join(folder, "peer." + kind) for kind in ("npz", "lehr", "json"))
    np.savez(start, **{"pi.concentration": peer.weight_concentration_, "mu.mean": peer.means_, "Lambda.scale": scale,
                       "mu.precision_scale": peer.mean_precision_, "Lambda.df": peer.degrees_of_freedom_})
    with open(model, "w") as f:
        f.write(PEER)
    with open(data, "w") as f:
        json.dump({"x": x.tolist(), "m0": [0, 0, 0], "R0": np.eye(3).tolist()}, f)
    theirs, _ = fit(lehr, folder, "theirs", model, ["--data", data], "--init", start, "--max-iter", "0")
    ours, _ = fit(lehr, folder, "ours", model, ["--data", data])
    return ours["elbo"] - theirs["elbo"]


def adjusted_rand(a, b):
    """Hubert & Arabie (1985)."""
    table = np.zeros((max(a) + 1, max(b) + 1))
    np.add.at(table, (a, b), 1)
    pairs = lambda n: (n * (n - 1) / 2).sum()
    rows, columns, all_pairs = pairs(table.sum(axis=1)), pairs(table.sum(axis=0)), pairs(np.array([len(a)]))
    expected = rows * columns / all_pairs
    return (pairs(table) - expected) / (0.5 * (rows + columns) - expected)


def main():
    words = [w for w in sys.argv[1:] if w != "--full"]
    sets = 20
    if "--sets" in words:
        at = words.index("--sets")
        sets = int(words[at + 1])
        del words[at:at + 2]
    search = "full" if "--full" in sys.argv else "quick"
    lehr, folder = os.path.abspath(words[0]), os.path.abspath(words[1] if len(words) > 1 else "/tmp/components")
    os.makedirs(folder, exist_ok=True)
    if words[2:] == ["scikit_learn"]:
        print("above scikit-learn by", *(f"{over_peer(lehr, folder, seed):.3f}" for seed in range(sets)))
        return
    print("| model | found | components | agreement | gained by moves | sweeps, of moves | merged | removed | split | ordered |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for cell in words[2:] or cells():
        with ThreadPoolExecutor(2) as pool:
            got = list(pool.map(lambda s: one(lehr, folder, cell, s, search), range(sets)))
        found = sum(g["components"] == g["groups"] for g in got)
        kinds = [f"{sum(g['moves'].get(k, {}).get('accepted', 0) for g in got)} of {sum(g['moves'].get(k, {}).get('tried', 0) for g in got)}"
                 for k in ("merges", "removals", "splits", "orders")]
        print(f"| {cell} | {found} of {sets} | {' '.join(str(g['components']) for g in got)} | {np.mean([g['rand'] for g in got]):.3f} | "
              f"{np.mean([g['elbo'] - g['before'] for g in got]):.2f} | {np.median([g['sweeps'] for g in got]):.0f}, "
              f"{np.median([g['moves'].get('sweeps', 0) for g in got]):.0f} | " + " | ".join(kinds) + " |", flush=True)


if __name__ == "__main__":
    main()
