#!/usr/bin/env python3
"""Expectations of links (--links gaussian, and exp in rates): fits against Gaussian variational inference in NumPy, with its
expectations by quadrature and without tangent planes; ELBOs that do not fall for data that are hard for steps of natural gradients;
and what is refused.

usage: expectations.py LEHR
"""
import sys

import numpy as np
from scipy.special import digamma, gammaln, log_ndtr, logsumexp

sys.path.append(f"{sys.path[0]}/..")
from fitting import Folder, arrays, close, finish, fit, holds, lehr, read_csv, read_json, temporary, write, write_json  # noqa: E402

RNG = np.random.default_rng(8)
TIGHT = ["--search", "none", "--tol", "1e-13", "--max-iter", "5000"]
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(100)
WEIGHTS /= WEIGHTS.sum()
EFFECTS = """model effects { plate group; plate obs; data g[obs] : group; data x[obs] : real;
  b0 ~ Normal(mean = 0, sd = 5); b1 ~ Normal(mean = 0, sd = 5); tau ~ Gamma(shape = 1, rate = 0.5);
  u[group] ~ Normal(mean = 0, precision = tau); observe y[obs] ~ LINK; }"""
LINKS = {"logistic": "Bernoulli(logistic(E))", "probit": "Bernoulli(probit(E))", "exp": "Poisson(exp(E))"}
PREDICTOR = "b0 + b1 * x[obs] + u[g[obs]]"
GROUPS, ROWS = 8, 4


def text(link):
    return EFFECTS.replace("LINK", LINKS[link]).replace("(E)", f"({PREDICTOR})")


def effects(link):
    """Data of a model with an effect of each group."""
    g, x = np.repeat(np.arange(GROUPS), ROWS), RNG.normal(size=GROUPS * ROWS)
    e = -0.5 + 0.8 * x + RNG.normal(size=GROUPS)[g]
    y = RNG.poisson(np.exp(e)) if link == "exp" else (RNG.logistic(size=len(e)) < e).astype(int)
    return {"g": g, "x": x, "y": y}


def derivatives(link, y, m, v):
    """E[log p(y | e)] for e ~ N(m, v), and the expectations of its first two derivatives."""
    e, y = m[:, None] + np.sqrt(v)[:, None] * NODES, y[:, None]
    if link == "logistic":
        p = 1 / (1 + np.exp(-e))
        f, first, second = y * e - np.logaddexp(0, e), y - p, -p * (1 - p)
    elif link == "probit":
        side = 2 * y - 1
        f = log_ndtr(side * e)
        hazard = np.exp(-0.5 * e**2 - 0.5 * np.log(2 * np.pi) - f)
        first, second = side * hazard, -hazard * (side * e + hazard)
    else:
        f, first, second = y * e - np.exp(e) - gammaln(y + 1), y - np.exp(e), -np.exp(e)
    return f @ WEIGHTS, first @ WEIGHTS, second @ WEIGHTS


def gaussian_fit(link, data):
    """One Normal factor of all coefficients and effects, and a Gamma factor of the precision: by Newton's method with halved steps."""
    X = np.column_stack([np.ones(GROUPS * ROWS), data["x"], np.eye(GROUPS)[data["g"]]])
    D, y = X.shape[1], data["y"]
    u, a = slice(2, D), 1 + GROUPS / 2
    m, V, b, best = np.zeros(D), 0.01 * np.eye(D), 1.0, -np.inf

    def elbo(m, V, b):
        f = derivatives(link, y, X @ m, np.einsum("ni,ij,nj->n", X, V, X))[0].sum()
        t, log_t = a / b, digamma(a) - np.log(b)
        prior = -0.5 * (m[:2]**2 + np.diag(V)[:2]).sum() / 25 - np.log(2 * np.pi * 25)
        of_u = 0.5 * GROUPS * (log_t - np.log(2 * np.pi)) - 0.5 * t * (m[u]**2 + np.diag(V)[u]).sum()
        of_t = np.log(0.5) - 0.5 * t + a - np.log(b) + gammaln(a) + (1 - a) * digamma(a)
        return f + prior + of_u + of_t + 0.5 * np.linalg.slogdet(V)[1] + 0.5 * D * (1 + np.log(2 * np.pi))

    for _ in range(2000):
        _, first, second = derivatives(link, y, X @ m, np.einsum("ni,ij,nj->n", X, V, X))
        prior = np.r_[1 / 25, 1 / 25, np.full(GROUPS, a / b)]
        precision, step = np.diag(prior) - X.T @ (second[:, None] * X), 1.0
        while True:
            P = (1 - step) * np.linalg.inv(V) + step * precision
            to, W = m + step * np.linalg.solve(P, X.T @ first - prior * m), np.linalg.inv(P)
            rate = 0.5 + 0.5 * (to[u]**2 + np.diag(W)[u]).sum()
            now = elbo(to, W, rate)
            if now >= best - 1e-13 * abs(best) or step < 1e-9:
                break
            step /= 2
        moved = max(np.abs(to - m).max(), abs(rate / b - 1))
        m, V, b, best = to, W, rate, now
        if moved < 1e-12:
            return m, V, a, b, best
    raise RuntimeError("no fixed point")


