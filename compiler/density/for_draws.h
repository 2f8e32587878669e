// The expansion of the log joint that the Gibbs sampler uses.
//
// It differs from expand() where a link function or an absolute value needs an auxiliary variable. Variational
// inference has a tangent point for each value of a latent switch. A sampler must draw the auxiliary, so it has exactly
// one.
#pragma once
#include "compiler/density/density.h"

namespace lehr {

/// Expands the log joint like expand(), with one auxiliary variable of a link or absolute value for each element of the
/// statement. Points for the other values of a switch would have no density that they could be drawn from.
std::optional<Expanded> expand_for_draws(const model::Model& model, const density::ExpandOptions& options,
                                         Diagnostics& diagnostics);

}  // namespace lehr
