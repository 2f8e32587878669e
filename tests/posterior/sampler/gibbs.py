#!/usr/bin/env python3
"""Gibbs sampling against exact posteriors: enumeration, conjugate formulas, quadrature, linear algebra. Means within five Monte
Carlo standard errors, standard deviations within 6 %, frequencies of states by chi-square; the seeds are fixed."""
import itertools
import pathlib
import sys

import numpy as np
from scipy import stats

sys.path.append(f"{sys.path[0]}/..")
import sampling  # noqa: E402
from fitting import lehr, temporary  # noqa: E402
from sampling import check_states  # noqa: E402


def sample(model, data, **options):
    """Draws by column, and the summary by name."""
    got = sampling.sample(model, data, "--save-locals", **options)
    return got.draws, got.summary


def check(name, summary, column, mean, sd):
    row = {key: float(value) for key, value in summary[column].items() if key != "name"}
    off = abs(row["mean"] - mean) / row["mcse"]
    assert off < 5, f"{name}: {column} has mean {row['mean']}, not {mean}: {off:.1f} standard errors"
    assert abs(row["sd"] / sd - 1) < 0.06, f"{name}: {column} has sd {row['sd']}, not {sd}"


def moments(grid, log_density):
    w = np.exp(log_density - log_density.max())
    w /= w.sum()
    out = []
    for x in grid:
        mean = (w * x).sum()
        out.append((mean, np.sqrt((w * (x - mean) ** 2).sum())))
    return out


def spins():
    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]
    model = """model m { plate e; plate i = 4; data a[e] : i; data b[e] : i; data h[i] : real;
      s[i] ~ Spin(); potential[e] 0.6 * s[a[e]] * s[b[e]]; potential[i] h[i] * s[i]; }"""
    field = [0.3, -0.5, 0.1, 0.0]
    draws, _ = sample(model, {"a": [a for a, _ in edges], "b": [b for _, b in edges], "h": field}, thin=6, draws=100000)
    weights = {s: 0.6 * sum(s[a] * s[b] for a, b in edges) + float(np.dot(field, s))
               for s in itertools.product([-1.0, 1.0], repeat=4)}
    check_states("spins", draws, [f"s.{k + 1}" for k in range(4)], weights)


def mixture():
    x = np.array([-0.8, 0.1, 0.4, 1.6, 0.9])
    model = """model m { plate n; plate k = 2; data mu[k] : real; pi ~ Dirichlet(concentration = 0.7) over k;
      z[n] ~ Categorical(pi); observe x[n] ~ Normal(mean = mu[z[n]], sd = 1); }"""
    draws, summary = sample(model, {"x": x.tolist(), "mu": [-0.5, 1.0]}, thin=6, draws=100000)
    weights, share = {}, {}
    for s in itertools.product([0.0, 1.0], repeat=5):
        ones = sum(s)
        weights[s] = stats.betabinom.logpmf(ones, 5, 0.7, 0.7) - np.log(stats.binom.pmf(ones, 5, 0.5) * 32) + sum(
            stats.norm.logpdf(x[i], [-0.5, 1.0][int(s[i])]) for i in range(5))
        share[s] = ones
    check_states("mixture", draws, [f"z.{k + 1}" for k in range(5)], weights)
    w = np.exp(np.array(list(weights.values())))
    w /= w.sum()
    a = 0.7 + np.array(list(share.values()))
    mean = (w * a / 6.4).sum()
    second = (w * a * (a + 1) / (6.4 * 7.4)).sum()
    check("mixture", summary, "pi.2", mean, np.sqrt(second - mean**2))


