#!/usr/bin/env python3
"""Links and absolute values whose argument is switched by latent categories, bits or spins: with points for the parameters every
bound is tight for each value of the switch, so that the ELBO is the log joint with the switches summed out; elsewhere it is below
the evidence by quadrature, and draws follow the posterior.

usage: switched_links.py LEHR
"""
import itertools
import sys

import numpy as np
from scipy.special import betaln, digamma, expit, gammaln, log_expit, log_ndtr, log_softmax, logsumexp, xlogy
from scipy.stats import binom, norm

sys.path.append(f"{sys.path[0]}/..")
from fitting import close, finish, fit, holds  # noqa: E402

RNG = np.random.default_rng(4)
TIGHT = ["--search", "none", "--tol", "1e-14", "--max-iter", "20000"]
DRAWS = ["--method", "gibbs", "--draws", "20000", "--warmup", "500"]


def is_tight(model, data, names, log_joint, within=1e-8):
    """The ELBO is the log joint at the points, which is no larger beside them."""
    got = fit(model, data, *TIGHT)
    at = [np.atleast_1d(got.posterior[name + ".value"]) for name in names]
    best = log_joint(*at)
    beside = []
    for k, x in enumerate(at):
        for i in np.ndindex(x.shape):
            for step in (-1e-2, 1e-2):
                moved = [y.copy() for y in at]
                moved[k][i] += step
                beside.append(log_joint(*moved))
    print(got.elbo, best, max(beside))
    return close(got.elbo, best, within) and max(beside) < best


def log_bernoulli(y, e):
    return log_expit(np.where(y > 0, e, -e))


@holds
def categories_switch_logistic_links():
    """Numbers of their own beside the trials tell the categories apart, not surely."""
    x = RNG.normal(size=40)
    trials = RNG.integers(1, 6, size=40).astype(float)
    y = RNG.binomial(trials.astype(int), expit(np.where(x > 0, 3, -2.5))).astype(float)
    model = """model m { plate n; plate k = 2; data x[n] : real; data trials[n] : count; a[k] ~ Normal(mean = 0, sd = 2);
      b ~ Normal(mean = 0, sd = 1); m[k] ~ Normal(mean = 0, sd = 3);
      z[n] ~ Categorical(0.5); observe u[n] ~ Normal(mean = m[z[n]], sd = 1);
      observe y[n] ~ Binomial(trials[n], logistic(a[z[n]] + b * x[n])); guide point(a, b, m); }"""
    model = model.replace("Categorical(0.5)", "Categorical(w)").replace("a[k]", "const w[k]; a[k]", 1)
    w = np.array([0.4, 0.6])

    def log_joint(a, b, m):
        e = a[None, :] + (b * x)[:, None]
        likelihood = binom.logpmf(y[:, None], trials[:, None], expit(e)) + norm.logpdf(x[:, None], m, 1) + np.log(w)
        return logsumexp(likelihood, axis=1).sum() + norm.logpdf(a, 0, 2).sum() + norm.logpdf(b, 0, 1)[0] + norm.logpdf(m, 0, 3).sum()

    return is_tight(model, {"x": x, "u": x, "y": y, "trials": trials, "w": w}, ["a", "b", "m"], log_joint)


