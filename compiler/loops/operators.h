// The tables of operators: for each operator of Loops its printed form, the types of operands and result, and a
// function that computes its value. Builder (constant folding), interpreter, printer and verifier read these tables.
#pragma once
#include <cstdint>
#include <string_view>

#include "compiler/loops/loops.h"

namespace lehr::loops {

/// The value of an expression, by its type.
union Value {
  double f;        // f64 and f32
  std::int64_t i;  // i64, and bool as 0 or 1
};
/// Makes the Value of an expression of type f64 or f32.
constexpr Value real(double x) { return {.f = x}; }
/// Makes the Value of an expression of type i64, or of a bool as 0 or 1.
constexpr Value integer(std::int64_t x) { return {.i = x}; }

/// The types that an operator accepts for its operands, which must agree. `number`: i64, f64 or f32; `real`: f64 or
/// f32; `boolean`: bool.
enum class Takes { number, real, boolean };
/// The type of an operator's result. `same`: that of the operands; `real`: f64; `single`: f32; `boolean`: bool.
enum class Gives { same, real, single, boolean };

/// How tightly an operator binds in printed loops, loosest first, by which printer and parser place parentheses. kAtom:
/// names, literals and calls.
enum Precedence { kOr = 1, kAnd, kCompare, kSum, kProduct, kPrefix, kAtom };

/// An entry of the table of operators of Loops with one operand, such as exp. It has the printed form, the types, and
/// the function that folds and interprets it.
struct UnaryRow {
  UnaryOp op;                             // the operator of this entry
  std::string_view name;                  // in printed loops, such as "exp"
  Precedence precedence;                  // how tightly it binds in print; kAtom: printed as a call
  Takes takes;                            // types that the operand may have
  Gives gives;                            // type of the result
  Value (*value)(Value x, bool is_real);  // evaluates the operator; `is_real`: x is f64 or f32
};

/// An entry of the table of operators of Loops with two operands, such as +. It has the printed form, the types, and
/// the functions that fold and interpret it.
struct BinaryRow {
  BinaryOp op;                                           // the operator of this entry
  std::string_view name;                                 // in printed loops, such as "+"
  Precedence precedence;                                 // how tightly it binds in print; kAtom: printed as a call
  Takes takes;                                           // types that the operands may have
  Gives gives;                                           // type of the result
  Value (*of_reals)(double a, double b);                 // evaluates it for f64 and f32; null if it takes bools
  Value (*of_integers)(std::int64_t a, std::int64_t b);  // evaluates it for i64 and bool; null if it takes reals alone
};

/// Returns the table entry of an operator with one operand.
const UnaryRow& row_of(UnaryOp op);
/// Returns true if evaluating the operator takes a call of many instructions: exp, log, log1p, logit_curvature,
/// digamma, trigamma, lgamma. sqrt is one instruction and does not count.
constexpr bool is_function(UnaryOp op) { return op >= UnaryOp::exp && op <= UnaryOp::lgamma && op != UnaryOp::sqrt; }
/// Returns the table entry of an operator with two operands.
const BinaryRow& row_of(BinaryOp op);

/// Returns true if an operator that takes `takes` accepts operands of the type.
constexpr bool accepts(Takes takes, Type type) {
  if (takes == Takes::boolean) return type == Type::boolean;
  return is_real(type) || (takes == Takes::number && type == Type::i64);
}
/// Returns the type of an operator's result if its operands have the type `operand`.
constexpr Type result_type(Gives gives, Type operand) {
  constexpr Type kTypes[] = {Type::f64, Type::f32, Type::boolean};
  return gives == Gives::same ? operand : kTypes[static_cast<int>(gives) - 1];
}

}  // namespace lehr::loops
