// Sparse Cholesky factors, variances, covariances and draws against dense matrices.
#include <Eigen/Dense>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "compiler/math/sparse_pattern.h"

using namespace lehr::math;

namespace {

using Pair = SparsePattern::Pair;

/// A sparse precision: random effects of two crossed groupings with an intercept, a chain, and a coordinate alone.
struct Example {
  SparsePattern pattern;
  std::vector<double> entries;
  Eigen::MatrixXd dense;
};

Example example(std::int64_t size, std::uint64_t seed) {
  lehr::Rng rng(seed);
  std::vector<Pair> pairs;
  for (std::int64_t k = 0; k + 2 < size; ++k) {
    pairs.emplace_back(0, k);
    if (k % 3 != 0) pairs.emplace_back(k, k + 1);
    pairs.emplace_back(k, static_cast<std::int64_t>(lehr::draw_uniform(rng) * static_cast<double>(size - 1)));
  }
  Example out{*SparsePattern::make(size, pairs, 1 << 20), {}, Eigen::MatrixXd::Zero(size, size)};
  for (const auto& [row, column] : out.pattern.entries) {
    const double x = row == column ? 20 + static_cast<double>(size) : lehr::draw_normal(rng);
    out.entries.push_back(x);
    out.dense(row, column) = out.dense(column, row) = x;
  }
  return out;
}

}  // namespace

TEST_CASE("a sparse precision has the covariances of the dense one") {
  for (const std::int64_t size : {1, 2, 3, 7, 40}) {
    const Example e = example(size, 3);
    const Eigen::MatrixXd covariance = e.dense.inverse();
    const SparseNormal normal(e.pattern, e.entries);
    REQUIRE(normal.is_proper());
    const std::vector<double> selected = normal.covariances();
    for (std::size_t k = 0; k < selected.size(); ++k) {
      const auto [row, column] = e.pattern.entries[k];
      CHECK(selected[k] == Approx(covariance(row, column)).epsilon(1e-10).margin(1e-14));
      CHECK(e.pattern.find(row, column) == k);
      CHECK(e.pattern.find(column, row) == k);
      const auto i = static_cast<std::size_t>(row), j = static_cast<std::size_t>(column);
      CHECK(normal.covariance(i, j) == Approx(covariance(row, column)).epsilon(1e-10).margin(1e-14));
    }
    const std::vector<std::pair<std::size_t, double>> weights{{0, 2.0}, {static_cast<std::size_t>(size - 1), -0.5}};
    Eigen::VectorXd w = Eigen::VectorXd::Zero(size);
    for (const auto& [k, x] : weights)
      w[static_cast<Eigen::Index>(k)] += x;
    CHECK(normal.variance(weights) == Approx(w.dot(covariance * w)).epsilon(1e-10));
  }
}

TEST_CASE("draws of a sparse precision have its covariance") {
  const Example e = example(7, 5);
  const SparseNormal normal(e.pattern, e.entries);
  const Eigen::MatrixXd covariance = e.dense.inverse();
  constexpr int kDraws = 20000;
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(7, 7);
  lehr::Rng rng(1);
  for (int k = 0; k < kDraws; ++k) {
    const std::vector<double> x = normal.draw(rng);
    const Eigen::Map<const Eigen::VectorXd> v(x.data(), 7);
    sum += v * v.transpose();
  }
  for (int i = 0; i < 7; ++i)
    for (int j = 0; j < 7; ++j)
      CHECK(std::abs(sum(i, j) / kDraws - covariance(i, j)) <
            5 * std::sqrt(covariance(i, i) * covariance(j, j) * 2 / kDraws));
}

TEST_CASE("coordinates of entries are whole numbers within the matrix") {
  const std::vector<double> rows = {1, 2};
  REQUIRE(SparsePattern::pairs_of(rows, std::vector{0.0, 1.0}, 3));
  for (const double wrong : {0.5, -1.0, 3.0, std::nan("")})
    CHECK_FALSE(SparsePattern::pairs_of(rows, std::vector{0.0, wrong}, 3));
}

TEST_CASE("patterns have limits, and matrices may be indefinite") {
  std::vector<Pair> all;
  for (std::int64_t i = 0; i < 30; ++i)
    for (std::int64_t j = 0; j < i; ++j)
      all.emplace_back(i, j);
  CHECK_FALSE(SparsePattern::make(30, all, 464));
  REQUIRE(SparsePattern::make(30, all, 465));
  const SparsePattern two = *SparsePattern::make(2, {{1, 0}, {0, 1}, {1, 1}}, 10);
  CHECK(two.count() == 3);
  CHECK(two.digest() != SparsePattern::make(2, {}, 10)->digest());
  CHECK_FALSE(two.find(0, 1) == std::nullopt);
  CHECK_FALSE(SparseNormal(two, std::vector{1.0, 1.0, 1.0}).is_proper());
  CHECK_FALSE(SparseNormal(two, std::vector{1.0, std::nan(""), 0.5}).is_proper());
  CHECK(SparseNormal(two, std::vector{1.0, 1.0, 0.5}).is_proper());
}
