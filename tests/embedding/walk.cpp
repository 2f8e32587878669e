// A program that uses the C++ header of a built object: a fit, a prediction, a copy through a saved state, and an error
// as an exception. The model is built with K=2 and dim=1.
#include <cmath>
#include <vector>

#include "gmm.hpp"

int main() {
  std::vector<double> x;
  for (int i = 0; i < 40; ++i)
    x.push_back((i % 4 == 0 ? -3.0 : 2.0) + 0.01 * ((i * 7919) % 101 - 50));
  gmm::Sizes sizes{};
  sizes.n = 40;
  gmm::Data data{};
  data.n = 40;
  data.x = x.data();
  gmm::State state(sizes, data, 1);
  double before = -INFINITY;
  for (int sweep = 0; sweep < 30; ++sweep) {
    state.step();
    if (state.elbo() < before - 1e-9 * std::abs(before)) return 1;
    before = state.elbo();
  }
  if (state.mu_mean().size() != 2 || state.z_probs().size() != 80) return 2;

  gmm::State copy(sizes);
  copy.load(state.save());
  if (copy.mu_mean()[0] != state.mu_mean()[0] || copy.score(data) != state.score(data)) return 3;

  x[3] = NAN;
  try {
    state.step(data);
    return 4;
  } catch (const gmm::Error& e) {
    return e.status() == GMM_ERROR_DATA ? 0 : 5;
  }
}
