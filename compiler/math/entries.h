// Splits the density of a Gaussian vector with independent entries into densities of its entries. So code that works on
// numbers also serves such vectors.
#pragma once
#include <map>
#include <string>

#include "compiler/math/family.h"

namespace lehr::math {

/// The density of a Gaussian vector with independent entries, as a density of a single entry, so that each entry can
/// have its own mask.
struct Entries {
  /// The log density of one entry of the vector, the one with index j = kFirst. It is a Normal log density over x[j],
  /// mean[j] and precision[j], the j-th number on the diagonal of the precision.
  Expr log_density;
  /// Maps each parameter of the vector's family, by the name that a user types, to that of Normal: `covariance` to
  /// `variance`.
  std::map<std::string, const Spelling*> spelled;
};

/// Returns the density of one entry of a Gaussian vector whose entries are independent, from the vector's row
/// (MvNormal). It is valid only if the matrix parameter is a multiple of the identity or diagonal.
Entries independent_entries(const FamilyRow& row);

}  // namespace lehr::math
