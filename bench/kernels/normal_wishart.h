// Components of a Gaussian mixture with full covariances: a normal-Wishart posterior each, from sums of features 1, x
// and the products of two coordinates (a <= b). `Prior` gives beta0, nu0 and w0; the prior mean is 0.
#pragma once
#include <Eigen/Dense>
#include "../native/bench.h"

template <int K, int D, class Prior>
struct NormalWishart {
  using Matrix = Eigen::MatrixXd;
  using Vec = Eigen::VectorXd;
  static constexpr int features = 1 + D + D * (D + 1) / 2;

  std::vector<double> beta = bench::reals("mu.precision_scale"), mean = bench::reals("mu.mean"),
                      nu = bench::reals("Lambda.df"), scale = bench::reals("Lambda.scale");

  Eigen::Map<Vec> mean_of(int k) { return Eigen::Map<Vec>(&mean[static_cast<std::size_t>(k * D)], D); }
  Eigen::Map<Matrix> scale_of(int k) { return Eigen::Map<Matrix>(&scale[static_cast<std::size_t>(k * D * D)], D, D); }

  // E[log density] is features times the columns of the result.
  Matrix natural_parameters() {
    Matrix eta(features, K);
    for (int k = 0; k < K; k++) {
      const std::size_t i = static_cast<std::size_t>(k);
      const Matrix precision = nu[i] * scale_of(k), factor = Eigen::LLT<Matrix>(scale_of(k)).matrixL();
      double log_determinant = 2 * factor.diagonal().array().log().sum() + D * std::log(2.0);
      for (int j = 0; j < D; j++)
        log_determinant += bench::digamma(0.5 * (nu[i] - j));
      const Vec shift = precision * mean_of(k);
      eta(0, k) = 0.5 * (log_determinant - D * std::log(2 * M_PI) - D / beta[i] - shift.dot(mean_of(k)));
      eta.block(1, k, D, 1) = shift;
      for (int a = 0, p = 1 + D; a < D; a++)
        for (int b = a; b < D; b++, p++)
          eta(p, k) = (a == b ? -0.5 : -1) * precision(a, b);
    }
    return eta;
  }

  void update(const Matrix& sums) {
    for (int k = 0; k < K; k++) {
      const std::size_t i = static_cast<std::size_t>(k);
      beta[i] = Prior::beta0 + sums(0, k);
      nu[i] = Prior::nu0 + sums(0, k);
      mean_of(k) = sums.block(1, k, D, 1) / beta[i];
      Matrix inverse = Matrix::Identity(D, D) / Prior::w0 - beta[i] * mean_of(k) * mean_of(k).transpose();
      for (int a = 0, p = 1 + D; a < D; a++)
        for (int b = a; b < D; b++, p++) {
          inverse(a, b) += sums(p, k);
          if (a != b) inverse(b, a) += sums(p, k);
        }
      scale_of(k) = Eigen::LLT<Matrix>(inverse).solve(Matrix::Identity(D, D));
    }
  }

  void write() const {
    bench::write("mu.mean", mean);
    bench::write("Lambda.scale", scale);
  }
};
