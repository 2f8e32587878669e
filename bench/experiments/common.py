"""What the experiments share: fits through the command line, comparisons of schedules, tables.

A fit of many starts is one process (`--restarts`): start r of a seed is the same whatever the schedule, so that lists
of ELBOs are paired. Every experiment writes a CSV table below --out, and a plot where matplotlib is installed.
"""
import argparse
import csv
import itertools
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHARED = os.environ.get("LEHR_SHARED_DATA", os.path.join(ROOT, "../shared/data"))


def arguments(description, **extra):
    """LEHR, --out and --starts, and options of the experiment (name = default, of its type)."""
    p = argparse.ArgumentParser(description=description)
    p.add_argument("lehr")
    p.add_argument("--out", required=True)
    p.add_argument("--starts", type=int, default=20)
    p.add_argument("--seed", type=int, default=1)
    for name, default in extra.items():
        nargs = "+" if isinstance(default, list) else None
        p.add_argument("--" + name.replace("_", "-"), nargs=nargs, default=default,
                       type=type(default[0] if isinstance(default, list) else default))
    o = p.parse_args()
    o.lehr = os.path.abspath(o.lehr)
    os.makedirs(o.out, exist_ok=True)
    return o


def shared(path):
    """A file of the data that are not part of the project."""
    full = os.path.join(SHARED, path)
    if not os.path.exists(full):
        sys.exit(f"no {full}; LEHR_SHARED_DATA names the folder")
    return full


class Problem:
    """A model and its data in a folder of their own."""

    def __init__(self, lehr, model, arrays=None, bindings=(), settings=()):
        self.lehr, self.folder = lehr, tempfile.TemporaryDirectory()
        self.model = self.at("model.lehr")
        with open(self.model, "w") as f:
            f.write(model)
        self.arguments = [a for b in bindings for a in ("--data", b)] + [a for s in settings for a in ("--set", s)]
        if arrays:
            with open(self.at("data.json"), "w") as f:
                json.dump(arrays, f, default=lambda a: a.tolist())
            self.arguments += ["--data", self.at("data.json")]
        self.count = itertools.count()

    def at(self, name):
        return os.path.join(self.folder.name, name)

    def fit(self, *arguments, init=None):
        """fit.json, and the folder of the fit."""
        out = self.at(f"out{next(self.count)}")
        command = [self.lehr, "fit", self.model, *self.arguments, "--out", out, "--quiet", "--search", "none", "--guide", "factorised", *map(str, arguments)]
        if isinstance(init, dict):
            np.savez(self.at("init.npz"), **init)
            init = self.at("init.npz")
        if init:
            command += ["--init", init]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
        with open(os.path.join(out, "fit.json")) as f:
            return json.load(f), out

    def elbos(self, starts, *arguments, init=None, seed=1):
        """ELBOs and sweeps of the starts."""
        if starts == 0:
            return np.zeros(0), np.zeros(0)
        report, _ = self.fit("--restarts", starts, "--seed", seed, *arguments, init=init)
        runs = sorted(report["restarts"], key=lambda r: r["restart"])
        return np.array([r["elbo"] for r in runs]), np.array([r["iterations"] for r in runs])


def p_win(a, b):
    """The chance that one run of `a` beats one of `b`, starts drawn at random."""
    a, b = np.asarray(a)[:, None], np.asarray(b)[None, :]
    return float(np.mean((a > b) + 0.5 * (a == b)))


def best_of(values, k):
    """The median of the best of `k` runs drawn with replacement from `values`."""
    ordered = np.sort(values)
    return float(ordered[min(len(ordered) - 1, int(np.ceil(len(ordered) * 0.5 ** (1 / k))) - 1)])


