"""The posterior of a fit: numbers under the names of the model, their axes under those of its plates."""
from __future__ import annotations

from typing import TYPE_CHECKING, Iterator, Mapping, Optional

import numpy as np

from ._library import Arrays

if TYPE_CHECKING:
    import xarray

_WHAT = ("mean", "sd", "q5", "q50", "q95")


class Variable:
    """One variable: `mean`, `sd`, `q5`, `q50`, `q95`, arrays over `dims`; NaN where there is no such number.

    Of small models, and with the option `sds="linear-response"`, standard deviations are the corrected ones, and
    `covariance` of a vector is the covariance matrix of each element; otherwise it is None. `parameters` are always those of the factor.

    Of a category the means are the probabilities of its values, whose axis is the last. `parameters` are those of its
    factor, as in posterior.npz. `coords` are the labels of plates that have any.
    """

    def __init__(self, name: str, dims: tuple[str, ...], numbers: Mapping[str, np.ndarray],
                 parameters: Mapping[str, np.ndarray], coords: Mapping[str, list[str]]):
        self.name, self.dims = name, dims
        self.mean, self.sd, self.q5, self.q50, self.q95 = (numbers[what] for what in _WHAT)
        self.covariance: Optional[np.ndarray] = numbers.get("covariance")
        self.parameters = dict(parameters)
        self.coords = {dim: labels for dim, labels in coords.items() if dim in dims}

    def __repr__(self) -> str:
        axes = ", ".join(f"{d}: {n}" for d, n in zip(self.dims, self.mean.shape))
        return f"<lehr.Variable {self.name} ({axes})>\n{self.mean}"


class Posterior(Mapping[str, Variable]):
    """Variables by name."""

    def __init__(self, numbers: Arrays, parameters: Arrays, labels: Mapping[str, list[str]]):
        self._labels = labels
        of_factors: dict[str, dict[str, np.ndarray]] = {}
        for name, values in parameters.values().items():
            variable, _, parameter = name.rpartition(".")
            of_factors.setdefault(variable, {})[parameter] = values
        found: dict[str, dict[str, np.ndarray]] = {}
        dims: dict[str, tuple[str, ...]] = {}
        for name, (values, axes) in numbers.read().items():
            variable, _, what = name.rpartition(".")
            found.setdefault(variable, {})[what] = values
            if what == "covariance":
                continue
            dims[variable] = _different(axes or tuple(f"axis_{k}" for k in range(values.ndim)))
        self._variables = {name: Variable(name, dims[name], found[name], of_factors.get(name, {}), labels)
                           for name in found}

    def __getitem__(self, name: str) -> Variable:
        return self._variables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)

    def __repr__(self) -> str:
        lines = [f"  {v.name} ({', '.join(f'{d}: {n}' for d, n in zip(v.dims, v.mean.shape))})" for v in self.values()]
        return "\n".join(["<lehr.Posterior>", *lines])

    def to_xarray(self) -> "xarray.Dataset":
        """Means, and "NAME.sd", "NAME.q5", ..., over the plates, with their labels."""
        import xarray

        arrays = {}
        for v in self.values():
            arrays[v.name] = (v.dims, v.mean)
            for what in _WHAT[1:]:
                arrays[f"{v.name}.{what}"] = (v.dims, getattr(v, what))
        return xarray.Dataset(arrays, coords=self._coords())

    def to_netcdf(self, path: str) -> None:
        """The same arrays as a NetCDF file, written by the package netCDF4."""
        import netCDF4

        with netCDF4.Dataset(path, "w") as file:
            for v in self.values():
                for dim, extent in zip(v.dims, v.mean.shape):
                    if dim not in file.dimensions:
                        file.createDimension(dim, extent)
                for what in _WHAT:
                    name = v.name if what == "mean" else f"{v.name}.{what}"
                    file.createVariable(name, np.float64, v.dims)[...] = getattr(v, what)
            for dim, labels in self._coords().items():
                file.createVariable(dim, str, (dim,))[:] = np.array(labels, dtype=object)

    def _coords(self) -> dict[str, list[str]]:
        used = {dim for v in self.values() for dim in v.dims}
        return {dim: labels for dim, labels in self._labels.items() if dim in used}


class Predictions(Mapping[str, np.ndarray]):
    """What a fit says of data, by the names of `lehr predict`: "x.mean", "z.probability", "z.most_probable", ..."""

    def __init__(self, arrays: Arrays):
        self._arrays = arrays.values()

    def __getitem__(self, name: str) -> np.ndarray:
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __repr__(self) -> str:
        return "\n".join(["<lehr.Predictions>", *(f"  {name} {values.shape}" for name, values in self.items())])

    def find(self, what: tuple[str, ...], variable: Optional[str] = None) -> np.ndarray:
        """The one array of that kind, of the variable if it is named. KeyError where there is none, or several."""
        for kind in what:
            names = [n for n in self if n.rpartition(".")[2] == kind and variable in (None, n.rpartition(".")[0])]
            if len(names) == 1:
                return self[names[0]]
            if names:
                raise KeyError(f"which variable? {', '.join(n.rpartition('.')[0] for n in names)}")
        raise KeyError(f"there is no {what[-1]} of {variable or 'any variable'}; there are {', '.join(self)}")


def _different(dims: tuple[str, ...]) -> tuple[str, ...]:
    """A plate that is an axis twice is called NAME_2 there."""
    return tuple(d if dims.index(d) == k else f"{d}_{dims[:k].count(d) + 1}" for k, d in enumerate(dims))
