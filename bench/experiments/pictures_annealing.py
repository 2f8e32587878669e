"""Pictures of Gultekin, Zhang and Paisley (stochastic annealing), of their table 2, and of Xie's tutorial. Each function makes one."""
import os
import tempfile

import numpy as np

import gaussian_classes
import lda_annealing
from common import ROOT, Problem, measured, results, shared
from drawing import Panel, Picture
from minibatch_steps import MODEL as TUTORIAL
from minibatch_steps import data as tutorial_data
from pictures_tempering import trace
from problems import GMM, HMM, LDA, digits, documents

NAMES = {"VI": "VI", "det": "deterministic annealing", "stoch": "stochastic annealing"}
KEY = [(name, f"c{k}", "dots") for k, name in enumerate(NAMES.values())]


def spread(panel, x, values, colour):
    """Mean and extremes of some runs."""
    panel.whiskers([x], [min(values)], [max(values)], colour)
    panel.dots(x, float(np.mean(values)), colour, 3.4)


def topics(lehr):
    """Fig. 1: objective of topics by their number, 150 posts of KOS, four starts"""
    numbers, runs = [5, 10, 15, 20, 25], {}
    methods = {"VI": [], "det": ["--anneal", "linear:from=3,over=50"], "stoch": ["--anneal", "stochastic:rho=0.25,over=50"],
               "means": ["--anneal", "stochastic:rho=0.25,over=50,noise=means"]}
    with tempfile.TemporaryDirectory() as folder:
        path, rows = documents(os.path.join(ROOT, "models/data/topics/kos.ldac.gz"), 0, 150, folder)
        for k in numbers:
            problem = Problem(lehr, LDA, bindings=["w=" + path], settings=[f"K={k}"])
            for name, how in methods.items():
                runs[name, k] = [problem.elbos(1, "--max-iter", 80, "--local-iters", 15, *how, init=lda_annealing.paper(rows, k, s), seed=s)[0][0] / 1000
                                 for s in (1, 2, 3, 4)]
    every = np.concatenate(list(runs.values()))
    p = Panel((2.5, 27.5), (every.min() - 0.5, every.max() + 0.5), "", "number of topics K", "ELBO (1000 nats)", xticks=numbers)
    for j, name in enumerate(methods):
        p.line(numbers, [np.mean(runs[name, k]) for k in numbers], f"c{j}", width=1)
        for k in numbers:
            spread(p, k + 0.4 * (j - 1.5), runs[name, k], f"c{j}")
    return Picture([p], 1, (540, 260), [*KEY, ("with noise of random topics", "c3", "dots")], left=50,
                   numbers={f"{name}, K = {k}": np.mean(v) for (name, k), v in runs.items()})


def pen_digits(_):
    """Fig. 2: objective of hidden Markov models of pen strokes, from docs/results/hidden_markov.csv"""
    rows, panels = results("hidden_markov"), []
    methods = {"1/(1-rho)": "c1", "0.9^t": "c3", "linear": "c2"}
    for states in ("5", "10"):
        some = [r for r in rows if r["K"] == states]
        p = Panel((-0.5, 3.5), (-250, 850), f"{states} states", "digit", "ELBO above the mean of VI (nats)", xticks=dict(enumerate(r["digit"] for r in some)))
        p.rule(y=0)
        for x, r in enumerate(some):
            mean, sd = measured(r["none (sd)"])
            p.whiskers([x - 0.2], [-sd], [sd], "c0")
            p.dots(x - 0.2, 0, "c0", 3.4)
            for k, (method, colour) in enumerate(methods.items()):
                p.dots(x - 0.05 + 0.13 * k, measured(r[method])[0] - mean, colour, 3.8)
        panels.append(p)
    return Picture(panels, 2, (270, 240), [("VI, with its sd", "c0", "dots"), ("deterministic, of the chain", "c1", "dots"), ("stochastic 0.9^t", "c3", "dots"),
                                           ("stochastic 0.25 (1 − t / 50)", "c2", "dots")])


def spoken(every=15, symbols=40):
    """Codes of recordings of spoken digits, a chain for each: the nearest of 40 centres of their frames."""
    from scipy.cluster.vq import kmeans2
    x, lengths = np.load(shared("sequences/fsdd_X.npy")).astype(float), np.load(shared("sequences/fsdd_lengths.npy"))
    recordings = np.split(x, np.cumsum(lengths)[:-1])[::every]
    frames = np.concatenate(recordings)
    codes = kmeans2((frames - frames.mean(0)) / frames.std(0), symbols, iter=10, minit="++", seed=1)[1]
    return [c.tolist() for c in np.split(codes, np.cumsum([len(r) for r in recordings])[:-1])]


