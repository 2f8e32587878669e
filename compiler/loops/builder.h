// The builder of Loops programs, like LLVM's IRBuilder. Expressions are hash-consed (equal ones have one id) and
// lightly folded; statements go to the end of the innermost open block. Folding never drops an operand that could be
// NaN or infinite (0 * x stays). Misuse (operands of different types, a statement outside a function) throws
// std::logic_error: it is a defect of the compiler, never of the user's model. A loop that sums x:
//
//     ScalarId sum = b.local("sum", b.f(0));
//     b.for_each("n", size, [&](ExprId n) { b.accumulate(sum, b.load(x, {n})); });
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

/// Builds one program of Loops, for lowering and the parser. Bodies of loops, branches and functions are callbacks that
/// write statements while their block is open. Names need not be unique unless a comment says so.
class Builder {
 public:
  /// A function that emits the statements of a block.
  using Body = std::function<void()>;
  /// A function that emits the statements of a loop's body, given the loop index as an expression.
  using LoopBody = std::function<void(ExprId index)>;
  /// Indices into an array, one for each axis, of type i64.
  using Indices = std::vector<ExprId>;
  /// The name and type (i64 or f64) of one parameter of a function that Builder::function() makes.
  struct Parameter {
    std::string name;       // of the scalar in printed loops; need not be unique
    Type type = Type::f64;  // i64 or f64
  };

  // ---- sizes, buffers, scalars ----

  /// Declares the extent of an axis as a constant that the code has as a literal, and returns its id.
  SizeId constant_size(std::string name, std::int64_t value);
  /// Declares the extent of an axis that the code reads at run time, from the next free slot of the table of sizes.
  SizeId runtime_size(std::string name);
  /// Declares the extent of an axis as `size` describes it: a constant, or a number read at run time from the slot in
  /// it.
  SizeId size(Size size);
  /// Declares an array with the axes in memory order. If another array has the name already, the new one gets a number
  /// after it ("weights 2"): users may give their data the names that the compiler gives to its arrays.
  BufferId buffer(std::string name, Role role, std::vector<SizeId> axes, Type element = Type::f64);
  /// Declares an array as `buffer` describes it. If another array has the name already, the new one gets a number after
  /// it ("weights 2").
  BufferId buffer(Buffer buffer);
  /// Adds a scalar to the program without a statement that declares it, for code that makes such statements itself.
  /// `let`, `local`, `for_loop` and `function` call this.
  ScalarId scalar(std::string name, Type type = Type::f64);

  // ---- expressions ----

  /// Returns a literal of type f64.
  ExprId f(double value);
  /// Returns a literal of type i64.
  ExprId i(std::int64_t value);
  /// Returns a literal of type boolean; `select`, `if_then` and the logical operations fold it away.
  ExprId boolean(bool value);
  /// Returns an expression for the value of a scalar.
  ExprId get(ScalarId scalar);
  /// Returns the extent as an i64 expression: a literal if it is constant.
  ExprId extent(SizeId size);
  /// Returns an expression for the value of an array's element; throws unless there is one index for each axis.
  ExprId load(BufferId buffer, Indices indices = {});
  /// Returns an expression for the operator applied to the operand, folded where possible. Throws if the operator does
  /// not accept that type.
  ExprId unary(UnaryOp op, ExprId operand);
  /// Returns an expression for the operator applied to two operands, folded where possible. Throws unless both have one
  /// type that the operator accepts.
  ExprId binary(BinaryOp op, ExprId left, ExprId right);
  /// Returns an expression that is `if_true` where the bool `condition` is true and `if_false` elsewhere; both have one
  /// type. Folded if the condition is a literal or both sides are the same.
  ExprId select(ExprId condition, ExprId if_true, ExprId if_false);

  /// Returns the id of an expression with this type and node, neither checked nor folded: the parser's way in. Adds it
  /// to the program if no equal one is there.
  ExprId intern(Type type, decltype(Expr::node) node);

  /// Returns an f64 expression for the random number that `r` describes: distribution, key, place in the code, element
  /// and arguments.
  ExprId random(Random r) { return intern(Type::f64, std::move(r)); }

