#!/usr/bin/env python3
"""The numbers of the cost model (compiler/analysis/cost_model.h) beside what this machine measures: one row each, as they name
them there. Times are in operations, the time of a plain statement on vectors in the first-level cache.

The measured ones are of C++ (bench/native/costs.cpp), not of generated code: exp is the C library's, while Lehr's is inline.
Constants are shared by all machines and models, so a row that differs by a factor of two is no reason to change one;
bench/experiments/short_items.py says whether another value makes sweeps faster.

usage: fit_costs.py
"""
import json
import os
import re
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# row: constant, unit, what is measured
ROWS = {
    "lanes": ("kLanes", "doubles", "the widest vector of the instructions that the compiler uses here"),
    "line": ("kCacheLine", "bytes", "a line of the first-level cache"),
    "cache": ("kCopiedElements", "elements", "a quarter of the first-level cache"),
    "registers": ("kVectorRegisters", "vectors", "registers for vectors of the instructions that it uses"),
    "division": ("kDivisionCost", "operations", "s += a / b"),
    "function": ("kFunctionCost", "operations", "s += exp(a)"),
    "transposition": ("kTransposedCost", "operations an element", "squares of 8 x 8"),
    "gather": ("kGatherCost", "operations an element", "s += a[at] from 16,384 elements"),
}


def used():
    """The values of the constants and thresholds in the header, by name."""
    with open(os.path.join(ROOT, "compiler/analysis/cost_model.h")) as file:
        text = re.sub(r"//.*", "", file.read())
    values = {}
    for declared in re.findall(r"constexpr\s+[^;]*;", text):
        for name, value in re.findall(r"(k\w+)(?: = |\(\"[\w.]+\", )([\w\s.*/+()-]+?)(?:,|\)?;)", declared):
            values[name] = eval(value, {}, values)
    return values


def measured():
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "costs")
        source = os.path.join(ROOT, "bench/native/costs.cpp")
        compiler = os.environ.get("CXX", "c++")
        subprocess.run([compiler, "-O3", "-march=native", "-mprefer-vector-width=512", "-ffast-math", "-std=c++20", source, "-o", program],
                       check=True)
        return json.loads(subprocess.run([program], check=True, capture_output=True, text=True).stdout)


def main():
    values, here = used(), measured()
    print("| row | constant | used | measured | unit | what |")
    print("|---|---|---|---|---|---|")
    for row, (constant, unit, what) in ROWS.items():
        print(f"| {row} | {constant} | {values[constant]:g} | {here[row]:g} | {unit} | {what} |")


main()
