#!/usr/bin/env python3
"""--elbo-every of coordinate ascent: the sweeps are those with an ELBO each, bit for bit, and the ELBOs that are formed are theirs.

usage: elbo_every_test.py LEHR, from the root of the repository
"""
import signal
import sys
import tempfile
import time

import numpy as np

sys.path.append(f"{sys.path[0]}/../../helpers")
from lehr_tests import LEHR, bits, read, read_csv, read_json, run, started, write  # noqa: E402

R = np.random.default_rng(3)
OUT = tempfile.mkdtemp()
FAITHFUL = ["models/mixtures/gmm.lehr", "--data", "x=models/data/mixtures/faithful.csv:eruptions,waiting", "--set", "K=4"]

PARTS = """model parts { plate n; plate i; data g[i] : n;
  b ~ Gamma(shape = 1, rate = 1); t[n] ~ Gamma(shape = 1, rate = 1);
  observe y[i] ~ Poisson(t[g[i]] + b); observe v[n] ~ Poisson(t[n] + b); }
"""


def command(name, *words):
    return [LEHR, "fit", *words, "--quiet", "--threads", "1", "--out", f"{OUT}/{name}"]


def fit(name, *words, code=0):
    return run(*command(name, *words), code=code).stderr


def saved(name):
    trace = {int(row["iteration"]): row["elbo"] for row in read_csv(f"{OUT}/{name}/trace.csv")}
    return bits(f"{OUT}/{name}/posterior.npz"), read_json(f"{OUT}/{name}/fit.json"), trace


def compare(every, wanted, *words):
    """Runs of plain sweeps: an extrapolation needs the ELBO of the sweep before it."""
    words = [*words, "--leap-after", 0]
    fit("all", *words)
    fit("some", *words, "--elbo-every", every)
    posterior, summary, trace = saved("all")
    of_some, summary_of_some, trace_of_some = saved("some")
    assert of_some == posterior, words
    assert summary_of_some["elbo"] == summary["elbo"], words
    assert trace_of_some == {k: trace[k] for k in wanted}, (words, trace_of_some)


def the_same_sweeps():
    model, counts = f"{OUT}/model.lehr", f"{OUT}/counts.npz"
    np.savez(counts, Y=R.poisson(R.gamma(0.5, 1, (30, 3)) @ R.gamma(0.5, 1, (3, 20))),
             g=np.arange(24) % 6, y=R.poisson(3, 24), v=R.poisson(2, 6))
    # The parts of counts are formed once more for the ELBO, and by the next sweep, if nothing that reads them comes before.
    for text, orders in {read("models/factors/poisson_factorisation.lehr"): ["", "guide order(taste);"], PARTS: ["", "guide order(b);", "guide order(b, t);"]}.items():
        for order in orders:
            write(model, text.rstrip().removesuffix("}") + order + "}")
            compare(4, [4, 8, 10], model, "--data", counts, "--max-iter", 10, "--save-locals")
    compare(5, [5, 10, 15], *FAITHFUL, "--max-iter", 15)
    compare(7, [7, 14, 20], *FAITHFUL, "--max-iter", 20, "--anneal", "linear:from=5,over=12")
    compare(100, [12], "models/topics/lda.lehr", "--data", "w=models/data/topics/kos.ldac.gz", "--set", "K=3", "--max-iter", 12)


def converged():
    """Steps of the ELBO are over several sweeps, so that runs are no shorter, and end where others do."""
    for more in (["--search", "none"], ["--leap-after", "0"], ["--search", "quick"]):
        fit("all", *FAITHFUL, *more)
        fit("some", *FAITHFUL, *more, "--elbo-every", 10)
        all_, some = saved("all")[1], saved("some")[1]
        assert some["status"] == all_["status"] == "converged", more
        assert abs(some["elbo"] - all_["elbo"]) < 1e-5, (more, some["elbo"], all_["elbo"])


def what_is_left():
    crossed = ["models/hierarchical/crossed_random_effects.lehr", "--data", "models/data/hierarchical/penicillin.csv", "--guide", "factorised", "--search", "none"]
    said = fit("left", *crossed, "--leap-after", "0", "--max-iter", 240, "--elbo-every", 3)
    nats, sweeps = saved("left")[1]["left_to_gain"], saved("left")[1]["left_sweeps"]
    assert "nats of ELBO left to gain" in said, said
    fit("on", *crossed, "--leap-after", "0", "--max-iter", 240 + sweeps)
    gained = saved("on")[1]["elbo"] - saved("left")[1]["elbo"]
    assert abs(gained - nats) < 0.3 * nats, (gained, nats, sweeps)


def interrupted():
    """One more sweep, with an ELBO, is the last."""
    np.savez(f"{OUT}/many.npz", Y=R.poisson(R.gamma(0.5, 1, (400, 3)) @ R.gamma(0.5, 1, (3, 200))))
    words = ["models/factors/poisson_factorisation.lehr", "--data", f"{OUT}/many.npz", "--search", "none", "--elbo-every", 10 ** 9]
    # An interrupt before the first sweep ends the program at once.
    running = started(*command("cut", *words, "--max-iter", 10 ** 8), path=f"{OUT}/cut/trace.csv")
    time.sleep(1)
    running.send_signal(signal.SIGINT)
    assert running.wait() == 0, running.returncode
    posterior, summary, trace = saved("cut")
    assert summary["status"] == "interrupted" and list(trace) == [summary["iterations"]]
    fit("until", *words, "--max-iter", summary["iterations"])
    assert saved("until")[0] == posterior and saved("until")[1]["elbo"] == summary["elbo"]


def refused():
    said = fit("refused", *FAITHFUL, "--elbo-every", 4, "--test", FAITHFUL[2], "--test-every", 6, code=2)
    assert "a multiple of --elbo-every 4 is needed" in said, said


for test in (the_same_sweeps, converged, what_is_left, interrupted, refused):
    test()
