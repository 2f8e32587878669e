// The state of one lowering: buffers of the program, and the emitters shared by its parts.
#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/loops/builder.h"
#include "compiler/loops/lower.h"

namespace lehr::loops {

using conditionals::BlockId;
using density::Algebra;
using density::ArrayId;
using density::Atom;
using density::BoundId;
using density::CoefId;
using density::Guard;
using density::IndexId;
using density::Term;

/// Values of the bounds that are open.
using Env = std::map<BoundId, ExprId>;

/// A term with a derived array among its factors.
struct ArrayTerm {
  const Term* term = nullptr;
  std::optional<ArrayId> array = {};
  const std::vector<IndexId>* at = nullptr;
  std::vector<Weight> weights = {};       // those of the data count for the terms of the data only
  std::optional<std::size_t> pairs = {};  // times the expected pairs of this residual's sum
};

/// One factor of a product: computed as soon as its bounds are open.
struct Factor {
  std::set<BoundId> bounds;
  std::function<ExprId(const Env&)> value;
};

/// A named quantity of a family formula: its value at event indices.
using Quantity = std::function<ExprId(const std::vector<ExprId>&)>;
struct Formulas {
  std::map<std::string, Quantity> quantities;
  std::map<std::string, std::pair<BufferId, ExprId>> inverses;  // inverse and log determinant, once computed
  std::map<const math::Node*, ExprId> hoisted;  // subformulas evaluated before the loops over components
  SizeId extent;                                // of the event axis; invalid for scalars
  std::int32_t fail_code = 0;                   // of a matrix that is not positive definite
};

class Lowering {
 public:
  Lowering(const model::Model& m, const schedule::Schedule& s, const BoundData& data, const LowerOptions& options);
  Lowered run();

 private:
  // ---- lower_program.cpp: sizes, buffers, functions
  void declare_sizes();
  void declare_data();
  void declare_blocks();
  void declare_arrays();
  void emit_prepare();
  /// The statistics without local factors.
  void sum_data();
  std::size_t emit_initialise(const std::string& name, bool globals);
  /// The terms of its own statement that factors at the start can be read from.
  std::vector<std::pair<ArrayTerm, std::size_t>> prior_uses(BlockId b) const;
  std::size_t emit_expectations(const std::string& name, bool local);
  void recompute_expectations(BlockId b, const std::vector<ExprId>& lead);
  bool is_local(std::size_t origin) const;
  void emit_elbo();
  std::vector<SizeId> packed(const std::vector<model::PlateId>& plates) const;
  SizeId runtime_size(const std::string& name, std::int64_t value);
  bool stored(BlockId b) const { return s_.storage[b.index()] == schedule::Storage::stored; }
  std::vector<model::PlateId> statistic_order(const schedule::Statistic& s) const;
  std::vector<BlockId> parents_first() const;
  bool is_constant(model::PlateId set) const;
  std::vector<model::PlateId> event_axes(const model::Variable& v, int rank) const;
  BufferId work_array(const std::string& name, const std::vector<SizeId>& sizes);

