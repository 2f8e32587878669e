// K-means: Lloyd's algorithm from k-means++ seeds (Arthur & Vassilvitskii 2007).
#include "runtime/search/features.h"

namespace lehr {
namespace {

constexpr int kLloyd = 20;  // most iterations

/// Returns k rows as seeds, far from each other: each next one has a probability proportional to its squared distance
/// from the nearest seed so far.
Columns plus_plus(const Columns& x, Eigen::Index k, Rng& rng) {
  Columns centres(k, x.cols());
  Eigen::VectorXd distance = Eigen::VectorXd::Constant(x.rows(), 1.0);
  for (Eigen::Index c = 0; c < k; ++c) {
    double left = draw_uniform(rng) * distance.sum();
    Eigen::Index chosen = 0;
    while (chosen + 1 < x.rows() && left >= distance[chosen])
      left -= distance[chosen++];
    centres.row(c) = x.row(chosen);
    const Eigen::VectorXd to = (x.rowwise() - centres.row(c)).rowwise().squaredNorm();
    distance = c == 0 ? to : distance.cwiseMin(to).eval();
  }
  return centres;
}

}  // namespace

std::vector<std::int64_t> cluster(const Columns& x, std::int64_t k, Rng& rng) {
  if (x.cols() == 0 || x.rows() == 0) return {};
  Columns centres = plus_plus(x, k, rng);
  std::vector<std::int64_t> out(static_cast<std::size_t>(x.rows()), -1);
  for (int round = 0; round < kLloyd; ++round) {
    bool moved = false;
    Columns sums = Columns::Zero(k, x.cols());
    Eigen::VectorXd counts = Eigen::VectorXd::Zero(k);
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
      Eigen::Index nearest = 0;
      (centres.rowwise() - x.row(i)).rowwise().squaredNorm().minCoeff(&nearest);
      moved = moved || out[static_cast<std::size_t>(i)] != nearest;
      out[static_cast<std::size_t>(i)] = nearest;
      sums.row(nearest) += x.row(i);
      counts[nearest] += 1;
    }
    if (!moved) break;
    for (Eigen::Index c = 0; c < k; ++c) {
      if (counts[c] > 0) centres.row(c) = sums.row(c) / counts[c];
    }
  }
  return out;
}

}  // namespace lehr
