#!/usr/bin/env python3
"""What is written, whatever happens to it: full disks, closed streams, planted links, runs that were killed between two files,
starts that fail.

Usage: outputs_test.py LEHR, from the root of the repository.
"""
import csv
import json
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import zlib

LEHR = os.path.abspath(sys.argv[1])
COIN = ["fit", "models/coin.lehr", "--data", "models/data/coin.csv"]


def lehr(*arguments, code=0, **options):
    done = subprocess.run([LEHR, *arguments], capture_output=not options, timeout=300, **options)
    assert done.returncode == code, f"{done.args}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def shell(command, code=0):
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=300, env={**os.environ, "LEHR": LEHR})
    assert done.returncode == code, f"{command}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def streams(d):
    """A fit is not lost with its audience; what was asked for and cannot be printed is an error."""
    coin = "fit models/coin.lehr --data models/data/coin.csv --out"
    shell(f'"$LEHR" {coin} {d}/a --restarts 2 2>/dev/full')
    assert json.load(open(f"{d}/a/fit.json"))["status"] == "converged"
    for command in ["derive models/coin.lehr", "emit models/coin.lehr --as density", f"show {d}/a", "families", "--help", "--version"]:
        assert "cannot write" in shell(f'"$LEHR" {command} >/dev/full', code=1).stderr, command
        shell(f'"$LEHR" {command} >&-', code=1)
    shell(f'"$LEHR" {coin} {d}/b >/dev/full', code=1)
    assert os.path.exists(f"{d}/b/fit.json")
    for closed in ["2>&-", ">&- 2>&-", "<&- 2>&-"]:
        shutil.rmtree(f"{d}/b")
        shell(f'"$LEHR" {coin} {d}/b --restarts 2 {closed}', code=1 if closed.startswith(">") else 0)
        lines = open(f"{d}/b/trace.csv").read().splitlines()
        assert lines[0].startswith("iteration,") and all(line[0].isdigit() for line in lines[1:]), lines
        json.load(open(f"{d}/b/fit.json"))
    shell(f'"$LEHR" {coin} {d}/c --restarts 3 2> >(exec true); test -e {d}/c/fit.json')


def one_set(d):
    """fit.json knows the files that it belongs to."""
    data = ["fit", "models/gmm.lehr", "--data", "x=models/data/faithful.csv:eruptions,waiting", "--set", "K=2", "--quiet"]
    lehr(*data, "--out", f"{d}/old", "--seed", "1", "--max-iter", "3")
    lehr(*data, "--out", f"{d}/new", "--seed", "2", "--max-iter", "4")
    shutil.copytree(f"{d}/old", f"{d}/mixed")
    shutil.copy(f"{d}/new/posterior.npz", f"{d}/mixed/posterior.npz")  # killed before fit.json
    for command in ["show", "score"]:
        test = data[2:4] if command == "score" else []
        error = lehr(command, f"{d}/mixed", *test, code=4).stderr.decode()
        assert "not of one fit" in error, error
        lehr(command, f"{d}/old", *test)
    shutil.copytree(f"{d}/old", f"{d}/begun")
    shutil.copy(f"{d}/new/trace.csv", f"{d}/begun/trace.csv")  # the next fit has begun
    done = lehr("show", f"{d}/begun")
    assert b"trace.csv is of another fit" in done.stderr and b"sweep by sweep" not in done.stdout
    assert b"sweep by sweep" in lehr("show", f"{d}/old").stdout
    for text in ("{", "[1]", ""):  # what is no diagnosis is none
        with open(f"{d}/old/diagnosis.json", "w") as f:
            f.write(text)
        lehr("report", f"{d}/old")
    shutil.copytree(f"{d}/old", f"{d}/unread")
    os.remove(f"{d}/unread/trace.csv")
    lehr("show", f"{d}/unread")
    os.mkdir(f"{d}/unread/trace.csv")
    assert b"trace.csv: error: cannot read" in lehr("show", f"{d}/unread", code=4).stderr
    fit = json.load(open(f"{d}/old/fit.json"))
    del fit["files"]  # of an earlier version
    json.dump(fit, open(f"{d}/mixed/fit.json", "w"))
    lehr("show", f"{d}/mixed")


