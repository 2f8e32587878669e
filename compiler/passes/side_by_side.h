// Several turns of a loop at a time.
#pragma once
#include <vector>

#include "compiler/loops/loops.h"
#include "compiler/passes/varying.h"

namespace lehr::loops {

/// How the turns stand side by side. In a loop over lanes, in every statement: scratch has them as its last axis, sums
/// at places that all lanes share are kept apart and added up after the loop, lanes without a turn are masked. Or
/// written out one after the other, in every statement: scratch has them as its first axis, and all have a turn.
struct Arrangement {
  std::int64_t turns = 8;
  bool written_out = false;
  std::int64_t fewest = 3;  // fewer are taken one by one
  /// Rows that items have in arrays of the data are turned over first, so that lanes read them side by side. All that
  /// is made has 64 bits: such rows are squared and added up as the data are; what is left over is compiled small.
  bool rows_ahead = false;
  /// So many of those that are written out at a time, where they do not wait for functions; 0: all of them.
  std::int64_t together = 0;
};

/// What stands in the place of a loop of independent turns; `arrays`: more of the function's. Scratch, and scalars that
/// differ between the turns, have one more axis; what only some turns come to is masked.
Block side_by_side(Program& program, const For& loop, const Varying& varying, const Arrangement& how,
                   std::vector<BufferId>& arrays);

/// Numbers of an array beside its axes of unknown size.
std::int64_t constant_extents(const Program& program, BufferId array);
/// Whether what differs between turns is short enough to be there for each lane.
bool fits_in_lanes(const Program& program, const Varying& varying);
bool has_constant_extents(const Program& program, const Buffer& buffer);

}  // namespace lehr::loops
