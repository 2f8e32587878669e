// What the steps of a fit took: `lehr fit --profile`.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compiler/instance/step_times.h"

namespace lehr::commands {

nlohmann::json profile_json(const std::vector<StepTime>& steps);

/// A line a step: turns, seconds in all and microseconds a turn, per cent of all lines.
std::string profile_table(const std::vector<StepTime>& steps);

}  // namespace lehr::commands
