// Divides the terms of the log joint between the items and everything else.
#pragma once
#include <set>

#include "compiler/schedule/schedule.h"

namespace lehr::schedule {

/// Fills Schedule::statistics, `outer`, `residuals` and the local terms of the item stages from the terms of the
/// density. With sizes in the options, data are summed once into tables if that saves work.
void regroup(const model::Model& m, const PlanOptions& options, Schedule& s);

}  // namespace lehr::schedule
