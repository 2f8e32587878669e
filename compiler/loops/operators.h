// What the operators of Loops are: how they print, the types they take and give, and their values.
#pragma once
#include <cstdint>
#include <string_view>

#include "compiler/loops/loops.h"

namespace lehr::loops {

union Value {
  double f;
  std::int64_t i;  // i64, and bool as 0 or 1
};
constexpr Value real(double x) { return {.f = x}; }
constexpr Value integer(std::int64_t x) { return {.i = x}; }

/// Types of the operands, which are the same: i64 or a real; a real; bool.
enum class Takes { number, real, boolean };
enum class Gives { same, real, single, boolean };

/// How tightly an operator binds; calls and names bind tightest.
enum Precedence { kOr = 1, kAnd, kCompare, kSum, kProduct, kPrefix, kAtom };

struct UnaryRow {
  UnaryOp op;
  std::string_view name;
  Precedence precedence;  // kAtom: printed as a call
  Takes takes;
  Gives gives;
  Value (*value)(Value x, bool is_real);
};

struct BinaryRow {
  BinaryOp op;
  std::string_view name;
  Precedence precedence;  // kAtom: printed as a call
  Takes takes;
  Gives gives;
  Value (*of_reals)(double a, double b);
  Value (*of_integers)(std::int64_t a, std::int64_t b);
};

const UnaryRow& row_of(UnaryOp op);
/// Those that are formulas of many operations, and no instruction: exp to lgamma but the square root.
constexpr bool is_function(UnaryOp op) { return op >= UnaryOp::exp && op <= UnaryOp::lgamma && op != UnaryOp::sqrt; }
const BinaryRow& row_of(BinaryOp op);

constexpr bool accepts(Takes takes, Type type) {
  if (takes == Takes::boolean) return type == Type::boolean;
  return is_real(type) || (takes == Takes::number && type == Type::i64);
}
constexpr Type result_type(Gives gives, Type operand) {
  constexpr Type kTypes[] = {Type::f64, Type::f32, Type::boolean};
  return gives == Gives::same ? operand : kTypes[static_cast<int>(gives) - 1];
}

}  // namespace lehr::loops
