"""What pages have that is made by lehr: `<!-- families -->`, the table of distributions from its rows, `<!-- commands -->`, the help
of every command that the page names, and
`<!-- picture: DIR WHICH -->`, a part of the report of a fit of the same page, whose commands are run for it."""
import copy
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

_PICTURE = re.compile(r"<!-- picture: (\S+) (\S+) -->")


def commands(text):
    """The `lehr` commands of the shell blocks of a page."""
    for block in re.findall(r"```sh\n(.*?)```", text, re.S):
        for line in block.replace("\\\n", " ").splitlines():
            if line.startswith("lehr "):
                yield shlex.split(line, comments=True)[1:]


def drawn(element):
    """Whether it is a picture, or pictures side by side."""
    return element.tag == "figure" or bool({"beside", "flow"} & set((element.get("class") or "").split()))


def figure(report, which):
    """Of a section by its id, or of a variable by its name, the first pictures."""
    tree = ElementTree.fromstring(Path(report).read_text(encoding="utf-8").removeprefix("<!DOCTYPE html>\n"))
    for part in tree.iter():
        if which in (part.get("id"), part.get("data-variable")):
            found = copy.deepcopy(next((e for e in part.iter() if drawn(e)), part))
            found.tail = None
            text = ElementTree.tostring(found, encoding="unicode", method="html")
            return text if found.tag == "figure" else f"<figure>{text}</figure>"
    raise SystemExit(f"{report}: it has no part '{which}'")


class Filler:
    """Puts into the text of a page what it asks for. Reports go to the folder `reports` beside the pages."""

    def __init__(self, lehr, out):
        self.lehr, self.out = lehr, Path(out)

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory()
        for name in ("models", "docs"):
            os.symlink(os.path.abspath(name), os.path.join(self._folder.name, name))
        return self

    def __exit__(self, *_):
        self._folder.cleanup()

    def _run(self, *words):
        done = subprocess.run([self.lehr, *words], cwd=self._folder.name, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"lehr {shlex.join(words)}\n{done.stderr}")
        return done.stdout

    def _families(self, _match):
        first, *blocks = self._run("families").strip().split("\n\n")
        rows = []
        for block in blocks:
            name = re.match(r"\w+", block)[0]
            rows.append(f"## {name}\n\n```\n{block}\n```\n")
        return first + "\n\n" + "\n".join(rows)

    def _commands(self, match):
        names = dict.fromkeys(re.findall(r"`lehr ([a-z-]+)", match.string[: match.start()].partition("|---|")[2]))
        parts = [f"## lehr {name}\n\n```\n{self._run(name, '--help').strip()}\n```\n" for name in names]
        return "\n".join(parts)

    def _picture(self, match):
        directory, which = match[1], match[2]
        report = os.path.join(self._folder.name, directory, "report.html")
        name = f"reports/{Path(directory).name}.html"
        to = self.out / "docs" / name
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(report, to)
        return f'{figure(report, which)}\n\n[The whole report]({name})'

    def __call__(self, text):
        if _PICTURE.search(text):
            for words in commands(text):
                self._run(*words, *(["--quiet"] if words[0] == "fit" else []))
        text = re.sub(r"<!-- commands -->", self._commands, _PICTURE.sub(self._picture, text))
        return re.sub(r"<!-- families -->", self._families, text)
