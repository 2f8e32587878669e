"""Estimates that answers are compared with, computed here: maximum likelihood by Fisher scoring, and restricted maximum likelihood of
random effects by its profile. Each gives effects and their standard errors."""
import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.special import expit, ndtr


# The probabilities of a success and of a failure; their difference from 1 has no digits far from zero.
CHANCES = {"logistic": (expit, lambda line: expit(-line)), "probit": (ndtr, lambda line: ndtr(-line))}


def scoring(kind, x, y, w, variance, df):
    """Expected information and gradient at w, and the variance of the noise of the next step."""
    line = x @ w
    if kind in ("linear", "student"):
        residual = y - line
        weight = (df + 1) / (df + residual**2 / variance) if kind == "student" else np.ones(len(y))
        variance = weight @ residual**2 / (len(y) if kind == "student" else len(y) - len(w))
        return (x.T * weight) @ x, x.T @ (weight * residual), variance
    mean, other = (f(line) for f in CHANCES[kind])
    slope = mean * other if kind == "logistic" else np.exp(-line**2 / 2) / np.sqrt(2 * np.pi)
    weight = slope / (mean * other)
    return (x.T * (slope * weight)) @ x, x.T @ (weight * np.where(y, other, -mean)), 1.0


def maximum_likelihood(kind, x, y, df=4):
    """Of a linear, logistic, probit or Student's t regression (`df` degrees of freedom); the intercept is the last effect."""
    x = np.column_stack([x, np.ones(len(x))])
    w, variance = np.zeros(x.shape[1]), float(np.var(y))
    for _ in range(1000):
        information, gradient, variance = scoring(kind, x, y, w, variance, df)
        step = np.linalg.solve(information, gradient)
        w = w + step
        if np.abs(step).max() < 1e-11 * (1 + np.abs(w).max()):
            break
    if kind == "student":
        information, variance = x.T @ x, variance * (df + 3) / (df + 1)
    return {"effects": w, "errors": np.sqrt(np.diag(np.linalg.inv(information)) * variance)}


def restricted_likelihood(x, y, groups):
    """Of random intercepts of the groups, each an array of numbers from 0; effects are those of the intercept and of the columns of x.

    With the effects u = t e in units of the noise, the profile over t has the Cholesky factor of I + t Z'Z t alone."""
    x = np.column_stack([np.ones(len(y)), x])
    sizes = [group.max() + 1 for group in groups]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    cross = np.zeros((starts[-1], starts[-1]))
    columns = [group + start for group, start in zip(groups, starts)]
    for a in columns:
        for b in columns:
            np.add.at(cross, (a, b), 1)
    right = np.column_stack([x, y])
    inner = np.zeros((starts[-1], right.shape[1]))
    for column in columns:
        np.add.at(inner, column, right)
    free, outer = len(y) - x.shape[1], right.T @ right

    def profile(log_t):
        t = np.repeat(np.exp(log_t), sizes)
        root = cho_factor(np.eye(len(t)) + t[:, None] * cross * t)
        scaled = t[:, None] * inner
        moments = outer - scaled.T @ cho_solve(root, scaled)
        information, gradient = moments[:-1, :-1], moments[:-1, -1]
        effects = np.linalg.solve(information, gradient)
        variance = (moments[-1, -1] - gradient @ effects) / free
        deviance = 2 * np.log(np.diag(root[0])).sum() + np.linalg.slogdet(information)[1] + free * np.log(variance)
        return deviance, effects, np.sqrt(np.diag(np.linalg.inv(information)) * variance)

    best = minimize(lambda log_t: profile(log_t)[0], np.zeros(len(groups)), method="Nelder-Mead", options={"xatol": 1e-5, "fatol": 1e-8})
    return dict(zip(("effects", "errors"), profile(best.x)[1:]))
