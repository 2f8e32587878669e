// Numeric evaluation of a model at given values of its variables: expressions, parameters of distributions and log
// densities of single elements. It is a plain interpreter, slow beside generated code. Simulation, held-out scores and
// the normalisers of tempering are built on it.
//
// An element of a model is addressed by the values of its index variables. In the sources an index variable is a
// `bound`: `n` in `x[n] ~ Normal(mu, tau)`.
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "compiler/binding/bind.h"
#include "compiler/math/evaluate.h"
#include "compiler/model/model.h"

namespace lehr {

/// Values of all index variables, by IndexVarId. For a nested plate the value is the position among the elements of all
/// rows, end to end.
using IndexValues = std::vector<std::int64_t>;

/// The value of an expression: a number (empty shape), a vector or a row-major matrix.
struct Tensor {
  std::vector<std::size_t> shape;  // extents of the axes: none for a number, two for a matrix
  std::vector<double> values;      // the entries, row-major
};

/// One element of a variable, addressed by its position in the packed order of BoundArray. Event axes are not part of
/// the position: a vector counts as one element.
struct Element {
  model::VariableId variable;  // the variable whose element it is
  std::size_t position = 0;    // number of the element among those of the variable, row-major over its plates
  /// Orders elements by variable, then by position.
  auto operator<=>(const Element&) const = default;
};

/// The values of all variables of a model, and a plain interpreter of the model at them: expressions, parameters of
/// distributions and log densities of single elements. Simulation, scores and the normalisers of tempering use it.
class ModelEvaluator {
 public:
  /// Starts with the data as values of observed variables and NaN (unknown) everywhere else. Model and data must
  /// outlive the object. Auxiliary variables have no values, since expressions never name them.
  ModelEvaluator(const model::Model& model, const BoundData& data);

  /// Returns the model whose expressions and densities this object evaluates.
  const model::Model& model() const { return model_; }
  /// Returns the data that the constructor was given: values of inputs and constants, and sizes of plates.
  const BoundData& data() const { return data_; }

  /// Returns the present values of all elements of a variable, packed as in a BoundArray, for reading and writing.
  /// Unknown ones are NaN.
  std::span<double> values(model::VariableId v) { return values_[v.index()]; }
  /// Returns the present values of all elements of a variable, packed as in a BoundArray, for reading. Unknown ones are
  /// NaN.
  std::span<const double> values(model::VariableId v) const { return values_[v.index()]; }
  /// Returns the present values of the width() numbers of one element of a variable, for reading and writing.
  std::span<double> values(Element e) {
    return values(e.variable).subspan(e.position * width(e.variable), width(e.variable));
  }
  /// Returns the present values of the width() numbers of one element of a variable, for reading.
  std::span<const double> values(Element e) const {
    return values(e.variable).subspan(e.position * width(e.variable), width(e.variable));
  }
  /// Returns the number of elements of a variable: the product of the sizes of its plates. A nested plate counts the
  /// elements of all rows, and its parent does not count. A vector or matrix counts as one element.
  std::size_t elements(model::VariableId v) const;
  /// Returns the number of values of one element: 1 for a number, the length of a vector, the entries of a matrix.
  std::size_t width(model::VariableId v) const;
  /// Returns the number that sizes the distribution of a variable: the number of categories of a categorical variable,
  /// the length of a vector or the order of a matrix; 1 for other variables.
  std::size_t extent(model::VariableId v) const;

  /// Returns the number of values that a discrete variable can have: categories, or 2 for bits and spins.
  std::size_t states(model::VariableId v) const;
  /// Returns the k-th value of a discrete variable: k for a category or bit, -1 or +1 for a spin.
  double state(model::VariableId v, std::size_t k) const;

  /// Returns the element that an expression refers to as a whole: element d of theta for the vector `theta[d]`. Returns
  /// nothing for any other expression, such as a reference to one entry of a vector or to several elements.
  std::optional<Element> named(model::ExprId id, const IndexValues& at) const;

  /// Returns the offset in values() of the first number that a reference such as `mu[z[n]]` reads. Discrete variables
  /// among its indices are used at their present values; one without a value counts as 0.
  std::size_t variable_address(const model::VariableRef& r, const IndexValues& at) const;

  /// Returns the elements that a reference such as `theta[d]` or `b[g[n]]` reads, as positions (Element::position) of
  /// the first, and one past the last. Discrete variables among its indices are used at their present values; one
  /// without a value counts as 0.
  std::pair<std::size_t, std::size_t> read_by(const model::VariableRef& r, const IndexValues& at) const;

  /// Returns 0 for every index variable; the caller then sets those that it needs.
  IndexValues origin() const { return IndexValues(model_.index_vars.size(), 0); }
  /// Returns the values of the index variables of an element's own statement that address the element; all others are
  /// 0.
  IndexValues at(Element e) const;
  /// Returns the element of a statement's variable that these values of the statement's index variables address. It is
  /// the inverse of at().
  Element element(const model::Statement& s, const IndexValues& at) const;
  /// Calls `visit` for every combination of values of the index variables `bounds`, the last varying fastest (the
  /// packed order of elements), with `at` set to it. An index variable of a nested plate runs over the row of its
  /// parent, which comes before it in `bounds` or is set in `at`. With `fixed`, only combinations in which that index
  /// variable has that value are visited. Other index variables stay as they are in `at`.
  void each(std::span<const model::IndexVarId> bounds, IndexValues& at, const std::function<void()>& visit,
            std::optional<std::pair<model::IndexVarId, std::int64_t>> fixed = {}) const;

