#!/usr/bin/env python3
"""More examples of BUGS by Gibbs sampling, the priors as published, against the posteriors of the manual of MultiBUGS, or as
JuliaBUGS.jl keeps them from that of OpenBUGS; and two of the tutorials of Infer.NET.

A published mean must be within four standard errors, theirs and ours together: theirs as printed, or, where none is, as of a
thousand independent draws. Standard deviations within 15 %. usage: bugs_published.py LEHR
"""
import sys

import numpy as np
from scipy.stats import norm

sys.path.append(f"{sys.path[0]}/..")
from fitting import finish  # noqa: E402
from sampling import sample, standard_error  # noqa: E402


def check(name, x, mean, sd, error=None):
    allowed = 4 * np.hypot(standard_error(x), sd / 1000**0.5 if error is None else error)
    print(f"{name}: {x.mean():.4g} ({x.std():.4g}), published {mean} ({sd})")
    assert abs(x.mean() - mean) < allowed, f"{name} has mean {x.mean():.5g}, published {mean}, allowed {allowed:.2g}"
    assert abs(x.std() / sd - 1) < 0.15, f"{name} has sd {x.std():.4g}, published {sd}"


SEEDS = """model seeds { plate pot; data n[pot] : count; data x1[pot] : real; data x2[pot] : real;
  a0 ~ Normal(mean = 0, sd = 1000); a1 ~ Normal(mean = 0, sd = 1000); a2 ~ Normal(mean = 0, sd = 1000);
  a12 ~ Normal(mean = 0, sd = 1000); tau ~ Gamma(shape = 0.001, rate = 0.001);
  b[pot] ~ Normal(mean = 0, precision = tau);
  observe r[pot] ~ Binomial(n[pot], logistic(a0 + a1 * x1[pot] + a2 * x2[pot] + a12 * x1[pot] * x2[pot] + b[pot])); }"""


def seeds():
    d = sample(SEEDS, {"r": [10, 23, 23, 26, 17, 5, 53, 55, 32, 46, 10, 8, 10, 8, 23, 0, 3, 22, 15, 32, 3],
                       "n": [39, 62, 81, 51, 39, 6, 74, 72, 51, 79, 13, 16, 30, 28, 45, 4, 12, 41, 30, 51, 7],
                       "x1": [0] * 11 + [1] * 10, "x2": [0] * 5 + [1] * 6 + [0] * 5 + [1] * 5}, draws=12000).draws
    check("alpha0", d["a0"], -0.5473, 0.1935, 0.003929)
    check("alpha1", d["a1"], 0.06959, 0.3203, 0.006121)
    check("alpha12", d["a12"], -0.8165, 0.4377, 0.008459)
    check("alpha2", d["a2"], 1.352, 0.2718, 0.005731)
    check("sigma", d["tau"]**-0.5, 0.2943, 0.1435, 0.005438)
    return "seeds and roots, with effects of the pots"


BLOCKER = """model blocker { plate trial; data nc[trial] : count; data nt[trial] : count;
  mu[trial] ~ Normal(mean = 0, precision = 1e-5); d ~ Normal(mean = 0, sd = 1000); tau ~ Gamma(shape = 0.001, rate = 0.001);
  delta[trial] ~ Normal(mean = d, precision = tau);
  observe rc[trial] ~ Binomial(nc[trial], logistic(mu[trial]));
  observe rt[trial] ~ Binomial(nt[trial], logistic(mu[trial] + delta[trial])); }"""


def blocker():
    d = sample(BLOCKER, {
        "rt": [3, 7, 5, 102, 28, 4, 98, 60, 25, 138, 64, 45, 9, 57, 25, 33, 28, 8, 6, 32, 27, 22],
        "nt": [38, 114, 69, 1533, 355, 59, 945, 632, 278, 1916, 873, 263, 291, 858, 154, 207, 251, 151, 174, 209, 391, 680],
        "rc": [3, 14, 11, 127, 27, 6, 152, 48, 37, 188, 52, 47, 16, 45, 31, 38, 12, 6, 3, 40, 43, 39],
        "nc": [39, 116, 93, 1520, 365, 52, 939, 471, 282, 1921, 583, 266, 293, 883, 147, 213, 122, 154, 134, 218, 364, 674]},
        draws=9000).draws
    check("d", d["d"], -0.249, 0.06116, 0.001762)
    check("sigma", d["tau"]**-0.5, 0.1107, 0.06563, 0.002512)
    return "22 trials of beta blockers"


