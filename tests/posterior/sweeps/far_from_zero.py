"""Data far from zero: the posterior is that of centred data, moved, or the run ends with a named error,
or with a warning that digits are lost.

usage: far_from_zero.py LEHR [TRIALS [FIRST]]: random models, sizes, priors and offsets (1e4, 1e6, 1e8, spread one). Far data are
near ones plus an offset, exactly: near = far - offset is formed in the numbers that are written. A trial compares every
parameter of the fit with that of the near data; a regression on a far covariate, which centring would change, is compared with
rational arithmetic alone. The numbers of some models are held to closed forms as well.
"""
import os
import sys
from fractions import Fraction

import numpy as np
sys.path.append(f"{sys.path[0]}/..")
from fitting import arrays, finish, lehr, plain, temporary  # noqa: E402

TOLERANCE, FEWER_DIGITS = 1e-6, 1e-3
NUMERICAL = 5
OPTIONS = ["--search", "none", "--max-iter", "3000"]
TIGHT, AT_REST = ["--tol", "1e-13"], ["--tol", "1e-16", "--guide", "factorised"]  # the second: until nothing moves, whatever a mean is told from
NAMED = ("with a standard deviation of", "lost in rounding", "cannot be told apart")


def run(text, data, *extra):
    """The arrays of the posterior, or the complaint of a run that ended with a numerical failure."""
    with temporary({"m.lehr": text, "d.json": plain(data)}) as folder:
        at = lambda name: os.path.join(folder, name)
        done = lehr("fit", at("m.lehr"), "--data", at("d.json"), "--out", at("o"), "--quiet", *OPTIONS, *extra, code=None)
        if done.returncode == NUMERICAL:
            return None, done.stderr
        if done.returncode != 0:
            raise RuntimeError(f"exit {done.returncode}: {done.stderr}")
        return arrays(at("o/posterior.npz")), done.stderr


def offsets(rng, n):
    c = 10.0 ** rng.choice([4, 6, 8], size=n) * rng.choice([-1, 1], size=n)
    return c + np.round(rng.uniform(-0.4, 0.4, n) * np.abs(c))


def data_far(rng, near, c):
    far = near + c
    return far, far - c  # the second is exact (Sterbenz), and is what the near model sees


def model(text):
    return "model m {\n" + text + "\n}\n"

# Each case: (text of the model with a hole for the prior mean, far data, near data, prior means far and near,
# location parameters with what they are moved by, and where there are closed forms the parameters for near data).

def unknown_gaussian(rng, joint=False):
    n = int(rng.integers(5, 200))
    c = offsets(rng, 1)[0]
    x, near = data_far(rng, rng.normal(0, 1, n), c)
    m = c + rng.normal()
    shape, rate, k = np.round(rng.uniform([1, 0.5, 0.01], [3, 2, 1]), 3)
    text = model(f"""plate n;
tau ~ Gamma(shape = {shape}, rate = {rate});
mu ~ Normal(mean = @, precision = {'tau * ' if joint else ''}{k});
observe x[n] ~ Normal(mean = mu, precision = tau);
""" + ("guide joint(mu, tau);" if joint else ""))
    centre = near.mean()
    exact = {"mu.mean": (k * (m - c) + n * centre) / (k + n), "mu.precision_scale": k + n, "tau.shape": shape + n / 2,
             "tau.rate": rate + 0.5 * np.sum((near - centre) ** 2) + 0.5 * k * n / (k + n) * (centre - (m - c)) ** 2}
    return text, {"x": x}, {"x": near}, (m, m - c), {"mu": c}, exact if joint else {}


def flat(rng):
    n = int(rng.integers(5, 100))
    c = offsets(rng, 1)[0]
    x, near = data_far(rng, rng.normal(0, 1, n), c)
    text = model("""plate n;
mu ~ Flat(); tau ~ Gamma(shape = 2, rate = 1);
observe x[n] ~ Normal(mean = mu, precision = tau);""")
    return text, {"x": x}, {"x": near}, (0, 0), {"mu": c}


