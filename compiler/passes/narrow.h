// Single precision where it does.
#pragma once
#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Of functions with Function::single, work arrays, numbers, and the tables that they read have 32 bits, and so has the
/// arithmetic between them; tables are made in 64 bits and rounded. Everything else stays as it is: data, what is kept
/// of factors, sums over items, and numbers from which only those are formed (the parts of the ELBO), which are formed
/// in 64 bits from whatever there is. What is kept of items is formed in 64 bits too, but for calls of exp, log,
/// digamma ...
///
/// An array with an element that is formed from others of the same array (a Cholesky factor, the inverse by it,
/// messages along a chain) can lose all digits in 32 bits: it stays, and so does everything that it is made of.
///
/// Constants that 32 bits cannot hold stand for "log of zero", "less than anything" or "as good as zero", and become
/// numbers that do so in 32 bits.
Program narrow(Program program);

}  // namespace lehr::loops
