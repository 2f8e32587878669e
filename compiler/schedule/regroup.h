// The terms of the log joint split at the border between items and everything else.
#pragma once
#include <set>

#include "compiler/schedule/schedule.h"

namespace lehr::schedule {

/// Fills `statistics`, `outer`, `residuals` and the stages' local terms from the terms of the density.
void regroup(const model::Model& m, Schedule& s);

}  // namespace lehr::schedule
