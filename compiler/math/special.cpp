// Implements the special functions. The thresholds between recurrence and series are chosen so that the series have
// converged to double precision.
#include "compiler/math/special.h"

#include <math.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace lehr::math {

double log_gamma_value(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

double digamma_value(double x) {
  if (!(x > 0.0)) return std::numeric_limits<double>::quiet_NaN();
  double shift = 0.0;
  for (; x < 10.0; x += 1.0)
    shift -= 1.0 / x;
  const double s = 1.0 / (x * x);
  const double series =
      s *
      (1.0 / 12 - s * (1.0 / 120 - s * (1.0 / 252 - s * (1.0 / 240 - s * (1.0 / 132 - s * (691.0 / 32760 - s / 12))))));
  return shift + std::log(x) - 0.5 / x - series;
}

double trigamma_value(double x) {
  if (!(x > 0.0)) return std::numeric_limits<double>::quiet_NaN();
  double shift = 0.0;
  for (; x < 10.0; x += 1.0)
    shift += 1.0 / (x * x);
  const double s = 1.0 / (x * x);
  const double series =
      s *
      (1.0 / 6 - s * (1.0 / 30 - s * (1.0 / 42 - s * (1.0 / 30 - s * (5.0 / 66 - s * (691.0 / 2730 - s * 7.0 / 6))))));
  return shift + (1.0 + 0.5 / x + series) / x;
}

double log_tail_value(double x) {
  const auto tail = [](double y) { return 0.5 * std::erfc(y / std::numbers::sqrt2); };
  // Below 0 the probability is near 1: its logarithm is computed from the small rest.
  if (x < 0.0) return std::log1p(-tail(-x));
  if (x < 30.0) return std::log(tail(x));
  const double s = 1.0 / (x * x);
  const double series = s * (1.0 - s * (3.0 - s * (15.0 - s * (105.0 - s * 945.0))));
  return -0.5 * x * x - std::log(x) - 0.5 * std::log(2.0 * std::numbers::pi) + std::log1p(-series);
}

}  // namespace lehr::math
