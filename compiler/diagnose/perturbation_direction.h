// The direction in which linear response perturbs a factor whose value is not one of its sufficient statistics, as with
// Beta or Dirichlet factors.
#pragma once
#include <optional>
#include <vector>

#include "compiler/math/evaluate.h"

namespace lehr {

/// The regression of a number x on the sufficient statistics T of its factor: beta = Cov(T)^-1 Cov(T, x). Adding t beta
/// to the natural parameters moves E[x] by t times the variance that the statistics explain.
struct PerturbationDirection {
  /// The coefficients beta, by statistic of the factor, row-major over its event indices.
  std::vector<std::vector<double>> along;
  double explained = 0;  // beta' Cov(T) beta: the part of Var(x) that the statistics explain
};

/// Returns the direction for component `k` of the factor's value, by differences in the natural parameters.
/// `parameters` are the exported ones of one element. Returns nullopt for matrices, for more than 200 statistics, and
/// if moments do not exist.
std::optional<PerturbationDirection> perturbation_direction(const math::Factor& factor,
                                                            const math::Environment& parameters, std::size_t k);

}  // namespace lehr
