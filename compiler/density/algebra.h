// Index expressions and coefficients of the density, stored once each (hash-consing): two expressions are equal if and
// only if their ids are equal.
//
// An index expression names an element of a plate: `n`, `t-1`, `3`, `user[e]`. It never depends on a latent value,
// since latent indices were replaced by selectors (density.h). A coefficient is a real number that depends on data and
// sizes alone. Data are givens, observed variables, named constants, and the arrays that the schedule derives from
// them. A coefficient never depends on a latent variable. Both kinds may mention index variables ("bounds" in the names
// below).
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

/// The id of an index expression: an element of a plate, such as n, t-1 or user[e], stored in an Algebra.
using IndexId = Id<struct IndexTag>;
/// The id of a coefficient: a real number that depends on data and sizes alone, stored in an Algebra.
using CoefId = Id<struct CoefTag>;
/// The id of an index variable of a sum, stored in an Algebra.
using IndexVarId = Id<struct DensityIndexVarTag>;
/// Names an array that the schedule derives: a statistic, a table, or the sums of a residual form. A density that
/// expand() returns has none.
using ArrayId = Id<struct ArrayTag>;

/// An index variable of a sum. Its id identifies it: two index variables may have the same name.
struct IndexVar {
  /// The name of the index variable, for printing only.
  std::string name;
  /// The plate that the variable ranges over, never an alias of another plate.
  model::PlateId plate;
  /// For a nested plate: an element of the parent plate. The variable ranges over the elements nested in it (its row),
  /// such as the tokens of one document. None for other plates.
  std::optional<IndexId> parent;
  /// True if the variable ranges over the values of a latent category (it replaces a latent index).
  bool selector = false;
};

/// Data that an index or a coefficient reads: a given, or an observed variable.
using DataSource = std::variant<model::GivenId, model::VariableId>;

/// The index expression "index variable plus offset": `n`, `t-1`.
struct IndexVarRef {
  /// The index variable that the offset is added to.
  IndexVarId bound;
  /// The number that is added to the index variable.
  std::int64_t offset = 0;
  /// Compares two IndexVarRef nodes, field by field, for the maps that find equal nodes.
  auto operator<=>(const IndexVarRef&) const = default;
};
/// The index expression that is a fixed element, counted from 0.
struct IndexConstant {
  /// The number of the element in its plate, counted from 0.
  std::int64_t value;
  /// Compares two IndexConstant nodes, field by field, for the maps that find equal nodes.
  auto operator<=>(const IndexConstant&) const = default;
};
/// The index expression that is read from data: `user[e]`.
struct IndexLookup {
  /// The data array that is read; its values are elements of a plate.
  DataSource source;
  /// The entry of the array that is read, one index for each axis.
  std::vector<IndexId> indices;
  /// Compares two IndexLookup nodes, field by field, for the maps that find equal nodes.
  auto operator<=>(const IndexLookup&) const = default;
};
/// The position of a number of a member variable in the vector of its joint variable (model::Auxiliary::joint).
struct IndexCoordinate {
  /// The joint variable in whose vector the position is.
  model::VariableId joint;
  /// Which member variable the number belongs to, as an index into Auxiliary::members.
  std::size_t member;
  /// Which number of the member: indices over the axes of the member that the joint variable does not have
  /// (Member::own), then over its event axes.
  std::vector<IndexId> indices;
  /// Compares two IndexCoordinate nodes, field by field, for the maps that find equal nodes.
  auto operator<=>(const IndexCoordinate&) const = default;
};
/// An index expression: an index variable with an offset, a constant, a lookup in data, or a coordinate.
using IndexNode = std::variant<IndexVarRef, IndexConstant, IndexLookup, IndexCoordinate>;

/// A function of one real number: log, exp, reciprocal, lgamma and others.
using math::Function;

