#!/usr/bin/env python3
"""Steps of built objects against by_hand.py: sweeps at a temperature, entropy sweeps, minibatches, scores, energies of items
and the factor of a latent temperature."""
import ctypes as c
import sys
import tempfile

import numpy as np
from scipy.special import logsumexp

sys.path.append(f"{sys.path[0]}/../posterior")
import by_hand  # noqa: E402
from built import Built, State  # noqa: E402
from fitting import LEHR, finish, within  # noqa: E402

FOLDER = tempfile.TemporaryDirectory()
BUILT = {}
ROOM = {"doc": 4, "token": 40, "n": 13, "seq": 3, "t": 9, "t_longest": 4, "site": 4, "edge": 4, "d": 16}
OPTIONS = {"topics": ["--sizes", "term=5"]}


def started(name):
    """A state with the start of by_hand.py, and one pass over the factors of an item in a sweep."""
    model = by_hand.MODELS[name]()
    if name not in BUILT:
        BUILT[name] = Built(LEHR, model.TEXT, FOLDER.name, *OPTIONS.get(name, []))
    state = State(BUILT[name], ROOM, some(model, range(model.ITEMS)))
    state("set_accuracy", 1, 0.0)
    state.set({**model.start, **model.local_start})
    return model, state


def some(model, which):
    return {**ROOM, "doc": len(which), "n": len(which), "seq": len(which), "site": 4, **model.arrays(which)}


same = within(rtol=1e-10)


def hot(name, law):
    """Three sweeps at falling temperatures; the bound is at temperature 1."""
    model, state = started(name)
    q = {**model.start, **model.local_start}
    for b in (0.3, 0.8, 1.0):
        q = by_hand.sweep(model, q, by_hand.weights_at(law, "all", 1 / b))
        state("entropy_step" if law == "entropy" else "step", None, b)
        value, energy, _ = model.bound(q)
        same(state.number("elbo"), value, "ELBO")
        same(state.number("data_energy"), energy, "energy")
        for k, v in model.shown(q).items():
            same(state.get(k), v, k)
    return f"ELBO {value:.6f}"


def batches(name):
    """Two steps from parts of the items at two temperatures, and the estimates of the bound."""
    model, state = started(name)
    q = dict(model.start)
    for which, rho, b, total in (((1, 0), 0.7, 0.5, 50), ((2,), 0.4, 1.0, 9)):
        w = by_hand.weights_at("data", "all", 1 / b, rho)
        scale = total / len(which)
        q = model.rest(model.items({**q, **model.fresh()}, w, which), w, scale)
        state("svi_step", state.data(some(model, which)), total, rho, b)
        for k in model.start:
            same(state.get(k), q[k], k)
        nothing = model.bound(model.items({**q, **model.fresh()}, w, []))
        value, energy, _ = model.bound(q)
        same(state.number("elbo"), nothing[0] + scale * (value - nothing[0]), "estimate of the ELBO")
        same(state.number("data_energy"), scale * energy, "energy")
    return f"estimate {nothing[0] + scale * (value - nothing[0]):.6f}"


def scored(name):
    """New items under the other factors: what they add to the ELBO, which of a single discrete variable is log evidence."""
    model, state = started(name)
    state("set_accuracy", 2000, 1e-15)
    which = (2, 1)
    q = model.items({**model.start, **model.fresh()}, by_hand.Weights(), which, passes=2000)
    nothing = model.bound(model.items({**model.start, **model.fresh()}, by_hand.Weights(), []))[0]
    want = model.bound(q)[0] - nothing
    same(state.number("score", state.data(some(model, which))), want, "score", 1e-9)
    return f"score {want:.6f}"