def fixed_points_are_those_of_the_elbo(link):
    data = effects(link)
    m, V, a, b, elbo = gaussian_fit(link, data)
    got = fit(text(link), data, "--links", "gaussian", *TIGHT)
    sd = np.concatenate([np.atleast_1d(got.posterior[f"{v}.precision"]) for v in ("b0", "b1", "u")])**-0.5
    mean = np.concatenate([np.atleast_1d(got.posterior[f"{v}.mean"]) for v in ("b0", "b1", "u")])
    assert not any("bound" in x for x in got.report["elbo_notes"])
    assert close(got.elbo, elbo, 1e-7) and close(got.posterior["tau.rate"], b, 1e-5) and close(got.posterior["tau.shape"], a, 1e-12)
    return np.abs(mean - m).max() < 1e-6 and np.abs(sd / np.diag(V)**0.5 - 1).max() < 1e-6


@holds
def logistic_fixed_points():
    return fixed_points_are_those_of_the_elbo("logistic")


@holds
def probit_fixed_points():
    return fixed_points_are_those_of_the_elbo("probit")


@holds
def poisson_fixed_points():
    return fixed_points_are_those_of_the_elbo("exp")


@holds
def hard_data():
    """Large and small counts, separable data, years as covariates, weights: runs converge, and their ELBO does not fall."""
    line = """model line { plate obs TIMES; GIVEN data x[obs] : real; a ~ Normal(mean = 0, sd = 10); b ~ Normal(mean = 0, sd = 10);
      observe y[obs] ~ LINK; }"""
    n = 30
    x = RNG.normal(size=n)
    years = np.arange(1985.0, 1985 + n)
    for link, x, y, weighted in (("exp", x, RNG.poisson(np.exp(9 + 0.3 * x)), False), ("exp", years, RNG.poisson(np.exp(0.1 * (years - 2000))), False),
                                 ("exp", x, 0 * x, False), ("exp", x, RNG.poisson(np.exp(5 * x)), True), ("logistic", x, x > 0, False),
                                 ("logistic", years, years > 2000, True), ("probit", x, x > 0.3, True), ("probit", x, x < 9, False)):
        model = line.replace("LINK", LINKS[link]).replace("(E)", "(a + b * x[obs])")
        model = model.replace("TIMES", "times w" * weighted).replace("GIVEN", "data w[obs] : real;" * weighted)
        data = {"x": x, "y": np.asarray(y).astype(int)} | ({"w": RNG.uniform(0.1, 3, size=n)} if weighted else {})
        for guide in ("joint", "factorised"):
            got = fit(model, data, "--links", "gaussian", "--guide", guide, "--max-iter", "20000")
            assert got.report["status"] == "converged", (link, guide, got.report["status"])
    return True


