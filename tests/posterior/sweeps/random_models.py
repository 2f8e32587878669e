#!/usr/bin/env python3
"""Random models: each is written by chance from a grammar, together with its log joint in numpy.

Variables are drawn in order; the parameters of each are random expressions of what exists, with random indices (plates,
data, latent categories, numbers). Where the compiler finds closed forms, the posterior is checked as in unseen.py;
where it refuses (exit 3), the model is only counted.

usage: random_models.py LEHR [FIRST [COUNT]]
"""
import sys
import time

import numpy as np
from scipy.special import gammaln

sys.path.append(f"{sys.path[0]}/..")
import factors as q  # noqa: E402
from fitting import fit, relative  # noqa: E402

SIZES = {"n": 7, "g": 3, "d": 2, "k": 2, "l": 3, "c": 2}
ALIAS = {"kk": "k"}
DRAWS = 4000


def kind(plate):
    return ALIAS.get(plate, plate)


class Expression:
    def __init__(self, text, value, uses=()):
        self.text, self.value, self.uses = text, value, frozenset(uses)  # value: dictionary of draws -> array (draws, ...)


class Model:
    """A model under construction. A context is the tuple of plates of a statement; ragged ones are ("g", "i")."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        rng = self.rng
        self.lines, self.data, self.terms = [], {}, {}
        self.variables = {}  # name -> (support, axes, event)
        self.lengths = rng.integers(0, 4, SIZES["g"])
        self.lengths[0] += 1
        self.rows = np.repeat(np.arange(SIZES["g"]), self.lengths)
        self.observed = set()
        self.add_data("group", ("n",), rng.integers(0, SIZES["g"], SIZES["n"]), "g", ("index", "g"))
        self.add_data("side", ("n",), rng.integers(0, SIZES["k"], SIZES["n"]), "k", ("index", "k"))
        self.add_data("s", ("n",), rng.uniform(0.5, 2, SIZES["n"]), "real", ("positive", None))
        self.add_data("x", ("n", "d"), rng.normal(size=(SIZES["n"], SIZES["d"])), "real", ("real", None))
        self.add_data("X", ("n",), rng.normal(size=(SIZES["n"], SIZES["c"])), "vector over c", ("vector", None))

    def add_data(self, name, axes, value, type_, support):
        self.lines.append(f"data {name}[{', '.join(axes)}] : {type_};")
        self.data[name] = value
        self.variables[name] = (support, axes)

    def shape(self, axes):
        if axes[:2] == ("g", "i"):
            return (len(self.rows),) + tuple(SIZES[kind(a)] for a in axes[2:])
        return tuple(SIZES[kind(a)] for a in axes)

    def plate_values(self, context):
        """Index values of each plate of a context, shaped (1, context...)."""
        shape = self.shape(context)
        names = (("i",) + context[2:]) if context[:2] == ("g", "i") else context
        out = {}
        for axis, name in enumerate(names):
            out[name] = np.arange(shape[axis]).reshape((1,) + tuple(-1 if a == axis else 1 for a in range(len(shape))))
        if context[:2] == ("g", "i"):
            out["g"] = self.rows[out["i"]]
        return out

    def indices(self, plate, context, depth=0):
        """Every way to index `plate` in a context."""
        values = self.plate_values(context)
        out = [Expression(p, lambda v, p=p: values[p]) for p in context if kind(p) == kind(plate) and p != "i"]
        if depth < 2:
            for name, (support, axes) in self.variables.items():
                if support[0] == "index" and kind(support[1]) == kind(plate):
                    out += [self.reference(name, at) for at in [self.index_tuple(name, context, depth + 1)] if at is not None]
        if not out and self.rng.random() < 0.3:
            at = int(self.rng.integers(SIZES[kind(plate)]))
            out.append(Expression(str(at), lambda v: np.full((1,) * (1 + len(self.shape(context))), at)))
        return out

    def index_tuple(self, name, context, depth=0):
        """Random indices for a variable in a context, or None."""
        axes = self.variables[name][1]
        if axes[:2] == ("g", "i"):
            if context[:2] != ("g", "i"):
                return None
            values = self.plate_values(context)
            rest = [self.indices(a, context, depth) for a in axes[2:]]
            if not all(rest):
                return None
            return [Expression("g, i", lambda v: values["i"])] + [self.choose(r) for r in rest]
        each = [self.indices(a, context, depth) if a != "n" else self.indices("n", context, 9) for a in axes]
        if not all(each):
            return None
        return [self.choose(e) for e in each]

    def choose(self, candidates):
        """One index; latent ones three times as often."""
        weights = np.array([3.0 if any(u in self.variables and u not in self.data for u in e.uses) else 1.0 for e in candidates])
        return candidates[self.rng.choice(len(candidates), p=weights / weights.sum())]

    def reference(self, name, at):
        text = name + (f"[{', '.join(a.text for a in at)}]" if at else "")
        uses = {name}.union(*[a.uses for a in at])

        def value(v):
            array = v[name] if name in v else np.asarray(self.data[name])[None]
            parts = [a.value(v) for a in at]
            s = np.arange(len(array)).reshape((-1,) + (1,) * (max([p.ndim for p in parts], default=1) - 1))
            return array[(s,) + tuple(parts)] if len(array) > 1 else array[0][tuple(parts)] if parts else array

        return Expression(text, value, uses)

    def find(self, support, context, random_only=True):
        """Random references to variables with a support in a context."""
        names = [n for n, (s, _) in self.variables.items() if s == support and n not in self.observed
                 and not (random_only and n in self.data)]
        self.rng.shuffle(names)
        out = []
        for name in names:
            at = self.index_tuple(name, context)
            if at is not None:
                out.append(self.reference(name, at))
        return out

    def number(self, low, high):
        value = round(float(self.rng.uniform(low, high)), 2)
        return Expression(str(value), lambda v: np.float64(value))

    def some(self, candidates, most):
        return candidates[: int(self.rng.integers(self.rng.random() < 0.8, most + 1))]

    def scalar(self, e, context):
        """A scalar parameter's value with the draws first and the context after; numbers and scalars are broadcast."""
        ndim = 1 + len(self.shape(context))

        def value(v):
            x = np.asarray(e.value(v))
            return x if x.ndim in (0, ndim) else x.reshape(x.shape[:1] + (1,) * (ndim - 1))

        return Expression(e.text, value, e.uses)

    def product(self, parts, context):
        parts = [self.scalar(p, context) for p in parts]

        def value(v):
            out = 1.0
            for p in parts:
                out = out * p.value(v)
            return out

        return Expression(" * ".join(p.text for p in parts), value, frozenset().union(*[p.uses for p in parts]))

    def positive(self, context):
        parts = self.some(self.find(("positive", None), context, random_only=self.rng.random() < 0.7), 2)
        if not parts or self.rng.random() < 0.3:
            parts = parts + [self.number(0.3, 2)]
        return self.product(parts, context)

    def mean(self, context, terms=3):
        """A sum of products of numbers, data and random reals, binary variables and inner products."""
        out = [self.number(-1, 1)] if self.rng.random() < 0.4 else []
        reals, bits = self.find(("real", None), context, False), self.find(("bit", None), context)
        vectors, given = self.find(("vector", None), context), self.find(("vector", None), context, False)
        for _ in range(int(self.rng.integers(1, terms + 1))):
            choice = self.rng.random()
            if choice < 0.25 and vectors:
                a, b = vectors[0], given[self.rng.integers(len(given))]
                if a.text != b.text:
                    out.append(self.dot(a, b, context))
                    vectors = vectors[1:]
                    continue
            if reals:
                parts = [reals.pop(int(self.rng.integers(len(reals))))]
                if choice > 0.6 and reals and self.rng.random() < 0.5:
                    parts.append(reals.pop())
                if choice > 0.8 and bits:
                    parts.append(bits[0])
                if self.rng.random() < 0.3:
                    parts.append(self.number(0.5, 2))
                out.append(self.product(parts, context))
        out = [self.scalar(e, context) for e in out or [self.number(-1, 1)]]

        def value(v):
            total = 0.0
            for e in out:
                total = total + e.value(v)
            return total

        return Expression(" + ".join(e.text for e in out), value)

    def with_event(self, e, context, events=1):
        ndim = 1 + len(self.shape(context)) + events

        def value(v):
            x = np.asarray(e.value(v))
            return x if x.ndim == ndim else x.reshape(x.shape[:1] + (1,) * (ndim - x.ndim) + x.shape[1:])

        return Expression(e.text, value, e.uses)

    def dot(self, a, b, context):
        a, b = self.with_event(a, context), self.with_event(b, context)
        return Expression(f"dot({a.text}, {b.text})", lambda v: np.sum(a.value(v) * b.value(v), -1))

    def add(self, name, axes, support, distribution, log_density, observed=None, event=""):
        """Declares a variable: `log_density(values, x)` with x shaped (draws, axes...)."""
        prefix = "" if observed is None else "observe "
        self.lines.append(f"{prefix}{name}{'[' + ', '.join(axes) + ']' if axes else ''} ~ {distribution}{event};")
        self.variables[name] = (support, axes)
        if observed is not None:
            self.data[name] = observed
            self.observed.add(name)

        def term(v):
            x = v[name] if name in v else np.asarray(observed, float)[None]
            t = np.asarray(log_density(v, x))
            if name not in v:  # missing values add nothing
                t = np.where(np.isnan(x), 0.0, t) if t.ndim == x.ndim else t
            return np.broadcast_to(t, np.broadcast_shapes(t.shape, (1,) + self.shape(axes)))

        self.terms[name] = term

    def latent(self, index, axes, choice=None):
        rng, choices = self.rng, ["normal", "gamma", "beta", "dirichlet", "category", "bit", "vector", "matrix"]
        choice = choice or str(rng.choice(choices, p=[0.25, 0.18, 0.08, 0.14, 0.15, 0.08, 0.08, 0.04]))
        name = f"{choice[0]}{index}"
        if choice == "normal":
            m, t = self.scalar(self.mean(axes, 2), axes) if rng.random() < 0.4 else self.number(-1, 1), self.positive(axes)
            self.add(name, axes, ("real", None), f"Normal(mean = {m.text}, precision = {t.text})",
                     lambda v, x: q.log_normal(x, m.value(v), t.value(v)))
        elif choice == "gamma":
            a, b = self.number(0.8, 3), self.positive(axes)
            self.add(name, axes, ("positive", None), f"Gamma(shape = {a.text}, rate = {b.text})",
                     lambda v, x: q.log_gamma(x, a.value(v), b.value(v)))
        elif choice == "beta":
            a, b = self.number(0.5, 3), self.number(0.5, 3)
            self.add(name, axes, ("probability", None), f"Beta({a.text}, {b.text})",
                     lambda v, x: q.log_beta(x, a.value(v), b.value(v)))
        elif choice == "dirichlet":
            over, a = str(rng.choice(["k", "l"])), self.number(0.3, 2)
            self.add(name, axes, ("simplex", over), f"Dirichlet(concentration = {a.text})",
                     lambda v, x: q.log_dirichlet(x, a.value(v)), event=f" over {over}")
        elif choice == "category":
            over = str(rng.choice(["k", "l"]))
            found = self.find(("simplex", over), axes)
            if not found:
                return
            p = self.with_event(found[0], axes)
            self.add(name, axes, ("index", over), f"Categorical({p.text})", lambda v, x: q.log_categorical(x, p.value(v)))
        elif choice == "bit":
            found = self.find(("probability", None), axes)
            p = self.scalar(found[0] if found else self.number(0.2, 0.8), axes)
            self.add(name, axes, ("bit", None), f"Bernoulli({p.text})", lambda v, x: q.log_bernoulli(x, p.value(v)))
        elif choice == "vector":
            m, t = self.vector_mean(axes), self.matrix(axes)
            self.add(name, axes, ("vector", None), f"MvNormal(mean = {m.text}, precision = {t.text})",
                     lambda v, x: q.log_mvnormal(x, m.value(v), t.value(v)), event=" over c")
        else:
            self.add(name, axes, ("matrix", None), "Wishart(df = 4, rate = 1.5)",
                     lambda v, x: q.log_wishart(x, 4.0, 1.5 * np.eye(SIZES["c"])), event=" over c")

    def vector_mean(self, context):
        found = [self.with_event(e, context) for e in self.some(self.find(("vector", None), context, False), 2)]
        if not found:
            return self.number(-1, 1)

        def value(v):
            total = 0.0
            for e in found:
                total = total + e.value(v)
            return total

        return Expression(" + ".join(e.text for e in found), value)

    def matrix(self, context):
        found = [self.with_event(e, context, 2) for e in self.some(self.find(("matrix", None), context), 1)]
        if not found:
            t = self.number(0.5, 2)
            return Expression(t.text, lambda v: t.value(v) * np.eye(SIZES["c"]))
        if self.rng.random() < 0.5:
            return found[0]
        t = self.positive(context)
        return Expression(f"{t.text} * {found[0].text}", lambda v: np.asarray(t.value(v))[..., None, None] * found[0].value(v))

    def observe(self, index, axes):
        rng, shape = self.rng, self.shape(axes)
        name = f"y{index}"
        choice = rng.choice(["normal", "poisson", "exponential", "gamma", "bit", "binomial", "geometric", "category", "vector",
                             "counts"], p=[0.3, 0.12, 0.08, 0.05, 0.08, 0.05, 0.05, 0.12, 0.1, 0.05])
        ragged = axes[:2] == ("g", "i")
        if choice == "normal":
            m, t = self.mean(axes), self.positive(axes)
            x = rng.normal(0, 2, shape)
            if rng.random() < 0.3:
                x[rng.random(shape) < 0.2] = np.nan
            self.add(name, axes, ("observed", None), f"Normal(mean = {m.text}, precision = {t.text})",
                     lambda v, x: q.log_normal(x, m.value(v), t.value(v)), x)
        elif choice in ("poisson", "exponential", "gamma"):
            r = self.positive(axes)
            if choice == "poisson":
                self.add(name, axes, ("observed", None), f"Poisson({r.text})", lambda v, x: q.log_poisson(x, r.value(v)),
                         rng.poisson(3, shape).astype(float))
            elif choice == "exponential":
                self.add(name, axes, ("observed", None), f"Exponential({r.text})", lambda v, x: q.log_gamma(x, 1.0, r.value(v)),
                         rng.exponential(1, shape))
            else:
                self.add(name, axes, ("observed", None), f"Gamma(shape = 2.5, rate = {r.text})", lambda v, x: q.log_gamma(x, 2.5, r.value(v)),
                         rng.gamma(2, 1, shape))
        elif choice in ("bit", "binomial", "geometric"):
            found = self.find(("probability", None), axes)
            if not found:
                return False
            p = self.scalar(found[0], axes)
            if choice == "bit":
                self.add(name, axes, ("observed", None), f"Bernoulli({p.text})", lambda v, x: q.log_bernoulli(x, p.value(v)),
                         rng.integers(0, 2, shape).astype(float))
            elif choice == "binomial":
                log_choose = lambda x: gammaln(6) - gammaln(x + 1) - gammaln(6 - x)
                self.add(name, axes, ("observed", None), f"Binomial(5, {p.text})", lambda v, x: log_choose(x) + x * np.log(p.value(v)) + (
                    5 - x) * np.log1p(-p.value(v)), rng.integers(0, 6, shape).astype(float))
            else:
                self.add(name, axes, ("observed", None), f"Geometric({p.text})", lambda v, x: x * np.log1p(-p.value(v)) + np.log(p.value(v)),
                         rng.integers(0, 6, shape).astype(float))
        elif choice in ("category", "counts"):
            over = str(rng.choice(["k", "l"]))
            found = self.find(("simplex", over), axes)
            if not found or (ragged and choice == "counts"):
                return False
            p = self.with_event(found[0], axes)
            if choice == "category":
                self.add(name, axes, ("observed", None), f"Categorical({p.text})", lambda v, x: q.log_categorical(x.astype(int), p.value(v)),
                         rng.integers(0, SIZES[over], shape))
            else:
                constant = lambda x: gammaln(x.sum(-1) + 1) - gammaln(x + 1).sum(-1)
                self.add(name, axes, ("observed", None), f"Multinomial({p.text})", lambda v, x: constant(x) + np.sum(x * np.log(p.value(v)), -1),
                         rng.multinomial(4, np.ones(SIZES[over]) / SIZES[over], shape))
        else:
            if ragged:
                return False
            m, t = self.vector_mean(axes), self.matrix(axes)
            self.add(name, axes, ("observed", None), f"MvNormal(mean = {m.text}, precision = {t.text})",
                     lambda v, x: q.log_mvnormal(x, m.value(v), t.value(v)), rng.normal(0, 1, shape + (SIZES["c"],)), event=" over c")
        return True

    def build(self):
        rng = self.rng
        items = ("g", "i") if rng.random() < 0.3 else ("n",)
        global_axes = [(), ("k",), ("l",), ("g",), ("d",), ("k", "l"), ("k", "d"), ("g", "k"), ("k", "kk")]
        for index in range(int(rng.integers(4, 10))):
            first = "dirichlet" if index < 2 else str(rng.choice(["normal", "gamma"])) if index < 4 else None
            self.latent(index, global_axes[rng.integers(len(global_axes))], first)
        for index in range(10, 10 + int(rng.integers(1, 5))):
            self.latent(index, items + (("d",) if rng.random() < 0.15 else ()), "category" if index < 12 else None)
        wanted, tries = int(rng.integers(1, 4)), 0
        while wanted > 0 and tries < 20:
            tries += 1
            wanted -= self.observe(tries, items + (("d",) if rng.random() < 0.3 else ()))
        used = " ".join(self.lines)
        plates = [f"plate {p} = {s};" for p, s in SIZES.items()] + ["plate kk = k;"]
        plates += ["plate i in g;"] if "[g, i" in used else []
        for line in [line for line in self.lines if line.startswith("data ")]:
            name = line.split()[1].split("[")[0]
            if used.count(name + "[") < 2:
                self.lines.remove(line)
        return "model m {\n  " + "\n  ".join(plates + self.lines) + "\n}\n"

    def log_joint(self, v, informed):
        """Without the elements on which no data depend: they are integrated out."""
        kept = [t(v) * informed.get(name, True) for name, t in self.terms.items()]
        return sum(t.reshape(len(t), -1).sum(1) for t in kept)

    def informed(self, posterior):
        """By latent variable: whether data depend on its elements, found by changing one after the other."""
        rng, draws = np.random.default_rng(7), 200
        values = {}
        for f in q.factors(posterior):
            values.update(f.draw(rng, draws))
            if f.kind == "categorical":  # whatever is possible, however seldom
                values[f.names[0]] = rng.integers(f.q("probs").shape[-1], size=values[f.names[0]].shape)
        before = {name: t(values) for name, t in self.terms.items()}
        reached = {}  # by element of a variable: elements of others whose terms it changes
        for f in q.factors(posterior):
            other = f.draw(rng, draws)
            for at in np.ndindex(*f.elements):
                changed = dict(values)
                for name in f.names:
                    changed[name] = values[name].copy()
                    there = (slice(None),) + at
                    moved = other[name][there]
                    if f.kind == "categorical":
                        moved = (values[name][there] + rng.integers(1, f.q("probs").shape[-1], size=draws)) % f.q("probs").shape[-1]
                    elif f.kind in ("bernoulli", "spin"):
                        moved = (1 if f.kind == "bernoulli" else 0) - values[name][there]
                    changed[name][there] = moved
                for name in f.names:
                    reached[name, at] = {(child, tuple(e)) for child, t in self.terms.items() if child not in f.names
                                         for e in np.argwhere(np.any(t(changed) != before[child], axis=0))}
        out = {name: np.zeros(f.elements, bool) for f in q.factors(posterior) for name in f.names}
        more = True
        while more:
            more = False
            for (name, at), children in reached.items():
                if not out[name][at] and any(c in self.observed or out[c][e] for c, e in children):
                    out[name][at] = more = True
        return out

    def bound(self):
        """Data as the command line takes them: ragged ones by rows."""
        out = {}
        for name, value in self.data.items():
            axes = self.variables[name][1]
            if axes[:2] == ("g", "i"):
                ends = np.cumsum(self.lengths)
                value = [value[e - n:e] for e, n in zip(ends, self.lengths)] if axes == ("g", "i") else value
                out["i"] = self.lengths
            out[name] = value
        return out


