"""Models: compiled from a file or from text, fitted to arrays."""
from __future__ import annotations

import os
import tempfile
import warnings
from pathlib import Path
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np

from . import _library
from ._library import OnSweep, Ragged
from .errors import DataError, FitWarning, NumericalError, UsageError
from .fits import Fits
from .posterior import Posterior, Predictions

Data = Union[Any, Mapping[str, Any]]


def _is_sparse(value: Any) -> bool:
    return hasattr(value, "tocsr") and hasattr(value, "nnz")


def _is_rows(value: Any) -> bool:
    """A list of arrays, one for each row of a nested plate."""
    return isinstance(value, (list, tuple)) and len(value) > 0 and any(np.ndim(row) > 0 for row in value) and \
        len({np.shape(row) for row in value}) > 1


def _columns(value: Any) -> Optional[list[str]]:
    """The names of the columns of a data frame (pandas, Polars, ...); None of other values, and where they are not text."""
    names = getattr(value, "columns", None)
    if names is None or not hasattr(value, "__getitem__"):
        return None
    listed = list(names)
    return [str(name) for name in listed] if listed and all(isinstance(name, str) for name in listed) else None


def _no_labels(y: Any) -> None:
    """What scikit-learn passes besides X is None for models without labels."""
    if y is not None:
        raise UsageError("y: error: there is no second array\n  note: several arrays are a dictionary by name: fit({...})")


def _warned(arrays: _library.Arrays) -> _library.Arrays:
    """The arrays, after a warning of each thing that they need."""
    for text in arrays.warnings:
        warnings.warn(text, FitWarning, stacklevel=3)
    return arrays