@holds
def exposures_and_overdispersion():
    """An exposure is a factor or a summand. Counts with a Gamma factor of each have rates with that factor."""
    model = """model m { plate n; data t[n] : real; a ~ Normal(mean = 0, sd = 3); observe y[n] ~ Poisson(RATE); }"""
    data = {"t": RNG.uniform(1, 9, size=20), "y": RNG.poisson(6, size=20)}
    elbos = [fit(model.replace("RATE", rate), data, *TIGHT).elbo for rate in ("exp(a) * t[n]", "exp(a + log(t[n]))", "t[n] * exp(a)")]
    assert close(elbos, elbos[0], 1e-9)
    got = fit("""model m { plate n; a ~ Normal(mean = 0, sd = 3); observe y[n] ~ GammaPoisson(mean = exp(a), r = 2); }""",
              {"y": data["y"]}, *TIGHT)
    shape, rate = got.posterior["y.weight.shape"], got.posterior["y.weight.rate"]
    m, v = got.posterior["a.mean"], 1 / got.posterior["a.precision"]
    assert close(shape, 2 + data["y"], 1e-9)
    return close(rate, np.full(20, 2 + np.exp(m + v / 2)), 1e-6)


@holds
def points_are_the_largest_log_joint():
    """With points for the coefficients, a fit is penalised maximum likelihood."""
    from scipy.optimize import minimize
    x, y = RNG.normal(size=40), RNG.poisson(3, size=40)
    got = fit("""model m { plate n; data x[n] : real; a ~ Normal(mean = 0, sd = 2); b ~ Normal(mean = 0, sd = 2);
      observe y[n] ~ Poisson(exp(a + b * x[n])); guide point(a, b); }""", {"x": x, "y": y}, *TIGHT)

    def minus(p):
        e = p[0] + p[1] * x
        return -(y * e - np.exp(e) - gammaln(y + 1)).sum() + (p @ p) / 8 + np.log(2 * np.pi * 4)

    best = minimize(minus, [1, 0], tol=1e-12)
    return close(got.elbo, -best.fun, 1e-9) and close([got.posterior["a.value"], got.posterior["b.value"]], best.x, 1e-5)


@holds
def refusals():
    """A sampler has no conditional of a log rate, and minibatches would leave its points behind; a product is no Normal predictor, so its bound stays, with a note."""
    with temporary() as folder:
        data = write_json(f"{folder}/d.json", {"y": [1, 0, 2, 1]})
        model = write(f"{folder}/m.lehr", "model m { plate n; a ~ Normal(mean = 0, sd = 3); observe y[n] ~ Poisson(exp(a)); }")
        done = lehr("fit", model, "--data", data, "--method", "gibbs", "--out", f"{folder}/out", code=None)
        assert done.returncode == 3 and "no conditional distribution to draw from" in done.stderr, done.stderr
        done = lehr("fit", model, "--data", data, "--method", "svi", "--out", f"{folder}/out", code=None)
        assert done.returncode == 3 and "minibatches do not update the expectation of a link of 'y'" in done.stderr, done.stderr
        write(f"{folder}/p.lehr", """model m { plate n; a ~ Normal(mean = 0, sd = 3); b ~ Normal(mean = 0, sd = 3);
          observe y[n] ~ Bernoulli(logistic(a * b)); }""")
        done = lehr("fit", f"{folder}/p.lehr", "--data", write_json(f"{folder}/d.json", {"y": [1, 0, 0, 1]}), "--links", "gaussian",
                    "--search", "none", "--out", f"{folder}/out", code=None)
    return done.returncode == 0 and "by a quadratic bound, since the predictor is not Normal" in done.stdout + done.stderr


@holds
def partial_sums():
    """A predictor whose index is in the limit of a sum alone has a point for each value of it: the same fit as with the sums as a matrix of
    data, and the closed form where the summands are data."""
    y = RNG.poisson([[1.0, 2, 3], [2, 3, 4]])
    got = fit("""model m { plate n; plate pos; plate gap = 2; w ~ MvNormal(mean = 0, precision = 1) over gap;
      observe y[n] ~ Poisson(exp(cumulative(w))) over pos; }""", {"y": y}, *TIGHT)
    rows = fit("""model m { plate n; plate pos; plate gap; data s[pos] : vector over gap; w ~ MvNormal(mean = 0, precision = 1) over gap;
      observe y[n, pos] ~ Poisson(exp(dot(w, s[pos]))); }""", {"y": y, "s": [[0, 0], [1, 0], [1, 1]]}, *TIGHT)
    data = fit("""model m { plate n; plate pos; plate gap; data d : vector over gap; a ~ Gamma(shape = 1, rate = 1);
      observe y[n] ~ Poisson(a * exp(cumulative(d))) over pos; }""", {"y": y, "d": [0.3, 0.5]}, *TIGHT)
    e = np.exp([0, 0.3, 0.8])
    evidence = (y * np.log(e)).sum() - gammaln(y + 1).sum() + gammaln(1 + y.sum()) - (1 + y.sum()) * np.log(1 + 2 * e.sum())
    return (close(got.elbo, rows.elbo, 1e-9) and close(got.posterior["w.mean"], rows.posterior["w.mean"], 1e-6)
            and close(data.elbo, evidence, 1e-9))


