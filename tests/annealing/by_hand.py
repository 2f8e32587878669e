"""Sweeps and steps of some models written out with numpy, for the tests of this folder: nothing here asks Lehr.

A factor is a dictionary of parameters under the names of posterior.npz. `Weights` are what a temperature multiplies: the
terms of the data in the factors of the items and in the others, the naturals of both, and the share of a step. `rest`
moves from the naturals of `old`, which are those of `q` unless given.
"""
from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, gammaln, logsumexp


@dataclass
class Weights:
    local_data: float = 1.0
    global_data: float = 1.0
    local: float = 1.0
    everything_else: float = 1.0
    step: float = 1.0


def weights_at(kind, scope, t, step=1.0):
    """A sweep at temperature t: kind `data` or `entropy`, scope `local`, `global` or `all`."""
    local, rest = (1 / t if scope != "global" else 1.0), (1 / t if scope != "local" else 1.0)
    return Weights(local, rest, step=step) if kind == "data" else Weights(1.0, 1.0, local, rest, step)


def softmax(x):
    return np.exp(x - logsumexp(x, axis=-1, keepdims=True))


def entropy_of(p):
    return -np.sum(np.where(p > 0, p * np.log(np.where(p > 0, p, 1)), 0), axis=-1)


def offsets(rows):
    return np.concatenate([[0], np.cumsum([len(r) for r in rows])])


def joined(rows, which):
    return np.concatenate([rows[i] for i in which])


class Dirichlet:
    def __init__(self, concentration):
        self.c = np.asarray(concentration, float)
        self.log = digamma(self.c) - digamma(self.c.sum(-1, keepdims=True))

    def prior(self, a):
        """E log density of a symmetric Dirichlet, by element."""
        k = self.c.shape[-1]
        return gammaln(k * a) - k * gammaln(a) + (a - 1) * self.log.sum(-1)

    def entropy(self):
        k, s = self.c.shape[-1], self.c.sum(-1)
        return (gammaln(self.c).sum(-1) - gammaln(s) + (s - k) * digamma(s)
                - ((self.c - 1) * digamma(self.c)).sum(-1))


class Gamma:
    def __init__(self, shape, rate):
        self.shape, self.rate = np.asarray(shape, float), np.asarray(rate, float)
        self.mean, self.log = self.shape / self.rate, digamma(self.shape) - np.log(self.rate)

    def prior(self, a, b):
        return a * np.log(b) - gammaln(a) + (a - 1) * self.log - b * self.mean

    def entropy(self):
        return self.shape - np.log(self.rate) + gammaln(self.shape) + (1 - self.shape) * digamma(self.shape)


class Normal:
    def __init__(self, mean, precision):
        self.mean, self.precision = np.asarray(mean, float), np.asarray(precision, float)
        self.square = self.mean**2 + 1 / self.precision

    def prior(self, mean, precision):
        return 0.5 * np.log(precision / (2 * np.pi)) - 0.5 * precision * (
            self.square - 2 * mean * self.mean + mean**2)

    def entropy(self):
        return 0.5 * np.log(2 * np.pi * np.e / self.precision)


def dirichlet_step(old, prior, counts, w):
    new = 1 + w.everything_else * (prior - 1 + w.global_data * counts)
    return (1 - w.step) * np.asarray(old) + w.step * new


def gamma_step(old, prior, added, w):
    shape = 1 + w.everything_else * (prior[0] - 1 + w.global_data * added[0])
    rate = w.everything_else * (prior[1] + w.global_data * added[1])
    return (1 - w.step) * np.asarray(old[0]) + w.step * shape, (1 - w.step) * np.asarray(old[1]) + w.step * rate


def normal_step(old, prior, added, w):
    """`prior` and `added`: precision times mean, and precision."""
    first = w.everything_else * (prior[0] + w.global_data * added[0])
    precision = w.everything_else * (prior[1] + w.global_data * added[1])
    mean, p = np.asarray(old[0]), np.asarray(old[1])
    blended = (1 - w.step) * p + w.step * precision
    return ((1 - w.step) * p * mean + w.step * first) / blended, blended


