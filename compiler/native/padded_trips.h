// Padding of trip counts: iterations past the end of a loop that change nothing, so that its last vector needs no mask.
// Rows of tables and local arrays that end in the middle of a vector have zeros behind them (Buffer::used_length, or
// put there by the lowering). In `for k in 0 .. 5: s += a[k] * b[k]`, three more iterations add 0 * 0. An abstract
// interpretation of the body shows for each expression whether it is 0 or finite in such an iteration. It takes values
// that are the same in all iterations to be finite.
#pragma once
#include <cstdint>
#include <set>

#include "compiler/loops/loops.h"

namespace lehr::native {

/// Finds the loops of a function whose trip counts may be padded.
class TripPadding {
 public:
  /// Analyses a function of the program. `lanes`: doubles in a vector of the target. `program` must outlive this
  /// object.
  TripPadding(const loops::Program& program, const loops::Function& function, int lanes);

  /// Returns how many harmless iterations may follow those of an innermost loop, so that its trip count becomes a
  /// multiple of `lanes`, the iterations in one vector. Returns 0 if they would change a result, if the trip count is
  /// such a multiple already, or if the loop does not run from 0 to a constant by 1. Local arrays that must then have
  /// zeros behind their elements are added to zero_padded().
  std::int64_t extra_trips(const loops::For& loop, int lanes);

  /// Returns the local arrays that must have zeros behind their elements, because extra_trips() has given iterations to
  /// loops that read them there.
  const std::set<loops::BufferId>& zero_padded() const { return zero_padded_; }

 private:
  const loops::Program& program_;          // the program that the function belongs to
  const int lanes_;                        // doubles in a vector of the target
  std::set<loops::BufferId> own_;          // local arrays of one axis that no Fill sets to anything but 0
  std::set<loops::BufferId> zero_padded_;  // local arrays that need zeros behind their elements
};

}  // namespace lehr::native
