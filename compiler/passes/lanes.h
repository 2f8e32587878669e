// Loops over items with a recurrence inside (the steps of a chain) have nothing to vectorise but the width of a step,
// and wait for each step before the next: several items side by side have as many recurrences to work on.
#pragma once
#include "compiler/loops/loops.h"

namespace lehr::loops {

/// A loop over independent turns, in whose body one turn of an inner loop reads scratch that another stored, takes
/// eight turns at a time (side_by_side.h), each statement being a loop over these lanes. Not where a turn needs arrays
/// of more than 1024 numbers beside axes of unknown size.
Program run_in_lanes(Program program);

}  // namespace lehr::loops
