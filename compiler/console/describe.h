// A saved fit as text for the terminal, as `lehr show` prints it. Each variable is a table of means and standard
// deviations, or a list of its most probable elements.
#pragma once
#include <cstddef>
#include <string>

#include "runtime/output/saved_fit.h"

namespace lehr {

/// Limits on the length of a description.
struct DescribeOptions {
  std::size_t top = 10;  // number of most probable elements listed of a large or labelled simplex
  /// Most elements of the variable that are shown; one more line counts the others. Of matrices, at least three are
  /// shown.
  std::size_t max_elements = 10;
};

/// Returns a heading line for the variable `v` (name, axes, family), followed by indented rows with the numbers of its
/// posterior. Rows of mixture components come in order of weight, the heaviest first. Weights come from the only
/// Dirichlet over their plate; without one, lists of probable elements use the total concentration of each Dirichlet.
std::string describe(const SavedFit& fit, const SavedVariable& v, const DescribeOptions& options);

/// Returns a summary of the whole fit: how it ended, its ELBO, seed and sizes, and a text plot of the ELBO by sweep.
std::string describe(const SavedFit& fit);

}  // namespace lehr
