#!/usr/bin/env python3
"""Options: a number that is not finite, out of range or not a number is a usage error that says what the range is, and so is an
option without effect for the method, with the methods that it has one for.

Usage: options_test.py LEHR, from the root of the repository.
"""
import functools
import os
import random
import shutil
import sys

sys.path.append(f"{sys.path[0]}/../../helpers")
from lehr_tests import bits, each, lehr, memory_limit, read, read_csv, write  # noqa: E402

lehr = functools.partial(lehr, code=None, timeout=300, preexec_fn=memory_limit(8))
FAITHFUL = "x=models/data/mixtures/faithful.csv:eruptions,waiting"


def refused(done, *words):
    assert done.returncode == 2, f"{done.args}: exit {done.returncode}\n{done.stderr}"
    for word in words:
        assert word in done.stderr, f"{done.args}: no '{word}' in\n{done.stderr}"


def numbers(out):
    fit = ["fit", "models/mixtures/gmm.lehr", "--data", FAITHFUL, "--set", "K=2", "--quiet", "--out", out]
    for option, values in {
        "--tol": ["nan", "inf", "-1", "2", "1,5", "0x1p-3"],
        "--rho": ["nan", "inf", "1.5"],
        "--kappa": ["nan", "inf", "-1"],
        "--tau0": ["nan", "inf", "-1"],
        "--epochs": ["nan", "inf", "0", "1e30"],
        "--local-tol": ["nan", "inf", "-1"],
        "--max-iter": ["nan", "-3", "1e30", "2.5"],
        "--local-iters": ["0", "nan"],
        "--batch-size": ["0", "-1"],
        "--elbo-every": ["-1", "nan"],
        "--restarts": ["0", "-2", "1e30"],
        "--seed": ["-1", "18446744073709551616", "nan", "1.5"],
    }.items():
        for value in values:
            refused(lehr(*fit, f"{option}={value}"), option, "from")
    for value in ["nan", "inf", "0", "1"]:
        refused(lehr("score", out, "--data", FAITHFUL, f"--holdout={value}"), "--holdout")
    refused(lehr("simulate", "models/distributions/coin.lehr", "--sizes", "throw=3", "--out", f"{out}.npz", "--seed=-1"), "--seed")
    refused(lehr("show", out, "--top", "0"), "--top")
    refused(lehr(*fit, "--set", "K=3"), "twice")
    # A leading zero is no octal, and powers of ten are whole numbers.
    for value in ["010", "1e1"]:
        lehr(*fit, "--max-iter", value, code=0)
        assert len(read(f"{out}/trace.csv").splitlines()) == 11
    lehr(*fit, "--max-iter", "1", "--seed", "18446744073709551615", code=0)
    assert "seed 18446744073709551615" in lehr("show", out).stdout


def schedules(out):
    fit = ["fit", "models/mixtures/gmm.lehr", "--data", FAITHFUL, "--set", "K=2", "--quiet", "--max-iter", "2", "--out", out]
    for text, word in {
        "linear:from=10,over=1e30": "over is a whole number from 1 to 1000000000",
        "linear:from=inf,over=10": "from is a number from 1 to",
        "linear:from=1e300,over=10": "from is a number from 1 to",
        "exp:from=2,over=nan": "over is",
        "linear:from=2,over=2.5": "over is",
        "linear:from=2,from=3,over=4": "each name once",
        "stochastic:rho=nan,over=10": "rho is",
        "auto:sweeps=1e30": "sweeps is",
    }.items():
        refused(lehr(*fit, "--anneal", text), "--anneal", word)
    for text, word in {
        "global:max=10,levels=1e10": "levels is a whole number from 2 to 10000",
        "global:levels=1e9": "levels is",
        "global:max=inf": "max is",
        "global:draws=1e18": "draws is",
        "global:every=nan": "every is",
    }.items():
        refused(lehr(*fit, "--temper", text), "--temper", word)
    for text in ["2 inf 1", "2 nan", "2,5 1", "1e30"]:
        listed = write(f"{out}/list.txt", text)
        refused(lehr(*fit, "--anneal", f"file:{listed}"), "--anneal", "no temperature")


