// Integrals and sums of a row's density that use nothing of the row but the density: products of trapezoidal
// rules in unconstrained coordinates up to three dimensions, importance sampling above, enumeration for
// discrete supports.
#pragma once
#include <Eigen/Core>
#include <functional>
#include <vector>

#include "compiler/math/evaluate.h"

namespace lehr::math::test {

struct Estimate {
  double value = 0.0;
  double error = 0.0;  // tolerance of the rule, or one standard error of the importance sampler
};

/// Integrals of the elements of g(x) times p(x | parameters)^(1/temperature); g sees the parameters and x. The row's
/// draws only place the grid.
std::vector<Estimate> integrate_all(const FamilyRow& row, const Environment& parameters, double temperature,
                                    const std::function<Eigen::ArrayXd(const Environment&)>& g);
/// One of them.
Estimate integrate(const FamilyRow& row, const Environment& parameters, double temperature,
                   const std::function<double(const Environment&)>& g);

}  // namespace lehr::math::test
