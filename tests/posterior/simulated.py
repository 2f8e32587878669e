"""Models that simulate their own data, with sizes at which a sampler mixes: those of models/ that have proper priors, and those of
SHORT. Each is (text of the model, arguments of the command line, data as a dictionary)."""
import json
import pathlib
import re

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Why a model of models/ is not among them.
WITHOUT = {
    "ising": "its potential has no known normaliser, so that nothing can be drawn from it",
    "spin_system": "its potential has no known normaliser, so that nothing can be drawn from it",
    "second_order_hmm": ("", "t=10,letter=3", {}),
    "smooth_trend": ("m0=0,s0=1,a0=3,b0=2", "year=8", {}),
    "soft_kmeans": "the prior of mu is improper",
    "ordered_probit": "its data are the limits of a number, and nothing that can be drawn",
    "softmax_regression": "there are no draws of its posterior",
    "poisson_regression": "there are no draws of its posterior",
    "negative_binomial": "its parameters are points",
    "ordered_logistic": "the distances of its cuts are points",
    "rat_tumours": "its parameters are points",
    "dirichlet_multinomial": "its concentrations are points",
    "equal_clusters": "the prior of mu is improper",
    "gamma_flows": "its parameters are points",
    "grouped_girths": "a table that counts what it has no rows of cannot be drawn",
    "lasso": "the standard deviation of its noise is a point",
    "power_prior": "groups that count as a tenth are not as many draws",
    "chest_girths": "a table that counts what it has no rows of cannot be drawn",
    "lda_learned_alpha": "its concentration is a point",
    "hierarchical_dirichlet_process": "its concentrations are points",
}

# Numbers around 1 in the place of vague ones, which draw what no computer has: precisions of 1e-50, sticks that are nothing but
# rounding away from 1.
VAGUE = [(r"Gamma\(shape = 1e-\d, rate = 1e-\d\)", "Gamma(shape = 3, rate = 2)"), (r"sd = 100\)", "sd = 2)"),
         (r"precision = 1e-\d", "precision = 0.25"), (r"(alpha +~) Gamma\(shape = 1, rate = 1\)", r"\1 Gamma(shape = 6, rate = 3)")]
RANDOM = np.random.default_rng(5)
PAIRS = [(i, j) for i in range(5) for j in range(i)]