@holds
def two_categories_switch_one_link():
    """One of each row and one of each column, summed out for few of them, over ragged rows."""
    rows = [3, 1, 4, 2]
    y = [[float(RNG.random() < 0.5) for _ in range(r)] for r in rows]
    model = """model m { plate n; plate j in n; plate k = 2; plate l = 3; a[k] ~ Normal(mean = 0, sd = 2); c[l] ~ Normal(mean = 0, sd = 2);
      const p[k]; const q[l]; z[n, j] ~ Categorical(p); s[n, j] ~ Categorical(q);
      observe y[n, j] ~ Bernoulli(logistic(a[z[n, j]] + c[s[n, j]])); guide point(a, c); }"""
    p, q = np.array([0.3, 0.7]), np.array([0.2, 0.5, 0.3])
    elbo = fit(model, {"y": y, "p": p, "q": q}, *TIGHT)
    a, c = elbo.posterior["a.value"], elbo.posterior["c.value"]
    flat = np.concatenate(y)
    # The factors of the two switches of an element are independent: a bound of the sum over both.
    exact = norm.logpdf(a, 0, 2).sum() + norm.logpdf(c, 0, 2).sum()
    for v in flat:
        each = log_bernoulli(v, a[:, None] + c[None, :]) + np.log(p)[:, None] + np.log(q)[None, :]
        best = -np.inf
        for start in range(4):
            r = np.full(3, 1 / 3) if start == 0 else np.eye(3)[start - 1] * 0.9 + 0.1 / 3
            for _ in range(500):
                f = each @ r
                g = np.exp(f - logsumexp(f))
                f = g @ each
                r = np.exp(f - logsumexp(f))
            best = max(best, g @ each @ r - g @ np.log(g) - r @ np.log(r))
        exact += best
    print(elbo.elbo, exact)
    return close(elbo.elbo, exact, 1e-7)


@holds
def bits_and_spins_switch_logistic_links():
    """One of each observation: with the bit at 0 the predictor is known, and nothing is bounded there."""
    y = np.array([1, 1, 0, 1, 0, 0, 1, 1.0])
    x = RNG.normal(size=8)
    bit = """model m { plate n; data x[n] : real; a ~ Normal(mean = 1, sd = 2); b ~ Normal(mean = -1, sd = 1);
      here[n] ~ Bernoulli(0.7); observe y[n] ~ Bernoulli(logistic(here[n] * (a + b * x[n]) + (1 - here[n]) * (0 - 6))); guide point(a, b); }"""

    def of_bit(a, b):
        seen = log_bernoulli(y, a + b * x) + np.log(0.7)
        return np.logaddexp(seen, log_bernoulli(y, np.full(8, -6.0)) + np.log(0.3)).sum() + norm.logpdf(a, 1, 2)[0] + norm.logpdf(b, -1, 1)[0]

    spin = """model m { plate n; data x[n] : real; a ~ Normal(mean = 1, sd = 2); b ~ Normal(mean = -1, sd = 1);
      s[n] ~ Spin(); observe y[n] ~ Bernoulli(logistic(s[n] * a * 3 + b * x[n])); guide point(a, b); }"""

    def of_spin(a, b):
        up, down = (log_bernoulli(y, s * a * 3 + b * x) + np.log(0.5) for s in (1, -1))
        return np.logaddexp(up, down).sum() + norm.logpdf(a, 1, 2)[0] + norm.logpdf(b, -1, 1)[0]

    return is_tight(bit, {"x": x, "y": y}, ["a", "b"], of_bit) and is_tight(spin, {"x": x, "y": y}, ["a", "b"], of_spin)


@holds
def probit_links():
    """By a category, by a bit, as the parts of a mixture, and as one of them."""
    y = np.array([1, 1, 0, 1, 0, 0, 1, 1, 1.0])
    x = RNG.normal(size=9) * 2
    w = np.array([0.35, 0.65])
    head = "model m { plate n; plate k = 2; const w[k]; data x[n] : real; a[k] ~ Normal(mean = x0[k], sd = 1); const x0[k];"
    tails = ["z[n] ~ Categorical(w); observe y[n] ~ Bernoulli(probit(a[z[n]] * x[n])); guide point(a); }",
             "one[n] ~ Bernoulli(0.65); observe y[n] ~ Bernoulli(probit(one[n] * a[1] * x[n] + (1 - one[n]) * a[0] * x[n])); guide point(a); }",
             "observe y[n] ~ mixture(0.35, Bernoulli(probit(a[0] * x[n])), Bernoulli(probit(a[1] * x[n]))); guide point(a); }"]
    x0 = np.array([2.0, -2.0])

    def log_joint(a):
        e = np.outer(x, a)
        return logsumexp(log_ndtr(np.where(y[:, None] > 0, e, -e)) + np.log(w), axis=1).sum() + norm.logpdf(a, x0, 1).sum()

    other = head + "observe y[n] ~ mixture(0.35, Bernoulli(probit(a[0] * x[n])), Bernoulli(logistic(a[1]))); guide point(a); }"

    def of_other(a):
        parts = np.stack([log_ndtr(np.where(y > 0, x, -x) * a[0]), log_bernoulli(y, a[1] + 0 * y)])
        return logsumexp(parts + np.log(w)[:, None], axis=0).sum() + norm.logpdf(a, x0, 1).sum()

    bind = {"x": x, "y": y, "w": w, "x0": x0}
    return all(is_tight(head + tail, bind, ["a"], log_joint) for tail in tails) and is_tight(other, bind, ["a"], of_other)


