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

/// Returns the profile as a JSON array with an object for each step. Its fields are the name (`step`), how often the
/// step ran (`calls`), its fraction of all seconds or operations (`share`), and its `seconds`, or its `operations`,
/// `functions` and `bytes`.
nlohmann::json profile_json(const std::vector<StepTime>& steps, Profile of);

/// Returns the profile as a text table with one line for each step. A line has how often the step ran, its seconds in
/// all and microseconds for each call, and its percentage of all seconds. For `Profile::work` it has operations,
/// functions and bytes, and the percentage of all operations.
std::string profile_table(const std::vector<StepTime>& steps, Profile of);

}  // namespace lehr::commands
