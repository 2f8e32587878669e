#!/usr/bin/env python3
"""Values that some choices of a latent variable cannot make: those choices have probability 0, and nothing else reads them.
Against sums over all choices, and quadrature over what is continuous.

usage: impossible.py LEHR
"""
import itertools
import sys

import numpy as np
from scipy.special import betaln, gammaln, log_ndtr, logsumexp
from scipy.stats import binom, norm, poisson

sys.path.append(f"{sys.path[0]}/..")
from fitting import close, finish, fit, holds  # noqa: E402

RNG = np.random.default_rng(11)
PLAIN = ["--search", "none", "--tol", "1e-12", "--max-iter", "3000"]
GIBBS = ["--method", "gibbs", "--draws", "20000", "--warmup", "500"]
GRID = (np.arange(4000) + 0.5) / 4000


def finite(f):
    return all(np.isfinite(v).all() for v in f.posterior.values()) and np.isfinite(f.elbo)


def log_beta_pdf(p, a, b):
    return (a - 1) * np.log(p) + (b - 1) * np.log1p(-p) - betaln(a, b)


def exact_by_choice(model, data, log_table):
    """All but the choices is known, so that the ELBO is the evidence: log_table[n, k] with the weights in it."""
    f = fit(model, data, *PLAIN)
    want = logsumexp(log_table, axis=1)
    z = f.posterior["z.probs"]
    return finite(f) and close(f.elbo, want.sum(), 1e-9) and close(z, np.exp(log_table - want[:, None]), 1e-9)


@holds
def sizes_chosen_by_a_category():
    """Four sizes, counts up to 37."""
    size, w, y = np.array([2, 5, 8, 40]), np.array([0.1, 0.2, 0.3, 0.4]), np.array([0, 1, 2, 3, 5, 6, 8, 9, 37, 40])
    model = """model m { plate n; plate k = 4; data w : simplex over k; data size[k] : count; z[n] ~ Categorical(w);
      observe y[n] ~ Binomial(size[z[n]], 0.4); }"""
    return exact_by_choice(model, {"w": w, "size": size, "y": y}, np.log(w) + binom.logpmf(y[:, None], size, 0.4))


@holds
def one_size_of_several_counts():
    """The choice is of all counts together, of a table of them, or of those of its group; of known and of random chances."""
    size, w, y = np.array([1, 20, 30, 26]), np.array([0.4, 0.3, 0.2, 0.1]), np.array([16, 18, 22, 25, 20])
    of = np.array([0, 1, 1, 0, 1])
    head = "plate n; plate k = 4; data w : simplex over k; data size[k] : count;"
    data = {"w": w, "size": size, "y": y}
    one = f"model m {{ {head} z ~ Categorical(w); observe y[n] ~ Binomial(size[z], 0.8); }}"
    table = (np.log(w) + binom.logpmf(y[:, None], size, 0.8).sum(axis=0))[None]
    f = fit(one, data, *PLAIN)
    right = finite(f) and close(f.elbo, logsumexp(table), 1e-9) and close(f.posterior["z.probs"], np.exp(table[0] - logsumexp(table)), 1e-9)
    sizes = np.array([size, size + 1, size + 2, size, size + 1]).T  # by choice and count
    wide = f"model m {{ plate n; plate k = 4; data w : simplex over k; data size[k, n] : count; z ~ Categorical(w); observe y[n] ~ Binomial(size[z, n], 0.8); }}"
    each = np.log(w) + binom.logpmf(y, sizes, 0.8).sum(axis=1)
    right = right and close(fit(wide, {**data, "size": sizes}, *PLAIN).posterior["z.probs"], np.exp(each - logsumexp(each)), 1e-9)
    groups = f"model m {{ {head} plate g; data of[n] : g; z[g] ~ Categorical(w); observe y[n] ~ Binomial(size[z[of[n]]], 0.8); }}"
    table = np.log(w) + np.array([binom.logpmf(y[of == g, None], size, 0.8).sum(axis=0) for g in (0, 1)])
    right = right and exact_by_choice(groups, {**data, "of": of}, table)
    random = f"model m {{ {head} theta ~ Beta(50, 1); z ~ Categorical(w); observe y[n] ~ Binomial(size[z], theta); }}"
    left = size >= y.max()
    a, b = 50 + y.sum(), 1 + len(y) * size[left] - y.sum()
    log_p = np.log(w[left]) + sum(gammaln(size[left] + 1) - gammaln(size[left] - v + 1) for v in y) + betaln(a, b)
    p = np.exp(log_p - logsumexp(log_p))
    d = fit(random, data, *GIBBS, monotone=False)
    f = fit(random, data, *PLAIN)
    return right and finite(f) and not f.posterior["z.probs"][~left].any() and close(d.posterior["theta.mean"], p @ (a / (a + b)), 0.01)