class Topics:
    """Latent Dirichlet allocation: proportions inside the items, words with counts above one, two prior weights."""

    ETA, ALPHA = 0.3, 0.4
    TEXT = """model topics { plate doc; plate token in doc times count; plate topic = 3; plate term = 5;
      beta[topic] ~ Dirichlet(concentration = 0.3) over term;
      theta[doc] ~ Dirichlet(concentration = 0.4) over topic;
      z[doc, token] ~ Categorical(theta[doc]);
      observe w[doc, token] ~ Categorical(beta[z[doc, token]]); }"""
    ITEMS = 4

    def __init__(self):
        self.words = [np.array(d) for d in ([0, 1, 4], [2, 3], [0, 2, 3, 4], [1])]
        self.counts = [np.array(d, float) for d in ([3, 1, 2], [1, 5], [2, 1, 1, 4], [7])]
        self.data = {"w": [d.tolist() for d in self.words], "count": [d.astype(int).tolist() for d in self.counts]}
        r = np.random.default_rng(11)
        self.start = {"beta.concentration": r.gamma(2.0, 1.0, (3, 5)) + 0.1}
        self.local_start = {"theta.concentration": r.gamma(2.0, 1.0, (4, 3)) + 0.2}

    def known(self, doc, probabilities):
        """The probabilities of the topics of the tokens of a document, where the data give none of them."""
        return probabilities

    def fresh(self):
        return {"theta.concentration": np.full((4, 3), self.ALPHA)}

    def arrays(self, which):
        return {"token_offsets": offsets([self.words[d] for d in which]), "w": joined(self.words, which),
                "count": joined(self.counts, which)}

    def items(self, q, w, which=None, passes=1):
        which = range(self.ITEMS) if which is None else which
        theta, beta = np.array(q["theta.concentration"], float), Dirichlet(q["beta.concentration"])
        z = {}
        for d in which:
            for _ in range(passes):
                odds = Dirichlet(theta[d]).log + beta.log[:, self.words[d]].T
                z[d] = self.known(d, softmax(w.local * w.local_data * odds))
                theta[d] = 1 + w.local * (self.ALPHA - 1 + w.local_data * self.counts[d] @ z[d])
        return {**q, "theta.concentration": theta, "z": z}

    def rest(self, q, w, scale=1.0, old=None):
        old = q if old is None else old
        sums = np.zeros((3, 5))
        for d, z in q["z"].items():
            np.add.at(sums.T, self.words[d], scale * self.counts[d][:, None] * z)
        return {**q, "beta.concentration": dirichlet_step(old["beta.concentration"], self.ETA, sums, w)}

    def bound(self, q):
        """ELBO, its energy of the data, all entropies."""
        beta = Dirichlet(q["beta.concentration"])
        energy, prior, entropy = 0.0, beta.prior(self.ETA).sum(), beta.entropy().sum()
        for d, z in q["z"].items():
            theta = Dirichlet(q["theta.concentration"][d])
            energy += np.sum(self.counts[d][:, None] * z * (theta.log + beta.log[:, self.words[d]].T))
            prior += theta.prior(self.ALPHA)
            entropy += theta.entropy() + self.counts[d] @ entropy_of(z)
        return prior + energy + entropy, energy, entropy

    def shown(self, q):
        z = np.concatenate([q["z"][d] for d in sorted(q["z"])])
        return {**{k: v for k, v in q.items() if k != "z"}, "z.probs": z}


class KnownTopics(Topics):
    """The same where the data give the topics of some tokens."""

    GIVEN = {(0, 1): 2, (2, 0): 0, (2, 3): 1}

    def __init__(self):
        super().__init__()
        self.data["z"] = [[self.GIVEN.get((d, t)) for t in range(len(words))] for d, words in enumerate(self.words)]

    def known(self, doc, probabilities):
        for (d, token), topic in self.GIVEN.items():
            if d == doc:
                probabilities[token] = np.eye(3)[topic]
        return probabilities


