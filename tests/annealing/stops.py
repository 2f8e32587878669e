#!/usr/bin/env python3
"""When a fit stops, by the rule written out: the ELBO moves by at most tol * (1 + |ELBO|), every array of parameters outside
the items by at most the root of tol, now and in all that the ratio of the last ten movements lets expect."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../posterior"))
import by_hand  # noqa: E402
from fitting import finish, fit  # noqa: E402


def sweeps_until_settled(model, tolerance, after=0, most=3000):
    """Number of sweeps, of which those up to `after` are not counted as ends."""
    q, before, elbo, moves = dict(model.start), dict(model.start), None, []
    for sweep in range(1, most + 1):
        q = model.rest(model.items({**q, **model.fresh()} if sweep == 1 else q, by_hand.Weights()), by_hand.Weights())
        previous, elbo = elbo, model.bound(q)[0]
        moves.append(max(np.sum(np.abs(q[k] - before[k])) / np.sum(np.abs(q[k])) for k in model.start))
        before = {k: np.array(q[k]) for k in model.start}
        recent = moves[-11:]
        if len(recent) < 4 or previous is None:
            continue
        ratio = min(1 - 1e-4, (recent[-1] / recent[0]) ** (1 / (len(recent) - 1)))
        left = recent[-1] * ratio / (1 - ratio)
        if abs(elbo - previous) <= tolerance * (1 + abs(elbo)) and max(recent[-1], left) <= np.sqrt(tolerance) and sweep > after:
            return sweep
    return most


def stops(name, tolerance):
    model = by_hand.MODELS[name]()
    want = sweeps_until_settled(model, tolerance)
    got = fit(model.TEXT, model.data, "--tol", tolerance, "--max-iter", 3000, "--local-iters", 1, init=model.start)
    if (got.report["iterations"], got.report["status"]) != (want, "converged"):
        raise AssertionError(f"{got.report['status']} after {got.report['iterations']} sweeps, not {want}")
    return f"{want} sweeps"


def falls():
    """What is maximised at another temperature is another thing: no fall is reported while the temperature changes."""
    model = by_hand.Mixture()
    for spec in ("linear:from=4,over=7", "entropy:from=4,over=7", "exp:from=9,over=5,scope=local", "stochastic:rho=0.3,over=9"):
        got = fit(model.TEXT, model.data, "--anneal", spec, init=model.start, monotone=False)
        if not min(np.diff(got.objectives)) < 0:
            raise AssertionError(f"{spec}: nothing fell, which tests nothing")
        if got.report["elbo_decreases"] != 0 or "fell" in got.said:
            raise AssertionError(f"{spec}: {got.report['elbo_decreases']} falls reported")
    return "four schedules"


CHECKS = {f"{n}, {t}": lambda n=n, t=t: stops(n, t) for n in ("topics", "mixture", "chains") for t in (1e-3, 1e-5, 1e-8, 1e-11)}
CHECKS["falls"] = falls

if __name__ == "__main__":
    finish(CHECKS)
