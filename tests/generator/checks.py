"""What must hold of every model: a list of checks, each of which raises Defect where it does not.

A model that the compiler refuses (exit 3: no closed form) is no defect; nor is an option that it refuses with exit code 2,
or data that are refused with 4. A signal, exit code 1, the words "internal error" and a time above the limit always are, and so is
a numerical failure (5) of a model without points: all priors here are proper.
"""
import copy
import ctypes
import json
import os
import re
import shutil
import subprocess
import sys

import numpy as np

sys.path.insert(0, f"{sys.path[0]}/../embedding")
from built import Built  # noqa: E402
import exact  # noqa: E402
import jags  # noqa: E402
from lehr_tests import ROOT, arrays, read, read_json, run, started  # noqa: E402

PASSES = re.findall(r'^LEHR_PASS\(\w+, "([a-z-]+)"', read(f"{ROOT}/compiler/passes/passes.def"), re.M)
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

    def run(self, check, *words, env=None, allowed=(0,), program=None):
        environment = {**os.environ, "LEHR_CACHE": "off", **(env or {})}
        try:
            done = run(program or self.program, *words, code=None, timeout=SECONDS, env=environment)
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
        return done.returncode, arrays(f"{out}/posterior.npz"), read_json(f"{out}/fit.json")


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
        texts.append(read(b.model))
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
    if code == 5 and "guide point" not in b.case.text:
        raise Defect("base", f"a numerical failure: {written.get('stderr', '')[-600:]}")
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
RUNS = {"outline_parallel_loops.operations": (1, 500), "outline_parallel_loops.of_sum": (0, 2), "outline_parallel_loops.outside": (1, 500), "outline_parallel_loops.many_items": (1, 64),
        "out_of_core_data.part": (1, 100), "out_of_core_data.first": (1, 5), "out_of_core_data.most_items": (1, 7),
        "predict_batches.most_items": (1, 3), "score.items_at_once": (1, 3), "survey.most_places": (1, 4),
        "line_rows.most_places": (2, 5), "line_rows.chunk": (1, 50), "search.few_operations": (0, 1e12),
        "search.long_sweep": (1, 100), "search.long_sweep_of_moves": (1, 100)}


def moved(b, which):
    """An environment with the thresholds moved whose names begin so."""
    r = np.random.default_rng(b.case.seed)
    names = [name for name in RUNS if name.startswith(which)]
    assert names, f"no threshold {which}"
    return {"LEHR_THRESHOLDS": ",".join(f"{name}={RUNS[name][r.integers(2)]}" for name in names)}


def thresholds_of_code():
    """Those of the compiler with values to try, as tests/passes/thresholds_test.cpp has them: (name, values, what goes with it)."""
    text = read(f"{ROOT}/tests/passes/thresholds_test.cpp")
    texts = dict(re.findall(r'(k\w+) = "([^"]*)"', text))
    rows = re.findall(r'\{"([\w.]+)", \{([^}]*)\}(?:, (?:"([^"]*)"|(k\w+)))?\}', text)
    return [(name, values.split(", "), also or texts.get(by, "")) for name, values, also, by in rows]


def thresholds(b):
    """A few thresholds of the compiler moved at once; with shares of any size they decide on what is worked on in parallel."""
    r = np.random.default_rng(b.case.seed)
    rows = thresholds_of_code()
    moved_ones = [f"outline_parallel_loops.few_iterations={r.choice([0, 1, 2])}"]
    for k in r.permutation(len(rows))[:4]:
        name, values, also = rows[k]
        if name != "outline_parallel_loops.few_iterations":
            moved_ones += [f"{name}={r.choice(values)}", also]
    of_code = ",".join(filter(None, moved_ones))
    try:
        same("thresholds", b.base, b.fit("thresholds", "--max-iter", "3", "--threads", "2", "--thresholds", of_code, env=moved(b, "outline_parallel_loops.")), 1e-6)
    except Defect as e:
        raise Defect("thresholds", f"{e.text} with {of_code}") from None


