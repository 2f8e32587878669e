#!/usr/bin/env python3
"""Numbers outside the domain of their parameter: in the model, in a constant, in data, and in expressions of data. Each message says
where (file, line and column, or the data and the element), what must be, and which distribution it is. `lehr check` finds those
that need no data.

Usage: parameters_test.py LEHR, from the root of the repository.
"""
import re
import sys

import numpy as np

sys.path.append(f"{sys.path[0]}/../../helpers")
from lehr_tests import lehr, temporary, write  # noqa: E402

random = np.random.default_rng(1)
Y = random.normal(size=20)
LAST_BAD = np.r_[np.full(19, 2.0), -1.0]
MEAN = "m ~ Normal(mean = 0, sd = 10);"
VECTOR = "plate d; m ~ MvNormal(mean = 0, precision = 0.01) over d;"

# The statements behind `plate n;`, the data, what the message says, and what its notes say. The place of the model is that of `@`.
OF_MODEL = [
    (MEAN + "observe y[n] ~ Normal(mean = m, sd = @-1);", {"y": Y}, "the sd of Normal is -1, but it must be positive", "did you mean `sd = 1`?"),
    (MEAN + "observe y[n] ~ Normal(mean = m, precision = @0);", {"y": Y}, "the precision of Normal is 0", "a small number"),
    ("const s = -2;" + MEAN + "observe y[n] ~ Normal(mean = m, variance = @s);", {"y": Y}, "s is -2, but the variance of Normal must be positive",
     "m.lehr:2:15: s is declared here"),
    ("t ~ Gamma(shape = @-1, rate = 1); observe y[n] ~ Normal(mean = 0, precision = t);", {"y": Y}, "the shape of Gamma is -1", "t is drawn from Gamma"),
    ("t ~ HalfStudentT(df = 3, scale = @-1); observe y[n] ~ Normal(mean = 0, sd = t);", {"y": Y}, "the scale of HalfStudentT is -1", "`scale = 1`"),
    (MEAN + "observe y[n] ~ StudentT(df = @-4, mean = m, precision = 1);", {"y": Y}, "the df of StudentT is -4", "`df = 4`"),
    (MEAN + "observe y[n] ~ Laplace(mean = m, scale = @-3);", {"y": Y}, "the scale of Laplace is -3", "`scale = 3`"),
    (MEAN + "observe y[n] ~ mixture(0.5, Normal(mean = m, sd = 1), Normal(mean = 0, sd = @-9));", {"y": Y}, "the sd of Normal is -9", "`sd = 9`"),
    (MEAN + "observe y[n] ~ mixture(@12, Normal(mean = m, sd = 1), Normal(mean = 0, sd = 9));", {"y": Y}, "the p of Bernoulli is 12", "`p = 0.12`"),
    ("p ~ Beta(1, 1); observe y[n] ~ Binomial(@6.5, p);", {"y": np.ones(20)}, "the n of Binomial is 6.5", "write a whole number: `n = 7`"),
    ("plate k = 3; p ~ Dirichlet(concentration = @-1) over k; observe y[n] ~ Categorical(p);", {"y": [0, 1, 2]}, "the concentration of Dirichlet is -1",
     "`concentration = 1`"),
    ("plate d = 4; L ~ Wishart(df = @2, scale = 1) over d; m ~ MvNormal(mean = 0, precision = 0.01) over d;"
     "observe y[n] ~ MvNormal(mean = m, precision = L) over d;", {"y": random.normal(size=(9, 4))}, "the df of Wishart is 2, but it must be above 3", "`df = 4` or more"),
    ("plate k = @0; m[k] ~ Normal(mean = 0, sd = 1); z[n] ~ Uniform() over k; observe y[n] ~ Normal(mean = m[z[n]], sd = 1);", {"y": Y}, "the size of plate 'k' is 0", ""),
    (MEAN + "observe y[n] ~ Normal(mean = m, sd = 1) censored above @3 below 5;", {"y": Y}, "censored above 3 and below 5", "larger one"),
]
OF_DATA = [
    ("data s[n] : real;" + MEAN + "observe y[n] ~ Normal(mean = m, sd = @s[n]);", {"y": Y, "s": LAST_BAD}, "s[19] is -1, but the sd of Normal must be positive", "a missing value of y"),
    ("data s[n] : real;" + MEAN + "observe y[n] ~ Normal(mean = m, sd = @s[n] - 1);", {"y": Y, "s": LAST_BAD}, "s[19] is -1, but the sd of Normal must be positive", "y[19] is drawn"),
    ("data s[n] : real; p ~ Beta(1, 1); observe w[n] ~ Bernoulli(p); observe z[n] ~ Bernoulli(@1 - s[n]);", {"w": np.ones(20), "z": np.ones(20), "s": np.r_[np.full(19, 0.3), -1]},
     "s[19] is -1, but `1 - s[n]` is 2, which must be between 0 and 1", "z[19] is drawn"),
    ("data e[n] : real;" + MEAN + "observe y[n] ~ Normal(mean = m + @log(e[n]), sd = 1);", {"y": Y, "e": np.r_[np.ones(19), 0]}, "e[19] is 0, but `log(e[n])` is -inf", "a missing value of y"),
    ("data e[n] : real;" + MEAN + "observe y[n] ~ Normal(mean = m * (@1 / e[n]), sd = 1);", {"y": Y, "e": np.r_[np.ones(19), 0]}, "`1 / e[n]` is inf", "a missing value of y"),
    ("plate k = 3; data a : vector over k; p ~ Dirichlet(concentration = @a) over k; observe y[n] ~ Categorical(p);", {"y": [0, 1, 2], "a": [1, -1, 2]}, "a[1] is -1", "p is drawn"),
    ("plate k = 3; data a : vector over k; p ~ Dirichlet(concentration = @-2 * a) over k; observe y[n] ~ Categorical(p);", {"y": [0, 1, 2], "a": [1, 1, 2]}, "`-2 * a` is -2", "p is drawn"),
    ("data nu : real; plate d; L ~ Wishart(df = @nu, scale = 1) over d; m ~ MvNormal(mean = 0, precision = 0.01) over d;"
     "observe y[n] ~ MvNormal(mean = m, precision = L) over d;", {"y": random.normal(size=(9, 4)), "nu": 2.0}, "nu is 2, but the df of Wishart must be above 3", "L is drawn"),
    ("data S : matrix over d, d;" + VECTOR + "observe y[n] ~ MvNormal(mean = m, covariance = @S) over d;", {"y": random.normal(size=(9, 2)), "S": [[1, 2], [2, 1]]},
     "the matrix at S[0, 0] is not positive definite, but the covariance of MvNormal must be", "diagonal"),
]


