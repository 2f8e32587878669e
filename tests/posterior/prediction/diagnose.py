#!/usr/bin/env python3
"""`lehr diagnose` against closed forms: k-hat of ratios that numpy fits by itself, standard deviations of exact posteriors,
tail probabilities of predictive distributions.

usage: diagnose.py LEHR
"""
import json
import math
import sys

import numpy as np
from scipy import integrate, stats

sys.path.append(f"{sys.path[0]}/..")
from fitting import Folder, check, finish, read, read_json  # noqa: E402

RNG = np.random.default_rng(41)
TIGHT = ["--search", "none", "--tol", "1e-12"]


class Diagnosed(Folder):
    def __init__(self, model, data, *arguments, factorised=False):
        guide = ["--guide", "factorised"] if factorised else []
        super().__init__(model, data, *TIGHT, *guide)
        self.said = self.run("diagnose", self.at("fit"), "--data", self.at("train.json"), *map(str, arguments))
        self.json = read_json(self.at("fit/diagnosis.json"))
        self.pareto = self.json["pareto"]

    def response(self, variable):
        """Standard deviations by linear response, and those of the factors."""
        r = self.json["linear_response"][variable]
        return np.array(r["response_sd"], dtype=float), np.array(r["sd"])


def k_hat(log_ratios):
    """The profile posterior mean of Zhang & Stephens (2009) with the prior of Vehtari et al. (2024), as in their paper's
    appendix, by arrays."""
    x = np.sort(np.asarray(log_ratios) - np.max(log_ratios))
    n = len(x)
    m = int(np.ceil(min(n / 5, 3 * np.sqrt(n))))
    tail = np.exp(x[-m:]) - np.exp(x[-m - 1])
    tail = tail[tail > 0]
    size, grid = len(tail), 30 + int(np.sqrt(len(tail)))
    theta = 1 / tail[-1] + (1 - np.sqrt(grid / (np.arange(grid) + 0.5))) / (3 * tail[int(size / 4 + 0.5) - 1])
    k = np.log1p(-theta[:, None] * tail).mean(1)
    profile = size * (np.log(-theta / k) - k - 1)
    weight = np.exp(profile - profile.max())
    theta = np.sum(theta * weight) / weight.sum()
    return (size * np.log1p(-theta * tail).mean() + 5) / (size + 10)


CONJUGATE = """model m { plate n; mu ~ Normal(mean = 1, precision = 0.5); observe x[n] ~ Normal(mean = mu, precision = 2); }"""
JOINT = """model m { plate n; tau ~ Gamma(shape = 2, rate = 3); mu ~ Normal(mean = 0, precision = 0.1 * tau);
  observe x[n] ~ Normal(mean = mu, precision = tau); guide joint(mu, tau); }"""
BETA = """model m { plate n; p ~ Beta(2, 3); observe x[n] ~ Bernoulli(p); }"""
CORRELATED = """model m { plate n; data u[n] : real; data v[n] : real;
  a ~ Normal(mean = 0, precision = 1); b ~ Normal(mean = 0, precision = 1);
  observe y[n] ~ Normal(mean = a * u[n] + b * v[n], precision = 1); }"""


@check
def conjugate():
    """q is the posterior: every ratio is the evidence, which the three families give in closed form."""
    x = RNG.normal(1, 1, 20)
    for model, data, in ((CONJUGATE, x), (JOINT, x), (BETA, (x > 1).astype(int))):
        d = Diagnosed(model, {"x": data}, "--draws", 200)
        assert d.pareto["equal_ratios"] and d.pareto["k_hat"] is None, d.pareto
        assert "q is the posterior" in d.said
    s = int(np.sum(x > 1))
    evidence = math.lgamma(5) - math.lgamma(2) - math.lgamma(3) + math.lgamma(2 + s) + math.lgamma(23 - s) - math.lgamma(25)
    error = np.max(np.abs(np.array(d.pareto["log_ratios"]) - evidence))
    assert error < 1e-10, error
    return f"log ratios are the evidence to {error:.0e}"


