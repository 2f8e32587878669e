#include "runtime/engine/adaptive.h"

#include <algorithm>

namespace lehr {

AdaptiveSteps::AdaptiveSteps(const Engine& engine) : engine_(engine), rates_(engine.steps.size()) {}

std::int32_t AdaptiveSteps::update(const EngineUpdate& block, Weights weights) {
  if (!block.gradient) return engine_.call(block.function);
  const auto index = std::find_if(engine_.steps.begin(), engine_.steps.end(), [&](const auto& step) {
    return std::get_if<EngineUpdate>(&step) == &block;
  });
  Rate& rate = rates_[static_cast<std::size_t>(index - engine_.steps.begin())];
  ++rate.measured;
  const bool warm = rate.measured > kWarmUp;
  if (!warm) rate.tau = rate.measured;
  weights.step = 0;
  weights.memory = 1 / rate.tau;
  engine_.set(weights);
  const std::span<double> norms = engine_.memory.reals(*block.gradient);
  std::ranges::fill(norms, 0.0);
  if (const std::int32_t status = engine_.call(block.function)) return status;
  rate.square += (norms[1] - rate.square) / rate.tau;
  if (!warm) return 0;
  weights.step = rate.square > 0 ? norms[0] / rate.square : 1;
  weights.memory = 0;
  rate.tau = rate.tau * (1 - weights.step) + 1;
  engine_.set(weights);
  return engine_.call(block.function);
}

}  // namespace lehr
