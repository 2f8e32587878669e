#include "compiler/model/arithmetic.h"

#include <cmath>
#include <limits>

namespace lehr::model {

double apply(BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::add:
      return a + b;
    case BinaryOp::subtract:
      return a - b;
    case BinaryOp::multiply:
      return a * b;
    case BinaryOp::divide:
      return a / b;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

double apply(Function f, double x) {
  switch (f) {
    case Function::log:
      return std::log(x);
    case Function::exp:
      return std::exp(x);
    case Function::sqrt:
      return std::sqrt(x);
    case Function::logistic:
      return 1 / (1 + std::exp(-x));
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace lehr::model
