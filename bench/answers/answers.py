#!/usr/bin/env python3
"""CPU and clock seconds from the start of a process to the converged answer, beside other programs, at a quality that each row names.

Lehr fits with its defaults (`lehr`) and without the search (`lehr --search none`), on one thread, and compiles every time. Others run as a
user would call them, one thread each; `fit` is the fitting call alone, without imports. Runs of the sides are interleaved; medians count. A
program that is not installed is reported; `scripts/bench --peers` installs them. table.py makes a table of the JSON.

Quality: distance (s.e.) is the largest of an effect from maximum likelihood, with random effects from REML, and sd the ratio of standard
errors that is furthest from one; error (s.d.) is that of the states over their standard deviation in time, and cover the share of states in
intervals of 90 %; nats a point and RMSE are of held-out data; the Rand index is adjusted, and with the true groups.

usage: answers.py LEHR [ROW ...] [--list] [--quick] [--runs 3] [--limit CPU_SECONDS] [--out FILE.json]
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

from rows import ROWS
from sides import Lehr, Peer, printed, run, save
from report import machine


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].strip())
    parser.add_argument("lehr")
    parser.add_argument("rows", nargs="*")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--out")
    options = parser.parse_intermixed_args()
    for name in options.rows:
        if name not in ROWS:
            parser.error(f"no row {name}; --list names them")
    options.lehr = os.path.abspath(options.lehr)
    options.limit = options.limit or (60 if options.quick else 600)
    return options


def summary(row, side, runs, truth):
    """Seconds of each run, and the quality of the last, or why there is none."""
    found = {name: [r[name] for r in runs if name in r] for name in ("cpu", "wall")} | {"failure": runs[-1]["failure"]}
    if found["failure"]:
        return found
    answer, report = side.answer(runs[-1]["output"])
    if "fit" in report:
        report["fit"] = [printed(r["output"])["fit"] for r in runs]
    quality = {name: float(value) for name, value in row.quality(answer, truth).items()}
    if not all(map(math.isfinite, quality.values())):
        return found | {"failure": "no finite answer"}
    return found | report | {"quality": quality}


def shown(name, side):
    if side["failure"]:
        return f"  {name:<28} {side['failure']}"
    numbers = ", ".join(f"{key} {value:.5g}" for key, value in side["quality"].items())
    fit = f", fit {statistics.median(side['fit']):.3f}" if "fit" in side else ""
    status = f"; {side['status']}, {side['sweeps']} sweeps" if "status" in side else ""
    return f"  {name:<28} CPU {statistics.median(side['cpu']):.3f} s, wall {statistics.median(side['wall']):.3f}{fit}; {numbers}{status}"


def measure(name, row, options, folder):
    """All sides of a row, their runs interleaved."""
    size = row.quick if options.quick else row.full
    found = {"name": name, "title": row.title, "size": size, "measure": row.measure, "higher": row.higher, "slack": row.slack, "sides": {}}
    print(f"{name}: {row.title} {size}; {row.measure}", flush=True)
    try:
        data, truth = row.make(**size)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"  no data: {error}", flush=True)
        return found | {"failure": "no data"}
    save(folder, data, table=any(command[0] == "R" for command in row.peers(size).values()))
    sides = {"lehr": Lehr(options.lehr, row, size, folder, "lehr", []),
             "lehr --search none": Lehr(options.lehr, row, size, folder, "none", ["--search", "none"])}
    for peer, command in row.peers(size).items():
        sides[peer] = Peer(*command, folder=folder, name=peer)
    runs = {side: [] for side in sides}
    for _ in range(options.runs):
        for side in sides:
            if not runs[side] or not runs[side][-1]["failure"]:
                runs[side].append(run(sides[side], options.limit))
    for side in sides:
        found["sides"][side] = summary(row, sides[side], runs[side], truth)
        print(shown(side, found["sides"][side]), flush=True)
    return found


def main():
    options = arguments()
    if options.list:
        for name, row in ROWS.items():
            print(f"{name:<16} {row.title}")
        return
    version = subprocess.run([options.lehr, "--version"], capture_output=True, text=True).stdout.strip()
    result = {"lehr": version, "machine": machine(), "quick": options.quick, "runs": options.runs, "rows": []}
    for name in options.rows or ROWS:
        with tempfile.TemporaryDirectory() as folder:
            result["rows"].append(measure(name, ROWS[name], options, folder))
        if options.out:
            with open(options.out, "w") as f:
                json.dump(result, f, indent=1)


if __name__ == "__main__":
    main()