@holds
def chances_of_zero_and_one():
    """Chances that are data, 0 and 1 among them; the one that is left has all mass."""
    p, w, y = np.array([0, 1, 0.3]), np.array([0.5, 0.25, 0.25]), np.array([0, 1, 1, 0])
    model = """model m { plate n; plate k = 3; data w : simplex over k; data p[k] : real; z[n] ~ Categorical(w);
      observe y[n] ~ Bernoulli(p[z[n]]); }"""
    with np.errstate(divide="ignore"):
        table = np.log(w) + np.log(np.where(y[:, None] == 1, p, 1 - p))
    return exact_by_choice(model, {"p": p, "w": w, "y": y}, table)


@holds
def rows_of_known_probabilities():
    """A category that two of the three rows cannot give, and one that a single row cannot."""
    theta = np.array([[0.5, 0.5, 0, 0], [0, 0.2, 0.8, 0], [0.1, 0.2, 0.3, 0.4]])
    w, y = np.array([0.6, 0.3, 0.1]), np.array([0, 1, 2, 3, 3, 0])
    model = """model m { plate n; plate k = 3; plate v = 4; data w : simplex over k; data theta[k] : simplex over v;
      z[n] ~ Categorical(w); observe y[n] ~ Categorical(theta[z[n]]); }"""
    with np.errstate(divide="ignore"):
        table = np.log(w) + np.log(theta[:, y].T)
    return exact_by_choice(model, {"theta": theta, "w": w, "y": y}, table)


@holds
def sure_bits_in_mixtures():
    """A latent bit that one part of its mixture makes sure is refused. A category over what both bits can be together is the
    same model, and exact: by enumeration."""
    w, p, hit, wrong = 0.6, 0.3, 0.8, 0.1
    y = np.array([[1, 1], [0, 0], [1, 0]])
    text = f"""model m {{ plate n; plate r; z[n] ~ Bernoulli({w}); c[n] ~ mixture(z[n], Bernoulli({p}), Bernoulli(SURE));
      observe y[n, r] ~ mixture(c[n], Bernoulli({hit}), Bernoulli({wrong})); }}"""
    for sure in ("0", "1"):
        try:
            fit(text.replace("SURE", sure), {"y": y}, *PLAIN)
            return False
        except RuntimeError as e:
            if "exit 3" not in str(e) or "Categorical(stick_breaking(v))" not in str(e):
                return False
    both = f"""model m {{ plate n; plate r; plate two = 2; plate possible; const v[two]; const q[possible];
      joint[n] ~ Categorical(stick_breaking(v)); observe y[n, r] ~ Bernoulli(q[joint[n]]); }}"""
    f = fit(both, {"y": y, "v": [1 - w, 1 - p], "q": [wrong, wrong, hit]}, *PLAIN)
    likelihood = lambda q: np.prod(np.where(y, q, 1 - q), axis=1)
    sums = sum(weight * likelihood(q) for weight, q in ((1 - w, wrong), (w * (1 - p), wrong), (w * p, hit)))
    return close(f.elbo, np.log(sums).sum(), 1e-9)


@holds
def weights_of_zero():
    """A component whose known weight is 0."""
    w, mean, x = np.array([0, 0.7, 0.3]), np.array([-1, 0, 2.0]), np.array([-1.2, 0.3, 2.5])
    model = """model m { plate n; plate k = 3; data w : simplex over k; data mean[k] : real; z[n] ~ Categorical(w);
      observe x[n] ~ Normal(mean = mean[z[n]], sd = 1); }"""
    with np.errstate(divide="ignore"):
        table = np.log(w) - 0.5 * (x[:, None] - mean) ** 2 - 0.5 * np.log(2 * np.pi)
    return exact_by_choice(model, {"w": w, "mean": mean, "x": x}, table)


