"""Draws by `lehr fit --method gibbs` (or exact) through the command line, and what they say: for the tests of this folder."""
import collections
import pathlib
from dataclasses import dataclass

import numpy as np
from scipy import stats

from fitting import lehr, read_csv, read_json, temporary, write, write_json


@dataclass
class Sampled:
    code: int
    said: str      # on stderr
    draws: dict    # column -> numbers, one chain after the other
    chains: list   # the same for each chain
    summary: dict  # column -> row of summary.csv
    fit: dict      # fit.json


def columns_of(path):
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    numbers = np.array([line.split(",") for line in lines[1:]], dtype=float)
    return dict(zip(lines[0].split(","), numbers.T))


def run(model, data, *options, draws=8000, warmup=500, thin=1, method="gibbs", seed=7):
    chain = ["--warmup", warmup, "--thin", thin] if method == "gibbs" else []
    with temporary() as folder:
        path = pathlib.Path(folder)
        done = lehr("fit", write(path / "m.lehr", model), "--data", write_json(path / "d.json", data), "--method", method,
                    *chain, "--draws", draws, "--seed", seed, "--quiet", "--out", path / "o", *options, code=None)
        if done.returncode != 0:
            return Sampled(done.returncode, done.stderr, {}, [], {}, {})
        chains = [columns_of(p) for p in sorted((path / "o").glob("draws_*.csv"))]
        summary = {row["name"]: row for row in read_csv(path / "o/summary.csv")}
        fit = read_json(path / "o/fit.json")
    return Sampled(0, done.stderr, {k: np.concatenate([c[k] for c in chains]) for k in chains[0]}, chains, summary, fit)


def sample(*arguments, **options):
    got = run(*arguments, **options)
    assert got.code == 0, got.said
    return got


def check_states(name, draws, columns, log_weights):
    """`log_weights`: state -> log of its probability but for a constant."""
    states = list(log_weights)
    w = np.exp(np.array([log_weights[s] for s in states]) - max(log_weights.values()))
    rows = [tuple(row) for row in np.stack([draws[c] for c in columns], 1)]
    seen = collections.Counter(rows)
    counts = np.array([seen[s] for s in states])
    assert counts.sum() == len(rows), f"{name}: states that are none"
    expected = w / w.sum() * len(rows)
    few = expected < 8
    if few.any():
        counts, expected = (np.append(x[~few], x[few].sum()) for x in (counts, expected))
    p = stats.chisquare(counts, expected).pvalue
    assert p > 1e-3, f"{name}: p = {p}"


def effective_size(x):
    """Of one chain, by the initial monotone sequence of its autocovariances (Geyer 1992)."""
    n = len(x)
    padded = np.fft.rfft(x - np.mean(x), 2 * n)
    covariance = np.fft.irfft(padded * np.conj(padded))[:n] / n
    if covariance[0] == 0:
        return n
    pairs = covariance[:n // 2 * 2].reshape(-1, 2).sum(1)
    negative = np.flatnonzero(pairs <= 0)
    pairs = np.minimum.accumulate(pairs[:negative[0]] if len(negative) else pairs)
    return n * covariance[0] / max(2 * pairs.sum() - covariance[0], covariance[0] / n)


def standard_error(x):
    """Monte Carlo, of the mean of one chain."""
    return np.std(x) / np.sqrt(effective_size(x))
