// Annealing of stochastic steps without a schedule to give. A probe (plain steps, then full steps from some items that
// grow hotter) finds the temperature at which the entropy of the discrete local variables rises fastest; the run begins
// anew at that temperature and is at 1 after a third of its steps.
#pragma once
#include "runtime/methods/auto_anneal.h"
#include "runtime/methods/svi.h"

namespace lehr {

struct ProbeReport {
  double melting = 0;                 // 0: there was nothing to melt, and nothing was annealed
  std::vector<HeatingPoint> heating;  // fractions of the largest entropy
  std::int64_t over = 0;              // steps of the schedule
  std::int64_t steps = 0;             // of the probe, by items; the run has so many less, but half of all at least
};

Outcome run_auto_svi(const Engine& engine, const SviOptions& options, const OnSweep& on_step, ProbeReport& report);

}  // namespace lehr
