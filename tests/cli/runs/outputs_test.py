#!/usr/bin/env python3
"""What is written, whatever happens to it: full disks, closed streams, planted links, runs that were killed between two files,
starts that fail.

Usage: outputs_test.py LEHR, from the root of the repository.
"""
import csv
import functools
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
import zlib

sys.path.append(f"{sys.path[0]}/../../helpers")
from lehr_tests import LEHR, each, lehr, read, read_json, run, started, write, write_json  # noqa: E402

lehr = functools.partial(lehr, timeout=300)
COIN = ["fit", "models/distributions/coin.lehr", "--data", "models/data/distributions/coin.csv"]


def shell(command, code=0):
    return run("bash", "-c", command, code=code, timeout=300, env={**os.environ, "LEHR": LEHR})


def streams(d):
    """A fit is not lost with its audience; what was asked for and cannot be printed is an error."""
    coin = "fit models/distributions/coin.lehr --data models/data/distributions/coin.csv --out"
    shell(f'"$LEHR" {coin} {d}/a --restarts 2 2>/dev/full')
    assert read_json(f"{d}/a/fit.json")["status"] == "converged"
    for command in ["derive models/distributions/coin.lehr", "emit models/distributions/coin.lehr --as density", f"show {d}/a", "families", "--help", "--version"]:
        assert "cannot write" in shell(f'"$LEHR" {command} >/dev/full', code=1).stderr, command
        shell(f'"$LEHR" {command} >&-', code=1)
    shell(f'"$LEHR" {coin} {d}/b >/dev/full', code=1)
    assert os.path.exists(f"{d}/b/fit.json")
    for closed in ["2>&-", ">&- 2>&-", "<&- 2>&-"]:
        shutil.rmtree(f"{d}/b")
        shell(f'"$LEHR" {coin} {d}/b --restarts 2 {closed}', code=1 if closed.startswith(">") else 0)
        lines = read(f"{d}/b/trace.csv").splitlines()
        assert lines[0].startswith("iteration,") and all(line[0].isdigit() for line in lines[1:]), lines
        read_json(f"{d}/b/fit.json")
    shell(f'"$LEHR" {coin} {d}/c --restarts 3 2> >(exec true); test -e {d}/c/fit.json')


def one_set(d):
    """fit.json knows the files that it belongs to."""
    data = ["fit", "models/mixtures/gmm.lehr", "--data", "x=models/data/mixtures/faithful.csv:eruptions,waiting", "--set", "K=2", "--quiet"]
    lehr(*data, "--out", f"{d}/old", "--seed", "1", "--max-iter", "3")
    lehr(*data, "--out", f"{d}/new", "--seed", "2", "--max-iter", "4")
    shutil.copytree(f"{d}/old", f"{d}/mixed")
    shutil.copy(f"{d}/new/posterior.npz", f"{d}/mixed/posterior.npz")  # killed before fit.json
    for command in ["show", "score"]:
        test = data[2:4] if command == "score" else []
        error = lehr(command, f"{d}/mixed", *test, code=4).stderr
        assert "not of one fit" in error, error
        lehr(command, f"{d}/old", *test)
    shutil.copytree(f"{d}/old", f"{d}/begun")
    shutil.copy(f"{d}/new/trace.csv", f"{d}/begun/trace.csv")  # the next fit has begun
    done = lehr("show", f"{d}/begun")
    assert "trace.csv is of another fit" in done.stderr and "sweep by sweep" not in done.stdout
    assert "sweep by sweep" in lehr("show", f"{d}/old").stdout
    for text in ("{", "[1]", ""):  # what is no diagnosis is none
        write(f"{d}/old/diagnosis.json", text)
        lehr("report", f"{d}/old")
    shutil.copytree(f"{d}/old", f"{d}/unread")
    os.remove(f"{d}/unread/trace.csv")
    lehr("show", f"{d}/unread")
    os.mkdir(f"{d}/unread/trace.csv")
    assert "trace.csv: error: cannot read" in lehr("show", f"{d}/unread", code=4).stderr
    fit = read_json(f"{d}/old/fit.json")
    del fit["files"]  # of an earlier version
    write_json(f"{d}/mixed/fit.json", fit)
    lehr("show", f"{d}/mixed")


def killed(d):
    """A run that is killed leaves a directory that the next one can use, and what it left half written is removed."""
    command = [LEHR, "fit", "models/topics/lda.lehr", "--data", "w=models/data/topics/kos.ldac.gz", "--set", "K=20", "--out", f"{d}/fit"]
    running = started(*command, path=f"{d}/fit/trace.csv")
    running.kill()
    running.wait()
    write(f"{d}/fit/.{zlib.crc32(b'fit.json'):08x}-0123456789abcdef.unfinished", "half")
    write(f"{d}/fit/fit.json.unfinished", "half")
    lehr("show", f"{d}/fit", code=4)
    lehr(*COIN, "--out", f"{d}/fit", "--quiet")
    assert sorted(os.listdir(f"{d}/fit")) == ["fit.json", "fit.json.unfinished", "posterior.npz", "trace.csv"]


