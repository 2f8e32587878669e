// Entries of a simplex (a probability vector) that have probability 0 because the data give them concentration 0.
#pragma once
#include <vector>

#include "compiler/density/density.h"

namespace lehr::density {

/// Rewrites the terms of `d` that read log x_k of a Dirichlet variable x whose concentration has zeros in the data.
/// Where the concentration of entry k is 0 (bound as kZeroConcentration), every term outside the prior reads the
/// constant -1 / kZeroConcentration instead of log x_k. `with_zeros`, by GivenId, marks the data arrays that are
/// concentrations with zeros.
void replace_zero_entries(const model::Model& m, const std::vector<bool>& with_zeros, Density& d);

}  // namespace lehr::density
