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


def drawn(found, file):
    """log10 of megabytes, from 10 to 1000. The import waits: what it loads would count as the children's."""
    from drawing import Panel, Picture
    every = [n for points in found.values() for n in points]
    p = Panel((min(every) / 1.1, max(every) * 1.1), (1, 3), "", "documents", "peak memory (MB)", log=True,
              xticks={n: f"{n:,}" for n in sorted(set(every))}, yticks={1: "10", 2: "100", 3: "1000"})
    for k, points in enumerate(found.values()):
        p.line(list(points), [log10(mb) for mb in points.values()], f"c{k}")
        p.dots(list(points), [log10(mb) for mb in points.values()], f"c{k}")
    Picture([p], 1, (440, 240), [(name, f"c{k}", "line") for k, name in enumerate(found)], left=44).write(
        file, "Peak memory by the number of documents, from disk and in memory", "bench/experiments/stream_memory.py LEHR CORPUS FILE.svg")


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
        drawn(found, sys.argv[3])


if __name__ == "__main__":
    main()
