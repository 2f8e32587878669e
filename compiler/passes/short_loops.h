// Items of a few numbers lie in the lanes of a vector.
#pragma once
#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Loops over independent items, whose inner loops would leave much of a vector empty, take eight items at a time, one
/// in each lane. The inner loops run between constants or each other's indices, items add to statistics, and neither
/// read nor add to rows that they look up; items that are left over run one by one. So do the turns of phases whose
/// number the program has written out, where that is less work than the plain loop.
Program take_short_items_together(Program program);

}  // namespace lehr::loops
