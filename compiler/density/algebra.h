// Index and coefficient expressions, hash-consed: structural equality is equality of ids.
//
// An index expression never mentions a latent value: latent indices were replaced by selectors (density.h).
// A coefficient is a real number known when the data and the sizes are known, a derived array of the schedule
// included; it never mentions a random variable. Both may mention bounds.
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

using IndexId = Id<struct IndexTag>;
using CoefId = Id<struct CoefTag>;
using BoundId = Id<struct DensityBoundTag>;
/// A derived array of the schedule (statistic or table); densities as expanded have none.
using ArrayId = Id<struct ArrayTag>;

/// A summation index; its name is for printing only.
struct Bound {
  std::string name;
  model::PlateId plate;           // as declared (nested plates keep their own), aliases resolved
  std::optional<IndexId> parent;  // nested plates: the element of the parent plate
  bool selector = false;          // ranges over the values of a latent category
};

/// Data that an index or coefficient reads: a given, or an observed variable.
using DataSource = std::variant<model::GivenId, model::VariableId>;

struct IndexBound {
  BoundId bound;
  std::int64_t offset = 0;
  auto operator<=>(const IndexBound&) const = default;
};
struct IndexConstant {
  std::int64_t value;
  auto operator<=>(const IndexConstant&) const = default;
};
struct IndexLookup {
  DataSource source;
  std::vector<IndexId> indices;
  auto operator<=>(const IndexLookup&) const = default;
};
/// The coordinate of a joint variable (model::Auxiliary) that an entry of one of its members is: `indices` over the
/// member's own axes, then its event axes.
struct IndexCoordinate {
  model::VariableId joint;
  std::size_t member;
  std::vector<IndexId> indices;
  auto operator<=>(const IndexCoordinate&) const = default;
};
using IndexNode = std::variant<IndexBound, IndexConstant, IndexLookup, IndexCoordinate>;

using math::Function;

struct CoefNumber {
  double value;
  auto operator<=>(const CoefNumber&) const = default;
};
struct CoefConstant {
  model::ConstantId constant;
  auto operator<=>(const CoefConstant&) const = default;
};
/// One entry: plate axes, then event axes.
struct CoefData {
  DataSource source;
  std::vector<IndexId> indices;
  auto operator<=>(const CoefData&) const = default;
};
struct CoefArray {
  ArrayId array;
  std::vector<IndexId> indices;
  auto operator<=>(const CoefArray&) const = default;
};
struct CoefExtent {
  model::PlateId plate;
  std::optional<IndexId> row;
  auto operator<=>(const CoefExtent&) const = default;
};
struct CoefIndexValue {
  IndexId index;
  auto operator<=>(const CoefIndexValue&) const = default;
};
struct CoefAdd {
  std::vector<CoefId> parts;
  auto operator<=>(const CoefAdd&) const = default;
};
struct CoefMultiply {
  std::vector<CoefId> parts;
  auto operator<=>(const CoefMultiply&) const = default;
};
struct CoefApply {
  Function function;
  CoefId argument;
  auto operator<=>(const CoefApply&) const = default;
};
struct CoefSum {
  BoundId bound;
  CoefId body;
  auto operator<=>(const CoefSum&) const = default;
};
/// Entry of the inverse, log determinant, of the data matrix whose leading indices are given.
struct CoefInverse {
  DataSource matrix;
  std::vector<IndexId> lead;
  IndexId row, column;
  auto operator<=>(const CoefInverse&) const = default;
};
struct CoefLogDet {
  DataSource matrix;
  std::vector<IndexId> lead;
  auto operator<=>(const CoefLogDet&) const = default;
};
using CoefNode = std::variant<CoefNumber, CoefConstant, CoefData, CoefArray, CoefExtent, CoefIndexValue, CoefAdd,
                              CoefMultiply, CoefApply, CoefSum, CoefInverse, CoefLogDet>;

/// The arena of bounds, index and coefficient expressions that the terms of one model share.
class Algebra {
 public:
  BoundId bound(Bound b);
  BoundId fresh_like(BoundId b, std::optional<IndexId> parent);

  IndexId index(IndexNode node);
  IndexId index(BoundId b, std::int64_t offset = 0) { return index(IndexBound{b, offset}); }

  CoefId coef(CoefNode node);
  CoefId number(double v) { return coef(CoefNumber{v}); }
  CoefId add(const std::vector<CoefId>& summands);
  CoefId add(CoefId a, CoefId b) { return add({a, b}); }
  CoefId multiply(const std::vector<CoefId>& factors);
  CoefId multiply(CoefId a, CoefId b) { return multiply({a, b}); }
  CoefId apply(Function f, CoefId a);

  const Bound& operator[](BoundId id) const { return bounds_[id.index()]; }
  const IndexNode& operator[](IndexId id) const { return indices_[id.index()]; }
  const CoefNode& operator[](CoefId id) const { return coefs_[id.index()]; }

  /// The value of a coefficient that is a literal number.
  std::optional<double> literal(CoefId c) const;
  /// The factors of a coefficient: the parts of a product, otherwise itself.
  std::vector<CoefId> factors(CoefId c) const;

  /// Free bounds, ascending.
  const std::vector<BoundId>& bounds_of(IndexId i) const { return index_bounds_[i.index()]; }
  const std::vector<BoundId>& bounds_of(CoefId c) const { return coef_bounds_[c.index()]; }
  template <class Expression>
  bool mentions(Expression e, BoundId b) const {
    return std::binary_search(bounds_of(e).begin(), bounds_of(e).end(), b);
  }
  template <class Expression>
  void collect(Expression e, std::set<BoundId>& out) const {
    out.insert(bounds_of(e).begin(), bounds_of(e).end());
  }

  /// Replaces bounds (and, with `lookups`, whole index expressions) inside an expression.
  using Substitution = std::function<std::optional<IndexId>(IndexId)>;
  IndexId substitute(IndexId i, const Substitution& s);
  CoefId substitute(CoefId c, const Substitution& s);
  /// Substitution of one bound by an index expression; offsets add up.
  Substitution replace(BoundId b, IndexId by);

 private:
  std::vector<BoundId> find_bounds(const IndexNode& node) const;
  std::vector<BoundId> find_bounds(const CoefNode& node) const;

  std::vector<Bound> bounds_;
  std::vector<IndexNode> indices_;
  std::vector<CoefNode> coefs_;
  std::vector<std::vector<BoundId>> index_bounds_, coef_bounds_;
  std::map<IndexNode, IndexId> index_ids_;
  std::map<CoefNode, CoefId> coef_ids_;
};

}  // namespace lehr::density