@holds
def functions_of_exponentials():
    """Functions of exp(...) of random variables but its logarithm are refused."""
    with temporary() as folder:
        for e in ("exp(exp(a))", "sqrt(exp(a))", "1 / exp(a)", "exp(a) * sqrt(exp(b))"):
            model = write(f"{folder}/m.lehr", f"""model m {{ plate n; a ~ Normal(mean = 0, sd = 3); b ~ Normal(mean = 0, sd = 3);
              observe y[n] ~ Poisson({e}); }}""")
            done = lehr("check", model, code=None)
            assert done.returncode == 3 and "no closed form: the expectation of" in done.stderr, (e, done.stderr)
        for e in ("Bernoulli(exp(a))", "Geometric(exp(a))", "Normal(mean = exp(a), sd = 1)", "Bernoulli(logistic(exp(a)))"):
            model = write(f"{folder}/m.lehr", f"model m {{ plate n; a ~ Normal(mean = 0, sd = 3); observe y[n] ~ {e}; }}")
            assert lehr("check", model, code=None).returncode == 3, e
    return True


@holds
def copies_are_rows():
    """Effects of a plate with `times` are those of its rows written out, with the standard deviations by linear response of both."""
    model = """model m { plate g TIMES; plate r = 3; a ~ Normal(mean = 0, sd = 3); tau ~ Gamma(shape = 1, rate = 0.5);
      u[g] ~ Normal(mean = 0, precision = tau); observe y[g, r] ~ LINK; guide factorised; }"""
    count = np.r_[1, 3, RNG.integers(1, 4, size=10)]
    e = 0.5 + RNG.normal(size=(12, 1)) + np.zeros((1, 3))
    y = {"logistic": (RNG.logistic(size=e.shape) < e).astype(int), "exp": RNG.poisson(np.exp(e))}
    for link in ("logistic", "exp"):
        text = model.replace("LINK", LINKS[link]).replace("(E)", "(a + u[g])")
        options = ["--links", "gaussian", "--tol", "1e-12", "--sds", "linear-response", "--search", "none", "--max-iter", "5000"]
        copies = Folder(text.replace("TIMES", "times n"), {"y": y[link], "n": count}, *options)
        rows = Folder(text.replace("TIMES", ""), {"y": np.repeat(y[link], count, axis=0)}, *options)
        elbos = [read_json(x.at("fit/fit.json"))["elbo"] for x in (copies, rows)]
        assert close(*elbos, 1e-9), (link, elbos)
        one, all_ = arrays(copies.at("fit/sds.npz")), arrays(rows.at("fit/sds.npz"))
        for v in ("a", "tau"):
            assert close(one[f"{v}.sd"], all_[f"{v}.sd"], 1e-3), (link, v, one[f"{v}.sd"], all_[f"{v}.sd"])
        assert close(np.repeat(one["u.sd"], count), all_["u.sd"], 1e-3), (link, one["u.sd"], all_["u.sd"])
    return True


