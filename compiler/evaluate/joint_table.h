// The values of a number at all joint values of the discrete elements that it depends on. Expressions are evaluated on
// such tables node by node, so that a term costs as much as the elements that it has, and not as all of them.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "compiler/evaluate/forward.h"

namespace lehr {

/// The value of a quantity, such as an expression or a log density, at every joint value of discrete elements.
struct JointTable {
  std::vector<Element> scope;       // the elements, ascending; empty: the quantity depends on none
  std::vector<std::size_t> states;  // how many values each element of `scope` has
  /// At each joint value, row-major, the last element fastest; empty: the table would be too large.
  std::vector<double> values;
};

/// Tabulates log densities over the discrete elements without a value that they depend on, for sums over these
/// elements. It evaluates whole tables, which is faster than the density at each joint value.
class JointTabulator {
 public:
  /// `forward` must outlive the object. It has the values of all elements but those that a table is over, which are
  /// NaN. A table may be over elements for which `is_summed` is true, and over no others.
  JointTabulator(ModelEvaluator& forward, std::function<bool(Element)> is_summed)
      : forward_(forward), is_summed_(std::move(is_summed)) {}

  /// Returns the table of log p(element | parents), for an element that is a number and has a value, over the elements
  /// without a value that it depends on.
  ///
  /// Returns nothing for other elements, and for statements with limits or with parts (a mixture). Nor is there a table
  /// if it would have more than 65,536 entries, or if it depends on an element that may not be in a table. The density
  /// must be a formula of numbers alone, and no parameter may be the logistic or probit of a number, since the accurate
  /// logarithms of such a probability (ModelEvaluator::logarithms) have no table.
  std::optional<JointTable> log_density(const model::Statement& s, const IndexValues& at);

 private:
  /// Returns the values of one entry of an expression at all joint values of the discrete elements that it reads,
  /// combined from the tables of its operands. The table has no values if it would be too large. If `failed_` is set,
  /// the returned table is not a result.
  JointTable entry(model::ExprId id, const IndexValues& at, std::size_t i, std::size_t j);
  /// Returns the values of one entry of an expression at all joint values of the discrete elements that it reads, by
  /// evaluating the whole expression at each of them. entry() calls it for expressions that it cannot combine from
  /// tables of operands, such as a reference with a category as index.
  JointTable enumerated(model::ExprId id, const IndexValues& at, std::size_t i, std::size_t j);

  ModelEvaluator& forward_;
  std::function<bool(Element)> is_summed_;
  bool failed_ = false;  // true: the last log density has no table
};

}  // namespace lehr