  /// Returns an expression for a + b.
  ExprId add(ExprId a, ExprId b) { return binary(BinaryOp::add, a, b); }
  /// Returns an expression for a - b.
  ExprId sub(ExprId a, ExprId b) { return binary(BinaryOp::subtract, a, b); }
  /// Returns an expression for a * b.
  ExprId mul(ExprId a, ExprId b) { return binary(BinaryOp::multiply, a, b); }
  /// Returns an expression for a / b; both must be reals.
  ExprId div(ExprId a, ExprId b) { return binary(BinaryOp::divide, a, b); }
  /// Returns an expression for the smaller of a and b.
  ExprId min(ExprId a, ExprId b) { return binary(BinaryOp::minimum, a, b); }
  /// Returns an expression for the larger of a and b.
  ExprId max(ExprId a, ExprId b) { return binary(BinaryOp::maximum, a, b); }
  /// Returns a bool expression for a == b.
  ExprId equal(ExprId a, ExprId b) { return binary(BinaryOp::equal, a, b); }
  /// Returns a bool expression for a != b.
  ExprId not_equal(ExprId a, ExprId b) { return binary(BinaryOp::not_equal, a, b); }
  /// Returns a bool expression for a < b.
  ExprId less(ExprId a, ExprId b) { return binary(BinaryOp::less, a, b); }
  /// Returns a bool expression for a <= b.
  ExprId less_equal(ExprId a, ExprId b) { return binary(BinaryOp::less_equal, a, b); }
  /// Returns a bool expression for a > b.
  ExprId greater(ExprId a, ExprId b) { return less(b, a); }
  /// Returns a bool expression for a >= b.
  ExprId greater_equal(ExprId a, ExprId b) { return less_equal(b, a); }
  /// Returns a bool expression for a and b.
  ExprId logical_and(ExprId a, ExprId b) { return binary(BinaryOp::logical_and, a, b); }
  /// Returns a bool expression for a or b.
  ExprId logical_or(ExprId a, ExprId b) { return binary(BinaryOp::logical_or, a, b); }
  /// Returns a bool expression for not a.
  ExprId logical_not(ExprId a) { return unary(UnaryOp::logical_not, a); }
  /// Returns an expression for -a.
  ExprId neg(ExprId a) { return unary(UnaryOp::negate, a); }
  /// Returns an expression for `a` converted to f64; the operand itself if it is f64 already.
  ExprId to_f64(ExprId a) { return unary(UnaryOp::to_f64, a); }
  /// Returns an expression for `a` converted to f32; the operand itself if it is f32 already.
  ExprId to_f32(ExprId a) { return unary(UnaryOp::to_f32, a); }
  /// Returns an expression for exp(a).
  ExprId exp(ExprId a) { return unary(UnaryOp::exp, a); }
  /// Returns an expression for the natural logarithm of a.
  ExprId log(ExprId a) { return unary(UnaryOp::log, a); }
  /// Returns an expression for log(1 + a).
  ExprId log1p(ExprId a) { return unary(UnaryOp::log1p, a); }
  /// Returns an expression for tanh(a / 2) / (4 a), 1/8 at 0, of the local bound of log logistic(a).
  ExprId logit_curvature(ExprId a) { return unary(UnaryOp::logit_curvature, a); }
  /// Returns an expression for the square root of a.
  ExprId sqrt(ExprId a) { return unary(UnaryOp::sqrt, a); }
  /// Returns an expression for digamma(a), the derivative of log Gamma.
  ExprId digamma(ExprId a) { return unary(UnaryOp::digamma, a); }
  /// Returns an expression for trigamma(a), the second derivative of log Gamma.
  ExprId trigamma(ExprId a) { return unary(UnaryOp::trigamma, a); }
  /// Returns an expression for log Gamma(a).
  ExprId lgamma(ExprId a) { return unary(UnaryOp::lgamma, a); }
  /// Returns an expression for the absolute value of a.
  ExprId abs(ExprId a) { return unary(UnaryOp::abs, a); }
  /// Returns a bool expression: true if a is NaN.
  ExprId is_nan(ExprId a) { return unary(UnaryOp::is_nan, a); }