/// A coefficient (a real number that depends on data and sizes alone) that is a literal number.
struct CoefNumber {
  /// The literal number that the coefficient is.
  double value;
  /// Compares two CoefNumber nodes, field by field, for the maps that find equal nodes.
  auto operator<=>(const CoefNumber&) const = default;
};
/// A coefficient (a real number that depends on data and sizes alone) that is a named constant of the model, which
/// --set may change.
struct CoefConstant {
  /// The named constant of the model that the coefficient is.
  model::ConstantId constant;
  /// Compares two CoefConstant nodes, field by field, for the maps that find equal nodes.
  auto operator<=>(const CoefConstant&) const = default;
};
/// A coefficient (a real number that depends on data and sizes alone) that is one entry of a data array.
struct CoefData {
  /// The data array that is read.
  DataSource source;
  /// The entry of the data array that is read: indices over the plate axes, then over the event axes.
  std::vector<IndexId> indices;
  /// Compares two CoefData nodes, field by field, for the maps that find equal nodes.
  auto operator<=>(const CoefData&) const = default;
};
/// A coefficient (a real number that depends on data and sizes alone) that is one entry of an array that the schedule
/// derives from data.
struct CoefArray {
  /// The derived array of the schedule that is read.
  ArrayId array;
  /// The entry of the array that is read, one index for each axis.
  std::vector<IndexId> indices;
  /// Compares two CoefArray nodes, field by field, for the maps that find equal nodes.
  auto operator<=>(const CoefArray&) const = default;
};
/// A coefficient (a real number that depends on data and sizes alone) that is the number of elements of a plate.
struct CoefExtent {
  /// The plate whose elements are counted.
  model::PlateId plate;
  /// For a nested plate: the element of the parent plate in which the counted elements are nested. None for others.
  std::optional<IndexId> row;
  /// Compares two CoefExtent nodes, field by field, for the maps that find equal nodes.
  auto operator<=>(const CoefExtent&) const = default;
};
/// A coefficient (a real number that depends on data and sizes alone) that is the value of an index as a number: t in
/// `a * t`.
struct CoefIndexValue {
  /// The index whose value is the coefficient.
  IndexId index;
  /// Compares two CoefIndexValue nodes, field by field, for the maps that find equal nodes.
  auto operator<=>(const CoefIndexValue&) const = default;
};
/// A coefficient (a real number that depends on data and sizes alone) that is a sum of coefficients.
struct CoefAdd {
  /// The summands of the sum, ascending by id, at least two.
  std::vector<CoefId> parts;
  /// Compares two CoefAdd nodes, field by field, for the maps that find equal nodes.
  auto operator<=>(const CoefAdd&) const = default;
};
/// A coefficient (a real number that depends on data and sizes alone) that is a product of coefficients.
struct CoefMultiply {
  /// The factors of the product: at most one literal number, which stands first, then the others ascending by id.
  std::vector<CoefId> parts;
  /// Compares two CoefMultiply nodes, field by field, for the maps that find equal nodes.
  auto operator<=>(const CoefMultiply&) const = default;
};
/// A coefficient (a real number that depends on data and sizes alone) that is a function of another coefficient.
struct CoefApply {
  /// The function that is applied, such as log.
  Function function;
  /// The coefficient that the function is applied to.
  CoefId argument;
  /// Compares two CoefApply nodes, field by field, for the maps that find equal nodes.
  auto operator<=>(const CoefApply&) const = default;
};
/// A coefficient (a real number that depends on data and sizes alone) that is the sum of another one over all values of
/// an index variable.
struct CoefSum {
  /// The index variable that is summed over.
  IndexVarId bound;
  /// The coefficient that is added up for each value of the index variable.
  CoefId body;
  /// Compares two CoefSum nodes, field by field, for the maps that find equal nodes.
  auto operator<=>(const CoefSum&) const = default;
};
/// A coefficient (a real number that depends on data and sizes alone) that is one entry of the inverse of a symmetric
/// data matrix.
struct CoefInverse {
  /// The data that are inverted: one matrix, or an array of matrices.
  DataSource matrix;
  /// The indices that choose one matrix of the array; none for a single matrix.
  std::vector<IndexId> lead;
  /// The row and the column of the entry. Algebra::coef sorts the two, since the matrix is symmetric.
  IndexId row, column;
  /// Compares two CoefInverse nodes, field by field, for the maps that find equal nodes.
  auto operator<=>(const CoefInverse&) const = default;
};
/// A coefficient (a real number that depends on data and sizes alone) that is the log determinant of a data matrix.
struct CoefLogDet {
  /// The data whose log determinant is taken: one matrix, or an array of matrices.
  DataSource matrix;
  /// The indices that choose one matrix of the array; none for a single matrix.
  std::vector<IndexId> lead;
  /// Compares two CoefLogDet nodes, field by field, for the maps that find equal nodes.
  auto operator<=>(const CoefLogDet&) const = default;
};
/// A coefficient: a real number that depends on data and sizes alone, as a node whose children are ids.
using CoefNode = std::variant<CoefNumber, CoefConstant, CoefData, CoefArray, CoefExtent, CoefIndexValue, CoefAdd,
                              CoefMultiply, CoefApply, CoefSum, CoefInverse, CoefLogDet>;

/// Returns the coefficients directly below a node: the parts of a sum or product, the argument of a function, or the
/// body of a sum over an index variable. Other nodes have none.
std::vector<CoefId> parts_of(const CoefNode& node);

/// The arena of index variables, index expressions and coefficients that the terms of one density share. Expressions
/// are added and never removed, so ids stay valid. References that operator[] returns do not survive an addition.
class Algebra {
 public:
  /// Adds an index variable and returns its id. Every call adds a new one, even if an equal one exists.
  IndexVarId bound(IndexVar b);
  /// Adds an index variable like `b`, but with the given parent, and returns its id. Every call adds a new one.
  IndexVarId fresh_like(IndexVarId b, std::optional<IndexId> parent);

