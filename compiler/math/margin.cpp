#include "compiler/math/margin.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "compiler/math/quiet.h"

namespace lehr::math {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

bool positive(double x) { return x > 0 && std::isfinite(x); }

// With x ~ Beta(freedom / 2, 1 / 2), |t| is the root of freedom * (1 - x) / x.
double student_quantile(double freedom, double location, double scale, double probability) {
  if (!positive(freedom)) return kNone;
  double rest = 0;
  const double tails = 2 * std::min(probability, 1 - probability);
  const double x = boost::math::ibeta_inv(0.5 * freedom, 0.5, tails, &rest, Quiet());
  const double t = std::sqrt(freedom * rest / x);
  return location + scale * (probability < 0.5 ? -t : t);
}

// Near the middle freedom / (freedom + t^2) has lost the digits of t.
double student_cumulative(double freedom, double t) {
  const double all = freedom + t * t;
  const double tail = t * t < freedom ? 0.5 * boost::math::ibetac(0.5, 0.5 * freedom, t * t / all, Quiet())
                                      : 0.5 * boost::math::ibeta(0.5 * freedom, 0.5, freedom / all, Quiet());
  return t < 0 ? tail : 1 - tail;
}

}  // namespace

double quantile(const Margin& m, double probability) {
  using Kind = Margin::Kind;
  const bool proper = positive(m.first) && positive(m.second);
  switch (m.kind) {
    case Kind::none:
      return kNone;
    case Kind::value:
      return m.first;
    case Kind::normal:
      return m.first - m.second * std::numbers::sqrt2 * boost::math::erfc_inv(2 * probability, Quiet());
    case Kind::student:
      return student_quantile(m.first, m.second, m.third, probability);
    case Kind::gamma:
      return proper ? boost::math::gamma_p_inv(m.first, probability, Quiet()) / m.second : kNone;
    case Kind::inverse_gamma:
      return proper ? m.second / boost::math::gamma_q_inv(m.first, probability, Quiet()) : kNone;
    case Kind::beta:
      return proper ? boost::math::ibeta_inv(m.first, m.second, probability, Quiet()) : kNone;
    case Kind::geometric:
      // The least x with 1 - (1 - p)^(x + 1) >= q.
      return std::max(0.0, std::ceil(std::log1p(-probability) / std::log1p(-m.first)) - 1);
  }
  return kNone;
}

double cumulative(const Margin& m, double x) {
  using Kind = Margin::Kind;
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
      return x <= 0 ? 0 : boost::math::gamma_p(m.first, m.second * x, Quiet());
    case Kind::inverse_gamma:
      if (!proper) return kNone;
      return x <= 0 ? 0 : boost::math::gamma_q(m.first, m.second / x, Quiet());
    case Kind::beta:
      if (!proper) return kNone;
      return x <= 0 ? 0 : x >= 1 ? 1 : boost::math::ibeta(m.first, m.second, x, Quiet());
    case Kind::geometric:
      return x < 0 ? 0 : -std::expm1((std::floor(x) + 1) * std::log1p(-m.first));
  }
  return kNone;
}

}  // namespace lehr::math
