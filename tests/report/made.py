"""Fits of several kinds and their reports, for the tests beside this file."""
import os
import sys

sys.path.append(f"{sys.path[0]}/../helpers")
from lehr_tests import lehr, model_file, read_json  # noqa: E402

DATA = "models/data"
IRIS = f"{DATA}/regression/iris.csv:Sepal.Length,Sepal.Width,Petal.Length"
FITS = {
    "gmm": ["--data", f"x={IRIS},Petal.Width", "--max-iter", "60", "--save-locals"],
    "lda": ["--data", f"w={DATA}/topics/kos.ldac.gz", "--labels", f"term={DATA}/topics/kos.vocab.txt", "--set", "K=3", "--max-iter", "2"],
    "hmm_gaussian": ["--data", f"{DATA}/sequences/japanese_vowels.json", "--max-iter", "20", "--save-locals"],
    "factorial_mixture": ["--data", f"x={DATA}/factors/bars.csv", "--max-iter", "30", "--save-locals"],
    "linear_regression": ["--data", f"x={IRIS}", "--data", f"y={DATA}/regression/iris.csv:Petal.Width", "--search", "none"],
    "ising": ["--data", f"{DATA}/networks/noisy_digit.json"],
    "local_level": ["--data", f"y={DATA}/sequences/nile.csv:flow", "--save-locals"],
    "coin": ["--data", f"{DATA}/distributions/coin.csv", "--method", "gibbs", "--draws", "50"],
}
OPTIONS = {"factorial_mixture": ["--image", "pixel=4x4"], "ising": ["--image", "site=16x16"]}


def make(directory, names=tuple(FITS)):
    """The reports by the names of their fits."""
    out = {}
    for name in names:
        where = os.path.join(directory, name)
        lehr("fit", model_file(name), *FITS[name], "--quiet", "--out", where)
        lehr("report", where, *OPTIONS.get(name, []))
        out[name] = os.path.join(where, "report.html")
    return out


def fit_json(report):
    return read_json(os.path.join(os.path.dirname(report), "fit.json"))
