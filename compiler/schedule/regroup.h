// Divides the terms of the log joint between the items and everything else.
#pragma once
#include <set>

#include "compiler/schedule/schedule.h"

namespace lehr::schedule {

/// Divides the terms of the log joint between items and the rest, the last part of plan(): fills Schedule::statistics,
/// `outer`, `residuals` and the local terms of the item stages from the terms of the density. With sizes in the
/// options, data are summed once into tables if that saves work.
///
/// Sums over items in `invariances` and `shifts` become statistics too; a shift with a derivative that cannot be
/// divided is removed. The local blocks of a term that cannot be divided become Storage::stored.
void regroup(const model::Model& m, const PlanOptions& options, Schedule& s);

}  // namespace lehr::schedule
