#!/usr/bin/env python3
"""What `lehr predict`, `score` and `diagnose` find of given items: what the fit found of its own, the best of several
starts of others; sums over local variables against enumeration, and in a time that follows the data.

usage: given_items.py LEHR
"""
import resource
import sys

import numpy as np
from scipy.special import logsumexp

sys.path.append(f"{sys.path[0]}/..")
from fitting import Folder, arrays, check, finish, lehr, read, read_csv, read_json  # noqa: E402

RNG = np.random.default_rng(31)

FACTORS = """model factors {
  plate n;
  plate d;
  plate k = 2;
  plate c = 4;
  pi       ~ Dirichlet(concentration = 1) over c;
  z[n]     ~ Categorical(pi);
  mu[c, d] ~ Normal(mean = 0, sd = 3);
  W[c, d]  ~ MvNormal(mean = 0, precision = 1) over k;
  psi[d]   ~ Gamma(shape = 1, rate = 0.1);
  h[n]     ~ MvNormal(mean = 0, precision = 1) over k;
  observe x[n, d] ~ Normal(mean = dot(W[z[n], d], h[n]) + mu[z[n], d], precision = psi[d]);
}
"""
CODES = """model codes {
  plate n;
  plate pixel;
  plate k = 5;
  D[k, pixel] ~ Normal(mean = 0, sd = 1);
  pi[k]  ~ Beta(1, 3);
  s[n, k] ~ Bernoulli(pi[k]);
  w[n, k] ~ Normal(mean = 0, sd = 1);
  tau    ~ Gamma(shape = 1, rate = 0.1);
  observe x[n, pixel] ~ Normal(mean = sum(k) s[n, k] * w[n, k] * D[k, pixel], precision = tau);
  guide joint(s, w);
}
"""
NESTED = """model nested {
  plate customer;
  plate basket in customer;
  plate product;
  plate segment = 3;
  plate mission = 4;
  pi            ~ Dirichlet(concentration = 1) over segment;
  s[customer]   ~ Categorical(pi);
  rho[segment]  ~ Dirichlet(concentration = 0.5) over mission;
  m[customer, basket] ~ Categorical(rho[s[customer]]);
  p[mission, product] ~ Beta(0.5, 2);
  observe x[customer, basket, product] ~ Bernoulli(p[m[customer, basket], product]);
}
"""
BLOCKS = """model blocks {
  plate row;
  plate col;
  plate g = 4;
  plate h = 4;
  pi     ~ Dirichlet(concentration = 0.5) over g;
  rho    ~ Dirichlet(concentration = 0.5) over h;
  a[row] ~ Categorical(pi);
  b[col] ~ Categorical(rho);
  mu[g, h] ~ Normal(mean = 0, sd = 3);
  tau    ~ Gamma(shape = 1, rate = 1);
  observe x[row, col] ~ Normal(mean = mu[a[row], b[col]], precision = tau);
}
"""
RESPONSE = """model response {
  plate doc;
  plate token in doc;
  plate topic = 3;
  plate term;
  data n[doc] : real;
  beta[topic]   ~ Dirichlet(concentration = 0.1) over term;
  theta[doc]    ~ Dirichlet(concentration = 0.3) over topic;
  eta[topic]    ~ Normal(mean = 0, sd = 3);
  tau           ~ Gamma(shape = 1, rate = 1);
  z[doc, token] ~ Categorical(theta[doc]);
  observe w[doc, token] ~ Categorical(beta[z[doc, token]]);
  observe y[doc] ~ Normal(mean = sum(token) eta[z[doc, token]] / n[doc], precision = tau);
}
"""


class Given(Folder):
    def predict(self, data, *arguments):
        """The table, by variable, position and value; what was said."""
        said = self.run("predict", self.at("fit"), "--data", self.bind("given", data), "--out", self.at("p.csv"), *map(str, arguments))
        return read_csv(self.at("p.csv")), said

    def probabilities(self, data, variable, *arguments):
        table, said = self.predict(data, *arguments)
        rows = [r for r in table if r["variable"] == variable]
        column = "probability" if rows[0].get("probability") else "mean"
        return np.array([float(r[column]) for r in rows]), said

    def score(self, data, *arguments):
        said = self.run("score", self.at("fit"), "--data", self.bind("given", data), *map(str, arguments))
        return read_json(self.at("fit/score.json")), said

    def diagnose(self, data, *arguments):
        self.said = ""
        done = lehr("diagnose", self.at("fit"), "--data", self.bind("given", data), "--most", "0", *map(str, arguments), timeout=600)
        return read_json(self.at("fit/diagnosis.json")), done.stdout, done.stderr