def killed(d):
    """A run that is killed leaves a directory that the next one can use, and what it left half written is removed."""
    command = [LEHR, "fit", "models/lda.lehr", "--data", "w=models/data/kos.ldac.gz", "--set", "K=20", "--out", f"{d}/fit"]
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not os.path.exists(f"{d}/fit/trace.csv") and run.poll() is None:
        time.sleep(0.05)
    run.send_signal(signal.SIGKILL)
    run.wait()
    left = f"{d}/fit/.{zlib.crc32(b'fit.json'):08x}-0123456789abcdef.unfinished"
    other = f"{d}/fit/fit.json.unfinished"
    for path in [left, other]:
        open(path, "w").write("half")
    lehr("show", f"{d}/fit", code=4)
    lehr(*COIN, "--out", f"{d}/fit", "--quiet")
    assert sorted(os.listdir(f"{d}/fit")) == ["fit.json", "fit.json.unfinished", "posterior.npz", "trace.csv"]


def links(d):
    """Names beside a file cannot be foreseen, modes and links of outputs are kept."""
    victim = f"{d}/victim"
    open(victim, "w").write("precious")
    shutil.copy("tests/cli/data/unformatted.lehr", f"{d}/m.lehr")
    os.chmod(f"{d}/m.lehr", 0o640)
    os.symlink(victim, f"{d}/m.lehr.tmp")
    lehr("format", f"{d}/m.lehr")
    assert open(victim).read() == "precious" and os.path.islink(f"{d}/m.lehr.tmp")
    assert stat.S_IMODE(os.stat(f"{d}/m.lehr").st_mode) == 0o640
    shutil.copy("tests/cli/data/unformatted.lehr", f"{d}/real.lehr")
    os.symlink("real.lehr", f"{d}/link.lehr")
    lehr("format", f"{d}/link.lehr")
    assert os.path.islink(f"{d}/link.lehr") and open(f"{d}/real.lehr").read() == open(f"{d}/m.lehr").read()

    os.symlink(victim, f"{d}/coin.so.o.tmp")
    lehr("build", "models/coin.lehr", "-o", f"{d}/coin", "--shared")
    assert open(victim).read() == "precious" and os.path.islink(f"{d}/coin.so.o.tmp")
    assert open(f"{d}/coin.so", "rb").read(4) == b"\x7fELF" and os.stat(f"{d}/coin.so").st_mode & 0o111
    fresh = {"coin.h", "coin.hpp", "coin.so", "coin.so.o.tmp", "link.lehr", "m.lehr", "m.lehr.tmp", "real.lehr", "victim"}
    assert set(os.listdir(d)) == fresh, os.listdir(d)


def planted(d):
    """In a directory that is named, files are written that the program names: nothing that was put in their place is followed,
    or waited for."""
    victim = f"{d}/victim"
    with open(victim, "w") as f:
        f.write("precious")
    commands = {"fit": (["fit.json", "posterior.npz", "trace.csv"], lambda out: [*COIN, "--out", out]),
                "chains": (["fit.json", "draws.nc", "summary.csv", "trace.csv"],
                           lambda out: [*COIN, "--method", "gibbs", "--draws", "20", "--out", out]),
                "diagnosis.json": (["diagnosis.json"], lambda out: ["diagnose", out, "--data", COIN[-1], "--draws", "100"]),
                "report.html": (["report.html"], lambda out: ["report", out]), "drawn.nc": (["drawn.nc"], lambda out: ["draws", out]),
                "score.json": (["score.json"], lambda out: ["score", out, "--data", COIN[-1]]),
                "predicted.csv": (["predicted.csv"], lambda out: ["predict", out, "--sizes", "throw=1"])}
    plants = {"link": lambda path: os.symlink(victim, path), "dangling": lambda path: os.symlink(f"{d}/nowhere", path), "pipe": os.mkfifo}
    for command, (names, words) in commands.items():
        for kind, plant in plants.items():
            out = f"{d}/{command}-{kind}"
            if len(names) == 1:
                lehr(*COIN, "--out", out, "--quiet")
            os.makedirs(out, exist_ok=True)
            for name in names:
                plant(f"{out}/{name}")
            lehr(*words(out))
            for name in names:
                assert stat.S_ISREG(os.lstat(f"{out}/{name}").st_mode), (command, kind, name)
            assert open(victim).read() == "precious" and not os.path.exists(f"{d}/nowhere"), (command, kind)


