#!/usr/bin/env python3
"""`lehr simulate`: moments of many draws against formulas, within 4.5 standard errors at fixed seeds; files that `lehr
fit` reads, and posteriors that find what was simulated.

usage: simulate.py LEHR
"""
import os
import sys

import numpy as np
from scipy import stats

sys.path.append(f"{sys.path[0]}/..")
from fitting import LEHR, arrays, check, finish, fit, lehr, plain, read, run, temporary, write, write_json  # noqa: E402

RNG = np.random.default_rng(8)
LIMIT = 4.5


def simulate(model, *arguments, data=None, seed=1, code=0):
    """The arrays of the file; `model` is a path or a text."""
    with temporary() as directory:
        at = lambda name: os.path.join(directory, name)
        if not model.endswith(".lehr"):
            write(at("model.lehr"), model)
            model = at("model.lehr")
        command = [LEHR, "simulate", model, "--seed", str(seed), "--out", at("out.npz"), *map(str, arguments)]
        if data:
            write_json(at("data.json"), plain(data))
            command += ["--data", at("data.json")]
        done = run(*command, code=code)
        if code:
            return done.stderr
        return arrays(at("out.npz"))


def z_mean(x, mean):
    """The z score of the mean of independent draws."""
    x = np.asarray(x, float)
    return (x.mean(0) - mean) / (x.std(0) / np.sqrt(len(x)))


def small(**scores):
    """All z scores below the limit."""
    worst = 0.0
    for name, z in scores.items():
        z = np.max(np.abs(z))
        assert z < LIMIT, f"{name}: {z:.2f} standard errors off"
        worst = max(worst, z)
    return f"largest z {worst:.2f}"


def frequencies(counts, p):
    """z scores of counts of categories."""
    counts, p = np.asarray(counts, float), np.asarray(p, float)
    n = counts.sum(-1, keepdims=True)
    return (counts - n * p) / np.sqrt(n * p * (1 - p))


@check
def hierarchical_normal():
    n = 20000
    sigma = np.linspace(0.5, 3, n)
    out = simulate("models/hierarchical/hierarchical_normal.lehr", data={"mu": 3, "tau": 4, "sigma": sigma})
    theta, error = out["theta"], (out["y"] - out["theta"]) / sigma
    assert out["mu"] == 3 and out["tau"] == 4 and np.allclose(out["sigma"], sigma)
    within = small(mean=z_mean(theta, 3), variance=z_mean((theta - 3) ** 2, 0.25), error=z_mean(error, 0),
                   noise=z_mean(error**2, 1))
    runs = [simulate("models/hierarchical/hierarchical_normal.lehr", data={"sigma": [1.0]}, seed=s) for s in range(400)]
    mu, tau = np.array([r["mu"] for r in runs]), np.array([r["tau"] for r in runs])
    return within + ", " + small(mu=z_mean(mu, 0), mu2=z_mean(mu**2, 25), tau=z_mean(tau, 0.1), tau2=z_mean(tau**2, 0.02),
                                 exponential=z_mean(tau > 0.1 * np.log(2), 0.5))


@check
def gmm():
    k = 4000  # components, for the moments of their priors
    out = simulate("models/mixtures/gmm.lehr", "--set", f"K={k},nu0=6,w0=0.5,alpha0=2", "--sizes", "n=1,dim=2")
    wishart = out["Lambda"]
    prior = small(mu=z_mean(out["mu"], 0), mu2=z_mean(out["mu"] ** 2, 100), diagonal=z_mean(wishart[:, [0, 1], [0, 1]], 3),
                  corner=z_mean(wishart[:, 0, 1], 0), square=z_mean(wishart[:, 0, 1] ** 2, 6 * 0.25),
                  variance=z_mean((wishart[:, 0, 0] - 3) ** 2, 2 * 6 * 0.25))
    assert abs(out["pi"].sum() - 1) < 1e-12
    pi, mu = np.array([0.2, 0.3, 0.5]), np.array([[0.0, 0], [4, 1], [-2, 5]])
    covariance = np.array([[[2, 0.5], [0.5, 1]], [[1, -0.3], [-0.3, 0.5]], [[1, 0], [0, 3]]])
    fixed = {"pi": pi, "mu": mu, "Lambda": np.linalg.inv(covariance)}
    out = simulate("models/mixtures/gmm.lehr", "--set", "K=3", "--sizes", "n=30000", data=fixed)
    scores = {"z": frequencies(np.bincount(out["z"]), pi)}
    for j in range(3):
        x = out["x"][out["z"] == j] - mu[j]
        scores[f"mean {j}"] = z_mean(x, 0)
        scores[f"covariance {j}"] = z_mean(x[:, :, None] * x[:, None, :], covariance[j])
    posterior = fit("models/mixtures/gmm.lehr", {"x": out["x"][:3000]}, "--set", "K=3", "--restarts", "5").posterior
    order = np.argsort(posterior["pi.concentration"])
    found = posterior["mu.mean"][order]
    assert np.abs(found - mu[np.argsort(pi)]).max() < 0.25, found
    return prior + ", " + small(**scores)


