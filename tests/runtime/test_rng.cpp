// The sequential generator (xoshiro256++): published outputs, and moments of every distribution within five standard
// errors of the exact ones.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "runtime/rng.h"

using namespace lehr;

namespace {

constexpr int kDraws = 200000;

/// Compares mean and variance of `kDraws` draws with the exact ones; `fourth` is the exact central fourth
/// moment.
void check_moments(double mean, double variance, double fourth, const std::function<double(Rng&)>& draw) {
  Rng rng(20240607);
  double sum = 0, squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = draw(rng) - mean;
    sum += x;
    squares += x * x;
  }
  CHECK(std::fabs(sum / kDraws) < 5 * std::sqrt(variance / kDraws));
  CHECK(std::fabs(squares / kDraws - variance) < 5 * std::sqrt((fourth - variance * variance) / kDraws));
}

double gamma_fourth(double shape) { return 3 * shape * shape + 6 * shape; }

}  // namespace

TEST_CASE("xoshiro256++ gives its published outputs") {
  Rng rng(0);
  rng.state = {1, 2, 3, 4};
  for (const std::uint64_t expected :
       {41943041ULL, 58720359ULL, 3588806011781223ULL, 3591011842654386ULL, 9228616714210784205ULL})
    CHECK(rng.next() == expected);
}

TEST_CASE("streams are reproducible and differ") {
  CHECK(Rng(1, 2).state == Rng(1, 2).state);
  CHECK(Rng(1, 2).state != Rng(2, 1).state);
  CHECK(Rng(0, 0).state != Rng(0, 1).state);
  Rng a(5), b(5, 1);
  double product = 0;
  for (int i = 0; i < kDraws; ++i)
    product += (draw_uniform(a) - 0.5) * (draw_uniform(b) - 0.5);
  CHECK(std::fabs(product / kDraws) < 5 / 12.0 / std::sqrt(kDraws));
}

TEST_CASE("uniform and its relatives") {
  check_moments(0.5, 1 / 12.0, 1 / 80.0, draw_uniform);
  check_moments(1, 1, 9, draw_exponential);
  check_moments(0, 1, 3, draw_normal);
  Rng rng(3);
  std::vector<int> counts(7);
  for (int i = 0; i < 70000; ++i)
    ++counts[static_cast<std::size_t>(draw_below(rng, 7))];
  for (const int count : counts)
    CHECK(std::abs(count - 10000) < 500);
}

TEST_CASE("the normal has the tails of a normal") {
  Rng rng(9);
  int beyond = 0;
  for (int i = 0; i < kDraws; ++i)
    beyond += std::fabs(draw_normal(rng)) > 3;
  const double expected = kDraws * std::erfc(3 / std::sqrt(2.0));
  CHECK(std::fabs(beyond - expected) < 5 * std::sqrt(expected));
}

TEST_CASE("gamma") {
  for (const double shape : {0.05, 0.5, 1.0, 2.5, 100.0}) {
    INFO(shape);
    check_moments(shape, shape, gamma_fourth(shape), [&](Rng& rng) { return draw_gamma(rng, shape); });
    // E log = digamma(shape), Var log = trigamma(shape); here from differences of lgamma.
    const double h = 1e-3 * shape;
    const double digamma = (std::lgamma(shape + h) - std::lgamma(shape - h)) / (2 * h);
    const double trigamma = (std::lgamma(shape + h) - 2 * std::lgamma(shape) + std::lgamma(shape - h)) / (h * h);
    double sum = 0;
    Rng rng(17);
    for (int i = 0; i < kDraws; ++i)
      sum += draw_log_gamma(rng, shape);
    CHECK(std::fabs(sum / kDraws - digamma) < 6 * std::sqrt(trigamma / kDraws));
  }
}

TEST_CASE("tiny shapes stay finite") {
  Rng rng(4);
  for (int i = 0; i < 1000; ++i) {
    CHECK(std::isfinite(draw_log_gamma(rng, 1e-300)));
    CHECK(draw_gamma(rng, 1e-10) > 0);
  }
  std::vector<double> concentration(5, 1e-8), theta(5);
  std::vector<int> wins(5);
  for (int i = 0; i < 5000; ++i) {
    draw_dirichlet(rng, concentration, theta);
    REQUIRE(std::accumulate(theta.begin(), theta.end(), 0.0) == Approx(1));
    REQUIRE(*std::min_element(theta.begin(), theta.end()) > 0);
    ++wins[static_cast<std::size_t>(std::max_element(theta.begin(), theta.end()) - theta.begin())];
  }
  for (const int count : wins)
    CHECK(std::abs(count - 1000) < 150);
}