def processes(b):
    """Several processes write the bytes of one."""
    words = ["--max-iter", "3", "--threads", "1"]
    program, env = f"{b.program}-mpi", moved(b, "outline_parallel_loops.")
    launch = ["--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", "2", program]
    if not shutil.which("mpirun") or not os.path.exists(program):
        return False
    one = b.fit("processes", *words, env=env)
    if one[0]:
        return False
    out = f"{b.folder}/many"
    shutil.rmtree(out, ignore_errors=True)
    many = Bench.run(copy.copy(b), "processes", *launch, "fit", b.model, *b.bound, *SHORT, *words, "--out", out, env=env,
                     allowed=(0, 2, 3), program="mpirun")
    if many.returncode:
        return False  # not for this model
    return same("processes", one, (0, arrays(f"{out}/posterior.npz"), {}), 0)


def threads(b):
    """One sum, whoever works on its parts; shares of any size."""
    small = moved(b, "outline_parallel_loops.")
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
    """Two precisions go the same way, or by other ways to the same place: where a start is formed from sums in 32 bits, the
    first sweeps can differ."""
    fit = b.fit("float", "--max-iter", "3", "--precision", "float")
    if fit[0] or b.base[0]:
        return False
    try:
        return same("float", b.base, fit, 0.02)
    except Defect:
        ends = [b.fit("float", "--max-iter", "500", "--precision", precision) for precision in ("double", "float")]
        if any(end[0] or end[2].get("status") != "converged" for end in ends):
            return False
        return same("float", *ends, 0.02)


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
        out.append(read(table))
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
    rows = [line.split(",") for line in read(f"{b.folder}/drawn/summary.csv").splitlines()[1:]]
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
    running = started(*command, path=f"{out}/checkpoint.bin", env={**os.environ, "LEHR_CACHE": "off"})
    running.kill()
    running.wait()
    if not os.path.exists(f"{out}/checkpoint.bin"):
        return False  # it had ended
    b.run("resumed", *command[1:], "--resume", out)
    return same("resumed", whole, (0, arrays(f"{out}/posterior.npz"), {}), 0)


def in_python(b):
    """The package gives the arrays of the command line, bit for bit."""
    library = f"{os.path.dirname(b.program)}/liblehr.so"
    if not os.path.exists(library):
        return False
    done = run(sys.executable, f"{ROOT}/tests/generator/in_python.py", b.folder, json.dumps(b.case.sizes()), code=None, timeout=SECONDS,
               env={**os.environ, "LEHR_CACHE": "off", "LEHR_LIBRARY": library, "PYTHONPATH": f"{ROOT}/python"})
    if done.returncode:
        raise Defect("in_python", done.stderr.strip()[-600:])
    if b.base[0] or not os.path.exists(f"{b.folder}/python.npz"):
        return False
    return same("in_python", b.base, (0, arrays(f"{b.folder}/python.npz"), {}), 0)


def all_informed(case):
    """Whether data depend on every element that depends on other latent variables, as far as the text shows it."""
    statements = [m.groups() for m in re.finditer(r"^(observe )?(\w+)(?:\[[\w, ]+\])? ~ (.*);", "\n".join(case.lines), re.M)]
    latent = [name for observe, name, _ in statements if not observe]
    whole = [body for observe, name, body in statements if observe and not np.isnan(case.arrays[name].value.astype(float)).any()]
    for observe, name, body in statements:
        if observe or not (body.startswith("Half") or any(re.search(rf"\b{other}\b", body) for other in latent)):
            continue  # a half-Student distribution has a scale of its own
        if not any(re.search(rf"\b{name}(\b(?!\[)|\[[a-z](, [a-z])*\])", text) for text in whole):
            return False
    return True


