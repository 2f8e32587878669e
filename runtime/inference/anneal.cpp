// Annealing schedules: temperatures by sweep, the weights that they set, and the objective of a tempered sweep.
#include "runtime/inference/anneal.h"

#include <algorithm>
#include <cmath>

namespace lehr {

double Annealing::temperature(std::int64_t sweep) const {
  if (kind == Kind::stochastic || !active(sweep)) return 1;
  if (shape == Shape::listed) return std::max(1.0, listed[static_cast<std::size_t>(sweep)]);
  const double left = 1 - static_cast<double>(sweep) / static_cast<double>(over);
  return std::max(1.0, shape == Shape::linear ? 1 + (from - 1) * left : std::pow(from, left));
}

double Annealing::noise(std::int64_t sweep) const {
  if (kind != Kind::stochastic || !active(sweep)) return 0;
  // Below 1, so that the model keeps some weight from the first sweep on.
  if (decay > 0) return std::min(0.999, std::pow(decay, static_cast<double>(sweep + 1)));
  return from * (1 - static_cast<double>(sweep) / static_cast<double>(over));
}

Weights weights_at(const Annealing& a, double t) {
  Weights w;
  const double b = 1 / t;
  const bool local = a.scope != Annealing::Scope::global, global = a.scope != Annealing::Scope::local;
  if (a.kind == Annealing::Kind::data) {
    if (local) w.local_data = b;
    if (global) w.global_data = b;
  } else if (a.kind == Annealing::Kind::entropy) {
    if (local) w.local = b;
    if (global) w.global = b;
  }
  return w;
}

double annealed_objective(const Annealing& a, double t, const Elbo& e) {
  if (a.kind == Annealing::Kind::data) return e.value - (1 - 1 / t) * e.data_energy;
  if (a.kind == Annealing::Kind::entropy) return e.value + (t - 1) * e.entropy;
  return e.value;
}

}  // namespace lehr