  // ---- lower_terms.cpp: index and coefficient expressions, loops over the bounds of a term
  ExprId index(IndexId i, const Env& env);
  std::vector<ExprId> address(const std::vector<model::PlateId>& plates, const std::vector<ExprId>& indices);
  std::vector<ExprId> address(const std::vector<model::PlateId>& plates, const std::vector<IndexId>& indices,
                              const Env& env);
  ExprId coef(CoefId c, const Env& env);
  ExprId data_value(const density::DataSource& source, const std::vector<IndexId>& indices, const Env& env);
  ExprId guard(const Guard& g, const Env& env);
  ExprId expectation(const Atom& a, const Env& env);
  ExprId array_value(ArrayId array, const std::vector<IndexId>& at, const Env& env);
  std::vector<ExprId> array_indices(ArrayId array, const std::vector<IndexId>& at, const Env& env);
  /// The position, among all rows, of the row that a nested plate hangs on.
  ExprId packed_row(IndexId row, const Env& env);
  std::pair<ExprId, ExprId> range(BoundId b, const Env& env);
  /// The factors of a term except the atoms at `without` and the multiplicities that `owner` owns.
  std::vector<Factor> factors(const ArrayTerm& t, const std::vector<std::size_t>& without,
                              std::optional<model::VariableId> owner = std::nullopt);
  /// Loops over the bounds of `t` not in `env`, its guards and `conditions`, and `leaf` with the product of `factors`
  /// inside; `innermost` becomes the inner loop. Where the leaf adds, and reads of `env` only the bounds `read`,
  /// elements that the term only counts cost nothing beyond the first million.
  struct Nest;
  void emit(const Term& t, std::vector<Factor> factors, std::vector<Factor> conditions, Env env,
            std::optional<BoundId> innermost, const std::function<void(ExprId value, const Env& env)>& leaf,
            const std::optional<std::set<BoundId>>& read = std::nullopt);
  /// Nothing that is still to come depends on where the bound, of a run-time plate, stands.
  bool only_counts(const Nest& nest, BoundId b) const;
  void emit_level(Nest& nest, Env env, ExprId product);
  /// Elements of a nested plate in the row at packed position `row`.
  ExprId row_length(model::PlateId set, ExprId row);
  /// Elements along the axis after the leading ones: of its row when it is nested.
  ExprId axis_length(const std::vector<model::PlateId>& plates, const std::vector<ExprId>& lead);
  /// Loops over all elements of `plates` whose leading indices are `lead`.
  void for_elements(const std::vector<model::PlateId>& plates,
                    const std::function<void(const std::vector<ExprId>&)>& body, std::vector<ExprId> lead = {});
  void for_range(const std::string& name, ExprId begin, ExprId end, const std::function<void(ExprId)>& body);

  // ---- lower_formula.cpp: family formulas
  ExprId formula(const math::Expr& e, Formulas& f, std::map<int, ExprId> event);
  void components(const math::Expr& e, int rank, Formulas& f,
                  const std::function<void(std::vector<ExprId>, ExprId)>& leaf);
  void prepare_matrices(const math::Expr& e, Formulas& f);
  /// Inverse and log determinant of the matrix `entry`; fails with `code` when it is not positive definite.
  std::pair<BufferId, ExprId> spd_inverse(const std::string& name, const Quantity& entry, SizeId extent,
                                          std::int32_t code);

  // ---- lower_update.cpp: naturals -> parameters -> expectations of one block
  struct NaturalTarget {
    std::map<math::Stat, BufferId> buffers;
    std::vector<std::size_t> free_axes;  // axes of the variable that the buffers keep
  };
  NaturalTarget natural_buffers(BlockId b, const std::vector<bool>& fixed, const std::string& prefix);
  void clear(const NaturalTarget& n);
  /// Adds the contribution of one use to the naturals of the elements whose fixed axes have the given values.
  void contribute(BlockId b, const ArrayTerm& t, std::size_t atom, const std::vector<bool>& fixed,
                  const std::vector<ExprId>& element, const NaturalTarget& n);
  void from_naturals(BlockId b, const std::vector<ExprId>& element, const NaturalTarget& n);
  void softmax(BlockId b, const std::vector<ExprId>& element, const NaturalTarget& n);
  void argmax(BlockId b, const std::vector<ExprId>& element, const NaturalTarget& n);
  std::vector<ExprId> natural_address(BlockId b, const std::vector<ExprId>& element, const NaturalTarget& n,
                                      const std::vector<ExprId>& event);
  ExprId weight(Weight w) { return b_.load(interface_.weights, {b_.i(static_cast<std::int64_t>(w))}); }
  /// All weights of the naturals of the block: gathered from a table, those of the data are in it.
  std::vector<Weight> natural_weights(BlockId b, bool from_table) const;
  /// Buffers for the running means of natural gradients, and their norms (LowerOptions::gradients).
  void declare_gradients();
  void measure_gradient(BlockId b, math::Stat stat, const std::vector<ExprId>& at, ExprId gradient);
  void blend_naturals(BlockId b, const std::vector<ExprId>& element, const NaturalTarget& n);
  void expectations_from_parameters(BlockId b, const std::vector<ExprId>& element, Formulas& f);
  ExprId entropy(BlockId b, const std::vector<ExprId>& element);
  Formulas parameter_formulas(BlockId b, const std::vector<ExprId>& element);
  std::vector<bool> gather_axes(BlockId b, const std::vector<std::pair<ArrayTerm, std::size_t>>& uses) const;
  /// What the caller of an update does at every element: with its naturals, which it may add to, and around its new
  /// parameters.
  struct UpdateHooks {
    std::function<void(const std::vector<ExprId>& element, const NaturalTarget&)> gathered;
    std::function<void(const std::vector<ExprId>&element)> before, after;
  };
  /// One pass over all elements (or those with the leading `element` values) of a stored block.
  void update(BlockId b, const std::vector<std::pair<ArrayTerm, std::size_t>>& uses, const std::vector<ExprId>& element,
              const UpdateHooks& hooks);
  ExprId owned_multiplicity(const model::Variable& v, const std::vector<ExprId>& element);
  std::vector<ExprId> parameter_address(BlockId b, const std::vector<ExprId>& element,
                                        const std::vector<ExprId>& event);
  std::vector<std::pair<ArrayTerm, std::size_t>> outer_uses(BlockId b) const;

