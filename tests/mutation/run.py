#!/usr/bin/env python3
"""Puts every mutation of mutations.py behind a switch, in one build of a copy of the sources, and runs for each of them the
tests that must notice. README.md says how and what came of it.

usage: run.py [--dir DIR] [--check] [--chosen] [--no-build] [--jobs N] [NUMBER or AREA ...]
"""
import argparse
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from mutations import MUTATIONS, OLD_DEFECTS

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HEADER = """// Which mutation is at work: the number in the environment. The driver of built objects has no variables of its own.
#pragma once
extern "C" char* getenv(const char*) noexcept;
inline int lehr_mutation_number() {
  int n = 0;
  if (const char* s = getenv("LEHR_MUTATION"))
    for (; *s; ++s) n = 10 * n + (*s - '0');
  return n;
}
#ifdef __clang__
inline bool lehr_mutation(int k) { return lehr_mutation_number() == k; }
#else
inline const int kLehrMutation = lehr_mutation_number();
inline bool lehr_mutation(int k) { return kLehrMutation == k; }
#endif
"""
TARGETS = {"math_test", "single_updates_test", "over_temperatures_test", "adaptive_test", "minibatches_test", "residual_test", "pairs_test",
           "native_special_functions", "native_lowering", "native_shares", "test_runtime_random", "test_runtime_rng", "embedding_steps_test",
           "parts_test", "loops", "passes", "passes_every_model", "passes_thresholds", "native_object_cache", "test_golden"}


def sources():
    """Path -> text of everything that is part of the project."""
    listed = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True)
    return [p for p in listed.stdout.decode().split("\0") if p and os.path.exists(os.path.join(ROOT, p))]


def pattern(snippet):
    return r"\s*".join(re.escape(token) for token in re.findall(r"\w+|[^\w\s]", snippet))


def locate(texts, numbered):
    """File -> (begin, end, replacement), and what is wrong with the table."""
    places, wrong = {}, []
    for number, m in numbered:
        before, part, after = re.fullmatch(r"(?s)(.*)«(.*)»(.*)", m.snippet).groups()
        wanted = re.compile(f"{pattern(before)}\\s*(?P<part>{pattern(part)})\\s*{pattern(after)}")
        found = [(path, hit) for path, text in texts.items() for hit in wanted.finditer(text)]
        if len(found) != 1:
            wrong.append(f"{number} ({m.area}): {len(found)} places for {m.snippet}")
            continue
        path, hit = found[0]
        switch = f"lehr_mutation({number})"
        by = m.by.replace("SWITCH", switch) if "SWITCH" in m.by else f"({switch} ? ({m.by}) : ({hit['part']}))"
        places.setdefault(path, []).append((hit.start("part"), hit.end("part"), by, number))
    for path, all_of_them in places.items():
        all_of_them.sort()
        for a, b in zip(all_of_them, all_of_them[1:]):
            if b[0] < a[1]:
                wrong.append(f"{a[3]} and {b[3]} overlap in {path}")
    return places, wrong


