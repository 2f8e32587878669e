"""Pictures as SVG: panels with axes, lines, dots, whiskers, bands, contours and images, and a legend above them.

The same calls give the same bytes. Colours are those of reports (compiler/report/report.css), with a ground of their own, and follow
the colour scheme of the reader. Lengths are in units of the view box; coordinates are rounded to tenths.
"""
import html
import math

import numpy as np

LIGHT = {"paper": "#fdfdfb", "ink": "#1d2127", "quiet": "#5d6672", "rule": "#d9dce1", "c0": "#1f62b3", "c1": "#c4531a", "c2": "#1f8a54",
         "c3": "#8a3fa6", "c4": "#9a7400", "c5": "#c02942", "c6": "#0f7f8c", "c7": "#6f6259"}
DARK = {"paper": "#15181d", "ink": "#e4e7eb", "quiet": "#9aa4b1", "rule": "#343a43", "c0": "#6aa9f0", "c1": "#f0935c", "c2": "#5cc893",
        "c3": "#c58be0", "c4": "#d8b63f", "c5": "#f07b8d", "c6": "#53c4d0", "c7": "#b9a99d"}
DASHES = {"line": "", "dash": "6 3", "dot": "1.5 2.5"}
LETTER = 6.7  # of a text of 12 units, about


def colours(scheme):
    return "".join(f".{name}{{color:{value}}}" for name, value in scheme.items())


STYLE = ("<style>text{font:12px system-ui,'DejaVu Sans',sans-serif;fill:currentColor}.b{font-weight:600}path{fill:none;stroke:currentColor;"
         "stroke-linejoin:round}.f{fill:currentColor;stroke:none}.x{shape-rendering:crispEdges}"
         + colours(LIGHT) + "@media(prefers-color-scheme:dark){" + colours(DARK) + "}</style>")


def number(v):
    """Without trailing zeros, rounded to tenths."""
    text = f"{v:.1f}".rstrip("0").rstrip(".").replace("-0.", "-.")
    return "0" if text in ("0", "-0") else text.removeprefix("0")


def label(v, step):
    """Of a tick: as many decimals as the step between ticks needs."""
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    text = f"{v:,.{decimals}f}" if abs(v) >= 10_000 else f"{v:.{decimals}f}"
    return text.replace("-", "−") if float(text.replace(",", "")) else "0"


def ticks(low, high, count):
    """Round numbers between, at most `count` + 1, and a unit that divides them."""
    unit = 10 ** math.floor(math.log10((high - low) / count))
    factor = next(m for m in (1, 2, 2.5, 5, 10) if (high - low) / (unit * m) <= count)
    step = unit * factor
    return [k * step for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)], unit / 10 if factor == 2.5 else step


def fewer(points, tolerance=0.12):
    """The points of a line without those that lie on the line through others (Ramer, Douglas and Peucker)."""
    keep, todo = {0, len(points) - 1}, [(0, len(points) - 1)]
    while todo:
        a, b = todo.pop()
        if b - a < 2:
            continue
        along, away = points[b] - points[a], points[a + 1:b] - points[a]
        length = np.hypot(*along)
        far = np.abs(away @ [along[1], -along[0]]) / length if length > 1e-9 else np.hypot(*away.T)
        k = a + 1 + int(np.argmax(far))
        if far.max() > tolerance:
            keep.add(k)
            todo += [(a, k), (k, b)]
    return points[sorted(keep)]


def path(points, close=False):
    """Through points of the view box, which may be nan where the line is interrupted."""
    out, pen, at = [], False, None
    points = np.asarray(points, dtype=float)
    gaps = np.flatnonzero(~np.isfinite(points).all(1))
    pieces = [fewer(part) if len(part) > 2 and np.isfinite(part).all() else part for part in np.split(points, np.unique([*gaps, *(gaps + 1)]))]
    for p in np.round(10 * np.concatenate(pieces)):
        if not np.isfinite(p).all():
            pen = False
        elif not pen:
            out.append(f"M{number(p[0] / 10)} {number(p[1] / 10)}")
            pen, at = True, p
        elif (p != at).any():
            dx, dy = (number(v / 10) for v in p - at)
            out.append(f"l{dx}{'' if dy.startswith('-') else ' '}{dy}")
            at = p
    return "".join(out) + "z" * close