  // ---- lower_lookup.cpp: the bounds that a known element decides
  /// source[bound], the bound over a whole plate.
  struct PlainLookup {
    density::DataSource source;
    BoundId bound;
  };
  /// The e with source[e] = i are order[first[i]] .. order[past[i] - 1], ascending; missing values are nowhere.
  struct InverseLookup {
    BufferId first, past, order;
  };
  /// How the bounds of a term follow from the element that one of its atoms names: some are known, one may be walked
  /// through an inverse lookup, and what is left are conditions.
  struct Solved {
    Env env;
    struct Walk {
      BoundId bound;
      BufferId order;
      ExprId begin, end;
    };
    std::optional<Walk> walk;
    std::vector<Factor> conditions;
  };
  std::optional<PlainLookup> plain_lookup(IndexId i) const;
  void declare_inverse_lookups();
  void prepare_inverse_lookups();
  Solved solve_axes(const Atom& atom, const std::vector<bool>& fixed, const std::vector<ExprId>& element);
  void for_solutions(const Solved& s, const std::function<void(const Env&)>& body);

  // ---- lower_residual.cpp: pairs of a sum
  ExprId summand(const schedule::Residual& r, const Env& env);
  void each_summand(const schedule::Residual& r, const Env& env, const std::function<void(ExprId)>& body);
  /// S^2 - sum_r (E A)^2 at the element of S that `env` names.
  ExprId expected_pairs(const schedule::Residual& r, const Env& env);
  /// The summand of the log joint, and as the update of `b` reads it.
  ArrayTerm outer_term(const schedule::OuterTerm& t) const;
  ArrayTerm outer_term(const schedule::OuterTerm& t, BlockId b) const;
  struct RunningSum {
    const schedule::Residual* residual;
    const Atom* own;  // of the block under update
  };
  std::vector<RunningSum> running_sums(const std::vector<std::pair<ArrayTerm, std::size_t>>& uses) const;
  void fill_sum(const schedule::Residual& r);
  /// Takes the summands that the element stands in off their sums, or puts them back.
  void move_sum(const RunningSum& x, bool back, const std::vector<bool>& fixed, const std::vector<ExprId>& element);