def close_to_zero(case):
    """Whether no column of observed numbers is constant, or far from zero in units of its spread: a fit runs on distances
    from such columns, an object on the data as they are."""
    for observe, name, body in re.findall(r"^(observe )?(\w+)(?:\[[\w, ]+\])?[^~]* ~ (.*);", "\n".join(case.lines), re.M):
        if not observe or not re.search(r"Normal|StudentT|Laplace", body):
            continue
        x = np.asarray(case.arrays[name].value, dtype=float)
        for column in x.reshape(-1, x.shape[-1]).T if x.ndim > 1 else [x]:
            present = column[~np.isnan(column)]
            if len(present) < 2 or abs(present.mean()) > 500 * present.std():
                return False
    return True


def built(b):
    """An object in this process makes the bits of the command line, where all of the model is informed: an object has no
    data yet that could tell."""
    if any(p.parent or p.size == 0 for p in b.case.plates.values()) or b.base[0] or not all_informed(b.case):
        return False
    stated = "guide joint" in "\n".join(b.case.lines)
    if not stated and any(name.startswith("joint(") for name in b.base[1]):
        return False  # joint factors that a fit chooses are none of an object's
    sizes = b.case.sizes()
    missing = [n for n, a in b.case.arrays.items() if np.isnan(np.asarray(a.value, dtype=float)).any()]
    name = f"{b.folder}/random"
    words = [w for n, s in sizes.items() for w in ("--sizes", f"{n}={s}")] + [w for n in missing for w in ("--missing", n)]
    done = b.run("built", "build", b.model, "-o", name, "--shared", *words, allowed=(0, 2, 3))
    if done.returncode:
        return False
    found = object_of(name, b.case, sizes)
    plain = {k.replace(".", "_"): x for k, x in b.base[1].items()}
    both = sorted(set(found) & set(plain))
    allowed = 1e-6 if missing else 0 if close_to_zero(b.case) else 1e-9
    return same("built", (0, {k: plain[k].ravel() for k in both}, {}), (0, {k: found[k] for k in both}, {}), allowed)


def object_of(name, case, sizes):
    """The parameters of three sweeps from the seed 1."""
    folder = os.getcwd()
    os.chdir(os.path.dirname(name))  # functions are called after the object
    try:
        o = Built("random", {**sizes})
    finally:
        os.chdir(folder)
    data = o.structure("data", {**sizes, **{n: a.value for n, a in case.arrays.items()}})
    status = o.init(data)
    for _ in range(3):
        status = status or o("step")(o.memory, None, ctypes.c_double(1))
    if status:
        raise Defect("built", f"status {status}: {o('error')(status).decode()}")
    out = {}
    for parameter in re.findall(r"random_get_(\w+)\(", o.header):
        get, count = o(f"get_{parameter}"), ctypes.c_size_t()
        get.restype = ctypes.POINTER(ctypes.c_double)
        values = get(o.memory, ctypes.byref(count))
        out[parameter] = np.array(values[:count.value])
    return out


def outside(case, arrays, plate):
    """Arrays of a posterior that do not lie on a plate."""
    axes = {m.group(1): (m.group(2) or "") for m in re.finditer(r"^(?:observe )?(\w+)(?:\[([\w, ]+)\])? ~", "\n".join(case.lines), re.M)}
    return {k: x for k, x in arrays.items() if k.split(".")[0] in axes and plate not in axes[k.split(".")[0]].split(", ")}


def with_rows(case, plate, keep, more):
    """The elements `keep` of a plate, and `more` of which nothing was observed."""
    out = copy.deepcopy(case)
    nested = [p for p in out.plates.values() if p.parent == plate]
    for name, array in out.arrays.items():
        observed = any(line.startswith(f"observe {name}[") for line in case.lines)
        if plate not in array.axes:
            continue
        axis = list(array.axes).index(plate)
        if nested and nested[0].name in array.axes:
            continue  # rows without elements
        at = np.concatenate([keep, np.zeros(more, int)]).astype(int)
        array.value = np.take(array.value, at, axis=axis)
        if observed and more:
            array.value = array.value.astype(float)
            array.value[(slice(None),) * axis + (slice(len(keep), None),)] = np.nan
    for p in nested:
        p.lengths = np.concatenate([p.lengths, np.zeros(more, int)])
    out.plates[plate].size = len(keep) + more
    return out


