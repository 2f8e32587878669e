#!/usr/bin/env python3
"""The tempered normaliser of links, bounds, sources, potentials, single chains and data on several plates, against sums over all
values and quadrature, written with numpy and scipy alone."""
import itertools
import sys

import numpy as np
from scipy import integrate, stats
from scipy.special import expit, gammaln, logsumexp, ndtr, softmax

sys.path.append(f"{sys.path[0]}/../posterior")
from fitting import finish, fit  # noqa: E402

T = 1.7
B = 1 / T


def normaliser(model, data, init=None, t=T):
    """log C(t) at the start."""
    got = fit(model, data, "--temper", f"global:max={t},levels=2", "--max-iter", 1, init=init, monotone=False)
    return got.report["tempering"]["log_normaliser"][1]


def same(got, want, tolerance=1e-9):
    assert abs(got - want) <= tolerance * (1 + abs(want)), f"{got!r}, not {want!r}"
    return f"log C {got:.10f}"


X = np.array([-2.0, -0.5, 0.3, 1.1, 60.0])
LINE = {"a.mean": 0.4, "a.precision": 5.0, "b.mean": 0.9, "b.precision": 7.0}
E = 0.4 + 0.9 * X
PRIORS = "a ~ Normal(mean = 0, sd = 3); b ~ Normal(mean = 0, sd = 3);"


def line(statement, *more):
    return f"model m {{ plate n; {' '.join(more)} data x[n] : real; {PRIORS} {statement} }}"


def logistic():
    """The probability at 60 rounds to 1."""
    got = normaliser(line("observe y[n] ~ Bernoulli(logistic(a + b * x[n]));"), {"x": X, "y": [0, 1, 0, 1, 1]}, LINE)
    return same(got, np.sum(np.logaddexp(B * -np.logaddexp(0, -E), B * -np.logaddexp(0, E))))


def binomial():
    n, e = np.array([3, 0, 7, 1]), E[:4]
    got = normaliser(line("observe y[n] ~ Binomial(trials[n], logistic(a + b * x[n]));", "data trials[n] : count;"),
                     {"x": X[:4], "trials": n, "y": [1, 0, 4, 1]}, LINE)
    return same(got, sum(logsumexp(B * stats.binom.logpmf(np.arange(k + 1), k, expit(v))) for k, v in zip(n, e)))


def negative_binomial():
    got = normaliser(line("observe y[n] ~ NegativeBinomial(3, logistic(a + b * x[n]));"), {"x": X[:4], "y": [1, 0, 4, 1]}, LINE)
    return same(got, sum(logsumexp(B * stats.nbinom.logpmf(np.arange(3000), 3, expit(v))) for v in E[:4]))


def multinomial_logit():
    w = np.array([[0.5, -1.0], [0.1, 0.3], [-0.7, 0.2]])
    x = np.array([[0.2, 1.0], [-1.4, 0.6]])
    model = """model m { plate n; plate k = 3; plate d; data x[n] : vector over d; W[k] ~ MvNormal(mean = 0, precision = 1) over d;
      observe y[n] ~ Categorical(softmax(W * x[n])); }"""
    init = {"W.mean": w, "W.precision": np.array([np.eye(2) * 4] * 3)}
    got = normaliser(model, {"x": x, "y": [2, 0]}, init)
    return same(got, np.sum(np.log(np.sum(softmax(x @ w.T, axis=1) ** B, axis=1))))


def ordered():
    """Rows that stand for several people who are alike."""
    cuts, times = np.array([-1.0, 0.5]), np.array([2, 1, 4, 3])
    model = line("observe y[n] ~ Categorical(ordered_logistic(a + b * x[n], c)) over level;",
                 "plate cut = 2; plate level = 3; data c[cut] : real;").replace("plate n;", "plate n times many;")
    got = normaliser(model, {"x": X[:4], "c": cuts, "many": times, "y": [0, 1, 2, 1]}, LINE)
    above = expit(E[:4, None] - cuts)
    p = -np.diff(np.hstack([np.ones((4, 1)), above, np.zeros((4, 1))]), axis=1)
    return same(got, times @ np.log(np.sum(p**B, axis=1)))