def vague(rng):
    """A prior that stays where it is, around zero."""
    n = int(rng.integers(5, 100))
    c = offsets(rng, 1)[0]
    x, near = data_far(rng, rng.normal(0, 1, n), c)
    text = model("""plate n;
mu ~ Normal(mean = @, precision = 1e-20); tau ~ Gamma(shape = 2, rate = 1);
observe x[n] ~ Normal(mean = mu, precision = tau);""")
    return text, {"x": x}, {"x": near}, (0, -c), {"mu": c}


def multivariate(rng, joint=False):
    n, d = int(rng.integers(10, 100)), int(rng.integers(2, 4))
    c = offsets(rng, d)
    x, near = data_far(rng, rng.normal(0, 1, (n, d)) @ rng.normal(0, 1, (d, d)), c)
    m = c + rng.normal(size=d)
    text = model(f"""plate n; plate d; const m0[d];
Lambda ~ Wishart(df = {d + 1}, scale = 0.5) over d;
mu ~ MvNormal(mean = m0, precision = {'0.1 * Lambda' if joint else '0.1'}) over d;
observe x[n] ~ MvNormal(mean = mu, precision = Lambda) over d;
""" + ("guide joint(mu, Lambda);" if joint else ""))
    return text, {"x": x, "m0": m}, {"x": near, "m0": m - c}, (0, 0), {"mu": c}


def mixture(rng):
    n, k = int(rng.integers(60, 200)), int(rng.integers(2, 4))
    c = offsets(rng, 1)[0]
    x, near = data_far(rng, rng.normal(0, 1, n) + 8 * rng.integers(0, k, n), c)
    text = model(f"""const K = {k}; plate n; plate k = K;
pi ~ Dirichlet(concentration = 1) over k;
mu[k] ~ Normal(mean = @, precision = 0.01); tau[k] ~ Gamma(shape = 2, rate = 1);
z[n] ~ Categorical(pi);
observe x[n] ~ Normal(mean = mu[z[n]], precision = tau[z[n]]);""")
    return text, {"x": x}, {"x": near}, (c, 0), {"mu": c}


def diagonal_mixture(rng):
    """Columns along a plate, each with an offset of its own."""
    n, d = int(rng.integers(60, 150)), 2
    c = offsets(rng, d)
    x, near = data_far(rng, rng.normal(0, 1, (n, d)) + 8 * rng.integers(0, 2, (n, 1)), c)
    text = model("""const K = 2; plate n; plate k = K; plate d; const m0[d];
pi ~ Dirichlet(concentration = 1) over k;
mu[k, d] ~ Normal(mean = m0[d], precision = 0.01); tau[k, d] ~ Gamma(shape = 2, rate = 1);
z[n] ~ Categorical(pi);
observe x[n, d] ~ Normal(mean = mu[z[n], d], precision = tau[z[n], d]);""")
    return text, {"x": x, "m0": c}, {"x": near, "m0": 0 * c}, (0, 0), {"mu": c}


def multivariate_mixture(rng, joint=False):
    n, d = int(rng.integers(60, 150)), 2
    c = offsets(rng, d)
    x, near = data_far(rng, rng.normal(0, 1, (n, d)) + 9 * rng.integers(0, 2, (n, 1)), c)
    text = model(f"""const K = 2; plate n; plate k = K; plate d; const m0[d];
pi ~ Dirichlet(concentration = 1) over k;
Lambda[k] ~ Wishart(df = 4, scale = 0.3) over d;
mu[k] ~ MvNormal(mean = m0, precision = {'0.01 * Lambda[k]' if joint else '0.01'}) over d;
z[n] ~ Categorical(pi);
observe x[n] ~ MvNormal(mean = mu[z[n]], precision = Lambda[z[n]]) over d;
""" + ("guide joint(mu, Lambda);" if joint else ""))
    return text, {"x": x, "m0": c}, {"x": near, "m0": 0 * c}, (0, 0), {"mu": c}


