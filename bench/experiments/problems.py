"""Models and data of the experiments."""
import gzip
import os

import numpy as np

from common import shared

FACTORIAL_MIXTURE = """model factorial_mixture { plate n; plate k = 8; plate d;
  mu[k] ~ MvNormal(mean = 0, covariance = 0.35) over d;
  z[n, k] ~ Bernoulli(0.3);
  observe x[n] ~ MvNormal(mean = sum(k) z[n, k] * mu[k], covariance = 0.1); }"""
# Eight binary images of 4 x 4.
SHAPES = """
1111 0000 0000 0000|0000 0000 1111 0000|0100 0100 0100 0100|0001 0001 0001 0001
0100 1110 0100 0000|0000 0011 0011 0000|1000 0100 0010 0001|1110 1010 1110 0000"""


def factorial_mixture(seed, n=1000):
    """Mandt et al. (2016), section 4: eight shapes weighted from U[0.5, 1], each present with probability 0.3, noise of
    variance 0.1. Returns the data, the true bits and features."""
    r = np.random.default_rng(seed)
    shapes = [[float(c) for c in s if c in "01"] for s in SHAPES.replace("\n", "|").strip("|").split("|")]
    mu = np.array(shapes) * r.uniform(0.5, 1, (8, 1))
    z = (r.random((n, 8)) < 0.3).astype(float)
    return z @ mu + r.normal(0, np.sqrt(0.1), (n, 16)), z, mu


HMM = """model hidden_markov_model { const K = 5; plate seq; plate t in seq ordered; plate state = K; plate symbol = 60;
  pi ~ Dirichlet(concentration = 1 / K) over state;
  A[state] ~ Dirichlet(concentration = 1 / K) over state;
  B[state] ~ Dirichlet(concentration = 10 / 60) over symbol;
  s[seq, t] ~ Categorical(A[s[seq, t-1]]) start Categorical(pi);
  observe x[seq, t] ~ Categorical(B[s[seq, t]]); }"""


def pen_strokes(digit, sequences=40, symbols=60):
    """The first pen trajectories of a digit; positions, scaled to the unit of each, as the nearest of 60 centres."""
    from scipy.cluster.vq import kmeans2
    x = np.load(shared("sequences/pendigits_train_X.npy"))[:, :2].astype(float)
    ends = np.cumsum(np.load(shared("sequences/pendigits_train_lengths.npy")))
    labels = np.load(shared("sequences/pendigits_train_labels.npy"))
    of = [x[ends[i - 1] if i else 0:ends[i]] for i in np.flatnonzero(labels == digit)[:sequences]]
    of = [(s - s.mean(0)) / s.std(0).max() for s in of]
    _, code = kmeans2(np.concatenate(of), symbols, minit="++", seed=digit)
    return np.split(code, np.cumsum([len(s) for s in of])[:-1])


GMM = """model gaussian_mixture { const K = 3; const nu0 = 20; plate n; plate k = K; plate dim;
  data m0 : vector over dim; data L0 : matrix over dim, dim; data W0 : matrix over dim, dim;
  pi ~ Dirichlet(concentration = 1 / K) over k;
  mu[k] ~ MvNormal(mean = m0, precision = L0) over dim;
  Lambda[k] ~ Wishart(df = nu0, scale = W0) over dim;
  z[n] ~ Categorical(pi);
  observe x[n] ~ MvNormal(mean = mu[z[n]], precision = Lambda[z[n]]); }"""


def digits(digit, dimensions=20):
    """The images of a digit of scikit-learn, projected on the first principal components of that digit, and priors of
    the empirical mean and covariance: mu ~ N(m, S), Lambda ~ Wishart(D, S^-1 / D)."""
    from sklearn.datasets import load_digits
    x, y = load_digits(return_X_y=True)
    x = x[y == digit] / 16
    x = x - x.mean(0)
    u, s, _ = np.linalg.svd(x, full_matrices=False)
    x = u[:, :dimensions] * s[:dimensions]
    x = x / x.std()
    covariance = np.cov(x.T, bias=True)
    precision = np.linalg.inv(covariance)
    return {"x": x, "m0": x.mean(0), "L0": precision, "W0": precision / dimensions, "nu0": dimensions}


LDA = """model lda { const K = 5; plate doc; plate token in doc times count; plate topic = K; plate term;
  beta[topic] ~ Dirichlet(concentration = 100 / size(term)) over term;
  theta[doc] ~ Dirichlet(concentration = 1 / K) over topic;
  z[doc, token] ~ Categorical(theta[doc]);
  observe w[doc, token] ~ Categorical(beta[z[doc, token]]); }"""


def documents(corpus, first, number, folder):
    """Some documents of a corpus, a path or a file of `corpora`, as LDA-C, their terms renumbered; the path, and rows (terms, counts)."""
    name = corpus if os.path.isabs(corpus) else shared(f"corpora/{corpus}")
    with (gzip.open(name, "rt") if name.endswith(".gz") else open(name)) as f:
        lines = [line.split()[1:] for line in f][first:first + number]
    rows = [[tuple(map(int, pair.split(":"))) for pair in line] for line in lines if line]
    used = {t: i for i, t in enumerate(sorted({t for row in rows for t, _ in row}))}
    rows = [[(used[t], c) for t, c in row] for row in rows]
    path = os.path.join(folder, "part.ldac")
    with open(path, "w") as f:
        f.writelines(f"{len(r)} " + " ".join(f"{t}:{c}" for t, c in r) + "\n" for r in rows)
    return path, rows

POISSONS = """model mixture_of_poissons { const K = 10; plate n; plate k = K; plate d;
  pi ~ Dirichlet(concentration = 1) over k;
  rate[k, d] ~ Gamma(shape = 1, rate = 0.2);
  z[n] ~ Categorical(pi);
  observe x[n, d] ~ Poisson(rate[z[n], d]); }"""

BERNOULLIS = """model mixture_of_bernoullis { const K = 10; plate n; plate k = K; plate d;
  pi ~ Dirichlet(concentration = 1) over k;
  p[k, d] ~ Beta(1, 1);
  z[n] ~ Categorical(pi);
  observe x[n, d] ~ Bernoulli(p[z[n], d]); }"""
