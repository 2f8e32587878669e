"""Models whose expansion, axes or number of variables is large: each compiles, or is refused with one clear error, within
bounds on time and memory that are generous for work that grows with the size of the model and hopeless for work that
grows exponentially, or with the fourth power.

large_models.py PROGRAM"""

import resource
import sys

sys.path.append(f"{sys.path[0]}/../../helpers")
from lehr_tests import lehr, temporary  # noqa: E402

SECONDS, BYTES = 120, 3 << 30

HEAD = """model m {
  const g = 0.5;
  plate n;
  plate k = 3;
  data d[n] : real;
  data e[n] : real;
  data c[k] : real;
  mu  ~ Normal(mean = 0, sd = 1);
  nu  ~ Normal(mean = 0, sd = 1);
  tau ~ Gamma(shape = 1, rate = 1);
"""


def model(*lines):
    return HEAD + "".join(f"  {line}\n" for line in lines) + "}\n"


def observed(mean):
    return f"observe x[n] ~ Normal(mean = {mean}, precision = tau);"


def scalars(count, family="Normal(mean = 0, sd = 1)"):
    return [f"a{i} ~ {family};" for i in range(count)]


def regression(count):
    lines = [f"data z{i}[n] : real;" for i in range(count)] + scalars(count)
    return model(*lines, observed(" + ".join(f"a{i} * z{i}[n]" for i in range(count))))


def axes(count):
    index = ", ".join(f"p{i}" for i in range(count))
    plates = [f"plate p{i} = 1;" for i in range(count)]
    return model(*plates, f"z[{index}] ~ Normal(mean = mu, precision = tau);",
                 f"observe x[{index}, n] ~ Normal(mean = z[{index}], sd = 1);")


def pairs_of_axes(count):
    """Two elements of one variable that any of the axes may tell apart."""
    index = ", ".join(f"p{i}" for i in range(count))
    plates = [f"plate p{i} = 1;" for i in range(count)]
    bounds = ", ".join(f"p{i}" for i in range(count))
    return model(*plates, f"z[{index}] ~ Normal(mean = 0, sd = 1);",
                 observed(f"sum({bounds}) z[{index}] * d[n]"))


def independent(count):
    lines = scalars(count) + [f"observe x{i}[n] ~ Normal(mean = a{i}, sd = 1);" for i in range(count)]
    return model(*lines, observed("mu"))


# What is known when the data are is evaluated, never multiplied out.
KNOWN = {
    "powers of a constant": model(observed("mu" + " * (1 + g)" * 40)),
    "sums of data": model(observed("mu" + " * (d[n] + e[n] + g)" * 12)),
    "nested lets": model("let f1[n] = (1 + g) * (d[n] + g);",
                         *[f"let f{i}[n] = f{i - 1}[n] * f{i - 1}[n] + d[n];" for i in range(2, 8)],
                         observed("mu * f7[n] + nu")),
    "divisions": model(observed("mu" + " / (1 + g * d[n] + e[n])" * 12 + " + nu * (d[n] - 1) / (2 + e[n])")),
    "sums over plates": model("w[k] ~ Normal(mean = 0, sd = 1);",
                              observed("sum(k)" + " (1 + c[k]) * (d[n] + c[k]) *" * 8 + " w[k]")),
    "a logistic link": model("observe y[n] ~ Bernoulli(logistic(mu" + " * (1 + g) * (d[n] + e[n])" * 6 + "));",
                             observed("nu")),
    "a rate": model("lam ~ Gamma(shape = 1, rate = 1);",
                    "observe y[n] ~ Poisson(lam" + " * (1 + g) * (2 + d[n])" * 8 + ");", observed("mu")),
    "a standard deviation": model("observe y[n] ~ Normal(mean = mu, sd = 1" + " * (1 + g + d[n])" * 10 + ");"),
    "a rate of a prior": model("v ~ Gamma(shape = 1, rate = tau" + " * (1 + g)" * 15 + ");",
                               "observe y[n] ~ Normal(mean = mu, precision = v);"),
    "offsets": model(*[f"data z{i}[n] : real;" for i in range(300)],
                     observed("mu + " + " + ".join(f"z{i}[n]" for i in range(300)))),
    "lets of both": model("let f1[n] = mu * (1 + g) + nu;", "let f2[n] = f1[n] * (d[n] + g) + nu;",
                          "let f3[n] = f2[n] * (e[n] + d[n]) - mu;",
                          "let f4[n] = f3[n] * (1 + d[n]) / (1 + e[n] * e[n]) + f2[n] * (g + d[n]);",
                          observed("f4[n] * (1 + g) * (1 + d[n])")),
    "a potential": model("potential[n] mu" + " * (1 + g * d[n])" * 12 + ";", observed("mu")),
    "many factors": model(*scalars(300), observed(" * ".join(f"a{i}" for i in range(300)))),
}

# What must be multiplied out has a limit.
REFUSED = {
    "products of sums": model(*scalars(40), observed(" * ".join(f"(a{2 * i} + a{2 * i + 1})" for i in range(20)))),
    "a square of many": model(*scalars(390), observed(" + ".join(f"a{i}" for i in range(390)))),
    "powers of a sum over a plate": model("w[k] ~ Normal(mean = 0, sd = 1);", "let s = sum(k) w[k];",
                                          observed(" * ".join(["s"] * 8))),
}

LARGE = {
    "forty axes": axes(40),
    "forty axes of a pair": pairs_of_axes(40),
    "a sum of variables": model(*scalars(200), observed(" + ".join(f"a{i}" for i in range(200)))),
    "a regression": regression(60),
    "independent variables": independent(300),
    "a rate of many summands": model(*scalars(60, "Gamma(shape = 1, rate = 1)"),
                                     f"observe y[n] ~ Poisson({' + '.join(f'a{i}' for i in range(60))});",
                                     observed("mu")),
}


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))


def run(text, *command):
    with temporary({"m.lehr": text}) as folder:
        return lehr(command[0], f"{folder}/m.lehr", *command[1:], code=None, preexec_fn=limit)


failures = []


def check(name, holds, result):
    if not holds:
        failures.append(name)
        print(f"FAILED: {name}: exit code {result.returncode}\n{result.stderr[:2000]}")


for name, text in KNOWN.items():
    result = run(text, "emit", "--as", "density")
    check(name, result.returncode == 0 and len(result.stdout) < 100_000, result)
for name, text in REFUSED.items():
    result = run(text, "check")
    errors = [line for line in result.stderr.splitlines() if ": error: " in line]
    check(name, result.returncode == 3 and len(errors) == 1 and "expands to more than" in errors[0], result)
for name, text in LARGE.items():
    result = run(text, "emit", "--as", "asm")
    check(name, result.returncode == 0, result)
sys.exit(1 if failures else 0)