def factors_data(n, d=6):
    c, mu, w = RNG.integers(0, 4, n), RNG.normal(0, 2, (4, d)), RNG.normal(0, 1.2, (4, d, 2))
    return mu[c] + np.einsum("ndk,nk->nd", w[c], RNG.normal(size=(n, 2))) + RNG.normal(0, 0.3, (n, d))


X = factors_data(260)


def factors_fit(*arguments):
    return Given(FACTORS, {"x": X[:200]}, "--seed", "3", "--restarts", "2", "--search", "none", *arguments)


@check
def own_items_are_as_the_fit_found_them():
    f, kept = factors_fit(), factors_fit("--save-locals")
    want = kept.posterior["z.probs"]
    p, said = f.probabilities({"x": X[:200]}, "z")
    assert "as the fit found them" in said and "without draws" not in said, said
    error = np.abs(p.reshape(want.shape) - want).max()
    # Some of them, in another order, among others.
    some = np.r_[150:40:-1, 200:230]
    q, said = f.probabilities({"x": X[some]}, "z")
    among = np.abs(q.reshape(-1, 4)[:110] - want[some[:110]]).max()
    assert "110 of 140 as the fit found them" in said, said
    found, out, err = f.diagnose({"x": X[:200]}, "--draws", 100)
    assert "ELBO" not in err and "as the fit found them" in out, (out, err)
    assert found["items"]["as_the_fit_found_them"] == 200
    from_kept, _ = kept.probabilities({"x": X[:200]}, "z")
    assert error < 1e-3 and among < 1e-3 and np.abs(from_kept - p).max() < 1e-3, (error, among)
    return f"probabilities differ by {error:.1e}, among others {among:.1e}"


def factors_exact(q, x):
    """log p(z | x) with h integrated out, at the means of the parameters."""
    pi = q["pi.concentration"] / q["pi.concentration"].sum()
    mu, w, psi = q["mu.mean"], q["W.mean"], q["psi.shape"] / q["psi.rate"]
    logs = []
    for c in range(4):
        cov = w[c] @ w[c].T + np.diag(1 / psi)
        r = x - mu[c]
        logs.append(np.log(pi[c]) - 0.5 * np.linalg.slogdet(cov)[1] - 0.5 * np.einsum("ni,ij,nj->n", r, np.linalg.inv(cov), r))
    logs = np.array(logs).T
    return logs - logsumexp(logs, 1, keepdims=True)


@check
def new_items_take_the_best_of_several_starts():
    f = factors_fit()
    want = factors_exact(f.posterior, X[200:]).argmax(1)
    share = {}
    for starts in (1, 10):
        p, said = f.probabilities({"x": X[200:]}, "z", "--starts", starts)
        share[starts] = (p.reshape(-1, 4).argmax(1) == want).mean()
        assert "without draws" not in said and (starts == 1) == ("from one start" in said), said
    again, _ = f.probabilities({"x": X[200:]}, "z")
    whole, _ = f.predict({"x": X[200:]})
    np.save(f.at("x.npy"), X[200:])
    f.run("predict", f.at("fit"), "--stream", "--data", "x=" + f.at("x.npy"), "--out", f.at("s.csv"))
    assert read(f.at("s.csv")) == read(f.at("p.csv")), "a stream has another table"
    assert share[10] >= 0.95 and share[10] >= share[1], share
    return f"{share[1]:.2f} of the items in the most probable component from one start, {share[10]:.2f} from ten"


@check
def items_of_one_block_are_settled():
    """One visit of a block that is updated number by number is no solution."""
    n, k, pixels = 150, 5, 16
    atoms = RNG.normal(size=(k, pixels))
    x = ((RNG.random((n, k)) < 0.3) * RNG.normal(size=(n, k))) @ atoms + RNG.normal(0, 0.2, (n, pixels))
    f = Given(CODES, {"x": x}, "--seed", "2", "--max-iter", "3000", "--save-locals", "--search", "none")
    p, said = f.probabilities({"x": x}, "s")
    error = np.abs(p - f.posterior["s.p"].ravel()).max()
    _, _, err = f.diagnose({"x": x}, "--draws", 100)
    assert "ELBO" not in err, err
    assert error < 1e-2, error
    return f"probabilities differ by {error:.1e}; {said.strip()[-60:]}"


