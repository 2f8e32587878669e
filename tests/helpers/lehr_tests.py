"""What test programs share: running `lehr`, reading and writing files, comparing numbers, and the verdict at the end.

Programs of every folder import it after `sys.path.append(f"{sys.path[0]}/../helpers")`, those of a folder in a folder after the
same with `../../helpers`. Their first argument is the path of
`lehr`, which is LEHR here.
"""
import contextlib
import csv
import glob
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LEHR = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else ""


def run(*command, code=0, **how):
    """Runs a command, whose words need not be texts, and returns the finished process with what it printed as text.

    `how` goes to subprocess.run. Raises AssertionError where the exit code is not `code`; None stands for any.
    """
    done = subprocess.run([str(word) for word in command], **{"capture_output": True, "text": True, **how})
    assert code is None or done.returncode == code, f"{done.args}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def lehr(*words, code=0, **how):
    """run() with the program under test."""
    if not os.access(LEHR, os.X_OK):
        sys.exit(f"usage: {sys.argv[0]} LEHR")
    return run(LEHR, *words, code=code, **how)


def started(*command, path, lines=0, **how):
    """Starts a command, and returns the process when it has written so many lines of the file `path`, or has ended before.

    `how` goes to subprocess.Popen.
    """
    words = [str(word) for word in command]
    process = subprocess.Popen(words, **{"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True, **how})
    end = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < end and not (os.path.exists(path) and read(path, "rb").count(b"\n") >= lines):
        time.sleep(0.001)
    return process


def peak_memory(*command, **how):
    """The most memory that a command took, in bytes, and what it complained of. Its parent is small, whose memory counts too."""
    script = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); "
              "print(1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    done = run(sys.executable, "-c", script, *command, **how)
    return int(done.stdout), done.stderr


def memory_limit(gigabytes):
    """A limit on the memory of a command, as the preexec_fn of run(). A sanitizer, which keeps a shadow of the whole address
    space, has none."""
    if "ASAN_OPTIONS" in os.environ:
        return None
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (gigabytes << 30, gigabytes << 30))


def model_file(name):
    """The path of the model of this name in models/, from the root of the repository."""
    (path,) = glob.glob(f"models/*/{name}.lehr", root_dir=ROOT)
    return path


def need(*tools):
    """Ends the program with exit code 77, which stands for a test that is skipped, where a tool is not installed."""
    for tool in tools:
        if not shutil.which(tool):
            print(f"no {tool} here")
            sys.exit(77)


def read(path, mode="r"):
    """The whole file: a text, or bytes where the mode is "rb"."""
    with open(path, mode, encoding=None if "b" in mode else "utf-8") as file:
        return file.read()


def write(path, content):
    """Writes a text or bytes, and returns the path."""
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())
    return path


def read_json(path):
    return json.loads(read(path))


def plain(value):
    """`value` as JSON: arrays as lists, NaN as null."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, float) and value != value:
        return None
    return value.item() if isinstance(value, np.generic) else value


def write_json(path, value):
    """Writes JSON, with arrays as lists, and returns the path. NaN stays what it is: plain() makes it null."""
    return write(path, json.dumps(value, default=lambda x: x.tolist()))


@contextlib.contextmanager
def temporary(files={}):
    """A temporary folder with these files: contents by name, of which those that are no text and no bytes are written as JSON.

    Gives the path of the folder.
    """
    with tempfile.TemporaryDirectory() as path:
        for name, content in files.items():
            (write if isinstance(content, (str, bytes)) else write_json)(f"{path}/{name}", content)
        yield path


def read_csv(path):
    """Rows of a table, by the names in its first line. All are texts."""
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def columns(path):
    """Columns of numbers by name, from a table that may have lines of comments (#), such as draws."""
    lines = [line.split(",") for line in read(path).splitlines() if not line.startswith("#")]
    return dict(zip(lines[0], np.array(lines[1:], dtype=float).T))


def arrays(path):
    """Arrays of a file of NumPy's (.npz), by name."""
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


def bits(path):
    """The same as bytes, where no bit may differ."""
    return {name: array.tobytes() for name, array in arrays(path).items()}


def relative(got, want):
    """The largest difference, relative to each number but not to those far below the largest."""
    got, want = np.asarray(got, dtype=float), np.asarray(want, dtype=float)
    scale = np.maximum(np.abs(want), 1e-3 * np.max(np.abs(want)) + 1e-300)
    return float(np.max(np.abs(got.reshape(want.shape) - want) / scale))


def close(a, b, tolerance=1e-7):
    return bool(np.allclose(a, b, rtol=tolerance, atol=tolerance))


def near(got, want, limit=1e-8, what=""):
    """The largest difference, relative to 1 + |want|. Raises AssertionError, which says `what`, where it is not below `limit`."""
    error = np.max(np.abs(np.asarray(got, dtype=float) - want) / (1 + np.abs(want)), initial=0)
    assert error < limit, f"{what} off by {error:.1e}: {got}, not {want}"
    return float(error)


def within(rtol, atol=0):
    """same(got, want, what): raises AssertionError, which says `what`, where numbers differ by more than these tolerances.

    `got` may have another shape of the same size.
    """
    def same(got, want, what="", rtol=rtol):
        np.testing.assert_allclose(np.asarray(got, float).reshape(np.shape(want)), want, rtol=rtol, atol=atol, err_msg=what)

    return same


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


def finish(checks=CHECKS):
    """Runs named checks (functions that return a line about what held, or raise); exits 1 when one fails, at once where
    LEHR_STOP_AT_FIRST is set."""
    failed = 0
    for name, run_one in checks.items():
        try:
            print(f"ok     {name}: {run_one()}", flush=True)
        except Exception as e:  # a check that cannot run has failed
            failed += 1
            print(f"FAILED {name}: {type(e).__name__}: {e}", flush=True)
            if os.environ.get("LEHR_STOP_AT_FIRST"):
                sys.exit(1)
    print(f"{len(checks) - failed} of {len(checks)} hold")
    sys.exit(1 if failed or not checks else 0)


def each(*tests):
    """Calls every function with a temporary folder of its own, and prints its name when it returns."""
    for test in tests:
        with tempfile.TemporaryDirectory() as folder:
            test(folder)
        print("ok", test.__name__, flush=True)
