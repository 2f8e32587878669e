// Along which statistics of a factor a number of its value is pulled.
#pragma once
#include <optional>
#include <vector>

#include "compiler/math/evaluate.h"

namespace lehr {

/// The regression of a number x on the statistics T of its factor: beta = Cov(T)^-1 Cov(T, x), and the variance
/// beta' Cov(T) beta that it explains. Added to the naturals, t * beta moves E[x] by t times that variance.
struct PullDirection {
  std::vector<std::vector<double>> along;  // beta, by statistic of the factor, row-major over its event indices
  double explained = 0;
};

/// Of the k-th component of the value; `parameters` are the exported ones of one element. By differences in the
/// naturals. Nothing for matrices, for more than 200 statistics, and where the moments do not exist.
std::optional<PullDirection> pull_direction(const math::Factor& factor, const math::Environment& parameters,
                                            std::size_t k);

}  // namespace lehr
