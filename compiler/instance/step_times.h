// What a fit took, step by step of its schedule.
#pragma once
#include <string>
#include <vector>

#include "compiler/instance/functions.h"
#include "compiler/loops/lower.h"

namespace lehr {

/// All turns of a step.
struct StepTime {
  std::string step;  // the variables that it updates, "ELBO", or "starts and data" for all else
  std::int64_t turns = 0;
  double seconds = 0;  // of Backend::timed
  loops::Work work;    // of Backend::interpreter
};

/// In order of the schedule, of Backend::timed or interpreter.
std::vector<StepTime> step_times(const model::Model& m, const schedule::Schedule& s, const loops::Lowered& lowered,
                                 const Functions& functions);

}  // namespace lehr
