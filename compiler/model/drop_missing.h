// Drops the items of a data set that have missing values, before it is bound: the option `--drop-missing`.
#pragma once
#include <string>
#include <vector>

#include "compiler/model/model.h"
#include "runtime/files/dataset.h"

namespace lehr::model {

/// Removes, for every plate, the elements of which a given or an observed variable with that plate as its first axis
/// lacks a value. Missing values of latent variables do not count. Returns one line for each plate about how many were
/// removed.
///
/// Returns an Error of ExitCode::data if an element cannot be removed: the plate is ordered, others are nested in it,
/// indices refer to it by number, or no element would remain.
Result<std::vector<std::string>> drop_missing(const Model& model, Dataset& data);

}  // namespace lehr::model
