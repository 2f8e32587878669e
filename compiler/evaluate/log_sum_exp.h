// Sums of numbers that are given by their logarithms, without overflow.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

namespace lehr {

/// Returns log(sum(exp(t))) over the terms t; there must be at least one. The largest term is factored out. If the
/// largest is infinite, it is the result; if any term is NaN, NaN is.
inline double log_sum_exp(const std::vector<double>& terms) {
  for (const double t : terms)
    if (std::isnan(t)) return t;  // comparisons below would pass over it
  const double top = *std::max_element(terms.begin(), terms.end());
  if (!std::isfinite(top)) return top;
  double sum = 0;
  for (const double t : terms)
    sum += std::exp(t - top);
  return top + std::log(sum);
}

}  // namespace lehr