@check
def conjugate_matrix():
    """The same of a mean and a precision matrix in one factor: every ratio is the evidence (Bishop 2006, exercise 10.20 on)."""
    from scipy.special import multigammaln
    n, d, k, df = 12, 2, 0.3, 4
    x = RNG.normal(0, 1, (n, d))
    model = f"""model m {{ plate n; plate d; Lambda ~ Wishart(df = {df}, scale = 0.5) over d;
      mu ~ MvNormal(mean = 0, precision = {k} * Lambda) over d;
      observe x[n] ~ MvNormal(mean = mu, precision = Lambda) over d; guide joint(mu, Lambda); }}"""
    got = Diagnosed(model, {"x": x}, "--draws", 100, "--most", 0)
    rate = 2 * np.eye(d)
    centre = x.mean(0)
    after = rate + (x - centre).T @ (x - centre) + k * n / (k + n) * np.outer(centre, centre)
    evidence = (-n * d / 2 * math.log(math.pi) + multigammaln((df + n) / 2, d) - multigammaln(df / 2, d)
                + df / 2 * np.linalg.slogdet(rate)[1] - (df + n) / 2 * np.linalg.slogdet(after)[1] + d / 2 * math.log(k / (k + n)))
    error = np.max(np.abs(np.array(got.pareto["log_ratios"]) - evidence))
    assert got.pareto["equal_ratios"] and error < 1e-9, (error, got.pareto)
    return f"log ratios are the evidence to {error:.0e}"


def correlated(rho, n=200):
    u = RNG.normal(0, 1, n)
    v = rho * u + math.sqrt(1 - rho**2) * RNG.normal(0, 1, n)
    return {"u": u, "v": v, "y": u - v + RNG.normal(0, 1, n)}


@check
def correlated_gaussian():
    """Mean field is narrower by the root of 1 - rho^2 in the direction that the data leave open; its ratios have a tail of
    shape near rho (the shape of p/q with q's variance 1 - rho of p's, in the open direction)."""
    data = correlated(0.97)
    d = Diagnosed(CORRELATED, data, "--draws", 2000, factorised=True)
    assert d.pareto["k_hat"] > 0.7, d.pareto["k_hat"]
    # The words of the page, which most right models meet.
    words = "means may be right" if d.pareto["k_hat"] < 1 else "means may be off, too"
    assert words in d.said and words in read("docs/checking.md"), d.said
    mine = k_hat(d.pareto["log_ratios"])
    assert abs(mine - d.pareto["k_hat"]) < 1e-9, (mine, d.pareto["k_hat"])
    # Factors with the marginal variances have ratios of shape near rho / (1 + rho).
    wider = d.pareto["linear_response"]["k_hat"]
    assert wider < 0.7 and "with the sds by linear response" in d.said, wider
    near = Diagnosed(CORRELATED, correlated(0.1), "--draws", 2000, factorised=True)
    assert near.pareto["k_hat"] < near.pareto["threshold"], near.pareto["k_hat"]
    return f"k-hat {d.pareto['k_hat']:.2f} at 0.97, {wider:.2f} with wider factors, {near.pareto['k_hat']:.2f} at 0.1"


@check
def ratios_of_mixture():
    """Categories are summed out: the largest density of the data given the weights' draw is bounded by theirs at the best
    weight, and the mean of the ratios is the evidence, which quadrature over the weight gives."""
    model = """model m { plate n; plate k = 2; pi ~ Dirichlet(concentration = 2) over k; const m0[k]; z[n] ~ Categorical(pi);
      observe x[n] ~ Normal(mean = m0[z[n]], precision = 1); }"""
    x = np.where(RNG.uniform(size=25) < 0.3, -1.0, 1.0) + RNG.normal(0, 1, 25)
    d = Diagnosed(model, {"x": x, "m0": [-1.0, 1.0]}, "--draws", 20000)
    assert d.pareto["summed_out"] == ["z"] and d.pareto["drawn"] == ["pi"]
    joint = lambda w: stats.beta.pdf(w, 2, 2) * np.prod(w * stats.norm.pdf(x, -1) + (1 - w) * stats.norm.pdf(x, 1))
    evidence = integrate.quad(joint, 0, 1, epsabs=0, epsrel=1e-10)[0]
    ratios = np.exp(np.array(d.pareto["log_ratios"]) - math.log(evidence))
    error = ratios.std() / math.sqrt(len(ratios))
    assert abs(ratios.mean() - 1) < 4.5 * error, (ratios.mean(), error)
    assert d.pareto["k_hat"] < 0.7
    return f"the mean ratio is {ratios.mean():.3f} of the evidence, its error {error:.3f}"


