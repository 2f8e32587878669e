"""Data for the rows of the benchmark, made from fixed seeds: each function gives arrays by name."""
import gzip

import numpy as np


def corpus(path):
    """LDA-C: where documents begin, terms and counts of their tokens."""
    begin, term, count = [0], [], []
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as f:
        for line in f:
            for pair in line.split()[1:]:
                left, right = pair.split(":")
                term.append(int(left))
                count.append(float(right))
            begin.append(len(term))
    return {"begin": np.array(begin), "term": np.array(term), "count": np.array(count)}


def mixture(points, dimension, components):
    rng = np.random.default_rng(0)
    centres = rng.normal(0, 3, (components, dimension))
    roots = 0.35 * rng.normal(size=(components, dimension, dimension)) + np.eye(dimension)
    z = rng.integers(0, components, points)
    return {"x": centres[z] + np.einsum("nij,nj->ni", roots[z], rng.normal(size=(points, dimension)))}


def save(path, values):
    np.save(path, np.ascontiguousarray(values))
