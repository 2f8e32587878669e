// Loop-invariant code motion over nests of loops and the arrays that they fill, where LLVM moves scalars alone: the
// precision of a Gaussian of each item, its Cholesky factor and its inverse are the same for all items, if nothing is
// missing.
#pragma once
#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Statements of a loop's body that neither use its index nor read what depends on it are executed once, before it, if
/// there is a nest of loops among them. What they write is scratch, or a slice (slices.h) of an array, which is then
/// computed once, as an array of its own, and copied. Functions that run once a fit stay as they are.
Program hoist_invariants(Program program);

}  // namespace lehr::loops
