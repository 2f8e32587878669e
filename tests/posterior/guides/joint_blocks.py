#!/usr/bin/env python3
"""`guide joint(a, b, w)` of Normal variables: one factor, which is the posterior itself where the rest is known.

Linear Gaussian models are solved with dense matrices: the posterior is N(P^-1 h, P^-1), the evidence its normaliser. A
hierarchy is held to coordinate ascent written with numpy, block by block."""
import csv
import os
import sys

import numpy as np
from scipy.special import digamma, gammaln

sys.path.append(f"{sys.path[0]}/..")
from fitting import Folder, ROOT, finish, fit, near, read_csv, read_json  # noqa: E402

RNG = np.random.default_rng(5)


class Linear:
    """Normal statements over a vector of unknowns: sums of -0.5 * precision * (c + f . x)^2, with their normalisers."""

    def __init__(self, n):
        self.P, self.h, self.c = np.zeros((n, n)), np.zeros(n), 0.0

    def add(self, f, constant, precision):
        """constant + f . x ~ Normal(0, precision)."""
        self.P += precision * np.outer(f, f)
        self.h -= precision * constant * f
        self.c += 0.5 * np.log(precision / (2 * np.pi)) - 0.5 * precision * constant**2

    def solve(self):
        cov = np.linalg.inv(self.P)
        mean = cov @ self.h
        evidence = self.c + 0.5 * self.h @ mean + 0.5 * len(self.h) * np.log(2 * np.pi) - 0.5 * np.linalg.slogdet(self.P)[1]
        return mean, cov, evidence


# Coordinates: a, b, w[0..2] (Normals on a plate), u[0], u[1] (an MvNormal), as the guide lists them.
MIXED = """model mixed { plate n; plate f = 3; plate d = 2; data x[n] : real; data z[n, f] : real; data v[n] : vector over d;
  u    ~ MvNormal(mean = 0, precision = 0.5) over d;
  a    ~ Normal(mean = 1, sd = 3);
  b    ~ Normal(mean = a, precision = 2);
  w[f] ~ Normal(mean = 0, sd = 2);
  observe y[n] ~ Normal(mean = a + b * x[n] + sum(f) w[f] * z[n, f] + dot(u, v[n]), precision = 4);
  guide joint(a, b, w, u); }"""


def mixed_data(n=12):
    return {"x": RNG.normal(size=n), "z": RNG.normal(size=(n, 3)), "v": RNG.normal(size=(n, 2)), "y": RNG.normal(size=n) * 2}


def mixed_exact(d):
    s, e = Linear(7), np.eye(7)
    s.add(e[0], -1, 1 / 9)
    s.add(e[1] - e[0], 0, 2)
    for k in range(3):
        s.add(e[2 + k], 0, 0.25)
    for k in range(2):
        s.add(e[5 + k], 0, 0.5)
    for i in range(len(d["y"])):
        s.add(np.concatenate([[1, d["x"][i]], d["z"][i], d["v"][i]]), -d["y"][i], 4)
    return s.solve()


def exact_posterior():
    d = mixed_data()
    mean, cov, evidence = mixed_exact(d)
    got = fit(MIXED, d)
    p = got.posterior
    name = "joint(a, b, w, u)"
    near(p[f"{name}.mean"], mean, 1e-9, "mean")
    near(np.linalg.inv(p[f"{name}.precision"]), cov, 1e-9, "covariance")
    near(got.elbo, evidence, 1e-9, "ELBO")
    for variable, at in (("a", [0]), ("b", [1]), ("w", [2, 3, 4])):
        near(p[f"{variable}.mean"].ravel(), mean[at], 1e-9, variable)
        near(p[f"{variable}.precision"].ravel(), 1 / np.diag(cov)[at], 1e-8, variable)
    near(p["u.precision"], np.linalg.inv(cov[5:, 5:]), 1e-8, "u")
    assert got.report["iterations"] <= 3, f"{got.report['iterations']} sweeps for one block"
    return f"7 coordinates, log evidence {evidence:.6f}"


