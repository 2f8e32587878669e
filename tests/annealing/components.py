#!/usr/bin/env python3
"""Moves of components in the search: the number of groups is found with a generous truncation, the ELBO is never below that of
the groups that made the data nor below scikit-learn's with ten starts, and only components that could change places are moved.

usage: components.py LEHR
"""
import os
import sys

import numpy as np
from scipy.special import betaln, gammaln

sys.path.append(f"{sys.path[0]}/../helpers")
from lehr_tests import LEHR, ROOT, temporary, write, write_json  # noqa: E402

sys.path.insert(0, os.path.join(ROOT, "bench/experiments"))
import components as bench  # noqa: E402

CELLS = bench.cells()


def dirichlet_multinomial(counts, alpha):
    """Log probability of a sequence of categories with these counts."""
    return gammaln(alpha * counts.size) - gammaln(alpha * counts.size + counts.sum()) + (gammaln(alpha + counts) - gammaln(alpha)).sum()


def of_poissons(data, z):
    a, b = 1, 0.02
    x = data["x"]
    out = dirichlet_multinomial(np.bincount(z, minlength=20), 0.05) - gammaln(x + 1.0).sum()
    for k in set(z):
        n, s = (z == k).sum(), x[z == k].sum()
        out += a * np.log(b) - gammaln(a) + gammaln(a + s) - (a + s) * np.log(b + n)
    return out


def of_bernoullis(data, z):
    out = dirichlet_multinomial(np.bincount(z, minlength=20), 0.05)
    for k in set(z):
        on, n = data["x"][z == k].sum(axis=0), (z == k).sum()
        out += (betaln(1 + on, 1 + n - on) - betaln(1, 1)).sum()
    return out


def of_answers(data, z):
    out = dirichlet_multinomial(np.bincount(z, minlength=20), 0.05)
    for k in set(z):
        out += sum(dirichlet_multinomial(np.bincount(column, minlength=4), 1) for column in data["x"][z == k].T)
    return out


def of_chain(data, s):
    """Counts along one sequence: initial state, transitions, emissions."""
    x = data["x"]
    moved = np.zeros((20, 20))
    np.add.at(moved, (s[:-1], s[1:]), 1)
    out = dirichlet_multinomial(np.bincount(s[:1], minlength=20), 0.05) + sum(dirichlet_multinomial(row, 0.05) for row in moved)
    out -= gammaln(x + 1.0).sum()
    for k in set(s):
        n, total = (s == k).sum(), x[s == k].sum()
        out += np.log(0.1) + gammaln(1 + total) - (1 + total) * np.log(0.1 + n)
    return out


def groups_found(folder):
    """With the categories known, the ELBO is their log joint probability, parameters integrated out: a bound in closed form."""
    known = {"mixture_of_poissons": of_poissons, "mixture_of_bernoullis": of_bernoullis, "answers": of_answers, "hidden_counts": of_chain}
    found, said = [], []
    for cell in known:
        for seed in (0, 1):
            got = bench.one(LEHR, folder, cell, seed, "quick")
            data, groups = CELLS[cell][1](np.random.default_rng(100 + seed))
            bound = known[cell](data, groups)
            # A transition that occurs once is given a row's probability by the element that makes it: no move of components
            # leads to the other place of that element.
            slack = 10 if cell == "hidden_counts" else 1e-6 * abs(bound)
            assert got["elbo"] > bound - slack, (cell, seed, got["elbo"], bound)
            assert got["elbo"] >= got["before"] and got["moves"]["sweeps"] > 0, got
            found.append(got["components"] == got["groups"])
            said.append(f"{cell} {got['elbo'] - bound:.1f}")
    assert sum(found) >= len(found) - 1, found
    return f"{sum(found)} of {len(found)}; ELBO above the bound: " + ", ".join(said)


def sticks(folder):
    """A Dirichlet process with twenty components: five are left, the largest first."""
    for cell in ("dirichlet_process", "dirichlet_process_wishart"):
        got = bench.one(LEHR, folder, cell, 3, "quick")
        posterior = np.load(os.path.join(folder, cell, "3/searched/posterior.npz"))
        mass = posterior["z.probs"].sum(axis=0)
        assert got["components"] == 5 and list(np.argsort(-mass)[:5]) == [0, 1, 2, 3, 4], mass.round(1)
    return f"{mass[:6].round(1)}"


def scikit_learn(folder):
    """The same model and priors; the ELBO of the posterior that scikit-learn ends with is that of a start without sweeps."""
    gains = [bench.over_peer(LEHR, folder, seed) for seed in (0, 1)]
    assert min(gains) > -1e-3, gains
    return "above it by " + ", ".join(f"{g:.3f}" for g in gains)


def what_moves(folder):
    """Components that data tell apart stay where they are, and a plain run has no moves."""
    r = np.random.default_rng(4)
    data = os.path.join(folder, "d.json")
    write_json(data, {"x": r.poisson(3, 40).tolist(), "on": [1, 2, 3]})
    arguments = ["--data", data]
    for name, rate, moved in (("given", "on[z[n]] * lam[z[n]]", False), ("named", "lam[z[n]]", True)):
        model = os.path.join(folder, name + ".lehr")
        write(model, "model m { plate n; plate k = 3; %s pi ~ Dirichlet(concentration = 1) over k; lam[k] ~ Gamma(shape = 1, rate = 1); "
              "z[n] ~ Categorical(pi); observe x[n] ~ Poisson(%s); }" % ("" if moved else "data on[k] : real;", rate))
        report, _ = bench.fit(LEHR, folder, name, model, arguments)
        assert ("moves" in report["search"]) == moved, report["search"]
        if moved:
            assert report["search"]["moves"]["of"] == ["k"]
            moves = report["search"]["moves"]["sweeps"]
            assert report["iterations"] == report["search"]["sweeps"] > moves >= 0
        assert "search" not in bench.fit(LEHR, folder, name, model, arguments, "--search", "none")[0]
    return "where they could change places"


with temporary() as folder:
    for check in (what_moves, groups_found, sticks, scikit_learn):
        print(f"ok {check.__name__}: {check(folder)}", flush=True)
