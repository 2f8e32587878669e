"""Fits of several kinds and their reports, for the tests beside this file."""
import os
import sys

sys.path.append(f"{sys.path[0]}/../helpers")
from lehr_tests import lehr, read_json  # noqa: E402

DATA = "models/data"
IRIS = f"{DATA}/iris.csv:Sepal.Length,Sepal.Width,Petal.Length"
FITS = {
    "gmm": ["--data", f"x={IRIS},Petal.Width", "--max-iter", "60", "--save-locals"],
    "lda": ["--data", f"w={DATA}/kos.ldac.gz", "--labels", f"term={DATA}/kos.vocab.txt", "--set", "K=3", "--max-iter", "2"],
    "hmm_gaussian": ["--data", f"{DATA}/japanese_vowels.json", "--max-iter", "20", "--save-locals"],
    "factorial_mixture": ["--data", f"x={DATA}/bars.csv", "--max-iter", "30", "--save-locals"],
    "linear_regression": ["--data", f"x={IRIS}", "--data", f"y={DATA}/iris.csv:Petal.Width", "--search", "none"],
    "ising": ["--data", f"{DATA}/noisy_digit.json"],
    "local_level": ["--data", f"y={DATA}/nile.csv:flow", "--save-locals"],
    "coin": ["--data", f"{DATA}/coin.csv", "--method", "gibbs", "--draws", "50"],
}
OPTIONS = {"factorial_mixture": ["--image", "pixel=4x4"], "ising": ["--image", "site=16x16"]}


def make(directory, names=tuple(FITS)):
    """The reports by the names of their fits."""
    out = {}
    for name in names:
        where = os.path.join(directory, name)
        lehr("fit", f"models/{name}.lehr", *FITS[name], "--quiet", "--out", where)
        lehr("report", where, *OPTIONS.get(name, []))
        out[name] = os.path.join(where, "report.html")
    return out


def fit_json(report):
    return read_json(os.path.join(os.path.dirname(report), "fit.json"))
