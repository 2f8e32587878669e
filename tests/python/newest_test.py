#!/usr/bin/env python3
"""Beside the newest packages that pip has: scikit-learn's checks of the estimators, files of AnnData, Parquet by the conversion that
docs/data.md gives, fits in xarray and ArviZ. Skipped where pip cannot have them.

usage: newest_test.py LEHR BUILD, from the root of the repository
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile

from newest import run_inside

LEHR = os.path.abspath(sys.argv[1])


def fitted(out, *words):
    """The bytes of the posterior."""
    done = subprocess.run([LEHR, "fit", *words, "--quiet", "--out", out], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with open(f"{out}/posterior.npz", "rb") as file:
        return file.read()


def from_anndata(folder):
    import anndata
    import numpy as np
    import scipy.sparse

    counts = np.random.default_rng(4).poisson(0.4, (60, 25)) + np.eye(60, 25, dtype=int)
    cells = anndata.AnnData(scipy.sparse.csr_matrix(counts.astype(np.float32)))
    cells.obs_names, cells.var_names = [f"cell {i}" for i in range(60)], [f"gene {j}" for j in range(25)]
    cells.layers["columns"] = cells.X.tocsc()
    cells.write_h5ad(f"{folder}/cells.h5ad")
    rows = [f"{np.count_nonzero(row)} " + " ".join(f"{j}:{n}" for j, n in enumerate(row) if n) for row in counts]
    with open(f"{folder}/cells.ldac", "w", encoding="utf-8") as file:
        file.write("\n".join(rows) + "\n")
    model = ["models/topics/lda.lehr", "--set", "K=3", "--max-iter", "20"]
    same = fitted(f"{folder}/ldac", *model, "--sizes", "term=25", "--data", f"w={folder}/cells.ldac")
    assert fitted(f"{folder}/h5ad", *model, "--data", f"w={folder}/cells.h5ad") == same
    assert fitted(f"{folder}/layer", *model, "--data", f"w={folder}/cells.h5ad:layers/columns") == same


def from_parquet(folder):
    """By the command of the page, with the name of the table."""
    import pandas

    with open("docs/data.md", encoding="utf-8") as page:
        line = re.search(r'^python3 -c "import pandas.*"$', page.read(), re.M)[0]
    table = pandas.read_csv("models/data/distributions/penguins.csv")
    table.to_parquet(f"{folder}/table.parquet")
    # Now and then the interpreter aborts at its end, in a thread of pyarrow, when the table has been written.
    subprocess.run([sys.executable, *shlex.split(line)[1:]], cwd=folder, check=False)
    columns = "bill_length_mm,bill_depth_mm"
    of_csv = fitted(f"{folder}/csv", "models/mixtures/gmm.lehr", "--data", f"x=models/data/distributions/penguins.csv:{columns}")
    assert fitted(f"{folder}/parquet", "models/mixtures/gmm.lehr", "--data", f"x={folder}/table.csv:{columns}") == of_csv


def to_xarray(folder):
    import arviz
    import numpy as np

    import lehr

    X = np.loadtxt("models/data/mixtures/faithful.csv", delimiter=",", skiprows=1)
    m = lehr.Model("models/mixtures/gmm.lehr", K=3, labels={"dim": ["eruptions", "waiting"]}).fit(X)
    assert m.to_xarray()["mu"].sel(dim="waiting").shape == (3,)
    drawn = arviz.from_dict(posterior=m.draws(200))
    mean = drawn.posterior["mu"].mean(("chain", "draw")).values
    np.testing.assert_allclose(mean[m.posterior_["pi"].mean > 0.1], m.posterior_["mu"].mean[m.posterior_["pi"].mean > 0.1], rtol=0.05)


run_inside(sys.argv[2])
with tempfile.TemporaryDirectory() as directory:
    for part in (from_anndata, from_parquet, to_xarray):
        part(directory)
sys.exit(subprocess.run([sys.executable, "tests/python/estimators_test.py", LEHR, "Checks"]).returncode)