  /// Returns the id of an index expression, which is added if there is no equal one.
  IndexId index(IndexNode node);
  /// Returns the index expression "`b` plus `offset`".
  IndexId index(IndexVarId b, std::int64_t offset = 0) { return index(IndexVarRef{b, offset}); }

  /// Returns the id of a coefficient, which is added if there is no equal one. It does not simplify: sums and products
  /// are made by add() and multiply().
  CoefId coef(CoefNode node);
  /// Returns the coefficient that is the number `v`.
  CoefId number(double v) { return coef(CoefNumber{v}); }
  /// Returns the sum of the summands. It flattens nested sums and collects equal summands: 2*x + x is 3*x, x - x is 0.
  CoefId add(const std::vector<CoefId>& summands);
  /// Returns the sum of two coefficients, simplified.
  CoefId add(CoefId a, CoefId b) { return add({a, b}); }
  /// Returns the product of the factors. It flattens nested products and multiplies the literal numbers.
  CoefId multiply(const std::vector<CoefId>& factors);
  /// Returns the product of two coefficients, simplified.
  CoefId multiply(CoefId a, CoefId b) { return multiply({a, b}); }
  /// Returns f(a). It evaluates f at a literal number if the result is finite, and cancels inverse functions (log of
  /// exp, reciprocal of reciprocal). The log of a reciprocal is minus the log. The reciprocal of a product is taken
  /// factor by factor.
  CoefId apply(Function f, CoefId a);

  /// Returns the index variable with the given id.
  const IndexVar& operator[](IndexVarId id) const { return bounds_[id.index()]; }
  /// Returns the index expression with the given id.
  const IndexNode& operator[](IndexId id) const { return indices_[id.index()]; }
  /// Returns the coefficient with the given id.
  const CoefNode& operator[](CoefId id) const { return coefs_[id.index()]; }

  /// Returns the value of a coefficient that is a literal number, and nothing for any other coefficient.
  std::optional<double> literal(CoefId c) const;
  /// Returns the factors of a product; for any other coefficient, that coefficient alone.
  std::vector<CoefId> factors(CoefId c) const;

  /// Returns the index variables that occur free in an index expression, ascending.
  const std::vector<IndexVarId>& index_vars_of(IndexId i) const { return index_bounds_[i.index()]; }
  /// Returns the index variables that occur free in a coefficient, ascending.
  const std::vector<IndexVarId>& index_vars_of(CoefId c) const { return coef_bounds_[c.index()]; }
  /// Returns true if `b` occurs free in an index expression or coefficient.
  template <class Expression>
  bool mentions(Expression e, IndexVarId b) const {
    return std::binary_search(index_vars_of(e).begin(), index_vars_of(e).end(), b);
  }
  /// Adds the free index variables of an index expression or coefficient to `out`.
  template <class Expression>
  void collect(Expression e, std::set<IndexVarId>& out) const {
    out.insert(index_vars_of(e).begin(), index_vars_of(e).end());
  }

  /// A function that gives the replacement of an index expression, or nothing to look inside it instead.
  using Substitution = std::function<std::optional<IndexId>(IndexId)>;
  /// Returns the index expression with every part replaced for which `s` has a replacement, from the outside inwards.
  IndexId substitute(IndexId i, const Substitution& s);
  /// Returns the coefficient with the index expressions in it replaced by `s`, and simplified.
  CoefId substitute(CoefId c, const Substitution& s);
  /// Returns the substitution of the index variable `b` by `by`. Offsets add up: t+1 with t = u-1 is u. An offset
  /// cannot be added to a lookup or coordinate, so `t-1` stays as it is for these. The algebra must outlive the result.
  Substitution replace(IndexVarId b, IndexId by);

 private:
  /// Finds the free index variables of an index expression, from those of its parts. It is called once when the
  /// expression is added; index_vars_of() returns the stored result.
  std::vector<IndexVarId> find_index_vars(const IndexNode& node) const;
  /// Finds the free index variables of a coefficient, from those of its parts. It is called once when the coefficient
  /// is added; index_vars_of() returns the stored result.
  std::vector<IndexVarId> find_index_vars(const CoefNode& node) const;

  /// All index variables of the arena, by IndexVarId.
  std::vector<IndexVar> bounds_;
  /// All index expressions of the arena, by IndexId.
  std::vector<IndexNode> indices_;
  /// All coefficients of the arena, by CoefId.
  std::vector<CoefNode> coefs_;
  /// The free index variables of each index expression and of each coefficient, by id.
  std::vector<std::vector<IndexVarId>> index_bounds_, coef_bounds_;
  /// The id of each index expression by its contents, so that equal ones get one id.
  std::map<IndexNode, IndexId> index_ids_;
  /// The id of each coefficient by its contents, so that equal ones get one id.
  std::map<CoefNode, CoefId> coef_ids_;
};

}  // namespace lehr::density