def probit():
    """The bit with the number behind it: a Normal density on both sides of 0."""
    got = normaliser(line("observe y[n] ~ Bernoulli(probit(a + b * x[n]));"), {"x": X, "y": [0, 1, 0, 1, 1]}, LINE)
    normal = integrate.quad(lambda u: stats.norm.pdf(u) ** B, -40, 40)[0]
    return same(got, len(X) * np.log(normal))


def switched_probit():
    """With a latent switch there is a bound in the place of the number, and the bit alone is tempered."""
    model = """model m { plate n; plate k = 2; data w : simplex over k; a[k] ~ Normal(mean = 0, sd = 1); z[n] ~ Categorical(w);
      observe y[n] ~ Bernoulli(probit(a[z[n]])); }"""
    a, w = np.array([0.7, -1.2]), np.array([0.3, 0.7])
    got = normaliser(model, {"w": w, "y": [0, 1, 1]}, {"a.mean": a, "a.precision": [4.0, 4.0]})
    return same(got, 3 * np.log(np.sum(w**B * (ndtr(a) ** B + ndtr(-a) ** B))))


def censored():
    """Values below the limit and the number behind one above it make up the line."""
    model = line("tau ~ Gamma(shape = 2, rate = 1); observe y[n] ~ Normal(mean = a + b * x[n], precision = tau) censored above end[n];",
                 "data end[n] : real;")
    got = normaliser(model, {"x": X[:3], "y": [0.1, 0.5, 2.0], "end": [1.0, 1.0, 1.5]}, {**LINE, "tau.shape": 3.0, "tau.rate": 2.0})
    normal = integrate.quad(lambda u: stats.norm.pdf(u, scale=1.5**-0.5) ** B, -40, 40)[0]
    return same(got, 3 * np.log(normal))


def absolute():
    model = line("s ~ InverseGamma(shape = 3, scale = 2); observe y[n] ~ Laplace(mean = a + b * x[n], scale = s);")
    got = normaliser(model, {"x": X[:3], "y": [0.1, 0.5, 2.0]}, {**LINE, "s.shape": 5.0, "s.scale": 6.0})
    laplace = 2 * integrate.quad(lambda u: stats.laplace.pdf(u, scale=6 / 4) ** B, 0, 400)[0]
    return same(got, 3 * np.log(laplace))


def sources():
    """Counts with the source of each: over the counts of the sources, of which every order is one joint state."""
    model = """model m { plate n; plate k = 2; data e[n] : real; r[k] ~ Gamma(shape = 1, rate = 1); c ~ Gamma(shape = 1, rate = 1);
      observe y[n] ~ Poisson(e[n] * (c + sum(k) r[k])); }"""
    e = np.array([0.6, 1.5])
    m = e[:, None] * np.array([0.5, 2.0, 0.8])
    init = {"c.shape": 1.0, "c.rate": 2.0, "r.shape": [4.0, 4.0], "r.rate": [2.0, 5.0]}
    got = normaliser(model, {"e": e, "y": [2, 5]}, init)
    x = np.indices((70, 70, 70)).reshape(3, -1)
    total = x.sum(axis=0)
    want = 0
    for rates in m:
        log_p = np.log(rates) @ x - rates.sum() - gammaln(total + 1)
        want += logsumexp(B * log_p + gammaln(total + 1) - gammaln(x + 1).sum(axis=0))
    hot = normaliser(model, {"e": [900.0, 4000.0], "y": [2000, 9000]}, init, t=9.0)
    b, want_hot = 1 / 9.0, 0
    for scale in (900.0, 4000.0):  # terms of the sum over counts, in steps much smaller than its width
        rates = scale * np.array([0.5, 2.0, 0.8])
        log_sum = np.log(np.sum(rates**b))
        y = np.arange(0, 4e8, 2000.0)
        want_hot += np.log(2000.0) + logsumexp(y * log_sum - b * gammaln(y + 1) - b * rates.sum())
    same(hot, want_hot, 1e-6)
    return same(got, want)


