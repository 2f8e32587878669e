// Turns past the end of a loop that change nothing, so that its last vector needs no mask.
#pragma once
#include <cstdint>
#include <set>

#include "compiler/loops/loops.h"

namespace lehr::native {

/// Rows of tables and arrays that end in the middle of a vector have zeros behind: of tables those of Buffer::meant, of
/// a function's own arrays those that the lowering puts there. A loop over whole rows that adds products with such
/// zeros, and stores nothing else than 0 behind rows, may go on to the end of the vector.
class SpareTurns {
 public:
  /// `lanes`: of f64 in one vector of the target.
  SpareTurns(const loops::Program& program, const loops::Function& function, int lanes);

  /// How many turns may come after those of an innermost loop, up to whole vectors of `lanes` turns.
  std::int64_t after(const loops::For& loop, int lanes);

  /// Arrays of the function that have to have zeros behind, for the loops that were asked for.
  const std::set<loops::BufferId>& zero_behind() const { return zero_behind_; }

 private:
  const loops::Program& program_;
  const int lanes_;
  std::set<loops::BufferId> own_;  // arrays of one axis that nothing fills with other numbers than 0
  std::set<loops::BufferId> zero_behind_;
};

}  // namespace lehr::native
