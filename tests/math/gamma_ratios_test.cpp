// GammaRatios, Gamma(x + b) / Gamma(x) for many x: against exact values, lgamma, and the recurrence in x.
#include <catch2/catch.hpp>

#include <cmath>

#include "compiler/math/gamma_ratios.h"
#include "compiler/math/special.h"

using lehr::math::GammaRatios;

TEST_CASE("ratios of gamma functions: powers, halves and the recurrence") {
  std::vector<double> x;
  for (double v = 1e-6; v < 1e7; v *= 1.37)
    x.push_back(v);
  const GammaRatios ratios(x);
  const std::vector<double> one = ratios(1), half = ratios(0.5), third = ratios(1.0 / 3);
  std::vector<double> above(x);
  for (double& v : above)
    v += 1;
  const std::vector<double> next = GammaRatios(above)(1.0 / 3);
  for (std::size_t k = 0; k < x.size(); ++k) {
    INFO("x = " << x[k]);
    const double tolerance = std::max(1e-14, 1e-15 * std::pow(x[k], 0.25));
    CHECK(one[k] == Approx(x[k]).epsilon(tolerance));
    // Gamma(x + 1 + b) / Gamma(x + 1) = (x + b) / x * Gamma(x + b) / Gamma(x)
    CHECK(next[k] == Approx(third[k] * (1 + 1 / (3 * x[k]))).epsilon(tolerance));
    if (x[k] < 100) CHECK(half[k] == Approx(std::exp(std::lgamma(x[k] + 0.5) - std::lgamma(x[k]))).epsilon(1e-12));
  }
  // Gamma(n + 1/2) / Gamma(n) for n = 1: sqrt(pi) / 2
  CHECK(GammaRatios(std::vector<double>{1.0})(0.5)[0] == Approx(std::sqrt(std::acos(-1.0)) / 2).epsilon(1e-14));
}