def hierarchical(rng):
    groups, n = int(rng.integers(4, 12)), int(rng.integers(60, 200))
    c = offsets(rng, 1)[0]
    g = rng.integers(0, groups, n)
    g[:groups] = np.arange(groups)
    y, near = data_far(rng, rng.normal(0, 2, groups)[g] + rng.normal(0, 1, n), c)
    text = model("""plate g; plate n; data of[n] : g;
mu ~ Normal(mean = @, precision = 0.1); between ~ Gamma(shape = 2, rate = 2); within ~ Gamma(shape = 2, rate = 2);
theta[g] ~ Normal(mean = mu, precision = between);
observe y[n] ~ Normal(mean = theta[of[n]], precision = within);""")
    return text, {"y": y, "of": g}, {"y": near, "of": g}, (c, 0), {"mu": c, "theta": c}


def effects(rng):
    groups, n = int(rng.integers(4, 8)), int(rng.integers(60, 200))
    c = offsets(rng, 1)[0]
    g = rng.integers(0, groups, n)
    g[:groups] = np.arange(groups)
    y, near = data_far(rng, rng.normal(0, 2, groups)[g] + rng.normal(0, 1, n), c)
    text = model("""plate g; plate n; data of[n] : g;
mu ~ Normal(mean = @, precision = 0.1); between ~ Gamma(shape = 2, rate = 2); within ~ Gamma(shape = 2, rate = 2);
a[g] ~ Normal(mean = 0, precision = between);
observe y[n] ~ Normal(mean = mu + a[of[n]], precision = within);""")
    return text, {"y": y, "of": g}, {"y": near, "of": g}, (c, 0), {"mu": c}


def response(rng):
    """A regression whose response is far from zero."""
    n, d = int(rng.integers(30, 150)), int(rng.integers(1, 4))
    c = offsets(rng, 1)[0]
    x = rng.normal(0, 1, (n, d))
    y, near = data_far(rng, x @ rng.normal(size=d) + rng.normal(0, 1, n), c)
    text = model("""plate n; plate d; data x[n] : vector over d;
w ~ MvNormal(mean = 0, precision = 0.01) over d; b ~ Normal(mean = @, precision = 0.01);
tau ~ Gamma(shape = 1, rate = 1);
observe y[n] ~ Normal(mean = dot(w, x[n]) + b, precision = tau);""")
    return text, {"x": x, "y": y}, {"x": x, "y": near}, (c, 0), {"b": c}


def level(rng):
    n = int(rng.integers(20, 100))
    c = offsets(rng, 1)[0]
    y, near = data_far(rng, np.cumsum(rng.normal(0, 1, n)) + rng.normal(0, 1, n), c)
    text = model("""plate t ordered;
walk ~ Gamma(shape = 2, rate = 2); noise ~ Gamma(shape = 2, rate = 2);
level[t] ~ Normal(mean = level[t-1], precision = walk) start Normal(mean = @, sd = 10);
observe y[t] ~ Normal(mean = level[t], precision = noise);""")
    return text, {"y": y}, {"y": near}, (c, 0), {"level": c}


def components(rng):
    n, d = int(rng.integers(50, 120)), int(rng.integers(3, 5))
    c = offsets(rng, d)
    x, near = data_far(rng, rng.normal(0, 2, (n, 1)) * rng.normal(size=d) + rng.normal(0, 0.5, (n, d)), c)
    text = model("""plate n; plate d; plate k = 1; const m0[d];
W[d] ~ MvNormal(mean = 0, precision = 1) over k; mu[d] ~ Normal(mean = m0[d], precision = 0.01);
tau ~ Gamma(shape = 2, rate = 1); z[n] ~ MvNormal(mean = 0, precision = 1) over k;
observe x[n, d] ~ Normal(mean = dot(W[d], z[n]) + mu[d], precision = tau);""")
    return text, {"x": x, "m0": c}, {"x": near, "m0": 0 * c}, (0, 0), {"mu": c}