# name: constants, sizes, data
OF_MODELS = {
    "carriage": ("", "", {"visit": [4, 3, 1], "treated": [0, 1, 0]}),
    "casks_of_a_table": ("a0=3,b0=2", "", {"batch_of": [0, 0, 1, 1, 1, 2, 2], "cask_of": [0, 1, 0, 0, 1, 0, 0]}),
    "censored_regression": ("", "", {"per_kelvin": [2, -1, 0.5, -2, 1.5, 0], "end": [1, 0, 1, 2, -1, 0]}),
    "coin": ("", "throw=5", {}),
    "crossed_random_effects": ("a0=3,b0=2", "", {"dish": [0, 0, 1, 1, 2, 2], "sample": [0, 1, 0, 1, 0, 1]}),
    # Without concentrations of 0: probabilities that are drawn from those are 0 in floating point, and have no ranks.
    "explicit_durations": ("", "t=8", {"of": [0, 0, 1, 1], "c": [[1, 1, 2, 2], [3, 1, 1, 1], [2, 2, 1, 1], [1, 1, 3, 1]]}),
    "dawid_skene": ("", "", {"patient": [1, 1, 2, 2, 3, 3], "observer": [1, 2, 1, 2, 1, 2], "expected": [[3.0, 1, 1], [1, 3, 1], [1, 1, 3]]}),
    "dirichlet_process_mixture": ("", "n=8", {}),
    "factor_analysis": ("K=2", "n=5,d=3", {}),
    "factorial_hmm": ("", "t=8", {}),
    "factorial_mixture": ("K=2", "n=5,pixel=3", {}),
    "gmm": ("K=2,alpha0=1,nu0=4", "n=8,dim=2", {}),
    "gmm_diagonal": ("K=2", "n=8,d=2", {}),
    "gmm_known_covariance": ("K=2", "n=6", {"mu0": [0, 1], "Sigma0": [[2, 0.5], [0.5, 1]], "Sigma": [[1, -0.3], [-0.3, 1]]}),
    "gmm_normal_wishart": ("K=2,alpha0=1,beta0=0.5", "n=8,dim=2", {}),
    "half_cauchy_schools": ("A=1", "", {"sigma": [1, 2, 3, 2]}),
    "hierarchical_normal": ("a0=3", "", {"sigma": [1, 2, 3, 2]}),
    "hmm_discrete": ("", "t=10,letter=3", {}),
    "hmm_gaussian": ("", "seq=2,channel=2", {"t": [4, 5]}),
    "hmm_poisson": ("", "year=10", {}),
    # Rows of one length, for the same reason.
    "latent_classes": ("K=2", "person=8,item=2,answer=2", {"a": [[2, 1], [1, 2]]}),
    "lda": ("K=2,alpha=0.8,eta=0.7", "doc=3,token=5,term=4", {}),
    "least_absolute_deviations": ("a0=4,b0=3", "", {"x": RANDOM.normal(size=(6, 2)).tolist()}),
    "falling_counts": ("", "", {"half_centuries": [-1, -0.5, 0, 0.3, 0.8, 1.2]}),
    "linear_dynamical_system": ("a0=3,b0=2", "t=5,dim=3", {}),
    "linear_regression": ("a0=3,b0=2,tau0=1", "", {"x": RANDOM.normal(size=(6, 2)).tolist()}),
    "linear_regression_ard": ("a0=3,b0=2,c0=3,d0=2", "", {"X": RANDOM.normal(size=(6, 2)).tolist()}),
    "local_level": ("m0=0,s0=1,a0=3,b0=2", "year=8", {}),
    "logistic_regression": ("", "", {"temperature": [66, 68, 70, 72, 73, 69, 70.5, 71]}),
    "markov_switching": ("", "quarter=10", {}),
    "matrix_factorisation": ("K=2", "", {"user": [0, 0, 1, 1, 2, 2], "item": [0, 1, 0, 1, 0, 1]}),
    "missing_covariates": ("tau0=1,a0=3,b0=2", "n=6,d=2", {}),
    "mixture_of_bernoullis": ("K=2", "n=8,d=3", {}),
    "mixture_of_hmms": ("C=2", "seq=3", {"t": [4, 5, 3], "B": [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]}),
    "mixture_of_multinomials": ("K=2", "", {"x": [[3, 1, 0], [2, 2, 2], [0, 1, 4], [1, 0, 1], [2, 1, 1]]}),
    "mixture_of_poissons": ("b0=0.5", "n=8", {}),
    "multivariate_normal": ("nu=6", "n=6,dim=2", {}),
    "nested_random_effects": ("a0=3,b0=2", "batch=3,cask=2,assay=2", {}),
    "poisson_factorisation": ("K=2,a=1,c=1", "user=3,item=3", {}),
    "probit_regression": ("", "", {"temperature": [69, 70, 71, 70.5, 69.5, 70, 71, 70]}),
    "penguin_masses": ("", "", {"kind_of": [0, 1, 0, 1, 0, 0]}),
    "ppca_ard": ("K=2,a0=3,b0=2", "n=5,d=3", {}),
    "sequential_logistic": ("", "", {"years": [1, 2, 4, 8], "reached": [[6, 4], [5, 3], [7, 4], [6, 5]]}),
    "stochastic_block_model": ("K=2", "", {"a": [p[0] for p in PAIRS], "b": [p[1] for p in PAIRS]}),
    "student_t_regression": ("a0=3,b0=2", "", {"x": RANDOM.normal(size=(6, 2)).tolist()}),
    "zero_inflated_poisson": ("", "interval=8", {}),
    "contaminated_regression": ("a0=3,b0=2", "", {"x": RANDOM.normal(size=(6, 2)).tolist()}),
    "lynx_autoregression": ("a0=3,b0=2", "year=5", {}),
    "vector_autoregression": ("", "t=3,kind=2", {}),
    "unknown_gaussian": ("kappa0=0.1,a0=3,b0=2", "n=5", {}),
}

