// Loops: what the generated code does, as explicit loops over flat arrays. Both the interpreter (slow,
// obvious, the oracle) and the LLVM lowering read exactly this.
//
// Semantics.
// * A Program owns buffers, sizes and functions. A buffer is a dense array with a fixed order of axes; the
//   extent of an axis is a Size: a constant of the model or a number known when the data are (never in the code).
//   Rows of different lengths share one packed axis: element i of row r is at index offsets[r] + i, where
//   `offsets` is an ordinary buffer of integers and the sum an ordinary expression.
// * Expressions are pure; types are f64, f32, i64 and bool (a bool is produced by comparisons and consumed by
//   `if`, `select`, and/or/not only). Integer arithmetic does not overflow in a valid program. Division by zero
//   follows IEEE. `log(0)` is -inf; the generator uses kLogZero where a finite value is needed.
// * Arithmetic in f32 rounds to 32 bits; nothing is converted but by to_f64 and to_f32. Numbers nearer to zero than the
//   least normal one may be taken for zero in functions that have f32.
// * `select(c, a, b)` may evaluate both sides; `if` evaluates one.
// * Floating-point sums may be reassociated and multiply-adds contracted by the native code; nothing else of
//   IEEE may be relaxed (NaN and infinity keep their meaning).
// * Different buffers never overlap in memory. Reading an element that nothing stored gives 0 for buffers of
//   role scratch, statistic and natural at function entry of the *first* call, and otherwise what was left.
// * `fail(code)` ends the function at once with that status; a function that runs to its end returns 0.
// * A function is re-entrant: all its memory is in the buffers it is passed and its own local arrays.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "compiler/math/family.h"
#include "compiler/support/ids.h"

