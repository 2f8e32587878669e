#!/usr/bin/env python3
"""Fits a Gaussian mixture from Python through ctypes, on NumPy arrays without a copy.

    lehr build models/mixtures/gmm.lehr -o gmm --shared --set K=4 --sizes dim=2
    python3 examples/python/faithful.py ./gmm.so models/data/mixtures/faithful.csv
"""
import ctypes as c
import re
import sys

import numpy as np

DOUBLES = c.POINTER(c.c_double)


class Sizes(c.Structure):  # gmm_sizes
    _fields_ = [("abi", c.c_uint64), ("n", c.c_int64)]


class Data(c.Structure):  # gmm_data
    _fields_ = [("n", c.c_int64), ("x", DOUBLES)]


library = c.CDLL(sys.argv[1])
library.gmm_abi.restype = c.c_uint64
library.gmm_state_bytes.restype = c.c_size_t
library.gmm_error.restype = c.c_char_p
library.gmm_init.argtypes = [c.c_void_p, c.c_size_t, c.POINTER(Sizes), c.POINTER(Data), c.c_uint64]
library.gmm_step.argtypes = [c.c_void_p, c.POINTER(Data), c.c_double]
library.gmm_elbo.argtypes = [c.c_void_p, DOUBLES]
for name in ("gmm_get_mu_mean", "gmm_get_pi_concentration", "gmm_get_z_probs"):
    getattr(library, name).restype = DOUBLES
    getattr(library, name).argtypes = [c.c_void_p, c.POINTER(c.c_size_t)]


def check(status):
    if status != 0:
        raise RuntimeError(library.gmm_error(status).decode())


def view(getter, state, *shape):
    """The posterior where it is: the array changes with every step."""
    return np.ctypeslib.as_array(getter(state, None), shape)


x = np.loadtxt(sys.argv[2], delimiter=",", skiprows=1)
x = np.ascontiguousarray((x - x.mean(0)) / x.std(0))
header = open(re.sub(r"\.so$", ".h", sys.argv[1])).read()
K = int(re.search(r"GMM_SIZE_k (\d+)", header)[1])
sizes = Sizes(int(re.search(r"GMM_ABI UINT64_C\((\w+)\)", header)[1], 16), len(x))
data = Data(len(x), x.ctypes.data_as(DOUBLES))

memory = np.empty(library.gmm_state_bytes(c.byref(sizes)), np.uint8)
state = memory.ctypes.data
check(library.gmm_init(state, memory.size, c.byref(sizes), c.byref(data), 1))
elbo, before = c.c_double(), -np.inf
for sweep in range(1, 2001):
    check(library.gmm_step(state, None, 1.0))
    check(library.gmm_elbo(state, c.byref(elbo)))
    if elbo.value - before < 1e-9 * abs(elbo.value):
        break
    before = elbo.value

weights = view(library.gmm_get_pi_concentration, state, K)
means = view(library.gmm_get_mu_mean, state, K, 2)
labels = view(library.gmm_get_z_probs, state, len(x), K).argmax(1)
print(f"{sweep} sweeps, ELBO {elbo.value:.6f}")
for k in np.flatnonzero(weights > 5):
    print(f"  {(labels == k).sum():3d} eruptions around ({means[k, 0]:.2f}, {means[k, 1]:.2f})")