class Mixture:
    """Normals of unknown means, precisions and weights; every point stands for some copies of itself."""

    TEXT = """model mixture { plate n times count; plate k = 3;
      pi ~ Dirichlet(concentration = 0.5) over k;
      mu[k] ~ Normal(mean = 1, precision = 0.2);
      tau[k] ~ Gamma(shape = 2, rate = 3);
      z[n] ~ Categorical(pi);
      observe x[n] ~ Normal(mean = mu[z[n]], precision = tau[z[n]]); }"""
    ITEMS = 6

    def __init__(self):
        self.x, self.count = np.array([-2.0, -1.2, 0.4, 0.9, 3.0, 3.7]), np.array([1.0, 2, 1, 3, 1, 2])
        self.data = {"x": self.x, "count": self.count.astype(int)}
        self.start = {"pi.concentration": np.array([1.5, 2.0, 0.7]), "mu.mean": np.array([-1.0, 0.3, 2.0]),
                      "mu.precision": np.array([4.0, 9.0, 2.0]), "tau.shape": np.array([2.0, 3.0, 5.0]),
                      "tau.rate": np.array([1.0, 4.0, 3.0])}
        self.local_start = {}

    def fresh(self):
        return {}

    def arrays(self, which):
        return {"x": self.x[list(which)], "count": self.count[list(which)]}

    def log_joint(self, q):
        mu, tau = Normal(q["mu.mean"], q["mu.precision"]), Gamma(q["tau.shape"], q["tau.rate"])
        x = self.x[:, None]
        return Dirichlet(q["pi.concentration"]).log + 0.5 * (tau.log - np.log(2 * np.pi)) - 0.5 * tau.mean * (
            x**2 - 2 * x * mu.mean + mu.square)

    def items(self, q, w, which=None, passes=1):
        which = np.arange(self.ITEMS) if which is None else np.asarray(which, int)
        return {**q, "which": which, "z.probs": softmax(w.local * w.local_data * self.log_joint(q)[which])}

    def rest(self, q, w, scale=1.0, old=None):
        old = q if old is None else old
        x, z = self.x[q["which"]], scale * self.count[q["which"]][:, None] * q["z.probs"]
        out = dict(q)
        out["pi.concentration"] = dirichlet_step(old["pi.concentration"], 0.5, z.sum(0), w)
        tau = q["tau.shape"] / q["tau.rate"]
        out["mu.mean"], out["mu.precision"] = normal_step(
            (old["mu.mean"], old["mu.precision"]), (0.2, 0.2), (tau * (x @ z), tau * z.sum(0)), w)
        mu = Normal(out["mu.mean"], out["mu.precision"])
        squares = x**2 @ z - 2 * mu.mean * (x @ z) + mu.square * z.sum(0)
        out["tau.shape"], out["tau.rate"] = gamma_step(
            (old["tau.shape"], old["tau.rate"]), (2.0, 3.0), (0.5 * z.sum(0), 0.5 * squares), w)
        return out

    def bound(self, q):
        pi, mu = Dirichlet(q["pi.concentration"]), Normal(q["mu.mean"], q["mu.precision"])
        tau, c = Gamma(q["tau.shape"], q["tau.rate"]), self.count[q["which"]]
        energy = np.sum(c[:, None] * q["z.probs"] * self.log_joint(q)[q["which"]])
        prior = pi.prior(0.5) + mu.prior(1.0, 0.2).sum() + tau.prior(2.0, 3.0).sum()
        entropy = pi.entropy() + mu.entropy().sum() + tau.entropy().sum() + c @ entropy_of(q["z.probs"])
        return prior + energy + entropy, energy, entropy

    def shown(self, q):
        return {k: v for k, v in q.items() if k != "which"}


