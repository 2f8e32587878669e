#!/usr/bin/env python3
"""Peak memory of `lehr fit --stream` as a corpus is repeated, the held-out score beside that of all data in memory, and a
fit in an address space of a tenth of the data. Numbers: docs/scale.md.

usage: larger_than_memory.py LEHR CORPUS.ldac[.gz] [--times 1 10 50] [--steps 100] [--topics 10] [--test 1000] [--whole 1]
"""
import argparse
import gzip
import itertools
import os
import resource
import subprocess
import tempfile
import time


def lines_of(path):
    """One after another: what this process holds would count as its children's peak."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as f:
        yield from (line for line in f if line.strip())


def fit(a, folder, corpus, items, test, stream, space=None):
    """Held-out score, peak memory in MB, seconds; None where it failed."""
    out = os.path.join(folder, "out")
    command = [a.lehr, "fit", a.model, "--data", f"w={corpus}", "--sizes", f"term={a.terms}", "--set", f"K={a.topics}", "--method",
               "svi", "--batch-size", "256", "--epochs", repr((a.steps - 0.5) * 256 / items), "--tau0", "64", "--init", "flat",
               "--threads", str(a.threads), "--local-iters", str(a.local_iters), "--test", f"w={test}", "--out", out] + ["--stream"] * stream
    limit = (lambda: resource.setrlimit(resource.RLIMIT_AS, (space, space))) if space else None
    begin = time.time()
    with open(os.path.join(folder, "errors"), "w+") as errors:
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, preexec_fn=limit)
        text = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        errors.seek(0)
        told = [line for line in errors.read().splitlines() if "memory: at most" in line]
    if status != 0:
        return None
    score = text.split("held out ")[1].split(" ")[0] if "held out" in text else text
    return score, usage.ru_maxrss / 1024, time.time() - begin, told[0].split("at most ")[1] if told else ""


def main():
    p = argparse.ArgumentParser()
    p.add_argument("lehr")
    p.add_argument("corpus")
    p.add_argument("--model", default="models/topics/lda.lehr")
    p.add_argument("--times", type=int, nargs="+", default=[1, 10, 50])
    p.add_argument("--whole", type=int, default=1, help="largest repetition that is fitted in memory, too")
    p.add_argument("--steps", type=int, default=100)
    p.add_argument("--topics", type=int, default=10)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--local-iters", type=int, default=5)
    p.add_argument("--test", type=int, default=1000, help="documents that are scored")
    p.add_argument("--folder", default=None)
    a = p.parse_args()
    documents, a.terms = 0, 0
    for line in lines_of(a.corpus):
        documents += 1
        a.terms = max([a.terms] + [1 + int(pair.split(":")[0]) for pair in line.split()[1:]])
    with tempfile.TemporaryDirectory(dir=a.folder) as folder:
        test = os.path.join(folder, "test.ldac")
        with open(test, "w") as f:
            f.writelines(itertools.islice(lines_of(a.corpus), a.test))
        for times in a.times:
            corpus = os.path.join(folder, "corpus.ldac")
            with open(corpus, "w") as f:
                for _ in range(times):
                    f.writelines(lines_of(a.corpus))
            items, size = times * documents, os.path.getsize(corpus)
            fit(a, folder, corpus, items, test, True)  # compiled code is in the cache then
            for stream in [True] + [False] * (times <= a.whole):
                got = fit(a, folder, corpus, items, test, stream)
                print(f"{items} documents, {size / 1e6:.0f} MB, {'from disk' if stream else 'in memory'}: held out {got[0]}, peak "
                      f"{got[1]:.0f} MB {f'(told {got[3]})' if got[3] else ''}, {got[2]:.0f} s", flush=True)
            within = fit(a, folder, corpus, items, test, True, size // 10)
            print(f"{items} documents in an address space of {size / 1e7:.0f} MB, a tenth of the data: "
                  f"{'refused' if within is None else 'held out ' + within[0]}", flush=True)


if __name__ == "__main__":
    main()
