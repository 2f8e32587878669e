#!/usr/bin/env python3
"""The table of what the sources say: writes docs/results/sources.md from sources.json, and checks the rows that take seconds.

A row has `source`, `where`, `says`, `lehr` (how Lehr does it), `command`, `published`, `result`, `verdict` and `quick`. The command of a
quick row is `SCRIPT LEHR --only NAME`, which prints numbers as JSON; the row has `numbers` too, some of them with a tolerance.

usage: sources.py                writes the page
       sources.py LEHR --check   runs the quick rows, and compares the page with sources.json; exit code 1 if something differs
"""
import argparse
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PAGE = os.path.join(ROOT, "docs/results/sources.md")
VERDICTS = ["reproduced", "reproduced in part", "not reproduced", "out of scope"]
FIELDS = {"source", "where", "says", "lehr", "command", "published", "result", "verdict", "quick"}
INTRO = """# The sources, row by row

Each figure, table, algorithm, claim and exercise of the texts behind Lehr: what it says, the command that shows it, and what came out.
[Pictures](pictures.md); [corrections of the texts](../../bench/experiments/errata.md); [experiments](../experiments.md) have the settings.

Commands run from the root of the repository. `LEHR` is the program, `ctest` means `ctest --test-dir build`, and scripts run by
`/usr/bin/python3`. Rows with * are checked by CI, by `bench/experiments/sources.py LEHR --check`; so are those with `ctest`. The others take
minutes to hours. The page is written by `bench/experiments/sources.py` from `sources.json`.

"""


def rows():
    with open(os.path.join(HERE, "sources.json"), encoding="utf-8") as f:
        return json.load(f)


def problems(table):
    """What is missing or wrong in the table itself."""
    for number, row in enumerate(table, 1):
        name = f"row {number} ({row.get('source')}, {row.get('where')})"
        if missing := FIELDS - row.keys():
            yield f"{name}: no {', '.join(sorted(missing))}"
            continue
        verdict, _, reason = row["verdict"].partition(": ")
        if verdict not in VERDICTS:
            yield f"{name}: the verdict is '{row['verdict']}'"
        if verdict in VERDICTS[2:] and not reason:
            yield f"{name}: '{verdict}' has no reason"
        if verdict in VERDICTS[:2] and not row["command"]:
            yield f"{name}: no command"
        if row["quick"] != ("numbers" in row):
            yield f"{name}: quick rows have numbers, the others none"
        for path in re.findall(r"\b(?:bench|docs|models|tests)/[\w/]+\.\w+", row["command"]):
            if not os.path.exists(os.path.join(ROOT, path)):
                yield f"{name}: there is no {path}"


def cell(text):
    return text.replace("|", "\\|")


def page(table):
    """The text of docs/results/sources.md."""
    sources = list(dict.fromkeys(row["source"] for row in table))
    count = {s: [sum(r["source"] == s and r["verdict"].split(": ")[0] == v for r in table) for v in VERDICTS] for s in sources}
    lines = [INTRO + "| source | rows | " + " | ".join(VERDICTS) + " |", "|---" * (len(VERDICTS) + 2) + "|"]
    lines += [f"| {s} | {sum(n)} | " + " | ".join(map(str, n)) + " |" for s, n in count.items()]
    totals = [sum(n) for n in zip(*count.values())]
    lines.append(f"| all | {sum(totals)} | " + " | ".join(map(str, totals)) + " |")
    for source in sources:
        lines += ["", f"## {source}", "", "| where | what it says | Lehr | published | here | verdict |", "|---|---|---|---|---|---|"]
        for row in table:
            if row["source"] == source:
                how = "; ".join(filter(None, [row["lehr"], f"`{row['command']}`" if row["command"] else ""]))
                cells = [row["where"] + " *" * row["quick"], row["says"], how, row["published"], row["result"], row["verdict"]]
                lines.append("| " + " | ".join(map(cell, cells)) + " |")
    return "\n".join(lines) + "\n"


def outcomes(lehr, quick):
    """What the functions of the quick rows print, by script and name: `SCRIPT LEHR --only NAME`, one process for each script."""
    names = {}
    for row in quick:
        script, _, _, name = row["command"].split()
        names.setdefault(script, []).append(name)
    found = {}
    for script, wanted in names.items():
        command = [sys.executable, script, lehr, "--only", *dict.fromkeys(wanted)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        for line in done.stdout.splitlines():
            found |= {(script, name): values for name, values in json.loads(line).items()}
        if done.returncode:
            print(f"{script}: exit {done.returncode}\n{done.stderr}")
    return found


def check(table, lehr):
    """Messages about quick rows whose numbers are not the recorded ones."""
    quick = [row for row in table if row["quick"]]
    found = outcomes(lehr, quick)
    for row in quick:
        script, _, _, function = row["command"].split()
        values = found.get((script, function), {})
        for name, (recorded, tolerance) in row["numbers"].items():
            value = values.get(name)
            if value is None or not abs(value - recorded) <= tolerance:
                yield f"{row['source']}, {row['where']}: {name} is {value}, not {recorded}: {row['command']}"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("lehr", nargs="?")
    p.add_argument("--check", action="store_true")
    o = p.parse_args()
    table = rows()
    found = list(problems(table))
    if o.check:
        if not o.lehr:
            p.error("--check needs LEHR")
        with open(PAGE, encoding="utf-8") as f:
            if f.read() != page(table):
                found.append("docs/results/sources.md is not what sources.json gives: run bench/experiments/sources.py")
        found += check(table, os.path.abspath(o.lehr))
    elif not found:
        with open(PAGE, "w", encoding="utf-8") as f:
            f.write(page(table))
    print("\n".join(found) or f"{len(table)} rows, {sum(row['quick'] for row in table)} quick")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
