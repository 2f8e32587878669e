#!/usr/bin/env python3
"""Sweeps of `lehr fit` at a temperature, against by_hand.py: every scope, data and entropy annealing, five kinds of models,
the numbers of trace.csv included."""
import sys

import numpy as np

sys.path.append(f"{sys.path[0]}/../posterior")
import by_hand  # noqa: E402
from fitting import finish, fit, temporary, within  # noqa: E402

T = 2.5  # of the first sweep; the second is at 1.75 or sqrt(2.5)
SPECS = {"linear": [T, 1 + (T - 1) / 2], "exp": [T, T**0.5], "entropy": [T, 1 + (T - 1) / 2], "file": [T, 1.3]}


def spec(kind, scope, path):
    text = f"file:{path}" if kind == "file" else f"{kind}:from={T},over=2"
    return text if scope == "all" else f"{text},scope={scope}"


same = within(rtol=1e-10, atol=1e-12)


def sweeps(name, kind, scope):
    """Two sweeps of one pass over the items, and one plain sweep after them."""
    model = by_hand.MODELS[name]()
    law = "entropy" if kind == "entropy" else "data"
    q, elbos, objectives = {**model.start, **model.local_start}, [], []
    for t in [*SPECS[kind], 1.0]:
        q = by_hand.sweep(model, q, by_hand.weights_at(law, scope, t))
        elbos.append(model.bound(q)[0])
        objectives.append(by_hand.objective(law, t, model.bound(q)))
    with temporary({"schedule.txt": "".join(f"{t}\n" for t in SPECS[kind])}) as folder:
        got = fit(model.TEXT, model.data, "--guide", "factorised", "--anneal", spec(kind, scope, f"{folder}/schedule.txt"), "--max-iter", 3, "--local-iters", 1,
                  init={**model.start, **model.local_start}, monotone=False)
    same(got.temperatures, [*SPECS[kind], 1], "temperatures")
    same(got.trace, elbos, "ELBO of trace.csv")
    same(got.objectives, objectives, "objective of trace.csv")
    for k, v in model.shown(q).items():
        same(got.posterior[k], v, k)
    return f"ELBO {got.elbo:.6f}"


def settled_items(name):
    """Proportions and topics of the items are fitted to each other at the temperature, not after one pass."""
    model = by_hand.MODELS[name]()
    w = by_hand.weights_at("data", "all", T)
    q = model.rest(model.items({**model.start, **model.local_start}, w, passes=2000), w)
    got = fit(model.TEXT, model.data, "--guide", "factorised", "--anneal", f"linear:from={T},over=9", "--max-iter", 1, "--local-iters", 5000,
              "--local-tol", 1e-14, init={**model.start, **model.local_start}, monotone=False)
    for k, v in model.shown(q).items():
        same(got.posterior[k], v, k, 1e-9)
    return "fixed point of the items"


def underflow():
    """Words that no topic of their document has: products of exponentials are below every double, their ratios are not."""
    model = by_hand.Topics()
    start = {"beta.concentration": np.array([[0.001, 5, 4, 0.0008, 3], [6, 0.0007, 0.0009, 2, 5], [3, 4, 0.0008, 5, 0.001]]),
             "theta.concentration": np.array([[7, 0.001, 0.0009], [0.0008, 6, 0.001], [5, 0.001, 0.0007], [0.001, 0.0008, 9]])}
    w = by_hand.weights_at("data", "all", 1.3)
    q = by_hand.sweep(model, start, w)
    got = fit(model.TEXT, model.data, "--anneal", "linear:from=1.3,over=9", "--max-iter", 1, "--local-iters", 1, init=start,
              monotone=False)
    same(got.trace, [model.bound(q)[0]], "ELBO")
    for k, v in model.shown(q).items():
        same(got.posterior[k], v, k)
    return f"ELBO {got.elbo:.6f}"


def naturals(model, q):
    """Of Dirichlet and Gamma factors, whose parameters are linear in them, and of the means."""
    out = {k: np.asarray(v, float).reshape(np.shape(model.start[k])) for k, v in q.items() if k in model.start}
    if "mu.mean" in out:
        out["mu.mean"] = out["mu.mean"] * out["mu.precision"]
    return {k: v for k, v in out.items() if not k.startswith("tau")}


def stochastic(name, options, shares):
    """Naturals mixed with those of random starts, one a sweep. What these are is found from runs that are next to nothing
    else, and predicts runs from another start with other shares, of one sweep and of two."""
    model = by_hand.MODELS[name]()
    asked = lambda q: naturals(model, by_hand.sweep(model, q, by_hand.Weights()))  # noqa: E731
    start, random = model.start, []
    for seed in (8, 9):
        got = fit(model.TEXT, model.data, "--anneal", "stochastic:decay=0.999,over=9,noise=start", "--max-iter", 1, "--seed", seed,
                  init=start, monotone=False)
        random.append({k: (v - 0.001 * asked(start)[k]) / 0.999 for k, v in naturals(model, got.posterior).items()})
    assert not all(np.allclose(random[0][k], random[1][k]) for k in random[0]), "two seeds, one start"
    q = {k: 1.3 * np.asarray(v) for k, v in start.items()}
    for sweeps in (1, 2):
        got = fit(model.TEXT, model.data, "--anneal", f"stochastic:{options},noise=start", "--max-iter", sweeps, "--seed", 8,
                  init={k: 1.3 * np.asarray(v) for k, v in start.items()}, monotone=False)
        share, eta = shares[sweeps - 1], random[sweeps - 1]
        want = asked(q)
        for k, v in naturals(model, got.posterior).items():
            same(v, (1 - share) * want[k] + share * eta[k], f"{k} after {sweeps}", 1e-9)
        same(got.temperatures, [1] * sweeps, "temperatures")
        q = {k: v.reshape(np.shape(start[k])) for k, v in got.posterior.items() if k in start}
    return f"shares {shares}"