DOSE = np.array([1.6907, 1.7242, 1.7552, 1.7842, 1.8113, 1.8369, 1.8610, 1.8839])
BEETLES, DEAD = np.array([59, 60, 62, 56, 63, 59, 62, 60]), np.array([6, 13, 18, 28, 52, 53, 61, 60])


def beetles_logit():
    model = """model beetles { plate dose; data n[dose] : count; data x[dose] : real;
      a ~ Normal(mean = 0, precision = 0.001); b ~ Normal(mean = 0, precision = 0.001);
      observe r[dose] ~ Binomial(n[dose], logistic(a + b * x[dose])); }"""
    d = sample(model, {"x": DOSE - DOSE.mean(), "n": BEETLES, "r": DEAD}, draws=10000).draws
    check("alpha", d["a"] - d["b"] * DOSE.mean(), -60.78, 5.168)
    check("beta", d["b"], 34.3, 2.904)
    return "the logit of deaths by dose"


def beetles_probit():
    model = """model beetles { plate beetle; data x[beetle] : real;
      a ~ Normal(mean = 0, precision = 0.001); b ~ Normal(mean = 0, precision = 0.001);
      observe died[beetle] ~ Bernoulli(probit(a + b * x[beetle])); }"""
    died = np.concatenate([np.arange(n) < k for n, k in zip(BEETLES, DEAD)])
    d = sample(model, {"x": np.repeat(DOSE - DOSE.mean(), BEETLES), "died": died.astype(float)}, draws=4000).draws
    check("alpha", d["a"] - d["b"] * DOSE.mean(), -35.08, 2.64)
    check("beta", d["b"], 19.81, 1.485)
    return "the probit, one beetle at a time"


EQUIV = """model equiv { plate subject; plate period; data treatment[subject, period] : real; data sign[period] : real;
  mu ~ Normal(mean = 0, sd = 1000); phi ~ Normal(mean = 0, sd = 1000); pi ~ Normal(mean = 0, sd = 1000);
  tau1 ~ Gamma(shape = 0.001, rate = 0.001); tau2 ~ Gamma(shape = 0.001, rate = 0.001);
  delta[subject] ~ Normal(mean = 0, precision = tau2);
  observe y[subject, period] ~ Normal(mean = mu + 0.5 * phi * treatment[subject, period] + 0.5 * pi * sign[period] + delta[subject],
                                      precision = tau1); }"""


def equiv():
    group = np.array([1, 1, -1, -1, -1, 1, 1, 1, -1, -1])
    d = sample(EQUIV, {"treatment": np.stack([group, -group], 1), "sign": [1, -1],
                       "y": [[1.4, 1.65], [1.64, 1.57], [1.44, 1.58], [1.36, 1.68], [1.65, 1.69], [1.08, 1.31], [1.09, 1.43],
                             [1.25, 1.44], [1.25, 1.39], [1.3, 1.52]]}, draws=20000, warmup=2000).draws
    check("mu", d["mu"], 1.436, 0.05751)
    check("phi", d["phi"], -0.008613, 0.05187)
    check("sigma1", d["tau1"]**-0.5, 0.1102, 0.03268)
    return "two tablets in two periods"


STACKS = """model stacks { plate day; plate c; data X[day] : vector over c;
  beta ~ MvNormal(mean = 0, precision = 1e-5) over c; tau ~ Gamma(shape = 0.001, rate = 0.001);
  observe y[day] ~ Normal(mean = dot(beta, X[day]), precision = tau); }"""