def many_at_once(d):
    """Fits into one directory do not disturb each other; the set of one of them is there at the end."""
    running = [subprocess.Popen([LEHR, *COIN, "--quiet", "--seed", str(k), "--out", f"{d}/one"], stderr=subprocess.PIPE, text=True)
               for k in range(40)]
    said = [(p.communicate()[1], p.returncode) for p in running]
    assert all(code == 0 for _, code in said), said
    lehr("show", f"{d}/one")
    assert not [name for name in os.listdir(f"{d}/one") if name.startswith(".")], os.listdir(f"{d}/one")


def formulas(d):
    """Names that a spreadsheet would work out are text in tables."""
    names = ["=1+1", "@SUM(A1)", "+x", "-y", "-1.5", "+2", "plain", '=HYPERLINK("a")']
    with open(f"{d}/m.lehr", "w") as f:
        f.write("model m { plate n; plate k; p ~ Dirichlet(concentration = 1) over k; observe x[n] ~ Categorical(p); }")
    with open(f"{d}/x.csv", "w", newline="") as f:
        csv.writer(f).writerows([["x"]] + [[name] for name in names])
    lehr("fit", f"{d}/m.lehr", "--data", f"{d}/x.csv", "--out", f"{d}/o", "--quiet")
    lehr("predict", f"{d}/o", "--sizes", "n=1", "--out", f"{d}/p.csv")
    shown = subprocess.run([LEHR, "show", f"{d}/o", "--format", "csv"], capture_output=True, text=True).stdout
    with open(f"{d}/p.csv") as f:
        predicted = f.read()
    for text in (shown, predicted):
        fields = {field for row in csv.reader(text.splitlines()) for field in row}
        assert {"'" + name for name in names if name not in ("-1.5", "+2", "plain")} <= fields, fields
        assert {"-1.5", "+2", "plain"} <= fields, fields


def no_room(d):
    """A limit on the size of files stands for a full disk: the error names the file, and no half of it remains."""
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    out = f"{d}/fit"
    kos = ["fit", "models/lda.lehr", "--data", "w=models/data/kos.ldac.gz", "--set", "K=2", "--max-iter", "1", "--quiet"]
    done = subprocess.run([LEHR, *kos, "--out", out], capture_output=True, text=True, preexec_fn=limit, timeout=300)
    assert done.returncode == 1 and "posterior.npz: error: cannot write" in done.stderr, (done.returncode, done.stderr)
    assert os.listdir(out) == ["trace.csv"], os.listdir(out)
    done = subprocess.run([LEHR, "simulate", "models/coin.lehr", "--sizes", "throw=100000", "--out", f"{d}/x.npz"], capture_output=True,
                          text=True, preexec_fn=limit, timeout=300)
    assert done.returncode == 1 and "cannot write" in done.stderr and os.listdir(d) == ["fit"], (done.returncode, done.stderr, os.listdir(d))
    done = subprocess.run([LEHR, "simulate", "models/coin.lehr", "--sizes", "throw=10", "--out", "/dev/full/x.npz"], capture_output=True)
    assert done.returncode == 2
    os.makedirs(f"{d}/blocked/posterior.npz")
    begin = ["fit", "models/coin.lehr", "--data", "models/data/nothing.csv"]  # said before the data are read
    assert b"it is a directory" in lehr(*begin, "--out", f"{d}/blocked", code=2).stderr
    assert os.listdir(f"{d}/blocked") == ["posterior.npz"]
    open(f"{d}/file", "w").write("")
    lehr(*COIN, "--out", f"{d}/file", code=2)
    longest = "n" * 251 + ".npz"  # as long as a name may be
    lehr("simulate", "models/coin.lehr", "--sizes", "throw=10", "--out", f"{d}/{longest}")
    os.mkdir(f"{d}/x.npz")
    lehr("simulate", "models/coin.lehr", "--sizes", "throw=10", "--out", f"{d}/x.npz", code=2)


