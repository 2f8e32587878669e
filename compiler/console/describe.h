// A saved fit as text for the terminal, as `lehr show` prints it. Each variable is a table of means and standard
// deviations, or a list of its most probable elements.
#pragma once
#include <cstddef>
#include <string>

#include "runtime/output/saved_fit.h"

namespace lehr {

/// Limits on the length of what `lehr show` prints of a variable.
struct DescribeOptions {
  std::size_t top = 10;  // of a large or labelled simplex (a topic, say): how many most probable elements are listed
  /// The most elements of the variable that are shown; one more line counts the others. Of matrices that are shown in
  /// full it limits the rows of all together, but at least three matrices are shown.
  std::size_t max_elements = 10;
};

/// Returns the posterior of one variable as text for `lehr show`: a heading line (name, axes, family), then indented
/// rows with means and standard deviations, or with the most probable elements. Rows of mixture components come in
/// order of weight, the heaviest first. Weights come from the only Dirichlet over their plate; without one, lists of
/// probable elements use the total concentration of each Dirichlet.
std::string describe(const SavedFit& fit, const SavedVariable& v, const DescribeOptions& options);

/// Returns a summary of a whole fit as text for `lehr show`: how it ended, its ELBO (of a sampler the log evidence if
/// there is one, else the last log joint density), seed and sizes, and a text plot of the ELBO or log joint density by
/// sweep if it changed.
std::string describe(const SavedFit& fit);

}  // namespace lehr
