// Whether ranks are uniform, and whether means are zero.
#pragma once
#include <cstdint>
#include <span>

namespace lehr {

struct Uniformity {
  double chi_square_p = 1;  // of the counts in bins, each of which expects at least 10 ranks
  double kolmogorov_p = 1;  // asymptotic; ranks in the middle of their steps
};

/// Ranks from 0 to `highest`. Talts et al., Validating Bayesian inference algorithms with simulation-based calibration
/// (2018).
Uniformity uniformity(std::span<const std::int64_t> ranks, std::int64_t highest);

struct ZeroMean {
  double z = 0;  // mean by its standard error; 0 where all numbers are 0, infinite where they are another one
  double p = 1;  // two-sided, of a normal
};
/// Of numbers of the size of 1: what is closer than 1e-12 is equal.
ZeroMean zero_mean(std::span<const double> x);

}  // namespace lehr
