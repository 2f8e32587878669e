"""Mean-field inference of linear models with Normal noise in numpy, for the tests of this folder.

The log joint is a sum of rows, log Normal(constant + f . x | 0, precision), with precisions that are known or Gamma
variables. Given the expected precisions, the posterior of x is one Normal whose mean independent factors of blocks of x keep and whose
precision matrix they have the diagonal blocks of: no factor is updated by itself here.
"""
import numpy as np
from scipy.special import digamma, gammaln

LOG_2_PI = np.log(2 * np.pi)


class LinearNormal:
    """`blocks` names the coordinates: {"a": 3, "w": (4, 2)} has a[0..2] and w[0..3, 0..1], one after another."""

    def __init__(self, **shapes):
        self.at, self.n = {}, 0
        for name, shape in shapes.items():
            size = int(np.prod(shape))
            self.at[name] = np.arange(self.n, self.n + size).reshape(shape)
            self.n += size
        self.rows, self.priors, self.known = [], {}, {}

    def gamma(self, name, shape, rate):
        self.priors[name] = (shape, rate)

    def add(self, precision, constant, *parts):
        """constant + sum of coefficient * x[coordinate] over parts ~ Normal(0, precision); a name is a Gamma variable."""
        f = np.zeros(self.n)
        for coordinate, coefficient in parts:
            f[coordinate] += coefficient
        self.rows.append((precision, constant, f))

    def fix(self, name, values):
        """Coordinates of `name` that are known, where `values` are not NaN."""
        for i, v in zip(self.at[name].ravel(), np.ravel(np.asarray(values, dtype=float))):
            if not np.isnan(v):
                self.known[int(i)] = float(v)

    def solve(self, factors, sweeps=5000):
        """`factors`: lists of coordinates that share one. Sets mean, cov (of q), elbo and (shape, rate) of each precision."""
        free = np.array([i for i in range(self.n) if i not in self.known], dtype=int)
        value = np.array([self.known.get(i, 0.0) for i in range(self.n)])
        F, c = np.array([f for _, _, f in self.rows]), np.array([k for _, k, _ in self.rows])
        c, F = c + F @ value, F[:, free]
        place = {int(i): k for k, i in enumerate(free)}
        groups = [[place[int(i)] for i in g if int(i) in place] for g in factors]
        groups = [g for g in groups if g]
        assert sorted(i for g in groups for i in g) == list(range(len(free))), "every coordinate has a factor"
        of = {name: np.array([p == name for p, _, _ in self.rows]) for name in self.priors}
        fixed = np.array([0.0 if isinstance(p, str) else p for p, _, _ in self.rows])
        gammas = {name: (a, b) for name, (a, b) in self.priors.items()}
        last = None
        for _ in range(sweeps):
            weight, logs = fixed.copy(), np.where(fixed > 0, np.log(np.maximum(fixed, 1e-300)), 0.0)
            for name, (a, b) in gammas.items():
                weight[of[name]], logs[of[name]] = a / b, digamma(a) - np.log(b)
            P = F.T @ (weight[:, None] * F)
            mean = np.linalg.solve(P, -F.T @ (weight * c))
            cov = np.zeros_like(P)
            for g in groups:
                cov[np.ix_(g, g)] = np.linalg.inv(P[np.ix_(g, g)])
            squares = (c + F @ mean)**2 + np.einsum("ri,ij,rj->r", F, cov, F)
            new = {name: (a + 0.5 * of[name].sum(), b + 0.5 * squares[of[name]].sum()) for name, (a, b) in self.priors.items()}
            moved = max([abs(new[k][1] / gammas[k][1] - 1) for k in new], default=0.0)
            gammas, last = new, moved
            if moved < 1e-14:
                break
        else:
            raise AssertionError(f"no fixed point: {last}")
        weight, logs = fixed.copy(), np.where(fixed > 0, np.log(np.maximum(fixed, 1e-300)), 0.0)
        self.elbo = 0.0
        for name, (a, b) in gammas.items():
            weight[of[name]], logs[of[name]] = a / b, digamma(a) - np.log(b)
            a0, b0 = self.priors[name]
            self.elbo += a0 * np.log(b0) - gammaln(a0) + (a0 - 1) * (digamma(a) - np.log(b)) - b0 * a / b
            self.elbo += a - np.log(b) + gammaln(a) + (1 - a) * digamma(a)
        self.elbo += 0.5 * np.sum(logs - LOG_2_PI - weight * squares)
        self.elbo += sum(0.5 * (len(g) * (1 + LOG_2_PI) + np.linalg.slogdet(cov[np.ix_(g, g)])[1]) for g in groups)
        self.mean, self.cov = value.copy(), np.zeros((self.n, self.n))
        self.mean[free] = mean
        self.cov[np.ix_(free, free)] = cov
        self.precisions = gammas
        return self

    def of(self, name):
        """Means and variances of the elements of `name`, known ones with variance 0."""
        i = self.at[name]
        return self.mean[i], np.diag(self.cov)[i]
