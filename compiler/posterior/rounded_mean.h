// Means as text, with as many digits as their standard deviations deserve.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace lehr {

/// Returns a mean with `digits` significant digits, or with as many as reach the first digit of its standard deviation
/// if these are more, at most 15: 20001.5 where the standard deviation is 0.69.
inline std::string rounded_mean(double mean, double sd, int digits) {
  if (sd > 0 && std::isfinite(sd) && std::isfinite(mean) && mean != 0) {
    const double reach = std::floor(std::log10(std::abs(mean))) - std::floor(std::log10(sd)) + 1;
    digits = static_cast<int>(std::clamp<double>(reach, digits, 15));
  }
  return fmt::format("{:.{}g}", mean == 0 ? 0.0 : mean, digits);
}

}  // namespace lehr
