// Sums over all pairs of elements, of which few have another value than the rest: they are split into a sum over all
// pairs, which separates into sums over the elements, and a correction for the pairs that differ.
#pragma once
#include <vector>

#include "compiler/binding/bind.h"
#include "compiler/conditionals/conditionals.h"
#include "runtime/threshold.h"

namespace lehr::schedule {

/// Makes sums over pairs with sparse data cheap: splits each term whose data are nearly all equal over the pairs of a
/// plate's elements, or whose data list nearly all pairs. Example, with ties[i, j] 1 for few pairs, otherwise 0:
///     sum(i, j) ties[i, j] x[i] y[j] + sum(i, j) (1 - ties[i, j]) u[i] v[j]
///       ->   sum(e) x[first[e]] y[second[e]] + sum(i, j) u[i] v[j] - sum(e) u[first[e]] v[second[e]]
/// The e are the elements of a plate that is added to the model, with the data at the pairs that differ. The sum over
/// all pairs gets a residual form (Residual in schedule.h). The log joint stays the same for all values of the
/// variables.
///
/// `of_items` is true, by BlockId, for blocks that item stages update. Terms with such a block, with a chain, or over
/// fewer than 10,000 pairs (a threshold) stay as they are. `model`, `conditionals` and `data` are changed together.
/// Returns false if nothing is changed.
bool separate_pairs(model::Model& model, conditionals::Conditionals& conditionals, BoundData& data,
                    const std::vector<bool>& of_items, const Thresholds& thresholds);

/// Returns true if separate_pairs() added the plate, so that its arrays are not the user's. The text of the model does
/// not have such a plate.
bool is_pair_list(const model::Plate& plate);

}  // namespace lehr::schedule
