#!/usr/bin/env python3
"""Faults of the system while commands work: memory that is not there, full disks, files that cannot be opened or read, threads and
processes that are not to be had, short reads and writes, clocks that jump, signals at random moments, many runs at once.

usage: faults_test.py LEHR FAULTS [--short | --all [--every K]] [--kills N] [--only WORD], from the root of the repository

FAULTS is the library of faults.cpp. After every fault: the exit code is a documented one; a failure says one thing; every file is as
it was, or as an undisturbed run writes it; nothing half remains; and the command done once more gives what an undisturbed run gives.
--all: every call fails once, instead of some of them. --short: one call of each kind in each command, as in ctest. --kills: so many
signals of each kind for each command.
"""
import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

import netCDF4

sys.path.append(f"{sys.path[0]}/../helpers")
from lehr_tests import bits, read, run, started, temporary  # noqa: E402

R = random.Random(11)
COIN = ["models/distributions/coin.lehr", "--data", "models/data/distributions/coin.csv"]
GMM = ["models/mixtures/gmm.lehr", "--data", "x=models/data/mixtures/faithful.csv:eruptions,waiting", "--set", "K=3", "--search", "none", "--tol", "0"]
GIBBS = [*COIN, "--method", "gibbs", "--chains", "2", "--warmup", "20", "--draws", "50"]
# What is made once, and what each command does with a copy of it, @ in the place of its folder. Of a fit that is interrupted
# there is a checkpoint.
MADE = [["fit", *COIN, "--out", "@/fit", "--quiet"], ["update", "@/fit", "--data", COIN[-1], "--out", "@/next", "--quiet"],
        ["fit", *GIBBS, "--out", "@/chains", "--quiet"]]
COMMANDS = {
    "fit": ["fit", *COIN, "--out", "@/new", "--threads", "2"],
    "refit": ["fit", *GMM, "--max-iter", "40", "--out", "@/fit", "--checkpoint-every", "3"],
    "gibbs": ["fit", *GIBBS, "--out", "@/fit"],
    "resume": ["fit", *GMM, "--max-iter", "40", "--out", "@/begun", "--resume", "@/begun"],
    "update": ["update", "@/fit", "--data", COIN[-1], "--forget", "0.5", "--out", "@/next"],
    "threads": ["fit", "models/topics/lda.lehr", "--data", "w=models/data/topics/kos.ldac.gz", "--set", "K=3", "--max-iter", "2", "--threads", "2",
                "--out", "@/new"],
    "report": ["report", "@/fit"],
    "predict": ["predict", "@/fit", "--sizes", "throw=3"],
    "draws": ["draws", "@/fit", "--draws", "20"],
    "score": ["score", "@/fit", "--data", COIN[-1]],
    "diagnose": ["diagnose", "@/fit", "--data", COIN[-1], "--draws", "100"],
    "show": ["show", "@/fit"],
    "simulate": ["simulate", COIN[0], "--sizes", "throw=9", "--out", "@/drawn.npz"],
    "build": ["build", COIN[0], "-o", "@/coin"],
    "derive": ["derive", COIN[0]],
    "hdf5": ["fit", COIN[0], "--data", "x=@/coin.h5:x", "--out", "@/new"],
    "netcdf": ["show", "@/chains", "--format", "csv"],
}
# NetCDF's library, and those that it loads (libcurl, GnuTLS), crash where memory is refused to them: what is then left is judged
# all the same.
IN_NETCDF = ["gibbs", "draws", "netcdf"]
KINDS = ["memory", "disk", "access", "rename", "thread", "process", "map"]
KILLED = ["fit", "refit", "resume", "update", "report", "predict", "draws"]
SIGNALS = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT]


class Trial:
    """A command in a copy of what was made."""

    def __init__(self, o, made, name, cold=False):
        self.lehr, self.library, self.name, self.folder = o.lehr, o.faults, name, f"{made}-trial"
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(made, self.folder)
        if cold:
            shutil.rmtree(f"{self.folder}/cache")
        self.before = contents(self.folder)

    def command(self):
        return [self.lehr, *[word.replace("@", self.folder) for word in COMMANDS[self.name]]]

    def environment(self, **more):
        return {**os.environ, "LEHR_CACHE": f"{self.folder}/cache", **more}

    def run(self, fault=None, count=None):
        more = {"LD_PRELOAD": self.library, "LEHR_FAULT": fault} if fault else {}
        if count:
            more["LEHR_FAULT_COUNT"] = count
        return run(*self.command(), code=None, errors="replace", env=self.environment(**more), timeout=120)


def content(path):
    """All of a file but times, and the place where it is."""
    raw = read(path, "rb")
    if path.endswith(".npz"):
        return bits(path)
    if path.endswith("fit.json"):
        return {k: v for k, v in json.loads(raw).items() if k not in ("command", "seconds", "files", "search", "prior")}
    if path.endswith("trace.csv"):
        assert raw.endswith(b"\n"), "half a row"
        return [(row.split(b",")[0], row.split(b",")[2:]) for row in raw.splitlines()]
    if path.endswith(".json"):
        return re.sub(rb'"(command|seconds|directory)": [^\n]*', b"", raw)
    if path.endswith(".html"):
        return re.sub(rb"[0-9.e-]+ (m|\xc2\xb5)?s\b|--out \S+|/\S*trial\S*", b"", raw)
    return raw


