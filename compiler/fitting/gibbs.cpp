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

Result<Ready> Exact::prepare(const Ground& g) const {
  if (const std::string why = not_exact(g.engine()); !why.empty())
    return Error{ExitCode::model,
                 option("method"),
                 "this model has no exact samples: " + why,
                 {"method gibbs takes it: its draws are exact in the limit of many sweeps"}};
  ExactOptions o = options;
  o.seed = g.seed;
  o.chain = g.restart;
  return Ready{[o, &instance = g.instance](const OnSweep& on_sweep, Report& report) {
                 GibbsReport& to = std::get<GibbsReport>(report);
                 return run_exact(instance.engine(), o, on_sweep, [&](double log_joint) {
                   instance.add_draw(to.draws);
                   to.log_joint.push_back(log_joint);
                 });
               },
               GibbsReport{}};
}

}  // namespace lehr