def sounds(lehr):
    """Fig. 3: objective of hidden Markov models by their states, 200 spoken digits in place of songs"""
    codes, numbers, runs = spoken(), [4, 8, 12, 16, 20], {}
    for k in numbers:
        problem = Problem(lehr, HMM.replace("symbol = 60", "symbol = 40").replace("10 / 60", "10 / 40"), {"x": codes}, settings=[f"K={k}"])
        schedule = problem.at("temperatures.txt")
        with open(schedule, "w") as f:
            f.writelines(f"{1 / (1 - 0.9**t)}\n" for t in range(1, 51))
        for name, how in (("VI", []), ("det", ["--anneal", f"file:{schedule},scope=local"]), ("stoch", ["--anneal", "stochastic:rho=0.25,over=50"])):
            runs[name, k] = problem.elbos(5, "--max-iter", 150, *how, init="means")[0] / 1000
    every = np.concatenate(list(runs.values()))
    p = Panel((2, 22), (every.min() - 0.2, every.max() + 0.2), "", "number of states K", "ELBO (1000 nats)", xticks=numbers)
    for j, name in enumerate(NAMES):
        p.line(numbers, [np.mean(runs[name, k]) for k in numbers], f"c{j}", width=1)
        for k in numbers:
            spread(p, k + 0.3 * (j - 1), runs[name, k], f"c{j}")
    return Picture([p], 1, (540, 260), KEY, left=50, numbers={f"{name}, K = {k}": np.mean(v) for (name, k), v in runs.items()})


GAUSSIAN = {"VI": [], "det": ["--anneal", "linear:from=5,over=50"], "stoch": ["--anneal", "stochastic:rho=0.25,over=50"]}


def handwriting(lehr):
    """Fig. 4: objective of Gaussian mixtures for each of scikit-learn's digits, five starts"""
    panels, gains = [], {}
    for k in (6, 12, 18):
        p = Panel((-0.6, 9.6), (-190, 230), f"K = {k}", "digit", "ELBO above the mean of VI (nats)" if k == 6 else "", xticks=range(0, 10, 1))
        p.rule(y=0)
        for digit in range(10):
            problem = Problem(lehr, GMM, digits(digit), settings=[f"K={k}"])
            runs = {name: problem.elbos(5, "--max-iter", 120, *how, init="means")[0] for name, how in GAUSSIAN.items()}
            for j, values in enumerate(runs.values()):
                gains.setdefault((list(runs)[j], k), []).append(values.mean() - runs["VI"].mean())
                spread(p, digit + 0.27 * (j - 1), values - runs["VI"].mean(), f"c{j}")
        panels.append(p)
    numbers = {f"{what} of {name}, K = {k}": f(g) for (name, k), g in gains.items() if name != "VI"
               for what, f in (("mean gain", np.mean), ("digits with a gain", lambda g: sum(v > 0 for v in g)))}
    return Picture(panels, 3, (186, 240), KEY, left=44, gap=0, numbers=numbers)


def iterations(lehr):
    """Fig. 5: objective by sweeps, 20 runs of a mixture of six Gaussians for the digit 0"""
    problem = Problem(lehr, GMM, digits(0), settings=["K=6"])
    runs = {name: [trace(problem.fit("--seed", s, "--max-iter", 150, "--tol", 0, *GAUSSIAN[name], init="means")[1])["elbo"] for s in range(1, 21)]
            for name in ("VI", "stoch")}
    last = np.concatenate([[e[-1] for e in v] for v in runs.values()])
    p = Panel((1, 150), (last.min() - 250, last.max() + 40), "", "sweep", "ELBO at T = 1 (nats)", log=True, xticks=[1, 2, 5, 10, 20, 50, 100, 150])
    for colour, name in (("c0", "VI"), ("c2", "stoch")):
        for e in runs[name]:
            p.line(np.arange(1, len(e) + 1), e, colour, width=0.7, opacity=0.6)
        p.line(np.arange(1, len(e) + 1), np.mean(runs[name], 0), colour, width=3)
    return Picture([p], 1, (540, 280), [("VI", "c0", "line"), ("stochastic annealing", "c2", "line"), ("thick: means", "ink", "line")], left=52,
                   numbers={f"{name} after {t}": np.mean([e[t - 1] for e in runs[name]]) for t in (5, 20, 50, 150) for name in runs})


PUBLISHED = {"VI": [0.945, 0.939, 0.934, 0.926, 0.922], "det": [0.945, 0.943, 0.941, 0.933, 0.932], "stoch": [0.947, 0.944, 0.943, 0.938, 0.936]}