@holds
def mixtures_of_regressions():
    """A mixture that a bit chooses is that of a category, also where one part has nothing to do with an observation: then the tangent
    plane of this part is astronomically far off."""
    parts = "Poisson(exp(a + b * x[n])), Poisson(exp(c + d * x[n]))"
    head = "model m { plate n; data x[n] : real; "
    priors = "".join(f"{v} ~ Normal(mean = {m}, sd = {s}); " for v, m, s in (("a", 1, 3), ("b", 0, 1), ("c", 1, 3), ("d", 0, 1)))
    models = [f"{head}p ~ Beta(1, 1); {priors} observe y[n] ~ mixture(p, {parts}); }}",
              f"{head}p ~ Beta(1, 1); {priors} z[n] ~ Bernoulli(p); observe y[n] ~ mixture(z[n], {parts}); }}",
              f"""{head}plate k = 2; p ~ Dirichlet(1) over k; z[n] ~ Categorical(p); a[k] ~ Normal(mean = 1, sd = 3);
                  b[k] ~ Normal(mean = 0, sd = 1); observe y[n] ~ Poisson(exp(a[z[n]] + b[z[n]] * x[n])); }}"""]
    for first, second, scale in (((1, 0.5), (4, -0.5), 1), ((0, 1), (3, 1), 1), ((2, 1.5), (5, -1), 1), ((1, 0.05), (4, -0.05), 10)):
        x = scale * RNG.normal(size=100)
        of = np.where((RNG.uniform(size=100) < 0.4)[:, None], first, second)
        data = {"x": x, "y": RNG.poisson(np.exp(of[:, 0] + of[:, 1] * x))}
        elbos = [fit(model, data, "--search", "quick", "--tol", "1e-9", monotone=False).elbo for model in models]
        assert close(elbos, elbos[2], 1e-6), elbos
    return True


