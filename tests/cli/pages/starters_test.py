#!/usr/bin/env python3
"""From `lehr new` to a result: every kind with the commands that it prints, and files of one's own in their place, each fitted by
one command. Help, manual page and completion, from the one definition of the options.

Usage: starters_test.py LEHR, from the root of the repository
"""
import os
import re
import shlex
import shutil
import sys

sys.path.append(f"{sys.path[0]}/../../helpers")
from lehr_tests import ROOT, lehr, read_json, run, temporary  # noqa: E402


def transcript():
    """lehr new, and all that it says comes next: under ten commands to a fit, its result and its report."""
    kinds = [line.split()[0] for line in lehr("new").stdout.splitlines()]
    assert {"gmm", "lda", "hmm", "regression"} <= set(kinds), kinds
    shown = {}
    for kind in kinds:
        printed = lehr("new", kind, kind).stdout
        commands = [shlex.split(line) for line in printed.splitlines() if line.startswith("  lehr ")]
        assert {"check", "fit", "show", "report"} <= {c[1] for c in commands} and len(commands) < 9, printed
        for command in commands:
            shown[kind] = shown.get(kind, "") + lehr(*command[1:], cwd=kind).stdout
        assert read_json(f"{kind}/out/{kind}/fit.json")["status"] == "converged", kind
        assert "the report is in" in shown[kind] and os.path.getsize(f"{kind}/out/{kind}/report.html") > 10000, kind
        lehr("format", "--check", f"{kind}/{kind}.lehr")
        assert "there already" in lehr("new", kind, kind, code=2).stderr
    (change,) = [line for line in lehr("new", "gmm", "two words").stdout.splitlines() if line.startswith("  cd ")]
    assert shlex.split(change) == ["cd", "two words"], change
    # What the toy data were made of.
    assert re.search(r"river .*water|water .*river", shown["lda"]), shown["lda"]
    assert re.search(r"dose +1\.[345]", shown["regression"]), shown["regression"]
    assert shown["gmm"].count(" %)") >= 3 and "a  " in shown["gmm"], shown["gmm"]


def own_data():
    """Tables of the world, in units of their own and with gaps, in the starters' models: one command fits, one reports."""
    data = f"{ROOT}/models/data"
    columns = "Sepal.Length,Sepal.Width,Petal.Length,Petal.Width"
    lehr("fit", "gmm/gmm.lehr", "--data", f"x={data}/regression/iris.csv:{columns}", "--out", "iris")
    lehr("fit", "gmm/gmm.lehr", "--data", f"x={data}/regression/iris_gaps.csv:{columns}", "--out", "gaps")
    lehr("fit", "hmm/hmm.lehr", "--data", f"y={data}/sequences/us_gnp.csv:growth", "--out", "growth")
    lehr("fit", "counts/counts.lehr", "--data", f"x={data}/sequences/coal_counts.csv:count", "--out", "coal")
    left = lehr("fit", "regression/regression.lehr", "--drop-missing", "--data", f"x={data}/regression/iris_gaps.csv:{columns.rpartition(',')[0]}",
                "--data", f"y={data}/regression/iris_gaps.csv:Petal.Width", "--out", "iris_regression").stderr
    assert re.search(r"--drop-missing: \d+ of 150 elements of 'n' are left out", left), left
    birds = f"{data}/distributions/penguins.csv:bill_length_mm,bill_depth_mm"
    lehr("fit", "gmm/gmm.lehr", "--data", f"x={birds}", "--out", "bills")
    lehr("fit", "gmm/gmm.lehr", "--data", f"x={birds},flipper_length_mm,body_mass_g", "--out", "penguins")
    lehr("fit", "regression/regression.lehr", "--drop-missing", "--data", f"x={birds},flipper_length_mm", "--data",
         f"y={data}/distributions/penguins.csv:body_mass_g", "--out", "mass")
    lehr("fit", f"{ROOT}/models/sequences/hmm_poisson.lehr", "--data", f"x={data}/sequences/earthquakes.csv:count", "--save-locals", "--out", "quakes")
    for directory in ("iris", "gaps", "growth", "coal", "iris_regression", "bills", "penguins", "mass", "quakes"):
        lehr("show", directory)
        said = lehr("report", directory)
        assert "not shown" not in said.stderr and os.path.getsize(f"{directory}/report.html") > 10000, said
    shares = lambda fit: [float(s) for s in re.findall(r"\(([\d.e+]+) %\)", lehr("show", fit, "mu").stdout)]
    assert [round(s) for s in shares("bills")[:3]] == [46, 36, 18] and shares("bills")[3] < 1, shares("bills")
    assert [round(s) for s in shares("penguins")[:2]] == [64, 36], shares("penguins")
    assert re.search(r"flipper_length_mm +50\.", lehr("show", "mass", "w").stdout)  # least squares: 50.3