@holds
def softmax_and_ordered_links():
    y = RNG.integers(0, 3, size=12)
    w = np.array([0.35, 0.65])
    a0 = RNG.normal(size=(2, 3)) * 2
    softmax = """model m { plate n; plate k = 2; plate c = 3; const w[k]; const a0[k, c]; data y[n] : c;
      W[k] ~ MvNormal(mean = a0[k], precision = 1) over c; z[n] ~ Categorical(w); observe y[n] ~ Categorical(softmax(W[z[n]])) over c;
      guide point(W); }""".replace("data y[n] : c;", "")

    def of_softmax(W):
        return logsumexp(log_softmax(W, axis=1)[:, y].T + np.log(w), axis=1).sum() + norm.logpdf(W, a0, 1).sum()

    ordered = """model m { plate n; plate k = 2; plate c = 3; plate cut = 2; const w[k]; const a0[k]; const at[cut];
      a[k] ~ Normal(mean = a0[k], sd = 1); z[n] ~ Categorical(w); observe y[n] ~ Categorical(ordered_logistic(a[z[n]], at)) over c; guide point(a); }"""
    at = np.array([-0.5, 1.0])

    def of_ordered(a):
        beyond = expit(a[:, None] - at)
        p = np.stack([1 - beyond[:, 0], beyond[:, 0] - beyond[:, 1], beyond[:, 1]], axis=1)
        return logsumexp(np.log(p)[:, y].T + np.log(w), axis=1).sum() + norm.logpdf(a, a0[:, 0], 1).sum()

    return (is_tight(softmax, {"y": y, "w": w, "a0": a0}, ["W"], of_softmax)
            and is_tight(ordered, {"y": y, "w": w, "a0": a0[:, 0], "at": at}, ["a"], of_ordered))


@holds
def parts_of_mixtures_have_points_of_their_own():
    y = RNG.integers(0, 9, size=10).astype(float)
    model = """model m { plate n; a ~ Normal(mean = 2, sd = 1); b ~ Normal(mean = -2, sd = 1);
      observe y[n] ~ mixture(0.4, Binomial(8, logistic(a)), Binomial(8, logistic(b))); guide point(a, b); }"""

    def log_joint(a, b):
        parts = [np.log(w) + binom.logpmf(y, 8, expit(e)) for w, e in ((0.4, a), (0.6, b))]
        return np.logaddexp(*parts).sum() + norm.logpdf(a, 2, 1)[0] + norm.logpdf(b, -2, 1)[0]

    return is_tight(model, {"y": y}, ["a", "b"], log_joint)


