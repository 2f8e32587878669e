// Convergence diagnostics of chains against the numbers that ArviZ 0.x gives for the same draws.
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "runtime/inference/samplers/diagnostics.h"

using namespace lehr;

TEST_CASE("R-hat, effective sizes and Monte Carlo errors are those of ArviZ") {
  const std::vector<std::vector<double>> draws{{0.1, 1.2, -0.4, 2.2, 1.9, 0.3, -1.1, 0.8},
                                               {1.5, 1.7, 0.2, -0.6, 0.9, 1.1, 2.4, 0.0},
                                               {3.1, 2.2, 2.9, 2.6, 3.3, 1.8, 2.0, 2.7}};
  const auto check = [](const Diagnosis& d, const std::vector<double>& expected) {
    const std::vector<double> found{d.mean, d.sd, d.mcse, d.ess_bulk, d.ess_tail, d.r_hat};
    for (std::size_t k = 0; k < found.size(); ++k)
      CHECK(found[k] == Approx(expected[k]).epsilon(1e-9));
  };
  check(diagnose({draws[0], draws[1], draws[2]}), {1.366666666666667, 1.2429511399213904, 0.21596116218021058,
                                                   33.12506980107854, 33.12506980107854, 1.3360057327157728});
  check(diagnose({draws[0], draws[1]}),
        {0.7625, 1.0333602147041143, 0.23542732260512814, 19.265919722494797, 19.265919722494797, 0.8994448587376332});
}

TEST_CASE("an autoregression is worth (1 - rho) / (1 + rho) of its draws") {
  std::vector<double> x(20000);
  double state = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    // Multiples of the golden ratio modulo 1 are spread evenly: they replace noise without a random generator.
    const double u = std::fmod(static_cast<double>(k * k % 20011) * 0.6180339887498949 + 0.37, 1.0);
    x[k] = state = 0.5 * state + (u - 0.5);
  }
  const Diagnosis d = diagnose({x});
  CHECK(d.ess_bulk / static_cast<double>(x.size()) == Approx(1.0 / 3).epsilon(0.1));
}

TEST_CASE("R-hat of a number that never changes is not a number, and has no sign") {
  const std::vector<double> same(8, 1.0);
  const Diagnosis d = diagnose({same, same});
  CHECK(std::isnan(d.r_hat));
  CHECK_FALSE(std::signbit(d.r_hat));
}
