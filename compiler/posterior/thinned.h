// Thins the stored draws of a sampler, for commands that export fewer of them. All groups keep the same draws.
#pragma once
#include <cstdint>

#include "runtime/files/labelled.h"

namespace lehr {

/// Selects about `n` draws in all, evenly spaced, the same number from each chain: `n` divided by the number of chains,
/// rounded down, at least one. Returns all draws if there are fewer. Draws are selected among those that all groups
/// have, if these are enough; a group keeps those selected draws that it has.
LabelledArrays thinned(const LabelledArrays& draws, std::int64_t n);

}  // namespace lehr
