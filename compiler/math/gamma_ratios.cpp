// Computes Gamma(x + b) / Gamma(x) by recurrence and Stirling's series (Abramowitz & Stegun 6.1.15, 6.1.40). With z = x
// + n, n = 10, or n = 0 if x >= 10 already:
//
//   Gamma(x + b) / Gamma(x) = product_{i < n} (x + i) / (x + b + i) * Gamma(z + b) / Gamma(z)
//   log Gamma(z + b) - log Gamma(z) = (z - 1/2) log(1 + b/z) + b log(z + b) - b + tail(z + b) - tail(z)
//
// The second line cancels the large parts of the two log Gammas analytically.
#include "compiler/math/gamma_ratios.h"

#include <Eigen/Dense>

namespace lehr::math {
namespace {

using Eigen::ArrayXd;
using Values = Eigen::Map<const ArrayXd>;

/// n, the number of steps of the recurrence.
constexpr int kShift = 10;

Values values(const std::vector<double>& x) { return {x.data(), static_cast<Eigen::Index>(x.size())}; }
std::vector<double> stored(const ArrayXd& x) { return {x.begin(), x.end()}; }

/// Returns log Gamma(z) - (z - 1/2) log z + z - log(2 pi) / 2 by its asymptotic series, for z >= 10.
ArrayXd stirling_tail(const ArrayXd& z) {
  const ArrayXd inverse = 1 / z, s = inverse * inverse;
  return inverse *
         (1.0 / 12 - s * (1.0 / 360 - s * (1.0 / 1260 - s * (1.0 / 1680 - s * (1.0 / 1188 - s * 691 / 360360)))));
}

/// Returns x (x + 1) ... (x + n - 1) for elements with `first` below n, else 1.
ArrayXd recurrence_product(const ArrayXd& x, const Values& first) {
  ArrayXd out = ArrayXd::Ones(x.size());
  for (int i = 0; i < kShift; ++i)
    out *= x + i;
  return (first < kShift).select(out, 1.0);
}

/// Returns log(1 + u) for 0 <= u <= 1/10, as 2 artanh(u / (2 + u)).
ArrayXd log_1_plus(const ArrayXd& u) {
  const ArrayXd w = u / (2 + u), s = w * w;
  return 2 * w * (1 + s * (1.0 / 3 + s * (1.0 / 5 + s * (1.0 / 7 + s * (1.0 / 9 + s * (1.0 / 11 + s / 13))))));
}

}  // namespace

GammaRatios::GammaRatios(std::span<const double> x) : x_(x.begin(), x.end()) {
  const ArrayXd z = (values(x_) < kShift).select(values(x_) + kShift, values(x_));
  z_ = stored(z);
  log_z_ = stored(z.log());
  tail_ = stored(stirling_tail(z));
  product_ = stored(recurrence_product(values(x_), values(x_)));
}

std::vector<double> GammaRatios::operator()(double b) const {
  const Values z = values(z_);
  const ArrayXd log_ratio = log_1_plus(b / z);
  const ArrayXd log_gammas =
      (z - 0.5) * log_ratio + b * (values(log_z_) + log_ratio) - b + stirling_tail(z + b) - values(tail_);
  return stored(log_gammas.exp() * values(product_) / recurrence_product(values(x_) + b, values(x_)));
}

}  // namespace lehr::math
