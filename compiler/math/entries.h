// Splits the density of a Gaussian vector with independent entries into densities of its entries. So code that works on
// numbers also serves such vectors.
#pragma once
#include <map>
#include <string>

#include "compiler/math/family.h"

namespace lehr::math {

/// What the entries of a vector row are as numbers.
struct Entries {
  /// The log density of the entry with index kFirst, over the symbols of the vector's row: a Normal log density.
  Expr log_density;
  /// Maps each spelling of a parameter of the vector to the spelling of the same parameter in the row of Normal:
  /// `covariance` to that of `variance`.
  std::map<std::string, const Spelling*> spelled;
};

/// Returns the entry densities of a row of Gaussian vectors (MvNormal). They are valid only if the matrix parameter is
/// a multiple of the identity or diagonal.
Entries independent_entries(const FamilyRow& row);

}  // namespace lehr::math
