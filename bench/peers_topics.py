#!/usr/bin/env python3
"""Topics of scikit-learn's online LDA and of tomotopy's collapsed Gibbs sampler as they go: one process, one thread; topics are saved at
checkpoints, which the clock does not count.

usage: peers_topics.py sklearn|tomotopy TRAIN.ldac TERMS K SEED OUT CHECKPOINT ...
sklearn: checkpoints are minibatches of 256, steps (10 + t)^-0.7; tomotopy: sweeps. OUT.CHECKPOINT.npy has the topics, rows that sum to 1; prints
CPU seconds until each checkpoint, a JSON list.
"""
import json
import sys
import time
import warnings

from peers import read_ldac  # names the core of OpenBLAS before numpy is loaded
import numpy as np
import scipy.sparse as sp

BATCH, KAPPA, TAU0 = 256, 0.7, 10


class Clock:
    """CPU seconds, but for what is done between `pause` and `go`."""

    def __init__(self):
        self.spent, self.begin = 0.0, time.process_time()

    def pause(self):
        self.spent += time.process_time() - self.begin
        return self.spent

    def go(self):
        self.begin = time.process_time()


def sklearn_run(path, terms, k, seed, keep, until):
    from sklearn.decomposition import LatentDirichletAllocation

    x = sp.csr_matrix(read_ldac(path))
    x.resize(x.shape[0], terms)
    batches = -(-x.shape[0] // BATCH)
    rng = np.random.default_rng(seed)
    model = LatentDirichletAllocation(k, doc_topic_prior=1 / k, topic_word_prior=1 / k, learning_decay=KAPPA, learning_offset=TAU0,
                                      max_doc_update_iter=100, mean_change_tol=1e-3, n_jobs=1, random_state=seed)
    model._init_latent_vars(terms)
    clock = Clock()
    for t in range(max(until)):
        if t % batches == 0:
            order = rng.permutation(x.shape[0])
        at = t % batches * BATCH
        model._em_step(x[order[at:at + BATCH]], total_samples=x.shape[0], batch_update=False)
        if t + 1 in until:
            spent = clock.pause()
            keep(t + 1, spent, model.components_)
            clock.go()


def tomotopy_run(path, terms, k, seed, keep, until):
    import tomotopy

    x = read_ldac(path)
    model = tomotopy.LDAModel(k=k, alpha=1 / k, eta=1 / k, seed=seed)
    for begin, end in zip(x.indptr, x.indptr[1:]):
        words = np.repeat(x.indices[begin:end], x.data[begin:end].astype(int))
        if len(words):
            model.add_doc([str(w) for w in words])
    model.optim_interval = 0  # the priors stay as they are
    model.train(0)
    place = np.array([int(w) for w in model.used_vocabs])
    clock = Clock()
    done = 0
    for sweeps in until:
        model.train(sweeps - done, workers=1, freeze_topics=False)
        done = sweeps
        spent = clock.pause()
        topics = np.full((k, terms), 1e-12)
        for j in range(k):
            topics[j, place] = model.get_topic_word_dist(j)
        keep(sweeps, spent, topics)
        clock.go()


def main():
    warnings.simplefilter("ignore")
    which, path, terms, k, seed, out = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6]), sys.argv[6]
    seconds = []

    def keep(checkpoint, spent, topics):
        np.save(f"{out}.{checkpoint}.npy", topics / topics.sum(1, keepdims=True))
        seconds.append(spent)

    {"sklearn": sklearn_run, "tomotopy": tomotopy_run}[which](path, terms, k, seed, keep, list(map(int, sys.argv[7:])))
    print(json.dumps(seconds))


if __name__ == "__main__":
    main()
