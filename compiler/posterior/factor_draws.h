// Independent draws from variational factors, for calibration. They are taken from a fit in memory; saved_draws.h draws
// from a saved fit.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/pipeline.h"
#include "runtime/array.h"
#include "runtime/rng.h"

namespace lehr {

/// Draws `draws` values from each factor of a fit in memory; a rank calibration (`lehr calibrate`) compares them with
/// the simulated truth. `posterior` has the factors' parameters. The arrays are over [draw], the axes and the event
/// axes of each variable; a joint factor has one for each member. Left out are points, categories, auxiliary variables,
/// chains, whose elements depend on each other, and factors with parameters that a model cannot write.
std::vector<NamedArray> draws_from_factors(const Analysed& analysed, const std::vector<NamedArray>& posterior,
                                           std::int64_t draws, Rng rng);

}  // namespace lehr
