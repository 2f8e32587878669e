#!/usr/bin/env python3
"""One fit of another program, a process of one thread: reads FOLDER/data.npz (topics: FOLDER/words.ldac), writes its answer as arrays by
name, and prints the CPU seconds of the fitting call alone.

usage: peers.py NAME FOLDER OUT.npz [ARGUMENT ...]
"""
import json
import logging
import sys
import time
import warnings

import numpy as np


def timed(fit):
    """What `fit` gives, and its CPU seconds."""
    begin = time.process_time()
    return fit(), time.process_time() - begin


def rows_to_one(a):
    return a / a.sum(-1, keepdims=True)


def statsmodels(data, kind):
    import statsmodels.api as sm

    x = sm.add_constant(data["x"])
    options = {} if kind == "OLS" else {"disp": 0}
    result, seconds = timed(lambda: getattr(sm, kind)(data["y"], x).fit(**options))
    order = [*range(1, x.shape[1]), 0]
    return {"effects": result.params[order], "errors": result.bse[order]}, seconds


def bayesian_ridge(data):
    from sklearn.linear_model import BayesianRidge

    model, seconds = timed(lambda: BayesianRidge().fit(data["x"], data["y"]))
    return {"effects": [*model.coef_, model.intercept_]}, seconds


def logistic(data, solver, penalty):
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=float(penalty), solver=solver, max_iter=1000)
    _, seconds = timed(lambda: model.fit(data["x"], data["y"]))
    if len(model.coef_) == 1:
        return {"effects": [*model.coef_[0], model.intercept_[0]]}, seconds
    return {"W": model.coef_, "b": model.intercept_}, seconds


def student(data):
    from references import maximum_likelihood

    return timed(lambda: maximum_likelihood("student", data["x"], data["y"]))


def principal_components(data):
    from sklearn.decomposition import PCA

    model, seconds = timed(lambda: PCA("mle", svd_solver="full").fit(data["x"]))
    scale = np.sqrt(np.maximum(model.explained_variance_ - model.noise_variance_, 0))
    return {"W": model.components_.T * scale, "noise": np.full(data["x"].shape[1], model.noise_variance_), "mean": model.mean_}, seconds


def factor_analysis(data, k):
    from sklearn.decomposition import FactorAnalysis

    model, seconds = timed(lambda: FactorAnalysis(int(k), svd_method="lapack", tol=1e-4, max_iter=20000).fit(data["x"]))
    return {"W": model.components_.T, "noise": model.noise_variance_, "mean": model.mean_}, seconds


def graph_tool(data, groups):
    import graph_tool.all as gt

    gt.seed_rng(1)
    graph = gt.Graph(directed=False)
    graph.add_vertex(int(data["b"].max()) + 1)
    tied = data["tie"] == 1
    graph.add_edge_list(np.stack([data["a"][tied], data["b"][tied]], 1))
    sizes = {"B_min": int(groups), "B_max": int(groups)}
    state, seconds = timed(lambda: gt.minimize_blockmodel_dl(graph, state_args={"deg_corr": False}, multilevel_mcmc_args=sizes))
    return {"group": np.array(state.get_blocks().a)}, seconds


def cmfrec(data, k, solver, iterations):
    import pandas
    from cmfrec import CMF

    table = pandas.DataFrame({"UserId": data["user"], "ItemId": data["item"], "Rating": data["y"]})
    model = CMF(k=int(k), lambda_=10.0, niter=int(iterations), use_cg=solver == "cg", nthreads=1, verbose=False)
    _, seconds = timed(lambda: model.fit(table))
    return {"rating": model.predict(data["test_user"], data["test_item"])}, seconds


def hpfrec(data, k):
    import scipy.sparse as sp
    from hpfrec import HPF

    model = HPF(k=int(k), ncores=1, maxiter=1000, stop_crit="train-llk", verbose=False, reindex=False, random_seed=1, produce_dicts=False,
                keep_all_objs=False)
    counts = sp.coo_matrix(data["Y"])
    _, seconds = timed(lambda: model.fit(counts))
    return {"rate": np.asarray(model.Theta, float) @ np.asarray(model.Beta, float).T}, seconds


def topics_sklearn(documents, k, terms, passes):
    import scipy.sparse as sp
    from sklearn.decomposition import LatentDirichletAllocation

    pairs = [pair for document in documents for pair in document]
    begin = np.cumsum([0] + [len(document) for document in documents])
    table = sp.csr_matrix(([float(c) for _, c in pairs], [w for w, _ in pairs], begin), shape=(len(documents), int(terms)))
    model = LatentDirichletAllocation(int(k), max_iter=int(passes), learning_method="batch", random_state=0, n_jobs=1)
    _, seconds = timed(lambda: model.fit(table))
    return {"topics": model.components_}, seconds


def topics_gensim(documents, k, terms, passes):
    from gensim.models import LdaModel

    names = {i: str(i) for i in range(int(terms))}
    model, seconds = timed(lambda: LdaModel(documents, num_topics=int(k), id2word=names, passes=int(passes), alpha="symmetric", eta=1 / int(k),
                                            random_state=0, eval_every=None))
    return {"topics": model.get_topics()}, seconds


