"""Markdown as GitHub reads it, to HTML; and the text of HTML by its headings."""
import html
import re
import unicodedata
from html.parser import HTMLParser

import markdown

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


def from_markdown(text):
    reader = markdown.Markdown(extensions=["tables", "fenced_code", "toc", "sane_lists"], tab_length=2,
                               extension_configs={"toc": {"slugify": slug}})
    made = reader.convert(_lists_apart(text))
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
        elif tag in ("figure", "style"):
            self._drawn += 1

    def handle_endtag(self, tag):
        if re.fullmatch("h[1-4]", tag):
            self._heading = False
        elif tag in ("figure", "style"):
            self._drawn -= 1

    def handle_data(self, data):
        if not self._drawn:
            self.found[-1][1 if self._heading else 2] += data


def sections(made):
    """(anchor, heading, text) of a page."""
    reader = _Sections()
    reader.feed(made)
    return [(anchor, heading.strip(), " ".join(text.split())) for anchor, heading, text in reader.found
            if heading or text.strip()]


def title(made):
    first = re.search(r"<h1[^>]*>(.*?)</h1>", made, re.S)
    return html.unescape(re.sub(r"<[^>]*>", "", first[1])).strip() if first else ""
