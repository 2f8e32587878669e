// Detection of recurrences: loops with a loop-carried dependence through scratch arrays.
// In `for t: m[t] = f(m[t - 1])` an iteration needs what the iteration before it has stored, so the loop over t runs in
// sequence. The passes `vectorise-recurrences` and `bucket-by-length` look for loops over items with such a loop
// inside.
#pragma once
#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Returns true if the loop's body contains a recurrence: an inner loop in which an iteration loads scratch that
/// another iteration has stored. Inner loops whose end is a literal constant do not count.
bool has_recurrence(const Program& program, const For& loop);

}  // namespace lehr::loops
