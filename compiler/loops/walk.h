// The visitor of Loops: a walk over statements and expressions that calls back for each expression, array and scalar.
// It is for analyses; what changes programs is in compiler/analysis/rewrite.h.
#pragma once
#include <limits>
#include <variant>
#include <vector>

#include "compiler/loops/loops.h"

namespace lehr::loops {

/// How a statement or expression uses a scalar; Walk passes it to the callback `on_scalar`.
enum class ScalarUse { read, declared, assigned };

/// A callback for Walk that does nothing, for analyses to which scalars do not matter.
struct IgnoreScalars {
  void operator()(ScalarId, ScalarUse) const {}
};

/// Walks over expressions and blocks. Calls `on_expr(ExprId)` for every expression, before its operands;
/// `on_buffer(BufferId, bool stored)` for every access of an array; `on_scalar(ScalarId, ScalarUse)` for every use of a
/// scalar. An expression that occurs several times is walked once in the life of the object, as expressions are shared.
template <class OnExpr, class OnBuffer, class OnScalar = IgnoreScalars>
struct Walk {
  const Program& program;
  OnExpr on_expr;
  OnBuffer on_buffer;
  OnScalar on_scalar = {};
  std::vector<bool> seen = {};                                          // by expression: it was walked
  std::size_t largest_block = std::numeric_limits<std::size_t>::max();  // a block with more statements is not entered
  bool stops = false;                                                   // a Fail or BreakIf was met

  /// Visits an expression and its operands, and calls the callbacks for each. An expression that was visited before is
  /// left out.
  void expr(ExprId id) {
    if (id.index() >= seen.size()) seen.resize(program.exprs.size());
    if (seen[id.index()]) return;
    seen[id.index()] = true;
    on_expr(id);
    std::visit([&](const auto& node) { children(node); }, program[id].node);
  }
  // Each walks the operands of a node.
  void children(const ConstF&) {}
  void children(const ConstI&) {}
  void children(const Get& n) { on_scalar(n.scalar, ScalarUse::read); }
  void children(const Extent&) {}
  void children(const Load& n) { element(n.buffer, n.indices, false); }
  void children(const Unary& n) { expr(n.operand); }
  void children(const Binary& n) {
    expr(n.left);
    expr(n.right);
  }
  void children(const Random& n) {
    on_buffer(n.key, false);
    for (ExprId x : {n.element, n.component, n.a, n.b})
      expr(x);
  }
  void children(const Select& n) {
    expr(n.condition);
    expr(n.if_true);
    expr(n.if_false);
  }
  /// Visits an access of an array element: calls `on_buffer`, then visits the indices. `stored` says whether the access
  /// writes.
  void element(BufferId buffer, const std::vector<ExprId>& indices, bool stored) {
    on_buffer(buffer, stored);
    for (ExprId index : indices)
      expr(index);
  }

  /// Visits every statement of a block, and of the blocks inside them, and calls the callbacks for the expressions,
  /// arrays and scalars there. Blocks of more than `largest_block` statements are left out.
  void block(const Block& statements) {
    if (statements.size() > largest_block) return;
    for (const Stmt& s : statements)
      std::visit([&](const auto& node) { statement(node); }, s.node);
  }
  // Each walks one statement.
  void statement(const For& n) {
    on_scalar(n.index, ScalarUse::declared);
    expr(n.begin);
    expr(n.end);
    block(n.body);
  }
  /// Visits a statement that declares or changes a scalar: calls `on_scalar`, then visits the value.
  void scalar(ScalarId id, ScalarUse how, ExprId value) {
    on_scalar(id, how);
    expr(value);
  }
  void statement(const Let& n) { scalar(n.scalar, ScalarUse::declared, n.value); }
  void statement(const Local& n) { scalar(n.scalar, ScalarUse::declared, n.initial); }
  void statement(const Assign& n) { scalar(n.scalar, ScalarUse::assigned, n.value); }
  void statement(const Accumulate& n) { scalar(n.scalar, ScalarUse::assigned, n.value); }
  void statement(const Store& n) {
    element(n.buffer, n.indices, true);
    expr(n.value);
  }
  void statement(const Fill& n) {
    on_buffer(n.buffer, true);
    expr(n.value);
  }
  void statement(const If& n) {
    expr(n.condition);
    block(n.then_block);
    block(n.else_block);
  }
  void statement(const BreakIf& n) {
    stops = true;
    expr(n.condition);
  }
  void statement(const Fail&) { stops = true; }
  void statement(const Comment&) {}
};

// Deduction from the callbacks.
template <class OnExpr, class OnBuffer>
Walk(const Program&, OnExpr, OnBuffer) -> Walk<OnExpr, OnBuffer>;
template <class OnExpr, class OnBuffer, class OnScalar>
Walk(const Program&, OnExpr, OnBuffer, OnScalar) -> Walk<OnExpr, OnBuffer, OnScalar>;

/// Calls `body` with every statement of a block and, after each loop or branch, with those inside it.
template <class Body>
void each_statement(const Block& block, const Body& body) {
  for (const Stmt& s : block) {
    body(s);
    if (const auto* loop = std::get_if<For>(&s.node)) each_statement(loop->body, body);
    if (const auto* branch = std::get_if<If>(&s.node)) {
      each_statement(branch->then_block, body);
      each_statement(branch->else_block, body);
    }
  }
}

}  // namespace lehr::loops
