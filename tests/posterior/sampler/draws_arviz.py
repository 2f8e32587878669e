#!/usr/bin/env python3
"""What ArviZ makes of a sampler's files: groups and labels of draws.nc, chains by from_cmdstan, and its R-hat, effective sizes and
standard errors beside ours. Skipped where pip cannot have ArviZ.

Usage: draws_arviz.py LEHR BUILD
"""
import glob
import sys

sys.path += [f"{sys.path[0]}/../../python", f"{sys.path[0]}/../../helpers"]
from lehr_tests import arrays, lehr, read_csv, temporary  # noqa: E402
from newest import run_inside  # noqa: E402


def inside():
    import arviz
    import numpy as np

    with temporary() as out:
        lehr("fit", "models/mixtures/gmm_diagonal.lehr", "--data", "x=models/data/regression/iris.csv:Sepal.Length,Sepal.Width", "--set", "K=2",
             "--method", "gibbs", "--chains", 4, "--draws", 250, "--warmup", 100, "--seed", 5, "--out", out)
        data = arviz.from_netcdf(f"{out}/draws.nc")
        assert set(data.groups()) == {"posterior", "sample_stats", "observed_data", "log_likelihood", "posterior_predictive"}
        assert data.posterior["mu"].sel({data.posterior["mu"].dims[-1]: "Sepal.Width"}).shape[:2] == (4, 250)
        assert data.log_likelihood["x"].dims == ("chain", "draw", *data.observed_data["x"].dims), data.log_likelihood
        csv_data = arviz.from_cmdstan(sorted(glob.glob(f"{out}/draws_*.csv")))
        for name in data.posterior.data_vars:
            assert np.array_equal(csv_data.posterior[name].values, data.posterior[name].values), name
        ours = {row["name"]: row for row in read_csv(f"{out}/summary.csv")}
        theirs = {"mean": lambda x: x.mean(("chain", "draw")), "r_hat": arviz.rhat, "mcse": lambda x: arviz.mcse(x, method="mean"),
                  "ess_bulk": lambda x: arviz.ess(x, method="bulk"), "ess_tail": lambda x: arviz.ess(x, method="tail")}
        fitted = arrays(f"{out}/posterior.npz")
        checked = 0
        for key, of in theirs.items():
            for name, want in of(data.posterior).data_vars.items():
                got = fitted[f"{name}.{key}"]
                off = np.max(np.abs(got - want.values) / (1e-12 + np.abs(want.values)))
                assert off < 1e-6, f"{name}.{key}: off by {off}"
                for at, value in np.ndenumerate(want.values):
                    row = ours[".".join([name, *(str(i + 1) for i in at)])]
                    assert abs(float(row[key]) / value - 1) < 1e-5, (row, key, value)
                    checked += 1
        elpd = arviz.loo(data)
        assert np.isfinite(elpd.elpd_loo) and elpd.n_data_points == data.observed_data["x"].size, elpd
        print(f"{checked} numbers agree; elpd_loo {elpd.elpd_loo:.1f}")


run_inside(sys.argv[2])
inside()
