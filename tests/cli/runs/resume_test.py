#!/usr/bin/env python3
"""Fits that were interrupted, or killed, at random moments and go on with --resume end with the bits of those that were not.

usage: resume_test.py LEHR [MOMENTS [METHOD ...]]; MOMENTS of each method and signal, 1 without. Fifty of `search cavi annealed automatic
tempered svi gibbs` take the better part of an hour.
"""
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import zlib

import numpy as np

sys.path.append(f"{sys.path[0]}/../../helpers")
from lehr_tests import LEHR, arrays, bits, read, read_json, run, temporary, write, write_json  # noqa: E402

MOMENTS = int(sys.argv[2]) if len(sys.argv) > 2 else 1
R = random.Random(5)
FAITHFUL = ["--data", "x=models/data/mixtures/faithful.csv:eruptions,waiting"]
GMM = ["models/mixtures/gmm.lehr", *FAITHFUL, "--set", "K=5"]
TOPICS = ["models/topics/lda.lehr", "--data", "w=models/data/topics/kos.ldac.gz"]
COUNTS = ["models/factors/poisson_factorisation.lehr", "--data", "models/data/factors/purchases.json"]
SVI = [*GMM, "--method", "svi", "--batch-size", "50", "--epochs", "300"]
GIBBS = [*GMM, "--method", "gibbs", "--chains", "2", "--warmup", "100", "--draws"]
METHODS = {
    "search": GMM,
    "full search": [*GMM, "--search", "full"],
    "search of blocks": ["models/networks/stochastic_block_model.lehr", "--data", "models/data/networks/karate.csv"],
    "search of chains": ["models/sequences/markov_switching.lehr", "--data", "models/data/sequences/us_gnp_gaps.csv", "--save-locals"],
    "search of features": ["models/factors/factorial_mixture.lehr", "--data", "x=models/data/factors/bars.csv"],
    "search of sticks": ["models/mixtures/dirichlet_process_mixture.lehr", "--data", "x=models/data/mixtures/galaxies.csv"],
    "search that agrees": ["models/hierarchical/dirichlet_multinomial.lehr", "--data", "x=models/data/mixtures/phage.csv"],
    "cavi": [*GMM, "--search", "none", "--tol", "0", "--max-iter", "2000"],
    "leaps": [*GMM, "--search", "none", "--tol", "1e-12", "--seed", "3"],
    "shortened": ["models/regression/poisson_regression.lehr", "--data", "models/data/regression/coal_trend.csv", "--guide", "factorised", "--search", "none",
                  "--leap-after", "0", "--tol", "0", "--max-iter", "2000"],
    "restarts": [*GMM, "--restarts", "20", "--tol", "1e-10"],
    "some ELBOs": [*GMM, "--search", "none", "--tol", "0", "--max-iter", "2000", "--elbo-every", "7"],
    "held out": [*GMM, "--search", "none", "--test", *FAITHFUL[1:], "--test-every", "5"],
    "annealed": [*GMM, "--anneal", "linear:from=10,over=900", "--max-iter", "1200", "--tol", "0"],
    "stochastic": [*GMM, "--anneal", "stochastic:rho=0.25,over=400", "--max-iter", "600", "--tol", "0"],
    "automatic": [*GMM, "--anneal", "auto:full"],
    "tempered": [*GMM, "--temper", "global:max=10,levels=20,normaliser=posterior", "--max-iter", "300"],
    "tempered items": [*GMM, "--temper", "local:max=3", "--max-iter", "100"],
    "parts": [*TOPICS, "--set", "K=3", "--anneal", "linear:from=2,over=15", "--parts", "3", "--max-iter", "20"],
    "svi": SVI,
    "svi in a window": [*TOPICS, "--set", "K=3", "--method", "svi", "--batch-size", "50", "--epochs", "2"],
    "adaptive svi": [*SVI, "--adaptive", "--replacement"],
    "automatic svi": [*SVI, "--anneal", "auto"],
    "tempered svi": [*GMM, "--method", "svi", "--batch-size", "50", "--epochs", "50", "--temper", "local:max=3"],
    "gibbs": [*GIBBS, "400"],
    "tempered gibbs": [*GIBBS, "60", "--temper", "global:levels=6"],
    "counts": [*COUNTS, "--save-locals"],
    "gibbs of counts": [*COUNTS, "--method", "gibbs", "--chains", "1", "--warmup", "50", "--draws", "200"],
    "exact": ["models/networks/spin_system.lehr", "--data", "models/data/networks/spin_glass.json", "--method", "exact", "--draws", "100"],
}
QUICK = ["search", "cavi", "shortened", "restarts", "annealed", "automatic", "tempered", "tempered items", "svi", "adaptive svi", "gibbs", "gibbs of counts",
         "planes of a chain", "parts of the way"]


