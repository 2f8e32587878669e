// Finds the family of a joint factor of several variables, and the families of the marginals of its members. Users see
// the marginals under the names of the members.
#pragma once
#include <string>

#include "compiler/math/family.h"

namespace lehr::math {

/// Returns the family of the factor of a joint variable with this support: MvNormal for a vector, SwitchedNormal for a
/// category with a number, ScaledNormal for a vector with its precision, SparseNormal for a vector with a sparse
/// precision.
const FamilyRow& joint_family(Support joint);

/// Returns the family of the marginal of one member of a joint variable, from the supports of both. A real has a Normal
/// and a vector an MvNormal, or each Student's t if `joint` is `scaled`. A positive number has a Gamma, a bit a
/// Bernoulli, a category a Categorical.
const FamilyRow& marginal_family(Support member, Support joint);

/// Returns the row of Student's t as the marginal of a number whose precision is a latent variable too (a member of a
/// scaled vector). Not in families(): it is not drawn from, and no term of the log joint has it.
const FamilyRow& student_marginal();
/// Returns the row of Student's t as the marginal of a vector whose precision is a latent variable too (a member of a
/// scaled vector). Not in families().
const FamilyRow& mv_student_marginal();

/// Names of parameters in the factor of a scaled vector (ScaledNormal) and in the marginals of its members. The vector
/// is Normal with the precision matrix tau * `scale` given the number tau, which is Gamma(`shape`, `rate`). `freedom`
/// is the degrees of freedom of Student's t, the marginal of the vector or of a part of it.
struct ScaledNames {
  /// The names, as the posterior stores them, of the matrix that tau scales, of shape and rate of the Gamma
  /// distribution of tau, and of the degrees of freedom.
  const char *scale = "precision_scale", *shape = "shape", *rate = "rate", *freedom = "df";
};
/// The parameter names of scaled vectors (ScaledNormal) and their marginals, for the family rows and for code that
/// reads a saved posterior.
inline constexpr ScaledNames kScaledNames;

/// The names of parameters of a family's factor (location, precision, probabilities) and of its sample factor (`value`,
/// `number`), by what they are; a name is empty if the family has no such parameter. `value` is the drawn value: in a
/// switched pair that of the category, in a scaled vector that of the precision. `number` is the drawn mean: the number
/// that is switched, or the vector.
struct RoleNames {
  /// `probabilities` names the probabilities of a category, or the one probability of a bit or of a Geometric count.
  std::string location, precision, probabilities, value, number;
};
/// Returns the names of the location, precision, probability and drawn-value parameters of a row's factor and sample
/// factor.
RoleNames role_names(const FamilyRow& row);

}  // namespace lehr::math
