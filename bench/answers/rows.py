"""The table of rows: data, model, how to read Lehr's answer, other programs, and the quality that all are compared by."""
import dataclasses
import typing

import numpy as np

import quality
import simulated


@dataclasses.dataclass
class Row:
    """What is measured, and how.

    `make` gives data and truth of a size; `options` and `peers` are functions of the size, too. A peer is the name of a program and of a
    fit in peers.py or peers.R, and its arguments. `measure` names the value of `quality`; answers within `slack` of it are equal."""
    title: str
    measure: str
    quality: typing.Callable
    slack: float
    make: typing.Callable
    quick: dict
    full: dict
    model: str
    answer: typing.Callable  # of a posterior, and of the data
    peers: typing.Callable
    higher: bool = True
    options: typing.Callable = lambda size: []
    data: tuple = ("data.npz",)
    script: str = ""  # a function of peers.py that fits with Lehr's Python package, in place of the command line


def mean_of(q, name):
    """The mean of a Gamma factor."""
    return q[name + ".shape"] / q[name + ".rate"]


def share(q, name):
    return q[name + ".concentration"] / q[name + ".concentration"].sum(-1, keepdims=True)


def errors(q, name):
    """Standard deviations of Normal numbers or of one vector, as `lehr show` prints them: by linear response, else of the factor."""
    if name + ".sd" in q:
        return q[name + ".sd"]
    precision = q[name + ".precision"]
    return precision ** -0.5 if precision.ndim == q[name + ".mean"].ndim else np.sqrt(np.diag(np.linalg.inv(precision)))


def effects(*names):
    """Of regressions: the effects of these variables that the model has, in this order."""
    def answer(q, data):
        found = [name for name in names if name + ".mean" in q]
        return {"effects": np.hstack([q[name + ".mean"] for name in found]), "errors": np.hstack([errors(q, name) for name in found])}

    return answer


weights, line, intercept, slopes = effects("w", "b"), effects("b", "a"), effects("mu", "w"), effects("beta")


def factors(q, data):
    noise = 1 / mean_of(q, "tau" if "tau.shape" in q else "psi")
    return {"W": q["W.mean"], "mean": q["mu.mean"], "noise": np.broadcast_to(noise, q["mu.mean"].shape)}


def stars(q, data):
    user, item = data["test_user"], data["test_item"]
    return {"rating": (q["U.mean"][user] * q["V.mean"][item]).sum(1) + q["bu.mean"][user] + q["bi.mean"][item]}


def states(*names):
    return lambda q, data: {"mean": np.array([q[n + ".mean"] for n in names]), "sd": np.array([errors(q, n) for n in names])}


def mixture(q, data):
    return {"weight": share(q, "pi"), "mean": q["mu.mean"], "precision": q["Lambda.df"][:, None, None] * q["Lambda.scale"]}


def chain(q, data):
    emissions = {"letters": share(q, "B")} if "B.concentration" in q else {"mean": q["mu.mean"], "variance": 1 / mean_of(q, "tau")}
    return {"start": share(q, "pi"), "moves": share(q, "A"), **emissions}


def sets(**constants):
    """The options of a size: K of the size, and these constants."""
    return lambda size: ["--set", *([f"K={size['k']}"] if "k" in size else []), *(f"{name}={value}" for name, value in constants.items())]


def always(peers):
    """The same peers for every size."""
    return lambda size: peers


def regression(kind, model, peers, title):
    return Row(title, "distance (s.e.)", quality.distance, 0.1, lambda **size: simulated.regression(kind, **size),
               {"n": 20_000, "d": 20}, {"n": 100_000, "d": 50}, model, weights, always(peers), higher=False)


def mixed(title, make, quick, full, model, formula, answer=intercept):
    peers = always({"lme4": ["R", "lme4", formula], "glmmTMB": ["R", "glmmTMB", formula]})
    return Row(title, "distance (s.e.)", quality.distance, 0.1, make, quick, full, model, answer, peers, higher=False)


def states_row(title, make, model, answer, peer, **options):
    return Row(title, "error (s.d.)", quality.state_error, 2e-3, make, {"steps": 1000}, {"steps": 5000}, model, answer,
               always({"statsmodels": ["python", *peer]}), higher=False, **options)


def chains(title, kind, model, quick, full, options):
    def peers(size):
        return {"hmmlearn EM": ["python", "markov", kind, size["k"], 1], "hmmlearn EM, 10 starts": ["python", "markov", kind, size["k"], 10],
                "hmmlearn VB": ["python", "markov", kind + "_vb", size["k"], 1]}

    return Row(title, "nats a step", quality.chain_score, 2e-3, simulated.chains, quick, full, model, chain, peers, options=options)


