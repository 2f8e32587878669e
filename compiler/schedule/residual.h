// Finds the residual form of terms that are the pairs of one sum (Residual in schedule.h).
#pragma once
#include "compiler/schedule/schedule.h"

namespace lehr::schedule {

/// Adds a Residual for each outer term that has the pairs of a sum and no statistic, and points OuterTerm::residual at
/// it.
void find_residuals(const model::Model& m, Schedule& s);

}  // namespace lehr::schedule