TEST_CASE("beta and Dirichlet") {
  for (const auto& [a, b] : {std::pair{0.3, 0.7}, std::pair{2.0, 5.0}, std::pair{40.0, 1.0}}) {
    const double n = a + b, mean = a / n, variance = a * b / (n * n * (n + 1));
    const double fourth =
        3 * variance * variance * (n + 1) * (2 * n * n + a * b * (n - 6)) / (a * b * (n + 2) * (n + 3));
    check_moments(mean, variance, fourth, [a = a, b = b](Rng& rng) { return draw_beta(rng, a, b); });
    check_moments(mean, variance, fourth, [a = a, b = b](Rng& rng) {
      std::vector<double> point(3);
      draw_dirichlet(rng, std::vector<double>{a, b / 2, b / 2}, point);
      return point[0];
    });
  }
}

TEST_CASE("categorical") {
  const std::vector<double> weights = {0, 1, 0, 3, 4, 0};
  std::vector<int> counts(6);
  Rng rng(11);
  for (int i = 0; i < 80000; ++i)
    ++counts[static_cast<std::size_t>(draw_categorical(rng, weights))];
  for (std::size_t k = 0; k < 6; ++k)
    CHECK(std::fabs(counts[k] - 10000 * weights[k]) <= 5 * std::sqrt(10000 * weights[k]));
}

TEST_CASE("counts") {
  for (const double mean : {0.001, 0.7, 9.9, 10.0, 35.5, 1e4, 1e9, 9e11, 2e12, 1e22})
    check_moments(mean, mean, mean + 3 * mean * mean, [&](Rng& rng) { return draw_poisson(rng, mean); });
  Rng rng(1);
  CHECK(draw_poisson(rng, 0) == 0);
  CHECK(draw_poisson(rng, HUGE_VAL) == HUGE_VAL);
  CHECK(draw_poisson(rng, 1e300) == Approx(1e300));
  for (const auto& [n, p] : {std::pair{1., 0.3}, std::pair{20., 0.9}, std::pair{100., 0.5}, std::pair{1000., 0.03},
                             std::pair{1e6, 0.7}, std::pair{1e9, 1e-9}, std::pair{9e11, 0.3}, std::pair{2e12, 0.8},
                             std::pair{3e15, 1e-15}, std::pair{1e18, 1e-4}, std::pair{1e30, 0.5}}) {
    const double v = n * p * (1 - p), fourth = 3 * v * v + v * (1 - 6 * p * (1 - p));
    check_moments(n * p, v, fourth, [n = n, p = p](Rng& r) { return draw_binomial(r, n, p); });
  }
  CHECK(draw_binomial(rng, 10, 0) == 0);
  CHECK(draw_binomial(rng, 10, 1) == 10);
  CHECK(draw_binomial(rng, 0, 0.5) == 0);
  CHECK(std::isnan(draw_binomial(rng, HUGE_VAL, 0.5)));
}

TEST_CASE("Poisson draws have the Poisson probabilities") {
  for (const double mean : {4.0, 12.0}) {
    Rng rng(23);
    std::vector<int> counts(40);
    for (int i = 0; i < kDraws; ++i)
      ++counts[static_cast<std::size_t>(std::min(draw_poisson(rng, mean), 39.0))];
    for (int k = 0; k < 30; ++k) {
      const double expected = kDraws * std::exp(k * std::log(mean) - mean - std::lgamma(k + 1.0));
      INFO(mean << " " << k);
      CHECK(std::fabs(counts[static_cast<std::size_t>(k)] - expected) < 5 * std::sqrt(expected) + 5);
    }
  }
}

TEST_CASE("a permutation has every element once") {
  std::vector<std::int64_t> elements(100);
  std::iota(elements.begin(), elements.end(), 0);
  Rng rng(8);
  shuffle(rng, elements);
  CHECK_FALSE(std::is_sorted(elements.begin(), elements.end()));
  std::sort(elements.begin(), elements.end());
  for (int i = 0; i < 100; ++i)
    CHECK(elements[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("draws are these bits on every machine") {
  Rng rng(42, 7);
  const double normal = draw_normal(rng), gamma = draw_gamma(rng, 0.1);
  const auto poisson = draw_poisson(rng, 50), binomial = draw_binomial(rng, 100, 0.4);
  CHECK(normal == 0x1.f831998f15ba6p-1);
  CHECK(gamma == 0x1.4284bb252647ap-24);
  CHECK(poisson == 44);
  CHECK(binomial == 35);
}
