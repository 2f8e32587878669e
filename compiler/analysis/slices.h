// Arrays of which each iteration of a loop accesses only the slice at the loop's index.
// In `for i: for k: a[i, k] = f(k); s += a[i, 0]`, iteration i accesses a[i, ...] alone, and fills it before it reads
// it. Such a slice can be replaced by an array without the axis of i (passes `contract-arrays` and `hoist-invariants`).
#pragma once
#include <cstddef>
#include <map>

#include "compiler/loops/loops.h"

namespace lehr::loops {

/// The part of an array that one iteration of a loop accesses: all elements whose index along one axis is the loop's
/// index, such as row i of a[i, k]. Passes replace it by a smaller array.
struct Slice {
  std::size_t axis = 0;       // the axis whose index is the loop's index
  std::size_t filled = 0;     // position, in the loop's body, of the statement that fills the slice
  BufferId replacement = {};  // an array without that axis which replaces the slice; invalid until a pass makes one
};
/// The arrays of which a loop's body accesses only the slice at the loop's index, each with that slice.
using Slices = std::map<BufferId, Slice>;

/// Finds the arrays of which the loop's body accesses only the slice at the loop's index, so that a pass can replace
/// the slice by a smaller array. One statement of the body must fill the slice as a whole, be the only one to store to
/// the array, and precede all reads. The array must be f64, a parameter, an expectation or scratch; its other axes must
/// have constant extents.
Slices slices_of(const Program& program, const For& loop);

/// Returns true if the statement may compute something else in each iteration of the loop: it uses the loop's index for
/// anything but selecting one of the `slices`, or draws a random number. If false, the pass `hoist-invariants` may move
/// it before the loop.
bool depends_on_index(const Program& program, const For& loop, const Slices& slices, const Stmt& statement);

}  // namespace lehr::loops
