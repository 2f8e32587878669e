#!/usr/bin/env python3
"""Changes of basis between sweeps: to the optimum that numpy finds, in far fewer sweeps than plain ones, which then stand
still there. What is printed and counted, and that bits depend on neither threads nor pauses.

usage: invariance.py LEHR
"""
import sys

import numpy as np
from scipy.special import gammaln, psi

sys.path.append(f"{sys.path[0]}/../posterior")
from fitting import finish, fit, lehr, temporary, write  # noqa: E402

R = np.random.default_rng(5)
PPCA = """model m { const K = 4; plate n; plate d; plate k = K;
  alpha[k] ~ Gamma(shape = 1e-3, rate = 1e-3);
  W[d] ~ MvNormal(mean = 0, precision = diag(alpha)) over k;
  tau ~ Gamma(shape = 1e-3, rate = 1e-3);
  z[n] ~ MvNormal(mean = 0, precision = 1) over k;
  observe x[n, d] ~ Normal(mean = dot(W[d], z[n]), precision = tau); }"""


def data(n=400, d=8):
    """Data with two directions and noise."""
    return R.normal(size=(n, 2)) @ (R.normal(size=(2, d)) * [[3], [1.5]]) + 0.5 * R.normal(size=(n, d))


def by_numpy(x, K, a=1e-3, rotated=300, sweeps=20000):
    """The ELBO of the same factors at the optimum. W and z are rotated after the first sweeps, by a closed form (z is white,
    W is orthogonal) that is nearly the best; plain sweeps follow."""
    n, D = x.shape
    C = x.T @ x
    M, S, alpha, tau = np.random.default_rng(0).normal(size=(D, K)), 0.1 * np.eye(K), np.ones(K), 1.0
    for k in range(sweeps):
        Q = D * S + M.T @ M
        V = np.linalg.inv(np.eye(K) + tau * Q)
        G = tau * V @ M.T
        A, xz = n * V + G @ C @ G.T, C @ G.T
        S = np.linalg.inv(np.diag(alpha) + tau * A)
        M = tau * xz @ S
        Q = D * S + M.T @ M
        L = np.linalg.cholesky(A / n)
        T = L @ np.linalg.eigh(L.T @ Q @ L)[1] if k < rotated else np.eye(K)
        B = np.linalg.inv(T)
        M, S, Q, A, xz, V = M @ T, T.T @ S @ T, T.T @ Q @ T, B @ A @ B.T, xz @ B.T, B @ V @ B.T
        rate = a + np.diag(Q) / 2
        alpha = (a + D / 2) / rate
        error = np.trace(C) - 2 * (M * xz).sum() + (A * Q).sum()
        shape, b = a + n * D / 2, a + error / 2
        tau = shape / b
        elbo = (gammaln(shape) - shape * np.log(b) - n * D / 2 * np.log(2 * np.pi) + K * gammaln(a + D / 2) - (a + D / 2) * np.log(rate).sum()
                - np.trace(A) / 2 + n / 2 * np.linalg.slogdet(V)[1] + n * K / 2 + D / 2 * np.linalg.slogdet(S)[1] + D * K / 2
                + (K + 1) * (a * np.log(a) - gammaln(a)))
    return elbo


def compare(model, x, *options, most):
    """A fit with changes of basis and one without: equal optima, the first in at most `most` of the sweeps. Plain sweeps from
    its end do not move."""
    ends = ["--tol", "1e-11", "--max-iter", 30000, *options]
    got, without = fit(model, x, *ends), fit(model, x, *ends, "--no-invariances")
    assert got.report["status"] == "converged" and "changes_of_basis" not in without.report
    assert got.elbo >= without.elbo - 1e-7 * abs(without.elbo), (got.elbo, without.elbo)
    assert got.report["iterations"] <= most * without.report["iterations"], (got.report["iterations"], without.report["iterations"])
    assert got.report["changes_of_basis"]["accepted"] > 0
    again = fit(model, x, "--tol", 0, "--max-iter", 20, "--leap-after", 0, *options, init=got.posterior)
    assert abs(again.elbo - got.elbo) < 1e-7 * abs(got.elbo), (again.elbo, got.elbo)
    return got, without