@holds
def states_of_a_chain_switch_links():
    """A hidden Markov model with logistic emissions, its chain summed out by the forward algorithm."""
    states = np.repeat([0, 1, 0, 1], 8)
    x = RNG.normal(size=32)
    y = (RNG.random(32) < expit(np.where(states > 0, 3, -3) + x)).astype(float)
    A = np.array([[0.9, 0.1], [0.2, 0.8]])
    for link, log_p in (("logistic", log_bernoulli), ("probit", lambda v, e: log_ndtr(np.where(v > 0, e, -e)))):
        model = """model m { plate t ordered; plate k = 2; plate to = k; const A[k, to]; const first[k]; const a0[k]; data x[t] : real;
          a[k] ~ Normal(mean = a0[k], sd = 1); b ~ Normal(mean = 0, sd = 1);
          s[t] ~ Categorical(A[s[t-1]]) start Categorical(first);
          observe y[t] ~ Bernoulli(%s(a[s[t]] + b * x[t])); guide point(a, b); }""" % link

        def log_joint(a, b):
            each = log_p(y[:, None], a[None, :] + (b * x)[:, None])
            f = each[0] + np.log([0.5, 0.5])
            for e in each[1:]:
                f = logsumexp(f[:, None] + np.log(A), axis=0) + e
            return logsumexp(f) + norm.logpdf(a, [-2, 2], 1).sum() + norm.logpdf(b, 0, 1)[0]

        assert is_tight(model, {"x": x, "y": y, "A": A, "first": [0.5, 0.5], "a0": [-2, 2]}, ["a", "b"], log_joint)
    return True


@holds
def captures_and_recaptures():
    """Who is alive is seen with a probability, and dies once, by enumeration: independent bits are below the evidence, and near it."""
    seen = np.array([[1, 1, 1], [1, 0, 1], [0, 1, 1], [1, 1, 1], [1, 0, 0], [1, 0, 1], [1, 1, 0.0]])
    model = """model m { plate animal; plate year ordered; a ~ Normal(mean = 0, sd = 2); c ~ Normal(mean = 0, sd = 2);
      alive[animal, year] ~ Bernoulli(logistic(alive[animal, year-1] * a + (1 - alive[animal, year-1]) * (0 - 8))) start Bernoulli(0.9999);
      observe seen[animal, year] ~ Bernoulli(logistic(alive[animal, year] * c + (1 - alive[animal, year]) * (0 - 8)));
      guide point(a, c); guide independent(alive); }"""
    got = fit(model, {"seen": seen}, *TIGHT)
    a, c = got.posterior["a.value"], got.posterior["c.value"]
    exact = norm.logpdf(a, 0, 2) + norm.logpdf(c, 0, 2)
    for row in seen:
        paths = []
        for path in itertools.product([0, 1], repeat=3):
            p = np.log(0.9999 if path[0] else 0.0001)
            for before, now in zip(path, path[1:]):
                p += log_bernoulli(now, a if before else -8.0)
            paths.append(p + sum(log_bernoulli(v, c if here else -8.0) for v, here in zip(row, path)))
        exact += logsumexp(paths)
    print(got.elbo, exact)
    return exact - 0.2 < got.elbo <= exact + 1e-9


@holds
def known_predictors_need_no_bound():
    """Who is never seen in four visits is there with probability 1/17: exact factors, and draws that move."""
    model = """model there { plate site; plate visit; z[site] ~ Bernoulli(0.5);
      observe y[site, visit] ~ Bernoulli(logistic(-30 * (1 - z[site]))); }"""
    data = {"y": np.zeros((8, 4))}
    got = fit(model, data, *TIGHT)
    drawn = fit(model, data, "--method", "gibbs", "--draws", "4000", monotone=False).posterior["z.mean"]
    print(got.posterior["z.p"], drawn, got.elbo)
    return close(got.posterior["z.p"], 1 / 17, 1e-9) and close(got.elbo, 8 * np.log(17 / 32), 1e-9) and np.abs(drawn - 1 / 17).max() < 0.02


def grid_posterior(log_joint, lower=-9, upper=9, size=721):
    """Means and standard deviations of two numbers, and the evidence."""
    x = np.linspace(lower, upper, size)
    p = log_joint(x[:, None], x[None, :])
    evidence = logsumexp(p) + 2 * np.log(x[1] - x[0])
    p = np.exp(p - logsumexp(p))
    first, second = p.sum(axis=1), p.sum(axis=0)
    mean = np.array([first @ x, second @ x])
    return mean, np.sqrt(np.array([first @ x**2, second @ x**2]) - mean**2), evidence


