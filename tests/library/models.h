// Models, data and helpers that the tests of the C++ library share.
#pragma once
#include <catch2/catch.hpp>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "compiler/library/lehr.h"
#include "tests/results.h"

namespace lehr::test {

/// A model of coin throws with a Beta prior, whose posterior is known exactly.
inline const char* const kCoin = R"(
model coin {
  plate throw;
  p                ~ Beta(1, 1);
  observe x[throw] ~ Bernoulli(p);
})";

/// A mixture of three Normal distributions with equal known variance.
inline const char* const kMixture = R"(
model mixture {
  const K = 3;
  plate n;
  plate k = K;
  pi           ~ Dirichlet(concentration = 0.5) over k;
  mu[k]        ~ Normal(mean = 0, precision = 0.01);
  z[n]         ~ Categorical(pi);
  observe x[n] ~ Normal(mean = mu[z[n]], precision = 1);
})";

/// Returns n points, a third each around -6, 0 and 6, always the same.
inline std::vector<double> points(std::size_t n) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise;
  std::vector<double> out;
  for (std::size_t i = 0; i < n; ++i)
    out.push_back(6 * (static_cast<double>(i % 3) - 1) + noise(random));
  return out;
}

/// Compiles a model. The test fails with the compiler's messages if that fails.
inline Program require_ok(const char* text, CompileOptions options = {}) {
  Compilation c = compile(text, std::move(options));
  INFO(c.text);
  REQUIRE(c);
  return *c.program;
}

/// Returns all numbers of a posterior in the order of its arrays.
inline std::vector<double> numbers(const Fit& fit) {
  std::vector<double> out;
  for (const PosteriorArray& a : fit.posterior())
    out.insert(out.end(), a.values.begin(), a.values.end());
  return out;
}

}  // namespace lehr::test
