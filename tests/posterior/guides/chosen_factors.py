#!/usr/bin/env python3
"""Joint factors that the compiler chooses: Normal variables that terms couple share one, below, at and above the most coordinates.

With known variances a joint factor of all locations is the posterior, which numpy gives; `guide factorised` and `--guide factorised`
leave the model's own guide alone."""
import sys

import numpy as np

sys.path.append(f"{sys.path[0]}/..")
from fitting import Folder, finish, fit, near  # noqa: E402

RNG = np.random.default_rng(17)

LINE = """model line { plate n; data x[n] : real;
  a ~ Normal(mean = 0, sd = 100); b ~ Normal(mean = 0, sd = 10); TAU
  observe y[n] ~ Normal(mean = a + b * x[n], precision = tau); GUIDE }"""
KNOWN, UNKNOWN = "const tau = 4;", "tau ~ Gamma(shape = 1, rate = 1);"


def line(tau=KNOWN, guide=""):
    return LINE.replace("TAU", tau).replace("GUIDE", guide)


def posterior(F, y, precision, tau):
    """Mean and covariance of the coefficients of F with these prior precisions, and the log evidence."""
    P = np.diag(precision) + tau * F.T @ F
    C = np.eye(len(y)) / tau + F @ np.diag(1 / np.asarray(precision)) @ F.T
    log = -0.5 * (np.linalg.slogdet(2 * np.pi * C)[1] + y @ np.linalg.solve(C, y))
    return tau * np.linalg.solve(P, F.T @ y), np.linalg.inv(P), log


def years():
    """The regression that newcomers write, with years far from 0: exact deviations, few sweeps."""
    x = np.arange(1950.0, 2020.0)
    y = 3 + 0.02 * (x - 1985) + RNG.normal(size=70) / 2
    mean, cov, log = posterior(np.column_stack([np.ones(70), x]), y, [1e-4, 1e-2], 4)
    got = fit(line(), {"x": x, "y": y})
    q = got.posterior
    near([q["a.mean"], q["b.mean"]], mean, 1e-7, "means")
    near([1 / q["a.precision"], 1 / q["b.precision"]], np.diag(cov), 1e-7, "variances")
    near(got.elbo, log, 1e-7, "log evidence")  # of a matrix with a condition of 1e10
    unknown = fit(line(UNKNOWN), {"x": x, "y": y})
    assert unknown.report["iterations"] <= 20, unknown.report["iterations"]
    apart = [fit(line(KNOWN, "guide factorised;"), {"x": x, "y": y}), fit(line(), {"x": x, "y": y}, "--guide", "factorised")]
    for other in apart:
        assert "joint(a, b).mean" not in other.posterior and other.elbo < log - 1
        near(other.posterior["b.precision"], 1e-2 + 4 * x @ x, 1e-9, "precision of a factor alone")
    return f"sd of b {np.sqrt(cov[1, 1]):.4f}, {unknown.report['iterations']} sweeps with an unknown precision"


def groups(count, per=3):
    """Effects of groups with their intercept: one factor, with a sparse precision beyond 256 coordinates."""
    model = """model groups { plate n; plate g; data of[n] : g;
      m ~ Normal(mean = 0, sd = 10); u[g] ~ Normal(mean = 0, sd = 2);
      observe y[n] ~ Normal(mean = m + u[of[n]], sd = 1); }"""
    of = np.repeat(np.arange(count), per)
    y = 5 + 2 * RNG.normal(size=count)[of] + RNG.normal(size=len(of))
    got = fit(model, {"of": of, "y": y})
    F = np.column_stack([np.ones(len(y)), of[:, None] == np.arange(count)])
    mean, cov, log = posterior(F, y, [1e-2] + [1 / 4] * count, 1)
    sparse = "joint(m, u).row" in got.posterior
    assert sparse == (count + 1 > 256), count
    near(got.posterior["m.mean"], mean[0], 1e-8, "mean")
    near(1 / got.posterior["u.precision"], np.diag(cov)[1:], 1e-8, "variances")
    near(got.elbo, log, 1e-9, "log evidence")
    return f"{count} groups, {'sparse' if sparse else 'dense'}"


