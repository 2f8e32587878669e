// Builders of expressions and scalars, and copies of statements with substitutions.
// Expressions and statements are immutable values: a pass that changes code makes a changed copy. A copy shares every
// expression in which nothing is substituted, and what shared an expression before shares its copy after.
#pragma once
#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/analysis/slices.h"

namespace lehr::loops {

// ---- making things ----

/// Appends an expression of this type and node to the program and returns its id, also if an equal one exists. The
/// operands of the node must be expressions of the program already.
ExprId make(Program& program, Type type, decltype(Expr::node) node);

/// Adds a new scalar variable of this type to the program and returns its id. Its name is `stem`, a point and the
/// number of scalars before it.
ScalarId make_scalar(Program& program, const std::string& stem, Type type = Type::i64);

/// Short methods that append expressions, scalars and loops to a program. Classes of passes inherit them to build code.
class ExprMaker {
 public:
  /// Makes a builder that appends to `program`, which must outlive this object.
  explicit ExprMaker(Program& program) : p_(program) {}

  /// Appends an expression to the program and returns its id.
  ExprId make(Type type, decltype(Expr::node) node) { return loops::make(p_, type, std::move(node)); }
  /// Appends the f64 literal `value` to the program and returns it.
  ExprId f(double value) { return make(Type::f64, ConstF{value}); }
  /// Appends the i64 literal `value` to the program and returns it.
  ExprId i(std::int64_t value) { return make(Type::i64, ConstI{value}); }
  /// Returns the literal 0 of a type that is not boolean.
  ExprId zero(Type type) { return is_real(type) ? make(type, ConstF{0}) : i(0); }
  /// Returns an expression that reads the scalar.
  ExprId get(ScalarId s) { return make(p_[s].type, Get{s}); }
  /// Returns an expression that loads the element of the array at the indices `at`.
  ExprId load(BufferId b, std::vector<ExprId> at) { return make(p_[b].element, Load{b, std::move(at)}); }
  /// Returns the arithmetic expression `a op b`, of the type of `a`.
  ExprId binary(BinaryOp op, ExprId a, ExprId b) { return make(p_[a].type, Binary{op, a, b}); }
  /// Returns the boolean expression `a op b` of a comparison.
  ExprId compare(BinaryOp op, ExprId a, ExprId b) { return make(Type::boolean, Binary{op, a, b}); }
  /// Returns the boolean expression a < b.
  ExprId less(ExprId a, ExprId b) { return compare(BinaryOp::less, a, b); }
  /// Returns the boolean expression `a and b`.
  ExprId both(ExprId a, ExprId b) { return binary(BinaryOp::logical_and, a, b); }
  /// Returns the expression that has the value of `a` if the condition `c` is true, and of `b` otherwise.
  ExprId select(ExprId c, ExprId a, ExprId b) { return make(p_[a].type, Select{c, a, b}); }
  /// Adds a new scalar variable of this type to the program and returns its id. Its name is `stem`, a point and a
  /// number.
  ScalarId scalar(const std::string& stem, Type type = Type::i64) { return make_scalar(p_, stem, type); }

  /// A nest of loops over all elements of an array, from over(), before nested() builds it around a body. The vectors
  /// have one entry for each axis.
  struct Nest {
    std::vector<ScalarId> indices;  // index variables of the loops, from outermost to innermost
    std::vector<ExprId> at,         // expressions that read these index variables
        ends;                       // the extents of the axes, where the loops end
  };
  /// Returns new index variables and ends for a nest of loops over all elements of an array with these axes; nested()
  /// makes the loops once the body is ready.
  Nest over(const std::vector<SizeId>& axes);
  /// Returns a block with the loops of `nest` around the statements `inner`; without axes, `inner` itself.
  Block nested(const Nest& nest, Block inner);
  /// Appends the statements of `more` to a block.
  static void append(Block& to, Block more) { std::ranges::move(more, std::back_inserter(to)); }

 protected:
  Program& p_;  // the program to which code is appended
};

/// Calls `rewrite(Block&)`, the work of a pass, with the body of every function that is not cold (Function::cold). The
/// arrays that `rewrite` has made for a body and appended to `made` become local arrays of that function; then `made`
/// is cleared.
template <class Rewrite>
void rewrite_bodies(Program& program, std::vector<BufferId>& made, const Rewrite& rewrite) {
  for (std::size_t k = 0; k < program.functions.size(); ++k) {
    if (program.functions[k].cold) continue;
    // The body is moved out, so that it stays valid if `rewrite` adds functions to the program.
    Block body = std::move(program.functions[k].body);
    rewrite(body);
    program.functions[k].body = std::move(body);
    std::ranges::move(made, std::back_inserter(program.functions[k].local_arrays));
    made.clear();
  }
}

/// Returns a copy of a statement in which each access to an array of `slices` goes to the smaller array
/// Slice::replacement, without the index of the sliced axis. With `row` for the slice along axis 0, a[i, k] becomes
/// row[k]. Slices without a replacement stay as they are.
Stmt with_slices(Program& program, const Slices& slices, const Stmt& statement);

/// A formula for the elements of an array of one axis. substituted() writes it in place of loads from that array, so
/// that elements are computed where they are read.
struct Formula {
  ScalarId position;  // the scalar that stands in `value` for the index of the element
  ExprId value;       // the element at index `position`, as an expression
};

/// The substitutions that substituted() makes in a copy of code: renamed scalars and arrays, and expressions in place
/// of reads. What is not listed stays as it is.
struct Substitutions {
  std::map<ScalarId, ScalarId> scalars;  // the new scalar for a scalar, where it is declared, set and read
  /// The new array for an array, where it is loaded, stored and filled.
  std::map<BufferId, BufferId> arrays;
  std::map<ScalarId, ExprId> values = {};     // the expression that replaces reads of a scalar
  std::map<BufferId, Formula> formulas = {};  // the formula that replaces loads from an array of one axis
  std::map<ExprId, ExprId> expressions = {};  // the expression that replaces one with this id, operands and all
};

/// Returns a copy of a statement, and of all statements in it, with the substitutions of `names`.
Stmt substituted(Program& program, const Substitutions& names, const Stmt& statement);

/// Returns the expression with the substitutions of `names`; the same id if none of them applies.
ExprId substituted(Program& program, const Substitutions& names, ExprId expression);

/// Returns a statement that copies the array `slice.replacement` into the slice of `array` at `index` of the sliced
/// axis: loops over all other axes around array[..., index, ...] = slice.replacement[...]. Their extents must be
/// constants. The pass `hoist-invariants` computes a slice once before a loop and copies it in each iteration.
Stmt copy_slice(Program& program, BufferId array, const Slice& slice, ScalarId index);

}  // namespace lehr::loops
