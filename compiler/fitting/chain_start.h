// Where a chain begins that follows a fit.
#pragma once
#include <cstdint>
#include <vector>

#include "runtime/files/saved_fit.h"

namespace lehr {

/// A state near the factors of a fit, another for every chain, in arrays named as those of a sampler: numbers and
/// vectors as if their components were independent Normals with the means and sds of the fit, categories, bits and
/// spins drawn from their factors, all others at their means. Left out: variables whose factors were not saved or have
/// no finite mean, and categories of a fit by sampling.
std::vector<NamedArray> chain_start(const SavedFit& fit, std::uint64_t seed, std::uint64_t chain);

}  // namespace lehr