@holds
def totals_of_several_counts():
    """The total of a row tells the component, or leaves two of them."""
    n, w, q = np.array([3, 5, 3]), np.array([0.2, 0.5, 0.3]), np.array([[0.2, 0.8], [0.5, 0.5], [0.9, 0.1]])
    y = np.array([[1, 2], [5, 0], [3, 0], [2, 3]])
    model = """model m { plate n; plate k = 3; plate v = 2; data w : simplex over k; data total[k] : count;
      data q[k] : simplex over v; z[n] ~ Categorical(w); observe y[n] ~ Multinomial(total[z[n]], q[z[n]]); }"""
    s = y.sum(axis=1)
    table = np.log(w) + np.where(s[:, None] == n, gammaln(s + 1)[:, None] - gammaln(y + 1).sum(axis=1)[:, None] + y @ np.log(q).T,
                                 -np.inf)
    return exact_by_choice(model, {"w": w, "total": n, "q": q, "y": y}, table)


@holds
def exposures_of_zero():
    """A state without exposure makes zeros alone."""
    e, w, y = np.array([0, 1, 4.0]), np.array([0.5, 0.3, 0.2]), np.array([0, 0, 2, 7])
    model = """model m { plate n; plate k = 3; data w : simplex over k; data e[k] : real; z[n] ~ Categorical(w);
      observe y[n] ~ Poisson(e[z[n]] * 1.5); }"""
    return exact_by_choice(model, {"w": w, "e": e, "y": y}, np.log(w) + poisson.logpmf(y[:, None], 1.5 * e))


@holds
def a_chain_that_only_goes_on():
    """States that are never left for those before, with sizes of their own: against the forward recursion."""
    A = np.array([[0.7, 0.3, 0], [0, 0.6, 0.4], [0, 0, 1.0]])
    size, y = np.array([2, 4, 9]), np.array([1, 2, 2, 3, 1, 4, 7, 2])
    model = """model m { plate t ordered; plate k = 3; data A[k] : simplex over k; data first : simplex over k; data size[k] : count;
      z[t] ~ Categorical(A[z[t-1]]) start Categorical(first); observe y[t] ~ Binomial(size[z[t]], 0.5); }"""
    first = np.array([1.0, 0, 0])
    f = fit(model, {"A": A, "first": first, "size": size, "y": y}, *PLAIN)
    alpha = first * binom.pmf(y[0], size, 0.5)
    for v in y[1:]:
        alpha = (alpha @ A) * binom.pmf(v, size, 0.5)
    return finite(f) and close(f.elbo, np.log(alpha.sum()), 1e-9)


def moments_by_sums(y, size, log_prior):
    """Of p ~ Beta(a, b), by all choices: p's mean and sd; log_prior: of the choices."""
    log_terms = []
    for z in itertools.product(range(len(size)), repeat=len(y)):
        n = size[list(z)]
        if np.any(n < y):
            continue
        choose = (gammaln(n + 1) - gammaln(y + 1) - gammaln(n - y + 1)).sum()
        log_terms.append((log_prior(z) + choose, y.sum(), (n - y).sum()))
    t = np.array(log_terms)
    log_p = t[:, :1] + t[:, 1:2] * np.log(GRID) + t[:, 2:] * np.log1p(-GRID)
    return logsumexp(log_p, axis=0)


def is_near_in_draws(f, name, density):
    density = np.exp(density - density.max())
    density /= density.sum()
    mean = density @ GRID
    sd = np.sqrt(density @ (GRID - mean) ** 2)
    ok = abs(f.posterior[name + ".mean"] - mean) < 0.05 * sd + 0.002
    return ok or print(name, f.posterior[name + ".mean"], mean, sd)


@holds
def sizes_and_weights_to_infer():
    """Three sizes of which the data rule some out, weights and the chance of a success latent: draws against all choices."""
    size, y = np.array([2, 5, 8]), np.array([0, 1, 2, 3, 4, 5, 1, 2, 7])
    model = """model m { plate n; plate k = 3; data size[k] : count; pi ~ Dirichlet(concentration = 1) over k; p ~ Beta(1, 1);
      z[n] ~ Categorical(pi); observe y[n] ~ Binomial(size[z[n]], p); }"""
    log_prior = lambda z: gammaln(np.bincount(z, minlength=3) + 1).sum()
    density = moments_by_sums(y, size, log_prior)
    data = {"size": size, "y": y}
    f = fit(model, data, *PLAIN)
    bound = logsumexp(density) - np.log(len(GRID)) + gammaln(3) - gammaln(len(y) + 3)
    z = f.posterior["z.probs"]
    ruled_out = z[y[:, None] > size]
    return (finite(f) and bound - 3 < f.elbo < bound and not ruled_out.any()
            and is_near_in_draws(fit(model, data, *GIBBS, monotone=False), "p", density))


