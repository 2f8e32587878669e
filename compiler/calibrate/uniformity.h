// Significance tests for calibration: are ranks uniform, are means zero? Small p-values show that a method does not
// find the posterior.
#pragma once
#include <cstdint>
#include <span>

namespace lehr {

/// The p-values of two tests whether ranks are uniform; small ones show that a method does not find the posterior.
/// Without ranks both are 1. The first is also 1 if there are too few ranks for two bins.
struct Uniformity {
  double chi_square_p = 1;  // chi-square test of counts in bins with at least 10 expected ranks
  double kolmogorov_p = 1;  // Kolmogorov-Smirnov test (asymptotic), each rank at the middle of its step
};

/// Tests whether ranks are uniform on the whole numbers from 0 to `highest`, by a chi-square and a Kolmogorov-Smirnov
/// test (Talts et al. 2018, Validating Bayesian inference algorithms with simulation-based calibration).
Uniformity uniformity(std::span<const std::int64_t> ranks, std::int64_t highest);

/// The result of zero_mean(), a test whether numbers have mean zero.
struct ZeroMean {
  /// The mean divided by its standard error. It is 0 if all numbers are 0, and infinite if all are equal to another
  /// number.
  double z = 0;
  double p = 1;  // two-sided p-value of a normal distribution
};
/// Tests whether independent numbers of magnitude about 1, such as differences of scaled ranks, have mean zero: a
/// z-test of their mean over its standard error. Numbers with a standard deviation below 1e-12 count as equal, and as 0
/// if their mean is below 1e-12 too.
ZeroMean zero_mean(std::span<const double> x);

}  // namespace lehr
