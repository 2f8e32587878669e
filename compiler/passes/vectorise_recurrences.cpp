// The choice of loops for outer-loop vectorisation of recurrences. vectorised.h does the work.
#include "compiler/passes/vectorise_recurrences.h"

#include <utility>

#include "compiler/passes/independent_loops.h"
#include "compiler/passes/recurrence.h"

namespace lehr::loops {
namespace {

/// Returns the form with eight lanes; nullopt if private arrays are too large. A last group of one or two items runs
/// one by one.
std::optional<VectorForm> lane_form(const Program& p, const For&, const Varying& varying) {
  if (!fits_in_lanes(p, varying)) return {};
  return VectorForm{.width = 8, .unrolled = false, .min_group = 3};
}

}  // namespace

Program vectorise_recurrences(Program program) {
  return vectorise_loops(std::move(program), {has_recurrence, lane_form});
}

}  // namespace lehr::loops
