// What is still to come of terms that shrink like a geometric series.
#pragma once
#include <cmath>
#include <cstddef>

namespace lehr {

/// The factor from each term to the next, of the first and the one `steps` later.
inline double factor_of(double first, double last, std::size_t steps) {
  return std::pow(last / first, 1.0 / static_cast<double>(steps));
}

/// The sum of all terms after `last`; `factor` in [0, 1).
inline double tail_after(double last, double factor) { return last * factor / (1 - factor); }

}  // namespace lehr
