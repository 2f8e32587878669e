// The values of a number at all joint values of the discrete elements that it depends on. Expressions are evaluated on
// such tables node by node, so that a term costs as much as the elements that it has, and not as all of them.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "compiler/evaluate/forward.h"

namespace lehr {

/// A number for every joint value of discrete elements.
struct JointTable {
  std::vector<Element> scope;       // the elements, ascending; empty: the number depends on none
  std::vector<std::size_t> states;  // how many values each of them has
  std::vector<double> values;       // row-major, the last element fastest
};

/// Tabulates log densities over the unknown discrete elements that they depend on.
class JointTabulator {
 public:
  /// The evaluator has the values of everything else, and must outlive the object. `is_summed` holds for the elements
  /// that may be in a table.
  JointTabulator(ModelEvaluator& forward, std::function<bool(Element)> is_summed)
      : forward_(forward), is_summed_(std::move(is_summed)) {}

  /// Returns log p(element | parents) of a known number. Returns nothing if it depends on an element that may not be in
  /// a table, if the table would be large, or where the family has no formula of numbers alone.
  std::optional<JointTable> log_density(const model::Statement& s, const IndexValues& at);

 private:
  /// Returns one entry of an expression.
  JointTable entry(model::ExprId id, const IndexValues& at, std::size_t i, std::size_t j);
  /// Returns one entry of an expression by evaluating it at every joint value.
  JointTable enumerated(model::ExprId id, const IndexValues& at, std::size_t i, std::size_t j);

  ModelEvaluator& forward_;
  std::function<bool(Element)> is_summed_;
  bool failed_ = false;  // true: the last log density has no table
};

}  // namespace lehr
