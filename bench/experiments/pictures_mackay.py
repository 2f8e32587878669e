"""Pictures of MacKay (2003), chapters 32 and 33: coalescence, exact samples, and mean field beside what is exact. Each function makes one."""

import numpy as np
from scipy.special import digamma, gammaln

from common import Problem, measured, results
from drawing import Panel, Picture
from exact_ising import MODEL as ISING
from exact_ising import kaufman_energy, spins, torus
from mackay import SPINS, entropy, exact_lattice, magnetisations, posterior

CRITICAL = 2 / np.log(1 + np.sqrt(2))


def walkers(bits, start, shared):
    """Twenty-one walks on 0, ..., 20 with the bits of each step, of each state or shared: a list of (times, states), where a walk ends as
    it meets one that began below, and the number of steps until all are one, if they are."""
    x = np.arange(21)
    states = [x]
    for b in bits:
        x = np.clip(x + 2 * (b[0] if shared else b[x]) - 1, 0, 20)
        states.append(x)
    states, times = np.array(states), start + np.arange(len(bits) + 1)
    lines = []
    for k in range(21):
        met = np.flatnonzero((states[:, :k] == states[:, k:k + 1]).any(1)) if k else []
        end = met[0] + 1 if len(met) else len(states)
        if end > 1:
            lines.append((times[:end], states[:end, k]))
    one = np.flatnonzero(states.min(1) == states.max(1))
    return lines, states, int(one[0]) if len(one) else None


def walked(bits, start, shared, limits, title="", mark=False, yticks=None):
    """A panel of all walks, that from 8 with a colour of its own."""
    lines, states, one = walkers(bits, start, shared)
    p = Panel((-0.5, 20.5), limits, title, "state", "step", xticks=[0, 10, 20], yticks=yticks)
    p.walk([s for _, s in lines], [t for t, _ in lines], "c0", 0.9)
    p.walk([states[:, 8]], [start + np.arange(len(states))], "c1", 1.8)
    if mark and one is not None:
        p.dots(states[-1, 0], 0, "c5", 4)
    return p, one


def bits_of(seed, steps):
    """Bits of each step and state, the last of each step for all states together, such that longer runs begin further in the past."""
    return np.random.default_rng(seed).integers(0, 2, (steps, 21))[::-1]


def wanted(condition, seeds=range(1, 2000)):
    return next(s for s in seeds if condition(s))


def coalesced(seed, steps, shared):
    return walkers(bits_of(seed, steps), 0, shared)[2] is not None


def coalescence(_):
    """Fig. 32.1: coupled walkers with bits of their own, and with shared ones"""
    def meets(shared, low, high):
        def holds(seed):
            one = walkers(bits_of(seed, 250), 0, shared)[2]
            return (one if one is not None else 251) in range(low, high)
        return wanted(holds)

    panels = []
    for name, shared, low, high in (("a", False, 70, 100), ("a", False, 251, 252), ("b", True, 120, 200), ("b", True, 220, 251)):
        p, one = walked(bits_of(meets(shared, low, high), 250), 0, shared, (0, 250))
        p.title = f"({name}) " + (f"met after {one}" if one is not None else "not met yet")
        if one is not None:
            p.rule(y=one)
        panels.append(p)
    return Picture(panels, 4, (120, 300), [("walkers", "c0", "line"), ("from 8", "c1", "line"), ("all have met", "quiet", "dash")], left=34, gap=6)


def from_the_past(_):
    """Fig. 32.2: coupling from the past, the same bits again and T0 doubled"""
    panels = []
    for name, shared in (("a", False), ("b", True)):
        seed = wanted(lambda s: coalesced(s, 200, shared) and not coalesced(s, 100, shared))
        for back in (50, 100, 200):
            times = {t: f"{t}".replace("-", "−") if (name, back) == ("a", 50) else "" for t in (-200, -150, -100, -50, 0)}
            panels.append(walked(bits_of(seed, back), -back, shared, (-200, 4), f"({name}) T0 −{back}", True, times)[0])
    return Picture(panels, 6, (72, 300), [("walkers", "c0", "line"), ("from 8", "c1", "line"), ("exact sample", "c5", "dots")], left=40, gap=-4)


