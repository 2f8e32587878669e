#!/usr/bin/env python3
"""Fuzzing by coverage: builds the harnesses of tests/fuzz with clang and libFuzzer, makes their first inputs from what the repository
has, and runs them one after another. An input that shows a defect is left in build-fuzz/found, with the command that repeats it.

usage: run.py [--harness NAME ...] [--executions N | --seconds S] [--seed N] [--built FOLDER], from the root of the repository

What a run has found worth keeping stays in build-fuzz/corpus, from where the next one goes on. --built: the harnesses are in this
folder and are not built. Those of the preset `dev` have a driver that changes inputs blindly (driver.cpp), which CI runs.
"""
import argparse
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

# Seconds of one input before it counts as a defect, bytes of the longest one, and MB that the process may take.
LIMITS = {"loops_text": (10, 4096, 1024), "model_text": (60, 3000, 4096), "readers": (10, 4096, 1024), "checkpoint": (10, 4096, 1024),
          "cache_entry": (10, 4096, 1024), "fit_directory": (60, 20000, 4096), "calls": (60, 400, 4096)}
PACKAGES = ["clang-19", "libclang-rt-19-dev", "llvm-19"]  # llvm-19: names in the traces of stacks


def build(names):
    subprocess.run(["scripts/bootstrap", *PACKAGES], check=True)
    launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    subprocess.run(["cmake", "--preset", "fuzz", *launcher], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", "build-fuzz", "--target", *[f"fuzz_{n}" for n in names]], check=True)


def read(path, most):
    with open(path, "rb") as f:
        return f.read(most)


def model_seeds(folder):
    starters = glob.glob("compiler/commands/starters/*.lehr")
    for path in glob.glob("models/*/*.lehr") + starters + glob.glob("tests/golden/**/*.lehr", recursive=True):
        text = read(path, 1 << 20)
        without_comments = b"\n".join(line for line in text.split(b"\n") if not line.startswith(b"//"))
        yield os.path.relpath(path).replace("/", "_"), without_comments
    for path in glob.glob("tests/**/*.cpp", recursive=True) + glob.glob("tests/**/*.py", recursive=True):
        for k, match in enumerate(re.findall(rb'"(model \w+ \{[^"]*\})"', read(path, 1 << 20))):
            yield f"{os.path.basename(path)}_{k}", match


def loops_seeds(folder):
    for path in glob.glob("tests/**/*.loops", recursive=True):
        yield os.path.relpath(path).replace("/", "_"), read(path, 1 << 20)


READERS = {".csv": (0, 1, 2, 3, 12), ".json": (4,), ".ldac": (5,), ".mtx": (6, 7), ".svm": (8, 9), ".npy": (10,), ".npz": (11, 14),
           ".txt": (15,), ".gz": (13, 16)}


def file_seeds(folder):
    """The beginning of a file, for every reader of its kind and every model."""
    for path in glob.glob("models/data/*/*") + glob.glob("tests/**/data/*", recursive=True):
        for reader in READERS.get(os.path.splitext(path)[1], ()):
            for model in range(6):
                yield f"{os.path.basename(path)}_{reader}_{model}", bytes([reader, model]) + read(path, 600)
    for text, reader in ((b"a,b,x\n1,2,u\n3,,\"y, z\"\n", 0), (b"2 0:3 7:1\n0\n3 5:2 1:1 5:4\n", 5),
                         (b"%%MatrixMarket matrix coordinate integer general\n3 8 3\n3 6 2\n1 1 3\n3 2 1\n", 6),
                         (b"%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4.5\n", 7), (b"1 1:3 8:1 # c\n-1\n0.5 qid:3 6:2\n", 8),
                         (b'{"n": 3, "x": [1, 2.5, null], "m": [[1, 2], [3, 4]], "r": [[1], [], [2, 3]], "s": ["a", "NaN"]}', 4)):
        for model in range(6):
            yield f"text_{reader}_{model}", bytes([reader, model]) + text
    import numpy as np  # as it is where the tests of the command line run
    arrays = {"x": np.arange(6.0), "i": np.arange(6, dtype="<i4").reshape(2, 3), "t": np.array(["a", "bc"]), "f": np.asfortranarray(np.ones((2, 2)))}
    for name, array in arrays.items():
        np.save(os.path.join(folder, "array.npy"), array)
        yield f"npy_{name}", bytes([10, 0]) + read(os.path.join(folder, "array.npy"), 1 << 16)
    os.remove(os.path.join(folder, "array.npy"))
    for save in (np.savez, np.savez_compressed):
        save(os.path.join(folder, "arrays.npz"), **arrays)
        yield save.__name__, bytes([11, 0]) + read(os.path.join(folder, "arrays.npz"), 1 << 16)
    os.remove(os.path.join(folder, "arrays.npz"))


def call_seeds(folder):
    """A program is compiled, fitted and asked."""
    for model in range(5):
        compile_, data = bytes([0, 0, 0, 1, model, 0]), bytes([1, 0, 1, 1, 0, 0, 1, 4, 0, 4, 0, 0, 0, 0, 0, 0, 0])
        fit = bytes([1, 0, 0, 0, 0, 1]) + data
        yield f"fit_{model}", compile_ + fit + bytes([4, 3, 0, 0, 1, 0, 0, 0, 0]) + bytes([7, 0])
        yield f"twice_{model}", compile_ + fit + bytes([1, 2]) + fit[2:] + bytes([4, 0, 0, 0, 0, 1]) + data


SEEDS = {"loops_text": loops_seeds, "model_text": model_seeds, "readers": file_seeds, "calls": call_seeds}


def dictionary(path):
    """Words of the language and of files, a line each."""
    words = set(re.findall(r"'([^'\\]+)'", read("grammar/Lehr.g4", 1 << 20).decode(errors="replace")))
    for model in glob.glob("models/*/*.lehr") + glob.glob("tests/golden/**/*.lehr", recursive=True):
        words |= set(re.findall(r"\b[A-Za-z_][A-Za-z0-9_]+\b", re.sub("//.*", "", read(model, 1 << 20).decode(errors="replace"))))
    words |= {"NaN", "1e999", "-1", "99999999999999999999", "'shape': (1, ", "'descr': '<U2'", "%%MatrixMarket", "coordinate", "null", "qid:3"}
    with open(path, "w") as f:
        for word in sorted(words):
            f.write('"%s"\n' % word.replace("\\", "\\\\").replace('"', '\\"'))


def make_seeds(name, corpus):
    os.makedirs(corpus, exist_ok=True)
    for seed, content in SEEDS.get(name, lambda _: ())(corpus):
        with open(os.path.join(corpus, f"seed_{seed}"), "wb") as f:
            f.write(content[:LIMITS[name][1]])


def found_in(folder, begin):
    return sorted(os.path.join(folder, f) for f in os.listdir(folder) if f.startswith(begin))


def run(name, folder, options, environment):
    """Executions, and whether there was a defect."""
    corpus, found = os.path.join(folder, "corpus", name), os.path.join(folder, "found")
    os.makedirs(found, exist_ok=True)
    make_seeds(name, corpus)
    dictionary(f"{folder}/{name}.dict")
    seconds, longest, memory = LIMITS[name]
    harness = os.path.join(folder, f"fuzz_{name}")
    often = [f"-timeout={seconds}", f"-rss_limit_mb={memory}"]
    command = [harness, *often, f"-max_len={longest}", f"-dict={folder}/{name}.dict", "-print_final_stats=1", "-verbosity=1",
               f"-artifact_prefix={found}/{name}-", *options, corpus]
    before = found_in(found, name + "-")
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", env={**environment, "LEHR_FUZZ_SEEDS": corpus})
    said = done.stderr + done.stdout
    counts = re.findall(r"number_of_executed_units: (\d+)", said) or re.findall(r"^#(\d+)\s", said, re.M)
    executions = int(counts[-1]) if counts else 0
    print(f"{name}: {executions} executions, {'a defect' if done.returncode else 'no defect'}", flush=True)
    if done.returncode:
        print("\n".join(said.splitlines()[-80:]))
        for path in [f for f in found_in(found, name + "-") if f not in before] or ["(no input was kept)"]:
            print(f"input: {path}\nrepeat with: {shlex.join([harness, *often, path])}", flush=True)
    return executions, done.returncode != 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--harness", action="append", choices=LIMITS)
    parser.add_argument("--executions", type=int)
    parser.add_argument("--seconds", type=int)
    parser.add_argument("--built", metavar="FOLDER")
    parser.add_argument("--seed", type=int)
    o = parser.parse_args()
    names = o.harness or list(LIMITS)
    if not o.built:
        build(names)
    options = [f"-runs={o.executions}"] if o.executions else [f"-max_total_time={o.seconds or 120}"]
    options += [f"-seed={o.seed}"] if o.seed else []
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        environment = {**os.environ, "TMPDIR": folder, "ASAN_SYMBOLIZER_PATH": shutil.which("llvm-symbolizer-19") or ""}
        environment.setdefault("UBSAN_OPTIONS", "print_stacktrace=1")
        results = [run(name, o.built or "build-fuzz", options, environment) for name in names]
    print(f"{sum(n for n, _ in results)} executions, {sum(bad for _, bad in results)} of {len(results)} harnesses found a defect")
    return int(any(bad for _, bad in results))


if __name__ == "__main__":
    sys.exit(main())
