#!/usr/bin/env python3
"""The prose of README.md, CONTRIBUTING.md and docs/: no sentence above 40 words, a mean below 20 on every page, at most 45,000 words in docs/
without the tables that scripts write, and none of the words that the glossary has retired. Tables, code, headings and pictures are not prose.

Identifiers of compiler/ and runtime/ do not contain retired words either, and texts in their code (messages, help) no retired phrases.

usage: words_test.py [--table], from the root of the repository; --table prints what was measured, page by page
"""
import re
import sys
from pathlib import Path

LONGEST, MEAN, TOTAL = 40, 20, 45_000
# Tables of results that scripts write, as the CSV files beside them: their words are not counted.
WRITTEN = {"docs/results/sources.md"}
# A page that cannot satisfy a rule today, the rule, and why.
EXCEPTIONS = {}
# Words that stand for a standard term: the term is to be used. docs/glossary.md has the terms.
RETIRED = {
    r"turns?|turned over": "iteration, step; transposed", r"settled?|settles": "converged, fixed", r"rungs?": "intermediate representation, stage",
    r"rooms?": "component, capacity", r"(is|are|was|were) said": "reported", r"told from": "distinguished", r"creeps?": "slow convergence",
    r"caveats?|remarks?": "warning, note", r"hired?": "start", r"arms?": "candidate, run", r"shared? out": "distribute, divide",
    r"shares of the items": "chunks", r"streamed categor\w+": "fused responsibilities", r"whomever": "anyone", r"laws": "marginals",
}

# Words that no identifier contains, and the terms that stand for them.
RETIRED_NAMES = {
    "settle": "resolve, apply, converge", "settles": "converges", "laws": "marginals, posterior moments", "growth": "unseen groups",
    "creeps": "converges slowly", "leap": "extrapolation", "leaps": "extrapolations", "bring": "load", "supply": "source", "hire": "start",
    "turn": "iteration, step", "turns": "iterations, steps", "settled": "converged, fixed", "taken": "pending, occupied, used",
    "kept": "cached, saved, retained", "apart": "separate, alone", "known": "observed, constant", "said": "reported, stated",
    "caveat": "note", "caveats": "notes", "remark": "note", "remarks": "notes", "room": "capacity, free component", "rooms": "capacity",
    "informed": "d-connected", "told": "distinguished", "waiting": "latency, pending", "asked": "requested", "unread": "never read",
    "standing": "shard state", "surroundings": "context", "caution": "warning", "cautions": "warnings", "meant": "used length",
}
# Identifiers that may contain one, and why.
NAMES_LEFT = {"leap_after": "the option --leap-after"}
TOKEN = re.compile(r"""R"([^()\\ ]*)\(.*?\)\1"|//[^\n]*|(?P<text>"(?:\\.|[^"\\\n])*")|'(?:\\.|[^'\\\n])+'|\b\d[\w'.]*|(?P<name>[A-Za-z_]\w*)""", re.S)


def names_and_texts():
    """Yields each source of compiler/ and runtime/ with its identifiers and its texts in quotes."""
    for source in sorted(p for folder in ("compiler", "runtime") for p in Path(folder).rglob("*") if p.suffix in (".cpp", ".h")):
        tokens = list(TOKEN.finditer(source.read_text(encoding="utf-8")))
        yield source, {t["name"] for t in tokens if t["name"]}, [t["text"] for t in tokens if t["text"]]


def problems_of_code():
    for source, names, texts in names_and_texts():
        for name in sorted(names - set(NAMES_LEFT)):
            for word in re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower().split("_"):
                if word in RETIRED_NAMES:
                    yield f"{source}: '{name}' has the word '{word}', which is retired ({RETIRED_NAMES[word]})"
        for text in texts:
            for phrase, term in RETIRED.items():
                if " " in text and (found := re.search(rf"\b(?:{phrase})\b", text)):
                    yield f"{source}: '{found[0]}' is retired ({term}): {text[:100]}"


def prose(text):
    """The paragraphs and list items of a page, as lists of lines without markup."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.S | re.M)
    text = re.sub(r"(?<=\n\n)(?:    .*\n|\n(?=    ))+", "\n", text)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    text = re.sub(r"^!\[.*$|^#.*$|^\|.*$", "", text, flags=re.M)
    text = re.sub(r"`[^`\n]*`", "code", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    for part in re.split(r"\n\s*\n|\n(?=\s*(?:[*+-]|\d+\.) )", text):
        part = re.sub(r"^\s*(?:[*+-]|\d+\.) ", "", part).strip()
        if part:
            yield " ".join(part.split())


def sentences(text):
    for part in prose(text):
        for sentence in re.split(r"(?<=[.!?:;])[)\"*_]*\s+(?=[\"(*_]*[A-Z0-9])|(?<=[.!?])[)\"*_]*\s+(?=code)", part):
            words = re.findall(r"[^\W_][\w'’./-]*", sentence)
            if words:
                yield len(words), sentence


def pages():
    return [Path("README.md"), Path("CONTRIBUTING.md"), *sorted(Path("docs").rglob("*.md"))]


def problems(page, text):
    lengths = list(sentences(text))
    mean = sum(n for n, _ in lengths) / max(len(lengths), 1)
    skip = EXCEPTIONS.get(str(page), {})
    if mean >= MEAN and "mean" not in skip:
        yield f"{page}: sentences have {mean:.1f} words on average"
    for n, sentence in lengths:
        if n > LONGEST and "longest" not in skip:
            yield f"{page}: {n} words in a sentence: {sentence}"
    if "retired" not in skip:
        for part in prose(text):
            for word, term in RETIRED.items():
                if found := re.search(rf"\b(?:{word})\b", part):
                    yield f"{page}: '{found[0]}' is retired ({term}): {part[max(0, found.start() - 40):found.end() + 40]}"


def main():
    found, total = [], 0
    for page in pages():
        text = page.read_text(encoding="utf-8")
        words = len(text.split())
        total += words if page.parts[0] == "docs" and str(page) not in WRITTEN else 0
        found += problems(page, text)
        if "--table" in sys.argv:
            lengths = [n for n, _ in sentences(text)] or [0]
            print(f"{words:6} words  longest {max(lengths):3}  mean {sum(lengths) / len(lengths):4.1f}  {page}")
    found += problems_of_code()
    if total > TOTAL:
        found.append(f"docs/ has {total} words, more than {TOTAL}")
    print("\n".join(found) or f"{len(pages())} pages, {total} words in docs/")
    sys.exit(1 if found else 0)


main()
