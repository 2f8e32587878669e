// The choice of joint factors: Normal variables that the terms couple get one factor where that is cheap, so that their
// posterior correlations are not lost.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "compiler/binding/bind.h"
#include "compiler/density/density.h"
#include "runtime/threshold.h"

namespace lehr::conditionals {

/// The most coordinates that a joint factor with a dense matrix may have if the compiler chooses it; a guide may ask
/// for more. Memory grows with the square of their number, and the time of an update with the cube.
inline constexpr Threshold<double> kMaxJointCoordinates("joint_choice.max_coordinates", 256);

/// The joint factors that choose_joint_factors() proposes, as guides to be added to the model's.
struct JointChoice {
  std::vector<model::JointGuide> dense;  // factors with a dense matrix, of at most kMaxJointCoordinates coordinates
  /// Sets of variables whose factor has more coordinates and a single element. They are worth having if their precision
  /// is sparse (sparse_pattern_of). A set is left out if some term has a member together with two other Normal
  /// variables, as u in u[i] + dot(V[i], W[j]). A variable may be in a set of `dense` and in one here: the caller then
  /// drops the one in `dense` if it takes this one.
  std::vector<model::JointGuide> large;
};

/// Chooses joint factors of Normal and MvNormal variables, besides those of the model's guide, so that the posterior
/// keeps their correlations. Two variables are coupled if a term has a statistic of both, and a variable is coupled
/// with itself if a term has two of its elements. Coupled variables share a factor if every term is quadratic in them
/// together. A factor in JointChoice::dense has at most kMaxJointCoordinates coordinates and not too many elements.
/// Sets whose factor has the fewest coordinates are merged first. These stay as they are: variables that a term
/// multiplies beyond degree 2, as W and z in dot(W[d], z[n])^2; partly observed ones; those with limits; those with an
/// improper prior, if they would have several coordinates; and those that the guide names as points, as independent, or
/// in a joint factor.
///
/// `sizes` has the number of elements of each plate, by PlateId, -1 if it is not given: only the event plate of a
/// vector, whose factor is dense anyway, may then number coordinates. Variables in `of_items` share factors only with
/// others of the same item, so that items can be worked on one by one.
JointChoice choose_joint_factors(const Expanded& expanded, const std::vector<std::int64_t>& sizes,
                                 const std::vector<model::VariableId>& of_items);

/// The most nonzeros that the Cholesky factor of the precision of a joint factor with a sparse precision may have;
/// otherwise the factor is not chosen.
inline constexpr Threshold<std::int64_t> kMostFilled("joint_choice.most_filled", 1 << 22);
/// The most multiplications that one update of a joint factor with a sparse precision may take; otherwise the factor is
/// not chosen.
inline constexpr Threshold<double> kMostOperations("joint_choice.most_operations", 4e9);

/// Returns which entries of the precision matrix of a joint variable of Normal members can be nonzero with these data:
/// the pairs of coordinates that occur together in a term of `d`, all pairs within one element of a vector, and the
/// entries of `also`. Returns null if a sparse factor is not worth having or possible: the data are not in memory,
/// `also` has another size, or the factorisation is not cheap (kMostFilled, kMostOperations).
std::shared_ptr<const math::SparsePattern> sparse_pattern_of(const model::Model& m, const density::Density& d,
                                                             model::VariableId joint, const BoundData& data,
                                                             const math::SparsePattern* also = nullptr);
/// Returns true if the pattern of a sparse precision suits other data too: it has all pairs of coordinates that occur
/// together in a term with these data. False if the data are not in memory.
bool covers(const math::SparsePattern& pattern, const model::Model& m, const density::Density& d,
            model::VariableId joint, const BoundData& data);

/// Returns the guide for one joint factor of these variables, with JointGuide::coordinates as choose_joint_factors()
/// sets them: elements of a plate become coordinates of one vector if a term has two of them. It does not ask whether
/// the factor is possible or cheap.
model::JointGuide joint_layout(const Expanded& expanded, std::vector<model::VariableId> members);

}  // namespace lehr::conditionals
