#!/usr/bin/env python3
"""Compiled models are kept, in the folder that LEHR_CACHE names: read again, told apart, compiled anew where they are damaged, and
written by many processes at a time; the same numbers whichever way the code came. LLVM is loaded where something is compiled,
and nowhere else; the library of NetCDF where draws are written or read.

usage: cache_test.py LEHR
"""
import os
import subprocess
import sys

sys.path.append(f"{sys.path[0]}/../../helpers")
from lehr_tests import LEHR, bits, read, run, temporary, write  # noqa: E402

DATA = "models/data/mixtures/faithful.csv:eruptions,waiting"


def command(out, *options):
    return [LEHR, "fit", "models/mixtures/gmm_diagonal.lehr", "--data", "x=" + DATA, "--out", out, "--quiet", "--search", "none", "--max-iter", "5",
            *options]


def fit(cache, *options, environment=None):
    with temporary() as folder:
        run(*command(folder + "/o", *options), env={**os.environ, "LEHR_CACHE": cache, **(environment or {})})
        return bits(folder + "/o/posterior.npz")


def files(cache):
    """Name -> (inode, bytes) of what is kept."""
    return {n: (os.stat(os.path.join(cache, n)).st_ino, read(os.path.join(cache, n), "rb")) for n in sorted(os.listdir(cache))}


def kept(cache):
    first = fit(cache)
    once = files(cache)
    assert len(once) == 1 and all(n.endswith(".code") for n in once), list(once)
    assert fit(cache) == first and files(cache) == once, "compiled again"
    assert oct(os.stat(cache).st_mode & 0o777) == "0o700"
    assert fit("off") == first and fit(cache, "--no-cache") == first and files(cache) == once
    fit(cache, "--set", "K=5")
    assert len(files(cache)) == 2, "another constant is another object"
    return first


def damaged(cache, first):
    good = files(cache)
    for name, (_, text) in good.items():
        for bad in (text[:-1], text[:100], b"", text[:200] + bytes([text[200] ^ 1]) + text[201:]):
            write(os.path.join(cache, name), bad)
            assert fit(cache) == first
    fit(cache, "--set", "K=5")
    assert {n: t for n, (_, t) in files(cache).items()} == {n: t for n, (_, t) in good.items()}


def by_many(folder):
    cache = os.path.join(folder, "many")
    running = [subprocess.Popen(command(os.path.join(folder, f"o{k}")), env=dict(os.environ, LEHR_CACHE=cache)) for k in range(6)]
    assert [p.wait() for p in running] == [0] * 6
    assert len(files(cache)) == 1, list(files(cache))


def elsewhere(folder, first):
    home = os.path.join(folder, "home")
    environment = {"HOME": home, "LEHR_CACHE": ""}
    environment["XDG_CACHE_HOME"] = ""
    assert fit("", environment=environment) == first and len(os.listdir(home + "/.cache/lehr")) == 1
    environment["XDG_CACHE_HOME"] = home + "/x"
    assert fit("", environment=environment) == first and len(os.listdir(home + "/x/lehr")) == 1
    assert fit("/dev/null/no") == first, "a folder that cannot be made"
    environment["XDG_CACHE_HOME"] = os.path.relpath(home + "/y")  # not valid: the other place counts
    assert fit("", environment=environment) == first and not os.path.exists(home + "/y")


def among_others(folder, first):
    """Files that are not the cache's stay where they are, and links are not followed."""
    others = os.path.join(folder, "others")
    os.mkdir(others)
    for name in "thesis.tex", "notes.code":
        with open(os.path.join(others, name), "w") as f:
            f.truncate(300 << 20)
    assert fit(others + "/") == first and sorted(os.listdir(others)) == ["lehr-code", "notes.code", "thesis.tex"]
    assert len(files(os.path.join(others, "lehr-code"))) == 1
    os.symlink(os.path.join(others, "lehr-code"), os.path.join(folder, "link"))
    once = files(os.path.join(others, "lehr-code"))
    assert fit(os.path.join(folder, "link/"), "--set", "K=6") and files(os.path.join(others, "lehr-code")) == once


def loads(library, *command, cache="off"):
    """For this machine: whether there is a processor that LEHR_CPU names, only LLVM knows."""
    env = {k: v for k, v in os.environ.items() if k != "LEHR_CPU"}
    done = run(*command, env={**env, "LEHR_CACHE": cache, "LD_DEBUG": "files"})
    assert "libstdc++" in done.stderr, done.stderr
    return library in done.stderr


def what_is_loaded(folder, cache):
    out = os.path.join(folder, "fitted")
    assert loads("libLLVM", *command(out, "--set", "K=7"), cache=cache)
    assert not loads("libLLVM", *command(out, "--set", "K=7"), cache=cache)
    for words in (["--version"], ["check", "models/topics/lda.lehr"], ["derive", "models/topics/lda.lehr"], ["show", out],
                  ["emit", "models/topics/lda.lehr", "--as", "loops"]):
        assert not any(loads(library, LEHR, *words) for library in ("libLLVM", "libnetcdf", "libhdf5")), words
    assert loads("libLLVM", LEHR, "emit", "models/distributions/coin.lehr", "--as", "llvm")
    chains = [LEHR, "fit", "models/distributions/coin.lehr", "--data", "x=models/data/distributions/coin.csv", "--method", "gibbs", "--warmup", "2", "--draws", "4", "--out", out]
    assert loads("libnetcdf", *chains)


with temporary() as folder:
    cache = os.path.join(folder, "cache")
    numbers = kept(cache)
    damaged(cache, numbers)
    by_many(folder)
    elsewhere(folder, numbers)
    among_others(folder, numbers)
    what_is_loaded(folder, cache)
    print("ok")
