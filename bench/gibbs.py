#!/usr/bin/env python3
"""Speed of Gibbs sampling beside JAGS (Debian's package `jags`): CPU seconds per sweep and effective draws per CPU second of the
same models on the same data, one thread each, interleaved in one run. The time of one of our sweeps is the difference between a
run with a long warmup and one with a short one, divided by the sweeps; that of JAGS is what `update` takes in a process that
stays: start, reading, compiling and what is written do not count. Effective draws are those of the number that mixes worst, of
the parameters that both sides keep; both begin near the values that made the data.

usage: gibbs.py LEHR [--rounds N] [mixture] [regression] [hmm]
"""
import argparse
import json
import os
import pathlib
import pty
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass

import numpy as np

from bench import ROOT, cpu_of

sys.path.insert(0, os.path.join(ROOT, "tests/posterior"))
from sampling import columns_of, effective_size  # noqa: E402


@dataclass
class Problem:
    lehr: str
    jags: str
    data: dict      # by the names of both; JAGS takes categories and indices from 1
    truth: dict     # where both begin
    kept: list      # parameters whose draws are written
    sweeps: tuple   # that are timed, of Lehr and of JAGS
    draws: int      # to see how they mix
    indices: tuple = ()


def mixture():
    rng = np.random.default_rng(1)
    n, d, k = 3000, 2, 3  # JAGS takes a time quadratic in n to set up its graph
    mu = np.array([[-2.0, 0.0], [2.0, 1.0], [0.0, 4.0]])
    z = rng.choice(k, n, p=[0.5, 0.3, 0.2])
    x = mu[z] + rng.normal(size=(n, d))
    lehr = """model m { plate n; plate d = 2; plate k = 3;
      pi ~ Dirichlet(concentration = 1) over k;
      mu[k, d] ~ Normal(mean = 0, precision = 0.01); tau[k, d] ~ Gamma(shape = 1, rate = 1);
      z[n] ~ Categorical(pi);
      observe x[n, d] ~ Normal(mean = mu[z[n], d], precision = tau[z[n], d]); }"""
    jags = """model { for (i in 1:N) { z[i] ~ dcat(pi); for (j in 1:2) { x[i, j] ~ dnorm(mu[z[i], j], tau[z[i], j]) } }
      for (k in 1:3) { a[k] <- 1; for (j in 1:2) { mu[k, j] ~ dnorm(0, 0.01); tau[k, j] ~ dgamma(1, 1) } }
      pi ~ ddirch(a) }"""
    return Problem(lehr, jags, {"x": x, "N": n}, {"mu": mu, "tau": np.ones((k, d)), "z": z + 1}, ["mu", "tau", "pi"],
                   (5000, 150), 1000)


def regression():
    rng = np.random.default_rng(2)
    n, groups = 5000, 100
    g, x = rng.integers(0, groups, n), rng.normal(size=n)
    a, b = rng.normal(1, 0.7, groups), rng.normal(-0.5, 0.3, groups)
    y = a[g] + b[g] * x + rng.normal(0, 1, n)
    lehr = """model m { plate n; plate g; data group[n] : g; data x[n] : real;
      ma ~ Normal(mean = 0, precision = 0.01); mb ~ Normal(mean = 0, precision = 0.01);
      ta ~ Gamma(shape = 1, rate = 1); tb ~ Gamma(shape = 1, rate = 1); tau ~ Gamma(shape = 1, rate = 1);
      a[g] ~ Normal(mean = ma, precision = ta); b[g] ~ Normal(mean = mb, precision = tb);
      observe y[n] ~ Normal(mean = a[group[n]] + b[group[n]] * x[n], precision = tau); }"""
    jags = """model { for (i in 1:N) { y[i] ~ dnorm(a[group[i]] + b[group[i]] * x[i], tau) }
      for (j in 1:100) { a[j] ~ dnorm(ma, ta); b[j] ~ dnorm(mb, tb) }
      ma ~ dnorm(0, 0.01); mb ~ dnorm(0, 0.01); ta ~ dgamma(1, 1); tb ~ dgamma(1, 1); tau ~ dgamma(1, 1) }"""
    return Problem(lehr, jags, {"y": y, "x": x, "group": g, "N": n}, {"a": a, "b": b}, ["ma", "mb", "ta", "tb", "tau"],
                   (20000, 2000), 3000, ("group",))


def hmm():
    rng = np.random.default_rng(3)
    length, k = 2000, 3
    A = np.array([[0.9, 0.08, 0.02], [0.1, 0.85, 0.05], [0.05, 0.15, 0.8]])
    mu, s = np.array([-2.0, 0.0, 2.5]), [0]
    for _ in range(length - 1):
        s.append(rng.choice(k, p=A[s[-1]]))
    x = mu[s] + rng.normal(size=length)
    lehr = """model m { plate t ordered; plate k = 3; data p : simplex over k;
      A[k] ~ Dirichlet(concentration = 1) over k;
      mu[k] ~ Normal(mean = 0, precision = 0.01); tau[k] ~ Gamma(shape = 1, rate = 1);
      s[t] ~ Categorical(A[s[t-1]]) start Categorical(p);
      observe x[t] ~ Normal(mean = mu[s[t]], precision = tau[s[t]]); }"""
    jags = """model { s[1] ~ dcat(p); for (t in 2:N) { s[t] ~ dcat(A[s[t - 1], 1:3]) }
      for (t in 1:N) { x[t] ~ dnorm(mu[s[t]], tau[s[t]]) }
      for (k in 1:3) { mu[k] ~ dnorm(0, 0.01); tau[k] ~ dgamma(1, 1); A[k, 1:3] ~ ddirch(a[1:3]); a[k] <- 1 } }"""
    return Problem(lehr, jags, {"x": x, "p": np.full(k, 1 / 3), "N": length}, {"mu": mu, "tau": np.ones(k), "s": np.array(s) + 1},
                   ["mu", "tau", "A"], (2000, 200), 2000)


