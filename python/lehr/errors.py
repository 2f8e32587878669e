"""What can go wrong, by the exit codes of the command line, with the text that it prints."""
from __future__ import annotations


class LehrError(Exception):
    """Of everything that Lehr refuses; `str(error)` has the place, the reason and the cure."""


class InternalError(LehrError):
    """A fault of Lehr, or a file that cannot be written."""


class UsageError(LehrError, ValueError):
    """An option or a call that does not go together."""


class ModelError(LehrError, ValueError):
    """A model that is malformed, or of which something has no closed form. The text underlines the place."""


class DataError(LehrError, ValueError):
    """Data that are not what the model asks for, or a directory that is not that of a fit."""


class NumericalError(LehrError, ArithmeticError):
    """A fit that ended in numbers that are none."""


class FitWarning(UserWarning):
    """What deserves a look in a fit that is well."""


_BY_STATUS = {1: InternalError, 2: UsageError, 3: ModelError, 4: DataError, 5: NumericalError}


def error_of(status: int, message: str) -> LehrError:
    """The exception of an exit code."""
    return _BY_STATUS.get(status, InternalError)(message)
