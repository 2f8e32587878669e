#!/usr/bin/env python3
"""Fits in many processes have the bytes of one, and end clearly when one of them cannot go on.

usage: mpi_test.py LEHR. Exit code 77: this build has no MPI, or there is no mpirun.
"""
import gzip
import math
import os
import re
import resource
import shutil
import signal
import subprocess
import sys

sys.path.append(f"{sys.path[0]}/../helpers")
import lehr_tests  # noqa: E402
from lehr_tests import LEHR, read, read_json, started, temporary, write  # noqa: E402

BUILD = os.path.dirname(LEHR)
RUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]
TOPICS = ["models/topics/lda.lehr", "--data", "w=models/data/topics/kos.ldac.gz", "--set", "K=3"]
if not shutil.which("mpirun") or not any(f.startswith("liblehr-mpi") for f in os.listdir(BUILD)):
    sys.exit(77)


def run(*command, code=0, **more):
    done = lehr_tests.run(*command, code=code, timeout=300, **more)
    return done.stdout + done.stderr


def contents(out):
    # Several processes do not correct standard deviations.
    reported = {k: v for k, v in read_json(f"{out}/fit.json").items() if k not in ("command", "seconds", "files", "processes", "sds")}
    trace = [[r.split(",")[i] for i in (0, 2)] for r in read(f"{out}/trace.csv").splitlines()]
    return read(f"{out}/posterior.npz", "rb"), reported, trace


def same(tmp, name, words, ranks=(1, 2, 3), *more):
    out = f"{tmp}/{name}"
    run(LEHR, "fit", *words, "--out", f"{out}/1")
    for n in ranks:
        run(*RUN, "-n", n, LEHR + "-mpi", "fit", *words, "--threads", 1 + n % 2, *more, "--out", f"{out}/many")
        assert contents(f"{out}/many") == contents(f"{out}/1"), (name, n)
    print("ok", name, flush=True)


def surveyed(tmp):
    """Each process reads a part of what stays in its file: all know a label that one of them has seen, and what one cannot use."""
    write(f"{tmp}/kinds.lehr",
          "model kinds { plate n; plate k = 2; plate kind; pi ~ Dirichlet(concentration = 1) over k; mu[k] ~ Normal(mean = 0, sd = 9);"
          "p[k] ~ Dirichlet(concentration = 1) over kind; z[n] ~ Categorical(pi); observe c[n] ~ Categorical(p[z[n]]);"
          "observe y[n] ~ Normal(mean = mu[z[n]], sd = 1); }")
    rows = [f"{('oak', 'ash')[n % 2]},{n % 7}" for n in range(60)] + ["yew,3"]
    fit = ["fit", f"{tmp}/kinds.lehr", "--data", f"{tmp}/kinds.csv", "--max-iter", 3]
    for bad in False, True:
        if bad:
            rows[50] = "oak,inf"
        write(f"{tmp}/kinds.csv", "\n".join(["c,y", *rows]) + "\n")
        said = run(*RUN, "-n", 3, LEHR + "-mpi", *fit, "--stream", "--out", f"{tmp}/kinds", code=4 if bad else 0)
        if bad:
            assert said.count("y[50] is inf") == 1 and "process 2: " in said, said
            break
        run(LEHR, *fit, "--out", f"{tmp}/kinds1")
        assert contents(f"{tmp}/kinds")[0] == contents(f"{tmp}/kinds1")[0]
    print("ok surveyed", flush=True)


def traffic(tmp):
    """Bytes of a sweep are those of `lehr plan`, and the status of the shares."""
    counts = []
    for sweeps in (2, 5):
        run(*RUN, "-n", 2, LEHR + "-mpi", "fit", *TOPICS, "--search", "none", "--max-iter", sweeps, "--tol", "0", "--out", f"{tmp}/counted")
        counts.append(read_json(f"{tmp}/counted/fit.json")["processes"])
    planned = run(LEHR, "plan", "models/topics/lda.lehr", "--set", "K=3", "--sizes", "doc=3430,token=102,term=6906")
    sums = float(re.search(r"statistics +(\S+) bytes a process", planned)[1])
    for few, many in zip(*counts):
        for way in "sent", "received":
            assert many[f"messages_{way}"] - few[f"messages_{way}"] == 3, counts
            assert abs((many[f"bytes_{way}"] - few[f"bytes_{way}"]) / 3 - sums) < 0.01 * sums, (counts, sums)
    print("ok traffic", flush=True)


def processes(parent):
    """Of the fit, among the descendants of mpirun."""
    out = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            above = int(read(f"/proc/{pid}/stat").rsplit(")", 1)[1].split()[1])
            if above == parent and os.readlink(f"/proc/{pid}/exe") == os.path.realpath(LEHR):
                out.append(int(pid))
        except OSError:
            pass
    return sorted(out)