def sweeps(got, without):
    return f"{got.report['iterations']} sweeps, {without.report['iterations']} without"


def principal_components():
    x = data()
    got, without = compare(PPCA, {"x": x}, most=0.5)
    assert np.isclose(got.elbo, by_numpy(x, 4), rtol=1e-8), (got.elbo, by_numpy(x, 4))
    mean = got.posterior["W.mean"]
    overlap = mean.T @ mean + np.linalg.inv(got.posterior["W.precision"]).sum(0)
    assert abs(overlap - np.diag(np.diag(overlap))).max() < 1e-3 * overlap.max()
    return sweeps(got, without)


def missing_entries():
    """Factor analysis with means and missing entries, for which items need a sum of their own."""
    x = data() + R.normal(size=8)
    x[R.random(x.shape) < 0.2] = np.nan
    model = PPCA.replace("tau ~", "tau[d] ~").replace("tau)", "tau[d])").replace("z[n])", "z[n]) + mu[d]").replace(
        "z[n] ~", "mu[d] ~ Normal(mean = 0, precision = 0.01); z[n] ~")
    return sweeps(*compare(model, {"x": x}, most=0.7))


def ratings():
    """Both factors are global, and named by the data."""
    i, j = np.divmod(np.arange(600), 20)
    y = (R.normal(size=(30, 2))[i] * R.normal(size=(20, 2))[j] * [2, 1]).sum(1) + 0.3 * R.normal(size=600)
    some = R.random(600) < 0.7
    model = """model m { plate r; plate p; plate f; plate k = 3; data i[r] : p; data j[r] : f;
      t ~ Gamma(shape = 1, rate = 1); tau ~ Gamma(shape = 1, rate = 1);
      U[p] ~ MvNormal(mean = 0.2, precision = 1) over k; V[f] ~ MvNormal(mean = 0, precision = t) over k;
      observe y[r] ~ Normal(mean = dot(U[i[r]], V[j[r]]), precision = tau); }"""
    return sweeps(*compare(model, {"i": i[some], "j": j[some], "y": y[some]}, most=0.7))


def unrated():
    """Elements that the data leave out have their priors as factors and count for nothing: as without them, whether entries are
    independent or not."""
    i, j = R.integers(30, size=500), R.integers(20, size=500)
    y = (R.normal(size=(30, 2))[i] * R.normal(size=(20, 2))[j] * [2, 1]).sum(1) + 0.3 * R.normal(size=500)
    said = []
    for t, precision in ("t[k] ~ Gamma(shape = 1, rate = 1);", "diag(t)"), ("t ~ Wishart(df = 4, scale = 1) over k;", "t"):
        model = f"""model m {{ plate r; plate p = 30; plate f; plate k = 3; data i[r] : p; data j[r] : f;
          {t} tau ~ Gamma(shape = 1, rate = 1);
          U[p] ~ MvNormal(mean = 0, precision = 1) over k; V[f] ~ MvNormal(mean = 0, precision = {precision}) over k;
          observe y[r] ~ Normal(mean = dot(U[i[r]], V[j[r]]), precision = tau); }}"""
        x = {"i": i, "j": j, "y": y}
        got, without = compare(model, x, "--sizes", "f=23", most=0.7)
        near = fit(model, x, "--sizes", "f=20", "--tol", "1e-11")
        assert abs(got.elbo - near.elbo) < 1e-6 * abs(near.elbo), (got.elbo, near.elbo)
        said.append(sweeps(got, without))
    return "; ".join(said)


def numbers():
    """Numbers in place of vectors: their components are scaled."""
    i, j = np.divmod(np.arange(600), 20)
    y = (R.normal(size=(30, 2))[i] * R.normal(size=(20, 2))[j] * [9, 4]).sum(1) + 0.3 * R.normal(size=600)
    model = """model m { plate r; plate p; plate f; plate k = 2; data i[r] : p; data j[r] : f;
      tau ~ Gamma(shape = 1, rate = 1);
      U[p, k] ~ Normal(mean = 0, precision = 1); V[f, k] ~ Normal(mean = 0, precision = 1);
      observe y[r] ~ Normal(mean = sum(k) U[i[r], k] * V[j[r], k], precision = tau); }"""
    return sweeps(*compare(model, {"i": i, "j": j, "y": y}, most=1))


