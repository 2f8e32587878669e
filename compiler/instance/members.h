// The members of a joint variable (model::Auxiliary::joint) told apart again: where their numbers are, their marginals
// under the one factor, and their values at a draw of it.
#pragma once
#include <string>
#include <vector>

#include "compiler/model/bind.h"
#include "compiler/model/model.h"
#include "runtime/array.h"

namespace lehr {

/// An axis of an array; a nested plate and its parent are one.
struct PackedAxis {
  std::string plate;
  std::int64_t extent = 1;
};

/// The numbers of a member among those of the joint variable, which are [element, coordinate]. A category and the
/// number that it switches have two coordinates: their values. The precision of a scaled vector is its last one.
struct MemberNumbers {
  std::string name;
  math::Support support = math::Support::real;
  math::Support joint = math::Support::vector;  // of the joint variable
  std::vector<std::int64_t> shape;              // axes, then event axes
  std::size_t width = 1;                        // numbers of one of its elements
  std::vector<std::size_t> at;                  // by its own number, row-major
};

/// The coordinates of a joint variable with that support, whose event axis has `extent` elements.
std::size_t coordinates_of(math::Support joint, std::size_t extent);

/// A joint variable: its support, its axes and how many coordinates it has.
struct JointShape {
  math::Support support = math::Support::vector;
  std::vector<PackedAxis> axes;
  std::size_t coordinates = 1;
};

/// A member with these axes and event extents; its coordinates begin at `first`. The axes that the joint variable has
/// are found by their plates, in order; the others and the event number coordinates, row-major.
MemberNumbers member_numbers(std::string name, math::Support support, const JointShape& joint,
                             const std::vector<PackedAxis>& axes, const std::vector<std::int64_t>& event,
                             std::size_t first);

/// All members of a joint variable; `sizes` by PlateId, of nested plates the elements of all rows together.
std::vector<MemberNumbers> members_of(const model::Model& m, model::VariableId joint,
                                      const std::vector<std::int64_t>& sizes);

/// The numbers of the joint variable that the data have of its members, NaN elsewhere; its plates are those of `data`.
std::vector<double> known_numbers(const model::Model& m, model::VariableId joint, const BoundData& data);

/// `member.parameter` arrays of the members' marginals from the parameters of the joint factor, named
/// "joint.parameter": mean and precision (of vectors the inverse of their own covariance), probabilities. A number that
/// is switched has the mean and precision of a mixture; a scaled vector has the degrees of freedom, mean and precision
/// (the inverse of the squared scale) of Student's t. Of a drawn factor `member.value`.
std::vector<NamedArray> marginals(const model::Model& m, model::VariableId joint, const std::vector<NamedArray>& factor,
                                  const std::vector<std::int64_t>& sizes);

/// The values of a draw of one element, as math::factor_draw has them, by coordinate.
std::vector<double> by_coordinate(bool switched, const std::vector<double>& draw);

/// Puts what `given` has of the members (arrays as of marginals) into the parameters of the joint factor: locations,
/// probabilities and values where they belong, precisions without correlations. Lengths must be right.
void put_members(const model::Model& m, model::VariableId joint, const std::vector<NamedArray>& given,
                 const std::vector<std::int64_t>& sizes, std::vector<NamedArray>& factor);

}  // namespace lehr
