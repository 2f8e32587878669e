// The expansion of the functions of families (compiler/math/function.h) to operators of Loops. Some, as log and
// digamma, are one operator. Others, as log_tail, become a polynomial of tens of operators.
#pragma once
#include "compiler/loops/builder.h"
#include "compiler/math/function.h"

namespace lehr::loops {

/// Returns an expression for f(x), x of type f64. Throws std::logic_error for functions that stand for statistics of
/// variables: they are atoms of terms and never applied.
ExprId apply(Builder& b, math::Function f, ExprId x);

}  // namespace lehr::loops