def mixed_probabilities():
    """Words from a sum of topics, with the topic of each."""
    beta, theta = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]), np.array([2.0, 3.0])
    model = """model m { plate n; plate topic = 2; plate term = 3; data beta[topic] : simplex over term; data theta : simplex over topic;
      s[topic] ~ Beta(2, 2); observe w[n] ~ Categorical(sum(topic) s[topic] * theta[topic] * beta[topic]); }"""
    try:
        got = normaliser(model, {"beta": beta, "theta": theta / 5, "w": [0, 2, 1]}, {"s.a": [2.0, 3.0], "s.b": [4.0, 1.0]})
    except RuntimeError as refused:
        return f"not a model: {str(refused)[:100]}"
    m = np.array([1 / 3, 3 / 4]) * theta / 5
    return same(got, 3 * np.log(np.sum((m[:, None] * beta) ** B)))


def concentrations():
    """Concentrations that are learned belong to the prior of the proportions, which is not tempered."""
    model = """model m { plate n; data trials[n] : count; a ~ Gamma(shape = 1, rate = 0.1); b ~ Gamma(shape = 1, rate = 0.1);
      observe y[n] ~ BetaBinomial(n = trials[n], a = a, b = b); guide point(a, b); }"""
    init = {"y.p.a": [2.0, 5.0], "y.p.b": [3.0, 4.0], "a.value": 2.0, "b.value": 3.0}
    got = fit(model, {"trials": [4, 9], "y": [1, 7]}, "--temper", f"global:max={T},levels=2", "--max-iter", 1, init=init, monotone=False)
    p = [2 / 5, 5 / 9]
    want = sum(logsumexp(B * stats.binom.logpmf(np.arange(k + 1), k, q)) for k, q in zip((4, 9), p))
    return same(got.report["tempering"]["log_normaliser"][1], want)


def many_counts():
    """Counts of categories whose learned concentrations are given: small sums, and one that takes an integral over frequencies."""
    model = """model m { plate n; plate k = 3; alpha ~ Gamma(shape = 1, rate = 0.1) over k; observe x[n] ~ DirichletMultinomial(alpha) over k;
      guide point(alpha); }"""
    x = np.array([[3, 0, 2], [900, 700, 1400]])
    init = {"x.p.concentration": [[2.0, 3.0, 5.0], [30.0, 20.0, 50.0]], "alpha.value": [1.0, 2.0, 3.0]}
    got = normaliser(model, {"x": x}, init)
    want = 0
    for n, p in ((5, [0.2, 0.3, 0.5]), (3000, [0.3, 0.2, 0.5])):
        count = np.arange(n + 1.0)
        rest, first, second = (B * (count * np.log(q) - gammaln(count + 1)) for q in p)
        two = [logsumexp(rest[: k + 1] + first[k::-1]) for k in range(n + 1)]
        want += B * gammaln(n + 1) + logsumexp(np.array(two) + second[::-1])
    return same(got, want)


def spins():
    """A field and couplings of both signs on a ring with a chord, seen through noise, over all states."""
    edges, j = np.array([[0, 1], [1, 2], [2, 3], [3, 4], [4, 0], [0, 2]]), np.array([0.9, -0.4, 1.3, 0.2, -0.8, 0.5])
    model = """model m { plate site; plate edge; data a[edge] : site; data b[edge] : site; data J[edge] : real; data h[site] : real;
      tau ~ Gamma(shape = 2, rate = 1); s[site] ~ Spin(); observe y[site] ~ Normal(mean = s[site], precision = tau);
      potential[edge] J[edge] * s[a[edge]] * s[b[edge]]; potential[site] h[site] * s[site]; }"""
    h = np.array([0.3, -0.2, 0.0, 0.7, -1.0])
    got = normaliser(model, {"a": edges[:, 0], "b": edges[:, 1], "J": j, "h": h, "y": [1.0, -1, 1, 1, 0]},
                     {"tau.shape": 3.0, "tau.rate": 2.0})
    s = np.array(list(itertools.product([-1, 1], repeat=5)))
    energy = (s[:, edges[:, 0]] * s[:, edges[:, 1]]) @ j + s @ h - 5 * np.log(2)
    normal = integrate.quad(lambda u: stats.norm.pdf(u, scale=1.5**-0.5) ** B, -40, 40)[0]
    return same(got, logsumexp(B * energy) + 5 * np.log(normal))


