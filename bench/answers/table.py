#!/usr/bin/env python3
"""A Markdown table of what answers.py wrote: seconds of other programs over Lehr's, at the quality of each row; --csv has every side.

The peer of a row is the one with the fewest seconds among those that are not worse than Lehr, or the best one where all are. Bold: Lehr is
worse than that peer, or its standard errors or coverage are off by more than a tenth.

usage: table.py FILE.json ... [--clock cpu|wall] [--csv]   of several files the last one that has a row counts
"""
import argparse
import json
import math
import statistics


def better(row, a, b):
    """Whether quality a is better than b by more than the slack of the row."""
    return (a - b) * (1 if row["higher"] else -1) > row["slack"]


def value(side):
    return side["quality"]["value"]


def peer_of(row, clock):
    """(name, side) of the peer of this row, or None."""
    peers = [(name, side) for name, side in row["sides"].items() if not name.startswith("lehr") and not side["failure"]]
    lehr = row["sides"]["lehr"]
    if not peers:
        return None
    equal = [p for p in peers if lehr["failure"] or not better(row, value(lehr), value(p[1]))]
    if equal:
        return min(equal, key=lambda p: statistics.median(p[1][clock]))
    return max(peers, key=lambda p: value(p[1]) * (1 if row["higher"] else -1))


def ratio(x):
    return f"{x:.2g}" if x < 1 else f"{x:.1f}" if x < 20 else f"{x:.0f}"


def number(side):
    """The quality, with the ratio of standard errors or the share that intervals of 90 % cover, bold if off by more than a tenth."""
    text = f"{value(side):.3f}"
    for name, right in {"sd": 1.0, "cover": 0.9}.items():
        if name in side["quality"]:
            x = side["quality"][name]
            more = f"sd {x:.2f}" if name == "sd" else f"{x:.0%} covered"
            text += f", {more}" if abs(math.log(x / right)) < 0.1 else f", **{more}**"
    return text


def over(side, lehr, seconds):
    """Seconds of a side over those of Lehr."""
    return ratio(statistics.median(side[seconds]) / statistics.median(lehr))


def cells(row, clock):
    """The cells of a row after its title."""
    if row.get("failure"):
        return [row["failure"], "", "", "", "", ""]
    lehr, single, found = row["sides"]["lehr"], row["sides"]["lehr --search none"], peer_of(row, clock)
    peer = [f"{found[0]}: {number(found[1])}"] if found else []
    if found and not lehr["failure"] and better(row, value(lehr), value(found[1])):
        peer[0] += " (worse)"
    peer += [f"{name}: {side['failure']}" for name, side in row["sides"].items() if side["failure"] and not name.startswith("lehr")]
    if lehr["failure"]:
        return [row["measure"], f"**{lehr['failure']}**", "; ".join(peer), "", "", ""]
    worse = found and better(row, value(found[1]), value(lehr))
    ours = f"**{number(lehr)}**" if worse else number(lehr)
    ours += "" if lehr.get("status", "converged") == "converged" else f" ({lehr['status']})"
    alone = single["failure"] or over(single, lehr[clock], clock)
    if not single["failure"] and better(row, value(lehr), value(single)):
        alone += f" (worse: {value(single):.3f})"
    ratios = [over(found[1], lehr[clock], clock), over(found[1], lehr[clock], "fit") if clock == "cpu" else ""] if found else ["", ""]
    return [row["measure"], ours, "; ".join(peer), *ratios, alone]


def table(rows, clock):
    head = ["row", "quality", "Lehr", "peer", "peer / Lehr", "fitting call / Lehr", "`--search none` / Lehr"]
    lines = [head, ["---"] * len(head), *([f"`{row['name']}`", *cells(row, clock)] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def every_side(rows):
    """CSV lines of all sides: medians of seconds, and the quality or why there is none."""
    lines = ["row,side,cpu,wall,fitting_call_cpu,quality,sd_ratio,covered,sweeps,status"]
    for row in rows:
        for name, side in row["sides"].items():
            seconds = [f"{statistics.median(side[clock]):.3f}" if side.get(clock) else "" for clock in ("cpu", "wall", "fit")]
            quality = [f"{side['quality'][key]:.6g}" if key in side.get("quality", {}) else "" for key in ("value", "sd", "cover")]
            status = side["failure"] or side.get("status", "")
            lines.append(",".join([row["name"], f'"{name}"', *seconds, *quality, str(side.get("sweeps", "")), f'"{status}"']))
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].strip())
    parser.add_argument("files", nargs="+")
    parser.add_argument("--clock", choices=["cpu", "wall"], default="cpu")
    parser.add_argument("--csv", action="store_true")
    options = parser.parse_args()
    rows = {}
    for path in options.files:
        with open(path) as f:
            rows |= {row["name"]: row for row in json.load(f)["rows"]}
    print(every_side(rows.values()) if options.csv else table(rows.values(), options.clock))


if __name__ == "__main__":
    main()
