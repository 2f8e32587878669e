"""Lehr: conditionally conjugate models in a small language, compiled to variational inference.

    import lehr
    m = lehr.Model("gmm.lehr", K=8).fit(X)
    m.elbo_, m.posterior_["mu"].mean
"""
from __future__ import annotations

from typing import Any

from ._library import Ragged, version
from .errors import DataError, FitWarning, InternalError, LehrError, ModelError, NumericalError, UsageError
from .fits import Fits
from .model import Model
from .posterior import Posterior, Predictions, Variable

__version__ = version()
__all__ = ["DataError", "Fits", "FitWarning", "GaussianMixture", "HMM", "InternalError", "LDA", "LehrError", "Model",
           "ModelError", "NumericalError", "Posterior", "Predictions", "Ragged", "UsageError", "Variable", "load"]


def load(directory: str, source: str | None = None, **settings: Any) -> Model:
    """A fit in a directory, with the model as it was fitted, or `source`."""
    import json
    import os

    try:
        with open(os.path.join(directory, "fit.json"), encoding="utf-8") as file:
            summary = json.load(file)
        constants = {name: x for name, x in summary["constants"].items() if isinstance(x, (int, float))}
        fitted_from = str(summary.get("model_text") or summary["model_file"])
    except (OSError, ValueError, KeyError) as e:
        raise DataError(f"{directory}: error: not the directory of a fit: {e}") from e
    if source is None and not summary.get("model_text") and not os.path.exists(fitted_from):
        raise DataError(f"{directory}: error: there is no '{fitted_from}', which it was fitted from\n"
                        "  note: lehr.load(directory, model) takes the model, a file or a text")
    return Model(source or fitted_from, **{**constants, **settings}).load(directory)


def __getattr__(name: str) -> Any:
    """Estimators are imported when they are asked for: they look for scikit-learn."""
    if name in ("GaussianMixture", "HMM", "LDA"):
        from . import estimators

        return getattr(estimators, name)
    raise AttributeError(f"module 'lehr' has no attribute '{name}'")


def load_ipython_extension(ipython: Any) -> None:
    """`%load_ext lehr` gives `%%lehr`."""
    from .magic import load_ipython_extension as register

    register(ipython)
