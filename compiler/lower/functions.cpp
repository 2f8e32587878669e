// The expansion of functions to operators of Loops (functions.h). The formulas are chosen so that none overflows: log
// cosh x is |x| + log(1 + exp(-2 |x|)) - log 2, for example.
#include "compiler/lower/functions.h"

#include <fmt/format.h>

#include <numbers>
#include <ranges>
#include <stdexcept>

namespace lehr::loops {
namespace {

/// The coefficients of log erfc(z) - log t + z^2, t = 2 / (2 + z), z >= 0, as a polynomial in 2 t - 1. They interpolate
/// at Chebyshev nodes, with an error of 2e-15.
constexpr double kScaledTail[] = {
    -0.67179408405669361,    0.67264322397764087,     0.04734330684216264,     -0.046895610229715043,
    -0.0098726893787780372,  0.0088249385176366133,   0.001758933793312547,    -0.0023458120108219875,
    -0.00014624916883453673, 0.00067367541324055732,  -9.3721879302326866e-05, -0.00017428857452947682,
    7.1354285497393991e-05,  3.170530880926975e-05,   -3.0081335811581178e-05, 2.1271081057649965e-07,
    8.4072812122359952e-06,  -3.0463069423114497e-06, -1.1351943058901526e-06, 1.3423850697691364e-06,
    -2.2788602827006343e-07, -3.1344845208280958e-07, 1.5008515852343862e-07,  3.3999576487531158e-08,
    -2.5129914149601973e-08};

/// The probability that a standard Normal number is above |x|, as t / 2 * exp(sum - z^2).
struct Tail {
  ExprId z, t, sum;
};

/// Returns the tail above |x|.
Tail tail(Builder& b, ExprId x) {
  b.require_f64();  // moments of truncated Normal variables are differences of these values, and would cancel
  const ExprId z = b.mul(b.abs(x), b.f(std::numbers::sqrt2 / 2));
  const ExprId t = b.div(b.f(2), b.add(b.f(2), z));
  const ExprId s = b.sub(b.mul(b.f(2), t), b.f(1));
  ExprId sum = b.f(0);
  for (const double c : kScaledTail | std::views::reverse)
    sum = b.add(b.mul(sum, s), b.f(c));
  return {z, t, sum};
}

/// Returns the log probability that a standard Normal number is above x. Below 0 it is log(1 - the tail above -x).
ExprId log_tail(Builder& b, ExprId x) {
  const auto [z, t, sum] = tail(b, x);
  const ExprId far = b.sub(b.add(sum, b.log(b.mul(t, b.f(0.5)))), b.mul(z, z));
  return b.select(b.less(x, b.f(0)), b.log1p(b.neg(b.exp(far))), far);
}

/// Returns the probability that a standard Normal number is below x.
ExprId probit(Builder& b, ExprId x) {
  const auto [z, t, sum] = tail(b, b.let(b.fresh("x"), x));
  const ExprId far = b.let(b.fresh("far"), b.mul(b.mul(t, b.f(0.5)), b.exp(b.sub(sum, b.mul(z, z)))));
  return b.select(b.less(x, b.f(0)), far, b.sub(b.f(1), far));
}

}  // namespace

ExprId apply(Builder& b, math::Function f, ExprId x) {
  using math::Function;
  switch (f) {
    case Function::log:
      return b.log(x);
    case Function::log1m:
      return b.log1p(b.neg(x));
    case Function::exp:
      return b.exp(x);
    case Function::sqrt:
      return b.sqrt(x);
    case Function::reciprocal:
      return b.div(b.f(1), x);
    case Function::lgamma:
      return b.lgamma(x);
    case Function::digamma:
      return b.digamma(x);
    case Function::trigamma:
      return b.trigamma(x);
    case Function::tanh:
      return b.sub(b.f(1), b.div(b.f(2), b.add(b.exp(b.mul(b.f(2), x)), b.f(1))));
    case Function::logit_curvature:
      return b.logit_curvature(x);
    case Function::log_cosh: {
      const ExprId y = b.abs(x);
      return b.sub(b.add(y, b.log1p(b.exp(b.mul(b.f(-2), y)))), b.f(0.69314718055994530942));
    }
    case Function::xlogx: {
      const ExprId positive = b.greater(x, b.f(0));
      return b.select(positive, b.mul(x, b.log(b.select(positive, x, b.f(1)))), b.f(0));
    }
    case Function::step:
      return b.select(b.greater(x, b.f(0)), b.f(1), b.f(0));
    case Function::abs:
      return b.abs(x);
    case Function::logistic:
      return b.div(b.f(1), b.add(b.f(1), b.exp(b.neg(x))));
    case Function::probit:
      return probit(b, x);
    case Function::log_tail:
      return log_tail(b, x);
    case Function::curvature:
    case Function::offset:
    case Function::logdet:
    case Function::above:
    case Function::below:
    case Function::lower:
    case Function::upper:
    case Function::slope:
      break;  // statistics of variables, which stand in terms as atoms
  }
  throw std::logic_error(fmt::format("loops: {} of a number", row_of(f).name));
}

}  // namespace lehr::loops
