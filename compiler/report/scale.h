// From numbers to places along an axis.
#pragma once
#include <span>
#include <string>
#include <vector>

namespace lehr::report {

struct Scale {
  double low = 0, high = 1;  // low < high

  /// 0 at `low`, 1 at `high`; outside of them where the number is.
  double place(double x) const { return (x - low) / (high - low); }
};

/// All finite numbers, with a margin of this share of their range; around a single one, something.
Scale around(std::span<const double> numbers, double margin = 0.04);

/// Round numbers within the scale, evenly spaced: about `most` at most.
std::vector<double> ticks(const Scale& scale, std::size_t most);

/// As short as their distance from each other allows.
std::vector<std::string> tick_texts(const std::vector<double>& ticks);

}  // namespace lehr::report
