#!/usr/bin/env python3
"""However a run was heated, it ends at temperature 1 where a plain sweep, written out in by_hand.py, moves nothing; the
melting of a lattice of spins, sweep by sweep."""
import sys

import numpy as np

sys.path.append(f"{sys.path[0]}/../posterior")
import by_hand  # noqa: E402
from fitting import finish, fit, within  # noqa: E402

PLAIN = by_hand.Weights()
LONG = ["--tol", "1e-13", "--max-iter", 20000, "--local-iters", 1000, "--local-tol", "1e-13"]
SPECS = {"temper": ["--temper", "global:max=3,levels=20"], "temper items": ["--temper", "local:max=2,levels=10"],
         "quick": ["--anneal", "auto"], "full": ["--anneal", "auto:full"], "budget": ["--anneal", "auto:sweeps=600"],
         "linear": ["--anneal", "linear:from=4,over=7"], "entropy": ["--anneal", "entropy:from=4,over=7,scope=local"],
         "stochastic": ["--anneal", "stochastic:rho=0.3,over=9"]}

close = within(rtol=None, atol=1e-7)


def model_of(name):
    model = by_hand.MODELS[name]()
    if name == "mixture":  # copies would need temperatures of their own
        model.count = np.ones(model.ITEMS)
        model.data["count"] = model.count.astype(int)
    return model


def end(name, spec):
    model = model_of(name)
    got = fit(model.TEXT, model.data, *SPECS[spec], *LONG, init=model.start, monotone=False)
    q = {k: v.reshape(np.shape(model.start.get(k, v))) for k, v in got.posterior.items()}
    inferred = model.items(q, PLAIN, passes=2000)
    again = model.rest(inferred, PLAIN)
    for k in model.start:
        close(q[k], again[k], f"{k} after one more sweep", 1e-5)
    close(got.elbo, model.bound(model.items(again, PLAIN, passes=2000))[0], "ELBO", 1e-9)
    assert got.report["status"] == "converged" and got.temperatures[-1] == 1, f"{got.report['status']} at temperature {got.temperatures[-1]}"
    if "annealing" in got.report and "arms" in got.report["annealing"]:
        arms(got, spec != "quick")
    return f"ELBO {got.elbo:.8f} after {got.report['iterations']} sweeps"


def arms(got, full):
    """Where every arm starts, that it falls linearly and ends at 1 with the ELBO that it reports, and which are kept."""
    a, t = got.report["annealing"], np.array(got.temperatures)
    melting, curve = a["melting_temperature"], a["entropy_curve"]
    share = 1.0 if a["arms"][1]["kept"] else 0.7
    of_entropies = a["temperatures_of"] == "entropies"
    at = lambda x, t=melting: 1 + x * (t - 1) if of_entropies else x * t  # noqa: E731
    planned = [(at(0.7), 40), (melting, 40)] + [(at(share), 80)] * (share == 1.0 or of_entropies)
    if a["plateau"]:
        planned.append((at(0.75, next(x for x, f in curve if f >= 0.3)), 40))
    if full:
        cycles = [(1.0, 40), (0.8, 40), (1.15, 80), (0.9, 80)]
        planned.append((at(3), 80))
        planned += [(at(c * share), n) for c, n in cycles] * 9
    first = a["plain_sweeps"] + len(curve)  # after plain ascent and the heating
    starts = [first, *[i for i in range(first + 1, len(t)) if t[i] > 1 and t[i - 1] == 1]]
    assert len(starts) == len(a["arms"]), f"{len(starts)} arms in the trace, {len(a['arms'])} in fit.json"
    best = a["plain_elbo"]
    for i, j, arm, (hottest, sweeps) in zip(starts, [*starts[1:], None], a["arms"], planned):
        close(arm["from"], max(hottest, 1.05), "start of an arm", 1e-12)
        close(t[i:i + sweeps], 1 + (arm["from"] - 1) * (1 - np.arange(sweeps) / sweeps), "temperatures of an arm", 1e-12)
        if j is not None and not (np.all(t[i + sweeps:j] == 1) and i + sweeps < j and got.trace[j - 1] == arm["elbo"]):
            raise AssertionError(f"an arm ends with {got.trace[j - 1]}, not {arm['elbo']}")
        assert arm["kept"] == (arm["elbo"] > best + 1e-5 * abs(best)), f"{arm} after {best}"
        best = arm["elbo"] if arm["kept"] else best
    assert got.elbo >= best - 1e-9 * abs(best), f"{got.elbo} is below {best}"


