// A convenience layer that writes Loops programs: expressions are hash-consed and lightly folded, statements
// go to the innermost open block. Folding never drops an operand that could be NaN or infinite (0 * x stays).
// Misuse (operands of different types, a statement outside a function) throws std::logic_error: it is a
// mistake of the compiler, never of the user.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/loops/loops.h"

namespace lehr::loops {

union Value;  // operators.h

class Builder {
 public:
  using Body = std::function<void()>;
  using LoopBody = std::function<void(ExprId index)>;
  using Indices = std::vector<ExprId>;
  struct Parameter {
    std::string name;
    Type type = Type::f64;
  };

  // ---- sizes, buffers, scalars ----
  /// An extent known to the code.
  SizeId constant_size(std::string name, std::int64_t value);
  /// An extent read at run time; slots are numbered in order of creation.
  SizeId runtime_size(std::string name);
  SizeId size(Size size);
  BufferId buffer(std::string name, Role role, std::vector<SizeId> axes, Type element = Type::f64);
  /// A scalar without a statement that declares it; `let`, `local`, `for_loop` and `function` call this
  /// themselves.
  ScalarId scalar(std::string name, Type type = Type::f64);

  // ---- expressions ----
  ExprId f(double value);
  ExprId i(std::int64_t value);
  /// A ConstI of type boolean; `select`, `if_then` and the logical operations fold it away.
  ExprId boolean(bool value);
  ExprId get(ScalarId scalar);
  ExprId extent(SizeId size);
  ExprId load(BufferId buffer, Indices indices = {});
  ExprId unary(UnaryOp op, ExprId operand);
  ExprId binary(BinaryOp op, ExprId left, ExprId right);
  ExprId select(ExprId condition, ExprId if_true, ExprId if_false);

  ExprId random(Random r) { return intern(Type::f64, std::move(r)); }

  ExprId add(ExprId a, ExprId b) { return binary(BinaryOp::add, a, b); }
  ExprId sub(ExprId a, ExprId b) { return binary(BinaryOp::subtract, a, b); }
  ExprId mul(ExprId a, ExprId b) { return binary(BinaryOp::multiply, a, b); }
  ExprId div(ExprId a, ExprId b) { return binary(BinaryOp::divide, a, b); }
  ExprId min(ExprId a, ExprId b) { return binary(BinaryOp::minimum, a, b); }
  ExprId max(ExprId a, ExprId b) { return binary(BinaryOp::maximum, a, b); }
  ExprId equal(ExprId a, ExprId b) { return binary(BinaryOp::equal, a, b); }
  ExprId not_equal(ExprId a, ExprId b) { return binary(BinaryOp::not_equal, a, b); }
  ExprId less(ExprId a, ExprId b) { return binary(BinaryOp::less, a, b); }
  ExprId less_equal(ExprId a, ExprId b) { return binary(BinaryOp::less_equal, a, b); }
  ExprId greater(ExprId a, ExprId b) { return less(b, a); }
  ExprId greater_equal(ExprId a, ExprId b) { return less_equal(b, a); }
  ExprId logical_and(ExprId a, ExprId b) { return binary(BinaryOp::logical_and, a, b); }
  ExprId logical_or(ExprId a, ExprId b) { return binary(BinaryOp::logical_or, a, b); }
  ExprId logical_not(ExprId a) { return unary(UnaryOp::logical_not, a); }
  ExprId neg(ExprId a) { return unary(UnaryOp::negate, a); }
  /// The operand itself when it is f64 already.
  ExprId to_f64(ExprId a) { return unary(UnaryOp::to_f64, a); }
  ExprId to_f32(ExprId a) { return unary(UnaryOp::to_f32, a); }
  ExprId exp(ExprId a) { return unary(UnaryOp::exp, a); }
  ExprId log(ExprId a) { return unary(UnaryOp::log, a); }
  ExprId log1p(ExprId a) { return unary(UnaryOp::log1p, a); }
  ExprId logit_curvature(ExprId a) { return unary(UnaryOp::logit_curvature, a); }
  ExprId sqrt(ExprId a) { return unary(UnaryOp::sqrt, a); }
  ExprId digamma(ExprId a) { return unary(UnaryOp::digamma, a); }
  ExprId trigamma(ExprId a) { return unary(UnaryOp::trigamma, a); }
  ExprId lgamma(ExprId a) { return unary(UnaryOp::lgamma, a); }
  ExprId abs(ExprId a) { return unary(UnaryOp::abs, a); }
  ExprId is_nan(ExprId a) { return unary(UnaryOp::is_nan, a); }