def hidden_markov():
    x = [0.3, 1.9, 1.2, -0.4, 0.6]
    a = [[0.8, 0.2], [0.3, 0.7]]
    model = """model m { plate t ordered; plate k = 2; data A[k] : simplex over k; data mu[k] : real; data p : simplex over k;
      s[t] ~ Categorical(A[s[t-1]]) start Categorical(p); observe x[t] ~ Normal(mean = mu[s[t]], sd = 0.8); }"""
    draws, _ = sample(model, {"x": x, "A": a, "mu": [0.0, 1.5], "p": [0.6, 0.4]}, draws=100000)
    weights = {}
    for s in itertools.product([0.0, 1.0], repeat=5):
        path = [int(k) for k in s]
        weights[s] = np.log([0.6, 0.4][path[0]]) + sum(np.log(a[i][j]) for i, j in zip(path, path[1:])) + sum(
            stats.norm.logpdf(v, [0.0, 1.5][k], 0.8) for v, k in zip(x, path))
    check_states("hidden Markov model", draws, [f"s.{k + 1}" for k in range(5)], weights)


def changing_transitions():
    """Transitions that data choose at every step, the same ones twice in a row among them."""
    x, c = [0.3, 1.9, 1.2, -0.4, 0.6, 1.0], [0, 1, 1, 0, 1, 0]
    a = [[[0.9, 0.1], [0.2, 0.8]], [[0.3, 0.7], [0.6, 0.4]]]
    model = """model m { plate t ordered; plate k = 2; plate w = 2; data A[w, k] : simplex over k; data c[t] : w; data mu[k] : real;
      data p : simplex over k; s[t] ~ Categorical(A[c[t], s[t-1]]) start Categorical(p);
      observe x[t] ~ Normal(mean = mu[s[t]], sd = 0.8); }"""
    draws, _ = sample(model, {"x": x, "A": a, "c": c, "mu": [0.0, 1.5], "p": [0.6, 0.4]}, draws=20000)
    weights = {}
    for s in itertools.product([0.0, 1.0], repeat=6):
        path = [int(k) for k in s]
        weights[s] = np.log([0.6, 0.4][path[0]]) + sum(np.log(a[w][i][j]) for w, i, j in zip(c[1:], path, path[1:])) + sum(
            stats.norm.logpdf(v, [0.0, 1.5][k], 0.8) for v, k in zip(x, path))
    check_states("changing transitions", draws, [f"s.{k + 1}" for k in range(6)], weights)


def forgotten_state():
    """What the first element says is a ratio of exp(-1800), which the others outweigh: products forwards have lost it."""
    model = """model m { plate t ordered; plate k = 2; data A[k] : simplex over k; data mu[k] : real; data p : simplex over k;
      s[t] ~ Categorical(A[s[t-1]]) start Categorical(p); observe x[t] ~ Normal(mean = mu[s[t]], sd = 1); }"""
    draws, _ = sample(model, {"x": [0.0, 60.0, 60.0, 30.01], "A": [[1.0, 0.0], [0.0, 1.0]], "mu": [0.0, 60.0], "p": [0.5, 0.5]},
                      draws=200)
    assert all((draws[f"s.{k + 1}"] == 1).all() for k in range(4)), "forgotten state: not in state 1 throughout"
    # One step that undoes the other: the odds of the two constant paths are exp(60 * 0.01).
    draws, _ = sample(model, {"x": [0.0, 60.01], "A": [[1.0, 0.0], [0.0, 1.0]], "mu": [0.0, 60.0], "p": [0.5, 0.5]})
    check_states("forgotten state", draws, ["s.1", "s.2"], {(0.0, 0.0): 0.0, (1.0, 1.0): 0.6})