# What models/ has no model of.
SHORT = {
    "precision matrix": ("""plate n; plate d = 2; Lambda ~ Wishart(df = 4, scale = 0.5) over d;
      mu ~ MvNormal(mean = 0, precision = 0.5) over d; observe x[n] ~ MvNormal(mean = mu, precision = Lambda) over d;""", "n=5"),
    "joint block": ("""plate n; mu ~ Normal(mean = 1, precision = 0.5 * tau); tau ~ Gamma(shape = 3, rate = 2);
      guide joint(mu, tau); observe x[n] ~ Normal(mean = mu, precision = tau);""", "n=4"),
    "scales": ("""plate n; v ~ InverseGamma(shape = 4, scale = 3); m ~ Normal(mean = 0, sd = 1);
      observe x[n] ~ Normal(mean = m, variance = v);""", "n=5"),
    "states": ("""plate t ordered; plate d = 2; a ~ Normal(mean = 0.5, sd = 0.3); q ~ Gamma(shape = 4, rate = 2);
      s[t] ~ MvNormal(mean = a * s[t-1], precision = q) start MvNormal(mean = 0, precision = 1) over d;
      r ~ Gamma(shape = 4, rate = 2); observe x[t] ~ MvNormal(mean = s[t], precision = r) over d;""", "t=8"),
    "sources": ("""plate n; plate k = 2; w[n, k] ~ Gamma(shape = 2, rate = 1); b[k] ~ Gamma(shape = 2, rate = 1);
      observe x[n] ~ Poisson(sum(k) w[n, k] * b[k]);""", "n=5"),
    "features": ("""plate n; plate k = 2; plate d = 3; p[k] ~ Beta(2, 3); W[d, k] ~ Normal(mean = 0, sd = 1);
      z[n, k] ~ Bernoulli(p[k]); observe x[n, d] ~ Normal(mean = sum(k) z[n, k] * W[d, k], sd = 0.7);""", "n=6"),
    "trials": ("""plate n; a ~ Normal(mean = 0, sd = 1.5); observe y[n] ~ Binomial(8, logistic(a));""", "n=4"),
    "random intercepts": ("""plate g; plate n; t ~ Gamma(shape = 3, rate = 2); u[g] ~ Normal(mean = 0, precision = t);
      observe y[g, n] ~ Bernoulli(logistic(u[g]));""", "g=3,n=4"),
    "spins": ("""plate n; m ~ Normal(mean = 1, sd = 1); t ~ Gamma(shape = 3, rate = 2); s[n] ~ Spin();
      observe x[n] ~ Normal(mean = s[n] * m, precision = t);""", "n=6"),
}


def all_models():
    """name -> (text, arguments, data)"""
    files = {p.stem: p for p in (ROOT / "models").glob("*/*.lehr")}
    known = OF_MODELS.keys() | WITHOUT.keys()
    assert files.keys() == known, f"in one place only: {files.keys() ^ known}"
    out = {}
    for name, (constants, sizes, data) in OF_MODELS.items():
        text = files[name].read_text()
        for vague, proper in VAGUE:
            text = re.sub(vague, proper, text)
        arguments = (["--set", constants] if constants else []) + (["--sizes", sizes] if sizes else [])
        out[name] = (text, arguments, data)
    for name, (text, sizes) in SHORT.items():
        out[name] = (f"model m {{ {text} }}", ["--sizes", sizes], {})
    return out


def write(folder, text, data):
    """The words of a command line that give the model and its data."""
    (folder / "m.lehr").write_text(text)
    (folder / "d.json").write_text(json.dumps(data))
    return [folder / "m.lehr"] + (["--data", folder / "d.json"] if data else [])