@check
def bounds_of_new_items_are_formed_first():
    """A bound at a predictor of global variables alone belongs to the item, but to no stage: it is formed before the bit
    that reads it. Items with the same data have the same probability, read together or in pieces."""
    text = "model bits {\n  plate n;\n  mu ~ Normal(mean = 1.2, sd = 1.4);\n  b[n] ~ Bernoulli(logistic(mu));\n" \
           "  observe y[n] ~ Bernoulli(logistic(b[n] * mu));\n}\n"
    f = Given(text, {"y": [0, 0, 1, 0, 1]}, "--search", "none", "--max-iter", "5000", "--tol", "1e-15")
    m, square = f.posterior["mu.mean"], f.posterior["mu.mean"] ** 2 + 1 / f.posterior["mu.precision"]
    xi = np.sqrt(square)
    tangent = lambda sign: -np.log1p(np.exp(-xi)) + (sign * m - xi) / 2  # E log sigma(sign mu) by the bound at its optimum
    logit = lambda y: m + tangent(1 if y else -1) + np.log(2)
    y = [0, 1, 0, 0, 1, 0, 0]
    want = np.array([1 / (1 + np.exp(-logit(value))) for value in y])
    got, _ = f.probabilities({"y": y}, "b")
    assert np.abs(got.ravel() - want).max() < 1e-9, (got.ravel(), want)
    return f"within {np.abs(got.ravel() - want).max():.0e}"


def nested_score(q, x):
    pi = q["pi.concentration"] / q["pi.concentration"].sum()
    rho = q["rho.concentration"] / q["rho.concentration"].sum(1, keepdims=True)
    p = q["p.a"] / (q["p.a"] + q["p.b"])
    total = 0
    for baskets in x:
        b = np.array(baskets)
        one = b @ np.log(p).T + (1 - b) @ np.log1p(-p).T  # basket, mission
        total += logsumexp(np.log(pi) + logsumexp(one[:, None, :] + np.log(rho), 2).sum(0))
    return total


@check
def sums_over_a_tree_are_exact():
    """Forty nested categories: enumeration has 4^40 terms."""
    make = lambda n, most: [[(RNG.random(6) < (0.1, 0.8)[RNG.integers(2)]).astype(float).tolist() for _ in range(RNG.integers(1, most))] for _ in range(n)]
    flat = lambda all: {"x": [b for baskets in all for b in baskets], "basket": [len(baskets) for baskets in all]}
    f = Given(NESTED, flat(make(30, 8)), "--search", "none")
    test = make(5, 8) + make(5, 41)
    got, _ = f.score(flat(test))
    want = nested_score(f.posterior, test)
    assert abs(got["total"] - want) < 1e-8 * abs(want), (got["total"], want)
    return f"{got['total']:.4f}"


@check
def what_cannot_be_summed_out_is_drawn():
    a, b = RNG.integers(0, 4, 14), RNG.integers(0, 4, 14)
    x = RNG.normal(0, 3, (4, 4))[a][:, b] + RNG.normal(0, 0.5, (14, 14))
    f = Given(BLOCKS, {"x": x}, "--search", "none")
    found, out, _ = f.diagnose({"x": x}, "--draws", 100, "--replicates", 10)
    drawn, summed = found["pareto"].get("drawn"), found["pareto"].get("summed_out")
    assert drawn and ("a" in drawn) != ("b" in drawn) and len(summed) == 1, found["pareto"]
    assert np.isfinite(found["pareto"]["log_ratios"]).all()
    return f"drawn: {', '.join(drawn)}; summed out: {', '.join(summed)}"


@check
def long_sums_of_one_observation_are_estimated():
    """The response of a document is held out: the mean over all topics of its tokens, for which there is a convolution."""
    docs, terms = 24, 12
    beta = RNG.dirichlet(np.full(terms, 0.1), 3)
    w, y, n = [], [], []
    for _ in range(docs):
        theta, length = RNG.dirichlet(np.full(3, 0.3)), int(RNG.integers(15, 40))
        z = RNG.choice(3, length, p=theta)
        w.append([int(RNG.choice(terms, p=beta[k])) for k in z])
        y.append(float(np.array([-2.0, 0, 2])[z].mean() + RNG.normal(0, 0.3)))
        n.append(float(length))
    data = {"w": w, "y": y, "n": n}
    f = Given(RESPONSE, data, "--sizes", f"term={terms}", "--search", "none")
    got, said = f.score(data)
    assert got.get("standard_error", 0) > 0 and "standard error" in said, (got, said)
    assert np.isfinite(got["total"]) and got["standard_error"] < 2, got
    return f"{got['total']:.3f} ({got['standard_error']:.2g})"


@check
def memory_of_a_category_is_linear_in_its_values():
    values, data = 30000, {"y": [0, 5, 29999, None]}
    model = "model c {\n  plate n;\n  plate code;\n  p ~ Dirichlet(concentration = 1) over code;\n  observe y[n] ~ Categorical(p);\n}\n"
    f = Given(model, {"y": data["y"][:3]}, "--sizes", f"code={values}")
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
    done = lehr("predict", f.at("fit"), "--data", f.bind("given", data), "--out", f.at("p.npz"), preexec_fn=limit)
    p = arrays(f.at("p.npz"))["y.probability"][-1]
    want = np.ones(values)
    want[[0, 5, 29999]] += 1
    assert np.abs(p / (want / want.sum()) - 1).max() < 1e-9
    return done.stdout.strip()[-20:]


