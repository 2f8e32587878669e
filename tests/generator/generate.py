"""Valid models with data, written by chance.

A model is a list of declarations; each latent variable and each observation comes from a template, which refers to what was
declared before. Every case switches a random half of the templates and features off, so that those that hide each other
are seen alone (after YARPGen and swarm testing). Sizes of plates are drawn from nothing to a few hundred, now and then to two
thousand; data are random values of the right support, with gaps.

    case = generate(seed)
    case = generate(seed, small=True)   # one whose posterior can be summed over all values (exact.py)
    case.text         # the model file
    case.write(folder)  # model.lehr and data.json
"""
import os
from dataclasses import dataclass, field

import numpy as np

from lehr_tests import write, write_json

FEATURES = ["nested", "chain", "times", "weight", "alias", "index_data", "covariate", "vector", "matrix", "category", "bit",
            "category_index", "dirichlet", "beta", "gamma", "variance", "scale", "joint", "point", "independent", "gaps",
            "student", "laplace", "logistic", "probit", "softmax", "poisson_sum", "binomial", "count", "categorical",
            "multinomial", "mvnormal", "mixture", "zero_inflated", "censored", "lognormal", "exponential", "geometric",
            "negative_binomial", "hierarchy", "random_walk", "empty", "large", "multiplied_precision", "items_only", "wide", "partial",
            "trials_of_category", "potential", "lag", "autoregression", "switched", "thousands", "borrowed_names"]
# Names that the compiler gives to arrays and sizes of its own, which users may give to their variables as well.
BORROWED = ["S0", "S1", "G0", "G1", "R0", "R1", "fresh0", "elbo", "weights", "one", "tile", "lanes", "energy0", "lowest", "random"]
# What a sum over all values of the latent variables does not know, or what would be too large for it (exact.py).
NOT_SMALL = {"nested", "times", "weight", "vector", "matrix", "softmax", "multinomial", "mvnormal", "large", "empty", "thousands",
             "point", "wide", "partial", "items_only"}


@dataclass
class Plate:
    name: str
    size: int
    text: str
    parent: str = ""
    lengths: np.ndarray = None  # of the rows of a nested plate
    ordered: bool = False
    times: bool = False


@dataclass
class Variable:
    name: str
    kind: str  # "real", "precision", "variance", "sd", "rate", "prob", "simplex", "index", "bit", "vector", "matrix"
    axes: tuple
    over: str = ""  # the plate of an index, a simplex, a vector or a matrix
    data: bool = False
    fixed: bool = False  # a plate of fixed size may be numbered


@dataclass
class Array:
    axes: tuple
    value: np.ndarray  # by its axes, those of a nested plate as one


@dataclass
class Case:
    seed: int
    features: set = field(default_factory=set)
    lines: list = field(default_factory=list)
    arrays: dict = field(default_factory=dict)
    plates: dict = field(default_factory=dict)

    @property
    def text(self):
        return "model random {\n" + "".join(f"  {line}\n" for line in self.lines) + "}\n"

    def rows(self, axes):
        """The shape of an array with these axes: a nested plate with its parent is one axis."""
        out, k = [], 0
        while k < len(axes):
            nested = k + 1 < len(axes) and self.plates[axes[k + 1]].parent == axes[k]
            out.append(int(self.plates[axes[k + 1]].lengths.sum()) if nested else self.plates[axes[k]].size)
            k += 2 if nested else 1
        return tuple(out)

    def contents(self):
        out = {}
        for name, array in self.arrays.items():
            lists = np.asarray(array.value, dtype=object)
            lists[lists != lists] = None
            lists = lists.tolist()
            nested = len(array.axes) > 1 and self.plates[array.axes[1]].parent == array.axes[0]
            if nested and array.value.ndim > 1:  # rows of vectors are joined end to end
                out[array.axes[1]] = self.plates[array.axes[1]].lengths.tolist()
            elif nested:
                ends = np.cumsum(self.plates[array.axes[1]].lengths)
                lists = [lists[e - n:e] for e, n in zip(ends, self.plates[array.axes[1]].lengths)]
            out[name] = lists
        return out

    def sizes(self):
        """Those that no array shows: of plates that have a name in the text and no fixed size."""
        text = self.text
        return {p.name: p.size for p in self.plates.values()
                if not p.parent and "=" not in p.text and f"plate {p.name}" in text}

    def write(self, folder):
        os.makedirs(folder, exist_ok=True)
        write(f"{folder}/model.lehr", self.text)
        write_json(f"{folder}/data.json", self.contents())
        return ["--data", f"{folder}/data.json", *self.size_options()]

    def size_options(self):
        return [word for name, size in self.sizes().items() for word in ("--sizes", f"{name}={size}")]

    def write_arrays(self, folder):
        """A file for each array, which can be streamed; nothing where there are rows of different lengths."""
        if any(p.parent for p in self.plates.values()):
            return []
        out = self.size_options()
        for name, array in self.arrays.items():
            np.save(f"{folder}/{name}.npy", array.value)
            out += ["--data", f"{name}={folder}/{name}.npy"]
        return out


