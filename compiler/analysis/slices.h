// Arrays of which each iteration of a loop accesses only the slice at the loop's index.
// In `for i: for k: a[i, k] = f(k); s += a[i, 0]`, iteration i accesses a[i, ...] alone, and fills it before it reads
// it. Such a slice can be replaced by an array without the axis of i (passes `contract-arrays` and `hoist-invariants`).
#pragma once
#include <cstddef>
#include <map>

#include "compiler/loops/loops.h"

namespace lehr::loops {

/// The slice of an array at the index of a loop.
struct Slice {
  std::size_t axis = 0;       // the axis that the loop's index selects from
  std::size_t filled = 0;     // the number of the statement of the loop's body that fills the slice
  BufferId replacement = {};  // an array without that axis which replaces the slice; invalid until a pass makes one
};
/// The slices that a loop's body accesses, by array.
using Slices = std::map<BufferId, Slice>;

/// Returns the arrays of which the loop's body accesses only the slice at the loop's index.
/// One statement of the body fills the slice as a whole, is the only one to store to the array, and precedes all reads.
/// The array is f64, a parameter, an expected statistic or scratch; its other axes have constant extents.
Slices slices_of(const Program& program, const For& loop);

/// Returns true if the statement uses the loop's index for anything but selecting one of the `slices`, or draws a
/// random number.
bool depends_on_index(const Program& program, const For& loop, const Slices& slices, const Stmt& statement);

}  // namespace lehr::loops
