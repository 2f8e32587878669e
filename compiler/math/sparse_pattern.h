// The nonzeros of a sparse symmetric matrix and of its Cholesky factor, and a factorisation on them.
//
// The lower triangle of the matrix is a list of entries: first the diagonal, then the others column by column. Columns
// are in the order of elimination, in which the factor has few nonzeros (approximate minimum degree; Amestoy, Davis &
// Duff 1996). The factor can have more nonzeros than this triangle: elimination of a column couples all rows in it
// (Davis, Direct Methods for Sparse Linear Systems, 2006).
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

  /// Makes the pattern of a symmetric matrix with `size` rows, whose nonzeros are these pairs of coordinates and the
  /// diagonal. A pair may be repeated, and its order does not matter. Returns nothing if the Cholesky factor would have
  /// more than `most_filled` nonzeros.
  static std::optional<SparsePattern> make(std::int64_t size, std::vector<Pair> pairs, std::int64_t most_filled);

  /// Returns the pairs (rows[k], columns[k]) of coordinates, which the files of a saved fit have as real numbers.
  /// Returns nothing if a number is not a whole one from 0 to below `size`, or if the lengths differ.
  static std::optional<std::vector<Pair>> pairs_of(std::span<const double> rows, std::span<const double> columns,
                                                   std::size_t size);
  /// Makes the pattern of a symmetric matrix with `size` rows, whose nonzeros are these pairs of coordinates and the
  /// diagonal, without a limit on the nonzeros of the Cholesky factor.
  static SparsePattern make(std::int64_t size, std::vector<Pair> pairs);

  std::int64_t size = 0;      // rows of the matrix: the number of coordinates
  std::vector<Pair> entries;  // coordinates of the entries: the diagonal, then the others by column
  double operations = 0;      // estimated multiplications of a factorisation and a selected inverse
  /// By coordinate: its position in the order of elimination, the order of the columns of the Cholesky factor.
  std::vector<std::int64_t> order;
  /// By position: the index in `entries` of the first entry of its column that is not on the diagonal; one number more
  /// at the end. Rows of a column are in order of their positions.
  std::vector<std::int64_t> first;
  /// By entry: the position of its row, and its place among the nonzeros of the Cholesky factor.
  std::vector<std::int64_t> row, place;
  /// Nonzeros of the Cholesky factor by column: the first of each position (and the end), and the positions of their
  /// rows, of which the first is the diagonal.
  std::vector<std::int64_t> filled_first, filled_row;
  /// The nonzeros of the Cholesky factor left of the diagonal by row: the first of each position (and the end), their
  /// places among those by column, and the positions of their columns. Without nonzeros, `left` and `left_column` have
  /// one unused number.
  std::vector<std::int64_t> left_first, left, left_column;

  /// Returns the number of entries that the pattern has of the matrix: the diagonal, and the nonzeros below it in the
  /// order of elimination. The Cholesky factor can have more nonzeros: filled().
  std::int64_t count() const { return static_cast<std::int64_t>(entries.size()); }
  /// Returns the number of nonzeros of the Cholesky factor, the diagonal included.
  std::int64_t filled() const { return static_cast<std::int64_t>(filled_row.size()); }
  /// Returns the index in `entries` of the matrix entry of two coordinates, in either order; nothing if the pattern has
  /// a 0 there.
  std::optional<std::size_t> find(std::int64_t a, std::int64_t b) const;
  /// Returns a hash of the entries, by which a printed model shows which pattern it has.
  std::uint64_t digest() const;
};

/// A Normal vector with a sparse precision matrix, for variances and draws from a fit; generated code has its own.
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
  /// Returns L^-1 w, by position, where L is the Cholesky factor of the precision and w a vector that is given by its
  /// nonzero weights of coordinates. The sum of the squares of the result is the variance of the weighted sum.
  std::vector<double> solved(std::span<const std::pair<std::size_t, double>> weights) const;

  const SparsePattern& p_;      // pattern of the precision and of its factor
  std::vector<double> factor_;  // nonzeros of the Cholesky factor L, by column
  bool proper_ = true;          // the precision is positive definite
};

}  // namespace lehr::math
