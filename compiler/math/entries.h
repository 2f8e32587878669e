// Vectors whose entries are independent of each other, entry by entry.
#pragma once
#include <map>
#include <string>

#include "compiler/math/family.h"

namespace lehr::math {

struct Entries {
  Expr log_density;                                // of the entry kFirst, over the symbols of the vector's row
  std::map<std::string, const Spelling*> spelled;  // of a number, by the vector's spelling of the same parameter
};

/// Of a row of Gaussian vectors whose matrix is a multiple of the identity, or a diagonal.
Entries independent_entries(const FamilyRow& row);

}  // namespace lehr::math
