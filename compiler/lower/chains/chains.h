// Chains: blocks whose factor is one joint distribution over a whole sequence, not a product over its elements.
//
// The terms of the log joint give potentials: unary ones from terms with one element, joint ones from terms with
// several. Elements of one term are neighbours, or have a constant number of steps (the lag) between them. For `z[t] ~
// Categorical(A[z[t-1]])` the log potentials of the pair (z[t-1], z[t]) = (j, k) are E[log A[j, k]].
//
// Exact inference takes time linear in the length: forward-backward for categories (Bishop 2006, section 13.2), a
// Kalman smoother in information form for Normal elements (section 13.3). The results are marginals of elements,
// expectations of products of elements that stand in one term ("pairs"), and the entropy of the sequence.
#pragma once
#include <map>
#include <utility>

#include "compiler/lower/updates.h"

namespace lehr::loops {

/// Emits the updates of chains: blocks with one joint factor for each whole sequence, by forward-backward (categories)
/// or a Kalman smoother (Normal elements). Terms give unary potentials (of one element) and joint ones (of several
/// elements, with constant lags between them); "pairs" are the expectations of products of elements in a joint one. A
/// sequence is given by the indices of all axes but the last, which is its steps t.
class Chains : Part {
 public:
  Chains(Shared& shared, Terms& terms, FormulaLoops& formulas, Updates& updates, Draws& draws, Clamps& clamps)
      : Part(shared), terms_(terms), formulas_(formulas), updates_(updates), draws_(draws), clamps_(clamps) {}

  /// Declares the memory for what the update of a chain computes beside the marginals of its elements: the expectations
  /// of products of elements ("pairs"), and the entropies of sequences. They have buffers for all sequences or, if only
  /// the item of a sequence needs them (Chain::local), work arrays that local_chain() declares.
  void declare_chain(BlockId b);
  /// Declares, in the function that is open, the work arrays for the expectations of products ("pairs") and the entropy
  /// of one sequence of a chain that is Chain::local; does nothing for other blocks.
  void local_chain(BlockId b);
  /// Emits the update of all sequences whose leading indices are `lead`.
  void update_chain(BlockId b, const Uses& uses, const std::vector<ExprId>& lead, const UpdateHooks& hooks);
  /// Emits loops over the sequences whose leading indices are `lead`.
  void for_sequences(const model::Variable& var, const std::vector<ExprId>& lead,
                     const std::function<void(const std::vector<ExprId>&)>& body);
  /// Emits code that sets the expectations of products ("pairs") and the entropy of a sequence as if its elements were
  /// independent. Used where a factor does not come from an update of the chain: after initial values, loaded
  /// parameters or a seed.
  void independent_pairs(BlockId b, const std::vector<ExprId>& sequence);
  /// Returns an expression for the expectation of a product of two or more atoms, which are elements of one sequence.
  /// The product must be one of Chain::products.
  ExprId expectation(const std::vector<const Atom*>& together, const Env& env);
  /// Returns an expression that loads the entropy of a sequence's factor, times its copies.
  ExprId chain_entropy(BlockId b, const std::vector<ExprId>& sequence);
  /// Returns the tables whose rows are the unary potentials of a chain of categories. Their exponentials are taken with
  /// the table, not for every element. If one term alone reads a table (adds_up_alone), the entropies of sequences
  /// leave out its mean, which Stages::emit_finalise subtracts for all items together. Empty for other blocks, and for
  /// chains that do not meet the conditions of singles().
  std::vector<ArrayId> row_tables(const schedule::ItemStage& stage, BlockId b) const;
  /// Returns true if the chain's update adds the probabilities of its elements to the sums of the table right away
  /// (UpdateHooks::add_rows), so that no later loop over the item must. False if items are iterated or elements are
  /// drawn.
  bool sums_in_update(const schedule::ItemStage& stage, BlockId b, ArrayId table) const;
  /// Returns, and forgets, the work arrays with the probabilities by step that the last updates of chains of categories
  /// have left. The sums over the item that follow read them from there rather than from the memory of the factors.
  std::map<BlockId, BufferId> take_marginals() { return std::exchange(marginals_, {}); }