@holds
def a_first_part_that_cannot():
    """y = 5 is none of three trials, but may be of six: by quadrature."""
    y = np.array([5, 1, 2, 0, 3, 4, 2, 1])
    model = "model m { plate n; w ~ Beta(1, 1); p ~ Beta(5, 5); observe y[n] ~ mixture(w, Binomial(3, p), Binomial(6, p)); }"
    w, p = GRID[::10, None, None], GRID[None, ::10, None]
    parts = np.log(w * binom.pmf(y, 3, p) + (1 - w) * binom.pmf(y, 6, p)).sum(axis=2) + log_beta_pdf(p[..., 0], 5, 5)
    weight = np.exp(parts - parts.max())
    weight /= weight.sum()
    bound = logsumexp(parts) - 2 * np.log(parts.shape[0])
    f, g = fit(model, {"y": y}, *PLAIN), fit(model, {"y": y}, *GIBBS, monotone=False)
    want = [(weight.sum(axis=1) @ GRID[::10]), (weight.sum(axis=0) @ GRID[::10])]
    got = [g.posterior["w.mean"], g.posterior["p.mean"]]
    return finite(f) and bound - 2 < f.elbo < bound and close(got, want, 0.02)


@holds
def a_part_of_another_family():
    """A count that a Binomial cannot have made, beside a Poisson."""
    y = np.array([0, 1, 2, 7, 1])
    model = "model m { plate n; p ~ Beta(2, 2); observe y[n] ~ mixture(0.6, Binomial(2, p), Poisson(4)); }"
    density = np.log(0.6 * binom.pmf(y, 2, GRID[:, None]) + 0.4 * poisson.pmf(y, 4)).sum(axis=1) + log_beta_pdf(GRID, 2, 2)
    f = fit(model, {"y": y}, *PLAIN)
    return finite(f) and f.elbo < logsumexp(density) - np.log(len(GRID)) and is_near_in_draws(fit(model, {"y": y}, *GIBBS, monotone=False), "p", density)


@holds
def compound_counts():
    """Beta-binomial counts of chosen sizes."""
    size, w, y = np.array([2, 6, 9]), np.array([0.3, 0.3, 0.4]), np.array([1, 4, 8, 2])
    model = """model m { plate n; plate k = 3; data w : simplex over k; data size[k] : count; z[n] ~ Categorical(w);
      observe y[n] ~ BetaBinomial(size[z[n]], 2, 3); }"""
    n, v = size[None, :], y[:, None]
    with np.errstate(invalid="ignore"):
        log_pmf = gammaln(n + 1) - gammaln(v + 1) - gammaln(n - v + 1) + betaln(v + 2, n - v + 3) - betaln(2, 3)
    table = np.log(w) + np.where(v <= n, log_pmf, -np.inf)
    want = np.exp(table - logsumexp(table, axis=1, keepdims=True)) @ np.arange(3)
    f = fit(model, {"w": w, "size": size, "y": y}, *PLAIN)
    g = fit(model, {"w": w, "size": size, "y": y}, *GIBBS, monotone=False)
    return finite(f) and not f.posterior["z.probs"][v > n].any() and close(g.posterior["z.mean"], want, 0.03)


@holds
def product_of_two_chances():
    """A click needs both: examined, and attractive. By quadrature."""
    c = np.array([1, 0, 0, 1, 0, 0, 0, 1, 0, 0])
    model = """model m { plate n; gamma ~ Beta(4, 2); alpha ~ Beta(2, 3); observe c[n] ~ Bernoulli(gamma * alpha); }"""
    g, a = GRID[::10, None], GRID[None, ::10]
    log_p = log_beta_pdf(g, 4, 2) + log_beta_pdf(a, 2, 3) + c.sum() * np.log(g * a) + (1 - c).sum() * np.log1p(-g * a)
    weight = np.exp(log_p - log_p.max())
    weight /= weight.sum()
    f, d = fit(model, {"c": c}, *PLAIN), fit(model, {"c": c}, *GIBBS, monotone=False)
    bound = logsumexp(log_p) - 2 * np.log(len(a[0]))
    want = [weight.sum(axis=1) @ g[:, 0], weight.sum(axis=0) @ a[0]]
    return finite(f) and bound - 1 < f.elbo < bound and close([d.posterior["gamma.mean"], d.posterior["alpha.mean"]], want, 0.02)


