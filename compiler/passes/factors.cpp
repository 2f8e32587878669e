// Factoring of sums of products, on trees of additions and multiplications.
// A candidate is a load among the factors of the first term. If every other term has an equal factor, it is removed
// from each term, and the rest of the sum is multiplied by it once.
#include "compiler/passes/factors.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/analysis/rewrite.h"

namespace lehr::loops {
namespace {

/// Returns the expression if it is the operation `op` of this type; null otherwise.
const Binary* operation(const Program& p, ExprId e, BinaryOp op, Type type) {
  const auto* x = std::get_if<Binary>(&p[e].node);
  return x && x->op == op && p[e].type == type ? x : nullptr;
}

/// Returns true if two expressions are written alike, so that they have the same value. Of operations other than binary
/// ones and loads, only identical expressions count.
bool same(const Program& p, ExprId a, ExprId b) {
  if (a == b) return true;
  const Expr &x = p[a], &y = p[b];
  if (x.type != y.type || x.node.index() != y.node.index()) return false;
  if (const auto* n = std::get_if<ConstI>(&x.node)) return n->value == std::get<ConstI>(y.node).value;
  if (const auto* n = std::get_if<Get>(&x.node)) return n->scalar == std::get<Get>(y.node).scalar;
  if (const auto* n = std::get_if<Binary>(&x.node)) {
    const auto& m = std::get<Binary>(y.node);
    return n->op == m.op && same(p, n->left, m.left) && same(p, n->right, m.right);
  }
  const auto* n = std::get_if<Load>(&x.node);
  if (!n) return false;
  const auto& m = std::get<Load>(y.node);
  return n->buffer == m.buffer &&
         std::ranges::equal(n->indices, m.indices, [&](ExprId i, ExprId j) { return same(p, i, j); });
}

/// Appends the operands of a tree of one operation to `out`, from left to right.
void flatten(const Program& p, ExprId e, BinaryOp op, std::vector<ExprId>& out) {
  if (const Binary* x = operation(p, e, op, p[e].type)) {
    const ExprId left = x->left, right = x->right;
    flatten(p, left, op, out);
    flatten(p, right, op, out);
  } else {
    out.push_back(e);
  }
}

/// Returns the operands of a tree of one operation: of (a + b) + c the operands a, b and c.
std::vector<ExprId> operands(const Program& p, ExprId e, BinaryOp op) {
  std::vector<ExprId> out;
  flatten(p, e, op, out);
  return out;
}

/// Divides a sum of products by a factor that every term has.
class WithoutFactor {
 public:
  WithoutFactor(Program& p, ExprId factor) : p_(p), factor_(factor) {}

  /// Returns the sum with the factor removed from every term. The additions keep their order.
  ExprId sum(ExprId e) {
    const Type type = p_[e].type;
    const Binary* x = operation(p_, e, BinaryOp::add, type);
    if (!x) return product(e);
    const ExprId left = x->left, right = x->right, first = sum(left);
    return make(p_, type, Binary{BinaryOp::add, first, sum(right)});
  }

 private:
  /// Returns a product without the factor: 1 if nothing else is in it.
  ExprId product(ExprId e) {
    const Type type = p_[e].type;
    std::vector<ExprId> factors = operands(p_, e, BinaryOp::multiply);
    factors.erase(std::ranges::find_if(factors, [&](ExprId f) { return same(p_, f, factor_); }));
    if (factors.empty()) return make(p_, type, ConstF{1});
    ExprId out = factors[0];
    for (std::size_t k = 1; k < factors.size(); ++k)
      out = make(p_, type, Binary{BinaryOp::multiply, out, factors[k]});
    return out;
  }

  Program& p_;
  ExprId factor_;
};

}  // namespace

ExprId factored(Program& p, ExprId sum) {
  const std::vector<ExprId> parts = operands(p, sum, BinaryOp::add);
  if (parts.size() < 2) return sum;
  for (const ExprId factor : operands(p, parts[0], BinaryOp::multiply)) {
    if (!std::holds_alternative<Load>(p[factor].node)) continue;
    const bool in_all = std::ranges::all_of(parts, [&](ExprId part) {
      return std::ranges::any_of(operands(p, part, BinaryOp::multiply), [&](ExprId f) { return same(p, f, factor); });
    });
    if (!in_all) continue;
    const ExprId rest = WithoutFactor(p, factor).sum(sum);
    const Type type = p[sum].type;
    return make(p, type, Binary{BinaryOp::multiply, factor, rest});
  }
  return sum;
}

}  // namespace lehr::loops
