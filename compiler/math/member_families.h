// Families of variables that share a factor, by their supports.
#pragma once
#include <string>

#include "compiler/math/family.h"

namespace lehr::math {

/// Of a real or a vector the Normal, of a bit or category that of its probabilities, of a switched pair its own: the
/// factor of a joint variable, and the marginals of its members. Other supports have none.
const FamilyRow& member_family(Support support);

/// Names of the exported parameters by what they are; empty where the family has none. `value` and `number` are those
/// of its draw: the value (of a switched pair the category's), and the number that is switched.
struct RoleNames {
  std::string location, precision, probabilities, value, number;
};
RoleNames role_names(const FamilyRow& row);

}  // namespace lehr::math
