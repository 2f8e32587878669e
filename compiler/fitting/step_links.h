// What a posterior has of two steps of a chain of numbers together, from the model: the precision of its Normal factor.
#pragma once
#include <Eigen/Dense>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/fitting/symbolic.h"

namespace lehr {

/// A number of a chain: the step that it is of (by position), and which coordinate of it.
struct StepNumber {
  std::size_t step = 0, coordinate = 0;
};

/// The blocks of the precision of a factor off its diagonal: by a step and a later one, a row for each coordinate of
/// the later.
using StepLinks = std::map<std::pair<std::size_t, std::size_t>, Eigen::MatrixXd>;

struct LinkedChain {
  std::vector<model::VariableId> members;
  std::size_t extent = 0;                                        // coordinates of a step
  std::function<StepNumber(model::VariableId, std::size_t)> at;  // of a member's number
};

/// The density of every element that the posterior knows of, in the mean over the other factors: -1/2 (x - m)' P (x -
/// m) has a product of two steps wherever x - m has both. `informed`: as of Laws; `mean`: E[p] over factors that are
/// not the chain's. Nothing where an element of two steps has no Normal distribution with a mean linear in them, counts
/// several times, or has a value of which a part is missing.
std::optional<StepLinks> step_links(const LinkedChain& chain, const Symbolic& symbolic,
                                    const std::vector<std::vector<bool>>& informed,
                                    const std::function<std::optional<double>(const Polynomial&)>& mean);

}  // namespace lehr
