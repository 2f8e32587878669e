// Index expressions and coefficients of the density, stored once each (hash-consing): two expressions are equal if and
// only if their ids are equal.
//
// An index expression names an element of a plate: `n`, `t-1`, `3`, `user[e]`. It never depends on a latent value,
// since latent indices were replaced by selectors (density.h). A coefficient is a real number that depends on data and
// sizes alone; the derived arrays of the schedule count as data here. It never depends on a random variable. Both kinds
// may mention index variables ("bounds" in the names below).
#pragma once
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "compiler/model/model.h"

namespace lehr::density {

/// Names an index expression of an Algebra.
using IndexId = Id<struct IndexTag>;
/// Names a coefficient of an Algebra.
using CoefId = Id<struct CoefTag>;
/// Names an index variable of an Algebra.
using BoundId = Id<struct DensityBoundTag>;
/// Names an array that the schedule derives: a statistic, a table, or the sums of a residual form. A density that
/// expand() returns has none.
using ArrayId = Id<struct ArrayTag>;

/// An index variable of a sum. Two index variables with the same name are different.
struct Bound {
  /// The name, for printing only.
  std::string name;
  /// The plate that the variable ranges over, with aliases resolved. Nested plates keep their own id.
  model::PlateId plate;
  /// For a nested plate, the element of the parent plate in whose row the variable ranges.
  std::optional<IndexId> parent;
  /// True if the variable ranges over the values of a latent category (it replaces a latent index).
  bool selector = false;
};

/// Data that an index or a coefficient reads: a given, or an observed variable.
using DataSource = std::variant<model::GivenId, model::VariableId>;

/// The index expression "index variable plus offset": `n`, `t-1`.
struct IndexBound {
  /// The index variable.
  BoundId bound;
  /// The number that is added to it.
  std::int64_t offset = 0;
  /// Orders and compares by all fields.
  auto operator<=>(const IndexBound&) const = default;
};
/// The index expression that is a fixed element, counted from 0.
struct IndexConstant {
  /// The element.
  std::int64_t value;
  /// Orders and compares by value.
  auto operator<=>(const IndexConstant&) const = default;
};
/// The index expression that is read from data: `user[e]`.
struct IndexLookup {
  /// The data array, whose values are elements of a plate.
  DataSource source;
  /// The entry of the array that is read, one index for each axis.
  std::vector<IndexId> indices;
  /// Orders and compares by all fields.
  auto operator<=>(const IndexLookup&) const = default;
};
/// The position of a number of a member variable in the vector of its joint variable (model::Auxiliary::joint).
struct IndexCoordinate {
  /// The joint variable.
  model::VariableId joint;
  /// The index of the member in Auxiliary::members.
  std::size_t member;
  /// The number within the member: indices over the member's own axes (Member::own), then over its event axes.
  std::vector<IndexId> indices;
  /// Orders and compares by all fields.
  auto operator<=>(const IndexCoordinate&) const = default;
};
/// An index expression.
using IndexNode = std::variant<IndexBound, IndexConstant, IndexLookup, IndexCoordinate>;

/// A function of one real number: log, exp, reciprocal, lgamma and others.
using math::Function;

/// The coefficient that is a literal number.
struct CoefNumber {
  /// The number.
  double value;
  /// Orders and compares by value.
  auto operator<=>(const CoefNumber&) const = default;
};
/// The coefficient that is a named constant of the model, which --set may change.
struct CoefConstant {
  /// The constant.
  model::ConstantId constant;
  /// Orders and compares by id.
  auto operator<=>(const CoefConstant&) const = default;
};
/// The coefficient that is one entry of a data array.
struct CoefData {
  /// The data array.
  DataSource source;
  /// The entry: indices over the plate axes, then over the event axes.
  std::vector<IndexId> indices;
  /// Orders and compares by all fields.
  auto operator<=>(const CoefData&) const = default;
};
/// The coefficient that is one entry of a derived array of the schedule.
struct CoefArray {
  /// The array.
  ArrayId array;
  /// The entry, one index for each axis.
  std::vector<IndexId> indices;
  /// Orders and compares by all fields.
  auto operator<=>(const CoefArray&) const = default;
};
/// The coefficient that is the number of elements of a plate.
struct CoefExtent {
  /// The plate.
  model::PlateId plate;
  /// For a nested plate, the element of the parent plate whose row is counted.
  std::optional<IndexId> row;
  /// Orders and compares by all fields.
  auto operator<=>(const CoefExtent&) const = default;
};
/// The coefficient that is an index as a number.
struct CoefIndexValue {
  /// The index.
  IndexId index;
  /// Orders and compares by id.
  auto operator<=>(const CoefIndexValue&) const = default;
};
/// The coefficient that is a sum.
struct CoefAdd {
  /// The summands, ascending by id, at least two.
  std::vector<CoefId> parts;
  /// Orders and compares by all summands.
  auto operator<=>(const CoefAdd&) const = default;
};
/// The coefficient that is a product.
struct CoefMultiply {
  /// The factors: at most one literal number, which stands first, then the others ascending by id.
  std::vector<CoefId> parts;
  /// Orders and compares by all factors.
  auto operator<=>(const CoefMultiply&) const = default;
};
/// The coefficient that is a function of another one.
struct CoefApply {
  /// The function.
  Function function;
  /// Its argument.
  CoefId argument;
  /// Orders and compares by all fields.
  auto operator<=>(const CoefApply&) const = default;
};
/// The coefficient that is the sum of `body` over all values of an index variable.
struct CoefSum {
  /// The index variable.
  BoundId bound;
  /// What is added up; it may mention `bound`.
  CoefId body;
  /// Orders and compares by all fields.
  auto operator<=>(const CoefSum&) const = default;
};
/// The coefficient that is one entry of the inverse of a symmetric data matrix.
struct CoefInverse {
  /// The data: one matrix, or an array of matrices.
  DataSource matrix;
  /// The indices that choose one matrix of the array.
  std::vector<IndexId> lead;
  /// The entry of the inverse; Algebra::coef sorts the two, since the matrix is symmetric.
  IndexId row, column;
  /// Orders and compares by all fields.
  auto operator<=>(const CoefInverse&) const = default;
};
/// The coefficient that is the log determinant of a data matrix.
struct CoefLogDet {
  /// The data: one matrix, or an array of matrices.
  DataSource matrix;
  /// The indices that choose one matrix of the array.
  std::vector<IndexId> lead;
  /// Orders and compares by all fields.
  auto operator<=>(const CoefLogDet&) const = default;
};
/// A coefficient.
using CoefNode = std::variant<CoefNumber, CoefConstant, CoefData, CoefArray, CoefExtent, CoefIndexValue, CoefAdd,
                              CoefMultiply, CoefApply, CoefSum, CoefInverse, CoefLogDet>;

/// The arena of index variables, index expressions and coefficients that the terms of one density share. Expressions
/// are added and never removed, so ids stay valid. References that operator[] returns do not survive an addition.
class Algebra {
 public:
  /// Adds an index variable and returns its id. Every call adds a new one.
  BoundId bound(Bound b);
  /// Adds an index variable with the name, plate and kind of `b` and the given parent, and returns its id.
  BoundId fresh_like(BoundId b, std::optional<IndexId> parent);

