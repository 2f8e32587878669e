"""Fits through the real command line, for the tests of this folder.

`fit` writes a model and its data to a temporary folder, runs `lehr fit` and returns what it wrote. Every fit is
checked for an ELBO that falls, by fit.json and by trace.csv. `finish` prints the verdict of a test program.
"""
import csv
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@dataclass
class Fit:
    posterior: dict  # name -> array
    report: dict  # fit.json
    elbo: float
    trace: list  # ELBO after each sweep
    temperatures: list  # of each sweep
    objectives: list    # what was maximised, where that is not the ELBO
    said: str           # on stderr


def lehr():
    if len(sys.argv) < 2 or not os.access(sys.argv[1], os.X_OK):
        sys.exit(f"usage: {sys.argv[0]} LEHR")
    return os.path.abspath(sys.argv[1])


def plain(value):
    """`value` as JSON: arrays as lists, NaN as null."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, float) and value != value:
        return None
    return value.item() if isinstance(value, np.generic) else value


def falls(trace):
    """The largest fall of the ELBO from one sweep to the next, relative to its size."""
    return max([(a - b) / (1 + abs(a)) for a, b in zip(trace, trace[1:])], default=0.0)


def fit(model, data, *arguments, init=None, monotone=True, save_locals=True):
    """`model` is a path or a text; `data` a dictionary, or a list of command line bindings."""
    with tempfile.TemporaryDirectory() as directory:
        at = lambda name: os.path.join(directory, name)
        if not os.path.exists(model):
            with open(at("model.lehr"), "w") as f:
                f.write(model)
            model = at("model.lehr")
        if isinstance(data, dict):
            with open(at("data.json"), "w") as f:
                json.dump({k: plain(v) for k, v in data.items()}, f)
            data = [at("data.json")]
        command = [lehr(), "fit", model, "--out", at("out"), "--quiet", *["--save-locals"] * save_locals]
        command += [a for d in data for a in ("--data", d)] + [str(a) for a in arguments]
        if not {"--search", "--method", "--anneal", "--temper"} & set(command):
            command += ["--search", "none"]  # tests of one run, unless they ask for more
        if init is not None:
            np.savez(at("init.npz"), **{k: np.asarray(v, dtype=float) for k, v in init.items()})
            command += ["--init", at("init.npz")]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"exit {done.returncode}: {done.stderr}")
        with np.load(at("out/posterior.npz")) as z:
            posterior = {k: z[k] for k in z.files}
        with open(at("out/fit.json")) as f:
            report = json.load(f)
        with open(at("out/trace.csv")) as f:
            rows = list(csv.DictReader(f))
    trace = [float(row["elbo"]) for row in rows]
    if monotone and report["elbo_decreases"] != 0:
        raise AssertionError(f"the ELBO fell {report['elbo_decreases']} times")
    if monotone and falls(trace) > 1e-9:
        raise AssertionError(f"the ELBO fell by {falls(trace):.1e}, relatively")
    return Fit(posterior, report, report["elbo"], trace, [float(row["temperature"]) for row in rows],
               [float(row["objective"]) for row in rows if "objective" in row], done.stderr)


class Folder:
    """A fit of `model` to `data` in a temporary folder."""

    def __init__(self, model, data, *arguments):
        self.folder = tempfile.TemporaryDirectory()
        self.model = model
        if not model.endswith(".lehr"):
            self.model = self.at("model.lehr")
            with open(self.model, "w") as f:
                f.write(model)
        self.run("fit", self.model, "--data", self.bind("train", data), "--out", self.at("fit"), "--quiet", *map(str, arguments))
        with np.load(self.at("fit/posterior.npz")) as z:
            self.posterior = {k: z[k] for k in z.files}

    def at(self, name):
        return os.path.join(self.folder.name, name)

    def bind(self, name, data):
        with open(self.at(name + ".json"), "w") as f:
            json.dump({k: plain(v) for k, v in data.items()}, f)
        return self.at(name + ".json")

    def run(self, *command, code=0):
        """What was printed, or the complaints where they are expected."""
        done = subprocess.run([lehr(), *command], capture_output=True, text=True)
        assert done.returncode == code, f"exit {done.returncode}: {done.stderr}"
        return done.stderr if code else done.stdout


def relative(got, want):
    """The largest difference, relative to each number but not to those far below the largest."""
    got, want = np.asarray(got, dtype=float), np.asarray(want, dtype=float)
    scale = np.maximum(np.abs(want), 1e-3 * np.max(np.abs(want)) + 1e-300)
    return float(np.max(np.abs(got.reshape(want.shape) - want) / scale))


CHECKS = {}


def check(f):
    """A check of the program that is run, by its name: finish() runs them, in order."""
    if f.__module__ == "__main__":
        CHECKS[f.__name__] = f
    return f


def holds(f):
    """The same of a function that returns whether what its first line says is so."""
    def said():
        assert f(), "not so"
        return f.__doc__.strip().splitlines()[0] if f.__doc__ else "by SciPy"

    if f.__module__ == "__main__":
        CHECKS[f.__name__] = said
    return f


def close(a, b, tolerance=1e-7):
    return bool(np.allclose(a, b, rtol=tolerance, atol=tolerance))


def finish(checks=CHECKS):
    """Runs named checks (functions that return a line about what held, or raise); exits 1 when one fails, at once where
    LEHR_STOP_AT_FIRST is set."""
    failed = 0
    for name, run in checks.items():
        try:
            print(f"ok     {name}: {run()}", flush=True)
        except Exception as e:  # a check that cannot run has failed
            failed += 1
            print(f"FAILED {name}: {type(e).__name__}: {e}", flush=True)
            if os.environ.get("LEHR_STOP_AT_FIRST"):
                sys.exit(1)
    print(f"{len(checks) - failed} of {len(checks)} hold")
    sys.exit(1 if failed or not checks else 0)