def thresholds():
    return "; ".join(groups(n) for n in (2, 254, 255, 256))


def groups_without_rows(count=6, *options):
    """Groups of which nothing was observed do not keep the others from their factor, which is the exact posterior."""
    model = """model groups { plate n; plate g; data of[n] : g;
      m ~ Normal(mean = 0, sd = 10); u[g] ~ Normal(mean = m, sd = 2);
      observe y[n] ~ Normal(mean = u[of[n]], sd = 1); }"""
    of = np.repeat(np.arange(count - 2) + 1, 3)  # neither the first nor the last group
    y = 5 + 2 * RNG.normal(size=count)[of] + RNG.normal(size=len(of))
    got = fit(model, {"of": of, "y": y}, "--sizes", f"g={count}", *options)
    # In deviations from m, which are independent before the data.
    F = np.column_stack([np.ones(len(y)), of[:, None] == np.arange(count)])
    mean, cov, log = posterior(F, y, [1e-2] + [1 / 4] * count, 1)
    to = np.column_stack([np.r_[1, np.ones(count)], np.vstack([np.zeros(count), np.eye(count)])])
    near(np.r_[got.posterior["m.mean"], got.posterior["u.mean"]], to @ mean, 1e-8, "means")
    near(1 / np.r_[got.posterior["m.precision"], got.posterior["u.precision"]], np.diag(to @ cov @ to.T), 1e-8, "variances")
    near(got.elbo, log, 1e-9, "log evidence")
    assert ("joint(m, u).row" in got.posterior) == (count + 1 > 256), count
    return f"sd of the mean {cov[0, 0] ** 0.5:.4f}"


def groups_that_no_data_reach():
    """Effects of which none has data share no factor with what is known of them: the precision of the effects keeps its prior."""
    model = """model groups { plate n; plate g; m ~ Normal(mean = 0, sd = 10); t ~ Gamma(shape = 3, rate = 2);
      u[g] ~ Normal(mean = m, precision = t); observe y[n] ~ Normal(mean = m, sd = 1); }"""
    got = fit(model, {"y": np.arange(5.0)}, "--sizes", "g=9")
    near([got.posterior["t.shape"], got.posterior["t.rate"]], [3, 2], 1e-12, "prior")
    return "the prior"


def no_data():
    """Where all values are missing, variables that only read each other have their prior, from one factor; an unknown deviation keeps them apart."""
    model = """model groups { plate n; plate g; data of[n] : g; TAU
      m ~ Normal(mean = 0, sd = 10); u[g] ~ Normal(mean = m, PRIOR); v[g] ~ Normal(mean = u[g], sd = 1);
      observe y[n] ~ Normal(mean = v[of[n]], sd = 0.5); }"""
    data = {"of": [0, 1], "y": [float("nan")] * 2}
    q = fit(model.replace("TAU", "").replace("PRIOR", "sd = 2"), data).posterior
    near(1 / q["v.precision"], [105, 105], 1e-9, "variances")
    near(1 / q["m.precision"], 100, 1e-9, "variance")
    free = fit(model.replace("TAU", "tau ~ Gamma(shape = 3, rate = 2);").replace("PRIOR", "precision = tau"), data).posterior
    near([free["tau.shape"], free["tau.rate"]], [3, 2], 1e-9, "the prior of the precision")
    return "priors"


