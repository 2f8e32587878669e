// A posterior as text: every variable as a table of means and standard deviations, or as its most probable
// elements.
#pragma once
#include <cstddef>
#include <string>

#include "runtime/files/saved_fit.h"

namespace lehr {

struct DescribeOptions {
  std::size_t top = 10;   // elements of a simplex that is labelled or large
  std::size_t rows = 10;  // elements of the variable; a line says how many more there are
};

/// A line that says what `v` is, then its rows, indented. Components come by weight where the fit has
/// weights: the one Dirichlet over their plate, or for lists of probable elements the share of each
/// Dirichlet's concentration.
std::string describe(const SavedFit& fit, const SavedVariable& v, const DescribeOptions& options);

/// What came of the fit, its sizes, and the curve of the ELBO.
std::string describe(const SavedFit& fit);

}  // namespace lehr