def dynamics():
    """States of a linear dynamical system, whose transitions are chosen anew; one of three is switched off. From every start
    200 sweeps suffice."""
    model, data = "models/sequences/linear_dynamical_system.lehr", ["models/data/sequences/oscillator.json"]
    got, without = compare(model, data, most=0.5)
    assert max(got.posterior["alpha.shape"] / got.posterior["alpha.rate"]) > 100
    runs = [fit(model, data, "--seed", seed).report["iterations"] for seed in range(1, 11)]
    assert max(runs) <= 200, runs
    return f"{sweeps(got, without)}, {min(runs)} to {max(runs)} from other starts"


SEQUENCES = """model m { plate s; plate t in s ordered; plate k = 3; plate e;
  alpha[k] ~ Gamma(shape = 1e-3, rate = 1e-3);
  A[k] ~ MvNormal(mean = 0, precision = 1) over k;
  C[e] ~ MvNormal(mean = 0, precision = diag(alpha)) over k;
  tau[e] ~ Gamma(shape = 1e-3, rate = 1e-3);
  z[s, t] ~ MvNormal(mean = A * z[s, t-1], precision = 1) start MvNormal(mean = 0, precision = 1) over k;
  observe y[s, t, e] ~ Normal(mean = dot(C[e], z[s, t]), precision = tau[e]); }"""


def oscillations(lengths, loadings, inputs=None):
    """Series of two hidden states that turn, one below the other."""
    out, turn = [], 0.95 * np.array([[np.cos(0.4), -np.sin(0.4)], [np.sin(0.4), np.cos(0.4)]])
    for length in lengths:
        z = R.normal(size=(length, 2))
        for t in range(1, length):
            z[t] += turn @ z[t - 1] + (0 if inputs is None else inputs[len(out) + t])
        out.extend(z @ loadings.T + 0.5 * R.normal(size=(length, len(loadings))))
    return np.array(out)


def states_by_numpy(q, y, lengths):
    """The ELBO of SEQUENCES for factors of all but the states, with the best factors of the states; then after an update of A
    and C by these. The states of a sequence have one dense precision matrix."""
    K, E = 3, y.shape[1]
    seen, y = ~np.isnan(y), np.nan_to_num(y)
    mean = {v: q[f"{v}.mean"] for v in "AC"}
    cov = {v: np.linalg.inv(q[f"{v}.precision"]) for v in "AC"}
    for update in False, True:
        tau, alpha = q["tau.shape"] / q["tau.rate"], q["alpha.shape"] / q["alpha.rate"]
        AA = mean["A"].T @ mean["A"] + cov["A"].sum(0)
        CC = mean["C"][:, :, None] * mean["C"][:, None] + cov["C"]
        elbo, at = 0.0, 0
        sums = {"A": [np.tile(np.eye(K), (K, 1, 1)), np.zeros((K, K))], "C": [np.tile(np.diag(alpha), (E, 1, 1)), np.zeros((E, K))]}
        for T in lengths:
            J, h = np.zeros((T, K, T, K)), np.zeros((T, K))
            for t in range(T):
                w = tau * seen[at + t]
                J[t, :, t] += np.eye(K) + np.einsum("e,ekl->kl", w, CC) + (AA if t + 1 < T else 0)
                h[t] = (w * y[at + t]) @ mean["C"]
                if t > 0:
                    J[t, :, t - 1] -= mean["A"]
                    J[t - 1, :, t] -= mean["A"].T
            S = np.linalg.inv(J.reshape(T * K, T * K))
            m = (S @ h.ravel()).reshape(T, K)
            S = S.reshape(T, K, T, K)
            elbo += (h * m).sum() / 2 - np.linalg.slogdet(J.reshape(T * K, T * K))[1] / 2
            for t in range(T):
                w, now = tau * seen[at + t], np.outer(m[t], m[t]) + S[t, :, t]
                elbo += (seen[at + t] * (psi(q["tau.shape"]) - np.log(q["tau.rate"]) - np.log(2 * np.pi)) - w * y[at + t] ** 2).sum() / 2
                sums["C"][0] = sums["C"][0] + w[:, None, None] * now
                sums["C"][1] = sums["C"][1] + (w * y[at + t])[:, None] * m[t]
                if t + 1 < T:
                    sums["A"][0] = sums["A"][0] + now
                    sums["A"][1] = sums["A"][1] + np.outer(m[t + 1], m[t]) + S[t + 1, :, t]
            at += T
        expected = {"A": np.zeros(K), "C": psi(q["alpha.shape"]) - np.log(q["alpha.rate"])}
        for v, prior in ("A", np.ones(K)), ("C", alpha):
            for row, S in zip(mean[v], cov[v]):
                elbo += (expected[v].sum() - prior @ (row**2 + np.diag(S)) + np.linalg.slogdet(S)[1] + K) / 2
        for v in "tau", "alpha":
            a, b = q[f"{v}.shape"], q[f"{v}.rate"]
            elbo += (1e-3 * np.log(1e-3) - gammaln(1e-3) + (1e-3 - a) * (psi(a) - np.log(b)) - (1e-3 - b) * a / b - a * np.log(b) + gammaln(a)).sum()
        if not update:
            first = elbo
        for v in "AC":
            cov[v] = np.linalg.inv(sums[v][0])
            mean[v] = np.einsum("ikl,il->ik", cov[v], sums[v][1])
    return first, elbo


