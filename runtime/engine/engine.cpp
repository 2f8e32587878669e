#include "runtime/engine/engine.h"

#include <algorithm>

namespace lehr {

const EngineStage* Engine::batch_stage() const {
  for (const auto& step : steps) {
    if (const auto* stage = std::get_if<EngineStage>(&step)) return stage;
  }
  return nullptr;
}

void Engine::set(const Weights& w) const {
  const double values[] = {w.local_data, w.global_data, w.local, w.global, w.step, w.memory};
  std::copy(std::begin(values), std::end(values), memory.reals(weights_buffer).begin());
}

std::vector<std::vector<double>> Engine::save() const {
  std::vector<std::vector<double>> out;
  for (std::size_t b : state) {
    const std::span<const double> x = memory.reals(b);
    out.emplace_back(x.begin(), x.end());
  }
  return out;
}

void Engine::load(const std::vector<std::vector<double>>& saved) const {
  for (std::size_t k = 0; k < state.size(); ++k)
    std::copy(saved[k].begin(), saved[k].end(), memory.reals(state[k]).begin());
}

Elbo Engine::elbo_parts() const {
  const std::span<const double> x = memory.reals(elbo_buffer);
  return {x[0], x[1], x[2], x[3], x[4]};
}

}  // namespace lehr
