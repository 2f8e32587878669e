#!/usr/bin/env python3
"""Geweke's joint distribution test (Getting it right, 2004) of Gibbs sampling, by `lehr calibrate --geweke`, of every model that
simulates its own data: sweeps in turns with new data leave the joint distribution of latent variables and data as it is.
Unlike ranks it asks for no mixing, so that every number can be asked about. Seeds are fixed.

usage: joint.py LEHR [MODEL...]
"""
import concurrent.futures
import csv
import os
import pathlib
import sys

from scipy import stats

sys.path.append(f"{sys.path[0]}/..")
import simulated  # noqa: E402

from fitting import lehr, read, temporary  # noqa: E402

chosen = sys.argv[2:]
CHAINS, ROUNDS = 300, 10


def compared(case):
    name, (text, arguments, data) = case
    with temporary() as folder:
        path = pathlib.Path(folder)
        words = simulated.write(path, text, data)
        lehr("calibrate", *words, *arguments, "--geweke", "--simulations", str(CHAINS), "--draws", str(ROUNDS), "--seed", "70",
             "--out", path / "o")
        rows = list(csv.reader(read(path / "o/calibration.csv").splitlines()))[1:]
    for row in rows:
        p = min(1, 4 * stats.norm.sf(max(abs(float(z)) for z in row[1:3])))
        assert abs(float(row[3]) - p) < 1e-3 * p + 1e-9, f"{name}: {row}, where p is {p}"
    return name, {(row[0], part): float(z) for row in rows for part, z in zip(("location", "spread"), row[1:3])}


def main():
    models = {k: v for k, v in simulated.all_models().items() if not chosen or k in chosen}
    p = {}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, scores in pool.map(compared, models.items()):
            worst = max(scores, key=lambda k: abs(scores[k]))
            print(f"{name}: {len(scores) // 2} numbers, largest |z| {abs(scores[worst]):.2f} ({worst[0]}, {worst[1]})", flush=True)
            assert len(scores) >= 6, f"{name}: hardly anything was asked about"
            p.update({(name, *k): 2 * stats.norm.sf(abs(z)) for k, z in scores.items()})
            if os.environ.get("LEHR_STOP_AT_FIRST") and abs(scores[worst]) > 6:
                sys.exit(f"the joint distribution moves: {name}")
    wrong = [k for k, x in p.items() if not x > 1e-3 / len(p)]
    print(f"{len(p)} scores of {len(models)} models; the smallest p is {min(p.values()):.2g}")
    sys.exit(f"the joint distribution moves: {wrong}" if wrong else 0)


main()
