// Predictive distributions of Gaussian values, and quantiles of mixtures. A quantile of counts is found by doubling and
// bisection, another one by bracketing and the TOMS 748 method of Boost.Math.
#include "compiler/math/predictive.h"

#include <algorithm>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <limits>

#include "compiler/math/boost_policy.h"

namespace lehr::math {
namespace {

/// A variance below this is treated as 0: it is nothing beside any other.
constexpr double kNegligibleVariance = 1e-290;

// Returns P(Z <= z) of a standard Normal Z.
double standard_normal(double z) { return 0.5 * std::erfc(-z * M_SQRT1_2); }

// A node of the trapezoidal rule: the Normal of this sd has this weight in the mixture.
struct QuadratureNode {
  double sd, weight;
};

/// Returns the nodes for an integral over log s. log s = -log t with t ~ Gamma(shape, scale). Nodes cover where the
/// density of log t is more than e^-41 of its maximum.
std::vector<QuadratureNode> nodes_of(double variance, double spread, double shape, double scale) {
  const double step = std::min(0.2, 0.65 / std::sqrt(shape));
  const double top = std::log(shape / scale);
  const auto log_density = [&](double u) { return shape * (u - std::expm1(u)); };  // u = log t - top
  std::vector<QuadratureNode> out;
  double total = 0;
  for (const double direction : {-1.0, 1.0}) {
    for (double k = direction < 0 ? 1 : 0;; ++k) {
      const double u = direction * k * step, log_weight = log_density(u);
      if (log_weight < -41) break;
      out.push_back({std::sqrt(variance + spread * std::exp(-top - u)), std::exp(log_weight)});
      total += out.back().weight;
    }
  }
  for (QuadratureNode& n : out)
    n.weight /= total;
  return out;
}

/// Returns the least whole number x >= 0 for which `reaches(x)` is true; it must stay true from there on. NaN if there
/// is none up to some 1e16.
template <class F>
double first_integer_where(const F& reaches) {
  constexpr double kMost = 9e15;
  double high = 1;
  if (reaches(0.0)) return 0;
  while (!reaches(high)) {
    if (high > kMost) return kNone;
    high *= 2;
  }
  double low = std::floor(high / 2);
  if (high == 1) return 1;
  while (high - low > 1) {
    const double middle = std::floor((low + high) / 2);
    (reaches(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace

Predictive normal_mixture(double mean, double variance, double spread, double shape, double scale) {
  if (variance < kNegligibleVariance) variance = 0;
  if (!(spread > 0))
    return variance > 0 ? predictive_of({ScalarMarginal::Kind::normal, mean, std::sqrt(variance)})
                        : predictive_of({ScalarMarginal::Kind::value, mean});
  const double typical = std::sqrt(spread * scale / shape);
  if (!(variance > 0)) return predictive_of({ScalarMarginal::Kind::student, 2 * shape, mean, typical});
  Predictive out;
  out.centre = mean;
  out.scale = std::sqrt(variance) + typical;
  out.cumulative = [mean, nodes = nodes_of(variance, spread, shape, scale)](double x) {
    double total = 0;
    for (const QuadratureNode& n : nodes)
      total += n.weight * standard_normal((x - mean) / n.sd);
    return total;
  };
  return out;
}

Predictive predictive_of(const ScalarMarginal& m) {
  Predictive out;
  out.whole = m.kind == ScalarMarginal::Kind::geometric;
  const double low = quantile(m, 0.25), high = quantile(m, 0.75);
  out.centre = quantile(m, 0.5);
  if (high > low && std::isfinite(high - low)) out.scale = high - low;
  out.cumulative = [m](double x) { return cumulative(m, x); };
  return out;
}

double quantile(const Mixture& mixture, double probability) {
  const auto cumulative = [&](double x) {
    double total = 0;
    for (const auto& [weight, p] : mixture)
      if (weight > 0) total += weight * p.cumulative(x);
    return total;
  };
  if (mixture.empty()) return kNone;
  // Weights sum to 1 only up to rounding, so a cumulative probability of 1 may be slightly less.
  constexpr double kRounding = 1e-13;
  if (std::ranges::all_of(mixture, [](const auto& c) { return c.second.whole; }))
    return first_integer_where([&](double x) { return cumulative(x) >= probability - kRounding; });
  double low = std::numeric_limits<double>::infinity(), high = -low, scale = 0;
  for (const auto& [weight, p] : mixture) {
    if (!(weight > 0)) continue;
    low = std::min(low, p.centre);
    high = std::max(high, p.centre);
    scale = std::max(scale, p.scale);
  }
  if (!std::isfinite(low) || !std::isfinite(high) || !std::isfinite(cumulative(low))) return kNone;
  const auto excess = [&](double x) { return cumulative(x) - probability; };
  low -= scale;
  high += scale;
  for (double step = scale; excess(low) > 0 && std::isfinite(low); step *= 2)
    low -= step;
  for (double step = scale; excess(high) < 0 && std::isfinite(high); step *= 2)
    high += step;
  double below = excess(low), above = excess(high);
  if (!std::isfinite(low) || !std::isfinite(high) || !(below <= 0 && above >= 0)) return kNone;
  if (below == 0) return low;
  if (above == 0) return high;
  std::uintmax_t iterations = 400;
  const boost::math::tools::eps_tolerance<double> close(52);
  const auto [a, b] = boost::math::tools::toms748_solve(excess, low, high, below, above, close, iterations);
  return excess(a) >= 0 ? a : b;
}

}  // namespace lehr::math
