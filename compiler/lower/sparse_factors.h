// Factors with a sparse precision (math::SparsePattern): factorisation, solution, the covariances that terms read, and
// draws, as loops over the arrays of the pattern.
//
// Arrays of matrices of such a factor have one number for each entry of the pattern. First come the diagonal entries,
// by coordinate, then the others. The entry of a pair of coordinates is found by a binary search among the rows of a
// column. The position of a coordinate is its place in the order of elimination (SparsePattern::order).
#pragma once
#include "compiler/lower/draws.h"

namespace lehr::loops {

/// Emits the code of joint blocks whose Normal factor has a sparse precision (math::SparsePattern): factorisation,
/// mean, the covariances that terms read, and draws. Arrays "by entry" have one number for each entry of the pattern,
/// the diagonal first; the position of a coordinate is its place in the order of elimination.
class SparseFactors : Part {
 public:
  SparseFactors(Shared& shared, Draws& draws) : Part(shared), draws_(draws) {}

  /// Returns true if the precision of the block is sparse.
  bool has(BlockId b) const { return m_[s_.conditionals[b].variable].support == math::Support::sparse; }
  /// Returns an i64 expression for the number of the entry of two coordinates, which is its index in arrays by entry.
  /// Of a pair that the pattern does not have it is some entry: terms have such pairs only where their coefficient
  /// is 0.
  ExprId entry(BlockId b, ExprId j, ExprId l);
  /// Emits code that blends new natural parameters with those of the current factor, for a natural-gradient step: each
  /// is replaced by `blended`(statistic, index, new natural parameter, current one). `linear` has those of x_j by
  /// coordinate, `quadratic` those of products by entry.
  void blend(BlockId b, BufferId linear, BufferId quadratic,
             const std::function<ExprId(math::Stat stat, ExprId at, ExprId now, ExprId old)>& blended);
  /// Emits code that forms the factor from natural parameters, and its expected statistics. The emitted code fails with
  /// `code` if the precision is not positive definite. With `tolerant`, for initial values, it does not fail: it raises
  /// the diagonal of the precision at coordinates that are not determined, and draws are means.
  void from_naturals(BlockId b, BufferId linear, BufferId quadratic, std::int32_t code, bool tolerant);
  /// Emits code that forms the expected statistics from the parameters. The emitted code fails with `code` if the
  /// precision is not positive definite.
  void expectations(BlockId b, std::int32_t code);

 private:
  /// The arrays and sizes that the code of one block with a sparse precision works with.
  struct Work {
    /// The buffers of the pattern of the precision: where its entries and those of the factor L are.
    const PatternBuffers& pattern;
    SizeId size, entries, filled;  // numbers of coordinates, of entries, and of nonzeros of the factor
    /// By entry: the precision matrix.
    BufferId precision;
    BufferId factor, inverse;  // nonzeros of the Cholesky factor L, and the same entries of the inverse
    /// By position: work arrays for one column or one vector at a time.
    BufferId column, result;
    /// By position: the mean or draw; while it is solved for, the right-hand side.
    BufferId x;
  };
  /// Returns the arrays of a block, after it has declared work arrays for those that are not stored. `factor` is valid
  /// only with `factorises`, `inverse` only if the block also has an entropy.
  Work open(BlockId b, bool factorises = true);
  /// Emits a loop over the off-diagonal entries; `body` gets the entry and the positions of its row and column.
  void each_entry(const Work& w, const std::function<void(ExprId e, ExprId row, ExprId column)>& body);
  /// Emits a loop over coordinates; `body` gets the coordinate and its position.
  void each_coordinate(const Work& w, const std::function<void(ExprId c, ExprId position)>& body);
  /// Returns the begin and end of the nonzeros below the diagonal in column `j` of the factor.
  std::pair<ExprId, ExprId> below(const Work& w, ExprId j);
  /// Emits a loop over the nonzeros `from` .. `past` - 1 of a column of the factor; `body` gets each and the position
  /// of its row. `first` is the position of the first row.
  void each_row(const Work& w, ExprId column, ExprId from, ExprId past, ExprId first,
                const std::function<void(ExprId k, ExprId row)>& body);
  /// Emits the factorisation of the precision, and returns its log determinant. The emitted code fails with `code` if
  /// the precision is singular; with `tolerant`, it raises the diagonal instead.
  ExprId factorise(const Work& w, std::int32_t code, bool tolerant);
  /// Emits code that overwrites Work::x by L^-T x or, if `both`, by (L L')^-1 x. The former makes a draw from standard
  /// Normal numbers, the latter the mean from the linear natural parameter.
  void solve(const Work& w, bool both);
  /// Emits code that computes those entries of the covariance (the inverse of the precision) at which the factor L has
  /// nonzeros, by Takahashi's recursion.
  void invert(const Work& w);
  /// Emits code that stores the expected statistics that terms read: of x_j and x_j x_l, from the mean or draw `x` and
  /// the covariance, and the log determinant.
  void store_expectations(BlockId b, const Work& w, ExprId logdet);

  Draws& draws_;  // the part that emits random numbers and draws
};

}  // namespace lehr::loops
