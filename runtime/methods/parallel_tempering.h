// Gibbs sampling at several temperatures at once, from the posterior (power 1 of the likelihood) to the prior (power
// 0), whose states are exchanged. Swendsen & Wang (1986); Geyer (1991). The code must draw, and know the likelihood
// (schedule::Tempering::likelihood).
#pragma once
#include "runtime/methods/evidence.h"
#include "runtime/methods/gibbs.h"

namespace lehr {

struct LadderOptions : GibbsOptions {
  std::int64_t levels = 24;
  bool exchange = true;  // not where a state holds variables that depend on the power
};

/// `on_draw` has the state at power 1. The powers are placed by the warmup.
Outcome run_parallel_tempering(const Engine& engine, const LadderOptions& options, const OnSweep& on_sweep,
                               const std::function<void(double log_joint)>& on_draw, Evidence& evidence);

}  // namespace lehr
