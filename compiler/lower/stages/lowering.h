// The class that lowers a schedule to Loops: it owns the parts of the lowering and calls them in order.
//
// Each part (a class derived from Part, layout.h) writes its functions into one program; it may use the parts declared
// before it, not those after. The exception is Terms, which calls Updates and Chains back for the values of atoms. The
// declarations are in order of this use: terms, formulas, lookups, ..., stages.
#pragma once
#include "compiler/lower/stages/envelope.h"
#include "compiler/lower/stages/stages.h"

namespace lehr::loops {

/// Lowers one schedule to one program in Loops. It owns the parts of the lowering and calls them in order; lower() uses
/// it.
class Lowering : Part {
 public:
  /// `shared` must outlive this object and belong to no other lowering.
  explicit Lowering(Shared& shared);
  /// Emits the whole program and returns it with its interface. Call it once.
  Lowered run();

 private:
  // ---- lower_layout.cpp

  /// Declares the number of elements of each plate as a constant of the code or a size that it reads at run time
  /// (Layout::size). An alias has the size of its set.
  void declare_sizes();
  /// Returns true if the size of the plate set becomes a constant of the code. The size must be given, and the set
  /// neither an item plate, nor nested, nor ordered.
  bool is_constant(model::PlateId set) const;
  /// Declares the buffers of the data: givens, variables with data, offsets of nested plates, and patterns of sparse
  /// precisions.
  void declare_data();
  /// Declares the buffers of the pattern of a joint variable whose precision is sparse.
  void declare_pattern(model::VariableId v);
  /// Declares the buffers of the factors: parameters, expected statistics, log determinants, and those of chains.
  void declare_blocks();
  /// Declares the buffers of statistics, their tables and exponentials, residual sums, picks, partial ELBO sums, the
  /// ELBO, the random key and weights.
  void declare_arrays();
  /// Declares the buffers for the exponentials of the entries of a table, and for what is subtracted from each of its
  /// rows before exp (Layout::exp_table, exp_shift). A row has all indices but the last.
  void declare_exponentials(ArrayId table);
  /// Returns the axes of a statistic in memory order: the contiguous one last.
  std::vector<model::PlateId> statistic_order(const schedule::Statistic& s) const;
  /// Adds a cached sum to the group of sums over the same factors, and declares the group's valid flag if it is new.
  void declare_cached(const schedule::Statistic& s);
  /// Declares buffers for the running means of natural gradients, and their norms (LowerOptions::gradients).
  void declare_gradients();

  // ---- lower_program.cpp and lower_cached_sums.cpp: functions outside the sweep

  /// Emits the function `prepare`: inverse lookups, inverses of data matrices, and sums of the data alone.
  void emit_prepare();
  /// Emits the loops that sum the statistics of the data alone, which have no latent atoms.
  void sum_data();
  /// Emits one function for each group of cached sums, which forms them all.
  void emit_cached();
  /// Emits the body of a function that forms the cached sums of the group and sets their valid flag.
  void emit_cached_body(const CachedGroup& group);
  /// One cached sum over items while the function that forms it is written: its statistic, the loops that it shares,
  /// and its total.
  struct CachedSum;
  /// Returns the index variable of the last loop inside an item if partial sums along it can be held in a small array,
  /// which makes the sum a vector operation. There must be two loops or more, and this one must have a constant length
  /// of 4 to 64. The guards may only ask whether data are present. Only for sums without axes.
  std::optional<IndexVarId> lanes_of(const CachedSum& sum) const;
  /// Emits code that adds the contribution of one item to a cached sum over all items (Statistic::is_cached). The code
  /// stands inside the loops of the function that forms the whole sum anew, after a factor in it has changed. `items`
  /// has the values of the item's index variables. A sum with axes is added up in its array, one without in the scalar
  /// CachedSum::total. The caller, emit_cached_body(), has set both to 0.
  void add_item(const CachedSum& sum, const Env& items);
  /// Records that the function at `position` reads the cached sum in the term, if there is one. Callers of the function
  /// then make the sum valid first.
  void require_cached(std::size_t position, const ArrayTerm& term);
  /// Emits stores that mark cached sums as invalid, in functions that change factors in them: the sums over factors of
  /// the block or, without a block, all. The caller of a function that reads such a sum then has it formed anew.
  void invalidate_cached(std::optional<BlockId> block = {});
  /// Emits stores of 0 to the expected statistics of tangent points (of local bounds) that are not on items, so that a
  /// start from the priors does not read those of an earlier start.
  void reset_tangents();
  /// Emits a function that forms stored factors from their priors, parents first; without `globals`, only those of
  /// local blocks (Schedule::local). Returns its position in the program.
  std::size_t emit_initialise(const std::string& name, bool globals);
  /// Emits a function that recomputes expected statistics from parameters; without `local`, not those of blocks that an
  /// item stage updates. Returns its position in the program.
  std::size_t emit_expectations(const std::string& name, bool local);
  /// Emits the function that updates a block outside the item stages. Returns its position in the program.
  std::size_t emit_update(BlockId b);
  /// Returns true if the term's origin (an index into Density::origins) is the statement of a local variable, so that
  /// the function `elbo` counts the term as a local prior (ElboPart::local_prior) unless it is tempered.
  bool is_local(std::size_t origin) const;
  /// Emits the function `elbo`, which computes the evidence lower bound of the current factors and five parts of it
  /// (ElboPart), and writes them to Interface::elbo_value. The parts are the expected log density of all tempered
  /// terms, the entropies of local, of all, and of discrete local factors, and the expected log prior of local
  /// variables whose terms are not tempered. There are no numbers by statement.
  void emit_elbo();
  /// Emits the function `states`, which computes the log of the number of joint values of the auxiliary sources.
  void emit_states();
  // ---- lower_invariance.cpp

