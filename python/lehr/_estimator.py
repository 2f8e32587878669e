"""What estimators have in common: scikit-learn's base classes where it is installed, else the little of them that is
needed without."""
from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any, Optional

import numpy as np

__all__ = ["BaseEstimator", "ClusterMixin", "NotFittedError", "TransformerMixin", "checked", "model_file", "said", "seed_of"]

try:
    from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin
    from sklearn.exceptions import NotFittedError
    from sklearn.utils import check_random_state

    HAS_SKLEARN = True
except ImportError:
    HAS_SKLEARN = False

    class NotFittedError(ValueError, AttributeError):  # type: ignore[no-redef]
        """An estimator that is asked before it is fitted."""

    class BaseEstimator:  # type: ignore[no-redef]
        """Parameters by the names of __init__."""

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

        def set_params(self, **params: Any) -> "BaseEstimator":
            for name, value in params.items():
                if name not in self.get_params():
                    raise ValueError(f"'{name}' is no parameter of {type(self).__name__}")
                setattr(self, name, value)
            return self

        def __repr__(self) -> str:
            return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self.get_params().items())})"

    class ClusterMixin:  # type: ignore[no-redef]
        """`fit_predict`."""

        def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
            labels: np.ndarray = self.fit(X).labels_  # type: ignore[attr-defined]
            return labels

    class TransformerMixin:  # type: ignore[no-redef]
        """`fit_transform`."""

        def fit_transform(self, X: Any, y: Any = None, **how: Any) -> np.ndarray:
            made: np.ndarray = self.fit(X, y, **how).transform(X)  # type: ignore[attr-defined]
            return made


def model_file(name: str) -> Path:
    """A file of models/: in the package, or in the source tree that it stands in."""
    inside = Path(__file__).parent / "models" / name
    return inside if inside.exists() else Path(__file__).parents[2] / "models" / name


def checked(estimator: Any, X: Any, reset: bool, **how: Any) -> Any:
    """X as a finite matrix of float64, whose number of columns `reset` notes and others compare."""
    if HAS_SKLEARN:
        how = {"dtype": np.float64, **how}
        if hasattr(estimator, "_validate_data"):
            return estimator._validate_data(X, reset=reset, **how)
        from sklearn.utils.validation import validate_data

        return validate_data(estimator, X, reset=reset, **how)
    if not hasattr(X, "tocsr"):
        X = np.asarray(X, np.float64)
    if X.ndim != 2 or X.shape[0] < how.get("ensure_min_samples", 1):
        raise ValueError(f"a matrix with samples as its rows, not an array of shape {X.shape}")
    if not np.all(np.isfinite(X.data if hasattr(X, "tocsr") else X)):
        raise ValueError("X has NaN or infinity")
    if reset:
        estimator.n_features_in_ = X.shape[1]
    elif X.shape[1] != estimator.n_features_in_:
        raise ValueError(f"X has {X.shape[1]} features, but {type(estimator).__name__} is expecting "
                         f"{estimator.n_features_in_} features as input")
    return X


def seed_of(random_state: Any) -> int:
    """A seed; that of None is always the same."""
    if random_state is None:
        return 1
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    if HAS_SKLEARN:
        random_state = check_random_state(random_state)
    return int(random_state.randint(2**31 - 1))


def said(**options: Optional[Any]) -> dict[str, Any]:
    """Those that are not None."""
    return {name: value for name, value in options.items() if value is not None}
