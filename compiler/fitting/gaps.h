// Data for predictions: what is not there is missing.
#pragma once
#include "compiler/model/bind.h"

namespace lehr {

/// As bind(); an observed variable that is not bound is missing as a whole, and then LDA-C's copies are elements.
Result<BoundData> bind_with_gaps(const model::Model& model, const Dataset& dataset, const Settings& settings);

}  // namespace lehr
