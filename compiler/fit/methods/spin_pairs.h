// The terms of a model of spins and bits as fields and couplings of pairs, for the random-cluster sampler.
#pragma once
#include <optional>
#include <vector>

#include "compiler/pipeline.h"
#include "runtime/inference/samplers/random_cluster.h"

namespace lehr {

/// Returns the log joint density of the latent spins and bits, given the data, as terms of one and two of them, without
/// its constant. Spins are numbered by variable, then by element; a bit is a spin whose 1 is +1. Returns nullopt if a
/// term has more than two latent elements or is infinite, if some values of a latent variable are observed, or if a
/// latent variable is neither a spin nor a bit. Also returns nullopt if a potential runs over a plate with copies
/// (`times`).
std::optional<SpinPairs> spin_pairs(const model::Model& model, const BoundData& data);

/// Returns the values of spins, numbered as by spin_pairs(), as packed values of each variable, by VariableId: -1 and
/// +1 for spins, 0 and 1 for bits. They are empty for observed variables.
std::vector<std::vector<double>> values_of_spins(const model::Model& model, const BoundData& data,
                                                 const std::vector<double>& spins);

}  // namespace lehr