class Model:
    """A model of the language of Lehr.

    source: the path of a file, or the text of a model. sizes: of plates that the data do not size. labels: names of the
    elements of plates. constants: K=8. ModelError where the model is not well.

    After `fit`: `posterior_`, `elbo_` (nats), `n_iter_`, `converged_`, `status_`, `trace_` (arrays over sweeps),
    `warnings_`, `log_evidence_` (of samplers, or None), `summary_` (what fit.json says).
    """

    def __init__(self, source: Union[str, "os.PathLike[str]"], *, sizes: Optional[Mapping[str, int]] = None,
                 labels: Optional[Mapping[str, Sequence[str]]] = None, **constants: float):
        is_text = isinstance(source, str) and "{" in source
        if not is_text and (not os.fspath(source) or Path(source).is_dir()):
            raise UsageError(f"{os.fspath(source)!r}: error: neither the text of a model nor a file with one")
        text = str(source) if is_text else Path(source).read_text(encoding="utf-8")
        self.source = None if is_text else os.fspath(source)
        settings: dict[str, Any] = {"name": self.source or "model", "constants": constants, "sizes": dict(sizes or {}),
                    "labels": {plate: list(names) for plate, names in (labels or {}).items()}}
        self._compile(text, settings)
        if self._program.warnings:
            warnings.warn(self._program.warnings, FitWarning, stacklevel=2)

    def _compile(self, text: str, settings: dict[str, Any]) -> None:
        self._made_of = (text, settings)
        self._labels = settings["labels"]  # those that are given, without those of columns
        self._program = _library.Program(text, settings)
        self._fit: Optional[_library.Fit] = None

    def __getstate__(self) -> dict[str, Any]:
        """The text, and the files of the fit: what `save` does not write is not pickled."""
        files = {}
        if self._fit is not None:
            with tempfile.TemporaryDirectory() as directory:
                self.save(directory)
                files = {path.name: path.read_bytes() for path in Path(directory).iterdir()}
        return {"source": self.source, "made_of": self._made_of, "labels": self._labels, "files": files}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.source = state["source"]
        self._compile(*state["made_of"])
        self._labels = state["labels"]
        if state["files"]:
            with tempfile.TemporaryDirectory() as directory:
                for name, content in state["files"].items():
                    (Path(directory) / name).write_bytes(content)
                self.load(directory)

    @property
    def name(self) -> str:
        return str(self._program.description["model"])

    @property
    def data_names(self) -> list[str]:
        """What `fit` takes."""
        return [d["name"] for d in self._program.description["data"]]

    def __repr__(self) -> str:
        state = f", {self.status_} after {self.n_iter_} iterations" if self._fit else ""
        return f"<lehr.Model {self.name}: data {', '.join(self.data_names)}{state}>"

    # Fitting

    def fit(self, X: Data = None, y: None = None, *, sample_weight: Any = None, init: Union["Model", str, None] = None,
            on_sweep: Optional[OnSweep] = None, **options: Any) -> "Model":
        """Fits the model by the options of `lehr fit`, '_' for '-': method, max_iter, restarts, seed, anneal, ...

        X: the array of the one observed variable, or arrays by name: a dictionary, or a data frame with a column for each.
        Where an array has two axes, the columns of a data frame name the elements of its last plate. Rows of different
        lengths are lists of arrays, `lehr.Ragged`, or a sparse matrix of counts. sample_weight: how many copies each item stands for, where the model
        has `plate n times NAME`. init: a fitted model to start from, or a kind of start. on_sweep: called with (restart,
        iteration, elbo, temperature) after every sweep; False ends the fit, which keeps what it has. So does
        KeyboardInterrupt, which is raised again.
        """
        _no_labels(y)
        start, options = self._start(init, options)
        program, made_of = self._with_columns(X)
        data = self._weighted(X, sample_weight, made_of[1]["labels"])
        fit, raised = program.fit(data, options, start, on_sweep)
        self._program, self._made_of = program, made_of
        return self._ended(fit, raised)

    def fit_many(self, datasets: Sequence[Data], *, init: Union["Model", str, None] = None, **options: Any) -> Fits:
        """Fits each of many data sets by the options of `fit`, several at a time, and compiles once for all alike.

        datasets: what `fit` takes as X, each. Returns the fits with a table of their numbers; the bits are those of single
        fits. A data set that cannot be fitted leaves the others as they are. This model stays as it is.
        """
        start, options = self._start(init, options)
        program, made_of = self._with_columns(next(iter(datasets), None))
        made, refused = program.fit_many(datasets, lambda X: self._bind(X, made_of[1]["labels"]), options, start)
        fits = Fits(made, refused, lambda fit: self._with_fit(fit, program, made_of))
        warned = np.flatnonzero(np.nan_to_num(fits.table["warnings"]) > 0)
        if warned.size:
            warnings.warn(f"{warned.size} of {len(fits)} fits have warnings: fits[{warned[0]}].warnings_, ...", FitWarning,
                          stacklevel=2)
        if fits.errors:
            warnings.warn(f"{len(fits.errors)} of {len(fits)} data sets have no fit: fits.errors[{min(fits.errors)}], ...",
                          FitWarning, stacklevel=2)
        return fits

    def _start(self, init: Union["Model", str, None],
               options: dict[str, Any]) -> tuple[Optional[_library.Fit], dict[str, Any]]:
        """The fit to start from, and the options with the name of a start."""
        start = init._fitted() if isinstance(init, Model) else None
        if isinstance(init, str):
            return None, {**options, "init": init}
        if init is not None and start is None:
            raise UsageError(f"init: error: {type(init).__name__} is no start\n"
                             f"  note: a start is a fitted lehr.Model, lehr.load(directory), or the name of a kind of start")
        return start, options

    def _with_fit(self, fit: _library.Fit, program: _library.Program, made_of: tuple[str, dict[str, Any]]) -> "Model":
        """A model of this program with this fit."""
        out = Model.__new__(Model)
        out.source, out._made_of, out._program, out._labels = self.source, made_of, program, self._labels
        out._take(fit)
        return out

    def partial_fit(self, X: Data = None, y: None = None, *, forget: float = 1.0, sample_weight: Any = None,
                    on_sweep: Optional[OnSweep] = None, **options: Any) -> "Model":
        """Goes on with further items: what is known by now is their prior, as `lehr update` has it.

        The first call is `fit`. forget: the power of the posterior that is kept, in (0, 1]. Labels and sizes of what is
        not data are those of the first fit. DataError or ModelError where a factor is no prior: those of chains, of
        points, of several variables together.
        """
        _no_labels(y)
        if self._fit is None:
            return self.fit(X, sample_weight=sample_weight, on_sweep=on_sweep, **options)
        data = self._weighted(X, sample_weight)
        return self._ended(*self._program.update(self._fit, forget, data, options, on_sweep))

    def _weighted(self, X: Data, sample_weight: Any, labels: Optional[Mapping[str, Sequence[str]]] = None) -> dict[str, Any]:
        data = self._bind(X, labels)
        if sample_weight is not None:
            data[self._weights()] = np.asarray(sample_weight, np.float64)
        return data

    def _ended(self, fit: _library.Fit, raised: Optional[BaseException]) -> "Model":
        """With what the fit has, or the exception that it ended with."""
        self._take(fit)
        if raised is not None:
            raise raised
        if self.status_ == "numerical_failure":
            raise NumericalError(f"{self.source or 'model'}: error: {self.summary_['failure']}")
        for text in self.warnings_:
            warnings.warn(text, FitWarning, stacklevel=3)
        return self

    def load(self, directory: Union[str, "os.PathLike[str]"]) -> "Model":
        """The fit that `lehr fit --out` or `save` have written."""
        self._take(self._program.load(os.fspath(directory)))
        return self

    def save(self, directory: Union[str, "os.PathLike[str]"]) -> None:
        """The directory that `lehr fit --out` would have written, for `lehr show`, `lehr predict` and the others."""
        self._fitted().write(os.fspath(directory))

    def _take(self, fit: _library.Fit) -> None:
        self._fit = fit
        self.summary_ = fit.summary()
        self.elbo_ = self.summary_["elbo"]
        self.n_iter_ = self.summary_["iterations"]
        self.status_ = self.summary_["status"]
        self.converged_ = self.status_ == "converged"
        self.warnings_ = self.summary_["warnings"]
        self.log_evidence_ = self.summary_.get("sampling", {}).get("log_evidence")
        self.trace_ = fit.arrays("trace").values()
        self.posterior_ = Posterior(fit.arrays("numbers"), fit.arrays("posterior"), self.summary_["labels"])

    def _fitted(self) -> _library.Fit:
        if self._fit is None:
            raise UsageError(f"{self.name}: error: the model is not fitted yet: call fit()")
        return self._fit

    # What a fit says

    @property
    def parameters_(self) -> dict[str, np.ndarray]:
        """The arrays of posterior.npz, where the fit has them."""
        return self._fitted().arrays("posterior").values()

    def infer(self, X: Data) -> Posterior:
        """The posterior with the factors of new items; nothing is learnt from them."""
        fit = self._program.infer(self._fitted(), self._bind(X))
        return Posterior(fit.arrays("numbers"), fit.arrays("posterior"), fit.summary()["labels"])

    def predictive(self, X: Data = None, **options: Any) -> Predictions:
        """Missing values, local variables and new items, as `lehr predict` has them.

        options: draws, seed, local_iters, local_tol, sizes (elements by plate; "+5": five more than there are).
        """
        return Predictions(_warned(self._program.predict(self._fitted(), self._bind(X), options)))

    def predict(self, X: Data, variable: Optional[str] = None, **options: Any) -> np.ndarray:
        """The most probable values of the local category of each item, of a chain the most probable path."""
        return self.predictive(X, **options).find(("path", "most_probable"), variable)

    def predict_proba(self, X: Data, variable: Optional[str] = None, **options: Any) -> np.ndarray:
        """The probabilities of the values of the local category of each item."""
        return self.predictive(X, **options).find(("probability",), variable)

    def transform(self, X: Data, variable: Optional[str] = None, **options: Any) -> np.ndarray:
        """The means of the local variable of each item; where there is none, the probabilities of its category."""
        return self.predictive(X, **options).find(("mean", "probability"), variable)

    def score(self, X: Data, y: None = None, **options: Any) -> float:
        """The log predictive density of new data in nats an observation, as `lehr score` has it; NaN of no items.

        options: holdout, seed. DataError where nothing is observed of items.
        """
        _no_labels(y)
        scored = self._program.score(self._fitted(), self._bind(X), options).values()
        observations = float(scored["observations"])
        return float(scored["total"]) / observations if observations > 0 else float("nan")

    def score_samples(self, X: Data, **options: Any) -> np.ndarray:
        """The log predictive density of each item in nats, all of its observations together, as `lehr score --per item`
        has it; 0 for an item without any. options: those of score()."""
        scored = self._program.score(self._fitted(), self._bind(X), {**options, "per": "item"}).values()
        return np.array(scored.get("items", []))

    def draws(self, n: int = 1000, seed: int = 1) -> dict[str, np.ndarray]:
        """Draws from the posterior over (chain, draw, axes), as `lehr draws` has them; of a sampler its own."""
        return self._fitted().arrays("draws", draws=n, seed=seed).values()

    def sample(self, n: int = 1, seed: int = 1, data: Optional[Mapping[str, Any]] = None) -> dict[str, np.ndarray]:
        """New items: one draw of the global variables from the posterior, then n items from the model.

        Of a sampler, the seed chooses one of its draws. data: givens that the model needs. Models with one plate of items.
        """
        drawn = self._fitted().arrays("draws", draws=1, seed=seed).values()
        known = {}
        for name in drawn.keys() & self._global_names():
            draws = drawn[name].reshape(-1, *drawn[name].shape[2:])
            known[name] = draws[np.random.default_rng(seed).integers(len(draws))]  # the same draw of each variable
        rows = {plate: lengths for plate, lengths in self.summary_["rows"].items() if plate in self._sized_by(known)}
        sizes = {**self._sizes_of(known), self._items(): n}
        return self._program.simulate({**known, **rows, **(data or {})}, {"seed": seed, "sizes": sizes}).values()

    def simulate(self, sizes: Optional[Mapping[str, int]] = None, seed: int = 1,
                 data: Optional[Mapping[str, Any]] = None) -> dict[str, np.ndarray]:
        """A draw of every variable from the model itself, as `lehr simulate`; needs no fit."""
        return _warned(self._program.simulate(data or {}, {"seed": seed, "sizes": dict(sizes or {})})).values()

    def to_xarray(self) -> Any:
        """The posterior as an xarray.Dataset."""
        self._fitted()
        return self.posterior_.to_xarray()

    def to_netcdf(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """The posterior as a NetCDF file."""
        self._fitted()
        self.posterior_.to_netcdf(os.fspath(path))

    # Names and shapes

    def _observed(self) -> dict[str, Any]:
        observed = [d for d in self._program.description["data"] if d["observed"]]
        if len(observed) != 1:
            names = ", ".join(self.data_names)
            raise DataError(f"{self.name}: error: data are arrays by name here: {names}")
        return dict(observed[0])

    def _plate(self, name: str) -> dict[str, Any]:
        return next(p for p in self._program.description["plates"] if p["name"] == name)

    def _items(self) -> str:
        """The plate of the items: the first index of the observed variable."""
        plate = self._plate(self._observed()["axes"][0])
        while "parent" in plate:
            plate = self._plate(plate["parent"])
        return str(plate["name"])

    def _weights(self) -> str:
        plate = self._plate(self._items())
        if "times" not in plate:
            raise UsageError(f"{self.name}: error: the model has no weights\n"
                             f"  note: `plate {plate['name']} times weight;` gives each item a number of copies")
        return str(plate["times"])

    def _global_names(self) -> set[str]:
        return set(self.summary_["variables"]) - self._local_names()

    def _local_names(self) -> set[str]:
        items = {p["name"] for p in self._program.description["plates"]
                 if p["name"] == self._items() or p.get("parent") == self._items()}
        return {v["name"] for v in self._program.description["variables"] if items & set(v["axes"])}

    def _sized_by(self, known: Mapping[str, np.ndarray]) -> set[str]:
        """The plates of the axes of variables."""
        return {plate for v in self._program.description["variables"] if v["name"] in known
                for plate in v["axes"] + v["event"]}

    def _sizes_of(self, known: Mapping[str, np.ndarray]) -> dict[str, int]:
        """Sizes that the fit knows, of plates that neither constants nor the drawn arrays size."""
        sized = self._sized_by(known)
        named = {p["name"] for p in self._program.description["plates"]}
        return {plate: size for plate, size in self.summary_["sizes"].items()
                if plate in named and plate not in sized and plate != self._items()}

    def _plates(self, name: str) -> list[str]:
        """The plates of the axes of data; none if the model has no data of this name."""
        return next((d["axes"] + d["event"] for d in self._program.description["data"] if d["name"] == name), [])

    def _given(self, X: Data) -> dict[str, Any]:
        """Arrays and data frames by name. A data frame with columns for arrays of one axis, or for arrays and a plate, is
        a table of them."""
        if X is None:
            return {}
        if isinstance(X, Mapping):
            return dict(X)
        columns, description = _columns(X) or [], self._program.description
        plates = {p["name"] for p in description["plates"]}  # the column of a plate says which element each line is
        arrays = {d["name"] for d in description["data"] + description["variables"] if d["axes"] + d["event"]}
        has_arrays, has_elements = bool(arrays & set(columns)), bool(plates & set(columns))
        if any(len(self._plates(name)) == 1 for name in columns) or (has_arrays and has_elements):
            return {name: X[name] for name in columns if name in arrays | plates}
        return {self._observed()["name"]: X}

    def _with_columns(self, X: Data) -> tuple[_library.Program, tuple[str, dict[str, Any]]]:
        """The program, and what it is made of, with the columns of data frames as the names of elements of plates that
        have none."""
        labels = dict(self._labels)
        for name, value in self._given(X).items():
            columns, plates = _columns(value), self._plates(name)
            if columns and len(plates) > 1:
                labels.setdefault(plates[-1], columns)
        text, settings = self._made_of
        if labels == settings["labels"]:
            return self._program, self._made_of
        settings = {**settings, "labels": labels}
        return _library.Program(text, settings), (text, settings)

    def _in_order(self, name: str, frame: Any, labels: Optional[Mapping[str, Sequence[str]]]) -> Any:
        """The columns of a data frame in the order of the elements that have their names; as they are if none has."""
        columns, plates = _columns(frame), self._plates(name)
        if labels is None:
            labels = self.summary_["labels"] if self._fit else self._labels
        elements = list(labels.get(plates[-1], [])) if columns and len(plates) > 1 else []
        if not columns or not set(columns) & set(elements):
            return frame
        if sorted(columns) != sorted(elements):
            wrong = next((f"column {column!r} is no element" for column in columns if column not in elements), "") or \
                next((f"there is no column {e!r}, an element" for e in elements if e not in columns), "two columns have the name of an element")
            raise DataError(f"{name}: error: {wrong} of plate '{plates[-1]}'\n  note: its elements are {', '.join(elements)}")
        return frame[elements]

    def _bind(self, X: Data, labels: Optional[Mapping[str, Sequence[str]]] = None) -> dict[str, Any]:
        """Arrays by name. Columns of data frames are matched by `labels` of plates, those of the fit by default."""
        out: dict[str, Any] = {}
        for name, value in self._given(X).items():
            value = self._in_order(name, value, labels)
            if _is_sparse(value):
                out.update(self._counts(name, value))
            elif _is_rows(value):
                lengths = [len(row) for row in value]
                out[name] = Ragged(np.concatenate([np.asarray(row) for row in value]), np.cumsum([0, *lengths]))
            else:
                out[name] = value
        return out

    def _counts(self, name: str, matrix: Any) -> dict[str, Any]:
        """A sparse matrix of counts: the columns of what is there, and how many."""
        rows = matrix.tocsr()
        described = next((d for d in self._program.description["data"] if d["name"] == name), None)
        times = self._plate(described["axes"][-1]).get("times") if described and described["axes"] else None
        if times is None:
            raise DataError(f"{name}: error: a sparse matrix is read where a nested plate has `times`\n"
                            f"  note: matrix.toarray() is read everywhere")
        return {name: Ragged(rows.indices, rows.indptr), str(times): Ragged(rows.data, rows.indptr)}
