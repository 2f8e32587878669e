#!/usr/bin/env python3
"""Cost of a sweep by the number of items: CPU seconds a sweep and an item, in multiples of those of the largest, one thread; medians of
interleaved rounds, without an ELBO and, as it is by default, with one in every sweep and a row of trace.csv. What does not depend on
the number of items, updates of globals and their ELBO, costs some microseconds: of the items beyond the first thousand, those that a
size has more than the one before, the seconds are printed as well.

usage: linear.py LEHR [FILE.svg]
"""
import contextlib
import os
import statistics
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import data
from drawing import Panel, Picture
from measure import LEAST, Lehr

ROUNDS = 5
SIZES = [1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000]
MODELS = {"models/mixtures/gmm_diagonal.lehr": (["--set", "K=8"], lambda n: data.mixture(n, 4, 8)),
          "models/mixtures/gmm_normal_wishart.lehr": (["--set", "K=8", "--set", "nu0=5"], lambda n: data.mixture(n, 4, 8)),
          "bench/models/hmm_letters.lehr": (["--set", "K=4"], lambda n: {
              "t": np.full(n, 10), "x": np.random.default_rng(0).integers(0, 20, size=10 * n)})}


def measured(fit):
    """CPU seconds of a sweep without an ELBO and with one. Starts of large data differ by tenths of a second, most of all the first
    after others: that one does not count, and sweeps take four times as long."""
    start, _ = fit.run(1)
    fit.least = max(LEAST, 4 * start)
    return fit.without_elbos(), fit.seconds()


def drawn(found, file):
    """Multiples of the largest, up to 2."""
    p = Panel((900, 1_400_000), (0, 2), "", "items", "CPU time a sweep and an item (1: at a million)", log=True,
              xticks={1000: "1000", 10_000: "10,000", 100_000: "100,000", 1_000_000: "1 million"})
    for k, costs in enumerate(found.values()):
        p.line(list(costs), np.minimum(list(costs.values()), 2), f"c{k}")
        p.dots(list(costs), np.minimum(list(costs.values()), 2), f"c{k}")
    Picture([p], 1, (440, 240), [(os.path.basename(name)[:-5].replace("_", " "), f"c{k}", "line") for k, name in enumerate(found)], left=40).write(
        file, "CPU seconds a sweep and an item by the number of items", "bench/experiments/linear.py LEHR FILE.svg")


def shown(multiples):
    return ", ".join(f"{n:,}: {c:.2f}" for n, c in multiples.items())


def main():
    found = {}
    for model, (options, make) in MODELS.items():
        with contextlib.ExitStack() as folders:
            fits = {n: Lehr(os.path.abspath(sys.argv[1]), model, folders.enter_context(tempfile.TemporaryDirectory()), make(n), options)
                    for n in SIZES}
            rounds = [{n: measured(fit) for n, fit in fits.items()} for _ in range(ROUNDS)]
        for k, what in enumerate(("without an ELBO", "with one")):
            costs = {n: statistics.median(r[n][k] for r in rounds) / n for n in SIZES}
            relative = {n: c / costs[SIZES[-1]] for n, c in costs.items()}
            found.setdefault(model, relative)
            slopes = {n: (n * costs[n] - m * costs[m]) / (n - m) / costs[SIZES[-1]] for m, n in zip(SIZES, SIZES[1:])}
            print(f"{model}, {what}:", shown(relative), "beyond the size before:", shown(slopes), flush=True)
    if len(sys.argv) > 2:
        drawn(found, sys.argv[2])


if __name__ == "__main__":
    main()