def lattice():
    """A lattice of eight times eight spins without data, against the product of its transfer matrices. Its uniform prior is no
    part of the energy, since it is constant."""
    n, j = 8, 0.45
    site = np.arange(n * n).reshape(n, n)
    a = np.concatenate([site[:, :-1].ravel(), site[:-1].ravel()])
    b = np.concatenate([site[:, 1:].ravel(), site[1:].ravel()])
    model = f"""model m {{ plate site; plate edge; data a[edge] : site; data b[edge] : site; s[site] ~ Spin();
      potential[edge] {j} * s[a[edge]] * s[b[edge]]; }}"""
    got = normaliser(model, {"a": a, "b": b})
    s = np.array(list(itertools.product([-1, 1], repeat=n)))
    row = B * j * np.sum(s[:, 1:] * s[:, :-1], axis=1)
    between, log_z = B * j * s @ s.T, row
    for _ in range(n - 1):
        log_z = row + logsumexp(between + log_z[None, :], axis=1)
    return same(got, logsumexp(log_z))


def paths(transitions, emissions, length, start, order=1):
    """log of the sum over all paths of tempered transitions times the sum of each tempered emission."""
    k, total = len(start), []
    for s in itertools.product(range(k), repeat=length):
        log_p = sum(B * np.log(start[s[t]]) for t in range(order))
        log_p += sum(B * np.log(transitions[s[t - order : t]][s[t]]) for t in range(order, length))
        total.append(log_p + sum(emissions[x] for x in s))
    return logsumexp(total)


def single_chain():
    """One sequence: its states connect all items."""
    a, rate = np.array([[0.9, 0.1], [0.3, 0.7]]), [2.0, 9.0]
    model = """model m { plate t ordered; plate k = 2; data A[k] : simplex over k; data rate[k] : real;
      c ~ Normal(mean = 0, sd = 1); s[t] ~ Categorical(A[s[t-1]]) start Categorical(0.5); observe x[t] ~ Poisson(rate[s[t]]);
      observe y[t] ~ Normal(mean = c, sd = 1); }"""
    got = normaliser(model, {"A": a, "rate": rate, "x": [1, 4, 7, 2, 8], "y": np.zeros(5)})
    emission = [logsumexp(B * stats.poisson.logpmf(np.arange(200), r)) for r in rate]
    normal = integrate.quad(lambda u: stats.norm.pdf(u) ** B, -40, 40)[0]
    return same(got, paths({(0,): a[0], (1,): a[1]}, emission, 5, [0.5, 0.5]) + 5 * np.log(normal))


def second_order():
    a = np.array([[[0.9, 0.1], [0.3, 0.7]], [[0.2, 0.8], [0.6, 0.4]]])
    emit = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
    model = """model m { plate t ordered; plate k = 2; plate before = k; plate earlier = k; plate letter = 3;
      data A[earlier, before] : simplex over k; data E[k] : simplex over letter; p ~ Beta(1, 1); observe c[t] ~ Bernoulli(p);
      s[t] ~ Categorical(A[s[t-2], s[t-1]]) start Uniform() over k; observe x[t] ~ Categorical(E[s[t]]); }"""
    got = normaliser(model, {"A": a, "E": emit, "x": [1, 0, 2, 2, 1], "c": [0, 1, 1, 1, 0]}, {"p.a": 3.0, "p.b": 1.0})
    emission = np.log(np.sum(emit**B, axis=1))
    transitions = {(i, j): a[i, j] for i in range(2) for j in range(2)}
    return same(got, paths(transitions, emission, 5, [0.5, 0.5], order=2) + 5 * np.log(0.75**B + 0.25**B))


def factorial_chains():
    """Two chains that an observation connects. Both shift it, so that they stay independent in the sum."""
    a = np.array([[[0.9, 0.1], [0.3, 0.7]], [[0.5, 0.5], [0.2, 0.8]]])
    model = """model m { plate t ordered; plate device = 2; plate k = 2; data A[device, k] : simplex over k; data r[device, k] : real;
      g ~ Gamma(shape = 1, rate = 1); s[device, t] ~ Categorical(A[device, s[device, t-1]]) start Uniform() over k;
      observe y[t] ~ Normal(mean = 0, precision = g * r[0, s[0, t]] * r[1, s[1, t]]); }"""
    r = np.array([[1.0, 3.0], [0.5, 2.0]])
    got = normaliser(model, {"A": a, "r": r, "y": [0.1, -0.4, 1.0, 0.3]}, {"g.shape": 3.0, "g.rate": 2.0})
    both = {}
    for i, j in itertools.product(range(2), repeat=2):
        both[(2 * i + j,)] = np.outer(a[0, i], a[1, j]).ravel()
    precision = 1.5 * np.outer(r[0], r[1]).ravel()
    emission = 0.5 * np.log(2 * np.pi / (B * precision)) - 0.5 * B * np.log(2 * np.pi / precision)
    return same(got, paths(both, emission, 4, [0.25] * 4))


