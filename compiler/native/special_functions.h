// exp, log, log1p, logit_curvature, digamma, trigamma and lgamma as branch-free LLVM functions inside the module.
// LLVM's loop vectoriser sees plain arithmetic and vectorises them, as it could not with calls of libm.
// Relative errors in f64: 2e-15 for exp, log, log1p and logit_curvature; exp(x) is 0 for x < -708.
// digamma, trigamma and lgamma: 1e-13, absolute near their zeros, for x > 0; NaN elsewhere.
// In f32: 3e-7, logit_curvature 4e-7, digamma 1e-6; subnormal results are 0.
#pragma once
#include "compiler/loops/loops.h"

namespace llvm {
class Function;
class Module;
class Type;
}  // namespace llvm

namespace lehr::native {

/// Returns the LLVM function that computes exp, log, log1p, logit_curvature, digamma, trigamma or lgamma of an argument
/// of type `real`: f64, f32, or a vector of these. It is added to the module on first use (internal, always inlined,
/// pure). Throws std::logic_error for other operations.
llvm::Function* special_function(llvm::Module& module, loops::UnaryOp op, llvm::Type* real);

/// Returns the LLVM function that computes exp(digamma(x) + c) of two arguments of type `real`. It needs no logarithm,
/// because exp cancels it, and one division. The accuracy is that of digamma, absolute in the exponent.
llvm::Function* exp_digamma_function(llvm::Module& module, llvm::Type* real);

}  // namespace lehr::native
