// Chi-square and Kolmogorov-Smirnov tests of ranks, and a test for zero mean. The p-values are asymptotic. With too few
// ranks for two bins the chi-square test gives 1.
#include "compiler/calibrate/uniformity.h"

#include <algorithm>
#include <cmath>
#include <unsupported/Eigen/SpecialFunctions>
#include <vector>

namespace lehr {
namespace {

/// Returns the p-value of a chi-square test with at most 20 bins; 1 if there are too few ranks for two bins.
double chi_square_p(std::span<const std::int64_t> ranks, std::int64_t highest) {
  constexpr std::int64_t kMostBins = 20, kExpected = 10;
  const std::int64_t n = std::ssize(ranks), values = highest + 1;
  const std::int64_t bins = std::min({kMostBins, n / kExpected, values});
  if (bins < 2) return 1;
  std::vector<double> counts(static_cast<std::size_t>(bins), 0), expected = counts;
  const auto bin = [&](std::int64_t rank) { return static_cast<std::size_t>(rank * bins / values); };
  for (std::int64_t r = 0; r < values; ++r)
    expected[bin(r)] += static_cast<double>(n) / static_cast<double>(values);
  for (const std::int64_t r : ranks)
    ++counts[bin(r)];
  double statistic = 0;
  for (std::size_t b = 0; b < counts.size(); ++b)
    statistic += (counts[b] - expected[b]) * (counts[b] - expected[b]) / expected[b];
  return Eigen::numext::igammac(0.5 * static_cast<double>(bins - 1), 0.5 * statistic);
}

/// Returns the asymptotic p-value of Kolmogorov's distance, scaled for finite samples as by Stephens (1970).
double kolmogorov_p(std::span<const std::int64_t> ranks, std::int64_t highest) {
  std::vector<std::int64_t> sorted(ranks.begin(), ranks.end());
  std::ranges::sort(sorted);
  const auto n = static_cast<double>(sorted.size());
  double distance = 0;
  for (std::size_t k = 0; k < sorted.size(); ++k) {
    const double u = (static_cast<double>(sorted[k]) + 0.5) / static_cast<double>(highest + 1);
    distance = std::max({distance, static_cast<double>(k + 1) / n - u, u - static_cast<double>(k) / n});
  }
  const double x = (std::sqrt(n) + 0.12 + 0.11 / std::sqrt(n)) * distance;
  if (x < 0.2) return 1;
  double sum = 0;
  for (int k = 1; k <= 100; ++k)
    sum += (k % 2 == 1 ? 2 : -2) * std::exp(-2.0 * k * k * x * x);
  return std::clamp(sum, 0.0, 1.0);
}

}  // namespace

Uniformity uniformity(std::span<const std::int64_t> ranks, std::int64_t highest) {
  if (ranks.empty()) return {};
  return {chi_square_p(ranks, highest), kolmogorov_p(ranks, highest)};
}

ZeroMean zero_mean(std::span<const double> x) {
  const auto n = static_cast<double>(x.size());
  double mean = 0, squares = 0;
  for (const double v : x)
    mean += v / n;
  for (const double v : x)
    squares += (v - mean) * (v - mean);
  constexpr double kEqual = 1e-12;
  const double sd = x.size() < 2 ? 0 : std::sqrt(squares / (n - 1));
  if (sd < kEqual) return std::abs(mean) < kEqual ? ZeroMean{} : ZeroMean{std::copysign(HUGE_VAL, mean), 0};
  const double z = mean / (sd / std::sqrt(n));
  return {z, std::erfc(std::abs(z) / std::sqrt(2.0))};
}

}  // namespace lehr