  /// Returns the id of an index expression, which is added if there is no equal one.
  IndexId index(IndexNode node);
  /// Returns the index expression "`b` plus `offset`".
  IndexId index(BoundId b, std::int64_t offset = 0) { return index(IndexBound{b, offset}); }

  /// Returns the id of a coefficient, which is added if there is no equal one. It does not simplify: sums and products
  /// are made by add() and multiply().
  CoefId coef(CoefNode node);
  /// Returns the coefficient that is the number `v`.
  CoefId number(double v) { return coef(CoefNumber{v}); }
  /// Returns the sum of the summands. It flattens nested sums and collects equal summands: 2*x + x is 3*x, x - x is 0.
  CoefId add(const std::vector<CoefId>& summands);
  /// Returns a + b, simplified.
  CoefId add(CoefId a, CoefId b) { return add({a, b}); }
  /// Returns the product of the factors. It flattens nested products and multiplies the literal numbers.
  CoefId multiply(const std::vector<CoefId>& factors);
  /// Returns a * b, simplified.
  CoefId multiply(CoefId a, CoefId b) { return multiply({a, b}); }
  /// Returns f(a). It evaluates f at a literal number if the result is finite, and cancels inverse functions (log of
  /// exp, reciprocal of reciprocal). The reciprocal of a product is taken factor by factor.
  CoefId apply(Function f, CoefId a);

