// Expected statistics that no item reads but its own, after it has formed them.
#pragma once
#include "compiler/loops/loops.h"

namespace lehr::loops {

/// An array of expected statistics with rows for items of which every access is in a loop over items, to the row of its
/// index, that one statement of the loop's body fills as a whole before anything reads it: the functions have one row
/// in its place. Rows are of constant extents and 1,024 numbers at most.
Program keep_within(Program program);

}  // namespace lehr::loops
