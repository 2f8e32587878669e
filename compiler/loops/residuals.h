// The pairs of a sum through the sum itself (schedule.h, Residual).
#pragma once
#include "compiler/loops/lookups.h"

namespace lehr::loops {

/// A use of a block: a term, and which of its atoms.
using Uses = std::vector<std::pair<ArrayTerm, std::size_t>>;

class Residuals : Part {
 public:
  Residuals(Shared& shared, Terms& terms, Lookups& lookups) : Part(shared), terms_(terms), lookups_(lookups) {}

  /// The summand of the log joint, and as the update of `b` reads it.
  ArrayTerm outer_term(const schedule::OuterTerm& t);
  ArrayTerm outer_term(const schedule::OuterTerm& t, BlockId b);

  struct RunningSum {
    const schedule::Residual* residual;
    const Atom* own;  // of the block under update
  };
  std::vector<RunningSum> running_sums(const Uses& uses) const;
  void fill_sum(const schedule::Residual& r);
  /// Takes the summands that the element stands in off their sums, or puts them back.
  void move_sum(const RunningSum& x, bool back, const std::vector<bool>& fixed, const std::vector<ExprId>& element);

 private:
  ExprId summand(const schedule::Residual& r, const Env& env);
  void each_summand(const schedule::Residual& r, const Env& env, const std::function<void(ExprId)>& body);
  /// S^2 - sum_r (E A)^2 at the element of S that `env` names.
  ExprId expected_pairs(const schedule::Residual& r, const Env& env);

  Terms& terms_;
  Lookups& lookups_;
};

}  // namespace lehr::loops