def unknown_words():
    for words, wanted in [(["ift"], "there is no command 'ift'; did you mean 'fit'?"), (["fit", "m.lehr", "--dat", "x"], "there is no option '--dat'; did you mean '--data'?"),
                          (["show", "out", "--fromat=csv"], "there is no option '--fromat=csv'; did you mean '--format'?"),
                          (["help", "sho"], "did you mean 'show'?"), (["new", "gmn"], "did you mean 'gmm'?")]:
        error = lehr(*words, code=2).stderr
        assert wanted in error, error


def help_of_all():
    commands = re.findall(r"^  ([a-z]+) {2,}", lehr("--help").stdout.split("Subcommands:")[1], re.M)
    assert {"fit", "help", "new", "completion"} <= set(commands), commands
    assert lehr("help").stdout.split("Subcommands:")[1].split() == lehr("--help").stdout.split("Subcommands:")[1].split()
    manual = lehr("help", "--man").stdout
    for command in commands:
        text = lehr("help", command).stdout
        assert text == lehr(command, "--help").stdout
        section = manual.split(f".SS lehr {command}\n")[1].split("\n.S")[0]
        for option in re.findall(r"^  (?:-\w,)?(--[a-z][a-z-]*)", text, re.M):
            assert option.replace("-", "\\-") in section, (command, option)
        for ending in re.findall(r"\((?:default: |required|needs --|not with --)[^()]*\)", " ".join(text.split())):
            assert ending.replace("-", "\\-") in section, (command, ending)
    if shutil.which("groff"):
        warnings = run("groff", "-man", "-ww", "-z", input=manual).stderr
        assert not warnings, warnings


def required_and_refused():
    """The help says what the command line demands; what a command does not show, it does not complete or print as a manual."""
    text = {command: " ".join(lehr("help", command).stdout.split()) for command in ("fit", "update", "calibrate", "score", "build")}
    short = lehr("fit", "-h").stdout.splitlines()
    assert len(short) <= 40 and max(map(len, short)) <= 100, short
    for words in (["fit", f"{ROOT}/models/distributions/coin.lehr"], ["update", "nowhere", "--data", "x.csv"]):
        assert "required unless --resume is given" in text[words[0]] and "--out is required" in lehr(*words, code=2).stderr, words
    assert "by either method" in text["calibrate"] and "exact" not in text["calibrate"].split("--draws")[1].split("--thin")[0], text["calibrate"]
    assert "others score all and refuse it" in text["score"] and "--sanitize" in text["build"]
    section = lehr("help", "--man").stdout.split(".SS lehr update\n")[1].split("\n.S")[0]
    assert "--epochs" not in text["update"] and "epochs" not in section and "forget" in section, section


def completion():
    def completed(*words):
        script = lehr("completion", "bash").stdout + f"COMP_WORDS=({shlex.join(words)})\nCOMP_CWORD={len(words) - 1}\n_lehr\necho ${{COMPREPLY[@]}}"
        return run("bash", "-c", script).stdout.split()
    assert completed("lehr", "co") == ["compare", "completion"]
    assert completed("lehr", "fit", "--dro") == ["--drop-missing"]
    assert completed("lehr", "fit", "--method", "ca") == ["cavi"]
    assert completed("lehr", "new", "g") == ["gmm"]
    assert completed("lehr", "fit", "mod") == []  # the shell's own: names of files
    for shell in ("zsh", "fish"):
        script = lehr("completion", shell).stdout
        assert "drop-missing" in script
        if shutil.which(shell):
            run(shell, "-n", "-c", script)
    assert "did you mean 'bash'?" in lehr("completion", "bahs", code=2).stderr


with temporary() as directory:
    os.chdir(directory)
    for test in [unknown_words, help_of_all, required_and_refused, completion, transcript, own_data]:
        test()
print("ok")