def updates(out):
    """An update is coordinate ascent from the posterior of a fit: options that cannot change it are refused, with a cure."""
    coin = ["--data", "models/data/distributions/coin.csv", "--quiet"]
    assert lehr("fit", "models/distributions/coin.lehr", *coin, "--out", out).returncode == 0
    update = ["update", out, *coin, "--out", f"{out}u"]
    for option in ["--batch-size", "--epochs", "--tau0", "--kappa", "--rho", "--warmup", "--draws", "--thin", "--parts", "--restarts", "--chains"]:
        refused(lehr(*update, option, "1"), "--restarts" if option == "--chains" else option, "leave it out")
    assert lehr(*update, "--max-iter", "50", "--tol", "1e-6", "--leap-after", "0", "--elbo-every", "1", "--seed", "2").returncode == 0


# Short fits by each method, whose results every option of the method changes. Later options stand in place of these.
METHODS = {"cavi": ["--search", "none", "--seed", "3"], "svi": ["--epochs", "2", "--batch-size", "9"],
           "gibbs": ["--warmup", "5", "--draws", "10"], "exact": ["--draws", "10"]}
SPINS = ["models/networks/spin_system.lehr", "--data", "models/data/networks/spin_glass.json"]
# Of each option the words that change the results, and the methods whose results they change.
EFFECTS = [(["--max-iter", "2"], "cavi"), (["--max-iter", "0"], "cavi svi"), (["--tol", "1e-2"], "cavi"), (["--leap-after", "0"], "cavi"),
           (["--local-iters", "1"], "cavi svi"), (["--local-tol", "0.5"], "cavi svi"), (["--elbo-every", "3"], "cavi svi"),
           (["--batch-size", "5"], "svi"), (["--epochs", "3"], "svi"), (["--tau0", "4"], "svi"), (["--kappa", "0.9"], "svi"),
           (["--rho", "0.5"], "svi"), (["--adaptive"], "svi"), (["--replacement"], "svi"),
           (["--warmup", "3"], "gibbs"), (["--thin", "2"], "gibbs"), (["--draws", "4"], "gibbs exact"),
           (["--restarts", "2"], "cavi svi gibbs exact"), (["--chains", "2"], "cavi svi gibbs exact"), (["--seed", "7"], "cavi svi gibbs exact"),
           (["--search", "quick"], "cavi"), (["--init", "means"], "cavi svi gibbs"), (["--anneal", "linear:from=3,over=6"], "cavi svi gibbs"),
           (["--temper", "global:levels=6"], "cavi svi gibbs"), (["--precision", "float"], "cavi svi"), (["--parts", "3"], "cavi"),
           (["--sds", "linear-response"], "cavi")]
# What an option is seen by: there is little to extrapolate in sweeps that end early, and only annealed sweeps have parts.
BESIDE = {"--leap-after": ["--tol", "1e-12"], "--parts": ["--anneal", "linear:from=3,over=6"]}
# What an option is compared with, where the default may be the same.
OTHERWISE = {"--sds": ["--sds", "factors"]}
# Options that some methods refuse, and whose effect is no other result, or none of this model.
SILENT = [(["--spill", "here", "--stream"], "cavi"), (["--links", "gaussian"], "cavi svi"), (["--no-invariances"], "cavi"), (["--no-saddle-test"], "cavi"), (["--predictive", "0"], "gibbs exact"),
          (["--test", "w=held.ldac"], "cavi svi"), (["--test-every", "2", "--test", "w=held.ldac"], "cavi svi")]
# Of what is not for the method, these are refused; others are warned of.
REFUSED = ["--links", "--search", "--sds", "--init", "--anneal", "--temper", "--precision", "--test", "--test-every"]
# What every method accepts, for a result that need not change: "none" is what no search is, "double" what draws are made in.
ACCEPTED = [["--threads", "2"], ["--precision", "double"], ["--search", "none"], ["--save-locals"], ["--guide", "factorised"]]