  /// Returns the type of an expression.
  Type type(ExprId e) const { return program_[e].type; }
  /// Returns true and sets `value` if the expression is a literal: a real, an integer, or a bool as 0 or 1. Otherwise
  /// returns false and leaves `value` alone.
  bool constant(ExprId e, double& value) const;

  // ---- functions and statements ----

  /// Adds a function whose statements `body` emits, given the parameters as expressions, in order. Returns its
  /// position in Program::functions. Functions do not nest.
  std::size_t function(std::string name, const std::vector<Parameter>& parameters,
                       const std::function<void(const Indices& parameters)>& body);
  /// Adds a function without parameters, whose statements `body` emits. Returns its position.
  std::size_t function(std::string name, const Body& body);
  /// Marks the function at `position` as one that runs once a fit and needs little optimisation.
  void mark_cold(std::size_t position) { program_.functions[position].cold = true; }
  /// Sets Function::seldom and Function::cold of the function at `position`.
  void mark_seldom(std::size_t position) {
    program_.functions[position].cold = program_.functions[position].seldom = true;
  }
  /// Sets when the contents of an array are needed, so that the pass `guard-on-demand` can guard stores to it that few
  /// sweeps need.
  void set_demand(BufferId buffer, Demand demand) { program_.buffers[buffer.index()].demand = demand; }
  /// Sets the number by which the caller of the generated code requests arrays of this kind of demand in a sweep:
  /// element `at` of `flags`, above 0 for yes.
  void set_demand_flag(Demand demand, BufferId flags, std::int64_t at) {
    program_.demand_flags[static_cast<std::size_t>(demand)] = {flags, at};
  }
  /// Records that the function at `position` reads cached sums over items: its caller must form them first where they
  /// are not valid.
  void require_cached(std::size_t position, const CachedSums& sums) {
    program_.functions[position].cached.push_back(sums);
  }
  /// Records that the open function computes something of which 32 bits would leave too few digits; lowering then does
  /// not allow f32 in it.
  void require_f64() { double_ = true; }
  /// Returns true if `require_f64` was called while the function at `position` was open.
  bool requires_f64(std::size_t position) const { return double_functions_.contains(position); }
  /// Sets Function::f32_allowed: the private arrays and scalars of the function at `position` may have 32 bits.
  void allow_f32(std::size_t position) { program_.functions[position].f32_allowed = true; }
  /// Declares an array on the stack of the open function, uninitialised at entry; its extents must be constants.
  BufferId local_array(std::string name, std::vector<SizeId> axes, Type element = Type::f64);
  /// Declares an array on the stack of the open function, with extents given as numbers.
  BufferId local_array(std::string name, const std::vector<std::int64_t>& extents, Type element = Type::f64);

