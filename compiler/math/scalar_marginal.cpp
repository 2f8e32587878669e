// Quantiles and cumulative distribution functions of margins, by Boost.Math. Boost's inverses lose digits, throw or do
// not end for huge parameters. There, the limits of the distributions are used: Normal ones with a correction for
// skewness, or Gamma for a Beta.
#include "compiler/math/scalar_marginal.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "compiler/math/boost_policy.h"

namespace lehr::math {
namespace {

// Returns true for a valid positive parameter.
bool positive(double x) { return x > 0 && std::isfinite(x); }

/// From here on a parameter is huge: the limit of the distribution is more accurate than Boost's functions.
constexpr double kLarge = 1e9;
/// A Beta variable with one huge parameter is nearly Gamma if the other is below this, else nearly Normal.
constexpr double kGammaLike = 1e4;

// Returns the quantile of the standard Normal.
double normal_quantile(double probability) {
  return -std::numbers::sqrt2 * boost::math::erfc_inv(2 * probability, NoThrowPolicy());
}

/// A distribution that is nearly Normal, to first order in its skewness: quantiles by Cornish and Fisher, the
/// cumulative function by Edgeworth's series.
struct NearlyNormal {
  double mean, sd, skewness;

  double quantile(double probability) const {
    const double z = normal_quantile(probability);
    return mean + sd * (z + skewness * (z * z - 1) / 6);
  }
  double cumulative(double x) const {
    if (!(sd > 0) || std::isinf(x)) return x < mean ? 0 : 1;
    const double z = (x - mean) / sd, density = std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
    const double p = 0.5 * std::erfc(-z / std::numbers::sqrt2) - skewness * (z * z - 1) / 6 * density;
    return std::clamp(p, 0.0, 1.0);
  }
};

// Returns the limit of Gamma(shape, rate 1) for a huge shape.
NearlyNormal large_gamma(double shape) { return {shape, std::sqrt(shape), 2 / std::sqrt(shape)}; }

// Returns the limit of Beta(a, b) for two huge parameters, without overflow.
NearlyNormal large_beta(double a, double b) {
  const double p = 1 / (1 + b / a), q = 1 / (1 + a / b), root = std::sqrt(0.5 * a + 0.5 * b) * std::numbers::sqrt2;
  return {p, std::sqrt(p) * std::sqrt(q) / root, 2 * (q - p) / (std::sqrt(p) * std::sqrt(q) * root)};
}

double gamma_quantile(double shape, double probability) {
  return shape > kLarge ? large_gamma(shape).quantile(probability)
                        : boost::math::gamma_p_inv(shape, probability, NoThrowPolicy());
}

double gamma_cumulative(double shape, double x) {
  return shape > kLarge ? large_gamma(shape).cumulative(x) : boost::math::gamma_p(shape, x, NoThrowPolicy());
}

/// Returns a quantile of Beta(a, b). With one huge parameter, the odds x / (1 - x) are a Gamma variable divided by it.
double beta_quantile(double a, double b, double probability) {
  if (std::max(a, b) <= kLarge) return boost::math::ibeta_inv(a, b, probability, NoThrowPolicy());
  if (std::min(a, b) > kGammaLike) return large_beta(a, b).quantile(probability);
  const double odds = a < b ? gamma_quantile(a, probability) / b : gamma_quantile(b, 1 - probability) / a;
  return a < b ? odds / (1 + odds) : 1 / (1 + odds);
}

double beta_cumulative(double a, double b, double x) {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
  if (std::max(a, b) <= kLarge) return boost::math::ibeta(a, b, x, NoThrowPolicy());
  if (std::min(a, b) > kGammaLike) return large_beta(a, b).cumulative(x);
  return a < b ? gamma_cumulative(a, b * (x / (1 - x))) : 1 - gamma_cumulative(b, a * ((1 - x) / x));
}

/// Returns a quantile of Student's t. With x ~ Beta(freedom / 2, 1 / 2), |t| is the square root of freedom * (1 - x) /
/// x.
double student_quantile(double freedom, double location, double scale, double probability) {
  if (!positive(freedom)) return kNone;
  if (freedom > kLarge) return location + scale * normal_quantile(probability);
  double rest = 0;
  const double tails = 2 * std::min(probability, 1 - probability);
  const double x = boost::math::ibeta_inv(0.5 * freedom, 0.5, tails, &rest, NoThrowPolicy());
  const double t = std::sqrt(freedom * rest / x);
  return location + scale * (probability < 0.5 ? -t : t);
}

/// Returns P(T <= t) of Student's t. Near the middle, freedom / (freedom + t^2) has lost the digits of t, so the
/// complement is used.
double student_cumulative(double freedom, double t) {
  if (freedom > kLarge) return 0.5 * std::erfc(-t / std::numbers::sqrt2);
  const double all = freedom + t * t;
  const double tail = t * t < freedom ? 0.5 * boost::math::ibetac(0.5, 0.5 * freedom, t * t / all, NoThrowPolicy())
                                      : 0.5 * boost::math::ibeta(0.5 * freedom, 0.5, freedom / all, NoThrowPolicy());
  return t < 0 ? tail : 1 - tail;
}

}  // namespace

double quantile(const ScalarMarginal& m, double probability) {
  using Kind = ScalarMarginal::Kind;
  const bool proper = positive(m.first) && positive(m.second);
  switch (m.kind) {
    case Kind::none:
      return kNone;
    case Kind::value:
      return m.first;
    case Kind::normal:
      return m.first - m.second * std::numbers::sqrt2 * boost::math::erfc_inv(2 * probability, NoThrowPolicy());
    case Kind::student:
      return student_quantile(m.first, m.second, m.third, probability);
    case Kind::gamma:
      return proper ? gamma_quantile(m.first, probability) / m.second : kNone;
    case Kind::inverse_gamma:
      if (!proper) return kNone;
      return m.second / (m.first > kLarge ? gamma_quantile(m.first, 1 - probability)
                                          : boost::math::gamma_q_inv(m.first, probability, NoThrowPolicy()));
    case Kind::beta:
      return proper ? beta_quantile(m.first, m.second, probability) : kNone;
    case Kind::geometric:
      // The least x with 1 - (1 - p)^(x + 1) >= q.
      return std::max(0.0, std::ceil(std::log1p(-probability) / std::log1p(-m.first)) - 1);
  }
  return kNone;
}

double cumulative(const ScalarMarginal& m, double x) {
  using Kind = ScalarMarginal::Kind;
  const bool proper = positive(m.first) && positive(m.second);
  switch (m.kind) {
    case Kind::none:
      return kNone;
    case Kind::value:
      return x < m.first ? 0 : 1;
    case Kind::normal:
      return 0.5 * std::erfc((m.first - x) / (m.second * std::numbers::sqrt2));
    case Kind::student:
      return positive(m.first) ? student_cumulative(m.first, (x - m.second) / m.third) : kNone;
    case Kind::gamma:
      if (!proper) return kNone;
      return x <= 0 ? 0 : gamma_cumulative(m.first, m.second * x);
    case Kind::inverse_gamma:
      if (!proper) return kNone;
      if (x <= 0) return 0;
      return m.first > kLarge ? 1 - gamma_cumulative(m.first, m.second / x)
                              : boost::math::gamma_q(m.first, m.second / x, NoThrowPolicy());
    case Kind::beta:
      return proper ? beta_cumulative(m.first, m.second, x) : kNone;
    case Kind::geometric:
      return x < 0 ? 0 : -std::expm1((std::floor(x) + 1) * std::log1p(-m.first));
  }
  return kNone;
}

}  // namespace lehr::math
