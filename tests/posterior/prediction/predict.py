#!/usr/bin/env python3
"""`lehr predict` against numpy and scipy: the formulas are written here, from the posterior that the fit wrote.

usage: predict.py LEHR
"""
import math
import sys
import tempfile

import numpy as np
from scipy.special import softmax
from scipy.stats import multivariate_normal, norm

sys.path.append(f"{sys.path[0]}/..")
import fitting  # noqa: E402
from fitting import Folder, arrays, check, finish, lehr, read_csv, write  # noqa: E402

RNG = np.random.default_rng(8)
TIGHT = ["--local-tol", "1e-14", "--local-iters", "100000"]


class Predicted(Folder):
    def predict(self, data, *arguments, code=0):
        """The arrays that were written, the table under "table", and what was said under "said"."""
        bound = ["--data", self.bind("new", data)] if data else []
        command = ["predict", self.at("fit"), *bound, *map(str, arguments)]
        said = self.run(*command, "--out", self.at("out.npz"), code=code)
        if code:
            return said
        self.run(*command, "--out", self.at("out.csv"))
        out = arrays(self.at("out.npz"))
        out["table"] = read_csv(self.at("out.csv"))
        out["said"] = said
        return out


def near(a, b, limit=1e-9):
    return f"error {fitting.near(a, b, limit):.0e}"


MIXTURE = """
model m {
  plate n;
  plate k = 3;
  plate d;
  data pi : simplex over k;
  data mu[k] : vector over d;
  data L[k] : matrix over d, d;
  scale ~ Gamma(shape = 1, rate = 1);
  z[n] ~ Categorical(pi);
  observe x[n] ~ MvNormal(mean = mu[z[n]], precision = L[z[n]]) over d;
  observe s ~ Normal(mean = 0, precision = scale);
}
"""


@check
def classes_of_a_known_mixture():
    """predict_proba of a mixture whose parameters are data; a point without a value has the weights."""
    weights, means = np.array([0.5, 0.2, 0.3]), RNG.normal(size=(3, 2)) * 2
    roots = RNG.normal(size=(3, 2, 2)) * 0.3 + np.eye(2)
    precisions = np.einsum("kij,klj->kil", roots, roots)
    known = {"pi": weights, "mu": means, "L": precisions, "s": 0.3}
    f = Predicted(MIXTURE, {**known, "x": RNG.normal(size=(10, 2))})
    x = RNG.normal(size=(7, 2)) * 2
    x[4] = np.nan
    p = f.predict({**known, "x": x})
    log = np.log(weights) + np.array([[multivariate_normal.logpdf(x[i], means[k], np.linalg.inv(precisions[k])) for k in range(3)]
                                      if i != 4 else np.zeros(3) for i in range(7)])
    said = near(p["z.probability"], softmax(log, axis=1))
    assert np.array_equal(p["z.most_probable"], softmax(log, axis=1).argmax(1))
    mean = weights @ means
    covariances = np.linalg.inv(precisions)
    variance = weights @ np.array([np.diag(c) for c in covariances]) + weights @ (means - mean) ** 2
    near(p["x.mean"][4], mean)
    near(p["x.sd"][4], np.sqrt(variance))
    assert np.all(np.isnan(p["x.mean"][[0, 1, 2, 3, 5, 6]]))
    rows = [r for r in p["table"] if r["variable"] == "z" and r["n"] == "2"]
    assert [r["value"] for r in rows] == ["0", "1", "2"]
    near([float(r["probability"]) for r in rows], softmax(log[2]))
    assert [r["most_probable"] for r in rows].count("1") == 1
    return said


@check
def next_throw_of_a_coin():
    """a / (a + b), and the same by name in the table."""
    f = Predicted("models/distributions/coin.lehr", {"x": [1] * 14 + [0] * 6})
    a, b = f.posterior["p.a"], f.posterior["p.b"]
    p = f.predict({}, "--sizes", "throw=3")
    assert "without draws" in p["said"], p["said"]
    said = near(p["x.mean"], np.full(3, a / (a + b)))
    near(p["x.sd"], np.full(3, np.sqrt(a * b) / (a + b)))
    assert np.all(p["x.q5"] == 0) and np.all(p["x.q50"] == 1) and np.all(p["x.mcse"] == 0)
    assert {r["throw"] for r in p["table"]} == {"0", "1", "2"}
    f.predict({}, code=4)
    return said


