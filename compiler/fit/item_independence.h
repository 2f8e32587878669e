// The items of a model, and whether each can be predicted without the others. Out-of-core prediction needs that, since
// it sees only a few items at a time.
#pragma once
#include <optional>
#include <vector>

#include "compiler/pipeline.h"
#include "runtime/result.h"

namespace lehr {

/// Returns true if one of the axes is the plate, or is nested in it at any depth.
bool lies_on_plate(const model::Model& m, const std::vector<model::PlateId>& axes, model::PlateId plate);

/// Returns the plate that the first item stage iterates over; nullopt if there is no item stage.
std::optional<model::PlateId> plate_of_stage(const Analysed& a);

/// Returns the plate of the items: the one that the first item stage iterates over. Without a stage it is the outermost
/// plate of the first variable that has both data and a plate. Returns nullopt if there is no such variable either.
/// Aliases of plates are resolved.
std::optional<model::PlateId> plate_of_items(const Analysed& a);

/// Returns an error with the line of the first statement whose local variables can be inferred only from several items
/// at once. Returns nullopt if global factors and an item's own data suffice.
std::optional<Error> needs_other_items(const Source& source, const Analysed& a, model::PlateId items);

/// Returns an error with the line of the first statement that reads elements of items other than its own; nullopt if
/// none does.
std::optional<Error> reads_other_items(const Source& source, const model::Model& m, model::PlateId items);

}  // namespace lehr
