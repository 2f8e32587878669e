"""How good an answer is: functions of (answer, truth), the same for all sides, that give numbers by name, of which `value` decides.
Answers and truth are arrays by name."""
import numpy as np
from scipy.special import digamma, gammaln, log_softmax, logsumexp


def distance(answer, truth):
    """The largest distance of an effect in standard errors, and the ratio of standard errors that is furthest from one."""
    found = {"value": np.abs((answer["effects"] - truth["effects"]) / truth["errors"]).max()}
    if "errors" in answer:
        ratios = answer["errors"] / truth["errors"]
        found["sd"] = ratios[np.abs(np.log(ratios)).argmax()]
    return found


def class_score(answer, truth):
    scores = log_softmax(truth["x"] @ answer["W"].T + answer["b"], axis=1)
    return {"value": scores[np.arange(len(scores)), truth["y"]].mean()}


def normal_score(x, mean, precision):
    """Log densities of the rows of x."""
    away = x - mean
    return 0.5 * (np.linalg.slogdet(precision)[1] - np.einsum("ni,ij,nj->n", away, precision, away) - x.shape[1] * np.log(2 * np.pi))


def factor_score(answer, truth):
    covariance = answer["W"] @ answer["W"].T + np.diag(answer["noise"])
    return {"value": normal_score(truth["x"], answer["mean"], np.linalg.inv(covariance)).mean()}


def mixture_score(answer, truth):
    parts = [np.log(w) + normal_score(truth["x"], m, p) for w, m, p in zip(answer["weight"], answer["mean"], answer["precision"])]
    return {"value": logsumexp(parts, axis=0).mean()}


def many_scores(answer, truth):
    sets = zip(answer["weight"], answer["mean"], answer["precision"], truth["x"])
    return {"value": np.mean([mixture_score({"weight": w, "mean": m, "precision": p}, {"x": x})["value"] for w, m, p, x in sets])}


def rand_index(answer, truth):
    """The adjusted Rand index of two partitions."""
    a, b = (np.unique(g, return_inverse=True)[1] for g in (answer["group"], truth["group"]))
    table = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(table, (a, b), 1)
    pairs = [(n * (n - 1) / 2).sum() for n in (table, table.sum(0), table.sum(1))]
    chance = pairs[1] * pairs[2] / (len(a) * (len(a) - 1) / 2)
    return {"value": (pairs[0] - chance) / ((pairs[1] + pairs[2]) / 2 - chance)}


def rating_error(answer, truth):
    return {"value": np.sqrt(np.mean((answer["rating"] - truth["y"]) ** 2))}


def count_score(answer, truth):
    """Rates are those of four fifths of the counts; the other fifth is scored."""
    rate, y = np.maximum(answer["rate"] / 4, 1e-10), truth["Y"]
    return {"value": (y * np.log(rate) - rate - gammaln(y + 1)).sum() / y.sum()}


def topic_score(answer, truth):
    """Half of the words of a document give its topics, with concentrations of 1/K; the other half is scored."""
    topics, total, words = answer["topics"] / answer["topics"].sum(1, keepdims=True), 0.0, 0
    rng = np.random.default_rng(0)
    for document in truth["documents"]:
        term, count = np.array(document).T
        given = rng.binomial(count, 0.5)
        likely, mixture = topics[:, term], np.full(len(topics), (1 + given.sum()) / len(topics))
        for _ in range(100):
            shares = np.exp(digamma(mixture))[:, None] * likely + 1e-300
            mixture = 1 / len(topics) + (shares / shares.sum(0)) @ given
        total += (count - given) @ np.log(mixture / mixture.sum() @ likely)
        words += (count - given).sum()
    return {"value": total / words}


def state_error(answer, truth):
    """The error of the states in units of their standard deviation over time, and the share that intervals of 90 % cover."""
    away = answer["mean"] - truth["state"]
    found = {"value": np.sqrt(np.mean(away**2 / truth["state"].var(1, keepdims=True)))}
    return found | ({"cover": np.mean(np.abs(away) < 1.645 * answer["sd"])} if "sd" in answer else {})


def chain_score(answer, truth):
    """Log likelihood of a frame, forwards through all sequences at once."""
    x, moves = truth["x"], answer["moves"]
    if "letters" in answer:
        scores = np.log(answer["letters"].T + 1e-300)[x]
    else:
        mean, variance = answer["mean"], answer["variance"]
        scores = -0.5 * ((x[:, :, None] - mean) ** 2 / variance + np.log(2 * np.pi * variance)).sum(-1)
    ahead, total = np.broadcast_to(answer["start"], scores[:, 0].shape), 0.0
    for t in range(scores.shape[1]):
        most = scores[:, t].max(1, keepdims=True)
        joint = ahead * np.exp(scores[:, t] - most)
        likelihood = joint.sum(1, keepdims=True)
        total += (np.log(likelihood) + most).sum()
        ahead = joint / likelihood @ moves
    return {"value": total / scores[..., 0].size}
