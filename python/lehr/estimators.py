"""Estimators of scikit-learn's kind: files of models/ under the names and shapes that its users know.

Each is a lehr.Model, in `model_` after `fit`, and no more than that is asked of scikit-learn, which need not be there.
Parameters that are None are left to the file or to `lehr fit`, which then looks for the best of many starts (`search`).
The same data and the same `random_state` give the same bits; None is a seed like any other.
"""
from __future__ import annotations

from typing import Any, Optional

import numpy as np

from ._estimator import (BaseEstimator, ClusterMixin, NotFittedError, TransformerMixin, checked, model_file, said,
                         seed_of)
from ._library import Ragged
from .errors import DataError, UsageError
from .model import Model


class _Estimator(BaseEstimator):
    """The options of a fit, and a model that has to be there before it is asked."""

    max_iter: Optional[int]
    tol: Optional[float]
    restarts: Optional[int]
    search: Optional[str]
    random_state: Any

    def _fit_model(self, model: Model, data: dict[str, Any]) -> None:
        options = said(max_iter=self.max_iter, tol=self.tol, restarts=self.restarts, search=self.search)
        self.model_ = model.fit(data, seed=seed_of(self.random_state), **options)
        self.elbo_, self.converged_ = model.elbo_, model.converged_
        self.n_iter_ = max(1, model.n_iter_)

    def _fitted(self) -> Model:
        if not hasattr(self, "model_"):
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet. Call 'fit' first.")
        return self.model_

    def _mean(self, name: str) -> np.ndarray:
        return self._fitted().posterior_[name].mean


class _OfColumns(_Estimator):
    """Columns in any units: the priors of the model are of columns with mean 0 and standard deviation 1, which it gets.

    `offset_` and `scale_` (n_features,) are the means and standard deviations of the columns (1 of a constant one).
    """

    def _scale_by(self, X: np.ndarray) -> np.ndarray:
        self.offset_, sd = X.mean(0), X.std(0)
        self.scale_ = np.where(sd > 1e-12 * np.abs(self.offset_), sd, 1.0)
        return self._scaled(X)

    def _scaled(self, X: np.ndarray) -> np.ndarray:
        return (X - self.offset_) / self.scale_


