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


def communities(folder):
    """Few ties a node: the groups that made them are found from places by ties, each pair there once, in both directions, or
    nodes of two kinds. The ELBO is that of a fit which begins with the groups, or better."""
    model = """model m { plate pair; plate member; SECOND plate g = 5; plate h = ROWS; data a[pair] : member; data b[pair] : OTHER;
      pi ~ Dirichlet(concentration = 1) over g; B[g, h] ~ Beta(1, 1); z[member] ~ Categorical(pi); KIND
      observe tie[pair] ~ Bernoulli(B[z[a[pair]], z[b[pair]]]); }""".replace("z[b[pair]]", "VB[b[pair]]")
    gains = []
    for case in ("once", "both", "kinds"):
        r = np.random.default_rng(7)
        n, k = 300, 5
        z = r.choice(k, n, p=[0.3, 0.25, 0.2, 0.15, 0.1])
        a, b = np.indices((n, n)).reshape(2, -1)
        keep = {"once": a < b, "both": a != b, "kinds": a >= 0}[case]
        a, b = a[keep], b[keep]
        w = r.choice(k, n) if case == "kinds" else z
        tie = (r.random(len(a)) < np.where(z[a] == w[b], 0.2, 0.012)).astype(int)
        text = model.replace("VB", "v" if case == "kinds" else "z")
        two = ("plate other;", "other", "5", "rho ~ Dirichlet(concentration = 1) over h; v[other] ~ Categorical(rho);")
        for word, value in zip(("SECOND", "OTHER", "ROWS", "KIND"), two if case == "kinds" else ("", "member", "g", "")):
            text = text.replace(word, value)
        write(os.path.join(folder, case + ".lehr"), text)
        np.savez(os.path.join(folder, case + ".npz"), a=a, b=b, tie=tie)
        on, off = np.ones((k, k)), np.ones((k, k))
        np.add.at(on, (z[a], w[b]), tie)
        np.add.at(off, (z[a], w[b]), 1 - tie)
        start = {"z.probs": np.eye(k)[z] * 0.96 + 0.008, "B.a": on, "B.b": off, "pi.concentration": 1 + np.bincount(z, minlength=k)}
        if case == "kinds":
            start.update({"v.probs": np.eye(k)[w] * 0.96 + 0.008, "rho.concentration": 1 + np.bincount(w, minlength=k)})
        np.savez(os.path.join(folder, case + "_start.npz"), **start)
        arguments = ["--data", os.path.join(folder, case + ".npz")]
        file = os.path.join(folder, case + ".lehr")
        best = bench.fit(LEHR, folder, case + "_made", file, arguments, "--init", os.path.join(folder, case + "_start.npz"))[0]["elbo"]
        gains.append(bench.fit(LEHR, folder, case, file, arguments)[0]["elbo"] - best)
    assert min(gains) > -1e-3, gains
    return "above it by " + ", ".join(f"{g:.3f}" for g in gains)


with temporary() as folder:
    for check in (what_moves, communities, groups_found, sticks, scikit_learn):
        print(f"ok {check.__name__}: {check(folder)}", flush=True)