def states(rng):
    n = int(rng.integers(60, 150))
    c = offsets(rng, 1)[0]
    s = np.repeat(rng.integers(0, 2, n // 6 + 1), 6)[:n]
    x, near = data_far(rng, 8 * s + rng.normal(0, 1, n), c)
    text = model("""plate t ordered; plate k = 2;
A[k] ~ Dirichlet(concentration = 1) over k; pi ~ Dirichlet(concentration = 1) over k;
mu[k] ~ Normal(mean = @, precision = 0.01); tau[k] ~ Gamma(shape = 2, rate = 1);
s[t] ~ Categorical(A[s[t-1]]) start Categorical(pi);
observe x[t] ~ Normal(mean = mu[s[t]], precision = tau[s[t]]);""")
    return text, {"x": x}, {"x": near}, (c, 0), {"mu": c}


EQUIVARIANT = [unknown_gaussian, lambda r: unknown_gaussian(r, True), flat, vague, multivariate, lambda r: multivariate(r, True),
               mixture, diagonal_mixture, multivariate_mixture, lambda r: multivariate_mixture(r, True), hierarchical, effects,
               response, level, components, states]


def solve(a, b):
    """Rational Gaussian elimination: the inverse of `a`, and its product with `b`."""
    n = len(a)
    rows = [list(r) + [Fraction(int(i == j)) for j in range(n)] + [b[i]] for i, r in enumerate(a)]
    for i in range(n):
        pivot = next(r for r in range(i, n) if rows[r][i] != 0)
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [v / rows[i][i] for v in rows[i]]
        for r in range(n):
            if r != i:
                rows[r] = [u - rows[r][i] * v for u, v in zip(rows[r], rows[i])]
    return np.array([[float(v) for v in r[n:2 * n]] for r in rows]), np.array([float(r[-1]) for r in rows])


def covariate(rng, apart):
    """A regression on a far covariate and a constant, known noise; the weights in one factor, or each in its own."""
    n = int(rng.integers(10, 40))
    c = offsets(rng, 1)[0]
    x, near = data_far(rng, rng.normal(0, 1, n), c)
    y = 2 * near + rng.normal(0, 1, n)
    prior = Fraction(1, 2 ** int(rng.choice([10, 60])))  # the first leaves the constant no room, the second all of it
    design = [[Fraction(1), Fraction(v)] for v in x.tolist()]
    precision = [[sum(r[i] * r[j] for r in design) + Fraction(int(i == j)) * prior for j in range(2)] for i in range(2)]
    right = [sum(r[i] * Fraction(v) for r, v in zip(design, y.tolist())) for i in range(2)]
    covariance, mean = solve(precision, right)
    prior = f"precision = {float(prior)!r}"
    if apart:
        text = model(f"""plate n; data x[n] : real;
a ~ Normal(mean = 0, {prior}); b ~ Normal(mean = 0, {prior});
observe y[n] ~ Normal(mean = a + b * x[n], precision = 1);""")
        data = {"x": x, "y": y}
        want = {"a.mean": mean[0], "b.mean": mean[1], "a.precision": float(precision[0][0]), "b.precision": float(precision[1][1])}
        unit = {"a.mean": covariance[0, 0] ** 0.5, "b.mean": covariance[1, 1] ** 0.5}
    else:
        text = model(f"""plate n; plate d; data x[n] : vector over d;
w ~ MvNormal(mean = 0, {prior}) over d;
observe y[n] ~ Normal(mean = dot(w, x[n]), precision = 1);""")
        data = {"x": np.stack([np.ones(n), x], 1), "y": y}
        want = {"w.mean": mean, "sd": np.sqrt(np.diag(covariance))}
        unit = {"w.mean": np.sqrt(np.diag(covariance))}
    got, said = run(text, data, *TIGHT, *["--guide", "factorised"] * apart)
    if got is None:
        return refused(said)
    if not apart:
        got["sd"] = np.sqrt(np.diag(np.linalg.inv(got["w.precision"]))) if np.linalg.cond(got["w.precision"]) < 1e9 else \
            np.sqrt(np.diag(solve([[Fraction(v) for v in r] for r in got["w.precision"].tolist()], [Fraction(0)] * 2)[0]))
    worst = 0.0
    for name, value in want.items():
        worst = max(worst, np.max(np.abs(got[name] - value) / unit.get(name, np.abs(value))))
    return judged(worst, said)


def refused(said):
    assert any(n in said for n in NAMED), f"an error that does not name what is wrong: {said}"
    return None


def judged(worst, said):
    """The difference; nothing where it is said that digits are lost, of which some are left."""
    if "lost in rounding" not in said:
        return worst
    assert worst <= FEWER_DIGITS, (worst, said)
    return None


def spread_of(posterior, name):
    """The standard deviation of the means of a location parameter, for differences to be measured in."""
    p = posterior.get(name + ".precision")
    if p is None:
        tau = posterior["tau.shape"] / posterior["tau.rate"] if name + ".precision_scale" in posterior and "tau.rate" in posterior else 1.0
        return 1 / np.sqrt(posterior.get(name + ".precision_scale", 1.0) * tau)
    if p.ndim >= 2 and p.shape[-1] == p.shape[-2] and p.ndim > posterior[name + ".mean"].ndim:
        return np.sqrt(np.diagonal(np.linalg.inv(p), axis1=-2, axis2=-1))
    return 1 / np.sqrt(p)


def equivariant(rng, make):
    text, far, near, (prior, prior_near), moved, *exact = make(rng)
    got, said = run(text.replace("@", repr(float(prior))), far, *AT_REST)
    if got is None:
        return refused(said)
    want, why = run(text.replace("@", repr(float(prior_near))), near, *AT_REST)
    assert want is not None, f"centred data failed: {why}"
    worst = 0.0
    for name, value in {**want, **(exact[0] if exact else {})}.items():
        variable, parameter = name.rsplit(".", 1)
        if parameter == "mean":
            there = got[name] - moved.get(variable, 0)
            unit = spread_of(want, variable) + 1e-3 * np.abs(value)
        else:
            there = got[name]
            unit = np.abs(value) + 1e-3 * np.max(np.abs(value))
        worst = max(worst, float(np.max(np.abs(there - value) / unit)))
    return judged(worst, said)


def trial(k):
    """The largest difference, or nothing for a refusal."""
    rng = np.random.default_rng([k, 20240607])
    kinds = len(EQUIVARIANT) + 2
    kind = k % kinds
    if kind < len(EQUIVARIANT):
        return kind, equivariant(rng, EQUIVARIANT[kind])
    return kind, covariate(rng, kind == len(EQUIVARIANT))


def trials(first, count):
    equal, named, bad = 0, 0, []
    for k in range(first, first + count):
        kind, worst = trial(k)
        if worst is None:
            named += 1
        elif worst <= TOLERANCE:
            equal += 1
        else:
            bad.append((k, kind, worst))
        if os.environ.get("LEHR_SHOW_TRIALS"):
            print(k, kind, "refused" if worst is None else f"{worst:.1e}", flush=True)
    assert not bad, f"{len(bad)} third outcomes (trial, kind, difference): {bad[:20]}"
    assert equal > 0 or count == 1
    return f"{equal} equal to centred data, {named} refused by name"


def constant_columns():
    """Columns without any spread, near zero or not: the factors are those of the same columns at 0."""
    number = model("plate n; mu ~ Normal(mean = %r, sd = 10000); tau ~ Gamma(shape = 0.001, rate = 0.001); "
                   "observe x[n] ~ Normal(mean = mu, precision = tau);")
    vector = model("plate n; plate d = 2; data m0 : vector over d; mu ~ MvNormal(mean = m0, precision = 1e-8) over d; "
                   "Lambda ~ Wishart(df = 3, rate = 0.01) over d; observe x[n] ~ MvNormal(mean = mu, precision = Lambda) over d;")
    worst, spread = 0.0, np.random.default_rng(4).normal(size=20)
    for c in (0.25, 13.0, 1013.25, -4321.1, 99999.9, 3e7):
        near, _ = run(number % -c, {"x": np.zeros(20)}, *TIGHT)
        far, complaint = run(number % 0.0, {"x": np.full(20, c)}, *TIGHT)
        assert far is not None, (c, complaint)
        pairs = [(far[k], near[k] + (c if k == "mu.mean" else 0)) for k in near]
        near, _ = run(vector, {"x": np.stack([spread, np.zeros(20)], 1), "m0": [0, -c]}, *TIGHT)
        far, complaint = run(vector, {"x": np.stack([spread, np.full(20, c)], 1), "m0": [0, 0]}, *TIGHT)
        assert far is not None, (c, complaint)
        pairs += [(far[k], near[k] + (np.array([0, c]) if k == "mu.mean" else 0)) for k in near]
        worst = max([worst] + [float((np.abs(a - b) / (np.abs(b) + 1e-3 * np.abs(b).max() + 1e-9)).max()) for a, b in pairs])
    assert worst < 1e-5, worst
    return f"within {worst:.0e}"


def steps_over_a_window():
    """Stochastic steps that keep the factors of a minibatch alone: what other items left there is not moved by rounding."""
    model = """model m { plate n; data x[n] : real; a ~ Normal(mean = 0, sd = 2); b ~ Normal(mean = 0, sd = 2);
      observe y[n] ~ Bernoulli(logistic(a + b * x[n])); }"""
    rng = np.random.default_rng(3)
    x = rng.normal(size=23)
    data = {"x": x, "y": (rng.random(23) < 1 / (1 + np.exp(-1 - x))).astype(int)}
    whole, _ = run(model, data)
    steps, complaint = run(model, data, "--method", "svi", "--batch-size", "5")
    assert steps is not None, complaint
    moved = [abs(steps[k + ".mean"] - whole[k + ".mean"]) * np.sqrt(whole[k + ".precision"]) for k in "ab"]
    assert max(moved) < 0.2, moved
    return f"within {float(max(moved)):.2f} standard deviations of the optimum"


def parts_and_limits():
    """Parts of a mixture and limits lie where they are written: far data, one observation among them, are near ones moved."""
    prior = "plate n; mu ~ Normal(mean = %r, sd = 3); "
    texts = {"parts": prior + "observe y[n] ~ mixture(0.8, Normal(mean = mu, sd = 2), Normal(mean = %r, sd = 9));",
             "censored": prior + "observe y[n] ~ Normal(mean = mu, sd = 2) censored above %r;",
             "between": prior + "u[n] ~ Normal(mean = mu, sd = 2) above %r; observe y[n] ~ Normal(mean = u[n], sd = 1);"}
    worst = 0.0
    for name, text in texts.items():
        for y in (np.array([0.0, 1.5, -1, -1.75, 3, 0.25]), np.array([2.0])):
            for c in (1e5, -2e6):
                near, _ = run(model(text % (0.5, 1.0)), {"y": y}, *TIGHT)
                far, complaint = run(model(text % (c + 0.5, c + 1.0)), {"y": y + c}, *TIGHT)
                if far is None:  # limits are told from zero
                    assert name != "parts", (c, complaint)
                    refused(complaint)
                    continue
                worst = max(worst, abs(far["mu.mean"] - c - near["mu.mean"]), abs(far["mu.precision"] / near["mu.precision"] - 1))
    assert worst < FEWER_DIGITS, worst
    return f"within {worst:.0e}"


count = int(sys.argv[2]) if len(sys.argv) > 2 else 18
first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
# The second: twenty points of which the last bits move no sum.
finish({f"{count} random trials": lambda: trials(first, count), "a sum rounded as a whole": lambda: trials(9305, 1),
        "steps over a window": steps_over_a_window, "columns without spread": constant_columns,
        "parts and limits": parts_and_limits})
