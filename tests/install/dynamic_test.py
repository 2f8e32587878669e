#!/usr/bin/env python3
"""Where programs and libraries look for libraries: never where their caller happens to be. The dynamic sections of all that a
build tree holds, and of a library that `lehr build` makes. And how the program and its libraries are hardened (SECURITY.md). Exit code 77: there is no readelf.

usage: dynamic_test.py BUILD, from the root of the repository
"""
import os
import re
import sys

sys.path.append(f"{sys.path[0]}/../helpers")
from lehr_tests import need, run, temporary, write  # noqa: E402

EXECUTABLE, SHARED = 2, 3  # e_type


def is_loaded(path):
    """Whether the dynamic linker works on it: an object file is none of these."""
    if os.path.islink(path) or not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        head = file.read(18)
    return head[:4] == b"\x7fELF" and len(head) == 18 and int.from_bytes(head[16:18], sys.byteorder) in (EXECUTABLE, SHARED)


def loaded_in(folder):
    return sorted(os.path.join(at, name) for at, _, names in os.walk(folder) for name in names if is_loaded(os.path.join(at, name)))


def faults(path):
    """What the dynamic section has that depends on the current directory."""
    text = run("readelf", "-d", "-W", path).stdout
    out = []
    for kind, value in re.findall(r"\((RPATH|RUNPATH|NEEDED|AUXILIARY|FILTER)\)[^\[]*\[(.*?)\]", text):
        if kind in ("RPATH", "RUNPATH"):
            out += [f"{kind} [{value}]" for place in value.split(":") if not re.match(r"/|\$ORIGIN(/|$)|\$\{ORIGIN\}(/|$)", place)]
        elif "/" in value and not value.startswith("/"):
            out.append(f"{kind} [{value}]")
    return out


def check(paths):
    wrong = [f"{path}: {fault}" for path in paths for fault in faults(path)]
    assert not wrong, "\n".join(wrong)


def soft(path):
    """What would let an overflow of memory go further in a program or library of this tree."""
    def told(*what):
        return run("readelf", *what, "-W", path).stdout
    segments, dynamic = told("-l"), told("-d")
    out = [] if "GNU_RELRO" in segments and re.search(r"BIND_NOW|\bNOW\b", dynamic) else ["symbols can be bound to other code at run time"]
    stack = re.search(r"GNU_STACK.*?(R\S*)\s+0x", segments)
    if not stack or "E" in stack.group(1):
        out.append("the stack can be executed")
    if "DYN" not in told("-h"):
        out.append("it is always at the same place")
    return out


def hardened(paths):
    wrong = [f"{path}: {fault}" for path in paths for fault in soft(path)]
    assert not wrong, "\n".join(wrong)
    symbols = run("readelf", "--dyn-syms", "-W", paths[0]).stdout
    assert "__stack_chk_fail" in symbols and re.search(r"\w+_chk@GLIBC", symbols), "neither stacks nor buffers are checked"


def planted(lehr, folder):
    """A library of the name of one that the program needs, in the current directory, is not loaded."""
    needed = re.findall(r"\(NEEDED\)[^\[]*\[(.*?)\]", run("readelf", "-d", "-W", lehr).stdout)
    assert needed
    for name in needed:
        write(os.path.join(folder, name), "not a library")
    run(lehr, "--version", cwd=folder)


if __name__ == "__main__":
    need("readelf")
    build = os.path.abspath(sys.argv[1])
    lehr = os.path.join(build, "lehr")
    paths = loaded_in(build)
    assert lehr in paths and sum(path.endswith(".so") for path in paths) >= 3, paths
    with temporary() as folder:
        run(lehr, "build", "models/distributions/coin.lehr", "-o", os.path.join(folder, "coin"), "--shared")
        check([*paths, os.path.join(folder, "coin.so")])
        planted(lehr, folder)
    if "__asan_init" not in run("readelf", "--dyn-syms", "-W", lehr).stdout:
        hardened([lehr, *(path for path in paths if os.path.dirname(path) == build and os.path.basename(path).startswith("liblehr"))])
    print(f"ok, {len(paths) + 1} files")