def shared_plates():
    """Two vectors and a number on plates (g, h), in other orders, and a plate that one has alone."""
    model = """model plates { plate n; plate g = 2; plate h = 3; plate k = 2; plate d = 2;
      data i[n] : g; data j[n] : h; data l[n] : k; data v[n] : vector over d;
      a[g, h]    ~ Normal(mean = 0, sd = 2);
      b[h, k, g] ~ Normal(mean = 0, sd = 3);
      c[h, g]    ~ MvNormal(mean = 0, precision = 0.3) over d;
      observe y[n] ~ Normal(mean = a[i[n], j[n]] + b[j[n], l[n], i[n]] + dot(c[j[n], i[n]], v[n]), precision = 3);
      guide joint(a, b, c); }"""
    n = 60
    d = {"i": RNG.integers(0, 2, n), "j": RNG.integers(0, 3, n), "l": RNG.integers(0, 2, n), "v": RNG.normal(size=(n, 2)),
         "y": RNG.normal(size=n)}
    got = fit(model, d)
    total = 0.0
    for g in range(2):
        for h in range(3):
            s, e = Linear(5), np.eye(5)
            for k, precision in enumerate([1 / 4, 1 / 9, 1 / 9, 0.3, 0.3]):
                s.add(e[k], 0, precision)
            for r in np.flatnonzero((d["i"] == g) & (d["j"] == h)):
                s.add(np.concatenate([[1], np.eye(2)[d["l"][r]], d["v"][r]]), -d["y"][r], 3)
            mean, cov, evidence = s.solve()
            total += evidence
            p = got.posterior
            near(p["a.mean"][g, h], mean[0], 1e-9, "a")
            near(p["b.mean"][h, :, g], mean[1:3], 1e-9, "b")
            near(p["b.precision"][h, :, g], 1 / np.diag(cov)[1:3], 1e-8, "b")
            near(p["c.mean"][h, g], mean[3:], 1e-9, "c")
            near(p["c.precision"][h, g], np.linalg.inv(cov[3:, 3:]), 1e-8, "c")
    return f"log evidence off by {near(got.elbo, total, 1e-9, 'ELBO'):.1e}"


COUNTIES = """model counties { plate n; plate county; data of[n] : county; data x[n] : real;
  mu ~ Normal(mean = 0, sd = 10); nu ~ Normal(mean = 0, sd = 10);
  ta ~ Gamma(shape = 1, rate = 1); tb ~ Gamma(shape = 1, rate = 1); tau ~ Gamma(shape = 1, rate = 1);
  a[county] ~ Normal(mean = mu, precision = ta);
  b[county] ~ Normal(mean = nu, precision = tb);
  observe y[n] ~ Normal(mean = a[of[n]] + b[of[n]] * x[n], precision = tau);
  guide joint(a, b); }"""


def counties_by_numpy(d, k, sweeps=20000):
    """q(a, b per county) q(mu) q(nu) q(ta) q(tb) q(tau), each block at its optimum in turn; and the ELBO."""
    y, of, F = d["y"], d["of"], np.stack([np.ones(len(d["x"])), d["x"]], 1)
    prior, t = np.ones(2), 1.0  # E of (ta, tb), of tau
    top, top_var = np.zeros(2), np.ones(2)
    G = np.stack([F[of == c].T @ F[of == c] for c in range(k)])
    g = np.stack([F[of == c].T @ y[of == c] for c in range(k)])
    last = -np.inf
    for _ in range(sweeps):
        S = np.linalg.inv(np.diag(prior) + t * G)
        m = np.einsum("cij,cj->ci", S, prior * top + t * g)
        top_var = 1 / (0.01 + k * prior)
        top = top_var * prior * m.sum(0)
        spread = ((m - top)**2).sum(0) + np.einsum("cii->i", S) + k * top_var
        shape, rate = 1 + k / 2, 1 + spread / 2
        prior = shape / rate
        second = S + m[:, :, None] * m[:, None]
        loss = y @ y - 2 * (m * g).sum() + np.einsum("cij,cij->", G, second)
        t_shape, t_rate = 1 + len(y) / 2, 1 + loss / 2
        t = t_shape / t_rate
        logs = digamma(shape) - np.log(rate)
        elbo = (0.5 * len(y) * (digamma(t_shape) - np.log(t_rate) - np.log(2 * np.pi)) - 0.5 * t * loss
                + np.sum(0.5 * k * (logs - np.log(2 * np.pi)) - 0.5 * prior * spread)
                + np.sum(0.5 * np.log(0.01 / (2 * np.pi)) - 0.005 * (top**2 + top_var) + 0.5 * np.log(2 * np.pi * np.e * top_var))
                + 0.5 * np.linalg.slogdet(2 * np.pi * np.e * S)[1].sum())
        for s, r in ((shape, rate[0]), (shape, rate[1]), (t_shape, t_rate)):  # prior Gamma(1, 1) and entropy
            elbo += -s / r + s - np.log(r) + gammaln(s) + (1 - s) * digamma(s)
        if elbo - last < 1e-13 * abs(elbo):
            break
        last = elbo
    return m, S, top, prior, t, elbo


