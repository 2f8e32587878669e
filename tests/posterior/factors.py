"""The factors of a fitted posterior, rebuilt from posterior.npz without the compiler: draws and log densities.

A posterior q that coordinate ascent left at its fixed point has two properties that need nothing but the log joint,
written independently: E_q[log p - log q] is the reported ELBO; and for each factor v, E_{q without v}[log p] and
log q(v) differ by a constant, whatever the value of v. Both are checked by Monte Carlo, the second with the same
draws of the other variables for both values of v.
"""
import numpy as np
from scipy.special import betaln, gammaln, multigammaln

DRAWS = 20000


def log_normal(x, mean, precision):
    return 0.5 * np.log(precision / (2 * np.pi)) - 0.5 * precision * (x - mean) ** 2


def log_mvnormal(x, mean, precision):
    r = x - mean
    return 0.5 * (np.linalg.slogdet(precision / (2 * np.pi))[1] - np.einsum("...i,...ij,...j", r, precision, r))


def log_gamma(x, shape, rate):
    return shape * np.log(rate) - gammaln(shape) + (shape - 1) * np.log(x) - rate * x


def log_inverse_gamma(x, shape, scale):
    return shape * np.log(scale) - gammaln(shape) - (shape + 1) * np.log(x) - scale / x


def log_beta(x, a, b):
    return (a - 1) * np.log(x) + (b - 1) * np.log1p(-x) - betaln(a, b)


def log_dirichlet(x, concentration):
    c = np.broadcast_to(concentration, x.shape)
    return gammaln(c.sum(-1)) - gammaln(c).sum(-1) + np.sum((c - 1) * np.log(x), axis=-1)


def log_wishart(x, df, rate):
    d = x.shape[-1]
    return (0.5 * df * np.linalg.slogdet(rate)[1] - 0.5 * df * d * np.log(2) - multigammaln(df / 2, d)
            + 0.5 * (df - d - 1) * np.linalg.slogdet(x)[1] - 0.5 * np.einsum("...ij,...ij", np.broadcast_to(rate, x.shape), x))


def log_bernoulli(x, p):
    return x * np.log(p) + (1 - x) * np.log1p(-p)


def log_poisson(x, rate):
    return x * np.log(rate) - rate - gammaln(x + 1)


def log_categorical(x, p):
    """`p[..., x]`; the leading axes of x and p are broadcast."""
    shape = np.broadcast_shapes(np.shape(x), p.shape[:-1])
    p = np.broadcast_to(p, shape + p.shape[-1:])
    return np.log(np.take_along_axis(p, np.broadcast_to(x, shape)[..., None], axis=-1)[..., 0])


def draw_wishart(rng, df, scale):
    """Bartlett's decomposition; df a number, scale one matrix."""
    d = len(scale)
    A = np.zeros((d, d))
    for i in range(d):
        A[i, i] = np.sqrt(rng.chisquare(df - i))
        A[i, :i] = rng.normal(size=i)
    LA = np.linalg.cholesky(scale) @ A
    return LA @ LA.T


class Factor:
    """q of one variable, or of a mean and its precision: `draw(shape)` and `log_density` over all elements."""

    def __init__(self, posterior, names):
        self.names = names
        self.p = {k: np.asarray(posterior[k], dtype=float) for k in posterior if k.split(".")[0] in names}
        self.keys = frozenset(k.split(".", 1)[1] for k in self.p)
        q = lambda key: next((v for k, v in self.p.items() if k.endswith("." + key)), None)
        self.q = q
        if "precision_scale" in self.keys:
            self.kind = "normal_wishart" if "df" in self.keys else "normal_gamma"
            self.elements = q("precision_scale").shape
        elif self.keys == {"mean", "precision"}:
            self.kind = "mvnormal" if q("precision").ndim > q("mean").ndim else "normal"
            self.elements = q("mean").shape[:-1] if self.kind == "mvnormal" else q("mean").shape
        else:
            kinds = {"shape rate": "gamma", "shape scale": "inverse_gamma", "a b": "beta", "concentration": "dirichlet",
                     "df scale": "wishart", "probs": "categorical", "p": "bernoulli", "mean": "spin"}
            self.kind = next(k for words, k in kinds.items() if set(words.split()) == self.keys)
            first = next(iter(self.p.values()))
            self.elements = {"dirichlet": first.shape[:-1], "categorical": first.shape[:-1],
                             "wishart": q("df").shape if q("df") is not None else ()}.get(self.kind, first.shape)

    def draw(self, rng, n):
        """n draws of all elements: dictionary of arrays, draws first."""
        q, size = self.q, (n,) + self.elements
        mean, kind = self.names[0], self.kind
        if kind == "normal":
            return {mean: rng.normal(q("mean"), q("precision") ** -0.5, size)}
        if kind == "gamma":
            return {mean: rng.gamma(q("shape"), 1 / q("rate"), size)}
        if kind == "inverse_gamma":
            return {mean: 1 / rng.gamma(q("shape"), 1 / q("scale"), size)}
        if kind == "beta":
            return {mean: rng.beta(q("a"), q("b"), size)}
        if kind == "bernoulli":
            return {mean: (rng.random(size) < q("p")).astype(int)}
        if kind == "spin":
            return {mean: np.where(rng.random(size) < 0.5 * (1 + q("mean")), 1, -1)}
        if kind == "categorical":
            return {mean: np.minimum((rng.random(size)[..., None] > np.cumsum(q("probs"), -1)).sum(-1), q("probs").shape[-1] - 1)}
        if kind == "dirichlet":
            g = np.maximum(rng.gamma(q("concentration"), size=(n,) + q("concentration").shape), 1e-300)
            return {mean: g / g.sum(-1, keepdims=True)}
        if kind == "mvnormal":
            L = np.linalg.cholesky(np.linalg.inv(q("precision")))
            return {mean: q("mean") + np.einsum("...ij,s...j->s...i", L, rng.normal(size=(n,) + q("mean").shape))}
        if kind == "normal_gamma":
            tau = rng.gamma(q("shape"), 1 / q("rate"), size)
            return {mean: rng.normal(q("mean"), (q("precision_scale") * tau) ** -0.5, size), self.names[1]: tau}
        scale, df = q("scale").reshape((-1,) + q("scale").shape[-2:]), q("df").ravel()
        X = np.stack([[draw_wishart(rng, nu, V) for nu, V in zip(df, scale)] for _ in range(n)]).reshape((n,) + q("scale").shape)
        if kind == "wishart":
            return {mean: X}
        L = np.linalg.cholesky(np.linalg.inv(q("precision_scale")[..., None, None] * X))
        return {mean: q("mean") + np.einsum("s...ij,s...j->s...i", L, rng.normal(size=(n,) + q("mean").shape)), self.names[1]: X}

    def log_density(self, values):
        """log q of each element: draws x elements."""
        q, x, kind = self.q, values[self.names[0]], self.kind
        if kind == "normal":
            return log_normal(x, q("mean"), q("precision"))
        if kind == "gamma":
            return log_gamma(x, q("shape"), q("rate"))
        if kind == "inverse_gamma":
            return log_inverse_gamma(x, q("shape"), q("scale"))
        if kind == "beta":
            return log_beta(x, q("a"), q("b"))
        if kind == "bernoulli":
            with np.errstate(divide="ignore"):
                return np.log(np.where(x == 1, q("p"), 1 - q("p")))
        if kind == "spin":
            return np.log(0.5 * (1 + x * q("mean")))
        if kind == "categorical":
            return log_categorical(x, q("probs"))
        if kind == "dirichlet":
            return log_dirichlet(x, q("concentration"))
        if kind == "mvnormal":
            return log_mvnormal(x, q("mean"), q("precision"))
        if kind == "wishart":
            return log_wishart(x, q("df"), np.linalg.inv(q("scale")))
        tau = values[self.names[1]]
        if kind == "normal_gamma":
            return log_normal(x, q("mean"), q("precision_scale") * tau) + log_gamma(tau, q("shape"), q("rate"))
        return log_mvnormal(x, q("mean"), q("precision_scale")[..., None, None] * tau) + log_wishart(
            tau, q("df"), np.linalg.inv(q("scale")))


