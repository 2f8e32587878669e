"""The C library (lehr_c.h) by ctypes: handles, arrays in and out without a copy, errors as exceptions."""
from __future__ import annotations

import ctypes as c
import json
import math
import os
import signal
import threading
from pathlib import Path
from typing import Any, Callable, Iterable, Mapping, Optional

import numpy as np

from .errors import DataError, LehrError, ModelError, UsageError, error_of

_NAME = "liblehr.so.0.1"
_TYPES = {np.dtype(np.float64): 0, np.dtype(np.float32): 1, np.dtype(np.int64): 2, np.dtype(np.int32): 3}
_TEXT = 4  # LEHR_TEXT


class _Data(c.Structure):  # lehr_data
    _fields_ = [("name", c.c_char_p), ("values", c.c_void_p), ("type", c.c_int32), ("rank", c.c_int32),
                ("shape", c.POINTER(c.c_int64)), ("strides", c.POINTER(c.c_int64)), ("rows", c.c_int64),
                ("row_offsets", c.POINTER(c.c_int64))]


class _Array(c.Structure):  # lehr_array
    _fields_ = [("name", c.c_char_p), ("values", c.c_void_p), ("rank", c.c_int32), ("integer", c.c_int32),
                ("shape", c.POINTER(c.c_int64)), ("axes", c.POINTER(c.c_char_p))]


_ON_SWEEP = c.CFUNCTYPE(c.c_int32, c.c_void_p, c.c_int64, c.c_int64, c.c_double, c.c_double)
_GOES_ON = c.CFUNCTYPE(c.c_int32, c.c_void_p)
_HANDLE = c.c_void_p
_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "lehr_version": (c.c_char_p, []),
    "lehr_compile": (c.c_int32, [c.c_char_p, c.c_char_p, c.POINTER(_HANDLE), c.POINTER(c.c_void_p)]),
    "lehr_program_describe": (c.c_char_p, [_HANDLE]),
    "lehr_program_fit": (c.c_int32, [_HANDLE, c.POINTER(_Data), c.c_int64, c.c_char_p, _HANDLE, _ON_SWEEP, c.c_void_p,
                                     c.POINTER(_HANDLE), c.POINTER(c.c_void_p)]),
    "lehr_program_fit_many": (c.c_int32, [_HANDLE, c.POINTER(_Data), c.POINTER(c.c_int64), c.c_int64, c.c_char_p, _HANDLE,
                                          _GOES_ON, c.c_void_p, c.POINTER(_HANDLE), c.POINTER(c.c_void_p)]),
    "lehr_fits_at": (c.c_int32, [_HANDLE, c.c_int64, c.POINTER(_HANDLE), c.POINTER(c.c_void_p)]),
    "lehr_fits_table": (c.c_int32, [_HANDLE, c.POINTER(_HANDLE), c.POINTER(c.c_void_p)]),
    "lehr_program_update": (c.c_int32, [_HANDLE, _HANDLE, c.c_double, c.POINTER(_Data), c.c_int64, c.c_char_p, _ON_SWEEP,
                                        c.c_void_p, c.POINTER(_HANDLE), c.POINTER(c.c_void_p)]),
    "lehr_program_load": (c.c_int32, [_HANDLE, c.c_char_p, c.POINTER(_HANDLE), c.POINTER(c.c_void_p)]),
    "lehr_program_infer": (c.c_int32, [_HANDLE, _HANDLE, c.POINTER(_Data), c.c_int64, c.POINTER(_HANDLE),
                                       c.POINTER(c.c_void_p)]),
    "lehr_program_predict": (c.c_int32, [_HANDLE, _HANDLE, c.POINTER(_Data), c.c_int64, c.c_char_p, c.POINTER(_HANDLE),
                                         c.POINTER(c.c_void_p)]),
    "lehr_program_score": (c.c_int32, [_HANDLE, _HANDLE, c.POINTER(_Data), c.c_int64, c.c_char_p, c.POINTER(_HANDLE),
                                       c.POINTER(c.c_void_p)]),
    "lehr_program_simulate": (c.c_int32, [_HANDLE, c.POINTER(_Data), c.c_int64, c.c_char_p, c.POINTER(_HANDLE),
                                          c.POINTER(c.c_void_p)]),
    "lehr_fit_summary": (c.c_char_p, [_HANDLE]),
    "lehr_fit_write": (c.c_int32, [_HANDLE, c.c_char_p, c.POINTER(c.c_void_p)]),
    "lehr_fit_arrays": (c.c_int32, [_HANDLE, c.c_char_p, c.c_char_p, c.POINTER(_HANDLE), c.POINTER(c.c_void_p)]),
    "lehr_arrays_count": (c.c_int64, [_HANDLE]),
    "lehr_arrays_at": (_Array, [_HANDLE, c.c_int64]),
    "lehr_program_free": (None, [_HANDLE]),
    "lehr_fit_free": (None, [_HANDLE]),
    "lehr_fits_free": (None, [_HANDLE]),
    "lehr_arrays_free": (None, [_HANDLE]),
    "lehr_text_free": (None, [c.c_void_p]),
}