@holds
def posteriors_and_draws():
    """Without points: the ELBO is below the evidence and near it, the means are near; draws are right."""
    x = np.repeat([0, 1], 15)
    u = RNG.normal(np.where(x > 0, 2, -2), 1)
    w = np.array([0.5, 0.5])
    y = (RNG.random(30) < expit(np.where(x > 0, 2.5, -2))).astype(float)
    v = RNG.laplace(np.where(x > 0, 2.5, -2), 1)
    head = """model m { plate n; plate k = 2; const w[k]; const side[k]; a[k] ~ Normal(mean = 0, sd = 2); z[n] ~ Categorical(w);
      observe u[n] ~ Normal(mean = side[z[n]], sd = 1); observe y[n] ~ """
    lines = [("Bernoulli(logistic(a[z[n]])); }", y, lambda e: log_bernoulli(y, e)),
             ("Bernoulli(probit(a[z[n]])); }", y, lambda e: log_ndtr(np.where(y > 0, e, -e))),
             ("Laplace(mean = a[z[n]], scale = 1); }", v, lambda e: -np.abs(v - e) - np.log(2))]
    of_side = norm.logpdf(u[:, None], [-2, 2], 1) + np.log(w)
    for line, data, log_p in lines:
        def log_joint(a, b):
            each = np.logaddexp(of_side[:, 0] + log_p(a[..., None] + 0 * u), of_side[:, 1] + log_p(b[..., None] + 0 * u)).sum(axis=-1)
            return each + norm.logpdf(a, 0, 2) + norm.logpdf(b, 0, 2)

        mean, sd, evidence = grid_posterior(log_joint)
        bind = {"u": u, "y": data, "w": w, "side": [-2.0, 2.0]}
        got = fit(head + line, bind, *TIGHT)
        drawn = fit(head + line, bind, *DRAWS, monotone=False).posterior
        print(line, got.elbo, evidence, got.posterior["a.mean"], mean, sd, drawn["a.mean"], drawn["a.sd"])
        assert evidence - 1.5 < got.elbo < evidence and np.abs(got.posterior["a.mean"] - mean).max() <= 0.35 * sd.max()
        assert np.abs((drawn["a.mean"] - mean) / sd).max() <= 0.06 and np.abs(drawn["a.sd"] / sd - 1).max() <= 0.05
    return True


@holds
def parts_selected_by_a_variable():
    """A declared bit or category in place of the weights of a mixture: the same factors and ELBO as with its weights, and what a
    bit selects may depend on other data."""
    y = np.where(RNG.random(40) < 0.6, RNG.normal(3, 0.5, 40), RNG.normal(0, 3, 40))
    y[3] = np.nan
    head = "model m { plate n; plate k = 3; w ~ Dirichlet(concentration = 2) over k; p ~ Beta(2, 1); mu ~ Normal(mean = 3, sd = 1); "
    two, three = "Normal(mean = mu, sd = 0.5), Normal(mean = 0, sd = 3)", "Normal(mean = mu, sd = 0.5), Normal(mean = 0, sd = 3), Normal(mean = -1, sd = 9)"
    for weights, declared, name in (("p", "z[n] ~ Bernoulli(p);", "p"), ("w", "z[n] ~ Categorical(w);", "probs")):
        parts = two if name == "p" else three
        plain = fit(f"{head} observe y[n] ~ mixture({weights}, {parts}); }}", {"y": y}, *TIGHT)
        named = fit(f"{head} {declared} observe y[n] ~ mixture(z[n], {parts}); }}", {"y": y}, *TIGHT)
        assert close(plain.elbo, named.elbo, 1e-10), (plain.elbo, named.elbo)
        here = ~np.isnan(y)
        assert close(plain.posterior[f"y.part.{name}"][here], named.posterior[f"z.{name}"][here], 1e-6)
        assert close(plain.posterior["mu.mean"], named.posterior["mu.mean"], 1e-8)
    # With a second look at the bit, all else known: the evidence, by a sum over its values.
    v = np.array([1, 0, 1, 1.0])
    got = fit("""model m { plate n; z[n] ~ Bernoulli(0.3); observe v[n] ~ mixture(z[n], Bernoulli(0.7), Bernoulli(0.2));
      observe y[n] ~ mixture(z[n], Normal(mean = 3, sd = 1), Normal(mean = 0, sd = 3)); }""",
        {"v": v, "y": y[4:8]}, *TIGHT)
    on = np.log(0.3) + np.where(v > 0, np.log(0.7), np.log(0.3)) + norm.logpdf(y[4:8], 3, 1)
    off = np.log(0.7) + np.where(v > 0, np.log(0.2), np.log(0.8)) + norm.logpdf(y[4:8], 0, 3)
    return close(got.elbo, np.logaddexp(on, off).sum(), 1e-12) and close(got.posterior["z.p"], expit(on - off), 1e-12)


