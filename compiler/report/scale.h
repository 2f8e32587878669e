// The linear scale of an axis: its range, round tick values, and their labels.
#pragma once
#include <span>
#include <string>
#include <vector>

namespace lehr::report {

/// The range of an axis of a plot, which is linear.
struct Scale {
  double low = 0, high = 1;  // ends of the range, low < high

  /// Returns the position of `x` along the axis: 0 at `low`, 1 at `high`, linear also outside of them.
  double position(double x) const { return (x - low) / (high - low); }
};

/// Returns a range for an axis that contains all finite numbers, with a margin on both sides that is this fraction of
/// their range. If all are equal it is an interval around them; without any it is 0 to 1.
Scale padded_range(std::span<const double> values, double margin = 0.04);

/// Returns the numbers at which an axis has ticks: evenly spaced round numbers within its range, about `most` of them.
/// They are multiples of 1, 2 or 5 times a power of ten.
std::vector<double> ticks(const Scale& scale, std::size_t most);

/// Returns labels of the ticks with only as many decimals as their spacing needs.
std::vector<std::string> tick_texts(const std::vector<double>& ticks);

}  // namespace lehr::report
