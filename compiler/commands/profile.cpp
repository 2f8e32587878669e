#include "compiler/commands/profile.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/terminal/printable.h"

namespace lehr::commands {
namespace {

double total(const std::vector<StepTime>& steps) {
  double out = 0;
  for (const StepTime& s : steps)
    out += s.seconds;
  return out;
}

/// 0 where there is nothing to be divided.
double part(double of, double by) { return by > 0 ? of / by : 0; }

}  // namespace

nlohmann::json profile_json(const std::vector<StepTime>& steps) {
  nlohmann::json out = nlohmann::json::array();
  for (const StepTime& s : steps)
    out.push_back(
        {{"step", s.step}, {"turns", s.turns}, {"seconds", s.seconds}, {"share", part(s.seconds, total(steps))}});
  return out;
}

std::string profile_table(const std::vector<StepTime>& steps) {
  std::size_t width = 4;
  for (const StepTime& s : steps)
    width = std::max(width, printable(s.step).size());
  std::string out =
      fmt::format("{:<{}}  {:>8}  {:>10}  {:>12}  {:>6}\n", "step", width, "turns", "seconds", "us a turn", "share");
  for (const StepTime& s : steps)
    out += fmt::format("{:<{}}  {:>8}  {:>10.4f}  {:>12.1f}  {:>5.1f}%\n", printable(s.step), width, s.turns, s.seconds,
                       1e6 * part(s.seconds, static_cast<double>(s.turns)), 100 * part(s.seconds, total(steps)));
  return out;
}

}  // namespace lehr::commands
