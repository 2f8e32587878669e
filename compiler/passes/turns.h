// Turns of a loop that stand side by side: arrays with an element for each of them, and statements for each.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "compiler/passes/side_by_side.h"

namespace lehr::loops {

/// Makes statements and expressions of one turn after the other, or of the turn of a loop over them.
class Turns {
 public:
  /// States something of the turn that is being written.
  using EachTurn = std::function<void(Block& out)>;

  Turns(Program& program, const Arrangement& how);

  // ---- making things ----
  ExprId make(Type type, decltype(Expr::node) node);
  ExprId f(double value) { return make(Type::f64, ConstF{value}); }
  ExprId i(std::int64_t value) { return make(Type::i64, ConstI{value}); }
  ExprId get(ScalarId s) { return make(p_[s].type, Get{s}); }
  ExprId load(BufferId b, std::vector<ExprId> at) { return make(p_[b].element, Load{b, std::move(at)}); }
  ExprId binary(BinaryOp op, ExprId a, ExprId b) { return make(p_[a].type, Binary{op, a, b}); }
  ExprId less(ExprId a, ExprId b) { return make(Type::boolean, Binary{BinaryOp::less, a, b}); }
  ExprId both(ExprId a, ExprId b) { return make(Type::boolean, Binary{BinaryOp::logical_and, a, b}); }
  ExprId select(ExprId c, ExprId a, ExprId b) { return make(p_[a].type, Select{c, a, b}); }
  ScalarId scalar(const std::string& stem, Type type);
  /// With one more axis; on the stack where all are short enough together.
  BufferId array(const std::string& stem, std::vector<SizeId> axes, Type type);
  /// An array on the stack whose axes are as they are given.
  BufferId array_as_given(std::string name, std::vector<SizeId> axes, Type type);

  // ---- turns ----
  /// What is stated once for each turn, and not in a loop over them.
  bool written_out() const { return how_.written_out && !waiting_; }
  /// Whether all have something to do.
  bool are_full() const { return how_.fewest >= how_.turns; }
  /// Statements for every turn.
  void turns(Block& out, const EachTurn& each, bool independent = true);
  /// In a loop over the turns, where they are written out else.
  void in_loop(Block& out, const EachTurn& each, bool independent);
  ExprId turn() { return is_number() ? i(turn_) : get(turn_index_); }
  /// Tells the turn that is being written, or the loop over turns, from others.
  std::int64_t turn_key() const;
  ExprId of_turn(BufferId b, std::vector<ExprId> at = {}) { return load(b, with_turn(b, std::move(at))); }
  Stmt put(BufferId b, std::vector<ExprId> at, ExprId value, bool accumulate = false) {
    return Stmt{Store{b, with_turn(b, std::move(at)), value, accumulate}};
  }
  std::vector<ExprId> with_turn(BufferId b, std::vector<ExprId> at);

  // ---- all of an array ----
  struct Nest {
    std::vector<ScalarId> indices;
    std::vector<ExprId> place, ends;
  };
  /// Loops over the axes of an array.
  Nest over(const std::vector<SizeId>& axes);
  static void append(Block& to, Block more);
  Block nested(const Nest& nest, Block inner);

 protected:
  Program& p_;
  const Arrangement how_;
  SizeId turns_;
  ScalarId first_;                  // of the turns that stand together
  std::int64_t from_ = 0, to_ = 0;  // the turns that are being written out
  bool waiting_ = false;            // turns that are written out else stand in lanes
  std::vector<BufferId> on_stack_;

 private:
  bool is_number() const { return how_.written_out && !in_loop_; }

  std::int64_t turn_ = 0;  // that is being written out
  ScalarId turn_index_;    // of the loop over turns that is being written
  bool in_loop_ = false;   // over turns
  std::int64_t on_stack_numbers_ = 0;
};

}  // namespace lehr::loops
