#!/usr/bin/env python3
"""The documentation as a static site: every page of README.md and docs/, and what they link to, with a search that needs
no server. Called by scripts/docs.

usage: build.py LEHR DIRECTORY, from the root of the repository
"""
import csv
import html
import json
import os
import re
import shutil
import sys
from pathlib import Path
from string import Template

import generated
import pages

SITE = Path(__file__).parent
PICTURES = (".svg", ".png")
# What a link to a folder does not show.
HIDDEN = re.compile(r"^\.|^__pycache__$|^CMakeLists\.txt$")


def target(source):
    """Where a file or folder of the repository is in the site."""
    if source == "README.md":
        return "index.html"
    if os.path.isdir(source):
        return f"{source}/index.html"
    if source.endswith(".md"):
        return source[: -len(".md")] + ".html"
    return source if source.endswith(PICTURES) else source + ".html"


def listing(folder):
    rows = []
    for name in sorted(os.listdir(folder)):
        if HIDDEN.match(name):
            continue
        path = os.path.join(folder, name)
        text = html.escape(name + "/" * os.path.isdir(path))
        rows.append(f'<li><a href="{html.escape(name)}">{text}</a></li>' if shown(path) else f"<li>{text}</li>")
    return f"<h1>{html.escape(folder)}/</h1>\n<ul>{''.join(rows)}</ul>"


def shown(path):
    """Whether there is something to read."""
    if os.path.isdir(path) or path.endswith((".md", *PICTURES)):
        return True
    with open(path, "rb") as file:
        start = file.read(200_001)
    return len(start) <= 200_000 and b"\0" not in start and not start.startswith(b"\x1f\x8b")


def body(source, fill):
    """The contents of a page, links as in the source."""
    if os.path.isdir(source):
        return listing(source)
    text = Path(source).read_text(encoding="utf-8")
    if source.endswith(".md"):
        return pages.from_markdown(fill(text))
    if source.startswith("docs/results/"):
        return f"<h1>{html.escape(source)}</h1>\n{pages.table(list(csv.reader(text.splitlines())))}"
    shown_text = pages.coloured(text) if source.endswith(".lehr") else html.escape(text)
    return f"<h1>{html.escape(source)}</h1>\n<pre><code>{shown_text}</code></pre>"


def contents(of_index):
    """The groups of docs/README.md with their links, (group, [(path, title)]): the contents of every page."""
    groups = [("", [("README.md", "Lehr")])]
    for part in of_index.split("\n## ")[1:]:
        links = re.findall(r"^\* \[([^\]]+)\]\(([\w/-]+\.md)\)", part, re.M)
        groups.append((part.partition("\n")[0], [("docs/" + path, title) for title, path in links]))
    return groups


class Site:
    def __init__(self, out):
        self.out, self.index = Path(out), []
        self.template = Template((SITE / "page.html").read_text(encoding="utf-8"))
        self.contents = contents(Path("docs/README.md").read_text(encoding="utf-8"))

    def relink(self, source, made, wanted):
        """Links between files as links between pages; what they lead to is wanted."""
        here = os.path.dirname(target(source)) or "."
        folder = source if os.path.isdir(source) else os.path.dirname(source)

        def page_of(match):
            link, _, anchor = html.unescape(match[2]).partition("#")
            if re.match(r"[a-z]+:", link) or not link or link.startswith("reports/"):
                return match[0]
            path = os.path.normpath(os.path.join(folder, link))
            if not os.path.exists(path):
                raise SystemExit(f"{source}: there is no {link}")
            wanted.append(path)
            to = os.path.relpath(target(path), here) + ("#" + anchor if anchor else "")
            return f'{match[1]}="{html.escape(to)}"'

        return re.sub(r'\b(href|src)="([^"]*)"', page_of, made)

    def add(self, source, fill):
        """Writes one page; what it links to."""
        to, wanted = self.out / target(source), []
        to.parent.mkdir(parents=True, exist_ok=True)
        if source.endswith(PICTURES):
            shutil.copy(source, to)
            return wanted
        inner = self.relink(source, body(source, fill), wanted)
        root = os.path.relpath(self.out, to.parent)
        here = []
        for group, links in self.contents:
            rows = [f'<li><a href="{root}/{target(path)}"{" aria-current=page" if path == source else ""}>{html.escape(name)}</a></li>'
                    for path, name in links]
            here.append((f"<h4>{html.escape(group)}</h4>" if group else "") + f'<ul class="contents">{"".join(rows)}</ul>')
        title = pages.title(inner) or source
        to.write_text(self.template.substitute(title=html.escape(title), root=root, contents="\n".join(here), body=inner),
                      encoding="utf-8")
        if source.endswith(".md"):
            self.index += [[target(source) + anchor, title, heading, text]
                           for anchor, heading, text in pages.sections(inner)]
        return wanted

    def finish(self):
        words = json.dumps(self.index, ensure_ascii=False, separators=(",", ":"))
        (self.out / "index.js").write_text(f"const kPages = {words};\n", encoding="utf-8")
        css = Path("compiler/report/report.css").read_text(encoding="utf-8") + (SITE / "site.css").read_text(encoding="utf-8")
        (self.out / "site.css").write_text(css, encoding="utf-8")
        shutil.copy(SITE / "search.js", self.out)


def main():
    lehr, out = os.path.abspath(sys.argv[1]), sys.argv[2]
    site = Site(out)
    queue = ["README.md", *sorted(str(p) for p in Path("docs").rglob("*.md"))]
    done = set()
    with generated.Filler(lehr, site.out) as fill:
        while queue:
            source = queue.pop(0)
            if source in done:
                continue
            done.add(source)
            queue += [path for path in site.add(source, fill) if shown(path)]
    site.finish()
    print(f"{len(done)} pages in {out}; begin with {os.path.join(out, 'index.html')}")


if __name__ == "__main__":
    main()