@holds
def products_with_bits_and_known_shares():
    """A bit, its complement, or a number of data times a probability or a rate. By quadrature; spelt as the mixture, the ELBO is the same."""
    detected = np.array([[1, 0, 1], [0, 0, 0], [0, 1, 0], [0, 0, 0], [1, 1, 1]])
    counts, trials = np.array([3, 0, 0, 2, 0, 4]), np.array([1, 0, 0, 1, 0, 1, 1])
    share = np.array([0.9, 0.5, 0.7, 0.8, 0.2, 0.6, 1])
    p, w, rate = GRID[::10, None], GRID[None, ::10], (np.arange(1000)[:, None] + 0.5) / 80
    none = ~detected.any(axis=1)
    seen = np.array([np.prod(np.where(row > 0, p, 1 - p), axis=1) for row in detected])[..., None]  # by row and p
    head = "model m {{ plate n; plate k; psi ~ Beta(1, 1); p ~ {}; z[n] ~ Bernoulli(psi); observe y[n{}] ~ {}; }}"
    never = none[:, None, None]
    cases = [
        ("Beta(1, 1)", ", k", "Bernoulli(z[n] * p)", "mixture(z[n], Bernoulli(p), Bernoulli(0))", detected,
         np.log(w * seen + (1 - w) * never).sum(axis=0), p),
        ("Beta(1, 1)", ", k", "Bernoulli((1 - z[n]) * p)", "mixture(z[n], Bernoulli(0), Bernoulli(p))", detected,
         np.log((1 - w) * seen + w * never).sum(axis=0), p),
        ("Beta(1, 1)", "", "Binomial(5, p * z[n])", "mixture(z[n], Binomial(5, p), Zero())", counts,
         sum(np.log(w * binom.pmf(v, 5, p) + (1 - w) * (v == 0)) for v in counts), p),
        ("Exponential(1)", "", "Poisson(z[n] * p)", "mixture(z[n], Poisson(p), Zero())", counts,
         -rate + sum(np.log(w * poisson.pmf(v, rate) + (1 - w) * (v == 0)) for v in counts), rate)]
    for prior, axes, product, mixture, y, log_p, value in cases:
        weight = np.exp(log_p - log_p.max())
        weight /= weight.sum()
        data = {"y": y}
        texts = [head.format(prior, axes, d).replace("" if axes else "plate k; ", "") for d in (product, mixture)]
        both, drawn = [fit(t, data, *PLAIN) for t in texts], fit(texts[0], data, *GIBBS, monotone=False)
        want = [weight.sum(axis=1) @ value[:, 0], weight.sum(axis=0) @ w[0]]
        got = [drawn.posterior["p.mean"], drawn.posterior["psi.mean"]]
        print(product, got, want)
        if not (finite(both[0]) and close(both[0].elbo, both[1].elbo, 1e-12) and close(got, want, 0.02)):
            return False
    # A share that is data, and all chances of one item at once.
    known = "model m { plate n; data s[n] : real; p ~ Beta(1, 1); observe y[n] ~ Bernoulli(s[n] * p); }"
    g = GRID[::10, None]
    log_p = (trials * np.log(share * g) + (1 - trials) * np.log1p(-share * g)).sum(axis=1)
    drawn = fit(known, {"s": share, "y": trials}, *GIBBS, monotone=False)
    want = np.exp(log_p - logsumexp(log_p)) @ g[:, 0]
    over = fit(head.format("Beta(1, 1) over k", "", "Bernoulli(z[n] * p) over k"), {"y": detected}, *PLAIN)
    apart = fit(head.format("Beta(1, 1) over k", ", k", "Bernoulli(z[n] * p[k])"), {"y": detected}, *PLAIN)
    return close(drawn.posterior["p.mean"], want, 0.02) and close(over.elbo, apart.elbo, 1e-12)


@holds
def weights_of_zero():
    """A value whose only possible part has the weight 0 is named."""
    bit = "model m { plate n; data s[n] : real; p ~ Beta(1, 1); observe y[n] ~ mixture(s[n], Bernoulli(p), Bernoulli(0)); }"
    kinds = """model m { plate n; plate kind = 3; data w[n] : simplex over kind; p ~ Beta(1, 1);
      observe y[n] ~ mixture(w[n], Binomial(5, p), Zero(), Binomial(2, p)); }"""
    w = [[0.5, 0.5, 0], [0, 0.5, 0.5], [0, 0.5, 0.5]]
    for model, data, element in ((bit, {"s": [0.5, 0, 0], "y": [1, 0, 1]}, "y[2] is 1"), (kinds, {"w": w, "y": [4, 0, 4]}, "y[2] is 4"),
                                 (bit.replace("mixture(s[n], Bernoulli(p), Bernoulli(0))", "Bernoulli(s[n] * p)"), {"s": [0.5, 1, 0], "y": [1, 1, 1]},
                                  "y[2] is 1")):
        try:
            fit(model, data, *PLAIN)
        except RuntimeError as e:
            if "exit 4" in str(e) and element in str(e) and "probability 0" in str(e):
                continue
            raise
        return False
    return finite(fit(bit, {"s": [1, 1, 0], "y": [1, 0, 0]}, *PLAIN)) and finite(fit(kinds, {"w": w[1:], "y": [0, 2]}, *PLAIN))


