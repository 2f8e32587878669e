// Divides the terms of the log joint between the items and everything else.
#pragma once
#include <set>

#include "compiler/schedule/schedule.h"

namespace lehr::schedule {

/// Fills Schedule::statistics, `outer`, `residuals` and the local terms of the item stages from the terms of the
/// density. `sizes` has the size of each plate by PlateId, or is empty; with sizes, data are summed once into tables if
/// that saves work.
void regroup(const model::Model& m, const std::vector<std::int64_t>& sizes, Schedule& s);

}  // namespace lehr::schedule