def hierarchy():
    k, n = 8, 120
    of, x = RNG.integers(0, k, n), RNG.uniform(3, 5, n)
    slope, level = RNG.normal(1, 0.5, k), RNG.normal(-2, 1, k)
    d = {"of": of, "x": x, "y": level[of] + slope[of] * x + RNG.normal(size=n) * 0.5}
    m, S, top, prior, t, elbo = counties_by_numpy(d, k)
    got = fit(COUNTIES, d, "--max-iter", 20000, "--tol", "1e-13")
    p = got.posterior
    near(got.elbo, elbo, 1e-8, "ELBO")
    near(np.stack([p["a.mean"], p["b.mean"]], 1), m, 1e-5, "means")
    near(np.linalg.inv(p["joint(a, b).precision"]), S, 1e-5, "covariances")
    near([p["mu.mean"], p["nu.mean"]], top, 1e-5, "means of the counties")
    near(p["tau.shape"] / p["tau.rate"], t, 1e-5, "tau")
    return f"ELBO {elbo:.6f}"


def gibbs():
    """The only block is drawn from the posterior: independent draws of its exact moments."""
    d = mixed_data()
    mean, cov, _ = mixed_exact(d)
    draws = 4000
    f = Folder(MIXED, d, "--method", "gibbs", "--draws", draws, "--warmup", 5, "--chains", 1, "--seed", 3)
    drawn = f.drawn(draws)
    x = np.stack([drawn[n] for n in ("a", "b", "w.1", "w.2", "w.3", "u.1", "u.2")], 1)
    sd = np.sqrt(np.diag(cov))
    off = np.max(np.abs(x.mean(0) - mean) / sd) * np.sqrt(draws)
    spread = np.cov((x / sd).T) - cov / np.outer(sd, sd)
    apart = np.max(np.abs(spread)) * np.sqrt(draws / 2)
    assert off <= 4.5 and apart <= 4.5, f"means off by {off:.1f} standard errors, covariances by {apart:.1f}"
    return f"means within {off:.1f} standard errors, covariances within {apart:.1f}"


def drawn_from_factor():
    """`lehr draws` of a variational fit keeps the members together."""
    d = mixed_data()
    mean, cov, _ = mixed_exact(d)
    f = Folder(MIXED, d, "--search", "none")
    drawn = f.drawn(20000)
    x = np.stack([drawn[n] for n in ("a", "b", "w.1", "w.2", "w.3", "u.1", "u.2")], 1)
    r = np.corrcoef(x.T) - cov / np.sqrt(np.outer(np.diag(cov), np.diag(cov)))
    assert np.max(np.abs(r)) <= 0.04 and np.max(np.abs(x.mean(0) - mean)) <= 0.05, f"correlations off by {np.max(np.abs(r)):.3f}"
    shown = f.run("show", f.at("fit"))
    assert "joint(" not in shown and "\nu over d" in shown, shown
    table = list(csv.DictReader(f.run("show", f.at("fit"), "--format", "csv").splitlines()))
    sds = {row["variable"] + row.get("f", "") + row.get("d", ""): float(row["sd"]) for row in table}
    near([sds[v] for v in ("a", "b", "w0", "w1", "w2", "u0", "u1")], np.sqrt(np.diag(cov)), 1e-8, "sds")
    whole = f.run("show", f.at("fit"), "joint(a, b, w, u)")
    assert "MvNormal" in whole, whole
    return "correlations within 0.04"


