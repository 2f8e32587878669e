// A Gaussian mixture with full covariances, by hand, for the updates and the start of models/gmm_normal_wishart.lehr.
#include "mixture.h"

namespace {

using namespace mixture;
using Vec = Eigen::VectorXd;
constexpr int features = 1 + D + D * (D + 1) / 2;  // 1, x, products of two coordinates
constexpr double alpha0 = 1e-3, m0 = 0, beta0 = 1e-2, nu0 = DIMENSION, w0 = 0.1;

void write_features(const double* x, double* f) {
  *f++ = 1;
  for (int i = 0; i < D; i++)
    *f++ = x[i];
  for (int i = 0; i < D; i++)
    for (int j = i; j < D; j++)
      *f++ = x[i] * x[j];
}

struct Posterior {
  std::vector<double> concentration = bench::reals("pi.concentration"), beta = bench::reals("mu.precision_scale"),
                      mean = bench::reals("mu.mean"), nu = bench::reals("Lambda.df"),
                      scale = bench::reals("Lambda.scale");
  Eigen::Map<Vec> mean_of(int k) { return Eigen::Map<Vec>(&mean[static_cast<std::size_t>(k * D)], D); }
  Eigen::Map<Matrix> scale_of(int k) { return Eigen::Map<Matrix>(&scale[static_cast<std::size_t>(k * D * D)], D, D); }
};

Matrix natural_parameters(Posterior& q) {
  Matrix eta(features, K);
  const std::vector<double> log_pi = log_shares(q.concentration);
  for (int k = 0; k < K; k++) {
    const std::size_t i = static_cast<std::size_t>(k);
    const Matrix precision = q.nu[i] * q.scale_of(k);
    const Matrix factor = Eigen::LLT<Matrix>(q.scale_of(k)).matrixL();
    double log_determinant = 2 * factor.diagonal().array().log().sum() + D * std::log(2.0);
    for (int j = 0; j < D; j++)
      log_determinant += bench::digamma(0.5 * (q.nu[i] - j));
    const Vec shift = precision * q.mean_of(k);
    eta(0, k) = log_pi[i] + 0.5 * log_determinant - 0.5 * D * std::log(2 * M_PI) - 0.5 * D / q.beta[i] -
                0.5 * shift.dot(q.mean_of(k));
    eta.block(1, k, D, 1) = shift;
    for (int a = 0, p = 1 + D; a < D; a++)
      for (int b = a; b < D; b++, p++)
        eta(p, k) = (a == b ? -0.5 : -1) * precision(a, b);
  }
  return eta;
}

void update(Posterior& q, const Matrix& sums) {
  for (int k = 0; k < K; k++) {
    const std::size_t i = static_cast<std::size_t>(k);
    const double n = sums(0, k);
    q.concentration[i] = alpha0 + n;
    q.beta[i] = beta0 + n;
    q.nu[i] = nu0 + n;
    q.mean_of(k) = (sums.block(1, k, D, 1).array() + beta0 * m0) / q.beta[i];
    Matrix inverse = Matrix::Identity(D, D) / w0 + Matrix::Constant(D, D, beta0 * m0 * m0) -
                     q.beta[i] * q.mean_of(k) * q.mean_of(k).transpose();
    for (int a = 0, p = 1 + D; a < D; a++)
      for (int b = a; b < D; b++, p++) {
        inverse(a, b) += sums(p, k);
        if (a != b) inverse(b, a) += sums(p, k);
      }
    q.scale_of(k) = Eigen::LLT<Matrix>(inverse).solve(Matrix::Identity(D, D));
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
  bench::write("Lambda.scale", q.scale);
}
