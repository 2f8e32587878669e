// The pass `vectorise-short-items`: outer-loop vectorisation of items with few elements.
// An inner loop over three elements fills three of eight lanes. Eight items, one in each lane, fill all of them. A cost
// estimate compares the two; docs/passes.md has the measurements behind it.
//   for n: for p in 0 .. 3: s[p] += x[n, p]      becomes      for n by 8: for p: for lane: s[p, lane] += x[n + lane, p]
#pragma once
#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Returns the program in which loops over items with short inner loops run eight items at a time, one in each lane.
/// The remainder runs one by one. The inner loops run between constants or indices of each other. Items add to
/// statistics, and neither read nor add to rows that data name. Loops of parallel regions with a constant trip count
/// qualify too. The estimated work in lanes must be at most 60 % of that of the plain loop.
Program vectorise_short_items(Program program);

}  // namespace lehr::loops
