// Memory of an engine.
#include "runtime/engine/engine.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace lehr {

void Memory::Free::operator()(void* p) const { std::free(p); }

Memory::Memory(const std::vector<std::size_t>& lengths) : lengths_(lengths) {
  for (std::size_t n : lengths) {
    const std::size_t bytes = (std::max<std::size_t>(n, 1) * 8 + 63) / 64 * 64;
    void* p = std::aligned_alloc(64, bytes);
    if (!p) throw std::bad_alloc();
    std::memset(p, 0, bytes);
    owned_.emplace_back(p);
    table_.push_back(p);
  }
}

std::span<double> Memory::reals(std::size_t b) const {
  return {static_cast<double*>(table_[b]), lengths_[b]};
}
std::span<std::int64_t> Memory::integers(std::size_t b) const {
  return {static_cast<std::int64_t*>(table_[b]), lengths_[b]};
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
  return {x[0], x[1], x[2], x[3]};
}

}  // namespace lehr
