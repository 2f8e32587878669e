// Step sizes of stochastic variational inference that follow the noise of the natural gradients. Ranganath, Wang, Blei
// & Xing, An adaptive learning rate for stochastic variational inference (2013): rho = |E g|^2 / E |g|^2, both running
// means over a window of about tau gradients, tau <- tau (1 - rho) + 1. One rate for each global block.
#pragma once
#include <vector>

#include "runtime/methods/engine.h"

namespace lehr {

class AdaptiveSteps {
 public:
  /// First steps that only measure.
  static constexpr int kWarmUp = 10;

  /// The engine's steps must have gradient buffers; one that has none (points, chains) takes the step of the weights.
  explicit AdaptiveSteps(const Engine& engine);

  /// Measures the natural gradient of the block and updates it by a step of its rate, at these weights. Nonzero: a
  /// status of the generated code.
  std::int32_t update(const StepRow& block, Weights weights);
  /// After every step: its updates were within what the engine has `seen`.
  void follow();

 private:
  struct Rate {
    double tau = 0, square = 0;  // window; running mean of |g|^2
    int measured = 0;
  };
  const Engine& engine_;
  std::vector<Rate> rates_;  // by step of the engine
};

}  // namespace lehr