def gaussian_chain():
    x = np.array([0.5, 1.5, 1.1, -0.2, 0.4, 2.0])
    model = """model m { plate t ordered; s[t] ~ Normal(mean = 0.9 * s[t-1], sd = 0.5) start Normal(mean = 1, sd = 2);
      observe x[t] ~ Normal(mean = s[t], sd = 0.7); }"""
    draws, summary = sample(model, {"x": x.tolist()})
    precision = np.diag(np.full(6, 1 / 0.49))
    precision[0, 0] += 0.25
    for t in range(1, 6):
        precision[t, t] += 4
        precision[t - 1, t - 1] += 4 * 0.81
        precision[t, t - 1] -= 3.6
        precision[t - 1, t] -= 3.6
    covariance = np.linalg.inv(precision)
    linear = x / 0.49
    linear[0] += 0.25
    mean = covariance @ linear
    for t in range(6):
        check("Gaussian chain", summary, f"s.{t + 1}", mean[t], np.sqrt(covariance[t, t]))
    both = np.cov(draws["s.3"], draws["s.4"])[0, 1]
    assert abs(both / covariance[2, 3] - 1) < 0.1, f"Gaussian chain: covariance {both}, not {covariance[2, 3]}"


def mean_and_precision():
    x = np.array([1.2, 0.4, 2.2, 1.7, 0.9, 1.1])
    model = """model m { plate n; mu ~ Normal(mean = 0, sd = 2); tau ~ Gamma(shape = 2, rate = 1);
      observe x[n] ~ Normal(mean = mu, precision = tau); }"""
    _, summary = sample(model, {"x": x.tolist()})
    mu, tau = np.meshgrid(np.linspace(-2, 4, 801), np.linspace(0.01, 15, 1201), indexing="ij")
    squares = ((x[:, None, None] - mu) ** 2).sum(0)
    (m, sm), (t, st) = moments((mu, tau), -mu**2 / 8 + np.log(tau) - tau + 3 * np.log(tau) - tau * squares / 2)
    check("mean and precision", summary, "mu", m, sm)
    check("mean and precision", summary, "tau", t, st)
    joint = model.replace("Normal(mean = 0, sd = 2)", "Normal(mean = 0, precision = 0.5 * tau)")
    _, summary = sample(joint.replace("observe", "guide joint(mu, tau); observe"), {"x": x.tolist()})
    k, shape = 6.5, 2 + 3.0
    mean = x.sum() / k
    rate = 1 + 0.5 * (x @ x - k * mean**2)
    check("joint block", summary, "tau", shape / rate, np.sqrt(shape) / rate)
    check("joint block", summary, "mu", mean, np.sqrt(rate / ((shape - 1) * k)))


def wishart():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(9, 3)) @ np.array([[1, 0.5, 0], [0, 1, 0.3], [0, 0, 1]]) + 1
    model = """model m { plate n; plate d = 3; Lambda ~ Wishart(df = 5, scale = 0.5) over d;
      mu ~ MvNormal(mean = 0, precision = 0.5 * Lambda) over d; guide joint(mu, Lambda);
      observe x[n] ~ MvNormal(mean = mu, precision = Lambda) over d; }"""
    _, summary = sample(model, {"x": x.tolist()}, draws=20000)
    k, df = 9.5, 14.0
    mean = x.sum(0) / k
    scale = np.linalg.inv(2 * np.eye(3) + x.T @ x - k * np.outer(mean, mean))
    inverse = np.linalg.inv(scale) / (df - 4)
    for i in range(3):
        check("Wishart", summary, f"mu.{i + 1}", mean[i], np.sqrt(inverse[i, i] / k))
        for j in range(3):
            sd = np.sqrt(df * (scale[i, j] ** 2 + scale[i, i] * scale[j, j]))
            check("Wishart", summary, f"Lambda.{i + 1}.{j + 1}", df * scale[i, j], sd)


def logistic():
    x, y = np.array([-2, -1.1, -0.3, 0.2, 0.9, 1.8, 2.5]), np.array([0, 0, 1, 0, 1, 1, 1])
    model = """model m { plate n; data x[n] : real; a ~ Normal(mean = 0, sd = 3); b ~ Normal(mean = 0, sd = 3);
      observe y[n] ~ Bernoulli(logistic(a + b * x[n])); }"""
    _, summary = sample(model, {"x": x.tolist(), "y": y.tolist()}, draws=30000)
    a, b = np.meshgrid(np.linspace(-9, 9, 901), np.linspace(-4, 14, 901), indexing="ij")
    e = a[..., None] + b[..., None] * x
    (ma, sa), (mb, sb) = moments((a, b), (y * e - np.logaddexp(0, e)).sum(-1) - (a**2 + b**2) / 18)
    check("logistic", summary, "a", ma, sa)
    check("logistic", summary, "b", mb, sb)


