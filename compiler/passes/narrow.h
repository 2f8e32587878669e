// The pass `narrow`: narrowing of arithmetic to 32 bits where `--precision float` asks for it.
// narrowable.h decides by data flow which arrays and scalars become f32; this pass rewrites their types and inserts
// conversions. Data, stored results of factors and sums over items stay at 64 bits.
#pragma once
#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Returns the program with f32 arithmetic in functions that allow it (Function::f32_allowed).
/// * Work arrays, scalars, and the tables that these functions read have 32 bits. Tables are computed in 64 bits, then
///   rounded.
/// * Data, parameters of factors and sums over items stay at 64 bits. So do scalars from which only these are formed,
///   such as parts of the ELBO.
/// * Stored per-item results are computed in 64 bits, except for calls of exp, log, digamma and the like.
/// * An array with elements formed from its other elements keeps 64 bits, with everything that flows into it. Examples
///   are Cholesky factors, inverses and messages along a chain, which can lose all digits in 32 bits.
/// * Constants out of the range of f32 (log of zero, "as good as zero") become constants that serve the same purpose.
Program narrow(Program program);

}  // namespace lehr::loops
