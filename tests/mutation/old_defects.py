#!/usr/bin/env python3
"""Puts defects that the program once had back, one at a time, and asks what finds them: the generator of models with its
ordinary choice of checks, and the tests that hold them since. Exit code 1 where the generator does not find one in time.

usage: old_defects.py [--dir DIR] [--no-build] [--jobs N] [--minutes M] [--seed S] [--checks C]
       [--no-tests] [NUMBER ...]

They stand at the end of mutations.py, and are behind the same switch in the same copy of the sources as the mutations: nothing
has to be built between two of them, and nothing to be put back. The verifier of parallel regions has no part in what the
generator finds: it does not run in release builds.
"""
import argparse
import os
import re
import subprocess
import sys
import time

import run
from mutations import OLD_DEFECTS

GENERATOR = os.path.join(run.ROOT, "tests/generator/run.py")


def generated(tree, number, o):
    """(seconds until the generator found it, or None; the check that did)."""
    environment = dict(os.environ, LEHR_MUTATION=str(number), OPENBLAS_NUM_THREADS="1")
    began = time.monotonic()
    done = subprocess.run(["/usr/bin/python3", GENERATOR, "build/lehr", "--count", "100000", "--seed", str(o.seed), "--jobs", "1", "--first",
                           "--minutes", str(o.minutes), "--checks", o.checks], cwd=tree, env=environment, capture_output=True, text=True)
    found = re.search(r"^DEFECT ([^:\n]+): (.*)", done.stdout, re.M)
    return (time.monotonic() - began, f"{found[1]}: {found[2][-160:]}") if found else (None, done.stdout[-300:] + done.stderr[-300:])


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--dir", default=os.path.join(run.ROOT, "build-mutation"))
    arguments.add_argument("--no-build", action="store_true")
    arguments.add_argument("--no-tests", action="store_true")
    arguments.add_argument("--jobs", type=int, default=2)
    arguments.add_argument("--minutes", type=float, default=10)
    arguments.add_argument("--seed", type=int, default=70000)
    arguments.add_argument("--checks", default="some", help="as the generator has it: some, all, or names")
    arguments.add_argument("which", nargs="*", type=int)
    o = arguments.parse_args()
    defects = {number: m for number, m in OLD_DEFECTS if not o.which or number in o.which}
    if not o.no_build:
        run.copy(o.dir, OLD_DEFECTS)
        run.build(o.dir, o.jobs, [m.tests for m in defects.values()])
    missed = 0
    for number, m in defects.items():
        seconds, said = generated(o.dir, number, o)
        missed += seconds is None
        print(f"{number} {m.area}: " + (f"found after {seconds:.0f} s by {said}" if seconds else f"NOT FOUND: {said}"), flush=True)
        if not o.no_tests:
            killers = [name for name in m.tests.split("|") if run.ctest(o.dir, [name], number)[0] != 0]
            print(f"     tests that fail: {', '.join(killers) or 'NONE'}", flush=True)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