@holds
def sure_bits_leave_the_other_point_alone():
    """Bits that are known, or sure after their data: the point for the other value has weight 0. By coordinate ascent with numpy."""
    y = np.array([1.0, 1, 0, 1])

    def ascent(known, evidence):
        mean, square, p = 0.0, 4.0, np.where(np.isnan(known), 0.5, known)
        for _ in range(5000):
            xi = np.sqrt([square, square + 2 * mean + 1])  # for 0 and for 1
            rest = [log_expit(x) - x / 2 for x in xi]
            odds = y - 0.5 + rest[1] - rest[0] + evidence
            p = np.where(np.isnan(known), expit(odds), known)
            curvature = np.tanh(xi / 2) / (4 * xi)
            precision = 0.25 + 2 * np.sum((1 - p) * curvature[0] + p * curvature[1])
            mean = (np.sum(y - 0.5) - 2 * np.sum(p * curvature[1])) / precision
            square = mean**2 + 1 / precision
        return mean, precision, p

    head = "model m { plate n; a ~ Normal(mean = 0, sd = 2); "
    link = "observe y[n] ~ Bernoulli(logistic(a + u[n])); }"
    known = np.array([np.nan, 1, 0, 1])
    v = np.array([0.2, 1.0, 0.0, 1.0])
    for model, data, want in (
            (head + "observe u[n] ~ Bernoulli(0.5); " + link, {"u": known, "y": y}, ascent(known, 0)),
            (head + "u[n] ~ Bernoulli(0.5); observe v[n] ~ Normal(mean = u[n], sd = 0.02); " + link, {"v": v, "y": y},
             ascent(np.full(4, np.nan), norm.logpdf(v, 1, 0.02) - norm.logpdf(v, 0, 0.02)))):
        got = fit(model, data, *TIGHT)
        print(got.posterior["a.mean"], got.posterior["u.p"], want)
        if not (np.isfinite(got.elbo) and close(got.posterior["a.mean"], want[0], 1e-7) and close(got.posterior["a.precision"], want[1], 1e-7)
                and np.abs(got.posterior["u.p"] - want[2]).max() < 1e-7):
            return False
    # A Laplace density about a sum with a known bit.
    got = fit(head + "observe u[n] ~ Bernoulli(0.5); observe z[n] ~ Laplace(mean = a + 0.3 * u[n], scale = 1); }",
              {"u": known[1:], "z": y[1:]}, *TIGHT)
    also = fit(head + "data u[n] : real; observe z[n] ~ Laplace(mean = a + 0.3 * u[n], scale = 1); }", {"u": known[1:], "z": y[1:]}, *TIGHT)
    half = fit(head + "observe u[n] ~ Bernoulli(0.5); observe z[n] ~ Laplace(mean = a + 0.3 * u[n], scale = 1); }",
               {"u": known, "z": y}, *TIGHT)
    return (close(got.posterior["a.mean"], also.posterior["a.mean"], 1e-8) and close(got.elbo, also.elbo + 3 * np.log(0.5), 1e-9)
            and np.isfinite(half.elbo) and 1e-3 < half.posterior["z.bound.value"].min())


