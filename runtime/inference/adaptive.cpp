// Adaptive step sizes: a first call of the update with step 0 only measures the gradient, a second one makes the step.
#include "runtime/inference/adaptive.h"

#include <algorithm>

namespace lehr {

AdaptiveSteps::AdaptiveSteps(const Engine& engine) : engine_(engine), rates_(engine.steps().size()) {}

std::int32_t AdaptiveSteps::update(const StepRow& block, Weights weights) {
  if (block.gradient < 0) {
    // The engine has the step of the block before.
    engine_.set(weights);
    return engine_.call(block.update);
  }
  Rate& rate = rates_[static_cast<std::size_t>(&block - engine_.steps().data())];
  ++rate.measured;
  const bool warm = rate.measured > kWarmUp;
  if (!warm) rate.tau = rate.measured;
  weights.step = 0;
  weights.memory = 1 / rate.tau;
  engine_.set(weights);
  const std::span<double> norms = engine_.reals(block.gradient);
  std::ranges::fill(norms, 0.0);
  if (const std::int32_t status = engine_.call(block.update)) return status;
  // norms[0] is |E g|^2 of the running mean, norms[1] is |g|^2 of this gradient.
  rate.square += (norms[1] - rate.square) / rate.tau;
  if (!warm) return 0;
  weights.step = rate.square > 0 ? norms[0] / rate.square : 1;
  weights.memory = 0;
  rate.tau = rate.tau * (1 - weights.step) + 1;
  engine_.set(weights);
  return engine_.call(block.update);
}

void AdaptiveSteps::follow() {
  rates_ = engine_.recorded([&] { return rates_; });
}

}  // namespace lehr