def restarts(d):
    """Restarts that fail are passed over, before and after one that does not; a start that fails becomes one of another kind."""
    with open(f"{d}/m.lehr", "w") as file:
        file.write("model m { plate n; plate k = 2; pi ~ Dirichlet(concentration = 1) over k; t[k] ~ Jeffreys(); "
                   "z[n] ~ Categorical(pi); observe x[n] ~ Poisson(t[z[n]]); }")
    with open(f"{d}/x.json", "w") as file:
        json.dump({"x": [0] * 8 + [9, 5, 4, 7, 30, 35, 28, 36]}, file)
    seen, replaced = set(), 0
    for seed in range(1, 30):
        out = f"{d}/{seed}"
        done = subprocess.run([LEHR, "fit", f"{d}/m.lehr", "--data", f"{d}/x.json", "--out", out, "--restarts", "3", "--seed", str(seed)],
                              capture_output=True, text=True, timeout=300)
        fit = json.load(open(f"{out}/fit.json"))
        failed = [r["status"] == "numerical_failure" for r in fit["restarts"]]
        replaced += "no start from seeds: the posterior of 't'" in done.stderr
        assert done.returncode == (5 if all(failed) else 0), (done.returncode, failed, done.stderr)
        if all(failed):
            continue
        assert fit["elbo"] == max(r["elbo"] for r, lost in zip(fit["restarts"], failed) if not lost)
        lehr("show", out)
        if any(failed):
            seen.add("first" if failed[0] else "later")
        if len(seen) == 2 and replaced:
            return
    raise AssertionError(f"starts failed {seen} of a success")


def held_out(d):
    """Test data that cannot be scored do not lose the fit."""
    for name, entry in [("train", 0), ("test", 2)]:  # a matrix with a negative eigenvalue
        with open(f"{d}/{name}.json", "w") as file:
            json.dump({"S": [[1, entry], [entry, 1]], "x": [[0.5, 1], [2, -1], [0, 0.25]]}, file)
    done = lehr("fit", "tests/cli/data/matrix.lehr", "--data", f"{d}/train.json", "--test", f"{d}/test.json", "--out", f"{d}/fit")
    assert b"no held-out score" in done.stderr, done.stderr
    fit = json.load(open(f"{d}/fit/fit.json"))
    assert fit["status"] == "converged" and "held_out" not in fit
    lehr("show", f"{d}/fit")


def profile(d):
    """The steps of the schedule, how often each was made, and the numbers of the fit without."""
    words = ["fit", "models/lda.lehr", "--data", "w=models/data/kos.ldac.gz", "--max-iter", "3", "--out"]
    plain, timed = lehr(*words, f"{d}/plain"), lehr(*words, f"{d}/timed", "--profile")
    assert open(f"{d}/plain/posterior.npz", "rb").read() == open(f"{d}/timed/posterior.npz", "rb").read()
    rows = json.load(open(f"{d}/timed/fit.json"))["profile"]
    assert [(r["step"], r["calls"]) for r in rows] == [("z, theta", 3), ("beta", 4), ("ELBO", 3), ("starts and data", 1)], rows
    assert abs(sum(r["share"] for r in rows) - 1) < 1e-9 and all(r["seconds"] > 0 for r in rows), rows
    assert rows[0]["share"] > 0.5, rows  # 353,160 tokens, and 6906 terms
    assert [line.split("  ")[0] for line in timed.stdout.decode().splitlines()[:3]] == ["step", "z, theta", "beta"], timed.stdout
    assert b"us a call" not in plain.stdout and "profile" not in json.load(open(f"{d}/plain/fit.json"))
    words = ["fit", "models/coin.lehr", "--data", "models/data/coin.csv", "--interpret", "--profile", "--max-iter"]
    done = [lehr(*words, n, "--out", f"{d}/work{n}") for n in "12"]
    one, two = ({r["step"]: r for r in json.load(open(f"{d}/work{n}/fit.json"))["profile"]} for n in "12")
    assert "seconds" not in one["p"] and [r["calls"] for r in (one["p"], two["p"])] == [1, 2], (one, two)
    for what in ("operations", "functions", "bytes"):
        assert 0 < one["ELBO"][what] and two["ELBO"][what] == 2 * one["ELBO"][what], (what, one, two)
        assert two["starts and data"][what] == one["starts and data"][what], (what, one, two)
    assert done[0].stdout.decode().splitlines()[0].split() == ["step", "calls", *("operations", "functions", "bytes"), "share"]


with tempfile.TemporaryDirectory() as folder:
    for test in [streams, one_set, killed, links, planted, many_at_once, formulas, no_room, restarts, held_out, profile]:
        os.mkdir(f"{folder}/{test.__name__}")
        test(f"{folder}/{test.__name__}")
        print(test.__name__, "ok")
