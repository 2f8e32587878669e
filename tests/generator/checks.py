"""What must hold of every model: a list of checks, each of which raises Defect where it does not.

A model that the compiler refuses (exit 3: no closed form) is no defect; nor is an option that it refuses with exit code 2,
or data that are refused with 4. A signal, exit code 1, the words "internal error" and a time above the limit always are.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import time

import numpy as np

import jags

PASSES = "dead within shares invariants settled sorted lanes steps short blocks narrow pad jam checks recompute unread".split()
SECONDS = 120
SHORT = ["--search", "none", "--tol", "0", "--leap-after", "0", "--quiet", "--save-locals"]


class Defect(Exception):
    def __init__(self, check, text):
        super().__init__(f"{check}: {text}")
        self.check, self.text = check, text


class Refused(Exception):
    """The compiler has no closed form for the model, or refuses the data."""


class Bench:
    """Runs the program on one case, in a folder of its own."""

    def __init__(self, program, case, folder):
        self.program, self.case, self.folder = program, case, folder
        shutil.rmtree(folder, ignore_errors=True)
        self.bound = case.write(folder)
        self.model = f"{folder}/model.lehr"

    def run(self, check, *words, env=None, allowed=(0,)):
        environment = {**os.environ, "LEHR_CACHE": "off", **(env or {})}
        try:
            done = subprocess.run([self.program, *words], capture_output=True, text=True, timeout=SECONDS, env=environment)
        except subprocess.TimeoutExpired:
            raise Defect(check, f"no end after {SECONDS} s: {' '.join(words)}") from None
        if done.returncode not in allowed or "internal error" in done.stderr:
            raise Defect(check, f"exit code {done.returncode} of `lehr {' '.join(words)}`: {done.stderr.strip()[-600:]}")
        return done

    def fit(self, check, *options, env=None, name="fit", short=SHORT, bound=None):
        """Exit code, arrays of the posterior and fit.json."""
        out = f"{self.folder}/{name}"
        shutil.rmtree(out, ignore_errors=True)
        done = self.run(check, "fit", self.model, *(bound or self.bound), *short, *options, "--out", out, env=env, allowed=(0, 2, 3, 4, 5))
        if not os.path.exists(f"{out}/posterior.npz"):
            return done.returncode, {}, {"stderr": done.stderr}
        with np.load(f"{out}/posterior.npz") as q, open(f"{out}/fit.json") as f:
            return done.returncode, {k: q[k] for k in q.files}, json.load(f)


def difference(a, b):
    """The largest difference of two posteriors, each array in units of its largest number; infinite where their shapes differ."""
    if a.keys() != b.keys():
        return np.inf, "other arrays"
    worst = (0.0, "")
    for name in a:
        x, y = np.asarray(a[name]), np.asarray(b[name])
        if x.shape != y.shape:
            return np.inf, name
        if x.dtype.kind != "f" or not x.size:
            continue
        if not np.array_equal(np.isnan(x), np.isnan(y)):
            return np.inf, name
        gap = np.nanmax(np.abs(x - y)) if not np.isnan(x).all() else 0
        size = max(np.nanmax(np.abs(x)) if not np.isnan(x).all() else 1, 1e-3)
        worst = max(worst, (gap / size, name))
    return worst


def same(check, first, second, tolerance):
    """Two fits agree, also in how they end."""
    if first[0] != second[0]:
        raise Defect(check, f"exit codes {first[0]} and {second[0]}: {first[2].get('stderr', '')}{second[2].get('stderr', '')}")
    gap, name = difference(first[1], second[1])
    if not gap <= tolerance:
        raise Defect(check, f"'{name}' differs by {gap:.2g}")
    elbos = [f[2].get("elbo") for f in (first, second)]
    if None not in elbos and not abs(elbos[0] - elbos[1]) <= max(tolerance, 1e-9) * (1 + abs(elbos[0])):
        raise Defect(check, f"ELBO {elbos[0]} and {elbos[1]}")


def well(b):
    done = b.run("check", "check", b.model, allowed=(0, 3))
    if done.returncode:
        raise Refused(done.stderr)


def formatted(b):
    """Formatting twice is formatting once, and leaves the meaning."""
    def derived():
        return re.sub(r"\(lines? [\d, ]+\)", "", b.run("derive", "derive", b.model).stdout)

    before = derived()
    texts = []
    for _ in range(2):
        b.run("format", "format", b.model)
        with open(b.model) as f:
            texts.append(f.read())
    if texts[0] != texts[1]:
        raise Defect("format", "a second time changes the text")
    if derived() != before:
        raise Defect("format", "the derivation is another one")


def base(b):
    """What the others are compared with: native code, all passes."""
    b.base = b.fit("base", "--max-iter", "3", "--threads", "1")
    code, arrays, written = b.base
    if code in (2, 4):
        raise Refused(written.get("stderr", ""))
    for name, x in arrays.items():
        if x.dtype.kind == "f" and np.isinf(x).any():
            raise Defect("base", f"'{name}' is not finite")


def interpreted(b):
    same("interpreter", b.base, b.fit("interpreter", "--max-iter", "3", "--interpret", "--no-opt", ",".join(PASSES)), 1e-6)


def without(name):
    def check(b):
        same(f"without {name}", b.base, b.fit(f"without {name}", "--max-iter", "3", "--no-opt", name), 1e-6)
    return check


# Thresholds of runs and of readers: a value below what small data have, and one among them.
RUNS = {"shares.operations": (1, 500), "shares.of_sum": (0, 2), "shares.outside": (1, 500), "shares.many_items": (1, 64),
        "streamed_data.part": (1, 100), "streamed_data.first": (1, 5), "streamed_data.most_items": (1, 7),
        "predict_parts.most_items": (1, 3), "score.items_at_once": (1, 3), "survey.most_places": (1, 4),
        "line_rows.most_places": (2, 5), "line_rows.chunk": (1, 50)}


def moved(b, which):
    """An environment with these thresholds moved."""
    r = np.random.default_rng(b.case.seed)
    return {"LEHR_THRESHOLDS": ",".join(f"{name}={RUNS[name][r.integers(2)]}" for name in RUNS if name.startswith(which))}


def threads(b):
    """One sum, whoever works on its parts; shares of any size."""
    small = moved(b, "shares.")
    same("threads", b.fit("threads", "--max-iter", "3", "--threads", "1", env=small),
         b.fit("threads", "--max-iter", "3", "--threads", "3", env=small), 0)
    same("shares", b.base, b.fit("shares", "--max-iter", "3", "--threads", "3", env=small), 1e-6)


def processors(b):
    for name in ("x86-64-v2", "x86-64-v3"):
        fit = b.fit(name, "--max-iter", "3", env={"LEHR_CPU": name})
        if fit[0] == 2:
            return False  # this machine has not its instructions
        same(name, b.base, fit, 1e-6)
    return True


def streamed(b):
    files = b.case.write_arrays(b.folder)
    if not files:
        return False
    fit = b.fit("stream", "--max-iter", "3", "--stream", "--threads", "2", "--spill", f"{b.folder}/spilled",
                env=moved(b, ""), bound=files)
    if fit[0] in (2, 3, 4):
        return False
    return same("stream", b.base, fit, 1e-6)


def single(b):
    fit = b.fit("float", "--max-iter", "3", "--precision", "float")
    if fit[0] or b.base[0]:
        return False
    return same("float", b.base, fit, 0.02)


def climbs(b):
    """The ELBO never falls, and a run that begins where another has converged ends there."""
    long = ["--search", "none", "--tol", "1e-11", "--max-iter", "300", "--quiet", "--save-locals"]
    code, arrays, written = b.fit("climbs", name="climbed", short=long)
    if code:
        return False
    if written.get("elbo_decreases", 0):
        raise Defect("climbs", f"the ELBO fell {written['elbo_decreases']} times")
    if written["status"] != "converged":
        return False
    more = b.fit("stays", "--init", f"{b.folder}/climbed", short=long)
    if more[0] == 0:
        same("stays", (code, arrays, written), more, 1e-3)


def sampled(b):
    """Draws do not depend on the threads, and are numbers."""
    out = []
    for n in ("1", "2"):
        done = b.fit("gibbs", "--method", "gibbs", "--warmup", "20", "--draws", "20", "--chains", "2", "--threads", n,
                     name="drawn", short=["--quiet"])
        table = f"{b.folder}/drawn/draws_1.csv"
        if done[0] or not os.path.exists(table):
            return False
        with open(table) as f:
            out.append(f.read())
    if out[0] != out[1]:
        raise Defect("gibbs", "the draws depend on the threads")
    if re.search(r"\b(nan|inf)\b", out[0]):
        raise Defect("gibbs", "a draw is not a number")


def against_jags(b):
    """Gibbs sampling here and by JAGS have the same means."""
    try:
        theirs = jags.sampled(b.case, f"{b.folder}/jags")
    except jags.Untranslated:
        return False
    except FileNotFoundError:
        return False  # JAGS is not here
    done = b.fit("jags", "--method", "gibbs", "--warmup", "1000", "--draws", str(jags.SWEEPS), "--chains", "4", name="drawn", short=["--quiet"])
    if done[0]:
        return False
    if not os.path.exists(f"{b.folder}/drawn/summary.csv"):
        return False
    with open(f"{b.folder}/drawn/summary.csv") as f:
        rows = [line.split(",") for line in f.read().splitlines()[1:]]
    found = {r[0]: (float(r[1]), float(r[3])) for r in rows}
    for name, (mean, error) in theirs.items():
        mine = found.get(jags.ours(name))
        if mine and abs(mean - mine[0]) > jags.FAR * np.hypot(error, mine[1]) + 1e-6 * abs(mean):
            raise Defect("jags", f"E[{name}] is {mine[0]:.4g} ({mine[1]:.2g}), by JAGS {mean:.4g} ({error:.2g})")


def resumed(b):
    """A fit that was killed goes on to the bits of one that was not."""
    long = ["--search", "none", "--tol", "0", "--max-iter", "500", "--quiet", "--save-locals"]
    whole = b.fit("resumed", name="whole", short=long)
    if whole[0]:
        return False
    out = f"{b.folder}/killed"
    command = [b.program, "fit", b.model, *b.bound, *long, "--checkpoint-every", "1", "--out", out]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env={**os.environ, "LEHR_CACHE": "off"})
    while running.poll() is None and not os.path.exists(f"{out}/checkpoint.bin"):
        time.sleep(0.001)
    running.kill()
    running.wait()
    if not os.path.exists(f"{out}/checkpoint.bin"):
        return False  # it had ended
    b.run("resumed", *command[1:], "--resume", out)
    with np.load(f"{out}/posterior.npz") as q:
        return same("resumed", whole, (0, {k: q[k] for k in q.files}, {}), 0)


def in_python(b):
    """The package gives the arrays of the command line, bit for bit."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    library = f"{os.path.dirname(b.program)}/liblehr.so"
    if not os.path.exists(library):
        return False
    done = subprocess.run([sys.executable, f"{root}/tests/generator/in_python.py", b.folder, json.dumps(b.case.sizes())],
                          capture_output=True, text=True, timeout=SECONDS,
                          env={**os.environ, "LEHR_CACHE": "off", "LEHR_LIBRARY": library, "PYTHONPATH": f"{root}/python"})
    if done.returncode:
        raise Defect("in_python", done.stderr.strip()[-600:])
    if b.base[0] or not os.path.exists(f"{b.folder}/python.npz"):
        return False
    with np.load(f"{b.folder}/python.npz") as q:
        return same("in_python", b.base, (0, {k: q[k] for k in q.files}, {}), 0)


