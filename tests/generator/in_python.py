"""usage: in_python.py FOLDER SIZES: fits FOLDER/model.lehr to FOLDER/data.json as `base` of checks.py does, into python.npz."""
import json
import sys
import warnings

import numpy as np

import lehr

folder, sizes = sys.argv[1], json.loads(sys.argv[2])
with open(f"{folder}/data.json") as f:
    data = json.load(f)


def array(value):
    if any(isinstance(row, list) for row in value) and len({len(row) for row in value if isinstance(row, list)}) > 1:
        rows = [np.array(row, dtype=float) for row in value]
        return lehr.Ragged(np.concatenate(rows), np.cumsum([0] + [len(row) for row in rows]))
    return np.array(value, dtype=float)


warnings.simplefilter("ignore")
try:
    model = lehr.Model(f"{folder}/model.lehr", sizes=sizes)
    model.fit({name: array(value) for name, value in data.items()}, search="none", tol=0, leap_after=0, max_iter=3,
              save_locals=True, threads=1)
    np.savez(f"{folder}/python.npz", **{name: np.asarray(x) for name, x in model.parameters_.items()})
except lehr.NumericalError:
    pass  # as on the command line