def within(name, got, want, most=0.1):
    off = np.max(np.abs(np.asarray(got) / np.asarray(want) - 1))
    assert off < most, f"{name}: {got} against {want}"
    return off


@check
def regression():
    """Weights apart from each other, known noise: the posterior is Normal, and linear response exact."""
    data = correlated(0.97)
    d = Diagnosed(CORRELATED, data, "--draws", 100, factorised=True)
    design = np.stack([data["u"], data["v"]], 1)
    want = np.sqrt(np.diag(np.linalg.inv(design.T @ design + np.eye(2))))
    off = 0
    for k, v in enumerate("ab"):
        response, sd = d.response(v)
        off = max(off, within(v, response, want[k], 1e-3))
        assert sd < 0.5 * want[k], "mean field is not narrow here: nothing is shown"
    return f"to {off:.0e}; the factors have {float(sd / want[1]):.2f} of it"


@check
def regression_unknown_noise():
    """Weights and constant in different factors, and the noise unknown: Student's t, from the marginal likelihood of the
    precision by quadrature."""
    n = 150
    x = RNG.normal(3, 1, (n, 2))
    y = x @ [1.0, -0.5] + 2 + RNG.normal(0, 0.7, n)
    model = """model m { plate n; plate d; data x[n] : vector over d; w ~ MvNormal(mean = 0, precision = 0.01) over d;
      b ~ Normal(mean = 0, precision = 0.01); tau ~ Gamma(shape = 1, rate = 1);
      observe y[n] ~ Normal(mean = dot(w, x[n]) + b, precision = tau); }"""
    d = Diagnosed(model, {"x": x, "y": y}, "--draws", 100, factorised=True)
    design = np.hstack([x, np.ones((n, 1))])
    taus = np.exp(np.linspace(math.log(0.5), math.log(10), 4001))
    weight, mean, square = [], [], []
    for t in taus:
        precision = t * design.T @ design + 0.01 * np.eye(3)
        m = np.linalg.solve(precision, t * design.T @ y)
        weight.append((0 + n / 2) * math.log(t) - t - 0.5 * t * y @ y + 0.5 * m @ precision @ m
                      - 0.5 * np.linalg.slogdet(precision)[1] + math.log(t))
        mean.append(m)
        square.append(np.diag(np.linalg.inv(precision)) + m**2)
    weight = np.exp(np.array(weight) - max(weight))
    weight /= weight.sum()
    mean, square = weight @ np.array(mean), weight @ np.array(square)
    want = np.sqrt(square - mean**2)
    want_tau = math.sqrt(weight @ taus**2 - (weight @ taus) ** 2)
    off = max(within("w", d.response("w")[0], want[:2]), within("b", d.response("b")[0], want[2]),
              within("tau", d.response("tau")[0], want_tau))
    assert d.response("b")[1] < 0.6 * want[2]
    return f"to {off:.3f}"


@check
def random_effects():
    """A common mean and group effects around it, known precisions: the posterior is Normal."""
    groups, each = 6, 5
    g = np.repeat(np.arange(groups), each)
    y = 3 + RNG.normal(0, 1, groups)[g] + RNG.normal(0, 0.5, groups * each)
    model = """model m { plate g; plate n; data of[n] : g; mu ~ Normal(mean = 0, precision = 0.01);
      a[g] ~ Normal(mean = 0, precision = 1); observe y[n] ~ Normal(mean = mu + a[of[n]], precision = 4); }"""
    d = Diagnosed(model, {"y": y, "of": g}, "--draws", 100, factorised=True)
    design = np.zeros((groups * each, groups + 1))
    design[:, 0] = 1
    design[np.arange(groups * each), 1 + g] = 1
    want = np.sqrt(np.diag(np.linalg.inv(4 * design.T @ design + np.diag([0.01] + [1.0] * groups))))
    off = within("mu", d.response("mu")[0], want[0])
    if "a" in d.json["linear_response"]:
        off = max(off, within("a", d.response("a")[0], want[1:]))
    assert d.response("mu")[1] < 0.7 * want[0]
    return f"to {off:.0e}"