def trend():
    """Level and slope of a local linear trend as one chain: the Kalman smoother of both."""
    n = 25
    model = """model trend { plate t ordered;
      level[t] ~ Normal(mean = level[t-1] + slope[t-1], precision = 2) start Normal(mean = 0, precision = 0.1);
      slope[t] ~ Normal(mean = slope[t-1], precision = 9) start Normal(mean = 0, precision = 1);
      observe y[t] ~ Normal(mean = level[t], precision = 1);
      guide joint(level, slope); }"""
    y = np.cumsum(RNG.normal(0.4, 0.7, n)) + RNG.normal(size=n)
    s, e = Linear(2 * n), np.eye(2 * n)
    s.add(e[0], 0, 0.1)
    s.add(e[n], 0, 1)
    for t in range(1, n):
        s.add(e[t] - e[t - 1] - e[n + t - 1], 0, 2)
        s.add(e[n + t] - e[n + t - 1], 0, 9)
    for t in range(n):
        s.add(e[t], -y[t], 1)
    mean, cov, evidence = s.solve()
    got = fit(model, {"y": y})
    near(got.elbo, evidence, 1e-9, "ELBO")
    near(np.concatenate([got.posterior["level.mean"], got.posterior["slope.mean"]]), mean, 1e-8, "means")
    near(1 / np.concatenate([got.posterior["level.precision"], got.posterior["slope.precision"]]), np.diag(cov), 1e-8, "variances")
    return f"log evidence {evidence:.6f}"


def children():
    """Of a regression with unknown variance; the reference is Stan's (posteriordb)."""
    model = """model kidiq { plate child; data mom_iq[child] : real;
      a ~ Flat(); b ~ Flat();
      w ~ Gamma(shape = 0.5, rate = 0.16); tau ~ Gamma(shape = 0.5, rate = w);
      observe kid_score[child] ~ Normal(mean = a + b * mom_iq[child], precision = tau);
      guide joint(a, b); }"""
    d = read_json(os.path.join(ROOT, "tests/posterior/data/kidiq.json"))
    want = {r["parameter"]: (float(r["mean"]), float(r["sd"])) for r in read_csv(os.path.join(ROOT, "tests/posterior/data/reference_posteriors.csv"))
            if r["posterior"] == "kidiq-kidscore_momiq"}
    got = fit(model, {k: d[k] for k in ("kid_score", "mom_iq")})
    worst = 0.0
    for name, (mean, sd) in (("a", want["beta[1]"]), ("b", want["beta[2]"])):
        ratio = float(got.posterior[f"{name}.precision"])**-0.5 / sd
        worst = max(worst, abs(ratio - 1))
        assert abs(ratio - 1) < 0.02 and abs(float(got.posterior[f"{name}.mean"]) - mean) < 0.05 * sd, f"{name}: sd {ratio:.4f} of the reference's"
    return f"sds within {100 * worst:.1f} %, {got.report['iterations']} sweeps"


YEARS = """model years { plate n; data year[n] : real;
  a ~ Normal(mean = 0, sd = 1000); b ~ Normal(mean = 0, sd = 100); tau ~ Gamma(shape = 1, rate = 1);
  observe y[n] ~ Normal(mean = a + b * year[n], precision = tau); GUIDE }"""


