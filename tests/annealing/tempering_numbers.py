#!/usr/bin/env python3
"""A latent temperature by value: every temperature, ELBO and tempered objective of a run, normalisers of many unequal items
and of copies, and the numbers that warnings print; all against formulas written out with numpy."""
import re
import sys

import numpy as np
from scipy.special import digamma, logsumexp

sys.path.append(f"{sys.path[0]}/../posterior")
from by_hand import Normal, entropy_of, softmax  # noqa: E402
from fitting import finish, fit, within  # noqa: E402

LEVELS, HOTTEST = 6, 4.0
T = HOTTEST ** (np.arange(LEVELS) / (LEVELS - 1))
B = 1 / T
X = np.array([-2.1, -1.4, -2.9, 0.3, 1.8, 2.2, 2.6, 6.0])
W = np.array([0.3, 0.7])
MIXTURE = """model m { plate n; plate k = 2; data w : simplex over k; mu[k] ~ Normal(mean = 0, variance = 10);
  z[n] ~ Categorical(w); observe x[n] ~ Normal(mean = mu[z[n]], variance = 0.5); }"""
START = {"mu.mean": np.array([-1.0, 0.5]), "mu.precision": np.array([4.0, 9.0])}

same = within(rtol=1e-9, atol=1e-12)


def normaliser(b):
    """log of the integral of one point's density to the power b, its category summed out."""
    return np.log(np.sum(W**b)) + 0.5 * np.log(np.pi / b) - 0.5 * b * np.log(np.pi)


def log_joint(m, v):
    return np.log(W) - 0.5 * np.log(np.pi) - ((X[:, None] - m) ** 2 + v)


def heated(b, m, v, rho=1.0):
    """A sweep or step of the mixture: the factors of the points, then the means."""
    z = softmax(b * log_joint(m, v))
    precision = (1 - rho) / v + rho * (0.1 + 2 * b * z.sum(0))
    first = (1 - rho) * m / v + rho * 2 * b * (X @ z)
    return z, first / precision, 1 / precision


def bound(z, m, v):
    """ELBO and the energy of the data."""
    energy = np.sum(z * log_joint(m, v))
    q = Normal(m, 1 / v)
    return energy + entropy_of(z).sum() + q.prior(0.0, 0.1).sum() + q.entropy().sum(), energy


def ascent(every, T=T, spacing=""):
    """Sweeps of `--temper global`."""
    B = 1 / T
    sweeps, log_c = 7, len(X) * np.array([normaliser(b) for b in B])
    got = fit(MIXTURE, {"x": X, "w": W}, "--temper", f"global:max={HOTTEST},levels={LEVELS},every={every}{spacing}", "--max-iter", sweeps,
              init=START, monotone=False)
    r, m, v = np.full(LEVELS, 1 / LEVELS), START["mu.mean"], 1 / START["mu.precision"]
    elbos, objectives, temperatures = [], [], []
    for k in range(sweeps):
        temperatures.append(1 / (r @ B))
        z, m, v = heated(r @ B, m, v)
        value, energy = bound(z, m, v)
        if (k + 1) % every == 0:
            r = softmax(energy * B - log_c)
        elbos.append(value)
        objectives.append(value - (1 - r @ B) * energy + entropy_of(r) - np.log(LEVELS) - r @ log_c)
    same(got.trace, elbos, "ELBO")
    same(got.objectives, objectives, "tempered objective")
    same(got.temperatures, temperatures, "temperatures")
    report = got.report["tempering"]
    same(report["posterior"], r, "factor of the temperature")
    same(report["temperature"], 1 / (r @ B), "its temperature")
    same(report["log_normaliser"], log_c, "log C")
    same(report["temperatures"], T, "grid")
    same(got.posterior["mu.mean"], m, "means")
    return f"temperatures {np.round(temperatures, 3)}"


def steps():
    """Steps of svi with all points: the temperature follows the energy every second step."""
    log_c = len(X) * np.array([normaliser(b) for b in B])
    got = fit(MIXTURE, {"x": X, "w": W}, "--temper", f"global:max={HOTTEST},levels={LEVELS},every=2", "--method", "svi",
              "--batch-size", len(X), "--epochs", 5, "--tau0", 2, init=START, monotone=False)
    r, m, v, temperatures = np.full(LEVELS, 1 / LEVELS), START["mu.mean"], 1 / START["mu.precision"], []
    for k in range(5):
        temperatures.append(1 / (r @ B))
        z, m, v = heated(r @ B, m, v, (2.0 + k) ** -0.7)
        if k % 2 == 1:
            r = softmax(bound(z, m, v)[1] * B - log_c)
    same(got.temperatures, temperatures, "temperatures")
    same(got.posterior["mu.mean"], m, "means")
    same(got.elbo, bound(softmax(log_joint(m, v)), m, v)[0], "exact ELBO at temperature 1")
    return f"temperatures {np.round(temperatures, 3)}"


