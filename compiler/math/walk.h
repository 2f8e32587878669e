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

}  // namespace lehr::math
