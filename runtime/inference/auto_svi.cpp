// The probe of stochastic annealing: entropies of a sample of items at rising temperatures. The melting temperature is
// where the entropy rises by the largest step; the heating stops when the steps have become clearly smaller again.
#include "runtime/inference/auto_svi.h"

#include <algorithm>
#include <cmath>

#include "runtime/inference/batches.h"

namespace lehr {
namespace {

constexpr double kPast = 0.7;               // a rise below this fraction of the steepest one comes after the transition
constexpr double kRisen = 0.02;             // rise, as a fraction of the largest entropy, that counts as one
constexpr std::int64_t kPlainSteps = 10;    // plain steps before the heating
constexpr std::int64_t kWarmup = 5;         // full steps at temperature 1 before the heating
constexpr std::int64_t kHeatedItems = 100;  // items of the heating
constexpr std::uint64_t kProbe = 0x9B0BE;   // added to the seed, so that the items differ from those of the run

/// Makes a full step (of size 1) from these items at a temperature and writes the discrete entropy after it. Returns 0
/// or a status of the generated code.
std::int32_t heat(const Engine& e, const SviOptions& o, std::span<const std::int64_t> items, double temperature,
                  double& entropy) {
  Weights w;
  w.local_data = w.global_data = 1 / temperature;
  e.set(w);
  if (const std::int32_t status = step(e, o, items)) return status;
  Elbo elbo;
  if (const std::int32_t status = e.elbo(elbo)) return status;
  entropy = elbo.discrete_entropy;
  return 0;
}

/// Heats a sample of items and finds the melting temperature. The caller restores the state. Returns 0 or a status of
/// the generated code.
std::int32_t probe(const Engine& e, const SviOptions& o, ProbeReport& report) {
  const WeightsGuard plain{e};
  const std::int64_t items = e.items();
  Batches batches(items, batch_of(e, o), o.replacement && e.minibatches(), o.seed + kProbe);
  for (std::int64_t t = 0; t < kPlainSteps; ++t) {
    Weights w;
    w.step = step_size(o, t);
    e.set(w);
    if (const std::int32_t status = step(e, o, batches.next())) return status;
  }
  const std::vector<std::int64_t> some =
      Batches(items, e.minibatches() ? kHeatedItems : items, false, o.seed + kProbe + 1).next();
  double entropy = 0, hot = 0;
  const Snapshot state = e.snapshot_state();
  if (const std::int32_t status = heat(e, o, some, kInfiniteTemperature, hot)) return status;
  e.load(state);
  if (!(std::isfinite(hot) && hot > 0)) return 0;
  for (std::int64_t k = 0; k < kWarmup; ++k) {
    if (const std::int32_t status = heat(e, o, some, 1, entropy)) return status;
  }
  double fraction = entropy / hot, lowest = fraction, steepest = 0;
  report.heating.push_back({1, fraction});
  for (double t = kHotter; t < kHottest; t *= kHotter) {
    if (const std::int32_t status = heat(e, o, some, t, entropy)) return status;
    const double rise = entropy / hot - fraction;
    fraction += rise;
    report.heating.push_back({t, fraction});
    lowest = std::min(lowest, fraction);
    if (rise > steepest) {
      steepest = rise;
      report.melting = t / std::sqrt(kHotter);
    }
    if (fraction > lowest + kRisen && rise < kPast * steepest) break;
  }
  if (fraction <= lowest + kRisen) report.melting = 0;
  const auto sweeps = kWarmup + static_cast<std::int64_t>(report.heating.size());
  const auto seen = sweeps * static_cast<std::int64_t>(some.size());
  report.steps = kPlainSteps + (seen + batch_of(e, o) - 1) / batch_of(e, o);
  return 0;
}

}  // namespace

Outcome run_auto_svi(const Engine& e, const SviOptions& options, const OnSweep& on_step, ProbeReport& report) {
  SviOptions o = options;  // without a stage there are no local variables to melt, and the run is a plain one
  if (machine::batch_stage(e.model())) {
    const Snapshot start = e.snapshot_state();
    if (const std::int32_t status = probe(e, o, report)) return failure(e, status, {});
    e.load(start);
    if (const std::int32_t status = e.prepare()) return failure(e, status, {});
    const std::int64_t steps = steps_of(e, o), left = std::max(steps - report.steps, (steps + 1) / 2);
    const auto a_pass = static_cast<double>(batches_of(e.items(), batch_of(e, o)));
    o.epochs = (static_cast<double>(left) - 0.5) / a_pass;
    if (report.melting > 0) {
      report.over = left / 3;
      o.annealing.from = report.melting;
      o.annealing.over = report.over;
    }
  }
  return run_svi(e, o, on_step);
}

}  // namespace lehr
