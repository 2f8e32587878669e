"""Markdown as GitHub reads it, to HTML, with colours for models and a table of contents; and the text of HTML by its headings."""
import html
import importlib.util
import re
import unicodedata
from html.parser import HTMLParser
from pathlib import Path

import markdown

try:
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
except ImportError:  # Models are plain text then.
    highlight = None

_LIST = re.compile(r"^\s*([*+-]|\d+\.) ")


def slug(heading, _separator="-"):
    """The anchor of a heading: lower case, no punctuation, a hyphen for a space."""
    text = unicodedata.normalize("NFC", re.sub(r"<[^>]*>", "", heading)).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def _lists_apart(text):
    """A blank line before every list that follows a line of text."""
    out, fenced, before = [], False, ""
    for line in text.splitlines():
        begins = _LIST.match(line) and before.strip() and not _LIST.match(before) and not before.startswith(" ")
        if begins and not fenced and not before.startswith(("|", "#")):
            out.append("")
        if line.lstrip().startswith("```"):
            fenced = not fenced
        out.append(line)
        before = line
    return "\n".join(out)


def _lexer():
    """The lexer of the Python package, from its file: the package itself needs a library that may not be built."""
    path = Path(__file__).parents[2] / "python/lehr/lexer.py"
    spec = importlib.util.spec_from_file_location("lehr_lexer", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.LehrLexer(stripnl=False)


def coloured(model):
    """The text of a model as HTML, in colours where Pygments is installed."""
    return highlight(model, _lexer(), HtmlFormatter(nowrap=True)) if highlight else html.escape(model)


def _colour_models(made):
    return re.sub(r'(<code class="language-lehr">)(.*?)(</code>)', lambda m: m[1] + coloured(html.unescape(m[2])) + m[3], made, flags=re.S)


def _on_this_page(tokens):
    """Links to the sections of a page, of at least three."""
    sections = [s for t in tokens for s in (t["children"] if t["level"] == 1 else [t])]
    if len(sections) < 3:
        return ""
    rows = "".join(f'<li><a href="#{s["id"]}">{s["name"]}</a></li>' for s in sections)
    return f'<nav class="toc" aria-label="On this page"><ul>{rows}</ul></nav>'


def from_markdown(text):
    reader = markdown.Markdown(extensions=["tables", "fenced_code", "toc", "sane_lists"], tab_length=2,
                               extension_configs={"toc": {"slugify": slug}})
    made = _colour_models(reader.convert(_lists_apart(text)))
    made = made.replace("</h1>", "</h1>\n" + _on_this_page(reader.toc_tokens), 1)
    return re.sub(r"(<table>.*?</table>)", r'<div class="wide">\1</div>', made, flags=re.S).replace("<table>", '<table class="table">')


class _Sections(HTMLParser):
    """The text under each heading, with its anchor."""

    def __init__(self):
        super().__init__()
        self.found, self._heading = [["", "", ""]], False
        self._drawn = 0

    def handle_starttag(self, tag, attributes):
        if re.fullmatch("h[1-4]", tag):
            anchor = dict(attributes).get("id")
            self.found.append(["#" + anchor if anchor and tag != "h1" else "", "", ""])
            self._heading = True
        elif tag in ("figure", "style", "nav"):
            self._drawn += 1

    def handle_endtag(self, tag):
        if re.fullmatch("h[1-4]", tag):
            self._heading = False
        elif tag in ("figure", "style", "nav"):
            self._drawn -= 1

    def handle_data(self, data):
        if not self._drawn:
            self.found[-1][1 if self._heading else 2] += data


def table(rows):
    """Rows of text, the first of them the heads, as a table."""
    cells = ["".join(f"<{tag}>{html.escape(c)}</{tag}>" for c in row) for tag, row in zip(["th"] + ["td"] * (len(rows) - 1), rows)]
    return '<div class="wide"><table class="table">' + "".join(f"<tr>{row}</tr>" for row in cells) + "</table></div>"


def sections(made):
    """(anchor, heading, text) of a page."""
    reader = _Sections()
    reader.feed(made)
    return [(anchor, heading.strip(), " ".join(text.split())) for anchor, heading, text in reader.found
            if heading or text.strip()]


def title(made):
    first = re.search(r"<h1[^>]*>(.*?)</h1>", made, re.S)
    return html.unescape(re.sub(r"<[^>]*>", "", first[1])).strip() if first else ""
