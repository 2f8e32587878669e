#!/usr/bin/env python3
"""Joint factors of many coordinates with a sparse precision: against the dense form on small data, against numpy on larger ones.

`joint_choice.max_coordinates` makes small factors sparse. With known variances the factor is the posterior, which numpy gives."""
import os
import sys

import numpy as np

sys.path.append(f"{sys.path[0]}/..")
from fitting import Folder, arrays, finish, fit, near  # noqa: E402

RNG = np.random.default_rng(5)
TIGHT = ("--tol", "1e-15", "--max-iter", "12", "--leap-after", "1000")  # the same sweeps


class Sparse:
    """Makes every joint factor sparse, if that is cheap."""

    def __init__(self, more=""):
        self.thresholds = "joint_choice.max_coordinates=0" + more

    def __enter__(self):
        os.environ["LEHR_THRESHOLDS"] = self.thresholds

    def __exit__(self, *_):
        del os.environ["LEHR_THRESHOLDS"]


CROSSED = """model crossed { plate n; plate g; plate h; data of[n] : g; data by[n] : h;
  m ~ Normal(mean = 0, sd = 10); tu ~ Gamma(shape = 2, rate = 1); tv ~ Gamma(shape = 2, rate = 1); t ~ Gamma(shape = 2, rate = 1);
  u[g] ~ Normal(mean = 0, precision = tu); v[h] ~ Normal(mean = 0, precision = tv);
  observe y[n] ~ Normal(mean = m + u[of[n]] + v[by[n]], precision = t); }"""
LOGISTIC = """model logistic { plate n; plate g; plate h; data of[n] : g; data by[n] : h;
  m ~ Normal(mean = 0, sd = 10); tu ~ Gamma(shape = 2, rate = 1); u[g] ~ Normal(mean = 0, precision = tu); v[h] ~ Normal(mean = 0, sd = 1);
  observe y[n] ~ Bernoulli(p = logistic(m + u[of[n]] + v[by[n]])); }"""
SLOPES = """model slopes { plate n; plate g; data of[n] : g; data x[n] : real;
  m ~ Normal(mean = 0, sd = 10); s ~ Normal(mean = 0, sd = 10); tu ~ Gamma(shape = 2, rate = 1); t ~ Gamma(shape = 2, rate = 1);
  u[g] ~ Normal(mean = m, precision = tu); b[g] ~ Normal(mean = s, sd = 1);
  observe y[n] ~ Normal(mean = u[of[n]] + b[of[n]] * x[n], precision = t); }"""
VECTORS = """model vectors { plate n; plate g; plate k = 2; data of[n] : g; data x[n, k] : real;
  m ~ MvNormal(mean = 0, precision = 0.01) over k; L ~ Wishart(df = 4, scale = 0.5) over k; t ~ Gamma(shape = 2, rate = 1);
  w[g] ~ MvNormal(mean = m, precision = L) over k;
  observe y[n] ~ Normal(mean = dot(w[of[n]], x[n]), precision = t); }"""
WALK = """model walk { plate n ordered; plate g; data of[n] : g;
  m ~ Normal(mean = 0, sd = 10); tl ~ Gamma(shape = 2, rate = 1); t ~ Gamma(shape = 2, rate = 1);
  l[n] ~ Normal(mean = l[n-1], precision = tl) start Normal(mean = 0, sd = 1); u[g] ~ Normal(mean = 0, sd = 1);
  observe y[n] ~ Normal(mean = m + l[n] + u[of[n]], precision = t); }"""


def groups_of(n, *counts):
    """Indices of n observations in groups of these numbers, each group with one at least."""
    return [RNG.permutation(np.concatenate([np.arange(c), RNG.integers(0, c, n - c)])) for c in counts]


def small():
    of, by = groups_of(60, 8, 6)
    x = RNG.normal(size=(60, 2)) + 1
    y = 3 + RNG.normal(size=8)[of] + RNG.normal(size=6)[by] + x[:, 0] + RNG.normal(size=60)
    return {"crossed": (CROSSED, {"of": of, "by": by, "y": y}), "logistic": (LOGISTIC, {"of": of, "by": by, "y": (y > 4).astype(int)}),
            "slopes": (SLOPES, {"of": of, "x": x[:, 0], "y": y}),
            "vectors": (VECTORS, {"of": of, "x": x, "y": y}), "walk": (WALK, {"of": of, "y": y})}


def dense():
    """The sparse form of a factor is the same factor: ELBO, means and precisions of all members."""
    for name, (model, data) in small().items():
        want = fit(model, data, *TIGHT)
        with Sparse():
            got = fit(model, data, *TIGHT)
        rows = [k for k in got.posterior if k.endswith(".row")]
        assert rows and not any(k.endswith(".row") for k in want.posterior), (name, sorted(got.posterior))
        near(got.elbo, want.elbo, 1e-9, f"{name}: ELBO")
        for key, value in want.posterior.items():
            if not key.startswith("joint("):
                near(got.posterior[key], value, 1e-9, f"{name}: {key}")
        joint = rows[0].rsplit(".", 1)[0]
        q = got.posterior
        n = len(q[f"{joint}.mean"])
        precision = np.zeros((n, n))
        r, c = (q[f"{joint}.{k}"].astype(int) for k in ("row", "column"))
        precision[r, c] = precision[c, r] = q[f"{joint}.precision"]
        near(precision, want.posterior[f"{joint}.precision"], 1e-9, f"{name}: precision")
    return ", ".join(small())