def years():
    """A covariate far from its mean in units of its spread, which coordinate ascent creeps along without the guide."""
    year = np.arange(1960, 2000)
    d = {"year": year, "y": 0.03 * (year - 1980) + RNG.normal(size=40)}
    got = fit(YEARS.replace("GUIDE", "guide joint(a, b);"), d, "--max-iter", 50)
    assert got.report["status"] == "converged", f"{got.report['status']} after {got.report['iterations']} sweeps"
    slope = np.polyfit(year, d["y"], 1)[0]
    near(got.posterior["b.mean"], slope, 1e-3, "slope")
    return f"converged after {got.report['iterations']} sweeps, slope {slope:.4f}"


def warning():
    """The warning of a strong coupling names the guide, and the guide silences it."""
    x = np.linspace(9, 11, 30)
    d = {"year": x, "y": 1 + x + RNG.normal(size=30) * 0.1}
    apart = fit(YEARS.replace("GUIDE", "guide factorised;"), d, "--sds", "factors", "--max-iter", 100000)
    assert "guide joint(a, b)" in apart.said, apart.said
    joint = fit(YEARS.replace("GUIDE", "guide joint(a, b);"), d)
    assert "coupled" not in joint.said and joint.elbo > apart.elbo, joint.said
    return apart.said.splitlines()[0].split("warning: ")[1]


def starts():
    """A factorised fit starts a joint one, and a joint one goes on where it stopped."""
    d = mixed_data()
    mean, _, _ = mixed_exact(d)
    alone = fit(MIXED.replace("guide joint(a, b, w, u);", "guide factorised;"), d, "--max-iter", 3)
    members = {k: v for k, v in alone.posterior.items()}
    joint = fit(MIXED, d, "--max-iter", 0, init=members, monotone=False)
    for v in ("a", "b", "w", "u"):
        near(joint.posterior[f"{v}.mean"], alone.posterior[f"{v}.mean"], 1e-12, v)
        near(joint.posterior[f"{v}.precision"], alone.posterior[f"{v}.precision"], 1e-9, v)
    near(joint.elbo, alone.elbo, 1e-9, "ELBO of the factorised factors")
    done = fit(MIXED, d)
    again = fit(MIXED, d, "--max-iter", 0, init=done.posterior, monotone=False)
    near(again.elbo, done.elbo, 1e-12, "ELBO")
    return f"ELBO {alone.elbo:.6f}, then {done.elbo:.6f}"


def rows_of_different_lengths():
    """An effect of each sequence and a latent chain along it: one factor of all their numbers, which is the posterior."""
    lengths = [4, 2, 5]
    y = [RNG.normal(size=n).tolist() for n in lengths]
    model = """model rows { plate s; plate t in s ordered; a[s] ~ Normal(mean = 0, sd = 1);
      l[s, t] ~ Normal(mean = 0.8 * l[s, t-1], sd = 0.5) start Normal(mean = 0, sd = 1);
      observe y[s, t] ~ Normal(mean = a[s] + l[s, t], sd = 0.4); guide joint(a, l); }"""
    exact, e, k = Linear(3 + sum(lengths)), np.eye(3 + sum(lengths)), 3
    for s, n in enumerate(lengths):
        exact.add(e[s], 0, 1)
        for t in range(n):
            exact.add(e[k] - (0.8 * e[k - 1] if t else 0), 0, 4 if t else 1)
            exact.add(e[s] + e[k], -y[s][t], 1 / 0.16)
            k += 1
    mean, cov, evidence = exact.solve()
    got = fit(model, {"y": y})
    near(got.elbo, evidence, 1e-11, "ELBO")
    near(got.posterior["joint(a, l).mean"].ravel(), mean, 1e-9, "means")
    near(got.posterior["a.precision"], 1 / np.diag(cov)[:3], 1e-9, "precisions of a")
    return f"ELBO {got.elbo:.6f}, the log evidence"


finish({"the exact posterior": exact_posterior, "shared plates": shared_plates, "intercept and slope by county": hierarchy,
        "gibbs": gibbs, "draws of the factor": drawn_from_factor, "local linear trend": trend, "kidiq": children,
        "a + b * year": years, "rows of different lengths": rows_of_different_lengths, "warning": warning, "starts": starts})