def contour_lines(z, level):
    """Polylines of a level in units of cells, (row, column): marching squares, ends joined."""
    ends = {}

    def crossing(a, b):
        t = (level - z[a]) / (z[b] - z[a])
        return a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])

    def join(e, f):
        ends.setdefault(e, []).append(f)
        ends.setdefault(f, []).append(e)

    above = z > level
    mixed = above[:-1, :-1].astype(int) + above[1:, :-1] + above[:-1, 1:] + above[1:, 1:]
    for i, j in np.argwhere((mixed > 0) & (mixed < 4)):
        corners = [(i, j), (i, j + 1), (i + 1, j + 1), (i + 1, j)]
        cut = [tuple(sorted((corners[k], corners[(k + 1) % 4]))) for k in range(4) if above[corners[k]] != above[corners[(k + 1) % 4]]]
        if len(cut) == 4 and (np.mean([z[c] for c in corners]) > level) != above[corners[0]]:
            cut = cut[1:] + cut[:1]  # the lines cut off the corners that the middle is unlike
        for k in range(0, len(cut), 2):
            join(cut[k], cut[k + 1])
    lines = []
    while ends:
        e = next((k for k, v in ends.items() if len(v) == 1), next(iter(ends)))
        line = [e]
        while ends.get(e):
            f = ends[e].pop()
            ends[f].remove(e)
            line.append(f)
            for k in (e, f):
                if not ends[k]:
                    del ends[k]
            e = f
        lines.append([crossing(*e) for e in line])
    return lines


