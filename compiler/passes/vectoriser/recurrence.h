// Detection of recurrences: loops with a loop-carried dependence through scratch arrays.
// In `for t: m[t] = f(m[t - 1])` an iteration needs what the iteration before it has stored, so the loop over t runs in
// sequence. The passes `vectorise-recurrences` and `bucket-by-length` look for loops over items with such a loop
// inside.
#pragma once
#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Returns true if the loop's body contains a recurrence: an inner loop, at any depth, in which an iteration loads
/// scratch that another iteration has stored. That is taken from the form of the indices: along some axis the scratch
/// is stored at the index t of the inner loop and loaded at another expression of t. Inner loops whose end is a literal
/// constant do not count.
bool has_recurrence(const Program& program, const For& loop);

}  // namespace lehr::loops