  /// Declares the buffers of an invariance (a change of basis of latent variables that leaves the likelihood alone) and
  /// emits the function that fills them, from which the runtime computes how the change moves the ELBO.
  InvarianceFunction emit_invariance(const schedule::Invariance& x);
  /// Emits code that adds the values of a term, without the atoms at these positions, to the entries of a buffer that
  /// the indices name.
  void add_entries(const ArrayTerm& term, const std::vector<std::size_t>& without, const std::vector<IndexId>& entry,
                   BufferId to);
  /// Emits code that computes, for a quadratic form of an invariance, the sums of products of components over the
  /// elements, and their coefficients.
  void add_form(const schedule::QuadraticForm& form, const InvarianceFunction::Form& to);
  /// Emits code that computes, for a follower of an invariance (a matrix in quadratic forms), the natural parameters
  /// that terms other than these forms give to its rows.
  void add_natural(const schedule::Follower& follower, const InvarianceFunction::Follower& to);
  /// Declares the buffers of a shift (of latent variables by constants, which leaves the likelihood alone) and emits
  /// the functions that measure its effect on the ELBO and apply it.
  ShiftFunctions emit_shift(const schedule::Shift& x);
  /// Emits code that adds up a sum over the elements of a transformed variable: their number, the expectations of their
  /// components, or those of products of two. `to` has an axis for each of `components`.
  void add_moments(const schedule::OuterTerm& sum, const std::vector<IndexVarId>& components, BufferId to);
  /// Emits code that adds the coefficients of a prior of a transformed variable to the buffers of that variable or,
  /// negated, to those of the scale that multiplies the prior.
  void add_prior(const schedule::PriorTerm& prior, std::size_t variable, const InvarianceFunction& to);
  /// Emits code that computes, for a scale in transformed priors, what the terms outside these priors give to its
  /// natural parameters.
  void add_rest(const schedule::RescaledPrior& scale, const InvarianceFunction::Scale& to);

  // ---- lower_program.cpp

  /// Marks the functions over items of a stage (update, seed, sum, refresh) as fit for 32-bit arithmetic, if no formula
  /// in any of them needs 64.
  void allow_f32(const StageFunctions& stage);

  Terms terms_;            // the part that emits loop nests of terms
  FormulaLoops formulas_;  // the part that emits formulas of families
  Lookups lookups_;        // the part that solves for index variables
  Residuals residuals_;    // the part for terms in residual form (running sums)
  Draws draws_;            // the part that emits random numbers and draws
  Clamps clamps_;          // the part for observed elements of latent variables
  Updates updates_;        // the part that updates factors of single elements
  Chains chains_;          // the part that updates chains (factors of sequences)
  Integrals integrals_;    // the part that integrates out auxiliary variables of draws
  Blocks blocks_;          // the part that updates whole blocks
  Energies energies_;      // the part that adds up energies by item
  FusedCategories fused_;  // the part that visits fused categories
  Stages stages_;          // the part that emits the functions of item stages
  Envelope envelope_;      // the part for exact sampling
};

}  // namespace lehr::loops
