// Draws of a saved fit: those that a sampler stored, or new ones from the factors of a variational fit. Both have the
// layout of labelled_draws.h.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/files/labelled.h"
#include "runtime/output/saved_fit.h"

namespace lehr {

/// Guesses the name of the plate of each axis of a variable's array, in order to label its draws. Axes and plates are
/// matched by size, the last one first, and plates that do not fit are passed over. If no plate is left, an axis at
/// position K is called `axis_K`.
std::vector<std::string> plates_of(const SavedFit& fit, const SavedVariable& v, const std::vector<std::int64_t>& shape);

/// Reads the draws that a sampled fit stored in its directory. ExitCode::data if the file is missing, damaged or of
/// another fit.
Result<LabelledArrays> stored_draws(const SavedFit& fit);

/// Draws from the factors of a saved variational fit, as draw_factors() makes them.
struct FactorDraws {
  LabelledArrays arrays;             // the draws: one group `posterior`, with one chain
  std::vector<std::string> missing;  // variables whose factors were not saved, or are of an unknown family
};

/// Makes `n` independent draws from the posterior of a saved variational fit, for `lehr draws`: each element from its
/// factor; a joint factor as a whole. Elements of a chain are drawn independently, as their factors are saved.
/// Deterministic in `seed`. ExitCode::data if the saved parameters are not those of the family, or if the draws do not
/// fit into memory.
Result<FactorDraws> draw_factors(const SavedFit& fit, std::int64_t n, std::uint64_t seed);

}  // namespace lehr