 private:
  /// A function that emits code which adds `value` to a joint log potential. `t`: the step of the last of its elements;
  /// `lags`: how many steps before it the others are; `events`: the event indices of all of them, in order of time.
  using AddPotential =
      std::function<void(const conditionals::Lags& lags, ExprId t, const std::vector<ExprId>& events, ExprId value)>;
  /// Returns true if the expected products of elements (pairs) must outlive the update of their item, so that they need
  /// buffers for all items. Either the stage is refreshed, or another block of the item stage has a term with a pair
  /// and is updated from those of the last sweep.
  bool pairs_outlive_item(BlockId b) const;
  /// Emits loops that compute the log potentials of one sequence. Unary ones are added to `unary`. Joint ones are
  /// passed to `add`. With `homogeneous`, joint ones are computed at step 1 only, which stands for all steps.
  void gather_potentials(BlockId b, const Uses& uses, const std::vector<ExprId>& sequence, const NaturalTarget& unary,
                         bool homogeneous, const AddPotential& add);
  /// Returns true if the chain has joint potentials of neighbours alone, and these are the same at every step, so that
  /// they are computed once for a sequence.
  bool is_homogeneous(BlockId b, const Uses& uses);
  /// Returns true if the joint potential that the term gives to neighbours of `v` is the same at every step, since
  /// nothing else in the term depends on the step. True also if the term has no neighbours of `v`.
  bool is_homogeneous(const ArrayTerm& t, model::VariableId v);
  /// Returns true if the terms of the item stage read the pairs of neighbours of the chain as sums over the steps only.
  /// The array of pairs then needs no axis of steps. It is false if the chain reaches back several steps.
  bool only_pair_sums_read(BlockId b);
  /// Returns atoms of one sequence in order of time, with their lags: the steps from each to the last one.
  std::pair<conditionals::Lags, std::vector<const Atom*>> in_order(std::vector<const Atom*> atoms) const;
  /// Returns the indices into an array of Chain::products, for a product whose last element is `element`. `events` has
  /// the event indices of all its elements, in order of time.
  std::vector<ExprId> address(BlockId b, const std::vector<ExprId>& element, const std::vector<ExprId>& events);
  /// Emits a store of the expectation of a product of statistics to Chain::products, at the indices `at`. If the chain
  /// has sums over the steps, it is an addition.
  void put(BlockId b, const conditionals::Lags& lags, const std::vector<ExprId>& at, ExprId value);
  /// Emits code that multiplies the entries of `values` (means or draws) of several elements and stores the result as
  /// the expectation of their product. `last` is the last of the elements.
  void put_product(BlockId b, const conditionals::Lags& lags, const std::vector<ExprId>& last, BufferId values);
  /// Emits code that sets Chain::products to 0, if they are sums over the steps.
  void clear_sums(BlockId b);
  /// Returns the indices of a sequence's entropy in Chain::entropy: none if the chain is local.
  std::vector<ExprId> entropy_address(BlockId b, const std::vector<ExprId>& sequence);
  /// Emits a store of the entropy of a sequence: `value`, which is that of one copy, times the copies.
  void store_entropy(BlockId b, const std::vector<ExprId>& sequence, ExprId value);

  // ---- lower_chain_categories.cpp: forward-backward

  /// Emits the update of one sequence of categories: the forward pass, the backward pass, and the entropy.
  void forward_backward(BlockId b, const Uses& uses, const std::vector<ExprId>& sequence, const UpdateHooks& hooks);

