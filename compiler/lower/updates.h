// The update of one element's factor: natural parameters from the terms, then parameters, then expected statistics.
//
// It is the coordinate ascent of Bishop (2006), sections 10.1 and 10.4, in natural parameters. The natural parameter of
// a statistic is the sum, over the terms with it, of the term's other factors under their expectations. A term `-0.5 *
// tau * x[n]^2` thus adds -0.5 * E[x[n]^2] to the natural parameter of `tau`.
#pragma once
#include "compiler/lower/clamps.h"
#include "compiler/lower/draws.h"
#include "compiler/lower/residuals.h"
#include "compiler/lower/sparse_factors.h"

namespace lehr::loops {

/// The arrays in which natural parameters are added up, one for each sufficient statistic.
struct NaturalTarget {
  /// The arrays, by sufficient statistic.
  std::map<math::Stat, BufferId> buffers;
  std::vector<std::size_t> free_axes;  // axes of the variable that the arrays have, before event axes; the others are
                                       // fixed to the element under update
};

/// What the caller of an update adds to the emitted code, for each element: work before and after the parameters are
/// stored, and options.
struct UpdateHooks {
  /// Called when all terms have been added to the natural parameters; it may emit further additions.
  std::function<void(const std::vector<ExprId>& element, const NaturalTarget&)> gathered = {};
  /// Called before and after the new parameters of an element are stored, for example to measure how much they change.
  std::function<void(const std::vector<ExprId>&element)> before = {}, after = {};
  /// Returns a run-time bool: true if the expected statistics of the new factor are to be formed. If empty, they are.
  /// Not used for categories and for sparse precisions.
  std::function<ExprId(const std::vector<ExprId>& element)> forms_expectations = {};
  /// True if the update of a chain adds the probabilities of its elements to the sums of the tables that give its unary
  /// potentials.
  bool add_rows = false;
  /// For initial values: improper factors give NaN instead of a failure, steps are full ones, and a typical value (of a
  /// category its probabilities) stands in place of a draw.
  bool tolerant = false;
};

/// Emits the update of one element's factor (coordinate ascent): natural parameters are added up from the terms, then
/// come parameters, then expected statistics. It also emits draws and entropies of elements, and what updates of chains
/// share with these.
class Updates : Part {
 public:
  Updates(Shared& shared, Terms& terms, FormulaLoops& formulas, Lookups& lookups, Draws& draws, Clamps& clamps)
      : Part(shared),
        terms_(terms),
        formulas_(formulas),
        lookups_(lookups),
        draws_(draws),
        clamps_(clamps),
        sparse_(shared, draws) {}

  /// Returns an expression that loads the expected statistic of an atom, under the variational factor of the atom's
  /// block.
  ExprId expectation(const Atom& a, const Env& env);

  /// Returns the indices of an atom's component in the arrays of its block: its event indices, or the entry of a pair
  /// of coordinates where the precision is sparse.
  std::vector<ExprId> component(const Atom& a, const Env& env);