def factors(posterior, joint=()):
    """Factors by variable; `joint` lists pairs (mean, precision) that share one."""
    names = list(dict.fromkeys(k.split(".")[0] for k in posterior))
    pairs = {m: (m, t) for m, t in joint}
    taken = {t for _, t in joint}
    return [Factor(posterior, pairs.get(n, (n,))) for n in names if n not in taken]


def check_fixed_point(posterior, elbo, log_joint, joint=(), seed=5, draws=DRAWS, informed=None):
    """Raises when the ELBO is not that of `log_joint` under the posterior, or a factor is not optimal.

    log_joint(values) takes a dictionary of arrays (draws first) and returns one number a draw. `informed`: by variable,
    which elements are in it; others are integrated out, and have no part in the ELBO."""
    informed = informed or {}
    rng = np.random.default_rng(seed)
    all_factors = factors(posterior, joint)
    values = {}
    for f in all_factors:
        values.update(f.draw(rng, draws))
    log_q = sum((f.log_density(values) * informed.get(f.names[0], True)).reshape(draws, -1).sum(1) for f in all_factors)
    sample = log_joint(values) - log_q
    error, spread = abs(sample.mean() - elbo), sample.std() / np.sqrt(draws)
    if not error <= 5 * spread + 1e-6:
        raise AssertionError(f"ELBO {elbo:.6f}, by draws {sample.mean():.6f} +- {spread:.6f}")
    worst = 0.0
    for f in all_factors:
        count = int(np.prod(f.elements))
        for element in rng.choice(count, min(count, 4), replace=False):
            at = np.unravel_index(element, f.elements)
            if f.names[0] in informed and not informed[f.names[0]][at]:
                continue
            two = {k: v for k, v in f.draw(rng, 2).items()}
            if f.kind in ("categorical", "bernoulli", "spin"):  # draws may agree: take two values that differ
                name = f.names[0]
                k = f.q("probs").shape[-1] if f.kind == "categorical" else 2
                low, high = rng.choice(k, 2, replace=False)
                two[name] = two[name].copy()
                two[name][(0,) + at], two[name][(1,) + at] = (2 * low - 1, 2 * high - 1) if f.kind == "spin" else (low, high)
            log_p = []
            for i in (0, 1):
                changed = dict(values)
                for name, v in two.items():
                    changed[name] = changed[name].copy()
                    changed[name][(slice(None),) + at] = v[(i,) + at]
                log_p.append(log_joint(changed))
            q = f.log_density(two)
            want = q[(0,) + at] - q[(1,) + at]
            got = log_p[0] - log_p[1]
            spread = got.std() / np.sqrt(draws)
            # a category with a probability below 1 / draws may not be seen at all
            if not abs(got.mean() - want) <= 5 * spread + (1e-5 + 10 / draws) * (1 + abs(want)):
                raise AssertionError(f"{'/'.join(f.names)}{list(map(int, at))} is not optimal: log odds of two values "
                                     f"{want:.6f}, by draws {got.mean():.6f} +- {spread:.6f}")
            worst = max(worst, spread)
    return f"ELBO {elbo:.4f} (+- {sample.std() / np.sqrt(draws):.4f}), odds to {5 * worst:.3f}"