def check(seed):
    model = Model(seed)
    text = model.build()
    data = model.bound()
    few = ["--max-iter", "3", "--local-iters", "3", "--local-tol", "0", "--seed", "3"]
    try:
        native = fit(text, data, *few)
    except RuntimeError as e:
        if str(e).startswith("exit 3:"):
            return text, data, "refused: " + next((line.split("error: ")[1] for line in str(e).splitlines() if "error: " in line), str(e))
        raise
    slow = fit(text, data, *few, "--interpret")
    for name, value in slow.posterior.items():
        if not relative(native.posterior[name], value) <= 1e-9:
            raise AssertionError(f"{name}: native and interpreted differ by {relative(native.posterior[name], value):.1e}")
    if not abs(native.elbo - slow.elbo) <= 1e-10 * (1 + abs(slow.elbo)):
        raise AssertionError(f"ELBO {native.elbo!r} natively, {slow.elbo!r} interpreted")
    last = fit(text, data, "--max-iter", "20000", "--tol", "1e-20", "--local-iters", "1000", "--local-tol", "1e-13", "--seed", "3",
               "--guide", "factorised")
    if last.report["status"] != "converged":
        return text, data, f"ok, {last.report['status']}"
    informed = model.informed(last.posterior)
    return text, data, "ok: " + q.check_fixed_point(last.posterior, last.elbo, lambda v: model.log_joint(v, informed), draws=DRAWS,
                                                    informed=informed)


def main():
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 24
    failed, refused, began = 0, 0, time.time()
    for seed in range(first, first + count):
        try:
            text, _, verdict = check(seed)
            refused += verdict.startswith("refused")
            print(f"{seed}: {verdict}", flush=True)
        except Exception as e:
            failed += 1
            print(f"FAILED {seed}: {type(e).__name__}: {e}\n{Model(seed).build()}", flush=True)
    print(f"{count} models, {refused} without closed form, {failed} wrong, {time.time() - began:.0f} s")
    sys.exit(1 if failed or refused > count / 2 else 0)


if __name__ == "__main__":
    main()