def many_items():
    """Five hundred points of known, different variances in equal pairs: a sample of them stands for all. Spread evenly it
    takes as many of each variance as there are, so that the sum over all is exact."""
    variances = np.repeat([0.2, 3.0, 1.0, 0.05, 7.0], 100)
    model = """model m { plate n; data s[n] : real; mu ~ Normal(mean = 0, variance = 2);
      observe x[n] ~ Normal(mean = mu, variance = s[n]); }"""
    x = np.sqrt(variances) * np.random.default_rng(1).normal(size=500)
    got = fit(model, {"x": x, "s": variances}, "--temper", "global:max=3,levels=3", "--max-iter", 2, monotone=False)
    b = np.array([1.0, 3**-0.5, 1 / 3])
    want = [np.sum(0.5 * np.log(2 * np.pi * variances / c) - 0.5 * c * np.log(2 * np.pi * variances)) for c in b]
    same(got.report["tempering"]["log_normaliser"], want, "log C")
    return f"log C {np.round(want, 4)}"


def few_unequal_items():
    """Below that number every point counts by itself."""
    variances = np.random.default_rng(2).gamma(1.0, 1.0, 150) + 0.01
    model = """model m { plate n; data s[n] : real; mu ~ Normal(mean = 0, variance = 2);
      observe x[n] ~ Normal(mean = mu, variance = s[n]); }"""
    got = fit(model, {"x": np.sqrt(variances), "s": variances}, "--temper", "global:max=3,levels=3", "--max-iter", 2,
              monotone=False)
    b = np.array([1.0, 3**-0.5, 1 / 3])
    want = [np.sum(0.5 * np.log(2 * np.pi * variances / c) - 0.5 * c * np.log(2 * np.pi * variances)) for c in b]
    same(got.report["tempering"]["log_normaliser"], want, "log C")
    return f"log C {np.round(want, 4)}"


TOPICS = """model m { plate doc; plate token in doc times count; plate topic = 2; plate term = 3;
  data beta[topic] : simplex over term;
  theta[doc] ~ Dirichlet(concentration = 2) over topic;
  z[doc, token] ~ Categorical(theta[doc]);
  observe w[doc, token] ~ Categorical(beta[z[doc, token]]); }"""


def copies(kind):
    """Words that stand for some copies, and the copies written out."""
    beta, words, counts = [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]], [[0, 2], [1, 2, 0]], [[3, 1], [2, 2, 5]]
    arguments = ["--temper", f"{kind}:max=3,levels=4", "--max-iter", 4, "--local-iters", 1]
    init = {"theta.concentration": [[3, 1], [1, 4]]}
    one = fit(TOPICS, {"w": words, "count": counts, "beta": beta}, *arguments, init=init, monotone=False)
    written_out = [np.repeat(w, c).tolist() for w, c in zip(words, counts)]
    all_of_them = fit(TOPICS.replace(" times count", ""), {"w": written_out, "beta": beta}, *arguments, init=init,
                      monotone=False)
    for what in ("trace", "objectives", "temperatures"):
        same(getattr(one, what), getattr(all_of_them, what), what)
    same(one.report["tempering"]["log_normaliser"], all_of_them.report["tempering"]["log_normaliser"], "log C")
    same(one.report["tempering"]["posterior"], all_of_them.report["tempering"]["posterior"], "factor of the temperature")
    same(one.posterior["theta.concentration"], all_of_them.posterior["theta.concentration"], "proportions")
    assert max(one.temperatures) > 1.1, "nothing was warm"
    return f"log C {one.report['tempering']['log_normaliser'][-1]:.6f}"


POINTS = """model m { plate n times count; plate k = 2; data w : simplex over k; mu[k] ~ Normal(mean = 0, variance = 10);
  z[n] ~ Categorical(w); observe x[n] ~ Normal(mean = mu[z[n]], variance = 0.5); }"""
