#!/usr/bin/env python3
"""Puts every mutation of mutations.py behind a switch, in one build of a copy of the sources, and runs for each of them the
tests that must notice. Outcomes go to results.csv, from which --counts writes the table of README.md.

usage: run.py [--dir DIR] [--check] [--counts] [--chosen] [--no-build] [--jobs N] [NUMBER or AREA ...]
"""
import argparse
import csv
import hashlib
import os
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

from mutations import MUTATIONS, OLD_DEFECTS

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.dirname(os.path.abspath(__file__))
RESULTS, README = os.path.join(HERE, "results.csv"), os.path.join(HERE, "README.md")
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
           "parts_test", "loops", "passes", "passes_random", "passes_every_model", "passes_thresholds", "native_object_cache", "native_vectors",
           "native_padded_trips", "test_runtime_output", "test_golden"}


NEEDS = {"python_model": "liblehr", "cluster_mpi": "lehr_mpi"}  # what tests that are scripts need beside lehr
COLUMNS = ["mutations", "noticed", "before", "not noticed", "cannot be", "not tried"]


def digest(mutation):
    """Tells whether an entry is still the one that was tried."""
    return hashlib.sha1(f"{mutation.snippet}\n{mutation.by}".encode()).hexdigest()[:8]


def read_results():
    """Number -> (digest of the entry, noticed or survived, the test that noticed)."""
    with open(RESULTS, encoding="utf-8") as f:
        return {int(number): tuple(rest) for number, *rest in list(csv.reader(f))[1:]}


def write_results(results):
    with open(RESULTS, "w", encoding="utf-8", newline="") as f:
        rows = csv.writer(f, lineterminator="\n")
        rows.writerow(["number", "entry", "outcome", "test"])
        rows.writerows([number, *results[number]] for number in sorted(results))


def column_of(mutation, result):
    """The column of the table in README.md in which a mutation counts."""
    if mutation.equivalent:
        return "cannot be"
    if result is None:
        return "not tried"
    if result[1] == "survived":
        return "not noticed"
    return "noticed" if result[0] == digest(mutation) else "before"


def counts():
    """README.md, and what it must be: what stands between its two marks is made of results.csv."""
    results, areas, listed = read_results(), {}, []
    for number, m in enumerate(MUTATIONS, 1):
        column = column_of(m, results.get(number))
        if m.equivalent:
            listed.append(f"- {number} cannot be noticed: {m.equivalent}\n")
        elif column == "not noticed":
            listed.append(f"- {number} is not noticed: `{m.snippet}`\n")
        for area in (m.area, "all"):
            row = areas.setdefault(area, dict.fromkeys(COLUMNS, 0))
            row["mutations"] += 1
            row[column] += 1
    areas["all"] = areas.pop("all")
    table = [["area", *COLUMNS], ["---"] * (1 + len(COLUMNS)), *[[area, *map(str, row.values())] for area, row in areas.items()]]
    with open(README, encoding="utf-8") as f:
        text = f.read()
    lines = "".join(f"| {' | '.join(row)} |\n" for row in table)
    begin, end = "<!-- counts, by run.py --counts -->\n", "<!-- end of counts -->\n"
    return text, text[:text.index(begin) + len(begin)] + lines + "\n" + "".join(listed) + text[text.index(end):]


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
    names = {name for each in tests for name in each.split("|")}
    wanted = names & TARGETS | {target for name, target in NEEDS.items() if name in names}
    subprocess.run(["nice", "cmake", "--build", "build", f"-j{jobs}", "--target", "lehr", *sorted(wanted), "--", "-k0"], cwd=tree, check=True)


def ctest(tree, tests, number):
    environment = dict(os.environ, LEHR_MUTATION=str(number), LEHR_STOP_AT_FIRST="1", OPENBLAS_NUM_THREADS="1",
                       LEHR_CACHE="off")  # a mutation of the passes changes no key
    done = subprocess.run(["nice", "ctest", "--test-dir", "build", "-R", f"^({'|'.join(tests)})$", "--timeout", "600"],
                          cwd=tree, env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout


class Baseline:
    """Whether tests pass without a mutation; each is asked once, when it fails with one."""

    def __init__(self, tree):
        self.tree, self.asked, self.lock = tree, {}, threading.Lock()
        self.seconds = {}  # by test, of the runs that ctest has noted
        costs = os.path.join(tree, "build/Testing/Temporary/CTestCostData.txt")
        if os.path.exists(costs):
            with open(costs, encoding="utf-8") as f:
                self.seconds = {words[0]: float(words[2]) for words in map(str.split, f) if len(words) == 3}

    def passes(self, name):
        with self.lock:
            if name not in self.asked:
                self.asked[name] = ctest(self.tree, [name], 0)[0] == 0
            return self.asked[name]


def killer_of(baseline, mutation, number, before):
    """The first test that fails, that which failed `before` first, then the quick ones; None when they all pass."""
    for name in sorted(mutation.tests.split("|"), key=lambda name: (name != before, baseline.seconds.get(name, 10))):
        code, out = ctest(baseline.tree, [name], number)
        if "No tests were found" in out or (code != 0 and not baseline.passes(name)):
            sys.exit(f"{name} fails without a mutation, or does not exist:\n{out}")
        if code != 0:
            return name
    return None


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--dir", default=os.path.join(ROOT, "build-mutation"))
    arguments.add_argument("--check", action="store_true", help="only look whether every snippet is found once")
    arguments.add_argument("--counts", action="store_true", help="only write the table of README.md")
    arguments.add_argument("--chosen", action="store_true", help="build the chosen ones alone, and the old defects")
    arguments.add_argument("--no-build", action="store_true")
    arguments.add_argument("--jobs", type=int, default=2)
    arguments.add_argument("which", nargs="*")
    o = arguments.parse_args()
    chosen = [(k, m) for k, m in enumerate(MUTATIONS, 1) if not o.which or str(k) in o.which or m.area in o.which]
    if o.check:
        copy(None, [*enumerate(MUTATIONS, 1), *OLD_DEFECTS])
        text, wanted = counts()
        if text != wanted:
            sys.exit("the table of tests/mutation/README.md is out of date: tests/mutation/run.py --counts writes it")
        print(f"{len(MUTATIONS)} mutations, each found once")
        return
    if o.counts:
        wanted = counts()[1]
        with open(README, "w", encoding="utf-8") as f:
            f.write(wanted)
        return
    if not o.no_build:
        copy(o.dir, [*(chosen if o.chosen else enumerate(MUTATIONS, 1)), *OLD_DEFECTS])
        build(o.dir, o.jobs, [m.tests for _, m in (chosen if o.chosen else enumerate(MUTATIONS, 1))])
    survived, explained, results, baseline = 0, 0, read_results(), Baseline(o.dir)
    before = {number: result[2] for number, result in results.items()}
    with ThreadPoolExecutor(o.jobs) as pool:
        for (number, m), killer in zip(chosen, pool.map(lambda x: killer_of(baseline, x[1], x[0], before.get(x[0])), chosen)):
            explained += killer is None and bool(m.equivalent)
            survived += killer is None and not m.equivalent
            results[number] = (digest(m), "noticed" if killer else "survived", killer or "")
            write_results(results)
            print(f"{number:4} {m.area}: " + (f"killed by {killer}" if killer else f"SURVIVED ({m.equivalent or m.snippet})"),
                  flush=True)
    print(f"{len(chosen)} mutations: {len(chosen) - survived - explained} killed, {explained} cannot be noticed, {survived} survived")
    sys.exit(1 if survived else 0)


if __name__ == "__main__":
    main()
