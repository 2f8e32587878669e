// Entries of a simplex (a probability vector) that have probability 0 because the data give them concentration 0.
#pragma once
#include <vector>

#include "compiler/density/density.h"

namespace lehr::density {

/// Keeps an entry of a Dirichlet variable x at probability 0 where the data give it concentration 0 (bound as
/// kZeroConcentration). Every term outside the prior that reads log x_k reads the constant -1 / kZeroConcentration for
/// such an entry k instead, so that no counts make it probable. `with_zeros`, by GivenId, marks the data arrays that
/// are concentrations with zeros; without any, `d` stays as it is.
void replace_zero_entries(const model::Model& m, const std::vector<bool>& with_zeros, Density& d);

}  // namespace lehr::density
