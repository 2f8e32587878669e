// exp, log, log1p, logit_curvature, digamma, trigamma and lgamma as branch-free LLVM functions inside the module, so
// that the loop vectoriser sees plain arithmetic. Accurate to 2e-15 relative (exp, log, log1p, logit_curvature; results
// of exp below 1e-307 are 0) and 1e-13 relative, absolute near the zeros (digamma, trigamma, lgamma on x > 0; NaN
// elsewhere). In f32 to 3e-7, logit_curvature to 4e-7, digamma to 1e-6; results that are subnormal are 0.
#pragma once
#include "compiler/loops/loops.h"

namespace llvm {
class Function;
class Module;
class Type;
}  // namespace llvm

namespace lehr::native {

/// The function for `op` of f64 or f32, or of vectors of these, created on first use (internal, alwaysinline, pure).
/// Only for the operations above.
llvm::Function* special_function(llvm::Module& module, loops::UnaryOp op, llvm::Type* real);

/// exp(digamma(x) + c): the logarithm cancels, and one division is left. Same accuracy, absolute in the
/// exponent.
llvm::Function* exp_digamma_function(llvm::Module& module, llvm::Type* real);

}  // namespace lehr::native
