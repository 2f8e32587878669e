"""Beside C++ and NumPy as a good programmer writes them at once. They do not compute the ELBO, but where a row says so; ours
does in every sweep, and once more without. All have a factor for each variable, as the C++ has."""
import data
import measure
from measure import Lehr
from report import beside_build, pairs

# sizes that the C++ is compiled for, constants of the model, data
MODELS = {
    "factorial_mixture": ({"FEATURES": 16}, ["K=16"], lambda: data.factorial(20_000, 64, 16)),
    "ppca_ard": ({"LATENT": 16}, ["K=16"], lambda: data.directions(20_000, 64, 16)),
    "poisson_factorisation": ({"FACTORS": 20}, ["K=20"], lambda: data.purchases(600, 500, 20)),
    "stochastic_block_model": ({"GROUPS": 8}, ["K=8"], lambda: data.network(2_000, 200_000, 8)),
    "logistic_regression": ({}, [], lambda: data.flights(1_000_000)),
    "crossed_random_effects": ({}, [], lambda: data.trials(1_000_000, 1_000, 500)),
}

BOUNDS = {"poisson_factorisation"}  # whose C++ can compute the ELBO


def row(model):
    sizes, constants, make = MODELS[model]

    def run(options, directory):
        arrays = make()
        lehr = Lehr(options.lehr, measure.model_file(model), directory, arrays,
                    ["--guide", "factorised", *(["--set", *constants] if constants else [])], locals_too=True)
        if options.beside:
            return beside_build(model, lehr, options)
        programs = {"C++ written at once": [measure.compiled(f"plain/{model}.cpp", sizes)],
                    **({"C++ with the ELBO": [measure.compiled(f"plain/{model}.cpp", sizes | {"BOUND": 1})]} if model in BOUNDS else {}),
                    "NumPy": ["/usr/bin/python3", "bench/plain_numpy.py", model]}
        sides = {"lehr": lehr.seconds, "lehr without ELBOs": lehr.without_elbos,
                 **{name: lambda p=program: measure.own_sweeps([*p, directory, 7]) for name, program in programs.items()}}
        shapes = ", ".join(f"{name} {' x '.join(map(str, values.shape))}" for name, values in arrays.items())
        return pairs(f"{model}: {shapes}{', ' + constants[0] if constants else ''}", sides, options.rounds,
                     {name: measure.disagreement(lehr, program) for name, program in programs.items()})

    run.__doc__ = f"{measure.model_file(model)} beside C++ and NumPy written at once"
    return run


ROWS = {model.replace("_", "-"): row(model) for model in MODELS}
