#!/usr/bin/env python3
"""Stochastic variational inference: with all items and a step of 1 it is a sweep of coordinate ascent, and from
minibatches it gets near what coordinate ascent finds. Hoffman, Blei, Wang & Paisley (2013)."""
import os
import sys

import numpy as np
from scipy import optimize, stats

sys.path.append(f"{sys.path[0]}/../posterior")
from fitting import LEHR, arrays, finish, fit, lehr, peak_memory, relative, temporary, write, write_json  # noqa: E402

R = np.random.default_rng(3)
TOPICS = R.dirichlet(np.full(40, 0.1), 4)
WORDS = [[int(R.choice(40, p=TOPICS[k])) for k in R.choice(4, 60, p=R.dirichlet(np.full(4, 0.3)))] for _ in range(300)]
LDA = """model lda { plate doc; plate token in doc; plate topic = 4; plate term;
  beta[topic] ~ Dirichlet(concentration = 0.1) over term;
  theta[doc] ~ Dirichlet(concentration = 0.3) over topic;
  z[doc, token] ~ Categorical(theta[doc]);
  observe w[doc, token] ~ Categorical(beta[z[doc, token]]); }"""
GMM = """model gmm { plate n; plate k = 3; plate d;
  pi ~ Dirichlet(concentration = 1) over k;
  mu[k] ~ MvNormal(mean = 0, precision = 0.01) over d;
  Lambda[k] ~ Wishart(df = 3, scale = 1) over d;
  z[n] ~ Categorical(pi);
  observe x[n] ~ MvNormal(mean = mu[z[n]], precision = Lambda[z[n]]); }"""
HMM = """model hmm { plate seq; plate t in seq ordered; plate k = 3;
  pi ~ Dirichlet(concentration = 1) over k;
  A[k] ~ Dirichlet(concentration = 1) over k;
  rate[k] ~ Gamma(shape = 1, rate = 0.1);
  s[seq, t] ~ Categorical(A[s[seq, t-1]]) start Categorical(pi);
  observe x[seq, t] ~ Poisson(rate[s[seq, t]]); }"""
POINTS = np.concatenate([R.normal(c, 1, (100, 2)) for c in ((0, 0), (6, 0), (0, 6))])
COUNTS = [R.poisson(np.repeat(R.permutation([2.0, 8.0, 20.0]), 6)).tolist() for _ in range(60)]
MODELS = {"lda": (LDA, {"w": WORDS}, 300), "gmm": (GMM, {"x": POINTS}, 300), "hmm": (HMM, {"x": COUNTS}, 60)}


# Stored local factors of every kind, whose priors read global factors, and what reads them out of turn.
STORED = {
    "mixed offset": ("""model m { plate n; plate k = 2; off ~ Normal(mean = 0, sd = 1); mu[k] ~ Normal(mean = 0, sd = 5);
      pi ~ Dirichlet(concentration = 1) over k; z[n] ~ Categorical(pi); h[n] ~ Normal(mean = off, sd = 1);
      observe x[n] ~ Normal(mean = mu[z[n]] + h[n], sd = 1); }""", {"x": [1, 2, 3, -4, 5, 6, -7, 2]}, 8),
    "chain by elements": ("""model m { plate seq; plate t in seq ordered; q ~ Gamma(shape = 1, rate = 1);
      g[seq, t] ~ Gamma(shape = 2, rate = g[seq, t-1]) start Gamma(shape = 2, rate = q);
      observe x[seq, t] ~ Poisson(g[seq, t]); guide independent(g); }""",
                          {"x": [[1, 2, 3], [4, 2], [1, 1, 5, 2], [7, 1]]}, 4),
    "rectangular chain": ("""model m { plate seq; plate t ordered; q ~ Gamma(shape = 1, rate = 1);
      x[seq, t] ~ Normal(mean = x[seq, t-1], precision = q) start Normal(mean = 0, sd = 2);
      observe y[seq, t] ~ Normal(mean = x[seq, t], sd = 0.7); }""", {"y": R.normal(size=(5, 4))}, 5),
    "rows": ("""model m { plate a; plate b in a; m0 ~ Normal(mean = 0, sd = 3); s ~ Gamma(shape = 1, rate = 1);
      u[a] ~ Normal(mean = m0, sd = 1); v[a, b] ~ Normal(mean = u[a], precision = s);
      observe y[a, b] ~ Normal(mean = v[a, b], sd = 1); }""", {"y": [[1.0, 2.0, 0.5], [3.0], [], [2.0, 2.5], [0.0]]}, 5)}


def globals_of(model, data, *arguments):
    """The posterior without --save-locals."""
    with temporary() as directory:
        at = lambda name: os.path.join(directory, name)
        write(at("model.lehr"), model)
        write_json(at("data.json"), {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in data.items()})
        done = lehr("fit", at("model.lehr"), "--data", at("data.json"), "--out", at("out"), "--quiet", *[str(a) for a in arguments], code=None)
        if done.returncode != 0:
            raise RuntimeError(f"exit {done.returncode}: {done.stderr}")
        return arrays(at("out/posterior.npz"))


