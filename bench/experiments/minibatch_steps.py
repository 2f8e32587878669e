#!/usr/bin/env python3
"""The Gaussian mixture of Xie's tutorial (N = 1000, K = 3, unit covariance, mu ~ N(0, 3), alpha = 1): what 500 steps
of SVI reach, compared with coordinate ascent from the same start. With rho_t = 1 / (t + 100) a share 100/600 of the
start is left whatever the data: the full batch shows it too; (t + 1)^-0.7 forgets faster."""
import numpy as np

from common import Problem, Table, arguments

MODEL = """model mixture { const alpha = 1; plate n; plate k = 3; plate d;
  pi ~ Dirichlet(concentration = alpha) over k;
  mu[k] ~ MvNormal(mean = 0, covariance = 3) over d;
  z[n] ~ Categorical(pi);
  observe x[n] ~ MvNormal(mean = mu[z[n]], covariance = 1); }"""
STEPS = {"1/(t+100)": ["--tau0", 100, "--kappa", 1], "(t+1)^-0.7": ["--tau0", 1, "--kappa", 0.7]}


def data(seed, d):
    """Five sets: the first with means far apart, the others with means from the prior."""
    r = np.random.default_rng(10 * seed + d)
    means = np.array([-5.0, 0, 5])[:, None] * np.ones(d) if seed == 0 else r.normal(0, np.sqrt(3), (3, d))
    return means[r.choice(3, 1000, p=r.dirichlet(np.full(3, 5.0)))] + r.normal(size=(1000, d))


def main():
    o = arguments(__doc__, steps=500, datasets=5)
    table = Table(o.out, "minibatch_steps", ["d", "step", "batch", "median gap", "worst gap", "best gap", "within 1",
                                             "within 0.1", "above VI", "pairs"])
    problems = {(d, s): Problem(o.lehr, MODEL, {"x": data(s, d)}) for d in (1, 2) for s in range(o.datasets)}
    for d in (1, 2):
        long = ["--max-iter", 5000, "--tol", 1e-10]
        plain = {s: problems[d, s].elbos(o.starts, *long, seed=o.seed)[0] for s in range(o.datasets)}
        for step, options in STEPS.items():
            for batch in (20, 50, 1000):
                how = ["--method", "svi", "--batch-size", batch, "--epochs", o.steps * batch / 1000, *options]
                gaps = np.concatenate([problems[d, s].elbos(o.starts, *how, seed=o.seed)[0] - plain[s] for s in plain])
                table.add(d, step, batch, float(np.median(gaps)), float(gaps.min()), float(gaps.max()),
                          int((gaps > -1).sum()), int((gaps > -0.1).sum()), int((gaps > 1e-3).sum()), len(gaps))


if __name__ == "__main__":
    main()
