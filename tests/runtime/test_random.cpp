// Counter-based random numbers: Philox against its published test vectors (Random123), and Polya-Gamma draws against
// their exact moments and Laplace transform (Polson, Scott & Windle 2013).
#include <catch2/catch.hpp>
#include <cmath>

#include "runtime/machine/philox.h"
#include "runtime/machine/random.h"

using namespace lehr;

TEST_CASE("Philox4x64-10 gives the vectors of Random123") {
  constexpr std::uint64_t kOnes = ~std::uint64_t{0};
  CHECK(philox({0, 0}, {0, 0, 0, 0}) ==
        PhiloxCounter{0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b, 0x7e68b68aec7ba23b});
  CHECK(philox({kOnes, kOnes}, {kOnes, kOnes, kOnes, kOnes}) ==
        PhiloxCounter{0x87b092c3013fe90b, 0x438c3c67be8d0224, 0x9cc7d7c69cd777b6, 0xa09caebf594f0ba0});
  CHECK(philox({0x452821e638d01377, 0xbe5466cf34e90c6c},
               {0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89}) ==
        PhiloxCounter{0xa528f45403e61d95, 0x38c72dbd566e9788, 0xa5a1610e72fd18b5, 0x57bd43b5e52b7fe6});
}

TEST_CASE("Polya-Gamma draws have the moments of PG(1, z)") {
  const double tilt = GENERATE(0.0, 0.1, 1.0, 2.5, 7.0, 20.0, 50.0);
  INFO("tilt " << tilt);
  constexpr int kDraws = 40000;
  Rng rng(5);
  double sum = 0, squares = 0;
  for (int k = 0; k < kDraws; ++k) {
    const double x = machine::draw_polya_gamma(rng, k % 2 == 0 ? tilt : -tilt);
    sum += x;
    squares += x * x;
  }
  const double mean = sum / kDraws, variance = squares / kDraws - mean * mean;
  const double cosh = std::cosh(tilt / 2), cube = tilt * tilt * tilt;
  const double expected = tilt == 0 ? 0.25 : std::tanh(tilt / 2) / (2 * tilt);
  const double spread = tilt == 0 ? 1.0 / 24 : (std::sinh(tilt) - tilt) / (4 * cube * cosh * cosh);
  CHECK(std::abs(mean - expected) < 4.5 * std::sqrt(spread / kDraws));
  CHECK(variance == Approx(spread).epsilon(0.06));
}

TEST_CASE("Polya-Gamma draws at a power have the moments of PG(b, z) / b") {
  const double tilt = GENERATE(0.0, 0.5, 3.0, 20.0), power = GENERATE(0.01, 0.3, 0.9);
  INFO("tilt " << tilt << ", power " << power);
  constexpr int kDraws = 40000;
  Rng rng(6);
  double sum = 0, squares = 0;
  for (int k = 0; k < kDraws; ++k) {
    const double x = machine::draw_polya_gamma(rng, power, tilt) / power;
    sum += x;
    squares += x * x;
  }
  const double mean = sum / kDraws, variance = squares / kDraws - mean * mean;
  const double cosh = std::cosh(tilt / 2), cube = tilt * tilt * tilt;
  const double expected = tilt == 0 ? 0.25 : std::tanh(tilt / 2) / (2 * tilt);
  const double spread = (tilt == 0 ? 1.0 / 24 : (std::sinh(tilt) - tilt) / (4 * cube * cosh * cosh)) / power;
  CHECK(std::abs(mean - expected) < 4.5 * std::sqrt(spread / kDraws));
  CHECK(variance == Approx(spread).epsilon(power < 0.1 ? 0.25 : 0.08));
  // The Laplace transform at 1: (cosh(z / 2) / cosh(sqrt((z^2 + 2) / 4)))^b of PG(b, z).
  Rng again(7);
  double transform = 0;
  for (int k = 0; k < kDraws; ++k)
    transform += std::exp(-machine::draw_polya_gamma(again, power, tilt)) / kDraws;
  CHECK(transform == Approx(std::pow(cosh / std::cosh(std::sqrt((tilt * tilt + 2) / 4)), power)).epsilon(0.003));
}

TEST_CASE("Polya-Gamma draws of several copies have the moments and the Laplace transform of PG(b, z)") {
  const double copies = GENERATE(0.3, 1.0, 2.5, 7.0, 16.5, 17.0, 810.0), tilt = GENERATE(0.0, 0.5, 3.0, 12.0, 60.0);
  INFO("copies " << copies << ", tilt " << tilt);
  constexpr int kDraws = 20000;
  const double cube = tilt * tilt * tilt, cosh = std::cosh(tilt / 2);
  const double expected = copies * (tilt == 0 ? 0.25 : std::tanh(tilt / 2) / (2 * tilt));
  const double spread = copies * (tilt == 0 ? 1.0 / 24 : (std::sinh(tilt) - tilt) / (4 * cube * cosh * cosh));
  // E exp(-t w) = (cosh(z / 2) / cosh(sqrt(z^2 / 4 + t / 2)))^b: Polson et al., equation 2.
  const double t = 1 / std::sqrt(spread), root = std::sqrt(tilt * tilt / 4 + t / 2);
  const double transform = std::exp(copies * (std::log(cosh) - std::log(std::cosh(root))));
  Rng rng(11);
  double sum = 0, squares = 0, exps = 0, exp_squares = 0;
  for (int k = 0; k < kDraws; ++k) {
    const double x = machine::draw_polya_gamma(rng, copies, tilt), z = (x - expected) / std::sqrt(spread),
                 e = std::exp(-t * x);
    sum += z;
    squares += z * z;
    exps += e;
    exp_squares += e * e;
  }
  CHECK(std::abs(sum / kDraws) < 4.5 / std::sqrt(kDraws));
  const double kurtosis_allowance = 1 + 1 / std::sqrt(copies);
  CHECK(std::abs(squares / kDraws - 1) < 0.05 * kurtosis_allowance * kurtosis_allowance);
  const double mean = exps / kDraws, variance = exp_squares / kDraws - mean * mean;
  CHECK(std::abs(mean - transform) < 4.5 * std::sqrt(variance / kDraws) + 1e-12);
}

TEST_CASE("a draw is a function of its key and its place") {
  const std::int64_t key[] = {3, 1, 4}, other[] = {3, 1, 5};
  const auto normal = [](const std::int64_t* k, std::int64_t element) {
    return machine::lehr_random(static_cast<std::int64_t>(machine::Noise::normal), k, 2, element, 0, 0, 0);
  };
  CHECK(normal(key, 7) == normal(key, 7));
  CHECK(normal(key, 7) != normal(key, 8));
  CHECK(normal(key, 7) != normal(other, 7));
}
