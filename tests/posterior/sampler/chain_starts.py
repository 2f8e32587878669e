#!/usr/bin/env python3
"""`--init DIR`: what starts from a saved fit. A mixture of two far clusters has one solution for each order of the components, and
no chain changes from one to the other: where it began is where it is.

usage: chain_starts.py LEHR
"""
import pathlib
import sys

import numpy as np

sys.path.append(f"{sys.path[0]}/..")
from fitting import columns, lehr, read_json, temporary, write, write_json  # noqa: E402

MODEL = """model m { plate n; plate k = 2; pi ~ Dirichlet(concentration = 1) over k; mu[k] ~ Normal(mean = 0, sd = 20);
  tau ~ Gamma(shape = 2, rate = 2); z[n] ~ Categorical(pi); observe x[n] ~ Normal(mean = mu[z[n]], precision = tau); }"""
SPINS = """model s { plate i = 40; s[i] ~ Spin(); z[i] ~ Bernoulli(0.5); observe y[i] ~ Normal(mean = 3 * s[i] + 6 * z[i], sd = 1); }"""


def fit(path, model, out, *arguments, code=0):
    done = lehr("fit", path / model, "--data", path / "d.json", "--quiet", "--save-locals", "--out", path / out, *arguments, code=code)
    return done.stderr if code else read_json(path / out / "fit.json")


def main(path):
    rng = np.random.default_rng(2)
    x = np.concatenate([rng.normal(-10, 1, 30), rng.normal(10, 1, 50)])
    write(path / "m.lehr", MODEL)
    write(path / "s.lehr", SPINS)
    write_json(path / "d.json", {"x": x.tolist()})
    for order in ([-10.0, 10.0], [10.0, -10.0]):
        np.savez(path / "means.npz", **{"mu.mean": order, "mu.precision": [1.0, 1.0], "pi.concentration": [40.0, 40.0]})
        begun = fit(path, "m.lehr", "begun", "--init", path / "means.npz")
        # Coordinate ascent goes on where it was.
        again = fit(path, "m.lehr", "again", "--init", path / "begun", "--max-iter", 0)
        assert abs(again["elbo"] - begun["elbo"]) < 1e-6, (again["elbo"], begun["elbo"])
        fit(path, "m.lehr", "chains", "--init", path / "begun", "--method", "gibbs", "--chains", 4, "--warmup", 0, "--draws", 30)
        firsts = set()
        for chain in (1, 2, 3, 4):
            d = columns(path / f"chains/draws_{chain}.csv")
            for k, at in enumerate(order):
                assert np.abs(d[f"mu.{k + 1}"] - x[x * at > 0].mean()).max() < 1.0, (order, chain, d[f"mu.{k + 1}"])
            assert np.array_equal(d["z.1"], np.full(30, order.index(-10.0))), d["z.1"]
            firsts.add(d["mu.1"][0])
        assert len(firsts) == 4, "chains that begin alike"
    fit(path, "m.lehr", "bare", "--max-iter", 0, "--init", path / "nothing", code=4)
    reported = fit(path, "m.lehr", "from_chains", "--init", path / "chains", code=4)
    assert "no factors to start from" in reported, reported
    # A fit by sampling serves the next chains.
    fit(path, "m.lehr", "more", "--init", path / "chains", "--method", "gibbs", "--warmup", 0, "--draws", 5)
    assert np.abs(columns(path / "more/draws_1.csv")["mu.1"] - x[x > 0].mean()).max() < 1.0
    # Another model has other variables.
    write_json(path / "d.json", {"y": rng.normal(3, 1, 40).tolist()})
    reported = fit(path, "s.lehr", "other", "--init", path / "begun", "--method", "gibbs", code=4)
    assert "is not a parameter of the posterior of this model" in reported, reported
    fit(path, "s.lehr", "spins", "--max-iter", 50)
    fit(path, "s.lehr", "spin_chains", "--init", path / "spins", "--method", "gibbs", "--warmup", 0, "--draws", 5)
    print("chains and ascents begin at the fits that they are given")


def stuck(path):
    """Numbers that no draw moves have no R-hat, which is said by name; those that the data have are not meant."""
    # Two bits that are alike: neither can change by itself.
    write(path / "b.lehr", """model b { plate site; plate visit; z[site] ~ Bernoulli(0.5); w[site] ~ Bernoulli(0.5);
      observe y[site, visit] ~ Normal(mean = 60 * (z[site] - w[site]), sd = 1); }""")
    write(path / "k.lehr", "model k { plate n; q ~ Beta(1, 1); z[n] ~ Bernoulli(q); observe y[n] ~ Normal(mean = z[n], sd = 2); }")
    write_json(path / "d.json", {"y": [[0] * 4] * 8})
    of = lambda model: [w["text"] for w in fit(path, model, "stuck", "--method", "gibbs", "--chains", 2, "--draws", 200)["warnings"]]
    reported = [w for w in of("b.lehr") if "never moved" in w]
    assert len(reported) == 2 and reported[0].startswith("'z': 8 of 8 numbers") and reported[1].startswith("'w': 8 of 8 numbers"), reported
    write_json(path / "d.json", {"y": [0.1, 0.9, 0.4, 0.5], "z": [0, 1, None, None]})
    assert not [w for w in of("k.lehr") if "never moved" in w]
    print("numbers that do not move are named")


with temporary() as folder:
    main(pathlib.Path(folder))
    stuck(pathlib.Path(folder))
