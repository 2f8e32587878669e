// Items that all read the same tables, and add to the same sums: several of them side by side load a row of a table
// once for all, and a sum is loaded and stored once for all that is added to it. Odds of a mixture, and its statistics.
#pragma once
#include "compiler/loops/loops.h"

namespace lehr::loops {

/// A loop over independent turns, with constant loops only inside, whose turns load arrays of more numbers than
/// registers hold at places that are the same for all, takes two to four turns at a time (side_by_side.h), each
/// statement written out for each; as many as keep the arrays of the turns in registers.
Program run_in_blocks(Program program);

}  // namespace lehr::loops
