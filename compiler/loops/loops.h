// Loops: the intermediate representation (IR) of the generated code, as explicit loops over flat arrays. It plays the
// part that LLVM IR or MLIR's affine dialect plays elsewhere. The interpreter (the oracle of tests) and the LLVM
// lowering read exactly this IR; `lehr emit MODEL --as loops` prints it. A sum over the rows of a matrix reads
//
//     for n in 0 .. N
//       S0[j] += x[n, j]
//
// Semantics.
// * A Program owns buffers, sizes and functions. A buffer is a dense row-major array with a fixed order of axes. The
//   extent of an axis is a Size: a constant of the code, or a number that is read at run time.
//   Rows of different lengths share one packed axis: element i of row r is at index offsets[r] + i, where
//   `offsets` is an ordinary buffer of integers and the sum an ordinary expression.
// * Expressions are pure; types are f64, f32, i64 and bool (a bool is produced by comparisons and consumed by
//   `if`, `select`, and/or/not only). Integer arithmetic does not overflow in a valid program. Division by zero
//   follows IEEE. `log(0)` is -inf; the generator uses kLogZero where a finite value is needed.
// * Arithmetic in f32 rounds to 32 bits; only to_f64 and to_f32 convert. Functions with f32 may flush subnormal numbers
//   to zero.
// * `select(c, a, b)` may evaluate both sides; `if` evaluates one.
// * Floating-point sums may be reassociated and multiply-adds contracted by the native code; nothing else of
//   IEEE may be relaxed (NaN and infinity keep their meaning).
// * Different buffers never overlap in memory. An element of role scratch, statistic or natural that was never stored
//   reads as 0 at entry of the *first* function call; later calls read what was left there.
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
#include "runtime/threshold.h"