@check
def student_t():
    """A Normal-Gamma factor: mean m, variance rate / (shape - 1) * (1 + 1 / scale), quantiles of Student's t."""
    from scipy.stats import t

    model = """model m { plate n; tau ~ Gamma(shape = 3, rate = 2); mu ~ Normal(mean = 1, precision = 0.1 * tau);
      observe x[n] ~ Normal(mean = mu, precision = tau); guide joint(mu, tau); }"""
    f = Predicted(model, {"x": RNG.normal(2, 3, size=12)})
    m, scale = f.posterior["mu.mean"], f.posterior["mu.precision_scale"]
    shape, rate = f.posterior["tau.shape"], f.posterior["tau.rate"]
    p = f.predict({}, "--sizes", "n=1")
    exact = t(df=2 * shape, loc=m, scale=np.sqrt(rate / shape * (1 + 1 / scale)))
    near(p["x.sd"][0], exact.std())
    for name, q in [("x.q5", 0.05), ("x.q50", 0.5), ("x.q95", 0.95)]:
        near(p[name][0], exact.ppf(q))
    return near(p["x.mean"], np.full(1, m))


@check
def words_of_a_document():
    """sum_k E[theta_k] E[beta_kv], theta from the words that are there alone."""
    docs, terms, topics = 12, 9, 3
    lengths = RNG.integers(5, 9, docs)
    words = [RNG.integers(0, terms, n).tolist() for n in lengths]
    model = """model m { plate doc; plate token in doc; plate topic = 3; plate term;
      beta[topic] ~ Dirichlet(concentration = 0.5) over term;
      theta[doc] ~ Dirichlet(concentration = 0.7) over topic;
      z[doc, token] ~ Categorical(theta[doc]);
      observe w[doc, token] ~ Categorical(beta[z[doc, token]]); }"""
    f = Predicted(model, {"w": words})
    shown = [[1, 4, 4, 0], [3], [8, 8, 2]]
    p = f.predict({"w": [shown[0] + [math.nan] * 2, shown[1] + [math.nan], shown[2]]}, *TIGHT)
    whole = f.predict({"w": shown}, *TIGHT)
    concentration = f.posterior["beta.concentration"]
    beta = concentration / concentration.sum(1, keepdims=True)
    # Blei, Ng & Jordan (2003), figure 6: phi and gamma of a document, until they stay.
    from scipy.special import digamma
    log_beta = digamma(concentration) - digamma(concentration.sum(1, keepdims=True))
    errors = []
    for d, missing in [(0, [4, 5]), (1, [7])]:
        gamma = np.full(topics, 0.7 + len(shown[d]) / topics)
        for _ in range(20000):
            phi = softmax(log_beta[:, shown[d]].T + digamma(gamma), axis=1)
            gamma = 0.7 + phi.sum(0)
        theta = gamma / gamma.sum()
        start = 0 if d == 0 else 6
        rows = missing
        near(p["theta.mean"][d], theta, 1e-8)
        near(p["theta.mean"][d], whole["theta.mean"][d], 1e-8)
        # The formula itself at the means that were written.
        mean = p["theta.mean"][d]
        for r in rows:
            near(p["w.probability"][r], mean @ beta)
            near(p["z.probability"][r], mean)
            errors.append(np.abs(p["w.probability"][r] - theta @ beta).max())
    return f"error {max(errors):.0e} of the fixed point written here"


@check
def regression():
    """E[w] x + E[b], and the variance by the law of total variance."""
    n = 60
    x = RNG.normal(size=(n, 2))
    y = x @ [1.5, -2] + 0.5 + RNG.normal(size=n) * 0.4
    f = Predicted("models/regression/linear_regression.lehr", {"x": x, "y": y}, "--guide", "factorised")
    q = f.posterior
    new = RNG.normal(size=(5, 2)) * 3
    p = f.predict({"x": new})
    mean = new @ q["w.mean"] + q["b.mean"]
    covariance = np.linalg.inv(q["w.precision"])
    variance = np.einsum("ni,ij,nj->n", new, covariance, new) + 1 / q["b.precision"] + q["tau.rate"] / (q["tau.shape"] - 1)
    y[7] = math.nan
    gap = f.predict({"x": x, "y": y})
    near(gap["y.mean"][7], x[7] @ q["w.mean"] + q["b.mean"])
    assert np.isnan(np.delete(gap["y.mean"], 7)).all()
    near(p["y.sd"], np.sqrt(variance))
    return near(p["y.mean"], mean)


@check
def effects_of_new_groups():
    """An effect with an observation by its factor, one without by its prior; labels by name."""
    f = Predicted("models/hierarchical/hierarchical_normal.lehr", {"y": [28, 8, -3, 7, -1, 1, 18, 12], "sigma": [15, 10, 16, 11, 9, 11, 10, 18]})
    q = f.posterior
    mu, tau = q["mu.mean"], q["tau.shape"] / q["tau.rate"]
    p = f.predict({"y": [20, math.nan], "sigma": [5, 3]}, *TIGHT)
    precision = tau + 1 / 25
    near(p["theta.mean"][0], (tau * mu + 20 / 25) / precision)
    near(p["theta.sd"][0], precision ** -0.5)
    near(p["theta.mean"][1], mu)
    within_prior = 1 / q["mu.precision"] + q["tau.rate"] / (q["tau.shape"] - 1)
    near(p["theta.sd"][1] ** 2, within_prior)
    near(p["y.sd"][1] ** 2, within_prior + 9)
    near(p["theta.q95"][0], p["theta.mean"][0] + norm.ppf(0.95) * p["theta.sd"][0])
    return near(p["y.mean"][1], mu)