class Chains:
    """A hidden Markov model of counts, by forward-backward over all paths' potentials."""

    TEXT = """model chains { plate seq; plate t in seq ordered; plate k = 2;
      pi ~ Dirichlet(concentration = 0.6) over k;
      A[k] ~ Dirichlet(concentration = 0.7) over k;
      rate[k] ~ Gamma(shape = 2, rate = 0.5);
      s[seq, t] ~ Categorical(A[s[seq, t-1]]) start Categorical(pi);
      observe x[seq, t] ~ Poisson(rate[s[seq, t]]); }"""
    ITEMS = 3

    def __init__(self):
        self.x = [np.array(s, float) for s in ([1, 4, 5], [0, 2], [7, 6, 1, 0])]
        self.data = {"x": [s.astype(int).tolist() for s in self.x]}
        self.start = {"pi.concentration": np.array([1.2, 0.9]), "A.concentration": np.array([[3.0, 1.0], [0.8, 2.0]]),
                      "rate.shape": np.array([2.0, 9.0]), "rate.rate": np.array([2.0, 1.5])}
        self.local_start = {}

    def fresh(self):
        return {}

    def arrays(self, which):
        return {"t_offsets": offsets([self.x[s] for s in which]), "x": joined(self.x, which)}

    def potentials(self, q, s):
        rate = Gamma(q["rate.shape"], q["rate.rate"])
        x = self.x[s][:, None]
        return (Dirichlet(q["pi.concentration"]).log, Dirichlet(q["A.concentration"]).log,
                x * rate.log - rate.mean - gammaln(x + 1))

    def items(self, q, w, which=None, passes=1):
        """The factor of a sequence by enumeration of its paths."""
        which = range(self.ITEMS) if which is None else which
        paths = {}
        for s in which:
            first, pair, emission = self.potentials(q, s)
            length = len(self.x[s])
            grid = np.stack(np.meshgrid(*[[0, 1]] * length, indexing="ij"), -1).reshape(-1, length)
            score = first[grid[:, 0]] + sum(emission[t, grid[:, t]] for t in range(length))
            score = score + sum(pair[grid[:, t - 1], grid[:, t]] for t in range(1, length))
            paths[s] = (grid, softmax(w.local * w.local_data * score), score)
        return {**q, "paths": paths}

    @staticmethod
    def marginals(grid, p):
        state = np.stack([[p[grid[:, t] == k].sum() for k in (0, 1)] for t in range(grid.shape[1])])
        pair = np.array([[sum(p[(grid[:, t - 1] == i) & (grid[:, t] == j)].sum() for t in range(1, grid.shape[1]))
                          for j in (0, 1)] for i in (0, 1)])
        return state, pair

    def rest(self, q, w, scale=1.0, old=None):
        old = q if old is None else old
        first, pairs, visits, counts = np.zeros(2), np.zeros((2, 2)), np.zeros(2), np.zeros(2)
        for s, (grid, p, _) in q["paths"].items():
            state, pair = self.marginals(grid, scale * p)
            first, pairs = first + state[0], pairs + pair
            visits, counts = visits + state.sum(0), counts + self.x[s] @ state
        out = dict(q)
        out["pi.concentration"] = dirichlet_step(old["pi.concentration"], 0.6, first, w)
        out["A.concentration"] = dirichlet_step(old["A.concentration"], 0.7, pairs, w)
        out["rate.shape"], out["rate.rate"] = gamma_step((old["rate.shape"], old["rate.rate"]), (2.0, 0.5),
                                                         (counts, visits), w)
        return out

    def bound(self, q):
        pi, a = Dirichlet(q["pi.concentration"]), Dirichlet(q["A.concentration"])
        rate = Gamma(q["rate.shape"], q["rate.rate"])
        prior = pi.prior(0.6) + a.prior(0.7).sum() + rate.prior(2.0, 0.5).sum()
        entropy, energy = pi.entropy() + a.entropy().sum() + rate.entropy().sum(), 0.0
        for s, (grid, p, _) in q["paths"].items():
            first, pair, emission = self.potentials(q, s)
            score = first[grid[:, 0]] + sum(emission[t, grid[:, t]] for t in range(grid.shape[1]))
            score = score + sum(pair[grid[:, t - 1], grid[:, t]] for t in range(1, grid.shape[1]))
            energy, entropy = energy + p @ score, entropy + entropy_of(p)
        return prior + energy + entropy, energy, entropy

    def shown(self, q):
        s = np.concatenate([self.marginals(*q["paths"][i][:2])[0] for i in sorted(q["paths"])])
        return {**{k: v for k, v in q.items() if k != "paths"}, "s.probs": s}