class Panel:
    """Axes from `x` to `y`, pairs of limits; `log` of the first. `picture` gives the place."""

    def __init__(self, x, y, title="", xlabel="", ylabel="", log=False, xticks=None, yticks=None, frame=True):
        self.x, self.y, self.title, self.xlabel, self.ylabel, self.log, self.frame = x, y, title, xlabel, ylabel, log, frame
        self.xticks, self.yticks, self.parts = xticks, yticks, []
        self.width = self.height = 0

    def at(self, x, y):
        """Points inside the frame, whose left upper corner is 0."""
        x, y = np.broadcast_arrays(np.atleast_1d(np.asarray(x, dtype=float)), np.asarray(y, dtype=float))
        low, high = np.log(self.x) if self.log else self.x
        u = ((np.log(x) if self.log else x) - low) / (high - low) * self.width
        return np.stack([u, (self.y[1] - y) / (self.y[1] - self.y[0]) * self.height], -1)

    def draw(self, what):
        """`what` is called once the size is known, and gives SVG."""
        self.parts.append(what)

    def line(self, x, y, colour="c0", style="line", width=1.6, opacity=1):
        dash = f' stroke-dasharray="{DASHES[style]}"' if DASHES[style] else ""
        look = f'stroke-width="{width:g}"{dash}' + (f' opacity="{opacity:g}"' if opacity != 1 else "")
        self.draw(lambda: f'<path class="{colour}" {look} d="{path(self.at(x, y))}"/>')

    def rule(self, x=None, y=None, style="dash"):
        """A line across the panel at a value."""
        self.line(self.x if x is None else [x, x], self.y if y is None else [y, y], "quiet", style, 1)

    def dots(self, x, y, colour="c0", radius=2.6, ring=False):
        def made():
            r, look = number(radius), f'class="{colour}"' if ring else f'class="f {colour}"'
            return f'<path {look} d="' + "".join(
                f"M{number(u - radius)} {number(v)}a{r} {r} 0 1 0 {number(2 * radius)} 0a{r} {r} 0 1 0 {number(-2 * radius)} 0"
                for u, v in self.at(x, y)) + '"/>'
        self.draw(made)

    def whiskers(self, x, low, high, colour="c0"):
        self.draw(lambda: f'<path class="{colour}" stroke-width="1.3" d="' + "".join(
            f"M{number(u)} {number(v)}V{number(w)}" for (u, v), (_, w) in zip(self.at(x, low), self.at(x, high))) + '"/>')

    def band(self, x, low, high, colour="c0", opacity=0.2):
        self.draw(lambda: f'<path class="f {colour}" opacity="{opacity}" d="'
                  f'{path(np.concatenate([self.at(x, low), self.at(x, high)[::-1]]), True)}"/>')

    def contours(self, xs, ys, z, levels, colour="c0", style="line", width=1.2, opacity=1):
        """`z` by (x, y), on even grids."""
        for level in levels:
            points = []
            for line in contour_lines(z, level):
                i, j = np.array(line).T
                points += [*zip(np.interp(i, range(len(xs)), xs), np.interp(j, range(len(ys)), ys)), (np.nan, np.nan)]
            if points:
                self.line(*np.array(points).T, colour, style, width, opacity)

    def walk(self, x, y, colour="c0", width=1.0):
        """Lines through whole numbers, a list for each: short to write, since steps are of one or two digits."""
        def made():
            (a, b), (u, v) = self.at([0, 1], [0, 1])
            steps = []
            for xs, ys in zip(x, y):
                steps.append(f"M{xs[0]} {ys[0]}" + "".join(f"l{p} {q}" if p else f"v{q}" for p, q in zip(np.diff(xs), np.diff(ys))))
            return (f'<path class="{colour}" stroke-width="{width:g}" vector-effect="non-scaling-stroke" '
                    f'transform="matrix({u - a:.5g} 0 0 {v - b:.5g} {a:.5g} {b:.5g})" d="{"".join(steps)}"/>')
        self.draw(made)

    def text(self, x, y, words, colour="ink", anchor="start", dx=0, dy=4):
        def made():
            u, v = self.at(x, y)[0]
            return f'<text class="{colour}" x="{number(u + dx)}" y="{number(v + dy)}" text-anchor="{anchor}">{html.escape(words)}</text>'
        self.draw(made)

    def image(self, values, colour="ink", levels=8):
        """Rows of values from 0 to 1 over the whole panel, darker the larger."""
        def made():
            shade = np.round(np.clip(values, 0, 1) * levels).astype(int)
            rows, columns = shade.shape
            out = [f'<g transform="scale({self.width / columns:.4g} {self.height / rows:.4g})" class="x {colour}">']
            for s in range(1, levels + 1):
                strips = []
                for i, row in enumerate(shade == s):
                    edges = np.flatnonzero(np.diff(np.concatenate([[0], row.astype(int), [0]])))
                    strips += [f"M{a} {i}.5h{b - a}" for a, b in zip(edges[::2], edges[1::2])]
                if strips:
                    out.append(f'<path opacity="{s / levels:.3g}" d="{"".join(strips)}"/>')
            return "".join(out) + "</g>"
        self.draw(made)

    def svg(self, left, top):
        """The panel with its frame at a place of the picture."""
        out, w, h = [f'<g transform="translate({number(left)} {number(top)})">'], self.width, self.height
        if self.frame:
            for t, name in self.marks(self.x, self.xticks, w / 55):
                u = self.at(t, self.y[0])[0, 0]
                out.append(f'<path class="rule" d="M{number(u)} 0V{number(h)}"/><text class="quiet" x="{number(u)}" y="{number(h + 15)}" '
                           f'text-anchor="middle">{name}</text>')
            for t, name in self.marks(self.y, self.yticks, h / 32):
                v = self.at(self.x[0], t)[0, 1]
                out.append(f'<path class="rule" d="M0 {number(v)}H{number(w)}"/><text class="quiet" x="-6" y="{number(v + 4)}" '
                           f'text-anchor="end">{name}</text>')
        out.append(f'<svg width="{number(w)}" height="{number(h)}" style="overflow:hidden">' if self.frame else "<g>")
        out += [part() for part in self.parts]
        out.append("</svg>" if self.frame else "</g>")
        out.append(f'<path class="quiet" d="M0 0H{number(w)}V{number(h)}H0z"/>')
        up = -6
        for words, look in ((self.ylabel, "quiet"), (self.title, "ink b")):
            if words:
                out.append(f'<text class="{look}" x="0" y="{up}">{html.escape(words)}</text>')
                up -= 16
        if self.xlabel:
            out.append(f'<text class="quiet" x="{number(w / 2)}" y="{number(h + (31 if self.frame else 15))}" text-anchor="middle">'
                       f"{html.escape(self.xlabel)}</text>")
        return "".join(out) + "</g>\n"

    def marks(self, limits, given, count):
        """Values and texts of ticks: round numbers, `given` ones, or a dictionary of texts."""
        if given is None:
            values, unit = ticks(*limits, max(2, int(count)))
            return [(v, label(v, unit)) for v in values]
        return [(v, html.escape(str(s))) for v, s in (given.items() if isinstance(given, dict) else ((v, f"{v:g}".replace("-", "−")) for v in given))]


