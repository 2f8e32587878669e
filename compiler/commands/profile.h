// What the steps of a fit took: `lehr fit --profile`.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compiler/instance/step_times.h"

namespace lehr::commands {

/// Of native code, how long it took; of interpreted loops, what they did.
enum class Profile { time, work };

nlohmann::json profile_json(const std::vector<StepTime>& steps, Profile of);

/// A line a step: turns, seconds in all and microseconds a turn, or operations, functions and bytes; per cent of all
/// seconds, or of all operations.
std::string profile_table(const std::vector<StepTime>& steps, Profile of);

}  // namespace lehr::commands
