// What generated code does for a function of the table (compiler/math/function.h).
#pragma once
#include "compiler/loops/builder.h"
#include "compiler/math/function.h"

namespace lehr::loops {

/// f(x), x in f64. Not of functions that stand for statistics of variables: they are read, never applied.
ExprId apply(Builder& b, math::Function f, ExprId x);

}  // namespace lehr::loops
