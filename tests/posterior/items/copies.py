#!/usr/bin/env python3
"""Elements that stand for some copies (`times`) against the copies written out: every sweep's ELBO and every factor, for items
of all kinds. Each copy has variables of its own, which share a factor."""
import sys

import numpy as np

sys.path.append(f"{sys.path[0]}/..")
from fitting import finish, fit  # noqa: E402

COUNTS = np.array([3, 1, 4, 2, 1])
X = np.array([0.3, -1.2, 2.4, 1.1, 4.0])
ROWS = [[1, 4, 5], [0, 2], [7, 6, 1, 0], [3], [2, 8]]
REALS = [[0.5, 1.2, 0.1], [-0.4, 0.8], [2.0, 1.5, 0.3, -1.0], [0.7], [1.1, 1.9]]

# name: model, the data of an item, the start
MODELS = {
    "mixture": ("""model m { plate n times count; plate k = 2; pi ~ Dirichlet(concentration = 0.7) over k;
      mu[k] ~ Normal(mean = 0, sd = 3); tau ~ Gamma(shape = 2, rate = 1); z[n] ~ Categorical(pi);
      observe x[n] ~ Normal(mean = mu[z[n]], precision = tau); }""", X,
                {"pi.concentration": [2.0, 1.0], "mu.mean": [-1.0, 1.0], "mu.precision": [4.0, 4.0], "tau.shape": 2.0,
                 "tau.rate": 2.0}),
    "a mean of every item": ("""model m { plate n times count; m0 ~ Normal(mean = 0, sd = 3); s ~ Gamma(shape = 2, rate = 1);
      h[n] ~ Normal(mean = m0, precision = s); observe x[n] ~ Normal(mean = h[n], precision = 2); }""", X,
                             {"m0.mean": 0.5, "m0.precision": 2.0}),
    "bits": ("""model m { plate n times count; p ~ Beta(2, 3); mu ~ Normal(mean = 0, sd = 3); b[n] ~ Bernoulli(p);
      observe x[n] ~ Normal(mean = mu * b[n], sd = 1); }""", X, {"mu.mean": 1.5, "mu.precision": 3.0}),
    "sequences": ("""model m { plate n times count; plate t in n ordered; plate k = 2; pi ~ Dirichlet(concentration = 1) over k;
      A[k] ~ Dirichlet(concentration = 1) over k; rate[k] ~ Gamma(shape = 2, rate = 0.5);
      s[n, t] ~ Categorical(A[s[n, t-1]]) start Categorical(pi); observe x[n, t] ~ Poisson(rate[s[n, t]]); }""", ROWS,
                  {"pi.concentration": [2.0, 1.0], "A.concentration": [[3.0, 1.0], [1.0, 2.0]], "rate.shape": [2.0, 9.0],
                   "rate.rate": [2.0, 1.5]}),
    "tokens": ("""model m { plate n times count; plate t in n; plate k = 2; plate term = 9; beta[k] ~ Dirichlet(concentration = 0.5) over term;
      theta[n] ~ Dirichlet(concentration = 0.4) over k; z[n, t] ~ Categorical(theta[n]); observe x[n, t] ~ Categorical(beta[z[n, t]]); }""", ROWS,
               {"beta.concentration": 1.0 + np.arange(18.0).reshape(2, 9) % 5}),
    "states": ("""model m { plate n times count; plate t in n ordered; q ~ Gamma(shape = 2, rate = 1);
      a ~ Normal(mean = 1, sd = 1); s[n, t] ~ Normal(mean = a * s[n, t-1], precision = q) start Normal(mean = 0, sd = 2);
      observe x[n, t] ~ Normal(mean = s[n, t], sd = 0.7); }""", REALS, {"a.mean": 0.8, "a.precision": 9.0}),
    "sources": ("""model m { plate n times count; a ~ Gamma(shape = 2, rate = 1); b ~ Gamma(shape = 1, rate = 2);
      observe x[n] ~ Poisson(a + b); }""", np.array([2, 0, 5, 1, 3]), {"a.shape": 3.0, "a.rate": 2.0})}


def same(name):
    model, x, start = MODELS[name]
    again = np.repeat(np.arange(5), COUNTS)
    out = [x[i] for i in again] if isinstance(x, list) else x[again]
    for arguments in (["--max-iter", 4], ["--max-iter", 3, "--anneal", "linear:from=3,over=9"],
                      ["--max-iter", 3, "--anneal", "entropy:from=2,over=9"]):
        few = fit(model, {"x": x, "count": COUNTS}, *arguments, init=start, monotone=False)
        all_of_them = fit(model.replace(" times count", ""), {"x": out}, *arguments, init=start, monotone=False)
        np.testing.assert_allclose(few.trace, all_of_them.trace, rtol=1e-10)
        np.testing.assert_allclose(few.objectives, all_of_them.objectives, rtol=1e-10)
        for k, v in few.posterior.items():
            if v.shape == all_of_them.posterior[k].shape:
                np.testing.assert_allclose(v, all_of_them.posterior[k], rtol=1e-9, atol=1e-12, err_msg=k)
    return f"ELBO {few.elbo:.6f}"


finish({name: lambda name=name: same(name) for name in MODELS})
