"""CPU seconds of a sweep: of Lehr, of C++ beside it, of other programs. All are processes with one thread.

A sweep of Lehr's is the difference in CPU time between a run with many sweeps and one with a quarter of them, divided by the
sweeps between: start, reading, compiling and writing cancel. (Writing takes longer where numbers can be compressed: a run with a
single sweep writes others.) A run that comes to rest is measured up to the sweep before, since more follows at its end, in
up to ten runs beside single sweeps. The others time their own sweeps, of which the median counts.
"""
import copy
import glob
import hashlib
import json
import os
import resource
import shlex
import statistics
import subprocess
import sys

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HERE = os.path.join(ROOT, "bench")
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")), "lehr-bench")
LEAST = 0.6  # CPU seconds: what a process takes to start differs by some 0.01
PEERS = os.path.join(CACHE, "peers/bin/python")  # made by `scripts/bench --peers`
FLAGS = ["-O3", "-march=native", "-std=c++20", "-Wno-ignored-attributes", "-I/usr/include/eigen3"]


def model_file(name):
    """The path of the model of this name in models/, from the root of the repository."""
    (path,) = glob.glob(f"models/*/{name}.lehr", root_dir=ROOT)
    return path


def cpu_of(command):
    """CPU seconds of a child, user and system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(command)}: exit {done.returncode}\n{done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


class Lehr:
    """A model with data in a directory, where others find the arrays and the start, the posterior after a sweep. The model is
    bound to `bound`, by default the arrays, or to what `data` says on the command line."""

    def __init__(self, program, model, directory, arrays, options=(), data=None, bound=None, locals_too=False):
        os.makedirs(directory, exist_ok=True)
        self.directory, self.locals_too, self.sweeps, self.least = directory, locals_too, 4, LEAST
        for name, values in arrays.items():
            raw(os.path.join(directory, name), values)
        if data is None:
            data = os.path.join(directory, "data.npz")
            np.savez(data, **(bound or arrays))
        self.command = [program, "fit", model, "--data", data, "--threads", "1", "--parts", "1", "--leap-after", "0", "--tol", "0",
                        "--local-tol", "0", "--local-iters", "1", "--search", "none", "--quiet"]
        for i, word in enumerate(options):
            if word in self.command:
                at = self.command.index(word)
                del self.command[at:at + 2]
        self.command += list(options)
        self.start = self.posterior("start", 1, [])
        for name, values in self.start.items():
            raw(os.path.join(directory, name), values)

    def posterior(self, name, sweeps, options):
        out = os.path.join(self.directory, name)
        keep = ["--save-locals"] if self.locals_too else []
        cpu_of(self.command + ["--out", out, "--max-iter", str(sweeps), *keep, *options])
        with np.load(os.path.join(out, "posterior.npz")) as file:
            found = {name: file[name] for name in file.files}
        with open(os.path.join(out, "fit.json")) as file:
            return found | {"elbo": np.array(json.load(file)["elbo"])}

    def other_build(self, program):
        """The same model, data and options with another build of Lehr, which begins at a start of its own. Builds from before the
        option --guide have separate factors anyway."""
        other = copy.copy(self)
        other.command = [program, *self.command[1:]]
        if "--guide" not in subprocess.run([program, "fit", "--help"], capture_output=True, text=True).stdout:
            other.command = [word for word in other.command if word not in ("--guide", "factorised")]
        return other

    def run(self, sweeps, options=()):
        """CPU seconds of a whole run, and its sweeps: one that comes to rest ends earlier."""
        out = os.path.join(self.directory, "fit")
        cpu = cpu_of(self.command + ["--out", out, "--max-iter", str(sweeps), *options])
        with open(os.path.join(out, "fit.json")) as file:
            return cpu, json.load(file)["iterations"]

    def without_elbos(self):
        """CPU seconds of a sweep without an ELBO."""
        return self.seconds(["--elbo-every", str(10 ** 9)])

    def seconds(self, options=()):
        """CPU seconds of a sweep, from so many that they take `least` together."""
        while True:
            few, start = self.run(1 + self.sweeps // 4, options)
            many, end = self.run(1 + self.sweeps, options)
            if end < 1 + self.sweeps:
                return self.seconds_before_rest(end - 1, options)
            if many - few >= 0.7 * self.least or self.sweeps > 5000:
                return (many - few) / (end - start)
            self.sweeps = int(self.sweeps * min(20, max(1.5, self.least / max(many - few, 1e-3)))) + 1

    def seconds_before_rest(self, last, options):
        """CPU seconds of a sweep, from runs of `last` sweeps, after which the next would come to rest."""
        ones, lasts = [], []
        while len(lasts) < 10 and sum(lasts) - sum(ones) < self.least:
            ones.append(self.run(1, options)[0])
            lasts.append(self.run(last, options)[0])
        return (statistics.median(lasts) - statistics.median(ones)) / (last - 1)

    def after(self, sweeps):
        """The posterior `sweeps` after the start."""
        start = os.path.join(self.directory, "start", "posterior.npz")
        return self.posterior("after", sweeps, ["--init", start])


def raw(path, values):
    values = np.asarray(values)
    values.astype("<i8" if values.dtype.kind in "iub" else "<f8").tofile(path)


def compiled(source, defines=()):
    """A program of one C++ file under bench/, compiled anew where its text, a header beside it, or the sizes are new."""
    words = ["g++", *FLAGS, *(f"-D{name}={value}" for name, value in dict(defines).items())]
    folders = {os.path.join(HERE, "native"), os.path.dirname(os.path.join(HERE, source))}
    headers = sorted(os.path.join(f, name) for f in folders for name in os.listdir(f) if name.endswith(".h"))
    text = b"".join(open(path, "rb").read() for path in [os.path.join(HERE, source), *headers])
    key = hashlib.sha256(text + shlex.join(words).encode()).hexdigest()[:16]
    program = os.path.join(CACHE, f"{os.path.basename(source)[:-4]}-{key}")
    if not os.path.exists(program):
        os.makedirs(CACHE, exist_ok=True)
        subprocess.run([*words, "-o", f"{program}.{os.getpid()}", os.path.join(HERE, source)], check=True)
        os.replace(f"{program}.{os.getpid()}", program)
    return program


def own_sweeps(command):
    """The median of the CPU seconds that a program prints as a JSON list; None if it cannot run here."""
    try:
        done = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True)
    except FileNotFoundError:
        return None
    if done.returncode != 0:
        return None
    return statistics.median(json.loads(done.stdout.splitlines()[-1]))


def disagreement(lehr, command, sweeps=3):
    """How far a program that begins at the same start is from Lehr after as many sweeps: the largest difference of a
    parameter, in units of the largest of its name."""
    if own_sweeps([*command, lehr.directory, sweeps]) is None:
        return None
    worst, ours = 0.0, lehr.after(sweeps)
    for name in os.listdir(lehr.directory):
        if name.startswith("result."):
            theirs, mine = np.fromfile(os.path.join(lehr.directory, name)), ours[name[len("result."):]].ravel()
            worst = max(worst, np.abs(theirs - mine).max() / np.abs(mine).max())
            os.remove(os.path.join(lehr.directory, name))
    return worst