class Table:
    """Rows to a CSV file as they come, and to the screen unless `quiet`."""

    def __init__(self, out, name, columns, quiet=False, decimals=3):
        self.columns, self.rows, self.file = columns, [], open(os.path.join(out, name + ".csv"), "w", newline="")
        self.quiet, self.decimals = quiet, decimals
        self.writer = csv.writer(self.file)
        self.writer.writerow(columns)
        self.widths = [max(10, len(c)) for c in columns]
        self.show(columns)

    def show(self, texts):
        if not self.quiet:
            print("  ".join(t.rjust(w) for t, w in zip(texts, self.widths)), flush=True)

    def add(self, *row):
        text = [f"{v:.{self.decimals if abs(v) < 100 else 1}f}" if isinstance(v, float) else str(v) for v in row]
        self.writer.writerow(text)
        self.file.flush()
        self.rows.append(row)
        self.show(text)


COLUMNS = ["method", "mean", "sd", "best", "gain", "P(win)", "wins", "sweeps"]


class Comparison:
    """Schedules against plain ascent, the first of them, from the same starts: a table of `cell` and COLUMNS."""

    def __init__(self, out, name, cell):
        self.out, self.name, self.table, self.gains = out, name, Table(out, name, [*cell, *COLUMNS]), {}

    def add(self, cell, runs):
        """`runs`: method -> (ELBOs, sweeps). The first of `cell` is how it was started."""
        plain = next(iter(runs.values()))[0]
        for method, (elbo, sweeps) in runs.items():
            gain, p = float(elbo.mean() - plain.mean()), p_win(elbo, plain)
            self.table.add(*cell, method, float(elbo.mean()), float(elbo.std()), float(elbo.max()), gain, p,
                           f"{int((elbo > plain).sum())}/{len(plain)}", float(np.median(sweeps)))
            if elbo is not plain:
                self.gains.setdefault((cell[0], method), []).append((gain, p))

    def finish(self):
        overall = Table(self.out, self.name + "_summary", ["start", "method", "better", "cells", "mean gain", "mean P"])
        for (start, method), cells in self.gains.items():
            gain, p = np.array(cells).T
            overall.add(start, method, int((gain > 0).sum()), len(cells), float(gain.mean()), float(p.mean()))
        gains = {k: [g for g, _ in c] for k, c in self.gains.items()}
        plot(self.out, self.name, lambda a: boxes(a, gains, "gain in mean ELBO over plain ascent"))


def write(out, name, columns, rows):
    """A CSV file that is not printed."""
    with open(os.path.join(out, name + ".csv"), "w", newline="") as f:
        csv.writer(f).writerows([columns, *rows])


def results(name):
    """Rows of a table of docs/results."""
    with open(os.path.join(ROOT, "docs/results", name + ".csv")) as f:
        return list(csv.DictReader(f))


def measured(text):
    """Mean and deviation of a cell such as -7.28 (0.01)."""
    mean, _, sd = text.partition(" (")
    return float(mean), float(sd.rstrip(")"))


def plot(out, name, draw, rows=1, columns=1, size=(6.4, 4.8)):
    """`draw(axes)` into a PNG, where matplotlib is installed; `axes` is an array if there are several."""
    try:
        import matplotlib
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        print(f"no matplotlib: {name}.png is not drawn")
        return
    figure, axes = plt.subplots(rows, columns, figsize=size, layout="constrained")
    draw(axes)
    figure.savefig(os.path.join(out, name + ".png"), dpi=120)
    plt.close(figure)


def boxes(axes, values, label):
    """A box for every list of `values`, a dictionary."""
    axes.boxplot(list(values.values()), vert=False)
    axes.set_yticklabels([k if isinstance(k, str) else " ".join(k) for k in values])
    axes.set_xlabel(label)


def gallery(out, name, rows, shape):
    """`rows`: label -> images, one row of the plot each; every row has its own scale of grey."""
    columns = max(len(images) for images in rows.values())

    def draw(axes):
        for a in np.ravel(axes):
            a.set(xticks=[], yticks=[])
        for line, (label, images) in zip(axes.reshape(len(rows), columns), rows.items()):
            line[0].set_ylabel(label, rotation=0, ha="right", va="center")
            for a, image in zip(line, images):
                a.imshow(np.reshape(image, shape), cmap="gray", vmin=np.min(images), vmax=np.max(images))
    plot(out, name, draw, len(rows), columns, (columns + 1.2, 1.1 * len(rows)))