def annotators():
    """The true labels of persons connect the answers about them."""
    pi, says = np.array([0.3, 0.7]), np.array([[[0.8, 0.2], [0.1, 0.9]], [[0.6, 0.4], [0.3, 0.7]]])
    model = """model m { plate answer; plate person; plate who; plate level = 2; plate truth = level; data patient[answer] : person;
      data observer[answer] : who; data pi : simplex over truth; data says[who, truth] : simplex over level; p ~ Beta(1, 1);
      z[person] ~ Categorical(pi); observe g[answer] ~ Categorical(says[observer[answer], z[patient[answer]]]);
      observe c[answer] ~ Bernoulli(p); }"""
    patient, observer = [0, 0, 1, 2, 2, 2], [0, 1, 1, 0, 1, 1]
    got = normaliser(model, {"patient": patient, "observer": observer, "pi": pi, "says": says, "g": [0, 1, 1, 0, 0, 1],
                             "c": [0, 1, 0, 0, 1, 1]}, {"p.a": 3.0, "p.b": 1.0})
    answer, want = np.sum(says**B, axis=2), 6 * np.log(0.75**B + 0.25**B)
    for person in range(3):
        mine = [o for p, o in zip(patient, observer) if p == person]
        want += np.log(sum(pi[z] ** B * np.prod(answer[mine, z]) for z in range(2)))
    return same(got, want)


def blocks():
    """A stochastic block model of five members, over all their groups."""
    pi = np.array([0.3, 0.7])
    model = """model m { plate pair; plate member; plate g = 2; plate h = g; data a[pair] : member; data b[pair] : member;
      data pi : simplex over g; B[g, h] ~ Beta(1, 1); z[member] ~ Categorical(pi);
      observe tie[pair] ~ Bernoulli(B[z[a[pair]], z[b[pair]]]); }"""
    pairs = np.array([(i, j) for i in range(5) for j in range(5) if i != j])
    a, b = np.array([[3.0, 1.0], [2.0, 5.0]]), np.array([[1.0, 2.0], [2.0, 1.0]])
    got = normaliser(model, {"a": pairs[:, 0], "b": pairs[:, 1], "pi": pi, "tie": np.arange(20) % 2}, {"B.a": a, "B.b": b})
    p = a / (a + b)
    tie = np.log(p**B + (1 - p) ** B)
    want = logsumexp([B * np.log(pi[list(z)]).sum() + sum(tie[z[i], z[j]] for i, j in pairs)
                      for z in itertools.product(range(2), repeat=5)])
    return same(got, want)


def several_plates():
    """Data on two plates that share a scale."""
    model = """model m { plate n; plate m; tau ~ Gamma(shape = 2, rate = 1); mu ~ Normal(mean = 0, sd = 1);
      observe x[n] ~ Normal(mean = mu, precision = tau); observe y[m] ~ Poisson(tau); observe one ~ Poisson(tau); }"""
    got = normaliser(model, {"x": [0.1, 0.4], "y": [3, 0, 1], "one": 2}, {"tau.shape": 3.0, "tau.rate": 2.0, "mu.mean": 0.0, "mu.precision": 1.0})
    normal = integrate.quad(lambda u: stats.norm.pdf(u, scale=1.5**-0.5) ** B, -40, 40)[0]
    return same(got, 2 * np.log(normal) + 4 * logsumexp(B * stats.poisson.logpmf(np.arange(100), 1.5)))


def own_parameters():
    """Copies of items that differ."""
    model = """model m { plate n times w; data w[n] : real; data k[n] : count; p ~ Beta(1, 1); observe y[n] ~ Binomial(n = k[n], p = p); }"""
    k, w = np.array([4, 9, 2]), np.array([0.1, 1.0, 2.5])
    got = normaliser(model, {"w": w, "k": k, "y": [1, 5, 0]}, {"p.a": 2.0, "p.b": 3.0})
    return same(got, sum(c * logsumexp(B * stats.binom.logpmf(np.arange(n + 1), n, 0.4)) for c, n in zip(w, k)))