@check
def separated_mixture():
    """Groups far apart: each is a sample of its own. Given the groups, mean and precision have a posterior that quadrature
    over the precision gives."""
    x = np.concatenate([RNG.normal(-10, 1, 30), RNG.normal(10, 2, 20)])
    model = """model m { plate n; plate k = 2; pi ~ Dirichlet(concentration = 1) over k; mu[k] ~ Normal(mean = 0, precision = 0.01);
      tau[k] ~ Gamma(shape = 2, rate = 2); z[n] ~ Categorical(pi); observe x[n] ~ Normal(mean = mu[z[n]], precision = tau[z[n]]); }"""
    d = Diagnosed(model, {"x": x}, "--draws", 200)
    first = int(d.json["linear_response"]["mu"]["mean"][0] > 0)
    off = 0
    for k, group in enumerate((x[:30], x[30:])):
        taus = np.exp(np.linspace(math.log(0.01), math.log(8), 8001))
        precision = 0.01 + len(group) * taus
        m = taus * group.sum() / precision
        weight = (2 + len(group) / 2) * np.log(taus) - 2 * taus - 0.5 * taus * (group @ group) + 0.5 * precision * m**2 - 0.5 * np.log(precision)
        weight = np.exp(weight - weight.max())
        weight /= weight.sum()
        mean = weight @ m
        want = [math.sqrt(weight @ (1 / precision + m**2) - mean**2), math.sqrt(weight @ taus**2 - (weight @ taus) ** 2)]
        for name, w in zip(("mu", "tau"), want):
            off = max(off, within(name, d.response(name)[0][k ^ first], w))
    # Groups that are known leave the weights a Dirichlet posterior.
    within("pi", d.response("pi")[0], np.full(2, stats.beta(31, 21).std()), 0.02)
    return f"to {off:.3f}"


@check
def members():
    """Two of three weights in one factor: the answer to a pull is that of the whole posterior, which is Normal. And an
    instrument: slope and confounding in one factor, the confounder of each item in another, against the curvature of the
    density without the confounders."""
    data = correlated(0.97)
    model = CORRELATED.replace("observe y[n] ~ Normal(mean = a", "c ~ Normal(mean = 0, precision = 1); guide joint(a, c);\n  observe y[n] ~ Normal(mean = c + a")
    d = Diagnosed(model, data, "--draws", 100)
    design = np.stack([data["u"], data["v"], np.ones(200)], 1)
    want = np.sqrt(np.diag(np.linalg.inv(design.T @ design + np.eye(3))))
    off = max(within(v, d.response(v)[0], w, 1e-3) for v, w in zip("abc", want))
    assert d.response("a")[1] < 0.5 * want[0]
    n = 120
    z, u = RNG.normal(0, 1, n), RNG.normal(0, 1, n)
    x = z + u + RNG.normal(0, 0.5, n)
    y = 0.5 * x + 1.5 * u + RNG.normal(0, 0.5, n)
    d = Diagnosed("""model iv { plate n; data z[n] : real; a ~ Normal(mean = 0, sd = 2); b ~ Normal(mean = 0, sd = 2);
      c ~ Normal(mean = 0, sd = 2); u[n] ~ Normal(mean = 0, sd = 1); observe x[n] ~ Normal(mean = a * z[n] + u[n], sd = 0.5);
      observe y[n] ~ Normal(mean = b * a * z[n] + b * u[n] + c * u[n], sd = 0.5); guide joint(b, c); }""",
                  {"z": z, "x": x, "y": y}, "--draws", 100)
    response, sd = d.response("b")
    # The confounders integrated out: (x, y) is Normal about (a z, b a z).
    def log_p(a, b, c):
        v, k = 0.25 + 1, b + c
        w, r = 0.25 + k * k, k
        det = v * w - r * r
        e, f = x - a * z, y - b * a * z
        return -0.5 * n * math.log(det) - 0.5 * np.sum(w * e * e - 2 * r * e * f + v * f * f) / det - (a * a + b * b + c * c) / 8
    from scipy import optimize
    top = optimize.minimize(lambda t: -log_p(*t), [1, 0.5, 1.5], method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-10, "maxiter": 5000}).x
    h, e = 1e-4, np.eye(3) * 1e-4
    hessian = [[-(log_p(*(top + e[i] + e[j])) - log_p(*(top + e[i] - e[j])) - log_p(*(top - e[i] + e[j])) + log_p(*(top - e[i] - e[j])))
                / (4 * h * h) for j in range(3)] for i in range(3)]
    want_b = math.sqrt(np.linalg.inv(hessian)[1, 1])
    within("slope", response, want_b, 0.1)
    assert sd < 0.5 * want_b, (sd, want_b)
    return f"to {off:.0e}; of the slope {float(response / want_b):.2f}, the factor has {float(sd / want_b):.2f}"