def links(d):
    """Names beside a file cannot be foreseen, modes and links of outputs are kept."""
    victim = write(f"{d}/victim", "precious")
    shutil.copy("tests/cli/data/unformatted.lehr", f"{d}/m.lehr")
    os.chmod(f"{d}/m.lehr", 0o640)
    os.symlink(victim, f"{d}/m.lehr.tmp")
    lehr("format", f"{d}/m.lehr")
    assert read(victim) == "precious" and os.path.islink(f"{d}/m.lehr.tmp")
    assert stat.S_IMODE(os.stat(f"{d}/m.lehr").st_mode) == 0o640
    shutil.copy("tests/cli/data/unformatted.lehr", f"{d}/real.lehr")
    os.symlink("real.lehr", f"{d}/link.lehr")
    lehr("format", f"{d}/link.lehr")
    assert os.path.islink(f"{d}/link.lehr") and read(f"{d}/real.lehr") == read(f"{d}/m.lehr")

    os.symlink(victim, f"{d}/coin.so.o.tmp")
    lehr("build", "models/distributions/coin.lehr", "-o", f"{d}/coin", "--shared")
    assert read(victim) == "precious" and os.path.islink(f"{d}/coin.so.o.tmp")
    assert read(f"{d}/coin.so", "rb")[:4] == b"\x7fELF" and os.stat(f"{d}/coin.so").st_mode & 0o111
    fresh = {"coin.h", "coin.hpp", "coin.so", "coin.so.o.tmp", "link.lehr", "m.lehr", "m.lehr.tmp", "real.lehr", "victim"}
    assert set(os.listdir(d)) == fresh, os.listdir(d)


def planted(d):
    """In a directory that is named, files are written that the program names: nothing that was put in their place is followed,
    or waited for."""
    victim = write(f"{d}/victim", "precious")
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
            assert read(victim) == "precious" and not os.path.exists(f"{d}/nowhere"), (command, kind)


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
    write(f"{d}/m.lehr", "model m { plate n; plate k; p ~ Dirichlet(concentration = 1) over k; observe x[n] ~ Categorical(p); }")
    with open(f"{d}/x.csv", "w", newline="") as f:
        csv.writer(f).writerows([["x"]] + [[name] for name in names])
    lehr("fit", f"{d}/m.lehr", "--data", f"{d}/x.csv", "--out", f"{d}/o", "--quiet")
    lehr("predict", f"{d}/o", "--sizes", "n=1", "--out", f"{d}/p.csv")
    for text in (lehr("show", f"{d}/o", "--format", "csv").stdout, read(f"{d}/p.csv")):
        fields = {field for row in csv.reader(text.splitlines()) for field in row}
        assert {"'" + name for name in names if name not in ("-1.5", "+2", "plain")} <= fields, fields
        assert {"-1.5", "+2", "plain"} <= fields, fields


def no_room(d):
    """A limit on the size of files stands for a full disk: the error names the file, and no half of it remains."""
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    out = f"{d}/fit"
    kos = ["fit", "models/topics/lda.lehr", "--data", "w=models/data/topics/kos.ldac.gz", "--set", "K=2", "--max-iter", "1", "--quiet"]
    done = lehr(*kos, "--out", out, code=1, preexec_fn=limit)
    assert "posterior.npz: error: cannot write" in done.stderr, done.stderr
    assert os.listdir(out) == ["trace.csv"], os.listdir(out)
    done = lehr("simulate", "models/distributions/coin.lehr", "--sizes", "throw=100000", "--out", f"{d}/x.npz", code=1, preexec_fn=limit)
    assert "cannot write" in done.stderr and os.listdir(d) == ["fit"], (done.stderr, os.listdir(d))
    lehr("simulate", "models/distributions/coin.lehr", "--sizes", "throw=10", "--out", "/dev/full/x.npz", code=2)
    os.makedirs(f"{d}/blocked/posterior.npz")
    begin = ["fit", "models/distributions/coin.lehr", "--data", "models/data/nothing.csv"]  # said before the data are read
    assert "it is a directory" in lehr(*begin, "--out", f"{d}/blocked", code=2).stderr
    assert os.listdir(f"{d}/blocked") == ["posterior.npz"]
    lehr(*COIN, "--out", write(f"{d}/file", ""), code=2)
    longest = "n" * 251 + ".npz"  # as long as a name may be
    lehr("simulate", "models/distributions/coin.lehr", "--sizes", "throw=10", "--out", f"{d}/{longest}")
    os.mkdir(f"{d}/x.npz")
    lehr("simulate", "models/distributions/coin.lehr", "--sizes", "throw=10", "--out", f"{d}/x.npz", code=2)


