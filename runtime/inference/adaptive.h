// Step sizes of stochastic variational inference that follow the noise of the natural gradients g. Source: Ranganath,
// Wang, Blei & Xing, An adaptive learning rate for stochastic variational inference (2013). The step is rho = |E g|^2 /
// E |g|^2. Both are running means over a window of about tau gradients; tau <- tau (1 - rho) + 1. Every global block
// has a rate of its own.
#pragma once
#include <vector>

#include "runtime/inference/engine.h"

namespace lehr {

/// The adaptive step sizes of all global blocks of an engine: each is larger the less noisy the block's natural
/// gradients are.
class AdaptiveSteps {
 public:
  /// The number of first steps that only measure gradients and leave the parameters as they are.
  static constexpr int kWarmUp = 10;

  /// Makes rates for the global blocks of an engine, whose code must measure gradients (StepRow::gradient). A block
  /// without a gradient buffer (a point, a chain) has no rate of its own.
  explicit AdaptiveSteps(const Engine& engine);

  /// Measures the natural gradient of a block and updates its rate. After kWarmUp measurements of the block, it also
  /// updates the block with that step. `weights` are those of the engine for the present step; the call changes their
  /// members `step` and `memory` in the engine. A block without a gradient buffer is updated with the weights in place.
  /// Returns 0 or a status of the generated code.
  std::int32_t update(const StepRow& block, Weights weights);
  /// Records the rates in the engine's journal, or restores them from it during a replay. Call it after every step of
  /// the method.
  void follow();

 private:
  /// From which the step size of one global block follows: running means of its natural gradients g.
  struct Rate {
    double tau = 0,    // window length, in gradients
        square = 0;    // running mean of |g|^2
    int measured = 0;  // gradients measured so far
  };
  const Engine& engine_;     // the engine whose blocks are updated
  std::vector<Rate> rates_;  // by step of the engine's sweep
};

}  // namespace lehr
