// Draws from variational factors.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/pipeline.h"
#include "runtime/array.h"
#include "runtime/rng.h"

namespace lehr {

/// Independent draws of the variables whose factors are in `posterior` (Instance::posterior) and are distributions as a
/// model could write them, by FamilyRow::draw: over [draw] and the axes of each variable, categories and the like left
/// out. Factors of chains are none: their elements depend on each other.
std::vector<NamedArray> draws_from_factors(const Analysed& analysed, const std::vector<NamedArray>& posterior,
                                           std::int64_t draws, Rng rng);

}  // namespace lehr
