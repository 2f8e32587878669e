// The pass `vectorise-recurrences`: outer-loop vectorisation of loops over items with a recurrence inside.
// The steps of a chain (hidden Markov, Kalman) depend on each other, so the inner loop cannot be vectorised. Eight
// items have eight independent recurrences: each becomes a lane of a vector.
//   for item: for t: m[t] = f(m[t - 1])      becomes      for item by 8: for t: for lane: m[t, lane] = f(m[t - 1,
//   lane])
#pragma once
#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Returns the program in which loops over independent items with a recurrence (recurrence.h) run eight items at a
/// time, in the lane form of vectorised.h. A loop stays as it is if an item needs a private array of more than 1024
/// elements, not counting axes of run-time size.
Program vectorise_recurrences(Program program);

}  // namespace lehr::loops