def stacks():
    x = np.array([[80, 27, 89], [80, 27, 88], [75, 25, 90], [62, 24, 87], [62, 22, 87], [62, 23, 87], [62, 24, 93], [62, 24, 93],
                  [58, 23, 87], [58, 18, 80], [58, 18, 89], [58, 17, 88], [58, 18, 82], [58, 19, 93], [50, 18, 89], [50, 18, 86],
                  [50, 19, 72], [50, 19, 79], [50, 20, 80], [56, 20, 82], [70, 20, 91]])
    y = np.array([42, 37, 37, 28, 18, 18, 19, 20, 15, 14, 14, 13, 11, 12, 8, 7, 8, 8, 9, 15, 15])
    mean, sd = x.mean(axis=0), x.std(axis=0, ddof=1)
    z = (x - mean) / sd
    d = sample(STACKS, {"X": np.column_stack([np.ones(21), z]), "y": y}, draws=10000).draws
    beta = np.stack([d[f"beta.{k}"] for k in range(1, 5)])
    check("b0", beta[0] - (mean / sd) @ beta[1:], -39.64, 12.63)
    residual = (y[20] - np.concatenate([[1], z[20]]) @ beta) * d["tau"]**0.5
    check("outlier[21]", (abs(residual) > 2.5).astype(float), 0.3324, 0.4711)
    return "stack losses with Normal errors"


EYES = """model eyes { plate n; plate k = 2; data high[k] : real; P ~ Dirichlet(concentration = 1) over k;
  lambda ~ Normal(mean = 0, sd = 1000); theta ~ Normal(mean = 0, sd = 100000) above 0; tau ~ Gamma(shape = 0.001, rate = 0.001);
  z[n] ~ Categorical(P);
  observe y[n] ~ Normal(mean = lambda + theta * high[z[n]], precision = tau); }"""


def eyes():
    y = [529.0, 530.0, 532.0, 533.1, 533.4, 533.6, 533.7, 534.1, 534.8, 535.3, 535.4, 535.9, 536.1, 536.3, 536.4, 536.6, 537.0,
         537.4, 537.5, 538.3, 538.5, 538.6, 539.4, 539.6, 540.4, 540.8, 542.0, 542.8, 543.0, 543.5, 543.8, 543.9, 545.3, 546.2,
         548.8, 548.7, 548.9, 549.0, 549.4, 549.9, 550.6, 551.2, 551.4, 551.5, 551.6, 552.8, 552.9, 553.2]
    d = sample(EYES, {"y": y, "high": [0, 1], "z": [0] + [None] * 46 + [1]}, draws=15000, warmup=2000).draws
    check("P[1]", d["P.1"], 0.5982, 0.09059)
    check("lambda[1]", d["lambda"], 536.8, 0.9863)
    check("lambda[2]", d["lambda"] + d["theta"], 548.8, 1.403)
    check("sigma", d["tau"]**-0.5, 3.829, 0.7176)
    return "two kinds of eyes, two of them known, in this order"


HEARTS = """model hearts { plate patient; data t[patient] : count;
  p ~ Beta(0.0001, 0.0001); delta ~ Normal(mean = 0, precision = 0.0001);
  observe y[patient] ~ zero_inflated(logistic(delta), Binomial(t[patient], p)); }"""


def hearts():
    x, y = np.array([6, 9, 17, 22, 7, 5, 5, 14, 9, 7, 9, 51]), np.array([5, 2, 0, 0, 2, 1, 0, 0, 0, 0, 13, 0])
    d = sample(HEARTS, {"t": x + y, "y": y}, draws=20000).draws
    check("alpha", np.log(d["p"] / (1 - d["p"])), -0.4786, 0.2764)
    check("beta", d["p"] / (1 - d["p"]), 0.6434, 0.1777)
    check("delta", d["delta"], 0.3172, 0.6269)
    check("theta", 1 / (1 + np.exp(-d["delta"])), 0.5721, 0.141)
    return "beats after a drug: cured, or a binomial count"


