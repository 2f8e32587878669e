// Arrays of which the body of a loop knows one slice only, that of the loop's index.
#pragma once
#include <cstddef>
#include <map>

#include "compiler/loops/loops.h"

namespace lehr::loops {

struct Slice {
  std::size_t axis = 0;    // of the array, that the index selects from
  std::size_t filled = 0;  // the statement of the body that fills it
  BufferId once = {};      // the slice as an array of its own, once there is one
};
using Slices = std::map<BufferId, Slice>;

/// Every access of the body is to the slice of the index; one statement does nothing but fill the slice as a whole, the
/// first that has to do with the array; the other axes are constants of the code.
Slices slices_of(const Program& program, const For& loop);

/// Whether a statement uses the loop's index but to select slices, or a random number.
bool depends_on_index(const Program& program, const For& loop, const Slices& slices, const Stmt& statement);

}  // namespace lehr::loops
