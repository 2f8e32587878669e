"""The same model for JAGS (Plummer 2003), which shares no line with Lehr: posterior means of both samplers agree to Monte Carlo error.

Lines are translated one by one; a model with a line that has no translation is left out, and so are models with latent
categories, whose components the samplers may order as they like. Among 1e5 differences none is FAR by chance.
"""
import os
import re

import numpy as np

from lehr_tests import read, run, write

SWEEPS, CHAINS = 4000, 4
# What the translation does not know is not in the models that are compared.
WITHOUT = {"weight", "times", "nested", "chain", "category", "matrix", "variance", "scale", "point", "softmax", "mixture",
           "zero_inflated", "censored", "multinomial", "alias"}
FAR = 5.0  # standard errors of a difference


class Untranslated(Exception):
    pass


def arguments(text):
    """Positional and named arguments of "f(a, b = c)", split at commas outside brackets."""
    depth, start, pieces = 0, 0, []
    for k, c in enumerate(text):
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            pieces.append(text[start:k])
            start = k + 1
    pieces.append(text[start:])
    out = {}
    for k, piece in enumerate(p.strip() for p in pieces if p.strip()):
        name, equals, value = piece.partition(" = ")
        out[name if equals else str(k)] = value if equals else piece
    return out


def whole(text):
    """A vector, all of it: "w" is w[], "w[g]" is w[g, ]."""
    return f"{text[:-1]}, ]" if text.endswith("]") else f"{text}[]"


def expression(text):
    text = re.sub(r"\bdot\((\w+(?:\[[^\]]*\])*), (\w+(?:\[[^\]]*\])?)\)", lambda m: f"inprod({whole(m.group(1))}, {whole(m.group(2))})", text)
    text = re.sub(r"\blogistic\(", "ilogit(", re.sub(r"\bprobit\(", "phi(", text))
    if re.search(r"\b(dot|softmax|mixture|zero_inflated)\(|t-1", text):
        raise Untranslated(text)
    return re.sub(r"\[(\d+)", lambda m: f"[{int(m.group(1)) + 1}", re.sub(r", (\d+)\]", lambda m: f", {int(m.group(1)) + 1}]", text))


def precision(a):
    for name, form in (("precision", "({})"), ("variance", "1 / ({})"), ("sd", "pow({}, -2)")):
        if name in a:
            return form.format(expression(a[name]))
    raise Untranslated(str(a))


def distribution(text):
    found = re.fullmatch(r"(\w+)\((.*)\)", text)
    if not found:
        raise Untranslated(text)
    family, a = found.group(1), arguments(found.group(2))
    e = {k: expression(v) for k, v in a.items()}
    if family in ("Normal", "LogNormal"):
        return f"{'dnorm' if family == 'Normal' else 'dlnorm'}({e['mean']}, {precision(a)})"
    if family == "StudentT":
        return f"dt({e['mean']}, {precision(a)}, {e['df']})"
    if family == "Laplace":
        return f"ddexp({e['mean']}, 1 / {e['scale']})"
    if family == "Gamma":
        return f"dgamma({e['shape']}, {e['rate'] if 'rate' in e else '1 / ' + e['scale']})"
    if family == "Categorical":
        return f"dcat({whole(e['0'])})"
    plain = {"Beta": "dbeta({0}, {1})", "Bernoulli": "dbern({0})", "Poisson": "dpois({0})", "Exponential": "dexp({0})",
             "Binomial": "dbin({1}, {0})", "NegativeBinomial": "dnegbin({1}, {0})", "Geometric": "dnegbin({0}, 1)"}
    if family not in plain:
        raise Untranslated(family)
    return plain[family].format(*(f"({e[str(k)]})" for k in range(len(e))))


