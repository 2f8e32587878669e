"""Data that tests read where they are present, and that are not part of the project: some have no open licence.

They are looked for below $LEHR_SHARED_DATA, else beside the repository. CTest counts `SKIPPED` as a skipped test.
"""
import os
import sys

from fitting import ROOT

SKIPPED = 77
FOLDER = os.environ.get("LEHR_SHARED_DATA", os.path.join(ROOT, "../shared/data"))


def external(path):
    """The path of a file of these data, or None. Some of them are in the project: those beside the tests come first."""
    own = os.path.join(ROOT, "tests/posterior/data", os.path.basename(path))
    if os.path.exists(own):
        return own
    full = os.path.normpath(os.path.join(FOLDER, path))
    return full if os.path.exists(full) else None


def require(path):
    """The path of a file without which the whole test has nothing to check."""
    full = external(path)
    if full is None:
        print(f"skipped: no {os.path.join(FOLDER, path)}; LEHR_SHARED_DATA names the folder")
        sys.exit(SKIPPED)
    return full
