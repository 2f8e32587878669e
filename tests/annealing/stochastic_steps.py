#!/usr/bin/env python3
"""Steps of `lehr fit --method svi` against by_hand.py: the step sizes, the batches scaled up, point factors, multiplicities,
temperatures, noisy and exact ELBOs. Which items a step took is found out by trying all; only one choice may fit."""
import itertools
import sys

import numpy as np

sys.path.append(f"{sys.path[0]}/../posterior")
import by_hand  # noqa: E402
from fitting import finish, fit, within  # noqa: E402


def run(model, batch, steps, *more, **arguments):
    passes = (steps - 0.5) / -(-model.ITEMS // batch)
    return fit(model.TEXT, model.data, "--method", "svi", "--batch-size", batch, "--epochs", passes, "--local-iters", 1, *more,
               init=model.start, monotone=False, **arguments)


def step(model, q, which, rho, t=1.0):
    """The factors after a step and the noisy ELBO."""
    w = by_hand.weights_at("data", "all", t, rho)
    scale = model.ITEMS / len(which)
    out = model.rest(model.items({**q, **model.fresh()}, w, which), w, scale)
    return out, noisy(model, out, scale)


def noisy(model, q, scale):
    """The bound with the sums over the items scaled up: what is not of the items is in the bound of no items."""
    rest = model.bound(model.items({**q, **model.fresh()}, by_hand.Weights(), []))[0]
    return rest + scale * (model.bound(q)[0] - rest)


def exact(model, q):
    return model.bound(model.items({**q, **model.fresh()}, by_hand.Weights()))[0]


def matches(model, got, q):
    return all(np.allclose(got.posterior[k].reshape(np.shape(v)), q[k], rtol=1e-9, atol=0) for k, v in model.start.items())


same = within(rtol=1e-10)


def whole(name, schedule, rhos, temperatures=(1.0, 1.0)):
    """Two steps of all items, and the exact ELBO of each."""
    model = by_hand.MODELS[name]()
    q, elbos = dict(model.start), []
    for rho, t in zip(rhos, temperatures):
        q, _ = step(model, q, range(model.ITEMS), rho, t)
        elbos.append(exact(model, q))
    got = run(model, model.ITEMS, 2, "--elbo-every", 1, *schedule)
    for k in model.start:
        same(got.posterior[k], q[k], k)
    same(got.trace, elbos, "ELBO")
    same(got.temperatures, temperatures, "temperatures")
    return f"steps {', '.join(f'{r:.4f}' for r in rhos)}"


def parts(name, batch, seed):
    """Two steps of some of the items each; the last is the shorter where a pass does not divide."""
    model = by_hand.MODELS[name]()
    rhos = [3.0**-0.6, 4.0**-0.6]
    got = run(model, batch, 2, "--tau0", 3, "--kappa", 0.6, "--seed", seed)
    found = []
    for first in itertools.combinations(range(model.ITEMS), batch):
        left = [i for i in range(model.ITEMS) if i not in first]
        after, noisy_elbo = step(model, dict(model.start), first, rhos[0])
        for second in itertools.combinations(left, min(batch, len(left))):
            q, _ = step(model, after, second, rhos[1])
            if matches(model, got, q):
                found.append((first, second, noisy_elbo, exact(model, q)))
    assert len(found) == 1, f"{len(found)} choices of items fit"
    first, second, noisy_elbo, exact_elbo = found[0]
    same(got.trace, [noisy_elbo, exact_elbo], "ELBO, noisy and exact")
    return f"items {first}, then {second}"


class Points:
    """The mixture with points for all that is not of the items: a step moves the point towards the mode."""

    TEXT = by_hand.Mixture.TEXT.replace("0.5", "1.5").rstrip()[:-1] + " guide point(pi, mu, tau); }"
    ITEMS = 6

    def __init__(self):
        m = by_hand.Mixture()
        self.x, self.count, self.data = m.x, m.count, m.data
        self.start = {"pi.value": np.array([0.3, 0.5, 0.2]), "mu.value": np.array([-1.0, 0.3, 2.0]),
                      "tau.value": np.array([2.0, 0.7, 1.5])}

    def after(self, q, rho):
        """Pi, then mu at the old tau, then tau at the new mu."""
        d = self.x[:, None] - q["mu.value"]
        z = by_hand.softmax(np.log(q["pi.value"]) + 0.5 * np.log(q["tau.value"]) - 0.5 * q["tau.value"] * d**2)
        z = self.count[:, None] * z
        weight = 0.5 + z.sum(0)
        move = lambda old, new: (1 - rho) * old + rho * new  # noqa: E731
        tau = q["tau.value"]
        mu = move(q["mu.value"], (0.2 + tau * (self.x @ z)) / (0.2 + tau * z.sum(0)))
        rate = 3 + 0.5 * np.sum(z * (self.x[:, None] - mu) ** 2, axis=0)
        return {"pi.value": move(q["pi.value"], weight / weight.sum()), "mu.value": mu,
                "tau.value": move(tau, (1 + 0.5 * z.sum(0)) / rate)}


def points():
    model, q = Points(), Points().start
    for rho in (5.0**-0.9, 6.0**-0.9):
        q = model.after(q, rho)
    got = run(model, 6, 2, "--tau0", 5, "--kappa", 0.9)
    for k in q:
        same(got.posterior[k], q[k], k)
    return f"means {q['mu.value'].round(3)}"


CHECKS = {}
for n in ("topics", "mixture", "chains"):
    CHECKS[f"{n}, default steps"] = lambda n=n: whole(n, [], [1.0, 2.0**-0.7])
    CHECKS[f"{n}, other steps"] = lambda n=n: whole(n, ["--tau0", 2.5, "--kappa", 0.9], [2.5**-0.9, 3.5**-0.9])
    CHECKS[f"{n}, steps of one size"] = lambda n=n: whole(n, ["--rho", 0.3], [0.3, 0.3])
    CHECKS[f"{n}, never above one"] = lambda n=n: whole(n, ["--tau0", 0.5], [1.0, 1.5**-0.7])
    CHECKS[f"{n}, annealed"] = lambda n=n: whole(n, ["--rho", 0.4, "--anneal", "linear:from=3,over=2"], [0.4, 0.4], (3, 2))
CHECKS["points"] = points
CHECKS["topics, a half at a time"] = lambda: parts("topics", 2, 1)
CHECKS["topics, three of four, then one"] = lambda: parts("topics", 3, 2)
CHECKS["mixture, a third at a time"] = lambda: parts("mixture", 2, 3)
CHECKS["mixture, four of six, then two"] = lambda: parts("mixture", 4, 4)
CHECKS["chains, one at a time"] = lambda: parts("chains", 1, 5)

finish(CHECKS)
