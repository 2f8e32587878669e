// Quantiles and distribution functions of scalars, also for parameters so large that those of Boost lose precision.
// They are compared with the limiting distributions and with each other.
#include <catch2/catch.hpp>

#include <cmath>

#include "compiler/math/scalar_marginal.h"

using namespace lehr::math;
using Kind = ScalarMarginal::Kind;

namespace {

constexpr double kSizes[] = {1e-10, 0.5, 3, 1e3, 1e6, 2e6, 9e8, 1.1e9, 1e11, 1e13, 1e15, 1e17, 1e100, 1e300, 1.7e308};
constexpr double kProbabilities[] = {0.05, 0.5, 0.95};
constexpr double kNormal[] = {-1.6448536269514722, 0, 1.6448536269514722};

}  // namespace

TEST_CASE("quantiles have no parameters that they throw at, or do not end at") {
  for (const double a : kSizes)
    for (const double b : kSizes)
      for (const Kind kind : {Kind::beta, Kind::gamma, Kind::inverse_gamma, Kind::student}) {
        INFO(static_cast<int>(kind) << ": " << a << ", " << b);
        double before = -INFINITY;
        for (const double p : kProbabilities) {
          const double x = quantile({kind, a, b, 1}, p);
          CHECK_FALSE(std::isnan(x));
          CHECK(x >= before);
          before = x;
          CHECK_FALSE(std::isnan(cumulative({kind, a, b, 1}, x)));
        }
      }
}

TEST_CASE("with large parameters they are those of the Normal distribution") {
  for (const double size : {9.9e8, 1.01e9, 1e11, 1e13, 1e20, 1e100})
    for (std::size_t k = 0; k < std::size(kProbabilities); ++k) {
      const double p = kProbabilities[k], root = std::sqrt(size);
      INFO(size << ", " << p);
      const double gamma = quantile({Kind::gamma, size, 1}, p);
      if (size < 1e15) CHECK((gamma - size) / root == Approx(kNormal[k]).margin(1e-4));
      CHECK(gamma / size == Approx(1 + kNormal[k] / root).epsilon(1e-8));
      if (size < 1e15) CHECK(cumulative({Kind::gamma, size, 1}, size + kNormal[k] * root) == Approx(p).margin(1e-4));
      CHECK(quantile({Kind::inverse_gamma, size, size}, p) == Approx(1 + kNormal[k] / root).epsilon(1e-8));
      CHECK(quantile({Kind::student, size, 2, 3}, p) == Approx(2 + 3 * kNormal[k]).epsilon(1e-8));
      CHECK(cumulative({Kind::student, size, 0, 1}, kNormal[k]) == Approx(p).epsilon(1e-8));
      // The parameters add up to four times `size`, and the variance is 3 / 16 over that sum.
      const double sd = std::sqrt(3.0 / 16 / (4 * size)), beta = quantile({Kind::beta, size, 3 * size}, p);
      CHECK(beta == Approx(0.25 + kNormal[k] * sd).epsilon(1e-8));
      if (size < 1e20) CHECK((beta - 0.25) / sd == Approx(kNormal[k]).margin(size < 1e14 ? 1e-3 : 1));
      CHECK(cumulative({Kind::beta, size, 3 * size}, 0.25 + kNormal[k] * sd) ==
            Approx(p).margin(size < 1e14 ? 1e-3 : 1));
    }
}

TEST_CASE("with one large parameter they are those of a Gamma distribution") {
  for (const double small : {0.5, 3.0, 1e3, 9e3})
    for (const double large : {9.9e8, 1.01e9, 1e11, 1e17, 1e300})
      for (const double p : kProbabilities) {
        INFO(small << ", " << large << ", " << p);
        const double gamma = quantile({Kind::gamma, small, 1}, p);
        CHECK(quantile({Kind::beta, small, large}, p) * large == Approx(gamma).epsilon(1e-4));
        CHECK(cumulative({Kind::beta, small, large}, gamma / (gamma + large)) == Approx(p).epsilon(1e-3));
        CHECK(1 - quantile({Kind::beta, large, small}, p) ==
              Approx(quantile({Kind::gamma, small, 1}, 1 - p) / large).epsilon(1e-4).margin(2e-16));
      }
}
