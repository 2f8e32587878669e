#!/usr/bin/env python3
"""Values within limits that hold means near their priors: where a warning says so, exact means are far from those of the
factors, and where there is none they are near. The cures of the warning give the exact means.

With u ~ Normal(0, 1) and d ~ Normal(u, s^2) above 0, E[u] = sqrt(2 / pi / (1 + s^2)). Albert & Chib (1993); Fasano, Durante
& Zanella (2022) for what independent factors do.

usage: limited_means.py LEHR
"""
import math
import sys

import numpy as np

sys.path.append(f"{sys.path[0]}/..")
from fitting import finish, fit  # noqa: E402

WARNED = "too near to their priors"
N = 12
LIMITED = "model m {{ plate n; u[n] ~ Normal(mean = 0, sd = 1); d[n] ~ Normal(mean = u[n], sd = {}) above 0; }}"
LINK = "model m {{ plate n; u[n] ~ Normal(mean = 0, sd = 1); observe y[n] ~ Bernoulli(probit({} * u[n])); }}"


def exact(sd):
    return math.sqrt(2 / math.pi / (1 + sd ** 2))


def limited(sd, warned):
    f = fit(LIMITED.format(sd), {}, "--sizes", f"n={N}")
    share = float(np.mean(f.posterior["u.mean"])) / exact(sd)
    assert (WARNED in f.said) == warned, f.said
    assert (share < 0.8) if warned else (share > 0.85), share
    if not warned:
        return f"{100 * share:.0f} % of the exact mean, no warning"
    assert "the means of u are" in f.said and "--method gibbs" in f.said and "--links" not in f.said, f.said
    drawn = fit(LIMITED.format(sd), {}, "--sizes", f"n={N}", "--method", "gibbs", "--draws", 20000, monotone=False)
    got = float(np.mean(drawn.posterior["u.mean"]))
    assert abs(got / exact(sd) - 1) < 0.03, (got, exact(sd))
    return f"{100 * share:.0f} % of the exact mean, with a warning; draws {100 * got / exact(sd):.1f} %"


def link(factor, warned):
    """A link with the scale 1 / factor."""
    data, want = {"y": [1] * N}, exact(1 / factor)
    f = fit(LINK.format(factor), data)
    share = float(np.mean(f.posterior["u.mean"])) / want
    assert (WARNED in f.said) == warned, f.said
    if not warned:
        assert share > 0.85, share
        return f"{100 * share:.0f} % of the exact mean, no warning"
    assert share < 0.8 and "--links gaussian" in f.said, (share, f.said)
    got = fit(LINK.format(factor), data, "--links", "gaussian")
    assert WARNED not in got.said, got.said
    cured = float(np.mean(got.posterior["u.mean"])) / want
    assert abs(cured - 1) < 0.12, cured
    return f"{100 * share:.0f} % of the exact mean, with a warning; --links gaussian {100 * cured:.1f} %"


def many_values():
    """Fifty values of each sign about one number leave their factors little to say: no warning."""
    y = np.tile([1, 0, 1, 1], 25)
    f = fit("model m { plate n; b ~ Normal(mean = 0, sd = 10); observe y[n] ~ Bernoulli(probit(b)); }", {"y": y})
    assert WARNED not in f.said, f.said
    return "no warning"


finish({"limits, tight": lambda: limited(0.1, True), "limits, narrow": lambda: limited(0.3, True),
        "limits, wide": lambda: limited(1, False), "limits, wider": lambda: limited(2, False),
        "link, steep": lambda: link(10, True), "link, flat": lambda: link(0.5, False), "many values": many_values})
