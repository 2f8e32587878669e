// The pass `contract-arrays`: array contraction for expected statistics that are private to an iteration over items.
// An array with a row for each item goes through memory. One row is enough if every loop over items fills its row
// before it reads it, and nothing else reads the array. That row stays in the cache.
//   for n: for k: E[n, k] = f(k)   for k: s += E[n, k]      becomes      for n: for k: row[k] = f(k)   for k: s +=
//   row[k]
#pragma once
#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Returns the program in which such arrays have become one row, local to each function that uses it.
/// An array qualifies if it holds expected statistics and its first axis has a run-time size. Every access must be to
/// the row of a loop's index, which one statement of that loop fills first. Rows have constant extents and at most 1024
/// elements.
Program contract_arrays(Program program);

}  // namespace lehr::loops