  // ---- lower_chain.cpp: one factor over a sequence
  struct Chain {
    BufferId pairs;      // E[statistic of t-1 * statistic of t], over [t] of the sequence or all axes
    bool local = false;  // `pairs` hold the one sequence of the current item: nothing of the item
                         // reads them before the chain is updated
    BufferId entropy;    // [1] of the current item, or over the leading axes
  };
  using AddPair =
      std::function<void(ExprId t, const std::vector<ExprId>& before, const std::vector<ExprId>& now, ExprId value)>;
  void declare_chain(BlockId b);
  /// Whether another block of the item stage shares a term with a pair: it is updated from the pairs of the last sweep.
  bool pairs_read_in_item(BlockId b) const;
  void local_chain(BlockId b);
  SizeId longest(const model::Variable& var);
  void update_chain(BlockId b, const std::vector<std::pair<ArrayTerm, std::size_t>>& uses,
                    const std::vector<ExprId>& lead, const UpdateHooks& hooks);
  /// Log potentials of one sequence: of single elements added to `unary`, of neighbours given to `add_pair`.
  void gather_potentials(BlockId b, const std::vector<std::pair<ArrayTerm, std::size_t>>& uses,
                         const std::vector<ExprId>& sequence, const NaturalTarget& unary, const AddPair& add_pair);
  /// Pairs and entropy as if the elements were independent: for start values.
  void independent_pairs(BlockId b, const std::vector<ExprId>& sequence);
  std::vector<ExprId> pair_address(BlockId b, const std::vector<ExprId>& element, const std::vector<ExprId>& before,
                                   const std::vector<ExprId>& now);
  std::vector<ExprId> entropy_address(BlockId b, const std::vector<ExprId>& sequence);
  void for_sequences(const model::Variable& var, const std::vector<ExprId>& lead,
                     const std::function<void(const std::vector<ExprId>&)>& body);
  ExprId pair_expectation(const Atom& x, const Atom& y, const Env& env);
  /// `value` is that of one copy of the sequence.
  void store_entropy(BlockId b, const std::vector<ExprId>& sequence, ExprId value);
  ExprId chain_entropy(BlockId b, const std::vector<ExprId>& sequence);

  // ---- lower_chain_categories.cpp
  void forward_backward(BlockId b, const std::vector<std::pair<ArrayTerm, std::size_t>>& uses,
                        const std::vector<ExprId>& sequence, const UpdateHooks& hooks);

  // ---- lower_chain_gaussian.cpp
  struct Smoother;  // the arrays of one sequence
  void kalman_smoother(BlockId b, const std::vector<std::pair<ArrayTerm, std::size_t>>& uses,
                       const std::vector<ExprId>& sequence, const UpdateHooks& hooks);
  Smoother open_smoother(BlockId b, const std::vector<ExprId>& sequence);
  /// Forwards: x_{t-1} is eliminated; the log determinant of the pivot at t.
  ExprId eliminate(const Smoother& s, ExprId t);
  /// Backwards: mean and covariance at t from those at t + 1, and the pairs of t and t + 1.
  void smooth(const Smoother& s, ExprId t);
  void store_marginal(const Smoother& s, ExprId t);
  ExprId component_sum(const Smoother& s, const std::function<ExprId(ExprId)>& term);
  void each_component(const Smoother& s, const std::function<void(ExprId)>& body);
  void each_component_pair(const Smoother& s, const std::function<void(ExprId, ExprId)>& body);

  // ---- lower_item_energies.cpp
  void declare_item_energies();
  void add_item_energy(ExprId item, ExprId value);
  /// Of the stage's terms but those of streamed categories.
  void add_item_energies(const schedule::ItemStage& stage, ExprId item);
  void emit_item_energies();

