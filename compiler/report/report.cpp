// Assembles the report from its sections. A section without content is left out of the page and of the list of links.
#include "compiler/report/report.h"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/posterior/moments.h"
#include "compiler/report/curves.h"
#include "compiler/report/data_summary.h"
#include "compiler/report/derivation.h"
#include "compiler/report/page.h"
#include "compiler/report/scatter.h"
#include "compiler/report/trust.h"
#include "runtime/output/fit_files.h"

namespace lehr::report {
namespace {

constexpr std::size_t kNamedSizes = 12;  // most constants that are listed

/// Returns a note that something is not shown.
Markup missing(const std::string& message) { return text_element("p", message, {{"class", "quiet"}}); }

/// Returns the head of the page: the model, how the fit ended, and a list of facts.
Markup head(const Contents& c) {
  const SavedFit& fit = c.fit;
  std::vector<std::string> sizes, constants;
  for (const auto& [plate, size] : fit.sizes)
    sizes.push_back(fmt::format("{} {}", plate, size));
  for (const auto& [name, values] : fit.constants)
    if (values.size() == 1) constants.push_back(fmt::format("{} = {}", name, rounded_text(values[0])));
  if (constants.size() > kNamedSizes) constants.resize(kNamedSizes), constants.emplace_back("...");
  const auto number_if = [](double x) { return std::isfinite(x) ? number(x) : Markup(); };
  return text_element("h1", fit.model) + text_element("p", verdict(fit, c.summary), {{"class", "verdict"}}) +
         definition_list({{is_sampled(fit) ? "log joint of the last draw" : "ELBO (nats)",
                           std::isfinite(fit.elbo) ? text_element("data", fmt::format("{:.6f}", fit.elbo),
                                                                  {{"value", exact_text(fit.elbo)}})
                                                   : Markup()},
                          {"log evidence", number_if(fit.log_evidence)},
                          {"held out, nats an observation", number_if(fit.held_out)},
                          {"method", text(fit.method)},
                          {"seed", text(fmt::format("{}", fit.seed))},
                          {"seconds", number_if(fit.seconds)},
                          {"sizes", text(fmt::format("{}", fmt::join(sizes, ", ")))},
                          {"constants", text(fmt::format("{}", fmt::join(constants, ", ")))},
                          {"Lehr", text(fit.version)}});
}

/// Returns the name of a variable with its axes and event: `mu[k] over dim`.
std::string heading(const SavedVariable& v) {
  std::string out = v.name;
  if (!v.axes.empty()) out += fmt::format("[{}]", fmt::join(v.axes, ", "));
  if (!v.event.empty()) out += fmt::format(" over {}", fmt::join(v.event, ", "));
  return out;
}

/// Returns one interval plot of all variables that are scalars.
Markup scalar_intervals(const std::vector<PosteriorSummary>& all) {
  const auto first = [](const std::vector<double>& of) { return of.empty() ? std::nan("") : of[0]; };
  std::vector<Interval> entries;
  for (const PosteriorSummary& n : all)
    if (is_single(n))
      entries.push_back({n.variable->name, n.mean[0], first(n.sd), first(n.low), first(n.high), "", false});
  return entries.empty() ? Markup()
                         : text_element("h3", "Single numbers") +
                               intervals(entries, "Posterior means with central 90 % intervals.", true);
}

/// Returns a plot for each variable, and a note on the variables whose factors were not saved.
Markup posterior(const Contents& c, const PlotOptions& o) {
  const auto [all, without] = posterior_summaries(c.fit);
  const PlotContext context{c.model ? &*c.model : nullptr, c.data ? &*c.data : nullptr};
  Markup out;
  for (const PosteriorSummary& n : all) {
    if (is_single(n)) continue;
    out += element("h3", text(heading(*n.variable)) + text_element("small", " " + n.variable->family)) +
           element("div", {{"data-variable", n.variable->name}}, plot_of(c.fit, n, context, o));
  }
  out = scalar_intervals(all) + out;
  if (!without.empty()) {
    out += missing(fmt::format("Not in the directory: {}. {}", fmt::join(without, ", "), c.locals_note));
  }
  return out;
}

/// Returns a scatter plot for each mixture in the model, if model and data are available.
Markup mixture_plots(const Contents& c) {
  if (!c.model || !c.data) return {};
  Markup out;
  for (const Mixture& m : mixtures(*c.model, *c.data, c.fit)) {
    const Markup drawn = scatter(c.fit, m);
    if (!drawn.empty()) out += text_element("h3", fmt::format("{} by {}", m.observed, m.category)) + drawn;
  }
  return out;
}

/// Returns the command line of the fit.
Markup repeat(const Contents& c) {
  return element("pre", text_element("code", c.fit.command)) +
         missing(
             fmt::format("The directory of the fit is {}: {} has every number, {} how it was found, {} every sweep.",
                         c.fit.directory, kPosteriorFile, kFitFile, kTraceFile));
}

}  // namespace

std::string write(const Contents& c, const PlotOptions& o) {
  const Trace trace = read_trace(c.fit);
  return page(c.fit.model, head(c),
              {{"trust", "Can it be trusted?", trust(c.fit, c.summary, c.diagnosis)},
               {"fit", "How the fit went", curves(c.fit, trace) + candidate_runs(c.fit, c.summary)},
               {"groups", "Components among the data", mixture_plots(c)},
               {"posterior", "Posterior", posterior(c, o)},
               {"data", "Data", c.data ? data_summary(*c.model, *c.data) : missing(c.data_missing_reason)},
               {"model", "Model", c.model_text.empty() ? missing(c.model_missing_reason) : listing(c.model_text)},
               {"derivation", "Derivation", c.derivation ? derivation(*c.derivation) : Markup()},
               {"repeat", "To repeat it", repeat(c)}});
}

}  // namespace lehr::report
