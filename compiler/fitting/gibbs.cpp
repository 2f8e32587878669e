// Fits by sampling.
#include "compiler/fitting/method.h"

namespace lehr {
namespace {

/// A run whose draws are kept in its report. `run(engine, on_sweep, on_draw)`.
template <class Run>
Ready recorded(const Instance& instance, const Run& run) {
  return {[run, &instance](const OnSweep& on_sweep, Report& report) {
            GibbsReport& to = std::get<GibbsReport>(report);
            return run(instance.engine(), on_sweep, [&](double log_joint) {
              instance.add_draw(to.draws);
              to.log_joint.push_back(log_joint);
            });
          },
          GibbsReport{}};
}

}  // namespace

Result<Ready> Gibbs::prepare(const Ground& g) const {
  GibbsOptions o = options;
  o.seed = g.seed;
  o.chain = g.restart;
  return recorded(g.instance, [o](const Engine& e, const OnSweep& on_sweep, const auto& on_draw) {
    return run_gibbs(e, o, on_sweep, on_draw);
  });
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
  return recorded(g.instance, [o](const Engine& e, const OnSweep& on_sweep, const auto& on_draw) {
    return run_exact(e, o, on_sweep, on_draw);
  });
}

}  // namespace lehr