  /// The work arrays for the messages of one sequence of categories (messages.h).
  struct Messages;
  /// The values of consecutive elements in order of time: a history has as many as the chain's largest lag.
  using History = std::vector<ExprId>;
  /// Declares the work arrays for the messages of one sequence.
  Messages open_messages(BlockId b, const Uses& uses, const std::vector<ExprId>& sequence, const UpdateHooks& hooks);
  /// Emits code that computes the joint log potentials of the sequence.
  void gather_pairs(const Messages& m);
  /// Emits code that copies the probabilities at t to the factor and subtracts the mean of the unary log potentials
  /// from the entropy. If the hooks say so, it adds the probabilities to sums of tables.
  void store_marginals(const Messages& m, ExprId t);
  /// Emits code that subtracts, from the entropy, the probability of value k at t times its log potential.
  void subtract_mean(const Messages& m, ExprId t, ExprId k, ExprId potential);
  /// Emits code that sets the unary log potentials of all values but the observed one to kLogZero, where a value is
  /// observed.
  void mask_other_values(const Messages& m);
  /// Emits the forward pass (filter) with products of exponentials. Messages::products becomes 0 if a sum underflows.
  void filter(Messages& m);
  /// Emits code that subtracts from the joint log potentials at t their largest, and exponentiates them.
  void exponentiate_pairs(const Messages& m, ExprId t);
  /// Emits code that computes the forward message into step t > 0 from the one before and the joint potentials.
  void pass_products(const Messages& m, ExprId t);
  /// Emits code that computes the forward message into the first element, and adds what it lacks to the entropy.
  void open_products(const Messages& m);
  /// Emits code that subtracts from the unary log potentials at t their largest, and exponentiates them. It multiplies
  /// them by the forward message and by `share` (1 over the last sum), which gives the next unnormalised message.
  /// Returns its sum over all histories.
  ScalarId emit(const Messages& m, ExprId t, ScalarId share);
  /// Emits the forward pass in logarithms, for sequences whose products underflow.
  void filter_logarithms(const Messages& m);
  /// Emits step t of the forward pass in logarithms: the normalised log message.
  void pass_forward(const Messages& m, ExprId t);
  /// Emits the backward pass (smoother) with products: probabilities of elements and of pairs.
  void smooth_products(const Messages& m);
  /// Emits the backward pass for a chain that is homogeneous and has sums of pairs. The message is computed by columns
  /// of the transition matrix, the sums in a loop of their own (sum_pairs).
  void smooth_columns(const Messages& m);
  /// Emits code that computes the probability of the history `now` at t, from the forward and the backward message, and
  /// adds it to that of its last value. `share` is Messages::scale at t. Returns an expression for emission * share *
  /// message, which the element before reads.
  ExprId put_smoothed(const Messages& m, ExprId t, const History& now, ExprId share);
  /// Emits code that sums the probabilities of pairs over all steps, in tiles of a few rows and steps.
  void sum_pairs(const Messages& m);
  /// Emits the backward pass in logarithms, preceded by the forward pass.
  void smooth_logarithms(const Messages& m);
  /// Emits a loop over the steps from the last to the first.
  void each_step_back(const Messages& m, const std::function<void(ExprId t)>& body);
  /// Emits code for the joint probability `value` of a history and of the value k at t, which follows it. It stores or
  /// adds `value` in every product (of k with the values of the history that the lags name). It subtracts `value` times
  /// the joint log potential from the entropy.
  void put_pair(const Messages& m, ExprId t, const History& history, ExprId k, ExprId value);
  /// Emits code that sets the expectations of products to 0 before the backward pass, if several histories or steps add
  /// to one of them: the chain reaches back several steps, or the products are sums over the steps.
  void clear_together(const Messages& m);
  /// Emits code that sets the probabilities at t to 0, if the chain reaches back several steps: several histories then
  /// add to one probability. Emits nothing for other chains.
  void clear_marginal(const Messages& m, ExprId t);
  /// Emits a store of the probability of value k at t, or an addition where several histories add to one.
  void put_marginal(const Messages& m, ExprId t, ExprId k, ExprId p);
  /// Emits a branch: `products` if no sum of the sequence underflowed, otherwise `in_logarithms`.
  void products_or_logarithms(const Messages& m, const std::function<void()>& products,
                              const std::function<void()>& in_logarithms);
  /// Emits the backward pass of a sampler: the elements are drawn from the last to the first (forward filtering,
  /// backward sampling).
  void draw_sequence(const Messages& m, const UpdateHooks& hooks);
  /// Emits code that draws the element at t given the draws after it.
  void draw_value(const Messages& m, ExprId t);
  /// Emits code that stores the products that the draw at t completes, and computes the message to the elements before,
  /// given the draw.
  void condition_on_draw(const Messages& m, ExprId t);
  /// Emits a loop over the values that an element may take.
  void each_value(const Messages& m, const char* name, const std::function<void(ExprId)>& body);
  /// Emits loops over the histories. Valid entries of `fixed` have these values and get no loop.
  void each_history(const Messages& m, const char* name, const std::function<void(const History&)>& body,
                    History fixed = {});
  /// Returns a history of which only the last value is fixed; each_history loops over the others.
  static History ending_with(const Messages& m, ExprId value);
  /// Returns the history that ends with the first element: the values before the sequence are 0.
  History first_history(const Messages& m, ExprId value);
  /// Returns the next history: without its oldest value, with `value` at the end.
  static History next_history(History history, ExprId value);
  /// Returns the concatenation of three lists of indices, as the indices of an element of an array over histories.
  static History joined(History first, const History& history, const History& last = {});
  /// A function that emits the loops over what log_sum adds up, and calls `body` inside.
  using Over = std::function<void(const std::function<void(const History&)>& body)>;
  /// Returns an expression for the logarithm of the sum of exp(term), after the largest term is subtracted. `over`
  /// emits the loops over the terms.
  ExprId log_sum(const Over& over, const std::function<ExprId(const History&)>& term);
  /// Returns a function that emits the loop over the values of one element of the chain, as an argument of log_sum.
  /// Inside, `body` gets the value as a History of length 1.
  Over values(const Messages& m);
  /// Returns a function that emits the loops over all histories, as an argument of log_sum: all combinations of values
  /// that as many consecutive elements as the chain's largest lag can have. `m` must outlive it.
  Over histories(const Messages& m);
  /// Returns an expression that loads the probability of value k at t from the stored factor.
  ExprId probability(const Messages& m, ExprId t, ExprId k);

