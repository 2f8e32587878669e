#!/usr/bin/env python3
"""Chains of 10,000 steps: memory linear in the length, a small stack, and code that does not depend on the length."""
import os
import re
import resource
import sys

import numpy as np

sys.path.append(f"{sys.path[0]}/..")
from fitting import LEHR, finish, lehr, peak_memory, temporary  # noqa: E402

HMM = """model m { plate t ordered; plate k = 10;
  pi ~ Dirichlet(concentration = 1) over k;
  A[k] ~ Dirichlet(concentration = 1) over k;
  mu[k] ~ Normal(mean = 10, sd = 10);
  s[t] ~ Categorical(A[s[t-1]]) start Categorical(pi);
  observe x[t] ~ Normal(mean = mu[s[t]], sd = 1); }"""
SMOOTHER = """model m { plate t ordered; plate i = 3; plate j = i;
  data T : matrix over i, j;
  q ~ Gamma(shape = 1, rate = 1);
  h[t] ~ MvNormal(mean = T * h[t-1], precision = q) start MvNormal(mean = 0, precision = 1) over i;
  observe x[t] ~ Normal(mean = h[t, 0], sd = 1); }"""
SEQUENCES = """model m { plate seq; plate t in seq ordered; plate k = 3; plate weather = 2;
  data w[seq, t] : weather;
  pi ~ Dirichlet(concentration = 1) over k;
  A[k] ~ Dirichlet(concentration = 1) over k;
  D[weather, k] ~ Dirichlet(concentration = 1) over k;
  mu[k] ~ Normal(mean = 10, sd = 10);
  s[seq, t] ~ Categorical(PREVIOUS[s[seq, t-1]]) start Categorical(pi);
  observe x[seq, t] ~ Normal(mean = mu[s[seq, t]], sd = 1); }"""
STACK = 1 << 20  # bytes; a call for each step would need more
STEPS = 10000


def series(n):
    r = np.random.default_rng(4)
    return (np.repeat(r.integers(0, 10, n // 20 + 1) * 2.0, 20)[:n] + r.normal(size=n)).tolist()


def peak(model, steps, extra):
    """The resident memory of a fit, in bytes."""
    with temporary({"m.lehr": model, "d.json": {"x": series(steps), **extra}}) as directory:
        at = lambda name: os.path.join(directory, name)
        words = ["fit", at("m.lehr"), "--data", at("d.json"), "--out", at("out"), "--max-iter", "3", "--quiet"]
        limit = lambda: resource.setrlimit(resource.RLIMIT_STACK, (STACK, STACK))
        # What compiling takes is the same at every length, where it is done at every length.
        return peak_memory(LEHR, *words, preexec_fn=limit, env={**os.environ, "LEHR_CACHE": "off"})[0]


def linear(model, extra=None):
    one, two, four = (peak(model, n * STEPS, extra or {}) for n in (1, 2, 4))
    first, second = (two - one) / STEPS, (four - two) / (2 * STEPS)
    assert second <= 1.5 * first + 200, f"bytes a step: {first:.0f}, then {second:.0f}"
    return f"{first:.0f} bytes a step between {STEPS} and {2 * STEPS} steps, {second:.0f} up to {4 * STEPS}"


def same_code(model):
    with temporary({"m.lehr": model}) as folder:
        short, long = (lehr("emit", f"{folder}/m.lehr", "--as", "llvm", "--sizes", f"t={n}").stdout for n in (10, STEPS))
    assert short == long and len(short) >= 1000, "the code depends on the length"
    return f"{len(short)} characters of LLVM for 10 and for {STEPS} steps"


def pairs(previous):
    """The axes of a sequence's pairs: of sums over the steps where nothing but the steps tells them apart."""
    with temporary({"m.lehr": SEQUENCES.replace("PREVIOUS[", previous)}) as folder:
        text = lehr("emit", f"{folder}/m.lehr", "--as", "loops").stdout
    return set(re.findall(r"^  pair\.s\.\d+\[(.*)\]", text, re.M))


def summed_pairs():
    same, changing = pairs("A["), pairs("D[w[seq, t], ")
    assert same == {"k, k"} and changing == {"longest.t, k, k"}, f"pairs over {same}, {changing} where transitions change"
    return "sums of pairs where transitions are the same at all steps"


TRANSITION = [[0.9, 0.1, 0.0], [0.0, 0.8, 0.1], [0.1, 0.0, 0.7]]

finish({"10 states": lambda: linear(HMM), "10 states, code": lambda: same_code(HMM),
        "pairs": summed_pairs,
        "smoother": lambda: linear(SMOOTHER, {"T": TRANSITION}), "smoother, code": lambda: same_code(SMOOTHER)})
