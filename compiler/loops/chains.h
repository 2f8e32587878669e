// Chains: one factor over a whole sequence.
#pragma once
#include "compiler/loops/updates.h"

namespace lehr::loops {

class Chains : Part {
 public:
  Chains(Shared& shared, Terms& terms, FormulaLoops& formulas, Updates& updates, Draws& draws, Clamps& clamps)
      : Part(shared), terms_(terms), formulas_(formulas), updates_(updates), draws_(draws), clamps_(clamps) {}

  void declare_chain(BlockId b);
  /// Work arrays of the open function for a chain that is kept for the current item only.
  void local_chain(BlockId b);
  void update_chain(BlockId b, const Uses& uses, const std::vector<ExprId>& lead, const UpdateHooks& hooks);
  void for_sequences(const model::Variable& var, const std::vector<ExprId>& lead,
                     const std::function<void(const std::vector<ExprId>&)>& body);
  /// Pairs and entropy as if the elements were independent: for start values.
  void independent_pairs(BlockId b, const std::vector<ExprId>& sequence);
  ExprId pair_expectation(const Atom& x, const Atom& y, const Env& env);
  ExprId chain_entropy(BlockId b, const std::vector<ExprId>& sequence);

 private:
  using AddPair =
      std::function<void(ExprId t, const std::vector<ExprId>& before, const std::vector<ExprId>& now, ExprId value)>;
  /// Whether another block of the item stage shares a term with a pair: it is updated from the pairs of the last sweep.
  bool pairs_read_in_item(BlockId b) const;
  /// Log potentials of one sequence: of single elements added to `unary`, of neighbours given to `add_pair`.
  /// With `steady`, those of the neighbours at one step.
  void gather_potentials(BlockId b, const Uses& uses, const std::vector<ExprId>& sequence, const NaturalTarget& unary,
                         bool steady, const AddPair& add_pair);
  /// Log potentials of neighbours are the same at every step; what a term with neighbours has beside them is.
  bool is_steady(BlockId b, const Uses& uses);
  bool is_steady(const ArrayTerm& t, model::VariableId v);
  /// Whether what reads the pairs of the chain adds them up over the steps.
  bool only_sums_pairs(BlockId b);
  std::vector<ExprId> pair_address(BlockId b, const std::vector<ExprId>& element, const std::vector<ExprId>& before,
                                   const std::vector<ExprId>& now);
  /// Stores, or adds where only sums are kept.
  void put_pair(BlockId b, const std::vector<ExprId>& at, ExprId value);
  std::vector<ExprId> entropy_address(BlockId b, const std::vector<ExprId>& sequence);
  /// `value` is that of one copy of the sequence.
  void store_entropy(BlockId b, const std::vector<ExprId>& sequence, ExprId value);

  // ---- lower_chain_categories.cpp
  void forward_backward(BlockId b, const Uses& uses, const std::vector<ExprId>& sequence, const UpdateHooks& hooks);

  struct Messages;  // the arrays of one sequence
  Messages open_messages(BlockId b, const std::vector<ExprId>& sequence, bool steady);
  /// Where a value is known, the others have log potential kLogZero.
  void forbid_others(const Messages& m);
  /// Forwards: the products, and whether none of their sums underflows.
  void filter(Messages& m);
  void exponentiate_pairs(const Messages& m, ExprId t);
  /// Forwards in logarithms; the normalised message at t.
  void filter_logarithms(const Messages& m);
  void pass_forward(const Messages& m, ExprId t);
  /// Backwards: probabilities and pairs by products; all in logarithms.
  void smooth_products(const Messages& m);
  /// Of all steps together.
  void sum_pairs(const Messages& m);
  void smooth_logarithms(const Messages& m);
  void each_step_back(const Messages& m, const std::function<void(ExprId t)>& body);
  void put_pair(const Messages& m, ExprId t, ExprId j, ExprId k, ExprId value);
  /// By products, or in logarithms where they underflow.
  void either(const Messages& m, const std::function<void()>& products, const std::function<void()>& in_logarithms);
  /// For draws, backwards: a draw at t given that at t + 1; the pair of the two, and what it says of t - 1.
  void draw_sequence(const Messages& m, const UpdateHooks& hooks);
  void draw_value(const Messages& m, ExprId t);
  void condition_on_draw(const Messages& m, ExprId t);
  void each_value(const Messages& m, const char* name, const std::function<void(ExprId)>& body);
  /// log sum exp of `term(k)` over the values of the category
  ExprId log_sum(const Messages& m, const std::function<ExprId(ExprId)>& term);
  ExprId probability(const Messages& m, ExprId t, ExprId k);

  // ---- lower_chain_gaussian.cpp
  struct Smoother;  // the arrays of one sequence
  using EachStep = std::function<void(ExprId t)>;
  /// S, S^-1 and the covariance with the element after: of one element, or over the steps.
  struct Matrices {
    BufferId covariance, precision, cross;
  };
  void kalman_smoother(BlockId b, const Uses& uses, const std::vector<ExprId>& sequence, const UpdateHooks& hooks);
  Smoother open_smoother(BlockId b, const Uses& uses, const std::vector<ExprId>& sequence, bool tolerant);
  void gather_gaussian(const Smoother& s, const Uses& uses);
  /// Known entries leave the potentials: what they say goes to the linear ones of their neighbours, and each stands on
  /// its own with precision 1 and its value as mean. How many there are; invalid: there may be none.
  ScalarId condition_chain(const Smoother& s);
  /// Known values in their place in `value`, which has one element's entries after `lead`.
  void put_known(const Smoother& s, ExprId t, BufferId value, const std::vector<ExprId>& lead);
  /// One loop over the steps, or two.
  void in_turn(const Smoother& s, const std::function<void(const EachStep&)>& each, const EachStep& matrices,
               const EachStep& means);
  Matrices matrices(const Smoother& s, std::optional<SizeId> steps);
  void copy(const Smoother& s, const Matrices& from, std::optional<ExprId> t, const Matrices& to,
            std::optional<ExprId> to_t);
  /// Forwards: x_{t-1} is eliminated; the log determinant of the pivot at t. What has to do with h.
  ExprId eliminate(const Smoother& s, ExprId t);
  void filter_mean(const Smoother& s, ExprId t);
  /// Backwards: covariances at t from those at t + 1. The mean, and the pairs of t and t + 1.
  Matrices smooth(const Smoother& s, ExprId t);
  void smooth_mean(const Smoother& s, ExprId t, const Matrices& now);
  void store_marginal(const Smoother& s, ExprId t, const Matrices& now);
  /// In place of them, backwards: a draw at t given that at t + 1, and the pair of the two.
  void draw_backwards(const Smoother& s, ExprId t);
  ExprId component_sum(const Smoother& s, const std::function<ExprId(ExprId)>& term);
  void each_component(const Smoother& s, const std::function<void(ExprId)>& body);
  void each_component_pair(const Smoother& s, const std::function<void(ExprId, ExprId)>& body);

  Terms& terms_;
  FormulaLoops& formulas_;
  Updates& updates_;
  Draws& draws_;
  Clamps& clamps_;
};

}  // namespace lehr::loops