AIR = """model air { plate j; data n[j] : count; data z[j] : real;
  a ~ Normal(mean = 0, precision = 0.001); b ~ Normal(mean = 0, precision = 0.001);
  X[j] ~ Normal(mean = 4.48 + 0.76 * z[j], precision = 0.01234);
  observe y[j] ~ Binomial(n[j], logistic(a + b * X[j])); }"""


def air():
    d = sample(AIR, {"y": [21, 20, 15], "n": [48, 34, 21], "z": [10, 30, 50]}, "--save-locals", draws=20000, warmup=2000).draws
    for k, row in enumerate([(13.48, 8.403), (27.35, 7.462), (40.73, 8.798)]):
        check(f"X[{k + 1}]", d[f"X.{k + 1}"], *row)
    return "exposures that were only estimated"


# Tables have the probability of yes; those who have been to Asia have tuberculosis with 0.05.
ASIA = """model asia { plate patient; plate no_yes = 2; plate b = no_yes; plate c = no_yes;
  data p_dyspnoea[no_yes, b, c] : real; data half : vector over no_yes; data tb : vector over no_yes;
  data lung[no_yes] : vector over no_yes; data bronchitis[no_yes] : vector over no_yes;
  smoking[patient] ~ Categorical(half);
  tuberculosis[patient] ~ Categorical(tb);
  cancer[patient] ~ Categorical(lung[smoking[patient]]);
  bronch[patient] ~ Categorical(bronchitis[smoking[patient]]);
  observe dyspnoea[patient] ~ Bernoulli(p_dyspnoea[tuberculosis[patient], cancer[patient], bronch[patient]]); }"""


def asia():
    x = {"half": [0.5, 0.5], "tb": [0.95, 0.05], "lung": [[0.99, 0.01], [0.9, 0.1]], "bronchitis": [[0.7, 0.3], [0.4, 0.6]],
         "p_dyspnoea": [[[0.1, 0.8], [0.7, 0.9]], [[0.7, 0.9], [0.7, 0.9]]], "dyspnoea": [1]}
    d = sample(ASIA, x, "--save-locals", draws=20000).draws
    check("bronchitis", 1 + d["bronch.1"], 1.811, 0.3918)
    check("lung.cancer", 1 + d["cancer.1"], 1.101, 0.3011)
    check("smoking", 1 + d["smoking.1"], 1.628, 0.4833)
    check("tuberculosis", 1 + d["tuberculosis.1"], 1.089, 0.2854)
    check("either", 1 + np.maximum(d["tuberculosis.1"], d["cancer.1"]), 1.185, 0.3885)
    return "what makes one short of breath"


CERVIX = """model cervix { plate woman; plate hsv = 2; plate cancer = 2; data with_hsv[hsv] : real; data group[woman] : cancer;
  q ~ Dirichlet(concentration = 1) over hsv; b0 ~ Normal(mean = 0, precision = 1e-5); b ~ Normal(mean = 0, precision = 1e-5);
  phi[hsv, cancer] ~ Beta(1, 1);
  x[woman] ~ Categorical(q);
  observe d[woman] ~ Bernoulli(logistic(b0 + b * with_hsv[x[woman]]));
  observe w[woman] ~ Bernoulli(phi[x[woman], group[woman]]); guide joint(b0, b); }"""


def cervix():
    # d, x (none: not known), w, and how many.
    table = [(1, 0, 0, 13), (1, 0, 1, 3), (1, 1, 0, 5), (1, 1, 1, 18), (0, 0, 0, 33), (0, 0, 1, 11), (0, 1, 0, 16), (0, 1, 1, 16),
             (1, None, 0, 318), (1, None, 1, 375), (0, None, 0, 701), (0, None, 1, 535)]
    d, x, w = ([row[k] for row in table for _ in range(row[3])] for k in range(3))
    d = sample(CERVIX, {"d": d, "group": d, "x": x, "w": w, "with_hsv": [0, 1]}, draws=3000, warmup=300).draws
    check("beta", d["b"], 0.6156, 0.3406)
    check("beta0C", d["b0"], -0.902, 0.1892)
    check("phi[1,1]", d["phi.1.1"], 0.3159, 0.05324)
    check("phi[1,2]", d["phi.1.2"], 0.2167, 0.08086)
    check("phi[2,1]", d["phi.2.1"], 0.5716, 0.06357)
    check("phi[2,2]", d["phi.2.2"], 0.7688, 0.0639)
    check("q", d["q.2"], 0.4915, 0.04115)
    return "cases and controls with errors in what they were exposed to"


