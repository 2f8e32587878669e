// Distances between the elements of a chain that occur in one term.
#pragma once
#include <optional>

#include "compiler/density/density.h"

namespace lehr::conditionals {

/// Returns how many steps of the last axis `r` is after `l`, two atoms of one variable: 1 for l = x[t-1], r = x[t]. The
/// result is negative if `r` is before `l`, and never 0. It is nothing if they differ on another axis, or if the
/// distance is 0 or not a constant. The factor of a chain gives the expectations of products of elements at such
/// distances. Both atoms must have an axis.
std::optional<std::int64_t> lag_between(const density::Algebra& a, const density::Atom& l, const density::Atom& r);

/// Returns the largest lag that a chain of that family may have: 4 for categories, 12 for Normal elements, and 0 for
/// families without an exact algorithm.
std::int64_t max_lag_of(const math::FamilyRow& family);

}  // namespace lehr::conditionals
