// A part of the draws that a sampler has stored.
#pragma once
#include <cstdint>

#include "runtime/files/labelled.h"

namespace lehr {

/// Of stored draws `n` in all, as many of each chain (n rounded down, but at least one), evenly spaced; all of them
/// where there are fewer. Groups whose draws are not all there keep those of the chosen ones that they have; the choice
/// is made among draws that all groups have, where these are enough.
LabelledArrays thinned(const LabelledArrays& draws, std::int64_t n);

}  // namespace lehr