  Type type(ExprId e) const { return program_[e].type; }
  /// The value of a ConstF or ConstI, or false.
  bool constant(ExprId e, double& value) const;

  // ---- functions and statements ----
  /// Opens a function; `body` receives the parameters as expressions, in order. Returns its position in the
  /// program.
  std::size_t function(std::string name, const std::vector<Parameter>& parameters,
                       const std::function<void(const Indices& parameters)>& body);
  std::size_t function(std::string name, const Body& body);
  /// The function at `position` runs once a fit.
  void mark_cold(std::size_t position) { program_.functions[position].cold = true; }
  void mark_needed(BufferId buffer, Needed needed) { program_.buffers[buffer.index()].needed = needed; }
  /// Where it says whether that is asked for.
  void ask(Needed what, BufferId flags, std::int64_t at) {
    program_.asked[static_cast<std::size_t>(what)] = {flags, at};
  }
  /// The function at `position` reads sums.
  void keep_before(std::size_t position, const Kept& sums) { program_.functions[position].kept.push_back(sums); }
  /// 32 bits would leave too few digits of what the open function forms.
  void need_double() { double_ = true; }
  bool needs_double(std::size_t position) const { return double_functions_.contains(position); }
  /// 32 bits do where the function at `position` works.
  void mark_single(std::size_t position) { program_.functions[position].single = true; }
  /// An array of the open function, uninitialised at entry; its extents must be constants.
  BufferId local_array(std::string name, std::vector<SizeId> axes, Type element = Type::f64);
  BufferId local_array(std::string name, const std::vector<std::int64_t>& extents, Type element = Type::f64);

  /// A name that nothing else in the program has.
  std::string fresh(const std::string& stem) { return stem + std::to_string(names_++); }
  /// The loop with a fresh index.
  void for_range(const std::string& index, ExprId begin, ExprId end, const LoopBody& body) {
    for_loop(fresh(index), begin, end, body);
  }
  void for_loop(std::string index, ExprId begin, ExprId end, const LoopBody& body, bool independent = false,
                std::int64_t step = 1);
  /// for (index = 0; index < extent; ++index).
  void for_each(std::string index, SizeId extent, const LoopBody& body, bool independent = false);
  /// Evaluates `value` here, once; a literal or a plain `get` of an immutable scalar is returned as it is.
  ExprId let(std::string name, ExprId value);
  ScalarId local(std::string name, ExprId initial);
  void assign(ScalarId scalar, ExprId value);
  void accumulate(ScalarId scalar, ExprId value);
  void store(BufferId buffer, Indices indices, ExprId value);
  void add_to(BufferId buffer, Indices indices, ExprId value);
  void fill(BufferId buffer, ExprId value);
  void if_then(ExprId condition, const Body& then_body);
  void if_rarely(ExprId condition, const Body& then_body);
  void if_rarely_else(ExprId condition, const Body& then_body, const Body& else_body);
  void if_else(ExprId condition, const Body& then_body, const Body& else_body);
  void break_if(ExprId condition);
  void fail(std::int32_t code);
  void fail_if(ExprId condition, std::int32_t code);
  void comment(std::string text);
  void statement(Stmt statement);

  const Program& program() const { return program_; }
  /// The finished program; the builder is empty afterwards.
  Program take();

 private:
  ExprId intern(Type type, decltype(Expr::node) node);
  ExprId of_value(Type type, Value x);
  ExprId fold_unary(UnaryOp op, ExprId operand);
  ExprId fold_binary(BinaryOp op, ExprId left, ExprId right);
  ExprId fold_choice(BinaryOp op, ExprId left, ExprId right);
  /// A choice between two literal constants.
  std::optional<Select> constants(ExprId e) const;
  bool is_literal(ExprId e, double value) const;
  Block collect(const Body& body);
  void write_store(BufferId buffer, Indices indices, ExprId value, bool accumulate);

  Program program_;
  std::map<std::vector<std::int64_t>, ExprId> interned_;
  std::vector<Block> open_;             // innermost last; empty outside functions
  std::vector<bool> mutable_;           // by scalar: declared by `local`
  std::vector<BufferId> local_arrays_;  // of the open function
  bool double_ = false;                 // the same
  std::set<std::size_t> double_functions_;
  std::int32_t slots_ = 0;
  std::int32_t names_ = 0;
};

}  // namespace lehr::loops
