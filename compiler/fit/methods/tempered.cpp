// Prepares variational tempering, by coordinate ascent or stochastic steps. Before the run it checks whether a
// normaliser computed over the prior would keep the temperature above 1.
#include <fmt/format.h>

#include "compiler/fit/methods/tempering.h"
#include "runtime/inference/saddle.h"
#include "runtime/search/pilot_run.h"

namespace lehr {
namespace {

/// Returns a warning if the temperature cannot come down to 1 with the prior's normaliser. With energy E, the factor of
/// T is largest where E / T - log C(T) is. Since log C is convex in 1 / T, that is at T = 1 only if E is at least the
/// slope of log C there.
Result<std::vector<Diagnostic>> foresee(const TemperingReport& t, const Engine& engine, const SviOptions& options) {
  std::vector<Diagnostic> out;
  if (t.normaliser != "prior" || t.log_c.size() < 2) return out;
  const double needed = (t.log_c[1] - t.log_c[0]) / (1 / t.temperatures[1] - 1 / t.temperatures[0]);
  // A few sweeps show how large E becomes.
  double reached = 0;
  if (const std::int32_t status = pilot_energy(engine, options, reached))
    return Error{ExitCode::numerical, "", engine.describe(status), {}};
  if (reached >= needed) return out;
  out.push_back(make_warning(
      fmt::format("the normaliser (prior) keeps the temperature above 1: it expects data with a log density of "
                  "{:.6g} nats, and ten sweeps bring these data to {:.6g}",
                  needed, reached),
      {"normaliser=posterior is found from the factors as they are, and comes down with them"}));
  return out;
}

/// Makes the normaliser, checks it, and prepares the run that `make` returns for it. `finished`: ascent at temperature
/// 1 follows.
template <class Make>
Result<PreparedRun> prepare_tempered(const TemperSettings& settings, const SviOptions& reach, const RunContext& context,
                                     bool finished, const Make& make) {
  Result<Tempering> tempering = Tempering::make(settings, context);
  if (!tempering) return tempering.error();
  Result<std::vector<Diagnostic>> warnings = foresee(tempering->report(), context.engine(), reach);
  if (!warnings) return warnings.error();
  TemperingReport report = tempering->report();
  report.finished = finished;
  return PreparedRun{make(*tempering), std::move(report), std::move(*warnings)};
}

}  // namespace

Result<PreparedRun> TemperedAscent::prepare(const RunContext& g) const {
  SviOptions reach;
  static_cast<CaviOptions&>(reach) = options;
  return prepare_tempered(temper, reach, g, true, [&](const Tempering& t) {
    CaviOptions o = options;
    o.seed = g.run_seed();
    return [o, t, tested = tests_end(o, g), &e = g.engine()](const OnSweep& on_sweep, Report& report) {
      TemperReport& to = std::get<TemperingReport>(report);
      const Outcome out = t.report().local ? run_items_tempered(e, o, t.items(), on_sweep, to)
                                           : run_tempered(e, {o, t.grid()}, on_sweep, to);
      return tested ? leave_saddles(e, o, out, on_sweep) : out;
    };
  });
}

Requirements TemperedStochastic::requirements() const {
  return {.batches = true, .gradients = options.adaptive, .item_temperatures = temper.local};
}

Result<PreparedRun> TemperedStochastic::prepare(const RunContext& g) const {
  return prepare_tempered(temper, options, g, false, [&](const Tempering& t) {
    SviOptions o = options;
    o.seed = g.run_seed();
    if (t.report().local) o.items = t.items();
    else o.grid = t.grid();
    return [o, &e = g.engine()](const OnSweep& on_sweep, Report& report) {
      return run_svi(e, o, on_sweep, &std::get<TemperingReport>(report));
    };
  });
}

}  // namespace lehr
