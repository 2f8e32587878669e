// Simplices with entries that never have mass.
#pragma once
#include <vector>

#include "compiler/density/density.h"

namespace lehr::density {

/// For the data `with_zeros`, by GivenId, that are concentrations with zeros (bound as kNoMass): every term outside the
/// prior takes the logarithm of such an entry for the constant -1 / kNoMass.
void leave_out_zeros(const model::Model& m, const std::vector<bool>& with_zeros, Density& d);

}  // namespace lehr::density
