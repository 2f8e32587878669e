// Several fits beside each other.
#pragma once
#include <string>
#include <vector>

#include "runtime/files/saved_fit.h"

namespace lehr {

/// What `SavedFit::elbo` is of a fit, or what is better known: "ELBO", "log evidence", or of other samplers the "log
/// joint" density of the last draw; and its value.
struct FitBound {
  std::string name;
  double value = 0;
};
FitBound bound_of(const SavedFit& fit);

/// A line a fit: method, bound, held-out score, iterations, seconds, sizes; columns that no fit has are left out.
std::string compare_table(const std::vector<SavedFit>& fits);

}  // namespace lehr
