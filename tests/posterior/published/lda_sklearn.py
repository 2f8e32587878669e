#!/usr/bin/env python3
"""Latent Dirichlet allocation against scikit-learn's LatentDirichletAllocation from the same topics.

500 documents, ten topics. Both iterate each document to a tight tolerance from theta = 1, and both forget theta between
passes: a warm start could end in another local optimum of a document. scikit-learn's own digamma is good to eight
digits, which ten passes amplify to five, so it is given scipy's. After one pass and after ten the topics agree.

usage: lda_sklearn.py LEHR
"""
import gzip
import os
import sys

import numpy as np
import scipy.sparse as sp
from scipy.special import psi
from sklearn.decomposition import LatentDirichletAllocation, _lda

sys.path.append(f"{sys.path[0]}/..")
from fitting import ROOT, finish, fit, relative, temporary  # noqa: E402

K, DOCUMENTS, PASSES = 10, 500, 10
LOCAL = 50000  # iterations of a document, at most: a few leave a saddle slowly


def first_documents():
    with gzip.open(os.path.join(ROOT, "models/data/topics/kos.ldac.gz"), "rt") as f:
        lines = [next(f) for _ in range(DOCUMENTS)]
    indptr, indices, values = [0], [], []
    for line in lines:
        for pair in line.split()[1:]:
            term, count = pair.split(":")
            indices.append(int(term))
            values.append(float(count))
        indptr.append(len(indices))
    return lines, sp.csr_matrix((values, indices, indptr), shape=(DOCUMENTS, max(indices) + 1))


def exact_expectation(counts, prior, out):
    """theta's expectation in place of scikit-learn's: adds the prior in place, writes exp E[log theta] to out."""
    counts += prior
    out[:] = np.exp(psi(counts) - psi(counts.sum()))


def set_topics(peer, components):
    peer.components_ = components
    peer.exp_dirichlet_component_ = np.exp(psi(components) - psi(components.sum(axis=1))[:, None])


def batch_pass(peer, x):
    """One pass of scikit-learn in double precision, every document from theta = 1."""
    _, statistics = peer._e_step(x, cal_sstats=True, random_init=False)
    set_topics(peer, peer.topic_word_prior_ + statistics)


def topics():
    lines, x = first_documents()
    _lda.cy_dirichlet_expectation_1d = {"double": exact_expectation}
    peer = LatentDirichletAllocation(K, max_doc_update_iter=LOCAL, mean_change_tol=1e-11, random_state=3, n_jobs=1)
    peer._init_latent_vars(x.shape[1])
    set_topics(peer, peer.components_)
    ours = peer.components_
    errors = []
    with temporary({"corpus.ldac": "".join(lines)}) as directory:
        for _ in range(PASSES):
            batch_pass(peer, x)
            got = fit(os.path.join(ROOT, "models/topics/lda.lehr"), [f"w={directory}/corpus.ldac"], "--set", f"K={K}", "--max-iter", 1, "--local-iters",
                      LOCAL, "--local-tol", "1e-12", init={"beta.concentration": ours,
                                                          "theta.concentration": np.ones((DOCUMENTS, K))})
            ours = got.posterior["beta.concentration"]
            errors.append(relative(ours, peer.components_))
            if not errors[-1] <= 1e-5:
                raise AssertionError(f"topics differ by {errors[-1]:.1e} after pass {len(errors)}")
    return f"topics differ by {errors[0]:.1e} after one pass, {errors[-1]:.1e} after {PASSES}"


if __name__ == "__main__":
    finish({"topics": topics})
