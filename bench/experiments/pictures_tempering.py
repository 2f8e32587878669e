"""Pictures of Mandt et al. (2016): the surface of a mixture, held-out words and temperatures by passes, a factorial mixture on toy data and
on faces. Each function makes one. Faces are free for research alone: none is drawn, nor a feature of one."""
import csv
import os
import tempfile

import numpy as np
from scipy.special import logsumexp

import factorial_mixture
import yale_faces
from common import Problem, measured, results
from drawing import Panel, Picture
from equations import held_out_words, split_posts
from mixture_surface import MODEL as MIXTURE
from mixture_surface import W, X, ascend, peaks, start, surface
from problems import FACTORIAL_MIXTURE
from problems import factorial_mixture as toy_images


def trace(out):
    """The columns of trace.csv; a value that a row has not is nan."""
    with open(os.path.join(out, "trace.csv")) as f:
        rows = list(csv.DictReader(f))
    return {name: np.array([float(r[name] or "nan") for r in rows]) for name in rows[0]}


def mixture(lehr):
    """Fig. 1: the annealed ELBO of a mixture of two Gaussians by the means, and where annealing stands"""
    problem, grid, panels = Problem(lehr, MIXTURE, {"x": X, "w": W}), np.linspace(-4, 4, 65), []
    cooled, path = [0, 2, 5, 10, 20, 40, 57, 62, 66, 68, 71, 75, 80, 90, 100, 130], {}
    for sweeps in cooled:
        schedule = problem.at("cooling.txt")
        with open(schedule, "w") as f:
            f.writelines(f"{max(1.0, 10 - 0.09 * t)}\n" for t in range(max(sweeps, 1)))
        _, out = problem.fit("--anneal", "file:" + schedule, "--max-iter", sweeps, "--tol", 0, init=start((2, -2)))
        with np.load(os.path.join(out, "posterior.npz")) as q:
            path[sweeps] = q["mu.mean"] if sweeps else np.array([2.0, -2.0])
    for T, until in ((10, 2), (5, 57), (4, 68), (1, 130)):
        z = surface(grid, T)
        top = grid[peaks(z)]
        p = Panel((-4, 4), (-4, 4), f"T = {T}", "mean 1", "mean 2")
        depth = (z.max() - z.min()) * np.geomspace(1e-3, 0.9, 16)
        p.contours(grid, grid, z, z.max() - depth, "quiet", width=0.8)
        best = np.argmax([z[i, j] for i, j in peaks(z)])
        for k, m in enumerate(top):
            p.dots(*m, "c5" if k == best else "c3", 5)
        plain = [np.array([2.0, -2.0])] + [ascend(problem, T, (2.0, -2.0), n)[0] for n in (1, 2, 4, 8, 20, 60, 300)]
        p.line(*np.array(plain).T, "c0")
        p.dots(*plain[-1], "c0", 3)
        way = np.array([m for s, m in path.items() if s <= until])
        p.line(*way.T, "c1", width=2)
        p.dots(*way[-1], "c1", 3)
        p.dots(2, -2, "ink", 3.5, ring=True)
        panels.append(p)
    return Picture(panels, 2, (260, 240), [("ELBO at T", "quiet", "line"), ("best optimum", "c5", "dots"), ("other optimum", "c3", "dots"),
                                           ("sweeps at this T", "c0", "line"), ("annealing from 10 in 100 sweeps, until T", "c1", "line")])


METHODS = {"SVI": [], "AVI, tA = 1": ["--anneal", "linear:from=1.5,over=31"], "AVI, tA = 0.1": ["--anneal", "linear:from=1.5,over=3"],
           "AVI, tA = 0.03": ["--anneal", "linear:from=1.5,over=1"], "VT": ["--temper", "global:max=1.5,every=3"],
           "LVT": ["--temper", "local:max=1.5,levels=6"]}


