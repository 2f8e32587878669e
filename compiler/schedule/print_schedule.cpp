// One line a step, a statistic, a term.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/density/print_density.h"
#include "compiler/schedule/schedule.h"
#include "compiler/support/overloaded.h"

namespace lehr {

std::string print(const model::Model& m, const schedule::Schedule& s) {
  using namespace schedule;
  const density::Algebra& a = s.conditionals.density.algebra;
  const auto block = [&](BlockId b) {
    const conditionals::Block& x = s.conditionals[b];
    std::string out = m[x.variable].name;
    if (x.mean) out = m[*x.mean].name + ", " + out;
    return s.storage[b.index()] == Storage::streamed ? out + " (streamed)" : out;
  };
  const auto axes = [&](const Statistic& x) {
    std::vector<std::string> names;
    for (model::PlateId p : x.axes)
      names.push_back(m[p].name);
    return fmt::format("[{}]", fmt::join(names, ", "));
  };
  std::string out;
  for (const Step& step : s.steps) {
    std::visit(Overloaded{[&](const ItemStage& i) {
                            std::vector<std::string> names;
                            for (BlockId b : i.blocks)
                              names.push_back(block(b));
                            out += fmt::format("each {}{}: {}\n", m[i.item].name,
                                               i.iterate ? " (until settled)" : "", fmt::join(names, ", "));
                            for (const ItemStage::LocalTerm& t : i.terms) {
                              out += fmt::format("  {}{}\n",
                                                 t.statistic ? fmt::format("G{} * ", *t.statistic) : "",
                                                 density::print(m, a, t.term));
                            }
                          },
                          [&](const BlockUpdate& u) { out += "update " + block(u.block) + "\n"; }},
               step);
  }
  for (std::size_t k = 0; k < s.sweep.size(); ++k) {
    if (!s.sweep[k].refresh) continue;
    out += k + 1 == s.sweep.size()
               ? fmt::format("refresh step {} at the end\n", s.sweep[k].step)
               : fmt::format("refresh step {} before step {}\n", s.sweep[k].step, s.sweep[k + 1].step);
  }
  for (std::size_t k = 0; k < s.statistics.size(); ++k) {
    const Statistic& x = s.statistics[k];
    out += fmt::format("S{}{}{} = {}\n", k, axes(x), x.stage ? "" : " once", density::print(m, a, x.inner));
  }
  for (const OuterTerm& t : s.outer) {
    out += fmt::format("+ {}{}\n", t.statistic ? fmt::format("S{} * ", *t.statistic) : "",
                       density::print(m, a, t.term));
  }
  return out;
}

}  // namespace lehr
