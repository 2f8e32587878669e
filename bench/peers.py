#!/usr/bin/env python3
"""CPU seconds of each pass of scikit-learn and gensim, one process a measurement: prints one JSON list.

Debian 12's OpenBLAS takes processors newer than itself for the oldest it knows and is several times too slow there; so
the core type is named before numpy is loaded. One thread each.

usage: peers.py lda-sklearn CORPUS.ldac[.gz] K PASSES INNER
       peers.py lda-gensim CORPUS.ldac[.gz] K PASSES INNER
       peers.py gmm-sklearn-full|gmm-sklearn-diag POINTS.npy K PASSES
"""
import gzip
import json
import os
import sys
import time
import warnings
from functools import partial


def name_the_core():
    os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
    with open("/proc/cpuinfo") as f:
        flags = f.read()
    core = "SkylakeX" if "avx512f" in flags else "Haswell" if "avx2" in flags else "Nehalem"
    os.environ.setdefault("OPENBLAS_CORETYPE", core)


name_the_core()
import numpy as np
import scipy.sparse as sp


def read_ldac(path):
    indptr, indices, counts = [0], [], []
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as f:
        for line in f:
            for pair in line.split()[1:]:
                term, count = pair.split(":")
                indices.append(int(term))
                counts.append(float(count))
            indptr.append(len(indices))
    return sp.csr_matrix((counts, indices, indptr))


def lda_sklearn(path, k, passes, inner):
    from sklearn.decomposition import LatentDirichletAllocation

    x = read_ldac(path)
    model = LatentDirichletAllocation(k, learning_method="batch", max_doc_update_iter=inner, mean_change_tol=0.0, n_jobs=1,
                                      random_state=1)
    model._init_latent_vars(x.shape[1])
    marks = [time.process_time()]
    for _ in range(passes):
        model._em_step(x, total_samples=x.shape[0], batch_update=True)
        marks.append(time.process_time())
    return marks


def lda_gensim(path, k, passes, inner):
    from gensim.models import LdaModel

    x = read_ldac(path)
    rows = zip(x.indptr, x.indptr[1:])
    corpus = [list(zip(x.indices[a:b].tolist(), x.data[a:b].tolist())) for a, b in rows]
    model = LdaModel(num_topics=k, id2word={i: str(i) for i in range(x.shape[1])}, chunksize=2000, passes=1, update_every=0,
                     iterations=inner, gamma_threshold=0.0, eval_every=None, alpha="symmetric", eta=1.0 / k, random_state=1,
                     dtype=np.float64)
    marks = [time.process_time()]
    for _ in range(passes):
        model.update(corpus, passes=1)
        marks.append(time.process_time())
    return marks


def gmm_sklearn(covariance, path, k, passes):
    from sklearn.mixture import BayesianGaussianMixture

    x = np.load(path)
    model = BayesianGaussianMixture(n_components=k, covariance_type=covariance, max_iter=1,
                                    weight_concentration_prior_type="dirichlet_distribution")
    model._check_parameters(x)
    rng = np.random.default_rng(1)
    centres = x[rng.choice(len(x), k, replace=False)]
    squares = (x**2).sum(1)[:, None] - 2 * x @ centres.T + (centres**2).sum(1)
    start = np.zeros((len(x), k))
    start[np.arange(len(x)), squares.argmin(1)] = 1
    model._initialize(x, start)
    marks = [time.process_time()]
    for _ in range(passes):
        log_norm, responsibilities = model._e_step(x)
        model._m_step(x, responsibilities)
        model._compute_lower_bound(responsibilities, log_norm)
        marks.append(time.process_time())
    return marks


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    run = {"lda-sklearn": lda_sklearn, "lda-gensim": lda_gensim, "gmm-sklearn-full": partial(gmm_sklearn, "full"),
           "gmm-sklearn-diag": partial(gmm_sklearn, "diag")}[sys.argv[1]]
    print(json.dumps(np.diff(run(sys.argv[2], *map(int, sys.argv[3:]))).tolist()))