def text_passes(lehr):
    """Fig. 2: held-out words of KOS posts and temperatures by passes over the data, K = 50"""
    words = Panel((0, 2), (-8.15, -7.45), "Held-out words", "passes over the data", "log predictive (nats a word)")
    heat = Panel((0, 2), (0.95, 1.55), "Temperature", "passes over the data", "T, mean")
    ends = {}
    with tempfile.TemporaryDirectory() as folder:
        split_posts(folder)
        for k, (name, how) in enumerate(METHODS.items()):
            held_out_words(lehr, folder, "lda", "--epochs", 2, "--set", "K=50", "--test", f"w={folder}/test.ldac", "--test-every", 6, *how)
            t = trace(os.path.join(folder, "out"))
            passes, some = t["iteration"] * 100 / 3130, np.isfinite(t["held_out"])
            ends[name] = t["held_out"][some][-1]
            words.line(passes[some], t["held_out"][some], f"c{k}")
            words.dots(passes[some], t["held_out"][some], f"c{k}", 2)
            heat.line(passes, t["temperature"], f"c{k}")
    return Picture([words, heat], 2, (270, 250), [(name, f"c{k}", "line") for k, name in enumerate(METHODS)], numbers=ends)


def text_gains(_):
    """Fig. 2: held-out words of three corpora above SVI, from docs/results/lda_minibatches.csv"""
    rows = [r for r in results("lda_minibatches") if r["mean gain (sd)"] and r["method"] != "literal"]
    corpora, methods = list(dict.fromkeys(r["corpus"] for r in rows)), list(dict.fromkeys(r["method"] for r in rows))
    p = Panel((-0.5, 2.5), (-0.08, 0.12), "", "corpus, K = 50, five seeds", "gain over SVI (nats a word)",
              xticks=dict(enumerate({"nyt": "New York Times", "kos": "KOS blogs", "arxiv": "arXiv"}[c] for c in corpora)))
    p.rule(y=0)
    for r in rows:
        k, x = methods.index(r["method"]), corpora.index(r["corpus"])
        x, (mean, sd) = x + 0.14 * (k - 1.5), measured(r["mean gain (sd)"])
        p.whiskers([x], [mean - sd], [mean + sd], f"c{k}")
        p.dots(x, mean, f"c{k}", 4)
    names = {"AVI 1.5": "annealed from 1.5", "AVI 3.9": "annealed from 3.9", "VT": "VT", "LVT": "LVT (published: highest)"}
    return Picture([p], 1, (540, 240), [(names[m], f"c{k}", "dots") for k, m in enumerate(methods)])


TOY = {"VI": [], "AVI 10/10": ["--anneal", "linear:from=10,over=10"], "AVI 10/100": ["--anneal", "linear:from=10,over=100"],
       "VT": ["--temper", "global:max=10"], "auto": ["--anneal", "auto"]}
FACES = {"VI": [], "AVI 6/5": ["--anneal", "linear:from=6,over=5"], "AVI 6/50": ["--anneal", "linear:from=6,over=50"],
         "VT": ["--temper", "global:max=10"]}


def toy(lehr, methods, starts=9):
    """Traces and features of toy data, for each method a list by starts; one set of 1000 images."""
    x, _, truth = toy_images(1)
    problem, runs = Problem(lehr, FACTORIAL_MIXTURE, {"x": x}), {}
    for name in methods:
        for seed in range(1, starts + 1):
            _, out = problem.fit("--seed", seed, *TOY[name], init=factorial_mixture.start("means", x, seed))
            with np.load(os.path.join(out, "posterior.npz")) as q:
                runs.setdefault(name, []).append((trace(out), q["mu.mean"]))
    return runs, truth


def held_out_faces(q, x, variance):
    """Nats an image, of images that no fit has seen, the bits summed out, at the means of the features."""
    bits = (np.arange(256)[:, None] >> np.arange(8)) & 1
    means, on = bits @ q["mu.mean"], bits.sum(1)
    squares = (x**2).sum(1)[:, None] - 2 * x @ means.T + (means**2).sum(1)
    prior = on * np.log(0.3) + (8 - on) * np.log(0.7)
    return float(logsumexp(prior - squares / (2 * variance), axis=1).mean() - x.shape[1] * np.log(2 * np.pi * variance) / 2)


