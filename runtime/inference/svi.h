// Stochastic variational inference: natural-gradient steps of the global factors from minibatches of items. Source:
// Hoffman, Blei, Wang & Paisley (2013). A step infers the items of a minibatch, scales their statistics up to all
// items, and moves the natural parameters: eta <- (1 - rho) eta + rho * (those that the scaled statistics give).
#pragma once
#include "runtime/inference/adaptive.h"
#include "runtime/inference/temper.h"

namespace lehr {

/// The options of stochastic variational inference.
struct SviOptions : CaviOptions {
  std::int64_t batch = 256;      // items of a minibatch
  double tau0 = 1,               // delay of the step sizes rho_t = (tau0 + t)^-kappa, t = 0, 1, ...
      kappa = 0.7;               // forgetting rate of the step sizes, above 0.5 for convergence
  double rho = 0;                // constant step size; 0: (tau0 + t)^-kappa, at most 1
  bool adaptive = false;         // true: each global block has an adaptive step size; without a gradient buffer, rho_t
  double epochs = 10;            // passes over the items
  bool replacement = false;      // true: items are drawn with replacement; false: each pass is a permutation
  std::int64_t exact_every = 0;  // steps from one exact ELBO to the next; 0: only the last one is exact
  std::optional<Grid> grid;      // a latent temperature in place of annealing; none: no such temperature
  std::optional<ItemTemperatureGrid> items;  // a latent temperature for each item; none: no such temperatures
};

/// Returns the number of items of a minibatch, at most all items; all of them if the model does not take minibatches.
std::int64_t batch_of(const Engine& engine, const SviOptions& options);
/// Returns the number of steps of a run: `epochs` passes over the items.
std::int64_t steps_of(const Engine& engine, const SviOptions& options);

/// Returns the step size rho_t of step t = 0, 1, ..., if it is not adaptive.
double step_size(const SviOptions& options, std::int64_t t);

/// Makes one step of stochastic variational inference from a minibatch (ascending items), with the weights of the
/// engine. `update` updates the blocks outside the items; if it is empty, their generated functions do. If one stage
/// has all local blocks and blocks before it read its statistics, the items are inferred twice, before and after these.
/// Afterwards the sums of the data are those of the minibatch. Returns 0 or a status of the generated code.
std::int32_t step(const Engine& engine, const SviOptions& options, std::span<const std::int64_t> batch,
                  const std::function<std::int32_t(const StepRow&)>& update = {});

/// Runs stochastic variational inference from the factors in place: all steps of `epochs` passes over the items.
/// Annealing schedules count steps. The caller must refuse stochastic annealing. `on_step` gets a noisy ELBO, from sums
/// scaled up to all items, unless its step has an exact one. The outcome has the status max_iter after all steps, and
/// an exact ELBO then. `report` receives latent temperatures, if there are any.
Outcome run_svi(const Engine& engine, const SviOptions& options, const OnSweep& on_step,
                TemperReport* report = nullptr);

}  // namespace lehr
