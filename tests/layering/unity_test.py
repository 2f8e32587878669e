#!/usr/bin/env python3
"""Sources of a library can be compiled as one, in batches of any size (LEHR_UNITY): no two of them define the same name in
an anonymous namespace, unless both give it the same type by `using`.

Usage: unity_test.py BUILD, from the root of the repository
"""
import collections
import json
import os
import re
import sys

sys.path.append(f"{sys.path[0]}/../helpers")
from lehr_tests import read  # noqa: E402

BUILD = os.path.abspath(sys.argv[1])
CONSTANT = re.compile(r"(?:(?:static|inline|const|constexpr|thread_local) )+[^=({]*?(\w+)(?:\[[^]]*\])?\s*(?:=|\{|;)")
MORE = re.compile(r",\s*(k[A-Z]\w*) =")
TYPE = re.compile(r"(?:struct|class|enum class|enum) (\w+)[^;]*$")
FUNCTION = re.compile(r"[\w:<>,&*\s\[\]]+?[\s&*](\w+\([^)]*)")


def sources():
    """The sources of each library and program of compiler/ and runtime/, by its name."""
    out = collections.defaultdict(set)
    for command in json.loads(read(f"{BUILD}/compile_commands.json")):
        target = re.search(r"(\w+)\.dir/", command["command"].split(" -o ")[1]).group(1)
        unity = "/Unity/" in command["file"]
        for path in re.findall(r'#include "([^"]+\.cpp)"', read(command["file"])) if unity else [command["file"]]:
            name = os.path.relpath(path)
            if name.startswith(("compiler/", "runtime/")):
                out[target].add(name)
    return out


def definitions(text):
    """Names that a source defines in anonymous namespaces outside other scopes, with what must be the same twice or None."""
    inside = False
    for line in text.split("\n"):
        if line == "namespace {":
            inside = True
        elif line == "}  // namespace":
            inside = False
        elif inside and line[:1] not in ("", " ", "}", "/", "#"):
            if alias := re.match(r"using (\w+) = (.*);", line):
                yield alias.group(1), alias.group(2)
            elif constant := CONSTANT.match(line):
                yield constant.group(1), None
                yield from ((name, None) for name in MORE.findall(line))
            elif found := TYPE.match(line) or FUNCTION.match(line):
                yield found.group(1), None


def main():
    targets = sources()
    assert len(targets) > 20 and len(targets["lehr_methods"]) > 50, {t: len(s) for t, s in targets.items()}
    count, failed = 0, False
    for target, paths in sorted(targets.items()):
        first = {}
        for path in sorted(paths):
            for name, same in definitions(read(path)):
                count += 1
                other, meaning = first.setdefault(name, (path, same))
                if other != path and (same is None or meaning != same):
                    print(f"{path}: {name.split('(')[0]} is defined in {other}, too, and {target} compiles both as one")
                    failed = True
    assert count > 2000, count
    print(f"{count} names in {len(targets)} targets")
    sys.exit(failed)


main()
