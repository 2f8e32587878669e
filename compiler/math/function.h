// Functions of one number and operators of two, for all intermediate representations: models, family rows, coefficients
// and printed formulas. A function is a row of the table in function.cpp; a new one needs an enumerator here and a row
// there.
#pragma once
#include <string_view>
#include <vector>

namespace lehr::math {

/// The functions of one number x that formulas, coefficients and model files may contain. The enumerators from
/// `curvature` on stand for statistics of variables (Stat in family.h) in printed formulas, and have no numeric value.
enum class Function {
  log,              // log x
  log1m,            // log(1 - x)
  exp,              // e to the power of x
  sqrt,             // square root
  reciprocal,       // 1 / x
  lgamma,           // log Gamma(x)
  digamma,          // derivative of lgamma
  trigamma,         // derivative of digamma
  tanh,             // hyperbolic tangent
  logit_curvature,  // tanh(x / 2) / (4 x), 1/8 at 0
  log_cosh,         // log cosh(x)
  xlogx,            // x log x, 0 at 0; entropies of discrete factors
  step,             // 1 if x > 0, else 0
  abs,              // |x|
  logistic,         // 1 / (1 + exp(-x))
  probit,           // P(Z < x) of a standard Normal Z
  log_tail,         // log P(Z > x) of a standard Normal Z
  curvature,        // coefficient of the bound of the logistic function (Stat::curvature)
  offset,           // constant of a local bound (Stat::offset)
  logdet,           // log determinant of a matrix (Stat::logdet)
  above,            // log [x > lower limit] (Stat::above)
  below,            // log [x < upper limit] (Stat::below)
  lower,            // carrier of the lower limit (Stat::lower)
  upper,            // carrier of the upper limit (Stat::upper)
  slope             // slope of the bound of log sum exp (Stat::slope)
};

/// The entry of a function in the table: its names, how a call is printed, and its numeric value. `text` and `latex`
/// are format strings of fmt for a call. They have slots for the argument:
///
///   {0} without brackets      {1} in brackets                  {2} in brackets if it is a sum
///   {3} in brackets unless it is a name, number or call        {4} behind a space if it is a name, else in brackets
struct FunctionRow {
  Function function;                  // the function of this row
  std::string_view name;              // in models and messages: "log", "lgamma", ...
  std::string_view text, latex;       // formats of a call, as plain text and as LaTeX
  double (*value)(double) = nullptr;  // computes f(x); null: a statistic, which has no number
  bool in_language = false;           // a model may call it by its name
};

/// Returns the entry of a function in the table of functions: its names, how a call is printed, and its numeric value.
const FunctionRow& row_of(Function f);
/// Returns the rows of the functions that a model may call, in table order.
const std::vector<const FunctionRow*>& language_functions();
/// Returns f(x). NaN outside the domain, and for functions that have no numeric value.
double value_of(Function f, double x);

/// The arithmetic operators of expressions in a model file.
enum class BinaryOp { add, subtract, multiply, divide };

/// Returns the character of an operator: "+", "-", "*" or "/".
constexpr std::string_view symbol_of(BinaryOp op) {
  constexpr std::string_view kSymbols = "+-*/";
  return kSymbols.substr(static_cast<std::size_t>(op), 1);
}

/// Returns the result of an operator for the operands a and b: real numbers, or others with these operators.
template <class Number>
constexpr Number value_of(BinaryOp op, const Number& a, const Number& b) {
  return op == BinaryOp::add ? a + b : op == BinaryOp::subtract ? a - b : op == BinaryOp::multiply ? a * b : a / b;
}

}  // namespace lehr::math
