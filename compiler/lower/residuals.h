// Residual form (schedule.h, Residual): sums over pairs, by way of the sums of their two factors.
//
// The square of S = sum_r A_r has the pairs A_r A_r', quadratic in the number of r. For the update of an element at r
// it needs only the residual S - A_r, so S is formed once and then follows the elements:
//
//     S[e] = sum_r E A[e, r]
//     for r:  S[e] -= E A[e, r];  update the elements at r from S;  S[e] += E A[e, r]
//
// Pairs of two factors A_r B_r' have two sums. If r < r', the sum of A has the elements before r, and that of B those
// after it:
//
//     S[e] = 0, T[e] = sum_r E B[e, r]
//     for r:  T[e] -= E B[e, r];  update the elements at r from S and T;  S[e] += E A[e, r]
#pragma once
#include "compiler/lower/lookups.h"

namespace lehr::loops {

/// The uses of a block: pairs of a term and the position of one of the block's atoms in it.
using Uses = std::vector<std::pair<ArrayTerm, std::size_t>>;

/// Emits code for terms in residual form (schedule::Residual): a sum over pairs of summands A_r B_r' takes linear time
/// by running sums of A and of B (the two sides), which follow the elements as these are updated. It also gives each
/// term outside the item stages as updates and the ELBO read it.
class Residuals : Part {
 public:
  Residuals(Shared& shared, Terms& terms, Lookups& lookups) : Part(shared), terms_(terms), lookups_(lookups) {}

  /// Returns a term outside the item stages as the ELBO reads it. A term in residual form is multiplied by the
  /// expectation of its pairs, one with a statistic by the statistic's sum, any other is returned as it is. Without
  /// caching (can_cache_sums) a cached statistic is not used: the result is the undivided term.
  ArrayTerm outer_term(const schedule::OuterTerm& t);
  /// Returns a term outside the item stages as the update of `b` reads it. If `b` maintains running sums, there is a
  /// term for each factor of the pairs, linear in the element, with the sum of the other factor. Another block in the
  /// pairs reads the pairs themselves. If `b` stands in a cached sum, the result is the undivided term. A block in
  /// neither reads what outer_term() returns.
  std::vector<ArrayTerm> outer_terms(const schedule::OuterTerm& t, BlockId b);

  /// The running sums of a residual form, and by side the atom in its summand that belongs to the block under update.
  struct RunningSum {
    /// The residual form that has the running sums; owned by the schedule.
    const schedule::Residual* residual;
    /// By side: the atom in the side's summand that belongs to the block under update; null if there is none.
    std::vector<const Atom*> own;
  };
  /// Returns the running sums that the uses of a block read, each with the atoms of that block. Its update then takes
  /// each element out of the sums and puts it back (move_sum).
  std::vector<RunningSum> running_sums(const Uses& uses) const;
  /// Emits the loops that compute the running sums of a residual form anew. Called once before each update of a block
  /// that reads them, so that rounding errors do not build up. Of ordered pairs (r < r'), the sum of the elements
  /// before becomes 0.
  void fill_sums(const schedule::Residual& r);
  /// Emits code that subtracts from the sums the summands that contain the element, or, with `back`, adds them again
  /// after its update. Of ordered pairs, the summands leave the sum of the elements after and, with `back`, enter that
  /// of the elements before.
  void move_sum(const RunningSum& x, bool back, const std::vector<bool>& fixed, const std::vector<ExprId>& element);

 private:
  /// Returns an expression for E A(e, r), the expectation of one summand of the sum S(e) of `side`. `env` has the
  /// values of the index variables of e and r.
  ExprId summand(const schedule::Residual::Side& side, const Env& env);
  /// Emits a loop over r that calls `body` with the expectations of the summands at r: A_r, and B_r if there are two
  /// factors.
  void each_summand(const schedule::Residual& r, const Env& env,
                    const std::function<void(const std::vector<ExprId>&)>& body);
  /// Returns an expression for the expectation of the sum over pairs A_r B_r' of a residual form, at the elements of
  /// its sums that `env` gives.
  ExprId expected_pairs(const schedule::Residual& r, const Env& env);

  Terms& terms_;      // the part that emits loop nests of terms
  Lookups& lookups_;  // the part that solves for index variables
};

}  // namespace lehr::loops
