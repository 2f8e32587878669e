// Checks counts against the totals that constants and data give. Counts of several categories must sum to their total
// (Multinomial); one count is at most its total (Binomial). The density need not mention the total, so nothing else
// would notice a contradiction.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "compiler/binding/binder.h"
#include "compiler/model/walk.h"

namespace lehr::model {
namespace {

/// Returns the totals that a distribution can have at an element; empty if it has none, or none is determined.
std::vector<double> totals_of(Binder& b, const Distribution& d, const IndexValues& at) {
  for (const Parameter& p : d.parameters)  // a parameter that is a count is the total
    if (p.spelling->domain == math::Support::count) return values_at(b, p.value, at);
  return {};
}

/// Checks every element of one statement and reports the first contradiction.
void check_statement_totals(Binder& b, const Slot& slot, const Statement& s) {
  const std::vector<double>& x = b.out.observed[slot.variable->index()].values;
  const std::vector<const Distribution*> parts =
      s.others.empty() ? std::vector<const Distribution*>{&s.main} : distributions_of(s);
  std::size_t width = 1;
  for (std::size_t k = s.index_vars.size(); k < slot.axes.size(); ++k)
    width *= static_cast<std::size_t>(b.out.sizes[slot.axes[k].index()]);
  for (std::size_t first = 0; first + width <= x.size(); first += width) {
    double sum = 0;
    for (std::size_t i = 0; i < width; ++i)
      sum += x[first + i];
    if (std::isnan(sum)) continue;
    const IndexValues at = index_values_at(b, slot, s, first);
    const auto fits = [&](double n) { return slot.event_rank > 0 ? sum == n : sum <= n; };
    std::set<double> all;
    const bool possible = std::ranges::any_of(parts, [&](const Distribution* d) {
      const std::vector<double> totals = totals_of(b, *d, at);
      all.insert(totals.begin(), totals.end());
      return totals.empty() || std::ranges::any_of(totals, fits);
    });
    if (possible) continue;
    const bool most = all.size() > 1 && slot.event_rank == 0;
    problem(b, ExitCode::data, b.arrays.at(slot.name).source,
            fmt::format("{} {:.10g}, but the n of {} is {}{:.10g}",
                        slot.event_rank > 0 ? fmt::format("the entries from {} on sum to", element_name(b, slot, first))
                                            : element_name(b, slot, first) + " is",
                        sum, as_written(s.main).family->name, most ? "at most " : "",
                        fmt::join(most ? std::set{*all.rbegin()} : all, " or ")));
    return;
  }
}

}  // namespace

void check_totals(Binder& b) {
  for (const Slot& slot : b.slots) {
    if (!slot.variable || !b.arrays.contains(slot.name)) continue;
    const math::Support support = b.model[*slot.variable].support;
    if (support == math::Support::count || support == math::Support::counts)
      check_statement_totals(b, slot, b.model[b.model[*slot.variable].statement]);
  }
}

}  // namespace lehr::model