@check
def lda():
    k, terms, docs, tokens = 4, 12, 3000, 40
    alpha, eta = 0.5, 0.3
    sizes = ["--set", f"K={k},alpha={alpha},eta={eta}", "--sizes", f"doc={docs},token={tokens},term={terms}"]
    out = simulate("models/topics/lda.lehr", *sizes, seed=2)
    theta, beta = out["theta"], out["beta"]
    z, w = out["z"].reshape(docs, tokens), out["w"].reshape(docs, tokens)
    assert (out["count"] == 1).all() and (out["token"] == tokens).all()
    topics = np.stack([(z == j).sum(1) for j in range(k)], 1)
    given = (topics - tokens * theta).ravel() / np.sqrt(tokens * theta * (1 - theta) + 1e-300).ravel()
    tables = np.array([[np.sum(w[z == j] == v) for v in range(terms)] for j in range(k)])
    expected = np.bincount(out["z"], minlength=k)[:, None] * beta
    enough = expected > 25  # where counts are nearly normal
    moments = small(theta=z_mean(theta, 1 / k), theta2=z_mean(theta**2, 1 / k * (alpha + 1) / (k * alpha + 1)),
                    z=z_mean(given[np.isfinite(given)], 0), w=((tables - expected) / np.sqrt(expected * (1 - beta)))[enough])
    with temporary() as tmp:  # the file as it is
        sizes = ["--set", "K=4,alpha=0.1,eta=0.1", "--sizes", "term=50"]
        lehr("simulate", "models/topics/lda.lehr", *sizes, "--sizes", "doc=400,token=200", "--out", f"{tmp}/x.npz")
        beta = np.load(f"{tmp}/x.npz")["beta"]
        # From the truth: other starts end in other optima.
        found = fit("models/topics/lda.lehr", [f"{tmp}/x.npz"], *sizes, init={"beta.concentration": 20000 * beta + 0.1}).posterior
    found = found["beta.concentration"]
    distance = np.abs(found / found.sum(1, keepdims=True) - beta).sum(-1)
    assert (distance < 0.04).all(), distance  # the standard error of a topic's frequencies is 0.03
    return moments + f", topics found within {distance.max():.3f}"


@check
def hmm_gaussian():
    pi, a = np.array([0.7, 0.3]), np.array([[0.9, 0.1], [0.25, 0.75]])
    mu, tau = np.array([[0.0, 2], [3, -1]]), np.array([[1.0, 4], [2, 0.5]])
    lengths = RNG.integers(1, 60, 2000)
    out = simulate("models/sequences/hmm_gaussian.lehr", data={"pi": pi, "A": a, "mu": mu, "tau": tau, "t": lengths})
    assert (out["t"] == lengths).all() and out["x"].shape == (lengths.sum(), 2)
    begin = np.concatenate([[0], np.cumsum(lengths)])
    s, first = out["s"], np.zeros(lengths.sum(), bool)
    first[begin[:-1]] = True
    previous = np.roll(s, 1)
    scores = {"start": frequencies(np.bincount(s[first]), pi)}
    for j in range(2):
        scores[f"from {j}"] = frequencies(np.bincount(s[~first & (previous == j)]), a[j])
        x = (out["x"][s == j] - mu[j]) * np.sqrt(tau[j])
        scores[f"mean {j}"], scores[f"variance {j}"] = z_mean(x, 0), z_mean(x**2, 1)
    return small(**scores)


@check
def poisson_factorisation():
    taste, quality = RNG.gamma(1, 1, (300, 3)), RNG.gamma(1, 2, (3, 200))
    out = simulate("models/factors/poisson_factorisation.lehr", "--set", "K=3", data={"taste": taste, "quality": quality})
    rate = taste @ quality
    standard = ((out["Y"] - rate) / np.sqrt(rate)).ravel()
    prior = simulate("models/factors/poisson_factorisation.lehr", "--set", "K=2", "--sizes", "user=5000,item=1")["taste"]
    return small(mean=z_mean(standard, 0), variance=z_mean(standard**2, 1), taste=z_mean(prior, 0.3),
                 taste2=z_mean(prior**2, 0.3 * 1.3))