def sequences():
    """A plate of linear dynamical systems, of different lengths and with gaps, to numpy's ELBO, from which updates by numpy do
    not move. A plate of one sequence is as none."""
    C = R.normal(size=(5, 2))
    lengths = [25, 12, 40, 1, 18]
    y = oscillations(lengths, C)
    y[R.random(y.shape) < 0.1] = np.nan
    got, without = compare(SEQUENCES, {"y": y, "t": lengths}, most=0.5)
    first, second = states_by_numpy(got.posterior, y, lengths)
    assert np.isclose(got.elbo, first, rtol=1e-8) and np.isclose(first, second, rtol=1e-8), (got.elbo, first, second)
    plate = fit(SEQUENCES, {"y": y[37:77], "t": [40]}, "--tol", "1e-10")
    alone = fit(SEQUENCES.replace("plate s; plate t in s", "plate t").replace("[s, ", "["), {"y": y[37:77]}, "--tol", "1e-10")
    assert np.isclose(plate.elbo, alone.elbo, rtol=1e-8), (plate.elbo, alone.elbo)
    assert plate.report["changes_of_basis"]["accepted"] > 0
    return sweeps(got, without)


def inputs():
    """Inputs of the states: both matrices are chosen anew together. A mean of the states moves with them, also one for each
    group of sequences."""
    C, u = R.normal(size=(5, 2)), R.normal(size=(90, 2))
    y = oscillations([90], C, u)
    single = SEQUENCES.replace("plate s; plate t in s", "plate t").replace("[s, ", "[")
    with_inputs = single.replace("model m {", "model m { plate j; data u[t] : vector over j; B[k] ~ MvNormal(mean = 0, precision = 1) over j;")
    with_mean = single.replace("model m {", "model m { b ~ MvNormal(mean = 0, precision = 1) over k;")
    said = [sweeps(*compare(with_inputs.replace("z[t-1],", "z[t-1] + B * u[t],"), {"y": y, "u": u}, most=0.5)),
            sweeps(*compare(with_mean.replace("z[t-1],", "z[t-1] + b,"), {"y": y}, most=0.5))]
    lengths, of = [20, 30, 15, 25], [0, 1, 1, 0]
    of_groups = SEQUENCES.replace("model m {", "model m { plate g; data of[s] : g; b[g] ~ MvNormal(mean = 0, precision = 1) over k;")
    said.append(sweeps(*compare(of_groups.replace("t-1],", "t-1] + b[of[s]],"), {"y": oscillations(lengths, C), "t": lengths, "of": of}, most=0.5)))
    return "; ".join(said)


