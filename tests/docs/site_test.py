#!/usr/bin/env python3
"""The site of scripts/docs: no link in it is broken, every page is reached from the first one, pictures are there, and
where Chromium is, its search finds what a reader looks for without a network. Skipped (77) without python3-markdown.

usage: site_test.py LEHR, from the root of the repository
"""
import html
import json
import os
import re
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

sys.path += [f"{sys.path[0]}/../report", f"{sys.path[0]}/../helpers"]
from browser import CHROMIUM, Browser  # noqa: E402
from lehr_tests import LEHR, read, run  # noqa: E402

# What somebody types, and a page that is to be among the first three found.
QUERIES = {"csv missing values": "docs/data.html", "student": "docs/families.html", "stan": "docs/comparison.html",
           "table to report": "docs/tutorial.html", "parquet": "docs/data.html"}


class Links(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.anchors, self.pictures = [], set(), 0
        self.feed(read(path))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src"):
                self.links.append(unquote(value))
            elif name == "id":
                self.anchors.add(value)
        self.pictures += tag == "figure"


def walk(site):
    """Every page that the first one leads to, with what is on it."""
    pages, queue = {}, [site / "index.html"]
    while queue:
        path = queue.pop()
        if path in pages:
            continue
        pages[path] = Links(path)
        for link in pages[path].links:
            to = Path(os.path.normpath(path.parent / link.partition("#")[0])) if not link.startswith("#") else path
            assert link.startswith(("https:", "data:")) or to.is_file(), f"{path}: there is no {link}"
            if to.suffix == ".html":
                queue.append(to)
    return pages


def check(site):
    pages = walk(site)
    for path, page in pages.items():
        for link in page.links:
            to, _, anchor = link.partition("#")
            if anchor and not link.startswith("https:"):
                file = Path(os.path.normpath(path.parent / to)) if to else path
                assert anchor in pages[file].anchors, f"{path}: {link} leads to no heading"
    made = {p for p in site.rglob("*.html")}
    assert made == set(pages), f"not reached: {made - set(pages)}"
    for source in Path("docs").rglob("*.md"):
        assert site / source.with_suffix(".html") in pages, source
    wanted = read("docs/gallery.md").count("<!-- picture:")
    assert pages[site / "docs/gallery.html"].pictures >= wanted > 5
    rows = json.loads(read(site / "index.js").removeprefix("const kPages = ").rstrip(";\n"))
    assert any(address == "docs/families.html#gamma" and "lgamma(shape)" in text for address, _, _, text in rows)
    assert "language-lehr" in read(site / "index.html") and '<nav class="toc"' in read(site / "docs/language.html")
    assert all(heading in read(site / "index.html") for heading in ("<h4>How to</h4>", "<h4>Reference</h4>", "<h4>Results</h4>"))
    assert any(address == "docs/commands.html#lehr-fit" and "--max-iter" in said for address, _, _, said in rows)
    return len(pages)


def colours(site):
    """Models are coloured where Pygments is installed, by every keyword of the grammar, and keep their text."""
    try:
        import pygments  # noqa: F401
    except ImportError:
        return
    sys.path.insert(0, "docs/site")
    import pages as making
    assert '<span class="kd">model</span>' in read(site / "index.html")
    grammar = read("grammar/Lehr.g4")
    for word in re.findall(r"^[A-Z]\w* : '([a-z]+)' ;", grammar, re.M):
        shown = making.coloured(f"x[n] : {word}")
        assert '<span class="k' in shown, word
    for model in Path("models").glob("*/*.lehr"):
        source = read(model)
        assert html.unescape(re.sub("<[^>]*>", "", making.coloured(source))) == source, model


def search(site, directory):
    browser = Browser(directory)
    try:
        for query, wanted in QUERIES.items():
            events = browser.show(f"file://{site}/docs/report.html")
            type_it = f'field.value = {json.dumps(query)}; field.dispatchEvent(new Event("input"));'
            found = browser.value(type_it + '[...list.querySelectorAll("a")].slice(0, 3).map(a => a.href).join(" ")')
            assert f"/{wanted}" in found, f"{query}: {found}"
            asked = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
            assert all(url.startswith(("file:", "data:")) for url in asked), asked
        browser.ask("Emulation.setDeviceMetricsOverride", width=400, height=900, deviceScaleFactor=1, mobile=False)
        for page in sorted(site.rglob("*.html")):
            events = browser.show(f"file://{page}")
            said = [e for e in events if e["method"] in ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")]
            assert not said, f"{page}: {said}"
            wide = browser.value("document.documentElement.scrollWidth")
            assert wide <= 400, f"{page}: {wide} pixels wide in a window of 400"
    finally:
        browser.close()


def main():
    try:
        import markdown  # noqa: F401
    except ImportError:
        print("skipped: python3-markdown is not installed")
        sys.exit(77)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        site = Path(directory).resolve() / "site"
        run(sys.executable, "docs/site/build.py", LEHR, site)
        print(f"{check(site)} pages")
        colours(site)
        if CHROMIUM:
            search(site, directory)


if __name__ == "__main__":
    main()
