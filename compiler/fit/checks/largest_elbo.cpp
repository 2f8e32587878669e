// A density may be above 1: that of observed numbers, of points, and of improper priors, whose constant is missing.
// Potentials have no normaliser.
#include "compiler/fit/checks/largest_elbo.h"

#include <algorithm>
#include <cmath>

#include "compiler/evaluate/packed.h"

namespace lehr {

double largest_elbo(const model::Model& m, const density::Density& density) {
  constexpr double kRounding = 1;
  const auto is_dense = [](const model::Variable& v) { return model::has_data(v) && !has_integers(v.support); };
  const auto is_dense_point = [&](model::VariableId v) { return !has_integers(m[v].support); };
  const bool unlimited = !m.potentials.empty() || std::ranges::any_of(m.variables, is_dense) ||
                         std::ranges::any_of(m.guide.point, is_dense_point) ||
                         std::ranges::any_of(density.origins, [](const density::Origin& o) { return o.improper; });
  return unlimited ? INFINITY : kRounding;
}

}  // namespace lehr
