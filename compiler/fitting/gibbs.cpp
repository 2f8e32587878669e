// Fits by sampling.
#include "compiler/fitting/method.h"

namespace lehr {

Result<Ready> Gibbs::prepare(const Ground& g) const {
  GibbsOptions o = options;
  o.seed = g.seed;
  o.chain = g.restart;
  return Ready{[o, &instance = g.instance](const OnSweep& on_sweep, Report& report) {
                 GibbsReport& to = std::get<GibbsReport>(report);
                 return run_gibbs(instance.engine(), o, on_sweep, [&](double log_joint) {
                   instance.add_draw(to.draws);
                   to.log_joint.push_back(log_joint);
                 });
               },
               GibbsReport{}};
}

}  // namespace lehr
