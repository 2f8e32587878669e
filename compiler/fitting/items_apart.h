// The items of a model, and whether one can be predicted without the others.
#pragma once
#include <optional>
#include <vector>

#include "compiler/pipeline.h"
#include "runtime/result.h"

namespace lehr {

/// Whether one of the axes is the plate, or nested in it.
bool is_on(const model::Model& m, const std::vector<model::PlateId>& axes, model::PlateId plate);

/// The plate of the first item stage.
std::optional<model::PlateId> plate_of_stage(const Analysed& a);

/// The same, or the outermost one of the first observed variable where no variable is of single items.
std::optional<model::PlateId> plate_of_items(const Analysed& a);

/// What keeps the local variables of an item from being inferred without the other items; nothing where the factors of
/// all that does not lie on the items are enough. ExitCode::model, about the statement's line.
std::optional<Error> inferred_together(const Source& source, const Analysed& a, model::PlateId items);

/// The first statement that reads elements of other items than its own, in the same way.
std::optional<Error> reads_other_items(const Source& source, const model::Model& m, model::PlateId items);

}  // namespace lehr
