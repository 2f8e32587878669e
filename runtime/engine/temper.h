// Variational tempering: the temperature is latent, on a grid. Mandt, McInerney, Abrol, Ranganath & Blei (2016), section
// 2.3, with the energy and the normaliser log C(T) from one and the same density.
#pragma once
#include <functional>
#include <vector>

#include "runtime/engine/cavi.h"

namespace lehr {

struct TemperOptions : CaviOptions {
  std::vector<double> temperatures;     // the grid, ascending from 1; uniform prior
  std::int64_t every = 1;               // sweeps between updates of the temperature
  /// log C(T) of each temperature under the factors as they are: the log normaliser of the data's density to the power
  /// 1/T. Called once where `constant`.
  std::function<std::vector<double>()> log_normaliser;
  bool constant = true;
};

struct TemperReport {
  std::vector<double> posterior;        // q of the temperatures, as last updated
  std::int64_t sweeps = 0;              // before the finishing phase
  double temperature = 1;               // 1 / E[1/T] at its end
};

/// Sweeps at E[1/T], the temperature's factor updated between them, until the tempered ELBO has settled; then coordinate
/// ascent at temperature 1.
Outcome run_tempered(const Engine& engine, const TemperOptions& options, const OnSweep& on_sweep, TemperReport& report);

}  // namespace lehr