def translate(case):
    """(text, data, names of the latent variables); raises Untranslated."""
    lines, names, data = [], [], {}
    for line in case.lines:
        if re.match(r"plate \w+ .*times|potential|guide point", line):
            raise Untranslated(line)
        if line.startswith(("plate", "data", "guide")):
            continue
        found = re.fullmatch(r"(observe )?(\w+)(?:\[([\w, ]+)\])? ~ (.*);", line)
        if not found or "i" in (axes := (found.group(3) or "").split(", ")):
            raise Untranslated(line)
        axes = [a for a in axes if a]
        if not found.group(1):
            names.append(found.group(2))
            if re.search(r"Categorical|Uniform", line):
                raise Untranslated(line)
        body = found.group(4)
        event = re.fullmatch(r"(Dirichlet|MvNormal)\((.*)\) over (\w)", body)
        if event:
            over, a = event.group(3), arguments(event.group(2))
            size = case.plates[over].size
            if event.group(1) == "Dirichlet":
                left = ", ".join(axes + [f"1:{size}"])
                body = f"{found.group(2)}[{left}] ~ ddirch(rep({a['concentration']}, {size}))"
                if size == 1:
                    raise Untranslated("one value")
            else:
                if not re.fullmatch(r"[\d.]+", a["precision"]):
                    raise Untranslated(body)
                mean = a["mean"] if re.fullmatch(r"-?[\d.]+", a["mean"]) else whole(expression(a["mean"])).replace(", ]", ", e]").replace("[]", "[e]")
                body = f"{found.group(2)}[{', '.join(axes + ['e'])}] ~ dnorm({mean}, {a['precision']})"
                body = f"for (e in 1:{size}) {{ {body} }}"
        else:
            body = f"{found.group(2)}{'[' + ', '.join(axes) + ']' if axes else ''} ~ {distribution(body)}"
        for a in reversed(axes):
            body = f"for ({a} in 1:{case.plates[a].size}) {{ {body} }}"
        lines.append(body)
    text = "\n".join(lines)
    for name, array in case.arrays.items():
        if re.search(rf"\b{name}\b", text):
            value = np.asarray(array.value, dtype=float)
            if any(re.match(rf"data {name}\[.* : [gkdv];$|observe {name}\[.* ~ Categorical", line) for line in case.lines):
                value = value + 1
            data[name] = value
    return f"model {{\n{text}\n}}\n", data, names


def for_jags(name, value):
    """One array of a data file, columns first."""
    numbers = ", ".join("NA" if x != x else f"{x:.10g}" for x in value.flatten(order="F"))
    return f"{name} <- structure(c({numbers}), .Dim = c({', '.join(str(s) + 'L' for s in value.shape)}))\n"


def sampled(case, folder):
    """Means and their standard errors by JAGS, {"mu[1,2]": (mean, error)}."""
    text, data, names = translate(case)
    if any(p.size == 0 for p in case.plates.values()):
        raise Untranslated("an empty plate")
    os.makedirs(folder, exist_ok=True)
    write(f"{folder}/model.bug", text)
    write(f"{folder}/data.R", "".join(for_jags(n, v) for n, v in data.items()))
    for c in range(CHAINS):
        write(f"{folder}/seed{c}.R", f'".RNG.name" <- "base::Mersenne-Twister"\n".RNG.seed" <- {c + 1}\n')
    write(f"{folder}/run.cmd", f"load glm\nmodel in \"model.bug\"\n{'data in data.R' if data else ''}\ncompile, nchains({CHAINS})\n"
          + "".join(f"parameters in seed{c}.R, chain({c + 1})\n" for c in range(CHAINS))
          + "initialize\nupdate 1000\n" + "".join(f"monitor {n}\n" for n in names) + f"update {SWEEPS}\ncoda *\nexit\n")
    done = run("jags", "run.cmd", code=None, cwd=folder, timeout=300)
    if not os.path.exists(f"{folder}/CODAchain{CHAINS}.txt"):
        raise Untranslated(f"JAGS: {done.stdout[-300:]}{done.stderr[-300:]}")
    chains = [np.loadtxt(f"{folder}/CODAchain{c + 1}.txt", ndmin=2)[:, 1] for c in range(CHAINS)]
    out = {}
    for line in read(f"{folder}/CODAindex.txt").splitlines():
        name, first, last = line.split()
        draws = np.stack([c[int(first) - 1:int(last)] for c in chains])
        batches = draws.reshape(CHAINS * 20, -1).mean(axis=1)
        out[name] = (draws.mean(), batches.std(ddof=1) / np.sqrt(len(batches)))
    return out


def ours(name):
    """The name in summary.csv."""
    return re.sub(r"\[(.*)\]", r".\1", name).replace(",", ".")
