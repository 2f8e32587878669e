// Which elements of a component might be a component of their own.
#pragma once
#include <cstdint>
#include <vector>

#include "runtime/methods/components.h"
#include "runtime/rng.h"

namespace lehr {

enum class Division {
  two_means,  // one side of the best of two centres
  ball,       // one that lies far from the others, and those near it
  few,        // a few at random
  half,       // every other one, at random
  early       // the first half of every run of successive ones
};

/// A proper part of `members` (rows of the features), ascending; empty where there are too few of them. Without
/// features only `few`, `half` and `early` divide.
std::vector<std::int64_t> part_of(const std::vector<std::int64_t>& members, const Features& features, Division division,
                                  Rng& rng);

}  // namespace lehr