@check
def new_groups_of_a_joint_factor():
    """One that the fit has not seen has its prior, in its place among the numbers of the others; what they share stays as it was."""
    model = """model m { plate n; plate arm; data of[n] : arm; data x[n] : real; b[arm] ~ Normal(mean = 0, sd = 3); c ~ Normal(mean = 0, sd = 3);
        observe y[n] ~ Normal(mean = b[of[n]] + c * x[n], sd = 1); guide joint(b, c); }"""
    y = np.array([2, 3, 1, 0.5])
    f = Predicted(model, {"of": ["A", "C", "A", "C"], "x": [1, 2, 0, 1], "y": y.tolist()})
    p = f.predict({"of": ["B", "A", "C", "B"], "x": [1, 1, 0, 2]})
    X = np.array([[1, 0, 1], [0, 1, 2], [1, 0, 0], [0, 1, 1.0]])
    covariance = np.linalg.inv(np.eye(3) / 9 + X.T @ X)
    mean, new = covariance @ X.T @ y, np.array([[0, 0, 1], [1, 0, 1], [0, 1, 0], [0, 0, 2.0]])
    variance = np.einsum("ij,jk,ik->i", new, covariance, new) + 1 + 9 * np.array([1, 0, 0, 1])
    near(p["y.mean"], new @ mean)
    return near(p["y.sd"], np.sqrt(variance))


@check
def logistic():
    """No closed form: the mean of logistic(a + b x) over q, within its standard error, by quadrature."""
    x = RNG.normal(size=40)
    y = (RNG.uniform(size=40) < 1 / (1 + np.exp(-1 - 2 * x))).astype(int)
    model = """model m { plate n; data x[n] : real; a ~ Normal(mean = 0, sd = 5); b ~ Normal(mean = 0, sd = 5);
      observe y[n] ~ Bernoulli(logistic(a + b * x[n])); }"""
    f = Predicted(model, {"x": x, "y": y}, "--guide", "factorised")
    q = f.posterior
    new = np.array([-1.5, 0.2, 3.0])
    p = f.predict({"x": new}, "--draws", 4000)
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    weights = weights / weights.sum()
    centre = q["a.mean"] + q["b.mean"] * new
    spread = np.sqrt(1 / q["a.precision"] + new ** 2 / q["b.precision"])
    exact = (1 / (1 + np.exp(-(centre[:, None] + spread[:, None] * nodes)))) @ weights
    assert np.all(p["y.mcse"] > 0)
    z = np.abs(p["y.mean"] - exact) / p["y.mcse"]
    assert np.all(z < 4), (p["y.mean"], exact, p["y.mcse"])
    assert np.all(p["y.mcse"] < 0.01)
    again, other = f.predict({"x": new}, "--draws", 4000), f.predict({"x": new}, "--draws", 4000, "--seed", 2)
    assert np.array_equal(again["y.mean"], p["y.mean"]) and not np.array_equal(other["y.mean"], p["y.mean"])
    return f"{np.max(z):.1f} standard errors"


@check
def labels():
    """Names of the fit's labels, in columns and as values."""
    model = """model m { plate n; plate colour; pi ~ Dirichlet(concentration = 1) over colour; observe c[n] ~ Categorical(pi); }"""
    f = Predicted(model, {"c": ["red", "blue", "red", "green, dark"]})
    p = f.predict({"c": ["red", None]})
    probability = {r["value"]: float(r["probability"]) for r in p["table"]}
    assert set(probability) == {"red", "blue", "green, dark"} and {r["n"] for r in p["table"]} == {"1"}
    assert [r["value"] for r in p["table"] if r["most_probable"] == "1"] == ["red"]
    return near([probability["red"], probability["blue"], probability["green, dark"]], np.array([3, 2, 2]) / 7)