  /// Returns, by axis of the block's variable, true if the update fixes the axis to one element at a time (gather).
  /// Along the other axes it scatters: one pass over the terms adds to the natural parameters of all elements.
  std::vector<bool> gather_axes(BlockId b, const Uses& uses) const;
  /// Declares arrays for the natural parameters of the block, for all statistics or those in `only`, and does not
  /// initialise them. Their axes are those that are not fixed; with a nested axis, that of its rows too. Names begin
  /// with `prefix`.
  NaturalTarget natural_buffers(BlockId b, const std::vector<bool>& fixed, const std::string& prefix,
                                const std::set<math::Stat>& only = {});
  /// Emits code that sets all natural parameters in `n` to 0.
  void clear(const NaturalTarget& n);
  /// What gather() emits loops for: an atom of a block in a term, whose coefficient is the product of the term's other
  /// factors, less the atoms that are left out.
  struct Gathered {
    /// The block whose natural parameters are formed.
    BlockId block;
    /// The term that the atom is a factor of.
    const ArrayTerm& term;
    /// The position in the term of the block's atom.
    std::size_t use;
    /// The positions of the atoms that the coefficient leaves out, `use` among them.
    std::vector<std::size_t> without;
  };
  /// Emits the loops over the term for elements whose fixed axes have the values in `element`; a term that is always 0
  /// gets none. Inside it calls `leaf` with `value`, the product of all factors but the atoms left out and the
  /// multiplicities of the elements themselves, and `at`, its indices in an array over `free_axes` and event axes.
  void gather(const Gathered& g, const std::vector<bool>& fixed, const std::vector<ExprId>& element,
              const std::vector<std::size_t>& free_axes,
              const std::function<void(const std::vector<ExprId>& at, ExprId value, const Env& env)>& leaf);
  /// Emits code that adds the contribution of one atom of a term to the natural parameters `n`. It concerns the
  /// elements whose fixed axes have the values in `element`.
  void contribute(BlockId b, const ArrayTerm& t, std::size_t atom, const std::vector<bool>& fixed,
                  const std::vector<ExprId>& element, const NaturalTarget& n);
  /// Emits code that forms the parameters and expected statistics of one element from its natural parameters. Global
  /// blocks move by a step of the size Weight::step; drawn blocks get a draw. The emitted code fails with kFailBlock +
  /// BlockId if the factor is improper, unless the hooks are tolerant.
  void from_naturals(BlockId b, const std::vector<ExprId>& element, const NaturalTarget& n, const UpdateHooks& hooks);
  /// Emits code that makes an inverse gamma or inverse Wishart proper whose natural parameters a temperature has
  /// scaled: where they are improper with respect to dx, they are taken with respect to dx / x.
  void keep_proper(BlockId b, const std::vector<ExprId>& element, const NaturalTarget& n);
  /// Returns the indices of an element's natural parameter in the arrays `n`.
  std::vector<ExprId> natural_address(BlockId b, const std::vector<ExprId>& element, const NaturalTarget& n,
                                      const std::vector<ExprId>& event);
  /// Returns the run-time weights (Interface::weights) that multiply what a term adds to the block's natural
  /// parameters: Weight::local and local_data, or global and global_data if the block is not local. With `from_table`,
  /// the weight of the data is left out, since the table that multiplies the term includes it.
  std::vector<Weight> natural_weights(BlockId b, bool from_table) const;

  /// Returns the context in which formulas of the family are evaluated for one element: its exported parameters are
  /// loads from their buffers.
  FormulaContext parameter_formulas(BlockId b, const std::vector<ExprId>& element);
  /// Returns the indices in memory of an element's entry in a buffer of the block: of a parameter, or of an expected
  /// statistic. `element` has one index for each axis of the variable. An index within a row of a nested plate is added
  /// to the offset of that row, so two indices become one. `event`, the indices of the component, is appended.
  std::vector<ExprId> parameter_address(BlockId b, const std::vector<ExprId>& element,
                                        const std::vector<ExprId>& event);
  /// Emits code that forms the expected statistics that some term reads, and cached log determinants, from an element's
  /// parameters.
  void expectations_from_parameters(BlockId b, const std::vector<ExprId>& element, FormulaContext& f);
  /// Returns an expression for the entropy of an element's factor, times the copies that the element stands for.
  /// Observed entries do not count: if all are observed, it is 0.
  ExprId entropy(BlockId b, const std::vector<ExprId>& element);
  /// Emits code that gives an element's observed entries a point mass: their parameters are replaced by those of a
  /// point mass at the observed value.
  void clamp(BlockId b, const std::vector<ExprId>& element) { clamps_.put(b, element); }
  /// Emits code that draws a value of a category and overwrites its probabilities: 1 at the drawn value, 0 elsewhere.
  /// An element that stands for several copies gets the fraction of copies at each value.
  void draw_category(BlockId b, const std::vector<ExprId>& element);
  /// Returns an expression for the number of copies that the element stands for: multiplicities of its plates, times
  /// the count of an auxiliary source. It is 0 for elements on which no data depend.
  ExprId owned_multiplicity(const model::Variable& v, const std::vector<ExprId>& element);