@check
def probabilities():
    """Weights of a mixture of known components: categories know nothing of the weights' error, a pull does. Beta by
    quadrature, Dirichlet on a grid."""
    x = np.where(RNG.uniform(size=200) < 0.3, -1.0, 1.0) + RNG.normal(0, 1, 200)
    model = """model m { plate n; p ~ Beta(2, 2); z[n] ~ Bernoulli(p); observe x[n] ~ Normal(mean = 2 * z[n] - 1, sd = 1); }"""
    d = Diagnosed(model, {"x": x}, "--draws", 100)
    p = np.linspace(0, 1, 4001)[1:-1]
    log_p = np.log(p) + np.log1p(-p) + np.sum(np.log(p[:, None] * stats.norm.pdf(x, 1) + (1 - p[:, None]) * stats.norm.pdf(x, -1)), 1)
    weight = np.exp(log_p - log_p.max())
    weight /= weight.sum()
    want = math.sqrt(weight @ p**2 - (weight @ p) ** 2)
    response, sd = d.response("p")
    off = within("p", response, want, 0.03)
    assert sd < 0.85 * want, (sd, want)
    centres = np.array([-2.0, 0.0, 2.0])
    x = centres[RNG.choice(3, 150, p=[0.2, 0.3, 0.5])] + RNG.normal(0, 1, 150)
    d = Diagnosed("""model m { plate n; plate k = 3; const m0[k]; pi ~ Dirichlet(concentration = 2) over k; z[n] ~ Categorical(pi);
      observe x[n] ~ Normal(mean = m0[z[n]], sd = 1); }""", {"x": x, "m0": centres}, "--draws", 100)
    a, b = np.meshgrid(np.linspace(0, 1, 202)[1:-1], np.linspace(0, 1, 202)[1:-1], indexing="ij")
    keep = a + b < 0.999
    w = np.stack([a[keep], b[keep], 1 - a[keep] - b[keep]], 1)
    log_p = np.log(w).sum(1) + np.log(w @ stats.norm.pdf(x[:, None], centres).T).sum(1)
    weight = np.exp(log_p - log_p.max())
    weight /= weight.sum()
    want = np.sqrt(weight @ w**2 - (weight @ w) ** 2)
    response, sd = d.response("pi")
    off = max(off, within("pi", response, want, 0.05))
    assert np.all(sd < 0.9 * want), (sd, want)
    return f"to {off:.3f}"


