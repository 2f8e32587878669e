// Fits by sampling.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/fitting/method.h"

namespace lehr {
namespace {

/// A run whose draws are kept in its report. `run(engine, on_sweep, on_draw, report)`.
template <class Run>
Ready recorded(const Instance& instance, const Run& run) {
  return {[run, &instance](const OnSweep& on_sweep, Report& report) {
            GibbsReport& to = std::get<GibbsReport>(report);
            const auto on_draw = [&](double log_joint) {
              instance.add_draw(to.draws);
              to.log_joint.push_back(log_joint);
            };
            return run(instance.engine(), on_sweep, on_draw, to);
          },
          GibbsReport{}};
}

}  // namespace

Result<Ready> Gibbs::prepare(const Ground& g) const {
  GibbsOptions o = options;
  o.seed = g.seed;
  o.chain = g.restart;
  return recorded(g.instance, [o](const Engine& e, const OnSweep& on_sweep, const auto& on_draw, GibbsReport&) {
    return run_gibbs(e, o, on_sweep, on_draw);
  });
}

Result<Ready> TemperedGibbs::prepare(const Ground& g) const {
  for (const density::Origin& origin : g.analysed.schedule.conditionals.density.origins) {
    if (!origin.improper) continue;
    const model::Model& m = g.analysed.model;
    return Error{ExitCode::model,
                 option("temper"),
                 fmt::format("the prior of '{}' is improper: it has no states at the temperature of the prior",
                             m[m[*origin.statement].variable].name),
                 {fmt::format("a proper prior, however wide, or no {}", option("temper"))}};
  }
  LadderOptions o = options;
  o.seed = g.seed;
  o.chain = g.restart;
  // Polya-Gamma variables are drawn at a power and belong to it.
  o.exchange = std::ranges::none_of(g.analysed.model.variables, [](const model::Variable& v) {
    return v.auxiliary && v.auxiliary->kind == model::Auxiliary::Kind::bound;
  });
  return recorded(g.instance, [o](const Engine& e, const OnSweep& on_sweep, const auto& on_draw, GibbsReport& to) {
    Evidence evidence;
    Outcome out = run_parallel_tempering(e, o, on_sweep, on_draw, evidence);
    if (!evidence.powers.empty()) to.evidence = std::move(evidence);
    return out;
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
  return recorded(g.instance, [o](const Engine& e, const OnSweep& on_sweep, const auto& on_draw, GibbsReport&) {
    return run_exact(e, o, on_sweep, on_draw);
  });
}

}  // namespace lehr