def minibatches(b):
    fit = b.fit("svi", "--method", "svi", "--epochs", "2", "--batch-size", "5", short=["--quiet"])
    for name, x in fit[1].items():
        if x.dtype.kind == "f" and np.isinf(x).any():
            raise Defect("svi", f"'{name}' is not finite")


def used(b):
    """The commands that read a fit."""
    fit = b.fit("searched", "--max-iter", "40", name="used", short=["--quiet"])
    if fit[0]:
        return False
    out, refused = f"{b.folder}/used", (0, 2, 3, 4, 5)
    b.run("show", "show", out)
    b.run("report", "report", out, "--out", f"{b.folder}/report.html", allowed=(0, 2))
    data = ["--data", f"{b.folder}/data.json"]
    b.run("score", "score", out, *data, allowed=refused)
    b.run("diagnose", "diagnose", out, *data, allowed=refused)
    b.run("draws", "draws", out, "--draws", "5", "--out", f"{b.folder}/draws.nc", allowed=refused)
    tables = []
    for more in ([], ["--stream"]):
        table = f"{b.folder}/predicted{len(more)}.csv"
        done = b.run("predict", "predict", out, *data, *more, "--out", table, allowed=refused, env=moved(b, ""))
        if done.returncode == 0:
            with open(table) as f:
                tables.append(f.read())
    if len(tables) == 2 and tables[0] != tables[1]:
        raise Defect("predict", "streamed predictions are others")


FIRST = [well, formatted, base]
OTHERS = {"interpreted": interpreted, "threads": threads, "processors": processors, "streamed": streamed, "single": single,
          "climbs": climbs, "sampled": sampled, "minibatches": minibatches, "used": used, "against_jags": against_jags,
          "resumed": resumed, "in_python": in_python,
          **{f"without {p}": without(p) for p in PASSES}}


def check(program, case, folder, names):
    """Runs the named checks, and returns those that had something to compare; raises Defect or Refused."""
    b = Bench(program, case, folder)
    for each in FIRST:
        each(b)
    return [name for name in names if OTHERS[name](b) is not False]
