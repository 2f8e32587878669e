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


def sequences(count, states, shortest, longest, letters=None, dimension=None):
    """Hidden Markov models: letters, or frames joined end to end; `lengths` and where sequences begin."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(shortest, longest + 1, count)
    moves = rng.dirichlet(np.full(states, 0.3), states) * 0.6 + 0.4 * np.eye(states)
    states_at = np.zeros((count, longest), int)
    states_at[:, 0] = rng.integers(0, states, count)
    limits = moves.cumsum(1)
    for t in range(1, longest):
        states_at[:, t] = np.minimum((rng.random((count, 1)) > limits[states_at[:, t - 1]]).sum(1), states - 1)
    z = states_at[np.arange(longest) < lengths[:, None]]
    begin = np.concatenate([[0], lengths.cumsum()])
    if letters:
        limits = rng.dirichlet(np.full(letters, 0.05), states).cumsum(1)
        x = np.array([np.searchsorted(limits[k], u) for k, u in zip(z, rng.random(len(z)))])
        return {"x": np.minimum(x, letters - 1), "begin": begin, "letters": np.array([letters])}
    centres = rng.normal(0, 2, (states, dimension))
    roots = 0.3 * rng.normal(size=(states, dimension, dimension)) + np.eye(dimension)
    x = centres[z] + np.einsum("nij,nj->ni", roots[z], rng.normal(size=(len(z), dimension)))
    return {"x": x, "begin": begin}


def factorial(points, pixels, features):
    rng = np.random.default_rng(0)
    images = rng.normal(size=(features, pixels)) * (rng.random((features, pixels)) < 0.3)
    z = rng.random((points, features)) < 0.25
    return {"x": z @ images + 0.2 * rng.normal(size=(points, pixels))}


def directions(points, dimension, latent):
    rng = np.random.default_rng(0)
    return {"x": rng.normal(size=(points, latent)) @ rng.normal(size=(latent, dimension)) + rng.normal(size=(points, dimension))}


def purchases(users, items, factors):
    rng = np.random.default_rng(0)
    taste, quality = rng.gamma(0.3, 1, (users, factors)), rng.gamma(0.3, 3, (factors, items))
    return {"Y": rng.poisson(taste @ quality).astype(float)}


def network(members, pairs, groups):
    """Pairs of members, and whether they are tied: often within a group, seldom across."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, groups, members)
    ends = rng.integers(0, members, (2, pairs))
    ends[1] = np.where(ends[0] == ends[1], (ends[1] + 1) % members, ends[1])
    tied = rng.random(pairs) < np.where(group[ends[0]] == group[ends[1]], 0.4, 0.05)
    return {"a": ends[0], "b": ends[1], "tie": tied.astype(int)}


def flights(count):
    rng = np.random.default_rng(0)
    temperature = rng.uniform(50, 85, count)
    return {"temperature": temperature, "damaged": (rng.random(count) < 1 / (1 + np.exp(1 + 0.2 * (temperature - 70)))).astype(int)}


def trials(count, dishes, samples):
    rng = np.random.default_rng(0)
    dish, sample = rng.integers(0, dishes, count), rng.integers(0, samples, count)
    mean = rng.normal(0, 0.8, dishes)[dish] + rng.normal(23, 1.9, samples)[sample]
    return {"dish": dish, "sample": sample, "diameter": mean + rng.normal(0, 0.5, count)}


def oscillators(steps, dimension):
    """A damped oscillation, seen in `dimension` noisy series."""
    rng = np.random.default_rng(0)
    turn = 0.98 * np.array([[np.cos(0.3), -np.sin(0.3)], [np.sin(0.3), np.cos(0.3)]])
    x = np.zeros((steps, 2))
    for t in range(1, steps):
        x[t] = turn @ x[t - 1] + rng.normal(size=2)
    return {"y": x @ rng.normal(size=(2, dimension)) + rng.normal(size=(steps, dimension))}


def ratings(users, items, share, factors):
    rng = np.random.default_rng(0)
    user, item = np.nonzero(rng.random((users, items)) < share)
    taste, quality = rng.normal(size=(users, factors)), rng.normal(size=(items, factors))
    return {"user": user, "item": item, "y": (taste[user] * quality[item]).sum(1) + 0.3 * rng.normal(size=user.size)}
