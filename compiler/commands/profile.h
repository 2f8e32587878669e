// The profile of a fit (`lehr fit --profile`): time or work of each step of the schedule, as JSON and as a table.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compiler/instance/step_times.h"

namespace lehr::commands {

/// What a profile measures: `time` of native code in seconds, or the `work` of the interpreter (operations, functions,
/// bytes).
enum class Profile { time, work };

/// Returns the profile as a JSON array with an object for each step: its name, how often it ran (`turns`), its share of
/// the total, and its seconds or its work.
nlohmann::json profile_json(const std::vector<StepTime>& steps, Profile of);

/// Returns the profile as a text table with one line for each step: how often it ran, its seconds in all and
/// microseconds per execution (or operations, functions and bytes), and its percentage of all seconds or operations.
std::string profile_table(const std::vector<StepTime>& steps, Profile of);

}  // namespace lehr::commands
