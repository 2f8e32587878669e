"""The posterior of a small model by the text of the model alone: a sum of the joint density over a grid.

The right-hand sides of a model file are expressions of Python too. They are evaluated here with arrays that have a place for
every combination of values of the latent variables: all values of a bit, a spin or a category, and a grid of a number, along
which the trapezoid rule is as good as exact (Trefethen & Weideman 2014). Nothing of Lehr has a part in it.
"""
import re

import numpy as np

MOST = 300_000  # combinations
POINTS = {0: 0, 1: 161, 2: 81, 3: 65}  # of each number, by how many there are
STATEMENT = re.compile(r"(observe )?(\w+)(?:\[([\w, ]+)\])? ~ (.*?)(?: over (\w))?(?: start (.*?)(?: over \w)?)?(?: censored above ([\d.]+))?;")
# Links with a bound, and added variables: the ELBO of these is below the evidence even with one variable.
LOOSE = r"logistic|probit|StudentT|Laplace|mixture|zero_inflated|Half|censored|start| \+ |guide"


class Unknown(Exception):
    """A model that cannot be summed here."""


class Values:
    """An array whose first axis is that of the combinations."""

    def __init__(self, array):
        self.array = array

    def __getitem__(self, at):
        out = self.array
        every = np.arange(len(out))
        for k in at if isinstance(at, tuple) else (at,):
            if np.ndim(k) == 0 and k < 0:
                raise Unknown("before the first element")
            out = out[every if len(out) > 1 else 0 * np.atleast_1d(k), np.asarray(k, dtype=int)]
        return out if out.ndim == 1 else Values(out)


def lgamma(x):
    """By Stirling's series from 10 on."""
    x = np.asarray(x, dtype=float)
    shift = np.zeros_like(x)
    for _ in range(10):
        shift, x = np.where(x < 10, shift + np.log(np.abs(x)), shift), np.where(x < 10, x + 1, x)
    return (x - 0.5) * np.log(x) - x + 0.5 * np.log(2 * np.pi) + 1 / (12 * x) - 1 / (360 * x**3) + 1 / (1260 * x**5) - shift


def erfc(x):
    """Of Numerical Recipes (Press et al. 2007, 6.2.2): by Chebyshev's polynomials, to 1e-7."""
    t = 1 / (1 + 0.5 * np.abs(x))
    c = (-1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587, -0.82215223, 0.17087277)
    y = t * np.exp(-x * x + np.polyval(c[::-1], t))
    return np.where(np.asarray(x) >= 0, y, 2 - y)


def upper(z):
    """The logarithm of the probability above z of a standard Normal."""
    return np.log(np.maximum(0.5 * erfc(z / np.sqrt(2)), 1e-300))


def log(x):
    with np.errstate(divide="ignore"):
        return np.log(x)


def times(n, x):
    """n * x, 0 where n is 0."""
    return np.where(np.asarray(n) == 0, 0.0, np.asarray(n) * np.where(np.asarray(n) == 0, 0.0, x))


def root(precision=None, variance=None, sd=None, scale=None):
    return precision ** -0.5 if precision is not None else variance ** 0.5 if variance is not None else sd


def Normal(mean, **spread):
    s = root(**spread)
    return lambda x: -0.5 * np.log(2 * np.pi) - np.log(s) - 0.5 * ((x - mean) / s) ** 2


def LogNormal(mean, **spread):
    return lambda x: Normal(mean, **spread)(np.log(x)) - np.log(x)


def StudentT(df, mean, **spread):
    s = root(**spread)
    front = lgamma((df + 1) / 2) - lgamma(df / 2) - 0.5 * np.log(df * np.pi)
    return lambda x: front - np.log(s) - (df + 1) / 2 * np.log1p(((x - mean) / s) ** 2 / df)


def Laplace(mean, scale):
    return lambda x: -np.log(2 * scale) - np.abs(x - mean) / scale


def Gamma(shape, rate=None, scale=None):
    b = rate if rate is not None else 1 / scale
    return lambda x: shape * np.log(b) - lgamma(shape) + (shape - 1) * np.log(x) - b * x


def InverseGamma(shape, scale):
    return lambda x: shape * np.log(scale) - lgamma(shape) - (shape + 1) * np.log(x) - scale / x


def HalfStudentT(df, scale):
    return lambda x: np.log(2) + StudentT(df, 0, sd=scale)(x)


def Beta(a, b):
    return lambda x: lgamma(a + b) - lgamma(a) - lgamma(b) + (a - 1) * log(x) + (b - 1) * log(1 - x)


def Bernoulli(p):
    return lambda x: times(x, log(p)) + times(1 - np.asarray(x), log(1 - p))


