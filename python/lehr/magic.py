"""`%%lehr NAME [CONSTANT=VALUE ...]` in IPython and Jupyter: the cell is a model, and NAME the compiled one."""
from __future__ import annotations

from typing import Any

from .errors import UsageError
from .model import Model


def compile_cell(line: str, cell: str) -> tuple[str, Model]:
    """The name of the first line, and the model of the others."""
    name, *settings = line.split() or [""]
    if not name.isidentifier():
        raise UsageError("%%lehr: error: the name of a variable comes first\n  note: for example %%lehr m K=8")
    constants: dict[str, Any] = {}
    for setting in settings:
        constant, equals, value = setting.partition("=")
        try:
            constants[constant] = float(value)
        except ValueError:
            equals = ""
        if not equals or not constant.isidentifier():
            raise UsageError(f"%%lehr: error: '{setting}' is not CONSTANT=VALUE\n  note: for example %%lehr m K=8")
    return name, Model(cell, **constants)


def load_ipython_extension(ipython: Any) -> None:
    """Called by `%load_ext lehr`."""

    def lehr(line: str, cell: str) -> None:
        name, model = compile_cell(line, cell)
        ipython.user_ns[name] = model

    ipython.register_magic_function(lehr, magic_kind="cell", magic_name="lehr")
