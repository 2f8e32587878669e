#!/usr/bin/env python3
"""`--anneal auto` against the best of a grid of hand-made linear schedules (T0 in 1.5, 2, 3, 5, 10, 20; 10 to 300
sweeps), and against plain restarts of equal cost. Every schedule has the same starts; their medians are compared.

score = (median of auto - median of plain ascent) / (median of the best schedule - median of plain ascent); the best
schedule is chosen on the same starts, in its own favour. low and high are the 5 % and 95 % quantiles of the score when
the starts are drawn anew (with replacement, all methods together; the best schedule stays). `restarts` is the score of
the median best of as many plain runs as cost the sweeps of one automatic one.
"""
import itertools
import tempfile

import numpy as np

from common import Problem, Table, arguments, best_of, shared
from problems import (BERNOULLIS, FACTORIAL_MIXTURE, GMM, HMM, LDA, POISSONS, digits, documents, factorial_mixture,
                      pen_strokes)

TEMPERATURES, LENGTHS = [1.5, 2, 3, 5, 10, 20], [10, 50, 100, 300]


def cells(lehr):
    """Name -> (problem, start)."""
    for dataset in (101, 102):
        x = factorial_mixture(dataset)[0]
        for init in ("means", "allocations"):
            yield f"factorial {dataset} {init}", lambda x=x: Problem(lehr, FACTORIAL_MIXTURE, {"x": x}), init
    for digit, k in itertools.product((1, 3, 5, 7), (5, 10)):
        yield (f"hmm {digit} K={k}", lambda digit=digit, k=k: Problem(
            lehr, HMM, {"x": [s.tolist() for s in pen_strokes(digit)]}, settings=[f"K={k}"]), "means")
    for digit, k in itertools.product((0, 4, 9), (6, 12)):
        yield (f"gmm {digit} K={k}", lambda digit=digit, k=k: Problem(
            lehr, GMM, digits(digit), settings=[f"K={k}"]), "seeds")
    from sklearn.datasets import load_digits
    counts = load_digits().data[:1000].astype(int)
    for k in (10, 20):
        yield (f"poissons K={k}", lambda k=k: Problem(
            lehr, POISSONS, {"x": counts}, settings=[f"K={k}"]), "seeds")
    images = np.load(shared("mnist/mnist_train_u8.npy"))[::10].reshape(-1, 14, 2, 14, 2).mean((2, 4))
    for k in (10, 20):
        yield (f"bernoullis K={k}", lambda k=k: Problem(
            lehr, BERNOULLIS, {"x": (images.reshape(len(images), -1) > 127).astype(int)}, settings=[f"K={k}"]), "seeds")
    for corpus, k in itertools.product(("kos", "ap"), (10,)):
        def lda(corpus=corpus, k=k):
            folder = tempfile.mkdtemp()
            path, _ = documents(f"{corpus}.ldac", 300, 200, folder)
            return Problem(lehr, LDA, bindings=["w=" + path], settings=[f"K={k}"])
        yield f"lda {corpus} K={k}", lda, "means"


def score(runs, plain, best):
    base = np.median(plain, -1)
    return (np.median(runs, -1) - base) / (np.median(best, -1) - base)


def interval(runs, plain, best, draws=4000):
    """The 5 % and 95 % quantiles of the score, by bootstrap."""
    drawn = np.random.default_rng(0).integers(len(plain), size=(draws, len(plain)))
    return np.quantile(score(runs[drawn], plain[drawn], best[drawn]), [0.05, 0.95])


def main():
    o = arguments(__doc__, cells=[""], lengths=LENGTHS, temperatures=[float(t) for t in TEMPERATURES])
    table = Table(o.out, "automatic", ["cell", "VI", "VI sweeps", "best", "from", "over", "gain", *(
        c + m for m in (" q", " f") for c in ("score", "low", "high", "sweeps", "restarts")), "below VI"])
    grid = Table(o.out, "automatic_grid", ["cell", "from", "over", "median", "sweeps"])
    for name, make, init in cells(o.lehr):
        if not any(name.startswith(c) for c in o.cells):
            continue
        problem = make()
        how = {"init": init, "seed": o.seed + 500}
        plain, plain_sweeps = problem.elbos(o.starts, **how)
        best, schedule = None, ()
        for over, t in itertools.product(o.lengths, o.temperatures):
            elbo, sweeps = problem.elbos(o.starts, "--anneal", f"linear:from={t:g},over={over}", **how)
            grid.add(name, t, over, float(np.median(elbo)), float(np.median(sweeps)))
            if best is None or np.median(elbo) > np.median(best):
                best, schedule = elbo, (t, over)
        base, top = np.median(plain), np.median(best)
        row, below = [], 0
        for mode in ("auto:quick", "auto:full"):
            elbo, sweeps = problem.elbos(o.starts, "--anneal", mode, **how)
            below += int((elbo < plain - 1e-9 * abs(plain)).sum())
            equal = best_of(plain, max(1, round(float(np.median(sweeps) / np.median(plain_sweeps)))))
            row += [score(elbo, plain, best), *interval(elbo, plain, best), np.median(sweeps),
                    (equal - base) / (top - base)]
        table.add(name, float(base), float(np.median(plain_sweeps)), float(top), *schedule, float(top - base),
                  *map(float, row), below)


if __name__ == "__main__":
    main()
