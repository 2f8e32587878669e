// Loop interchange for nests around one sum: the loop over rows of arrays becomes the outermost.
// Then each iteration of the outer loop reads rows from beginning to end, and several iterations can run together.
//   for p: for k: s[p] += a[k, p] * b[k]      becomes      for k: for p: s[p] += a[k, p] * b[k]
#pragma once
#include <cstdint>
#include <optional>

#include "compiler/loops/loops.h"
#include "runtime/threshold.h"

namespace lehr::loops {

/// The least trip count of a loop outside the items whose iterations can fill a vector: the lanes of a vector.
constexpr Threshold<std::int64_t> kVectorIterations("outermost.vector_iterations", 8);
/// The most elements of a row of which iterations that run together have private copies.
constexpr Threshold<std::int64_t> kWidestRow("outermost.widest_row", 1024);

/// Returns the nest with its innermost loop moved outermost; nullopt if that is impossible or no gain.
/// The nest consists of at least two loops with constant bounds around one sum. The innermost index must be the first
/// index of rows (x[k, ...]) and have kVectorIterations values or more. It must not be in other positions, nor read
/// more arrays as the last index than as the first.
std::optional<Stmt> interchanged(const Program& program, const Stmt& nest);

}  // namespace lehr::loops
