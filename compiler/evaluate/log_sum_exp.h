// Sums of numbers that are there as logarithms.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

namespace lehr {

/// log of the sum of exp of the terms, of which there is one at least; NaN where one is.
inline double log_sum_exp(const std::vector<double>& terms) {
  const double top = *std::max_element(terms.begin(), terms.end());
  if (!std::isfinite(top)) return top;
  double sum = 0;
  for (const double t : terms)
    sum += std::exp(t - top);
  return top + std::log(sum);
}

}  // namespace lehr
