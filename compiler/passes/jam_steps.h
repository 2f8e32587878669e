// The pass `jam-steps`: unroll-and-jam of loops over the steps of sequences that run in lanes.
// In functions with `lanes`, statistics are often sums over steps. Four steps run together, and the sums they add to
// are loaded and stored once for all four.
//   for t: for k: S[k] += q[t, k]      becomes      for t by 4: for k: S[k] += q[t, k]; S[k] += q[t + 1, k]; ...
#pragma once
#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Returns the program in which loops over steps inside lane loops run four steps at a time. Such a loop may only fill
/// private scratch and add, in loops, to elements that are the same at every step. The additions to an element keep
/// their order, so its bits stay. Cold functions stay as they are.
Program jam_steps(Program program);

}  // namespace lehr::loops
