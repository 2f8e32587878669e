#!/usr/bin/env python3
"""Random models with data, each checked on every path of the program.

usage: run.py LEHR [--count N] [--seed S|day] [--jobs J] [--checks all|some|NAME,...] [--out FOLDER] [--minutes M] [--first]

Without --seed the seed is of the clock, `day` is the same all day; it is printed, and `--seed S --count 1` repeats a case. Each case with a defect is reduced
and left in FOLDER/SEED with what was wrong. Exit code 1 where there is one. --first ends with it, as it is.

    tests/generator/run.py build/lehr --count 50000 --checks all    # a night
"""
import argparse
import collections
import os
import re
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor, as_completed

import numpy as np

import checks
import jags
from generate import generate
from lehr_tests import write
from reduce import reduce

REDUCING = 120  # seconds for a defect
SOME = 4  # checks of each case beside the first ones, where not all are asked for


def names_of(asked, seed):
    if asked == "all":  # those that JAGS has are another kind of models, and so are small ones
        return [n for n in checks.OTHERS if n not in ("against_jags", "evidence") or seed % 3 == ("against_jags", "evidence").index(n)]
    if asked == "some":
        r = np.random.default_rng(seed)
        others = [n for n in checks.OTHERS if not n.startswith("without")] + [f"without {r.choice(checks.PASSES)}"]
        return list(r.choice(others, SOME, replace=False))
    return [n for n in asked.split(",") if n]


def first_error(text):
    """The kind of a refusal: its first error without names and numbers."""
    found = re.search(r"error: (.*)", text)
    return re.sub(r"'[^']*'|[\d.]+", "_", found.group(1))[:90] if found else text[:90]


def one(program, seed, asked, out, reduces=True):
    """(what became of it, and the checks that had something to compare, or a text)."""
    names = names_of(asked, seed)
    without = jags.WITHOUT if "against_jags" in names else checks.NOT_COMPARED if "rows_without_data" in names else ()
    case = generate(seed, without, "evidence" in names)
    with tempfile.TemporaryDirectory() as folder:
        try:
            return "right", checks.check(program, case, folder, names)
        except checks.Refused as e:
            return "refused", first_error(str(e))
        except checks.Defect as e:
            defect = e

        if not reduces:
            return "defect", f"{defect} (seed {seed})\n{case.text}"
        end = time.monotonic() + REDUCING

        def has_defect(smaller):
            if time.monotonic() > end:
                return False
            try:
                checks.check(program, smaller, folder, names if defect.check in ("base", "check", "format") else names)
            except checks.Refused:
                return False
            except checks.Defect as again:
                return again.check == defect.check
            except Exception:  # a change that left a case that cannot be written
                return False
            return False

        small = reduce(case, has_defect)
        try:
            checks.check(program, small, folder, names)
            said = f"{defect} (not again)"
        except checks.Defect as again:
            said = str(again)
        kept = f"{out}/{seed}"
        bound = small.write(kept)
        write(f"{kept}/defect.txt", f"{said}\nlehr fit {kept}/model.lehr {' '.join(bound)}\n")
        return "defect", f"{said.replace(folder, kept)}\n{small.text}"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("program")
    p.add_argument("--count", type=int, default=200)
    p.add_argument("--seed")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--checks", default="some")
    p.add_argument("--out", default="defects")
    p.add_argument("--minutes", type=float, default=1e9)
    p.add_argument("--first", action="store_true")
    a = p.parse_args()
    first = int(time.strftime("%Y%m%d")) * 1000 if a.seed == "day" else int(a.seed or time.time() * 100)
    program, began = os.path.abspath(a.program), time.monotonic()
    print(f"{a.count} models from seed {first}", flush=True)
    became, compared, refusals, done = collections.Counter(), collections.Counter(), {}, 0
    with ProcessPoolExecutor(a.jobs) as pool:
        futures = {pool.submit(one, program, first + k, a.checks, a.out, not a.first): k for k in range(a.count)}
        for each in as_completed(futures):
            kind, text = each.result()
            became[kind] += 1
            done += 1
            if kind == "right":
                compared.update(text)
            if kind == "refused":
                refusals.setdefault(text, []).append(first + futures[each])
            if kind == "defect":
                print(f"DEFECT {text}\nafter {time.monotonic() - began:.0f} s", flush=True)
            if done % 100 == 0:
                print(f"{done}: {dict(became)}, {time.monotonic() - began:.0f} s", flush=True)
            if time.monotonic() - began > 60 * a.minutes or (kind == "defect" and a.first):
                pool.shutdown(cancel_futures=True)
                break
    for text, seeds in sorted(refusals.items(), key=lambda e: -len(e[1]))[:12]:
        print(f"  refused {len(seeds)}: {text} (seed {seeds[0]})")
    print("  compared: " + ", ".join(f"{name} {n}" for name, n in sorted(compared.items())))
    print(f"{done} models: {dict(became)}, {time.monotonic() - began:.0f} s")
    return 1 if became["defect"] else 0


if __name__ == "__main__":
    sys.exit(main())
