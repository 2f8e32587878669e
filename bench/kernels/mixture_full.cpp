// A Gaussian mixture with full covariances, by hand, for the updates and the start of
// models/mixtures/gmm_normal_wishart.lehr.
#include "mixture.h"
#include "normal_wishart.h"

namespace {

using namespace mixture;
struct Prior {
  static constexpr double beta0 = 1e-2, nu0 = DIMENSION, w0 = 0.1;
};
using Components = NormalWishart<K, D, Prior>;
constexpr double alpha0 = 1e-3;

void write_features(const double* x, double* f) {
  *f++ = 1;
  for (int i = 0; i < D; i++)
    *f++ = x[i];
  for (int i = 0; i < D; i++)
    for (int j = i; j < D; j++)
      *f++ = x[i] * x[j];
}

}  // namespace

int main(int count, char** values) {
  bench::arguments(count, values);
  const Matrix x = items();
  Components components;
  std::vector<double> concentration = bench::reals("pi.concentration");
  bench::time_sweeps([&] {
    Matrix naturals = components.natural_parameters();
    const std::vector<double> log_pi = log_shares(concentration);
    for (int k = 0; k < K; k++)
      naturals(0, k) += log_pi[static_cast<std::size_t>(k)];
    const Matrix sums = statistics<Components::features>(x, naturals, write_features);
    for (int k = 0; k < K; k++)
      concentration[static_cast<std::size_t>(k)] = alpha0 + sums(0, k);
    components.update(sums);
  });
  bench::write("pi.concentration", concentration);
  components.write();
}
