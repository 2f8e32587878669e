// Counts against their totals: of counts of several categories the sum, of a count the largest it can be. The
// density of a row need not mention its total, so that data that contradict it would go unnoticed.
#include <fmt/format.h>

#include <cmath>

#include "compiler/model/binder.h"

namespace lehr::model {
namespace {

void check(Binder& b, const Slot& slot, const Statement& s, const Parameter& total) {
  const std::vector<double>& x = b.out.observed[slot.variable->index()].values;
  std::size_t width = 1;
  for (std::size_t k = s.bounds.size(); k < slot.axes.size(); ++k)
    width *= static_cast<std::size_t>(b.out.sizes[slot.axes[k].index()]);
  for (std::size_t first = 0; first + width <= x.size(); first += width) {
    double sum = 0;
    for (std::size_t i = 0; i < width; ++i)
      sum += x[first + i];
    if (std::isnan(sum)) continue;
    const std::optional<double> n = value_at(b, total.value, bounds_at(b, slot, s, first));
    if (!n || (slot.event_rank > 0 ? sum == *n : sum <= *n)) continue;
    problem(b, ExitCode::data, b.arrays.at(slot.name).source,
            fmt::format("{} {:.10g}, but the {} of {} is {:.10g}",
                        slot.event_rank > 0 ? fmt::format("the entries from {} on sum to", element_name(b, slot, first))
                                            : element_name(b, slot, first) + " is",
                        sum, total.spelling->name, as_written(s.main).family->name, *n));
    return;
  }
}

}  // namespace

void check_totals(Binder& b) {
  for (const Slot& slot : b.slots) {
    if (!slot.variable || !b.arrays.contains(slot.name)) continue;
    const math::Support support = b.model[*slot.variable].support;
    if (support != math::Support::count && support != math::Support::counts) continue;
    const Statement& s = b.model[b.model[*slot.variable].statement];
    for (const Parameter& p : s.main.parameters) {
      if (p.spelling->domain == math::Support::count) check(b, slot, s, p);  // a count of what is counted
    }
  }
}

}  // namespace lehr::model