def settled(b, check, case, name):
    """A fit to its end, of a case in a folder of its own."""
    other = Bench(b.program, case, f"{b.folder}/{name}")
    fit = other.fit(check, name=name, short=["--guide", "factorised", "--search", "none", "--init", "means", "--tol", "1e-11", "--max-iter", "300",
                                                   "--quiet"])
    return fit if fit[0] == 0 and fit[2]["status"] == "converged" else None


def compare_rest(b, check, case, plate):
    """What does not lie on the plate is as without the change, where one start leads to one end."""
    fits = settled(b, check, b.case, "before"), settled(b, check, case, "after")
    if None in fits:
        return False
    found = [(0, outside(b.case, f[1], plate), {"elbo": f[2]["elbo"]}) for f in fits]
    if not found[0][1]:
        return False
    return same(check, *found, 1e-3)


# What the comparison without rows leaves out is not in the models that are made for it.
NOT_COMPARED = {"joint", "point", "independent", "chain", "potential", "category", "bit", "mixture", "zero_inflated", "multinomial", "items_only",
                "trials_of_category", "switched", "times"}


def rows_without_data(b):
    """Items and groups of which nothing was observed narrow nothing."""
    plate = "ng"[b.case.seed % 2]
    p = b.case.plates[plate]
    # What docs/language.md excepts: members of joint factors. Modes of points move with the prior; potentials are data.
    if p.size == 0 or p.times or re.search(r"guide|potential|index|Multinomial", b.case.text) or "start" in b.case.text:
        return False
    if re.search(r"^z|^b|^s1|mixture|zero_inflated", "\n".join(b.case.lines), re.M):
        return False  # another start may end elsewhere
    return compare_rest(b, "rows_without_data", with_rows(b.case, plate, np.arange(p.size), 7), plate)


def weights_of_zero(b):
    """An item of weight 0 is not there."""
    weight = b.case.arrays.get("weight")
    if weight is None or not (weight.value == 0).any() or not (weight.value > 0).any():
        return False
    if re.search(r"^z|^b|^s1|mixture|zero_inflated", "\n".join(b.case.lines), re.M):
        return False
    return compare_rest(b, "weights_of_zero", with_rows(b.case, "n", np.flatnonzero(weight.value > 0), 0), "n")


def evidence(b):
    """The ELBO is below the log evidence, and draws have the means, of a sum over all values."""
    try:
        right = exact.Posterior(b.case)
    except exact.Unknown:
        return False
    code, arrays, written = b.fit("evidence", "--threads", "1", short=["--search", "none", "--tol", "1e-11", "--max-iter", "300", "--quiet", "--save-locals"])
    if code:
        raise Defect("evidence", f"exit code {code}: {written.get('stderr', '')[-600:]}")
    gap, allowed = right.log_evidence - written["elbo"], 1e-4 * (1 + abs(right.log_evidence))
    if not -allowed < gap or (right.is_one_factor() and not gap < allowed):
        raise Defect("evidence", f"ELBO {written['elbo']:.9g}, log evidence {right.log_evidence:.9g}")
    means = right.means()
    for name, mean in means.items():
        found = re.fullmatch(r"(\w+?)((?:\.\d+)*)=(\d+)", name)
        probabilities = arrays.get(f"{found.group(1)}.probs") if found else None
        if probabilities is not None and mean == 0:
            p = probabilities[tuple(int(k) for k in found.group(2).split(".")[1:]) + (int(found.group(3)),)]
            if not p < 1e-9:
                raise Defect("evidence", f"P({name}) is {p:.3g}, and it is impossible")
    return compare_draws(b, means)


