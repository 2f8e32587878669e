// Elements of chains that stand together.
#pragma once
#include <optional>

#include "compiler/density/density.h"

namespace lehr::conditionals {

/// How many steps of the last axis `r` is after `l`, an atom of the same variable: not 0, negative where it is before.
/// None where they do not agree on the other axes, or their steps have no constant distance. Elements of a chain for
/// which there is one have the expectation of their product; others are independent.
std::optional<std::int64_t> steps_between(const density::Algebra& a, const density::Atom& l, const density::Atom& r);

/// How far one factor of the family reaches back at most; 0: there is none over a sequence.
std::int64_t most_reach(const math::FamilyRow& family);

}  // namespace lehr::conditionals
