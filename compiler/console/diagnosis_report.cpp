// The diagnosis as text in three parts, ratios, linear response and predictive checks, and as JSON.
#include "compiler/console/diagnosis_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "compiler/fit/checks/cancellation.h"
#include "runtime/terminal/printable.h"

namespace lehr::commands {
namespace {

/// Posterior predictive p-values below this, or above 1 minus this, are marked.
constexpr double kUnlikely = 0.025;
/// If there are more checks than this, only the marked ones are printed.
constexpr std::size_t kManyChecks = 24;
/// A factor is marked if its sd is less than this fraction of the sd by linear response.
constexpr double kNarrow = 0.9;

/// Returns what a value of k-hat means for the fit, by the thresholds of Vehtari et al. (2024).
std::string verdict(const ParetoDiagnosis& p) {
  if (p.equal) return "all ratios are equal: q is the posterior";
  if (p.k_hat < p.threshold)
    return fmt::format("below {:.2f}: q is near the posterior, and draws weighted by the ratios are good for {:.0f}",
                       p.threshold, p.effective);
  if (p.k_hat < 1)
    return fmt::format(
        "above {:.2f}: q misses parts of the posterior; its means may be right, its sds and tails are too small",
        p.threshold);
  return "above 1: q is far off in some direction; its sds are too small, and its means may be off, too";
}

/// Appends the result of the importance ratios.
void add_ratios(const Diagnosed& d, fmt::memory_buffer& out) {
  auto to = std::back_inserter(out);
  if (!d.ratios_missing_reason.empty()) {
    fmt::format_to(to, "Pareto k-hat: none ({})\n", printable(d.ratios_missing_reason));
    return;
  }
  const std::string k = d.pareto.equal ? "" : fmt::format(" {:.2f}", d.pareto.k_hat);
  fmt::format_to(to, "Pareto k-hat of {} draws{}: {}\n", d.draws, k, verdict(d.pareto));
  if (d.has_widened)
    fmt::format_to(to, "Pareto k-hat with the sds by linear response {:.2f}: draws are good for {:.0f}\n",
                   d.widened.k_hat, d.widened.effective);
  fmt::format_to(to, "  drawn: {}", fmt::join(d.ratios.drawn, ", "));
  if (!d.ratios.summed.empty()) fmt::format_to(to, "; summed out: {}", fmt::join(d.ratios.summed, ", "));
  fmt::format_to(to, "\n");
}

/// Appends the table of standard deviations by linear response.
void add_response(const Diagnosed& d, fmt::memory_buffer& out) {
  auto to = std::back_inserter(out);
  if (!d.response_missing_reason.empty()) {
    fmt::format_to(to, "\nLinear response: none ({})\n", printable(d.response_missing_reason));
    return;
  }
  const bool some = !d.response.variables.empty();
  bool marked = false;
  if (some)
    fmt::format_to(to, "\n{:<20}{:>12}{:>12}{:>12}{:>8}\n", "linear response", "mean", "sd of q", "sd", "ratio");
  for (const Response& r : d.response.variables) {
    for (std::size_t k = 0; k < r.mean.size(); ++k) {
      if (std::isnan(r.response[k])) continue;
      const double ratio = r.sd[k] / r.response[k];
      marked = marked || ratio < kNarrow;
      fmt::format_to(to, "  {:<18}{:>12.5g}{:>12.4g}{:>12.4g}{:>8.2f}{}\n", r.name + subscripts(r.shape, k), r.mean[k],
                     r.sd[k], r.response[k], ratio, ratio < kNarrow ? " *" : "");
    }
  }
  if (marked) fmt::format_to(to, "  * q is narrower than linear response says\n");
  for (const std::string& why : d.response.left_out)
    fmt::format_to(to, "  without {}\n", printable(why));
}

/// Appends the table of posterior predictive checks.
void add_checks(const Diagnosed& d, fmt::memory_buffer& out) {
  auto to = std::back_inserter(out);
  if (!d.predictive.why.empty()) {
    fmt::format_to(to, "\nPosterior predictive checks: none ({})\n", printable(d.predictive.why));
    return;
  }
  fmt::format_to(to, "\n{:<28}{:>12}{:>12}{:>12}{:>8}\n", "posterior predictive checks", "observed", "replicated", "sd",
                 "p");
  std::size_t marked = 0, left_out = 0;
  for (const PredictiveCheck& c : d.predictive.checks) {
    const bool unlikely = c.p < kUnlikely || c.p > 1 - kUnlikely;
    marked += unlikely ? 1 : 0;
    if (!unlikely && d.predictive.checks.size() > kManyChecks) {
      ++left_out;
      continue;
    }
    fmt::format_to(to, "  {:<26}{:>12.5g}{:>12.5g}{:>12.3g}{:>8.3f}{}\n", c.statistic + " of " + c.variable, c.observed,
                   c.mean, c.sd, c.p, unlikely ? " *" : "");
  }
  if (marked > 0) fmt::format_to(to, "  * hardly any replicated data set is like the data in this\n");
  if (left_out > 0) fmt::format_to(to, "  and {} others, none of which is unlikely\n", left_out);
}

}  // namespace

std::string to_text(const Diagnosed& d) {
  fmt::memory_buffer out;
  fmt::format_to(std::back_inserter(out), "{}: can this fit be trusted?\n\n", printable(d.model));
  if (const std::string items = description(d.items); !items.empty())
    fmt::format_to(std::back_inserter(out), "Local variables: {}\n\n", items);
  add_ratios(d, out);
  add_response(d, out);
  add_checks(d, out);
  return fmt::to_string(out);
}

nlohmann::json to_json(const Diagnosed& d) {
  using nlohmann::json;
  const auto number = [](double x) { return std::isfinite(x) ? json(x) : json(); };
  json pareto = {{"draws", d.draws}};
  if (d.ratios_missing_reason.empty()) {
    pareto["k_hat"] = number(d.pareto.k_hat);
    pareto["equal_ratios"] = d.pareto.equal;
    pareto["threshold"] = d.pareto.threshold;
    pareto["effective_draws"] = d.pareto.effective;
    if (d.has_widened)
      pareto["linear_response"] = {{"k_hat", number(d.widened.k_hat)}, {"effective_draws", d.widened.effective}};
    pareto["drawn"] = d.ratios.drawn;
    pareto["summed_out"] = d.ratios.summed;
    pareto["log_ratios"] = d.ratios.log_ratios;
  } else {
    pareto["why_not"] = d.ratios_missing_reason;
  }
  json response = json::object(), checks = json::array();
  for (const Response& r : d.response.variables) {
    json& to = response[r.name];
    to = {{"shape", r.shape}, {"mean", json::array()}, {"sd", json::array()}, {"response_sd", json::array()}};
    for (std::size_t k = 0; k < r.mean.size(); ++k) {
      to["mean"].push_back(number(r.mean[k]));
      to["sd"].push_back(number(r.sd[k]));
      to["response_sd"].push_back(number(r.response[k]));
    }
  }
  for (const PredictiveCheck& c : d.predictive.checks) {
    checks.push_back({{"variable", c.variable},
                      {"statistic", c.statistic},
                      {"observed", number(c.observed)},
                      {"mean", number(c.mean)},
                      {"sd", number(c.sd)},
                      {"p", c.p}});
  }
  json out = {{"model", d.model},
              {"items", to_json(d.items)},
              {"pareto", pareto},
              {"linear_response", response},
              {"not_pulled", d.response.left_out},
              {"predictive_checks", checks}};
  if (!d.response_missing_reason.empty()) out["why_no_response"] = d.response_missing_reason;
  if (!d.predictive.why.empty()) out["why_no_checks"] = d.predictive.why;
  return out;
}

}  // namespace lehr::commands
