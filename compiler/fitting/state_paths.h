// Most probable paths of chains of categories.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/model/bind.h"

namespace lehr {

/// By element of the chain `v`: its value on the path that is jointly most probable given its known values and what is
/// observed of it, latent numbers at `means` (by VariableId). Empty where there is none: nothing is observed or known
/// of any sequence, the model has potentials, a latent variable depends on the chain that is no category of one
/// observation alone (those are summed over), or what depends on the chain depends on more than that.
std::vector<std::int64_t> most_probable_states(const model::Model& model, const BoundData& data, model::VariableId v,
                                               const std::vector<std::vector<double>>& means);

}  // namespace lehr
