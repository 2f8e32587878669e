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


def drawn(found):
    """Lines in a square: log10 of the items across, multiples of the largest up to 2."""
    lines = []
    for colour, (name, costs) in zip(("#1b6ca8", "#c0392b", "#2e7d32"), found.items()):
        points = " ".join(f"{60 + 80 * (np.log10(n) - 3):.1f},{220 - 100 * min(c, 2):.1f}" for n, c in costs.items())
        lines.append(f'<polyline points="{points}" fill="none" stroke="{colour}"/>'
                     f'<text x="70" y="{20 + 16 * len(lines)}" fill="{colour}">{os.path.basename(name)[:-5]}</text>')
    axes = "".join(f'<text x="{50 + 80 * k}" y="240">10^{k + 3}</text>' for k in range(4))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 340 250" font-family="sans-serif" font-size="11">'
            f'<path d="M60 20V220H300" fill="none" stroke="#888"/><text x="30" y="124">1</text>{axes}{"".join(lines)}</svg>\n')


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
        with open(sys.argv[2], "w") as f:
            f.write(drawn(found))


main()