def far():
    """Data far from 0 have the factors of near ones: moved means, the same covariance; so has a guide, and one row, which is as far as any."""
    x = np.arange(11.0)
    y = 0.3 * x + RNG.normal(size=11)
    model = """model line { plate n; data x[n] : real; a ~ Normal(mean = 0, sd = 1e10); b ~ Normal(mean = 0, sd = 1);
      observe y[n] ~ Normal(mean = a + b * x[n], sd = 0.5); GUIDE }"""
    F = np.column_stack([np.ones(11), x])
    cov = np.linalg.inv(np.diag([1e-20, 1]) + 4 * F.T @ F)
    mean = cov @ (4 * F.T @ y)
    for c, guide in ((2000, ""), (2.0**27, ""), (2.0**27, "guide joint(a, b);"), (2.0**27, "guide joint(b, a);")):
        q = fit(model.replace("GUIDE", guide), {"x": x, "y": (y + c).tolist()}).posterior
        joint = next(name for name in q if name.startswith("joint(")).split(".")[0]
        order = [0, 1] if joint == "joint(a, b)" else [1, 0]
        near(q["a.mean"] - c, mean[0], 1e-6, "mean")
        near(q[f"{joint}.mean"], (mean + [c, 0])[order], 1e-9, "means of the factor")
        near(np.linalg.inv(q[f"{joint}.precision"]), cov[np.ix_(order, order)], 1e-9, "covariance")
    groups = """model groups { plate n; plate g; data of[n] : g; m ~ Normal(mean = 0, sd = 10); u[g] ~ Normal(mean = m, sd = 2);
      observe y[n] ~ Normal(mean = u[of[n]], sd = 0.5); }"""
    one = fit(groups, {"of": [0], "y": [3.0]})
    near([one.posterior["u.mean"][0], 1 / one.posterior["u.precision"][0]], [3 * 104 / 104.25, 104 * 0.25 / 104.25], 1e-9, "one row")
    near(one.elbo, -0.5 * (np.log(2 * np.pi * 104.25) + 9 / 104.25), 1e-9, "log evidence")
    return "moved"


def pairs_of_members(n=4):
    """Effects of senders and receivers in a matrix have the factor that they have in a list of pairs: the exact posterior."""
    model = """model ties { plate member; plate other = member; s[member] ~ Normal(mean = 0, sd = 10); r[member] ~ Normal(mean = 0, sd = 10);
      observe tie[member, other] ~ Normal(mean = s[member] + r[other], sd = 1); }"""
    tie = np.add.outer(RNG.normal(size=n), RNG.normal(size=n)) + RNG.normal(size=(n, n))
    tie[np.diag_indices(n)] = np.nan
    F = np.array([np.r_[np.arange(n) == i, np.arange(n) == j] for i in range(n) for j in range(n) if i != j], float)
    mean, cov, log = posterior(F, tie[~np.isnan(tie)], [1e-2] * 2 * n, 1)
    got = fit(model, {"tie": tie.tolist()})
    near(np.r_[got.posterior["s.mean"], got.posterior["r.mean"]], mean, 1e-7, "means")
    near(1 / np.r_[got.posterior["s.precision"], got.posterior["r.precision"]], np.diag(cov), 1e-7, "variances")
    near(got.elbo, log, 1e-9, "log evidence")
    return f"sd {np.sqrt(cov[0, 0]):.2f}"


def groups_without_rows_of_all_sizes():
    return "; ".join(groups_without_rows(n) for n in (3, 6, 255, 256, 300))


def coefficients():
    """Numbers over a plate that stand together in one term: their plate numbers coordinates, stated or not."""
    model = """model coefficients { plate n; plate f; data x[n, f] : real; b[f] ~ Normal(mean = 0, sd = 3);
      observe y[n] ~ Normal(mean = sum(f) b[f] * x[n, f], sd = 1); GUIDE }"""
    x = RNG.normal(size=(40, 4)) + 2
    y = x @ [1, -1, 0.5, 0] + RNG.normal(size=40)
    mean, cov, log = posterior(x, y, [1 / 9] * 4, 1)
    for guide in "", "guide joint(b);":
        got = fit(model.replace("GUIDE", guide), {"x": x, "y": y})
        near(got.posterior["b.mean"], mean, 1e-8, "means")
        near(got.posterior["joint(b).precision"], np.linalg.inv(cov), 1e-8, "precision")
        near(got.elbo, log, 1e-9, "log evidence")
    return f"log evidence {log:.4f}"


