// Distributions of a number with its parameters integrated out, mixtures of them, and their quantiles. A mixture is for
// example the average over the values of a latent category.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "compiler/math/scalar_marginal.h"

namespace lehr::math {

/// The predictive distribution of one number, given by its cumulative function, from which quantiles and intervals are
/// found.
struct Predictive {
  std::function<double(double)> cumulative;  // P(X <= x)
  bool whole = false;                        // true: the values are whole numbers from 0
  double centre = 0, scale = 1;              // a typical value and a typical deviation: a start for root finding
};

/// Returns the predictive distribution of a Gaussian value whose variance is uncertain: Normal(mean, variance + spread
/// * s) with s ~ InverseGamma(shape, scale). It is Normal if `spread` is 0, Student's t if `variance` is 0, and the
/// constant `mean` if both are. Otherwise it is an integral over log s by the trapezoidal rule, which converges
/// geometrically (Trefethen & Weideman, The exponentially convergent trapezoidal rule, 2014).
Predictive normal_mixture(double mean, double variance, double spread, double shape, double scale);

/// Returns a marginal distribution in the form that quantile() of mixtures takes. Its kind must not be `none`.
Predictive predictive_of(const ScalarMarginal& margin);

/// A mixture of predictive distributions: pairs of a weight and a distribution. The weights sum to 1.
using Mixture = std::vector<std::pair<double, Predictive>>;

/// Returns the least x with P(X <= x) >= probability, to the precision of a double. Distributions of weight 0 do not
/// count. NaN if the mixture is empty, if a cumulative function is NaN, or if x is too large to be found.
double quantile(const Mixture& mixture, double probability);

}  // namespace lehr::math