BITS = """model m { plate n times count; plate t in n; z[n] ~ Bernoulli(0.3);
  mu ~ Normal(mean = 0, variance = 10); observe x[n, t] ~ Normal(mean = mu * z[n], variance = 1); }"""


def copied_items(kind, more=()):
    """Items that stand for some copies, with rows of their own or without, and the copies written out: each has a temperature
    of its own where items have, and they agree."""
    counts, points, rows = np.array([3, 1, 4, 2, 5, 1, 2, 1]), X, [[0.3, 2.0], [1.1], [-0.4, 0.2, 3.0], [2.5], [9.0], [0.1, 0.2]]
    again, means = np.repeat(np.arange(8), counts), []
    arguments = ["--temper", f"{kind}:max=3,levels=6", *(more or ["--max-iter", 5])]
    for model, few, all_of_them, times, data, start in [
            (POINTS, points, points[again], counts, {"w": W}, START),
            (BITS, rows, [rows[i] for i in again if i < 6], counts[:6], {}, {"mu.mean": 1.5, "mu.precision": 3.0})]:
        one = fit(model, {"x": few, "count": times, **data}, *arguments, init=start, monotone=False)
        many = fit(model.replace(" times count", ""), {"x": all_of_them, **data}, *arguments, init=start, monotone=False)
        for what in ("trace", "objectives", "temperatures"):
            same(getattr(one, what), getattr(many, what), what)
        same(one.report["tempering"]["log_normaliser"], many.report["tempering"]["log_normaliser"], "log C")
        same(one.report["tempering"]["posterior"], many.report["tempering"]["posterior"], "factor of the temperature")
        same(one.posterior["mu.mean"], many.posterior["mu.mean"], "means")
        assert max(one.temperatures) > 1.05, "nothing was warm"
        means.append(one.report["tempering"]["log_normaliser"][-1])
    want = np.sum(counts) * normaliser(1 / 3)
    if kind == "global":
        same(means[0], want, "log C of the mixture")
    return f"log C {np.round(means, 6)}"


def unequal_counts():
    """Items with as many words, which stand for more copies in one than in the other."""
    model = """model m { plate n; plate t in n times count; mu ~ Normal(mean = 0, variance = 2); z[n] ~ Bernoulli(0.3);
      observe x[n, t] ~ Normal(mean = mu * z[n], variance = 0.5); }"""
    x, counts = [[0.1, -0.3], [1.2, 0.4]], [[1, 2], [5, 3]]
    got = fit(model, {"x": x, "count": counts}, "--temper", "global:max=3,levels=3", "--max-iter", 1, monotone=False)
    b = np.array([1.0, 3**-0.5, 1 / 3])
    of_copy = 0.5 * np.log(np.pi / b) - 0.5 * b * np.log(np.pi)
    same(got.report["tempering"]["log_normaliser"], 2 * np.log(0.3**b + 0.7**b) + 11 * of_copy, "log C")
    return f"log C {got.report['tempering']['log_normaliser']}"


def warnings():
    """Half of a hundred throws are ones where nine of ten were expected: the slope of log C over 1/T, what ten sweeps give, and
    the temperature at which the run ends."""
    x = np.repeat([1, 0], 50)
    got = fit("model m { plate n; p ~ Beta(90, 10); observe x[n] ~ Bernoulli(p); }", {"x": x}, "--temper",
              "global:max=10,normaliser=prior,draws=2000", monotone=False)
    report = got.report["tempering"]
    t, log_c = np.array(report["temperatures"]), np.array(report["log_normaliser"])
    slope = (log_c[1] - log_c[0]) / (1 / t[1] - 1 / t[0])
    energy = 50 * (digamma(140.0) + digamma(60.0) - 2 * digamma(200.0))
    said = re.search(r"a log density of (\S+) nats, and ten sweeps bring these data to (\S+)", got.said)
    same([float(said[1]), float(said[2].rstrip())], [slope, energy], "numbers of the warning", 1e-5)
    ended = re.search(r"the temperature ended at (\S+) and not near 1", got.said)
    same(float(ended[1]), report["temperature"], "temperature of the warning", 0.01)
    # Where q(T) settles: the factor of the temperature and that of p are each other's optimum.
    b = 1 / np.array(report["temperatures"])
    inverse = 1 / report["temperature"]
    a0, a1 = 90 + 50 * inverse, 10 + 50 * inverse
    r = softmax(50 * (digamma(a0) + digamma(a1) - 2 * digamma(a0 + a1)) * b - log_c)
    same(inverse, r @ b, "fixed point of the temperature", 1e-4)
    same(log_c[0], 0.0, "log C(1)")
    same(logsumexp(np.log(report["posterior"])), 0.0, "sum of the factor")
    return f"{said[1]} and {said[2]} nats, T = {ended[1]}"


