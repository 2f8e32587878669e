// Decides whether a model can be fitted from a part of its items at a time, for stochastic inference and out-of-core
// data. The condition: outside the item stages, no code visits items one by one. Then scaled sums over a batch stand
// for sums over all items.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/lower/lower.h"

namespace lehr {

/// Returns the plate whose elements are the items of minibatches: the plate of the first item stage, otherwise the
/// first plate of the first variable with data. Nothing if there is none. Whether minibatches are possible is another
/// question, supports_minibatches().
std::optional<model::PlateId> batch_plate(const model::Model& m, const loops::Lowered& lowered);

/// Returns the plates nested in `plate`, at any depth. For each it has the buffers of row offsets that lead from an
/// element of `plate` to the nested elements, outermost first.
std::map<model::PlateId, std::vector<loops::BufferId>> nested_in(const model::Model& m, const loops::Lowered& lowered,
                                                                 model::PlateId plate);

/// Returns true if stochastic inference may draw minibatches of this plate: no code outside the item stages touches
/// arrays or loops sized by it or by plates nested in it. The program must also read the plate's size at run time, and
/// neither the plate nor a nested one may number coordinates of a joint factor.
bool supports_minibatches(const model::Model& m, const loops::Lowered& lowered, model::PlateId plate);

/// Returns the reason why out-of-core data are refused for this model: why the items of `plate` cannot be loaded a few
/// at a time. It is a clause for an error message; nothing if they can be loaded so.
std::optional<std::string> needs_all_items(const model::Model& m, const schedule::Schedule& s,
                                           const loops::Lowered& lowered, model::PlateId plate);

/// Returns the buffers of statistics of the data alone that are sums over the elements of `plate`, such as the sum of
/// x[n]. The generated function `prepare` computes them once; where a minibatch stands for all items, they are scaled.
std::vector<loops::BufferId> data_sums_over(const model::Model& m, const schedule::Schedule& s,
                                            const loops::Lowered& lowered, model::PlateId plate);

}  // namespace lehr