def mixtures(title, quick, full, more):
    """`more`: mclust, and ten starts."""
    def peers(size):
        ten = ["python", "one_mixture", size["k"], 10]
        return {"scikit-learn": [*ten[:-1], 1]} | ({"scikit-learn, 10 starts": ten, "mclust": ["R", "mclust", size["k"]]} if more else {})

    return Row(title, "nats a point", quality.mixture_score, 1e-3, simulated.points, quick, full,
               "models/mixtures/gmm_normal_wishart.lehr", mixture, peers, options=lambda size: sets(alpha0=1, nu0=size["d"], w0=1)(size))


def topics(size):
    def peer(fit, passes):
        return ["python", "topics_" + fit, size["k"], 6906, passes]

    return {"scikit-learn": peer("sklearn", 20), "gensim, 10 passes": peer("gensim", 10), "tomotopy, 200 sweeps": peer("tomotopy", 200),
            "tomotopy, 1000 sweeps": peer("tomotopy", 1000)}


def raters(size):
    return {"cmfrec, gradients": ["python", "cmfrec", size["k"], "cg", 10], "cmfrec, Cholesky": ["python", "cmfrec", size["k"], "chol", 30]}


HERE = "bench/answers/models/"
STARTERS = "compiler/commands/starters/"
ROWS = {
    "linear": regression(
        "linear", STARTERS + "regression.lehr",
        {"statsmodels": ["python", "statsmodels", "OLS"], "scikit-learn BayesianRidge": ["python", "bayesian_ridge"]},
        "linear regression of `lehr new`"),
    "years": Row(
        "flow of the Nile by year, `a + b * x[n]`", "distance (s.e.)", quality.distance, 0.1, simulated.nile, {}, {},
        HERE + "years.lehr", line, always({"statsmodels": ["python", "statsmodels", "OLS"]}), higher=False),
    "logistic": regression(
        "logistic", STARTERS + "logistic.lehr",
        {"statsmodels": ["python", "statsmodels", "Logit"], "scikit-learn": ["python", "logistic", "newton-cholesky", "inf"]},
        "logistic regression of `lehr new`"),
    "probit": regression("probit", HERE + "probit.lehr", {"statsmodels": ["python", "statsmodels", "Probit"]}, "probit regression"),
    "student": regression(
        "student", "models/regression/student_t_regression.lehr", {"scoring in NumPy": ["python", "student"]}, "Student's t regression"),
    "softmax": Row(
        "softmax regression", "nats an item", quality.class_score, 1e-3, simulated.classes,
        {"n": 20_000, "d": 20, "k": 3}, {"n": 100_000, "d": 50, "k": 3}, "models/regression/softmax_regression.lehr",
        lambda q, data: {"W": q["W.mean"], "b": q["b.mean"]},
        always({"scikit-learn": ["python", "logistic", "lbfgs", 1], "scikit-learn, Newton": ["python", "logistic", "newton-cholesky", 1]})),
    "ppca": Row(
        "principal components with relevance", "nats a point", quality.factor_score, 3e-3,
        lambda n, d, truth, k: simulated.factors(n, d, truth, True), {"n": 5000, "d": 20, "truth": 4, "k": 10},
        {"n": 20_000, "d": 64, "truth": 8, "k": 16}, "models/factors/ppca_ard.lehr", factors,
        always({"scikit-learn": ["python", "principal_components"]}), options=sets()),
    "factor-analysis": Row(
        "factor analysis", "nats a point", quality.factor_score, 3e-3, lambda n, d, k: simulated.factors(n, d, k, False),
        {"n": 5000, "d": 20, "k": 4}, {"n": 20_000, "d": 64, "k": 8}, "models/factors/factor_analysis.lehr", factors,
        lambda size: {"scikit-learn": ["python", "factor_analysis", size["k"]]}, options=sets()),
    "block-model": Row(
        "stochastic block model", "Rand index", quality.rand_index, 0.01, lambda members, k: simulated.network(members, k),
        {"members": 600, "k": 5}, {"members": 5000, "k": 10}, "models/networks/stochastic_block_model.lehr",
        lambda q, data: {"group": q["z.probs"].argmax(1)}, lambda size: {"graph-tool": ["debian", "graph_tool", size["k"]]},
        options=lambda size: [*sets()(size), "--save-locals"]),
    "ratings": Row(
        "ratings, factors and biases", "RMSE", quality.rating_error, 2e-3, simulated.ratings,
        {"persons": 500, "films": 300, "count": 20_000, "k": 5}, {"persons": 6000, "films": 3700, "count": 1_000_000, "k": 10},
        HERE + "ratings.lehr", stars, raters, higher=False,
        options=lambda size: [*sets()(size), "--sizes", f"person={size['persons']},film={size['films']}"]),
    "counts": Row(
        "Poisson factorisation", "nats a count", quality.count_score, 2e-3, simulated.counts,
        {"users": 300, "items": 200, "k": 5, "mean": 1.0}, {"users": 4000, "items": 2000, "k": 10, "mean": 0.03},
        "models/factors/poisson_factorisation.lehr", lambda q, data: {"rate": mean_of(q, "taste") @ mean_of(q, "quality")},
        lambda size: {"hpfrec": ["python", "hpfrec", size["k"]]}, options=lambda size: [*sets()(size), "--save-locals"]),
    "topics": Row(
        "LDA of KOS", "nats a word", quality.topic_score, 5e-3, lambda count, k: simulated.documents(count), {"count": 600, "k": 10},
        {"count": 3430, "k": 20}, "models/topics/lda.lehr", lambda q, data: {"topics": q["beta.concentration"]}, topics,
        data=("w=words.ldac",), options=lambda size: [*sets()(size), "--sizes", "term=6906"]),
    "level": states_row("local level", simulated.level, "models/sequences/local_level.lehr", states("level"), ["unobserved", "llevel"],
                        options=sets(m0=0, b0=1e-3)),
    "trend": states_row("local linear trend", simulated.trend, HERE + "trend.lehr", states("level", "slope"), ["unobserved", "lltrend"]),
    "moving-weights": states_row("regression with time-varying weights", simulated.moving_weights, HERE + "weights.lehr",
                                 states("c0", "c1", "c2"), ["moving_weights"]),
    "gmm": mixtures("Gaussian mixture, small", {"n": 4000, "d": 4, "k": 6}, {"n": 10_000, "d": 5, "k": 8}, more=True),
    "gmm-large": mixtures("Gaussian mixture, large", {"n": 10_000, "d": 16, "k": 12}, {"n": 100_000, "d": 16, "k": 32}, more=False),
    "hmm": chains(
        "Gaussian hidden Markov model", "gauss", "models/sequences/hmm_gaussian.lehr", {"sequences": 20, "steps": 100, "k": 5, "dimension": 3},
        {"sequences": 500, "steps": 100, "k": 8, "dimension": 5}, sets()),
    "hmm-letters": chains(
        "hidden Markov model of letters", "categories", "bench/models/hmm_letters.lehr",
        {"sequences": 20, "steps": 100, "k": 4, "letters": 30}, {"sequences": 500, "steps": 100, "k": 6, "letters": 50},
        lambda size: [*sets()(size), "--sizes", f"letter={size['letters']}"]),
    "crossed": mixed(
        "crossed random effects", simulated.crossed, {"n": 3000, "subjects": 100, "items": 30},
        {"n": 1_000_000, "subjects": 2000, "items": 500}, HERE + "crossed.lehr", "y ~ x1 + x2 + (1 | of_subject) + (1 | of_item)"),
    "nested": mixed(
        "nested random effects", simulated.nested, {"schools": 30, "classes_each": 10, "pupils": 10},
        {"schools": 100, "classes_each": 20, "pupils": 500}, HERE + "nested.lehr", "y ~ x1 + x2 + (1 | of_school) + (1 | of_class)"),
    "penicillin": mixed("penicillin, crossed", simulated.penicillin, {}, {}, "models/hierarchical/crossed_random_effects.lehr",
                        "diameter ~ 1 + (1 | dish) + (1 | sample)"),
    "pastes": mixed("pastes, nested", simulated.pastes, {}, {}, "models/hierarchical/casks_of_a_table.lehr",
                    "strength ~ 1 + (1 | batch_of / cask_of)"),
    "sleepstudy": mixed("sleepstudy, intercepts and slopes", simulated.sleepstudy, {}, {}, HERE + "sleep.lehr",
                        "y ~ x2 + (1 + x2 | of_subject)", slopes),
    "many": Row(
        "small Gaussian mixtures in Python", "nats a point", quality.many_scores, 2e-3, simulated.small_sets, {"count": 50},
        {"count": 200}, "", None, script="many_lehr",
        peers=always({"scikit-learn": ["python", "many_sklearn", 1], "scikit-learn, 10 starts": ["python", "many_sklearn", 10]})),
}