class Picture:
    """Panels row by row, each of the size `size`; `key` has the entries of the legend: (text, colour, "line", "dash", "dot" or "dots").
    `numbers` are what it shows, by name, for its description."""

    def __init__(self, panels, columns, size, key=(), left=44, gap=16, numbers=None):
        self.panels, self.columns, self.size, self.key, self.left, self.gap = panels, columns, size, key, left, gap
        self.numbers = "; ".join(f"{name}: {value:.5g}" for name, value in (numbers or {}).items())

    def legend(self, width):
        """Its SVG and its height."""
        out, u, v = [], 8, 18
        for words, colour, style in self.key:
            need = 34 + LETTER * len(words)
            if u > 8 and u + need > width:
                u, v = 8, v + 18
            if style == "dots":
                out.append(f'<circle class="f {colour}" cx="{number(u + 10)}" cy="{v - 4}" r="3"/>')
            elif style == "area":
                out.append(f'<path class="f {colour}" opacity=".3" d="M{number(u)} {v - 9}h20v10h-20z"/>')
            else:
                dash = f' stroke-dasharray="{DASHES[style]}"' if DASHES[style] else ""
                out.append(f'<path class="{colour}" stroke-width="2"{dash} d="M{number(u)} {v - 4}h20"/>')
            out.append(f'<text class="ink" x="{number(u + 25)}" y="{v}">{html.escape(words)}</text>')
            u += need
        return "".join(out) + "\n", v + 8 if self.key else 6

    def write(self, file, title, command):
        """The picture, with what it shows and how it is drawn."""
        w, h = self.size
        above = max(16 * bool(p.title) + 16 * bool(p.ylabel) for p in self.panels) + 6
        below = max((18 if p.frame else 2) + 16 * bool(p.xlabel) for p in self.panels)
        width = self.columns * (self.left + w) + (self.columns - 1) * self.gap + 20
        rows = -(-len(self.panels) // self.columns)
        legend, top = self.legend(width)
        height = top + rows * (above + h + below) + 6
        words = ". ".join(filter(None, [command, self.numbers]))
        out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {number(width)} {number(height)}" role="img"><title>{html.escape(title)}</title>'
               f"<desc>{html.escape(words)}</desc>{STYLE}"
               f'<path class="f paper" d="M0 0H{number(width)}V{number(height)}H0z"/>\n', legend]
        for k, panel in enumerate(self.panels):
            panel.width, panel.height = w, h
            row, column = divmod(k, self.columns)
            out.append(panel.svg(self.left + column * (self.left + w + self.gap), top + row * (above + h + below) + above))
        with open(file, "w", encoding="utf-8") as f:
            f.write("".join(out) + "</svg>\n")
