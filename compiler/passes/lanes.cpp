// The choice of loops for outer-loop vectorisation of recurrences. side_by_side.h does the work.
#include "compiler/passes/lanes.h"

#include <utility>

#include "compiler/passes/independent_loops.h"
#include "compiler/passes/recurrence.h"

namespace lehr::loops {
namespace {

/// Returns the form with eight lanes; nullopt if private arrays are too large. A last group of one or two items runs
/// one by one.
std::optional<Arrangement> in_lanes(const Program& p, const For&, const Varying& varying) {
  if (!fits_in_lanes(p, varying)) return {};
  return Arrangement{.turns = 8, .written_out = false, .fewest = 3};
}

}  // namespace

Program run_in_lanes(Program program) { return put_side_by_side(std::move(program), {has_recurrence, in_lanes}); }

}  // namespace lehr::loops
