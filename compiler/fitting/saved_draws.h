// Draws of a fit: those that a sampler has stored, or from the factors of a variational fit.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/files/labelled.h"
#include "runtime/files/saved_fit.h"

namespace lehr {

/// The plates of the axes of an array of values of a variable, as far as the sizes tell them; one that no size fits is
/// called `axis_K`.
std::vector<std::string> plates_of(const SavedFit& fit, const SavedVariable& v, const std::vector<std::int64_t>& shape);

/// The file of a fit by sampling that has its draws.
inline constexpr const char* kStoredDraws = "draws.nc";
/// What is in it. ExitCode::data where it is not there, damaged, or of another fit.
Result<LabelledArrays> stored_draws(const SavedFit& fit);

struct FactorDraws {
  LabelledArrays arrays;             // the group `posterior`, one chain
  std::vector<std::string> missing;  // variables whose factors were not written
};

/// `n` independent draws from q: of each element from its own factor, of joint factors the precision and then the mean.
/// Factors of chains are written by element, and are drawn by element. Deterministic in `seed`.
/// ExitCode::data where the parameters are not those of the family.
Result<FactorDraws> draw_factors(const SavedFit& fit, std::int64_t n, std::uint64_t seed);

}  // namespace lehr
