"""Beside BayesPy, hmmlearn and dynamax, at sizes where a pass of theirs takes up to some seconds."""
import os

import numpy as np

import data
import measure
from measure import Lehr
from report import pairs

BAYESPY = ["/usr/bin/python3", "bench/peers_bayespy.py"]
ENVIRONMENT = [measure.PEERS, "bench/peers_environment.py"]


def row(title, model, sets, make, others):
    """`make` gives the arrays that the model is bound to, and `others` are commands but for the data, by name."""

    def run(options, directory):
        arrays = make()
        lehr = Lehr(options.lehr, model, directory, arrays, ["--set", *sets])
        path = os.path.join(directory, "data.npz")
        sides = {name: lambda c=command: measure.own_sweeps([*c[:-1], path, c[-1], 3]) for name, command in others.items()}
        return pairs(title, {"lehr": lehr.seconds, **sides}, options.rounds)

    run.__doc__ = title
    return run


def chains(**kind):
    arrays = data.sequences(500, 10, 100, 100, **kind)
    return {"x": arrays["x"], "t": np.diff(arrays["begin"])}


def one_chain():
    return {"x": data.sequences(1, 6, 20_000, 20_000, letters=20)["x"]}


def beside(kind, states):
    return {name: [*ENVIRONMENT, f"{name}_{kind}", states] for name in ("hmmlearn", "dynamax")}


ROWS = {
    "bayespy-mixture": row("BayesPy: Gaussian mixture, 50,000 x 8, K = 10", "models/mixtures/gmm.lehr", ["K=10", "nu0=10"],
                           lambda: data.mixture(50_000, 8, 10), {"BayesPy": [*BAYESPY, "mixture", 10]}),
    "bayespy-ppca": row("BayesPy: principal components, 40,000 x 64, K = 16", "models/factors/ppca_ard.lehr", ["K=16"],
                        lambda: data.directions(40_000, 64, 16), {"BayesPy": [*BAYESPY, "principal_components", 16]}),
    "bayespy-hmm": row("BayesPy: hidden Markov model, 20,000 steps, 6 states, 20 letters", "models/sequences/hmm_discrete.lehr", ["K=6"],
                       one_chain, {"BayesPy": [*BAYESPY, "hidden_markov", 6]}),
    "state-space": row("BayesPy, dynamax: linear state space, 10,000 steps of 8, 3 states", "models/sequences/linear_dynamical_system.lehr",
                       ["a0=1e-3"], lambda: data.oscillators(10_000, 8),
                       {"BayesPy": [*BAYESPY, "state_space", 3], "dynamax": [*ENVIRONMENT, "dynamax_states", 3]}),
    "bayespy-factorisation": row("BayesPy: matrix factorisation, 360,000 of 1,500 x 1,200, K = 8", "models/factors/matrix_factorisation.lehr",
                                 ["K=8"], lambda: data.ratings(1_500, 1_200, 0.2, 4), {"BayesPy": [*BAYESPY, "factorisation", 8]}),
    "chains-letters": row("hmmlearn, dynamax: 500 sequences of 100, 10 states, 500 letters", "bench/models/hmm_letters.lehr",
                          ["K=10"], lambda: chains(letters=500), beside("letters", 10)),
    "chains-vectors": row("hmmlearn, dynamax: 500 sequences of 100, 10 states, vectors of 8", "bench/models/hmm_vectors.lehr",
                          ["K=10"], lambda: chains(dimension=8), beside("vectors", 10)),
}