@check
def joint_factors_of_items_are_those_of_the_fit():
    """Numbers of an item in one factor that the fit chose, whether it has saved them or not: their standard deviations are those
    of the Gaussian conditional."""
    model = """model lines { plate g; plate n; data x[n] : real; m0 ~ Normal(mean = 0, sd = 10); m1 ~ Normal(mean = 0, sd = 10);
      a[g] ~ Normal(mean = m0, sd = 0.5); b[g] ~ Normal(mean = m1, sd = 0.5);
      observe y[g, n] ~ Normal(mean = a[g] + b[g] * x[n], sd = 1); }"""
    x = np.arange(6.0)
    y = RNG.normal(-1, 0.5, (12, 1)) + RNG.normal(3, 0.5, (12, 1)) * x + RNG.normal(size=(12, 6))
    gaps = np.where(x == 5, np.nan, y[:3] + 1)
    precision = np.diag([4.0, 4]) + np.array([[5, x[:5].sum()], [x[:5].sum(), (x[:5]**2).sum()]])
    want, found = np.sqrt(np.diag(np.linalg.inv(precision))), []
    for options in [], ["--save-locals"]:
        f = Given(model, {"x": x, "y": y}, *options)
        table, _ = f.predict({"x": x, "y": gaps})
        for name, sd in zip("ab", want):
            got = [float(r["sd"]) for r in table if r["variable"] == name]
            assert np.abs(np.array(got) - sd).max() < 1e-6, (options, name, got, sd)
        # What diagnose draws is the same.
        found.append([float(r["mean"]) for r in table] + f.diagnose({"x": x, "y": y})[0]["pareto"]["log_ratios"])
    assert np.abs(np.subtract(*found)).max() < 1e-6, found
    return f"{want[0]:.3f}"


@check
def units_of_items():
    """The iteration of an item ends alike in every unit of the data: large precisions and small rates do not hide what moves. New
    items are compared with coordinate ascent on them, at the means of what all items share."""
    text = """model units { plate g; plate i; const s; const r; data x[i] : real; ma ~ Normal(mean = 0, sd = 10 * s); mb ~ Normal(mean = 0, sd = 10 * s);
      guide factorised; a[g] ~ Normal(mean = ma, sd = s); b[g] ~ Normal(mean = mb, sd = s); tau[g] ~ Gamma(shape = 2, rate = r);
      observe y[g, i] ~ Normal(mean = a[g] + b[g] * x[i], precision = tau[g]); }"""
    known = text.replace("tau[g] ~ Gamma(shape = 2, rate = r);", "").replace("precision = tau[g]", "variance = r")
    x = RNG.normal(2, 1, 6)
    y = RNG.normal(1, 1, (8, 1)) + RNG.normal(-1, 1, (8, 1)) * x + 0.3 * RNG.normal(size=(8, 6))
    worst = 0
    for unit, model in ((u, m) for u in (1e-4, 1, 1e4) for m in (text, known)):
        f = Given(model, {"x": x, "y": unit * y[:5], "s": unit, "r": 0.2 * unit**2}, "--tol", "1e-12", "--search", "none", "--max-iter", 5000)
        ma, mb = (float(f.posterior[name + ".mean"]) / unit for name in ("ma", "mb"))
        table, _ = f.predict({"x": x, "y": unit * y[5:]})
        for k in range(3):
            m, v, tau, data = np.zeros(2), np.ones(2), 5.0, y[5 + k]
            for _ in range(5000):
                for j, prior, w in ((0, ma, np.ones(6)), (1, mb, x)):
                    v[j] = 1 / (1 + tau * (w**2).sum())
                    m[j] = v[j] * (prior + tau * (w * (data - (m[1] * x if j == 0 else m[0]))).sum())
                e = data - m[0] - m[1] * x
                if model == text:
                    tau = (2 + 3) / (0.2 + 0.5 * ((e**2).sum() + 6 * v[0] + v[1] * (x**2).sum()))
            for name, want in (("a", m[0] * unit), ("b", m[1] * unit), ("tau", tau / unit**2)):
                got = [float(row["mean"]) for row in table if row["variable"] == name]
                worst = max(worst, abs(got[k] / want - 1) if got else 0)
    assert worst < 1e-3, worst
    return f"within {worst:.0e}"


finish()
