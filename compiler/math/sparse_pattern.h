// The nonzeros of a sparse symmetric matrix and of its Cholesky factor, and a factorisation on them.
//
// The lower triangle of the matrix is a list of entries: first the diagonal, then the others column by column. Columns
// are in the order of elimination, in which the factor has few nonzeros (approximate minimum degree; Amestoy, Davis &
// Duff 1996). The factor has more nonzeros than the matrix: elimination of a column couples all rows in it (Davis,
// Direct Methods for Sparse Linear Systems, 2006).
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/rng.h"

namespace lehr::math {

/// The pattern of a sparse symmetric matrix with the arrays that its factorisation needs. A "position" is the place of
/// a coordinate in the order of elimination.
struct SparsePattern {
  /// Two coordinates, as row and column of a matrix.
  using Pair = std::pair<std::int64_t, std::int64_t>;

  /// Makes the pattern of a matrix of `size` rows with these entries and the diagonal. Pairs may be repeated, in any
  /// order. Returns nothing if the factor would have more than `most_filled` nonzeros.
  static std::optional<SparsePattern> make(std::int64_t size, std::vector<Pair> pairs, std::int64_t most_filled);

  /// Returns the pairs of `rows` and `columns`, coordinates in the numbers of a file. Their fractions are cut off.
  /// Returns nothing if a number is not from 0 to below `size`, or if the lengths differ.
  static std::optional<std::vector<Pair>> pairs_of(std::span<const double> rows, std::span<const double> columns,
                                                   std::size_t size);
  /// Makes the pattern as above, without a limit on the nonzeros of the factor.
  static SparsePattern make(std::int64_t size, std::vector<Pair> pairs);

  std::int64_t size = 0;      // rows of the matrix: the number of coordinates
  std::vector<Pair> entries;  // coordinates of the entries: the diagonal, then the others by column
  double operations = 0;      // multiplications of one factorisation and one selected inverse
  // By coordinate: its position.
  std::vector<std::int64_t> order;
  // By position: the first entry of the column that is not on the diagonal, among `entries`; one number more at the
  // end. Rows of a column are in order of their positions.
  std::vector<std::int64_t> first;
  // By entry: the position of its row, and its place among the nonzeros of the factor.
  std::vector<std::int64_t> row, place;
  // Nonzeros of the factor by column: the first of each position (and the end), and the positions of their rows, of
  // which the first is the diagonal.
  std::vector<std::int64_t> filled_first, filled_row;
  // The nonzeros left of the diagonal by row: the first of each position (and the end), their places among those by
  // column, and the positions of their columns. Without nonzeros, `left` and `left_column` have one unused number.
  std::vector<std::int64_t> left_first, left, left_column;

  /// Returns the number of entries.
  std::int64_t count() const { return static_cast<std::int64_t>(entries.size()); }
  /// Returns the number of nonzeros of the factor.
  std::int64_t filled() const { return static_cast<std::int64_t>(filled_row.size()); }
  /// Returns the entry of two coordinates, as an index into `entries`; nothing if it is 0 in the pattern.
  std::optional<std::size_t> find(std::int64_t a, std::int64_t b) const;
  /// Returns a number that differs, most probably, between different patterns.
  std::uint64_t digest() const;
};

/// A Normal vector with a sparse precision matrix.
class SparseNormal {
 public:
  /// Makes the vector whose precision has these numbers, in the order of SparsePattern::entries. The pattern must
  /// outlive it. is_proper() says whether the matrix is positive definite; nothing else may be called if it is not.
  SparseNormal(const SparsePattern& pattern, std::span<const double> precision);

  /// Returns true if the precision is positive definite.
  bool is_proper() const { return proper_; }
  /// Returns the variance of a weighted sum of coordinates: pairs of a coordinate and its weight.
  double variance(std::span<const std::pair<std::size_t, double>> weights) const;
  /// Returns the covariance of two coordinates.
  double covariance(std::size_t a, std::size_t b) const;
  /// Returns the variances of all coordinates, and the covariances of all other entries of the pattern, in the order of
  /// SparsePattern::entries (Takahashi, Fagan & Chen 1973).
  std::vector<double> covariances() const;
  /// Returns a draw of the vector minus its mean.
  std::vector<double> draw(Rng& rng) const;

 private:
  /// Returns L^-1 applied to weighted coordinates, by position.
  std::vector<double> solved(std::span<const std::pair<std::size_t, double>> weights) const;

  const SparsePattern& p_;
  std::vector<double> factor_;  // the nonzeros of L
  bool proper_ = true;
};

}  // namespace lehr::math