def proportions(name):
    """Noise of the published size: of Dirichlet factors, uniform proportions times the mean sum of the rows as they are. Found
    from a run that is next to nothing else, and used for one from another start with another share."""
    model = by_hand.MODELS[name]()
    asked = lambda q: naturals(model, by_hand.sweep(model, q, by_hand.Weights()))  # noqa: E731
    names = [k for k in model.start if k.endswith(".concentration") and k.split(".")[0] != "theta"]
    run = lambda size, options: naturals(model, fit(model.TEXT, model.data, "--anneal", f"stochastic:{options},over=4", "--max-iter", 1,  # noqa: E731
                                                    "--seed", 8, init={k: size * np.asarray(v) for k, v in model.start.items()}, monotone=False).posterior)
    most, part = run(1.0, "decay=0.999"), run(1.3, "rho=0.25")
    eta = {k: (most[k] - 0.001 * asked(model.start)[k]) / 0.999 for k in names}
    want = asked({k: 1.3 * np.asarray(v) for k, v in model.start.items()})
    for k in names:
        rows = np.atleast_2d(eta[k])
        same(rows.sum(1), np.full(len(rows), np.atleast_2d(model.start[k]).sum(1).mean()), f"sums of {k}", 1e-6)
        assert np.all(rows > 0) and rows.std() > 0, rows
        if names == list(model.start):  # other factors take what a start gives them
            same(part[k], 0.75 * want[k] + 0.25 * 1.3 * eta[k], k, 1e-6)
    return f"{', '.join(names)}"


def inverse_scales():
    """Scales with the density x^-a exp(-b / x) dx / x stay proper at every temperature: a / T and b / T. Matrices likewise,
    with df - D + 1 for a. At temperature 1 again, runs end where plain ones do."""
    r = np.random.default_rng(6)
    y, v = r.normal(0, 2, 5), r.normal(0, 1, (3, 2))
    S = v.T @ v
    number = "model m { plate n; s ~ %s; observe y[n] ~ Normal(mean = 0, %s = s); }"
    matrix = """model m { plate n; plate d; S ~ InverseWishart(df = 3, scale = 1) over d;
      observe y[n] ~ MvNormal(mean = 0, covariance = S) over d; }"""
    hot = ["--anneal", "entropy:from=10,over=40"]
    for text, data, want in [
            (number % ("InverseGamma(shape = 0.5, scale = 3)", "variance"), y,
             {"s.shape": 3.0, "s.scale": 3 + y @ y / 2}),
            (matrix, v, {"S.df": 6.0 - 1, "S.scale": np.eye(2) + S})]:
        got = fit(text, {"y": data}, *hot, "--max-iter", 1, monotone=False).posterior
        for name, value in want.items():
            same(got[name], value / 10 + (name == "S.df"), name)
        same(fit(text, {"y": data}, *hot, monotone=False).elbo, fit(text, {"y": data}).elbo, "ELBO")
    half = "model m { plate n; s ~ HalfCauchy(scale = 1); w ~ Normal(mean = 0, sd = s); observe y[n] ~ Normal(mean = w, sd = 1); }"
    joint = """model m { plate n; plate d; data x[n, d] : real; tau ~ Gamma(shape = 1, rate = 1);
      w[d] ~ Normal(mean = 0, precision = tau); observe y[n] ~ Normal(mean = sum(d) x[n, d] * w[d], precision = tau);
      guide joint(w, tau); }"""
    for text, data in (half, {"y": y}), (joint, {"y": r.normal(size=12), "x": r.normal(size=(12, 8))}):
        same(fit(text, data, *hot, monotone=False).elbo, fit(text, data).elbo, "ELBO", 1e-6)
    return "numbers, roots, matrices, and a precision that scales weights"


CHECKS = {f"{name}, {kind}, scope {scope}": lambda n=name, k=kind, s=scope: sweeps(n, k, s)
          for name in by_hand.MODELS for kind, scope in [("linear", "all"), ("linear", "local"), ("file", "global"),
                                                         ("entropy", "all"), ("entropy", "local"), ("entropy", "global"),
                                                         ("exp", "all")]}
CHECKS["topics, underflow"] = underflow
CHECKS["inverse scales"] = inverse_scales
CHECKS["topics, items to the end"] = lambda: settled_items("topics")
CHECKS["mixture, stochastic by rho"] = lambda: stochastic("mixture", "rho=0.25,over=4", [0.25, 0.1875])
CHECKS["mixture, stochastic by decay"] = lambda: stochastic("mixture", "decay=0.7,over=4", [0.7, 0.49])
CHECKS["mixture, noise of proportions"] = lambda: proportions("mixture")
CHECKS["chains, noise of proportions"] = lambda: proportions("chains")
CHECKS["chains, stochastic by rho"] = lambda: stochastic("chains", "rho=0.5,over=4", [0.5, 0.375])

finish(CHECKS)
