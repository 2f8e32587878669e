// The posterior of a fit as a table: mean, standard deviation and quantiles of every number of every variable. It
// serves both variational and sampled fits.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/files/labelled.h"
#include "runtime/output/saved_fit.h"
#include "runtime/result.h"

namespace lehr {

/// The probabilities of the quantiles that tables and reports show for every number.
inline constexpr std::array kTableProbabilities{0.05, 0.5, 0.95};

/// Mean, standard deviation and quantiles of every number of one variable, row-major. A category has the probabilities
/// of its values, along the last axis, in `mean`.
struct VariableSummary {
  std::string variable;             // name of the variable
  std::vector<std::string> axes;    // name of the plate of each axis in `shape`; `axis_K` for position K if unknown
  std::vector<std::int64_t> shape;  // extents of the axes, then of the event axes
  /// Mean and standard deviation of each number; NaN where there is none.
  std::vector<double> mean, sd;
  /// For each of kTableProbabilities, the quantile of each number; NaN where there is none.
  std::array<std::vector<double>, kTableProbabilities.size()> quantiles;
};

/// The posterior of some variables of a fit as a table, for `lehr show`, reports and the library.
struct PosteriorTable {
  /// One entry for each variable that is not in `without`, in the order of the argument.
  std::vector<VariableSummary> variables;
  std::vector<std::string> without;  // names of those whose factors were not saved, or are of an unknown family
};

/// Loads the stored draws of a sampled fit. posterior_table() calls it at most once, and only if a variable was
/// sampled.
using DrawsSource = std::function<Result<LabelledArrays>()>;

/// Makes the table of some variables of a fit. Means and sds are those of moments_of. Quantiles are those of
/// quantiles_of; of a sampled fit they are interpolated between the stored draws of all chains, and categories get the
/// relative frequencies of their values. ExitCode::data if the draws cannot be read or lack a variable.
Result<PosteriorTable> posterior_table(const SavedFit& fit, const std::vector<const SavedVariable*>& variables,
                                       const DrawsSource& draws);

}  // namespace lehr
