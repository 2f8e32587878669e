"""Fits through the real command line, for the tests of these folders.

`fit` writes a model and its data to a temporary folder, runs `lehr fit` and returns what it wrote. Every fit is
checked for an ELBO that falls, by fit.json and by trace.csv. `finish` prints the verdict of a test program.
"""
import os
import sys
import tempfile
from dataclasses import dataclass

import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../helpers"))
from lehr_tests import (CHECKS, LEHR, ROOT, arrays, check, close, columns, each, finish, holds, lehr, model_file,  # noqa: E402, F401
                        near, peak_memory, plain, read, read_csv, read_json, relative, run, started, temporary, within, write, write_json)


@dataclass
class Fit:
    posterior: dict  # name -> array
    report: dict  # fit.json
    elbo: float
    trace: list  # ELBO after each sweep
    temperatures: list  # of each sweep
    objectives: list    # what was maximised, where that is not the ELBO
    said: str           # on stderr


def falls(trace):
    """The largest fall of the ELBO from one sweep to the next, relative to its size."""
    return max([(a - b) / (1 + abs(a)) for a, b in zip(trace, trace[1:])], default=0.0)


def fit(model, data, *arguments, init=None, monotone=True, save_locals=True):
    """`model` is a path or a text; `data` a dictionary, or a list of command line bindings."""
    with tempfile.TemporaryDirectory() as directory:
        at = lambda name: os.path.join(directory, name)
        if not os.path.exists(model):
            model = write(at("model.lehr"), model)
        if isinstance(data, dict):
            data = [write_json(at("data.json"), plain(data))]
        command = ["fit", model, "--out", at("out"), "--quiet", *["--save-locals"] * save_locals]
        command += [a for d in data for a in ("--data", d)] + [str(a) for a in arguments]
        if not {"--search", "--method", "--anneal", "--temper"} & set(command):
            command += ["--search", "none"]  # tests of one run, unless they ask for more
        if init is not None:
            np.savez(at("init.npz"), **{k: np.asarray(v, dtype=float) for k, v in init.items()})
            command += ["--init", at("init.npz")]
        done = lehr(*command, code=None)
        if done.returncode != 0:
            raise RuntimeError(f"exit {done.returncode}: {done.stderr}")
        posterior, report, rows = arrays(at("out/posterior.npz")), read_json(at("out/fit.json")), read_csv(at("out/trace.csv"))
    trace = [float(row["elbo"]) for row in rows]
    assert not monotone or report["elbo_decreases"] == 0, f"the ELBO fell {report['elbo_decreases']} times"
    assert not monotone or falls(trace) <= 1e-9, f"the ELBO fell by {falls(trace):.1e}, relatively"
    return Fit(posterior, report, report["elbo"], trace, [float(row["temperature"]) for row in rows],
               [float(row["objective"]) for row in rows if "objective" in row], done.stderr)


class Folder:
    """A fit of `model` to `data` in a temporary folder."""

    def __init__(self, model, data, *arguments):
        self.folder = tempfile.TemporaryDirectory()
        self.model = model
        if not model.endswith(".lehr"):
            self.model = write(self.at("model.lehr"), model)
        self.run("fit", self.model, "--data", self.bind("train", data), "--out", self.at("fit"), "--quiet", *map(str, arguments))
        self.posterior = arrays(self.at("fit/posterior.npz"))

    def at(self, name):
        return os.path.join(self.folder.name, name)

    def bind(self, name, data):
        return write_json(self.at(name + ".json"), plain(data))

    def run(self, *command, code=0):
        """What was printed, or the complaints where they are expected."""
        done = lehr(*command, code=code)
        return done.stderr if code else done.stdout

    def score(self, data, *arguments, code=0):
        """score.json for these data, or the complaints where they are expected."""
        said = self.run("score", self.at("fit"), "--data", self.bind("test", data), *map(str, arguments), code=code)
        return said if code else read_json(self.at("fit/score.json"))

    def drawn(self, count):
        """Columns of draws from the fit, by name."""
        self.run("draws", self.at("fit"), "-n", count, "--out", self.at("draws.csv"))
        return columns(self.at("draws.csv"))
