// Functions of one number and operators of two, for every rung: models, family rows, coefficients and what is printed
// of them. A function is a row of the table in function.cpp.
#pragma once
#include <string_view>
#include <vector>

namespace lehr::math {

/// log1m(x) = log(1 - x); logit_curvature(x) = tanh(x / 2) / (4 x), 1/8 at 0: of the bound of log logistic(x); step(x)
/// = 1 where x > 0, else 0; xlogx(x) = x log x with xlogx(0) = 0 (entropies of discrete factors only); multigamma terms
/// are written out as sums. probit(x) is the probability that a standard Normal number is below x, log_tail(x) the
/// logarithm of the one that it is above. What follows logdet stands for statistics of variables (family.h) in printed
/// formulas and has no value here.
enum class Function {
  log,
  log1m,
  exp,
  sqrt,
  reciprocal,
  lgamma,
  digamma,
  trigamma,
  tanh,
  logit_curvature,
  log_cosh,
  xlogx,
  step,
  abs,
  logistic,
  probit,
  log_tail,
  curvature,
  offset,
  logdet,
  above,
  below,
  lower,
  upper,
  slope
};

/// `text` and `latex` are format strings: {0} the argument, {1} in brackets, {2} in brackets where it is a sum, {3} in
/// brackets unless it is an atom, {4} behind a space where it is a name, else in brackets.
struct FunctionRow {
  Function function;
  std::string_view name;  // "log", "lgamma", ...
  std::string_view text, latex;
  double (*value)(double) = nullptr;
  bool in_language = false;  // a model may call it by its name
};

const FunctionRow& row_of(Function f);
/// Those a model may call, by name.
const std::vector<const FunctionRow*>& language_functions();
/// NaN outside the domain, and for functions that have no value.
double value_of(Function f, double x);

enum class BinaryOp { add, subtract, multiply, divide };

constexpr std::string_view symbol_of(BinaryOp op) {
  constexpr std::string_view kSymbols = "+-*/";
  return kSymbols.substr(static_cast<std::size_t>(op), 1);
}

constexpr double value_of(BinaryOp op, double a, double b) {
  return op == BinaryOp::add ? a + b : op == BinaryOp::subtract ? a - b : op == BinaryOp::multiply ? a * b : a / b;
}

}  // namespace lehr::math
