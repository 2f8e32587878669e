#!/usr/bin/env python3
"""Means and standard deviations that `lehr show` prints, of every kind of factor, against scipy.stats."""
import os
import re
import sys

import numpy as np
from scipy import stats

sys.path.append(f"{sys.path[0]}/..")
from fitting import finish, lehr, temporary, write_json  # noqa: E402

SCALE = np.array([[0.5, 0.2], [0.2, 0.8]])
MARGINAL = np.diag(np.linalg.inv(SCALE))


def student(mean, df, scale):
    t = stats.t(df, loc=mean, scale=scale)
    return t.mean(), t.std()


def spread(law):
    return law.mean(), law.std()


def wishart(df, scale):
    law = stats.wishart(df, scale)
    return law.mean(), np.sqrt(law.var())


def dirichlet(c):
    law = stats.dirichlet(c)
    return law.mean(), np.sqrt(law.var())


C = np.array([0.4, 1.1, 2.5])
# name: parameters by array, mean and sd, axes, event axes, the other half of a joint factor
FACTORS = {
    "normal": ({"mean": 1.7, "precision": 0.37}, spread(stats.norm(1.7, 0.37**-0.5))),
    "gamma": ({"shape": 2.6, "rate": 3.3}, spread(stats.gamma(2.6, scale=1 / 3.3))),
    "inverse_gamma": ({"shape": 3.4, "scale": 2.9}, spread(stats.invgamma(3.4, scale=2.9))),
    "beta": ({"a": 0.7, "b": 1.9}, spread(stats.beta(0.7, 1.9))),
    "t_mean": ({"mean": 1.2, "precision_scale": 0.8}, student(1.2, 2 * 2.6, np.sqrt(3.3 / (2.6 * 0.8))), [], [], "gamma"),
    "dirichlet": ({"concentration": C}, dirichlet(C), [], ["k"]),
    "mv_normal": ({"mean": [1.1, -2.3], "precision": SCALE}, spread(stats.norm([1.1, -2.3], np.sqrt(MARGINAL))), [], ["d"]),
    "wishart": ({"df": 4.3, "scale": SCALE}, wishart(4.3, SCALE), [], ["d", "d"]),
    "nw_mean": ({"mean": [0.7, 3.1], "precision_scale": 1.3},
                student(np.array([0.7, 3.1]), 4.3 - 1, np.sqrt(MARGINAL / (1.3 * (4.3 - 1)))), [], ["d"], "wishart"),
    "list": ({"shape": [2.6, 1.1, 9.0], "rate": [3.3, 0.2, 4.0]},
             spread(stats.gamma([2.6, 1.1, 9.0], scale=1 / np.array([3.3, 0.2, 4.0]))), ["n"], []),
    "nowhere": ({"shape": 0.9, "scale": 2.9}, (np.inf, np.inf)),
    "wide": ({"shape": 1.9, "scale": 2.9}, (2.9 / 0.9, np.inf))}

FAMILIES = {"normal": "Normal", "gamma": "Gamma", "inverse_gamma": "InverseGamma", "beta": "Beta", "t_mean": "NormalGamma",
            "dirichlet": "Dirichlet", "mv_normal": "MvNormal", "wishart": "Wishart", "nw_mean": "NormalWishart",
            "list": "Gamma", "nowhere": "InverseGamma", "wide": "InverseGamma"}


def printed(out, name):
    """The numbers of a variable: means and sds in turn."""
    done = lehr("show", out, name, code=None)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    one = re.match(rf"{name}: .*mean (\S+), sd (\S+)$", done.stdout.strip())
    if one:
        return [float(one[1])], [float(one[2])]
    pairs = re.findall(r"(-?[\d.e+-]+|inf) \((\S+)\)", "\n".join(done.stdout.splitlines()[1:]))
    return [float(a) for a, _ in pairs], [float(b) for _, b in pairs]


def shown(out, name):
    want = [np.ravel(np.broadcast_to(x, np.shape(FACTORS[name][1][0]))) for x in FACTORS[name][1]]
    mean, sd = printed(out, name)
    single = len(sd) == 1  # four digits, otherwise two
    np.testing.assert_allclose(mean, want[0], rtol=2e-3, err_msg="means")
    np.testing.assert_allclose(sd, want[1], rtol=6e-4 if single else 5e-2, err_msg="sds")
    return f"mean {mean}, sd {sd}"


with temporary() as directory:
    variables = {name: {"family": FAMILIES[name], "axes": (x[2:3] or [[]])[0], "event": (x[3:4] or [[]])[0],
                        **({"joint": x[4]} if x[4:] else {})}
                 for name, x in FACTORS.items()}
    np.savez(os.path.join(directory, "posterior.npz"),
             **{f"{name}.{k}": np.asarray(v, float) for name, x in FACTORS.items() for k, v in x[0].items()})
    write_json(os.path.join(directory, "fit.json"), {"model": "made_up", "status": "converged", "variables": variables, "elbo": None})
    finish({name: lambda name=name: shown(directory, name) for name in FACTORS})
