// The posterior as a table: every number of every variable, with central intervals.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/files/labelled.h"
#include "runtime/files/saved_fit.h"
#include "runtime/result.h"

namespace lehr {

inline constexpr std::array kTableProbabilities{0.05, 0.5, 0.95};

/// The numbers of one variable, row-major; of a category the probabilities of its values, whose axis is the last.
struct PosteriorNumbers {
  std::string variable;
  std::vector<std::string> axes;  // plates, one an extent
  std::vector<std::int64_t> shape;
  std::vector<double> mean, sd;                                           // NaN: there is none
  std::array<std::vector<double>, kTableProbabilities.size()> quantiles;  // the same
};

struct PosteriorTable {
  std::vector<PosteriorNumbers> variables;
  std::vector<std::string> without;  // variables without numbers: not written, or of no known family
};

/// Where the draws of a fit by sampling are: asked for when there is a variable that was sampled.
using DrawsSource = std::function<Result<LabelledArrays>()>;

/// Means and sds as `moments_of` has them. Quantiles are those of the factors; of a fit by sampling those of the stored
/// draws of all chains, between two draws by their distance, and what a category is are the shares of its values among
/// the draws. ExitCode::data where these cannot be read.
Result<PosteriorTable> posterior_table(const SavedFit& fit, const std::vector<const SavedVariable*>& variables,
                                       const DrawsSource& draws);

}  // namespace lehr