def stopped(tmp, number):
    """One process is killed, or told to stop: all end, and the fit goes on, in one process, with the same bits."""
    out = f"{tmp}/{number.name}"
    words = [*TOPICS, "--max-iter", "40", "--tol", "0", "--search", "none"]
    run(LEHR, "fit", *words, "--out", f"{out}/whole")
    fit = started(*RUN, "-n", 2, LEHR + "-mpi", "fit", *words, "--checkpoint-every", 1, "--out", f"{out}/fit",
                  path=f"{out}/fit/checkpoint.bin", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert fit.poll() is None, fit.communicate()
    os.kill(processes(fit.pid)[-1], number)
    said = fit.communicate(timeout=120)[0]
    assert (fit.returncode == 0) == (number == signal.SIGTERM), (fit.returncode, said)
    assert number == signal.SIGKILL or "interrupted after" in said, said
    run(LEHR, "fit", *words, "--resume", f"{out}/fit")
    assert contents(f"{out}/fit") == contents(f"{out}/whole")
    print("ok", number.name, flush=True)


def refusals(tmp):
    out = ["--out", f"{tmp}/refused"]
    # Copies of one fit.
    said = run(*RUN, "-n", 2, LEHR, "fit", *TOPICS, *out, code=2)
    assert "2 processes were started, of which this program sees itself alone" in said, said
    said = run(LEHR + "-mpi", "fit", *TOPICS, *out, code=2, env={**os.environ, "PMI_SIZE": "2"})
    assert "the launcher is of another MPI" in said, said
    # What cannot be shared out.
    said = run(*RUN, "-n", 2, LEHR + "-mpi", "fit", "models/distributions/coin.lehr", "--data", "models/data/distributions/coin.csv", *out, code=3)
    assert said.count("cannot be distributed among processes") == 1, said
    assert "not distributed" in run(*RUN, "-n", 2, LEHR + "-mpi", "fit", *TOPICS, "--method", "svi", *out, code=2)
    assert "use lehr" in run(*RUN, "-n", 2, LEHR + "-mpi", "check", "models/distributions/coin.lehr", code=2)
    # Another program, and other data, in one of the processes.
    other = f"{tmp}/other"
    os.mkdir(other)
    for name in os.listdir(BUILD):
        if name.startswith("liblehr-") and name.endswith(".so"):
            shutil.copy(f"{BUILD}/{name}", other)
    shutil.copy(LEHR, f"{other}/lehr")
    with open(f"{other}/lehr", "ab") as f:
        f.write(b"another version")
    os.symlink("lehr", f"{other}/lehr-mpi")
    fit = ["fit", *TOPICS, *out]
    said = run(*RUN, "-n", 1, LEHR + "-mpi", *fit, ":", "-n", 1, f"{other}/lehr-mpi", *fit, code=4)
    assert "process 1 has another program" in said, said
    said = run(*RUN, "-n", 1, LEHR + "-mpi", *fit, ":", "-n", 1, LEHR + "-mpi", *fit, "--seed", 2, code=4)
    assert "process 1 has --seed was '1' and is '2'" in said, said
    said = run(*RUN, "-n", 1, LEHR + "-mpi", *fit, ":", "-n", 1, LEHR + "-mpi", "fit", "models/topics/lda.lehr", "--data",
               f"w={tmp}/nowhere.ldac", *out, code=4)
    assert "process 1: " in said and "nowhere.ldac" in said, said
    print("ok refusals", flush=True)


def full_disk(tmp):
    """The first process can write no more: its files may have no further byte. (Python ignores SIGXFSZ for those after it.)"""
    ignoring = ["/usr/bin/python3", "-c", "import os, sys; os.execvp(sys.argv[1], sys.argv[1:])"]
    fit = started(*RUN, "-n", 2, *ignoring, LEHR + "-mpi", "fit", *TOPICS, "--max-iter", 1000, "--tol", "0", "--out", f"{tmp}/full",
                  path=f"{tmp}/full/trace.csv", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert fit.poll() is None, fit.communicate()
    resource.prlimit(processes(fit.pid)[0], resource.RLIMIT_FSIZE, (1, 1))
    said = fit.communicate(timeout=120)[0]
    assert fit.returncode == 1 and "trace.csv: error: cannot write" in said, (fit.returncode, said)
    print("ok full disk", flush=True)


def effects(tmp):
    """Expectations of links, whose sweeps are shortened where they would lower the ELBO."""
    write(f"{tmp}/effects.lehr",
          "model effects { plate group = 20; plate n; data x[n] : real; data g[n] : group; a ~ Normal(mean = 0, sd = 5); b ~ Normal(mean = 0, sd = 5);"
          "tau ~ Gamma(shape = 1, rate = 1); u[group] ~ Normal(mean = 0, precision = tau); observe y[n] ~ Poisson(exp(a + b * x[n] + u[g[n]]));"
          "observe z[n] ~ Bernoulli(logistic(a + b * x[n] + u[g[n]])); }")
    rows = [f"{n * 7 % 11 - 5},{n * n % 20},{round(math.exp((n * 7 % 11 - 5) + n * n % 20 / 9))},{n * n % 3 % 2}" for n in range(3000)]
    write(f"{tmp}/effects.csv", "\n".join(["x,g,y,z", *rows]) + "\n")
    words = [f"{tmp}/effects.lehr", "--data", f"{tmp}/effects.csv", "--links", "gaussian", "--max-iter", "12"]
    same(tmp, "links", [*words, "--search", "none"], (2, 3))
    same(tmp, "links, searched", words, (2,))


with temporary() as tmp:
    with gzip.open("models/data/topics/kos.ldac.gz") as f, open(f"{tmp}/kos.ldac", "wb") as to:
        shutil.copyfileobj(f, to)
    refusals(tmp)
    same(tmp, "topics", [*TOPICS, "--search", "none", "--max-iter", "4", "--save-locals"])
    same(tmp, "streamed", [*TOPICS[:2], f"w={tmp}/kos.ldac", *TOPICS[3:], "--search", "none", "--max-iter", "3"], (3,),
         "--stream", "--spill", f"{tmp}/spill")
    effects(tmp)
    same(tmp, "parts", [*TOPICS, "--anneal", "linear:from=2,over=4", "--parts", "3", "--max-iter", "6"], (2, 3))
    same(tmp, "one share", ["models/mixtures/gmm.lehr", "--data", "x=models/data/mixtures/faithful.csv:eruptions,waiting", "--set", "K=3"], (2,))
    surveyed(tmp)
    traffic(tmp)
    full_disk(tmp)
    stopped(tmp, signal.SIGKILL)
    stopped(tmp, signal.SIGTERM)
