// Finds the residual form of terms that are sums over pairs (Residual in schedule.h).
#pragma once
#include "compiler/schedule/schedule.h"

namespace lehr::schedule {

/// Adds a Residual, which is computed in linear time, for each outer term that is a sum over pairs and has no
/// statistic, and points OuterTerm::residual at it. Sums over pairs without such a form stay as they are.
void find_residuals(const model::Model& m, Schedule& s);

}  // namespace lehr::schedule
