// The printer of Loops: the text of `lehr emit --as loops`, for people and for golden files. It cannot be parsed back.
#pragma once
#include <string>
#include <string_view>

#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Returns the text of a program: sizes, buffers, then functions in program order; reals as %.6g. A name that is
/// declared again inside its own scope is printed with a number (`k`, `k_2`), counted in print order.
std::string print(const Program& program);

/// Returns the text of one expression, in which scalars have their plain names.
std::string print(const Program& program, ExprId expr);

/// Returns the printed name of a type; messages of the verifier use it too.
std::string_view name_of(Type type);
/// Returns the printed name of a buffer's role.
std::string_view name_of(Role role);
/// Returns the printed name or symbol of an operator with one operand.
std::string_view name_of(UnaryOp op);
/// Returns the printed name or symbol of an operator with two operands.
std::string_view name_of(BinaryOp op);

}  // namespace lehr::loops