  /// Returns the stem with a number behind it, such as "k12". No other call of `fresh` has that number.
  std::string fresh(const std::string& stem) { return stem + std::to_string(names_++); }
  /// Emits for (index = begin; index < end; ++index), whose index has a fresh name that begins with `index`.
  void for_range(const std::string& index, ExprId begin, ExprId end, const LoopBody& body) {
    for_loop(fresh(index), begin, end, body);
  }
  /// Emits for (index = begin; index < end; index += step). `independent` promises what For::independent does.
  void for_loop(std::string index, ExprId begin, ExprId end, const LoopBody& body, bool independent = false,
                std::int64_t step = 1);
  /// Emits for (index = 0; index < extent; ++index).
  void for_each(std::string index, SizeId extent, const LoopBody& body, bool independent = false);
  /// Emits a `let` that evaluates `value` here, once, and returns the expression that reads its scalar. A literal or
  /// the `get` of an immutable scalar is returned as it is, without a statement.
  ExprId let(std::string name, ExprId value);
  /// Emits the declaration of a mutable scalar with an initial value.
  ScalarId local(std::string name, ExprId initial);
  /// Emits an assignment to a mutable scalar.
  void assign(ScalarId scalar, ExprId value);
  /// Emits an addition to a mutable scalar, as a reduction.
  void accumulate(ScalarId scalar, ExprId value);
  /// Emits a store to an element of an array.
  void store(BufferId buffer, Indices indices, ExprId value);
  /// Emits an addition to an element of an array, as a reduction.
  void add_to(BufferId buffer, Indices indices, ExprId value);
  /// Emits a store of one value to all elements of an array.
  void fill(BufferId buffer, ExprId value);
  /// Emits a branch with a then-side alone. With a literal condition it emits the statements without a branch or
  /// nothing; a branch without statements is left out.
  void if_then(ExprId condition, const Body& then_body);
  /// Emits a branch with a then-side alone whose condition is seldom true (If::rare). It is emitted even if the
  /// condition is a literal or the side is empty.
  void if_rarely(ExprId condition, const Body& then_body);
  /// Emits a branch with two sides whose condition is seldom true (If::rare). It is emitted even if the condition is a
  /// literal or both sides are empty.
  void if_rarely_else(ExprId condition, const Body& then_body, const Body& else_body);
  /// Emits a branch with two sides. With a literal condition it emits the statements of one side without a branch; a
  /// branch without statements is left out.
  void if_else(ExprId condition, const Body& then_body, const Body& else_body);
  /// Emits a statement that leaves the innermost loop if the condition is true.
  void break_if(ExprId condition);
  /// Emits a statement that ends the generated function at run time with the status `code` (> 0).
  void fail(std::int32_t code);
  /// Emits a statement that ends the generated function with the status `code` (> 0) if the condition is true at run
  /// time.
  void fail_if(ExprId condition, std::int32_t code);
  /// Emits a comment into the program, which does nothing and appears when the loops are printed.
  void comment(std::string text);
  /// Appends a statement to the innermost open block; throws outside functions.
  void statement(Stmt statement);

  /// Returns the program under construction, as far as it is built, for reading.
  const Program& program() const { return program_; }
  /// Returns the finished program; the builder is empty afterwards.
  Program take();

 private:
  /// Returns the literal of the type that has the value `x`, rounded to 32 bits for f32. Folding makes its results so.
  ExprId of_value(Type type, Value x);
  /// Returns a simpler expression that equals the operator applied to the operand: for literals, selects between
  /// literals, double negation and conversion to the same type. Invalid if there is none.
  ExprId fold_unary(UnaryOp op, ExprId operand);
  /// Returns an expression that equals the result of an operator with two operands but is simpler: for two literals,
  /// equal operands, or a literal beside an operand (a neutral element, a factor of -1 or integer 0, a bool, or
  /// fold_choice). Invalid if there is none.
  ExprId fold_binary(BinaryOp op, ExprId left, ExprId right);
  /// Folds an operator between a literal and a select of two literals, in either order: 1 - select(c, 1, 0) becomes
  /// select(c, 0, 1). Invalid if the operands are not such a pair.
  ExprId fold_choice(BinaryOp op, ExprId left, ExprId right);
  /// Returns the node of an expression if it is a select between two literals; nothing for others.
  std::optional<Select> constants(ExprId e) const;
  /// Returns true if the expression is a literal (real, integer, or bool as 0 or 1) that equals `value`.
  bool is_literal(ExprId e, double value) const;
  /// Opens a block, lets `body` write into it, closes it, and returns its statements.
  Block collect(const Body& body);
  /// Checks the types of a store or addition to an array element, and emits it.
  void write_store(BufferId buffer, Indices indices, ExprId value, bool accumulate);

  Program program_;                                       // under construction
  std::map<std::vector<std::int64_t>, ExprId> interned_;  // ids of expressions, by type and node
  std::vector<Block> open_;                 // statements of the open blocks, innermost last; empty outside functions
  std::vector<bool> mutable_;               // by scalar: `local` declared it, so its value may change
  std::vector<BufferId> local_arrays_;      // local arrays of the open function
  bool double_ = false;                     // require_f64 was called for the open function
  std::set<std::size_t> double_functions_;  // positions of functions in which require_f64 was called
  std::int32_t slots_ = 0;                  // the next free slot of the table of sizes
  std::set<std::string> buffer_names_;      // names that arrays have
  std::int32_t names_ = 0;                  // the number that `fresh` puts behind the next name
};

}  // namespace lehr::loops
