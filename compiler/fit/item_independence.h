// The items of a model, and whether each can be predicted without the others. Out-of-core prediction needs that, since
// it sees only a few items at a time.
#pragma once
#include <optional>
#include <vector>

#include "compiler/pipeline.h"
#include "runtime/result.h"

namespace lehr {

/// Returns true if an array or variable with these axes lies on the plate: one of the axes is the plate, or is nested
/// in it at any depth. Aliases of plates count as the plate.
bool lies_on_plate(const model::Model& m, const std::vector<model::PlateId>& axes, model::PlateId plate);

/// Returns the plate of the items of a fit: the one that the first item stage iterates over; nullopt if there is no
/// item stage. Aliases of plates are resolved.
std::optional<model::PlateId> plate_of_stage(const Analysed& a);

/// Returns the plate whose elements a prediction takes as the items: the one that the first item stage iterates over.
/// Without a stage it is the outermost plate of the first variable that has both data and a plate. Returns nullopt if
/// there is no such variable either. Aliases of plates are resolved.
std::optional<model::PlateId> plate_of_items(const Analysed& a);

/// Checks whether batches of items, elements of the plate `items`, can be inferred one after another with the global
/// factors of a fit. Returns nullopt if they can, otherwise an error with the line of the first latent variable that
/// prevents it. A variable is on the plate by an axis, an event axis or the plate of its values. There are three cases:
///
/// * It is local, but is not on the plate, or the schedule has several item stages: it depends on several items.
/// * It is on the plate, but is not local: its elements are those of the fit, and new items have none.
/// * It is local and part of a joint factor of several variables, which is not supported.
///
/// Whether statements read elements of other items is the question of reads_other_items().
std::optional<Error> needs_other_items(const Source& source, const Analysed& a, model::PlateId items);

/// Checks whether each item can be read and predicted without the others: returns an error with the line of the first
/// statement that reads elements of items other than its own; nullopt if none does.
std::optional<Error> reads_other_items(const Source& source, const model::Model& m, model::PlateId items);

}  // namespace lehr
