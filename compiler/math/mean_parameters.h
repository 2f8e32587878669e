// Which parameters of a density make its mean.
#pragma once
#include <string>
#include <vector>

#include "compiler/math/family.h"

namespace lehr::math {

/// Canonical parameters of the row whose product is the mean, entry by entry; of categories, the probabilities of the
/// values. Empty where the mean is no product of parameters.
std::vector<std::string> mean_parameters(const FamilyRow& row);

}  // namespace lehr::math
