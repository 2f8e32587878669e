// Arrays that a turn of a loop has to itself.
#pragma once
#include "compiler/loops/loops.h"

namespace lehr::loops {

/// A loop over all of an array of one axis whose first access to it is that it stores the element of its index, or a
/// statement that fills it.
bool fills(const Program& program, const Stmt& statement, BufferId array);
/// The same of the last axis of an array, whatever stands in its other indices; turns follow one another.
bool fills_rows(const Program& program, const For& loop, BufferId array);
/// Nothing of the array is read before it was filled in the same block, or in one around within this one.
bool is_filled_first(const Program& program, const Block& block, BufferId array);

}  // namespace lehr::loops
