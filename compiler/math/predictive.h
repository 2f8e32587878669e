// Distributions of a number whose parameters are averaged over, and mixtures of them.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "compiler/math/margin.h"

namespace lehr::math {

struct Predictive {
  std::function<double(double)> cumulative;  // P(X <= x)
  bool whole = false;                        // whole numbers from 0
  double centre = 0, scale = 1;              // where most of it lies, roughly
};

/// Normal(mean, variance + spread * s), s ~ InverseGamma(shape, scale); of `spread` 0 Normal, of `variance` 0 Student's
/// t, otherwise an integral over log s by the trapezoidal rule, which converges geometrically (Trefethen & Weideman,
/// The exponentially convergent trapezoidal rule, 2014).
Predictive normal_mixture(double mean, double variance, double spread, double shape, double scale);

/// Of a margin that has one.
Predictive predictive_of(const Margin& margin);

/// Weights (which sum to 1) and what they weight.
using Mixture = std::vector<std::pair<double, Predictive>>;

/// The least x with P(X <= x) >= probability, to the digits of a double; NaN where a distribution has no value.
double quantile(const Mixture& mixture, double probability);

}  // namespace lehr::math