def r_dump(values):
    """As R's dump() writes them: arrays column by column."""
    def one(v):
        v = np.asarray(v)
        text = ",".join(repr(x) for x in v.flatten(order="F").tolist())
        return text if v.ndim == 0 else f"structure(c({text}), .Dim=c({','.join(map(str, v.shape))}))" if v.ndim > 1 else f"c({text})"
    return "\n".join(f"`{name}` <- {one(v)}" for name, v in values.items()) + "\n"


def lehr_run(o, problem, folder, warmup, draws):
    """CPU seconds, and the chain."""
    path = lambda name: os.path.join(folder, name)
    with open(path("m.lehr"), "w") as f:
        f.write(problem.lehr)
    with open(path("d.json"), "w") as f:
        json.dump({k: np.asarray(v).tolist() for k, v in problem.data.items() if k != "N"}, f)
    shutil.rmtree(path("out"), ignore_errors=True)
    seconds = cpu_of([o.lehr, "fit", path("m.lehr"), "--data", path("d.json"), "--method", "gibbs", "--init", "points", "--warmup",
                      str(warmup), "--draws", str(draws), "--seed", "1", "--quiet", "--out", path("out")])
    return seconds, columns_of(pathlib.Path(path("out/draws_1.csv")))


class Jags:
    """A process that takes commands, so that a model is compiled once."""

    def __init__(self, problem, folder):
        path = lambda name: os.path.join(folder, name)
        data = {k: v + 1 if k in problem.indices else v for k, v in problem.data.items()}
        for name, text in {"m.bug": problem.jags, "d.R": r_dump(data), "i.R": r_dump(problem.truth)}.items():
            with open(path(name), "w") as f:
                f.write(text)
        # Of a pipe it would read nothing before its end.
        ours, its = pty.openpty()
        self.process = subprocess.Popen(["jags"], stdin=its, stdout=its, stderr=its, cwd=folder)
        os.close(its)
        self.terminal, self.folder = ours, folder
        self.run('model in "m.bug"', 'data in "d.R"', "compile, nchains(1)", 'parameters in "i.R"', "initialize", "update 20")

    def run(self, *commands):
        """CPU seconds that they take: `pwd` answers when they are done."""
        before = self.cpu()
        os.write(self.terminal, ("\n".join(commands) + "\npwd\n").encode())
        said = ""
        while os.path.realpath(self.folder) not in said:
            said += os.read(self.terminal, 4096).decode()
            if "rror" in said:
                sys.exit(f"jags: {said}")
        return self.cpu() - before

    def cpu(self):
        with open(f"/proc/{self.process.pid}/stat") as f:
            user, system = f.read().rsplit(")", 1)[1].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def draws(self, problem, sweeps):
        self.run(*(f"monitor {name}" for name in problem.kept), f"update {sweeps}", "coda *")
        numbers = np.loadtxt(os.path.join(self.folder, "CODAchain1.txt"))[:, 1]
        with open(os.path.join(self.folder, "CODAindex.txt")) as f:
            rows = [line.split() for line in f]
        return {name: numbers[int(first) - 1:int(last)] for name, first, last in rows}

    def close(self):
        os.write(self.terminal, b"exit\n")
        self.process.wait()


def worst(chain, problem):
    """Effective draws per sweep of the number that mixes worst."""
    names = [name for name in chain if name.split(".")[0].split("[")[0] in problem.kept]
    assert names
    return min(effective_size(chain[name]) / len(chain[name]) for name in names)


def bench(o, name, problem):
    """In each round a long warmup and a short one of Lehr, and sweeps of a JAGS that is kept; then draws, to see how they mix."""
    with tempfile.TemporaryDirectory() as folder:
        jags = Jags(problem, folder)
        ours = lambda *n: lehr_run(o, problem, folder, *n)
        seen = {"lehr": [], "jags": []}
        for _ in range(o.rounds):
            seen["lehr"].append((ours(1 + problem.sweeps[0], 2)[0] - ours(1, 2)[0]) / problem.sweeps[0])
            seen["jags"].append(jags.run(f"update {problem.sweeps[1]}") / problem.sweeps[1])
        chains = {"lehr": ours(100, problem.draws)[1], "jags": jags.draws(problem, problem.draws)}
        jags.close()
    print(name)
    per = {side: statistics.median(v) for side, v in seen.items()}
    for side, v in seen.items():
        share = worst(chains[side], problem)
        print(f"  {side}: {1000 * per[side]:.4f} CPU ms per sweep ({', '.join(f'{1000 * x:.4f}' for x in v)}); "
              f"{share:.4f} effective draws per sweep, {share / per[side]:.1f} per CPU second")
    print(f"  jags / lehr: {per['jags'] / per['lehr']:.1f} per sweep", flush=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].strip())
    parser.add_argument("lehr")
    parser.add_argument("what", nargs="*")
    parser.add_argument("--rounds", type=int, default=3)
    o = parser.parse_intermixed_args()
    o.lehr = os.path.abspath(o.lehr)
    if not shutil.which("jags"):
        sys.exit("jags is not installed (scripts/bootstrap jags)")
    for name, make in {"mixture": mixture, "regression": regression, "hmm": hmm}.items():
        if not o.what or name in o.what:
            bench(o, name, make())


if __name__ == "__main__":
    main()