 private:
  /// Returns an expression that is 1 if data depend on the element, otherwise 0, from the data array `mask`. If the
  /// mask has entries of a vector, it is 1 if data depend on all of them.
  ExprId d_connected(const model::Variable& v, model::GivenId mask, const std::vector<ExprId>& element);
  /// Registers stored expected statistics and log determinants with the formulas of an entropy, so that it need not
  /// compute them again. Returns true if all expected statistics are stored; always false for blocks of item stages and
  /// for clamped ones.
  bool reuse_statistics(BlockId b, const std::vector<ExprId>& element, FormulaContext& f);
  /// Registers the value of a function call in `e`, if `sum` is that call plus a rest and has the value `value`:
  /// `value` minus the rest. It does so only if the rest calls no function that `e` does not call anyway. For example,
  /// digamma(a) in an entropy is E[log x] + log b if E[log x] = digamma(a) - log b is stored.
  void reuse_summand(const math::Expr& e, const math::Expr& sum, ExprId value, FormulaContext& f);
  /// A term split into two loops, because no factor of it depends both on the data and on the element's value: the
  /// first adds up data in a small array of sums, the second multiplies each sum by what depends on the value.
  struct FactoredSum {
    /// The index variables that follow from the element under update.
    Solved solved;
    /// The index variables that number the sums in the array.
    std::set<IndexVarId> parts;
    /// The two terms whose loops are emitted: with the index variables over the data; with those over the sums and the
    /// values of the element.
    Term data, values;
    /// The factors that are multiplied in the first loops; in the second loops.
    std::vector<Factor> of_data, of_values;
  };
  /// Splits a term whose factors depend on the data or on the element's value k, but none on both:
  ///     sum over n, g of data[n, g] * table[k, g]   =   sum over g of table[k, g] * (sum over n of data[n, g])
  /// Returns nothing if the term has no such form, if the inner sum does not go over data, or if there are more than a
  /// few hundred inner sums.
  std::optional<FactoredSum> factored_sum(const Gathered& g, const std::vector<bool>& fixed,
                                          const std::vector<ExprId>& element) const;
  /// Emits code that adds what a split term gives to the natural parameters of the element: first the sums over data,
  /// then their products with what depends on the value.
  void contribute(const FactoredSum& p, const Atom& atom, BufferId naturals);
  /// Returns true if the term sums over elements, beyond the atom's own, whose number only the data give. The update
  /// then scatters short axes (gather_axes), so that the data are read once.
  bool goes_over_data(const ArrayTerm& t, std::size_t atom) const;
  /// Emits code that forms the probabilities of a category from its natural parameters: exponentials, shifted by the
  /// largest and normalised.
  void softmax(BlockId b, const std::vector<ExprId>& element, const NaturalTarget& n);
  /// Emits code that gives a category (a point factor) probability 1 at its largest natural parameter, the first of
  /// equal ones.
  void argmax(BlockId b, const std::vector<ExprId>& element, const NaturalTarget& n);
  /// Emits code that updates the running mean of a natural gradient, and adds to the squared norms, while
  /// Weight::gradient_memory is above 0.
  void measure_gradient(BlockId b, math::Stat stat, const std::vector<ExprId>& at, ExprId gradient);
  /// Emits code that measures the gradient and replaces natural parameters by step * new + (1 - step) * current, unless
  /// the step is 1 (Hoffman et al. 2013, section 2.4).
  void blend_naturals(BlockId b, const std::vector<ExprId>& element, const NaturalTarget& n);
  /// Emits code that computes one parameter of an element by its formula and stores it, at every component. Values of
  /// global points move by a step (Weight::step), drawn parameters get a random number, observed entries their value.
  /// With `tolerant`, steps are full ones, and a typical value stands in place of a draw.
  void store_parameter(BlockId b, std::size_t parameter, BufferId buffer, const std::vector<ExprId>& element,
                       FormulaContext& f, bool tolerant);
  /// Registers in `f` the log determinant of the parameter `p` of a block of latent variables, if `p` is computed as
  /// the inverse of an earlier matrix parameter: minus that of the latter. Does nothing for other parameters, for
  /// points and draws, and for blocks with observed elements. If FormulaContext::fail_code is not 0, it also emits code
  /// that fails unless the diagonal of the inverse is positive and finite.
  void reuse_inverse(BlockId b, const math::FactorParameter& p, FormulaContext& f);
  /// Returns an expression for the row-major position of a component, given by its event indices (each below `extent`):
  /// the number of the component in the key of a random number.
  ExprId position_of(const std::vector<ExprId>& event, SizeId extent);
  /// Emits code that fails with FormulaContext::fail_code if the factor is improper, or a point is not inside its
  /// support.
  void check_proper(BlockId b, FormulaContext& f);

  Terms& terms_;            // the part that emits loop nests of terms
  FormulaLoops& formulas_;  // the part that emits formulas of families
  Lookups& lookups_;        // the part that solves for index variables
  Draws& draws_;            // the part that emits random numbers and draws
  Clamps& clamps_;          // the part for observed elements of latent variables
  SparseFactors sparse_;    // the part for factors with a sparse precision
};

}  // namespace lehr::loops
