// Data without the items of which something is missing.
#pragma once
#include <string>
#include <vector>

#include "compiler/model/model.h"
#include "runtime/files/dataset.h"

namespace lehr::model {

/// Leaves out every element of a plate of which a given or an observed variable, with that plate as its first axis, has
/// not all values; gaps of latent variables are none. What was left out, a line for each plate. ExitCode::data where an
/// element cannot be left out: of an ordered plate, of one with plates nested in it, of one that indices refer to.
Result<std::vector<std::string>> drop_missing(const Model& model, Dataset& data);

}  // namespace lehr::model
