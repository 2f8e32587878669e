// Annealing of stochastic variational inference that chooses its own temperatures. A probe makes some plain steps, then
// full steps from a sample of items at rising temperatures. The temperature at which the entropy of the discrete local
// variables rises fastest is the melting temperature. The run then begins again at its start, at the melting
// temperature, and reaches temperature 1 after a third of its steps.
#pragma once
#include "runtime/inference/auto_anneal.h"
#include "runtime/inference/svi.h"

namespace lehr {

/// What the probe of automatic annealing found, for fit.json and the terminal.
struct ProbeReport {
  double melting = 0;                 // melting temperature; 0: no rise was found, and the run is not annealed
  std::vector<HeatingPoint> heating;  // temperatures tried, with the entropy as a fraction of its largest value
  std::int64_t over = 0;              // number of annealed steps of the run; 0: it is not annealed
  std::int64_t steps = 0;             // cost of the probe in steps; the run is shorter by it, by half of all at most
};

/// Runs stochastic variational inference, annealed from the melting temperature that a probe finds. The run begins at
/// the factors in place and reaches temperature 1 after a third of its steps. It is not annealed if the probe finds no
/// melting temperature; without an item stage there is no probe.
Outcome run_auto_svi(const Engine& engine, const SviOptions& options, const OnSweep& on_step, ProbeReport& report);

}  // namespace lehr
