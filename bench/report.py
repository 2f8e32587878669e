"""Pairs of measurements: taken in turn, printed, written as JSON, drawn as bars of ratios on a logarithmic axis."""
import math
import os
import platform
import statistics
from html import escape


def pairs(title, sides, rounds, differences=None):
    """Measures every side in each round, ours first, and prints medians and the ratios within rounds, to both of ours where a
    side has it; a side is a function that gives CPU seconds, or None where it cannot run."""
    print(title, flush=True)
    seen = {name: [] for name in sides}
    for _ in range(rounds):
        for name, measure in sides.items():
            if None not in seen[name]:
                seen[name].append(measure())
    runs = {name: values for name, values in seen.items() if None not in values}
    ours = next(iter(runs.values()))
    result = {"title": title, "sides": {}}
    for name in sides:
        if name not in runs:
            print(f"  {name:<28} does not run here", flush=True)
            result["sides"][name] = None
            continue
        ratios = [theirs / mine for theirs, mine in zip(runs[name], ours)]
        to_bare = [theirs / mine for theirs, mine in zip(runs[name], runs.get("lehr without ELBOs", []))]
        side = {"seconds": runs[name], "ratio": statistics.median(ratios), "low": min(ratios), "high": max(ratios)}
        if to_bare and not name.startswith("lehr"):
            side["without_elbos"] = statistics.median(to_bare)
        agreement = (differences or {}).get(name)
        note = f"; {side['without_elbos']:.2f} without ELBOs" if "without_elbos" in side else ""
        note += "" if agreement is None else f"; parameters differ by {agreement:.0e}"
        if agreement is not None:
            side["difference"] = agreement
        print(f"  {name:<28} {statistics.median(runs[name]):.5f} CPU s; {side['ratio']:.2f} times ours "
              f"({side['low']:.2f} to {side['high']:.2f}){note}", flush=True)
        result["sides"][name] = side
    return result


def beside_build(title, lehr, options):
    """Sweeps of two builds of Lehr, with an ELBO in each and without."""
    other = lehr.other_build(options.beside)
    return {"with": pairs(f"{title}: ELBOs", {"lehr": lehr.seconds, "other build": other.seconds}, options.rounds),
            "sides": pairs(f"{title}: no ELBOs", {"lehr": lehr.without_elbos, "other build": other.without_elbos}, options.rounds)["sides"]}


def machine():
    """The processor, how many, and how busy they are."""
    with open("/proc/cpuinfo") as f:
        names = [line.split(":")[1].strip() for line in f if line.startswith("model name")]
    with open("/proc/cpuinfo") as f:
        wide = "AVX-512" if "avx512f" in f.read() else "no AVX-512"
    return {"processor": f"{names[0] if names else platform.processor()}, {wide}", "cores": os.cpu_count(),
            "load": os.getloadavg()}


def bars(rows):
    """(row, side, ratio, low, high) of all sides but ours."""
    for row in rows:
        ran = [(name, side) for name, side in row.get("sides", {}).items() if side]
        for name, side in ran[1:]:
            yield row["name"], name, side["ratio"], side["low"], side["high"]


def picture(result):
    """SVG: how many times our CPU seconds each other program takes; beyond the line at 1 ours is the faster."""
    found = list(bars(result["rows"]))
    if not found:
        return None
    least = math.floor(math.log10(min(1, min(b[3] for b in found))) * 2) / 2
    most = math.ceil(math.log10(max(10, max(b[4] for b in found))) * 2) / 2
    left, width, step = 300, 520, 20
    height = 60 + step * len(found)

    def x(ratio):
        return left + width * (math.log10(ratio) - least) / (most - least)

    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 80}" height="{height}" font-family="sans-serif" '
             'font-size="12">', '<rect width="100%" height="100%" fill="white"/>']
    machine_text = f"{result['machine']['processor']}, {result['machine']['cores']} cores"
    lines.append(f'<text x="8" y="18">CPU seconds a sweep, in multiples of ours; {escape(machine_text)}</text>')
    for power in range(math.ceil(least), math.floor(most) + 1):
        at = x(10.0**power)
        colour = "#000" if power == 0 else "#ccc"
        lines.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="30" y2="{height - 22}" stroke="{colour}"/>'
                     f'<text x="{at:.1f}" y="{height - 8}" text-anchor="middle">{10.0**power:g}</text>')
    for i, (row, side, ratio, low, high) in enumerate(found):
        y = 34 + step * i
        start, end = sorted((x(1), x(ratio)))
        lines.append(f'<text x="{left - 8}" y="{y + 12}" text-anchor="end">{escape(f"{row}: {side}")}</text>'
                     f'<rect x="{start:.1f}" y="{y}" width="{max(end - start, 0.5):.1f}" height="14" '
                     f'fill="{"#5b8db8" if ratio >= 1 else "#c8785a"}"/>'
                     f'<line x1="{x(low):.1f}" x2="{x(high):.1f}" y1="{y + 7}" y2="{y + 7}" stroke="#222"/>'
                     f'<text x="{max(x(high), end) + 6:.1f}" y="{y + 12}">{ratio:.3g}</text>')
    return "\n".join([*lines, "</svg>", ""])
