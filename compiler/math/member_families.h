// Families of variables that share a factor, by their supports.
#pragma once
#include <string>

#include "compiler/math/family.h"

namespace lehr::math {

/// The factor of a joint variable: of a vector the MvNormal, of other supports their own.
const FamilyRow& joint_family(Support joint);

/// The marginal of a member of a joint variable: of a real or a vector the Normal, or Student's t where its precision
/// is a member; of a bit or category that of its probabilities; of a positive number the Gamma.
const FamilyRow& member_family(Support member, Support joint);

/// The rows of Student's t as a marginal, of a number and of a vector. Not in families(): nothing is drawn from them.
const FamilyRow& student_marginal();
const FamilyRow& mv_student_marginal();

/// Parameters of the factor of a scaled vector and of its members' marginals: the precision in units of tau, those of
/// tau, and the degrees of freedom of Student's t.
struct ScaledNames {
  const char *scale = "precision_scale", *shape = "shape", *rate = "rate", *freedom = "df";
};
inline constexpr ScaledNames kScaledNames;

/// Names of the exported parameters by what they are; empty where the family has none. `value` and `number` are those
/// of its draw: the value (of a switched pair the category's, of a scaled vector the precision's), and the number that
/// is switched, or the vector.
struct RoleNames {
  std::string location, precision, probabilities, value, number;
};
RoleNames role_names(const FamilyRow& row);

}  // namespace lehr::math