def Binomial(n, p):
    def at(x):
        m = np.where(x > n, x, n)
        choose = lgamma(m + 1.0) - lgamma(x + 1.0) - lgamma(m - x + 1.0)
        return np.where(x > n, -np.inf, choose + times(x, log(p)) + times(m - x, log(1 - p)))
    return at


def NegativeBinomial(r, p):
    return lambda x: lgamma(x + r) - lgamma(r) - lgamma(x + 1.0) + r * log(p) + times(x, log(1 - p))


def Poisson(rate):
    return lambda x: times(x, log(rate)) - rate - lgamma(x + 1.0)


def Categorical(p):
    def at(x):
        q = p.array if isinstance(p, Values) else np.atleast_2d(p)
        n = max(len(q), np.size(x))
        return log(q[np.arange(n) % len(q), np.broadcast_to(np.asarray(x, dtype=int), n)])
    return at


def mixture(p, first, second):
    return lambda x: np.logaddexp(log(p) + first(x), log(1 - p) + second(x))


FAMILIES = {f.__name__: f for f in (Normal, LogNormal, StudentT, Laplace, Gamma, InverseGamma, HalfStudentT, Beta, Bernoulli, Binomial,
                                    NegativeBinomial, Poisson, Categorical, mixture)}
FAMILIES.update({
    "HalfCauchy": lambda scale: HalfStudentT(1, scale), "Geometric": lambda p: NegativeBinomial(1, p),
    "Exponential": lambda rate: Gamma(1, rate), "Spin": lambda: lambda x: np.log(0.5) + 0.0 * x,
    "zero_inflated": lambda p, other: mixture(p, lambda x: log(0.0 + (x == 0)), other),
    "logistic": lambda e: 1 / (1 + np.exp(-e)), "probit": lambda e: np.exp(upper(-np.asarray(e))),
    "log": np.log, "exp": np.exp, "sqrt": np.sqrt})

REAL, POSITIVE, PROBABILITY = ("Normal", "StudentT", "Laplace"), ("Gamma", "InverseGamma", "Half", "Exponential"), ("Beta",)