namespace lehr::loops {

// Ids are positions in the vectors of Program.
using BufferId = Id<struct BufferTag>;   // identifies an array: index in Program::buffers
using SizeId = Id<struct SizeTag>;       // identifies the extent of an axis: index in Program::sizes
using ScalarId = Id<struct ScalarTag>;   // identifies a loop index, let, mutable local or parameter
using ExprId = Id<struct LoopsExprTag>;  // identifies an expression: index in Program::exprs

/// The finite number that stands for log 0 in exponents: its exp is 0, and sums of it stay finite.
inline constexpr double kLogZero = -1e300;

/// The type of an expression, a scalar or an array's elements.
enum class Type { f64, i64, boolean, f32 };
/// Returns true if the type is a floating-point type.
constexpr bool is_real(Type t) { return t == Type::f64 || t == Type::f32; }

/// The extent of an axis. If `constant` >= 0, it is a literal in the code; otherwise the code reads entry `slot` of the
/// table of sizes at run time.
struct Size {
  std::string name;            // in printed loops, such as the plate's name
  std::int64_t constant = -1;  // the extent; -1: read at run time
  std::int32_t slot = -1;      // position in the table of sizes; -1: a constant
};

/// What an array is for, which decides who owns its memory and how long its content lives.
enum class Role {
  /// Written by the caller, read only: data of the user, weights, picks, random keys.
  data,
  parameter,  // parameters of the variational factors; persist between calls
  /// Natural parameters of a factor while its update forms them: no meaning between calls, one copy per worker.
  natural,
  expectation,  // expected statistics of the factors; persist between calls
  table,        // values that the code derives from data and expectations
  statistic,    // sums over items; one copy per worker, added up in fixed order
  scratch,      // no meaning between calls; one copy per worker
  output        // results that the caller reads
};

/// When the contents of an array are needed: always, or only in sweeps whose caller requests them
/// (Program::demand_flags). The pass `guard-on-demand` guards the stores of arrays that are not always needed.
enum class Demand {
  always,           // in every sweep
  item_parameters,  // parameters of items, on request; always if a function that is not cold loads them
  elbo              // sums over items that only the ELBO reads
};

/// A dense array. Its axes are in memory order: the last is contiguous. Its memory has 8 bytes for each element;
/// elements of type f32 have 4 and lie packed in the first half.
struct Buffer {
  std::string name;                // unique in the program: "beta.concentration", "E.beta.log", "S0", "w"
  Type element = Type::f64;        // type of the elements, not boolean
  Role role = Role::scratch;       // what it is for
  std::vector<SizeId> axes;        // extents in memory order
  Demand demand = Demand::always;  // when its contents are needed
  std::int64_t used_length = 0;    // padded rows: values at the start of each row, the rest is 0; 0: no padding
  bool exact = false;              // scratch that the pass `narrow` leaves in 64 bits
};

// ---- expressions ----
/// A literal of type f64 or f32.
struct ConstF {
  double value = 0;  // the number; rounded to 32 bits if the type is f32
};
/// An integer literal; of type boolean it is 0 or 1.
struct ConstI {
  std::int64_t value = 0;  // the literal
};
/// The value of a loop index, let, local or parameter.
struct Get {
  ScalarId scalar;  // must be in scope
};
/// The extent of an axis, as i64.
struct Extent {
  SizeId size;  // the axis' extent in Program::sizes
};
/// The value of one element of an array.
struct Load {
  BufferId buffer;              // the array
  std::vector<ExprId> indices;  // i64, one for each axis
  bool reload = false;          // reload from memory here, rather than hold the value in a register
};

/// Operators with one operand; operators.h has their types and values.
enum class UnaryOp {
  negate,           // -x of a real or an i64
  logical_not,      // not x of a bool
  to_f64,           // conversion of an i64 or f32 to f64
  to_f32,           // conversion of an i64 or f64 to f32
  exp,              // e to the power of x
  log,              // natural logarithm
  log1p,            // log(1 + x)
  logit_curvature,  // tanh(x / 2) / (4 x), of the local bound of log logistic(x)
  sqrt,             // square root
  digamma,          // derivative of log Gamma, for x > 0
  trigamma,         // derivative of digamma, for x > 0
  lgamma,           // log Gamma(x), for x > 0
  abs,              // absolute value of a real or an i64
  is_nan            // a bool: true if x is NaN
};
/// An expression that applies an operator to one operand.
struct Unary {
  UnaryOp op = UnaryOp::negate;  // which operator
  ExprId operand;                // of a type that the operator takes
};

/// Operators with two operands of the same type. The first six take f64, f32 or i64 (divide: no i64); comparisons take
/// the same and give a bool; logical_and and logical_or take bools.
enum class BinaryOp {
  add,          // a + b
  subtract,     // a - b
  multiply,     // a * b
  divide,       // a / b of reals
  minimum,      // the smaller one; of reals NaN if either is NaN
  maximum,      // the larger one; of reals NaN if either is NaN
  equal,        // a == b
  not_equal,    // a != b
  less,         // a < b
  less_equal,   // a <= b
  logical_and,  // both bools are true
  logical_or    // at least one bool is true
};
/// An expression that applies an operator to two operands of one type.
struct Binary {
  BinaryOp op = BinaryOp::add;  // which operator
  ExprId left, right;           // operands of one type
};
/// An expression that is `if_true` where the bool `condition` is true and `if_false` elsewhere; both may be evaluated.
struct Select {
  ExprId condition, if_true, if_false;  // a bool, and two values of one type
};
/// A random number by a counter-based generator: a pure function of the key, the site, the element and the component.
/// So its value is the same wherever the expression stands and whichever thread evaluates it.
struct Random {
  math::Noise noise = math::Noise::uniform;  // the distribution
  BufferId key;                              // i64 buffer with seed, chain and step
  std::int64_t site = 0;                     // a number of the place in the code that draws; each place has its own
  /// The variable's element (i64), the component of its value (i64), and the two arguments of the distribution (f64;
  /// math::Noise).
  ExprId element, component, a, b;
};

/// An expression with its type. In a program of the Builder or the parser equal expressions have one id; passes append
/// expressions without looking for an equal one.
struct Expr {
  Type type = Type::f64;                                                                // of the value
  std::variant<ConstF, ConstI, Get, Extent, Load, Unary, Binary, Select, Random> node;  // what it computes
};

// ---- statements ----
struct Stmt;
/// Statements that are executed one after another; scalars that they declare live to its end.
using Block = std::vector<Stmt>;

/// for (index = begin; index < end; index += step) body. Iterations may run in any order only when `independent`:
/// no iteration reads what another stores, except accumulating stores and scratch that each iteration fills itself.
/// The native code may then vectorise freely.
struct For {
  ScalarId index;            // i64, in scope in the body
  ExprId begin, end;         // i64, evaluated once before the loop
  Block body;                // statements of one iteration
  bool independent = false;  // iterations may run in any order
  std::int64_t step = 1;     // what the index advances by; positive
  bool vectorised = false;   // the body is vectorised: it does the work of `step` consecutive iterations
};
/// Declares an immutable scalar for the rest of the enclosing block.
struct Let {
  ScalarId scalar;  // the scalar that it declares
  ExprId value;     // evaluated here, once
};
/// Declares a mutable scalar for the rest of the enclosing block.
struct Local {
  ScalarId scalar;  // the scalar that it declares
  ExprId initial;   // its first value
};
/// Sets a mutable scalar to a value.
struct Assign {
  ScalarId scalar;  // the mutable scalar, which a Local declares
  ExprId value;     // the new value, of the scalar's type
};
/// Adds a value to a mutable scalar: a reduction, which the native code may reassociate.
struct Accumulate {
  ScalarId scalar;  // the mutable scalar, which a Local declares
  ExprId value;     // what is added, of the scalar's type
};
/// Stores a value to buffer[indices], or adds it there if `accumulate`.
struct Store {
  BufferId buffer;              // the array, not of role data
  std::vector<ExprId> indices;  // i64, one for each axis
  ExprId value;                 // what is stored or added, of the elements' type
  bool accumulate = false;      // true: adds the value to the element; false: replaces it
};
/// Stores one value to every element of a buffer.
struct Fill {
  BufferId buffer;  // the array, not of role data
  ExprId value;     // what is stored, of the elements' type
};
/// Executes one of two blocks.
struct If {
  ExprId condition;              // a bool
  Block then_block, else_block;  // executed if the condition is true; if it is false
  bool rare = false;             // the condition is seldom true: native code makes `then_block` a cold function
};
/// Leaves the innermost `for` if the condition is true.
struct BreakIf {
  ExprId condition;  // a bool
};
/// Ends the function at once and returns `code` (> 0) to the caller.
struct Fail {
  std::int32_t code = 1;  // the status that the function returns
};
/// A note for the reader of printed loops, without effect: the formula that the next statements compute.
struct Comment {
  std::string text;  // one line
};

/// A statement of a function: one of the kinds above.
struct Stmt {
  std::variant<For, Let, Local, Assign, Accumulate, Store, Fill, If, BreakIf, Fail, Comment> node;
};

/// The name and type of a loop index, let, local or parameter. Names may repeat; the printer numbers them. Two blocks
/// may declare the same scalar if neither is inside the other.
struct Scalar {
  std::string name;       // in printed loops; need not be unique
  Type type = Type::f64;  // of its value
};

/// An outlined parallel region of a function: a parallel loop that is a function of its own. Whoever calls the function
/// to which the region belongs runs the region before the body. Chunks of its iterations run in any order and at the
/// same time. Each chunk has its own scratch and its own copy of `sums`; the copies are added up afterwards.
struct ParallelRegion {
  std::size_t function = 0;  // position of the outlined function, with parameters (begin, end)
  ExprId trip_count;         // the number of iterations: a ConstI or an Extent
  BufferId sums;             // [numbers]: sums to which every chunk adds, zeroed before; invalid: there are none
};

/// Sums over items that a function reads and that stay valid until a factor changes. Before the function, its caller
/// runs `function` if `valid_flag` is 0; that forms the sums and sets the flag to 1.
struct CachedSums {
  std::size_t function = 0;  // position of the function, without parameters, that forms the sums
  BufferId valid_flag;       // an array without axes, of one number: 1 while the cached sums are valid
};

/// A generated function: status = name(buffers, sizes, parameters...). Parameters are i64 or f64 scalars, in order.
/// Before the body, the caller forms the cached sums in `cached` that are not valid, then runs `regions` in order.
struct Function {
  std::string name;                          // its name in machine code and in printed loops
  std::vector<ScalarId> parameters;          // i64 or f64: the scalars that get the arguments, in order
  std::vector<BufferId> local_arrays;        // role scratch, constant extents: on the stack of the call, uninitialised
  Block body;                                // what a call executes
  bool cold = false;                         // runs once a fit: the native code optimises it little
  bool seldom = false;                       // many fits never call it: its code is made with the first call
  std::vector<ParallelRegion> regions = {};  // parallel regions that run before the body
  bool f32_allowed = false;                  // its arrays and scalars that nothing else uses may be f32
  std::vector<CachedSums> cached = {};       // cached sums that it reads; formed before `regions`
};

/// The address of one number: element `at` of a buffer with one axis. An invalid buffer means there is no such number.
struct NumberAddress {
  BufferId buffer;      // an array with one axis, or invalid
  std::int64_t at = 0;  // index of the element
};

/// A whole program in Loops: declarations, an arena of expressions, and functions.
struct Program {
  std::vector<Size> sizes;          // extents of axes, by SizeId
  std::vector<Buffer> buffers;      // arrays, by BufferId; the table of pointers has the same order
  std::vector<Scalar> scalars;      // loop indices, lets, locals and parameters, by ScalarId
  std::vector<Expr> exprs;          // expressions of all functions, by ExprId
  std::vector<Function> functions;  // in the order in which they were written
  /// By Demand: the number that is above 0 while the caller requests the contents of arrays of that kind. Where its
  /// buffer is invalid, they are always needed.
  std::array<NumberAddress, 3> demand_flags = {};
  /// The numbers by which lowering, passes and code generation choose between ways of computing the same. The printed
  /// text does not have them.
  Thresholds thresholds = {};

  // Each returns the declaration or expression with the id.
  const Size& operator[](SizeId id) const { return sizes[id.index()]; }
  const Buffer& operator[](BufferId id) const { return buffers[id.index()]; }
  const Scalar& operator[](ScalarId id) const { return scalars[id.index()]; }
  const Expr& operator[](ExprId id) const { return exprs[id.index()]; }
};

}  // namespace lehr::loops