def contents(folder):
    out = {}
    for at, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(at, name)
            if "/cache" not in at and not name.startswith("checkpoint") and not name.endswith(".unfinished"):
                out[os.path.relpath(path, folder)] = content(path)
    return out


def unfinished(folder):
    return [os.path.join(at, n) for at, _, names in os.walk(folder) for n in names
            if n.endswith(".unfinished") or ("/cache" in at and not n.endswith(".code"))]


def is_old_fit(folder, state, before):
    """What `lehr show` reads is the old fit; files of a sampler beside it have other seals, which who reads them says."""
    return all(state.get(k) == before.get(k) for k in (f"{folder}/fit.json", f"{folder}/posterior.npz"))


def together(trial, state, whole, between, what):
    """The files of one directory of a fit are of one state; the trace, which grows while a fit runs, may be further. A run that
    ended `between` two of them leaves a directory that says so."""
    for folder in {os.path.dirname(k) for k in whole if k.endswith("fit.json")}:
        names = [k for k in {*whole, *trial.before} if os.path.dirname(k) == folder and not k.endswith("trace.csv")]
        is_old = all(state.get(k) == trial.before.get(k) for k in names)
        is_new = all(state.get(k) == whole.get(k) for k in names if k in whole)
        if is_old or is_new:
            continue
        shown = run(trial.lehr, "show", os.path.join(trial.folder, folder), code=None)
        reported = shown.returncode == 4 and re.search("not of one fit|not the directory of a fit", shown.stderr)
        is_shown = shown.returncode == 0 and is_old_fit(folder, state, trial.before)
        assert between and (reported or is_shown), (what, folder, "files of two fits", shown.returncode, shown.stderr)


def check_files(trial, whole, between, what):
    state = contents(trial.folder)
    for path in {*state, *whole, *trial.before}:
        if not path.endswith("trace.csv"):
            assert state.get(path) in (trial.before.get(path), whole.get(path)), (what, path, "is neither the old file nor the new one")
    together(trial, state, whole, between, what)
    return state


def check_end(trial, whole, what):
    """The same once more, undisturbed, gives the same."""
    if trial.name == "resume" and not os.path.exists(f"{trial.folder}/begun/checkpoint.bin"):
        assert contents(trial.folder) == whole, (what, "nothing to go on from, and no end")
        return
    again = trial.run()
    assert again.returncode == 0, (what, again.returncode, again.stderr)
    state = contents(trial.folder)
    assert state == whole, (what, [k for k in {*state, *whole} if state.get(k) != whole.get(k)])
    left = unfinished(trial.folder)
    assert not [path for path in left if "/cache" not in path], (what, left)


def judge(trial, done, whole, between, what):
    said = done.stderr
    if trial.name in IN_NETCDF and "memory" in what and done.returncode == -signal.SIGSEGV:
        check_files(trial, whole, False, what)
        return
    assert 0 <= done.returncode <= 5, (what, done.returncode, said)
    assert "terminate called" not in said and "internal error" not in said, (what, said)
    wrong = [line for line in said.splitlines() if re.search(r"\berror: |cannot (read|write)", line)]
    assert len(wrong) == (done.returncode != 0), (what, done.returncode, said)
    assert not unfinished(trial.folder), (what, unfinished(trial.folder))
    state = check_files(trial, whole, between, what)
    if done.returncode == 0:
        assert state == whole, (what, "done, but not all of it", [k for k in {*state, *whole} if state.get(k) != whole.get(k)])


def places(count, o):
    """Which of so many calls fail, alone (""), or with all later ones ("+")."""
    if o.short:
        return [(R.randrange(1, count + 1), R.choice(["", "+"]))] if count else []
    if o.all:
        some = range(1, count + 1, o.every)
    else:
        few = set(range(1, min(count, 3) + 1)) | {count - k for k in range(2) if count > k}
        some = sorted(few | {R.randrange(1, count + 1) for _ in range(o.some if count else 0)})
    return [(n, more) for n in some for more in ("", "+")]


def undisturbed(o, made, name, cold=False):
    """The files that an undisturbed run leaves."""
    if (name, cold) not in o.undisturbed:
        trial = Trial(o, made, name, cold)
        done = trial.run()
        assert done.returncode == 0, (name, done.stderr)
        o.undisturbed[name, cold] = contents(trial.folder)
    return o.undisturbed[name, cold]


def counted(o, made, name, cold):
    """How many calls of each kind an undisturbed command makes."""
    if (name, cold) not in o.counts:
        Trial(o, made, name, cold).run("none", f"{made}-count")
        o.counts[name, cold] = {kind: int(count) for kind, count in map(str.split, read(f"{made}-count").splitlines())}
    return o.counts[name, cold]