class Writer:
    def __init__(self, seed, without=(), small=False):
        self.r = np.random.default_rng(seed)
        on = {f for f in FEATURES if self.r.random() < 0.5} - set(without) - (NOT_SMALL if small else set())
        self.small, self.many = small, "thousands" in on and self.chance(0.3)
        self.case = Case(seed, on)
        self.variables, self.members, self.count = [], [], {}

    def on(self, feature):
        return feature in self.case.features

    def chance(self, p):
        return self.r.random() < p

    def pick(self, options):
        return options[int(self.r.integers(len(options)))]

    def name(self, letter):
        free = [name for name in BORROWED if name not in self.count]
        if self.on("borrowed_names") and free and self.chance(0.5):
            name = self.pick(free)
            self.count[name] = 1
            return name
        self.count[letter] = self.count.get(letter, 0) + 1
        return f"{letter}{self.count[letter]}"

    def number(self, low, high):
        return f"{round(float(self.r.uniform(low, high)), 2):g}"

    def say(self, line):
        self.case.lines.append(line)

    # Plates

    def size(self, most):
        if self.small:
            return self.pick([1, 1, 2, 2, 3])
        sizes = [1, 2, 3, 5, 7, 8, 13, 16, 17, 33]
        if self.on("large"):
            sizes += [64, 65, 130, 257, 300]
        if self.on("empty"):
            sizes += [0, 1]
        return min(self.pick(sizes), most)

    def plate(self, name, size, text, **more):
        self.case.plates[name] = Plate(name, size, text, **more)
        self.say(text)

    def add_plates(self):
        size = self.pick([300, 511, 700, 1024, 1500, 2000]) if self.many else self.size(300)
        self.plate("n", size, "plate n times weight;" if self.on("weight") else "plate n;", times=self.on("weight"))
        if self.on("weight"):
            self.data("weight", ("n",), self.r.choice([0, 0.5, 1, 1, 2], self.case.rows(("n",))), "real", "weight")
        self.plate("g", self.size(40), "plate g;")
        k = int(self.r.integers(1, 3 if self.small else 5))
        self.plate("k", k, f"plate k = {k};")
        d = int(self.r.integers(1, 3 if self.small else 4))
        self.plate("d", d, f"plate d = {d};")
        if self.on("wide"):
            v = self.pick([5, 8, 12, 33, 60])
            self.plate("v", v, f"plate v = {v};")
        if self.on("nested") and not self.on("items_only"):
            lengths = self.r.integers(0, 6, self.case.plates["g"].size)
            ordered = " ordered" if self.on("chain") and self.chance(0.5) else ""
            times = self.on("times") and not ordered
            self.plate("i", int(lengths.sum()), f"plate i in g{ordered}{' times copies' if times else ''};", parent="g",
                       lengths=lengths, ordered=bool(ordered), times=times)
            if times:
                self.data("copies", ("g", "i"), self.r.integers(1, 4, self.case.rows(("g", "i"))), "count", "count")
        if self.on("chain"):
            self.plate("t", max(1, self.size(60)), "plate t ordered;", ordered=True)
        if self.on("alias"):
            self.plate("h", k, "plate h = k;")
            if self.on("lag"):
                self.plate("j", k, "plate j = k;")

    def data(self, name, axes, value, type_, kind, over=""):
        self.say(f"data {name}[{', '.join(axes)}] : {type_};")
        self.case.arrays[name] = Array(axes, np.asarray(value))
        self.variables.append(Variable(name, kind, axes, over, data=True))

    def add_inputs(self):
        for axes in self.contexts():
            rows = self.case.rows(axes)
            tag = "".join(axes)
            if self.on("covariate") and self.chance(0.7):
                self.data(f"x{tag}", axes, self.r.normal(size=rows).round(3), "real", "real")
            if self.on("vector") and self.chance(0.5):
                width = self.case.plates["d"].size
                self.data(f"X{tag}", axes, self.r.normal(size=rows + (width,)).round(3), "vector over d", "vector", "d")
            for over in ("g", "k") + ("v",) * self.on("wide"):
                size = self.case.plates[over].size
                if self.on("index_data") and size and self.chance(0.5) and over not in axes:
                    self.data(f"of{over}{tag}", axes, self.r.integers(0, size, rows), over, "index", over)
            if self.on("multiplied_precision") and self.chance(0.5):
                self.data(f"s{tag}", axes, self.r.choice([0.5, 0.8, 1, 1.3, 2] + [0] * self.chance(0.2), rows), "real", "positive")

    def contexts(self):
        if self.on("items_only"):
            return [("n",)]
        out = [("n",), ("g",)]
        if "i" in self.case.plates:
            out.append(("g", "i"))
        if "t" in self.case.plates:
            out.append(("t",))
        return out

    # References

    def index_texts(self, plate, context):
        """Ways to index a plate in a context."""
        same = {"h": "k", "j": "k"}
        found = [c for c in context if same.get(c, c) == same.get(plate, plate)]
        for v in self.variables:
            if v.kind == "index" and v.over == plate and set(v.axes) <= set(context) and self.prefix(v.axes, context):
                if v.data or self.on("category_index"):
                    found += [self.text(v, v.axes)] * 2
        if not found and "=" in self.case.plates[plate].text and self.chance(0.3):
            found.append(str(int(self.r.integers(self.case.plates[plate].size))))
        return found

    def prefix(self, axes, context):
        """A nested plate is indexed within its row."""
        return "i" not in axes or "i" in context

    @staticmethod
    def text(v, at):
        return v.name + (f"[{', '.join(at)}]" if at else "")

    def reference(self, v, context):
        if "i" in v.axes and context[:2] != ("g", "i"):
            return None
        at = []
        for a in v.axes:
            ways = [a] if a == "i" or (a == "g" and "i" in v.axes) else self.index_texts(a, context)
            if not ways:
                return None
            at.append(self.pick(ways))
        return self.text(v, at)

    def find(self, kind, context, over=None, data=False):
        """A reference to some variable of a kind, or None."""
        candidates = [v for v in self.variables if v.kind == kind and v.data == data and over in (None, v.over)]
        self.r.shuffle(candidates)
        for v in candidates:
            text = self.reference(v, context)
            if text:
                return text
        return None

    def overs(self):
        """Plates of the values of a category."""
        return ["k", "d"] + ["v", "v"] * self.on("wide")

    def random_axes(self, last=()):
        """Plates of a parameter."""
        options = [(), (), ("k",), ("k",), ("k",) if self.on("items_only") else ("g",)]
        if "h" in self.case.plates:
            options.append(("h", "k"))
        if "v" in self.case.plates:
            options.append(("v",))
        if "i" in self.case.plates and not self.on("items_only") and self.chance(0.3):
            options.append(("g", "i"))
        axes = self.pick(options)
        return tuple(a for a in axes if a not in last)

    # Latent variables

    def latent(self, letter, kind, axes, distribution, over="", suffix=""):
        v = Variable(self.name(letter), kind, axes, over)
        self.say(f"{self.text(v, axes)} ~ {distribution}{f' over {over}' if over and kind != 'index' else ''}{suffix};")
        self.variables.append(v)
        return v

    def noise(self, context):
        """A parameter of spread of a Normal: its text."""
        options = ["number"] + ["precision"] * 2
        options += ["variance"] * self.on("variance") + ["sd"] * self.on("scale")
        kind = self.pick(options)
        found = self.find(kind, context) if kind != "number" else None
        if not found:
            return f"{self.pick(['precision', 'variance', 'sd'])} = {self.number(0.5, 2)}"
        factor = self.find("positive", context, data=True) if kind == "precision" and self.chance(0.3) else None
        return f"{kind} = {factor + ' * ' if factor else ''}{found}"

    def add_spread(self):
        kind = self.pick(["precision"] * 2 + ["variance"] * self.on("variance") + ["sd"] * self.on("scale"))
        axes = self.random_axes()
        shape, rate = self.number(1, 4), self.number(0.5, 3)
        if kind == "precision":
            text = self.pick([f"Gamma(shape = {shape}, rate = {rate})", f"Gamma(shape = {shape}, scale = {rate})"])
        elif kind == "variance":
            text = f"InverseGamma(shape = {shape}, scale = {rate})"
        else:
            text = self.pick([f"HalfCauchy(scale = {rate})", f"HalfStudentT(df = 3, scale = {rate})"])
        self.latent("tau", kind, axes, text)

    def add_location(self):
        axes = self.random_axes()
        mean = self.find("real", axes) if self.on("hierarchy") else None
        v = self.latent("mu", "real", axes, f"Normal(mean = {mean or self.number(-2, 2)}, {self.noise(axes)})")
        self.members.append(v)

    def add_vector(self):
        axes = self.random_axes(("d",))
        matrix = self.find("matrix", axes, "d") if self.on("matrix") else None
        mean = self.find("vector", axes, "d") if self.on("hierarchy") else None
        v = self.latent("w", "vector", axes, f"MvNormal(mean = {mean or 0}, precision = {matrix or self.number(0.3, 2)})", "d")
        self.members.append(v)

    def add_matrix(self):
        df = self.case.plates["d"].size + int(self.r.integers(1, 4))
        self.latent("L", "matrix", self.random_axes(("d",)), f"Wishart(df = {df}, scale = {self.number(0.2, 1)})", "d")

    def add_simplex(self):
        over = self.pick(["k"] + self.overs())
        axes = self.random_axes((over, "h"))
        self.latent("pi", "simplex", axes, f"Dirichlet(concentration = {self.number(1, 3)})", over)

    def add_probability(self):
        self.latent("p", "prob", self.random_axes(), f"Beta({self.number(1, 3)}, {self.number(1, 3)})")

    def add_rate(self):
        rate = (self.find("rate", ()) if self.on("hierarchy") and self.chance(0.3) else None) or self.number(0.5, 2)
        self.latent("lambda", "rate", self.random_axes(), f"Gamma(shape = {self.number(1, 3)}, rate = {rate})")

    def add_category(self):
        context = self.pick(self.contexts())
        over = self.pick(["k"] + self.overs())
        p = self.find("simplex", context, over)
        if self.on("softmax") and self.chance(0.2) and self.find("vector", context, over):
            p = f"softmax({self.find('vector', context, over)})"
        self.latent("z", "index", context, f"Categorical({p})" if p else f"Uniform() over {over}", over)

    def add_bit(self):
        context = self.pick(self.contexts())
        p = self.find("prob", context) or self.number(0.2, 0.8)
        if self.on("logistic") and self.chance(0.2):
            p = f"logistic({self.predictor(context)})"
        self.latent("b", "bit", context, f"Bernoulli({p})")

    def add_chain(self):
        ordered = [c for c in self.contexts() if self.case.plates[c[-1]].ordered]
        if not ordered:
            return
        context = self.pick(ordered)
        before = ", ".join(context[:-1] + (context[-1] + "-1",))
        if self.on("random_walk") and self.chance(0.5):
            name = f"mu{self.count.get('mu', 0) + 1}"
            mean = f"{self.pick(['', '0.8 * ', '0.5 * '])}{name}[{before}]"
            if self.on("lag") and self.chance(0.5):
                mean = f"0.5 * {name}[{before}] + {self.pick(['0.3', '0.4'])} * {name}[{before.replace('-1', '-2')}]"
            self.latent("mu", "real", context, f"Normal(mean = {mean}, {self.noise(context[:-1])})",
                        suffix=f" start Normal(mean = 0, sd = {self.number(1, 2)})")
            return
        name = self.name("A")
        state = f"z{self.count.get('z', 0) + 1}"
        far = "j" in self.case.plates and self.chance(0.5)
        self.say(f"{name}[{'h, j' if far else 'k'}] ~ Dirichlet(concentration = {self.number(1, 2)}) over k;")
        earlier = f"{state}[{before.replace('-1', '-2')}], " if far else ""
        self.latent("z", "index", context, f"Categorical({name}[{earlier}{state}[{before}]])", "k", suffix=" start Uniform() over k")

    def add_spins(self):
        """Spins in a field and on pairs, and categories that like to be equal."""
        g = self.case.plates["g"].size
        if "e" in self.case.plates or g < 2:
            return
        count = int(self.r.integers(1, 2 if self.small else 2 * g))
        self.plate("e", count, "plate e;")
        first = self.r.integers(0, g, count)
        self.data("one", ("e",), first, "g", "pair", "g")
        self.data("other", ("e",), (first + self.r.integers(1, g, count)) % g, "g", "pair", "g")
        spins = self.latent("s", "spin", ("g",), "Spin()")
        self.say(f"potential[e] {self.number(-0.5, 0.5)} * {spins.name}[one[e]] * {spins.name}[other[e]];")
        if self.chance(0.5):
            self.say(f"potential[g] {self.number(-0.5, 0.5)} * {spins.name}[g];")
        categories = [v for v in self.variables if v.kind == "index" and v.axes == ("g",) and v.over == "k" and not v.data]
        if "h" in self.case.plates and categories:
            self.data("J", ("h", "k"), self.r.normal(0, 0.5, self.case.rows(("h", "k"))).round(2), "real", "coupling")
            z = categories[0].name
            self.say(f"potential[e] J[{z}[one[e]], {z}[other[e]]];")

    def predictor(self, context, terms=3):
        """A sum that is linear in each location."""
        parts = []
        for _ in range(int(self.r.integers(1, terms + 1))):
            found = self.find("real", context)
            if self.on("vector") and self.chance(0.4):
                x, w = self.find("vector", context, "d", data=True), self.find("vector", context, "d")
                if x and w:
                    parts.append(f"dot({w}, {x})")
                    continue
            if not found or found in " ".join(parts):
                continue
            x = self.find("real", context, data=True) if self.chance(0.4) else None
            bit = self.find("bit", context) if self.on("bit") and self.chance(0.2) else None
            if self.on("potential") and self.chance(0.2):
                bit = self.find("spin", context)
            parts.append(" * ".join(filter(None, [x, bit, found])))
        if not parts:
            return self.number(-1, 1)
        return self.pick([" + ", " + ", " - "]).join(parts)

    def link(self, context):
        """The predictor of a link, which a latent bit or category may choose."""
        if self.on("switched") and self.chance(0.6):
            bit, a, b = self.find("bit", context), self.find("real", context), self.find("real", context)
            if bit and a and self.chance(0.6):
                return f"{bit} * {a} + (1 - {bit}) * {b if b != a else self.number(-1, 1)}"
            chosen = [v for v in self.variables if v.kind == "index" and not v.data]
            self.r.shuffle(chosen)
            for z in chosen:
                at = self.reference(z, context)
                if at:
                    reals = [v for v in self.variables if v.kind == "real" and v.axes == (z.over,) and not v.data]
                    return f"{reals[0].name if reals else self.apart(z.over)}[{at}]"
        return self.predictor(context)

    def apart(self, over):
        """A location with an element for each value of a category."""
        v = self.latent("mu", "real", (over,), f"Normal(mean = 0, sd = {self.number(1, 2)})")
        self.members.append(v)
        return v.name

    # Observations

    def observe(self, context, distribution, value, suffix="", entries=False):
        name = self.name("y")
        value = np.asarray(value, dtype=float)
        gaps = self.on("gaps") and value.size and (entries or value.ndim == len(self.case.rows(context))) and self.chance(0.5)
        if gaps:
            value = np.where(self.r.random(value.shape) < (0.5 if entries else 0.2), np.nan, value)
        self.say(f"observe {name}[{', '.join(context)}] ~ {distribution}{suffix};")
        self.case.arrays[name] = Array(context, value if gaps or value.dtype.kind == "f" and np.any(value % 1) else value.astype(int))

    def add_observation(self):
        context = self.pick(self.contexts() + [("n",)] + ([("n", "k")] if self.chance(0.3) else []))
        rows = self.case.rows(context)
        reals = self.r.normal(0, 2, rows).round(3)
        options = ["normal"] * 3 + [f for f in (
            "student", "laplace", "logistic", "probit", "poisson_sum", "binomial", "count", "categorical", "multinomial",
            "mvnormal", "mixture", "zero_inflated", "censored", "lognormal", "exponential", "geometric", "negative_binomial",
            "softmax", "bit") if self.on(f)]
        options += ["autoregression"] * (self.on("autoregression") and self.case.plates[context[-1]].ordered)
        options += ["binomial"] * self.on("trials_of_category") + ["logistic", "probit"] * self.on("switched")
        getattr(self, "observe_" + self.pick(options))(context, rows, reals)

    def observe_normal(self, context, rows, reals):
        self.observe(context, f"Normal(mean = {self.predictor(context)}, {self.noise(context)})", reals)

    def observe_autoregression(self, context, rows, reals):
        name = f"y{self.count.get('y', 0) + 1}[{', '.join(context[:-1] + (context[-1] + '-1',))}]"
        self.observe(context, f"Normal(mean = 0.5 * {name} + {self.predictor(context)}, {self.noise(context[:-1])})", reals,
                     " start Normal(mean = 0, sd = 2)")

    def observe_student(self, context, rows, reals):
        self.observe(context, f"StudentT(df = 4, mean = {self.predictor(context)}, {self.noise(context)})", reals)

    def observe_laplace(self, context, rows, reals):
        self.observe(context, f"Laplace(mean = {self.predictor(context)}, scale = {self.number(0.5, 2)})", reals)

    def observe_lognormal(self, context, rows, reals):
        self.observe(context, f"LogNormal(mean = {self.predictor(context)}, {self.noise(context)})", np.exp(reals / 2).round(3))

    def observe_censored(self, context, rows, reals):
        self.observe(context, f"Normal(mean = {self.predictor(context)}, {self.noise(context)})", reals,
                     f" censored above {self.number(0.5, 2)}")

    def observe_mixture(self, context, rows, reals):
        p = self.find("prob", context) or self.number(0.3, 0.9)
        self.observe(context, f"mixture({p}, Normal(mean = {self.predictor(context)}, {self.noise(context)}), "
                              f"Normal(mean = 0, sd = {self.number(3, 9)}))", reals)

    def observe_bit(self, context, rows, reals):
        p = self.find("prob", context) or self.number(0.3, 0.7)
        self.observe(context, f"Bernoulli({p})", self.r.integers(0, 2, rows))

    def observe_logistic(self, context, rows, reals):
        self.observe(context, f"Bernoulli(logistic({self.link(context)}))", self.r.integers(0, 2, rows))

    def observe_probit(self, context, rows, reals):
        self.observe(context, f"Bernoulli(probit({self.link(context)}))", self.r.integers(0, 2, rows))

    def observe_binomial(self, context, rows, reals):
        p = self.find("prob", context)
        p = p if p and self.chance(0.5) else f"logistic({self.link(context)})"
        trials = int(self.r.integers(1, 9))
        chosen = [v for v in self.variables if v.kind == "index" and not v.data]
        at = self.reference(self.pick(chosen), context) if chosen and self.on("trials_of_category") else None
        if at:
            over = next(v.over for v in chosen if at.startswith(v.name + "["))
            if f"trials{over}" not in self.case.arrays:
                self.data(f"trials{over}", (over,), self.r.integers(0, 9, self.case.rows((over,))), "count", "trials")
            most = int(self.case.arrays[f"trials{over}"].value.max())
            return self.observe(context, f"Binomial(trials{over}[{at}], {p})", self.r.integers(0, most + 1, rows))
        self.observe(context, f"Binomial({trials}, {p})", self.r.integers(0, trials + 1, rows))

    def observe_geometric(self, context, rows, reals):
        p = self.find("prob", context) or f"logistic({self.link(context)})"
        self.observe(context, f"Geometric({p})", self.r.poisson(1.5, rows))

    def observe_negative_binomial(self, context, rows, reals):
        p = self.find("prob", context) or f"logistic({self.link(context)})"
        self.observe(context, f"NegativeBinomial({self.number(1, 4)}, {p})", self.r.poisson(2, rows))

    def observe_exponential(self, context, rows, reals):
        rate = self.find("rate", context) or self.number(0.5, 2)
        self.observe(context, f"Exponential({rate})", self.r.exponential(1, rows).round(3) + 0.001)

    def observe_count(self, context, rows, reals):
        rate = self.find("rate", context) or self.number(0.5, 2)
        other = self.find("rate", context) if self.chance(0.3) else None
        rate = f"{other} * {rate}" if other and other != rate else rate
        self.observe(context, f"Poisson({rate})", self.r.poisson(2, rows))

    def observe_poisson_sum(self, context, rows, reals):
        rates = {self.find("rate", context) for _ in range(3)} - {None}
        text = " + ".join(sorted(rates)) if rates else self.number(1, 2)
        self.observe(context, f"Poisson({text} + {self.number(0.1, 1)})", self.r.poisson(2, rows))

    def observe_zero_inflated(self, context, rows, reals):
        p, rate = self.find("prob", context) or "0.6", self.find("rate", context) or "2"
        self.observe(context, f"zero_inflated({p}, Poisson({rate}))", self.r.poisson(1.5, rows) * self.r.integers(0, 2, rows))

    def observe_categorical(self, context, rows, reals):
        over = self.pick(self.overs())
        p = self.find("simplex", context, over)
        if p and over not in context:
            self.observe(context, f"Categorical({p})", self.r.integers(0, self.case.plates[over].size, rows))

    def observe_softmax(self, context, rows, reals):
        scores = self.find("vector", context, "d")
        if scores:
            self.observe(context, f"Categorical(softmax({scores}))", self.r.integers(0, self.case.plates["d"].size, rows))

    def observe_multinomial(self, context, rows, reals):
        over = self.pick(self.overs())
        p = self.find("simplex", context, over)
        if p and over not in context:
            self.observe(context, f"Multinomial({p})", self.r.poisson(2, rows + (self.case.plates[over].size,)))

    def observe_mvnormal(self, context, rows, reals):
        matrix = (self.find("matrix", context, "d") if self.on("matrix") else None) or self.number(0.5, 2)
        mean = self.find("vector", context, "d") or 0
        self.observe(context, f"MvNormal(mean = {mean}, precision = {matrix})",
                     self.r.normal(size=rows + (self.case.plates["d"].size,)).round(3), " over d", entries=self.on("partial"))

    # The guide

    def add_guide(self):
        for kind in ("joint", "point", "independent"):
            if not self.on(kind) or self.chance(0.3):
                continue
            chains = [v for v in self.variables if not v.data and v.kind in ("index", "real") and " start " in self.line(v)]
            options = {"joint": self.members, "independent": chains,
                       "point": [v for v in self.variables if not v.data and v.kind in ("real", "precision", "vector", "prob")]}[kind]
            if len(options) < (2 if kind == "joint" else 1):
                continue
            count = int(self.r.integers(2, min(3, len(options)) + 1)) if kind == "joint" else 1
            chosen = [options[k].name for k in self.r.permutation(len(options))[:count]]
            self.say(f"guide {kind}({', '.join(chosen)});")

    def line(self, v):
        return next(line for line in self.case.lines if line.startswith(f"{v.name}[") or line.startswith(f"{v.name} "))

    def run(self):
        self.add_plates()
        self.add_inputs()
        steps = [self.add_spread, self.add_location, self.add_location]
        steps += [self.add_vector] * self.on("vector") + [self.add_simplex] * self.on("dirichlet") + [self.add_probability] * self.on("beta")
        steps += [self.add_matrix] * (self.on("matrix") and self.on("vector")) + [self.add_rate] * self.on("gamma")
        for _ in range(int(self.r.integers(1, 3 if self.small else 4 if self.many else 8)) + (not self.small)):
            self.pick(steps)()
        later = [self.add_spins] * 2 * (self.on("potential") and not self.on("items_only")) + [self.add_category] * self.on("category") + [self.add_bit] * self.on("bit") + [self.add_chain] * 2 * self.on("chain")
        for _ in range(int(self.r.integers(0, 2 if self.many else 3)) if later else 0):
            self.pick(later)()
        for _ in range(int(self.r.integers(1, 2 if self.many else 4))):
            self.add_observation()
        if self.on("trials_of_category") and self.chance(0.5):
            self.add_category()
            axes = self.variables[-1].axes
            self.observe_binomial(axes, self.case.rows(axes), None)
        if not any(line.startswith("observe") for line in self.case.lines):
            self.observe_normal(("n",), self.case.rows(("n",)), self.r.normal(size=self.case.rows(("n",))))
        self.add_guide()
        return self.case


def generate(seed, without=(), small=False):
    """The case of a seed, of a random half of the features but these."""
    return Writer(seed, without, small).run()


if __name__ == "__main__":
    import sys

    print(generate(int(sys.argv[1]), small=sys.argv[2:] == ["small"]).text)
