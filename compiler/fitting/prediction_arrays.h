// A prediction as arrays.
#pragma once
#include <array>
#include <vector>

#include "compiler/fitting/prediction.h"
#include "runtime/array.h"

namespace lehr {

/// Names of kPredictedQuantiles.
inline constexpr std::array<const char*, 3> kQuantileNames = {"q5", "q50", "q95"};

/// `x.mean`, `x.mcse`, `x.sd`, `x.q5`, `x.q50`, `x.q95` over the axes of x, `z.probability`, `z.most_probable` and,
/// of chains, `z.path` of categories; NaN (-1 of `most_probable` and `path`) where an observation is there.
std::vector<NamedArray> prediction_arrays(const Prediction& prediction);

}  // namespace lehr
