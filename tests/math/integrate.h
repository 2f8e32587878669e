// Numerical integrals and sums over the densities of families. They use only the density of a row, so that its
// normaliser, moments and statistics can be tested against them. Up to three dimensions they are products of
// trapezoidal rules in unconstrained coordinates; above, importance sampling; discrete supports are enumerated.
#pragma once
#include <Eigen/Core>
#include <functional>
#include <vector>

#include "compiler/math/evaluate.h"

namespace lehr::math::test {

/// A numerical integral with its accuracy.
struct Estimate {
  double value = 0.0;  // the integral
  double error = 0.0;  // tolerance of the rule, or one standard error of the importance sampler
};

/// Returns the integrals over x of each element of g(x) p(x | parameters)^(1 / temperature). g is called with the
/// parameters and x in one environment. Draws from the family only place the grid.
std::vector<Estimate> integrate_all(const FamilyRow& row, const Environment& parameters, double temperature,
                                    const std::function<Eigen::ArrayXd(const Environment&)>& g);
/// Returns the integral over x of the scalar g(x) times p(x | parameters)^(1 / temperature).
Estimate integrate(const FamilyRow& row, const Environment& parameters, double temperature,
                   const std::function<double(const Environment&)>& g);

}  // namespace lehr::math::test
