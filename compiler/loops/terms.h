// Index and coefficient expressions, and the loop nest of one term.
#pragma once
#include "compiler/loops/layout.h"

namespace lehr::loops {

/// Values of the bounds that are open.
using Env = std::map<BoundId, ExprId>;

/// One factor of a product: computed as soon as its bounds are open.
struct Factor {
  std::set<BoundId> bounds;
  std::function<ExprId(const Env&)> value;
  bool often_zero = false;  // an observed bit, or 1 less one
};

/// A term with further factors: a derived array, weights, and what the caller knows.
struct ArrayTerm {
  const Term* term = nullptr;
  std::optional<ArrayId> array = {};
  const std::vector<IndexId>* at = nullptr;
  std::vector<Weight> weights = {};  // those of the data count for the terms of the data only
  std::vector<Factor> more = {};
};

/// What the atoms of a term stand for: expected statistics under the factors, or those of one value of the variables.
struct AtomValues {
  std::function<ExprId(const Atom&, const Env&)> one;
  std::function<ExprId(const std::vector<const Atom*>&, const Env&)> together;  // elements of one chain
};

class Terms : Part {
 public:
  Terms(Shared& shared, AtomValues values) : Part(shared), values_(std::move(values)) {}

  std::set<BoundId> mentioned(const std::vector<IndexId>& indices) const;
  ExprId index(IndexId i, const Env& env);
  ExprId coordinate(const density::IndexCoordinate& c, const Env& env);
  bool mentions_observed(CoefId c) const;
  /// Its coefficient is 0 whatever the data are, as that of a prior mean of 0.
  bool is_nothing(const Term& t) const { return number(t.coef) == 0.0; }
  /// Of log(1 - p) - log(1 - p) y and the like, y observed, the logarithm once, times 0 or not: where it is that of 0,
  /// native code may add up what else there is between two parts that cancel, and lose it.
  ExprId sum(const std::vector<CoefId>& parts, const Env& env);
  /// The axes that the joint variable has not, then event axes: those of IndexCoordinate::indices.
  std::vector<model::PlateId> own_plates(const model::Member& member) const;
  std::vector<ExprId> address(const std::vector<model::PlateId>& plates, const std::vector<ExprId>& indices);
  std::vector<ExprId> address(const std::vector<model::PlateId>& plates, const std::vector<IndexId>& indices,
                              const Env& env);
  /// Whether a value of the data is not missing.
  ExprId is_present(ExprId x);
  std::vector<ExprId> array_indices(ArrayId array, const std::vector<IndexId>& at, const Env& env);
  std::pair<ExprId, ExprId> range(BoundId b, const Env& env);
  /// Elements along the axis after the leading ones: of its row when it is nested.
  ExprId axis_length(const std::vector<model::PlateId>& plates, const std::vector<ExprId>& lead);

  /// For a term with neighbours of which only the sum over all steps is kept: their step is 1, which stands for all.
  Env at_all_steps(const Term& t, Env env) const;
  /// No factor is beside the atom, no guard, and no bound but those of its element and of its value (a category's).
  bool is_plain(const Term& t, std::size_t atom) const;
  /// It is plain, and `at` names a row of the table, along the values of the atom.
  bool is_row(const Term& t, std::size_t atom, const schedule::Statistic& table, const std::vector<IndexId>& at) const;
  /// It is one half of a sum over pairs, in which the element that the atom names stands beside those before it.
  bool goes_over_those_before(const Term& t, std::size_t atom) const;
  /// The factors of a term except the atoms at `without` and the multiplicities that `owner` owns.
  std::vector<Factor> factors(const ArrayTerm& t, const std::vector<std::size_t>& without,
                              std::optional<model::VariableId> owner = std::nullopt);
  /// Loops over the bounds of `t` not in `env`, its guards and `conditions`, and `leaf` with the product of `factors`
  /// inside; `innermost` becomes the inner loop. Where the leaf adds, and reads of `env` only the bounds `read`,
  /// elements that the term only counts are multiplied.
  void emit(const Term& t, std::vector<Factor> factors, std::vector<Factor> conditions, Env env,
            std::optional<BoundId> innermost, const std::function<void(ExprId value, const Env& env)>& leaf,
            const std::optional<std::set<BoundId>>& read = std::nullopt);

  /// Loops over all elements of `plates` whose leading indices are `lead`.
  void for_elements(const std::vector<model::PlateId>& plates,
                    const std::function<void(const std::vector<ExprId>&)>& body, std::vector<ExprId> lead = {});
  void each_event(const model::Variable& var, int rank, const std::function<void(const std::vector<ExprId>&)>& body);

 private:
  struct Nest;
  /// The coefficient where it is that number whatever the data are.
  std::optional<double> number(CoefId c) const;
  ExprId coef(CoefId c, const Env& env);
  /// An observed bit, or 1 less one.
  bool is_bit(CoefId c) const;
  ExprId data_value(const density::DataSource& source, const std::vector<IndexId>& indices, const Env& env);
  ExprId guard(const Guard& g, const Env& env);
  /// Two bounds of one plate, the first of which the guard keeps from being below the second.
  std::optional<std::pair<BoundId, BoundId>> half_of(const Guard& g) const;
  ExprId array_value(ArrayId array, const std::vector<IndexId>& at, const Env& env);
  /// The position, among all rows, of the row that a nested plate hangs on.
  ExprId packed_row(IndexId row, const Env& env);
  /// Elements of a nested plate in the row at packed position `row`.
  ExprId row_length(model::PlateId set, ExprId row);
  /// Nothing that is still to come depends on where the bound, of a run-time plate, stands.
  bool only_counts(const Nest& nest, BoundId b) const;
  void emit_level(Nest& nest, Env env, ExprId product);

  AtomValues values_;
};

}  // namespace lehr::loops
