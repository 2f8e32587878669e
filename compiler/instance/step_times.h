// The cost of a fit, step by step of its schedule (`lehr fit --profile` and the like).
#pragma once
#include <string>
#include <vector>

#include "compiler/instance/functions.h"
#include "compiler/lower/lower.h"

namespace lehr {

/// The cost of one step of the schedule, in all sweeps together: a row of a profile.
struct StepTime {
  /// What the step does: the variables that it updates, "sums over" an item plate, "sums of factors" (cached sums),
  /// "ELBO", or "starts and data" for all else.
  std::string step;
  /// How many times the step was executed.
  std::int64_t calls = 0;
  /// The time that the step took (Backend::timed only).
  double seconds = 0;
  /// The operations that the step did (Backend::interpreter only).
  loops::OperationCounts work;
};

/// Returns the cost of each step in the order of the schedule, then that of cached sums, the ELBO, and all other
/// functions. Only with Backend::timed or interpreter.
std::vector<StepTime> step_times(const model::Model& m, const schedule::Schedule& s, const loops::Lowered& lowered,
                                 const Functions& functions);

}  // namespace lehr
