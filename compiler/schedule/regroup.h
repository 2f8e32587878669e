// The terms of the log joint split at the border between items and everything else.
#pragma once
#include <set>

#include "compiler/schedule/schedule.h"

namespace lehr::schedule {

/// Fills `statistics`, `outer`, `residuals` and the stages' local terms from the terms of the density. `sizes`: of the
/// plates, or empty.
void regroup(const model::Model& m, const std::vector<std::int64_t>& sizes, Schedule& s);

}  // namespace lehr::schedule
