#!/usr/bin/env python3
"""From `lehr new` to a result: every kind with the commands that it prints, and files of one's own in their place, each fitted by
one command. Help, manual page and completion, from the one definition of the options.

Usage: starters_test.py LEHR, from the root of the repository
"""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

LEHR = os.path.abspath(sys.argv[1])
ROOT = os.getcwd()


def run(*words, code=0, program=LEHR, **how):
    done = subprocess.run([program, *words], capture_output=True, text=True, timeout=120, **how)
    assert done.returncode == code, f"{words}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def transcript():
    """lehr new, and all that it says comes next: under ten commands to a fit, its result and its report."""
    kinds = [line.split()[0] for line in run("new").stdout.splitlines()]
    assert {"gmm", "lda", "hmm", "regression"} <= set(kinds), kinds
    shown = {}
    for kind in kinds:
        printed = run("new", kind, kind).stdout
        commands = [shlex.split(line) for line in printed.splitlines() if line.startswith("  lehr ")]
        assert {"check", "fit", "show", "report"} <= {c[1] for c in commands} and len(commands) < 9, printed
        for command in commands:
            shown[kind] = shown.get(kind, "") + run(*command[1:], cwd=kind).stdout
        with open(f"{kind}/out/{kind}/fit.json", encoding="utf-8") as file:
            assert json.load(file)["status"] == "converged", kind
        assert "the report is in" in shown[kind] and os.path.getsize(f"{kind}/out/{kind}/report.html") > 10000, kind
        run("format", "--check", f"{kind}/{kind}.lehr")
        assert "there already" in run("new", kind, kind, code=2).stderr
    (change,) = [line for line in run("new", "gmm", "two words").stdout.splitlines() if line.startswith("  cd ")]
    assert shlex.split(change) == ["cd", "two words"], change
    # What the toy data were made of.
    assert re.search(r"river .*water|water .*river", shown["lda"]), shown["lda"]
    assert re.search(r"dose +1\.[345]", shown["regression"]), shown["regression"]
    assert shown["gmm"].count(" %)") >= 3 and "a  " in shown["gmm"], shown["gmm"]


def own_data():
    """Tables of the world, in units of their own and with gaps, in the starters' models: one command fits, one reports."""
    data = f"{ROOT}/models/data"
    columns = "Sepal.Length,Sepal.Width,Petal.Length,Petal.Width"
    run("fit", "gmm/gmm.lehr", "--data", f"x={data}/iris.csv:{columns}", "--out", "iris")
    run("fit", "gmm/gmm.lehr", "--data", f"x={data}/iris_gaps.csv:{columns}", "--out", "gaps")
    run("fit", "hmm/hmm.lehr", "--data", f"y={data}/us_gnp.csv:growth", "--out", "growth")
    run("fit", "counts/counts.lehr", "--data", f"x={data}/coal_counts.csv:count", "--out", "coal")
    left = run("fit", "regression/regression.lehr", "--drop-missing", "--data", f"x={data}/iris_gaps.csv:{columns.rpartition(',')[0]}",
               "--data", f"y={data}/iris_gaps.csv:Petal.Width", "--out", "iris_regression").stderr
    assert re.search(r"--drop-missing: \d+ of 150 elements of 'n' are left out", left), left
    birds = f"{data}/penguins.csv:bill_length_mm,bill_depth_mm"
    run("fit", "gmm/gmm.lehr", "--data", f"x={birds}", "--out", "bills")
    run("fit", "gmm/gmm.lehr", "--data", f"x={birds},flipper_length_mm,body_mass_g", "--out", "penguins")
    run("fit", "regression/regression.lehr", "--drop-missing", "--data", f"x={birds},flipper_length_mm", "--data",
        f"y={data}/penguins.csv:body_mass_g", "--out", "mass")
    run("fit", f"{ROOT}/models/hmm_poisson.lehr", "--data", f"x={data}/earthquakes.csv:count", "--save-locals", "--out", "quakes")
    for directory in ("iris", "gaps", "growth", "coal", "iris_regression", "bills", "penguins", "mass", "quakes"):
        run("show", directory)
        said = run("report", directory)
        assert "not shown" not in said.stderr and os.path.getsize(f"{directory}/report.html") > 10000, said
    shares = lambda fit: [float(s) for s in re.findall(r"\(([\d.e+]+) %\)", run("show", fit, "mu").stdout)]
    assert [round(s) for s in shares("bills")[:3]] == [46, 36, 18] and shares("bills")[3] < 1, shares("bills")
    assert [round(s) for s in shares("penguins")[:2]] == [64, 36], shares("penguins")
    assert re.search(r"flipper_length_mm +50\.", run("show", "mass", "w").stdout)  # least squares: 50.3


def unknown_words():
    for words, wanted in [(["ift"], "there is no command 'ift'; did you mean 'fit'?"), (["fit", "m.lehr", "--dat", "x"], "there is no option '--dat'; did you mean '--data'?"),
                          (["show", "out", "--fromat=csv"], "there is no option '--fromat=csv'; did you mean '--format'?"),
                          (["help", "sho"], "did you mean 'show'?"), (["new", "gmn"], "did you mean 'gmm'?")]:
        error = run(*words, code=2).stderr
        assert wanted in error, error


def help_of_all():
    commands = re.findall(r"^  ([a-z]+) {2,}", run("--help").stdout.split("Subcommands:")[1], re.M)
    assert {"fit", "help", "new", "completion"} <= set(commands), commands
    assert run("help").stdout.split("Subcommands:")[1].split() == run("--help").stdout.split("Subcommands:")[1].split()
    manual = run("help", "--man").stdout
    for command in commands:
        text = run("help", command).stdout
        assert text == run(command, "--help").stdout
        section = manual.split(f".SS lehr {command}\n")[1].split("\n.S")[0]
        for option in re.findall(r"^  (?:-\w,)?(--[a-z][a-z-]*)", text, re.M):
            assert option.replace("-", "\\-") in section, (command, option)
    if shutil.which("groff"):
        warnings = subprocess.run(["groff", "-man", "-ww", "-z"], input=manual, capture_output=True, text=True, check=True).stderr
        assert not warnings, warnings


def completion():
    def completed(*words):
        script = run("completion", "bash").stdout + f"COMP_WORDS=({shlex.join(words)})\nCOMP_CWORD={len(words) - 1}\n_lehr\necho ${{COMPREPLY[@]}}"
        return run("-c", script, program="bash").stdout.split()
    assert completed("lehr", "co") == ["compare", "completion"]
    assert completed("lehr", "fit", "--dro") == ["--drop-missing"]
    assert completed("lehr", "fit", "--method", "ca") == ["cavi"]
    assert completed("lehr", "new", "g") == ["gmm"]
    assert completed("lehr", "fit", "mod") == []  # the shell's own: names of files
    for shell in ("zsh", "fish"):
        script = run("completion", shell).stdout
        assert "drop-missing" in script
        if shutil.which(shell):
            run("-n", "-c", script, program=shell)
    assert "did you mean 'bash'?" in run("completion", "bahs", code=2).stderr


with tempfile.TemporaryDirectory() as directory:
    os.chdir(directory)
    for test in [unknown_words, help_of_all, completion, transcript, own_data]:
        test()
print("ok")
