// A Gaussian mixture with diagonal covariances, by hand, for the updates and the start of
// models/mixtures/gmm_diagonal.lehr.
#include "mixture.h"

namespace {

using namespace mixture;
constexpr int features = 1 + 2 * D;  // 1, x, x^2
constexpr double alpha0 = 1, m0 = 0, kappa0 = 1e-2, a0 = 1, b0 = 1;

void write_features(const double* x, double* f) {
  *f++ = 1;
  for (int i = 0; i < D; i++)
    f[i] = x[i], f[D + i] = x[i] * x[i];
}

// Means and precisions are independent of each other in the posterior; all are [component][dimension].
struct Posterior {
  std::vector<double> concentration = bench::reals("pi.concentration"), precision = bench::reals("mu.precision"),
                      mean = bench::reals("mu.mean"), shape = bench::reals("tau.shape"),
                      rate = bench::reals("tau.rate");
};

Matrix natural_parameters(const Posterior& q) {
  Matrix eta(features, K);
  const std::vector<double> log_pi = log_shares(q.concentration);
  for (int k = 0; k < K; k++) {
    eta(0, k) = log_pi[static_cast<std::size_t>(k)] - 0.5 * D * std::log(2 * M_PI);
    for (int d = 0; d < D; d++) {
      const std::size_t i = static_cast<std::size_t>(k * D + d);
      const double tau = q.shape[i] / q.rate[i], m = q.mean[i];
      eta(0, k) += 0.5 * (bench::digamma(q.shape[i]) - std::log(q.rate[i])) - 0.5 * tau * (m * m + 1 / q.precision[i]);
      eta(1 + d, k) = tau * m;
      eta(1 + D + d, k) = -0.5 * tau;
    }
  }
  return eta;
}

void update(Posterior& q, const Matrix& sums) {
  for (int k = 0; k < K; k++) {
    const double n = sums(0, k);
    q.concentration[static_cast<std::size_t>(k)] = alpha0 + n;
    for (int d = 0; d < D; d++) {
      const std::size_t i = static_cast<std::size_t>(k * D + d);
      const double tau = q.shape[i] / q.rate[i], first = sums(1 + d, k), second = sums(1 + D + d, k);
      q.precision[i] = kappa0 + tau * n;
      q.mean[i] = (kappa0 * m0 + tau * first) / q.precision[i];
      const double square = q.mean[i] * q.mean[i] + 1 / q.precision[i];
      q.shape[i] = a0 + 0.5 * n;
      q.rate[i] = b0 + 0.5 * (second - 2 * first * q.mean[i] + n * square);
    }
  }
}

}  // namespace

int main(int count, char** values) {
  bench::arguments(count, values);
  const Matrix x = items();
  Posterior q;
  bench::time_sweeps([&] { update(q, statistics<features>(x, natural_parameters(q), write_features)); });
  bench::write("pi.concentration", q.concentration);
  bench::write("mu.mean", q.mean);
  bench::write("tau.rate", q.rate);
}
