// The part of an item in a mixture of Gaussians, by hand: log odds are features times natural parameters and statistics
// are features times probabilities, both as products of matrices that fit the cache (Eigen). Compiled for DIMENSION and
// COMPONENTS.
#pragma once
#include <Eigen/Dense>
#include "../native/bench.h"
#include "../native/vectors.h"

namespace mixture {

constexpr int D = DIMENSION, K = COMPONENTS, block = 512;
using Matrix = Eigen::MatrixXd;

// Probabilities in place of log odds, one item in a column.
inline void normalise(double* odds) {
  static_assert(K % 8 == 0, "whole vectors of components");
  using V = Vector<double>;
  V g[K / 8], top;
  std::memcpy(static_cast<void*>(g), odds, sizeof g);
  top = g[0];
  for (int i = 1; i < K / 8; i++)
    top = g[i] > top ? g[i] : top;
  double largest = top[0];
  for (int l = 1; l < 8; l++)
    largest = std::max(largest, top[l]);
  V sum = {};
  for (V& v : g)
    sum += v = exp<double>(v - largest);
  const double scale = 1 / (((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7])));
  for (V& v : g)
    v *= scale;
  std::memcpy(odds, static_cast<void*>(g), sizeof g);
}

// Sums over items (columns of x) of features times probabilities; `features` writes those of one item.
template <int count, class Features>
Matrix statistics(const Matrix& x, const Matrix& naturals, Features&& features) {
  Matrix f(count, block), odds(K, block), sums = Matrix::Zero(count, K);
  const Matrix transposed = naturals.transpose();
  for (Eigen::Index first = 0; first < x.cols(); first += block) {
    const Eigen::Index n = std::min<Eigen::Index>(block, x.cols() - first);
    for (Eigen::Index i = 0; i < n; i++)
      features(&x(0, first + i), &f(0, i));
    odds.leftCols(n).noalias() = transposed * f.leftCols(n);
    for (Eigen::Index i = 0; i < n; i++)
      normalise(&odds(0, i));
    sums.noalias() += f.leftCols(n) * odds.leftCols(n).transpose();
  }
  return sums;
}

inline Matrix items() {
  const std::vector<double> x = bench::reals("x");
  return Eigen::Map<const Matrix>(x.data(), D, static_cast<Eigen::Index>(x.size()) / D);
}

// E[log pi] of a Dirichlet.
inline std::vector<double> log_shares(const std::vector<double>& concentration) {
  double total = 0;
  for (double c : concentration)
    total += c;
  std::vector<double> result;
  for (double c : concentration)
    result.push_back(bench::digamma(c) - bench::digamma(total));
  return result;
}

}  // namespace mixture