def melting():
    """Sixteen spins on a torus: every sweep of the heating, its entropy, and where 70 % of the way is reached."""
    side, coupling = 4, 1.1
    site = np.arange(side * side).reshape(side, side)
    a = np.concatenate([site.ravel(), site.ravel()])
    b = np.concatenate([np.roll(site, -1, 1).ravel(), np.roll(site, -1, 0).ravel()])
    text = """model m { plate site; plate edge; data a[edge] : site; data b[edge] : site; const J;
      s[site] ~ Spin(); potential[edge] J * s[a[edge]] * s[b[edge]]; }"""

    def heat(m, inverse):
        for i in range(side * side):
            m[i] = np.tanh(inverse * coupling * (m[b[a == i]].sum() + m[a[b == i]].sum()))
        return m

    entropy = lambda m: by_hand.entropy_of(np.stack([(1 + m) / 2, (1 - m) / 2], -1)).sum()  # noqa: E731
    got = fit(text, {"a": a, "b": b}, "--sizes", f"site={side * side}", "--set", f"J={coupling}", "--anneal", "auto",
              *LONG, init={"s.mean": np.full(side * side, 0.3)}, monotone=False)
    m = np.full(side * side, 0.3)
    for _ in range(2000):
        m = heat(m, 1.0)
    cold, hot, t, curve = entropy(m), entropy(heat(m.copy(), 1e-9)), 1.0, []
    while not curve or curve[-1] < 0.7:
        t *= 1.07
        m = heat(m, 1 / t)
        curve.append((entropy(m) - cold) / (hot - cold))
    report = got.report["annealing"]
    close([f for _, f in report["entropy_curve"]], curve, "entropies", 1e-7)
    close([x for x, _ in report["entropy_curve"]], 1.07 ** np.arange(1, len(curve) + 1), "temperatures", 1e-12)
    close(report["melting_temperature"], t, "melting temperature", 1e-12)
    return f"melts at {t:.4f}"


KNOWN = """model m { plate n; plate k; data w : simplex over k; mu[k] ~ Normal(mean = 0, sd = 60); z[n] ~ Categorical(w);
  observe x[n] ~ Normal(mean = mu[z[n]], sd = 1); }"""


def two_steps():
    """Pairs of near clusters, far from each other: the entropy rises in two steps, and one arm starts below the first."""
    x = np.concatenate([c + np.linspace(-1, 1, 12) for c in (-17.0, -13.0, 13.0, 17.0)])
    got = fit(KNOWN, {"x": x, "w": np.full(4, 0.25)}, "--anneal", "auto", *LONG, monotone=False,
              init={"mu.mean": [-17.0, -13.0, 13.0, 17.0], "mu.precision": [12.0] * 4})
    a = got.report["annealing"]
    fractions = [f for _, f in a["entropy_curve"]]
    flat = any(f > 0.1 and g - f < 0.02 for f, g in zip(fractions, fractions[4:]))  # four steps of 7 %: 31 %
    assert a["plateau"] and flat, f"plateau {a['plateau']} of {fractions}"
    arms(got, False)
    return f"arms from {[round(arm['from'], 3) for arm in a['arms']]}"


def parted():
    """Components that are equal stay equal in every sweep: only the trace of noise lets them part."""
    x = np.concatenate([c + np.linspace(-1, 1, 15) for c in (-6.0, 2.0, 7.0)])
    init = {"mu.mean": [-6.0, 4.0, 4.0], "mu.precision": [15.0, 10.0, 10.0]}
    got = fit(KNOWN, {"x": x, "w": np.full(3, 1 / 3)}, "--anneal", "auto", "--no-saddle-test", *LONG, init=init, monotone=False)
    assert got.elbo > got.report["annealing"]["plain_elbo"] + 10, f"ELBO {got.elbo}, {got.report['annealing']['plain_elbo']} of plain ascent"
    np.testing.assert_allclose(np.sort(got.posterior["mu.mean"]), [-6, 2, 7], atol=0.2)
    return f"ELBO {got.report['annealing']['plain_elbo']:.3f} to {got.elbo:.3f}"


EXACT = SPECS.keys() - {"temper", "temper items"}  # without a normaliser that follows the factors
CHECKS = {f"{n}, {s}": lambda n=n, s=s: end(n, s)
          for n, specs in {"topics": EXACT, "mixture": SPECS.keys(), "chains": EXACT | {"temper"}}.items()
          for s in sorted(specs)}
CHECKS["spins melt"] = melting
CHECKS["entropy in two steps"] = two_steps
CHECKS["equal components part"] = parted

finish(CHECKS)
