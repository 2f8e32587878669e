// The pass `jam-data-loops`: unroll-and-jam of loops over data.
// Eight iterations of the outer loop run together; their copies of an inner loop become one loop (jammed). An element
// that all iterations add to is then loaded and stored once for eight, and the eight values are added as a tree.
//   for n: w = 0; for k: w += b[k] * x[n, k]      for k: s[k] += w * x[n, k]
//   becomes   for n by 8: ...; for k: s[k] += (w0 * x[n, k] + w1 * x[n + 1, k]) + ...
#pragma once
#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Returns the program with unroll-and-jam of loops whose trip count only the data tell. A loop qualifies if at least
/// two of its inner loops have a constant length that fills a vector. Its iterations may only fill private arrays and
/// add to sums. One `if` without `else` may stand in the body: a group in which any iteration meets its condition runs
/// one by one. Cold functions, and functions in which iterations run together already, stay as they are.
Program jam_data_loops(Program program);

}  // namespace lehr::loops