def temperature_factor():
    _, state = started("mixture")
    t = 10 ** (np.arange(7) / 6)
    b = 1 / t
    log_c = np.array([0.0, 3.0, 7.5, 11.0, 13.0, 14.5, 15.0])
    for energy in (-30.0, -12.0, -3.0, 4.0, -1e6, 1e6):
        r, mean = np.empty(7), c.c_double()
        state.built.check("temper", c.c_void_p(t.ctypes.data), c.c_void_p(log_c.ctypes.data), 7, energy,
                          c.c_void_p(r.ctypes.data), c.byref(mean))
        want = np.exp(energy * b - log_c - logsumexp(energy * b - log_c))
        np.testing.assert_allclose(r, want, rtol=1e-10, atol=1e-300)
        same(mean.value, want @ b, "mean of 1/T", 1e-10)
        state.built.check("temper", c.c_void_p(t.ctypes.data), c.c_void_p(log_c.ctypes.data), 7, energy, None, c.byref(mean))
        same(mean.value, want @ b, "the same without room for the weights", 1e-10)
    return "six energies"


def item_energies():
    """A temperature for every item: the energies at the inferred factors, at temperature 1, and the sweep that follows."""
    model = by_hand.Mixture()
    text = model.TEXT.replace("mixture", "warm").replace(" times count", "")
    model.count = np.ones(6)
    built = Built(LEHR, text, FOLDER.name, "--item-temperatures")
    b = np.array([1.0, 0.4, 0.7, 0.9, 0.2, 0.5])
    data = {**some(model, range(6)), "inverse_temperature": b}
    state = State(built, ROOM, data)
    state.set(model.start)
    q, energies = dict(model.start), np.empty(6)
    log_joint = model.log_joint(q)
    z = by_hand.softmax(b[:, None] * log_joint)
    state("item_energies", state.data(data), c.c_void_p(energies.ctypes.data), c.c_size_t(6))
    same(energies, np.sum(z * log_joint, axis=1), "energies")
    state("step", None, 1.0)
    model.count = b
    want = model.rest({**q, "which": np.arange(6), "z.probs": z}, by_hand.Weights())
    for k in model.start:
        same(state.get(k), want[k], k)
    return f"energies {energies.round(4)}"


def named():
    """Members of nets of unequal size, named by pairs of which nets have unequal numbers as well."""
    text = """model nets { plate net; plate member in net; plate pair in net; data a[net, pair] : member;
      u[net, member] ~ Normal(mean = 0, precision = 0.25); observe y[net, pair] ~ Normal(mean = u[net, a[net, pair]], precision = 1); }"""
    built = Built(LEHR, text, FOLDER.name)
    room = {"net": 3, "member": 6, "member_longest": 3, "pair": 6, "pair_longest": 3}
    data = {"net": 3, "member": 6, "pair": 6, "member_offsets": np.array([0, 2, 5, 6]), "y": np.arange(6.0)}
    right = {"pair_offsets": np.array([0, 1, 4, 6]), "a": np.array([1, 2, 0, 1, 0, 0])}
    state = State(built, room, {**data, **right})
    state("step", None, 1.0)
    same(state.get("u.precision"), 0.25 + np.bincount([1, 4, 2, 3, 5, 5], minlength=6), "precision")
    for wrong in ({"pair_offsets": np.array([0, 3, 4, 6]), "a": np.array([0, 1, 2, 0, 0, 0])}, {**right, "a": np.array([1, 2, 0, 1, 0, 1])}):
        try:
            State(built, room, {**data, **wrong})
        except RuntimeError:
            continue
        raise AssertionError(f"a member that is not there: {wrong}")
    return "6 pairs"


# Whether topics are known is compiled from the data, which a built object has later.
CHECKS = {f"{n}, {law}": lambda n=n, law=law: hot(n, law) for n in by_hand.MODELS if n != "known topics" for law in ("data", "entropy")}
for n in ("topics", "mixture", "chains"):
    CHECKS[f"{n}, minibatches"] = lambda n=n: batches(n)
for n in ("topics", "mixture", "chains"):
    CHECKS[f"{n}, score"] = lambda n=n: scored(n)
CHECKS["factor of a temperature"] = temperature_factor
CHECKS["energies of items"] = item_energies
CHECKS["members of nets"] = named

finish(CHECKS)
