// Formats the profile of a fit. Both forms have the same columns; what is counted depends on `Profile`.
#include "compiler/console/profile.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/terminal/printable.h"

namespace lehr::commands {
namespace {

/// Returns the quantity by which steps are compared: seconds, or operations.
double amount(const StepTime& s, Profile of) {
  return of == Profile::time ? s.seconds : static_cast<double>(s.work.operations);
}

/// Returns of / by, or 0 if `by` is 0.
double ratio_or_zero(double of, double by) { return by > 0 ? of / by : 0; }

/// Returns the fraction of the total that each step took, in their order.
std::vector<double> fractions(const std::vector<StepTime>& steps, Profile of) {
  double total = 0;
  for (const StepTime& s : steps)
    total += amount(s, of);
  std::vector<double> out;
  for (const StepTime& s : steps)
    out.push_back(ratio_or_zero(amount(s, of), total));
  return out;
}

/// Returns the headings of the measured columns.
std::string heading(Profile of) {
  if (of == Profile::time) return fmt::format("{:>10}  {:>12}", "seconds", "us a call");
  return fmt::format("{:>14}  {:>12}  {:>14}", "operations", "functions", "bytes");
}

/// Returns the measured columns of a step.
std::string columns(const StepTime& s, Profile of) {
  if (of == Profile::time)
    return fmt::format("{:>10.4f}  {:>12.1f}", s.seconds, 1e6 * ratio_or_zero(s.seconds, static_cast<double>(s.calls)));
  return fmt::format("{:>14}  {:>12}  {:>14}", s.work.operations, s.work.functions, s.work.bytes);
}

}  // namespace

nlohmann::json profile_json(const std::vector<StepTime>& steps, Profile of) {
  nlohmann::json out = nlohmann::json::array();
  const std::vector<double> fraction = fractions(steps, of);
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const StepTime& s = steps[k];
    nlohmann::json row{{"step", s.step}, {"calls", s.calls}, {"share", fraction[k]}};
    if (of == Profile::time) row["seconds"] = s.seconds;
    else row.update({{"operations", s.work.operations}, {"functions", s.work.functions}, {"bytes", s.work.bytes}});
    out.push_back(std::move(row));
  }
  return out;
}

std::string profile_table(const std::vector<StepTime>& steps, Profile of) {
  std::size_t width = 4;
  for (const StepTime& s : steps)
    width = std::max(width, printable(s.step).size());
  std::string out = fmt::format("{:<{}}  {:>8}  {}  {:>6}\n", "step", width, "calls", heading(of), "share");
  const std::vector<double> fraction = fractions(steps, of);
  for (std::size_t k = 0; k < steps.size(); ++k)
    out += fmt::format("{:<{}}  {:>8}  {}  {:>5.1f}%\n", printable(steps[k].step), width, steps[k].calls,
                       columns(steps[k], of), 100 * fraction[k]);
  return out;
}

}  // namespace lehr::commands
