// The density of what is observed of chains of Gaussian states, by the Kalman filter (Anderson & Moore, Optimal
// Filtering, 1979, 3.1).
#pragma once
#include <optional>
#include <vector>

#include "compiler/evaluate/observation.h"

namespace lehr {

/// The density of the observations with the states of `chains`, which have the same axes, integrated out, by sequence
/// in order of their first elements; `forward` has values of everything else that they depend on, and none of the
/// chains. Nothing where a state or an observation is no Normal or MvNormal whose mean is linear in one step (of a
/// state: in steps before, as far as the chains reach back, and others of its own), or counts several times; NaN where
/// a covariance is none.
std::optional<std::vector<SequenceDensity>> densities_of_states(const Forward& forward,
                                                                const std::vector<model::VariableId>& chains,
                                                                const std::vector<Observation>& observations);

}  // namespace lehr