  /// Returns the extent of an axis of a vector or matrix expression.
  std::size_t extent_of(model::ExprId e, std::size_t axis) const {
    return static_cast<std::size_t>(size(model_[e].shape[axis]));
  }
  /// Returns the row-major position of entry i of a vector expression, or (i, j) of a matrix; 0 for a number.
  std::size_t position_of(model::ExprId e, std::size_t i, std::size_t j) const {
    const std::size_t rank = model_[e].shape.size();
    return rank == 0 ? 0 : rank == 1 ? i : i * extent_of(e, 1) + j;
  }

  /// Evaluates a whole expression at these values of the index variables. A missing value is read as NaN; the first
  /// discrete one is recorded for unknown().
  Tensor value(model::ExprId e, const IndexValues& at) const;
  /// Returns one entry of an expression at these values of the index variables: entry i of a vector, or (i, j) of a
  /// matrix. A scalar expression has the same value for all i and j. A missing value is read as NaN; the first discrete
  /// one is recorded for unknown().
  double entry(model::ExprId e, const IndexValues& at, std::size_t i = 0, std::size_t j = 0) const;

  /// Returns the distribution of a statement at an element: `start` at the first elements of a chain, the chosen part
  /// of a mixture, otherwise `main`. If the choice is missing, it is recorded for unknown(), and the first part is
  /// returned.
  const model::Distribution& distribution(const model::Statement& s, const IndexValues& at) const;
  /// Returns the parameters of the element's distribution by their canonical names, with the extent of the variable. A
  /// variance that the model writes, for example, becomes a precision.
  math::Environment parameters(const model::Statement& s, const IndexValues& at) const;
  /// Returns log p(element | parents) of the statement's element; multiplicities (`times`) do not count. It has all
  /// constants, except that a latent variable with limits has the density before truncation, and -inf outside them.
  ///
  /// A censored value contributes the probability of its tail. Missing entries of a Normal vector are integrated out,
  /// if some are observed. Returns NaN if the element has no value, or if a discrete value that was read since the last
  /// clear() is missing: see unknown().
  double log_density(const model::Statement& s, const IndexValues& at) const;
  /// Returns log p and log(1 - p) if the expression, a probability p, is the logistic or probit of a number; accurate
  /// even if p rounds to 0 or 1. Returns nothing for other expressions.
  std::optional<std::pair<double, double>> logarithms(model::ExprId probability, const IndexValues& at) const;
  /// Returns the lower and upper limit of a truncated or censored value, infinite where there is none. For a latent
  /// variable these are the limits of truncation; for an observed one they bracket the values that are not censored.
  std::pair<double, double> limits(const model::Statement& s, const IndexValues& at) const;

  /// Returns the first discrete element without a value that an evaluation has read since the last clear(), or nothing
  /// if it read none. A result computed meanwhile is not usable. Sums over discrete variables find out this way what
  /// they must sum over.
  const std::optional<Element>& unknown() const { return unknown_; }
  /// Clears the record of a discrete element without a value, which unknown() returns. Call it before an evaluation.
  void clear() const { unknown_.reset(); }

 private:
  /// Returns the number of elements of a plate.
  std::int64_t size(model::PlateId p) const { return data_.sizes[p.index()]; }
  /// Returns the number of the row of a nested plate that contains this position among the elements of all rows.
  std::int64_t row_of(model::PlateId nested, std::int64_t position) const;
  /// Returns the position along its plate of the element that one index of a reference selects: for the index `z[n]` of
  /// `mu[z[n]]`, the value of z[n], or 0 if it has none. For a nested plate, `row` is the position in its parent, and
  /// the result counts the elements of all rows.
  std::int64_t coordinate(const model::Index& index, std::optional<std::int64_t> row, const IndexValues& at) const;
  /// Returns the offset of the first number that a reference with these indices reads in an array with these axes, of
  /// which the last `event_rank` are event axes. Axes without an index are read from their beginning.
  std::size_t address(const std::vector<model::PlateId>& axes, std::size_t event_rank,
                      const std::vector<model::Index>& indices, const IndexValues& at) const;
  /// Returns the offset, in the packed values of an input, of the first number that a reference to it reads.
  std::size_t given_address(const model::GivenRef& r, const IndexValues& at) const;
  /// Returns the value at an offset in the packed values of a variable. If it is NaN and the variable is discrete, the
  /// element is recorded for unknown(), unless one is recorded already.
  double read(model::VariableId v, std::size_t at) const;

  const model::Model& model_;
  const BoundData& data_;
  std::vector<std::vector<double>> values_;  // by VariableId: the packed values of all elements, NaN where unknown
  /// By GivenId and by VariableId: all axes of each input and variable, event axes last.
  std::vector<std::vector<model::PlateId>> given_axes_, variable_axes_;
  mutable std::optional<Element> unknown_;  // the first discrete element without a value that was read; see unknown()
};

}  // namespace lehr
