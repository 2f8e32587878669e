// Ranges and ticks of axes.
#include "compiler/report/scale.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace lehr::report {

Scale padded_range(std::span<const double> values, double margin) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double x : values) {
    if (!std::isfinite(x)) continue;
    low = std::min(low, x);
    high = std::max(high, x);
  }
  if (low > high) return {};
  const double range = high - low, size = std::max(std::abs(low), std::abs(high));
  // Values that differ only by rounding get a range around them.
  if (range <= 1e-12 * size || range == 0) return {low - std::max(0.5 * size, 1e-3), high + std::max(0.5 * size, 1e-3)};
  return {low - margin * range, high + margin * range};
}

std::vector<double> ticks(const Scale& scale, std::size_t most) {
  // The step is 1, 2 or 5 times a power of ten: the smallest of at least 0.75 times the distance that `most` ticks
  // would have.
  const double rough = (scale.high - scale.low) / static_cast<double>(most);
  const double ten = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * ten;
  for (const double unit : {5.0, 2.0, 1.0})
    if (unit * ten >= 0.75 * rough) step = unit * ten;
  std::vector<double> out;
  for (double k = std::ceil(scale.low / step - 1e-9); k * step <= scale.high + 1e-9 * step; ++k)
    out.push_back(k == 0 ? 0 : k * step);
  return out;
}

std::vector<std::string> tick_texts(const std::vector<double>& ticks) {
  double largest = 0;
  for (const double x : ticks)
    largest = std::max(largest, std::abs(x));
  const double step = ticks.size() > 1 ? ticks[1] - ticks[0] : largest;
  std::vector<std::string> out;
  const bool plain = largest < 1e6 && step >= 1e-4;
  const int decimals = step > 0 ? std::max(0, static_cast<int>(std::ceil(-std::log10(step) - 1e-9))) : 0;
  for (const double x : ticks)
    out.push_back(plain ? fmt::format("{:.{}f}", x, decimals) : fmt::format("{:.6g}", x));
  return out;
}

}  // namespace lehr::report
