// Fits by coordinate ascent.
#include "compiler/fitting/method.h"

namespace lehr {

Needs Ascent::needs() const {
  // Noise is found in starts of all items.
  return {.streams = options.annealing.kind != Annealing::Kind::stochastic};
}

Result<Ready> Ascent::prepare(const Ground& g) const {
  CaviOptions o = options;
  // A leap that is taken back brings back the factors of items.
  if (g.engine().spills()) o.leap_after = 0;
  o.seed = g.run_seed();
  return Ready{[o, &e = g.engine()](const OnSweep& on_sweep, Report&) { return run_cavi(e, o, on_sweep); }};
}

Result<Ready> SearchedAscent::prepare(const Ground& g) const {
  // One block that no term holds twice has one optimum, and the first sweep is there.
  const std::vector<conditionals::Block>& blocks = g.analysed.schedule.conditionals.blocks;
  if (blocks.size() == 1 && !blocks[0].coupled()) return Ascent{options}.prepare(g);
  SearchOptions o = options;
  o.seed = g.run_seed();
  o.components = components_of(g.engine());
  return Ready{[o, start = g.start, &e = g.engine()](const OnSweep& on_sweep, Report& report) {
                 return run_search(e, o, start, on_sweep, std::get<SearchReport>(report));
               },
               SearchReport{}};
}

Result<Ready> AutomaticAscent::prepare(const Ground& g) const {
  AutoOptions o = options;
  o.seed = g.run_seed();
  return Ready{[o, &e = g.engine()](const OnSweep& on_sweep, Report& report) {
                 return run_auto(e, o, on_sweep, std::get<AutoReport>(report));
               },
               AutoReport{}};
}

}  // namespace lehr
