// The visitor of Loops: a walk over statements and expressions that calls back for each expression, array and scalar.
// It is for analyses; what changes programs is in compiler/analysis/rewrite.h.
#pragma once
#include <limits>
#include <span>
#include <type_traits>
#include <variant>
#include <vector>

#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Calls `visit` with each direct operand of the node of an expression, in order; those of a load are its indices. If
/// the node is not const, `visit` may change its operands. Walks over expressions and copies of them use it.
template <class Node, class Visit>
void each_operand(Node& node, const Visit& visit) {
  const auto all = [&](auto&... operands) { (visit(operands), ...); };
  const auto of = [&](auto& n) {
    using T = std::remove_cvref_t<decltype(n)>;
    if constexpr (std::is_same_v<T, Load>) {
      for (auto& index : n.indices)
        visit(index);
    } else if constexpr (std::is_same_v<T, Unary>) {
      all(n.operand);
    } else if constexpr (std::is_same_v<T, Binary>) {
      all(n.left, n.right);
    } else if constexpr (std::is_same_v<T, Select>) {
      all(n.condition, n.if_true, n.if_false);
    } else if constexpr (std::is_same_v<T, Random>) {
      all(n.element, n.component, n.a, n.b);
    } else {
      static_assert(std::is_same_v<T, ConstF> || std::is_same_v<T, ConstI> || std::is_same_v<T, Get> ||
                    std::is_same_v<T, Extent>);
    }
  };
  std::visit(of, node);
}

/// Returns true if `holds` is true of a direct operand of the expression. It is not called for operands after that one.
template <class Predicate>
bool any_operand(const Expr& e, const Predicate& holds) {
  bool found = false;
  each_operand(e.node, [&](ExprId operand) { found = found || holds(operand); });
  return found;
}

/// How a statement or expression uses a scalar. `read`: its value is used; `declared`: by a Let, Local or loop;
/// `assigned`: by an Assign or Accumulate. Walk passes it to `on_scalar`.
enum class ScalarUse { read, declared, assigned };

/// A callback for Walk that does nothing, for analyses to which scalars do not matter.
struct IgnoreScalars {
  void operator()(ScalarId, ScalarUse) const {}
};

/// Walks over expressions and blocks. Calls `on_expr(ExprId)` for every expression, before its operands;
/// `on_buffer(BufferId, bool stored)` for every access of an array (`stored` is true for stores, additions and fills);
/// `on_scalar(ScalarId, ScalarUse)` for every use of a scalar. An expression that occurs several times is walked once
/// in the life of the object, as expressions are shared.
template <class OnExpr, class OnBuffer, class OnScalar = IgnoreScalars>
struct Walk {
  const Program& program;       // the program that is walked
  OnExpr on_expr;               // called for each expression
  OnBuffer on_buffer;           // called for each access of an array
  OnScalar on_scalar = {};      // called for each use of a scalar
  std::vector<bool> seen = {};  // by expression: it has been walked and is skipped from now on
  std::size_t largest_block = std::numeric_limits<std::size_t>::max();  // blocks with more statements are not entered
  bool stops = false;                                                   // set when the walk meets a Fail or BreakIf

  /// Visits an expression and its operands, and calls the callbacks for each. An expression that was visited before is
  /// left out.
  void expr(ExprId id) {
    if (id.index() >= seen.size()) seen.resize(program.exprs.size());
    if (seen[id.index()]) return;
    seen[id.index()] = true;
    on_expr(id);
    const Expr& e = program[id];
    if (const auto* get = std::get_if<Get>(&e.node)) on_scalar(get->scalar, ScalarUse::read);
    if (const auto* load = std::get_if<Load>(&e.node)) on_buffer(load->buffer, false);
    if (const auto* random = std::get_if<Random>(&e.node)) on_buffer(random->key, false);
    each_operand(e.node, [&](ExprId operand) { expr(operand); });
  }
  /// Visits an access of an array element: calls `on_buffer`, then walks the indices. `stored`: the access is a store
  /// or an addition.
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
  /// Visits one statement, the blocks in it and its expressions. One overload for each kind; Fail and BreakIf set
  /// `stops`.
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

/// Calls `body` with every statement of a block or a part of one, those inside loops and branches included: each loop
/// or branch before its contents.
template <class Body>
void each_statement(std::span<const Stmt> statements, const Body& body) {
  for (const Stmt& s : statements) {
    body(s);
    if (const auto* loop = std::get_if<For>(&s.node)) each_statement(loop->body, body);
    if (const auto* branch = std::get_if<If>(&s.node)) {
      each_statement(branch->then_block, body);
      each_statement(branch->else_block, body);
    }
  }
}

}  // namespace lehr::loops
