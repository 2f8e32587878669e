// Thins the stored draws of a sampler, for commands that export fewer of them. The same draws are selected in all
// groups.
#pragma once
#include <cstdint>

#include "runtime/files/labelled.h"

namespace lehr {

/// Selects about `n` of a sampler's stored draws in all, evenly spaced, the same number from each chain: `n` divided by
/// the number of chains, rounded down, at least one. Returns all draws if there are fewer. Draws are selected among
/// those that all groups have, if these are enough, otherwise among those of the group `posterior`. A group retains
/// those selected draws that it has, and is left out if it has none.
LabelledArrays thinned(const LabelledArrays& draws, std::int64_t n);

}  // namespace lehr