STAGNANT = """model stagnant { plate n; plate at; plate c = 3; plate change = 1; data X[n, at] : vector over c; data p : vector over at;
  beta ~ MvNormal(mean = 0, precision = 1e-6) over c; tau ~ Gamma(shape = 0.001, rate = 0.001);
  k[change] ~ Categorical(p);
  observe y[n] ~ Normal(mean = dot(beta, X[n, k[0]]), precision = tau); }"""


def stagnant():
    """The place of the change on a grid of a hundredth."""
    y = [1.12, 1.12, 0.99, 1.03, 0.92, 0.9, 0.81, 0.83, 0.65, 0.67, 0.6, 0.59, 0.51, 0.44, 0.43, 0.43, 0.33, 0.3, 0.25, 0.24, 0.13, -0.01,
         -0.13, -0.14, -0.3, -0.33, -0.46, -0.43, -0.65]
    x = np.array([-1.39, -1.39, -1.08, -1.08, -0.94, -0.8, -0.63, -0.63, -0.25, -0.25, -0.12, -0.12, 0.01, 0.11, 0.11, 0.11, 0.25, 0.25,
                  0.34, 0.34, 0.44, 0.59, 0.7, 0.7, 0.85, 0.85, 0.99, 0.99, 1.19])
    at = np.linspace(-1.3, 1.1, 241)
    past = x[:, None] - at
    X = np.stack([np.ones_like(past), np.minimum(past, 0), np.maximum(past, 0)], -1)
    d = sample(STAGNANT, {"X": X, "p": np.full(241, 1 / 241), "y": y}, draws=20000, warmup=2000).draws
    check("alpha", d["beta.1"], 0.5351, 0.02475, 1.029e-3)
    check("beta[1]", d["beta.2"], -0.4196, 0.01477, 4.96e-4)
    check("beta[2]", d["beta.3"], -1.014, 0.01732, 4.364e-4)
    check("sigma", d["tau"]**-0.5, 0.02204, 0.003286, 3.136e-5)
    return "two lines that meet"


CAMEL = """model camel { plate n; plate c = 2; data S : matrix over c, c;
  T ~ Wishart(df = 2, scale = S) over c;
  observe y[n] ~ MvNormal(mean = 0, precision = T); }"""


def camel():
    y = [[1, 1], [1, -1], [-1, 1], [-1, -1]] + [[2, None]] * 2 + [[-2, None]] * 2 + [[None, 2]] * 2 + [[None, -2]] * 2
    d = sample(CAMEL, {"S": [[1000, 0], [0, 1000]], "y": y}, draws=20000).draws
    check("tau[1,1]", d["T.1.1"], 0.8616, 0.5124)
    return "a correlation of either sign"


CLINICAL = """model clinical_trial { plate patient; plate arm = 2; plate rate = 3; plate effective = 2; plate trial = 1;
  data arm_of[patient] : arm; data rate_of[effective, arm] : rate; data even : vector over effective;
  p[rate] ~ Beta(1, 1);
  e[trial] ~ Categorical(even);
  observe good[patient] ~ Bernoulli(p[rate_of[e[0], arm_of[patient]]]); }"""