class GaussianMixture(ClusterMixin, _OfColumns):
    """models/mixtures/gmm.lehr: a mixture of Gaussians with unknown covariances, of which those that are not needed stay empty.

    n_components: at most. concentration: of the weights, below 1 for few components. mean_precision: of the prior of the
    means, around those of the columns, in units of their variances. degrees_of_freedom: of the prior of the precisions, at
    least the number of columns, which None is.

    After `fit`: weights_ (n_components,), means_ (n_components, n_features), precisions_ and covariances_
    (n_components, n_features, n_features; the inverse of the mean precision), labels_ (n_samples,), offset_ and scale_
    (n_features,; means and standard deviations of the columns); of columns less offset_ over scale_: elbo_ (nats), model_;
    n_iter_, converged_.
    """

    def __init__(self, n_components: int = 6, *, concentration: float = 0.1, mean_precision: float = 1e-2,
                 degrees_of_freedom: Optional[float] = None, max_iter: Optional[int] = None, tol: Optional[float] = None,
                 restarts: Optional[int] = None, search: Optional[str] = None, random_state: Any = None):
        self.n_components, self.concentration = n_components, concentration
        self.mean_precision, self.degrees_of_freedom = mean_precision, degrees_of_freedom
        self.max_iter, self.tol, self.restarts, self.search = max_iter, tol, restarts, search
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> "GaussianMixture":
        """X: (n_samples, n_features), finite."""
        X = checked(self, X, True, ensure_min_samples=2)
        freedom = X.shape[1] if self.degrees_of_freedom is None else self.degrees_of_freedom
        self._fit_model(Model(model_file("mixtures/gmm.lehr"), K=self.n_components, alpha0=self.concentration,
                              beta0=self.mean_precision, nu0=freedom), {"x": self._scale_by(X)})
        self.weights_, self.means_ = self._mean("pi"), self.offset_ + self.scale_ * self._mean("mu")
        self.precisions_ = self._mean("Lambda") / np.outer(self.scale_, self.scale_)
        self.covariances_ = np.linalg.inv(self.precisions_)
        self.labels_ = self._fitted().predict({"x": self._scaled(X)})
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The most probable component of each row: (n_samples,)."""
        model = self._fitted()
        return model.predict({"x": self._scaled(checked(self, X, False))})

    def predict_proba(self, X: Any) -> np.ndarray:
        """(n_samples, n_components)."""
        model = self._fitted()
        return model.predict_proba({"x": self._scaled(checked(self, X, False))})

    def score(self, X: Any, y: Any = None) -> float:
        """The log predictive density of a row, on average, in nats."""
        model = self._fitted()
        return model.score({"x": self._scaled(checked(self, X, False))}) - np.log(self.scale_).sum()

    def sample(self, n_samples: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """New rows and their components."""
        drawn = self._fitted().sample(n_samples, seed_of(self.random_state))
        return self.offset_ + self.scale_ * drawn["x"], drawn["z"]


class HMM(_OfColumns):
    """models/sequences/hmm_gaussian.lehr: a hidden Markov model whose states emit independent Gaussian columns.

    The rows of X are the steps of sequences, end to end; `lengths` are those of the sequences, None is one sequence.

    After `fit`: start_ (n_components,), transitions_ (n_components, n_components), means_ and precisions_ (n_components,
    n_features), offset_ and scale_ (n_features,; means and standard deviations of the columns); of columns less offset_ over
    scale_: elbo_ (nats), model_; n_iter_, converged_.
    """

    def __init__(self, n_components: int = 2, *, max_iter: Optional[int] = None, tol: Optional[float] = None,
                 restarts: Optional[int] = None, search: Optional[str] = None, random_state: Any = None):
        self.n_components = n_components
        self.max_iter, self.tol, self.restarts, self.search = max_iter, tol, restarts, search
        self.random_state = random_state

    @staticmethod
    def _data(X: np.ndarray, lengths: Any, y: Any = None) -> dict[str, Any]:
        """y: what stands at the second position: lengths, or the labels of scikit-learn, one for each row and not used."""
        if y is not None and (np.shape(y)[:1] != (len(X),) or np.array_equal(y, np.ones(len(X)))):
            if lengths is not None:
                raise UsageError("y: error: there are no labels, and lengths are given twice")
            lengths = y
        t = np.asarray([len(X)] if lengths is None else lengths)
        if t.ndim != 1 or t.dtype.kind not in "iuf" or np.any(t != np.trunc(t)) or t.sum() != len(X):
            raise DataError(f"lengths: error: they are whole numbers whose sum is the number of rows, {len(X)}")
        return {"x": X, "t": t.astype(np.int64)}

    def fit(self, X: Any, y: Any = None, lengths: Any = None) -> "HMM":
        """X: (steps of all sequences, n_features), finite. lengths: (n_sequences,), at the second position, too."""
        X = checked(self, X, True, ensure_min_samples=2)
        self._fit_model(Model(model_file("sequences/hmm_gaussian.lehr"), K=self.n_components),
                        self._data(self._scale_by(X), lengths, y))
        self.start_, self.transitions_ = self._mean("pi"), self._mean("A")
        self.means_ = self.offset_ + self.scale_ * self._mean("mu")
        self.precisions_ = self._mean("tau") / self.scale_**2
        return self

    def predict(self, X: Any, lengths: Any = None) -> np.ndarray:
        """The most probable path of each sequence, end to end: (steps,)."""
        model = self._fitted()
        return model.predict(self._data(self._scaled(checked(self, X, False)), lengths))

    def predict_proba(self, X: Any, lengths: Any = None) -> np.ndarray:
        """The probabilities of the states of each step: (steps, n_components)."""
        model = self._fitted()
        return model.predict_proba(self._data(self._scaled(checked(self, X, False)), lengths))

    def score(self, X: Any, y: Any = None, lengths: Any = None) -> float:
        """The log predictive density of a number of X, on average, in nats."""
        model = self._fitted()
        X = self._scaled(checked(self, X, False))
        return model.score(self._data(X, lengths, y)) - np.log(self.scale_).mean()


class LDA(TransformerMixin, _Estimator):
    """models/topics/lda.lehr: latent Dirichlet allocation, smoothed.

    n_components: topics. doc_topic_prior, topic_word_prior: concentrations, 1 / n_components where None.

    After `fit`: components_ (n_components, n_features; the mean probabilities of the terms of each topic), elbo_ (nats),
    n_iter_, converged_, model_.
    """

    def __init__(self, n_components: int = 20, *, doc_topic_prior: Optional[float] = None,
                 topic_word_prior: Optional[float] = None, max_iter: Optional[int] = None, tol: Optional[float] = None,
                 restarts: Optional[int] = None, search: Optional[str] = None, random_state: Any = None):
        self.n_components = n_components
        self.doc_topic_prior, self.topic_word_prior = doc_topic_prior, topic_word_prior
        self.max_iter, self.tol, self.restarts, self.search = max_iter, tol, restarts, search
        self.random_state = random_state

    def _checked(self, X: Any, reset: bool) -> Any:
        return checked(self, X, reset, accept_sparse="csr")

    def _counts(self, X: Any, reset: bool) -> dict[str, Any]:
        """Terms and how often they are there, document after document."""
        X = self._checked(X, reset)
        if np.any((X.data if hasattr(X, "tocsr") else X) < 0):
            raise ValueError("Negative values in data passed to LDA: counts are not negative")
        if hasattr(X, "tocsr"):
            X = X.tocsr(copy=True)
            X.eliminate_zeros()
            return {"w": Ragged(X.indices, X.indptr), "count": Ragged(X.data, X.indptr)}
        rows, terms = np.nonzero(X)
        offsets = np.searchsorted(rows, np.arange(len(X) + 1))
        return {"w": Ragged(terms, offsets), "count": Ragged(X[rows, terms], offsets)}

    def fit(self, X: Any, y: Any = None) -> "LDA":
        """X: counts, (n_documents, n_features), dense or sparse."""
        data = self._counts(X, True)
        priors = said(alpha=self.doc_topic_prior, eta=self.topic_word_prior)
        self._fit_model(Model(model_file("topics/lda.lehr"), K=self.n_components, sizes={"term": self.n_features_in_}, **priors),
                        data)
        self.components_ = self._mean("beta")
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The mean proportions of the topics of each document: (n_documents, n_components)."""
        model = self._fitted()
        return model.transform(self._counts(X, False), "theta")

    def score(self, X: Any, y: Any = None) -> float:
        """The log predictive density of a word, on average, in nats: half of each document tells its topics."""
        model = self._fitted()
        return model.score(self._counts(X, False))

    def _more_tags(self) -> dict[str, Any]:
        """For scikit-learn until 1.5."""
        return {"requires_positive_X": True}

    def __sklearn_tags__(self) -> Any:
        """The same since 1.6."""
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = tags.input_tags.sparse = True
        return tags