def accuracy(lehr):
    """Table 2: accuracy of a classifier of MNIST by mixtures of K Gaussians, one start, and the published means"""
    numbers, found = [3, 6, 9, 12, 15], {name: [] for name in NAMES}
    (x, y), (test, labels) = gaussian_classes.images("train"), gaussian_classes.images("test")
    x, test, problems = x / x.std(), test / x.std(), []
    for digit in range(10):
        mine = x[y == digit]
        precision = np.linalg.inv(np.cov(mine.T, bias=True))
        problems.append(Problem(lehr, GMM, {"x": mine, "m0": mine.mean(0), "L0": precision, "W0": precision / 30}))
    for k in numbers:
        for name, how in GAUSSIAN.items():
            scores = [gaussian_classes.log_density(p.fit("--set", f"K={k}", "nu0=30", "--init", "means", "--max-iter", 80, *how)[1], test) for p in problems]
            found[name].append(float(np.mean(np.argmax(scores, 0) == labels)))
    panels = []
    for title, table, at in (("Here, one start: 1000 test images", found, numbers), ("Published, 50 starts", PUBLISHED, [3, 6, 9, 12, 15])):
        p = Panel((1.5, 16.5), (0.915, 0.97), title, "components K of each digit", "accuracy", xticks=[3, 6, 9, 12, 15])
        for j, (name, values) in enumerate(table.items()):
            p.line(at, values, f"c{j}")
            p.dots(at, values, f"c{j}", 3.4)
        panels.append(p)
    return Picture(panels, 2, (270, 220), KEY, numbers={f"{name}, K = {k}": v for name in found for k, v in zip(numbers, found[name])})


def tutorial(lehr):
    """Fig. 1 of Xie's tutorial: ELBO by steps, and data with posterior means, in one and two dimensions"""
    curves, points = [], []
    for d in (1, 2):
        x = tutorial_data(0, d)
        problem = Problem(lehr, TUTORIAL, {"x": x})
        fits = [problem.fit("--seed", s, "--max-iter", 100, "--tol", 1e-10) for s in (1, 2, 3)]
        best = max(fits, key=lambda f: f[0]["elbo"])
        top = best[0]["elbo"] / 1000
        p = Panel((1, 500), (top * 1.4, top * 0.98), "One dimension" if d == 1 else "Two dimensions", "sweep or step", "ELBO (1000 nats)", log=True,
                  xticks=[1, 10, 100, 500])
        for _, out in fits:
            t = trace(out)
            p.line(np.append(t["iteration"], 500), np.append(t["elbo"], t["elbo"][-1]) / 1000, "c0")
        for k, batch in enumerate((1, 20, 50)):
            _, out = problem.fit("--method", "svi", "--batch-size", batch, "--epochs", batch / 2, "--tau0", 100, "--kappa", 1, "--elbo-every", 5)
            t = trace(out)
            p.line(t["iteration"][4::5], t["elbo"][4::5] / 1000, f"c{k + 1}")
        p.rule(y=top, style="dot")
        curves.append(p)
        with np.load(os.path.join(best[1], "posterior.npz")) as q:
            weights, means = q["pi.concentration"] / q["pi.concentration"].sum(), q["mu.mean"]
        if d == 1:
            r, at = Panel((-9, 9), (0, 0.2), "", "x", "density"), np.linspace(-9, 9, 181)
            height, edges = np.histogram(x[:, 0], 45, density=True)
            r.band(np.repeat(edges, 2)[1:-1], 0 * np.repeat(height, 2), np.repeat(height, 2), "quiet", 0.35)
            for w, m in zip(weights, means[:, 0]):
                r.line(at, w * np.exp(-(at - m) ** 2 / 2) / np.sqrt(2 * np.pi), "c5")
                r.text(m, 0.188, f"{m:.2f}".replace("-", "−"), "c5", "middle")
        else:
            r = Panel((-9, 9), (-9, 9), "", "x1", "x2")
            r.dots(*x[::2].T, "quiet", 0.9)
            angle = np.linspace(0, 2 * np.pi, 60)
            for m in means:
                r.line(m[0] + 2 * np.cos(angle), m[1] + 2 * np.sin(angle), "c5")
                r.dots(*m, "c5", 3.5)
        points.append(r)
    return Picture([*curves, *points], 2, (270, 220), [("coordinate ascent, three starts", "c0", "line"), ("batches of 1", "c1", "line"),
                                                       ("of 20", "c2", "line"), ("of 50", "c3", "line"), ("fitted components", "c5", "line"), ("best ELBO", "quiet", "dot")], left=48)


PICTURES = [topics, pen_digits, sounds, handwriting, iterations, accuracy, tutorial]
