// The section on trust: warnings recorded by the fit, statistics of chains, and the results of `lehr diagnose`. All
// numbers come from JSON files that users may have edited, so they are read with json_fields.h.
#include "compiler/report/trust.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "compiler/posterior/moments.h"
#include "compiler/report/json_fields.h"
#include "compiler/report/page.h"
#include "runtime/output/fit_files.h"

namespace lehr::report {
namespace {

using nlohmann::json;

// Thresholds of `lehr diagnose`: ratio of standard deviations, and tail probability.
constexpr double kNarrow = 0.9, kUnlikely = 0.025;
constexpr std::size_t kMostRows = 30;  // most rows of a table

/// Returns a text with the parts between backticks as code.
Markup with_code_spans(std::string_view message) {
  Markup out;
  for (bool code = false;; code = !code) {
    const std::size_t end = message.find('`');
    const std::string_view part = message.substr(0, end);
    if (!part.empty()) out += code ? text_element("code", part) : text(part);
    if (end == message.npos) return out;
    message.remove_prefix(end + 1);
  }
}

/// Returns a warning with its notes.
Markup warning(std::string_view message, const std::vector<std::string>& notes) {
  Markup out = text_element("b", "Warning: ") + with_code_spans(message);
  for (const std::string& note : notes)
    out += element("small", with_code_spans(note));
  return element("div", {{"class", "warning"}}, out);
}

/// Returns all warnings of the fit. Fits of versions that did not record their warnings get those that follow from the
/// status.
Markup warnings(const SavedFit& fit, const json& summary) {
  Markup out;
  if (fit.status == "max_iter" && !is_sampled(fit) && !summary.contains("warnings")) {
    const double left = number_at(summary, "left_to_gain");
    const double sweeps = number_at(summary, "left_sweeps");
    const std::string in = sweeps > 0 ? fmt::format(", in about {} more sweeps", rounded_text(sweeps)) : "";
    out += warning("the fit was stopped before it converged",
                   std::isnan(left) ? std::vector<std::string>()
                                    : std::vector{fmt::format("about {:.2g} nats of ELBO left to gain{}", left, in)});
  } else if (fit.status == "interrupted" || fit.status == "numerical_failure") {
    out +=
        warning(fit.status == "interrupted" ? "the fit was interrupted" : "the fit ended with a numerical failure", {});
  }
  const json all = list_at(summary, "warnings");
  for (const json& w : all) {
    std::vector<std::string> notes;
    const json recorded_notes = list_at(w, "notes");
    for (const json& note : recorded_notes)
      if (note.is_string()) notes.push_back(note.get<std::string>());
    out += warning(text_at(w, "text"), notes);
  }
  if (fit.other_trace) out += warning(fmt::format("{} is of another fit; its curves are not shown", kTraceFile), {});
  if (!fit.sds.empty())
    out += text_element("p", "The standard deviations of what all items share are those by linear response.");
  if (!summary.contains("warnings"))
    out += text_element("p", "The fit did not record its warnings.", {{"class", "quiet"}});
  else if (out.empty()) out = text_element("p", "The fit gave no warning.");
  const json elbo_notes = list_at(summary, "elbo_notes");
  for (const json& note : elbo_notes)
    if (note.is_string()) out += text_element("p", "The ELBO: " + note.get<std::string>() + ".");
  return out;
}

/// Returns a table of sampled variables with the worst R-hat and effective sample sizes of each.
Markup chains(const SavedFit& fit) {
  // Numbers that never vary have NaN.
  const auto largest = [](const NamedArray& a) {
    return std::accumulate(a.values.begin(), a.values.end(), std::nan(""),
                           [](double x, double y) { return std::fmax(x, y); });
  };
  const auto least = [](const NamedArray& a) {
    return std::accumulate(a.values.begin(), a.values.end(), std::nan(""),
                           [](double x, double y) { return std::fmin(x, y); });
  };
  Table t{{"variable", "numbers", "largest R-hat", "least bulk ESS", "least tail ESS"}, {}};
  for (const SavedVariable& v : fit.variables) {
    const NamedArray *r_hat = v.find(kDrawnRHat), *bulk = v.find(kDrawnEssBulk), *tail = v.find(kDrawnEssTail);
    if (!r_hat || !bulk || !tail || r_hat->values.empty()) continue;
    t.rows.push_back({text(v.name), text(fmt::format("{}", r_hat->values.size())), number(largest(*r_hat)),
                      number(least(*bulk)), number(least(*tail))});
  }
  return t.rows.empty() ? Markup() : text_element("h3", "Chains") + markup(t);
}

/// Returns what Pareto k-hat says of the fit.
Markup ratios(const json& diagnosis) {
  const json pareto = field(diagnosis, "pareto");
  if (const std::string why = text_at(pareto, "why_not"); !why.empty())
    return text_element("p", "No Pareto k-hat: " + why + ".");
  if (is_true(pareto, "equal_ratios")) return text_element("p", "All importance ratios are equal: q is the posterior.");
  const double k = number_at(pareto, "k_hat"), threshold = number_at(pareto, "threshold");
  const char* interpretation =
      k < threshold ? ": q is near the posterior."
      : k < 1       ? ": q misses parts of the posterior; its means may be right, its standard deviations and "
                      "tails are too small."
                    : ": q is far off in some direction; its standard deviations are too small, and its means "
                      "may be off, too.";
  return element("p", text("Pareto k-hat ") + number(k) + text(fmt::format(" (good below {:.2f})", threshold)) +
                          text(interpretation));
}

/// Returns the name of an element at a row-major position: `mu[0, 3]`.
std::string subscripts(const std::string& name, const std::vector<double>& shape, std::size_t position) {
  std::vector<std::int64_t> extents;
  for (const double e : shape)
    extents.push_back(e >= 1 && e < 1e15 ? static_cast<std::int64_t>(e) : 1);
  const std::string all = fmt::format("{}", fmt::join(unravel(extents, position), ", "));
  return all.empty() ? name : name + "[" + all + "]";
}

/// Returns a table of the scalars whose standard deviation is too small according to linear response.
Markup responses(const json& diagnosis) {
  Table t{{"too narrow", "mean", "sd of q", "sd by linear response", "ratio"}, {}};
  std::size_t all = 0;
  const json variables = field(diagnosis, "linear_response");
  for (const auto& [name, r] : variables.items()) {
    const std::vector<double> mean = doubles_at(r, "mean"), sd = doubles_at(r, "sd"),
                              answer = doubles_at(r, "response_sd"), shape = doubles_at(r, "shape");
    for (std::size_t k = 0; k < std::min({mean.size(), sd.size(), answer.size()}); ++k) {
      const double ratio = sd[k] / answer[k];
      if (std::isnan(ratio)) continue;
      ++all;
      if (ratio < kNarrow && t.rows.size() < kMostRows)
        t.rows.push_back(
            {text(subscripts(name, shape, k)), number(mean[k]), number(sd[k]), number(answer[k]), number(ratio)});
    }
  }
  if (all == 0) return {};
  if (t.rows.empty())
    return text_element("p", fmt::format("No standard deviation of {} is too small by linear response.", all));
  return markup(t);
}

/// Returns a table of the posterior predictive checks with unlikely results.
Markup checks(const json& diagnosis) {
  Table t{{"data that the model hardly makes", "observed", "replicated", "sd", "p"}, {}};
  const json all = list_at(diagnosis, "predictive_checks");
  for (const json& c : all) {
    const double p = number_at(c, "p");
    if ((p < kUnlikely || p > 1 - kUnlikely) && t.rows.size() < kMostRows)
      t.rows.push_back({text(text_at(c, "statistic") + " of " + text_at(c, "variable")),
                        number(number_at(c, "observed")), number(number_at(c, "mean")), number(number_at(c, "sd")),
                        number(p)});
  }
  if (all.empty()) return {};
  if (t.rows.empty())
    return text_element("p", fmt::format("None of {} posterior predictive checks is unlikely.", all.size()));
  return markup(t);
}

}  // namespace

std::string verdict(const SavedFit& fit, const json& summary) {
  const bool drawn = is_sampled(fit);
  std::string came = drawn && fit.status == "max_iter" ? "sampled" : fit.status == "max_iter" ? "stopped" : fit.status;
  std::ranges::replace(came, '_', ' ');
  std::string out = fmt::format("{} after {} {}", came, fit.iterations, drawn ? "draws" : "sweeps");
  if (const double decreases = number_at(summary, "elbo_decreases"); decreases > 0)
    out += fmt::format("; the ELBO fell in {} of them", rounded_text(decreases));
  return out;
}

Markup trust(const SavedFit& fit, const json& summary, const json& diagnosis) {
  Markup out = warnings(fit, summary) + chains(fit);
  if (is_sampled(fit)) return out;
  if (!diagnosis.is_object()) {
    return out + element("p", {{"class", "quiet"}},
                         text("How far the factors are from the posterior is not known here: ") +
                             text_element("code", "lehr diagnose") +
                             text(" finds out, and a report that is made after it says so."));
  }
  return out + text_element("h3", "Diagnosis") + ratios(diagnosis) + responses(diagnosis) + checks(diagnosis);
}

}  // namespace lehr::report