def check_logits(name, likelihood, log_likelihood, data):
    """`likelihood`: of y[n] with the logit e(n); `log_likelihood` the same of arrays of logits, summed over the data."""
    model = f"""model m {{ plate n; data x[n] : real; data trials[n] : count; a ~ Normal(mean = 0, sd = 2);
      b ~ Normal(mean = 0, sd = 2); observe y[n] ~ {likelihood}; }}"""
    _, summary = sample(model, data, draws=30000)
    a, b = np.meshgrid(np.linspace(-6, 6, 801), np.linspace(-6, 6, 801), indexing="ij")
    e = a[..., None] + b[..., None] * np.array(data["x"])
    (ma, sa), (mb, sb) = moments((a, b), log_likelihood(e) - (a**2 + b**2) / 8)
    check(name, summary, "a", ma, sa)
    check(name, summary, "b", mb, sb)


def logistic_counts():
    """Several trials behind one number: few, many, and parts of one."""
    x, y, trials = [-2.0, -1.1, 0.2, 0.9, 2.5], np.array([0, 2, 1, 11, 40]), np.array([1, 5, 2, 16, 47])
    data = {"x": x, "y": y, "trials": trials}
    check_logits("Binomial", "Binomial(trials[n], logistic(a + b * x[n]))",
                 lambda e: (y * e - trials * np.logaddexp(0, e)).sum(-1), data)
    failures = np.array([3, 0, 2, 1, 0])
    check_logits("Geometric", "Geometric(logistic(a + b * x[n]))",
                 lambda e: (e - (1 + failures) * np.logaddexp(0, e)).sum(-1), data | {"y": failures})
    check_logits("NegativeBinomial", "NegativeBinomial(2.5, logistic(a + b * x[n]))",
                 lambda e: (2.5 * e - (2.5 + failures) * np.logaddexp(0, e)).sum(-1), data | {"y": failures})


def sources():
    x = [2, 0, 5, 1, 3]
    model = """model m { plate n; data f[n] : real; a ~ Gamma(shape = 2, rate = 1); b ~ Gamma(shape = 1, rate = 2);
      observe x[n] ~ Poisson(f[n] * a + b); }"""
    f = np.array([1.0, 0.5, 2.0, 0.2, 1.0])
    _, summary = sample(model, {"x": x, "f": f.tolist()}, draws=20000)
    a, b = np.meshgrid(np.linspace(0.002, 8, 1600), np.linspace(0.001, 6, 1500), indexing="ij")
    rate = f * a[..., None] + b[..., None]
    (ma, sa), (mb, sb) = moments((a, b), (x * np.log(rate) - rate).sum(-1) + np.log(a) - a - 2 * b)
    check("sources", summary, "a", ma, sa)
    check("sources", summary, "b", mb, sb)


