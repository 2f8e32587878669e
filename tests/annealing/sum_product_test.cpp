// Variable elimination against sums over all values: several products side by side, elements that stay, zeros, and
// tables whose entries differ by more than numbers can.
#include "compiler/evaluate/sum_product.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "compiler/evaluate/log_sum_exp.h"

using lehr::EliminationOrder;
using lehr::LogTable;

namespace {

const std::vector<std::size_t> kStates = {2, 3, 2, 4, 2, 3};
const std::vector<std::vector<std::size_t>> kScopes = {{0, 1}, {1, 2}, {0, 2, 3}, {3, 4}, {4}, {2, 4}, {1}, {}};
constexpr std::size_t kProducts = 3;

/// Returns tables of logarithms that `draw` makes.
template <class Draw>
std::vector<LogTable> tables(const Draw& draw) {
  std::vector<LogTable> out;
  for (const auto& scope : kScopes) {
    std::size_t n = kProducts;
    for (const std::size_t e : scope)
      n *= kStates[e];
    out.push_back({scope, {}});
    for (std::size_t i = 0; i < n; ++i)
      out.back().values.push_back(draw());
  }
  return out;
}

/// Returns the logarithm of one product of the tables at one value of each element.
double at(const std::vector<LogTable>& tables, const std::vector<std::size_t>& values, std::size_t product) {
  double sum = 0;
  for (const LogTable& t : tables) {
    std::size_t i = 0;
    for (const std::size_t e : t.scope)
      i = i * kStates[e] + values[e];
    sum += t.values[i * kProducts + product];
  }
  return sum;
}

/// Compares eliminate() with sums over all values. Element 3 stays if `retained`.
void compare(const std::vector<LogTable>& all, bool retained) {
  std::vector<bool> stays(kStates.size(), false);
  stays[3] = retained;
  const EliminationOrder order = lehr::elimination_order(kScopes, kStates, 1e6, stays);
  const std::vector<LogTable> got = lehr::eliminate(all, kStates, order, kProducts);
  for (std::size_t m = 0; m < kProducts; ++m) {
    std::vector<std::vector<double>> terms(retained ? kStates[3] : 1);
    std::vector<std::size_t> v(kStates.size(), 0);
    for (;;) {
      terms[retained ? v[3] : 0].push_back(at(all, v, m));
      std::size_t k = v.size();
      while (k > 0 && ++v[k - 1] == kStates[k - 1])
        v[--k] = 0;
      if (k == 0) break;
    }
    for (std::size_t s = 0; s < terms.size(); ++s) {
      std::vector<std::size_t> values(kStates.size(), 0);
      values[3] = s;
      const double want = lehr::log_sum_exp(terms[s]), found = at(got, values, m);
      INFO("product " << m << ", value " << s);
      if (std::isinf(want)) CHECK(found == want);
      else CHECK(found == Approx(want).epsilon(1e-13).margin(1e-12));
    }
  }
}

}  // namespace

TEST_CASE("sums over elements are those over all values") {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  for (const double size : {1.0, 100.0, 400.0, 1e5}) {
    INFO("logarithms of size " << size);
    for (const bool retained : {false, true})
      compare(tables([&] { return size * normal(random); }), retained);
  }
}

TEST_CASE("impossible values stay impossible") {
  std::mt19937 random(6);
  std::normal_distribution<double> normal;
  std::bernoulli_distribution zero(0.3);
  for (const double size : {1.0, 1e3}) {
    for (int k = 0; k < 20; ++k)
      compare(tables([&] { return zero(random) ? -INFINITY : size * normal(random); }), true);
  }
  compare(tables([] { return -INFINITY; }), false);
}

TEST_CASE("an undefined entry shows") {
  std::vector<LogTable> all = tables([] { return 0.5; });
  all[0].values[1] = std::nan("");
  const EliminationOrder order = lehr::elimination_order(kScopes, kStates, 1e6);
  const std::vector<double> got = lehr::eliminate(all, kStates, order, kProducts).back().values;
  CHECK(std::isfinite(got[0]));
  CHECK(std::isnan(got[1]));
}