def known_values():
    """Some entries of covariates are missing. All entries are integrated, known or not, and missing values of y are not data."""
    model = """model m { plate n; plate d = 2; S ~ Wishart(df = 4, scale = 1) over d; m ~ MvNormal(mean = 0, precision = 1) over d;
      w ~ MvNormal(mean = 0, precision = 1) over d; tau ~ Gamma(shape = 2, rate = 1);
      observe x[n] ~ MvNormal(mean = m, precision = S) over d; observe y[n] ~ Normal(mean = dot(w, x[n]), precision = tau); }"""
    scale, nan = np.array([[0.3, 0.1], [0.1, 0.5]]), None
    init = {"S.df": 5.0, "S.scale": scale, "tau.shape": 3.0, "tau.rate": 2.0, "m.mean": [0.0, 0.0], "m.precision": np.eye(2),
            "w.mean": [0.5, 0.1], "w.precision": np.eye(2)}
    got = normaliser(model, {"x": [[0.1, nan], [0.4, 1.0], [nan, 0.3]], "y": [0.3, 0.2, 1.0]}, init)
    s = 5 * scale
    power = lambda log_det, d: 0.5 * d * np.log(2 * np.pi) * (1 - B) - 0.5 * d * np.log(B) - 0.5 * (1 - B) * log_det  # noqa: E731
    return same(got, 3 * power(np.linalg.slogdet(s)[1], 2) + 3 * power(np.log(1.5), 1))


def missing_data():
    model = """model m { plate n; plate d = 2; tau ~ Gamma(shape = 2, rate = 1); mu ~ Normal(mean = 0, sd = 1);
      observe x[n, d] ~ Normal(mean = mu, precision = tau); }"""
    got = normaliser(model, {"x": [[0.1, None], [0.4, 1.0], [None, 0.3]]},
                     {"tau.shape": 3.0, "tau.rate": 2.0, "mu.mean": 0.0, "mu.precision": 1.0})
    normal = integrate.quad(lambda u: stats.norm.pdf(u, scale=1.5**-0.5) ** B, -40, 40)[0]
    return same(got, 4 * np.log(normal))


def ends():
    """Runs end in a fixed point of plain sweeps: one more of them changes nothing."""
    worst = 0
    r = np.random.default_rng(3)
    cases = {"logistic": (line("observe y[n] ~ Bernoulli(logistic(a + b * x[n]));"),
                          {"x": r.normal(size=40), "y": r.integers(0, 2, 40)}),
             "probit": (line("observe y[n] ~ Bernoulli(probit(a + b * x[n]));"),
                        {"x": r.normal(size=40), "y": r.integers(0, 2, 40)}),
             "sources": ("""model m { plate n; plate k = 2; data e[n, k] : real; r[k] ~ Gamma(shape = 1, rate = 1);
                            observe y[n] ~ Poisson(sum(k) e[n, k] * r[k]); }""",
                         {"e": r.gamma(2.0, 1.0, (30, 2)), "y": r.poisson(3.0, 30)}),
             "chain": ("""model m { plate t ordered; plate k = 2; A[k] ~ Dirichlet(concentration = 1) over k; mu[k] ~ Normal(mean = 0, sd = 2);
                          s[t] ~ Categorical(A[s[t-1]]) start Uniform() over k; observe x[t] ~ Normal(mean = mu[s[t]], sd = 0.5); }""",
                       {"x": np.repeat([-1.0, 1.0, -1.0], 10) + 0.3 * r.normal(size=30)})}
    for name, (model, data) in cases.items():
        for kind in ("global", "local") if name != "chain" else ("global",):
            done = fit(model, data, "--temper", f"{kind}:max=3,levels=20", "--tol", 1e-12, "--max-iter", 5000, monotone=False)
            init = {k: v for k, v in done.posterior.items()}
            more = fit(model, data, "--max-iter", 1, init=init, monotone=False)
            change = abs(more.elbo - done.elbo) / (1 + abs(done.elbo))
            assert change < 1e-9, f"{name}, {kind}: {done.elbo!r} and {more.elbo!r}"
            worst = max(worst, change)
    return f"the ELBO changes by {worst:.1e} at most"