def _load() -> c.CDLL:
    """That of LEHR_LIBRARY, that of the wheel, or the one that the system has."""
    beside = Path(__file__).parent / "lib" / _NAME
    path = os.environ.get("LEHR_LIBRARY") or (str(beside) if beside.exists() else _NAME)
    try:
        library = c.CDLL(path)
    except OSError as e:
        raise ImportError(f"{e}; LEHR_LIBRARY names the library where it is elsewhere") from e
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


_library = _load()


def version() -> str:
    """Of the library: "0.1.0"."""
    return str(_library.lehr_version().decode())


def _text(message: c.c_void_p) -> str:
    if not message.value:
        return ""
    out = c.string_at(message.value).decode(errors="replace").rstrip("\n")
    _library.lehr_text_free(message)
    return out


def _make(function: str, *arguments: Any) -> tuple[int, str]:
    """Calls what makes a handle; the handle, and the message beside it."""
    handle, message = _HANDLE(), c.c_void_p()
    status = getattr(_library, function)(*arguments, c.byref(handle), c.byref(message))
    text = _text(message)
    if status != 0:
        raise error_of(status, text)
    assert handle.value
    return handle.value, text


def _json(options: Mapping[str, Any]) -> bytes:
    def plain(name: str, value: Any) -> Any:
        if isinstance(value, (np.generic, np.ndarray)):
            value = value.tolist()
        if isinstance(value, Mapping):
            return {str(key): plain(str(key), x) for key, x in value.items()}
        if isinstance(value, (list, tuple)):
            return [plain(name, x) for x in value]
        if isinstance(value, float) and not math.isfinite(value):
            raise UsageError(f"{name}: error: {value} is no value of an option: it is not finite")
        if isinstance(value, int) and not -(1 << 63) <= value < 1 << 64:
            return str(value)  # its digits: JSON would round it
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        raise UsageError(f"{name}: error: {value!r} is no value of an option")

    return json.dumps(plain("options", options)).encode()


class _Handle:
    """Owns what the library made."""

    _free = ""
    handle = 0

    def __init__(self, handle: int):
        self.handle = handle

    def __del__(self) -> None:
        if _library is not None:  # at the end of the interpreter
            getattr(_library, self._free)(self.handle)


