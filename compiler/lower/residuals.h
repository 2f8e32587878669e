// Residual form (schedule.h, Residual): the pairs of summands of a square, by way of the sum itself.
//
// The square of S = sum_r A_r has the pairs A_r A_r', quadratic in the number of r. For the update of an element at r
// it needs only the residual S - A_r, so S is formed once and kept current:
//
//     S[e] = sum_r E A[e, r]
//     for r:  S[e] -= E A[e, r];  update the elements at r from S;  S[e] += E A[e, r]
#pragma once
#include "compiler/lower/lookups.h"

namespace lehr::loops {

/// The uses of a block: pairs of a term and the position of one of the block's atoms in it.
using Uses = std::vector<std::pair<ArrayTerm, std::size_t>>;

/// Emits code that forms the sums S of terms in residual form and updates them while elements change. Returns such
/// terms as updates and the ELBO read them.
class Residuals : Part {
 public:
  Residuals(Shared& shared, Terms& terms, Lookups& lookups) : Part(shared), terms_(terms), lookups_(lookups) {}

  /// Returns a term outside the item stages as the ELBO reads it: with the expectation of its pairs, or with its
  /// statistic.
  ArrayTerm outer_term(const schedule::OuterTerm& t);
  /// Returns a term outside the item stages as the update of `b` reads it. If `b` stands in a running sum, that is the
  /// term linear in the element, with the residual. If `b` stands in a cached sum, it is the whole term.
  ArrayTerm outer_term(const schedule::OuterTerm& t, BlockId b);

  /// A running sum S and the atom, of the block under update, that stands in its summands.
  struct RunningSum {
    const schedule::Residual* residual;
    const Atom* own;
  };
  /// Returns the running sums in the terms of the uses, each with the atom of the block under update.
  std::vector<RunningSum> running_sums(const Uses& uses) const;
  /// Emits the loops that compute S anew. Called once before each update of a block, so that rounding errors do not
  /// build up.
  void fill_sum(const schedule::Residual& r);
  /// Emits code that subtracts from S the summands that contain the element, or, with `back`, adds them again after its
  /// update.
  void move_sum(const RunningSum& x, bool back, const std::vector<bool>& fixed, const std::vector<ExprId>& element);

 private:
  /// Returns an expression for the expectation E A of one summand, at the values of the index variables in `env`.
  ExprId summand(const schedule::Residual& r, const Env& env);
  /// Emits a loop over r that calls `body` with the expectation E A of each summand.
  void each_summand(const schedule::Residual& r, const Env& env, const std::function<void(ExprId)>& body);
  /// Returns an expression for S^2 - sum_r (E A)^2, the expectation of the pairs, at the element of S that `env` gives.
  ExprId expected_pairs(const schedule::Residual& r, const Env& env);

  Terms& terms_;      // loop nests of terms
  Lookups& lookups_;  // solving for index variables
};

}  // namespace lehr::loops
