// Binds data for predictions, where an observed variable that is absent counts as missing. For a fit, an absent
// variable is an error.
#pragma once
#include "compiler/binding/bind.h"

namespace lehr {

/// Binds data for predictions: as bind() does, but an observed variable without data is missing as a whole. If there is
/// such a variable, each copy that an LDA-C file counts is an element of its own.
Result<BoundData> bind_with_missing(const model::Model& model, const Dataset& dataset, const Settings& settings);

}  // namespace lehr
