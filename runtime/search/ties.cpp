// Subspace iteration from random vectors. The edge of the spectrum of random matrices separates structure from noise.
#include "runtime/search/ties.h"

#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>

#include "runtime/rng.h"

namespace lehr {
namespace {

using Sparse = Eigen::SparseMatrix<double, Eigen::RowMajor, std::int64_t>;
using Dense = Eigen::MatrixXd;

constexpr Eigen::Index kPlaces = 32;    // most singular vectors
constexpr int kIterations = 6;          // of the subspace
constexpr double kOneSided = 0.01;      // share of ties in the rarer direction below which each pair is there once
constexpr double kSameNumbers = 1e-12;  // relative squared difference of a matrix and its transpose that is rounding
constexpr std::uint64_t kSeed = 0x71E5;

Sparse matrix_of(std::int64_t rows, std::int64_t columns, const std::vector<Tie>& ties) {
  std::vector<Eigen::Triplet<double, std::int64_t>> entries;
  entries.reserve(ties.size());
  for (const Tie& t : ties)
    entries.emplace_back(t.row, t.column, t.value);
  Sparse out(rows, columns);
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

/// Adds what the columns say about the same nodes; see places_by_ties().
void complete(std::vector<Tie>& ties, std::int64_t nodes, std::int64_t& columns) {
  const Sparse a = matrix_of(nodes, nodes, ties);
  const Sparse transposed = a.transpose();
  if ((a - transposed).squaredNorm() <= kSameNumbers * a.squaredNorm()) return;
  const auto upper = static_cast<double>(std::ranges::count_if(ties, [](const Tie& t) { return t.row < t.column; }));
  const auto lower = static_cast<double>(std::ranges::count_if(ties, [](const Tie& t) { return t.row > t.column; }));
  const bool once = std::min(upper, lower) <= kOneSided * (upper + lower);
  const std::size_t n = ties.size();
  for (std::size_t i = 0; i < n; ++i)
    ties.push_back({ties[i].column, ties[i].row + (once ? 0 : nodes), ties[i].value});
  if (!once) columns += nodes;
}

/// Returns the reciprocal root of each row's degree plus the mean degree; the degree is the sum of absolute values.
Eigen::VectorXd scales_of(const Sparse& a) {
  Eigen::VectorXd degrees(a.rows());
  for (Eigen::Index i = 0; i < a.rows(); ++i)
    degrees[i] = a.row(i).cwiseAbs().sum();
  degrees.array() += degrees.mean();
  return degrees.cwiseSqrt().cwiseInverse();
}

/// Returns an orthonormal basis of the columns.
Dense basis_of(const Dense& x) {
  return Eigen::HouseholderQR<Dense>(x).householderQ() * Dense::Identity(x.rows(), x.cols());
}

}  // namespace

Columns places_by_ties(std::int64_t rows, std::int64_t columns, std::vector<Tie> ties, bool same) {
  if (same) complete(ties, rows, columns);
  Sparse a = matrix_of(rows, columns, ties);
  if (a.squaredNorm() == 0) return Columns(rows, 0);
  const Eigen::VectorXd of_columns = scales_of(a.transpose());
  a = (scales_of(a).asDiagonal() * a * of_columns.asDiagonal()).eval();
  const Sparse transposed = a.transpose();

  const Eigen::Index n = std::min({kPlaces, static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns)});
  Dense x(columns, n);
  Rng rng(kSeed, 0);
  for (Eigen::Index i = 0; i < x.size(); ++i)
    x.data()[i] = draw_normal(rng);
  Dense q = basis_of(a * x);
  for (int k = 0; k < kIterations; ++k) {
    x = transposed * q;
    if (k + 1 < kIterations) q = basis_of(a * x);
  }
  // The transposed matrix times the basis has the singular values of the matrix within the basis.
  const Eigen::SelfAdjointEigenSolver<Dense> solved(x.transpose() * x);
  const Dense vectors = q * solved.eigenvectors();

  const double edge =
      a.norm() * (1 / std::sqrt(static_cast<double>(rows)) + 1 / std::sqrt(static_cast<double>(columns)));
  Eigen::Index leading = 0;
  while (leading < n && solved.eigenvalues()[n - 1 - leading] > edge * edge)
    ++leading;
  Columns out(rows, leading);
  for (Eigen::Index k = 0; k < leading; ++k)
    out.col(k) = vectors.col(n - 1 - k);
  return out;
}

}  // namespace lehr