class Field:
    """Gaussians coupled by potentials, one after another, with a common mean: their prior is tempered with the data."""

    TEXT = """model field { plate site; plate edge; data a[edge] : site; data b[edge] : site; data strength[edge] : real;
      m ~ Normal(mean = 0.5, precision = 0.3);
      u[site] ~ Normal(mean = m, precision = 2);
      potential[edge] strength[edge] * u[a[edge]] * u[b[edge]];
      observe y[site] ~ Normal(mean = u[site], precision = 3); }"""
    ITEMS = 4

    def __init__(self):
        self.y = np.array([1.0, -0.5, 2.0, 0.3])
        self.a, self.b = np.array([0, 1, 2, 0]), np.array([1, 2, 3, 3])
        self.strength = np.array([0.6, -0.4, 0.8, 0.3])
        self.data = {"y": self.y, "a": self.a, "b": self.b, "strength": self.strength}
        self.start = {"m.mean": np.array(0.2), "m.precision": np.array(1.5)}
        self.local_start = {"u.mean": np.array([0.1, 0.4, -0.3, 1.0]), "u.precision": np.array([5.0, 6.0, 4.0, 7.0])}

    def arrays(self, which):
        return {"y": self.y, "a": self.a, "b": self.b, "strength": self.strength}

    def items(self, q, w, which=None, passes=1):
        mean, precision = np.array(q["u.mean"], float), np.array(q["u.precision"], float)
        b = w.local * w.local_data
        for i in range(self.ITEMS):
            near = self.strength[self.a == i] @ mean[self.b[self.a == i]]
            near += self.strength[self.b == i] @ mean[self.a[self.b == i]]
            precision[i], mean[i] = 5 * b, (2 * float(q["m.mean"]) + 3 * self.y[i] + near) / 5
        return {**q, "u.mean": mean, "u.precision": precision}

    def rest(self, q, w, scale=1.0, old=None):
        old = q if old is None else old
        mean, precision = normal_step((old["m.mean"], old["m.precision"]), (0.15, 0.3), (2 * q["u.mean"].sum(), 8.0), w)
        return {**q, "m.mean": mean, "m.precision": precision}

    def bound(self, q):
        m, u = Normal(q["m.mean"], q["m.precision"]), Normal(q["u.mean"], q["u.precision"])
        energy = np.sum(0.5 * np.log(2 / (2 * np.pi)) - (u.square - 2 * u.mean * m.mean + m.square))
        energy += np.sum(0.5 * np.log(3 / (2 * np.pi)) - 1.5 * (self.y**2 - 2 * self.y * u.mean + u.square))
        energy += self.strength @ (u.mean[self.a] * u.mean[self.b])
        entropy = m.entropy() + u.entropy().sum()
        return m.prior(0.5, 0.3) + energy + entropy, energy, entropy

    def shown(self, q):
        return q


class Shifts:
    """A latent shift of every point, with terms of the items alone: their prior is tempered with the data."""

    TEXT = """model shifts { plate n; m ~ Normal(mean = 0.5, precision = 0.3);
      h[n] ~ Normal(mean = 0.2, precision = 2);
      observe x[n] ~ Normal(mean = m + h[n], precision = 3); }"""
    ITEMS = 4

    def __init__(self):
        self.x = np.array([1.0, -0.5, 2.0, 0.3])
        self.data = {"x": self.x}
        self.start = {"m.mean": np.array(0.2), "m.precision": np.array(1.5)}
        self.local_start = {}

    def arrays(self, which):
        return {"x": self.x[list(which)]}

    def items(self, q, w, which=None, passes=1):
        b = w.local * w.local_data
        mean = (0.4 + 3 * (self.x - float(q["m.mean"]))) / 5
        return {**q, "h.mean": mean, "h.precision": np.full(4, 5 * b)}

    def rest(self, q, w, scale=1.0, old=None):
        old = q if old is None else old
        mean, precision = normal_step((old["m.mean"], old["m.precision"]), (0.15, 0.3),
                                      (3 * np.sum(self.x - q["h.mean"]), 12.0), w)
        return {**q, "m.mean": mean, "m.precision": precision}

    def bound(self, q):
        m, h = Normal(q["m.mean"], q["m.precision"]), Normal(q["h.mean"], q["h.precision"])
        energy = h.prior(0.2, 2.0).sum() + np.sum(0.5 * np.log(3 / (2 * np.pi)) - 1.5 * (
            (self.x - m.mean - h.mean) ** 2 + 1 / m.precision + 1 / h.precision))
        entropy = m.entropy() + h.entropy().sum()
        return m.prior(0.5, 0.3) + energy + entropy, energy, entropy

    def shown(self, q):
        return q