def results(out):
    """All numbers that a fit wrote, but for times."""
    found = {name: bits(f"{out}/{name}") for name in os.listdir(out) if name.endswith(".npz")}
    found |= {name: read(f"{out}/{name}") for name in os.listdir(out) if name.startswith("draws_")}
    return found | {"trace": [[row[name] for name in row if name != "seconds"] for row in read_csv(f"{out}/trace.csv")]}


def methods(folder):
    """Every option with every method: either the results change, or it is refused or warned of with the methods that it is for."""
    os.environ.pop("LEHR_NO_OPT", None)  # --precision is the work of a pass
    r, corpus, out = random.Random(4), f"{folder}/words.ldac", f"{folder}/fit"
    documents = [sorted(r.sample(range(6 * (k % 3), 6 * (k % 3) + 9), 5)) for k in range(45)]
    write(corpus, "".join(f"5 {' '.join(f'{w}:{r.randint(1, 3)}' for w in d)}\n" for d in documents))

    def command(method, *words):
        usual = METHODS[method]
        others = [word for k in range(0, len(usual), 2) if usual[k] not in words for word in usual[k:k + 2]]
        model = SPINS if method == "exact" else ["models/topics/lda.lehr", "--data", f"w={corpus}", "--set", "K=3"]
        return ["fit", *model, "--method", method, *others, *words, "--quiet", "--out", out]

    @functools.cache
    def fit(method, *words):
        shutil.rmtree(out, ignore_errors=True)
        lehr(*command(method, *words), code=0)
        return results(out)

    for words, used in EFFECTS + SILENT:
        option, beside = words[0].replace("--chains", "--restarts"), BESIDE.get(words[0], [])
        alternatives = " or ".join(used.replace(" ", ", ").rsplit(", ", 1))
        for method in METHODS:
            if method not in used.split() and option in REFUSED:
                refused(lehr(*command(method, *words)), option, f"--method {method}: leave it out, or take --method {alternatives}")
            elif method not in used.split():
                users = alternatives.replace(" or ", " and ")
                done = lehr(*command(method, *words))
                warned = f"warning: {option} has no effect with --method {method}; {users} use" in done.stderr
                assert warned and done.returncode == 0 or "--stream" in words and "--stream: error" in done.stderr, done.stderr
            elif (words, used) not in SILENT:
                assert fit(method, *beside, *OTHERWISE.get(words[0], [])) != fit(method, *beside, *words), f"{method}: {words} changes nothing"
    for words in ACCEPTED:
        for method in METHODS:
            fit(method, *words)
    for method in "cavi", "svi":
        assert fit(method) != fit(method, "--test", f"w={corpus}", "--test-every", "2"), method
    # With --stream the items that are read at a time are those of a batch, for every method.
    lehr(*command("cavi", "--stream", "--spill", f"{folder}/spill", "--batch-size", "9"), code=0)
    few = ["calibrate", "models/distributions/coin.lehr", "--sizes", "throw=5", "--simulations", "9", "--draws", "20"]
    assert "--thin has no effect with --method cavi" in lehr(*few, "--method", "cavi", "--thin", "2").stderr
    assert not any("no effect" in lehr(*few, "--method", method).stderr for method in ("cavi", "gibbs"))
    assert "--tol has no effect with --method gibbs" in lehr(*few, "--warmup", "5", "--tol", "0.1").stderr


def complete(_):
    """Every option of `lehr fit` is in a list above, or has to do with no method."""
    said = lehr("fit", "--help").stdout
    listed = {words[0] for words, _ in EFFECTS + SILENT} | {words[0] for words in ACCEPTED}
    others = {"--help", "--data", "--drop-missing", "--model", "--set", "--sizes", "--labels", "--stream", "--method", "--no-cache",
              "--out", "--checkpoint-every", "--resume", "--quiet", "--each", "--save-each", "--no-opt", "--thresholds", "--print-before", "--print-after",
              "--verify-each", "--time-passes", "--profile", "--interpret"}
    found = {word for line in said.splitlines() if line.startswith("  -") for word in line.split()[0].split(",") if word.startswith("--")}
    assert found <= listed | others, found - listed - others


each(numbers, schedules, updates, methods, complete)