def compare_draws(b, means):
    done = b.fit("evidence", "--method", "gibbs", "--warmup", "500", "--draws", "2000", "--chains", "4", name="drawn", short=["--quiet"])
    if done[0] or not os.path.exists(f"{b.folder}/drawn/summary.csv"):
        return None
    rows = [line.split(",") for line in read(f"{b.folder}/drawn/summary.csv").splitlines()[1:]]
    has_no_mean = {m.group(1) for m in (re.match(r"(\w+)(?:\[.*?\])? ~ Half(?:Cauchy|StudentT)", line) for line in b.case.lines) if m}
    for name, mean, sd, error, *_, r_hat in rows:
        first, *at = name.split(".")
        if first in has_no_mean:  # or no variance: where the data say little, a mean of draws is anything
            continue
        wanted = means.get(".".join([first, *(str(int(k) - 1) if k.isdigit() else k for k in at)]))
        if wanted is None or not float(r_hat) < 1.01:  # a heavy tail, or chains that are stuck
            continue
        if abs(float(mean) - wanted) > jags.FAR * float(error) + 0.01 * float(sd) + 1e-6:
            raise Defect("evidence", f"E[{name}] is {wanted:.6g}, by draws {mean} ({error})")
    return None


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
    predicted_in_pieces(b, out, b.case.write_arrays(b.folder) or b.bound)
    if new := new_items(b):
        predicted_in_pieces(b, out, new)


def new_items(b):
    """Files of some items that the fit has not seen, of which some have gaps and some nothing at all."""
    n = b.case.plates["n"].size
    if n < 2 or any(p.parent for p in b.case.plates.values()):
        return None
    r = np.random.default_rng(b.case.seed)
    case = with_rows(b.case, "n", r.permutation(n)[:max(2, n // 2)], 3)
    for name, array in case.arrays.items():
        if any(line.startswith(f"observe {name}[n") for line in case.lines):
            array.value = np.where(r.random(array.value.shape) < 0.3, np.nan, array.value)
    os.makedirs(f"{b.folder}/new", exist_ok=True)
    return case.write_arrays(f"{b.folder}/new")


def predicted_in_pieces(b, out, data):
    """Predictions of items that are read in pieces are the bytes of those in memory."""
    if b.case.plates["n"].size > 33:
        return  # every piece is compiled, and there may be one for each item
    tables = []
    for more in ([], ["--stream"]):
        table = f"{b.folder}/predicted{len(more)}.csv"
        given = [w for w in data if w != "--sizes" and not re.fullmatch(r"\w=\d+", w)] if more else data  # pieces have their own
        done = b.run("predict", "predict", out, *given, *more, "--out", table, allowed=(0, 2, 3, 4, 5), env=moved(b, ""))
        if done.returncode == 0:
            tables.append(read(table))
    if len(tables) == 2 and tables[0] != tables[1]:
        raise Defect("predict", "streamed predictions are others")


FIRST = [well, formatted, base]
OTHERS = {"interpreted": interpreted, "threads": threads, "processors": processors, "streamed": streamed, "single": single,
          "climbs": climbs, "sampled": sampled, "minibatches": minibatches, "used": used, "against_jags": against_jags,
          "resumed": resumed, "in_python": in_python, "thresholds": thresholds, "processes": processes, "built": built,
          "rows_without_data": rows_without_data, "weights_of_zero": weights_of_zero, "evidence": evidence,
          **{f"without {p}": without(p) for p in PASSES}}


def check(program, case, folder, names):
    """Runs the named checks, and returns those that had something to compare; raises Defect or Refused."""
    b = Bench(program, case, folder)
    for each in FIRST:
        each(b)
    return [name for name in names if OTHERS[name](b) is not False]
