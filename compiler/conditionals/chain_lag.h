// Distances between the elements of a chain that occur in one term.
#pragma once
#include <optional>

#include "compiler/density/density.h"

namespace lehr::conditionals {

/// Returns how many steps after `l` the atom `r` of the same variable lies in its sequence, along the last axis: 1 for
/// l = x[t-1], r = x[t]. The result is negative if `r` is before `l`, and never 0. It is nothing if the two differ on
/// another axis, or if the distance is 0 or not a constant. It finds the pairs of elements of one chain in a term, of
/// whose products the chain's factor gives the expectation. Both atoms must have an axis.
std::optional<std::int64_t> lag_between(const density::Algebra& a, const density::Atom& l, const density::Atom& r);

/// Returns how many steps back an element of a chain may depend on others if one factor of that family is to cover the
/// whole sequence: 4 for categories, 12 for Normal or MvNormal elements, and 0 for families without an exact algorithm.
std::int64_t max_lag_of(const math::FamilyRow& family);

}  // namespace lehr::conditionals
