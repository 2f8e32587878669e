#!/usr/bin/env python3
"""`--anneal auto` of stochastic variational inference against tuned schedules: topics of five corpora, batches of 100, steps
(64 + t)^-0.7 from nearly equal topics, about 240 steps, a third of them annealed. The steps that `auto` takes to find its
temperature are among them. Held-out: as in lda_minibatches.py; a score is the gain over plain steps relative to that of the
best schedule, which is chosen in hindsight on the same seeds.
"""
import tempfile

import numpy as np

from common import Problem, Table, arguments
from lda_minibatches import MODEL, SVI, held_out, split

EPOCHS = {"nyt": 3, "arxiv": 3, "reuters": 3, "kos": 8, "ap": 13}
SCHEDULES = [1.3, 1.5, 2.0, 3.0]


def main():
    o = arguments(__doc__, corpora=list(EPOCHS), topics=50, documents=7900, held_out=500)
    table = Table(o.out, "minibatch_auto", ["corpus", "K", "steps", "SVI", *[f"T0 {t}" for t in SCHEDULES], "auto", "sd of gain",
                                            "positive", "score", "T found", "probe"], decimals=4)
    for corpus in o.corpora:
        with tempfile.TemporaryDirectory() as folder:
            train, test, terms, documents = split(corpus, o.documents, o.held_out, folder)
            problem = Problem(o.lehr, MODEL, bindings=["w=" + train], settings=[f"K={o.topics}"])
            steps = EPOCHS[corpus] * -(-documents // 100)

            def run(*how):
                reports, scores = [], []
                for seed in range(o.seed, o.seed + o.starts):
                    report, out = problem.fit(*SVI, "--epochs", EPOCHS[corpus], "--sizes", f"term={terms}", "--seed", seed,
                                              *how, init="flat")
                    reports.append(report.get("annealing"))
                    scores.append(held_out(o.lehr, out, test))
                return np.array(scores), reports

            plain, _ = run()
            tuned = [run("--anneal", f"linear:from={t},over={steps // 3}")[0] - plain for t in SCHEDULES]
            score, reports = run("--anneal", "auto")
            gain = score - plain
            best = max(float(t.mean()) for t in tuned)
            table.add(corpus, o.topics, steps, float(plain.mean()), *[float(t.mean()) for t in tuned], float(gain.mean()),
                      float(gain.std(ddof=1)), f"{int((gain > 0).sum())}/{len(gain)}", float(gain.mean()) / best,
                      float(np.mean([r["melting_temperature"] for r in reports])), float(np.mean([r["probe_steps"] for r in reports])))


if __name__ == "__main__":
    main()
