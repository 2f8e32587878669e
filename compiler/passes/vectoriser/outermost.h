// Loop interchange for nests around one sum: the loop over rows of arrays becomes the outermost.
// Then each iteration of the outer loop reads rows from beginning to end, and several iterations can run together.
//   for p: for k: s[p] += a[k, p] * b[k]      becomes      for k: for p: s[p] += a[k, p] * b[k]
#pragma once
#include <optional>

#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Returns the nest with its innermost loop moved outermost; nullopt if that is impossible or no gain.
/// The nest consists of at least two loops with constant bounds around one sum. The innermost index must be the first
/// index of rows (x[k, ...]) and have kFillsVector values or more. It must be in no other position, and be the last
/// index of no more arrays than it is the first index of.
std::optional<Stmt> interchanged(const Program& program, const Stmt& nest);

}  // namespace lehr::loops
