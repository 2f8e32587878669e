// Factoring of sums of products: a factor that all terms share is taken out.
// The pass `rematerialise` uses it on what unrolled iterations add together: one multiplication is left of several. Two
// factors count as equal if their expressions are written alike.
#pragma once
#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Returns the sum with a shared factor taken out: c1 f x1 + c2 f x2 + ... becomes f (c1 x1 + c2 x2 + ...). The order
/// of the additions stays. The factor is a load of an array that every term has; without one, `sum` is returned as it
/// is.
ExprId factored(Program& program, ExprId sum);

}  // namespace lehr::loops
