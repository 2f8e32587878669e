#!/usr/bin/env python3
"""When a fit stops, by the rule written out: the ELBO moves by at most tol * (1 + |ELBO|), every array of parameters outside
the items by at most the root of tol, now and in all that the ratio of the last ten movements lets expect."""
import sys

import numpy as np

sys.path.append(f"{sys.path[0]}/../posterior")
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


class OneOfMany:
    """Effects of groups, of which one alone moves from its second sweep on, and by far more than all else: data have it and a
    common effect together."""

    TEXT = """model effects { plate n; plate g = 6; data i[n] : g; data w[n] : real;
      a[g] ~ Normal(mean = 0, precision = 1);
      b ~ Normal(mean = 0, precision = 0.01);
      observe x[n] ~ Normal(mean = a[i[n]] + w[n] * b, sd = 1); }"""

    def __init__(self, moves):
        self.group, self.w = np.arange(6), 1.0 * (np.arange(6) == moves)
        self.x = 0.1 + 50 * self.w
        self.data = {"x": self.x, "i": self.group, "w": self.w}
        self.start = {"a.mean": np.zeros(6), "a.precision": np.ones(6), "b.mean": np.array(40.0), "b.precision": np.array(1.0)}

    def fresh(self):
        return {}

    def items(self, q, w):
        return q

    def rest(self, q, w):
        a = (self.x - self.w * q["b.mean"]) / 2
        b = self.w @ (self.x - a) / (1 + 0.01)
        return {"a.mean": a, "a.precision": np.full(6, 2.0), "b.mean": b, "b.precision": np.array(1.01)}

    def bound(self, q):
        a, b = by_hand.Normal(q["a.mean"], q["a.precision"]), by_hand.Normal(q["b.mean"], q["b.precision"])
        rest = self.x - a.mean - self.w * b.mean
        squares = rest**2 + 1 / q["a.precision"] + self.w**2 / q["b.precision"]
        energy = np.sum(-0.5 * np.log(2 * np.pi) - 0.5 * squares)
        return (energy + a.prior(0, 1).sum() + b.prior(0, 0.01) + a.entropy().sum() + b.entropy(),)


def stops(model, tolerance):
    want = sweeps_until_settled(model, tolerance)
    got = fit(model.TEXT, model.data, "--guide", "factorised", "--tol", tolerance, "--max-iter", 3000, "--leap-after", 0, "--local-iters", 1, init=model.start)
    if (got.report["iterations"], got.report["status"]) != (want, "converged"):
        raise AssertionError(f"{got.report['status']} after {got.report['iterations']} sweeps, not {want}")
    return f"{want} sweeps"


def falls():
    """What is maximised at another temperature is another thing: no fall is reported while the temperature changes."""
    model = by_hand.Mixture()
    for spec in ("linear:from=4,over=7", "entropy:from=4,over=7", "exp:from=9,over=5,scope=local", "stochastic:rho=0.3,over=9"):
        got = fit(model.TEXT, model.data, "--anneal", spec, init=model.start, monotone=False)
        assert min(np.diff(got.objectives)) < 0, f"{spec}: nothing fell, which tests nothing"
        assert got.report["elbo_decreases"] == 0 and "fell" not in got.said, f"{spec}: {got.report['elbo_decreases']} falls reported"
    return "four schedules"


def cancelled():
    """Points on their way to 0, where terms of the ELBO grow without bound and cancel: neither rises by rounding above the density
    of the points, which it cannot exceed for data without a success, nor falls by it. See the prior: Gamma(1, 0.1) is 0.1 at 0."""
    beta = "a ~ Gamma(shape = 1, rate = 0.1); b ~ Gamma(shape = 1, rate = 0.1); guide point(a, b);"
    highest, said = 2 * np.log(0.1), []
    for text in (f"plate n; data N[n] : count; {beta} observe y[n] ~ BetaBinomial(N[n], a, b);",
                 f"plate n; data N[n] : count; {beta} p[n] ~ Beta(a, b); observe y[n] ~ Binomial(N[n], p[n]);"):
        for groups, count in (1, 10), (8, 10), (20, 50), (60, 2), (60, 10), (60, 50), (60, 1000):
            for search in "none", "full":
                got = fit(f"model m {{ {text} }}", {"N": np.full(groups, count), "y": np.zeros(groups, int)}, "--search", search, monotone=False)
                assert got.report["elbo_decreases"] == 0 and "fell" not in got.said, got.said
                assert -1e-3 < got.elbo - highest < 1e-4, f"{groups} groups: ELBO {got.elbo}, at most {highest}"
                said.append(abs(got.elbo - highest))
    topics = """model lda { plate doc; plate token in doc; plate topic = 2; plate term; alpha[topic] ~ Gamma(shape = 1, rate = 1);
      beta[topic] ~ Dirichlet(concentration = 0.5) over term; theta[doc] ~ Dirichlet(concentration = alpha) over topic;
      z[doc, token] ~ Categorical(theta[doc]); observe w[doc, token] ~ Categorical(beta[z[doc, token]]); guide point(alpha); }"""
    got = fit(topics, {"w": [[0, 1, 1], [2, 3], [0, 0, 1], [2, 2, 3, 3]]}, "--search", "none", monotone=False)
    assert got.report["elbo_decreases"] == 0 and "fell" not in got.said, got.said
    return f"to {max(said):.0e}"


TOLERANCES = (1e-3, 1e-5, 1e-8, 1e-11)
CHECKS = {f"{n}, {t}": lambda n=n, t=t: stops(by_hand.MODELS[n](), t) for n in ("topics", "mixture", "chains") for t in TOLERANCES}
CHECKS |= {f"one of many, {k}": lambda k=k: stops(OneOfMany(k), 1e-6) for k in range(6)}
CHECKS["falls"] = falls
CHECKS["cancelled"] = cancelled

finish(CHECKS)
