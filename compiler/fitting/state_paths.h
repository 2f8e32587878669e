// Most probable paths of chains of categories.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/model/bind.h"

namespace lehr {

/// By element of the chain `v`: its value on the path that is jointly most probable, together with those of the other
/// chains of categories on its axes, given known values and what is observed, latent numbers at `means` (by
/// VariableId). Empty where there is none: nothing is observed or known of any sequence, the model has potentials, a
/// latent variable depends on the chain that is no such chain and no category of one observation alone (those are
/// summed over), what depends on the chain depends on more than that, or chains have too many values together.
std::vector<std::int64_t> most_probable_states(const model::Model& model, const BoundData& data, model::VariableId v,
                                               const std::vector<std::vector<double>>& means);

}  // namespace lehr