  /// Returns the index variable of that id.
  const Bound& operator[](BoundId id) const { return bounds_[id.index()]; }
  /// Returns the index expression of that id.
  const IndexNode& operator[](IndexId id) const { return indices_[id.index()]; }
  /// Returns the coefficient of that id.
  const CoefNode& operator[](CoefId id) const { return coefs_[id.index()]; }

  /// Returns the value of a coefficient that is a literal number, and nothing for any other coefficient.
  std::optional<double> literal(CoefId c) const;
  /// Returns the factors of a product; for any other coefficient, that coefficient alone.
  std::vector<CoefId> factors(CoefId c) const;

  /// Returns the index variables that occur free in an index expression, ascending.
  const std::vector<BoundId>& bounds_of(IndexId i) const { return index_bounds_[i.index()]; }
  /// Returns the index variables that occur free in a coefficient, ascending.
  const std::vector<BoundId>& bounds_of(CoefId c) const { return coef_bounds_[c.index()]; }
  /// Returns true if `b` occurs free in an index expression or coefficient.
  template <class Expression>
  bool mentions(Expression e, BoundId b) const {
    return std::binary_search(bounds_of(e).begin(), bounds_of(e).end(), b);
  }
  /// Adds the free index variables of an index expression or coefficient to `out`.
  template <class Expression>
  void collect(Expression e, std::set<BoundId>& out) const {
    out.insert(bounds_of(e).begin(), bounds_of(e).end());
  }

  /// A function that gives the replacement of an index expression, or nothing to look inside it instead.
  using Substitution = std::function<std::optional<IndexId>(IndexId)>;
  /// Returns the index expression with every part replaced for which `s` has a replacement, from the outside inwards.
  IndexId substitute(IndexId i, const Substitution& s);
  /// Returns the coefficient with the index expressions in it replaced by `s`, and simplified.
  CoefId substitute(CoefId c, const Substitution& s);
  /// Returns the substitution of the index variable `b` by `by`. Offsets add up: t+1 with t = u-1 is u. An offset
  /// cannot be added to a lookup or coordinate, so `t-1` stays as it is for these.
  Substitution replace(BoundId b, IndexId by);

 private:
  /// Returns the free index variables of an index expression, from those of its parts.
  std::vector<BoundId> find_bounds(const IndexNode& node) const;
  /// Returns the free index variables of a coefficient, from those of its parts.
  std::vector<BoundId> find_bounds(const CoefNode& node) const;

  /// The index variables, by BoundId.
  std::vector<Bound> bounds_;
  /// The index expressions, by IndexId.
  std::vector<IndexNode> indices_;
  /// The coefficients, by CoefId.
  std::vector<CoefNode> coefs_;
  /// The free index variables of each index expression and of each coefficient, by id.
  std::vector<std::vector<BoundId>> index_bounds_, coef_bounds_;
  /// The ids of all index expressions.
  std::map<IndexNode, IndexId> index_ids_;
  /// The ids of all coefficients.
  std::map<CoefNode, CoefId> coef_ids_;
};

}  // namespace lehr::density
