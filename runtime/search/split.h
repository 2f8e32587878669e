// Proposes how to divide the elements of a component in two, for the split moves of moves.h.
#pragma once
#include <cstdint>
#include <vector>

#include "runtime/rng.h"
#include "runtime/search/components.h"

namespace lehr {

/// How the elements of a component are divided in two, of which a split move gives one part to another component.
enum class SplitRule {
  two_means,  // by k-means with two centres
  ball,       // one part is an element far from the mean, with its nearest quarter of the elements
  few,        // one part is up to three random elements
  half,       // one part is a random half
  early       // one part is the first half of every run of consecutive elements, for chains
};

/// Returns the smaller part of a division of `members`, ascending; empty if the rule finds no part, as for fewer than
/// two members. `members` are element numbers, ascending; element i has row i of the features. Without features,
/// two_means divides like `half` and ball like `few`.
std::vector<std::int64_t> smaller_part(const std::vector<std::int64_t>& members, const Features& features,
                                       SplitRule division, Rng& rng);

}  // namespace lehr
