// What can be said of single types, expressions and blocks by looking at them.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Bytes of an element; 8 of those that are not f32.
constexpr std::int64_t bytes_of(Type t) { return t == Type::f32 ? 4 : 8; }

/// The value of an integer that the program has written out.
std::optional<std::int64_t> literal(const Program& program, ExprId e);
/// Whether an expression is the value of this scalar and nothing else.
bool is_scalar(const Program& program, ExprId e, ScalarId scalar);

/// A call of exp, log and the like: tens of operations.
bool is_function_call(const Program& program, ExprId e);
/// Whether it is one, or is made of one.
bool calls_function(const Program& program, ExprId e);

/// Whether one of these scalars is read to form it.
bool mentions(const Program& program, ExprId e, const std::set<ScalarId>& scalars);
/// Whether something is loaded to form it.
bool loads(const Program& program, ExprId e);

/// What a statement puts into one scalar or one element of an array, or adds to it; invalid for others.
ExprId value_of(const Stmt& statement);
/// Whether that is made of a function call.
bool calls_function(const Program& program, const Stmt& statement);

/// A loop, or a condition with one under it.
bool has_loop(const Stmt& statement);
bool has_loop(const Block& block);
/// The scalar that a `let` or a `local` declares.
std::optional<ScalarId> declared(const Stmt& statement);

/// The arrays that statements of the block, and of those in it, fill with something that is not the constant 0.
std::set<BufferId> filled_with_numbers(const Program& program, const Block& block);

/// Written before it is read, wherever it is used; turns may each have their own.
bool is_scratch(const Buffer& buffer);
/// What a range of turns of a phase works in, and a call has not for itself.
std::vector<BufferId> scratch_of(const Program& program, const Phase& phase);

}  // namespace lehr::loops
