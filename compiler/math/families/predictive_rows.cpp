// Cumulative distribution functions of compound distributions by incomplete gamma and beta functions. The beta-binomial
// has no such form: its probabilities are added up once and stored.
#include "compiler/math/families/predictive_rows.h"

#include <algorithm>
#include <cmath>

#include "compiler/math/boost_policy.h"
#include "compiler/math/families/rows.h"

namespace lehr::math {
namespace {

using Kind = ScalarMarginal::Kind;

/// The largest n for which a beta-binomial distribution is tabulated.
constexpr double kMostTrials = 1e6;

/// Makes the distribution of a count (a whole number from 0) from `f`, which maps a whole number k >= 0 to P(X <= k).
template <class F>
Predictive counts(F f) {
  Predictive out;
  out.whole = true;
  out.cumulative = [f](double x) { return x < 0 ? 0.0 : f(std::floor(x)); };
  return out;
}

/// Makes the distribution of a positive number from `f`, which maps x > 0 to P(X <= x). `typical` is about its median.
template <class F>
Predictive positive(double typical, F f) {
  Predictive out;
  out.centre = out.scale = std::isfinite(typical) && typical > 0 ? typical : 1;
  out.cumulative = [f](double x) { return x <= 0 ? 0.0 : f(x); };
  return out;
}

double log_beta(double a, double b) { return std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b); }

/// Returns the beta-binomial P(X <= x) for x = 0 ... n. The last is exactly 1, because all are divided by their total.
std::vector<double> beta_binomial(double n, double a, double b) {
  std::vector<double> out;
  double total = 0;
  for (double x = 0; x <= n; ++x) {
    const double log_choose = -std::log(n + 1) - log_beta(n - x + 1, x + 1);
    out.push_back(total += std::exp(log_choose + log_beta(x + a, n - x + b) - log_beta(a, b)));
  }
  for (double& x : out)
    x /= total;
  return out;
}

}  // namespace

std::optional<Predictive> predictive_poisson(std::span<const ScalarMarginal> p) {
  if (rows::have_kinds(p, {Kind::value}))
    return counts([rate = p[0].first](double x) { return boost::math::gamma_q(x + 1, rate, NoThrowPolicy()); });
  if (!rows::have_kinds(p, {Kind::gamma})) return std::nullopt;
  return counts([shape = p[0].first, rate = p[0].second](double x) {
    return boost::math::ibeta(shape, x + 1, rate / (1 + rate), NoThrowPolicy());
  });
}

std::optional<Predictive> predictive_binomial(std::span<const ScalarMarginal> p) {
  const bool fixed_probability = rows::have_kinds(p, {Kind::value, Kind::value});
  if (!fixed_probability && !rows::have_kinds(p, {Kind::value, Kind::beta})) return std::nullopt;
  const double n = p[0].first;
  if (fixed_probability)
    return counts(
        [n, q = p[1].first](double x) { return x >= n ? 1.0 : boost::math::ibetac(x + 1, n - x, q, NoThrowPolicy()); });
  if (!(n <= kMostTrials)) return std::nullopt;
  return counts([n, sums = beta_binomial(n, p[1].first, p[1].second)](double x) {
    return x >= n ? 1.0 : sums[static_cast<std::size_t>(x)];
  });
}

std::optional<Predictive> predictive_geometric(std::span<const ScalarMarginal> p) {
  if (rows::have_kinds(p, {Kind::value})) return predictive_of({Kind::geometric, p[0].first});
  if (!rows::have_kinds(p, {Kind::beta})) return std::nullopt;
  return counts(
      [a = p[0].first, b = p[0].second](double x) { return -std::expm1(log_beta(a, b + x + 1) - log_beta(a, b)); });
}

std::optional<Predictive> predictive_negative_binomial(std::span<const ScalarMarginal> p) {
  if (!rows::have_kinds(p, {Kind::value, Kind::value})) return std::nullopt;
  return counts(
      [r = p[0].first, q = p[1].first](double x) { return boost::math::ibeta(r, x + 1, q, NoThrowPolicy()); });
}

std::optional<Predictive> predictive_gamma(std::span<const ScalarMarginal> p) {
  if (rows::have_kinds(p, {Kind::value, Kind::value})) return predictive_of({Kind::gamma, p[0].first, p[1].first});
  if (!rows::have_kinds(p, {Kind::value, Kind::gamma})) return std::nullopt;
  const double shape = p[0].first, a = p[1].first, b = p[1].second;
  return positive(shape * b / a,
                  [shape, a, b](double x) { return boost::math::ibeta(shape, a, x / (x + b), NoThrowPolicy()); });
}

std::optional<Predictive> predictive_inverse_gamma(std::span<const ScalarMarginal> p) {
  if (!rows::have_kinds(p, {Kind::value, Kind::value})) return std::nullopt;
  return predictive_of({Kind::inverse_gamma, p[0].first, p[1].first});
}

std::optional<Predictive> predictive_exponential(std::span<const ScalarMarginal> p) {
  if (rows::have_kinds(p, {Kind::value})) return predictive_of({Kind::gamma, 1, p[0].first});
  if (!rows::have_kinds(p, {Kind::gamma})) return std::nullopt;
  return positive(p[0].second / p[0].first,
                  [a = p[0].first, b = p[0].second](double x) { return -std::expm1(-a * std::log1p(x / b)); });
}

}  // namespace lehr::math
