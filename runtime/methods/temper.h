// Variational tempering: the temperature is latent, on a grid. Mandt, McInerney, Abrol, Ranganath & Blei (2016),
// section 2.3, with the energy and the normaliser log C(T) from one and the same density.
#pragma once
#include <functional>
#include <vector>

#include "runtime/methods/cavi.h"
#include "runtime/methods/temper_items.h"

namespace lehr {

struct Grid {
  std::vector<double> temperatures;  // ascending from 1; uniform prior
  std::int64_t every = 1;            // sweeps (steps) between updates of the temperature
  /// log C(T) of each temperature under the factors as they are: the log normaliser of the data's density to the power
  /// 1/T, all items together. It may be found from these items alone (empty: all). Called once where `constant`.
  std::function<std::vector<double>(std::span<const std::int64_t> items)> log_normaliser;
  bool constant = true;
};

struct TemperOptions : CaviOptions, Grid {};

/// r_m proportional to exp(energy / T_m - log C(T_m)).
std::vector<double> temperature_factor(double energy, const std::vector<double>& temperatures,
                                       const std::vector<double>& log_c);
/// E[1/T].
double mean_inverse(const std::vector<double>& r, const std::vector<double>& temperatures);

struct TemperReport {
  std::vector<double> posterior;  // q of the temperatures, as last updated
  std::int64_t sweeps = 0;        // before the finishing phase
  double temperature = 1;         // 1 / E[1/T] at its end
};

/// Sweeps at E[1/T], the temperature's factor updated between them, until the tempered ELBO has settled; then
/// coordinate ascent at temperature 1.
Outcome run_tempered(const Engine& engine, const TemperOptions& options, const OnSweep& on_sweep, TemperReport& report);

/// The same with a temperature for each item. In the tempering phase the ELBO reported is the tempered one: that of
/// temperature 1 would cost another pass over the items.
Outcome run_items_tempered(const Engine& engine, const CaviOptions& options, const ItemGrid& grid,
                           const OnSweep& on_sweep, TemperReport& report);

}  // namespace lehr
