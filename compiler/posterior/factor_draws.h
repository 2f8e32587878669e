// Independent draws from variational factors, for calibration. They are taken from a fit in memory; saved_draws.h draws
// from a saved fit.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/pipeline.h"
#include "runtime/array.h"
#include "runtime/rng.h"

namespace lehr {

/// Draws `draws` values from each factor in `posterior` whose family and parameters a model could write. The arrays are
/// over [draw], the axes and the event axes of each variable; a joint factor has one for each member. Other variables
/// are left out: points, categories, auxiliary variables, and chains, whose elements depend on each other.
std::vector<NamedArray> draws_from_factors(const Analysed& analysed, const std::vector<NamedArray>& posterior,
                                           std::int64_t draws, Rng rng);

}  // namespace lehr
