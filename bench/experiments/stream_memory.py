#!/usr/bin/env python3
"""Peak memory of minibatches by the number of documents, from disk and with all data in memory: a corpus repeated, 20 topics, 20 steps of 256, then the
bound of all documents; one thread, compiled code from the cache.

usage: stream_memory.py LEHR [CORPUS.ldac[.gz]] [FILE.svg]
"""
import gzip
import os
import subprocess
import sys
import tempfile
from math import log10

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TIMES = [1, 3, 10, 30]


def lines_of(path):
    """One after another: what this process holds would count as its children's peak."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as f:
        yield from f


def peak(command):
    """Megabytes of a child at its largest."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT)
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(command)}: status {status}")
    return usage.ru_maxrss / 1024


def drawn(found):
    """Lines in a square: log10 of the documents across, log10 of megabytes up, from 10 to 1000."""
    lines = []
    for colour, (name, points) in zip(("#1b6ca8", "#c0392b"), found.items()):
        at = " ".join(f"{60 + 110 * (log10(n) - 3):.1f},{220 - 100 * (log10(mb) - 1):.1f}" for n, mb in points.items())
        lines.append(f'<polyline points="{at}" fill="none" stroke="{colour}"/>'
                     f'<text x="70" y="{30 + 16 * len(lines)}" fill="{colour}">{name}</text>')
    across = "".join(f'<text x="{50 + 110 * k}" y="240">10^{k + 3}</text>' for k in range(3))
    up = "".join(f'<text x="20" y="{224 - 100 * k}">{10 ** (k + 1)} MB</text>' for k in range(3))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 340 250" font-family="sans-serif" font-size="11">'
            f'<path d="M60 20V220H300" fill="none" stroke="#888"/>{across}{up}{"".join(lines)}</svg>\n')


def main():
    lehr = os.path.abspath(sys.argv[1])
    corpus = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else os.path.join(ROOT, "models/data/topics/kos.ldac.gz")
    documents = sum(1 for _ in lines_of(corpus))
    found = {"from disk": {}, "in memory": {}}
    with tempfile.TemporaryDirectory() as folder:
        for times in TIMES:
            path = os.path.join(folder, "corpus.ldac")
            with open(path, "w") as f:
                for _ in range(times):
                    f.writelines(lines_of(corpus))
            fit = [lehr, "fit", "models/topics/lda.lehr", "--data", f"w={path}", "--set", "K=20", "--method", "svi", "--batch-size", "256", "--epochs",
                   repr(19.5 * 256 / (times * documents)), "--init", "flat", "--local-iters", "5", "--threads", "1", "--quiet", "--out", f"{folder}/out"]
            for name, options in {"from disk": ["--stream"], "in memory": []}.items():
                peak([*fit, *options])  # compiled code is in the cache then
                found[name][times * documents] = peak([*fit, *options])
            print(f"{times * documents} documents, {os.path.getsize(path) / 1e6:.0f} MB: "
                  + ", ".join(f"{name} {points[times * documents]:.0f} MB" for name, points in found.items()), flush=True)
    if len(sys.argv) > 3:
        with open(sys.argv[3], "w") as f:
            f.write(drawn(found))


main()