@holds
def values_without_items():
    """A start may give every item to one of two values of a category. The tangent plane of the other stays that of its predictor: all
    starts then reach the optimum, which is that of a bit. They stopped at -1e21, since items went to a plane at 0."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=100)
    of = np.where((rng.uniform(size=100) < 0.4)[:, None], (1, 0.5), (4, -0.5))
    data = {"x": x, "y": rng.poisson(np.exp(of[:, 0] + of[:, 1] * x))}
    category = """model m { plate n; data x[n] : real; plate k = 2; p ~ Dirichlet(1) over k; z[n] ~ Categorical(p); a[k] ~ Normal(mean = 1, sd = 3);
      b[k] ~ Normal(mean = 0, sd = 1); observe y[n] ~ Poisson(exp(a[z[n]] + b[z[n]] * x[n])); }"""
    elbos = [fit(category, data, "--seed", seed, "--tol", "1e-9", monotone=False).elbo for seed in (2, 5, 6, 8)]
    bit = fit("""model m { plate n; data x[n] : real; p ~ Beta(1, 1); a ~ Normal(mean = 1, sd = 3); b ~ Normal(mean = 0, sd = 1);
      c ~ Normal(mean = 1, sd = 3); d ~ Normal(mean = 0, sd = 1); observe y[n] ~ mixture(p, Poisson(exp(a + b * x[n])), Poisson(exp(c + d * x[n]))); }""",
              data, "--tol", "1e-9", monotone=False)
    assert close(elbos, bit.elbo, 1e-6), (elbos, bit.elbo)
    return True


@holds
def exponentials_of_deviations():
    """Where exp(...) is a standard deviation, the message has the statement with its precision, which is accepted."""
    with temporary() as folder:
        for parameter, line in (("sd = exp(a)", "precision = exp(-2 * (a))"), ("variance = exp(a + b)", "precision = exp(-(a + b))")):
            text = "model m { plate n; a ~ Normal(mean = 0, sd = 3); b ~ Normal(mean = 0, sd = 3); observe y[n] ~ Normal(mean = 0, %s); }"
            model = write(f"{folder}/m.lehr", text % parameter)
            done = lehr("check", model, code=3)
            assert f"write `observe y[n] ~ Normal(mean = 0, {line});`" in done.stderr, done.stderr
            lehr("check", write(f"{folder}/m.lehr", text % line))
    return True


@holds
def impossible_exposures():
    """A negative exposure is an error of the data, with its place; so is a count where the exposure is 0."""
    with temporary() as folder:
        model = write(f"{folder}/m.lehr", "model m { plate n; data t[n] : real; a ~ Normal(mean = 0, sd = 3); observe y[n] ~ Poisson(t[n] * exp(a)); }")
        for t, why in ((-3, "column 't': error: t[2] is -3, but the rate of Poisson must be positive"),
                       (0, "column 'y': error: y[2] is 7, which has probability 0")):
            data = write(f"{folder}/d.csv", f"t,y\n1,1\n2,3\n{t},7\n4,4\n")
            done = lehr("fit", model, "--data", data, "--out", f"{folder}/out", code=4)
            assert f"d.csv, {why}" in done.stderr, done.stderr
        write(f"{folder}/d.csv", "t,y\n1,1\n2,3\n0,0\n4,4\n")
        lehr("fit", model, "--data", data, "--out", f"{folder}/out")
    return True


@holds
def rates_beyond_all_numbers():
    """A row whose rate is infinite says so in a prediction, and the others have the numbers that they have without it."""
    found = Folder("model m { plate n; data x[n] : real; a ~ Normal(mean = 0, sd = 3); b ~ Normal(mean = 0, sd = 1); observe y[n] ~ Poisson(exp(a + b * x[n])); }",
                   {"x": [0, 1, 2, 1.5], "y": [1, 3, 7, 4]})
    said = lehr("predict", found.at("fit"), "--data", found.bind("far", {"x": [0, 1, 5000, 1.5]}), "--out", found.at("far.csv"))
    assert "y[2] ~ Poisson(rate = inf) leaves the range of numbers" in said.stderr, said.stderr
    found.run("predict", found.at("fit"), "--data", found.bind("near", {"x": [0, 1, 1, 1.5]}), "--out", found.at("near.csv"))
    far, close_by = read_csv(found.at("far.csv")), read_csv(found.at("near.csv"))
    assert far[2]["mean"] == far[2]["q50"] == "inf", far[2]
    return all(far[n] == close_by[n] for n in (0, 1, 3))


@holds
def simulated_rates_beyond_all_numbers():
    """Such a row is infinite in simulated data too, and said so; the others are drawn."""
    with temporary() as folder:
        model = write(f"{folder}/m.lehr", "model m { plate n; data x[n] : real; b ~ Normal(mean = 1, sd = 0.1); observe y[n] ~ Poisson(exp(b * x[n])); }")
        data = write_json(f"{folder}/d.json", {"x": [0, 1, 5000, -1, 9000]})
        for form in ("json", "npz"):
            done = lehr("simulate", model, "--data", data, "--out", f"{folder}/y.{form}")
            assert "y[2] ~ Poisson(rate = inf) leaves the range of numbers, and so do 1 other elements" in done.stderr, done.stderr
        y = np.load(f"{folder}/y.npz")["y"]
        assert np.isinf(y[[2, 4]]).all() and np.isfinite(y[[0, 1, 3]]).all(), y
        done = lehr("fit", model, "--data", f"{folder}/y.json", "--out", f"{folder}/out", code=4)
        return "y[2]" in done.stderr


@holds
def chains_with_huge_rates():
    """Starts of a chain that chooses rates may have log potentials of 1e50: their entropies keep their digits. No start has an ELBO
    above 0, and that of the best is the one by the forward algorithm."""
    model = """model m { plate t ordered; plate k = 2; data x[t] : real; A[k] ~ Dirichlet(concentration = 2) over k;
      a[k] ~ Normal(mean = 0, sd = 2); b ~ Normal(mean = 0, sd = 1); s[t] ~ Categorical(A[s[t-1]]) start Uniform() over k;
      observe y[t] ~ Poisson(exp(a[s[t]] + b * x[t])); }"""
    rng = np.random.default_rng(20)
    x, s = rng.normal(size=60), rng.integers(0, 2, size=60)
    y = rng.poisson(np.exp(np.where(s, 3, 0) + 0.5 * x))
    got = fit(model, {"x": x, "y": y}, "--restarts", "5", "--tol", "1e-12", monotone=False)
    assert all(r["elbo"] < 0 for r in got.report["restarts"]), got.report["restarts"]
    m, V = got.posterior["joint(a, b).mean"], np.linalg.inv(got.posterior["joint(a, b).precision"])
    c = got.posterior["A.concentration"]
    rows = np.array([[[1, 0, z], [0, 1, z]] for z in x])
    log_rate, variance = rows @ m, np.einsum("tki,ij,tkj->tk", rows, V, rows)
    emission = y[:, None] * log_rate - np.exp(log_rate + variance / 2) - gammaln(y + 1)[:, None]
    log_A = digamma(c) - digamma(c.sum(axis=1, keepdims=True))
    alpha = emission[0] - np.log(2)
    for e in emission[1:]:
        alpha = logsumexp(alpha[:, None] + log_A, axis=0) + e
    prior = np.diag([1 / 4, 1 / 4, 1])
    of_normal = 0.5 * (np.trace(prior @ V) + m @ prior @ m - 3 - np.linalg.slogdet(prior @ V)[1])
    of_rows = (gammaln(c.sum(axis=1)) - gammaln(c).sum(axis=1) - gammaln(4) + ((c - 2) * log_A).sum(axis=1)).sum()
    return close(got.elbo, logsumexp(alpha) - of_normal - of_rows, 1e-8)


def gaussian_walk(link, y):
    """One Normal factor of all steps of a walk, and a Gamma factor of their precision: a state at a time by Newton's method with halved
    steps, which is an ascent since the ELBO is concave in the former."""
    n, a = len(y), 2 + (len(y) - 1) / 2
    steps, first = np.diff(np.eye(n), axis=0).T @ np.diff(np.eye(n), axis=0), np.diag(np.r_[1 / 4, np.zeros(n - 1)])
    m, V, b = np.zeros(n), np.linalg.inv(first + steps + np.eye(n)), a

    def elbo(m, V, b):
        t, log_t, square = a / b, digamma(a) - np.log(b), V + np.outer(m, m)
        prior = -0.5 * (first * square).sum() - 0.5 * np.log(2 * np.pi * 4) + 0.5 * (n - 1) * (log_t - np.log(2 * np.pi))
        of_t = 2 * np.log(0.5) + log_t - 0.5 * t + a - np.log(b) + gammaln(a) + (1 - a) * digamma(a)
        of_z = 0.5 * np.linalg.slogdet(V)[1] + 0.5 * n * (1 + np.log(2 * np.pi))
        return derivatives(link, y, m, np.diag(V))[0].sum() + prior - 0.5 * t * (steps * square).sum() + of_t + of_z

    best, risen = elbo(m, V, b), 1
    while risen > 1e-12:
        begins, gain = best, 1
        while gain > 1e-12:
            _, slope, curvature = derivatives(link, y, m, np.diag(V))
            prior, part = first + a / b * steps, 1.0
            while True:
                W = np.linalg.inv((1 - part) * np.linalg.inv(V) + part * (prior - np.diag(curvature)))
                to = m + part * W @ (slope - prior @ m)
                if (now := elbo(to, W, b)) >= best - 1e-13 * abs(best) or part < 1e-9:
                    break
                part /= 2
            gain, m, V, best = now - best, to, W, now
        b = 0.5 + 0.5 * (steps * (V + np.outer(m, m))).sum()
        best = elbo(m, V, b)
        risen = best - begins
    return best, m, np.diag(V)**0.5, b


@holds
def walks_reach_the_optimum():
    """A chain with little data, where whole sweeps lower the ELBO: runs from several starts reach the optimum, and say so."""
    model = """model m { plate t ordered; tau ~ Gamma(shape = 2, rate = 0.5); z[t] ~ Normal(mean = z[t-1], precision = tau) start Normal(mean = 0, sd = 2);
      observe y[t] ~ LINK; }"""
    for link, y in (("exp", np.zeros(50, int)), ("logistic", np.ones(80, int)), ("probit", np.ones(30, int)), ("exp", RNG.poisson(20, size=20))):
        best, m, sd, b = gaussian_walk(link, y)
        for seed in (1, 2, 3):
            got = fit(model.replace("LINK", LINKS[link]).replace("(E)", "(z[t])"), {"y": y}, "--links", "gaussian", "--tol", "1e-10", "--seed", seed)
            assert got.report["status"] == "converged", (link, seed, got.report["status"], got.elbo, best)
            assert close(got.elbo, best, 1e-6), (link, seed, got.elbo, best)
            assert np.abs(got.posterior["z.mean"] - m).max() < 0.01 * sd.max(), (link, seed)
    return True


finish()