class Arrays(_Handle):
    """Arrays with names. What NumPy shows of them is not copied, and keeps them alive."""

    _free = "lehr_arrays_free"

    def __init__(self, handle: int, warnings: str = "") -> None:
        """warnings: what the call that made the arrays warned of, a line each."""
        super().__init__(handle)
        self.warnings = warnings.splitlines()

    def read(self) -> dict[str, tuple[np.ndarray, Optional[tuple[str, ...]]]]:
        """By name: the array, read-only, and the plates of its axes where they are known."""
        out = {}
        for k in range(_library.lehr_arrays_count(self.handle)):
            a = _library.lehr_arrays_at(self.handle, k)
            shape = tuple(a.shape[i] for i in range(a.rank))
            axes = tuple(a.axes[i].decode() for i in range(a.rank)) if a.axes else None
            values = self._view(a.values, shape)
            if a.integer:
                values = values.astype(np.int64)
            values.flags.writeable = False
            out[a.name.decode()] = (values, axes)
        return out

    def values(self) -> dict[str, np.ndarray]:
        return {name: values for name, (values, _) in self.read().items()}

    def _view(self, address: int, shape: tuple[int, ...]) -> np.ndarray:
        count = int(np.prod(shape, dtype=np.int64))
        if count == 0:
            return np.empty(shape)
        block = (c.c_double * count).from_address(address)
        block.owner = self  # type: ignore[attr-defined]
        out: np.ndarray = np.ctypeslib.as_array(block).reshape(shape)
        return out


class Ragged:
    """Rows end to end; row i is values[offsets[i]:offsets[i + 1]]. DataError where offsets do not go from 0 to the end."""

    def __init__(self, values: Any, offsets: Any):
        self.values, self.offsets = np.asarray(values), np.asarray(offsets)
        self.checked()

    def checked(self) -> tuple[np.ndarray, np.ndarray]:
        """The values, and offsets that fit to them and that nobody else can change."""
        values, given = np.asarray(self.values), np.asarray(self.offsets)
        if values.ndim != 1 or given.ndim != 1 or given.size == 0:
            raise DataError("ragged: error: values and offsets have one axis, and offsets a number more than there are rows")
        if given.dtype.kind not in "iu" and not (given.dtype.kind == "f" and np.all(given == np.trunc(given))):
            raise DataError("ragged: error: offsets are whole numbers")
        offsets = np.array(given, np.int64)
        if offsets[0] != 0 or offsets[-1] != len(values) or np.any(offsets[1:] < offsets[:-1]):
            raise DataError(f"ragged: error: offsets go from 0 to the number of values, {len(values)}, and do not fall")
        return values, offsets


_DATES = "count from some day: (x - x.min()) / np.timedelta64(1, 'D')"
_CURES = {"m": "divide by a unit: x / np.timedelta64(1, 's')", "M": _DATES,
          "c": "give the real and the imaginary part by themselves", "V": "give its fields by themselves"}


def _has_text(array: np.ndarray) -> bool:
    return array.dtype.kind in "SUT" or (array.dtype.kind == "O" and any(isinstance(x, (str, bytes)) for x in array.flat))


def _is_none(value: Any) -> bool:
    """Nothing, or what stands for no value in tables of objects."""
    return value is None or (isinstance(value, float) and value != value) or type(value).__name__ in ("NAType", "NaTType")


def _utf8(name: str, k: int, value: Any) -> Optional[bytes]:
    """One value of an array of text; None where it is missing."""
    if _is_none(value):
        return None
    if not isinstance(value, (str, bytes)):
        raise DataError(f"{name}: error: value {k} is {value!r}, and others are text\n  note: as text: np.asarray(x, str)")
    try:
        text = value.encode() if isinstance(value, str) else value
    except UnicodeEncodeError as e:
        raise DataError(f"{name}: error: value {k} is not Unicode: {e.reason}") from e
    if b"\0" in text:
        raise DataError(f"{name}: error: there is a NUL in value {k}")
    return text


def _pointers(name: str, array: np.ndarray, masked: Any) -> Any:
    """Text as the library reads it: a pointer to each value, null where it is missing."""
    skip = np.broadcast_to(masked, array.shape).flat
    values = [None if skip[k] else _utf8(name, k, value) for k, value in enumerate(array.astype(object).flat)]
    return (c.c_char_p * max(len(values), 1))(*values)


