"""The sides of a row: their commands, what a run takes of the processor and of the clock, and their answers."""
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.dirname(HERE))
from measure import PEERS, ROOT

PROGRAMS = {"python": [PEERS, f"{HERE}/peers.py"], "debian": ["/usr/bin/python3", f"{HERE}/peers.py"], "R": ["Rscript", f"{HERE}/peers.R"]}
MISSING = re.compile(r"No module named '[\w.]+'|there is no package called .\S+|No such file or directory: '.*(?:python|Rscript)'")
ONE = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")}


def save(folder, data, table):
    """Writes texts as files of their names, arrays as data.npz, and for a `table` those as long as the first as columns of data.csv."""
    arrays = {name: np.asarray(values) for name, values in data.items() if not isinstance(values, str)}
    for name in set(data) - set(arrays):
        with open(os.path.join(folder, name), "w") as f:
            f.write(data[name])
    if arrays:
        np.savez(os.path.join(folder, "data.npz"), **arrays)
    if not table:
        return
    length = len(next(iter(arrays.values())))
    columns = [(f"{name}{j + 1}" if values.ndim == 2 else name, values.reshape(length, -1)[:, j])
               for name, values in arrays.items() if len(values) == length for j in range(values[:1].size)]
    np.savetxt(os.path.join(folder, "data.csv"), np.stack([values for _, values in columns], 1), "%.12g", ",", comments="",
               header=",".join(name for name, _ in columns))


def printed(output):
    """The JSON that a peer prints, among warnings."""
    return json.loads([line for line in output.splitlines() if line.startswith("{")][-1])


class Lehr:
    """`lehr fit` with its defaults and `extra` options, or a script of peers.py with Lehr's Python package."""

    def __init__(self, program, row, size, folder, name, extra):
        self.row, self.out, self.data = row, os.path.join(folder, name), folder
        if row.script:
            library = {"PYTHONPATH": f"{ROOT}/python", "LEHR_LIBRARY": f"{os.path.dirname(program)}/liblehr.so"}
            self.command, self.more = [*PROGRAMS["python"], row.script, folder, self.out + ".npz", extra[-1] if extra else "default"], library
            return
        data = [word for path in row.data for word in ("--data", path.replace("=", f"={folder}/") if "=" in path else f"{folder}/{path}")]
        self.command = [program, "fit", row.model, *data, *row.options(size), "--threads", "1", "--quiet", "--out", self.out, *extra]
        self.more = {}

    def answer(self, output):
        """The answer, and what else is reported of the run."""
        if self.row.script:
            return dict(np.load(self.out + ".npz")), printed(output)
        with open(os.path.join(self.out, "fit.json")) as f:
            fit = json.load(f)
        data = np.load(os.path.join(self.data, "data.npz")) if "data.npz" in self.row.data else {}
        files = [path for name in ("posterior.npz", "sds.npz") if os.path.exists(path := os.path.join(self.out, name))]
        factors = {name: values for path in files for name, values in np.load(path).items()}
        return self.row.answer(factors, data), \
            {"status": fit["status"], "sweeps": fit["iterations"], "elbo": fit["elbo"], "compile": fit["seconds"]["compile"]}


class Peer:
    """Another program: the name of a program, of a fit, and its arguments."""

    def __init__(self, program, fit, *arguments, folder, name):
        self.out, self.more = os.path.join(folder, f"{name}.npz"), {}
        self.command = [*PROGRAMS[program], fit, folder, *([] if program == "R" else [self.out]), *map(str, arguments)]

    def answer(self, output):
        report = printed(output)
        found = report.pop("answer", None)
        if not found:
            return dict(np.load(self.out)), report
        found = {name: np.array(values) for name, values in found.items()}
        if "precision" in found:  # R has the columns of matrices first
            k = len(found["weight"])
            found |= {"mean": found["mean"].reshape(k, -1), "precision": found["precision"].reshape(k, found["mean"].size // k, -1)}
        return found, report


def run(side, limit):
    """CPU and clock seconds of a process with one thread and `limit` CPU seconds, what it printed, and why it failed, or None. Lehr begins
    with an empty cache."""
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as cache:
        try:
            child = subprocess.Popen(side.command, cwd=ROOT, env={**os.environ, **ONE, "LEHR_CACHE": cache, **side.more}, text=True,
                                     errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5)))
        except FileNotFoundError:
            return {"failure": "not installed"}
        output = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    found = {"cpu": usage.ru_utime + usage.ru_stime, "wall": time.perf_counter() - begin, "output": output, "failure": None}
    if child.returncode:
        last = [f"exit {child.returncode}", *output.strip().splitlines()][-1]
        stopped = child.returncode in (-signal.SIGXCPU, -signal.SIGKILL)
        found["failure"] = "not installed" if MISSING.search(output) else f"no answer in {limit} CPU s" if stopped else last
    return found
