"""Models of one conjugate factor, with data over the plate n: batches one after another are all of them at once."""
import numpy as np

R = np.random.default_rng(7)
# By name: the text, and arrays.
NUMBERS = R.normal(3, 2, 200)
VECTORS = R.normal(size=(200, 3)) @ R.normal(size=(3, 3)) + 1
MODELS = {
    "coin": (open("models/distributions/coin.lehr").read(), {"x": np.loadtxt("models/data/distributions/coin.csv", skiprows=1)}),
    "normal": ("mu ~ Normal(mean = 1, precision = 0.1); observe x[n] ~ Normal(mean = mu, precision = 2);", {"x": NUMBERS}),
    "normal of each": ("plate g = 4; data of[n] : g; mu[g] ~ Normal(mean = 1, precision = 0.1);"
                       "observe x[n] ~ Normal(mean = mu[of[n]], precision = 2);", {"x": NUMBERS, "of": R.integers(0, 4, 200)}),
    "normal gamma": ("tau ~ Gamma(shape = 2, rate = 3); mu ~ Normal(mean = 1, precision = 0.5 * tau);"
                     "observe x[n] ~ Normal(mean = mu, precision = tau); guide joint(mu, tau);", {"x": NUMBERS}),
    "normal Wishart": ("plate d = 3; Lambda ~ Wishart(df = 5, scale = 0.3) over d;"
                       "mu ~ MvNormal(mean = 0, precision = 0.1 * Lambda) over d;"
                       "observe x[n] ~ MvNormal(mean = mu, precision = Lambda) over d; guide joint(mu, Lambda);", {"x": VECTORS}),
    "Wishart": ("plate d = 3; Lambda ~ Wishart(df = 5, scale = 0.3) over d;"
                "observe x[n] ~ MvNormal(mean = 1, precision = Lambda) over d;", {"x": VECTORS}),
    "regression": ("plate d = 3; data x[n] : vector over d; w ~ MvNormal(mean = 0, precision = 1) over d;"
                   "observe y[n] ~ Normal(mean = dot(w, x[n]), precision = 4);", {"x": VECTORS, "y": NUMBERS}),
    "Poisson": ("rate ~ Gamma(shape = 2, rate = 1); observe x[n] ~ Poisson(rate = rate);", {"x": R.poisson(4, 200)}),
    "scale": ("s ~ InverseGamma(shape = 3, scale = 2); observe x[n] ~ Normal(mean = 3, variance = s);", {"x": NUMBERS}),
    "categories": ("plate k = 5; pi ~ Dirichlet(concentration = 0.5) over k; observe x[n] ~ Categorical(pi);",
                   {"x": R.integers(0, 5, 200)}),
    "flat": ("mu ~ Flat(); observe x[n] ~ Normal(mean = mu, precision = 2);", {"x": NUMBERS}),
}

# Factors of several variables: prior and posterior have their correlations.
JOINT = {
    "numbers together": ("plate d = 3; data x[n] : vector over d; a ~ Normal(mean = 1, sd = 3); w[d] ~ Normal(mean = a, sd = 2);"
                         "observe y[n] ~ Normal(mean = a + sum(d) w[d] * x[n, d], precision = 4); guide joint(a, w);",
                         {"x": VECTORS, "y": NUMBERS}),
    "regression and its precision": (
        "plate d = 3; data x[n] : vector over d; a ~ Normal(mean = 1, precision = 0.2 * tau); tau ~ Gamma(shape = 2, rate = 1);"
        "w[d] ~ Normal(mean = 0, precision = 0.1 * tau); guide joint(a, w, tau);"
        "observe y[n] ~ Normal(mean = a + sum(d) w[d] * x[n, d], precision = tau);", {"x": VECTORS, "y": NUMBERS}),
    "regressions of groups": (
        "plate g = 2; plate d = 3; data x[n] : vector over d; data of[n] : g; tau[g] ~ Gamma(shape = 2, rate = 1);"
        "w[g] ~ MvNormal(mean = 0, precision = tau[g]) over d; guide joint(w, tau);"
        "observe y[n] ~ Normal(mean = dot(w[of[n]], x[n]), precision = tau[of[n]]);",
        {"x": VECTORS, "y": NUMBERS, "of": R.integers(0, 2, 200)}),
}


def text_of(name):
    text = (MODELS | JOINT)[name][0]
    return text if "model " in text else f"model m {{ plate n; {text} }}"
