// Gibbs sampling: sweeps in which every block takes a draw from its complete conditional, in the order of coordinate
// ascent. Geman & Geman (1984); MacKay (2003), section 29.5. The code must draw (Model::random_key).
#pragma once
#include "runtime/methods/cavi.h"

namespace lehr {

struct GibbsOptions : SweepOptions {
  std::int64_t warmup = 1000, draws = 1000;
  std::int64_t thin = 1;  // sweeps for each draw
  std::uint64_t seed = 1, chain = 0;
  Annealing annealing = {};  // of the first sweeps: simulated annealing
};

/// `on_sweep` reports the log joint density of the model at the state, `on_draw` is called at those that are kept.
Outcome run_gibbs(const Engine& engine, const GibbsOptions& options, const OnSweep& on_sweep,
                  const std::function<void(double log_joint)>& on_draw);

}  // namespace lehr
