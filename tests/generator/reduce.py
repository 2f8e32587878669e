"""From a case with a defect to a smaller one with the same defect: lines are left out, plates shortened, sums cut.

After Zeller & Hildebrandt, "Simplifying and Isolating Failure-Inducing Input" (2002): each change is kept where the defect is
still there. A change that makes the model wrong in another way is none.
"""
import copy
import re

import numpy as np


def without_lines(case, gone):
    out = copy.deepcopy(case)
    out.lines = [line for k, line in enumerate(case.lines) if k not in gone]
    text = out.text
    out.arrays = {n: a for n, a in out.arrays.items() if re.search(rf"\b{n}\b", text)}
    return out


def shorter(case, name, size):
    """The first `size` elements of a plate; indices beyond it are taken modulo."""
    out = copy.deepcopy(case)
    plate, old = out.plates[name], case.plates[name].size
    nested = [p for p in out.plates.values() if p.parent == name]
    for array_name, array in out.arrays.items():
        axis = list(array.axes).index(name) if name in array.axes else None
        if axis is not None and nested and len(array.axes) > 1 and array.axes[1] == nested[0].name:
            array.value = array.value[:int(nested[0].lengths[:size].sum())]
        elif axis is not None:
            array.value = np.take(array.value, np.arange(size), axis=axis)
        line = next((each for each in out.lines if each.startswith(f"data {array_name}[")), "")
        if line.endswith(f" : {name};"):
            array.value = array.value % size
    for p in nested:
        p.lengths = p.lengths[:size]
        p.size = int(p.lengths.sum())
    plate.size = size
    out.lines = [line.replace(f"plate {name} = {old};", f"plate {name} = {size};") for line in out.lines]
    return out


def shorter_rows(case, name):
    """Rows of a nested plate with one element at most."""
    out = copy.deepcopy(case)
    lengths = case.plates[name].lengths
    keep = np.concatenate([np.arange(n) < 1 for n in lengths]) if len(lengths) else np.zeros(0, bool)
    for array in out.arrays.values():
        if len(array.axes) > 1 and array.axes[1] == name:
            array.value = array.value[keep]
    out.plates[name].lengths = np.minimum(lengths, 1)
    out.plates[name].size = int(np.minimum(lengths, 1).sum())
    return out


def simpler_lines(case):
    """Each line with a summand, a factor or a clause less."""
    for k, line in enumerate(case.lines):
        found = set()
        for piece in re.finditer(r" [+-] [^+,()]*(\([^()]*\))?[^+,()]*(?=[,)+])|\b[\w\[\], ]+ \* | censored above [\d.]+", line):
            found.add(line[:piece.start()] + line[piece.end():])
        for inside in re.finditer(r"(mean|precision|variance|sd|rate|shape) = [^,()]*\[[^,()]*\]", line):
            found.add(line[:inside.start()] + f"{inside.group(1)} = 1" + line[inside.end():])
        for other in sorted(found):
            out = copy.deepcopy(case)
            out.lines[k] = other
            yield out


def changes(case):
    width = len(case.lines) // 2
    while width:
        for first in range(0, len(case.lines), width):
            yield without_lines(case, set(range(first, first + width)))
        width //= 2
    for plate in list(case.plates.values()):
        if plate.parent:
            if plate.size > 0 and (plate.lengths > 1).any():
                yield shorter_rows(case, plate.name)
            continue
        for size in sorted({0, 1, 2, plate.size // 2, plate.size - 1}):
            if (1 if "=" in plate.text else 0) <= size < plate.size and "= k" not in plate.text:
                yield shorter(case, plate.name, size)
    yield from simpler_lines(case)


def reduce(case, has_defect, tries=400):
    """`has_defect(case)` says whether the defect is there. At most so many tries."""
    left = tries
    while left > 0:
        for smaller in changes(case):
            left -= 1
            if left < 0 or has_defect(smaller):
                break
        else:
            return case
        if left >= 0:
            case = smaller
    return case
