// The expansion of the log joint that the Gibbs sampler uses.
//
// It differs from expand() where a link function or an absolute value needs an auxiliary variable. Variational
// inference has a tangent point for each value of a latent switch. A sampler must draw the auxiliary, so it has exactly
// one.
#pragma once
#include "compiler/density/density.h"

namespace lehr {

/// Expands the log joint of a model into a sum of terms for the Gibbs sampler, which must draw every auxiliary
/// variable. A link or absolute value gets one auxiliary variable for each element of the statement, where expand()
/// adds a tangent point for each value of a latent switch; the points of the values that the switch does not have could
/// not be drawn. Returns nothing if some part has no expansion; `diagnostics` has the reasons.
std::optional<Expanded> expand_for_draws(const model::Model& model, const density::ExpandOptions& options,
                                         Diagnostics& diagnostics);

}  // namespace lehr