  // ---- lower_chain_rows.cpp: unary potentials that are rows of tables

  /// The uses that give unary potentials of a chain of categories, in two groups: rows of tables, whose exponentials
  /// are multiplied at each step, and uses of the first element alone, which go into its message.
  struct UnaryUses {
    /// Uses whose unary potentials are rows of tables; uses of the first element alone, as its initial
    /// distribution.
    Uses rows, first;
  };
  /// Returns the uses that give unary potentials (of single elements), if their exponentials can be formed with tables:
  /// each is a row of a table or of the first element alone. Returns nothing if there are other ones, no rows, or
  /// observed values, if the chain is not local, or if its stage is refreshed.
  std::optional<UnaryUses> singles(BlockId b, const Uses& uses) const;
  /// Returns true if the use is a unary potential: the atom at position `use` of the term is the only element of its
  /// sequence there. Returns false if the term has another element of that sequence, a constant number of steps away.
  bool is_unary(const ArrayTerm& t, std::size_t use) const;
  /// Returns true if the term is a table times one atom whose indices are plain index variables. Its statistic is then
  /// a sum over elements of the chain.
  bool is_element_sum(const ArrayTerm& t, std::size_t use) const;
  /// Returns true if the use is a unary potential that is a row of a table along the values of the category, as log
  /// beta[w[t], k], whose exponentials can be formed with the table.
  bool is_row(const ArrayTerm& t, std::size_t use) const;
  /// Returns true if a guard limits the term to the first element of a sequence.
  bool is_of_first(const Term& t, std::size_t use) const;
  /// Returns the uses of single elements in the terms of the item stage, under the conditions of `singles`. Nothing if
  /// the block is no chain of categories.
  std::optional<UnaryUses> unary_uses_of(const schedule::ItemStage& stage, BlockId b) const;
  /// Returns true if the chain's update can add up the statistics of all uses of the first element
  /// (UpdateHooks::add_rows), so that no later loop over the item has to.
  bool adds_first(const UnaryUses& s) const;
  /// Emits code that computes the log potentials that the first element has besides rows of tables, and their largest.
  void gather_start(Messages& m);
  /// Emits code that computes all unary log potentials of the sequence (Messages::unary).
  void gather_unary(const Messages& m);
  /// Returns the values of the index variables of a term whose atom is a single element, at step t and value k.
  Env single_env(const Messages& m, const std::pair<ArrayTerm, std::size_t>& of, ExprId t, ExprId k) const;
  /// Emits code that adds the probability of value k at t to the statistics of the uses.
  void add_to_sums(const Messages& m, const Uses& to, ExprId t, ExprId k);
  /// Returns the indices of the log potential of value k at t in the table of `row`, a position in UnaryUses::rows.
  std::vector<ExprId> row_address(const Messages& m, std::size_t row, ExprId t, ExprId k);
  /// Returns an expression for the product of the exponentiated rows of tables at value k and step t: the unary
  /// potential.
  ExprId row_product(const Messages& m, ExprId t, ExprId k);
  /// Returns an expression for the sum of what was subtracted, before exp, from the rows of tables that the element at
  /// t reads.
  ExprId row_shift(const Messages& m, ExprId t);
  /// Returns an expression for that part of the unary log potential of value k at t whose mean must be subtracted from
  /// the entropy of the sequence. Returns nothing if Stages::emit_finalise subtracts all of it.
  std::optional<ExprId> log_potential(const Messages& m, ExprId t, ExprId k);

