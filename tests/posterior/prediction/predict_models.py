#!/usr/bin/env python3
"""`lehr predict` on every model of models/, with gaps in the data of its head comment: probabilities sum to one, numbers
are in order and finite, or the refusal is one that is listed here.

usage: predict_models.py LEHR, from the root of the repository
"""
import csv
import os
import pathlib
import re
import sys

import numpy as np

sys.path.append(f"{sys.path[0]}/..")
from fitting import arrays, finish, lehr, read_json, temporary, write_json  # noqa: E402

# What cannot be predicted, and a part of what is said: nothing observed, a missing parent, a total that nothing gives.
REFUSED = {"spin_system": (4, "nothing to predict"), "markov_switching": (4, "depend on growth"),
           "mixture_of_multinomials": (3, "nothing gives its 'n'"), "dirichlet_multinomial": (3, "nothing gives its 'n'"),
           "vector_autoregression": (4, "the items are not independent"),
           "lynx_autoregression": (4, "the items are not independent")}
WORDS = {"lda", "lda_learned_alpha", "hierarchical_dirichlet_process"}  # of documents: predict.py has their gaps


def holes(value):
    """The second element missing, all that it has."""
    gone = lambda v: [gone(x) for x in v] if isinstance(v, list) else None
    return [gone(v) if i == 1 else v for i, v in enumerate(value)]


def with_gaps(binding, observed, folder):
    name, _, rest = binding.rpartition("=")
    path, _, columns = rest.partition(":")
    new = os.path.join(folder, f"gaps_{name}_{os.path.basename(path)}")
    if path.endswith(".csv"):
        with open(path) as f:
            rows = list(csv.reader(f))
        wanted = columns.split(",") if columns else rows[0]
        for row in rows[2:5]:
            for k, column in enumerate(rows[0]):
                if (name in observed and column in wanted) or column in observed:
                    row[k] = ""
        with open(new, "w", newline="") as f:
            csv.writer(f).writerows(rows)
    else:
        write_json(new, {k: holes(v) if k in observed else v for k, v in read_json(path).items()})
    return (name + "=" if name else "") + new + (":" + columns if columns else "")


def predict(path):
    text = path.read_text()
    head = text.split("\nmodel ")[0].replace("\\\n//", " ")
    words = next(line.lstrip("/ ").split() for line in head.splitlines() if "lehr fit" in line)
    options = {k: [b for a, b in zip(words, words[1:]) if a == k] for k in ["--data", "--sizes", "--set", "--labels"]}
    with temporary() as folder:
        fit, out = os.path.join(folder, "fit"), os.path.join(folder, "out.npz")
        given = [x for k, values in options.items() for v in values for x in (k, v)]
        lehr("fit", path, *given, "--max-iter", "3", "--out", fit, "--quiet")
        observed = re.findall(r"observe (\w+)", text)
        gaps = [x for b in options["--data"] for x in ("--data", with_gaps(b, observed, folder))]
        sizes = [x for v in options["--sizes"] for x in ("--sizes", v)]
        done = lehr("predict", fit, *gaps, *sizes, "--draws", "20", "--out", out, code=None)
        code, said = REFUSED.get(path.stem, (0, ""))
        assert done.returncode == code and said in done.stderr, f"exit {done.returncode}: {done.stderr}"
        if code:
            return f"refused, {said}"
        found = arrays(out)
    for name, a in found.items():
        if name.endswith(".probability"):
            there = a[~np.isnan(a).any(-1)]
            assert there.size and np.allclose(there.sum(-1), 1, atol=1e-9) and (there >= 0).all(), name
        if name.endswith(".mean"):
            there = ~np.isnan(a)
            v = name[:-len(".mean")]
            assert there.any() and np.isfinite(a[there]).all() and (found[v + ".sd"][there] >= 0).all(), name
            low, middle, high = (found[v + q][there] for q in (".q5", ".q50", ".q95"))
            rounding = 1e-12 * (1 + abs(middle))  # quantiles of equal numbers are averages of them
            assert (low <= middle + rounding).all() and (middle <= high + rounding).all(), name
    for name in observed:
        assert any(k.startswith(name + ".") for k in found), f"nothing of {name}"
    return ", ".join(sorted({k.split(".")[0] for k in found}))


finish({path.stem: lambda path=path: predict(path)
        for path in sorted(pathlib.Path("models").glob("*/*.lehr")) if path.stem not in WORDS})