def first_element():
    """A chain of numbers: each element has its temperature, the first one too, and the normalisers are those of single densities."""
    model = """model m { plate t ordered; walk ~ Gamma(shape = 2, rate = 1);
      x[t] ~ Normal(mean = x[t-1], precision = walk) start Normal(mean = 1, sd = 2); observe y[t] ~ Normal(mean = x[t], sd = 0.5); }"""
    y = [1.5, 0.2, 0.4, 3.0]
    got = fit(model, {"y": y}, "--temper", "local:max=3,levels=6", "--max-iter", 1, monotone=False, init={"walk.shape": 3.0, "walk.rate": 2.0})
    t = 3 ** (np.arange(6) / 5)
    normal = lambda variance: 0.5 * np.log(2 * np.pi * variance * t) - 0.5 / t * np.log(2 * np.pi * variance)  # noqa: E731
    want = 4 * normal(0.25) + 3 * normal(1 / 1.5) + normal(4.0)
    np.testing.assert_allclose(got.report["tempering"]["log_normaliser"], want, rtol=1e-9)
    return f"log C {want.round(4)}"


def energies():
    """The energy of the first element of a chain is its own: temperatures of the first sweep follow from those of all elements."""
    model = """model m { plate t ordered; phi ~ Normal(mean = 0, sd = 1);
      observe y[t] ~ Normal(mean = phi * y[t-1], sd = 0.8) start Normal(mean = 1, sd = 2); }"""
    y, mean, variance = np.array([9.0, 2.0, 0.5, 3.0, 2.5]), 0.6, 0.05
    t = 3 ** (np.arange(6) / 5)
    got = fit(model, {"y": y}, "--temper", "local:max=3,levels=6", "--max-iter", 1, monotone=False,
              init={"phi.mean": mean, "phi.precision": 1 / variance})
    energy = stats.norm.logpdf(y[1:], mean * y[:-1], 0.8) - 0.5 * variance * y[:-1] ** 2 / 0.64
    energy = np.concatenate([[stats.norm.logpdf(y[0], 1, 2)], energy])
    variances = np.array([4.0] + [0.64] * 4)[:, None]
    log_c = 0.5 * np.log(2 * np.pi * variances * t) - 0.5 / t * np.log(2 * np.pi * variances)
    b = softmax(energy[:, None] / t - log_c, axis=1) @ (1 / t)
    np.testing.assert_allclose(got.temperatures, [1 / b.mean()], rtol=1e-9)
    return f"1/T {b.round(4)}"


def single_number():
    """One number on no plate: C(T) is the integral of its density to the power 1 / T."""
    want = 0.5 * np.log(2 * np.pi * 4 * T) - 0.5 * B * np.log(2 * np.pi * 4)
    return same(normaliser("model m { mu ~ Normal(mean = 0, sd = 1); observe x ~ Normal(mean = mu, sd = 2); }", {"x": 1.5}), want)


def refused():
    """What stays refused, with its reason."""
    chain = """model m { plate t ordered; plate k = 2; A[k] ~ Dirichlet(concentration = 1) over k;
      s[t] ~ Categorical(A[s[t-1]]) start Uniform() over k; observe x[t] ~ Categorical(A[s[t]]); }"""
    lives = """model m { plate n; r ~ Gamma(shape = 1, rate = 1); observe y[n] ~ Exponential(r) censored above 2; }"""
    for kind, model, data, why in (("local", chain, {"x": [0, 1, 0]}, "'s' connects elements of 't'"),
                                   ("global", lives, {"y": [1.0, 3.0]}, "the integral of powers of 'y', which is censored, is not known")):
        try:
            fit(model, data, "--temper", kind, "--max-iter", 1, monotone=False)
        except RuntimeError as error:
            assert why in str(error) and "exit 3" in str(error), f"{error}"
        else:
            raise AssertionError(f"{why}: fitted")
    return "refused"


finish({f.__name__: f for f in (logistic, binomial, negative_binomial, multinomial_logit, ordered, probit, switched_probit, censored,
                                absolute, sources, mixed_probabilities, concentrations, many_counts, spins, lattice, single_chain, second_order,
                                factorial_chains, annotators, blocks, several_plates, own_parameters, known_values, missing_data,
                                first_element, single_number, energies, ends, refused)})
