// Stochastic variational inference: noisy natural-gradient steps from minibatches. Hoffman, Blei, Wang & Paisley
// (2013).
#pragma once
#include "runtime/methods/adaptive.h"
#include "runtime/methods/temper.h"

namespace lehr {

struct SviOptions : CaviOptions {
  std::int64_t batch = 256;       // items a step
  double tau0 = 1, kappa = 0.7;   // rho_t = (tau0 + t)^-kappa, t = 0, 1, ...
  double rho = 0;                 // constant steps where above 0
  bool adaptive = false;          // steps by AdaptiveSteps, (tau0 + t)^-kappa for what has none
  double epochs = 10;             // passes over the items; steps = epochs * items / batch
  bool replacement = false;       // items drawn with replacement; otherwise every epoch is a permutation
  std::int64_t exact_every = 0;   // steps between exact ELBOs; 0: noisy ones only
  std::optional<Grid> grid;       // a latent temperature, instead of annealing
  std::optional<ItemGrid> items;  // one for each item
};

/// Items of a step: all of them where the model does not take minibatches.
std::int64_t batch_of(const Engine& engine, const SviOptions& options);
/// Steps of a run: `epochs` passes.
std::int64_t steps_of(const Engine& engine, const SviOptions& options);

/// rho_t of step t = 0, 1, ... where it is not adaptive.
double step_size(const SviOptions& options, std::int64_t t);

/// One step from these items, with the weights of the engine; `update` updates blocks outside the items in place of
/// their functions. Sums of the data are then those of the items. Nonzero: a status of the generated code.
std::int32_t step(const Engine& engine, const SviOptions& options, std::span<const std::int64_t> batch,
                  const std::function<std::int32_t(const StepRow&)>& update = {});

/// Annealing counts steps, and stochastic annealing is refused by the caller. The ELBO of a report is the noisy one
/// (sums scaled to all items) unless the step is one of the exact ones; the outcome's is exact.
Outcome run_svi(const Engine& engine, const SviOptions& options, const OnSweep& on_step,
                TemperReport* report = nullptr);

}  // namespace lehr
