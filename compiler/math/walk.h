// The children of a formula, for passes that visit a whole tree.
#pragma once
#include <vector>

#include "compiler/math/expr.h"

namespace lehr::math {

/// Both sides of a sum or product, what a function is applied to, the body of a sum over an index; otherwise nothing.
inline std::vector<Expr> children_of(const Expr& e) {
  if (const auto* n = std::get_if<Add>(&e->form)) return {n->left, n->right};
  if (const auto* n = std::get_if<Multiply>(&e->form)) return {n->left, n->right};
  if (const auto* n = std::get_if<Apply>(&e->form)) return {n->argument};
  if (const auto* n = std::get_if<Sum>(&e->form)) return {n->body};
  return {};
}

/// The parts of a formula that are the same as another; the outermost alone.
inline std::vector<const Node*> equal_parts(const Expr& e, const Expr& to) {
  if (e == to) return {&*e};
  std::vector<const Node*> out;
  for (const Expr& part : children_of(e)) {
    const std::vector<const Node*> in_it = equal_parts(part, to);
    out.insert(out.end(), in_it.begin(), in_it.end());
  }
  return out;
}

/// Whether all functions that are called for a formula are so for another.
inline bool calls_no_others(const Expr& e, const Expr& other) {
  if (std::holds_alternative<Apply>(e->form)) return !equal_parts(other, e).empty();
  for (const Expr& part : children_of(e)) {
    if (!calls_no_others(part, other)) return false;
  }
  return true;
}

}  // namespace lehr::math
