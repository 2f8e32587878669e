// models/factors/ppca_ard.lehr as one writes it at once, with Eigen for the matrices. The precision of a point's latent
// vector is that of all, and so is the precision of a row of W. Compiled for LATENT.
#include <Eigen/Dense>
#include "../native/bench.h"

constexpr int K = LATENT;
using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Square = Eigen::Matrix<double, K, K>;

int main(int count, char** values) {
  bench::arguments(count, values);
  auto data = bench::reals("x"), w = bench::reals("W.mean"), precisions = bench::reals("W.precision");
  auto mu = bench::reals("mu.mean"), mu_precision = bench::reals("mu.precision");
  auto alpha_rate = bench::reals("alpha.rate"), alpha_shape = bench::reals("alpha.shape");
  double tau_shape = bench::reals("tau.shape")[0], tau_rate = bench::reals("tau.rate")[0];
  const int D = static_cast<int>(mu.size()), N = static_cast<int>(data.size()) / D;
  Eigen::Map<Rows> X(data.data(), N, D), W(w.data(), D, K);
  Eigen::Map<Eigen::VectorXd> m(mu.data(), D), m_precision(mu_precision.data(), D), rate(alpha_rate.data(), K),
      shape(alpha_shape.data(), K);
  Square covariances = Square::Zero();  // of the rows of W, summed
  for (int d = 0; d < D; d++)
    covariances += Eigen::Map<Square>(&precisions[d * K * K]).inverse();
  const double square = X.squaredNorm();
  const Eigen::VectorXd sum_x = X.colwise().sum();
  bench::time_sweeps([&] {
    const double tau = tau_shape / tau_rate;
    const Square WW = covariances + W.transpose() * W, V = (Square::Identity() + tau * WW).inverse();
    const Rows Z = (X * W).rowwise() - (m.transpose() * W).eval();
    const Rows mean = tau * Z * V;
    const Rows XZ = X.transpose() * mean;
    const Square ZZ = mean.transpose() * mean + N * V;
    const Eigen::Matrix<double, K, 1> sum_z = mean.colwise().sum();
    shape.setConstant(1e-3 + 0.5 * D);
    rate = (WW.diagonal() * 0.5).array() + 1e-3;
    const Square covariance = (Square(shape.cwiseQuotient(rate).asDiagonal()) + tau * ZZ).inverse();
    W = tau * (XZ - m * sum_z.transpose()) * covariance;
    covariances = D * covariance;
    m_precision.setConstant(1e-3 + N * tau);
    m = tau * (sum_x - W * sum_z).cwiseQuotient(m_precision);
    const double error = square - 2 * XZ.cwiseProduct(W).sum() - 2 * m.dot(sum_x) + 2 * m.dot(W * sum_z) +
                         (covariances + W.transpose() * W).cwiseProduct(ZZ).sum() +
                         N * (m.squaredNorm() + m_precision.cwiseInverse().sum());
    tau_shape = 1e-3 + 0.5 * N * D, tau_rate = 1e-3 + 0.5 * error;
  });
  bench::write("W.mean", w);
  bench::write("mu.mean", mu);
  bench::write("tau.rate", {tau_rate});
}
