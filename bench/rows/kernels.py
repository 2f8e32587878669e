"""Beside kernels that were written by hand in C++ for the one model, and scikit-learn and gensim."""
import os

import numpy as np

import data
import measure
from measure import Lehr
from report import beside_build, pairs

PASSES = 20  # over the local variables of a document
POINTS, DIMENSION, COMPONENTS = 100_000, 16, 32
STATES = 10
PEERS = ["/usr/bin/python3", "bench/peers.py"]


def beside_kernel(title, lehr, source, sizes, options, others=(), sweeps=6):
    if options.beside:
        return beside_build(title, lehr, options)
    kernel = [measure.compiled(source, sizes)]
    sides = {"lehr": lehr.seconds, "lehr without ELBOs": lehr.without_elbos,
             "hand-written kernel": lambda: measure.own_sweeps([*kernel, lehr.directory, sweeps]),
             **{name: lambda command=command: measure.own_sweeps(command) for name, command in dict(others).items()}}
    return pairs(title, sides, options.rounds, {"hand-written kernel": measure.disagreement(lehr, kernel)})


def lda_of(corpus, topics, options, directory, peers=True):
    words = data.corpus(corpus)
    terms = int(words["term"].max()) + 1
    precision = ["--precision", "float"] if options.precision == "float" else []
    lehr = Lehr(options.lehr, "models/topics/lda.lehr", directory, {**words, "terms": [terms]},
                ["--set", f"K={topics}", "--local-iters", str(PASSES), *precision], data="w=" + corpus)
    others = {"scikit-learn": [*PEERS, "lda-sklearn", corpus, topics, 2, PASSES],
              "gensim": [*PEERS, "lda-gensim", corpus, topics, 2, PASSES]} if peers else {}
    title = f"LDA, {os.path.basename(corpus)}, K = {topics}, {PASSES} passes over each document, {options.precision}"
    return beside_kernel(title, lehr, "kernels/lda.cpp", {"TOPICS": topics, "INNER": PASSES, "REAL": options.precision}, options,
                         others)


def lda(options, directory):
    """latent Dirichlet allocation (--corpus, --topics) beside a kernel, scikit-learn and gensim"""
    return lda_of(options.corpus, options.topics, options, directory)


def lda_20(options, directory):
    """the same with 20 topics"""
    return lda_of(options.corpus, 20, options, directory)


def lda_500(options, directory):
    """the same with 500 topics, the kernel alone (--corpus-500)"""
    return lda_of(options.corpus_500, 500, options, directory, peers=False)


def gmm_of(model, source, covariance, sets, options, directory):
    lehr = Lehr(options.lehr, measure.model_file(model), directory, data.mixture(POINTS, DIMENSION, COMPONENTS),
                ["--set", f"K={COMPONENTS}", *sets])
    others = {"scikit-learn": [*PEERS, f"gmm-sklearn-{covariance}", os.path.join(directory, "x.npy"), COMPONENTS, 4]}
    data.save(os.path.join(directory, "x.npy"), data.mixture(POINTS, DIMENSION, COMPONENTS)["x"])
    title = f"Gaussian mixture, {covariance} covariances, {POINTS} x {DIMENSION}, K = {COMPONENTS}, double"
    return beside_kernel(title, lehr, source, {"DIMENSION": DIMENSION, "COMPONENTS": COMPONENTS}, options, others)


def gmm(options, directory):
    """a Gaussian mixture with full covariances beside a kernel and scikit-learn"""
    return gmm_of("gmm_normal_wishart", "kernels/mixture_full.cpp", "full", [f"nu0={DIMENSION}"], options, directory)


def gmm_diagonal(options, directory):
    """the same with diagonal covariances"""
    return gmm_of("gmm_diagonal", "kernels/mixture_diagonal.cpp", "diag", [], options, directory)


def chains(model, sizes, make, title, options, directory):
    arrays = make()
    lehr = Lehr(options.lehr, f"bench/models/{model}.lehr", directory, arrays,
                bound={"x": arrays["x"], "t": np.diff(arrays["begin"])})
    return beside_kernel(title, lehr, f"kernels/{model}.cpp", sizes, options, sweeps=30)


def hmm_letters(options, directory):
    """hidden Markov models with 500 letters beside a kernel"""
    return chains("hmm_letters", {"STATES": STATES}, lambda: data.sequences(2000, STATES, 100, 100, letters=500),
                  "hidden Markov models, 2000 sequences of 100, 10 states, 500 letters", options, directory)


def hmm_ragged(options, directory):
    """the same with lengths from 20 to 180"""
    return chains("hmm_letters", {"STATES": STATES}, lambda: data.sequences(2000, STATES, 20, 180, letters=500),
                  "hidden Markov models, 2000 sequences of 20 to 180, 10 states, 500 letters", options, directory)


def hmm_vectors(options, directory):
    """hidden Markov models with Gaussian emissions, full covariances in 8 dimensions, beside a kernel"""
    return chains("hmm_vectors", {"STATES": STATES, "DIMENSION": 8}, lambda: data.sequences(2000, STATES, 100, 100, dimension=8),
                  "hidden Markov models, 2000 sequences of 100, 10 states, Gaussian emissions in 8 dimensions", options, directory)


ROWS = {"lda": lda, "lda-20": lda_20, "lda-500": lda_500, "gmm": gmm, "gmm-diagonal": gmm_diagonal,
        "hmm-letters": hmm_letters, "hmm-ragged": hmm_ragged, "hmm-vectors": hmm_vectors}
