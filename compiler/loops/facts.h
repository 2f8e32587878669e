// Questions about single types, expressions, statements and blocks that a look at the IR answers, for passes and the
// native code. None of them changes the program.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Returns the bytes of an array element: 4 for f32, 8 for other types.
constexpr std::int64_t bytes_of(Type t) { return t == Type::f32 ? 4 : 8; }

/// Returns the value of an integer literal (or of a bool literal, as 0 or 1); nothing for other expressions.
std::optional<std::int64_t> literal(const Program& program, ExprId e);
/// Returns true if the expression is the value of this scalar and nothing else.
bool is_scalar(const Program& program, ExprId e, ScalarId scalar);

/// Returns true if the expression itself is a call of a function: UnaryOp::exp to UnaryOp::lgamma, sqrt included.
/// (is_function() in operators.h leaves sqrt out.)
bool is_function_call(const Program& program, ExprId e);
/// Returns true if the expression or an operand at any depth is such a call.
bool calls_function(const Program& program, ExprId e);

/// Returns true if the expression reads one of the scalars.
bool mentions(const Program& program, ExprId e, const std::set<ScalarId>& scalars);
/// Returns true if the expression loads from an array or draws a random number.
bool loads(const Program& program, ExprId e);

/// Returns the value that a statement stores in one scalar or one array element, or adds to it; invalid for other
/// statements.
ExprId value_of(const Stmt& statement);
/// Returns true if value_of(statement) contains a call of a function (is_function_call).
bool calls_function(const Program& program, const Stmt& statement);

/// Returns true if the statement is a loop, or a branch with a loop in it.
bool has_loop(const Stmt& statement);
/// Returns true if a statement of the block is a loop or a branch with a loop in it.
bool has_loop(const Block& block);
/// Returns the scalar that a `let` or a `local` declares; nothing for other statements.
std::optional<ScalarId> declared(const Stmt& statement);

/// Returns the arrays that Fill statements of the block, at any depth, fill with anything but a real literal 0. Arrays
/// of integers that are filled with 0 are among them.
std::set<BufferId> filled_nonzero(const Program& program, const Block& block);

/// Returns true if every function writes the array before it reads it, so that iterations may each have a copy: roles
/// scratch and natural.
bool is_scratch(const Buffer& buffer);
/// Returns the scratch arrays that a parallel region uses, in order of their ids, without those on its stack and
/// without its sums. Each thread needs a copy of them.
std::vector<BufferId> scratch_of(const Program& program, const ParallelRegion& phase);

}  // namespace lehr::loops
