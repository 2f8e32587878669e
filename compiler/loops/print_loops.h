// The printer of Loops: the text of `lehr emit --as loops`, for people, golden files and `lehr opt`. docs/loops.md
// specifies it, and parse_loops.h reads it back.
#pragma once
#include <string>
#include <string_view>

#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Returns the text of a program: sizes, buffers, then functions in program order. Reals have all their digits. A name
/// that is in use already is printed with a number (`k`, `k_2`).
std::string print(const Program& program);

/// Returns the text of one expression, in which scalars have their names in Program::scalars, without numbers.
std::string print(const Program& program, ExprId expr);

/// Returns the printed name of a type; messages of the verifier use it too.
std::string_view name_of(Type type);
/// Returns the printed name of a buffer's role.
std::string_view name_of(Role role);
/// Returns the printed name of a kind of demand.
std::string_view name_of(Demand demand);
/// Returns a name as the text of a program has it: in single quotes unless it consists of letters, digits, dots and
/// underscores, begins with a letter or underscore, and is no word of the language.
std::string quoted(std::string_view name);
/// Returns the printed name or symbol of an operator with one operand.
std::string_view name_of(UnaryOp op);
/// Returns the printed name or symbol of an operator with two operands.
std::string_view name_of(BinaryOp op);

}  // namespace lehr::loops