def write(path, text):
    """Leaves alone what is already there, so that only what changed is built again."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path):
        with open(path, "rb") as f:
            if f.read() == text:
                return
    with open(path, "wb") as f:
        f.write(text)


def copy(tree, numbered):
    """`numbered`: the mutations to put in, each with its number; several may share one."""
    paths = sources()
    code = {}
    for p in paths:
        if p.startswith(("compiler/", "runtime/")) and p.endswith((".cpp", ".h")):
            with open(os.path.join(ROOT, p)) as f:
                code[p] = f.read()
    places, wrong = locate(code, numbered)
    if wrong:
        sys.exit("\n".join(wrong))
    if tree is None:
        return
    for p in paths:
        with open(os.path.join(ROOT, p), "rb") as f:
            text = f.read()
        if p in places:
            text = code[p]
            for begin, end, by, _ in reversed(places[p]):
                text = text[:begin] + by + text[end:]
            first = text.index("#pragma once\n") + len("#pragma once\n") if p.endswith(".h") else 0
            text = (text[:first] + '#include "lehr_mutation.h"\n' + text[first:]).encode()
        write(os.path.join(tree, p), text)
        os.chmod(os.path.join(tree, p), os.stat(os.path.join(ROOT, p)).st_mode)
    write(os.path.join(tree, "lehr_mutation.h"), HEADER.encode())


def build(tree, jobs, tests):
    launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache", "-DCMAKE_C_COMPILER_LAUNCHER=ccache",
                "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON"] if os.environ.get("CCACHE_DIR") else []
    subprocess.run(["cmake", "--preset", "release", "-DLEHR_WERROR=OFF", *launcher], cwd=tree, check=True,
                   stdout=subprocess.DEVNULL)
    wanted = {name for each in tests for name in each.split("|")} & TARGETS
    subprocess.run(["nice", "cmake", "--build", "build", f"-j{jobs}", "--target", "lehr", *sorted(wanted), "--", "-k0"], cwd=tree, check=True)


def ctest(tree, tests, number, *more):
    environment = dict(os.environ, LEHR_MUTATION=str(number), LEHR_STOP_AT_FIRST="1", OPENBLAS_NUM_THREADS="1",
                       LEHR_CACHE="off")  # a mutation of the passes changes no key
    done = subprocess.run(["nice", "ctest", "--test-dir", "build", "-R", f"^({'|'.join(tests)})$", "--timeout", "600", *more],
                          cwd=tree, env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout


def durations(tree, tests, jobs):
    """Seconds by test, all of which must be there and pass without a mutation."""
    code, out = ctest(tree, tests, 0, f"-j{jobs}")
    seconds = {name: float(t) for name, t in re.findall(r"Test +#\d+: (\S+) \.+ +Passed +([\d.]+) sec", out)}
    if code != 0 or set(tests) - set(seconds):
        sys.exit(f"without a mutation these fail, or do not exist: {', '.join(sorted(set(tests) - set(seconds)))}\n{out}")
    return seconds


def killer_of(tree, mutation, number, seconds):
    """The first test that fails, the quick ones first; None when they all pass."""
    for name in sorted(mutation.tests.split("|"), key=seconds.get):
        if ctest(tree, [name], number)[0] != 0:
            return name
    return None


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--dir", default=os.path.join(ROOT, "build-mutation"))
    arguments.add_argument("--check", action="store_true", help="only look whether every snippet is found once")
    arguments.add_argument("--chosen", action="store_true", help="build the chosen ones alone, and the old defects")
    arguments.add_argument("--no-build", action="store_true")
    arguments.add_argument("--jobs", type=int, default=2)
    arguments.add_argument("which", nargs="*")
    o = arguments.parse_args()
    chosen = [(k, m) for k, m in enumerate(MUTATIONS, 1) if not o.which or str(k) in o.which or m.area in o.which]
    if o.check:
        copy(None, [*enumerate(MUTATIONS, 1), *OLD_DEFECTS])
        print(f"{len(MUTATIONS)} mutations, each found once")
        return
    if not o.no_build:
        copy(o.dir, [*(chosen if o.chosen else enumerate(MUTATIONS, 1)), *OLD_DEFECTS])
        build(o.dir, o.jobs, [m.tests for _, m in (chosen if o.chosen else enumerate(MUTATIONS, 1))])
    seconds = durations(o.dir, sorted({name for _, m in chosen for name in m.tests.split("|")}), o.jobs)
    survived, explained = 0, 0
    with ThreadPoolExecutor(o.jobs) as pool:
        for (number, m), killer in zip(chosen, pool.map(lambda x: killer_of(o.dir, x[1], x[0], seconds), chosen)):
            explained += killer is None and bool(m.equivalent)
            survived += killer is None and not m.equivalent
            print(f"{number:4} {m.area}: " + (f"killed by {killer}" if killer else f"SURVIVED ({m.equivalent or m.snippet})"),
                  flush=True)
    print(f"{len(chosen)} mutations: {len(chosen) - survived - explained} killed, {explained} cannot be noticed, {survived} survived")
    sys.exit(1 if survived else 0)


if __name__ == "__main__":
    main()
