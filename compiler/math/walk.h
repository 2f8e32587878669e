// Walks over formulas: the children of a node, and comparisons of subformulas. Lowering uses the comparisons to reuse
// statistics in the formula of an entropy.
#pragma once
#include <vector>

#include "compiler/math/expr.h"

namespace lehr::math {

/// Returns the direct subformulas of a formula. They are the operands of a sum or product, the argument of a function,
/// or the body of a sum over an index. Other nodes have none.
inline std::vector<Expr> children_of(const Expr& e) {
  if (const auto* n = std::get_if<Add>(&e->form)) return {n->left, n->right};
  if (const auto* n = std::get_if<Multiply>(&e->form)) return {n->left, n->right};
  if (const auto* n = std::get_if<Apply>(&e->form)) return {n->argument};
  if (const auto* n = std::get_if<Sum>(&e->form)) return {n->body};
  return {};
}

/// Returns the nodes at or below the root of `e` whose formula equals `to`, for reuse of a value that is computed
/// already. It does not search inside a match.
inline std::vector<const Node*> equal_subformulas(const Expr& e, const Expr& to) {
  if (e == to) return {&*e};
  std::vector<const Node*> out;
  for (const Expr& part : children_of(e)) {
    const std::vector<const Node*> in_it = equal_subformulas(part, to);
    out.insert(out.end(), in_it.begin(), in_it.end());
  }
  return out;
}

/// Returns true if every function call in `e` also occurs in `other`: computing `e` beside `other` then calls no
/// further functions.
inline bool calls_subset_of(const Expr& e, const Expr& other) {
  if (std::holds_alternative<Apply>(e->form)) return !equal_subformulas(other, e).empty();
  for (const Expr& part : children_of(e)) {
    if (!calls_subset_of(part, other)) return false;
  }
  return true;
}

}  // namespace lehr::math
