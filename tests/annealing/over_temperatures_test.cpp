// Interpolation of log normalisers over many temperatures from evaluations at few of them. Smooth functions must agree
// to 1e-11; functions with a kink must be evaluated at every temperature.
#include "compiler/evaluate/over_temperatures.h"

#include <catch2/catch.hpp>
#include <cmath>

using lehr::FunctionsOfTemperature;
using lehr::interpolate_over_temperatures;

namespace {

std::vector<double> levels(double max_temperature, int n) {
  std::vector<double> out;
  for (int k = 0; k < n; ++k)
    out.push_back(std::pow(max_temperature, static_cast<double>(k) / (n - 1)));
  return out;
}

}  // namespace

TEST_CASE("normalisers at many temperatures come from few") {
  for (const double max_temperature : {1.5, 10.0, 100.0}) {
    INFO("to " << max_temperature);
    const std::vector<double> temperatures = levels(max_temperature, 200);
    std::size_t evaluations = 0;
    const auto evaluate = [&](const std::vector<double>& at) {
      evaluations += at.size();
      FunctionsOfTemperature out(2);
      for (double t : at) {
        // the normaliser of a Gaussian, and that of an entry of a Dirichlet with concentration 0.02
        out[0].push_back(1e5 * (0.5 * (1 - 1 / t) * std::log(2 * std::acos(-1.0)) + 0.5 * std::log(t)));
        out[1].push_back(std::lgamma(0.02 + 1 / t) - std::lgamma(0.02) - std::lgamma(60 + 1 / t) + std::lgamma(60));
      }
      return out;
    };
    const FunctionsOfTemperature got = interpolate_over_temperatures(temperatures, evaluate);
    CHECK(evaluations <= 65);
    const FunctionsOfTemperature want = evaluate(temperatures);
    REQUIRE(got.size() == 2);
    for (std::size_t f = 0; f < 2; ++f) {
      for (std::size_t k = 0; k < temperatures.size(); ++k)
        CHECK(got[f][k] == Approx(want[f][k]).epsilon(1e-11).margin(1e-11 * std::abs(want[f].back())));
    }
  }
}

TEST_CASE("what is not smooth, and what are few temperatures, is evaluated as it is") {
  const auto kink = [](const std::vector<double>& at) {
    FunctionsOfTemperature out(1);
    for (double t : at)
      out[0].push_back(std::abs(t - 3));
    return out;
  };
  for (const int n : {2, 5, 150}) {
    const std::vector<double> temperatures = levels(10, n);
    CHECK(interpolate_over_temperatures(temperatures, kink) == kink(temperatures));
  }
}