def elements():
    """Intercepts and slopes of many groups: a factor for each group, and one of their means."""
    count = 300
    model = """model slopes { plate n; plate g; data of[n] : g; data x[n] : real;
      a[g] ~ Normal(mean = 0, sd = 2); b[g] ~ Normal(mean = 0, sd = 2);
      observe y[n] ~ Normal(mean = a[of[n]] + b[of[n]] * x[n], sd = 1); }"""
    of, x = np.repeat(np.arange(count), 4), RNG.normal(size=4 * count) + 3
    y = RNG.normal(size=count)[of] + RNG.normal(size=count)[of] * x + RNG.normal(size=4 * count)
    got = fit(model, {"of": of, "x": x, "y": y})
    assert np.shape(got.posterior["joint(a, b).mean"]) == (count, 2)
    total = 0
    for g in range(count):
        mean, cov, log = posterior(np.column_stack([np.ones(4), x[of == g]]), y[of == g], [1 / 4, 1 / 4], 1)
        near(got.posterior["joint(a, b).mean"][g], mean, 1e-7, "mean")
        total += log
    near(got.elbo, total, 1e-9, "log evidence")
    return f"log evidence {total:.3f}"


def products():
    """A product of two Normal variables is no quadratic term: they keep factors of their own, and what is added is joined with others."""
    model = """model product { plate n; plate d = 3; plate k = 2; data v[n] : real;
      w[d] ~ MvNormal(mean = 0, precision = 1) over k; c[d] ~ Normal(mean = 0, sd = 10); b[d] ~ Normal(mean = 0, sd = 1);
      z[n] ~ MvNormal(mean = 0, precision = 1) over k;
      observe y[n, d] ~ Normal(mean = dot(w[d], z[n]) + c[d] + b[d] * v[n], precision = 4); }"""
    v = RNG.normal(size=50) + 4
    y = RNG.normal(size=(50, 2)) @ RNG.normal(size=(2, 3)) + RNG.normal(size=(50, 3)) / 2 + 7 + v[:, None]
    got = fit(model, {"y": y, "v": v})
    assert np.shape(got.posterior["joint(c, b).mean"]) == (3, 2) and not any("w" in k and "joint" in k for k in got.posterior)
    assert got.elbo > fit(model, {"y": y, "v": v}, "--guide", "factorised").elbo
    return f"ELBO {got.elbo:.3f}"


def effects_beside_products():
    """Effects of 300 groups are one sparse factor, but not beside a product of factors, whose sweeps alternate anyway."""
    model = """model effects { plate n; plate g = 200; plate h = 100; plate k = 2; data a[n] : g; data b[n] : h;
      u[g] ~ Normal(mean = 0, sd = 1); v[h] ~ Normal(mean = 0, sd = 1);
      W[g] ~ MvNormal(mean = 0, precision = 1) over k; Z[h] ~ MvNormal(mean = 0, precision = 1) over k;
      observe y[n] ~ Normal(mean = u[a[n]] + v[b[n]]PRODUCT, sd = 1); }"""
    data = {"a": RNG.integers(0, 200, 600), "b": RNG.integers(0, 100, 600), "y": RNG.normal(size=600)}
    for product, sparse in (("", True), (" + dot(W[a[n]], Z[b[n]])", False)):
        got = fit(model.replace("PRODUCT", product), data)
        assert ("joint(u, v).row" in got.posterior) == sparse, (product, list(got.posterior))
    return "alone"


