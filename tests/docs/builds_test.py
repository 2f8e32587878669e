#!/usr/bin/env python3
"""What README.md, docs/ and the scripts say to build is enough for what they do next: every file of the build folder that
`cmake --install` takes, or that a page names, is made by the target that `scripts/demo` and the tutorial build.

Usage: builds_test.py BUILD, from the root of the repository.
"""
import glob
import os
import re
import shutil
import sys

sys.path.append(f"{sys.path[0]}/../helpers")
from lehr_tests import read, run  # noqa: E402

BUILD = os.path.abspath(sys.argv[1])


def inputs_of(target):
    """What a name stands for, and the names among that."""
    block = run("ninja", "-C", BUILD, "-t", "query", target).stdout.split("  input: phony\n")
    return re.findall(r"^    (?:\| |\|\| )?(\S+)$", block[1].split("  outputs:")[0], re.M) if len(block) > 1 else []


def made_by(target):
    """Everything that is made for a target, relative to the build folder, with the links that come with a library."""
    out, open_names = set(), [target]
    while open_names:
        name = open_names.pop()
        if name in out:
            continue
        out.add(os.path.relpath(os.path.join(BUILD, name), BUILD))
        open_names += inputs_of(name)
    return out


def is_made(name, made):
    """Links of a library come with it, and pages for shells with the manual."""
    plain = re.sub(r"(\.so)[.0-9]*$", r"\1", name)
    return name in made or plain in made or (name.startswith("manual/") and "manual/lehr.1" in made)


def installed():
    """Files of the build folder that the install scripts name and that are not written when it is configured."""
    out = set()
    for script in glob.glob(f"{BUILD}/cmake_install.cmake"):
        names = re.findall(rf'"{re.escape(BUILD)}/([^"]+)"', read(script))
        out |= {n for n in names if not n.endswith(("/cmake_install.cmake", ".pc", "LehrConfig.cmake", "LehrConfigVersion.cmake"))
                and not n.startswith(("CMakeFiles/", "install_manifest", "$"))}
    return out


def named_in_pages():
    out = set()
    for page in ["README.md"] + glob.glob("docs/**/*.md", recursive=True) + glob.glob("examples/*/*.c"):
        text = read(page)
        out |= {name for name in re.findall(r"\bbuild/([\w/.-]+\.(?:a|so))\b", text) if not name.startswith("tests/")}
        if re.search(r"-Lbuild\b.* -llehr\b", text):
            out.add("liblehr.so")
    return out


def target_of(path):
    return re.search(r"cmake --build --preset release --target (\w+)", read(path)).group(1)


def main():
    if not shutil.which("ninja") or not os.path.exists(f"{BUILD}/build.ninja"):
        print("skipped: not a build by ninja")
        sys.exit(77)
    wanted = installed() | named_in_pages()
    assert {"liblehr.so", "runtime/liblehr_search.a", "lehr"} <= wanted, wanted
    for path in ["scripts/demo", "docs/tutorial.md", "README.md"]:
        made = made_by(target_of(path))
        missing = {w for w in wanted if not is_made(w, made) and w != "lehr-mpi"}
        assert not missing, f"{path}: its target does not make {sorted(missing)}"


if __name__ == "__main__":
    main()
