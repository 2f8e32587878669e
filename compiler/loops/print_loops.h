// The printer of Loops: the text of `lehr emit --as loops`, for people, golden files and `lehr opt`. docs/loops.md
// specifies it, and parse_loops.h reads it back.
#pragma once
#include <string>
#include <string_view>

#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Returns the text of a program: sizes, buffers, demand flags, then functions in program order. Reals have all their
/// digits. A scalar or size whose name is in use already gets a number (`k`, `k_2`).
std::string print(const Program& program);

/// Returns the text of one expression, for messages. Scalars have their plain names, even if several have the same.
std::string print(const Program& program, ExprId expr);

/// Returns the word for a type in printed loops and messages: f64, i64, bool, f32.
std::string_view name_of(Type type);
/// Returns the word for an array's role in printed loops, such as "statistic".
std::string_view name_of(Role role);
/// Returns the word for a kind of demand in printed loops: always, item_parameters, elbo.
std::string_view name_of(Demand demand);
/// Returns a name as printed loops have it: in single quotes unless it consists of letters, digits, dots and
/// underscores, begins with a letter or underscore, and is no word of the language.
std::string quoted(std::string_view name);
/// Returns the name or symbol of an operator with one operand in printed loops, such as "exp" or "-".
std::string_view name_of(UnaryOp op);
/// Returns the name or symbol of an operator with two operands in printed loops, such as "min" or "+".
std::string_view name_of(BinaryOp op);

}  // namespace lehr::loops
