// Extrapolates terms that shrink like a geometric series, such as the gains or movements of the last sweeps of a run.
#pragma once
#include <cmath>
#include <cstddef>

namespace lehr {

/// Returns the ratio of successive terms of a geometric series, given the term `first` and the term `last`, which comes
/// `steps` later.
inline double factor_of(double first, double last, std::size_t steps) {
  return std::pow(last / first, 1.0 / static_cast<double>(steps));
}

/// Returns the sum of all terms of a geometric series after the term `last`, for a ratio `factor` in [0, 1).
inline double tail_after(double last, double factor) { return last * factor / (1 - factor); }

}  // namespace lehr
