// Prints the schedule: a line for each step, refresh, statistic, residual form and outer term. S is a statistic, G its
// table, R a residual form.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/density/print_density.h"
#include "compiler/schedule/schedule.h"
#include "compiler/support/overloaded.h"
#include "compiler/support/printing.h"

namespace lehr {

std::string print(const model::Model& m, const schedule::Schedule& s) {
  using namespace schedule;
  const density::Algebra& a = s.conditionals.density.algebra;
  const auto block = [&](BlockId b) {
    const conditionals::Block& x = s.conditionals[b];
    std::string out = m[x.variable].name;
    if (x.mean) out = m[*x.mean].name + ", " + out;
    return s.storage[b.index()] == Storage::fused ? out + " (streamed)" : out;
  };
  const auto axes = [&](const auto& x) {
    return "[" + listed(x.axes, [&](model::PlateId p) { return m[p].name; }) + "]";
  };
  const auto term = [&](const char* array, std::optional<std::size_t> statistic, std::optional<std::size_t> residual,
                        const Term& t) {
    if (residual) {
      const Residual& x = s.residuals[*residual];
      const char* const form = x.sides.size() == 1 ? "(R{0}^2 - squares) * {1}" : "(pairs of R{0}, R{0}') * {1}";
      return fmt::format(fmt::runtime(form), *residual, density::print(m, a, x.common));
    }
    return (statistic ? fmt::format("{}{} * ", array, *statistic) : "") + density::print(m, a, t);
  };
  std::string out;
  for (const Step& step : s.steps) {
    std::visit(Overloaded{[&](const ItemStage& i) {
                            out += fmt::format("each {}{}: {}\n", m[i.item].name, i.iterate ? " (until converged)" : "",
                                               listed(i.blocks, block));
                            for (const ItemStage::LocalTerm& t : i.terms) {
                              const auto pairs = t.outer ? s.outer[*t.outer].residual : std::nullopt;
                              out += "  " + term("G", t.statistic, pairs, t.term) + "\n";
                            }
                          },
                          [&](const BlockUpdate& u) { out += "update " + block(u.block) + "\n"; }},
               step);
  }
  const auto end =
      std::find_if(s.sweep.rbegin(), s.sweep.rend(), [](const SweepEntry& t) { return !t.refresh; }).base();
  for (auto t = s.sweep.begin(); t != s.sweep.end(); ++t) {
    if (!t->refresh) continue;
    const auto next = std::find_if(t, s.sweep.end(), [](const SweepEntry& later) { return !later.refresh; });
    out += t >= end ? fmt::format("refresh step {} at the end{}\n", t->step, t->for_elbo ? ", for the ELBO" : "")
                    : fmt::format("refresh step {} before step {}\n", t->step, next->step);
  }
  for (std::size_t k = 0; k < s.statistics.size(); ++k) {
    const Statistic& x = s.statistics[k];
    out += fmt::format("S{}{}{} = {}\n", k, axes(x),
                       x.stage         ? ""
                       : x.is_cached() ? " kept"
                                       : " once",
                       density::print(m, a, x.inner));
  }
  for (std::size_t k = 0; k < s.residuals.size(); ++k) {
    const Residual& x = s.residuals[k];
    const std::string running =
        x.maintained_by.empty() ? "" : ", kept during " + listed(x.maintained_by, block, " and ");
    for (std::size_t side = 0; side < x.sides.size(); ++side)
      out += fmt::format("R{}{}{} = {}{}\n", k, side == 0 ? "" : "'", axes(x.sides[side]),
                         density::print(m, a, x.sides[side].summand), running);
  }
  for (const OuterTerm& t : s.outer)
    out += "+ " + term("S", t.statistic, t.residual, t.term) + "\n";
  return out;
}

}  // namespace lehr