def faces(lehr, counts):
    """Held-out likelihood by sweeps and temperatures, of 1500 and 500 images of the Yale faces, three starts."""
    x = yale_faces.faces(1)
    x = x[np.random.default_rng(0).permutation(len(x))[:2000]]
    train, test = x[500:], x[:500]
    problem = Problem(lehr, yale_faces.MODEL.replace("variance = 1)", "variance = 0.5)"))
    np.save(problem.at("x.npy"), train)
    curves, heat = {}, {}
    for name, how in FACES.items():
        for seed in (1, 2, 3):
            init, scores = yale_faces.start("images", train, 8, seed), []
            for sweeps in counts:
                _, out = problem.fit("--data", "x=" + problem.at("x.npy"), "--seed", seed, "--max-iter", sweeps, *how, init=init)
                with np.load(os.path.join(out, "posterior.npz")) as q:
                    scores.append(held_out_faces(q, test, 0.5))
            curves.setdefault(name, []).append(scores)
        heat[name] = trace(out)["temperature"]
    return {name: np.array(c) for name, c in curves.items()}, heat


def factorial(lehr):
    """Fig. 3: a factorial mixture on toy data and on faces: ELBO, held-out likelihood and temperatures by sweeps"""
    names, numbers = ["VI", "AVI 10/10", "AVI 10/100", "VT"], {}
    runs, _ = toy(lehr, names)
    elbo = Panel((1, 200), (-20, -9), "Toy data, nine starts", "sweep", "ELBO at T = 1 (1000 nats)", log=True, xticks=[1, 10, 100])
    for k, name in enumerate(names):
        middle = np.argsort([t["elbo"][-1] for t, _ in runs[name]])[4]
        for start_number, (t, _) in enumerate(runs[name]):
            elbo.line(np.append(t["iteration"], 200), np.append(t["elbo"], t["elbo"][-1]) / 1000, f"c{k}", width=2.2 if start_number == middle else 0.6,
                      opacity=1 if start_number == middle else 0.45)
        numbers[f"median ELBO of {name}"] = runs[name][middle][0]["elbo"][-1]
    counts = [1, 2, 3, 5, 8, 12, 20, 30, 60, 150]
    curves, heat = faces(lehr, counts)
    every = np.concatenate([c[:, 4:].ravel() for c in curves.values()])
    score = Panel((5, 150), (every.min() - 0.5, every.max() + 0.5), "Faces, 500 held out", "sweep", "log predictive (nats an image)", log=True,
                  xticks=[5, 10, 20, 50, 100])
    warm = Panel((1, 150), (0.8, 6.2), "Temperatures on faces", "sweep", "T", log=True, xticks=[1, 10, 100])
    for k, (name, c) in enumerate(curves.items()):
        for one in c:
            score.line(counts, one, f"c{k}", width=0.6, opacity=0.5)
        score.line(counts, c.mean(0), f"c{k}", width=2.2)
        warm.line(range(1, len(heat[name]) + 1), heat[name], f"c{k}")
        numbers[f"faces, {name}"] = c[:, -1].mean()
    for name in list(curves)[1:]:
        for s, gain in enumerate(curves[name][:, -1] - curves["VI"][:, -1]):
            numbers[f"{name} above VI, start {s + 1}"] = gain
    return Picture([elbo, score, warm], 3, (180, 220), [("VI", "c0", "line"), ("AVI in 10 (faces: 5) sweeps", "c1", "line"),
                                                        ("AVI in 100 (faces: 50)", "c2", "line"), ("VT", "c3", "line"),
                                                        ("thick: middle start, mean", "ink", "line")],
                   left=48, gap=-2, numbers=numbers)


def features(lehr):
    """Fig. 4: features of toy data as VI and VT find them, of nine starts the middle one by its ELBO"""
    names = ["VI", "VT", "AVI 10/100", "auto"]
    runs, truth = toy(lehr, names)
    rows = {"truth": truth}
    for name in names:
        of = sorted(runs[name], key=lambda r: r[0]["elbo"][-1])[4][1]
        rows[name] = factorial_mixture.matched(of, truth)[0]
    panels = []
    for name, images in rows.items():
        count = factorial_mixture.recovered(images, truth)
        for k, image in enumerate(images):
            p = Panel((0, 1), (0, 1), (name if name == "truth" else f"{name}, {count} of 8 recovered") if k == 0 else "", frame=False)
            p.image(image.reshape(4, 4))
            panels.append(p)
    return Picture(panels, 8, (60, 60), left=10, gap=2)


PICTURES = [mixture, text_passes, text_gains, factorial, features]
