// Prepares coordinate ascent, plain, annealed or with a search over starts. The algorithms are those of
// runtime/inference.
#include "compiler/fit/method.h"

namespace lehr {

Requirements Ascent::requirements() const {
  // Stochastic annealing adds noise to the starts of all items, which needs them all in memory.
  return {.streams = options.annealing.kind != Annealing::Kind::stochastic};
}

Result<PreparedRun> Ascent::prepare(const RunContext& g) const {
  CaviOptions o = options;
  // An extrapolation that is rejected would have to restore factors that are in the spill file, so there are none.
  if (g.engine().spills()) o.leap_after = 0;
  o.seed = g.run_seed();
  return PreparedRun{.run = [o, &e = g.engine()](const OnSweep& on_sweep, Report&) { return run_cavi(e, o, on_sweep); },
                     .fixed_point = true};
}

Result<PreparedRun> SearchedAscent::prepare(const RunContext& g) const {
  // A single block whose elements do not interact has one optimum, which the first sweep reaches.
  const std::vector<conditionals::Block>& blocks = g.analysed.schedule.conditionals.blocks;
  if (blocks.size() == 1 && !blocks[0].coupled()) {
    Result<PreparedRun> plain = Ascent{options}.prepare(g);
    if (plain) plain->many_starts = true;
    return plain;
  }
  SearchOptions o = options;
  o.seed = g.run_seed();
  o.components = components_of(g.engine());
  return PreparedRun{.run =
                         [o, start = g.start, &e = g.engine()](const OnSweep& on_sweep, Report& report) {
                           return run_search(e, o, start, on_sweep, std::get<SearchReport>(report));
                         },
                     .report = SearchReport{},
                     .fixed_point = true,
                     .many_starts = true};
}

Result<PreparedRun> AutomaticAscent::prepare(const RunContext& g) const {
  AutoOptions o = options;
  o.seed = g.run_seed();
  return PreparedRun{
      .run = [o, &e = g.engine()](const OnSweep& on_sweep,
                                  Report& report) { return run_auto(e, o, on_sweep, std::get<AutoReport>(report)); },
      .report = AutoReport{},
      .fixed_point = true};
}

}  // namespace lehr