@check
def scales():
    """A variance by the inverse Gamma, a precision matrix by the Wishart, each beside its mean in a factor of its own."""
    x = RNG.normal(3, 2, 12)
    d = Diagnosed("""model m { plate n; v ~ InverseGamma(shape = 4, scale = 8); mu ~ Normal(mean = 0, precision = 0.01);
      observe x[n] ~ Normal(mean = mu, variance = v); }""", {"x": x}, "--draws", 100)
    v = np.exp(np.linspace(math.log(0.2), math.log(60), 8001))
    precision = 0.01 + len(x) / v
    m = x.sum() / v / precision
    log_p = -4 * np.log(v) - 8 / v - len(x) / 2 * np.log(v) - 0.5 * (x @ x) / v + 0.5 * precision * m**2 - 0.5 * np.log(precision)
    weight = np.exp(log_p - log_p.max())
    weight /= weight.sum()
    off = within("v", d.response("v")[0], math.sqrt(weight @ v**2 - (weight @ v) ** 2), 0.05)
    x = RNG.normal(0, 1, (20, 2)) @ np.array([[1, 0.6], [0, 0.5]])
    d = Diagnosed("""model m { plate n; plate d; Lambda ~ Wishart(df = 3, scale = 1) over d; mu ~ MvNormal(mean = 0, precision = 1e-6) over d;
      observe x[n] ~ MvNormal(mean = mu, precision = Lambda); }""", {"x": x}, "--draws", 100)
    # With a flat mean the precision is Wishart, of one degree less than its factor has.
    centred = x - x.mean(0)
    scale, df = np.linalg.inv(np.eye(2) + centred.T @ centred), 3 + 19
    want = np.sqrt(df * (scale**2 + np.outer(np.diag(scale), np.diag(scale))))
    off = max(off, within("Lambda", d.response("Lambda")[0].reshape(2, 2), want, 0.05))
    x = np.random.default_rng(7).normal(0, 1, (60, 2)) @ np.array([[1, 0.6], [0, 0.5]])
    d = Diagnosed("""model m { plate n; plate d; S ~ InverseWishart(df = 3, scale = 1) over d; mu ~ MvNormal(mean = 0, precision = 1e-6) over d;
      observe x[n] ~ MvNormal(mean = mu, covariance = S); }""", {"x": x}, "--draws", 100)
    centred = x - x.mean(0)
    scale, df = np.eye(2) + centred.T @ centred, 3 + 59
    square = (df - 1) * scale**2 + (df - 3) * np.outer(np.diag(scale), np.diag(scale))
    want = np.sqrt(square / ((df - 2) * (df - 3) ** 2 * (df - 5)))
    off = max(off, within("S", d.response("S")[0].reshape(2, 2), want, 0.02))
    return f"to {off:.3f}"


@check
def links():
    """Bounds and auxiliary numbers of links: the standard deviations of the factors are too small, those by a pull are the
    posterior's, on a grid."""
    n = 60
    x = RNG.normal(0, 1, n)
    y = (RNG.normal(0, 1, n) < 0.3 + 0.8 * x).astype(int)
    a, b = np.meshgrid(np.linspace(-1, 1.6, 161), np.linspace(-0.4, 3, 161), indexing="ij")
    def grid(log_likelihood, variance=4):
        log_p = log_likelihood - (a * a + b * b) / (2 * variance)
        p = np.exp(log_p - log_p.max())
        p /= p.sum()
        return [math.sqrt((p * v * v).sum() - (p * v).sum() ** 2) for v in (a, b)]
    e = a[..., None] + b[..., None] * x
    sign = 2 * y - 1
    head = "model m { plate n; data x[n] : real; a ~ Normal(mean = 0, sd = 2); b ~ Normal(mean = 0, sd = 2); "
    said = []
    for link, log_p in (("probit", stats.norm.logcdf(sign * e).sum(-1)), ("logistic", -np.log1p(np.exp(-sign * e)).sum(-1))):
        d = Diagnosed(head + f"observe y[n] ~ Bernoulli({link}(a + b * x[n])); }}", {"x": x, "y": y}, "--draws", 100, factorised=True)
        want, off = grid(log_p), 0
        for v, w in zip("ab", want):
            response, sd = d.response(v)
            assert sd < 0.93 * w, (link, v, sd, w)
            off = max(off, within(f"{link} {v}", response, w, 0.12))
        said.append(f"{link} to {off:.2f}")
    d = Diagnosed("""model m { plate n; plate k = 2; plate j = 2; data u[n] : vector over j; W[k] ~ MvNormal(mean = 0, precision = 0.25) over j;
      observe y[n] ~ Categorical(softmax(W * u[n])); }""",
                  {"u": np.stack([np.ones(n), x], 1), "y": y}, "--draws", 100, factorised=True)
    response, sd = d.response("W")
    # The likelihood is that of the logistic link of their difference; their sum has its prior.
    difference = np.array(grid(-np.log1p(np.exp(-sign * e)).sum(-1), 8))
    want = np.tile(np.sqrt((difference**2 + 8) / 4), 2)
    assert np.all(sd < 0.95 * want), (sd, want)
    said.append(f"softmax to {within('softmax', response, want, 0.05):.2f}")
    return ", ".join(said)


