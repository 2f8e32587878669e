// Items that all read the same tables, and add to the same sums: several of them side by side load a row of a table
// once for all, and a sum is loaded and stored once for all that is added to it. Odds of a mixture, and its statistics.
#pragma once
#include "compiler/loops/loops.h"
#include "compiler/passes/varying.h"

namespace lehr::loops {

/// A loop over independent turns, with loops inside that are as long for each of them, whose turns load arrays of more
/// numbers than registers hold at places that are the same for all, takes two to four turns at a time (side_by_side.h),
/// each statement written out for each; as many as keep the arrays that turns add to in registers. Up to eight, where a
/// turn forms one function after another: others go on while one waits.
Program run_in_blocks(Program program);

/// Whether items of this loop are taken sixteen at a time, as one function that an item forms waits for another.
bool wait_in_blocks(const Program& program, const For& loop, const Varying& varying);

}  // namespace lehr::loops
