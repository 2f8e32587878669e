// Gibbs sampling: in each sweep, every block is drawn from its complete conditional, in the order of coordinate ascent.
// Sources: Geman & Geman (1984); MacKay (2003), section 29.5. The engine's code must be compiled for sampling
// (Model::random_key).
#pragma once
#include "runtime/inference/cavi.h"

namespace lehr {

/// The options of a Gibbs sampler. It draws each local block once a sweep, whatever SweepOptions says.
struct GibbsOptions : SweepOptions {
  std::int64_t warmup = 1000,  // first sweeps, whose states are discarded
      draws = 1000;            // states that `on_draw` gets, the draws
  std::int64_t thin = 1;       // sweeps from one draw to the next
  std::uint64_t seed = 1,      // seed of the random numbers
      chain = 0;               // number of the chain, which has random numbers of its own
  Annealing annealing = {};    // temperatures of the first sweeps: simulated annealing
};

/// Runs one chain of Gibbs sampling from the state in place: every sweep draws each block from its complete
/// conditional. `on_sweep` gets the log joint density of the state as SweepReport::elbo. `on_draw` is called while each
/// draw is in place, before on_sweep(). The outcome has the status max_iter after all sweeps.
Outcome run_gibbs(const Engine& engine, const GibbsOptions& options, const OnSweep& on_sweep,
                  const std::function<void(double log_joint)>& on_draw);

}  // namespace lehr
