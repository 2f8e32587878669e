#!/usr/bin/env python3
"""Speed, paired with other programs: CPU seconds per pass, medians of interleaved rounds, and compile times.

All sides of a row run in turn, as processes with one thread, in one process group; CPU time rather than wall time is compared,
so that a busy machine disturbs little. C++ beside Lehr begins at the same start, and how far its parameters are from Lehr's after
three sweeps is printed. What compiles goes to ~/.cache/lehr-bench.

usage: bench.py LEHR [--list] [--corpus FILE.ldac] [--corpus-500 FILE.ldac] [--topics K] [--precision double|float]
                [--rounds N] [--json FILE] [--plot FILE.svg] [--beside OTHER_LEHR] [ROW ...]

--beside: another build of Lehr is the other side of rows beside kernels and plain programs, and of compile times.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

from measure import ROOT
from report import machine, picture
from rows import ROWS


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].strip())
    parser.add_argument("lehr")
    parser.add_argument("rows", nargs="*")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--corpus")
    parser.add_argument("--corpus-500")
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--precision", choices=["double", "float"], default="double")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json")
    parser.add_argument("--plot")
    parser.add_argument("--beside")
    options = parser.parse_intermixed_args()
    for name in options.rows:
        if name not in ROWS:
            parser.error(f"no row {name}; --list names them")
    options.lehr = os.path.abspath(options.lehr)
    options.beside = options.beside and os.path.abspath(options.beside)
    small = os.path.join(ROOT, "models/data/topics/kos.ldac.gz")
    for name, large in {"corpus": "nyt.ldac", "corpus_500": "ap.ldac"}.items():
        path = os.path.join(ROOT, "../shared/data/corpora", large)
        setattr(options, name, os.path.abspath(getattr(options, name) or (path if os.path.exists(path) else small)))
    return options


def main():
    options = arguments()
    if options.list:
        for name, run in ROWS.items():
            print(f"{name:<24} {run.__doc__}")
        return
    version = subprocess.run([options.lehr, "--version"], capture_output=True, text=True).stdout.strip()
    result = {"lehr": version, "machine": machine(), "rows": []}
    print(f"{version}; {result['machine']['processor']}, {result['machine']['cores']} cores, load {os.getloadavg()[0]:.1f}", flush=True)
    for name, run in ROWS.items():
        if not options.rows or name in options.rows:
            with tempfile.TemporaryDirectory() as directory:
                result["rows"].append({"name": name, **run(options, directory)})
    if options.json:
        with open(options.json, "w") as f:
            json.dump(result, f, indent=1)
    if options.plot:
        drawing = picture(result)
        if drawing is None:
            sys.exit("--plot: none of these rows has a ratio to draw")
        with open(options.plot, "w") as f:
            f.write(drawing)


if __name__ == "__main__":
    main()
