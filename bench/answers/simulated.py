"""Data of the rows, made from fixed seeds or read from models/data. Each function gives (data, truth): data are arrays by name for all
sides, or the text of a file by its name; truth is what `quality` compares answers with."""
import csv
import gzip
import os
import subprocess

import numpy as np

from references import maximum_likelihood, restricted_likelihood

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def columns(path, *names):
    """Columns of a CSV file, as texts."""
    with open(os.path.join(ROOT, path)) as f:
        rows = list(csv.DictReader(f))
    return [np.array([row[name] for row in rows]) for name in names]


def covariates(rng, n, d):
    """Columns of which neighbours correlate by 0.7."""
    x = rng.normal(size=(n, d))
    for j in range(1, d):
        x[:, j] = 0.7 * x[:, j - 1] + np.sqrt(0.51) * x[:, j]
    return x


def regression(kind, n, d):
    rng = np.random.default_rng(9)
    x = covariates(rng, n, d)
    line = x @ rng.normal(0, 0.4, d) + 0.5
    noise = {"linear": rng.normal, "student": lambda size: rng.standard_t(4, size), "logistic": rng.logistic, "probit": rng.normal}[kind]
    y = line + noise(size=n)
    y = (y > 0).astype(int) if kind in ("logistic", "probit") else y
    return {"x": x, "y": y}, maximum_likelihood(kind, x, y)