class Posterior:
    def __init__(self, case):
        self.case, self.latent, self.statements, self.potentials = case, {}, [], []
        for line in case.lines:
            if line.startswith(("plate", "data", "guide")):
                if "times" in line or " in " in line or "vector" in line:
                    raise Unknown(line)
            elif line.startswith("potential"):
                axes, value = re.fullmatch(r"potential\[([\w, ]+)\] (.*);", line).groups()
                self.potentials.append((axes.split(", "), value))
            else:
                self.add(line)
        self.combine()
        self.log_joint = self.summed()
        top = self.log_joint.max()
        self.log_evidence = top + np.log(np.exp(self.log_joint - top).sum())
        self.weights = np.exp(self.log_joint - self.log_evidence)

    def add(self, line):
        found = STATEMENT.fullmatch(line)
        if not found:
            raise Unknown(line)
        observe, name, axes, body, over, start, above = found.groups()
        axes = axes.split(", ") if axes else []
        if not observe:
            self.latent[name] = (axes, body, over)
        self.statements.append((name, axes, body, over, start, above))

    def size(self, plate):
        return self.case.plates[plate].size

    def grid(self, name, body, points):
        """(values, logarithms of their weights) of one element: the values of a category, or a grid."""
        family = body.split("(")[0]
        if family in ("Categorical", "Uniform"):
            return np.arange(self.size(next(v for v in self.sizes_of(name, body)))), 0.0
        if family in ("Bernoulli", "Spin"):
            return np.array([0.0, 1.0] if family == "Bernoulli" else [-1.0, 1.0]), 0.0
        if family.startswith(REAL):
            u = np.linspace(-5, 5, points)
            return np.sinh(u), np.log(np.cosh(u) * (u[1] - u[0]))
        if family.startswith(POSITIVE):
            u = np.linspace(-14, 16 if family.startswith("Half") else 6, points)
            return np.exp(u), u + np.log(u[1] - u[0])
        if family.startswith(("Beta", "Dirichlet")):
            u = np.linspace(-18, 18, points)
            x = 1 / (1 + np.exp(-u))
            return x, np.log(x) - np.log1p(np.exp(u)) + np.log(u[1] - u[0])
        raise Unknown(family)

    def sizes_of(self, name, body):
        """The plate of the values of a category."""
        over = self.latent[name][2]
        if over:
            return [over]
        parameter = re.match(r"Categorical\((\w+)", body)
        if parameter and parameter.group(1) in self.latent:
            return [self.latent[parameter.group(1)][2]]
        raise Unknown(body)

    def combine(self):
        """Every combination of values, and the logarithms of their weights."""
        elements, numbers = [], 0
        for name, (axes, body, over) in self.latent.items():
            if body.startswith("MvNormal") or (body.startswith("Dirichlet") and self.size(over) > 2):
                raise Unknown(body)
            count = int(np.prod([self.size(a) for a in axes], dtype=int))
            discrete = body.startswith(("Categorical", "Uniform", "Bernoulli", "Spin"))
            fixed = body.startswith("Dirichlet") and self.size(over) == 1
            numbers += 0 if discrete or fixed else count
            elements += [(name, k, fixed) for k in range(count)]
        if numbers not in POINTS:
            raise Unknown(f"{numbers} numbers")
        grids = [(np.ones(1), 0.0) if fixed else self.grid(name, self.latent[name][1], POINTS[numbers]) for name, _, fixed in elements]
        shape = [len(g[0]) for g in grids]
        total = int(np.prod(shape, dtype=float))
        if total > MOST:
            raise Unknown(f"{total} combinations")
        self.log_weights, self.values = np.zeros(total), {}
        every = np.unravel_index(np.arange(total), shape) if shape else []
        columns = {}
        for (name, _, fixed), (x, w), at in zip(elements, grids, every):
            columns.setdefault(name, []).append(x[at])
            self.log_weights += w if np.isscalar(w) else w[at]
        for name, (axes, body, over) in self.latent.items():
            sizes = [self.size(a) for a in axes]
            one = np.stack(columns.get(name, []), axis=1) if columns.get(name) else np.zeros((total, 0))
            if body.startswith("Dirichlet"):
                one = np.stack([one, 1 - one], axis=2)[:, :, :self.size(over)]
                sizes.append(self.size(over))
            self.values[name] = one.reshape([total] + sizes)

    def environment(self):
        out = dict(FAMILIES)
        for name, array in self.case.arrays.items():
            out[name] = Values(np.asarray(array.value)[None])
        for name, x in self.values.items():
            out[name] = x if x.ndim == 1 else Values(x)
        return out

    def summed(self):
        """The log joint density, and the weights, of every combination."""
        scope, out = self.environment(), self.log_weights.copy()
        for name, axes, body, over, start, above in self.statements:
            for at in np.ndindex(*(self.size(a) for a in axes)):
                scope.update(zip(axes, at))
                out += self.of_element(scope, name, at, (body, over, start, above), axes)
        for axes, value in self.potentials:
            for at in np.ndindex(*(self.size(a) for a in axes)):
                scope.update(zip(axes, at))
                out += eval(value, scope)  # the text of a model that was written here
        return out

    def of_element(self, scope, name, at, statement, axes):
        body, over, start, above = statement
        if body.startswith("Dirichlet"):
            c = float(re.search(r"concentration = ([\d.]+)", body).group(1))
            x = self.values[name][(slice(None), *at)]
            return 0.0 if x.shape[1] == 1 else Beta(c, c)(x[:, 0])
        x = scope[name][at] if at else scope[name]
        observed = name in self.case.arrays
        if observed:
            x = x[0]
            if x != x:
                if re.search(rf"\b{name}\[\w+-", " ".join(s[2] for s in self.statements)):
                    raise Unknown("a gap that others depend on")
                return 0.0
        back = [int(k) for k in re.findall(rf"\b{name}\[[\w, ]*?{axes[-1]}-(\d)", body)] if axes else []
        text = start if back and at[-1] < max(back) else body
        if text.startswith("Uniform"):
            return -np.log(len(set(range(self.size(over or self.sizes_of(name, body)[0])))))
        density = eval(text, scope)
        if above and x >= float(above):
            spread = {k: eval(v, scope) for k, v in re.findall(r"(precision|variance|sd) = (.*?)\)$", text)}
            mean = eval(re.search(r"mean = (.*), (?:precision|variance|sd) =", text).group(1), scope)
            return upper((float(above) - mean) / root(**spread))
        return density(x)

    def means(self):
        """{"mu.1": mean}; of a category the probabilities of its values."""
        out = {}
        for name, x in self.values.items():
            axes, body, _ = self.latent[name]
            for at in np.ndindex(*x.shape[1:]):
                label = ".".join([name, *map(str, at)])
                one = x[(slice(None), *at)]
                if body.startswith(("Categorical", "Uniform")):
                    for k in np.unique(one):
                        out[f"{label}={int(k)}"] = float(self.weights[one == k].sum())
                else:
                    out[label] = float((self.weights * one).sum())
        return out

    def is_one_factor(self):
        """Whether the posterior is one factor of the fit, so that the ELBO is the evidence."""
        elements = sum(int(np.prod(x.shape[1:2], dtype=int)) for x in self.values.values())
        return elements == 1 and not re.search(LOOSE, " ".join(self.case.lines))