@check
def logistic_regression():
    t = RNG.normal(70, 8, 4000)
    out = simulate("models/regression/logistic_regression.lehr", data={"temperature": t, "a": 0.5, "b": -0.2})
    p = 1 / (1 + np.exp(-0.5 + 0.2 * (t - 70)))
    residual = (out["damaged"] - p) / np.sqrt(p * (1 - p))
    moments = small(mean=z_mean(residual, 0), slope=z_mean(residual * (t - 70), 0))
    post = fit("models/regression/logistic_regression.lehr", {"temperature": t, "damaged": out["damaged"]}).posterior
    a, b = ((post[v + ".mean"] - truth) * np.sqrt(post[v + ".precision"]) for v, truth in (("a", 0.5), ("b", -0.2)))
    return moments + ", " + small(a=a, b=b)


@check
def dirichlet_process_mixture():
    v, model = np.array([0.5, 0.3, 0.1, 0.6, 0.2, 0.5, 0.5, 0.5, 0.5]), "models/mixtures/dirichlet_process_mixture.lehr"
    weights = np.append(v, 1) * np.cumprod(np.append(1, 1 - v))
    out = simulate(model, "--sizes", "n=30000", data={"v": v})
    z, scores = out["z"], {}
    scores["z"] = frequencies(np.bincount(z, minlength=10), weights)
    x = (out["x"] - out["mu"][z]) * np.sqrt(out["tau"][z])
    runs = [simulate(model, "--sizes", "n=1", seed=s) for s in range(300)]
    alpha, first = np.array([r["alpha"] for r in runs]), np.array([r["v"] for r in runs])
    u = (1 - first) ** alpha[:, None]  # uniform, as v ~ Beta(1, alpha)
    mu = np.concatenate([(r["mu"] - 20000) * np.sqrt(0.05 * r["tau"]) for r in runs])
    return small(**scores, x=z_mean(x, 0), x2=z_mean(x**2, 1), alpha=z_mean(alpha, 1), u=z_mean(u.ravel(), 0.5),
                 u2=z_mean(u.ravel() ** 2, 1 / 3), mu=z_mean(mu, 0), mu2=z_mean(mu**2, 1))


@check
def linear_dynamical_system():
    a = np.array([[0.9, 0.3, 0], [-0.3, 0.9, 0.1], [0, 0.2, 0.5]])
    c, noise = RNG.normal(0, 1, (4, 3)), np.array([1.0, 4, 0.5, 2])
    out = simulate("models/sequences/linear_dynamical_system.lehr", "--sizes", "t=20000", data={"A": a, "C": c, "noise": noise})
    x = out["x"]
    step, error = x[1:] - x[:-1] @ a.T, (out["y"] - x @ c.T) * np.sqrt(noise)
    return small(step=z_mean(step, 0), covariance=z_mean(step[:, :, None] * step[:, None], np.eye(3)),
                 error=z_mean(error, 0), noise=z_mean(error[:, :, None] * error[:, None], np.eye(4)))


@check
def chains_of_each_other():
    """u uses the previous y, y uses u of the same time; and rows of a chain whose ordered plate comes last."""
    model = """model m { plate t ordered; plate d = 3; plate e = d; data A[d] : vector over d;
      u[t] ~ Normal(mean = 0.5 * y[t-1], sd = 1) start Normal(mean = 10, sd = 1);
      observe y[t] ~ Normal(mean = 0.8 * u[t] - 0.1 * y[t-1], sd = 0.5) start Normal(mean = u[t], sd = 0.5);
      h[d, t] ~ Normal(mean = sum(e) A[d, e] * h[e, t-1], sd = 1) start Normal(mean = 0, sd = 1);
      observe x[d, t] ~ Normal(mean = h[d, t], sd = 1); }"""
    a = np.array([[0, 0.9, 0], [0, 0, 0.9], [-0.5, 0, 0.3]])
    out = simulate(model, "--sizes", "t=10000", data={"A": a})
    u, y, h = out["u"], out["y"], out["h"]
    du, dy, dh = u[1:] - 0.5 * y[:-1], (y[1:] - 0.8 * u[1:] + 0.1 * y[:-1]) / 0.5, h[:, 1:] - a @ h[:, :-1]
    return small(u=z_mean(du, 0), u2=z_mean(du**2, 1), y=z_mean(dy, 0), y2=z_mean(dy**2, 1), uy=z_mean(du * dy, 0),
                 h=z_mean(dh.T, 0), h2=z_mean(dh.T**2, 1), start=u[0] - 10)