def rows(out):
    text = read(f"{out}/trace.csv")
    assert text.endswith("\n"), "half a row"
    return [line.split(",") for line in text.splitlines()[1:]]


def contents(out):
    """All that a fit writes but times and its command."""
    found = bits(f"{out}/posterior.npz")
    for name in sorted(os.listdir(out)):
        if name.startswith("draws_") or name == "summary.csv":
            found[name] = read(f"{out}/{name}", "rb")
    found["fit.json"] = {k: v for k, v in read_json(f"{out}/fit.json").items() if k not in ("command", "seconds", "files")}
    found["trace"] = [(r[0], r[2:]) for r in rows(out)]
    return found


def begun(out):
    try:
        return len(rows(out))
    except (OSError, AssertionError):
        return 0


def stop(command, out, number, after):
    """Runs until so many sweeps are on disk, and a little longer. Whether it was stopped, and what it said."""
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while running.poll() is None and begun(out) < after:
        time.sleep(0.001)
    time.sleep(R.random() * 0.01)
    running.send_signal(number)
    said = running.communicate(timeout=300)[1]
    assert running.returncode in (0, -number), (command, running.returncode, said)
    return running.returncode == -number or "interrupted after" in said, said


def go_on(command, out, number, whole, every):
    """Stopped up to three times. How often it was, with a checkpoint."""
    first, stops, earlier = command, 0, [[]]
    for _ in range(3):
        stopped, said = stop(command, out, number, R.randrange(min(len(earlier[-1]) + 1, whole), whole + 1))
        there = os.path.exists(f"{out}/checkpoint.bin")
        if not stopped or (os.path.exists(f"{out}/fit.json") and not there):  # it had ended by itself
            return stops
        if "it goes on with" in said:
            command = [LEHR, *shlex.split(said.split("it goes on with `")[1].split("`")[0])[1:]]
        elif there:
            command = [*first, "--resume", out]
        stops += "--resume" in command
        earlier.append(rows(out) if os.path.exists(f"{out}/trace.csv") else [])
    run(*command)
    if "--resume" in command and "--restarts" not in command and "--chains" not in command:
        # Rows from before the checkpoint have their times; those after it were made again.
        lost = [r for r in earlier[-1] if r not in rows(out)]
        assert number == signal.SIGINT or len(lost) <= every, (command, len(lost))
    return stops


