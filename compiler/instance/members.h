// The member variables of a joint variable (model::Auxiliary::joint) separated again: where their numbers are, their
// marginals under the joint factor, and their values at a draw of it.
//
// Example: `guide joint(a, b)` with a number a and a vector b of length 3 has one MvNormal factor over 4 coordinates.
// The marginal of b has coordinates 1 to 3 of the mean, and the inverse of its 3 x 3 block of the covariance.
#pragma once
#include <string>
#include <vector>

#include "compiler/binding/bind.h"
#include "compiler/model/model.h"
#include "runtime/array.h"

namespace lehr {

/// One axis of an array of a factor as it is stored, by plate name and length. A nested plate and its parent together
/// are one axis.
struct PackedAxis {
  /// The name of the plate that the axis is over.
  std::string plate;
  /// The number of elements along the axis.
  std::int64_t extent = 1;
};

/// Where the numbers of one member lie among those of its joint variable (which stands for several variables with one
/// common factor). The numbers of the joint variable form an array [element, coordinate]. A category with the number
/// that it switches has two coordinates, one for each member. A scaled vector has its precision as the last coordinate.
struct MemberLayout {
  /// The name of the member variable.
  std::string name;
  /// The support of the member variable: real, vector, positive, bit or category.
  math::Support support = math::Support::real;
  /// The support of the joint variable that it is a member of.
  math::Support joint = math::Support::vector;
  /// The extents of the member's array: its axes, then its event axes.
  std::vector<std::int64_t> shape;
  /// How many numbers one element of the member has: 1, or the length of a vector.
  std::size_t width = 1;
  /// For each number of the member, row-major: its position in the array [element, coordinate].
  std::vector<std::size_t> at;
};

/// Returns how many numbers one element of a joint variable with that support has, if its event axis has `extent`
/// elements.
std::size_t coordinates_of(math::Support joint, std::size_t extent);

/// The shape of a joint variable, which stands for several variables with one common factor (`guide joint(a, b)`): its
/// support, its axes, and how many numbers an element has. member_layout() derives from it where the numbers of each
/// member lie.
struct JointShape {
  /// The support of the joint variable: vector, sparse, scaled or switched.
  math::Support support = math::Support::vector;
  /// The axes of the joint variable, which name its elements.
  std::vector<PackedAxis> axes;
  /// The number of coordinates that one element of the joint variable has.
  std::size_t coordinates = 1;
};

/// Returns where the numbers of a member are among those of its joint variable. `axes` and `event` are the member's
/// axes and event extents; its coordinates begin at `first`. An axis over a plate of the joint variable selects the
/// element, matched by name in order; all others and the event axes number the coordinates, row-major.
MemberLayout member_layout(std::string name, math::Support support, const JointShape& joint,
                           const std::vector<PackedAxis>& axes, const std::vector<std::int64_t>& event,
                           std::size_t first);

/// Returns where the numbers of each member of a joint variable are. `sizes` has the number of elements of each plate
/// by PlateId, for a nested plate those of all rows together.
std::vector<MemberLayout> members_of(const model::Model& m, model::VariableId joint,
                                     const std::vector<std::int64_t>& sizes);

/// Returns the numbers of the joint variable that the data give for its members, packed as [element, coordinate], and
/// NaN for all others: what the generated code reads as its data.
std::vector<double> observed_values(const model::Model& m, model::VariableId joint, const BoundData& data);

/// Returns the marginals of all members as arrays `member.parameter`, from the parameters of the joint factor, which
/// are named "joint.parameter"; users see members this way. A category has probabilities; a bit has the one of value 1.
/// A number or vector has a mean and a precision, the inverse of its own covariance. A switched number has the mean and
/// precision of its mixture. The numbers of a scaled vector have Student's t: degrees of freedom, mean, and the inverse
/// of the squared scale. Its precision has shape and rate of a Gamma. A sample factor gives `member.value`. The result
/// is empty if `factor` lacks a parameter.
std::vector<NamedArray> marginals(const model::Model& m, model::VariableId joint, const std::vector<NamedArray>& factor,
                                  const std::vector<std::int64_t>& sizes);

/// Returns one draw from the factor of a joint variable in the order of its coordinates (MemberLayout): of a switched
/// pair the category, then the number. `draw` is in the order of math::factor_draw, which for a switched pair has the
/// number, then an indicator for each value of the category. Without `switched` it is returned as it is.
std::vector<double> by_coordinate(bool switched, const std::vector<double>& draw);

/// Writes arrays of members (named as by marginals) into the parameters `factor` of the joint factor, for start values:
/// means, probabilities and values directly, precisions as blocks without correlations. A switched number gets the same
/// mean and precision for all values of the category. The lengths must be right.
void set_members(const model::Model& m, model::VariableId joint, const std::vector<NamedArray>& given,
                 const std::vector<std::int64_t>& sizes, std::vector<NamedArray>& factor);

/// Returns true if a start may have the array of this name, which is no parameter of the model: probabilities of a
/// fused category, which are written before they are read, and a joint factor of another guide ("joint(a, b).mean"), if
/// `given` has arrays of all its members.
bool starts_nothing(const model::Model& m, const std::string& name, const std::vector<NamedArray>& given);

}  // namespace lehr