def _readable(name: str, value: Any) -> np.ndarray:
    """The array itself where the library can read it, else a copy that it can. DataError where it has no numbers."""
    array = np.asarray(value)
    if array.dtype.kind in "mMcV":
        raise DataError(f"{name}: error: an array of {array.dtype} is none of numbers\n  note: {_CURES[array.dtype.kind]}")
    if np.ma.isMaskedArray(value):
        array = np.ma.filled(np.ma.asarray(value, np.float64), np.nan)
    if array.dtype.kind == "O":
        array = np.array([math.nan if _is_none(x) else x for x in array.flat], object).reshape(array.shape)
    if array.dtype in _TYPES and array.flags.aligned and all(
            s >= 0 and s % array.itemsize == 0 for s in array.strides):
        return array
    try:
        return np.ascontiguousarray(array, np.float64)
    except (TypeError, ValueError) as e:
        raise DataError(f"{name}: error: not an array of numbers: {e}") from e


def _describe(name: str, value: Any, keep: list[Any]) -> _Data:
    ragged = isinstance(value, Ragged)
    if "\0" in name:
        raise DataError(f"{name!r}: error: not a name: it has a NUL in it")
    values, offsets = value.checked() if ragged else (value, None)
    array = np.asarray(values)
    text = _pointers(name, array, np.ma.getmask(values)) if _has_text(array) else None
    if text is None:
        array = np.ascontiguousarray(_readable(name, values)) if ragged else _readable(name, values)
    address = array.ctypes.data if text is None else c.addressof(text)
    kind = _TYPES[array.dtype] if text is None else _TEXT
    keep += [array, text, offsets]
    if offsets is not None:
        rows = offsets.ctypes.data_as(c.POINTER(c.c_int64))
        return _Data(name.encode(), address, kind, 0, None, None, len(offsets) - 1, rows)
    extents = c.c_int64 * max(array.ndim, 1)
    shape = extents(*array.shape)
    packed = text is not None or array.flags.c_contiguous
    strides = None if packed else extents(*(s // array.itemsize for s in array.strides))
    keep += [shape, strides]
    return _Data(name.encode(), address, kind, array.ndim, shape, strides, 0, None)


class _Given:
    """Data as the library reads them, and what must live until it has."""

    def __init__(self, data: Mapping[str, Any]):
        self.keep: list[Any] = []
        described = [_describe(name, value, self.keep) for name, value in data.items()]
        self.array = (_Data * len(described))(*described)
        self.count = len(described)


class Fit(_Handle):
    """A fit of a program."""

    _free = "lehr_fit_free"

    def summary(self) -> dict[str, Any]:
        return dict(json.loads(_library.lehr_fit_summary(self.handle)))

    def arrays(self, what: str, **options: Any) -> Arrays:
        return Arrays(_make("lehr_fit_arrays", self.handle, what.encode(), _json(options))[0])

    def write(self, directory: str) -> None:
        message = c.c_void_p()
        status = _library.lehr_fit_write(self.handle, os.fsencode(directory), c.byref(message))
        text = _text(message)
        if status != 0:
            raise error_of(status, text)


class Fits(_Handle):
    """The fits of many data sets."""

    _free = "lehr_fits_free"

    def at(self, k: int) -> Fit:
        return Fit(_make("lehr_fits_at", self.handle, k)[0])

    def table(self) -> Arrays:
        return Arrays(_make("lehr_fits_table", self.handle)[0])


OnSweep = Callable[[int, int, float, float], Optional[bool]]


class _Interrupts:
    """Ctrl-C is noted while the library works: an exception on the way into a callback would be lost."""

    def __init__(self) -> None:
        self.any = False
        self._handles = False

    def __enter__(self) -> None:
        in_main = threading.current_thread() is threading.main_thread()
        self._handles = in_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self._handles:
            signal.signal(signal.SIGINT, self._note)

    def __exit__(self, *_: Any) -> None:
        if self._handles:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _note(self, *_: Any) -> None:
        self.any = True


class Program(_Handle):
    """A model that is well."""

    _free = "lehr_program_free"

    def __init__(self, text: str, settings: Mapping[str, Any]):
        if "\0" in text:
            line = text.count("\n", 0, text.index("\0")) + 1
            raise ModelError(f"{settings['name']}:{line}: error: there is a NUL in the text")
        handle, self.warnings = _make("lehr_compile", text.encode(), _json(settings))
        super().__init__(handle)
        self.description: dict[str, Any] = json.loads(_library.lehr_program_describe(handle))

    def fit(self, data: Mapping[str, Any], options: Mapping[str, Any], start: Optional[Fit] = None,
            on_sweep: Optional[OnSweep] = None) -> tuple[Fit, Optional[BaseException]]:
        """The fit, and the exception (KeyboardInterrupt among them) of `on_sweep` that ended it."""
        given = _Given(data)
        return self._watched("lehr_program_fit", on_sweep, self.handle, given.array, given.count, _json(options),
                             start.handle if start else None)

    def fit_many(self, datasets: Iterable[Any], bind: Callable[[Any], Mapping[str, Any]], options: Mapping[str, Any],
                 start: Optional[Fit] = None) -> tuple[Fits, dict[int, LehrError]]:
        """The fits of all data sets, and why some cannot be read, by index. KeyboardInterrupt ends them.

        bind: arrays by name from a data set.
        """
        given: list[_Given] = []
        refused: dict[int, LehrError] = {}
        for k, data in enumerate(datasets):
            try:
                given.append(_Given(bind(data)))
            except LehrError as e:
                refused[k] = e
                given.append(_Given({}))
        described = [data for g in given for data in g.array]
        counts = (c.c_int64 * max(len(given), 1))(*(g.count for g in given))
        interrupts = _Interrupts()
        with interrupts:
            handle, _ = _make("lehr_program_fit_many", self.handle, (_Data * len(described))(*described), counts, len(given),
                              _json(options), start.handle if start else None, _GOES_ON(lambda _: 0 if interrupts.any else 1),
                              None)
        if interrupts.any:
            raise KeyboardInterrupt
        return Fits(handle), refused

    def update(self, prior: Fit, forget: float, data: Mapping[str, Any], options: Mapping[str, Any],
               on_sweep: Optional[OnSweep] = None) -> tuple[Fit, Optional[BaseException]]:
        """The same with the posterior of a fit as the prior."""
        given = _Given(data)
        return self._watched("lehr_program_update", on_sweep, self.handle, prior.handle, forget, given.array, given.count,
                             _json(options))

    @staticmethod
    def _watched(function: str, on_sweep: Optional[OnSweep], *arguments: Any) -> tuple[Fit, Optional[BaseException]]:
        raised: list[BaseException] = []
        interrupts = _Interrupts()

        def after_sweep(_: Any, restart: int, iteration: int, elbo: float, temperature: float) -> int:
            try:  # nothing may leave towards C
                if interrupts.any:
                    return 0
                goes_on = on_sweep(restart, iteration, elbo, temperature) if on_sweep else None
                return 0 if isinstance(goes_on, (bool, np.bool_)) and not goes_on else 1
            except BaseException as e:
                raised.append(e)
                return 0

        with interrupts:
            handle, _ = _make(function, *arguments, _ON_SWEEP(after_sweep), None)
        if interrupts.any:
            raised.append(KeyboardInterrupt())
        return Fit(handle), raised[0] if raised else None

    def load(self, directory: str) -> Fit:
        return Fit(_make("lehr_program_load", self.handle, os.fsencode(directory))[0])

    def infer(self, fit: Fit, data: Mapping[str, Any]) -> Fit:
        given = _Given(data)
        return Fit(_make("lehr_program_infer", self.handle, fit.handle, given.array, given.count)[0])

    def predict(self, fit: Fit, data: Mapping[str, Any], options: Mapping[str, Any]) -> Arrays:
        given = _Given(data)
        return Arrays(*_make("lehr_program_predict", self.handle, fit.handle, given.array, given.count, _json(options)))

    def score(self, fit: Fit, data: Mapping[str, Any], options: Mapping[str, Any]) -> Arrays:
        given = _Given(data)
        return Arrays(_make("lehr_program_score", self.handle, fit.handle, given.array, given.count, _json(options))[0])

    def simulate(self, data: Mapping[str, Any], options: Mapping[str, Any]) -> Arrays:
        given = _Given(data)
        return Arrays(*_make("lehr_program_simulate", self.handle, given.array, given.count, _json(options)))
