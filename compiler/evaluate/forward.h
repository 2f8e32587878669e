// Numeric evaluation of a model at concrete values of its variables: expressions, parameters of distributions and
// log densities of single elements. Slow and obvious beside the generated code; what simulation, held-out scores and
// normalisers by sampling are made of.
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "compiler/math/evaluate.h"
#include "compiler/model/bind.h"
#include "compiler/model/model.h"

namespace lehr {

/// Where the bounds stand, by BoundId. A bound of a nested plate stands at a position among the elements of all rows.
using At = std::vector<std::int64_t>;

/// A number (no axes), a vector or a row-major matrix.
struct Tensor {
  std::vector<std::size_t> shape;
  std::vector<double> values;
};

/// An element of a variable: its position in the packed order of BoundArray, event axes left out.
struct Element {
  model::VariableId variable;
  std::size_t position = 0;
  auto operator<=>(const Element&) const = default;
};

class Forward {
 public:
  /// Observed variables have their data as values; all others are NaN, which means unknown. Model and data must outlive
  /// the object. Auxiliary variables are passed over: expressions never name them.
  Forward(const model::Model& model, const BoundData& data);

  const model::Model& model() const { return model_; }
  const BoundData& data() const { return data_; }

  /// All values of a variable, packed as a BoundArray.
  std::span<double> values(model::VariableId v) { return values_[v.index()]; }
  std::span<const double> values(model::VariableId v) const { return values_[v.index()]; }
  /// The numbers of one element: 1, the size of the event axis, or its square.
  std::span<double> values(Element e) {
    return values(e.variable).subspan(e.position * width(e.variable), width(e.variable));
  }
  std::span<const double> values(Element e) const {
    return values(e.variable).subspan(e.position * width(e.variable), width(e.variable));
  }
  std::size_t elements(model::VariableId v) const;
  std::size_t width(model::VariableId v) const;
  /// Size of the event axis, the number of values of a category, otherwise 1.
  std::size_t extent(model::VariableId v) const;

  /// The number of values of a discrete variable, and its k-th one: categories in order, 0 and 1, -1 and +1.
  std::size_t states(model::VariableId v) const;
  double state(model::VariableId v, std::size_t k) const;

  /// The element that an expression names, a whole simplex, vector or matrix of a continuous variable; nothing where
  /// the expression is another one.
  std::optional<Element> named(model::ExprId id, const At& at) const;

  /// Position of the first number that a reference reads, categories of its indices as they are.
  std::size_t variable_address(const model::VariableRef& r, const At& at) const;

  /// Positions of the first and after the last element that a reference reads, categories of its indices as they are.
  std::pair<std::size_t, std::size_t> read_by(const model::VariableRef& r, const At& at) const;

  /// Every bound at 0.
  At origin() const { return At(model_.bounds.size(), 0); }
  /// The bounds of the element's own statement at the element, all others at 0.
  At at(Element e) const;
  /// The element that a statement is about where its bounds stand.
  Element element(const model::Statement& s, const At& at) const;
  /// Visits all positions of `bounds`, the last one fastest (the packed order of elements), with `at` moved to each.
  /// With `fixed`, only those where that bound has that value. Bounds not listed stay where they stand.
  void each(std::span<const model::BoundId> bounds, At& at, const std::function<void()>& visit,
            std::optional<std::pair<model::BoundId, std::int64_t>> fixed = {}) const;

  Tensor value(model::ExprId e, const At& at) const;
  /// One entry of an expression; a number stands for all entries of a vector.
  double entry(model::ExprId e, const At& at, std::size_t i = 0, std::size_t j = 0) const;

  /// `start` at the first element of the chain, of a mixture the part that it is of, otherwise `main`.
  const model::Distribution& distribution(const model::Statement& s, const At& at) const;
  /// The canonical density parameters, with the extent of the statement's variable.
  math::Environment parameters(const model::Statement& s, const At& at) const;
  /// log p(element | its parents) of the element that `s` is about at `at`, constants included. Multiplicities play no
  /// part.
  double log_density(const model::Statement& s, const At& at) const;
  /// What the value lies between, infinite where nothing is said: a censored one is known up to its limits.
  std::pair<double, double> limits(const model::Statement& s, const At& at) const;

  /// The first discrete element without a value that was read since the last clear(): what came out then is no number
  /// to use. Sums over discrete variables find out by it what they must sum over.
  const std::optional<Element>& unknown() const { return unknown_; }
  void clear() const { unknown_.reset(); }

 private:
  std::int64_t size(model::PlateId p) const { return data_.sizes[p.index()]; }
  std::int64_t row_of(model::PlateId nested, std::int64_t position) const;
  std::int64_t coordinate(const model::Index& index, std::optional<std::int64_t> row, const At& at) const;
  std::size_t address(const std::vector<model::PlateId>& axes, std::size_t event_rank,
                      const std::vector<model::Index>& indices, const At& at) const;
  std::size_t given_address(const model::GivenRef& r, const At& at) const;
  double read(model::VariableId v, std::size_t at) const;
  /// log p and log(1 - p) where p is a link of a number, whatever p rounds to.
  std::optional<std::pair<double, double>> logarithms(model::ExprId probability, const At& at) const;
  double sum(const model::SumOver& s, const At& at, std::size_t i, std::size_t j) const;

  const model::Model& model_;
  const BoundData& data_;
  std::vector<std::vector<double>> values_;                              // by VariableId
  std::vector<std::vector<model::PlateId>> given_axes_, variable_axes_;  // event axes included
  mutable std::optional<Element> unknown_;
};

}  // namespace lehr
