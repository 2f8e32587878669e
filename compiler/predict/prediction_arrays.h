// Converts a prediction to named arrays, for files. The arrays have the shapes of the data, so that predictions stand
// where observations are missing.
#pragma once
#include <array>
#include <vector>

#include "compiler/predict/prediction.h"
#include "runtime/array.h"

namespace lehr {

/// The suffixes of the arrays of kPredictedQuantiles, in the same order: `x.q5` has the 5 % quantiles of x.
inline constexpr std::array<const char*, 3> kQuantileNames = {"q5", "q50", "q95"};

/// Converts a prediction to named arrays for output files: `x.mean`, `x.mcse` (Monte Carlo standard error), `x.sd`,
/// `x.q5`, `x.q50` and `x.q95` over the axes and event axes of x. A category z gets `z.probability` and `z.mcse` over
/// its axes and its values, and `z.most_probable` over its axes. A chain of categories that has a path also gets
/// `z.path`. Their values are numbered as in the data. Elements that are not predicted have NaN, or -1 in
/// `most_probable` and `path`.
std::vector<NamedArray> prediction_arrays(const Prediction& prediction);

}  // namespace lehr
