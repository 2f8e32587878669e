// The pass `vectorise-recurrences`: outer-loop vectorisation of loops over items with a recurrence inside.
// The steps of a chain (hidden Markov, Kalman) depend on each other, so the inner loop cannot be vectorised. Eight
// items have eight independent recurrences: each becomes a lane of a vector.
//   for item: for t: m[t] = f(m[t - 1])
//   becomes   for item by 8: for t: for lane: m[t, lane] = f(m[t - 1, lane])
//
// The choice of loops for outer-loop vectorisation of recurrences. vectorised.h does the work.
#include "compiler/passes/passes.h"

#include <utility>

#include "compiler/analysis/cost_model.h"
#include "compiler/passes/vectoriser/independent_loops.h"
#include "compiler/passes/vectoriser/recurrence.h"

namespace lehr::loops {
namespace {

/// Returns the form with eight lanes; nullopt if private arrays are too large. A last group of one or two items runs
/// one by one.
std::optional<VectorForm> lane_form(const Program& p, const For&, const Varying& varying) {
  if (!fits_in_lanes(p, varying)) return {};
  return VectorForm{.width = kLanes, .unrolled = false, .min_group = 3};
}

}  // namespace

/// Returns the program in which loops over independent items with a recurrence (recurrence.h) run eight items at a
/// time, in the lane form of vectorised.h. A loop stays as it is if an item needs a private array of more than 1024
/// elements, not counting axes of run-time size.
Program vectorise_recurrences(Program program) {
  return vectorise_loops(std::move(program), {has_recurrence, lane_form});
}

}  // namespace lehr::loops