def faults(o, made, name, kind, cold):
    """How many calls of a kind failed in a command."""
    whole = undisturbed(o, made, name, cold)
    count, tried = counted(o, made, name, cold)[kind], 0
    for n, more in places(count, o):
        what = f"{name}{' without a cache' if cold else ''}, {kind}:{n}{more}"
        try:
            trial = Trial(o, made, name, cold)
            judge(trial, trial.run(f"{kind}:{n}{more}"), whole, kind == "rename", what)
            if o.short or n % 7 == 1:
                check_end(trial, whole, what)
            tried += 1
        except (AssertionError, subprocess.TimeoutExpired) as e:
            o.failures.append(f"{what}: {e}")
    return tried, count


def unusual(o, made, name):
    """Faults that a command does not notice."""
    whole = undisturbed(o, made, name)
    for fault in ("short", "clock"):
        trial = Trial(o, made, name)
        done = trial.run(fault)
        try:
            assert done.returncode == 0 and contents(trial.folder) == whole, (name, fault, done.returncode, done.stderr)
        except AssertionError as e:
            o.failures.append(f"{name}, {fault}: {e}")


def kills(o, made, name, number):
    """Signals at random moments; whether the command was still running."""
    whole = undisturbed(o, made, name)
    if name not in o.seconds:
        trial, begin = Trial(o, made, name), time.time()
        trial.run()
        o.seconds[name] = time.time() - begin
    hit = 0
    for k in range(o.kills):
        trial = Trial(o, made, name)
        what = f"{name}, {signal.Signals(number).name} {k}"
        running = subprocess.Popen(trial.command(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=trial.environment())
        time.sleep(R.random() * o.seconds[name] * 1.1)
        running.send_signal(number)
        try:
            said = running.communicate(timeout=120)[1]
            hit += running.returncode != 0 or "interrupted" in said
            assert running.returncode in (0, -number), (what, running.returncode, said)
            if "interrupted" not in said:
                check_files(trial, whole, True, what)
            check_end(trial, whole, what)
        except AssertionError as e:
            o.failures.append(f"{what}: {e}")
    return hit


def at_once(o, made, count):
    """Runs into one directory, with one cache that is empty."""
    whole = undisturbed(o, made, "fit")
    trial = Trial(o, made, "fit", cold=True)
    running = [subprocess.Popen(trial.command(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=trial.environment())
               for _ in range(count)]
    said = [(p.communicate(timeout=300)[1], p.returncode) for p in running]
    assert all(code == 0 for _, code in said), said
    assert contents(trial.folder) == whole and not unfinished(trial.folder)


def make(o, folder):
    made = f"{folder}/made"
    os.makedirs(made)
    environment = {**os.environ, "LEHR_CACHE": f"{made}/cache"}
    for words in MADE:
        run(o.lehr, *[w.replace("@", made) for w in words], env=environment)
    throws = [float(line) for line in read(COIN[-1]).split()[1:]]
    with netCDF4.Dataset(f"{made}/coin.h5", "w") as f:
        f.createDimension("n", len(throws))
        f.createVariable("x", "f8", ("n",))[:] = throws
    # A fit of more sweeps than there is time for leaves the checkpoint of an earlier one.
    begun = [o.lehr, *[w.replace("@", made) for w in COMMANDS["resume"][:-2]], "--checkpoint-every", "1"]
    while True:
        shutil.rmtree(f"{made}/begun", ignore_errors=True)
        running = started(*begun, path=f"{made}/begun/checkpoint.bin", env=environment)
        running.kill()
        running.wait()
        if os.path.exists(f"{made}/begun/checkpoint.bin"):
            break
    for path in unfinished(made):
        os.remove(path)
    return made


def attempt(o, made):
    for name in [n for n in COMMANDS if o.only in ("", n)]:
        for kind in [k for k in o.kinds.split(",") if k]:
            for cold in ([False, True] if name in ("fit",) else [False]):
                tried, count = faults(o, made, name, kind, cold)
                print(f"{name}{' without a cache' if cold else ''}: {tried} faults of kind {kind}, at some of {count} calls", flush=True)
        unusual(o, made, name)
    for name in [n for n in KILLED if o.only in ("", n) and o.kills > 0]:
        for number in SIGNALS:
            print(f"{name}: {signal.Signals(number).name}: {kills(o, made, name, number)} of {o.kills} while it ran", flush=True)
    if o.only == "":
        at_once(o, made, 16)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("lehr", type=os.path.abspath)
    parser.add_argument("faults", type=os.path.abspath)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--some", type=int, default=1)
    parser.add_argument("--kills", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--kinds", default=",".join(KINDS))
    o = parser.parse_args()
    o.failures, o.undisturbed, o.counts, o.seconds = [], {}, {}, {}
    with temporary() as folder:
        made = make(o, folder)
        attempt(o, made)
    print("\n".join(o.failures))
    assert not o.failures, f"{len(o.failures)} failures"


if __name__ == "__main__":
    main()
