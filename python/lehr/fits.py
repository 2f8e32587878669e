"""The fits of many data sets, and their numbers as a table."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping

import numpy as np

from . import _library
from .errors import LehrError

if TYPE_CHECKING:
    from .model import Model

_STATUS = np.array(["converged", "max_iter", "numerical_failure", "interrupted", "error"])


class Fits:
    """What `Model.fit_many` returns: a sequence of fitted models, one for each data set.

    `table` has a column for each key and a row for each data set: "status", "sweeps", "elbo", "warnings" (their number),
    then "NAME.mean" and "NAME.sd" of every number of the posterior, such as "a" or "w[2]". Variables with more than 32
    numbers are left out. A data set that cannot be fitted has the status "error"; `fits[k]` raises its exception, and
    `errors` has all of them by index.
    """

    def __init__(self, fits: _library.Fits, refused: Mapping[int, LehrError], model_of: Callable[[_library.Fit], "Model"]):
        self._fits, self._model_of = fits, model_of
        table = fits.table().values()
        status = _STATUS[table["status"]]
        status[list(refused)] = "error"
        self.table: dict[str, np.ndarray] = {"status": status, "sweeps": table["sweeps"], **{
            name: column for name, column in table.items() if name not in ("status", "sweeps")}}
        self.errors: dict[int, LehrError] = {}
        for k in np.flatnonzero(status == "error"):
            try:
                if k in refused:
                    raise refused[k]
                fits.at(int(k))
            except LehrError as e:
                self.errors[int(k)] = type(e)(f"data set {k}: {e}")

    def __len__(self) -> int:
        return len(self.table["status"])

    def __getitem__(self, k: int) -> "Model":
        position = range(len(self))[k]
        if position in self.errors:
            raise self.errors[position]
        return self._model_of(self._fits.at(position))

    def __iter__(self) -> Iterator["Model"]:
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        names, counts = np.unique(self.table["status"], return_counts=True)
        how = ", ".join(f"{count} {name}" for name, count in zip(names, counts))
        return f"<lehr.Fits of {len(self)} data sets: {how}>"

    def to_frame(self) -> Any:
        """The table as a pandas.DataFrame."""
        import pandas

        return pandas.DataFrame(self.table)
