// The loop nest of one term of the log joint, and the index and coefficient expressions in it.
//
// A term is a sum over its index variables of a product (density.h). The nest opens the index variables one after
// another. It multiplies each factor as soon as its index variables are open, and so hoists it out of the inner loops:
//
//     sum(n, k) a[n] * b[k] * c[n, k]      for n: c1 = a[n];  for k: leaf(c1 * b[k] * c[n, k])
//
// A guard becomes a branch at the outermost level that can decide it, or the limit of a loop (i >= j).
#pragma once
#include "compiler/lower/layout.h"

namespace lehr::loops {

/// The values of the index variables that are open: those whose loops enclose the current statement, or that the caller
/// has fixed.
using Env = std::map<IndexVarId, ExprId>;

/// One factor of the product that a loop nest sums. It is computed outside all loops whose index variables it does not
/// depend on.
struct Factor {
  /// The index variables that the factor depends on.
  std::set<IndexVarId> index_vars;
  /// Returns the expression of the factor, given the values of these index variables.
  std::function<ExprId(const Env&)> value;
  bool often_zero = false;  // an observed bit y, or 1 - y: inner loops are skipped where it is 0
};

/// A term of the log joint, with the array (statistic, table or residual sum), run-time weights and factors by which
/// the code multiplies it.
struct ArrayTerm {
  /// The term itself; owned by the schedule or the density.
  const Term* term = nullptr;
  std::optional<ArrayId> array = {};  // a statistic, table or residual sum that multiplies the term
  /// The entry of the array, one index for each axis; owned by the schedule.
  const std::vector<IndexId>* at = nullptr;
  std::vector<Weight> weights = {};  // run-time weights; those of the data multiply tempered terms only
  /// Further factors that multiply the term, as the expectation of the pairs of a residual form.
  std::vector<Factor> more = {};
};

/// The functions by which Terms gets expressions for the values of atoms: expected statistics under the variational
/// factors, which other parts of the lowering load.
struct AtomValues {
  /// Returns the value of a single atom.
  std::function<ExprId(const Atom&, const Env&)> one;
  /// Returns the value of the product of several elements of one chain, which is not the product of their values.
  std::function<ExprId(const std::vector<const Atom*>&, const Env&)> together;
};

/// Emits the loop nests that sum the terms of the log joint, and expressions for the factors in them. A nest opens the
/// index variables of a term one after another; `env` has the values of those that are open. Other parts of the
/// lowering give the code inside the loops.
class Terms : Part {
 public:
  Terms(Shared& shared, AtomValues values) : Part(shared), values_(std::move(values)) {}

  /// Returns the index variables that occur in the indices.
  std::set<IndexVarId> index_variables(const std::vector<IndexId>& indices) const;
  /// Returns an expression for the value of an index; all its index variables must be open in `env`.
  ExprId index(IndexId i, const Env& env);
  /// Returns an expression for the position of a member's entry in the vector of a joint variable: members lie one
  /// after another.
  ExprId coordinate(const density::IndexCoordinate& c, const Env& env);
  /// Returns true if the coefficient, or a part of its sums and products, is the value of an observed variable, so that
  /// sum() takes a logarithm that it multiplies once. What is inside functions does not count.
  bool mentions_observed(CoefId c) const;
  /// Returns true if the coefficient of the term is 0 whatever the data are, as of a prior mean of 0. Updates and
  /// the ELBO leave such terms out.
  bool is_zero(const Term& t) const { return number(t.coef) == 0.0; }
  /// Returns an expression for the sum of coefficients. Summands with a common logarithm and observed factors are put
  /// together, as in log(1 - p) - log(1 - p) y with y observed: the logarithm is taken once, and the result is 0 where
  /// its factor 1 - y is 0. Otherwise two parts that cancel at log 0 would lose all digits of the sum.
  ExprId sum(const std::vector<CoefId>& parts, const Env& env);
  /// Returns the plates that number the coordinates of a member in the vector of its joint variable (row-major, the
  /// plates of IndexCoordinate::indices): the axes that the joint variable does not have, then the member's event axes.
  std::vector<model::PlateId> own_plates(const model::Member& member) const;
  /// Returns the indices in memory of an element of an array over the plates. A nested plate's index is added to the
  /// offset of its row, so two indices become one. There may be fewer `indices` than plates: they are the leading ones.
  std::vector<ExprId> address(const std::vector<model::PlateId>& plates, const std::vector<ExprId>& indices);
  /// Returns the indices in memory of an element of an array over the plates, given by index expressions.
  std::vector<ExprId> address(const std::vector<model::PlateId>& plates, const std::vector<IndexId>& indices,
                              const Env& env);
  /// Returns a bool expression: true if `x`, a value of the data, is present. A missing real is NaN, a missing category
  /// is negative.
  ExprId is_present(ExprId x);
  /// Returns the indices in memory of an element of a statistic, table or residual sum. `at` has one index for each
  /// logical axis, while the contiguous axis is the last one in memory. Entries (j, l) and (l, j) of a symmetric
  /// statistic have the same indices in memory.
  std::vector<ExprId> array_indices(ArrayId array, const std::vector<IndexId>& at, const Env& env);
  /// Returns the begin and end of the loop over an index variable: 0 and the size of its plate. If the plate is nested,
  /// the end is the number of elements in the row that `env` gives.
  std::pair<ExprId, ExprId> range(IndexVarId b, const Env& env);
  /// Returns an expression for the number of elements along the axis after the leading ones in `lead`; of a nested
  /// axis, of its row.
  ExprId axis_length(const std::vector<model::PlateId>& plates, const std::vector<ExprId>& lead);