def check(name, number, tmp):
    out = os.path.join(tmp, "fit")
    shutil.rmtree(f"{tmp}/whole", ignore_errors=True)
    command = [LEHR, "fit", *METHODS[name], "--quiet", "--out"]
    run(*command, f"{tmp}/whole")
    whole, stops = contents(f"{tmp}/whole"), 0
    for moment in range(MOMENTS):
        shutil.rmtree(out, ignore_errors=True)
        every = R.randrange(1, 2 + len(whole["trace"]) // 10)
        often = ["--checkpoint-every", str(every)] if number == signal.SIGKILL or moment % 2 else []
        stops += go_on([*command, out, *often], out, number, len(whole["trace"]), every)
        found = contents(out)
        assert found == whole, (name, number, [k for k in whole if found.get(k) != whole[k]])
        assert not [f for f in os.listdir(out) if f.startswith("checkpoint")], os.listdir(out)
    return stops


def refusals(tmp):
    out = f"{tmp}/refused"
    fit = [LEHR, "fit", *METHODS["cavi"][:-1], "100000", "--quiet", "--out", out]  # longer than it takes to stop it
    assert stop(fit, out, signal.SIGINT, 5)[0]

    def refused(expected, *options, was="", now=""):
        said = run(*[now if word == was else word for word in fit], "--resume", out, *options, code=4).stderr
        assert expected in said, (expected, said)

    refused("--seed was '1' and is '2'", "--seed", "2")
    refused("another data", was=FAITHFUL[1], now="x=models/data/mixtures/faithful.csv:waiting,eruptions")
    refused("another constant or size", was="K=5", now="K=4")
    refused("--anneal was '' and is 'linear:from=2,over=5'", "--anneal", "linear:from=2,over=5")
    refused("--method was 'cavi' and is 'svi'", "--method", "svi")
    refused("another model", was=fit[2], now=write(f"{tmp}/gmm.lehr", read("models/mixtures/gmm.lehr") + "\n// as it was\n"))
    said = run(*fit, "--resume", f"{tmp}/elsewhere", code=2).stderr
    assert "name the same directory" in said, said
    changed = bytearray(read(f"{out}/checkpoint.bin", "rb"))
    changed[2000] ^= 1
    write(f"{out}/checkpoint.bin", bytes(changed))
    refused("not a checkpoint, or a damaged one")
    said = run(LEHR, "fit", *GMM, "--search", "none", "--out", out).stderr
    assert "takes the place of one that was interrupted" in said, said
    refused("there is nothing to go on from")
    nowhere = f"{tmp}/nowhere"
    said = run(LEHR, "fit", *METHODS["cavi"], "--resume", nowhere, code=4).stderr
    assert "there is nothing to go on from" in said, said
    assert not os.path.exists(nowhere)


def changed_files(tmp):
    """A fit whose start or temperatures come from a file does not go on when the file has other numbers."""
    out, start, ladder = f"{tmp}/changed", f"{tmp}/start.npz", f"{tmp}/ladder.txt"
    for option, path, expected in (("--init", start, "another start in --init"), ("--anneal", ladder, "another temperatures of --anneal")):
        shutil.rmtree(out, ignore_errors=True)
        run(LEHR, "fit", *GMM, "--search", "none", "--max-iter", "3", "--quiet", "--out", f"{tmp}/short")
        shutil.copy(f"{tmp}/short/posterior.npz", start)
        write(ladder, "5\n2\n1\n")
        value = path if option == "--init" else f"file:{path}"
        fit = [LEHR, "fit", *METHODS["cavi"][:-1], "100000", "--quiet", "--out", out, option, value]
        assert stop(fit, out, signal.SIGINT, 5)[0]
        run(LEHR, "fit", *GMM, "--search", "none", "--max-iter", "4", "--quiet", "--out", f"{tmp}/short")
        shutil.copy(f"{tmp}/short/posterior.npz", start)
        write(ladder, "4\n2\n1\n")
        said = run(*fit, "--resume", out, code=4).stderr
        assert expected in said, (expected, said)


def impossible(tmp, times):
    """Content that no fit has written, with the checksum of it: whatever becomes of the fit, the program does not crash, and reads
    no number of elements that there are not."""
    for name in ("restarts", "gibbs", "parts", "cavi", "leaps", "tempered items", "search"):
        out = f"{tmp}/impossible"
        shutil.rmtree(out, ignore_errors=True)
        command = [LEHR, "fit", *METHODS[name], "--quiet", "--out", out]
        stop([*command, "--checkpoint-every", "1"], out, signal.SIGKILL, 5)
        whole = read(f"{out}/checkpoint.bin", "rb")[:-4]
        counts = [k for k in range(len(whole) - 8) if 0 < int.from_bytes(whole[k:k + 8], "little") < 1 << 16]
        for _ in range(times):
            body, at = bytearray(whole), R.choice(counts)
            was = int.from_bytes(body[at:at + 8], "little")
            body[at:at + 8] = R.choice([0, was + 1, was - 1, 1 << 20, 1 << 62, (1 << 64) - 1]).to_bytes(8, "little")
            write(f"{out}/checkpoint.bin", bytes(body) + zlib.crc32(body).to_bytes(4, "little"))
            done = run(*command, "--resume", out, code=None, timeout=300)
            assert done.returncode in (0, 1, 4, 5), (name, at, was, done.returncode, done.stderr)
            assert "internal error" not in done.stderr, (name, at, was, done.stderr)
        print("ok impossible:", name, flush=True)


def shapes(tmp):
    """Arrays of a checkpoint that have more or fewer numbers than their shape says are refused."""
    out = f"{tmp}/shapes"
    command = [LEHR, "fit", *METHODS["gibbs"], "--quiet", "--out", out]
    stop([*command, "--checkpoint-every", "20"], out, signal.SIGKILL, 150)
    whole, name = read(f"{out}/checkpoint.bin", "rb")[:-4], b"\2\0\0\0\0\0\0\0mu"
    places = [at.end() + 8 for at in re.finditer(re.escape(name), whole)]
    assert places, "no arrays of mu"
    for at in places:
        body, was = bytearray(whole), int.from_bytes(whole[at:at + 8], "little")
        body[at:at + 8] = (was + 1).to_bytes(8, "little")
        write(f"{out}/checkpoint.bin", bytes(body) + zlib.crc32(body).to_bytes(4, "little"))
        said = run(*command, "--resume", out, code=4).stderr
        assert "a checkpoint of another program, or a damaged one" in said, (at, was, said)


def only_what_goes_on(tmp):
    """The shares of counts follow from the rest: neither the posterior nor the checkpoint of many counts has them."""
    users, items, factors = 300, 200, 5
    counts, out = np.random.default_rng(4).poisson(2.0, (users, items)).astype(float), f"{tmp}/many"
    np.savez(f"{tmp}/many.npz", Y=counts)
    for more in (["--save-locals", "--max-iter", "1000000", "--tol", "0"], ["--method", "gibbs", "--draws", "1000000"]):
        shutil.rmtree(out, ignore_errors=True)
        assert stop([LEHR, "fit", COUNTS[0], "--data", f"{tmp}/many.npz", *more, "--quiet", "--out", out], out, signal.SIGINT, 3)[0]
        size, shares = os.path.getsize(f"{out}/checkpoint.bin"), 8 * users * items * factors
        assert size < shares / 4, (more, size, shares)
        names = list(arrays(f"{out}/posterior.npz"))
        assert not [name for name in names if "source" in name], names


def expectations_of_links(tmp):
    """Fits whose sweeps are shortened: by a part of the way, and by the planes of a chain."""
    walk = write(f"{tmp}/walk.lehr", """model walk { plate t ordered; tau ~ Gamma(shape = 2, rate = 0.5);
      z[t] ~ Normal(mean = z[t-1], precision = tau) start Normal(mean = 0, sd = 2); observe y[t] ~ Poisson(exp(z[t])); }""")
    line = write(f"{tmp}/line.lehr", """model line { plate n; data x[n] : real; a ~ Normal(mean = 0, sd = 10); b ~ Normal(mean = 0, sd = 10);
      observe y[n] ~ Bernoulli(logistic(a + b * x[n])); guide factorised; }""")
    zeros, years = {"y": [0] * 50}, {"x": list(range(1985, 2015)), "y": [int(k > 15) for k in range(30)]}
    METHODS["planes of a chain"] = [walk, "--data", write_json(f"{tmp}/walk.json", zeros), "--search", "none", "--tol", "0", "--max-iter", "200"]
    METHODS["parts of the way"] = [line, "--data", write_json(f"{tmp}/line.json", years), "--links", "gaussian", "--search", "none", "--tol", "0", "--max-iter", "500"]


with temporary() as tmp:
    expectations_of_links(tmp)
    refusals(tmp)
    changed_files(tmp)
    shapes(tmp)
    only_what_goes_on(tmp)
    impossible(tmp, 6 * MOMENTS)
    for name in sys.argv[3:] or (METHODS if len(sys.argv) > 2 else QUICK):
        for number in (signal.SIGINT, signal.SIGKILL):
            print(f"ok {name}, {number.name}: stopped {check(name, number, tmp)} times", flush=True)