  // ---- lower_chain_gaussian.cpp: the Kalman smoother

  /// The arrays of one sequence. Letters (S, W, L, h, m, v) are those of the formulas at the head of
  /// lower_chain_gaussian.cpp.
  struct Smoother;
  /// A function that emits the code for one step.
  using EachStep = std::function<void(ExprId t)>;
  /// The covariance S of an element, its inverse, and the covariances with elements after it; of one element, or over
  /// the steps.
  struct Matrices {
    /// The covariance S of the element, and its inverse.
    BufferId covariance, precision;
    /// The covariances of the element with those after it: by lag, from 1.
    std::vector<BufferId> cross;
  };
  /// Emits the update of one sequence of Normal or MvNormal elements.
  void kalman_smoother(BlockId b, const Uses& uses, const std::vector<ExprId>& sequence, const UpdateHooks& hooks);
  /// Declares the work arrays of one sequence. With `tolerant`, an improper factor gives NaN instead of a failure.
  Smoother open_smoother(BlockId b, const Uses& uses, const std::vector<ExprId>& sequence, bool tolerant);
  /// Emits code that computes the potentials of the sequence: linear, quadratic, and the couplings between elements.
  void gather_gaussian(const Smoother& s, const Uses& uses);
  /// Emits code that conditions the potentials on observed entries. Their couplings go to the linear potentials of the
  /// entries at the other end. Each observed entry becomes independent, with precision 1 and its value as mean. Returns
  /// the number of observed entries, or an invalid scalar if the block has none.
  ScalarId condition_chain(const Smoother& s);
  /// Emits code that overwrites an element's observed entries in `value` by the data. The indices of an entry are
  /// `lead`, then its component.
  void put_observed(const Smoother& s, ExprId t, BufferId value, const std::vector<ExprId>& lead);
  /// Emits the loops over all steps, which `each` makes. There is one loop for matrices and means, or one each
  /// (Smoother::separate_loops).
  void for_steps(const Smoother& s, const std::function<void(const EachStep&)>& each, const EachStep& matrices,
                 const EachStep& means);
  /// Declares the arrays that Matrices holds: for one element, or with an axis over `steps`.
  Matrices matrices(const Smoother& s, std::optional<SizeId> steps);
  /// Emits code that copies the matrices of one element. `t`, `to_t`: its step, if the arrays are over the steps.
  void copy(const Smoother& s, const Matrices& from, std::optional<ExprId> t, const Matrices& to,
            std::optional<ExprId> to_t);
  /// Emits code that computes the matrices of step t after the elimination of the elements before it. Returns an
  /// expression for the log determinant of the pivot L_t.
  ExprId eliminate(const Smoother& s, ExprId t);
  /// Emits code that computes the coupling W_t,a after the elimination of all elements before x_{t-a}, with its
  /// fill-in. The lag is `a` + 1.
  void fill_in(const Smoother& s, std::size_t a, ExprId t);
  /// Emits code that copies a matrix of one element.
  void move(const Smoother& s, BufferId from, BufferId to);
  /// Emits code that computes v_t, the mean of the element at t given that those after it are 0.
  void filter_mean(const Smoother& s, ExprId t);
  /// Emits, in the backward pass, code that computes the covariances of the element at t with itself and with those
  /// after it. Returns the arrays.
  Matrices smooth(const Smoother& s, ExprId t);
  /// Emits code that computes, in Smoother::information, the mean of the element at t given those after it, which are
  /// at their means or draws.
  void expect_later(const Smoother& s, ExprId t);
  /// Emits code that stores the expected products of the element at t with those after it: covariance plus product of
  /// means. `now` gives the mean or draw at t; `covariance` is empty for draws.
  void put_pairs(const Smoother& s, ExprId t, const std::function<ExprId(ExprId j)>& now,
                 const std::function<ExprId(std::size_t a, ExprId j, ExprId l)>& covariance);
  /// Emits code that stores the mean (or draw) of the element at t in the window, after the backward pass has computed
  /// it. The window has the means (or draws) of the elements after t, as many as the largest lag of the chain. Before
  /// the update, bands[a].mean is that of x[t+1+a]. The code copies each entry to the next, so that the oldest is lost,
  /// and stores `now` in bands[0].mean. `now(j)` returns an expression for component j of the mean or draw at t.
  void push_mean(const Smoother& s, const std::function<ExprId(ExprId j)>& now);
  /// Emits code that computes the mean of the element at t and its products with later ones.
  void smooth_mean(const Smoother& s, ExprId t, const Matrices& now);
  /// Emits code that stores the factor of the element at t: location, precision, expected statistics.
  void store_marginal(const Smoother& s, ExprId t, const Matrices& now);
  /// Emits, in the backward pass of a sampler, code that draws the element at t given those after it, and stores their
  /// products.
  void draw_backwards(const Smoother& s, ExprId t);
  /// Returns an expression for the sum of `term` over the components of an element.
  ExprId component_sum(const Smoother& s, const std::function<ExprId(ExprId)>& term);
  /// Emits a loop over the components of an element.
  void each_component(const Smoother& s, const std::function<void(ExprId)>& body);
  /// Emits two loops over the components of an element: all pairs (j, l).
  void each_component_pair(const Smoother& s, const std::function<void(ExprId, ExprId)>& body);

  Terms& terms_;            // the part that emits loop nests of terms
  FormulaLoops& formulas_;  // the part that emits formulas of families
  Updates& updates_;        // the part that updates factors of single elements
  Draws& draws_;            // the part that emits random numbers and draws
  Clamps& clamps_;          // the part for observed elements of latent variables
  /// The work arrays with the probabilities by step that the last updates of chains of categories have left, until
  /// take_marginals() hands them over.
  std::map<BlockId, BufferId> marginals_ = {};
};

}  // namespace lehr::loops