def topics_tomotopy(documents, k, terms, sweeps):
    import tomotopy

    def fit():
        model = tomotopy.LDAModel(k=int(k), alpha=1 / int(k), eta=1 / int(k), seed=1)
        for document in documents:
            model.add_doc([str(w) for w, c in document for _ in range(c)])
        model.train(int(sweeps), workers=1)
        return model

    model, seconds = timed(fit)
    topics = np.full((int(k), int(terms)), 1 / int(k))
    sums = np.array(model.get_count_by_topics())[:, None] + len(model.used_vocabs) / int(k)
    topics[:, [int(w) for w in model.used_vocabs]] = sums * [model.get_topic_word_dist(i) for i in range(int(k))]
    return {"topics": topics}, seconds


def unobserved(data, kind):
    import statsmodels.api as sm

    return smoothed(sm.tsa.UnobservedComponents(data["y"], kind))


def smoothed(model):
    """States and their standard deviations at the maximum of the likelihood."""

    def fit():
        result = model.fit(disp=0, maxiter=500)
        return result.smoothed_state, result.smoothed_state_cov

    (mean, covariance), seconds = timed(fit)
    return {"mean": mean, "sd": np.sqrt(np.einsum("iit->it", covariance))}, seconds


def moving_weights(data):
    import statsmodels.api as sm

    class Moving(sm.tsa.statespace.MLEModel):
        def __init__(self, y, x):
            super().__init__(y, k_states=x.shape[1], initialization="approximate_diffuse")
            self["design"], self["transition"], self["selection"] = x.T[None], np.eye(x.shape[1]), np.eye(x.shape[1])

        start_params = property(lambda self: np.full(self.k_states + 1, np.var(self.endog) / 10))
        param_names = property(lambda self: ["noise", *(f"weight {i}" for i in range(self.k_states))])

        def transform_params(self, free):
            return free**2

        def untransform_params(self, variances):
            return np.sqrt(variances)

        def update(self, params, **options):
            params = super().update(params, **options)
            self["obs_cov", 0, 0], self["state_cov"] = params[0], np.diag(params[1:])

    return smoothed(Moving(data["y"], np.stack([np.ones(len(data["y"])), data["x1"], data["x2"]], 1)))


def mixture(x, k, starts):
    """A variational mixture with the priors of the row."""
    from sklearn.mixture import BayesianGaussianMixture

    d = x.shape[1]
    model = BayesianGaussianMixture(n_components=int(k), n_init=int(starts), max_iter=1000, random_state=0, weight_concentration_prior=1.0,
                                    weight_concentration_prior_type="dirichlet_distribution", mean_precision_prior=1e-2,
                                    mean_prior=np.zeros(d), degrees_of_freedom_prior=d, covariance_prior=np.eye(d))
    _, seconds = timed(lambda: model.fit(x))
    return {"weight": model.weights_, "mean": model.means_, "precision": np.linalg.inv(model.covariances_)}, seconds


def one_mixture(data, k, starts):
    return mixture(data["x"], k, starts)


def together(answers):
    """The answers of many data sets, and the sum of their seconds."""
    return {name: np.array([a[name] for a, _ in answers]) for name in answers[0][0]}, sum(seconds for _, seconds in answers)


def many_sklearn(data, starts):
    return together([mixture(x, 3, starts) for x in data["x"]])


def many_lehr(data, search):
    import lehr

    model = lehr.Model("models/mixtures/gmm_normal_wishart.lehr", K=3, alpha0=1, nu0=2, w0=1)
    options = {} if search == "default" else {"search": search}

    def answer(x):
        q = model.fit(x, threads=1, **options).parameters_
        return {"weight": rows_to_one(q["pi.concentration"]), "mean": q["mu.mean"].copy(),
                "precision": q["Lambda.df"][:, None, None] * q["Lambda.scale"]}

    return together([timed(lambda x=x: answer(x)) for x in data["x"]])


def markov(data, kind, k, starts):
    from hmmlearn import hmm, vhmm

    makers = {"gauss": hmm.GaussianHMM, "categories": hmm.CategoricalHMM, "gauss_vb": vhmm.VariationalGaussianHMM,
              "categories_vb": vhmm.VariationalCategoricalHMM}
    options = {"covariance_type": "diag"} if "gauss" in kind else {}
    x = data["x"].reshape(len(data["x"]), -1)

    def fit():
        models = [makers[kind](int(k), n_iter=1000, tol=1e-2, random_state=seed, **options).fit(x, data["t"]) for seed in range(int(starts))]
        return max(models, key=lambda model: model.monitor_.history[-1])

    model, seconds = timed(fit)
    end = "posterior_" if "vb" in kind else ""
    names = {"start": "startprob_", "moves": "transmat_", "letters": "emissionprob_"} if "categories" in kind else \
        {"start": "startprob_", "moves": "transmat_", "mean": "means_"}
    answer = {ours: getattr(model, theirs + end) for ours, theirs in names.items()}
    answer |= {name: rows_to_one(answer[name]) for name in ("start", "moves", "letters") if name in answer}
    return (answer if "categories" in kind else answer | {"variance": np.einsum("kii->ki", model.covars_)}), seconds


def read(name, folder):
    if name.startswith("topics"):
        with open(f"{folder}/words.ldac") as f:
            return [[tuple(map(int, pair.split(":"))) for pair in line.split()[1:]] for line in f]
    return dict(np.load(f"{folder}/data.npz"))


def main():
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    name, folder, out, *arguments = sys.argv[1:]
    answer, seconds = globals()[name](read(name, folder), *arguments)
    np.savez(out, **answer)
    print(json.dumps({"fit": seconds}))


if __name__ == "__main__":
    main()