@check
def names_of_items():
    """Lines with a name that the fit has are that item, in any order; others follow. Beta posteriors are the reference."""
    model = """model ab { plate arm; data n[arm] : count; p[arm] ~ Beta(1, 1); let lift = p[1] - p[0]; let share[arm] = p[arm] * n[arm] / n[0];
      observe y[arm] ~ Binomial(n[arm], p[arm]); }"""
    arms, n, y = ["red", "blue", "green"], np.array([1000, 2000, 500]), np.array([100, 260, 40])
    exact = (y + 1) / (n + 2)
    with tempfile.TemporaryDirectory() as folder:
        f = Predicted(model, {"arm": arms, "n": n, "y": y}, "--labels", "arm=" + write(f"{folder}/arms.txt", "red\nblue\ngreen\n"))

    def table(order, **others):
        return {"arm": [arms[k] for k in order], "n": n[order].tolist(), "y": y[order].tolist(), **others}

    for order in ([0, 1, 2], [1, 2, 0], [2, 0, 1]):
        p = f.predict(table(order), *TIGHT)
        assert [r["arm"] for r in p["table"] if r["variable"] == "p"] == arms
        near(p["p.mean"], exact)
        near(p["lift.mean"], exact[1] - exact[0])
        near(p["share.mean"], exact * n / n[0])
    p = f.predict({"arm": ["grey", "green", "blue", "red"], "n": [10, 500, 2000, 1000], "y": [4, 40, 260, 100]}, *TIGHT)
    assert [r["arm"] for r in p["table"] if r["variable"] == "p"] == [*arms, "grey"]
    near(p["p.mean"], [*exact, 5 / 12])
    near(p["lift.mean"], exact[1] - exact[0])
    assert "reads elements of 'arm' by number, and the data do not have 'red'" in f.predict(table([2, 1]), code=4)
    said = lehr("predict", f.at("fit"), "--data", f.bind("bare", {"arm": arms, "n": n}), "--out", f.at("bare.csv")).stderr
    assert "nothing is observed here of arm 'red', which the fit knows" in said, said
    return f"lift {exact[1] - exact[0]:.4f}"


@check
def collinear():
    """Every category has a column, beside an intercept: coefficients have sds of hundreds and cancel in what is predicted."""
    kind = RNG.integers(0, 3, 150)
    x = np.column_stack([np.eye(3)[kind], RNG.normal(size=150)])
    y = kind + x[:, 3] + RNG.normal(size=150) / 2
    model = """model m { plate n; plate d; data x[n] : vector over d; w ~ MvNormal(mean = 0, precision = 1e-5) over d;
        b ~ Normal(mean = 0, precision = 1e-5); tau ~ Gamma(shape = 1, rate = 1); let fit[n] = dot(w, x[n]) + b;
        observe y[n] ~ Normal(mean = fit[n], precision = tau); guide joint(w, b); }"""
    f = Predicted(model, {"x": x.tolist(), "y": y.tolist()}, "--search", "none")
    p = f.predict({"x": x[:20].tolist()})
    q = arrays(f.at("fit/posterior.npz"))
    root = np.linalg.cholesky(q["joint(w, b).precision"])
    noise = q["tau.rate"] / (q["tau.shape"] - 1)
    of_mean = np.square(np.linalg.solve(root, np.column_stack([x[:20], np.ones(20)]).T)).sum(0)
    near(p["fit.sd"], np.sqrt(of_mean), 1e-6)
    return near(p["y.sd"], np.sqrt(of_mean + noise), 1e-6)


@check
def changed_model():
    """A fit is of its model as it was, whatever the file has by now."""
    model = "model m { plate n; mu ~ Normal(mean = 0, sd = 10); observe x[n] ~ Normal(mean = mu, sd = %d); }"
    f = Predicted(model % 1, {"x": [1.0, 2.0, 4.0]})
    before = f.predict({}, "--sizes", "n=1")
    write(f.model, model % 50)
    after = f.predict({}, "--sizes", "n=1")
    reported = lehr("predict", f.at("fit"), "--sizes", "n=1", code=None).stderr
    assert "is another model by now" in reported, reported
    return near(after["x.sd"], before["x.sd"])


@check
def refusals():
    """What cannot be predicted, and why."""
    said = []
    f = Predicted("models/mixtures/mixture_of_multinomials.lehr", {"x": RNG.integers(1, 9, (12, 3))})
    said.append(f.predict({"x": [[3, 4, 5], [None] * 3]}, code=3))
    f = Predicted("models/sequences/markov_switching.lehr", {"growth": RNG.normal(size=20)})
    said.append(f.predict({"growth": [None] + [0.5] * 19}, code=4))
    f = Predicted("models/distributions/coin.lehr", {"x": [1, 0, 1]})
    said.append(f.predict({"x": [1, 0]}, code=4))
    said.append(f.predict({"x": [1, None]}, "--sizes", "throw=7", code=4))
    f = Predicted("models/distributions/coin.lehr", {"x": [1, 0, 1]}, "--method", "gibbs", "--draws", 20, "--warmup", 5)
    said.append(f.predict({"x": [1, None]}, code=4))
    wanted = ["nothing gives its 'n'", "depend on growth", "nothing to predict", "throw", "sampled"]
    for text, part in zip(said, wanted):
        assert part in text, (part, text)
    return f"{len(said)} of them say why"


if __name__ == "__main__":
    finish()
