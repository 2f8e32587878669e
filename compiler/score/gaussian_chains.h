// The density of observations of Gaussian state-space models, with the states integrated out by the Kalman filter
// (Anderson & Moore 1979, Optimal Filtering, 3.1; Bishop 2006, section 13.3).
#pragma once
#include <optional>
#include <vector>

#include "compiler/evaluate/observation.h"

namespace lehr {

/// Computes the log density of the observations of each sequence of a Gaussian state-space model by the Kalman filter,
/// with the states of `chains` integrated out; the held-out score uses it. The result is in order of the sequences'
/// first elements; 0 for a sequence without observations. The chains must have the same axes. `observations` are those
/// that depend on the chains. `forward` has values of all other variables that the densities depend on.
///
/// Returns nullopt if a state or observation is not Normal or MvNormal or has limits, or if an observation has a
/// multiplicity. The mean of an observation must be linear in one step. The mean of a state must be linear in the
/// states of earlier steps, as many as the chains reach back (model::lag_of), and in other states of its own step. A
/// density is NaN if a covariance is not positive definite.
std::optional<std::vector<SequenceDensity>> kalman_log_densities(const ModelEvaluator& forward,
                                                                 const std::vector<model::VariableId>& chains,
                                                                 const std::vector<Observation>& observations);

}  // namespace lehr
