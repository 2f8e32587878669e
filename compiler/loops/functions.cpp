// See functions.h.
#include "compiler/loops/functions.h"

#include <fmt/format.h>

#include <stdexcept>

namespace lehr::loops {

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
    case Function::logistic:
      return b.div(b.f(1), b.add(b.f(1), b.exp(b.neg(x))));
    case Function::curvature:
    case Function::offset:
    case Function::logdet:
      break;  // of variables: atoms, never applied
  }
  throw std::logic_error(fmt::format("loops: {} of a number", row_of(f).name));
}

}  // namespace lehr::loops
