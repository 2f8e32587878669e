// Questions about single types, expressions, statements and blocks that a look at the IR answers, for passes and the
// native code. None of them changes the program.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Returns the bytes that one element of an array with this element type takes: 4 for f32, 8 for other types.
constexpr std::int64_t bytes_of(Type t) { return t == Type::f32 ? 4 : 8; }

/// Returns the value of an integer literal (or of a bool literal, as 0 or 1); nothing for other expressions.
std::optional<std::int64_t> literal(const Program& program, ExprId e);
/// Returns true if the expression does nothing but read this scalar (a Get).
bool is_scalar(const Program& program, ExprId e, ScalarId scalar);

/// Returns true if the outermost operator of the expression is one of UnaryOp::exp to UnaryOp::lgamma, sqrt included.
/// Operands are not looked at. (is_function() in operators.h leaves sqrt out.)
bool is_function_call(const Program& program, ExprId e);
/// Returns true if the expression or an operand at any depth is one of UnaryOp::exp to UnaryOp::lgamma, sqrt included.
bool calls_function(const Program& program, ExprId e);

/// Returns true if the expression or an operand at any depth reads one of the scalars.
bool mentions(const Program& program, ExprId e, const std::set<ScalarId>& scalars);
/// Returns true if the expression or an operand at any depth loads from an array or draws a random number (whose key is
/// an array).
bool loads(const Program& program, ExprId e);

/// Returns the expression on the right side of a Let, Local, Assign, Accumulate or Store; invalid for other statements,
/// Fill included.
ExprId value_of(const Stmt& statement);
/// Returns true if the right side of a Let, Local, Assign, Accumulate or Store calls a function from exp to lgamma,
/// sqrt included, at any depth. False for other statements.
bool calls_function(const Program& program, const Stmt& statement);

/// Returns true if the statement is a loop, or a branch with a loop in it at any depth.
bool has_loop(const Stmt& statement);
/// Returns true if a statement of the block is a loop or a branch with a loop in it.
bool has_loop(const Block& block);
/// Returns the scalar that a `let` or a `local` declares; nothing for other statements, a loop with its index included.
std::optional<ScalarId> declared(const Stmt& statement);

/// Returns the arrays that a Fill of the block, at any depth, sets to a value other than the real literal 0. So they
/// may not be 0 where rows are padded. A Fill of an array of integers always counts.
std::set<BufferId> filled_nonzero(const Program& program, const Block& block);

/// Returns true if the array's role is scratch or natural: its contents have no meaning between calls and are written
/// before they are read, so that iterations or threads may each have a copy.
bool is_scratch(const Buffer& buffer);
/// Returns the arrays of which each thread that runs a parallel region needs its own copy: those of role scratch or
/// natural that its function uses, in order of their ids. Arrays on the stack and the sums of the region are left out.
std::vector<BufferId> scratch_of(const Program& program, const ParallelRegion& phase);

}  // namespace lehr::loops