def classes():
    """Weights of all classes of a softmax: its point is no factor of theirs. Where sweeps stand still the bound touches, so that the mean is
    that of highest density, by Newton's steps in numpy; its curvature is that of equal probabilities."""
    n, d, k = 300, 4, 3
    x = RNG.normal(size=(n, d))
    F = np.column_stack([x, np.ones(n)])
    score = 3 * F @ RNG.normal(size=(d + 1, k))
    Y = np.eye(k)[(score + RNG.gumbel(size=score.shape)).argmax(1)]
    prior = np.diag(np.tile([1.0] * d + [1 / 25], k))
    w = np.zeros(k * (d + 1))
    for _ in range(50):
        p = np.exp(F @ w.reshape(k, -1).T)
        p /= p.sum(1, keepdims=True)
        curvature = np.einsum("na,nab,ni,nj->aibj", p, np.eye(k) - p[:, None], F, F).reshape(prior.shape)
        w += np.linalg.solve(prior + curvature, ((Y - p).T @ F).ravel() - prior @ w)
    got = fit("models/regression/softmax_regression.lehr", {"x": x, "y": Y.argmax(1)}, "--tol", 1e-12)
    mean, precision = got.posterior["joint(W, b).mean"], got.posterior["joint(W, b).precision"]
    order = np.concatenate([np.arange(k * (d + 1)).reshape(k, -1)[:, :d].ravel(), np.arange(k * (d + 1)).reshape(k, -1)[:, d]])
    near(mean, w[order], 1e-6, "means")
    near(precision, (prior + np.kron(np.eye(k) - 1 / k, F.T @ F) / 2)[np.ix_(order, order)], 1e-9, "precision")
    assert got.report["status"] == "converged" and got.report["iterations"] <= 60, got.report["iterations"]
    return f"{got.report['iterations']} sweeps"


def starts():
    """A fit with joint factors starts one without them, of its own links or by sampling: members have marginals of their own."""
    x = np.linspace(-1, 2, 20)
    y = 1 - x + np.random.default_rng(3).normal(size=20) / 2
    joint = fit(line(UNKNOWN), {"x": x, "y": y})
    apart, begun = (fit(line(UNKNOWN), {"x": x, "y": y}, "--guide", "factorised", "--tol", 1e-12, init=start)
                    for start in (None, joint.posterior))
    assert "joint(a, b).mean" in joint.posterior and "joint(a, b).mean" not in begun.posterior
    near(begun.elbo, apart.elbo, 1e-9, "ELBO")
    assert begun.report["iterations"] < apart.report["iterations"]
    links = """model l { plate i; data n[i] : count; b ~ Normal(mean = 0, sd = 3); t ~ Gamma(shape = 2, rate = 1);
      a[i] ~ Normal(mean = b, precision = t); observe y[i] ~ Binomial(n[i], logistic(a[i])); }"""
    data = {"n": [10, 8, 12], "y": [3, 5, 6]}
    gaussian = fit(links, data, "--links", "gaussian").posterior
    begun, apart = (fit(links, data, "--tol", 1e-10, init=start) for start in (gaussian, None))
    near(begun.elbo, apart.elbo, 1e-6, "ELBO with links")
    saved = Folder(links, data, "--links", "gaussian")
    saved.run("fit", saved.model, "--data", saved.bind("data", data), "--method", "gibbs", "--draws", "20", "--init", saved.at("fit"),
              "--out", saved.at("chain"))
    try:
        fit(line(UNKNOWN), {"x": x, "y": y}, "--guide", "factorised", init={"joint(a, b).mean": [0, 0], "a.mean": 0})
    except RuntimeError as e:
        assert "is not a parameter of the posterior of this model" in str(e), e
    else:
        raise AssertionError("a joint factor without the marginals of b was taken")
    return f"{begun.report['iterations']} sweeps"


finish({f.__name__: f for f in (years, starts, thresholds, groups_without_rows_of_all_sizes, groups_that_no_data_reach, no_data, far, pairs_of_members, coefficients, elements, products, effects_beside_products, classes)})
