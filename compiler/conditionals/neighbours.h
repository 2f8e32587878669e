// Pairs in chains.
#pragma once
#include "compiler/density/density.h"

namespace lehr::conditionals {

/// Whether two atoms of one variable are (t - 1, t) of its last axis and agree on the others. Of a chain these have the
/// expectation of the pair; other elements of its sequences are independent.
bool neighbours(const density::Algebra& a, const density::Atom& l, const density::Atom& r);

}  // namespace lehr::conditionals