def stored(name):
    """A full step is a sweep from every start; what is kept of the items decides about nothing."""
    model, data, items = STORED[name]
    svi, worst = ["--method", "svi", "--seed", 5], 0.0
    for init in ("seeds", "allocations", "points", "flat", "means"):
        sweep = globals_of(model, data, "--max-iter", 1, "--seed", 5, "--init", init)
        step = globals_of(model, data, *svi, "--init", init, "--rho", 1, "--epochs", 1, "--batch-size", items)
        few = [*svi, "--init", init, "--epochs", 5, "--batch-size", 1]
        window, whole = globals_of(model, data, *few), globals_of(model, data, *few, "--save-locals")
        checked = globals_of(model, data, *few, "--interpret")
        for k in sweep:
            worst = max(worst, relative(step[k], sweep[k]), relative(window[k], whole[k]), relative(window[k], checked[k]))
    assert worst <= 1e-10, f"parameters differ by {worst:.1e}"
    return f"parameters within {worst:.1e}"


def crossed():
    """Where something outside the items visits them one by one a step takes all of them: a noisy sum beside an exact one
    made precisions negative."""
    model = """model m { plate e; plate p; plate q; plate k = 2; data i[e] : p; data j[e] : q;
      U[p] ~ MvNormal(mean = 0, precision = 1) over k; V[q] ~ MvNormal(mean = 0, precision = 1) over k;
      tau ~ Gamma(shape = 1, rate = 1); m0 ~ Normal(mean = 0, sd = 3);
      a[e] ~ Normal(mean = m0, precision = 1); observe c[e] ~ Normal(mean = a[e], sd = 1);
      observe y[e] ~ Normal(mean = dot(U[i[e]], V[j[e]]), precision = tau); }"""
    r = np.random.default_rng(1)
    data = {"i": r.integers(5, size=30), "j": r.integers(4, size=30), "c": r.normal(size=30), "y": r.normal(size=30)}
    for seed in range(1, 9):
        globals_of(model, data, "--method", "svi", "--batch-size", 1, "--epochs", 20, "--seed", seed)
    return "8 starts"


def one_sweep(name):
    """One step with all items and rho = 1; also at a temperature."""
    model, data, items = MODELS[name]
    worst = 0.0
    for extra in ([], ["--anneal", "linear:from=2,over=5"]):
        ascent = fit(model, data, "--max-iter", 1, "--seed", 5, *extra, monotone=False).posterior
        step = fit(model, data, "--method", "svi", "--batch-size", items, "--epochs", 1, "--rho", 1, "--seed", 5, *extra,
                   monotone=False).posterior
        for k, v in ascent.items():
            if v.shape[:1] != (items,) and not k.startswith(("z.", "s.")):
                worst = max(worst, relative(step[k], v))
    assert worst <= 1e-12, f"parameters differ by {worst:.1e}"
    return f"parameters within {worst:.1e} of a sweep's"


def minibatches(name):
    model, data, items = MODELS[name]
    best = max(fit(model, data, "--seed", s).elbo for s in range(1, 6))
    got = [fit(model, data, "--method", "svi", "--batch-size", items // 10, "--epochs", 30, "--tau0", 5, "--seed", s,
               monotone=False).elbo for s in range(1, 6)]
    start = fit(model, data, "--max-iter", 0, "--seed", 1).elbo
    reached = (max(got) - start) / (best - start)
    assert reached >= 0.97, f"ELBO {max(got)} from {start}, coordinate ascent {best}"
    return f"{100 * reached:.1f} % of the way of coordinate ascent"


def shapes():
    """Points of shapes, whose targets by a minibatch are as uncertain as logarithms: small batches end near the maximum of
    the posterior with the proportions integrated out, which scipy finds."""
    model = """model m { plate n; plate g; data of[n] : g; data trials[n] : count;
      a[g] ~ Gamma(shape = 2, rate = 0.5); b[g] ~ Gamma(shape = 2, rate = 0.5);
      observe y[n] ~ BetaBinomial(trials[n], a[of[n]], b[of[n]]); guide point(a, b); }"""
    of, r = np.arange(90) % 3, np.random.default_rng(1)
    p = r.beta(np.array([2, 5, 1.0])[of], np.array([3, 1, 4.0])[of])
    data = {"of": of, "trials": np.full(90, 20), "y": r.binomial(20, p)}
    def lost(logs):
        a, b = np.exp(logs).reshape(2, 3)
        prior = stats.gamma.logpdf(a, 2, scale=2) + stats.gamma.logpdf(b, 2, scale=2)
        return -prior.sum() - stats.betabinom.logpmf(data["y"], 20, a[of], b[of]).sum()

    best = -optimize.minimize(lost, np.zeros(6), method="BFGS", options={"gtol": 1e-8}).fun
    plain = fit(model, data, "--tol", 1e-12, "--max-iter", 20000).elbo
    assert abs(plain - best) < 1e-5 * abs(best), f"coordinate ascent {plain}, scipy {best}"
    got = [fit(model, data, "--method", "svi", "--batch-size", 10, "--epochs", 40, "--tau0", 5, "--kappa", 0.9, "--seed", s, monotone=False).elbo for s in (1, 2)]
    assert best - 1 < min(got) and max(got) < best + 1e-6, f"ELBO {got}, maximum {best}"
    return f"ELBO {min(got):.3f} to {max(got):.3f}, maximum {best:.3f}"


