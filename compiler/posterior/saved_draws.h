// Draws of a saved fit: those that a sampler stored, or new ones from the factors of a variational fit. Both have the
// layout of labelled_draws.h.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/files/labelled.h"
#include "runtime/output/saved_fit.h"

namespace lehr {

/// Guesses the plates of the axes of an array of a variable from the sizes of plates. An axis that no plate fits is
/// called `axis_K`, with its position K.
std::vector<std::string> plates_of(const SavedFit& fit, const SavedVariable& v, const std::vector<std::int64_t>& shape);

/// Reads the stored draws of a sampled fit. ExitCode::data if the file is missing, damaged or of another fit.
Result<LabelledArrays> stored_draws(const SavedFit& fit);

/// Draws from the factors of a fit.
struct FactorDraws {
  LabelledArrays arrays;             // one group `posterior`, with one chain
  std::vector<std::string> missing;  // variables whose factors were not saved
};

/// Makes `n` independent draws from q: each element from its factor; of joint factors the precision, then the mean.
/// Elements of a chain are drawn independently, as their factors are saved. Deterministic in `seed`. ExitCode::data if
/// the saved parameters are not those of the family.
Result<FactorDraws> draw_factors(const SavedFit& fit, std::int64_t n, std::uint64_t seed);

}  // namespace lehr
