// What single operations cost, in time and in size.
#include "compiler/analysis/cost_model.h"

#include "compiler/loops/operators.h"

namespace lehr::loops {

double operations_of(const Program& program, ExprId e) {
  if (const auto* x = std::get_if<Unary>(&program[e].node))
    return is_function(x->op) ? kFunctionCost : x->op == UnaryOp::sqrt ? kDivisionCost : 1;
  if (const auto* x = std::get_if<Binary>(&program[e].node)) return x->op == BinaryOp::divide ? kDivisionCost : 1;
  return std::holds_alternative<Select>(program[e].node) ? 1 : 0;
}

std::int64_t nodes_of(const Program& program, ExprId e) {
  const auto* call = std::get_if<Unary>(&program[e].node);
  if (!call) return 1;
  switch (call->op) {
    case UnaryOp::logit_curvature:
      return 20;
    case UnaryOp::exp:
      return kExpNodes;
    case UnaryOp::log:
      return 35;
    case UnaryOp::log1p:
      return 45;
    case UnaryOp::digamma:
    case UnaryOp::trigamma:
      return 70;
    case UnaryOp::lgamma:
      return 90;
    case UnaryOp::negate:
    case UnaryOp::logical_not:
    case UnaryOp::to_f64:
    case UnaryOp::to_f32:
    case UnaryOp::sqrt:
    case UnaryOp::abs:
    case UnaryOp::is_nan:
      return 1;
  }
  return 1;
}

}  // namespace lehr::loops
