#include "compiler/math/quantiles.h"

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "compiler/math/rows.h"

namespace lehr::math {
namespace {

namespace policies = boost::math::policies;

/// What overflows is infinite, what underflows is 0, and nothing throws.
using Quiet =
    policies::policy<policies::domain_error<policies::ignore_error>, policies::pole_error<policies::ignore_error>,
                     policies::overflow_error<policies::ignore_error>,
                     policies::underflow_error<policies::ignore_error>,
                     policies::evaluation_error<policies::ignore_error>, policies::promote_double<false>>;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

bool positive(double x) { return x > 0 && std::isfinite(x); }

}  // namespace

double normal_quantile(double mean, double sd, double probability) {
  return mean - sd * std::numbers::sqrt2 * boost::math::erfc_inv(2 * probability, Quiet());
}

double gamma_quantile(double shape, double rate, double probability) {
  if (!positive(shape) || !positive(rate)) return kNone;
  return boost::math::gamma_p_inv(shape, probability, Quiet()) / rate;
}

double inverse_gamma_quantile(double shape, double scale, double probability) {
  if (!positive(shape) || !positive(scale)) return kNone;
  return scale / boost::math::gamma_q_inv(shape, probability, Quiet());
}

double beta_quantile(double a, double b, double probability) {
  if (!positive(a) || !positive(b)) return kNone;
  return boost::math::ibeta_inv(a, b, probability, Quiet());
}

// With x ~ Beta(freedom / 2, 1 / 2), |t| is the root of freedom * (1 - x) / x.
double student_quantile(double freedom, double location, double scale, double probability) {
  if (!positive(freedom)) return kNone;
  double rest = 0;
  const double tails = 2 * std::min(probability, 1 - probability);
  const double x = boost::math::ibeta_inv(0.5 * freedom, 0.5, tails, &rest, Quiet());
  const double t = std::sqrt(freedom * rest / x);
  return location + scale * (probability < 0.5 ? -t : t);
}

const Quantiles* find_quantiles(const FamilyRow& row) {
  static const std::vector<QuantileRow> kRows = [] {
    std::vector<QuantileRow> all = scalar_quantiles();
    for (auto* more : {&discrete_quantiles, &vector_quantiles})
      std::ranges::move(more(), std::back_inserter(all));
    return all;
  }();
  const auto found = std::ranges::find(kRows, row.name, &QuantileRow::family);
  return found == kRows.end() ? nullptr : &found->quantiles;
}

}  // namespace lehr::math