  /// Returns `env` with the step fixed to 1 if the term has two neighbours of a chain whose expected products are
  /// stored as sums over the steps (Chain::summed), so that the sum is read once. Returns `env` as it is for other
  /// terms.
  Env at_all_steps(const Term& t, Env env) const;
  /// Returns true if the term is the product of its atoms and nothing else, summed over the index variables of this
  /// atom alone. That means coefficient 1, no guard, and only multiplicities that the atom's variable owns.
  bool is_plain(const Term& t, std::size_t atom) const;
  /// Returns true if the term is plain (is_plain) and `at` names a row of the table along the values of the atom, a
  /// category. For z = k that is a row such as log beta[term, k].
  bool is_row(const Term& t, std::size_t atom, const schedule::Statistic& table, const std::vector<IndexId>& at) const;
  /// Returns true if the term is half of a sum over pairs (i >= j), in which the atom's element has the larger index.
  /// It reads the elements that were updated just before, so Blocks::update adds it last.
  bool is_half_of_pairs(const Term& t, std::size_t atom) const;
  /// Returns the probability of a choice as a weight of the naturals of `owner`. A point of an expectation is a
  /// quotient of two naturals with this weight. So the weight is above 0, and the planes of values that are not chosen
  /// are those of their predictors: a wrong plane may be lower than what it replaces, and then the next update chooses
  /// them.
  ExprId choice_weight(model::VariableId owner, ExprId p);
  /// Returns the factors of a term: coefficients, weights, multiplicities, atoms, the array. Left out are the atoms at
  /// the positions `without` and the multiplicities that `owner` owns. Elements of one chain are one factor.
  std::vector<Factor> factors(const ArrayTerm& t, const std::vector<std::size_t>& without,
                              std::optional<model::VariableId> owner = std::nullopt);
  /// Emits a nest of loops over the index variables of `t` that are not in `env`. `leaf` is called once to emit the
  /// body, with the product of `factors` (1 if there are none) and with `env` extended by the open index variables. The
  /// body is executed where the guards of `t` and all `conditions` are true. The loop over `innermost` becomes the
  /// innermost, unless other loops are nested in it.
  ///
  /// If the leaf only adds, `read` has the index variables whose values it uses. The loop over any other index variable
  /// is then replaced by a multiplication with its length. It stays if a factor, condition, guard or nested index
  /// variable depends on its variable, or if that is nested itself.
  void emit(const Term& t, std::vector<Factor> factors, std::vector<Factor> conditions, Env env,
            std::optional<IndexVarId> innermost, const std::function<void(ExprId value, const Env& env)>& leaf,
            const std::optional<std::set<IndexVarId>>& read = std::nullopt);

  /// Emits loops over all elements of `plates` whose leading indices are `lead`.
  void for_elements(const std::vector<model::PlateId>& plates,
                    const std::function<void(const std::vector<ExprId>&)>& body, std::vector<ExprId> lead = {});
  /// Emits loops over the event indices of a statistic of that rank.
  void each_event(const model::Variable& var, int rank, const std::function<void(const std::vector<ExprId>&)>& body);

 private:
  /// The state of one loop nest while it is emitted: index variables that are not open yet; factors and conditions that
  /// are not emitted yet.
  struct Nest;
  /// Returns the value of a coefficient that is the same number whatever the data are; nothing for other coefficients.
  std::optional<double> number(CoefId c) const;
  /// Returns an expression for the value of a coefficient.
  ExprId coef(CoefId c, const Env& env);
  /// Returns true if the coefficient is the observed value y of a bit, or 1 - y, so that it is often 0
  /// (Factor::often_zero).
  bool is_bit(CoefId c) const;
  /// Returns an expression for an element of a data array.
  ExprId data_value(const density::DataSource& source, const std::vector<IndexId>& indices, const Env& env);
  /// Returns a bool expression for the condition of a guard.
  ExprId guard(const Guard& g, const Env& env);
  /// Returns the two index variables i and j of a guard i >= j over one plate, which becomes the limit of a loop.
  /// Returns nothing for other guards, which become branches.
  std::optional<std::pair<IndexVarId, IndexVarId>> triangle_of(const Guard& g) const;
  /// Returns an expression for an element of a statistic, table or residual sum.
  ExprId array_value(ArrayId array, const std::vector<IndexId>& at, const Env& env);
  /// Returns an expression for the position of a nested plate's row among all rows: its index, plus the offset if the
  /// row is nested too.
  ExprId packed_row(IndexId row, const Env& env);
  /// Returns an expression for the number of elements of a nested plate in the row at packed position `row`.
  ExprId row_length(model::PlateId set, ExprId row);
  /// Returns true if nothing that the nest still has to write depends on the value of the index variable, so that a
  /// multiplication by the length can replace its loop. False for index variables of nested plates.
  bool only_repeats(const Nest& nest, IndexVarId b) const;
  /// Emits one level of the nest: the factors and conditions that are decided there, then the next loop or the leaf.
  void emit_level(Nest& nest, Env env, ExprId product);

  /// The functions that give the values of atoms.
  AtomValues values_;
};

}  // namespace lehr::loops
