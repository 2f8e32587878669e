// The special functions of the interpreter. The recurrence shifts the argument beyond 24, where ten terms of the
// asymptotic series reach the precision of long double.
#include "compiler/loops/special.h"

#include <cmath>
#include <limits>

namespace lehr::loops {
namespace {

/// The least argument of the asymptotic series.
constexpr long double kShiftTo = 24.0L;
/// The Bernoulli numbers B_2, B_4, ... B_20.
constexpr long double kBernoulli[] = {1.0L / 6,       -1.0L / 30, 1.0L / 42,      -1.0L / 30,     5.0L / 66,
                                      -691.0L / 2730, 7.0L / 6,   -3617.0L / 510, 43867.0L / 798, -174611.0L / 330};
/// log(2 pi) / 2, of Stirling's series.
constexpr long double kHalfLogTwoPi = 0.918938533204672741780329736405617640L;

}  // namespace

double digamma(double x) {
  if (!(x > 0)) return std::numeric_limits<double>::quiet_NaN();
  if (std::isinf(x)) return x;
  long double y = x, sum = 0;
  for (; y < kShiftTo; y += 1)
    sum -= 1 / y;
  const long double z = 1 / (y * y);
  long double power = z, series = 0;
  for (int k = 1; k <= 10; ++k, power *= z)
    series += kBernoulli[k - 1] / (2 * k) * power;
  return static_cast<double>(sum + std::log(y) - 0.5L / y - series);
}

double trigamma(double x) {
  if (!(x > 0)) return std::numeric_limits<double>::quiet_NaN();
  if (std::isinf(x)) return 0;
  long double y = x, sum = 0;
  for (; y < kShiftTo; y += 1)
    sum += 1 / (y * y);
  const long double z = 1 / (y * y);
  long double power = z / y, series = 0;
  for (int k = 1; k <= 10; ++k, power *= z)
    series += kBernoulli[k - 1] * power;
  return static_cast<double>(sum + 1 / y + 0.5L * z + series);
}

double log_gamma(double x) {
  if (!(x > 0)) return std::numeric_limits<double>::quiet_NaN();
  if (std::isinf(x)) return x;
  long double y = x, sum = 0;
  for (; y < kShiftTo; y += 1)
    sum -= std::log(y);
  const long double z = 1 / (y * y);
  long double power = 1 / y, series = 0;
  for (int k = 1; k <= 10; ++k, power *= z)
    series += kBernoulli[k - 1] / (2 * k * (2 * k - 1)) * power;
  return static_cast<double>(sum + (y - 0.5L) * std::log(y) - y + kHalfLogTwoPi + series);
}

}  // namespace lehr::loops
