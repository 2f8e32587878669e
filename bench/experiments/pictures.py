#!/usr/bin/env python3
"""Draws the figures of the texts behind Lehr again, from its own runs or from the tables in docs/results: SVG files in
docs/results/figures, which docs/results/pictures.md shows. The name of a picture is that of its function and of its file.

usage: pictures.py LEHR [--only NAME ...] [--out DIR]
"""
import argparse
import os

import pictures_annealing
import pictures_mackay
import pictures_tempering
from common import ROOT

MODULES = [pictures_mackay, pictures_tempering, pictures_annealing]


def main():
    functions = {f.__name__: f for module in MODULES for f in module.PICTURES}
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("lehr")
    p.add_argument("--only", nargs="+", default=list(functions), choices=list(functions), metavar="NAME")
    p.add_argument("--out", default=os.path.join(ROOT, "docs/results/figures"))
    o = p.parse_args()
    os.makedirs(o.out, exist_ok=True)
    for name in o.only:
        file = os.path.join(o.out, name + ".svg")
        title = functions[name].__doc__.splitlines()[0]
        start = sum(os.times()[:4])
        picture = functions[name](os.path.abspath(o.lehr))
        picture.write(file, title, f"bench/experiments/pictures.py LEHR --only {name}")
        used = sum(os.times()[:4]) - start
        print(f"{name}: {used:.1f} s of CPU, {os.path.getsize(file) / 1000:.0f} kB, {title} ({picture.numbers})", flush=True)


if __name__ == "__main__":
    main()
