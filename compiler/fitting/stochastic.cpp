// Prepares stochastic variational inference, plain or with automatic annealing. The steps themselves are in
// runtime/methods/svi.h and auto_svi.h.
#include "compiler/fitting/method.h"

namespace lehr {

Needs Stochastic::needs() const {
  return {.batches = true, .gradients = options.adaptive, .streams = true, .window = options.batch};
}

std::int64_t Stochastic::most_iterations(const Engine& engine) const {
  return options.max_iterations > 0 ? steps_of(engine, options) : 0;
}

Result<Ready> Stochastic::prepare(const Ground& g) const {
  SviOptions o = options;
  o.seed = g.run_seed();
  return Ready{[o, &e = g.engine()](const OnSweep& on_sweep, Report&) { return run_svi(e, o, on_sweep); }};
}

Result<Ready> AutomaticStochastic::prepare(const Ground& g) const {
  SviOptions o = options;
  o.seed = g.run_seed();
  return Ready{[o, &e = g.engine()](const OnSweep& on_sweep, Report& report) {
                 return run_auto_svi(e, o, on_sweep, std::get<ProbeReport>(report));
               },
               ProbeReport{}};
}

}  // namespace lehr