def classes(n, d, k):
    """Items of k classes, and half as many that are held out."""
    rng = np.random.default_rng(9)
    x, w = covariates(rng, n + n // 2, d), rng.normal(0, 0.5, (k, d))
    y = (x @ w.T + rng.gumbel(size=(len(x), k))).argmax(1)
    return {"x": x[:n], "y": y[:n]}, {"x": x[n:], "y": y[n:]}


def nile():
    year, flow = (column.astype(float) for column in columns("models/data/sequences/nile.csv", "year", "flow"))
    return {"x": year, "y": flow}, maximum_likelihood("linear", year[:, None], flow)


def factors(n, d, k, equal_noise):
    rng = np.random.default_rng(2)
    w = rng.normal(size=(d, k)) * np.linspace(2, 0.6, k)
    noise = np.full(d, 0.5) if equal_noise else rng.uniform(0.2, 1.5, d)
    x = rng.normal(size=d) + rng.normal(size=(n + 2000, k)) @ w.T + rng.normal(size=(n + 2000, d)) * noise**0.5
    return {"x": x[:n]}, {"x": x[n:]}


def network(members, groups):
    """A planted partition with 12 ties a member, four of five within its group; all pairs, and the ties alone."""
    rng = np.random.default_rng(8)
    group = rng.choice(groups, members, p=rng.dirichlet([5] * groups))
    a, b = np.triu_indices(members, 1)
    within, across = 0.8 * 12 * groups / members, 0.2 * 12 * groups / (members * (groups - 1))
    tie = (rng.random(len(a)) < np.where(group[a] == group[b], within, across)).astype(int)
    return {"a": a, "b": b, "tie": tie}, {"group": group}


def ratings(persons, films, count, k):
    """Stars in halves for distinct pairs; a tenth more is held out."""
    rng = np.random.default_rng(7)
    u, v = rng.normal(0, 0.35, (persons, k)), rng.normal(0, 0.5, (films, k))
    person_effect, film_effect = rng.normal(0, 0.4, persons), rng.normal(0, 0.5, films)
    draws = 3 * count
    user = rng.choice(persons, draws, p=rng.dirichlet(np.full(persons, 0.9)))
    item = rng.choice(films, draws, p=rng.dirichlet(np.full(films, 0.7)))
    chosen = rng.permutation(np.unique(user * films + item, return_index=True)[1])[:count * 11 // 10]
    user, item = user[chosen], item[chosen]
    y = 3.6 + person_effect[user] + film_effect[item] + (u[user] * v[item]).sum(1) + rng.normal(0, 0.8, len(user))
    y = np.clip(np.round(2 * y) / 2, 0.5, 5)
    return {"user": user[:count], "item": item[:count], "y": y[:count], "test_user": user[count:], "test_item": item[count:]}, \
        {"user": user[count:], "item": item[count:], "y": y[count:]}


def counts(users, items, k, mean):
    """A matrix of counts, of which four of five are given."""
    rng = np.random.default_rng(7)
    rate = rng.gamma(0.3, 1, (users, k)) @ rng.gamma(0.3, 1, (k, items))
    all_counts = rng.poisson(rate * mean / rate.mean())
    given = rng.binomial(all_counts, 0.8)
    return {"Y": given}, {"Y": all_counts - given}


def documents(count):
    """The first documents of KOS; every tenth is held out."""
    with gzip.open(os.path.join(ROOT, "models/data/topics/kos.ldac.gz"), "rt") as f:
        lines = [line for line in f if len(line.split()) > 1][:count]
    given = [line for i, line in enumerate(lines) if i % 10]
    pairs = [[tuple(map(int, pair.split(":"))) for pair in line.split()[1:]] for line in lines[::10]]
    return {"words.ldac": "".join(given)}, {"documents": pairs}


def level(steps):
    rng = np.random.default_rng(6)
    state = rng.normal(0, 0.3, steps).cumsum()
    return {"y": state + rng.normal(size=steps)}, {"state": state[None]}


def trend(steps):
    rng = np.random.default_rng(6)
    slope = rng.normal(0, 0.02, steps).cumsum()
    state = np.concatenate([[0], slope[:-1]]).cumsum() + rng.normal(0, 0.3, steps).cumsum()
    return {"y": state + rng.normal(size=steps)}, {"state": np.array([state, slope])}


def moving_weights(steps):
    rng = np.random.default_rng(6)
    x1, x2 = rng.normal(size=(2, steps))
    state = np.array([[1], [0.5], [-0.5]]) + rng.normal(size=(3, steps)).cumsum(1) * np.array([[0.05], [0.03], [0.02]])
    return {"x1": x1, "x2": x2, "y": state[0] + state[1] * x1 + state[2] * x2 + rng.normal(0, 0.5, steps)}, {"state": state}


def points(n, d, k):
    """A mixture, and a fifth more points that are held out."""
    rng = np.random.default_rng(3)
    centres = rng.normal(0, 2 if d < 10 else 1.5, (k, d))
    roots = np.array([np.linalg.cholesky(np.cov(rng.normal(size=(d, 3 * d))) + 0.1 * np.eye(d)) for _ in range(k)])
    z = rng.choice(k, n + n // 5, p=rng.dirichlet(np.full(k, 3)))
    x = centres[z] + np.einsum("nij,nj->ni", roots[z], rng.normal(size=(len(z), d)))
    return {"x": x[:n]}, {"x": x[n:]}


def chains(sequences, steps, k, dimension=None, letters=None):
    """Hidden Markov models, frames joined end to end, and as many sequences that are held out."""
    rng = np.random.default_rng(5)
    moves = 0.3 * rng.dirichlet(np.full(k, 0.5), k) + 0.7 * np.eye(k)
    z = np.zeros((2 * sequences, steps), int)
    z[:, 0] = rng.integers(k, size=2 * sequences)
    for t in range(1, steps):
        z[:, t] = (rng.random((2 * sequences, 1)) > moves.cumsum(1)[z[:, t - 1]]).sum(1).clip(0, k - 1)
    if letters:
        x = (rng.random(z.shape + (1,)) > rng.dirichlet(np.full(letters, 0.3), k).cumsum(1)[z]).sum(-1).clip(0, letters - 1)
    else:
        x = rng.normal(0, 1.5, (k, dimension))[z] + rng.normal(size=z.shape + (dimension,)) * rng.uniform(0.5, 1.5, (k, dimension))[z]
    joined = x[:sequences].reshape(sequences * steps, *x.shape[2:])
    return {"x": joined, "t": np.full(sequences, steps)}, {"x": x[sequences:]}


def crossed(n, subjects, items):
    rng = np.random.default_rng(1)
    x, subject, item = rng.normal(size=(n, 2)), rng.integers(subjects, size=n), rng.integers(items, size=n)
    y = 2 + x @ [0.5, -0.3] + rng.normal(0, 0.8, subjects)[subject] + rng.normal(0, 0.5, items)[item] + rng.normal(size=n)
    return {"y": y, "x": x, "of_subject": subject, "of_item": item}, restricted_likelihood(x, y, [subject, item])


def nested(schools, classes_each, pupils):
    rng = np.random.default_rng(1)
    school_of = np.repeat(np.arange(schools), classes_each)
    of_class = np.repeat(np.arange(len(school_of)), pupils)
    x = rng.normal(size=(len(of_class), 2))
    effect = rng.normal(0, 0.8, schools)[school_of] + rng.normal(0, 0.5, len(school_of))
    y = 2 + x @ [0.5, -0.3] + effect[of_class] + rng.normal(size=len(x))
    of_school = school_of[of_class]
    data = {"y": y, "x": x, "of_class": of_class, "school_of": school_of, "of_school": of_school}
    return data, restricted_likelihood(x, y, [of_class, of_school])


def penicillin():
    diameter, dish, sample = columns("models/data/hierarchical/penicillin.csv", "diameter", "dish", "sample")
    groups = [np.unique(names, return_inverse=True)[1] for names in (dish, sample)]
    y = diameter.astype(float)
    return {"diameter": y, "dish": groups[0], "sample": groups[1]}, restricted_likelihood(np.empty((len(y), 0)), y, groups)


def pastes():
    batch, cask, strength = columns("models/data/hierarchical/pastes.csv", "batch", "cask", "strength")
    batch, cask, y = np.unique(batch, return_inverse=True)[1], cask.astype(int), strength.astype(float)
    groups = [np.unique(batch * 100 + cask, return_inverse=True)[1], batch]
    return {"batch_of": batch, "cask_of": cask, "strength": y}, restricted_likelihood(np.empty((len(y), 0)), y, groups)


def sleepstudy():
    """The data of R's lme4, where it is installed, and its estimates (Bates et al. 2015)."""
    here = os.path.dirname(os.path.abspath(__file__))
    done = subprocess.run(["Rscript", os.path.join(here, "peers.R"), "sleepstudy"], capture_output=True, text=True, check=True)
    table = np.loadtxt(done.stdout.splitlines(), delimiter=",")
    x, subject = np.stack([np.ones(len(table)), table[:, 1]], 1), np.unique(table[:, 2], return_inverse=True)[1]
    return {"y": table[:, 0], "x": x, "of_subject": subject}, {"effects": [251.405, 10.467], "errors": [6.825, 1.546]}


def small_sets(count):
    """Mixtures of three in two dimensions, a hundred points each, and 500 that are held out."""
    rng = np.random.default_rng(10)
    centres = rng.normal(0, 2.5, (count, 1, 3, 2))
    z = np.array([rng.choice(3, 600, p=rng.dirichlet([4] * 3)) for _ in range(count)])
    x = np.take_along_axis(centres[:, 0], z[..., None], 1) + rng.normal(0, 0.7, (count, 600, 2))
    return {"x": x[:, :100]}, {"x": x[:, 100:]}
