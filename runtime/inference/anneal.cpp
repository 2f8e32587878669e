// Annealing schedules: temperatures by sweep, the weights that they set, the noise of stochastic annealing, and the
// objective of a tempered sweep.
#include "runtime/inference/anneal.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "runtime/rng.h"

namespace lehr {
namespace {

using machine::Parameter;
using machine::ParameterRow;

/// Returns true if the parameter is a concentration of proportions: of a Dirichlet, or one of the two of a Beta.
bool is_of_proportions(const ParameterRow& row) {
  return row.parameter == Parameter::shape_like &&
         (row.support == machine::Support::simplex || row.support == machine::Support::unit);
}

/// Replaces the concentrations of one block by random ones with the same mean sum of a row. `arrays` has one array
/// whose rows have `length` numbers, or for Beta factors two arrays with one number of each row.
void draw_proportions(const std::vector<std::vector<double>*>& arrays, std::size_t length, Rng& rng) {
  const std::size_t rows = arrays[0]->size() / (arrays.size() > 1 ? 1 : length);
  double sum = 0;
  for (const std::vector<double>* x : arrays)
    sum = std::accumulate(x->begin(), x->end(), sum);
  const std::vector<double> uniform(arrays.size() > 1 ? arrays.size() : length, 1.0);
  std::vector<double> drawn(uniform.size());
  for (std::size_t i = 0; i < rows; ++i) {
    draw_dirichlet(rng, uniform, drawn);
    for (std::size_t j = 0; j < drawn.size(); ++j) {
      double& to = arrays.size() > 1 ? (*arrays[j])[i] : (*arrays[0])[i * length + j];
      to = drawn[j] * sum / static_cast<double>(rows);
    }
  }
}

}  // namespace

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

std::int32_t draw_noise(const Engine& e, const Annealing& a, std::uint64_t seed, Parameters& out) {
  constexpr std::uint64_t kStream = 0xD112;
  Parameters present = e.global_parameters();
  std::map<std::int64_t, std::vector<std::size_t>> blocks;  // arrays of proportions by block
  std::vector<const ParameterRow*> rows;
  for (const ParameterRow& row : machine::parameters_of(e.model())) {
    if (row.by_stage) continue;
    if (a.noise_counts && is_of_proportions(row)) blocks[row.block].push_back(rows.size());
    rows.push_back(&row);
  }
  std::size_t replaced = 0;
  for (const auto& [block, arrays] : blocks)
    replaced += arrays.size();
  out = present;
  if (replaced < rows.size()) {
    if (const std::int32_t status = e.random_parameters(seed, a.noise_start, out)) return status;
  }
  Rng rng(seed, kStream);
  for (const auto& [block, arrays] : blocks) {
    std::vector<std::vector<double>*> drawn;
    for (const std::size_t k : arrays) {
      out[k] = std::move(present[k]);
      if (!out[k].empty()) drawn.push_back(&out[k]);
    }
    if (!drawn.empty()) draw_proportions(drawn, static_cast<std::size_t>(e.extent(rows[arrays[0]]->event)), rng);
  }
  return 0;
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
