// The choice of joint factors: Normal variables that the terms couple get one factor where that is cheap, so that their
// posterior correlations are not lost.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/density/density.h"

namespace lehr::conditionals {

/// The most coordinates that a chosen joint factor has. Its matrix is dense: memory grows with the square of their
/// number, and the time of an update with the cube.
inline constexpr double kMaxJointCoordinates = 256;

/// Returns the joint factors of Normal and MvNormal variables that are worth having, besides those of the model's
/// guide. Two variables are coupled if a term has a statistic of both, and a variable is coupled with itself if a term
/// has two of its elements. Coupled variables share a factor if every term is quadratic in them together and the factor
/// has at most kMaxJointCoordinates coordinates; the cheapest are merged first. Factors of one another, variables with
/// limits, points, chains of independent elements, and members of stated joint factors stay as they are.
///
/// `sizes` has the number of elements of each plate, by PlateId, -1 if unknown: only the event plate of a vector, whose
/// factor is dense anyway, may then be of unknown size. Variables in `of_items` share factors only with others of the
/// same item, so that items can be worked on one by one. Those in `alone` stay as they are.
std::vector<model::JointGuide> choose_joint_factors(const Expanded& expanded, const std::vector<std::int64_t>& sizes,
                                                    const std::vector<model::VariableId>& of_items,
                                                    const std::vector<model::VariableId>& alone);

/// Returns the joint factor of these variables as choose_joint_factors() lays it out: elements of a plate are
/// coordinates if a term has two of them.
model::JointGuide joint_layout(const Expanded& expanded, std::vector<model::VariableId> members);

}  // namespace lehr::conditionals