@check
def nested_plates():
    """Three levels, packed; a fit reads them back and says so by its sizes."""
    model = """model m { plate a; plate b in a; plate c in b; plate d;
      m[a] ~ Normal(mean = 5 * size(b), sd = 0.01); k[a, b] ~ Normal(mean = m[a], sd = 0.01);
      g ~ Normal(mean = 0, sd = 1);
      observe x[a, b, c, d] ~ Normal(mean = k[a, b] + 0 * g, sd = 0.01); }"""
    b, c = np.array([2, 0, 3]), np.array([1, 4, 2, 2, 5])
    out = simulate(model, "--sizes", "d=2", data={"b": b, "c": c})
    assert out["x"].shape == (14, 2) and out["k"].shape == (5,)
    assert np.abs(out["k"] - np.repeat(5 * b, b)).max() < 0.1
    assert np.abs(out["x"] - np.repeat(out["k"], c)[:, None]).max() < 0.06
    got = fit(model, {k: v for k, v in out.items() if k in ("x", "b", "c")})
    return f"sizes {got.report['sizes']}" if got.report["sizes"]["c"] == 14 else 1 / 0


@check
def totals_from_data():
    counts = np.array([[5, 0, 1], [100, 3, 2]] * 500)
    model = "model m { plate n; plate v; p ~ Dirichlet(1) over v; observe x[n] ~ Multinomial(p) over v; }"
    p = np.array([0.2, 0.3, 0.5])
    out = simulate(model, data={"x": counts, "p": p})
    assert (out["x"].sum(1) == counts.sum(1)).all() and (out["x"] != counts).any()
    assert "nothing gives 'n' of 'x'" in simulate(model, "--sizes", "n=2,v=3", code=4)
    return small(p=frequencies(out["x"].sum(0), p))


@check
def truncated_beside_values():
    """Values of some elements of a latent variable with limits: the others are truncated, as without any."""
    model = "model m { plate n; x[n] ~ Normal(mean = 0, sd = 1) above 0.5; observe y[n] ~ Normal(mean = x[n], sd = 1); }"
    given = np.full(2000, np.nan)
    given[0] = 1.25
    x = simulate(model, "--sizes", "n=2000", data={"x": given})["x"]
    assert x[0] == 1.25
    found = stats.kstest(x[1:], stats.truncnorm(0.5, np.inf).cdf)
    assert x.min() > 0.5 and found.pvalue > 1e-4, (x.min(), found)
    return f"least {x.min():.4f}, p {found.pvalue:.2f}"


@check
def truncated_with_hidden_variables():
    """Student's t within limits, in the middle and in both tails, has its weights given the values: precisions are known again by
    them. A mixture within limits has the share of its parts that lies there."""
    low = np.repeat([-1e9, -1.5, -1e9, 3.0, 1000.0, -1.0], 4000)
    high = np.repeat([-1.0, 0.5, 40.0, 1e9, 1e9, -0.99], 4000)
    model = """model m { plate n; data low[n] : real; data high[n] : real; u[n] ~ StudentT(df = DF, mean = -0.5, sd = 2) above low[n] below high[n]; }"""
    least = 1.0
    for df in (3, 1, 40):
        out = simulate(model.replace("DF", str(df)), data={"low": low, "high": high})
        t = stats.t(df, -0.5, 2)
        for k in range(6 if df < 40 else 4):
            at = slice(4000 * k, 4000 * (k + 1))
            u, a, b = out["u"][at], low[at][0], high[at][0]
            # In the upper tail by the survival function, which has the digits there.
            share = (t.sf(u) - t.sf(b)) / (t.sf(a) - t.sf(b)) if a > 0 else (t.cdf(u) - t.cdf(a)) / (t.cdf(b) - t.cdf(a))
            weight = stats.gamma((df + 1) / 2).cdf(out["u.weight"][at] * (df + ((u + 0.5) / 2) ** 2) / 2)
            least = min(least, stats.kstest(share, "uniform").pvalue, stats.kstest(weight, "uniform").pvalue)
            assert least > 1e-4, (df, k, least)
    parts = "model m { plate n; u[n] ~ mixture(0.7, Normal(mean = 0, sd = 1), Normal(mean = 5, sd = 2)) above 1.5; }"
    out = simulate(parts, "--sizes", "n=20000")
    mass = np.array([0.7, 0.3]) * [stats.norm.sf(1.5), stats.norm.sf(1.5, 5, 2)]
    share = mass[0] / mass.sum()
    whole = lambda x: 1 - (0.7 * stats.norm.sf(x) + 0.3 * stats.norm.sf(x, 5, 2)) / mass.sum()
    found = stats.kstest(out["u"], whole).pvalue
    assert found > 1e-4, found
    return small(part=z_mean(out["u.part"], share)) + f", least p {min(least, found):.2g}"


