// The pass `hoist-invariants`: loop-invariant code motion for nests of loops and the arrays that they fill.
// LLVM's LICM moves single scalars only; this pass moves whole loop nests. In a Gaussian model without missing values,
// the precision of each item, its Cholesky factor and its inverse are the same for all items. So they move out of the
// loop.
//   for i: for k: a[i, k] = f(k)      becomes      for k: all[k] = f(k)      for i: for k: a[i, k] = all[k]
#pragma once
#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Returns the program with invariant statements moved before their loops. A statement moves if it neither uses the
/// loop's index nor reads what depends on it. Something moves only if a nest of loops is among it.
/// The moved statements write scratch, or a slice (slices.h) of an array. The slice is then computed once, in an array
/// of its own, and copied in every iteration. Cold functions stay as they are.
Program hoist_invariants(Program program);

}  // namespace lehr::loops