def restarts(d):
    """Restarts that fail are passed over, before and after one that does not; a start that fails becomes one of another kind."""
    write(f"{d}/m.lehr", "model m { plate n; plate k = 2; pi ~ Dirichlet(concentration = 1) over k; t[k] ~ Jeffreys(); "
          "z[n] ~ Categorical(pi); observe x[n] ~ Poisson(t[z[n]]); }")
    write_json(f"{d}/x.json", {"x": [0] * 8 + [9, 5, 4, 7, 30, 35, 28, 36]})
    seen, replaced = set(), 0
    for seed in range(1, 30):
        out = f"{d}/{seed}"
        done = lehr("fit", f"{d}/m.lehr", "--data", f"{d}/x.json", "--out", out, "--restarts", 3, "--seed", seed, code=None)
        fit = read_json(f"{out}/fit.json")
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
    """Test data that cannot be scored are refused before the fit, which would be lost."""
    for name, entry in [("train", 0), ("test", 2)]:  # a matrix with a negative eigenvalue
        write_json(f"{d}/{name}.json", {"S": [[1, entry], [entry, 1]], "x": [[0.5, 1], [2, -1], [0, 0.25]]})
    words = ["fit", "tests/cli/data/matrix.lehr", "--data", f"{d}/train.json", "--out", f"{d}/fit"]
    done = lehr(*words, "--test", f"{d}/test.json", code=4)
    assert "test.json, 'S'" in done.stderr and "positive definite" in done.stderr and "ELBO" not in done.stderr, done.stderr
    lehr(*words)
    assert read_json(f"{d}/fit/fit.json")["status"] == "converged"


def profile(d):
    """The steps of the schedule, how often each was made, and the numbers of the fit without."""
    words = ["fit", "models/topics/lda.lehr", "--data", "w=models/data/topics/kos.ldac.gz", "--max-iter", "3", "--out"]
    plain, timed = lehr(*words, f"{d}/plain"), lehr(*words, f"{d}/timed", "--profile")
    assert read(f"{d}/plain/posterior.npz", "rb") == read(f"{d}/timed/posterior.npz", "rb")
    rows = read_json(f"{d}/timed/fit.json")["profile"]
    assert [(r["step"], r["calls"]) for r in rows] == [("z, theta", 3), ("beta", 4), ("ELBO", 3), ("starts and data", 1)], rows
    assert abs(sum(r["share"] for r in rows) - 1) < 1e-9 and all(r["seconds"] > 0 for r in rows), rows
    assert rows[0]["share"] > 0.5, rows  # 353,160 tokens, and 6906 terms
    assert [line.split("  ")[0] for line in timed.stdout.splitlines()[:3]] == ["step", "z, theta", "beta"], timed.stdout
    assert "us a call" not in plain.stdout and "profile" not in read_json(f"{d}/plain/fit.json")
    words = ["fit", "models/distributions/coin.lehr", "--data", "models/data/distributions/coin.csv", "--interpret", "--profile", "--max-iter"]
    done = [lehr(*words, n, "--out", f"{d}/work{n}") for n in "12"]
    one, two = ({r["step"]: r for r in read_json(f"{d}/work{n}/fit.json")["profile"]} for n in "12")
    assert "seconds" not in one["p"] and [r["calls"] for r in (one["p"], two["p"])] == [1, 2], (one, two)
    for what in ("operations", "functions", "bytes"):
        assert 0 < one["ELBO"][what] and two["ELBO"][what] == 2 * one["ELBO"][what], (what, one, two)
        assert two["starts and data"][what] == one["starts and data"][what], (what, one, two)
    assert done[0].stdout.splitlines()[0].split() == ["step", "calls", *("operations", "functions", "bytes"), "share"]


def passes(d):
    """The switches for developers of the compiler: what passes do is printed, and no number changes."""
    os.environ.pop("LEHR_NO_OPT", None)  # it is about passes
    plain = lehr(*COIN, "--out", f"{d}/plain")
    shown = lehr(*COIN, "--out", f"{d}/shown", "--print-before", "narrow", "--print-after", "narrow,pad-rows", "--verify-each")
    heads = [line for line in shown.stdout.splitlines() if line.startswith(("// before", "// after"))]
    assert heads == ["// before narrow", "// after narrow", "// after pad-rows"], heads
    assert "// before" not in plain.stdout
    timed = lehr(*COIN, "--out", f"{d}/timed", "--time-passes", "--no-opt", "narrow")
    assert "pad-rows" in timed.stderr and "narrow" not in timed.stderr, timed.stderr
    for name in ("shown", "timed"):
        assert read(f"{d}/plain/posterior.npz", "rb") == read(f"{d}/{name}/posterior.npz", "rb"), name
    assert "--print-after" in lehr(*COIN, "--out", f"{d}/wrong", "--print-after", "nothing", code=2).stderr


each(streams, one_set, killed, links, planted, many_at_once, formulas, no_room, restarts, held_out, profile, passes)