  // ---- lower_stage.cpp, lower_stream.cpp: local blocks, item by item
  enum class StageMode { update, seed, sum, refresh };
  StageFunctions emit_stage(std::size_t step);
  std::size_t emit_tables(std::size_t step);
  std::size_t emit_items(std::size_t step, StageMode mode);
  void emit_item(const schedule::ItemStage& stage, ExprId item, StageMode mode, ExprId iterations, ExprId tolerance);
  void emit_item_sums(const schedule::ItemStage& stage, ExprId item, StageMode mode);
  bool has_streamed_atom(const Term& t) const;
  std::size_t emit_fresh(const schedule::ItemStage& stage, std::size_t step);
  void emit_data_sums(const schedule::ItemStage& stage, std::size_t step, StageFunctions& out);
  std::size_t emit_item_expectations(const schedule::ItemStage& stage, std::size_t step);
  void start_chains(const schedule::ItemStage& stage, ExprId item, StageMode mode);
  void declare_item_arrays(const schedule::ItemStage& stage);
  void each_event(const model::Variable& var, int rank, const std::function<void(const std::vector<ExprId>&)>& body);
  /// The position of an element of a later block in the naturals that streams add up (per item).
  std::vector<ExprId> streamed_address(const model::Variable& var, const std::vector<ExprId>& element,
                                       const std::vector<ExprId>& event);
  void seed_stored(BlockId b, ExprId item);

  struct Stream;  // the plan of one streamed block
  Stream plan_stream(const schedule::ItemStage& stage, BlockId z) const;
  void stream_arrays(Stream& s);
  void stream_item_setup(const Stream& s, ExprId item);
  void stream_elements(const Stream& s, ExprId item, bool final, StageMode mode);
  void stream_element(const Stream& s, const std::vector<ExprId>& element, bool final, StageMode mode);
  Env stream_env(const Stream& s, std::size_t use, const std::vector<ExprId>& element) const;
  void exp_table(ArrayId table);

  const model::Model& m_;
  const schedule::Schedule& s_;
  const BoundData& data_;
  const LowerOptions& options_;
  const Algebra& a_;
  Builder b_;

  BufferId parameter_of(BlockId b, math::ParameterRole role) const {
    return parameter_.at({b, find_role(*s_.conditionals[b].factor, role)->name});
  }

  std::vector<SizeId> size_;     // by plate set
  std::vector<SizeId> longest_;  // the same, once asked for
  DataBuffers buffers_;
  std::map<std::pair<BlockId, std::string>, BufferId> parameter_;
  std::map<std::pair<BlockId, math::Stat>, BufferId> expectation_;
  std::map<ArrayId, BufferId> array_;
  std::map<ArrayId, BufferId> exp_table_, exp_shift_;  // of tables read by factored streams
  std::map<ArrayId, const schedule::Statistic*> statistic_;
  std::map<ArrayId, const schedule::Residual*> residual_;
  std::map<std::pair<BlockId, math::Stat>, BufferId> streamed_into_;  // naturals that streams add up for a later block
  std::map<std::pair<BlockId, std::string>, BufferId> previous_;      // parameters of one element before its update
  std::map<BlockId, BufferId> picks_;
  std::map<BlockId, Chain> chains_;
  std::map<density::DataSource, InverseLookup> inverse_;
  ExprId item_shift_;                                                  // of the factored stream being emitted
  std::map<std::string, std::pair<BufferId, BufferId>> data_inverse_;  // of data matrices: inverse, log determinant
  std::vector<std::int64_t> size_values_;                              // by slot
  std::vector<model::GivenId> definite_;
  struct LocalSums {
    BufferId energy, prior;      // of local terms, tempered and other
    BufferId entropy, discrete;  // of local factors on continua, and of the others
  };
  std::map<std::size_t, LocalSums> local_sums_;                       // by item stage
  LocalSums local_;                                                   // of the stage being emitted
  std::map<std::pair<BlockId, math::Stat>, BufferId> mean_gradient_;  // parameter axes, then event
  std::map<BlockId, BufferId> gradient_norms_;
  Interface interface_;
  /// Work arrays of constant size: those of one function are different, functions share them.
  struct WorkArrays {
    std::size_t function = 0;   // the one that is open
    std::int64_t on_stack = 0;  // entries of its local arrays
    std::map<std::vector<SizeId>, std::size_t> taken;
    std::map<std::vector<SizeId>, std::vector<BufferId>> buffers;
  } work_;
  std::int32_t names_ = 0;
  bool tolerant_ = false;  // improper factors give NaN instead of a failure (initial values)
};

}  // namespace lehr::loops