def automatic():
    """The schedule that is found, given by hand, leads from the same start to the same posterior."""
    model, data, items = MODELS["lda"]
    svi = ["--method", "svi", "--batch-size", 30, "--tau0", 5, "--seed", 4]
    found = fit(model, data, *svi, "--epochs", 20, "--anneal", "auto", monotone=False)
    a = found.report["annealing"]
    curve = a["entropy_curve"]
    steps = max(20 * items // 30 - a["probe_steps"], 10 * items // 30)
    rises = np.diff([f for _, f in curve])
    steepest = curve[int(np.argmax(rises)) + 1][0] / np.sqrt(1.07)
    if not (abs(a["melting_temperature"] - steepest) < 1e-9 and rises[-1] < 0.7 * max(rises)):
        raise AssertionError(f"the curve {curve} is not steepest at {a['melting_temperature']}, or does not end after it")
    entropies, past = [f for _, f in curve], []  # the heating ends where the entropy has risen and rises no more
    for k in range(1, len(curve)):
        risen = entropies[k] > min(entropies[:k + 1]) + 0.02
        past.append(bool(risen and rises[k - 1] < 0.7 * max(rises[:k])))
    assert past == [False] * (len(past) - 1) + [True], f"the heating did not end with the first of {past}"
    assert found.report["iterations"] == steps and a["over"] == steps // 3, f"{found.report['iterations']} steps, {a}"
    given = fit(model, data, *svi, "--epochs", (steps - 0.5) / (items // 30), "--anneal",
                f"linear:from={a['melting_temperature']!r},over={a['over']}", monotone=False)
    assert given.temperatures == found.temperatures and found.temperatures[0] > 1, f"temperatures {found.temperatures}, not {given.temperatures}"
    worst = max(relative(found.posterior[k], v) for k, v in given.posterior.items())
    assert worst == 0, f"parameters differ by {worst:.1e}"
    return f"annealed from {a['melting_temperature']:.2f} over {a['over']} steps after {a['probe_steps']}"


def nothing_to_melt():
    """Without discrete local variables the run is the plain one of what is left of its steps."""
    model = """model m { plate n; mu ~ Normal(mean = 0, sd = 10); theta[n] ~ Normal(mean = mu, sd = 1);
      observe x[n] ~ Normal(mean = theta[n], sd = 1); }"""
    got = fit(model, {"x": R.normal(3, 1, 500)}, "--method", "svi", "--batch-size", 10, "--epochs", 4, "--anneal", "auto",
              monotone=False)
    assert got.report["annealing"]["melting_temperature"] == 0 and set(got.temperatures) == {1.0}, f"{got.report['annealing']}"
    return "plain steps"


def peak(model, data, *arguments):
    """MiB that a fit takes at most."""
    with temporary() as directory:
        at = lambda name: os.path.join(directory, name)
        write(at("model.lehr"), model)
        np.savez(at("data.npz"), **data)
        words = ["fit", at("model.lehr"), "--data", at("data.npz"), "--out", at("out"), "--quiet", *arguments]
        return peak_memory(LEHR, *words, env={**os.environ, "LEHR_CACHE": "off"})[0] / 2**20


def memory():
    """Factors take 9.6 kB an item, data 32 bytes: with all of them in memory, 20000 items cost 180 MiB."""
    model = """model factors { plate n; plate d; plate latent = 24;
      W[d] ~ MvNormal(mean = 0, precision = 1) over latent;
      tau ~ Gamma(shape = 1, rate = 1);
      z[n] ~ MvNormal(mean = 0, precision = 1) over latent;
      observe x[n, d] ~ Normal(mean = dot(W[d], z[n]), precision = tau); }"""
    x = R.normal(size=(20000, 4))
    svi = ["--method", "svi", "--batch-size", 100]
    growth = {}
    for name, options in {"svi": [*svi, "--epochs", 1], "cavi": ["--max-iter", 1]}.items():
        growth[name] = peak(model, {"x": x}, *options) - peak(model, {"x": x[:200]}, *options)
    assert growth["svi"] < 20 and growth["cavi"] > 150, f"{growth} MiB for 19800 items more"
    return f"{growth['svi']:.1f} MiB for 19800 items more, coordinate ascent {growth['cavi']:.0f}"


finish({**{f"{n}, one sweep": lambda n=n: one_sweep(n) for n in MODELS},
        **{f"{n}, minibatches": lambda n=n: minibatches(n) for n in MODELS},
        **{f"{n}, stored": lambda n=n: stored(n) for n in STORED}, "crossed": crossed, "shapes": shapes,
        "automatic": automatic, "nothing to melt": nothing_to_melt, "memory": memory})
