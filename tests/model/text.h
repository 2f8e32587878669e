// Makes models and data from short texts, for the tests of name resolution and of binding data.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/binding/bind.h"
#include "compiler/model/model.h"
#include "runtime/files/dataset.h"

namespace lehr {

/// The result of resolving a model text.
struct Resolved {
  std::optional<model::Model> model;  // the model; empty after an error
  std::string diagnostics;            // all errors and warnings as text
};

/// Parses and resolves a model text.
Resolved resolve_text(const std::string& text);
/// Returns the model `model m { BODY }`. The test fails if there is any error or warning.
model::Model model_of(const std::string& body);

/// Returns a rectangular array, row-major, whose source in messages is "NAME.npy".
DataArray array_of(const std::string& name, std::vector<std::int64_t> shape, std::vector<double> values);
/// Returns an array whose rows have different lengths.
DataArray ragged_of(const std::string& name, const std::vector<std::vector<double>>& rows);
/// Returns a dataset with these arrays under their names.
Dataset dataset_of(const std::vector<DataArray>& arrays);

}  // namespace lehr