def many_samples(count):
    """Exact samples by the two extreme walks, all at once; row k of the bits is the step that ends k steps before the present."""
    bits, ends, back = np.random.default_rng(1).integers(0, 2, (12_800, count)), np.zeros(count, dtype=int), 50
    left = np.arange(count)
    while len(left):
        x = np.array([[0], [20]]) + np.zeros((2, len(left)), dtype=int)
        for row in bits[:back, left][::-1]:
            x = np.clip(x + 2 * row - 1, 0, 20)
        one, back = x[0] == x[1], 2 * back
        ends[left[one]] = x[0, one]
        left = left[~one]
    return ends


def extremes(_):
    """Fig. 32.3: the two extreme walks are enough, and 21,000 samples made so"""
    def needs(seed, back):
        return coalesced(seed, back, True) and not coalesced(seed, back // 2, True)

    panels = []
    for name, back in (("a", 200), ("b", 50), ("c", 800)):
        seed = wanted(lambda s: coalesced(s, 50, True) if back == 50 else needs(s, back))
        _, states, _ = walkers(bits_of(seed, back), -back, True)
        p, t = Panel((-0.5, 20.5), (-max(back, 200), max(back, 200) / 50), f"({name}) T0 = −{back}", "state", "step", xticks=[0, 10, 20]), np.arange(-back, 1)
        one = np.flatnonzero(states[:, 0] == states[:, 20])[0]
        for colour, k in (("c0", 0), ("c1", 20)):
            p.walk([states[:one + 1, k]], [t[:one + 1]], colour, 1.3)
        p.walk([states[one:, 0]], [t[one:]], "ink", 1.3)
        p.dots(states[-1, 0], 0, "c5", 4)
        panels.append(p)
    ends = many_samples(21_000)
    share = np.bincount(ends, minlength=21) / len(ends)
    error = np.sqrt(share * (1 - share) / len(ends))
    p = Panel((-0.5, 20.5), (0, 0.06), f"{len(ends):,} samples", "state", "share", xticks=[0, 10, 20])
    p.rule(y=1 / 21)
    p.whiskers(np.arange(21), share - 2 * error, share + 2 * error, "c5")
    p.dots(np.arange(21), share, "c5")
    return Picture([*panels, p], 4, (120, 280), [("from 0", "c0", "line"), ("from 20", "c1", "line"), ("both", "ink", "line"),
                                                 ("exact sample, two standard errors", "c5", "dots"),
                                                 ("uniform", "quiet", "dash")], left=38, gap=4)


def exact_sample(lehr, side=48):
    """Fig. 32.5: exact samples of an Ising model, 48 x 48 on a torus, at the critical temperature and above it"""
    panels, lattice = [], torus(side)
    for T in (CRITICAL, 2.6, 4.0):
        problem = Problem(lehr, ISING, lattice, settings=[f"T={T}"])
        _, out = problem.fit("--method", "exact", "--draws", 1, "--save-locals", "--seed", 3)
        s = spins(out, 1)[0]
        energy = -(s[lattice["a"]] * s[lattice["b"]]).sum() / side**2
        words = f"energy a spin {energy:.3f}, mean {kaufman_energy(T, side):.3f}".replace("-", "−")
        p = Panel((0, 1), (0, 1), f"T = {T:.3f}" if T == CRITICAL else f"T = {T:g}", words, frame=False)
        p.image((s.reshape(side, side) + 1) / 2, levels=1)
        panels.append(p)
    return Picture(panels, 3, (210, 210), left=12, gap=6)


def two_spins(lehr, beta=1.44):
    """Fig. 33.1: free energy of two spins at beta = 1.44, and coordinate ascent of Lehr on it"""
    q = np.linspace(0.005, 0.995, 67)
    energy = lambda a, b: -beta * (2 * a - 1) * (2 * b - 1) - entropy(a) - entropy(b)
    p = Panel((0, 1), (0, 1), "βF by q1 and q2", "q1", "q2", xticks=[0, 0.2, 0.4, 0.6, 0.8, 1])
    p.contours(q, q, energy(q[:, None], q), np.arange(-1.55, 1.5, 0.1), "quiet", width=0.8)
    problem = Problem(lehr, SPINS, {"a": [0], "b": [1], "J": [beta], "h": [0, 0]})
    ends = []
    for colour, start in (("c0", (-0.9, 0.75)), ("c1", (0.2, -0.3)), ("c2", (0.9, -0.8))):
        at = [np.array(start)]
        for sweeps in (1, 2, 3, 4, 6, 9, 30):
            _, out = problem.fit("--tol", 0, "--max-iter", sweeps, "--save-locals", init={"s.mean": np.array(start)})
            at.append(posterior(out)["s.mean"])
        corners = [at[0]] + [c for m, n in zip(at, at[1:]) for c in ((n[0], m[1]), n)]
        p.line(*((1 + np.array(corners).T) / 2), colour)
        p.dots(*((1 + np.array(start)) / 2), colour, ring=True)
        p.dots(*((1 + at[-1]) / 2), colour, 4)
        ends.append((1 + at[-1]) / 2)
    low, exact = energy(*ends[0]), -np.log(4 * np.cosh(beta))
    r = Panel((0, 1), (-2.3, -1.3), "βF along q1 = q2", "q1 = q2", "βF", xticks=[0, 0.2, 0.4, 0.6, 0.8, 1])
    r.line(q, energy(q, q), "ink")
    r.dots([e[0] for e in ends], [energy(*e) for e in ends], "c0", 4)
    r.rule(y=exact, style="dot")
    r.text(0.5, exact, f"exact −log Z = {exact:.3f}".replace("= -", "= −"), "quiet", "middle", dy=-6)
    r.text(0.5, low, f"minimum {low:.3f} at q = {max(e[0] for e in ends):.3f}".replace(" -", " −"), "ink", "middle", dy=14)
    return Picture([p, r], 2, (270, 270), [("sweeps of Lehr, each from its ring", "c0", "line"), ("where they end", "c0", "dots"),
                                           ("contours", "quiet", "line"), ("exact", "quiet", "dot")])


def mean_field(x, T, h):
    """Free energy of a spin, (33.32): energy less T times entropy."""
    return -2 * x**2 - h * x - T * entropy((1 + x) / 2)


def branches(lehr):
    """Fig. 33.2: magnetisation by temperature, with and without a field"""
    p = Panel((0, 6), (-1.05, 1.05), "", "temperature T (J / k)", "magnetisation of a spin")
    p.line([0, 4], [0, 0], "c0", "dash")
    p.line([4, 6], [0, 0], "c0")
    grid = np.concatenate([np.linspace(0.5, 3.5, 7), [3.8, 3.9, 4.0, 4.1, 4.3, 4.7, 5.2, 5.7]])
    for colour, h in (("c0", 0.0), ("c1", 0.4), ("c2", 0.8)):
        for m in (np.linspace(1e-4, 1 - 1e-9, 4001), -np.linspace(1e-4, 1 - 1e-9, 4001)):
            with np.errstate(divide="ignore"):
                T = (4 * m + h) / np.arctanh(m)
            stable = T > 4 * (1 - m * m)  # the slope of tanh((4 m + h) / T) is below 1
            for style, part in (("line", stable), ("dash", ~stable)):
                keep = part & (T > 0.05) & (T < 6.2)
                some = np.unique(np.concatenate([np.flatnonzero(keep)[::60], np.flatnonzero(keep)[-1:]])) if keep.any() else []
                if len(some) > 1 and not (h == 0 and style == "dash"):
                    p.line(T[some], m[some], colour, style)
        for start in (0.9, -0.99):
            p.dots(grid, magnetisations(lehr, grid, h, start), colour)
    p.rule(x=CRITICAL, style="dot")
    p.text(CRITICAL, 0.4, f"lattice: T = {CRITICAL:.3f}", "quiet", dx=5)
    p.text(4, 0.12, "mean field: T = 4", "quiet", dx=5)
    return Picture([p], 1, (560, 330), [("h = 0", "c0", "line"), ("h = 0.4 J", "c1", "line"), ("h = 0.8 J", "c2", "line"), ("fits of Lehr", "c0", "dots"),
                                        ("maximum or saddle", "c0", "dash")])


def free_energy(lehr):
    """Exercise 33.1: free energy of mean field by the magnetisation, and the minima that fits find"""
    x, panels, T = np.linspace(-0.9999, 0.9999, 121), [], [2.0, 3.0, 4.0, 5.0]
    for h in (0.0, 0.4):
        p = Panel((-1, 1), (-3.7, -1.2), f"h = {h:g} J" if h else "h = 0", "magnetisation of a spin", "free energy of a spin (J)")
        found = [magnetisations(lehr, T, h, start) for start in (0.9, -0.99)]
        for k, t in enumerate(T):
            p.line(x, mean_field(x, t, h), f"c{k}")
            for m in found:
                p.dots(m[k], mean_field(m[k], t, h), f"c{k}", 4)
        panels.append(p)
    return Picture(panels, 2, (270, 270), [(f"T = {t:g}", f"c{k}", "line") for k, t in enumerate(T)] + [("minima found by fits", "ink", "dots")])


def fragment(lehr, draws=400):
    """Fig. 33.3: mean field beside a real fragment of 8 x 8 spins"""
    T = np.concatenate([np.arange(1, 2, 0.2), np.arange(2, 3, 0.1), np.arange(3, 3.9, 0.125), [3.9, 3.95, 3.98]])
    below, T = len(T), np.concatenate([T, [4.02, 4.1], np.arange(4.25, 6.01, 0.25)])
    m = magnetisations(lehr, T, 0.0, 0.9)
    exact = np.array([exact_lattice(1 / t) for t in T]) / 64
    energy, S = -2 * m**2, entropy((1 + m) / 2)
    hot = np.array([2.0, 2.27, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0])
    lattice = torus(8)
    sampled = []
    for t in hot:
        problem = Problem(lehr, ISING, lattice, settings=[f"T={t}"])
        _, out = problem.fit("--method", "exact", "--draws", draws, "--save-locals")
        s = spins(out, draws)
        e, a = -(s[:, lattice["a"]] * s[:, lattice["b"]]).sum(1), np.abs(s.mean(1))
        square = (e - e.mean()) ** 2 / 64 / t**2
        sampled.append((e.mean() / 64, e.std() / 64 / np.sqrt(draws), square.mean(), square.std() / np.sqrt(draws), a.mean(), a.std() / np.sqrt(draws)))
    sampled = np.array(sampled).T
    slope = np.concatenate([np.gradient(energy[:below], T[:below]), np.gradient(energy[below:], T[below:])])
    bonds = 2 * (1 - m**4) + 12 * (m**2 - m**4)
    parts = [("Free energy (J)", energy - T * S, -exact[:, 0] * T, None), ("Energy (J)", energy, -exact[:, 1], 0),
             ("Entropy (nats)", S, exact[:, 0] - exact[:, 1] / T, None), ("Heat capacity dE/dT (k)", slope, exact[:, 2] / T**2, None),
             ("Variance of E / T² (k)", bonds / T**2, exact[:, 2] / T**2, 2), ("|magnetisation|", m, None, 4)]
    panels = []
    for title, field, true, column in parts:
        every = np.concatenate([v for v in (field, true) if v is not None])
        low, high = every.min(), every.max()
        p = Panel((1, 6), (low - 0.06 * (high - low), high + 0.08 * (high - low)), title, "temperature T (J / k)")
        p.rule(x=CRITICAL, style="dot")
        if true is not None:
            p.line(T, true, "c1")
        p.line(T, field, "c0")
        if column is not None:
            mean, error = sampled[column:column + 2]
            p.whiskers(hot, mean - 2 * error, mean + 2 * error, "c2")
            p.dots(hot, mean, "c2")
        panels.append(p)
    return Picture(panels, 3, (180, 150), [("mean field, fits of Lehr", "c0", "line"), ("8 x 8, transfer matrix", "c1", "line"),
                                           (f"8 x 8, {draws} exact samples of Lehr, two standard errors", "c2", "dots"),
                                           ("critical T of the infinite lattice", "quiet", "dot")], left=36, gap=4)


def ising(_):
    """Mean field and exact samples of a torus of 16 x 16 spins, from docs/results/exact_ising.csv"""
    rows = results("exact_ising")
    T, fine, panels, m = np.array([float(r["T"]) for r in rows]), np.linspace(2.1, 5, 80), [], np.linspace(0.96, 0.01, 60)
    for title, kind, limits in (("Energy of a spin (J)", "energy", (-1.9, 0.1)), ("|magnetisation|", "|m|", (-0.05, 1))):
        p = Panel((2.1, 5.1), limits, title, "temperature T (J / k)")
        p.rule(x=CRITICAL, style="dot")
        field = "mean field" if kind == "energy" else "|m|, mean field"
        p.line(np.append(4 * m / np.arctanh(m), [4, 5.1]), np.append(-2 * m**2 if kind == "energy" else m, [0, 0]), "c0")
        p.dots(T, [float(r[field]) for r in rows], "c0")
        if kind == "energy":
            p.line(fine, [kaufman_energy(t, 16) for t in fine], "c1")
        mean, error = np.array([measured(r["exact samples (se)" if kind == "energy" else "|m|, exact samples (se)"]) for r in rows]).T
        p.whiskers(T, mean - 2 * error, mean + 2 * error, "c2")
        p.dots(T, mean, "c2")
        panels.append(p)
    return Picture(panels, 2, (270, 200), [("m = tanh(4 m / T)", "c0", "line"), ("mean field of Lehr", "c0", "dots"), ("exact (Kaufman)", "c1", "line"),
                                           ("100 exact samples of Lehr, two standard errors", "c2", "dots"),
                                           ("critical T of the infinite lattice", "quiet", "dot")])


def gaussian(lehr):
    """Fig. 33.4: a separable approximation of the posterior of a mean and a standard deviation, step by step"""
    x = 1 + np.array([0.1, -0.4, 0.4, -0.1, 0.0]) / np.sqrt(0.34)
    problem = Problem(lehr, """model m { plate n; mu ~ Flat(); beta ~ Jeffreys(); observe x[n] ~ Normal(mean = mu, precision = beta);
      guide order(mu, beta); }""", {"x": x})
    start = {"mu.mean": 0.5, "mu.precision": 60.0, "beta.shape": 8.0, "beta.rate": 8 * 0.7**2}

    def after(sweeps):
        _, out = problem.fit("--tol", 0, "--max-iter", 200, init={k: np.array(v) for k, v in start.items() if k.startswith("beta")})
        q = posterior(out)
        precision = q["mu.precision"] if "mu.precision" in q else 1 / q["mu.variance"]
        return (float(q["mu.mean"]), float(precision)), (float(q["beta.shape"]), float(q["beta.rate"]))

    one, two, last = after(1), after(2), after(15)
    first = (start["mu.mean"], start["mu.precision"]), (start["beta.shape"], start["beta.rate"])
    mu, sigma = np.linspace(0, 2, 61), np.linspace(0.15, 1.15, 61)
    beta = sigma**-2.0

    def density(mean, precision, shape, rate):
        """Of mu and log sigma, as the book's."""
        return np.exp(-precision * (mu[:, None] - mean) ** 2 / 2 + shape * np.log(beta) - rate * beta + shape * np.log(rate) - gammaln(shape))

    P = np.exp(2.5 * np.log(beta) - beta / 2 * (5 * (mu[:, None] - 1) ** 2 + 1))
    panels = []
    for title, (m, b) in (("(a) start", first), ("(b) mu updated", (one[0], first[1])), ("(c) sigma updated", one),
                          ("(d) mu again", (two[0], one[1])), ("(e) sigma again", two), ("(f) 15 iterations", last)):
        p = Panel((0, 2), (0.15, 1.15), title.replace("mu", "μ").replace("sigma", "σ"), "μ", "σ")
        for z, colour, style in ((P, "c0", "line"), (density(*m, *b), "c1", "dot")):
            p.contours(mu, sigma, z, z.max() * np.array([0.02, 0.1, 0.3, 0.6, 0.9]), colour, style, 1.3)
        panels.append(p)
    peak = np.sqrt(last[1][1] / last[1][0])
    panels[-1].dots(1, np.sqrt(1 / 5), "c0", 3)
    panels[-1].dots(1, peak, "c1", 3)
    return Picture(panels, 3, (180, 180), [(f"posterior P, peak at σ = {np.sqrt(1 / 5):.3f}", "c0", "line"),
                                           (f"Q of Lehr, peak at σ = {peak:.3f} in (f)", "c1", "dot")], left=36, gap=4)


def logistic(lehr):
    """Fig. 33.5: both bounds of the logistic function, and the bound of Lehr where it is tightest"""
    a, nu, mu = np.linspace(-6, 6, 121), -2.015, 0.505
    g = lambda v: 1 / (1 + np.exp(-v))
    p = Panel((-6, 6), (0, 1.2), "", "a", "g(a)")
    p.line(a, np.exp(mu * a - entropy(np.array(mu))), "c2", "dash")
    p.line(a, g(nu) * np.exp((a - nu) / 2 - (g(nu) - 0.5) / (2 * nu) * (a**2 - nu**2)), "c1", "dash")
    p.line(a, g(a), "ink")
    at = np.array([-5.0, -3.5, nu, -1.0, 0.5, 2.0, 3.5, 5.0])
    found = [Problem(lehr, f"model m {{ plate n; w ~ Normal(mean = {v}, precision = 1e8); observe y[n] ~ Bernoulli(logistic(w)); }}",
                     {"y": [1]}).fit()[0]["elbo"] for v in at]
    p.dots(at, np.exp(found), "c0", 3.6)
    return Picture([p], 1, (480, 280), [("g(a) = 1 / (1 + exp(−a))", "ink", "line"), ("lower bound, ν = −2.015", "c1", "dash"),
                                        ("upper bound, μ = 0.505", "c2", "dash"), ("exp(ELBO) of one observation, ν of Lehr", "c0", "dots")])


def kaboom(lehr):
    """Exercise 33.4: soft K-means with two precisions, one component on an outlier: points, and distributions"""
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.normal(0, 1, (40, 2)), [[3.5, 3.0]]])
    text = """model m {{ plate n; plate k = 2; plate d = 2; mu[k, d] ~ Normal(mean = 0, sd = 100); tau[k] ~ Gamma(shape = {0}, rate = {1});
      pi ~ Dirichlet(concentration = 1) over k; z[n] ~ Categorical(pi); observe x[n, d] ~ Normal(mean = mu[z[n], d], precision = tau[z[n]]); {2} }}"""
    means, panels, largest = np.array([[0, 0], x[-1]]), [], {}
    for name, model, init in (
            ("points", text.format(1, 1e-6, "guide point(mu, tau, pi);"), {"mu.value": means, "tau.value": [1, 1e4], "pi.value": [0.9, 0.1]}),
            ("distributions", text.format(0.1, 0.1, ""),
             {"mu.mean": means, "mu.precision": [[10, 10], [1e4, 1e4]], "tau.shape": [10, 1], "tau.rate": [10, 1e-4]})):
        problem = Problem(lehr, model, {"x": x})
        q = posterior(problem.fit("--max-iter", 200, init={k: np.array(v, dtype=float) for k, v in init.items()})[1])
        if name == "points":
            mu, tau, log_tau, log_pi, variance = q["mu.value"], q["tau.value"], np.log(q["tau.value"]), np.log(q["pi.value"]), 0
        else:
            mu, tau, variance = q["mu.mean"], q["tau.shape"] / q["tau.rate"], 2 / q["mu.precision"].mean(1)
            log_tau, log_pi = digamma(q["tau.shape"]) - np.log(q["tau.rate"]), digamma(q["pi.concentration"])
        g = np.linspace(-4, 5, 73)
        squares = ((np.stack(np.meshgrid(g, g, indexing="ij"), -1)[..., None, :] - mu) ** 2).sum(-1) + variance
        odds = np.diff(log_pi + log_tau - tau * squares / 2, axis=-1)[..., 0]
        precision = f"{tau.max():.1e}" if tau.max() > 1000 else f"{tau.max():.2f}"
        p = Panel((-4, 5), (-4, 5), f"{name.capitalize()}: largest precision {precision}", "x1", "x2")
        p.dots(*x.T, "quiet", 1.8)
        p.contours(g, g, np.clip(odds, -30, 30), np.log([1 / 9, 1, 9]), "c2", "dash", 1)
        angle = np.linspace(0, 2 * np.pi, 80)
        for k in range(2):
            p.line(mu[k, 0] + 2 / np.sqrt(tau[k]) * np.cos(angle), mu[k, 1] + 2 / np.sqrt(tau[k]) * np.sin(angle), f"c{k}", width=2)
            p.dots(*mu[k], f"c{k}", 3.2)
        panels.append(p)
        largest[f"largest precision, {name}"] = tau.max()
    return Picture(panels, 2, (270, 270), [("component 1, two sd", "c0", "line"), ("component 2", "c1", "line"),
                                           ("responsibilities 0.1, 0.5, 0.9", "c2", "dash"), ("data", "quiet", "dots")], numbers=largest)


PICTURES = [coalescence, from_the_past, extremes, exact_sample, two_spins, branches, free_energy, ising, fragment, gaussian, kaboom, logistic]