def elbo_with_gaps(q, data):
    """The ELBO of the factors q of the model of gaps_in_two_covariates, with the bound of each observation at its best point."""
    gaps_x, gaps_u = np.isnan(data["x"]), np.isnan(data["u"])
    mx, vx = np.where(gaps_x, q["x.mean"], data["x"]), np.where(gaps_x, 1 / q["x.precision"], 0)
    p = np.where(gaps_u, q["u.p"], data["u"])
    M, V = np.array([q["a.mean"], q["b.mean"], q["c.mean"]]), np.diag([0, 1 / q["b.precision"], 0])
    V[np.ix_([0, 2], [0, 2])] = np.linalg.inv(q["joint(a, c).precision"])
    total = 0
    for u, share in ((0, 1 - p), (1, p)):
        z = np.column_stack([np.ones(len(mx)), mx, np.full(len(mx), u)])
        square = np.einsum("ni,ij,nj->n", z, V + np.outer(M, M), z) + vx * (V[1, 1] + M[1]**2)
        xi = np.sqrt(square)
        total += (share * (log_expit(xi) + ((2 * data["y"] - 1) * (z @ M) - xi) / 2)).sum()
    normal = lambda m, v, sd: -0.5 * (m**2 + v) / sd**2 - 0.5 * np.log(2 * np.pi * sd**2)  # noqa: E731
    a, b, m, v = q["tx.shape"], q["tx.rate"], q["m.mean"], 1 / q["m.precision"]
    log_t, t = digamma(a) - np.log(b), a / b
    total += (0.5 * (log_t - np.log(2 * np.pi)) - 0.5 * t * (mx**2 + vx - 2 * mx * m + m**2 + v)).sum()
    total += normal(m, v, 2) + 0.5 * np.log(2 * np.pi * np.e * v) + 2 * np.log(2) + log_t - 2 * t + a - np.log(b) + gammaln(a) + (1 - a) * digamma(a)
    total += 0.5 * np.log(2 * np.pi * np.e * vx[gaps_x]).sum() - (xlogy(p, p) + xlogy(1 - p, 1 - p)).sum()
    c, d = q["q.a"], q["q.b"]
    log_p, log_rest = digamma(c) - digamma(c + d), digamma(d) - digamma(c + d)
    total += (p * log_p + (1 - p) * log_rest).sum() + betaln(c, d) - (c - 1) * log_p - (d - 1) * log_rest
    total += normal(M, np.diag(V), 2).sum() + 0.5 * np.linalg.slogdet(2 * np.pi * np.e * V)[1]
    return total


@holds
def gaps_in_two_covariates():
    """A missing number and a missing bit in one predictor: sweeps do not lower the ELBO, which is that of the factors, also in single precision."""
    model = """model m { plate n; m ~ Normal(mean = 0, sd = 2); tx ~ Gamma(shape = 2, rate = 2); q ~ Beta(1, 1);
      a ~ Normal(mean = 0, sd = 2); b ~ Normal(mean = 0, sd = 2); c ~ Normal(mean = 0, sd = 2);
      observe x[n] ~ Normal(mean = m, precision = tx); observe u[n] ~ Bernoulli(q); observe y[n] ~ Bernoulli(logistic(a + b * x[n] + c * u[n])); }"""
    for scale in (1, 6):
        rng = np.random.default_rng(scale)
        x, u = scale * rng.normal(size=60), (rng.uniform(size=60) < 0.4) * 1.0
        y = (rng.logistic(size=60) < 3 + x - 2 * u).astype(int)
        data = {"x": np.where(rng.uniform(size=60) < 0.3, np.nan, x), "u": np.where(rng.uniform(size=60) < 0.3, np.nan, u), "y": y}
        got = fit(model, data, *TIGHT, "--leap-after", "0")
        single = fit(model, data, *TIGHT[:2], "--precision", "float", monotone=False)
        assert close(got.elbo, elbo_with_gaps(got.posterior, data), 1e-9), (scale, got.elbo, elbo_with_gaps(got.posterior, data))
        assert close(got.elbo, single.elbo, 1e-6), (scale, got.elbo, single.elbo)
    return True


finish()
