// Prepares coordinate ascent, plain, annealed or with a search over starts. The algorithms are those of
// runtime/inference.
#include <utility>

#include "compiler/conditionals/one_optimum.h"
#include "compiler/fit/methods/method.h"
#include "runtime/inference/saddle.h"
#include "runtime/search/sigma_points.h"

namespace lehr {

bool tests_end(const CaviOptions& options, const RunContext& g) {
  // Differences of sweeps need 64 bits.
  return options.test_end && options.slack.movement < kSingleSlack.movement && can_test_end(g.engine());
}

Requirements Ascent::requirements() const {
  // Stochastic annealing makes other random starts, which need all items in memory.
  return {.invariances = options.uses_invariances(), .streams = options.annealing.kind != Annealing::Kind::stochastic};
}

Result<PreparedRun> Ascent::prepare(const RunContext& g) const {
  CaviOptions o = options;
  // An extrapolation that is rejected would have to restore factors that are in the spill file, so there are none.
  if (g.engine().spills()) o.leap_after = 0;
  o.seed = g.run_seed();
  // Heat, and start values that may be symmetric, lead to saddle points; displaced random starts only where products
  // of factors vanish.
  const bool always = o.annealing.over > 0 || g.given || g.start == StartKind::flat;
  const bool products = conditionals::has_products(g.analysed.model, g.analysed.schedule.conditionals);
  const bool tested = tests_end(o, g) && (always || products);
  return PreparedRun{.run =
                         [o, tested, always, &e = g.engine()](const OnSweep& on_sweep, Report&) {
                           const auto run = [&](std::span<const std::int64_t> items) {
                             CaviOptions some = o;
                             some.items = items;
                             return run_cavi(e, some, on_sweep);
                           };
                           const Outcome out =
                               o.annealing.over > 0 ? run({}) : run_on_sigma_points(e, o, on_sweep, run);
                           return tested && (always || has_means_at_zero(e)) ? leave_saddles(e, o, out, on_sweep) : out;
                         },
                     .fixed_point = true};
}

Result<PreparedRun> SearchedAscent::prepare(const RunContext& g) const {
  SearchOptions o = options;
  o.seed = g.run_seed();
  o.components = components_of(g.engine());
  const std::optional<std::string> one_optimum =
      conditionals::why_one_optimum(g.analysed.model, g.analysed.schedule.conditionals);
  o.one_optimum = one_optimum.has_value();
  o.products = conditionals::has_products(g.analysed.model, g.analysed.schedule.conditionals);
  o.agreement = !o.cycles && o.elbo_every == 1 &&
                conditionals::starts_may_agree(g.analysed.model, g.analysed.schedule.conditionals);
  SearchReport report;
  report.one_optimum = one_optimum.value_or("");
  return PreparedRun{
      .run =
          [o, start = g.start, &e = g.engine(), why = report.one_optimum](const OnSweep& on_sweep, Report& report) {
            return run_on_sigma_points(e, o, on_sweep, [&](std::span<const std::int64_t> items) {
              SearchOptions some = o;
              some.items = items;
              SearchReport& found = std::get<SearchReport>(report);
              found = SearchReport();
              found.one_optimum = why;
              return run_search(e, some, start, on_sweep, found);
            });
          },
      .report = std::move(report),
      .fixed_point = true,
      .many_starts = true};
}

Result<PreparedRun> AutomaticAscent::prepare(const RunContext& g) const {
  AutoOptions o = options;
  o.seed = g.run_seed();
  return PreparedRun{.run =
                         [o, tested = tests_end(o, g), &e = g.engine()](const OnSweep& on_sweep, Report& report) {
                           const Outcome out = run_auto(e, o, on_sweep, std::get<AutoReport>(report));
                           return tested ? leave_saddles(e, o, out, on_sweep) : out;
                         },
                     .report = AutoReport{},
                     .fixed_point = true};
}

}  // namespace lehr