def said(folder, body, data, code, source):
    """What a fit complains of, and the place in the model."""
    text = "model a {\nplate n;" + body.replace("@", "") + "\n}\n"
    at = body.index("@") + len("plate n;") + 1
    write(f"{folder}/m.lehr", text)
    np.savez(f"{folder}/d.npz", **{k: np.asarray(x, dtype=float) for k, x in data.items()})
    done = lehr("fit", "m.lehr", "--data", "d.npz", "--quiet", "--out", "out", code=code, cwd=folder)
    place = f"m.lehr:2:{at}"
    assert (f"{place}: error" if source == "model" else f"note: {place}: ") in done.stderr, f"{text}{place}\n{done.stderr}"
    return done.stderr


def main():
    with temporary() as folder:
        for body, data, what, cure in OF_MODEL:
            message = said(folder, body, data, 3, "model")
            assert what in message and cure in message, f"{body}\n{message}"
            if "wish" not in body.lower() and "limit" not in cure:
                checked = lehr("check", "m.lehr", code=3, cwd=folder).stderr
                assert what in checked, f"{body}\n{checked}"
        for body, data, what, cure in OF_DATA:
            message = said(folder, body, data, 4, "data")
            assert what in message and cure in message and re.search(r"d\.npz, '\w+': error", message), f"{body}\n{message}"
            lehr("check", "m.lehr", cwd=folder)
    print(f"{len(OF_MODEL) + len(OF_DATA)} wrong numbers are named")


main()