def groups():
    """Items in groups whose means are formed beside them, some of them counted several times."""
    r = np.random.default_rng(6)
    W, lengths = r.normal(size=(6, 2)), [30, 8, 22, 3]
    x = r.normal(size=(63, 2)) @ W.T + np.repeat(r.normal(size=(4, 6)), lengths, axis=0) + 0.5 * r.normal(size=(63, 6))
    model = """model m { plate g; plate n in g TIMES; plate d; plate k = 3;
      alpha[k] ~ Gamma(shape = 1e-3, rate = 1e-3); tau[d] ~ Gamma(shape = 1e-3, rate = 1e-3);
      mu[g, d] ~ Normal(mean = 0, sd = 10); W[d] ~ MvNormal(mean = 0, precision = diag(alpha)) over k;
      z[g, n] ~ MvNormal(mean = 0, precision = 1) over k;
      observe x[g, n, d] ~ Normal(mean = dot(W[d], z[g, n]) + mu[g, d], precision = tau[d]); }"""
    count = r.integers(1, 4, size=63)
    said = [sweeps(*compare(model.replace("TIMES", ""), {"x": x, "n": lengths}, most=0.7)),
            sweeps(*compare(model.replace("TIMES", "times count"), {"x": x, "n": lengths, "count": count}, most=0.7))]
    return "; ".join(said)


def products():
    """Three factors of a tensor, whose pairs are scaled; a walk times loadings, without components."""
    r = np.random.default_rng(5)
    A, B, C = r.normal(size=(8, 2)), r.normal(size=(9, 2)), r.normal(size=(7, 2))
    y = 4 * np.einsum("ik,jk,lk->ijl", A, B, C) + 0.3 * r.normal(size=(8, 9, 7))
    tensor = """model m { plate i; plate j; plate l; plate k = 2; tau ~ Gamma(shape = 1, rate = 1);
      A[i, k] ~ Normal(mean = 0, sd = 1); B[j, k] ~ Normal(mean = 0, sd = 1); C[l, k] ~ Normal(mean = 0, sd = 1);
      observe y[i, j, l] ~ Normal(mean = sum(k) A[i, k] * B[j, k] * C[l, k], precision = tau); }"""
    walk = """model m { plate t ordered; plate e; q ~ Gamma(shape = 1, rate = 1); tau[e] ~ Gamma(shape = 1, rate = 1);
      c[e] ~ Normal(mean = 0, sd = 1); z[t] ~ Normal(mean = z[t-1], precision = q) start Normal(mean = 0, sd = 1);
      observe y[t, e] ~ Normal(mean = c[e] * z[t], precision = tau[e]); }"""
    x = np.outer(np.cumsum(r.normal(size=100)), r.normal(size=5)) + r.normal(size=(100, 5))
    return "; ".join(sweeps(*compare(model, {"y": data}, most=0.9)) for model, data in ((tensor, y), (walk, x)))


def bits():
    """Threads, and a run that is continued from a checkpoint."""
    x = data()
    options = ["--max-iter", 40]
    once = fit(PPCA, {"x": x}, *options, "--threads", 1)
    other = fit(PPCA, {"x": x}, *options, "--threads", 3)
    assert once.trace == other.trace and once.report["changes_of_basis"] == other.report["changes_of_basis"]
    for name, array in once.posterior.items():
        assert np.array_equal(array, other.posterior[name]), name
    return f"{len(once.trace)} equal ELBOs"


def derived():
    """What `lehr derive` prints, also of a model that distinguishes the components."""
    said = {}
    with temporary() as folder:
        for name, more in (("free", ""), ("observed", "data a : vector over k; observe y[n] ~ Normal(mean = dot(a, z[n]), precision = 1);")):
            said[name] = lehr("derive", write(f"{folder}/{name}.lehr", PPCA.replace("observe x", more + " observe x"))).stdout
    assert "W -> W R, z -> z R^-T over k; alpha chosen anew" in said["free"], said["free"][-300:]
    assert "Invariances" not in said["observed"]
    dynamics = lehr("derive", "models/sequences/linear_dynamical_system.lehr").stdout
    assert "C -> C R, x -> x R^-T over state; alpha, A chosen anew" in dynamics, dynamics[-300:]
    return "one invariance, and none where data distinguish the components"


finish({f.__name__: f for f in (principal_components, missing_entries, ratings, unrated, numbers, dynamics, sequences, inputs, groups, products, bits,
                                     derived)})
