// The initial state of a sampler's chain that begins near a variational fit, to save warm-up sweeps. Chains of the same
// fit begin at different states.
#pragma once
#include <cstdint>
#include <vector>

#include "runtime/output/saved_fit.h"

namespace lehr {

/// Draws the state at which a sampler's chain begins from a fit's posterior, a different one for each `chain`, in
/// arrays named as those of a sampler. Real numbers and vectors are drawn as independent Normals with the means and sds
/// of the fit; categories, bits and spins are drawn from their factors. All others, among them means that share a
/// factor with their precision, are set to their means.
///
/// Variables are left out if their factors were not saved or have no finite mean, and so are categories of a sampled
/// fit.
std::vector<NamedArray> chain_start(const SavedFit& fit, std::uint64_t seed, std::uint64_t chain);

}  // namespace lehr
