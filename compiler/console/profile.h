// The profile of a fit (`lehr fit --profile`): time or work of each step of the schedule, as JSON and as a table.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compiler/instance/step_times.h"

namespace lehr::commands {

/// What `lehr fit --profile` measures of each step: `time` of native code in seconds, or with --interpret the `work`
/// that the interpreter counts (operations, calls of functions such as exp, bytes).
enum class Profile { time, work };

/// Returns the profile of a fit for fit.json: an array with an object for each step of the schedule. Its fields are the
/// name (`step`), how often the step ran (`calls`), its fraction of all seconds or operations (`share`), and its
/// `seconds`, or for Profile::work its `operations`, `functions` and `bytes`.
nlohmann::json profile_json(const std::vector<StepTime>& steps, Profile of);

/// Returns the profile of a fit as the text table that --profile prints, with one line for each step of the schedule:
/// how often the step ran, its seconds in all and microseconds for each call, and its percentage of all seconds. For
/// Profile::work it has operations, functions and bytes, and the percentage of all operations.
std::string profile_table(const std::vector<StepTime>& steps, Profile of);

}  // namespace lehr::commands
