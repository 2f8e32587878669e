// The text form of a Loops program, for people and for golden files.
#pragma once
#include <string>
#include <string_view>

#include "compiler/loops/loops.h"

namespace lehr::loops {

/// Sizes, buffers, then functions in program order; reals as %.6g. A name declared again inside its own scope
/// is printed with a number (`k`, `k_2`), counted in print order.
std::string print(const Program& program);

/// One expression, scalars by their plain names.
std::string print(const Program& program, ExprId expr);

/// The words used in the text, shared with diagnostics.
std::string_view name_of(Type type);
std::string_view name_of(Role role);
std::string_view name_of(UnaryOp op);
std::string_view name_of(BinaryOp op);

}  // namespace lehr::loops
