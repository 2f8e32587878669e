// Loop interchange for nests around one sum: the loop over rows of arrays becomes the outermost.
// Then each iteration of the outer loop reads rows from beginning to end, and several iterations can run together.
//   for p: for k: s[p] += a[k, p] * b[k]      becomes      for k: for p: s[p] += a[k, p] * b[k]
#pragma once
#include <optional>

#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Returns the nest with its innermost loop moved outermost; nullopt if that is impossible or no gain.
/// The nest consists of at least two loops, each from 0 to a constant by 1, around one sum. The innermost index k must
/// have kFillsVector values or more, and select rows (x[k, ...]) of constant length with at most kCopiedElements
/// elements. No access may have it in a middle position, in several, or inside an expression. Accesses in which it is
/// the last of several indices, or selects longer rows, must not outnumber those to such rows.
std::optional<Stmt> interchanged(const Program& program, const Stmt& nest);

}  // namespace lehr::loops
