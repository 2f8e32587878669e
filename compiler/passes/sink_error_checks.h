// The pass `sink-error-checks`: error checks sink out of innermost loops.
// A check that ends the function inside a loop keeps LLVM from vectorising the loop. The pass counts the failures in
// the loop and tests the count after it. A function that fails leaves its results undefined, so later iterations do no
// harm.
//   for k: if (x[k] <= 0) fail 3; y[k] = log(x[k])
//   becomes   failed = 0; for k: failed += select(x[k] <= 0, 1, 0); y[k] = log(x[k])   if (0 < failed) fail 3
#pragma once
#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Returns the program with error checks moved behind loops. It changes innermost loops that call functions (exp, log),
/// contain no `break`, and have at least 8 iterations, as must the loops around them. Trip counts that only the data
/// tell count as long.
Program sink_error_checks(Program program);

}  // namespace lehr::loops
