// The arithmetic in expressions of a model, for numbers of any type: real numbers (ModelEvaluator), tables over
// discrete elements (joint_table.cpp) and polynomials (posterior/symbolic.h).
#pragma once
#include "compiler/evaluate/forward.h"

namespace lehr {

/// Returns false: a sum of real numbers is always added up to its end, also if it is NaN. For other types of numbers an
/// overload returns true for a value that no further summand changes, such as a table that is too large; Arithmetic
/// then stops the sum.
constexpr bool is_undefined(double) { return false; }

/// A visitor of expression nodes that evaluates those whose entries are sums and products of entries of their operands,
/// for numbers of any type. It returns entry (i, j) of the node. `Number` has the arithmetic operators and
/// is_undefined(). A Binary is left to the user: which of its operands is evaluated first decides which category
/// without a value ModelEvaluator::unknown names.
template <class Number, class Entry>
struct Arithmetic {
  const ModelEvaluator& evaluator;  // gives sizes of plates and runs over their indices
  const IndexValues& at;            // values of the index variables at which the node is evaluated
  std::size_t i, j;                 // the entry that is evaluated: row (or position in a vector) and column
  Number zero;                      // the number 0, with which sums begin
  Entry entry;                      // function: entry(e, at, i, j) returns an entry of an operand

  /// Returns entry (i, j) of a negated expression, as the overloads do for the other kinds of nodes.
  Number operator()(const model::Negate& n) const { return -entry(n.operand, at, i, j); }
  Number operator()(const model::MatrixVector& m) const { return dot(m.matrix, i, m.vector); }
  Number operator()(const model::Dot& d) const { return dot(d.left, std::nullopt, d.right); }
  Number operator()(const model::SumOver& s) const {
    IndexValues inner = at;
    Number total = zero;
    evaluator.each(s.index_vars, inner, [&] {
      if (!is_undefined(total)) total += entry(s.body, inner, i, j);
    });
    return total;
  }
  Number operator()(const model::Diag& d) const { return i == j ? entry(d.vector, at, i, 0) : zero; }
  Number operator()(const model::Component& c) const {
    return entry(c.vector, at, static_cast<std::size_t>(at[c.at.index()]), 0);
  }

 private:
  /// Returns the inner product of two vectors. With `row`, `left` is a matrix, whose row is the first vector.
  Number dot(model::ExprId left, std::optional<std::size_t> row, model::ExprId right) const {
    Number total = zero;
    for (std::size_t k = 0; k < evaluator.extent_of(right, 0) && !is_undefined(total); ++k) {
      const Number x = row ? entry(left, at, *row, k) : entry(left, at, k, 0), y = entry(right, at, k, 0);
      total += x * y;
    }
    return total;
  }
};
// Deduction from the arguments.
template <class Number, class Entry>
Arithmetic(const ModelEvaluator&, const IndexValues&, std::size_t, std::size_t, Number, Entry)
    -> Arithmetic<Number, Entry>;

}  // namespace lehr
