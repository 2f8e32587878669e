// Variational tempering, with one latent temperature or one for each item: sweeps at E[1/T] alternate with updates of
// the temperature's factor; coordinate ascent at temperature 1 follows.
#include "runtime/inference/temper.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/inference/cancelled.h"
#include "runtime/machine/temperature.h"

namespace lehr {

std::vector<double> temperature_factor(double energy, const std::vector<double>& temperatures,
                                       const std::vector<double>& log_c) {
  std::vector<double> r(temperatures.size());
  machine::temperature_factor(temperatures, log_c, energy, r.data());
  return r;
}

double mean_inverse(const std::vector<double>& r, const std::vector<double>& temperatures) {
  double out = 0;
  for (std::size_t m = 0; m < r.size(); ++m)
    out += r[m] / temperatures[m];
  return out;
}

Outcome run_tempered(const Engine& e, const TemperOptions& o, const OnSweep& on_sweep, TemperReport& report) {
  Outcome out;
  const WeightsGuard plain{e};
  if (const std::int32_t status = prepare_statistics(e)) return failure(e, status, out);
  const auto levels = static_cast<double>(o.temperatures.size());
  std::vector<double> r(o.temperatures.size(), 1 / levels), log_c = e.recorded([&] { return o.log_normaliser({}); });
  double previous = -INFINITY;
  while (out.iterations < o.max_iterations) {
    const double b = mean_inverse(r, o.temperatures);
    Weights w;
    w.local_data = w.global_data = b;
    e.set(w);
    if (const std::int32_t status = sweep(e, o)) return failure(e, status, out);
    Elbo elbo;
    if (const std::int32_t status = e.elbo(elbo)) return failure(e, status, out);
    ++out.iterations;
    out.elbo = elbo.value;
    if (!check_elbo(out.elbo, out)) return out;
    if (out.iterations % o.every == 0) {
      if (!o.constant) log_c = e.recorded([&] { return o.log_normaliser({}); });
      r = temperature_factor(elbo.data_energy, o.temperatures, log_c);
    }
    // The tempered ELBO: the energy of the data at E[1/T], and the temperature's own terms E[log prior / r] - E[log C].
    double objective = elbo.value - (1 - mean_inverse(r, o.temperatures)) * elbo.data_energy;
    for (std::size_t m = 0; m < r.size(); ++m)
      objective += (r[m] > 0 ? -r[m] * std::log(r[m] * levels) : 0) - r[m] * log_c[m];
    if (o.constant && objective < previous - allowed_fall(o.slack.elbo, objective, elbo)) ++out.decreases;
    const bool keep = on_sweep({out.iterations, out.elbo, 1 / b, objective});
    const bool converged = out.iterations % o.every == 0 && out.iterations > o.every &&
                           std::abs(objective - previous) <= o.tolerance * std::abs(objective);
    previous = objective;
    report = {r, out.iterations, 1 / mean_inverse(r, o.temperatures)};
    if (!keep) {
      out.status = Status::interrupted;
      return out;
    }
    if (converged) break;
  }
  e.set({});
  out = run_on(e, o, out, on_sweep);
  if (out.status == Status::interrupted || out.status == Status::numerical_failure) return out;
  Elbo elbo;
  if (const std::int32_t status = e.elbo(elbo)) return failure(e, status, out);
  if (!o.constant) log_c = e.recorded([&] { return o.log_normaliser({}); });
  report.at_end = temperature_factor(elbo.data_energy, o.temperatures, log_c);
  return out;
}

namespace {

/// Runs the tempered phase with a temperature for each item, until the tempered ELBO converges.
Outcome temper_items(const Engine& e, const CaviOptions& o, const ItemTemperatureGrid& grid, const OnSweep& on_sweep,
                     TemperReport& report) {
  Outcome out;
  if (const std::int32_t status = prepare_statistics(e)) return failure(e, status, out);
  std::vector<std::int64_t> items(e.reals(e.model().item_energies).size());
  std::iota(items.begin(), items.end(), 0);
  ItemTemperatures temperatures(e, grid);
  double previous = -INFINITY;
  for (bool converged = false; !converged && out.iterations < o.max_iterations;) {
    if (const std::int32_t status = temperatures.update(items, o)) return failure(e, status, out);
    if (const std::int32_t status = e.prepare()) return failure(e, status, out);
    const double temperature = temperatures.temperature();
    if (const std::int32_t status = sweep(e, o)) return failure(e, status, out);
    Elbo elbo;
    if (const std::int32_t status = e.elbo(elbo)) return failure(e, status, out);
    out.elbo = elbo.value + temperatures.objective();
    ++out.iterations;
    if (!check_elbo(out.elbo, out)) return out;
    converged = std::abs(out.elbo - previous) <= o.tolerance * std::abs(out.elbo);
    previous = out.elbo;
    report = {temperatures.posterior(), out.iterations, temperature};
    if (on_sweep({out.iterations, out.elbo, temperature, out.elbo})) continue;
    out.status = Status::interrupted;
    break;
  }
  return out;
}

}  // namespace

Outcome run_items_tempered(const Engine& e, const CaviOptions& o, const ItemTemperatureGrid& grid,
                           const OnSweep& on_sweep, TemperReport& report) {
  const Outcome out = temper_items(e, o, grid, on_sweep, report);
  const bool ended = out.status == Status::interrupted || out.status == Status::numerical_failure;
  return ended ? out : run_on(e, o, out, on_sweep);
}

}  // namespace lehr
