// The expansion that a sampler reads.
#pragma once
#include "compiler/density/density.h"

namespace lehr {

/// expand(), with one auxiliary variable of a link or an absolute value for each element of the statement. Points for
/// each value of a switch are no variables that could be drawn beside it: those of the other values have no density.
std::optional<Expanded> expand_for_draws(const model::Model& model, const density::ExpandOptions& options,
                                         Diagnostics& diagnostics);

}  // namespace lehr
