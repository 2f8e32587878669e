// Chains: one factor over a whole sequence.
#pragma once
#include <map>
#include <utility>

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
  /// Of the product of elements of one sequence.
  ExprId expectation(const std::vector<const Atom*>& together, const Env& env);
  ExprId chain_entropy(BlockId b, const std::vector<ExprId>& sequence);
  /// Tables whose exponentials the chain reads, rather than to take them of every element. Entropies of sequences are
  /// those without their means, where their sums are of one term (adds_up_alone).
  std::vector<ArrayId> row_tables(const schedule::ItemStage& stage, BlockId b) const;
  /// Whether its sums over elements of the chain are added up where these are updated (UpdateHooks::add_rows).
  bool adds_with_update(const schedule::ItemStage& stage, BlockId b, ArrayId table) const;
  /// Of chains of categories, one for each item, that were updated last: the probabilities of the item's, by step,
  /// which are nearer than those among the rows of all items.
  std::map<BlockId, BufferId> take_marginals() { return std::exchange(marginals_, {}); }

 private:
  /// `t`: the step of the last of the elements; `events`: of all of them, in order of time.
  using AddPotential =
      std::function<void(const conditionals::Lags& lags, ExprId t, const std::vector<ExprId>& events, ExprId value)>;
  /// Whether another block of the item stage shares a term with a pair: it is updated from the pairs of the last sweep.
  bool pairs_read_in_item(BlockId b) const;
  /// Log potentials of one sequence: of single elements added to `unary`, of several together given to `add`.
  /// With `steady`, those of neighbours at one step.
  void gather_potentials(BlockId b, const Uses& uses, const std::vector<ExprId>& sequence, const NaturalTarget& unary,
                         bool steady, const AddPotential& add);
  /// Elements stand together with neighbours alone, and log potentials of these are the same at every step; what a term
  /// with neighbours has beside them is.
  bool is_steady(BlockId b, const Uses& uses);
  bool is_steady(const ArrayTerm& t, model::VariableId v);
  /// Whether what reads the pairs of the chain adds them up over the steps.
  bool only_sums_pairs(BlockId b);
  /// Elements of one sequence in order of time, and their lags.
  std::pair<conditionals::Lags, std::vector<const Atom*>> in_order(std::vector<const Atom*> atoms) const;
  /// Of what is kept of elements together, `element` being the last of them.
  std::vector<ExprId> address(BlockId b, const std::vector<ExprId>& element, const std::vector<ExprId>& events);
  /// Stores, or adds where only sums are kept.
  void put(BlockId b, const conditionals::Lags& lags, const std::vector<ExprId>& at, ExprId value);
  /// The product of what `values` has of the elements.
  void put_product(BlockId b, const conditionals::Lags& lags, const std::vector<ExprId>& last, BufferId values);
  void clear_sums(BlockId b);
  std::vector<ExprId> entropy_address(BlockId b, const std::vector<ExprId>& sequence);
  /// `value` is that of one copy of the sequence.
  void store_entropy(BlockId b, const std::vector<ExprId>& sequence, ExprId value);

  // ---- lower_chain_categories.cpp
  void forward_backward(BlockId b, const Uses& uses, const std::vector<ExprId>& sequence, const UpdateHooks& hooks);

  struct Messages;                     // the arrays of one sequence
  using Digits = std::vector<ExprId>;  // values of as many elements as the chain reaches back, in order of time
  Messages open_messages(BlockId b, const Uses& uses, const std::vector<ExprId>& sequence, const UpdateHooks& hooks);
  void gather_pairs(const Messages& m);
  /// The probabilities at t to where they are kept; what the entropy is less for them.
  void put_away(const Messages& m, ExprId t);
  void less_mean(const Messages& m, ExprId t, ExprId k, ExprId potential);
  /// Where a value is known, the others have log potential kLogZero.
  void forbid_others(const Messages& m);
  /// Forwards: the products, and whether none of their sums underflows.
  void filter(Messages& m);
  void exponentiate_pairs(const Messages& m, ExprId t);
  /// The message into t by the pairs with those before, and that into the first element; the log of what it is to be
  /// multiplied by.
  void pass_products(const Messages& m, ExprId t, ScalarId log_scale);
  void open_products(const Messages& m, ScalarId log_scale);
  /// Stores the exponentials of the log potentials of t, shifted by `top`, and their products with the message and
  /// with `share`, which add up to `sum`.
  struct Emitted {
    ExprId top;
    ScalarId sum;
  };
  Emitted emit(const Messages& m, ExprId t, ScalarId share);
  /// Forwards in logarithms; the normalised message at t.
  void filter_logarithms(const Messages& m);
  void pass_forward(const Messages& m, ExprId t);
  /// Backwards: probabilities and pairs by products; all in logarithms.
  void smooth_products(const Messages& m);
  /// The same where pairs are summed up afterwards: one column of the transitions after the other.
  void smooth_columns(const Messages& m);
  /// What follows from the message back to `now` at t; gives what is passed on from there.
  ExprId put_smoothed(const Messages& m, ExprId t, const Digits& now, ExprId share);
  /// Of all steps together.
  void sum_pairs(const Messages& m);
  void smooth_logarithms(const Messages& m);
  void each_step_back(const Messages& m, const std::function<void(ExprId t)>& body);
  void put_pair(const Messages& m, ExprId t, const Digits& history, ExprId k, ExprId value);
  void clear_together(const Messages& m);
  void clear_marginal(const Messages& m, ExprId t);
  void put_marginal(const Messages& m, ExprId t, ExprId k, ExprId p);
  /// By products, or in logarithms where they underflow.
  void either(const Messages& m, const std::function<void()>& products, const std::function<void()>& in_logarithms);
  /// For draws, backwards: a draw at t given those after it; what stands together with it, and what it says of those
  /// before.
  void draw_sequence(const Messages& m, const UpdateHooks& hooks);
  void draw_value(const Messages& m, ExprId t);
  void condition_on_draw(const Messages& m, ExprId t);
  void each_value(const Messages& m, const char* name, const std::function<void(ExprId)>& body);
  /// Those that have the valid ones among `known`.
  void each_history(const Messages& m, const char* name, const std::function<void(const Digits&)>& body,
                    Digits known = {});
  static Digits ending_with(const Messages& m, ExprId value);
  /// That of the first element: what is not there has value 0.
  Digits first_history(const Messages& m, ExprId value);
  static Digits then(Digits history, ExprId value);
  static Digits joined(Digits first, const Digits& history, const Digits& last = {});
  /// log sum exp of `term`
  using Over = std::function<void(const std::function<void(const Digits&)>& body)>;
  ExprId log_sum(const Over& over, const std::function<ExprId(const Digits&)>& term);
  Over values(const Messages& m);
  Over histories(const Messages& m);
  ExprId probability(const Messages& m, ExprId t, ExprId k);

  // ---- lower_chain_rows.cpp
  /// Uses of single elements: rows of tables, and what the first element has beside them.
  struct Singles {
    Uses rows, first;
  };
  /// None where log potentials have to be added up before exponentials are taken, or no exponentials are there.
  std::optional<Singles> singles(BlockId b, const Uses& uses) const;
  bool stands_alone(const ArrayTerm& t, std::size_t use) const;
  /// A sum over elements of the chain that stand alone in it.
  bool is_named_sum(const ArrayTerm& t, std::size_t use) const;
  bool is_row(const ArrayTerm& t, std::size_t use) const;
  bool is_of_first(const Term& t, std::size_t use) const;
  std::optional<Singles> singles_of(const schedule::ItemStage& stage, BlockId b) const;
  /// Whether the sums over first elements are added up with the update, too.
  bool adds_first(const Singles& s) const;
  /// Log potentials of single elements: those of the first, or all into `unary`.
  void gather_start(Messages& m);
  void gather_unary(const Messages& m);
  Env single_env(const Messages& m, const std::pair<ArrayTerm, std::size_t>& of, ExprId t, ExprId k) const;
  /// Adds the probability of a value to sums.
  void add_to_sums(const Messages& m, const Uses& to, ExprId t, ExprId k);
  /// The place in a table of the log potential `row` at t.
  std::vector<ExprId> row_address(const Messages& m, std::size_t row, ExprId t, ExprId k);
  ExprId row_product(const Messages& m, ExprId t, ExprId k);
  ExprId row_shift(const Messages& m, ExprId t);
  /// Of what the entropy of the sequence is less; the rest is in Stages::emit_close.
  std::optional<ExprId> log_potential(const Messages& m, ExprId t, ExprId k);

  // ---- lower_chain_gaussian.cpp
  struct Smoother;  // the arrays of one sequence
  using EachStep = std::function<void(ExprId t)>;
  /// S, S^-1 and the covariances with elements after: of one element, or over the steps.
  struct Matrices {
    BufferId covariance, precision;
    std::vector<BufferId> cross;  // by lag
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
  /// Forwards: the elements before t are eliminated; the log determinant of the pivot at t. What has to do with h.
  ExprId eliminate(const Smoother& s, ExprId t);
  /// W_t,a after the elimination of what is before x_{t-a}; `a` counts from 0.
  void fill_in(const Smoother& s, std::size_t a, ExprId t);
  void move(const Smoother& s, BufferId from, BufferId to);
  void filter_mean(const Smoother& s, ExprId t);
  /// Backwards: covariances at t from those after it. The mean, and the pairs of t and elements after it.
  Matrices smooth(const Smoother& s, ExprId t);
  /// The mean at t given elements after it at their means, or draws.
  void expect_later(const Smoother& s, ExprId t);
  void put_pairs(const Smoother& s, ExprId t, const std::function<ExprId(ExprId j)>& now,
                 const std::function<ExprId(std::size_t a, ExprId j, ExprId l)>& covariance);
  void keep_mean(const Smoother& s, const std::function<ExprId(ExprId j)>& now);
  void smooth_mean(const Smoother& s, ExprId t, const Matrices& now);
  void store_marginal(const Smoother& s, ExprId t, const Matrices& now);
  /// In place of them, backwards: a draw at t given those after it, and their pairs.
  void draw_backwards(const Smoother& s, ExprId t);
  ExprId component_sum(const Smoother& s, const std::function<ExprId(ExprId)>& term);
  void each_component(const Smoother& s, const std::function<void(ExprId)>& body);
  void each_component_pair(const Smoother& s, const std::function<void(ExprId, ExprId)>& body);

  Terms& terms_;
  FormulaLoops& formulas_;
  Updates& updates_;
  Draws& draws_;
  Clamps& clamps_;
  std::map<BlockId, BufferId> marginals_ = {};
};

}  // namespace lehr::loops