@check
def most():
    """With fewer numbers allowed than the variables have, there is no linear response, and the reason says so."""
    d = Diagnosed(CORRELATED, correlated(0.5), "--draws", 100, "--most", 1, factorised=True)
    assert d.json["linear_response"] == {} and "2 numbers" in d.json["why_no_response"], d.json["why_no_response"]
    assert Diagnosed(CORRELATED, correlated(0.5), "--draws", 100, "--most", 2, factorised=True).response("a")[0] > 0
    none = Diagnosed(CORRELATED, correlated(0.5), "--draws", 100, "--most", 0, factorised=True).json
    assert none["linear_response"] == {} and none["why_no_response"]
    return "2 of 2"


@check
def predictive():
    """Under a Normal factor of the mean and known precision the replicated mean is Normal, the largest value has a known
    distribution function given the mean: probabilities by quadrature."""
    x = RNG.normal(0, 1, 15)
    x[3] = 6.0
    d = Diagnosed(CONJUGATE, {"x": x}, "--draws", 100, "--replicates", 4000)
    got = {c["statistic"]: c for c in d.json["predictive_checks"]}
    precision = 0.5 + 2 * len(x)
    mean, sd = (0.5 + 2 * x.sum()) / precision, precision**-0.5
    noise = 0.5**0.5
    want = {"mean": stats.norm.sf(x.mean(), mean, math.hypot(sd, noise / math.sqrt(len(x))))}
    over = lambda f: integrate.quad(lambda t: stats.norm.pdf(t) * f(mean + sd * t), -8, 8)[0]
    want["max"] = over(lambda m: 1 - stats.norm.cdf(x.max(), m, noise) ** len(x))
    want["min"] = over(lambda m: stats.norm.sf(x.min(), m, noise) ** len(x))
    want["sd"] = stats.chi2.sf((len(x) - 1) * x.var(ddof=1) * 2, len(x) - 1)
    for name, p in want.items():
        error = math.sqrt(max(p * (1 - p), 1e-4) / 4000)
        assert abs(got[name]["p"] - p) < 4.5 * error, (name, got[name]["p"], p)
        assert math.isclose(got[name]["observed"], {"mean": x.mean(), "max": x.max(), "min": x.min(), "sd": x.std(ddof=1)}[name])
    assert got["max"]["p"] < 0.01
    return ", ".join(f"{k} {got[k]['p']:.3f} for {v:.3f}" for k, v in want.items())


@check
def zeros():
    """Counts with more zeros than a Poisson has: Gamma-Poisson, the share of zeros by draws of numpy."""
    x = np.concatenate([np.zeros(20, int), 1 + RNG.poisson(3, 20)])
    d = Diagnosed("""model m { plate n; r ~ Gamma(shape = 1, rate = 1); observe x[n] ~ Poisson(r); }""", {"x": x}, "--replicates", 2000)
    every = {c["statistic"]: c for c in d.json["predictive_checks"]}
    # Most replicated data have a zero, as these have: equal values count one half.
    assert abs(every["min"]["p"] - 0.5) < 0.02, every["min"]
    got = every["zeros"]
    rates = RNG.gamma(1 + x.sum(), 1 / (1 + len(x)), 20000)
    share = np.mean(RNG.poisson(rates[:, None], (20000, len(x))) == 0, axis=1)
    assert got["observed"] == 0.5 and got["p"] < 0.01
    assert abs(got["mean"] - share.mean()) < 5 * share.std() / math.sqrt(2000), (got, share.mean())
    assert d.pareto["equal_ratios"]
    return f"observed 0.5, replicated {got['mean']:.3f} against {share.mean():.3f}"


