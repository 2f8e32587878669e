// Pairs of one sum kept as the sum.
#pragma once
#include "compiler/schedule/schedule.h"

namespace lehr::schedule {

/// Fills `residuals` from the outer terms that hold the pairs of a sum and were not cut into statistics.
void find_residuals(const model::Model& m, Schedule& s);

}  // namespace lehr::schedule
