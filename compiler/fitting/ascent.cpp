// Fits by coordinate ascent.
#include "compiler/fitting/method.h"

namespace lehr {

Result<Ready> Ascent::prepare(const Ground& g) const {
  CaviOptions o = options;
  o.seed = g.run_seed();
  return Ready{[o, &e = g.engine()](const OnSweep& on_sweep, Report&) { return run_cavi(e, o, on_sweep); }};
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
