// Drops the items of a data set that have missing values, before it is bound. Without it, missing values are inferred,
// left out of the likelihood, or refused.
#pragma once
#include <string>
#include <vector>

#include "compiler/model/model.h"
#include "runtime/files/dataset.h"

namespace lehr::model {

/// Removes the elements with missing values from the data before binding: the option --drop-missing. An element of a
/// plate is removed if a `data` array or an observed variable with that plate as its first axis lacks a value of it.
/// Missing values of latent variables do not count. A plate stays as it is if its arrays have different numbers of
/// elements, or are ragged. Returns one line for the user for each plate that lost elements, which says how many.
///
/// Returns an Error of ExitCode::data if an element cannot be removed. Reasons are that the plate is ordered, that
/// others are nested in it, or that indices refer to it by number. It is also an error if no element would remain.
Result<std::vector<std::string>> drop_missing(const Model& model, Dataset& data);

}  // namespace lehr::model
