// Chebyshev interpolation in log T (Trefethen 2013). Doubling the number of points reuses all earlier evaluations,
// since the points for n are every second of those for 2n.
#include "compiler/evaluate/over_temperatures.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lehr {
namespace {

/// Size of the last coefficients, relative to the largest, at which the interpolation has converged.
constexpr double kTail = 1e-13;

/// Returns the Chebyshev coefficients of the polynomial through the values at cos(pi k / n), k = 0 .. n.
std::vector<double> coefficients(const std::vector<double>& values) {
  const std::size_t n = values.size() - 1;
  std::vector<double> out(n + 1);
  for (std::size_t j = 0; j <= n; ++j) {
    for (std::size_t k = 0; k <= n; ++k) {
      const double end = k == 0 || k == n ? 0.5 : 1;
      const double angle = std::numbers::pi * static_cast<double>(j * k) / static_cast<double>(n);
      out[j] += end * values[k] * std::cos(angle);
    }
    out[j] *= (j == 0 || j == n ? 1.0 : 2.0) / static_cast<double>(n);
  }
  return out;
}

/// Evaluates a Chebyshev series (Clenshaw's recurrence).
double at(const std::vector<double>& c, double x) {
  double next = 0, after = 0;
  for (std::size_t j = c.size(); j-- > 1;) {
    const double now = c[j] + 2 * x * next - after;
    after = next;
    next = now;
  }
  return c[0] + x * next - after;
}

/// Returns true if the last three coefficients are small.
bool has_converged(const std::vector<double>& c) {
  double largest = 0;
  for (double x : c)
    largest = std::max(largest, std::abs(x));
  return std::all_of(c.end() - 3, c.end(), [&](double x) { return std::abs(x) <= kTail * largest; });
}

}  // namespace

FunctionsOfTemperature interpolate_over_temperatures(
    const std::vector<double>& temperatures,
    const std::function<FunctionsOfTemperature(const std::vector<double>&)>& evaluate) {
  const double low = std::log(temperatures.front()), high = std::log(temperatures.back());
  const auto point = [&](std::size_t k, std::size_t n) {
    const double x = std::cos(std::numbers::pi * static_cast<double>(k) / static_cast<double>(n));
    return std::exp(0.5 * (low + high) + 0.5 * (high - low) * x);
  };
  FunctionsOfTemperature values;  // at the n + 1 points so far
  for (std::size_t n = 8; n + 1 < temperatures.size(); n *= 2) {
    const bool first = values.empty();
    std::vector<double> fresh;  // the points without a value: all at first, then every second
    for (std::size_t k = first ? 0 : 1; k <= n; k += first ? 1 : 2)
      fresh.push_back(point(k, n));
    FunctionsOfTemperature more = evaluate(fresh);
    for (std::size_t f = 0; f < values.size(); ++f) {
      std::vector<double> both;
      for (std::size_t k = 0; k <= n; ++k)
        both.push_back(k % 2 == 0 ? values[f][k / 2] : more[f][k / 2]);
      more[f] = std::move(both);
    }
    values = std::move(more);
    FunctionsOfTemperature polynomials;
    for (const std::vector<double>& v : values)
      polynomials.push_back(coefficients(v));
    if (!std::all_of(polynomials.begin(), polynomials.end(), has_converged)) continue;
    FunctionsOfTemperature out;
    for (const std::vector<double>& c : polynomials) {
      out.emplace_back();
      for (double t : temperatures)
        out.back().push_back(at(c, (2 * std::log(t) - low - high) / (high - low)));
    }
    return out;
  }
  return evaluate(temperatures);
}

}  // namespace lehr
