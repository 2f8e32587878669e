#!/usr/bin/env python3
"""The wheel in a virtual environment that has NumPy and nothing else: it fits, to the bytes of the command line, with no
library of this system but those of every system and of NumPy. Exit code 77: there is no venv, pip or wheel.

usage: wheel_test.py LEHR BUILD, from the root of the repository
"""
import glob
import importlib.util
import os
import subprocess
import sys
import tempfile

import numpy

LEHR, BUILD, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), os.getcwd()

PROGRAM = """
import sys, time
begin = time.perf_counter()
import numpy as np
with_numpy = time.perf_counter()
import lehr
print(f"import lehr: {time.perf_counter() - with_numpy:.3f} s after {with_numpy - begin:.3f} s for NumPy")
assert sys.prefix in lehr.__file__, lehr.__file__
for name in ("sklearn", "scipy", "xarray", "netCDF4"):
    try:
        __import__(name)
        sys.exit(f"{name} is here")
    except ImportError:
        pass
x = np.loadtxt(sys.argv[1], delimiter=",", skiprows=1)
lehr.Model(sys.argv[2], K=3).fit(x).save("fit")
g = lehr.GaussianMixture(3).fit(x)
assert g.predict(x).shape == (len(x),), g
assert lehr.LDA(2).fit_transform(np.eye(5, dtype=int) * 4).shape == (5, 2)
with open("/proc/self/maps") as maps:
    print("\\n".join(sorted({line.split()[-1] for line in maps if ".so" in line})))
"""


def run(*command, **how):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def environment(directory):
    """A virtual environment with the NumPy of this interpreter; its program."""
    run("/usr/bin/python3", "-m", "venv", f"{directory}/venv")
    (packages,) = glob.glob(f"{directory}/venv/lib/python3*/site-packages")
    os.symlink(os.path.dirname(numpy.__file__), f"{packages}/numpy")
    return f"{directory}/venv/bin/python"


def foreign(maps, directory):
    """Libraries of the system that neither the interpreter nor NumPy brings."""
    own = run("/usr/bin/python3", "-c", "import ssl, bz2, lzma, ctypes, zlib, numpy.linalg, numpy.random\n"
              "print(open('/proc/self/maps').read())")
    known = {line.split()[-1] for line in own.splitlines() if ".so" in line}
    every = ("libstdc++", "libgcc_s", "libz", "libm", "libc", "ld-linux")
    return [path for path in maps if path not in known and not path.startswith(directory)
            and not os.path.basename(path).startswith(every) and "/numpy/" not in path and "/lib-dynload/" not in path]


def main():
    if not all(importlib.util.find_spec(name) for name in ("venv", "ensurepip", "pip", "wheel", "setuptools")):
        print("skipped: there is no venv, pip, setuptools or wheel")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as directory:
        print(run("/usr/bin/python3", f"{ROOT}/scripts/wheel", f"{directory}/dist", "--build", BUILD).strip())
        (wheel,) = glob.glob(f"{directory}/dist/*.whl")
        python = environment(directory)
        run(python, "-m", "pip", "install", "--no-index", "--no-deps", wheel)
        data, model = f"{ROOT}/models/data/mixtures/faithful.csv", f"{ROOT}/models/mixtures/gmm.lehr"
        clean = {"PATH": "/usr/bin:/bin", "HOME": directory}
        said = run(python, "-c", PROGRAM, data, model, cwd=directory, env=clean).splitlines()
        print(said[0])
        assert not foreign(said[1:], directory), foreign(said[1:], directory)
        assert any(path.startswith(directory) and "liblehr.so" in path for path in said), said
        run(LEHR, "fit", model, "--data", f"x={data}:eruptions,waiting", "--set", "K=3", "--out", f"{directory}/command",
            "--quiet")
        with open(f"{directory}/fit/posterior.npz", "rb") as a, open(f"{directory}/command/posterior.npz", "rb") as b:
            assert a.read() == b.read(), "the bytes of the wheel are not those of the command line"


if __name__ == "__main__":
    main()