namespace lehr::loops {

using BufferId = Id<struct BufferTag>;
using SizeId = Id<struct SizeTag>;
using ScalarId = Id<struct ScalarTag>;  // a loop index, a let, a mutable local or a parameter
using ExprId = Id<struct LoopsExprTag>;

/// Stands for log 0 in exponents: exp gives 0 and sums of it stay finite.
inline constexpr double kLogZero = -1e300;

enum class Type { f64, i64, boolean, f32 };
constexpr bool is_real(Type t) { return t == Type::f64 || t == Type::f32; }

/// An extent. `constant >= 0`: known to the code; otherwise read at run time from the table of sizes at `slot`.
struct Size {
  std::string name;
  std::int64_t constant = -1;
  std::int32_t slot = -1;
};

enum class Role {
  data,         // bound by the user, read only
  parameter,    // of the variational factors; kept between calls
  natural,      // natural parameters under construction
  expectation,  // expected statistics of the factors; kept between calls
  table,        // values derived from expectations, recomputed by the code
  statistic,    // sums over items; one copy per worker, added up in fixed order
  scratch,      // no meaning between calls; one copy per worker
  output        // scalars handed back to the caller
};

/// Who needs what an array holds: whoever comes, or only who asks for it (Program::asked).
enum class Needed {
  always,
  rows,  // a row for each item, for readers of factors; always, too, where a function that runs often reads them
  bound  // sums over items, for the bound
};

/// Axes in memory order (the last is contiguous). Every element has room for 8 bytes; those of f32 lie in the first
/// half.
struct Buffer {
  std::string name;  // unique in the program: "beta.concentration", "E.beta.log", "S0", "w"
  Type element = Type::f64;
  Role role = Role::scratch;
  std::vector<SizeId> axes;
  Needed needed = Needed::always;
  std::int64_t meant = 0;  // above 0: of a row no more elements than these are other than 0
  bool exact = false;      // scratch that has 64 bits whatever the precision
};

// ---- expressions ----
struct ConstF {
  double value = 0;
};
struct ConstI {
  std::int64_t value = 0;
};
struct Get {
  ScalarId scalar;
};  // value of a loop index, let, local or parameter
struct Extent {
  SizeId size;
};  // i64
struct Load {
  BufferId buffer;
  std::vector<ExprId> indices;
  bool again = false;  // better read from memory than kept in registers
};

enum class UnaryOp {
  negate,
  logical_not,
  to_f64,
  to_f32,
  exp,
  log,
  log1p,
  logit_curvature,
  sqrt,
  digamma,
  trigamma,
  lgamma,
  abs,
  is_nan
};
struct Unary {
  UnaryOp op = UnaryOp::negate;
  ExprId operand;
};

enum class BinaryOp {
  add,
  subtract,
  multiply,
  divide,
  minimum,
  maximum,  // two of f64, f32 or i64 (divide: no i64)
  equal,
  not_equal,
  less,
  less_equal,  // -> bool
  logical_and,
  logical_or
};
struct Binary {
  BinaryOp op = BinaryOp::add;
  ExprId left, right;
};
struct Select {
  ExprId condition, if_true, if_false;
};
/// A random number: a function of the key (a buffer of integers) and of its place, so that it is the same wherever it
/// stands. `site`: of the code; element and component: of the variable. The arguments are those of math::Noise.
struct Random {
  math::Noise noise = math::Noise::uniform;
  BufferId key;
  std::int64_t site = 0;
  ExprId element, component, a, b;  // i64, i64, f64, f64
};

struct Expr {
  Type type = Type::f64;
  std::variant<ConstF, ConstI, Get, Extent, Load, Unary, Binary, Select, Random> node;
};

// ---- statements ----
struct Stmt;
using Block = std::vector<Stmt>;

/// for (index = begin; index < end; index += step) body. Iterations may run in any order only when `independent`
/// (no iteration reads what another stores, except accumulating stores and scratch that each fills for itself); the
/// native code may then vectorise freely.
struct For {
  ScalarId index;
  ExprId begin, end;
  Block body;
  bool independent = false;
  std::int64_t step = 1;
  bool side_by_side = false;  // the body stands for all turns of a step
};
/// Declares an immutable scalar for the rest of the enclosing block.
struct Let {
  ScalarId scalar;
  ExprId value;
};
/// Declares a mutable scalar for the rest of the enclosing block.
struct Local {
  ScalarId scalar;
  ExprId initial;
};
struct Assign {
  ScalarId scalar;
  ExprId value;
};
/// scalar += value, a reduction the native code may reassociate.
struct Accumulate {
  ScalarId scalar;
  ExprId value;
};
/// buffer[indices] = value, or += when `accumulate`.
struct Store {
  BufferId buffer;
  std::vector<ExprId> indices;
  ExprId value;
  bool accumulate = false;
};
/// buffer[...] = value for every element.
struct Fill {
  BufferId buffer;
  ExprId value;
};
struct If {
  ExprId condition;
  Block then_block, else_block;
  bool rare = false;  // the condition is seldom true: code that is small and quickly compiled
};
/// Leaves the innermost `for`.
struct BreakIf {
  ExprId condition;
};
/// Returns `code` (> 0) to the caller at once.
struct Fail {
  std::int32_t code = 1;
};
/// Printed by the printer, no meaning: the source line or the formula a group of statements came from.
struct Comment {
  std::string text;
};

struct Stmt {
  std::variant<For, Let, Local, Assign, Accumulate, Store, Fill, If, BreakIf, Fail, Comment> node;
};

struct Scalar {
  std::string name;
  Type type = Type::f64;
};

/// Turns 0, 1, ... of loops that come before the body of a function and may run in ranges, in any order and at the same
/// time: a function of (begin, end) with scratch and sums of its own. `turns`: a ConstI or an Extent.
struct Phase {
  std::size_t function = 0;
  ExprId turns;
  BufferId sums;  // [numbers], to be zero before and added up; invalid: there are none
};

/// Sums that a function reads: where `fresh` is 0, `function`, which has no parameters and sets it to 1, comes before.
struct Kept {
  std::size_t function = 0;
  BufferId fresh;
};

/// status = name(buffers, sizes, parameters...). Parameters are i64 or f64 scalars, in order. The sums that it reads
/// are formed, and then its phases are executed before it, one after another, by whoever calls it.
struct Function {
  std::string name;
  std::vector<ScalarId> parameters;
  std::vector<BufferId> local_arrays;  // role scratch, constant extents: on the stack of the call, uninitialised
  Block body;
  bool cold = false;  // runs once a fit: compile it small and quickly
  std::vector<Phase> phases = {};
  bool single = false;  // 32 bits do for what it has to itself: see passes/narrow.h
  std::vector<Kept> kept = {};
};

/// A number of a buffer of one axis; without a buffer, none.
struct Place {
  BufferId buffer;
  std::int64_t at = 0;
};

struct Program {
  std::vector<Size> sizes;
  std::vector<Buffer> buffers;
  std::vector<Scalar> scalars;
  std::vector<Expr> exprs;
  std::vector<Function> functions;
  std::array<Place, 3> asked = {};  // by Needed: above 0 where it is asked for; without a place, it is

  const Size& operator[](SizeId id) const { return sizes[id.index()]; }
  const Buffer& operator[](BufferId id) const { return buffers[id.index()]; }
  const Scalar& operator[](ScalarId id) const { return scalars[id.index()]; }
  const Expr& operator[](ExprId id) const { return exprs[id.index()]; }
};

}  // namespace lehr::loops