class Features:
    """Bits of an item that share its data, one after another; what the data say of them is summed up before the first."""

    TEXT = """model features { plate n; plate d; plate f = 16;
      p[f] ~ Beta(1.5, 2);
      mu[f, d] ~ Normal(mean = 0.3, precision = 0.5);
      tau ~ Gamma(shape = 2, rate = 3);
      z[n, f] ~ Bernoulli(p[f]);
      observe x[n, d] ~ Normal(mean = sum(f) z[n, f] * mu[f, d], precision = tau); }"""
    ITEMS, F, D = 13, 16, 16  # items in blocks, and some beside; both axes long enough for sums of their own

    def __init__(self):
        r = np.random.default_rng(3)
        self.x = np.round(r.normal(1, 1.5, (13, self.D)), 2)
        self.data = {"x": self.x}
        self.start = {"p.a": r.gamma(2, 1, self.F) + 0.5, "p.b": r.gamma(2, 1, self.F) + 0.5, "mu.mean": r.normal(0, 1, (self.F, self.D)),
                      "mu.precision": r.gamma(3, 1, (self.F, self.D)) + 1, "tau.shape": np.array(3.0), "tau.rate": np.array(4.0)}
        self.local_start = {"z.p": r.uniform(0.1, 0.9, (13, self.F))}

    def fresh(self):
        return {"z.p": np.full((13, self.F), 0.5)}

    def arrays(self, which):
        return {"x": self.x[list(which)]}

    def odds(self, q, z, f):
        """Of one bit of some items, given the others: `z` and rows of x."""
        rows, probs = z
        mu, tau = Normal(q["mu.mean"], q["mu.precision"]), Gamma(q["tau.shape"], q["tau.rate"]).mean
        rest = self.x[rows] - np.delete(probs, f, 1) @ np.delete(mu.mean, f, 0)
        return digamma(q["p.a"][f]) - digamma(q["p.b"][f]) + tau * (rest @ mu.mean[f] - 0.5 * mu.square[f].sum())

    def items(self, q, w, which=None, passes=1):
        which = np.arange(self.ITEMS) if which is None else np.asarray(which, int)
        probs = np.array(q["z.p"], float).reshape(-1, self.F)[which]
        for _ in range(passes):
            for f in range(self.F):
                probs[:, f] = 1 / (1 + np.exp(-w.local * w.local_data * self.odds(q, (which, probs), f)))
        return {**q, "which": which, "z.p": probs}

    def error(self, q):
        mu, z, x = Normal(q["mu.mean"], q["mu.precision"]), q["z.p"], self.x[q["which"]]
        fits = z @ mu.mean
        return np.sum((x - fits) ** 2 + z @ mu.square - z**2 @ mu.mean**2)

    def rest(self, q, w, scale=1.0, old=None):
        old, z, x = q if old is None else old, q["z.p"], self.x[q["which"]]
        out = dict(q)
        s = scale * z.sum(0)
        for name, prior, count in (("p.a", 1.5, s), ("p.b", 2.0, scale * len(z) - s)):
            out[name] = (1 - w.step) * old[name] + w.step * (1 + w.everything_else * (prior - 1 + w.global_data * count))
        tau, pairs = q["tau.shape"] / q["tau.rate"], scale * z.T @ z
        mean, precision = np.array(q["mu.mean"], float), np.array(q["mu.precision"], float)
        for f in range(self.F):
            others = np.delete(pairs[f], f) @ np.delete(mean, f, 0)
            mean[f], precision[f] = normal_step((old["mu.mean"][f], old["mu.precision"][f]), (0.15, 0.5),
                                                (tau * (scale * z[:, f] @ x - others), tau * s[f]), w)
        out["mu.mean"], out["mu.precision"] = mean, precision
        out["tau.shape"], out["tau.rate"] = gamma_step((old["tau.shape"], old["tau.rate"]), (2.0, 3.0),
                                                       (0.5 * scale * x.size, 0.5 * scale * self.error(out)), w)
        return out

    def bound(self, q):
        mu, tau = Normal(q["mu.mean"], q["mu.precision"]), Gamma(q["tau.shape"], q["tau.rate"])
        both, z = np.stack([q["p.a"], q["p.b"]], -1), q["z.p"]
        p = Dirichlet(both)
        energy = np.sum(z @ p.log[:, 0] + (1 - z) @ p.log[:, 1]) + 0.5 * len(z) * self.D * (tau.log - np.log(2 * np.pi))
        energy -= 0.5 * tau.mean * self.error(q)
        prior = np.sum(gammaln(3.5) - gammaln(1.5) - gammaln(2.0) + 0.5 * p.log[:, 0] + p.log[:, 1])
        prior += mu.prior(0.3, 0.5).sum() + tau.prior(2.0, 3.0)
        entropy = p.entropy().sum() + mu.entropy().sum() + tau.entropy() + entropy_of(np.stack([z, 1 - z], -1)).sum()
        return prior + energy + entropy, energy, entropy

    def shown(self, q):
        return {k: v for k, v in q.items() if k != "which"}


MODELS = {"topics": Topics, "known topics": KnownTopics, "mixture": Mixture, "chains": Chains, "field": Field, "shifts": Shifts, "features": Features}


def sweep(model, q, w):
    return model.rest(model.items(q, w), w)


def objective(kind, t, bound):
    value, energy, entropy = bound
    return value - (1 - 1 / t) * energy if kind == "data" else value + (t - 1) * entropy
