"""Rows of the benchmark by name. A row is a function of the options and a directory for its files that prints what it finds and
returns it for JSON; its docstring is what `--list` says."""
from rows import compiling, kernels, peers, plain

ROWS = {**kernels.ROWS, **plain.ROWS, **peers.ROWS, **compiling.ROWS}