@check
def limits_that_weigh_a_parent():
    """A fit counts limits as an observation of what the number depends on, and a simulation does not: one warning says so. Not where
    all is data, nor where one limit is the mean, so that each half has the same density."""
    model = "model m { plate n = 5; m ~ Normal(mean = 0, sd = 1); s ~ Gamma(shape = 2, rate = 1); u[n] ~ DRAWN; observe y[n] ~ Normal(mean = u[n] + m, precision = s); }"
    with temporary() as folder:
        def said(drawn, *arguments):
            path = write(f"{folder}/m.lehr", model.replace("DRAWN", drawn))
            return lehr("simulate", path, "--out", f"{folder}/o.json", *arguments).stderr

        known = ["--data", write_json(f"{folder}/d.json", {"m": 0.5})]  # latent in the fit
        warned = said("Normal(mean = m, sd = 1) above 0")
        assert warned.count("warning") == 1 and "'u' is drawn within its limits given 'm'" in warned, warned
        assert "given 'm'" in said("StudentT(df = 3, mean = m, sd = 1) below 1")
        assert "given 's'" in said("Normal(mean = 0.5, precision = s) above 0")
        assert "given 'm'" in said("Normal(mean = m, sd = 1) above 0", *known)
        for none in (said("Normal(mean = 2, sd = 1) above 0"), said("Normal(mean = 2, precision = s) above 2"),
                     said("Normal(mean = m, sd = 1)")):
            assert "limits" not in none, none
        refused = lehr("calibrate", write(f"{folder}/m.lehr", model.replace("DRAWN", "Normal(mean = m, sd = 1) above 0")), code=3).stderr
        assert "'u' has limits and depends on 'm'" in refused, refused
    return "one warning"


@check
def calibrated():
    """Parameters from the prior have uniform ranks in exact posteriors of their data (Cook, Gelman & Rubin 2006)."""
    model = """model m { plate n; plate g; data size_of[n] : g;
      p[g] ~ Beta(2, 3); r[g] ~ Gamma(shape = 2, rate = 0.5);
      observe x[n] ~ Bernoulli(p[size_of[n]]); observe y[n] ~ Poisson(r[size_of[n]]); }"""
    groups = 500
    out = simulate(model, data={"size_of": np.repeat(np.arange(groups), 1 + np.arange(groups) % 9)})
    post = fit(model, {k: out[k] for k in ("x", "y", "size_of")}).posterior
    p = stats.beta(post["p.a"], post["p.b"]).cdf(out["p"])
    r = stats.gamma(post["r.shape"], scale=1 / post["r.rate"]).cdf(out["r"])
    values = [stats.kstest(u, "uniform").pvalue for u in (p, r)]
    assert min(values) > 1e-3, values
    return "p values " + " ".join(f"{v:.2f}" for v in values)


@check
def truth_beats_falsehood():
    """At the fixed parameters the data have a higher ELBO than at others, and no higher than at the fit."""
    mu = np.array([[0.0, 0], [5, 5]])
    out = simulate("models/mixtures/gmm_known_covariance.lehr", "--set", "K=2", "--sizes", "n=500,dim=2",
                   data={"mu": mu, "pi": [0.3, 0.7], **KNOWN})
    data = {"x": out["x"], **KNOWN}
    at = lambda m: fit("models/mixtures/gmm_known_covariance.lehr", data, "--set", "K=2", "--max-iter", "0", monotone=False,
                       init={"mu.mean": m, "mu.precision": np.broadcast_to(100 * np.eye(2), (2, 2, 2)),
                             "pi.concentration": [151, 351]}).elbo
    best = fit("models/mixtures/gmm_known_covariance.lehr", data, "--set", "K=2").elbo
    assert best > at(mu) > at(mu + 1) > at(mu + 2), (best, at(mu), at(mu + 1), at(mu + 2))
    return f"{best:.1f} > {at(mu):.1f} > {at(mu + 1):.1f}"


KNOWN = {"mu0": np.zeros(2), "Sigma0": 25 * np.eye(2), "Sigma": np.eye(2)}


@check
def same_seed_same_file():
    with temporary() as tmp:
        def bytes_of(seed):
            lehr("simulate", "models/distributions/coin.lehr", "--sizes", "throw=50", "--seed", seed, "--out", f"{tmp}/a.npz")
            return read(f"{tmp}/a.npz", "rb")

        assert bytes_of("3") == bytes_of("3") != bytes_of("4")
    return "bit for bit"


finish()
