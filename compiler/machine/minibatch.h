// Whether a model can be fitted from minibatches that are all the data its code ever sees at once (streams): outside
// the item stages nothing may be visited item by item, so that sums over a batch, scaled up, stand for those over all
// items.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/loops/lower.h"

namespace lehr {

/// The plate whose elements batches are drawn from: that of the first item stage, otherwise that of the first observed
/// variable; none without run-time items.
std::optional<model::PlateId> batch_plate(const model::Model& m, const loops::Lowered& lowered);

/// The plates nested in `plate`, at any depth, each with the row offsets that lead from an element of `plate` to its
/// own.
std::map<model::PlateId, std::vector<loops::BufferId>> nested_in(const model::Model& m, const loops::Lowered& lowered,
                                                                 model::PlateId plate);

/// No code outside the items touches anything sized by `plate` or by what is nested in it.
bool takes_minibatches(const model::Model& m, const loops::Lowered& lowered, model::PlateId plate);

/// What keeps items from being brought a few at a time (machine::Supply), in words after "because"; nothing where they
/// can be.
std::optional<std::string> needs_all_items(const model::Model& m, const schedule::Schedule& s,
                                           const loops::Lowered& lowered, model::PlateId plate);

/// Buffers that `prepare` fills with sums over the elements of `plate`.
std::vector<loops::BufferId> sums_over(const model::Model& m, const schedule::Schedule& s,
                                       const loops::Lowered& lowered, model::PlateId plate);

}  // namespace lehr
