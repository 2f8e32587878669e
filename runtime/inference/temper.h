// Variational tempering: the temperature is a latent variable on a grid, with a factor of its own. Source: Mandt,
// McInerney, Abrol, Ranganath & Blei (2016), section 2.3; here the energy and the normaliser log C(T) belong to the
// same density.
#pragma once
#include <functional>
#include <vector>

#include "runtime/inference/cavi.h"
#include "runtime/inference/temper_items.h"

namespace lehr {

/// The temperatures that the latent temperature of a tempered fit can have, with a uniform prior, and how log C(T) is
/// computed.
struct Grid {
  std::vector<double> temperatures;  // the temperatures, ascending from 1
  std::int64_t every = 1;            // sweeps (or steps) from one update of the temperature's factor to the next
  /// Returns log C(T) for each temperature, with the factors as they are: the log normaliser of the density of all data
  /// to the power 1/T. It may be estimated from these items alone; an empty list means all items.
  std::function<std::vector<double>(std::span<const std::int64_t> items)> log_normaliser;
  bool constant = true;  // true: log C(T) does not depend on the factors and is computed once
};

/// The options of variational tempering with one temperature for all items.
struct TemperOptions : CaviOptions, Grid {};

/// Returns the factor of the temperature: probabilities r_m proportional to exp(energy / T_m - log C(T_m)). The energy
/// is the expected log density of the tempered terms, in nats.
std::vector<double> temperature_factor(double energy, const std::vector<double>& temperatures,
                                       const std::vector<double>& log_c);
/// Returns E[1/T] under the probabilities r.
double mean_inverse(const std::vector<double>& r, const std::vector<double>& temperatures);

/// What variational tempering found. With a temperature for each item, probabilities and E[1/T] are means over all
/// copies of items.
struct TemperReport {
  std::vector<double> posterior;  // probabilities of the temperatures, as last updated
  std::int64_t sweeps = 0;        // sweeps (or steps) of the tempered phase
  double temperature = 1;         // 1 / E[1/T] at the end of the tempered phase
  /// The probabilities under the factors of the end, after the phase at temperature 1; empty without that phase.
  std::vector<double> at_end = {};
};

/// Runs variational tempering with one latent temperature for all items: sweeps at the inverse temperature E[1/T], with
/// updates of the temperature's factor between them, until the tempered ELBO converges. Coordinate ascent at
/// temperature 1 follows, unless the tempered phase is interrupted or fails.
Outcome run_tempered(const Engine& engine, const TemperOptions& options, const OnSweep& on_sweep, TemperReport& report);

/// Runs variational tempering with a latent temperature for each item. Coordinate ascent at temperature 1 follows,
/// unless the tempered phase is interrupted or fails. In the tempered phase `on_sweep` gets the tempered ELBO as
/// SweepReport::elbo; the ELBO at temperature 1 would cost another pass over the items.
Outcome run_items_tempered(const Engine& engine, const CaviOptions& options, const ItemTemperatureGrid& grid,
                           const OnSweep& on_sweep, TemperReport& report);

}  // namespace lehr