@check
def outliers():
    """Replicates of an outlier draw the weight of Student's t anew: the largest of 20 is that of 20 draws."""
    y = np.append(stats.t.ppf((np.arange(19) + 0.5) / 19, 3), 30)
    d = Diagnosed("model m { plate n; mu ~ Normal(mean = 0, sd = 1e-3); observe y[n] ~ StudentT(df = 3, mean = mu, sd = 1); }", {"y": y},
                  "--replicates", 4000)
    got, want = {c["statistic"]: c for c in d.json["predictive_checks"]}["max"], 1 - stats.t.cdf(30, 3) ** 20
    assert abs(got["p"] - want) < 4.5 * math.sqrt(want / 4000), (got, want)
    return f"{got['p']:.4f} for {want:.4f}"


@check
def far():
    """Data far from zero are diagnosed as centred ones are: the same closed forms."""
    c = 1e8
    x = np.round(c + RNG.normal(0, 1, 20), 6)
    d = Diagnosed(CONJUGATE.replace("mean = 1", f"mean = {c + 1}"), {"x": x}, "--replicates", 1000)
    assert d.pareto["equal_ratios"], d.pareto["k_hat"]
    within("mu", d.response("mu")[0], 40.5**-0.5, 1e-3)
    got = {s["statistic"]: s for s in d.json["predictive_checks"]}
    assert abs(got["mean"]["mean"] - x.mean()) < 0.2 and abs(got["sd"]["observed"] - (x - c).std(ddof=1)) < 1e-6
    return "as near ones"


@check
def known_classes():
    """Where the data have classes, these are not summed over: with all of them known but that of an empty row, q is the posterior."""
    text = """model m { plate n; plate k = 2; pi ~ Dirichlet(concentration = 1) over k; mu[k] ~ Normal(mean = 0, sd = 10);
      HOW z[n] ~ Categorical(pi); observe x[n] ~ Normal(mean = mu[z[n]], sd = 1); }"""
    z, x = [0.0] * 6 + [1.0] * 2, [0.3, -0.2, 4.9, 5.3, 0.1, 5.1, 0.2, -0.1]
    d = Diagnosed(text.replace("HOW", ""), {"z": z + [math.nan], "x": x + [math.nan]}, "--draws", 200)
    assert d.pareto["equal_ratios"], d.pareto["k_hat"]
    within("pi", d.response("pi")[0], stats.beta(7, 3).std(), 1e-3)
    # A partly known number is fixed where it is known; the rest is the exact posterior given it.
    number = """model m { plate n; u[n] ~ Normal(mean = 0, sd = 2); observe y[n] ~ Normal(mean = u[n], sd = 1); }"""
    known = Diagnosed(number, {"u": [1.0, math.nan, -2.0], "y": [2.0, 0.5, 0.0]}, "--draws", 200)
    assert known.pareto["equal_ratios"], known.pareto["k_hat"]
    return "all ratios are equal"


@check
def refusals():
    """What has no answer says so: chains have no ratios, samplers no factors."""
    y = np.cumsum(RNG.normal(0, 1, 30)) + RNG.normal(0, 1, 30)
    plain = Diagnosed("""model m { plate n; plate d; S ~ InverseWishart(df = 4, scale = 1) over d;
      m[n] ~ MvNormal(mean = 0, precision = 1) over d; observe x[n] ~ MvNormal(mean = m[n], covariance = S); }""",
                      {"x": RNG.normal(0, 1, (10, 2))}, "--draws", 100)
    assert plain.json["not_pulled"] == ["'m': a variable of items"], plain.json["not_pulled"]
    d = Diagnosed("""model m { plate t ordered; walk ~ Gamma(shape = 2, rate = 2); level[t] ~ Normal(mean = level[t-1], precision = walk)
      start Normal(mean = 0, sd = 10); observe y[t] ~ Normal(mean = level[t], precision = 1); }""", {"y": y}, "--draws", 100)
    assert "level" in d.pareto["why_not"] and d.json["linear_response"]["walk"], d.pareto
    sampled = Folder(CONJUGATE, {"x": y}, "--method", "gibbs", "--draws", "20")
    said = sampled.run("diagnose", sampled.at("fit"), "--data", sampled.at("train.json"), code=4)
    assert "sampled" in said
    other = Folder(CONJUGATE, {"x": y}, *TIGHT)
    other.bind("more", {"x": np.concatenate([y, y])})
    assert "elements" in other.run("diagnose", other.at("fit"), "--data", other.at("more.json"), code=4)
    return "each by name"


finish()