def limits():
    """A factorisation that fills more, or takes more, than the limits is not chosen; at the limit of what it fills it is."""
    model, data = small()["crossed"]
    for more, sparse in ((",joint_choice.most_filled=1", False), (",joint_choice.most_filled=120", True),
                         (",joint_choice.most_operations=1", False), (",joint_choice.most_operations=1e6", True)):
        with Sparse(more):
            assert any(k.endswith(".row") for k in fit(model, data).posterior) == sparse, more
    return "two thresholds below and above"


def interpreted():
    """The interpreter runs the same loops."""
    model, data = small()["crossed"]
    with Sparse():
        a, b = fit(model, data), fit(model, data, "--interpret")
    near(a.elbo, b.elbo, 1e-10, "ELBO")
    return f"ELBO {a.elbo:.4f}"


KNOWN = CROSSED.replace("tu ~ Gamma(shape = 2, rate = 1)", "const tu = 1").replace(
    "tv ~ Gamma(shape = 2, rate = 1)", "const tv = 2").replace("t ~ Gamma(shape = 2, rate = 1)", "const t = 4")


def exact(of, by, y, g, h):
    F = np.column_stack([np.ones(len(y)), of[:, None] == np.arange(g), by[:, None] == np.arange(h)]).astype(float)
    prior = np.concatenate([[0.01], np.full(g, 1.0), np.full(h, 2.0)])
    P = np.diag(prior) + 4 * F.T @ F
    mean = np.linalg.solve(P, 4 * F.T @ y)
    log = 0.5 * (np.log(prior).sum() + len(y) * np.log(4 / (2 * np.pi)) - np.linalg.slogdet(P)[1] - 4 * y @ y + mean @ P @ mean)
    return mean, np.linalg.inv(P), log


def numpy():
    """331 coordinates with known variances: posterior and log evidence."""
    of, by = groups_of(2000, 230, 100)
    y = 3 + RNG.normal(size=230)[of] + RNG.normal(size=100)[by] / 2 + RNG.normal(size=2000) / 2
    mean, cov, log = exact(of, by, y, 230, 100)
    got = fit(KNOWN, {"of": of, "by": by, "y": y})
    q = got.posterior
    assert "joint(m, u, v).row" in q, sorted(q)
    near(np.concatenate([[q["m.mean"]], q["u.mean"], q["v.mean"]]), mean, 1e-9, "means")
    near(1 / np.concatenate([[q["m.precision"]], q["u.precision"], q["v.precision"]]), np.diag(cov), 1e-9, "variances")
    near(got.elbo, log, 1e-9, "log evidence")
    return f"log evidence {log:.4f}, entries {len(q['joint(m, u, v).row'])}"


def predicted():
    """New rows of known groups, of a pair that no row had, and of a new group."""
    of, by = groups_of(900, 230, 60)
    y = 3 + RNG.normal(size=230)[of] + RNG.normal(size=60)[by] / 2 + RNG.normal(size=900) / 2
    mean, cov, _ = exact(of, by, y, 230, 60)
    f = Folder(KNOWN, {"of": of, "by": by, "y": y})
    new_of, new_by = np.array([of[0], 4, 229, 230]), np.array([by[0], 59, 0, 5])
    f.run("predict", f.at("fit"), "--data", f.bind("new", {"of": new_of, "by": new_by, "y": [np.nan] * 4}), "--sizes", "g=231", "--out",
          f.at("out.npz"))
    p = arrays(f.at("out.npz"))
    F = np.column_stack([np.ones(4), new_of[:, None] == np.arange(230), new_by[:, None] == np.arange(60)]).astype(float)
    near(p["y.mean"], F @ mean, 1e-9, "predicted means")
    near(p["y.sd"], np.sqrt(np.einsum("ij,jk,ik->i", F, cov, F) + 0.25 + [0, 0, 0, 1]), 1e-9, "predicted sds")
    d = f.drawn(4000)
    got = np.cov([np.array(d[k], dtype=float) for k in ("m", "u.1", "v.1")])
    want = cov[np.ix_([0, 1, 231], [0, 1, 231])]
    assert np.all(np.abs(got - want) < 5 * np.sqrt(np.outer(np.diag(want), np.diag(want)) / 4000)), (got, want)
    return f"sd {p['y.sd'].round(3)}"


def sampled():
    """A sweep of Gibbs sampling draws all coordinates together: its draws are independent."""
    of, by = groups_of(900, 230, 60)
    y = 3 + RNG.normal(size=230)[of] + RNG.normal(size=60)[by] / 2 + RNG.normal(size=900) / 2
    mean, cov, _ = exact(of, by, y, 230, 60)
    q = fit(KNOWN, {"of": of, "by": by, "y": y}, "--method", "gibbs", "--draws", "2000", "--warmup", "10", monotone=False).posterior
    got = np.concatenate([[q["m.mean"]], q["u.mean"], q["v.mean"]])
    assert np.abs(got - mean).max() < 5 * np.sqrt(np.diag(cov).max() / 2000), np.abs(got - mean).max()
    sd = np.concatenate([[q["m.sd"]], q["u.sd"], q["v.sd"]])
    assert np.abs(sd / np.sqrt(np.diag(cov)) - 1).max() < 5 / np.sqrt(4000), np.abs(sd / np.sqrt(np.diag(cov)) - 1).max()
    return f"largest error of a mean {np.abs(got - mean).max():.3f}"


def singular():
    """What is not determined ends the fit with a message."""
    model = """model two { plate n; m ~ Flat(); k ~ Flat(); observe y[n] ~ Normal(mean = m + k, precision = 4); }"""
    with Sparse():
        try:
            fit(model, {"y": RNG.normal(size=8)})
        except RuntimeError as e:
            assert "joint(m, k)" in str(e), e
            return str(e).splitlines()[0]
    raise AssertionError("a singular precision went through")


finish({f.__name__: f for f in (dense, limits, interpreted, numpy, predicted, sampled, singular)})
