// Sums of numbers that are given by their logarithms: no overflow, infinities and NaN pass through.
#include "compiler/evaluate/log_sum_exp.h"

#include <catch2/catch.hpp>
#include <limits>

using lehr::log_sum_exp;

TEST_CASE("The logarithm of a sum of exponentials neither overflows nor hides what is no number") {
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(log_sum_exp({1000, 1000}) == Approx(1000 + std::log(2)));
  CHECK(log_sum_exp({-1000, -1001}) == Approx(-1000 + std::log1p(std::exp(-1))));
  CHECK(log_sum_exp({-inf, 3}) == 3);
  CHECK(log_sum_exp({-inf, -inf}) == -inf);
  CHECK(log_sum_exp({0, inf}) == inf);
  for (const std::vector<double>& terms :
       {std::vector<double>{nan, 1}, {1, nan}, {-inf, nan}, {nan, -inf}, {inf, nan}, {nan}})
    CHECK(std::isnan(log_sum_exp(terms)));
}
