#!/usr/bin/env python3
"""CPU seconds of each pass of hmmlearn and dynamax, which a virtual environment has; one process a measurement, one thread, double.

dynamax's expectation maximisation does the same forward and backward; its step is compiled before the first pass counts.

usage: peers_environment.py hmmlearn_letters|hmmlearn_vectors|dynamax_letters|dynamax_vectors|dynamax_states DATA.npz K PASSES
"""
import json
import os
import sys
import time
import warnings
from functools import partial

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
import numpy as np


def hmmlearn_passes(kind, data, k, passes, x, **options):
    marks = []

    class Marked(kind):
        def _do_estep(self, *arguments):
            marks.append(time.process_time())
            return super()._do_estep(*arguments)

    model = Marked(k, n_iter=passes + 1, tol=-1e300, random_state=0, **options)
    model.fit(x, data["t"])
    return marks


def hmmlearn_letters(data, k, passes):
    from hmmlearn.vhmm import VariationalCategoricalHMM

    return hmmlearn_passes(VariationalCategoricalHMM, data, k, passes, data["x"][:, None], n_features=int(data["x"].max()) + 1)


def hmmlearn_vectors(data, k, passes):
    from hmmlearn.vhmm import VariationalGaussianHMM

    return hmmlearn_passes(VariationalGaussianHMM, data, k, passes, data["x"], covariance_type="full")


def dynamax_passes(model, seen, passes, **options):
    import jax

    params, properties = model.initialize(jax.random.PRNGKey(0), **options)
    state = model.initialize_m_step_state(params, properties)

    @jax.jit
    def step(params, state):
        statistics, bound = jax.vmap(partial(model.e_step, params))(seen, None)
        params, state = model.m_step(params, properties, statistics, state)
        return params, state, bound.sum()

    marks = []
    for _ in range(passes + 2):
        marks.append(time.process_time())
        params, state, bound = step(params, state)
        bound.block_until_ready()
    return marks[1:]


def dynamax_letters(data, k, passes):
    import jax.numpy as jnp
    from dynamax.hidden_markov_model import CategoricalHMM

    x = jnp.asarray(data["x"].reshape(len(data["t"]), -1, 1))
    return dynamax_passes(CategoricalHMM(k, 1, int(x.max()) + 1), x, passes)


def dynamax_vectors(data, k, passes):
    import jax.numpy as jnp
    from dynamax.hidden_markov_model import GaussianHMM

    x = jnp.asarray(data["x"].reshape(len(data["t"]), -1, data["x"].shape[-1]))
    return dynamax_passes(GaussianHMM(k, x.shape[-1]), x, passes, method="kmeans", emissions=x)


def dynamax_states(data, k, passes):
    import jax.numpy as jnp
    from dynamax.linear_gaussian_ssm import LinearGaussianSSM

    y = jnp.asarray(data["y"])[None]
    return dynamax_passes(LinearGaussianSSM(k, y.shape[-1]), y, passes)


def main():
    warnings.simplefilter("ignore")
    name, path, k, passes = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    if name.startswith("dynamax"):
        import jax

        jax.config.update("jax_enable_x64", True)
    print(json.dumps(np.diff(globals()[name](dict(np.load(path)), k, passes)).tolist()))


if __name__ == "__main__":
    main()