@holds
def sure_bits():
    """Latent bits whose probability is 0 or 1, in the model or in the data: the ELBO is the evidence, and draws never move."""
    share, y = np.array([1, 0, 0.5, 1]), np.array([0, 1, 0.3, 2])
    density = norm.logpdf(y[:, None], [0, 1], 1)
    model = "model m { plate n; data s[n] : real; z[n] ~ Bernoulli(s[n]); observe y[n] ~ Normal(mean = z[n], sd = 1); }"
    literal = model.replace("data s[n] : real; ", "").replace("s[n]", "SHARE")
    with np.errstate(divide="ignore"):
        known = logsumexp(density + np.log(np.stack([1 - share, share], axis=1)), axis=1).sum()
    for text, data, want, z in ((model, {"s": share, "y": y}, known, [1, 0, None, 1]), (literal.replace("SHARE", "1"), {"y": y}, density[:, 1].sum(), [1] * 4),
                                (literal.replace("SHARE", "0"), {"y": y}, density[:, 0].sum(), [0] * 4)):
        f, g = fit(text, data, *PLAIN), fit(text, data, *GIBBS, monotone=False)
        sure = [k for k in range(4) if z[k] is not None]
        print(f.elbo, want)
        if not (close(f.elbo, want, 1e-12) and all(f.posterior["z.p"][k] == z[k] == g.posterior["z.mean"][k] for k in sure)):
            return False
    # As weights of a mixture.
    text = "model m { plate n; data s[n] : real; p ~ Beta(1, 1); observe y[n] ~ mixture(s[n], Bernoulli(p), Bernoulli(0.5)); }"
    f = fit(text, {"s": [0, 1, 1], "y": [0, 1, 0]}, *PLAIN)
    return close(f.elbo, np.log(0.5) - np.log(6), 1e-12) and close([f.posterior["p.a"], f.posterior["p.b"]], [2, 2], 1e-12)


@holds
def zero_as_any_part():
    """A positive count is not drawn from Zero, as the first part or the second: the ELBO is the same, and never falls."""
    y = np.array([0, 3, 0, 1, 0, 0, 5, 2, 0, 4, 0, 1])
    head = "model m { plate n; q ~ Beta(1, 2); p ~ Beta(1, 1); observe y[n] ~ "
    first = fit(head + "mixture(q, Zero(), Binomial(6, p)); }", {"y": y}, *PLAIN)
    second = fit(head.replace("Beta(1, 2)", "Beta(2, 1)") + "mixture(q, Binomial(6, p), Zero()); }", {"y": y}, *PLAIN)
    q, p = GRID[::10, None], GRID[None, ::10]
    log_p = log_beta_pdf(q, 1, 2) + log_beta_pdf(p, 1, 1)
    for v in y:
        log_p = log_p + np.log((1 - q) * binom.pmf(v, 6, p) + q * (v == 0))
    evidence = logsumexp(log_p) - 2 * np.log(len(p[0]))
    drawn = second.posterior["y.part.p"][y > 0]
    return (finite(first) and close(first.elbo, second.elbo, 1e-12) and evidence - 1 < first.elbo < evidence
            and (first.posterior["y.part.p"][y > 0] == 0).all() and (drawn == 1).all())


@holds
def links_that_round():
    """The probability of a link is not 0 or 1, though it rounds to it: of a constant as of data."""
    model = "model m { plate n; data t : real; observe x[n] ~ Bernoulli(LINK); }"
    near = True
    for link, t, want in (("probit(10)", 10, log_ndtr(-10)), ("probit(t)", 10, log_ndtr(-10)), ("logistic(800)", 0, -800),
                          ("logistic(t)", 800, -800)):
        near = near and close(fit(model.replace("LINK", link), {"x": [0, 0], "t": t}, *PLAIN).elbo, 2 * want, 1e-12)
    return near



finish()
