#!/usr/bin/env python3
"""Puts every mutation of mutations.py behind a switch, in one build of a copy of the sources, and runs for each of them the
tests that must notice. README.md says how and what came of it.

usage: run.py [--dir DIR] [--check] [--no-build] [--jobs N] [NUMBER or AREA ...]
"""
import argparse
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from mutations import MUTATIONS

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
TARGETS = {"math_test", "single_updates_test", "over_temperatures_test", "adaptive_test", "minibatches_test", "residual_test",
           "native_special_functions", "native_lowering", "test_runtime_rng", "embedding_steps_test"}


def sources():
    """Path -> text of everything that is part of the project."""
    listed = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True)
    return [p for p in listed.stdout.decode().split("\0") if p and os.path.exists(os.path.join(ROOT, p))]


def pattern(snippet):
    return r"\s*".join(re.escape(token) for token in re.findall(r"\w+|[^\w\s]", snippet))


def locate(texts):
    """File -> (begin, end, replacement), and what is wrong with the table."""
    places, wrong = {}, []
    for number, m in enumerate(MUTATIONS, 1):
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


def copy(tree):
    paths = sources()
    code = {}
    for p in paths:
        if p.startswith(("compiler/", "runtime/")) and p.endswith((".cpp", ".h")):
            with open(os.path.join(ROOT, p)) as f:
                code[p] = f.read()
    places, wrong = locate(code)
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


def build(tree, jobs):
    launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache", "-DCMAKE_C_COMPILER_LAUNCHER=ccache"] if os.environ.get("CCACHE_DIR") else []
    subprocess.run(["cmake", "--preset", "release", "-DLEHR_WERROR=OFF", *launcher], cwd=tree, check=True,
                   stdout=subprocess.DEVNULL)
    wanted = {name for m in MUTATIONS for name in m.tests.split("|")} & TARGETS
    subprocess.run(["nice", "cmake", "--build", "build", f"-j{jobs}", "--target", "lehr", *sorted(wanted)], cwd=tree, check=True)


def run_tests(tree, tests, number):
    """None when they all pass, otherwise the one that failed. Only a run of some test counts."""
    environment = dict(os.environ, LEHR_MUTATION=str(number), OPENBLAS_NUM_THREADS="1")
    done = subprocess.run(["nice", "ctest", "--test-dir", "build", "-R", f"^({tests})$", "--stop-on-failure", "--timeout", "600"],
                          cwd=tree, env=environment, capture_output=True, text=True)
    failed = re.search(r"\d+ - (\S+) \((.*)\)", done.stdout)
    if "No tests were found" in done.stdout + done.stderr:
        raise SystemExit(f"no test matches {tests}")
    return f"{failed[1]}" if failed else None if done.returncode == 0 else "?"


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--dir", default=os.path.join(ROOT, "build-mutation"))
    arguments.add_argument("--check", action="store_true", help="only look whether every snippet is found once")
    arguments.add_argument("--no-build", action="store_true")
    arguments.add_argument("--jobs", type=int, default=2)
    arguments.add_argument("which", nargs="*")
    o = arguments.parse_args()
    chosen = [(k, m) for k, m in enumerate(MUTATIONS, 1) if not o.which or str(k) in o.which or m.area in o.which]
    if o.check:
        copy(None)
        print(f"{len(MUTATIONS)} mutations, each found once")
        return
    if not o.no_build:
        copy(o.dir)
        build(o.dir, o.jobs)
    needed = sorted({name for _, m in chosen for name in m.tests.split("|")})
    if failed := run_tests(o.dir, "|".join(needed), 0):
        sys.exit(f"without a mutation {failed} fails")
    with ThreadPoolExecutor(o.jobs) as pool:
        killers = list(pool.map(lambda x: run_tests(o.dir, x[1].tests, x[0]), chosen))
    survived, explained = 0, 0
    for (number, m), killer in zip(chosen, killers):
        if killer is None and m.equivalent:
            explained += 1
        elif killer is None:
            survived += 1
        print(f"{number:4} {m.area}: {'killed by ' + killer if killer else 'SURVIVED'}" +
              ("" if killer else f" ({m.equivalent or m.snippet})"), flush=True)
    print(f"{len(chosen)} mutations: {len(chosen) - survived - explained} killed, {explained} cannot be noticed, {survived} survived")
    sys.exit(1 if survived else 0)


if __name__ == "__main__":
    main()