def data_of_the_model():
    """Twenty data sets that the models make end above temperature 1.05 and are not reported; data twice as wide are."""
    random, models = np.random.default_rng(8), {
        "normal": "model m { plate n; mu ~ Normal(mean = 0, sd = 3); tau ~ Gamma(shape = 4, rate = 4); observe x[n] ~ Normal(mean = mu, precision = tau); }",
        "mixture": """model m { plate n; plate k = 3; pi ~ Dirichlet(concentration = 3) over k; mu[k] ~ Normal(mean = 0, sd = 5);
          tau ~ Gamma(shape = 4, rate = 4); z[n] ~ Categorical(pi); observe x[n] ~ Normal(mean = mu[z[n]], precision = tau); }"""}
    warm = reported = 0
    for _ in range(10):
        normal = random.normal(random.normal(0, 3), random.gamma(4, 0.25) ** -0.5, 20)
        kind = random.choice(3, 60, p=random.dirichlet([3, 3, 3]))
        mixture = random.normal(random.normal(0, 5, 3)[kind], random.gamma(4, 0.25) ** -0.5)
        for name, x in (("normal", normal), ("mixture", mixture)):
            got = fit(models[name], {"x": x}, "--temper", "global:max=10", "--max-iter", 300, monotone=False)
            warm += got.report["tempering"]["temperature"] > 1.05
            reported += "and not near 1" in got.said
    assert warm >= 15 and reported <= 1, (warm, reported)
    fixed = models["normal"].replace("tau ~ Gamma(shape = 4, rate = 4); ", "").replace("precision = tau", "sd = 1")
    assert "and not near 1" in fit(fixed, {"x": random.normal(0, 2, 30)}, "--temper", "global:max=10", monotone=False).said
    return f"{warm} above 1.05, {reported} reported"


def within_reach():
    """The energy of the warning is that after ten sweeps from the start, where one does not settle two factors."""
    x = np.random.default_rng(5).normal(2, 1, 12)
    model = """model m { plate n; mu ~ Normal(mean = 0, precision = 0.1); tau ~ Gamma(shape = 8, rate = 0.1);
      observe x[n] ~ Normal(mean = mu, precision = tau); }"""
    m, v, shape, rate = -3.0, 0.5, 2.0, 9.0
    got = fit(model, {"x": x}, "--temper", "global:max=4,levels=5,normaliser=prior,draws=500", "--max-iter", 1, monotone=False,
              init={"mu.mean": m, "mu.precision": 1 / v, "tau.shape": shape, "tau.rate": rate})
    energies = []
    for _ in range(10):
        v = 1 / (0.1 + len(x) * shape / rate)
        m = v * shape / rate * x.sum()
        shape, rate = 8 + 0.5 * len(x), 0.1 + 0.5 * np.sum((x - m) ** 2 + v)
        energies.append(np.sum(0.5 * (digamma(shape) - np.log(2 * np.pi * rate)) - 0.5 * shape / rate * ((x - m) ** 2 + v)))
    said = re.search(r"ten sweeps bring these data to (\S+)", got.said)
    same(float(said[1].rstrip()), energies[-1], "energy within reach", 1e-5)
    assert abs(energies[0] - energies[-1]) >= 1e-3, "one sweep is as good as ten, which tests nothing"
    return f"{energies[0]:.6f} nats after one sweep, {energies[-1]:.6f} after ten"


finish({"sweeps": lambda: ascent(1), "every third sweep": lambda: ascent(3),
        "even steps of 1/T": lambda: ascent(1, 1 / np.linspace(1, 1 / HOTTEST, LEVELS), ",spacing=inverse"), "steps": steps, "many items": many_items,
        "few unequal items": few_unequal_items, "copies": lambda: copies("global"),
        "copies, items by themselves": lambda: copies("local"), "copied items": lambda: copied_items("global"),
        "copied items by themselves": lambda: copied_items("local"),
        "steps of copied items": lambda: copied_items("global", ["--method", "svi", "--batch-size", 100, "--epochs", 5]),
        "unequal counts": unequal_counts, "warnings": warnings, "data of the model": data_of_the_model,
        "within reach": within_reach})