def clinical_trial():
    d = sample(CLINICAL, {"arm_of": [0] * 5 + [1] * 5, "rate_of": [[0, 0], [1, 2]], "even": [0.5, 0.5],
                          "good": [0, 0, 1, 0, 0, 1, 0, 1, 1, 1]}, draws=20000).draws
    effective = d["e.1"] == 1
    check("an effect", effective.astype(float), 0.7549, 0.4302, 0)
    for name, rate, mean in (("treated", "p.3", 0.7142857), ("control", "p.2", 0.2857143)):
        check(name, d[rate][effective], mean, (10 / 49 / 8)**0.5, 0)
    return "whether a treatment has an effect"


BAYES_POINT = """model bayes_point_machine { plate person; plate c; data x[person] : vector over c; const sd = 0.31622776601683794;
  w ~ MvNormal(mean = 0, precision = 1) over c;
  observe buys[person] ~ Bernoulli(probit(dot(w, x[person]) / sd)); }"""


def bayes_point_machine():
    """Published by expectation propagation, and the posterior itself by importance sampling from that."""
    x = np.column_stack([[63, 16, 28, 55, 22, 20], [38, 23, 40, 27, 18, 40], np.ones(6)])
    d = sample(BAYES_POINT, {"x": x, "buys": [1, 0, 1, 1, 0, 0]}, draws=40000, warmup=2000).draws
    w = np.stack([d[f"w.{k}"] for k in (1, 2, 3)])
    for person, published, exact in (((58, 36, 1), 0.9555, 0.9784), ((18, 24, 1), 0.1565, 0.1572), ((22, 37, 1), 0.287, 0.2885)):
        chance = norm.cdf(person @ w / 0.1**0.5)
        print(f"{person}: {chance.mean():.4f}, published {published}, exactly {exact}")
        assert abs(chance.mean() - exact) < 1e-3 + 4 * standard_error(chance) and abs(chance.mean() - published) < 0.03, person
    return "who will buy"


def truncated_gaussian():
    """Exact: a Normal number above a threshold."""
    model = "model m { plate n; data at[n] : real; x[n] ~ Normal(mean = 0, sd = 1) above at[n]; }"
    rows = [(0, 0.7979, 0.3634), (0.1, 0.8626, 0.3422), (0.2, 0.9294, 0.3221), (0.3, 0.9982, 0.3031), (0.4, 1.069, 0.2853),
            (0.5, 1.141, 0.2685), (0.6, 1.215, 0.2527), (0.7, 1.29, 0.238), (0.8, 1.367, 0.2241)]
    d = sample(model, {"at": [row[0] for row in rows]}, "--save-locals", draws=20000, warmup=0).draws
    for k, (at, mean, variance) in enumerate(rows):
        check(f"above {at}", d[f"x.{k + 1}"], mean, variance**0.5, 0.00005)
    return "a Normal number above a threshold"


ASTHMA = """model asthma { plate from; plate to; q[from] ~ Dirichlet(concentration = 1) over to;
  observe y[from] ~ Multinomial(q[from]); }"""


def asthma():
    d = sample(ASTHMA, {"y": [[210, 60, 0, 1, 1], [88, 641, 0, 4, 13], [1, 0, 0, 0, 1]]}, draws=10000, warmup=0).draws
    for name, *row in (("1.1", 0.76479, 0.02494, 0.0012), ("1.2", 0.21761, 0.02405, 0.00116), ("2.1", 0.11868, 0.01221, 0.000506),
                       ("2.5", 0.018885, 0.005186, 0.000113), ("3.1", 0.28833, 0.1742, 0.00436), ("3.3", 0.14261, 0.13315, 0.00317)):
        check(f"q[{name}]", d["q." + name], *row)
    return "weekly states of patients"


finish({"Seeds": seeds, "Blocker": blocker, "Beetles, logit": beetles_logit, "Beetles, probit": beetles_probit, "Equiv": equiv,
        "Stacks": stacks, "Eyes": eyes, "Hearts": hearts, "Air": air, "Asia": asia, "Cervix": cervix, "Stagnant": stagnant,
        "Camel": camel, "Asthma": asthma, "Clinical trial": clinical_trial, "Bayes point machine": bayes_point_machine,
        "Truncated Gaussian": truncated_gaussian})