def copies():
    """Categories that stand for copies take shares of them; what is written has the value of one, also of no copies."""
    x, count = np.array([-0.8, 0.3, 1.6, 0.6]), [3, 1, 2, 0]
    model = """model m { plate n times count; plate k = 2; data mu[k] : real; pi ~ Dirichlet(concentration = 0.7) over k;
      z[n] ~ Categorical(pi); observe x[n] ~ Normal(mean = mu[z[n]], sd = 1); }"""
    draws, summary = sample(model, {"x": x.tolist(), "count": count, "mu": [-0.5, 1.0]}, thin=6, draws=60000)
    again = np.repeat(x, count)
    p = np.linspace(1e-4, 1 - 1e-4, 20001)
    log_density = -0.3 * (np.log(p) + np.log1p(-p)) + sum(
        np.log((1 - p) * stats.norm.pdf(v, -0.5) + p * stats.norm.pdf(v, 1.0)) for v in again)
    (m, s), = moments((p,), log_density)
    check("copies", summary, "pi.2", m, s)
    density = np.exp(log_density - log_density.max())
    density /= density.sum()
    joint = [np.stack([(1 - p) * stats.norm.pdf(v, -0.5), p * stats.norm.pdf(v, 1.0)]) for v in x]
    of_one = [q / q.sum(0) for q in joint]
    weights = {s: np.log((density * np.prod([q[int(z)] for q, z in zip(of_one, s)], axis=0)).sum())
               for s in itertools.product([0.0, 1.0], repeat=4)}
    check_states("copies", draws, [f"z.{k + 1}" for k in range(4)], weights)


def compared():
    """Two fits of one model: the correlation of the weights makes the factors of coordinate ascent too narrow."""
    model = """model m { plate n; data x[n] : real; a ~ Normal(mean = 0, sd = 10); b ~ Normal(mean = 0, sd = 10);
          observe y[n] ~ Normal(mean = a + b * x[n], sd = 1); }"""
    with temporary({"m.lehr": model, "d.json": {"x": [3.0, 4.0, 5.0, 6.0], "y": [1.0, 2.0, 2.5, 4.0]}}) as folder:
        path = pathlib.Path(folder)
        for method in ("cavi", "gibbs"):
            lehr("fit", path / "m.lehr", "--data", path / "d.json", "--method", method, "--guide", "factorised", *(["--sds", "factors"] if method == "cavi" else []), "--max-iter", "5000", "--draws", "20000", "--quiet",
                 "--out", path / method)
        done = lehr("compare", path / "cavi", path / "gibbs")
        rows = {line.split()[0]: [float(x) for x in line.split()[1:]] for line in done.stdout.splitlines() if line[:2] in ("a ", "b ")}
        x = np.array([3.0, 4.0, 5.0, 6.0])
        design = np.stack([np.ones(4), x], 1)
        precision = design.T @ design + np.eye(2) / 100
        ratio = np.sqrt(1 / np.diag(precision) / np.diag(np.linalg.inv(precision)))
        for k, name in enumerate("ab"):
            assert abs(rows[name][-1] / ratio[k] - 1) < 0.1, (rows, ratio)


def compared_category():
    """One category without a plate: its number has a mean in both fits."""
    model = """model m { plate n; plate k = 3; data share : simplex over k; data mu[k] : real; w ~ Categorical(share);
          observe y[n] ~ Normal(mean = mu[w], sd = 2); }"""
    data = {"share": [0.2, 0.3, 0.5], "mu": [-1.0, 0.0, 1.0], "y": [0.3, -0.4]}
    with temporary({"m.lehr": model, "d.json": data}) as folder:
        path = pathlib.Path(folder)
        for seed in (1, 2):
            lehr("fit", path / "m.lehr", "--data", path / "d.json", "--method", "gibbs", "--seed", seed, "--draws", "20000", "--quiet",
                 "--out", path / str(seed))
        (row,) = [line.split() for line in lehr("compare", path / "1", path / "2").stdout.splitlines() if line.startswith("w ")]
        p = np.array(data["share"]) * np.prod(stats.norm.pdf(np.array(data["y"])[:, None], data["mu"], 2), axis=0)
        mean = p @ [0, 1, 2] / p.sum()
        assert abs(float(row[1]) - mean) < 0.03 and abs(float(row[3]) - mean) < 0.03, (row, mean)


for case in (compared, compared_category, spins, mixture, hidden_markov, changing_transitions, forgotten_state, gaussian_chain, mean_and_precision,
             wishart, logistic, logistic_counts, sources, copies):
    case()
    print(f"{case.__name__}: exact")
